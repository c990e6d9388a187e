//! Looking back because an owner asks for it, now.
//!
//! Asking changes nothing about what is covered: the period has to be over, what comes before it
//! and was not looked back on goes first, and a period that was looked back on is only done again
//! if that is what was asked for. The new run counts, and the older one stays as it is.

use std::time::Duration;

use crate::id::{PersonId, SlotId};
use crate::reflection::Job;
use crate::store::{NewSlot, SlotRow, SlotState, Tx};
use crate::time::{Cron, Period, Timestamp};
use crate::trust::Scope;

use super::due::plan;
use super::{Schedule, slots};

/// What comes of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnDemandResult {
    /// The assistant looks back on that period, as soon as what comes before it is done.
    Begun(SlotId, String),
    /// That was asked for already.
    OnIt(SlotId, String),
    /// That was done.
    Done(SlotRow),
    /// That period is not over yet.
    NotOver(String),
    /// That period lies before anything that is known.
    TooEarly(String),
    /// That is no name of such a period.
    NoPeriod,
    /// Nothing is looked back on at all.
    Off,
}

impl Schedule {
    /// Looks back on a period now: the latest that is over, unless one is named.
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
                // Due as soon as it is over, and nothing is too old: it is asked for.
                let every_minute = Cron::parse("* * * * *")?;
                let plan = plan(job, &every_minute, &since, Duration::MAX, zone, now);
                let wanted: Vec<_> = plan.claims.into_iter().filter(|claim| claim.to <= period.ends(zone)).collect();
                slots::store(tx, scope, &wanted, now)?;
                let row = tx.slots().newest_run(scope, job.as_str(), &name)?;
                Ok(row.map_or(OnDemandResult::TooEarly(name.clone()), |row| OnDemandResult::Begun(row.id, name)))
            })
            .await?;
        self.ring();
        Ok(asked)
    }

    /// The slot when it is over, or as it stands after `patience` (by the clock on the wall:
    /// somebody waits).
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
    // What was passed over, missed or failed has no reflection that could be repeated: asking is
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
