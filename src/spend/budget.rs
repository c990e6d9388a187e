//! Worst-case and actual cost of a call, and the limits that it has to fit in. Integers only:
//! tokens, and micro-units of money, always rounded up.

use crate::config::{Budget, Limit, Price};
use crate::model::{ModelError, ModelInfo, Reply, Request, Usage};
use crate::store::{Db, Spent};
use crate::text;
use crate::trust::Scope;

/// Number of tokens that a price is for.
const PER: u128 = 1_000_000;

/// Tokens for a second of sound if the server does not count: the highest rate that a provider
/// publishes (Gemini's guide to audio; OpenAI counts 10).
const TOKENS_A_SECOND: u64 = 32;

/// Tokens and money of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cost {
    /// True if the money counts; otherwise the tokens do.
    pub priced: bool,
    /// All input tokens.
    pub input: u64,
    /// Input tokens from the provider's cache.
    pub cached: u64,
    /// Output tokens.
    pub output: u64,
    /// Money in micro-units.
    pub micros: u64,
}

impl Cost {
    /// Cost of a call that was never made, or that was certainly not charged.
    pub(super) fn nothing() -> Self {
        Self { priced: true, input: 0, cached: 0, output: 0, micros: 0 }
    }

    /// Cost of a call that only reads that many tokens, at an unknown price.
    pub(super) fn of_reading(input: u64) -> Self {
        Self { priced: false, input, cached: 0, output: 0, micros: 0 }
    }

    /// Cost of a recording of that many seconds: in money if the price is known, otherwise in
    /// tokens.
    pub(super) fn of_sound(seconds: u64, price_per_minute: Option<u64>) -> Self {
        let tokens = seconds.saturating_mul(TOKENS_A_SECOND);
        let micros = price_per_minute.map_or(0, |price| {
            let exact = u128::from(seconds).saturating_mul(u128::from(price)).div_ceil(60);
            u64::try_from(exact).unwrap_or(u64::MAX)
        });
        Self { priced: price_per_minute.is_some(), input: tokens, cached: 0, output: 0, micros }
    }

    /// Worst-case cost of the call: nothing cached, and the longest possible answer. `scale`
    /// corrects our estimate, upwards only.
    pub(super) fn worst(info: &ModelInfo, request: &Request, scale: f64) -> Self {
        let output = request.output_limit(info.max_output);
        Self::at(tariff(info), upwards(request.estimate_tokens(), scale), 0, output)
    }

    /// Minimum reservation for any call: a question of one token, and the longest possible answer.
    pub(super) fn least(info: &ModelInfo) -> Self {
        Self::at(tariff(info), 1, 0, info.max_output)
    }

    /// Actual cost of the call by the provider's count; by our estimate if it did not count.
    pub(super) fn actual(info: &ModelInfo, request: &Request, reply: &Reply) -> Self {
        let Usage { input, cached, output } = reply.usage;
        let input = if input == 0 { request.estimate_tokens() } else { input };
        let output = if output == 0 { estimate(reply) } else { output };
        Self::at(tariff(info), input, cached.min(input), output)
    }

    /// Input and output tokens together.
    pub(super) fn tokens(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    fn at(price: Option<Price>, input: u64, cached: u64, output: u64) -> Self {
        let micros = price.map_or(0, |price| money(price, input.saturating_sub(cached), cached, output));
        Self { priced: price.is_some(), input, cached, output, micros }
    }
}

/// The price of a model. The offline model is free, regardless of the configuration.
fn tariff(info: &ModelInfo) -> Option<Price> {
    if info.provider == "offline" { Some(Price { input: 0, cached: 0, output: 0 }) } else { info.price }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "token counts are far below 2^52, and the factor is at least one"
)]
fn upwards(guess: u64, scale: f64) -> u64 {
    (guess as f64 * scale.max(1.0)).ceil() as u64
}

fn money(price: Price, fresh: u64, cached: u64, output: u64) -> u64 {
    let parts = [(fresh, price.input), (cached, price.cached), (output, price.output)];
    let sum = parts
        .into_iter()
        .map(|(tokens, each)| u128::from(tokens).saturating_mul(u128::from(each)))
        .fold(0_u128, u128::saturating_add);
    u64::try_from(sum.div_ceil(PER)).unwrap_or(u64::MAX)
}

fn estimate(reply: &Reply) -> u64 {
    let calls = reply.calls().iter().map(|call| {
        let call = call.open().0;
        text::estimate_tokens(&call.name).saturating_add(text::estimate_tokens(&call.arguments))
    });
    calls.fold(text::estimate_tokens(reply.text().open().0), u64::saturating_add)
}

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
    /// Code for [`ModelError::OverBudget`].
    fn as_str(self) -> &'static str {
        match self {
            Self::All => "daily",
            Self::Person => "person",
            Self::Group => "group",
            Self::Background => "background",
            Self::Reserve => "reserve",
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
    db.people().is_owner(id)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PRICE: Price = Price { input: 3_000_000, cached: 300_000, output: 15_000_000 };

    #[test]
    fn cached_tokens_are_cheaper_and_fractions_round_up() {
        assert_eq!(money(PRICE, 1_000, 0, 100), 3_000 + 1_500);
        assert_eq!(money(PRICE, 200, 800, 100), 600 + 240 + 1_500);
        assert_eq!(money(Price { input: 1, cached: 0, output: 0 }, 1, 0, 0), 1);
        assert_eq!(money(PRICE, 0, 0, 0), 0);
    }

    proptest! {
        #[test]
        fn more_tokens_never_cost_less(fresh in any::<u64>(), cached in any::<u64>(), output in any::<u64>(), more in any::<u64>()) {
            let less = money(PRICE, fresh, cached, output);
            prop_assert!(money(PRICE, fresh.saturating_add(more), cached, output) >= less);
            prop_assert!(money(PRICE, fresh, cached, output.saturating_add(more)) >= less);
        }

        #[test]
        fn the_worst_case_is_the_worst(input in 0_u64..1 << 40, cached in any::<u64>(), output in 0_u64..1 << 40, over in 0_u64..1 << 40) {
            let worst = Cost::at(Some(PRICE), input, 0, output.saturating_add(over));
            let actual = Cost::at(Some(PRICE), input, cached.min(input), output);
            prop_assert!(actual.micros <= worst.micros && actual.tokens() <= worst.tokens());
        }
    }
}
