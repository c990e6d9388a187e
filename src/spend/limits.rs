//! Limits that apply to a call, and the check that it fits.

use super::cost::Cost;
use crate::config::{Budget, Limit};
use crate::model::ModelError;
use crate::people::Role;
use crate::store::{Db, Spent};
use crate::trust::Scope;

/// A limit of the local day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LimitKind {
    /// Limit on all spending.
    All,
    /// Limit on one person's spending.
    Person,
    /// Limit on one group's spending.
    Group,
    /// Limit on background work.
    Background,
    /// Limit on everything but the chats of owners.
    Reserve,
}

impl LimitKind {
    /// Text for [`ModelError::OverBudget`], which fits after "because of".
    fn as_str(self) -> &'static str {
        match self {
            Self::All => "today's budget",
            Self::Person => "your share of today's budget",
            Self::Group => "this group's share of today's budget",
            Self::Background => "today's budget for background work",
            Self::Reserve => "the part of today's budget that is not kept for the owners",
        }
    }

    /// Name of its setting.
    fn setting(self, priced: bool) -> &'static str {
        match (self, priced) {
            (Self::All, true) => "daily",
            (Self::All, false) => "daily_tokens",
            (Self::Person, true) => "per_person_daily",
            (Self::Person, false) => "per_person_daily_tokens",
            (Self::Group, true) => "per_group_daily",
            (Self::Group, false) => "per_group_daily_tokens",
            (Self::Background, true) => "background_daily",
            (Self::Background, false) => "background_daily_tokens",
            (Self::Reserve, _) => "owner_reserve",
        }
    }
}

/// A limit that a call would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ExceededLimit {
    which: LimitKind,
    /// The setting, if the call would exceed it even on a day without spending.
    alone: Option<&'static str>,
}

impl ExceededLimit {
    fn of(which: LimitKind, limit: Limit, cost: Cost) -> Self {
        let never_fits = !fits(limit, Spent::default(), cost);
        Self { which, alone: never_fits.then(|| which.setting(cost.priced)) }
    }

    /// Error for the refused call.
    pub(super) fn refusal(self) -> ModelError {
        match self.alone {
            Some(setting) => ModelError::AboveLimit(setting.to_owned()),
            None => ModelError::OverBudget(self.which.as_str().to_owned()),
        }
    }
}

/// Returns the first limit that `cost` would exceed, if there is one.
pub(super) fn exceeded(
    db: Db<'_>,
    budget: &Budget,
    day: &str,
    scope: Scope,
    background: bool,
    cost: Cost,
) -> anyhow::Result<Option<ExceededLimit>> {
    let own = match scope {
        Scope::Person(_) => Some((LimitKind::Person, budget.per_person_daily)),
        Scope::Group(_) => Some((LimitKind::Group, budget.per_group_daily)),
        Scope::Shared => None,
    };
    let spent = db.spending().spent(day, None, false)?;
    if !fits(budget.daily, spent, cost) {
        return Ok(Some(ExceededLimit::of(LimitKind::All, budget.daily, cost)));
    }
    if let Some((which, limit)) = own
        && !fits(limit, db.spending().spent(day, Some(scope), false)?, cost)
    {
        return Ok(Some(ExceededLimit::of(which, limit, cost)));
    }
    let open_to_all = without_reserve(budget);
    if !fits(open_to_all, spent, cost) && (background || !is_owner(db, scope)?) {
        return Ok(Some(ExceededLimit::of(LimitKind::Reserve, open_to_all, cost)));
    }
    if background && !fits(budget.background_daily, db.spending().spent(day, None, true)?, cost) {
        return Ok(Some(ExceededLimit::of(LimitKind::Background, budget.background_daily, cost)));
    }
    Ok(None)
}

/// Daily budget without the part reserved for the chats of owners.
pub(super) fn without_reserve(budget: &Budget) -> Limit {
    let rest = u128::from(100_u64.saturating_sub(budget.owner_reserve));
    let part = |whole: u64| u64::try_from(u128::from(whole) * rest / 100).unwrap_or(u64::MAX);
    Limit { micros: part(budget.daily.micros), tokens: part(budget.daily.tokens) }
}

fn is_owner(db: Db<'_>, scope: Scope) -> anyhow::Result<bool> {
    let Scope::Person(id) = scope else { return Ok(false) };
    Ok(db.people().person(id)?.is_some_and(|person| person.role == Role::Owner))
}

/// Returns true if the limit has room for the cost. A cost of zero always fits.
fn fits(limit: Limit, spent: Spent, cost: Cost) -> bool {
    let room = left(limit, spent);
    if cost.priced { cost.micros <= room.micros } else { cost.tokens() <= room.tokens }
}

/// Remainder of a limit.
pub(super) fn left(limit: Limit, spent: Spent) -> Limit {
    Limit { micros: limit.micros.saturating_sub(spent.micros), tokens: limit.tokens.saturating_sub(spent.tokens) }
}
