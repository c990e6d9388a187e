//! The steps of a round, in their order: first what goes, then what is tidied up behind it, then
//! what is looked at.

use crate::schedule::Upkeep;
use std::time::Duration;

use crate::store::{Db, SlotState};
use crate::time::Timestamp;
use crate::trust::Scope;

/// A round that long ago says that the clock goes on as it did.
const LATELY: Duration = Duration::from_hours(72);
/// The longest log that is left as it is, in bytes.
const LOG: u64 = 4 << 20;
/// How many pages of the search index are merged at a time.
const PAGES: i64 = 64;
/// How often at most in one round.
const MERGES: u32 = 2_000;

/// A step, and how far it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MaintenanceStep {
    /// Words of conversations.
    Conversations,
    /// Words of commands, and of what was sent besides answers.
    Commands,
    /// Originals of what came in.
    Originals,
    /// Files that came with messages.
    Files {
        /// Up to which row they were looked at.
        after: i64,
    },
    /// Small rows that nobody asks for any more.
    Rows,
    /// What is left behind of knowledge that is gone.
    Knowledge,
    /// The search index, compared with the texts.
    Index,
    /// The search index, put together.
    Merge {
        /// How often it was merged so far.
        times: u32,
    },
    /// One table after the other, looked at for damage.
    Tables {
        /// Those that are left; not known yet at the beginning.
        left: Option<Vec<String>>,
        /// What was found so far.
        found: Vec<String>,
    },
    /// Estimates, and the log.
    Log,
    /// How much room there is.
    Room,
}

/// How a step went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Done {
    /// There is more of it.
    Again(MaintenanceStep),
    /// Nothing of it is left today.
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

    /// Whether it deletes what is old.
    fn goes_by_age(&self) -> bool {
        matches!(self, Self::Conversations | Self::Commands | Self::Files { .. } | Self::Rows | Self::Knowledge)
    }

    /// The same step once more if it did something.
    pub(super) fn while_some(self, count: usize) -> Done {
        if count > 0 { Done::Again(self) } else { Done::Next }
    }
}

impl Upkeep<'_> {
    pub(super) async fn take(&self, step: &MaintenanceStep, now: Timestamp) -> anyhow::Result<Done> {
        if step.goes_by_age() && !self.was_kept_up_lately(now).await? {
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
            MaintenanceStep::Room => self.look_for_room(now).await,
        }
    }

    /// Whether there was a round in the days before, so that the time can be believed.
    async fn was_kept_up_lately(&self, now: Timestamp) -> anyhow::Result<bool> {
        let since = now.minus(LATELY);
        let rounds = move |db: Db<'_>| db.slots().slots_within(Scope::Shared, super::JOB, since, now);
        Ok(self.journal.read(rounds).await?.iter().any(|round| round.state == SlotState::Done))
    }

    /// After words were deleted the whole index is put together anew, piece by piece: only then
    /// they are gone from the file.
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
