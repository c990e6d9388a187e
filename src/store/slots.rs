//! Slots: each occurrence of a job once, claimed by inserting it, and what became of it.
//!
//! `claimed` → `working` → `done`, `quiet` or `failed`; or `missed` from the beginning. A slot that
//! is over never opens again: to look at a period once more is another run of it.

use crate::store::handles::{Slots, SlotsMut};
use rusqlite::{OptionalExtension, Row, params};

use crate::id::{ConversationId, SlotId};
use crate::time::Timestamp;
use crate::trust::Scope;

/// How a slot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotState {
    /// It is this program's to do.
    Claimed,
    /// The assistant works on it.
    Working,
    /// It is done.
    Done,
    /// There was nothing to look at.
    Quiet,
    /// It was due too long ago.
    Missed,
    /// It could not be done.
    Failed,
}

impl SlotState {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Working => "working",
            Self::Done => "done",
            Self::Quiet => "quiet",
            Self::Missed => "missed",
            Self::Failed => "failed",
        }
    }

    /// Whether something is still to be done.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Claimed | Self::Working)
    }

    fn parse(word: &str) -> Self {
        match word {
            "claimed" => Self::Claimed,
            "working" => Self::Working,
            "done" => Self::Done,
            "quiet" => Self::Quiet,
            "missed" => Self::Missed,
            _ => Self::Failed,
        }
    }
}

/// A slot to be claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSlot<'a> {
    /// Its job: `daily`, `task:7`.
    pub job: &'a str,
    /// For whom.
    pub scope: Scope,
    /// The local period by its name, or the instant it was due.
    pub period: &'a str,
    /// The period's first instant, by received time.
    pub from: Timestamp,
    /// The first instant after it.
    pub to: Timestamp,
    /// When it was to run.
    pub due_at: Timestamp,
    /// `Claimed`, or `Missed` from the beginning.
    pub state: SlotState,
    /// Why it is missed.
    pub reason: &'a str,
    /// Whether the period may be looked at once more though it has been.
    pub again: bool,
    /// Now.
    pub at: Timestamp,
}

/// A stored slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotRow {
    /// Its row.
    pub id: SlotId,
    /// Its job.
    pub job: String,
    /// For whom.
    pub scope: Scope,
    /// The local period by its name, or the instant it was due.
    pub period: String,
    /// 1, or which repetition an operator asked for.
    pub run: u32,
    /// The period's first instant, by received time.
    pub from: Timestamp,
    /// The first instant after it.
    pub to: Timestamp,
    /// When it was to run.
    pub due_at: Timestamp,
    /// How it stands.
    pub state: SlotState,
    /// In which the work is done.
    pub conversation: Option<ConversationId>,
    /// How often a model was asked for its result.
    pub tries: u32,
    /// When it is asked once more, after an answer that was none.
    pub retry_at: Option<Timestamp>,
    /// Why it is missed or failed.
    pub reason: String,
    /// Claimed.
    pub claimed_at: Timestamp,
    /// Over.
    pub ended_at: Option<Timestamp>,
}

const COLUMNS: &str =
    "id, job, scope, period, run, from_at, to_at, due_at, state, conversation_id, tries, reason, claimed_at, ended_at,
    retry_at";

fn slot(row: &Row<'_>) -> rusqlite::Result<SlotRow> {
    let state: String = row.get(8)?;
    Ok(SlotRow {
        id: row.get(0)?,
        job: row.get(1)?,
        scope: row.get(2)?,
        period: row.get(3)?,
        run: row.get(4)?,
        from: row.get(5)?,
        to: row.get(6)?,
        due_at: row.get(7)?,
        state: SlotState::parse(&state),
        conversation: row.get(9)?,
        tries: row.get(10)?,
        reason: row.get(11)?,
        claimed_at: row.get(12)?,
        ended_at: row.get(13)?,
        retry_at: row.get(14)?,
    })
}

impl Slots<'_> {
    /// The slot of that id.
    pub fn slot(&self, id: SlotId) -> anyhow::Result<Option<SlotRow>> {
        let mut query = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM slots WHERE id = ?1"))?;
        Ok(query.query_row([id], slot).optional()?)
    }

    /// The slots in which something is to be done, oldest first.
    pub fn open_slots(&self) -> anyhow::Result<Vec<SlotRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM slots WHERE state IN ('claimed', 'working') ORDER BY id"
        ))?;
        Ok(query.query_map([], slot)?.collect::<Result<_, _>>()?)
    }

    /// The slot of a job whose window ends last.
    pub fn last_slot(&self, scope: Scope, job: &str) -> anyhow::Result<Option<SlotRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM slots WHERE scope = ?1 AND job = ?2 ORDER BY to_at DESC, id DESC LIMIT 1"
        ))?;
        Ok(query.query_row(params![scope, job], slot).optional()?)
    }

    /// The newest run of a slot.
    pub fn newest_run(&self, scope: Scope, job: &str, period: &str) -> anyhow::Result<Option<SlotRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM slots WHERE job = ?1 AND scope = ?2 AND period = ?3 ORDER BY run DESC LIMIT 1"
        ))?;
        Ok(query.query_row(params![job, scope, period], slot).optional()?)
    }

    /// Whether there are slots from a time that has not come, of which nothing was made.
    pub fn has_slots_after(&self, now: Timestamp) -> anyhow::Result<bool> {
        let mut query = self.db
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM slots WHERE to_at > ?1 AND state IN ('quiet', 'missed', 'failed') AND job IN ('daily', 'weekly', 'monthly'))")?;
        Ok(query.query_row([now], |row| row.get(0))?)
    }

    /// The slots of a job whose windows lie within these instants, oldest first.
    pub fn slots_within(
        &self,
        scope: Scope,
        job: &str,
        from: Timestamp,
        to: Timestamp,
    ) -> anyhow::Result<Vec<SlotRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM slots WHERE scope = ?1 AND job = ?2 AND to_at > ?3 AND to_at <= ?4 ORDER BY to_at, id"
        ))?;
        Ok(query.query_map(params![scope, job, from, to], slot)?.collect::<Result<_, _>>()?)
    }

    /// The newest slots of all jobs, newest first.
    pub fn newest_slots(&self, limit: u32) -> anyhow::Result<Vec<SlotRow>> {
        let mut query = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM slots ORDER BY id DESC LIMIT ?1"))?;
        Ok(query.query_map([limit], slot)?.collect::<Result<_, _>>()?)
    }
}

impl SlotsMut<'_> {
    /// Claims a slot. `None` if there is one of that name already, unless it may be looked at again
    /// and the last run is over.
    pub fn claim_slot(&self, new: &NewSlot<'_>) -> anyhow::Result<Option<SlotId>> {
        let last: Option<(u32, String)> = self
            .db
            .prepare_cached(
                "SELECT run, state FROM slots WHERE job = ?1 AND scope = ?2 AND period = ?3 ORDER BY run DESC LIMIT 1",
            )?
            .query_row(params![new.job, new.scope, new.period], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let run = match last {
            None => 1,
            Some((run, state)) if new.again && !SlotState::parse(&state).is_open() => run.saturating_add(1),
            Some(_) => return Ok(None),
        };
        let ended = (!new.state.is_open()).then_some(new.at);
        self.db
            .prepare_cached(
                "INSERT INTO slots (job, scope, period, run, from_at, to_at, due_at, state, reason, claimed_at, ended_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute(params![
                new.job,
                new.scope,
                new.period,
                run,
                new.from,
                new.to,
                new.due_at,
                new.state.as_str(),
                new.reason,
                new.at,
                ended
            ])?;
        Ok(Some(SlotId(self.db.last_insert_rowid())))
    }

    /// Forgets slots from a time that has not come, of which nothing was made.
    pub fn forget_slots_after(&self, now: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("DELETE FROM slots WHERE to_at > ?1 AND state IN ('quiet', 'missed', 'failed') AND job IN ('daily', 'weekly', 'monthly')")?
            .execute([now])?;
        Ok(())
    }

    /// The assistant works on a slot, for the first time or once more, in that conversation.
    pub fn slot_works(&self, id: SlotId, conversation: ConversationId) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "UPDATE slots SET state = 'working', conversation_id = ?2, tries = tries + 1, retry_at = NULL
                 WHERE id = ?1 AND state IN ('claimed', 'working')",
            )?
            .execute(params![id, conversation])?;
        Ok(())
    }

    /// The answer was none: the assistant is asked once more then.
    pub fn slot_waits(&self, id: SlotId, until: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE slots SET retry_at = ?2 WHERE id = ?1 AND state = 'working'")?
            .execute(params![id, until])?;
        Ok(())
    }

    /// A slot is over. False if it was already.
    pub fn end_slot(&self, id: SlotId, state: SlotState, reason: &str, now: Timestamp) -> anyhow::Result<bool> {
        let changed = self.db
            .prepare_cached(
                "UPDATE slots SET state = ?2, reason = ?3, ended_at = ?4 WHERE id = ?1 AND state IN ('claimed', 'working')",
            )?
            .execute(params![id, state.as_str(), reason, now])?;
        Ok(changed == 1)
    }
}
