//! The steps of a round, in their order: deletions, then clean-up, then checks.

use crate::schedule::Upkeep;
use std::time::Duration;

use crate::store::{Db, SlotState};
use crate::time::Timestamp;
use crate::trust::Scope;

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
            MaintenanceStep::Log => self.cut_log().await,
            MaintenanceStep::Room => self.check_disk_space(now).await,
        }
    }

    /// Returns whether a recent round was completed, which makes the current time plausible.
    async fn completed_recently(&self, now: Timestamp) -> anyhow::Result<bool> {
        let since = now.minus(LATELY);
        let rounds = move |db: Db<'_>| db.slots().slots_within(Scope::Shared, super::JOB, since, now);
        Ok(self.journal.read(rounds).await?.iter().any(|round| round.state == SlotState::Done))
    }

    /// Rebuilds the whole index piece by piece after text was deleted: only then is the text gone
    /// from the file.
    async fn merge_index(&self, times: u32) -> anyhow::Result<Done> {
        let all = times == 0 && self.journal.read(|db| db.settings().fact(super::words::FORGOT)).await?.is_some();
        let more = self.journal.write("merge the index", move |tx| tx.maintenance().merge_index(PAGES, all)).await?;
        if more && times < MERGES {
            return Ok(Done::Again(MaintenanceStep::Merge { times: times.saturating_add(1) }));
        }
        if self.journal.read(|db| db.settings().fact(super::words::FORGOT)).await?.is_some() {
            self.journal.write("the index is whole", |tx| tx.settings().drop_fact(super::words::FORGOT)).await?;
        }
        Ok(Done::Next)
    }

    async fn cut_log(&self) -> anyhow::Result<Done> {
        self.journal.write("look at estimates", |tx| tx.maintenance().optimize()).await?;
        if self.journal.log_size() > LOG && !self.journal.cut_log().await? {
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
