//! Reflections on an owner's request.
//!
//! A request does not change which time is covered. The period has to be over, earlier periods
//! without a reflection go first, and a finished period is repeated only if the request says so.
//! The new run then counts, and the older one stays as it is.

use std::time::Duration;

use crate::id::{PersonId, SlotId};
use crate::reflection::Job;
use crate::store::{NewSlot, SlotRow, SlotState, Tx};
use crate::time::{Cron, Period, Timestamp};
use crate::trust::Scope;

use super::due::plan;
use super::{Schedule, slots};

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnDemandResult {
    /// The reflection on the period starts once the earlier ones are done.
    Begun(SlotId, String),
    /// The period is already in progress.
    OnIt(SlotId, String),
    /// The period is already done.
    Done(SlotRow),
    /// The period is not over yet.
    NotOver(String),
    /// The period lies before the person was known.
    TooEarly(String),
    /// Invalid name of a period.
    NoPeriod,
    /// Reflections are disabled.
    Off,
}

impl Schedule {
    /// Requests a reflection now: on the named period, or else on the latest that is over.
    pub async fn ask(
        &self,
        person: PersonId,
        job: Job,
        name: Option<&str>,
        again: bool,
    ) -> anyhow::Result<OnDemandResult> {
        if !self.reflection.enabled {
            return Ok(OnDemandResult::Off);
        }
        let (now, zone) = (self.clock.now(), self.zone);
        let latest = Period::containing(job.span(), now, zone).previous();
        let Some(period) = name.map_or(Some(latest), |name| Period::named(job.span(), name)) else {
            return Ok(OnDemandResult::NoPeriod);
        };
        if period.ends(zone) > now {
            return Ok(OnDemandResult::NotOver(period.to_string()));
        }
        let asked = self
            .journal
            .write("ask for a slot", move |tx| {
                let scope = Scope::Person(person);
                let name = period.to_string();
                if let Some(last) = tx.slots().newest_run(scope, job.as_str(), &name)? {
                    return again_or_not(tx, last, again, now);
                }
                let Some(since) = slots::since(*tx, person, job)? else { return Ok(OnDemandResult::TooEarly(name)) };
                // Due as soon as it is over, and never too old, because it was requested.
                let every_minute = Cron::parse("* * * * *")?;
                let plan = plan(job, &every_minute, &since, Duration::MAX, zone, now);
                let wanted: Vec<_> = plan.claims.into_iter().filter(|claim| claim.to <= period.ends(zone)).collect();
                slots::store(tx, scope, &wanted, now)?;
                let row = tx.slots().newest_run(scope, job.as_str(), &name)?;
                Ok(row.map_or(OnDemandResult::TooEarly(name.clone()), |row| OnDemandResult::Begun(row.id, name)))
            })
            .await?;
        self.wake();
        Ok(asked)
    }

    /// Returns the slot when it is over, or in its current state after `patience`. That is real
    /// time, because a person is waiting.
    pub async fn when_over(&self, id: SlotId, patience: Duration) -> anyhow::Result<Option<SlotRow>> {
        let mut looked = self.looked.subscribe();
        let over = async {
            loop {
                let slot = self.journal.read(move |db| db.slots().slot(id)).await?;
                if slot.as_ref().is_none_or(|slot| !slot.state.is_open()) || looked.changed().await.is_err() {
                    return Ok(slot);
                }
            }
        };
        tokio::select! {
            slot = over => slot,
            () = crate::time::clock::real_sleep(patience) => self.journal.read(move |db| db.slots().slot(id)).await,
        }
    }
}

fn again_or_not(tx: Tx<'_>, last: SlotRow, again: bool, now: Timestamp) -> anyhow::Result<OnDemandResult> {
    if last.state.is_open() {
        return Ok(OnDemandResult::OnIt(last.id, last.period));
    }
    // A skipped, missed or failed slot has no reflection to repeat, so a request without `again` is
    // enough.
    if last.state == SlotState::Done && !again {
        return Ok(OnDemandResult::Done(last));
    }
    let new = NewSlot {
        job: &last.job,
        scope: last.scope,
        period: &last.period,
        from: last.from,
        to: last.to,
        due_at: now,
        state: SlotState::Claimed,
        reason: "",
        again: true,
        at: now,
    };
    let id = tx.slots().claim_slot(&new)?;
    Ok(id.map_or(OnDemandResult::OnIt(last.id, last.period.clone()), |id| {
        OnDemandResult::Begun(id, last.period.clone())
    }))
}
