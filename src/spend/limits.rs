//! Which limits a call counts towards, and whether it still fits.

use super::cost::Cost;
use crate::config::{Budget, Limit};
use crate::store::{Db, Spent};
use crate::trust::Scope;

/// A limit of the local day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// On all spending.
    All,
    /// On one person's.
    Person,
    /// On one group's.
    Group,
    /// On work for which nobody waits.
    Background,
}

impl Which {
    /// The words that [`ModelError::OverBudget`](crate::model::ModelError::OverBudget) carries; they fit after "because of".
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::All => "today's budget",
            Self::Person => "your share of today's budget",
            Self::Group => "this group's share of today's budget",
            Self::Background => "today's budget for background work",
        }
    }
}

/// The first limit that `cost` would exceed, if there is one.
pub(super) fn exceeded(
    db: Db<'_>,
    budget: &Budget,
    day: &str,
    scope: Scope,
    background: bool,
    cost: Cost,
) -> anyhow::Result<Option<Which>> {
    let own = match scope {
        Scope::Person(_) => Some((Which::Person, budget.per_person_daily)),
        Scope::Group(_) => Some((Which::Group, budget.per_group_daily)),
        Scope::Shared => None,
    };
    if !fits(budget.daily, db.spent(day, None, false)?, cost) {
        return Ok(Some(Which::All));
    }
    if let Some((which, limit)) = own
        && !fits(limit, db.spent(day, Some(scope), false)?, cost)
    {
        return Ok(Some(which));
    }
    if background && !fits(budget.background_daily, db.spent(day, None, true)?, cost) {
        return Ok(Some(Which::Background));
    }
    Ok(None)
}

/// Whether the limit has room for the cost. What costs nothing always fits.
fn fits(limit: Limit, spent: Spent, cost: Cost) -> bool {
    let room = left(limit, spent);
    if cost.priced { cost.micros <= room.micros } else { cost.tokens() <= room.tokens }
}

/// What is left of a limit.
pub(super) fn left(limit: Limit, spent: Spent) -> Limit {
    Limit { micros: limit.micros.saturating_sub(spent.micros), tokens: limit.tokens.saturating_sub(spent.tokens) }
}
