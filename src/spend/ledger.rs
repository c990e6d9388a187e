//! Spending ledger: reserves before a call, settles after it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::budget::{self, Cost, ExceededLimit};
use crate::config::{Budget, Limit};
use crate::id::{PersonId, SpendId, TurnId};
use crate::model::{Embedded, Embedder, Model, ModelError, ModelInfo, Purpose, Reply, Request, StreamSink};
use crate::store::{Journal, Reservation, Tx};
use crate::text;
use crate::time::task::lock;
use crate::time::{Clock, Zone};
use crate::trust::{Scope, Text};

/// Keeps the spending of each local day within the budget.
pub struct Ledger {
    journal: Journal,
    clock: Arc<dyn Clock>,
    zone: Zone,
    budget: Budget,
    ratios: TokenRatios,
}

/// Cause of a call, as `usage` shows it later.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpendCause {
    /// Turn that makes the call.
    pub turn: Option<TurnId>,
    /// Person that the call is for.
    pub person: Option<PersonId>,
}

/// A call about to be made.
pub(super) struct CallEstimate {
    /// Scope whose budget is charged.
    pub scope: Scope,
    /// Purpose of the call.
    pub purpose: Purpose,
    /// Model as `provider/name`.
    pub model: String,
    /// Estimated input tokens.
    pub guessed: u64,
    /// Worst-case cost.
    pub worst: Cost,
}

/// Result of a reservation.
enum ReserveOutcome {
    Reserved(SpendId),
    Exceeded(ExceededLimit),
}

/// Remainder of today's budget. Reservations of calls in flight count as spent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemainingBudget {
    /// Local day.
    pub day: String,
    /// Total remainder.
    pub all: Limit,
    /// Remainder for background work.
    pub background: Limit,
}

impl Ledger {
    /// Creates a ledger that is kept in the journal.
    pub fn new(journal: Journal, clock: Arc<dyn Clock>, zone: Zone, budget: Budget) -> Self {
        Self { journal, clock, zone, budget, ratios: TokenRatios::default() }
    }

    /// Loads the provider's counts of the last calls of that model.
    pub async fn recollect(&self, info: &ModelInfo) -> anyhow::Result<()> {
        let name = info.full_name();
        let of = name.clone();
        for (guessed, counted) in self.journal.read(move |db| db.spending().counts_of(&of, CALLS)).await? {
            self.ratios.learn(&name, guessed, counted);
        }
        Ok(())
    }

    /// Returns the provider's count for one of our estimated tokens.
    pub(super) fn token_ratio(&self, info: &ModelInfo) -> f64 {
        self.ratios.of(&info.full_name())
    }

    /// Returns the daily limit for background work.
    pub(super) fn background_limit(&self) -> Limit {
        self.budget.background_daily
    }

    /// Returns the daily limit.
    pub fn daily_limit(&self) -> Limit {
        self.budget.daily
    }

    /// Returns the remainder of today's budget.
    pub async fn left(&self) -> anyhow::Result<RemainingBudget> {
        let day = self.zone.day(self.clock.now());
        let of = day.clone();
        let (all, background) = self
            .journal
            .read(move |db| Ok((db.spending().spent(&of, None, false)?, db.spending().spent(&of, None, true)?)))
            .await?;
        Ok(RemainingBudget {
            day,
            all: budget::left(self.budget.daily, all),
            background: budget::left(self.budget.background_daily, background),
        })
    }

    /// Returns true if every limit has room for the least that an answer within that scope can
    /// cost.
    pub(super) async fn can_afford(&self, info: &ModelInfo, scope: Scope) -> anyhow::Result<bool> {
        Ok(self.exceeded(info, scope).await?.is_none())
    }

    /// Returns which budget of today has no room for that least.
    pub(super) async fn used_up(&self, info: &ModelInfo, scope: Scope) -> anyhow::Result<Option<String>> {
        Ok(match self.exceeded(info, scope).await?.map(ExceededLimit::refusal) {
            Some(ModelError::OverBudget(which)) => Some(which),
            _ => None,
        })
    }

    async fn exceeded(&self, info: &ModelInfo, scope: Scope) -> anyhow::Result<Option<ExceededLimit>> {
        let (budget, day, least) = (self.budget.clone(), self.today(), Cost::least(info));
        self.journal.read(move |db| budget::exceeded(db, &budget, &day, scope, false, least)).await
    }

    /// The local day.
    pub(super) fn today(&self) -> String {
        self.zone.day(self.clock.now())
    }

    /// The journal in which it is kept.
    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The clock of the program.
    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// One metered call.
    pub(super) async fn call(
        &self,
        model: &dyn Model,
        request: &Request,
        live: &dyn StreamSink,
        on_behalf: &SpendCause,
    ) -> Result<Reply, ModelError> {
        let info = model.info();
        let worst = Cost::worst(info, request, self.token_ratio(info));
        let (scope, purpose) = (request.scope(), request.purpose());
        let wanted =
            CallEstimate { scope, purpose, model: info.full_name(), guessed: request.estimate_tokens(), worst };
        let probe = StreamProbe::new(live);
        let cost = |result: &Result<Reply, _>| cost_of(result, info, request, probe.grew());
        let result = self.metered(wanted, *on_behalf, model.call(request, &probe), cost).await;
        if let Ok(reply) = &result {
            self.ratios.learn(&info.full_name(), request.estimate_tokens(), reply.usage.input);
        }
        result
    }

    /// Reserves the estimate, makes the call and settles it with its cost; `None` leaves it at the
    /// estimate. The call is not begun if a limit has no room for it.
    pub(super) async fn metered<T>(
        &self,
        wanted: CallEstimate,
        on_behalf: SpendCause,
        call: impl Future<Output = Result<T, ModelError>>,
        cost: impl FnOnce(&Result<T, ModelError>) -> Option<Cost>,
    ) -> Result<T, ModelError> {
        let id = self.reserve(wanted, on_behalf).await?;
        let result = call.await;
        if let Some(cost) = cost(&result) {
            self.settle(id, cost).await;
        }
        result
    }

    /// Reserves the worst case, if every limit has room for it.
    pub(super) async fn reserve(&self, wanted: CallEstimate, on_behalf: SpendCause) -> Result<SpendId, ModelError> {
        let CallEstimate { scope, purpose, model, guessed, worst } = wanted;
        let (budget, at) = (self.budget.clone(), self.clock.now());
        let day = self.zone.day(at);
        let reserve = move |tx: Tx<'_>| {
            if let Some(exceeded) = budget::exceeded(*tx, &budget, &day, scope, purpose.is_background(), worst)? {
                return Ok(ReserveOutcome::Exceeded(exceeded));
            }
            let id = tx.spending().reserve(&Reservation {
                turn: on_behalf.turn,
                person: on_behalf.person,
                scope,
                purpose: purpose.as_str(),
                model: &model,
                day: &day,
                at,
                priced: worst.priced,
                input: worst.input,
                guessed,
                output: worst.output,
                micros: worst.micros,
            })?;
            Ok(ReserveOutcome::Reserved(id))
        };
        match self.journal.write("reserve a call", reserve).await {
            Ok(ReserveOutcome::Reserved(id)) => Ok(id),
            Ok(ReserveOutcome::Exceeded(limit)) => Err(limit.refusal()),
            Err(error) => {
                tracing::error!("No model is called, because its cost cannot be reserved: {error:#}");
                Err(ModelError::Later { after: None, what: "its cost cannot be written down".to_owned() })
            }
        }
    }

    /// Settles a call. If this fails the reservation stands, and too much is counted rather than
    /// too little.
    pub(super) async fn settle(&self, id: SpendId, cost: Cost) {
        let settled = self
            .journal
            .write("settle a call", move |tx| {
                tx.spending().settle(id, cost.input, cost.cached, cost.output, cost.micros)
            })
            .await;
        if let Err(error) = settled {
            tracing::warn!(spend.id = %id, "Call {id} stays at its worst case, because its cost cannot be stored: {error:#}");
        }
    }
}

/// Cost to settle a call with; `None` leaves it at its worst case.
fn cost_of(result: &Result<Reply, ModelError>, info: &ModelInfo, request: &Request, grew: bool) -> Option<Cost> {
    match result {
        Ok(reply) => Some(Cost::actual(info, request, reply)),
        Err(_) if grew => None,
        // A refusal may come after the provider has read everything, or written half of an answer.
        Err(ModelError::Cut | ModelError::Refused) => None,
        Err(
            ModelError::Later { .. }
            | ModelError::Silent(_)
            | ModelError::Unusable(_)
            | ModelError::TooLong
            | ModelError::NoCredit
            | ModelError::BadKey
            | ModelError::Rejected(_)
            | ModelError::OverBudget(_)
            | ModelError::AboveLimit(_),
        ) => Some(Cost::nothing()),
    }
}

/// Forwards everything to another sink and records that there was text: then the provider has
/// worked, and will charge for it despite any later error.
pub(super) struct StreamProbe<'a> {
    to: &'a dyn StreamSink,
    has_text: AtomicBool,
}

impl<'a> StreamProbe<'a> {
    pub(super) fn new(to: &'a dyn StreamSink) -> Self {
        Self { to, has_text: AtomicBool::new(false) }
    }

    /// Returns true if a piece of text was seen, even if it was discarded later.
    pub(super) fn grew(&self) -> bool {
        self.has_text.load(Ordering::Relaxed)
    }
}

impl StreamSink for StreamProbe<'_> {
    fn append(&self, delta: &str) {
        self.has_text.store(true, Ordering::Relaxed);
        self.to.append(delta);
    }

    fn restart(&self) {
        self.to.restart();
    }
}

/// Number of newest calls that determine the ratio after a restart.
pub(super) const CALLS: u32 = 16;
/// Weight of a newer call against all older ones.
const WEIGHT: f64 = 0.25;
/// Bounds of a plausible ratio; a figure beyond them is a mistake.
const LEAST: f64 = 0.25;
const MOST: f64 = 6.0;

/// Ratio of a provider's token count to our estimate, by `provider/name`.
///
/// An estimate from the characters of a text is right within a factor of about two in any language;
/// the ratio is a property of a model and of a person's writing, so the last calls determine it.
/// Newer calls weigh more. The counts are kept in the journal per call, so a restart begins with
/// the known ratio.
#[derive(Debug, Default)]
pub(super) struct TokenRatios(Mutex<HashMap<String, f64>>);

impl TokenRatios {
    /// Returns the ratio of a model; one if nothing was counted yet.
    pub(super) fn of(&self, model: &str) -> f64 {
        lock(&self.0).get(model).copied().unwrap_or(1.0)
    }

    /// Learns from a provider's count and our estimate for the same call. Ignored if either is
    /// zero.
    pub(super) fn learn(&self, model: &str, guessed: u64, counted: u64) {
        let Some(ratio) = ratio(guessed, counted) else { return };
        let mut ratios = lock(&self.0);
        let known = ratios.entry(model.to_owned()).or_insert(ratio);
        *known = *known * (1.0 - WEIGHT) + ratio * WEIGHT;
    }
}

#[allow(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn ratio(guessed: u64, counted: u64) -> Option<f64> {
    (guessed > 0 && counted > 0).then(|| (counted as f64 / guessed as f64).clamp(LEAST, MOST))
}

impl Ledger {
    /// Computes the vectors of these texts, if every limit has room for them. Their price is not
    /// configured, so they count in tokens.
    ///
    /// # Errors
    /// [`ModelError::OverBudget`] without any call, or the model's own.
    pub async fn embed(
        &self,
        embedder: &dyn Embedder,
        texts: &[Text],
        scope: Scope,
        patience: Duration,
    ) -> Result<Embedded, ModelError> {
        let info = embedder.info();
        let guessed = texts.iter().map(|text| text::estimate_tokens(text.open().0)).sum();
        let wanted = CallEstimate {
            scope,
            purpose: Purpose::Embedding,
            model: format!("{}/{}", info.provider, info.name),
            guessed,
            worst: Cost::of_reading(guessed),
        };
        let cost = |result: &Result<Embedded, ModelError>| match result {
            Ok(embedded) if embedded.input > 0 => Some(Cost::of_reading(embedded.input)),
            // The texts were read, and the count is unknown.
            Ok(_) | Err(ModelError::Cut) => None,
            Err(_) => Some(Cost::nothing()),
        };
        let person = if let Scope::Person(person) = scope { Some(person) } else { None };
        let on_behalf = SpendCause { turn: None, person };
        self.metered(wanted, on_behalf, embedder.embed(texts, patience), cost).await
    }

    /// Returns true if more than half of today's background budget is left. Embeddings leave the
    /// other half to other work: old texts can wait for years, and a summary cannot.
    pub async fn has_spare(&self) -> anyhow::Result<bool> {
        let left = self.left().await?.background;
        let limit = self.background_limit();
        Ok(left.tokens > limit.tokens / 2 || limit.tokens == u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: models/window-estimate
    #[test]
    fn the_provider_is_believed_and_newer_calls_more() {
        let ratios = TokenRatios::default();
        assert!((ratios.of("a/b") - 1.0).abs() < f64::EPSILON);
        ratios.learn("a/b", 100, 150);
        assert!((ratios.of("a/b") - 1.5).abs() < 1e-9, "the first count stands");
        for _ in 0..20 {
            ratios.learn("a/b", 100, 80);
        }
        assert!((ratios.of("a/b") - 0.8).abs() < 0.01 && (ratios.of("a/c") - 1.0).abs() < f64::EPSILON);
    }

    /// Proves: models/window-estimate
    #[test]
    fn a_figure_that_cannot_be_is_bounded_and_none_is_none() {
        let ratios = TokenRatios::default();
        ratios.learn("a/b", 10, 0);
        ratios.learn("a/b", 0, 10);
        assert!((ratios.of("a/b") - 1.0).abs() < f64::EPSILON);
        ratios.learn("a/b", 1, 1_000_000);
        assert!((ratios.of("a/b") - MOST).abs() < 1e-9);
    }
}
