//! Spending ledger: reserves before a call, settles after it.

use std::sync::Arc;

use super::cost::Cost;
use super::limits::{self, ExceededLimit};
use super::stream_probe::StreamProbe;
use super::token_calibration::{self, Scales};
use crate::config::{Budget, Limit};
use crate::id::{PersonId, SpendId, TurnId};
use crate::model::{Model, ModelError, ModelInfo, Purpose, Reply, Request, StreamSink};
use crate::store::{Db, Journal, Reservation};
use crate::time::{Clock, Zone};
use crate::trust::Scope;

/// Keeps the spending of each local day within the budget.
pub struct Ledger {
    journal: Journal,
    clock: Arc<dyn Clock>,
    zone: Zone,
    budget: Budget,
    scales: Scales,
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
        Self { journal, clock, zone, budget, scales: Scales::default() }
    }

    /// Loads the provider's counts of the last calls of that model.
    pub async fn recollect(&self, card: &ModelInfo) -> anyhow::Result<()> {
        let (name, of) = (name(card), name(card));
        for (guessed, counted) in
            self.journal.read(move |db| db.spending().counts_of(&of, token_calibration::CALLS)).await?
        {
            self.scales.learn(&name, guessed, counted);
        }
        Ok(())
    }

    /// Returns the provider's count for one of our estimated tokens.
    pub(super) fn scale(&self, card: &ModelInfo) -> f64 {
        self.scales.of(&name(card))
    }

    /// Returns the daily limit for background work.
    pub(super) fn background_limit(&self) -> Limit {
        self.budget.background_daily
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
            all: limits::left(self.budget.daily, all),
            background: limits::left(self.budget.background_daily, background),
        })
    }

    /// Returns true if every limit has room for the least that an answer within that scope can
    /// cost.
    pub(super) async fn can_afford(&self, card: &ModelInfo, scope: Scope) -> anyhow::Result<bool> {
        let (budget, day, least) = (self.budget.clone(), self.zone.day(self.clock.now()), Cost::least(card));
        let look = move |db: Db<'_>| limits::exceeded(db, &budget, &day, scope, false, least);
        Ok(self.journal.read(look).await?.is_none())
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
        let card = model.card();
        let worst = Cost::worst(card, request, self.scale(card));
        let (scope, purpose) = (request.scope(), request.purpose());
        let wanted = CallEstimate { scope, purpose, model: name(card), guessed: request.estimate_tokens(), worst };
        let probe = StreamProbe::new(live);
        let cost = |result: &Result<Reply, _>| cost_of(result, card, request, probe.grew());
        let result = self.metered(wanted, *on_behalf, model.call(request, &probe), cost).await;
        if let Ok(reply) = &result {
            self.scales.learn(&name(card), request.estimate_tokens(), reply.usage.input);
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
        match self.try_reserve(wanted, on_behalf).await {
            Ok(Ok(id)) => Ok(id),
            Ok(Err(exceeded)) => Err(exceeded.refusal()),
            Err(error) => {
                tracing::error!("No model is called, because its cost cannot be reserved: {error:#}");
                Err(ModelError::Later { after: None, what: "its cost cannot be written down".to_owned() })
            }
        }
    }

    async fn try_reserve(
        &self,
        wanted: CallEstimate,
        on_behalf: SpendCause,
    ) -> anyhow::Result<Result<SpendId, ExceededLimit>> {
        let CallEstimate { scope, purpose, model, guessed, worst } = wanted;
        let at = self.clock.now();
        let day = self.zone.day(at);
        let budget = self.budget.clone();
        self.journal
            .write("reserve a call", move |tx| {
                if let Some(exceeded) = limits::exceeded(*tx, &budget, &day, scope, purpose.is_background(), worst)? {
                    return Ok(Err(exceeded));
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
                Ok(Ok(id))
            })
            .await
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

/// Name under which the model's calls are counted.
fn name(card: &ModelInfo) -> String {
    format!("{}/{}", card.provider, card.name)
}

/// Cost to settle a call with; `None` leaves it at its worst case.
fn cost_of(result: &Result<Reply, ModelError>, card: &ModelInfo, request: &Request, grew: bool) -> Option<Cost> {
    match result {
        Ok(reply) => Some(Cost::actual(card, request, reply)),
        Err(_) if grew => None,
        // A refusal may come after the provider has read everything, or written half of an answer.
        Err(ModelError::Cut | ModelError::Refused) => None,
        Err(
            ModelError::Later { .. }
            | ModelError::TooLong
            | ModelError::NoCredit
            | ModelError::BadKey
            | ModelError::Rejected(_)
            | ModelError::OverBudget(_)
            | ModelError::AboveLimit(_),
        ) => Some(Cost::nothing()),
    }
}
