//! Nightly upkeep, once per local day: deletes old text and files, truncates the log, merges and
//! compares the search index, and checks the journal.
//!
//! Upkeep is a slot like any other: named by the local day, claimed by an insert, resumed after a
//! crash, and never made up for; after an absence it runs once. The work is split into steps
//! ([`MaintenanceStep`]), each a transaction of a few hundred rows or a check of one table, so the
//! writer is never blocked for longer than that. Between two steps other due work gets its turn.
//! The position in the round is kept in memory only: every step finds its own work, so a restarted
//! round passes over what is done.
//!
//! The first round after an absence of days deletes nothing because of its age: a clock that is far
//! ahead for some hours looks the same.
//!
//! A failed step is logged and left for the next day. Upkeep sends no messages, unless the disk is
//! nearly full or the journal is damaged.

mod steps;

use std::sync::Mutex;
use std::time::Duration;

use super::Upkeep;
use crate::id::SlotId;
use crate::store::{Db, FORGOT, NewSlot, SlotState, Tx};
use crate::time::task::lock;
use crate::time::{Cron, Period, Span, Timestamp};
use crate::trust::Scope;

pub use steps::Checked;

/// The job name.
const JOB: &str = "upkeep";
/// Due time, as a cron expression in local time.
const WHEN: &str = "30 4 * * *";

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
        let round = lock(&self.0);
        round
            .as_ref()
            .filter(|round| round.slot == slot)
            .map_or_else(MaintenanceStep::first, |round| round.step.clone())
    }

    fn set_progress(&self, round: Option<Round>) {
        *lock(&self.0) = round;
    }
}

impl Upkeep<'_> {
    /// Does one due step, and returns the time of the next check.
    pub(super) async fn upkeep(&self) -> anyhow::Result<Option<Timestamp>> {
        let now = self.clock.now();
        let Ok(cron) = Cron::parse(WHEN) else { return Ok(None) };
        let open = self.journal.read(|db| db.slots().open_slots()).await?;
        let slot = match open.into_iter().find(|slot| slot.job == JOB) {
            Some(slot) => Some(slot.id),
            None => self.claim_round(&cron, now).await?,
        };
        let Some(slot) = slot else { return Ok(cron.next_after(now, self.zone)) };
        self.go_on(slot, now).await?;
        Ok(Some(now))
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
        let claim = move |tx: Tx<'_>| {
            tx.slots().claim_slot(&NewSlot {
                job: JOB,
                scope: Scope::Shared,
                period: &period,
                from,
                to,
                due_at: due,
                state: SlotState::Claimed,
                reason: "",
                again: false,
                at: now,
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
                let end = move |tx: Tx<'_>| tx.slots().end_slot(slot, SlotState::Done, "", now).map(drop);
                self.journal.write("end upkeep", end).await?;
                self.rounds.set_progress(None);
            }
        }
        Ok(())
    }
}

/// A round within this time shows that the clock is plausible.
const LATELY: Duration = Duration::from_hours(72);
/// The largest log, in bytes, that is left as it is.
const LOG: u64 = 4 << 20;
/// Pages of the search index merged per step.
const PAGES: i64 = 64;
/// Maximum number of merges in one round.
const MERGES: u32 = 2_000;

/// A step and its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MaintenanceStep {
    /// Text of conversations.
    Conversations,
    /// Text of commands, and of notices.
    Commands,
    /// Original incoming updates.
    Originals,
    /// Files received with messages.
    Files {
        /// The last row that was processed.
        after: i64,
    },
    /// Small rows that are no longer needed.
    Rows,
    /// Leftovers of deleted knowledge.
    Knowledge,
    /// The search index, compared with the texts.
    Index,
    /// The search index, merged.
    Merge {
        /// Merges so far.
        times: u32,
    },
    /// The tables, checked for damage one by one.
    Tables {
        /// The remaining tables; `None` before the first.
        left: Option<Vec<String>>,
        /// Defects found so far.
        found: Vec<String>,
    },
    /// Query planner statistics, and the log.
    Log,
    /// Free disk space.
    Room,
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Done {
    /// More work of the same kind is left.
    Again(MaintenanceStep),
    /// Done for today.
    Next,
}

impl MaintenanceStep {
    pub(super) fn first() -> Self {
        Self::Conversations
    }

    pub(super) fn next(&self) -> Option<Self> {
        match self {
            Self::Conversations => Some(Self::Commands),
            Self::Commands => Some(Self::Originals),
            Self::Originals => Some(Self::Files { after: 0 }),
            Self::Files { .. } => Some(Self::Rows),
            Self::Rows => Some(Self::Knowledge),
            Self::Knowledge => Some(Self::Index),
            Self::Index => Some(Self::Merge { times: 0 }),
            Self::Merge { .. } => Some(Self::Tables { left: None, found: Vec::new() }),
            Self::Tables { .. } => Some(Self::Log),
            Self::Log => Some(Self::Room),
            Self::Room => None,
        }
    }

    /// Returns whether the step deletes old data.
    fn deletes_old_data(&self) -> bool {
        matches!(self, Self::Conversations | Self::Commands | Self::Files { .. } | Self::Rows | Self::Knowledge)
    }

    /// Repeats the step if it did something.
    pub(super) fn while_some(self, count: usize) -> Done {
        if count > 0 { Done::Again(self) } else { Done::Next }
    }
}

impl Upkeep<'_> {
    pub(super) async fn take(&self, step: &MaintenanceStep, now: Timestamp) -> anyhow::Result<Done> {
        if step.deletes_old_data() && !self.completed_recently(now).await? {
            return Ok(Done::Next);
        }
        match step {
            MaintenanceStep::Conversations => self.forget_conversations(now).await,
            MaintenanceStep::Commands => self.forget_commands(now).await,
            MaintenanceStep::Originals => self.purge_originals(now).await,
            MaintenanceStep::Files { after } => self.drop_files(*after, now).await,
            MaintenanceStep::Rows => self.sweep_rows(now).await,
            MaintenanceStep::Knowledge => self.sweep_knowledge(now).await,
            MaintenanceStep::Index => self.compare_index(now).await,
            MaintenanceStep::Merge { times } => self.merge_index(*times).await,
            MaintenanceStep::Tables { left: None, .. } => self.begin_check(now).await,
            MaintenanceStep::Tables { left: Some(left), found } => self.check_tables(left, found, now).await,
            MaintenanceStep::Log => self.truncate_log().await,
            MaintenanceStep::Room => self.check_disk_space(now).await,
        }
    }

    /// Returns whether a recent round was completed, which makes the current time plausible.
    async fn completed_recently(&self, now: Timestamp) -> anyhow::Result<bool> {
        let since = now.minus(LATELY);
        let rounds = move |db: Db<'_>| db.slots().slots_within(Scope::Shared, JOB, since, now);
        Ok(self.journal.read(rounds).await?.iter().any(|round| round.state == SlotState::Done))
    }

    /// Rebuilds the whole index piece by piece after text was deleted: only then is the text gone
    /// from the file.
    async fn merge_index(&self, times: u32) -> anyhow::Result<Done> {
        let all = times == 0 && self.journal.read(|db| db.settings().fact(FORGOT)).await?.is_some();
        let more = self.journal.write("merge the index", move |tx| tx.maintenance().merge_index(PAGES, all)).await?;
        if more && times < MERGES {
            return Ok(Done::Again(MaintenanceStep::Merge { times: times.saturating_add(1) }));
        }
        if self.journal.read(|db| db.settings().fact(FORGOT)).await?.is_some() {
            self.journal.write("the index is whole", |tx| tx.settings().drop_fact(FORGOT)).await?;
        }
        Ok(Done::Next)
    }

    async fn truncate_log(&self) -> anyhow::Result<Done> {
        self.journal.write("look at estimates", |tx| tx.maintenance().optimize()).await?;
        if self.journal.log_size() > LOG && !self.journal.truncate_log().await? {
            tracing::info!("The journal's log is not cut, because somebody reads for long");
        }
        Ok(Done::Next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_comes_to_an_end() {
        let steps: Vec<MaintenanceStep> =
            std::iter::successors(Some(MaintenanceStep::first()), MaintenanceStep::next).take(50).collect();
        assert_eq!((steps.len(), steps.last()), (11, Some(&MaintenanceStep::Room)));
    }
}
