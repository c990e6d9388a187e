//! `/reflect` and `compline reflect`: reflections on an owner's request.

use crate::admin::JobsAdmin;
use std::time::Duration;

use serde_json::json;

use super::answer::Answer;
use super::command::ReflectionRequest;
use crate::id::{PersonId, SlotId};
use crate::schedule::OnDemandResult;
use crate::store::{SlotRow, SlotState};
use crate::wording::{command as chat, schedule as says};

/// Maximum time that the command line waits for a model; the work continues after that.
const PATIENCE: Duration = Duration::from_secs(600);

impl JobsAdmin<'_> {
    /// Starts a reflection for an owner, without waiting for it.
    pub(super) async fn reflect(&self, person: PersonId, wish: &ReflectionRequest) -> anyhow::Result<Answer> {
        Ok(match self.schedule.ask(person, wish.job, wish.period.as_deref(), wish.again).await? {
            OnDemandResult::Begun(_, period) => Answer::ours(says::begun(&period), json!({ "period": period })),
            OnDemandResult::OnIt(_, period) => Answer::ours(says::on_it(&period), json!({ "period": period })),
            other => refused(wish, other),
        })
    }

    /// The same for the owner on whose behalf the command line acts: waits for the end, and reports
    /// the outcome.
    pub(super) async fn reflect_now(&self, wish: &ReflectionRequest) -> anyhow::Result<Answer> {
        let owner = self.journal.read(|db| db.folders().speaking_owner()).await?;
        let Some(owner) = owner else { return Ok(Answer::refusal(chat::NOBODY)) };
        match self.schedule.ask(owner.id, wish.job, wish.period.as_deref(), wish.again).await? {
            OnDemandResult::Begun(slot, _) | OnDemandResult::OnIt(slot, _) => self.outcome(slot).await,
            other => Ok(refused(wish, other)),
        }
    }

    async fn outcome(&self, slot: SlotId) -> anyhow::Result<Answer> {
        let Some(slot) = self.schedule.when_over(slot, PATIENCE).await? else {
            return Ok(Answer::refusal(chat::FAILED));
        };
        Ok(match slot.state {
            SlotState::Done => Answer::ours(says::done(&slot.period), json_of(&slot)),
            SlotState::Quiet => Answer::ours(says::quiet(&slot.period), json_of(&slot)),
            SlotState::Claimed | SlotState::Working => Answer::ours(says::takes_long(&slot.period), json_of(&slot)),
            SlotState::Failed | SlotState::Missed => Answer::refusal(says::failed(&slot.period, &slot.reason)),
        })
    }
}

fn json_of(slot: &SlotRow) -> serde_json::Value {
    json!({ "job": slot.job, "period": slot.period, "state": slot.state.as_str(), "reason": slot.reason })
}

fn refused(wish: &ReflectionRequest, asked: OnDemandResult) -> Answer {
    Answer::refusal(match asked {
        OnDemandResult::Done(slot) => says::done_already(wish.job.as_str(), &slot.period),
        OnDemandResult::NotOver(period) => says::not_over(&period),
        OnDemandResult::TooEarly(period) => says::too_early(&period),
        OnDemandResult::NoPeriod => says::no_period(wish.job.as_str()),
        OnDemandResult::Off => says::OFF.to_owned(),
        OnDemandResult::Begun(_, period) | OnDemandResult::OnIt(_, period) => says::on_it(&period),
    })
}
