//! Nightly upkeep, once per local day: deletes old text and files, truncates the log, merges and
//! compares the search index, and checks the journal.
//!
//! Upkeep is a slot like any other: named by the local day, claimed by an insert, resumed after a
//! crash, and never made up for; after an absence it runs once. The work is split into steps
//! ([`steps`]), each a transaction of a few hundred rows or a check of one table, so the writer is
//! never blocked for longer than that. Between two steps other due work gets its turn. The position
//! in the round is kept in memory only: every step finds its own work, so a restarted round passes
//! over what is done.
//!
//! The first round after an absence of days deletes nothing because of its age: a clock that is far
//! ahead for some hours looks the same.
//!
//! A failed step is logged and left for the next day. Upkeep sends no messages, unless the disk is
//! nearly full or the journal is damaged.

mod knowledge;
mod rows;
mod steps;
mod words;

use crate::schedule::Upkeep;
use std::sync::{Arc, Mutex, PoisonError};

use crate::id::SlotId;
use crate::store::{Db, NewSlot, SlotRow, SlotState};
use crate::time::{Cron, Period, Span, Timestamp};
use crate::trust::Scope;

pub use rows::Checked;
use steps::{Done, MaintenanceStep};

/// The job name.
const JOB: &str = "upkeep";
/// Due time, as a cron expression in local time.
const WHEN: &str = "30 4 * * *";

/// Free space on the disk, in bytes; `None` if unknown.
pub type FreeSpace = Arc<dyn Fn() -> Option<u64> + Send + Sync>;

/// Progress of the current round.
#[derive(Debug, Default)]
pub(crate) struct Rounds(Mutex<Option<Round>>);

/// One round through all steps.
#[derive(Debug, Clone)]
struct Round {
    slot: SlotId,
    step: MaintenanceStep,
}

impl Rounds {
    /// The current step of that slot's round: the first, if this process has not started it.
    fn step_of(&self, slot: SlotId) -> MaintenanceStep {
        let round = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        round
            .as_ref()
            .filter(|round| round.slot == slot)
            .map_or_else(MaintenanceStep::first, |round| round.step.clone())
    }

    fn set_progress(&self, round: Option<Round>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = round;
    }
}

impl Upkeep<'_> {
    /// Does one due step, and returns the time of the next check.
    pub(super) async fn upkeep(&self) -> anyhow::Result<Option<Timestamp>> {
        let now = self.clock.now();
        let Ok(cron) = Cron::parse(WHEN) else { return Ok(None) };
        let slot = match self.open_round().await? {
            Some(slot) => Some(slot.id),
            None => self.claim_round(&cron, now).await?,
        };
        let Some(slot) = slot else { return Ok(cron.next_after(now, self.zone)) };
        self.go_on(slot, now).await?;
        Ok(Some(now))
    }

    async fn open_round(&self) -> anyhow::Result<Option<SlotRow>> {
        let open = self.journal.read(|db| db.slots().open_slots()).await?;
        Ok(open.into_iter().find(|slot| slot.job == JOB))
    }

    /// Claims the latest due round, unless it was done. A home created after the due time needs no
    /// upkeep yet.
    async fn claim_round(&self, cron: &Cron, now: Timestamp) -> anyhow::Result<Option<SlotId>> {
        let zone = self.zone;
        let today = Period::containing(Span::Day, now, zone);
        let days = [today, today.previous(), today.previous().previous()];
        let due = days.iter().filter_map(|day| cron.next_from(day.begins(zone), zone)).find(|due| *due <= now);
        let Some(due) = due else { return Ok(None) };
        let day = Period::containing(Span::Day, due, zone);
        let (period, from, to) = (day.to_string(), day.begins(zone), day.ends(zone));
        let name = period.clone();
        // Looked up by name instead of by the latest slot: after an hour with the clock ahead, the
        // latest slot would suppress this round until then.
        let look =
            move |db: Db<'_>| Ok((db.slots().newest_run(Scope::Shared, JOB, &name)?, db.maintenance().used_since()?));
        let (done, since) = self.journal.read(look).await?;
        if done.is_some() || since.is_none_or(|since| due < since) {
            return Ok(None);
        }
        let claim = move |tx: crate::store::Tx<'_>| {
            let (job, scope, state) = (JOB, Scope::Shared, SlotState::Claimed);
            let (period, due_at, at) = (period.as_str(), due, now);
            tx.slots().claim_slot(&NewSlot {
                job,
                scope,
                period,
                from,
                to,
                due_at,
                state,
                reason: "",
                again: false,
                at,
            })
        };
        self.journal.write("claim upkeep", claim).await
    }

    /// Does one step; the last one ends the round.
    async fn go_on(&self, slot: SlotId, now: Timestamp) -> anyhow::Result<()> {
        let step = self.rounds.step_of(slot);
        let done = self.take(&step, now).await.unwrap_or_else(|error| {
            tracing::error!("A step of the upkeep failed and is left for tomorrow ({step:?}): {error:#}");
            Done::Next
        });
        let next = match done {
            Done::Again(step) => Some(step),
            Done::Next => step.next(),
        };
        match next {
            Some(step) => self.rounds.set_progress(Some(Round { slot, step })),
            None => {
                let end = move |tx: crate::store::Tx<'_>| tx.slots().end_slot(slot, SlotState::Done, "", now).map(drop);
                self.journal.write("end upkeep", end).await?;
                self.rounds.set_progress(None);
            }
        }
        Ok(())
    }
}
