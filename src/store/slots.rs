//! Slots: one row for each occurrence of a job, claimed by inserting it, with its outcome.
//!
//! `claimed` → `working` → `done`, `quiet` or `failed`; or `missed` from the start. A finished slot
//! never reopens: to process a period again, another run of it is added.

use crate::store::handles::{Slots, SlotsMut};
use crate::store::rows::{from_row, insert, stored_word};
use rusqlite::params;
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::id::{ConversationId, SlotId, StreamId};
use crate::store::{MessageState, TurnState};
use crate::time::Timestamp;
use crate::trust::Scope;

/// State of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SlotState {
    /// Claimed by this program.
    Claimed,
    /// The assistant is working on it.
    Working,
    /// Done.
    Done,
    /// Nothing to process.
    Quiet,
    /// Due too long ago.
    Missed,
    /// Failed.
    Failed,
}

/// How a person who asked for a slot learns its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SlotWish {
    /// They are told in the chat.
    Told,
    /// They wait for it at the command line.
    Waits,
}

stored_word!(SlotWish, SlotState, UnansweredReason);

impl SlotState {
    /// Returns true if work remains.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Claimed | Self::Working)
    }
}

/// Reason why a message, a turn or a scheduled run has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum UnansweredReason {
    /// The model gave none that can be used.
    NoAnswer,
    /// The model's server refused the request.
    Refused,
    /// The model could not be reached.
    ModelAway,
    /// The time limit was exceeded.
    TooSlow,
    /// The program was interrupted several times.
    CutOff,
    /// A person stopped it.
    Stopped,
    /// The person no longer has access.
    NotAllowed,
    /// The message was deleted.
    Deleted,
    /// The text of the message or of its answer was deleted on request.
    Forgotten,
    /// A backup was restored.
    Restored,
    /// The run was never requested.
    NeverAsked,
    /// The previous run of the job had not ended.
    StillRunning,
    /// The person has no address.
    NobodyToTell,
}

/// A slot to claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSlot<'a> {
    /// Job: `daily`, `task:7`.
    pub job: &'a str,
    /// Scope.
    pub scope: Scope,
    /// Name of the local period, or the due time.
    pub period: &'a str,
    /// Start of the period, by received time.
    pub from: Timestamp,
    /// End of the period, exclusive.
    pub to: Timestamp,
    /// Due time.
    pub due_at: Timestamp,
    /// `Claimed`, or `Missed` from the start.
    pub state: SlotState,
    /// Reason if missed.
    pub reason: &'a str,
    /// True to allow another run of a processed period.
    pub again: bool,
    /// Current time.
    pub at: Timestamp,
}

/// A stored slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotRow {
    /// Row id.
    pub id: SlotId,
    /// Job.
    pub job: String,
    /// Scope.
    pub scope: Scope,
    /// Name of the local period, or the due time.
    pub period: String,
    /// Run number: 1, or that of a repetition requested by an operator.
    pub run: u32,
    /// Start of the period, by received time.
    pub from: Timestamp,
    /// End of the period, exclusive.
    pub to: Timestamp,
    /// Due time.
    pub due_at: Timestamp,
    /// State.
    pub state: SlotState,
    /// Conversation of the work.
    pub conversation: Option<ConversationId>,
    /// Number of requests to the model.
    pub tries: u32,
    /// Time of the next request after an unusable answer.
    pub retry_at: Option<Timestamp>,
    /// Reason if missed or failed.
    pub reason: String,
    /// Time of the claim.
    pub claimed_at: Timestamp,
    /// End time.
    pub ended_at: Option<Timestamp>,
    /// Set if a person asked for it.
    pub wish: Option<SlotWish>,
}

from_row! {
    SlotRow from "slots" {
        id, job, scope, period, run, from: "from_at", to: "to_at", due_at, state,
        conversation: "conversation_id", tries, reason, claimed_at, ended_at, retry_at,
        wish,
    }
}

impl Slots<'_> {
    /// Returns the slot whose work is done in that conversation.
    pub fn slot_of(&self, conversation: ConversationId) -> anyhow::Result<Option<SlotRow>> {
        self.db.row("WHERE conversation_id = ?1 ORDER BY id DESC LIMIT 1", [conversation])
    }

    /// Returns a slot by id.
    pub fn slot(&self, id: SlotId) -> anyhow::Result<Option<SlotRow>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns the open slots, oldest first.
    pub fn open_slots(&self) -> anyhow::Result<Vec<SlotRow>> {
        self.db.rows("WHERE state IN ('claimed', 'working') ORDER BY id", [])
    }

    /// Returns the tasks of a scope that are at work.
    pub fn open_tasks(&self, scope: Scope) -> anyhow::Result<Vec<SlotRow>> {
        self.db.rows("WHERE scope = ?1 AND job LIKE 'task:%' AND state IN ('claimed', 'working') ORDER BY id", [scope])
    }

    /// Returns the slot of a job with the latest end of its period.
    pub fn last_slot(&self, scope: Scope, job: &str) -> anyhow::Result<Option<SlotRow>> {
        self.db.row("WHERE scope = ?1 AND job = ?2 ORDER BY to_at DESC, id DESC LIMIT 1", params![scope, job])
    }

    /// Returns the newest run of a slot.
    pub fn newest_run(&self, scope: Scope, job: &str, period: &str) -> anyhow::Result<Option<SlotRow>> {
        self.db
            .row("WHERE job = ?1 AND scope = ?2 AND period = ?3 ORDER BY run DESC LIMIT 1", params![job, scope, period])
    }

    /// Returns true if there are slots in the future without a result.
    pub fn has_slots_after(&self, now: Timestamp) -> anyhow::Result<bool> {
        self.db.one(
            "SELECT EXISTS (SELECT 1 FROM slots WHERE to_at > ?1 AND state IN ('quiet', 'missed', 'failed')
             AND job IN ('daily', 'weekly', 'monthly'))",
            [now],
        )
    }

    /// Returns a job's slots within these instants, oldest first.
    pub fn slots_within(
        &self,
        scope: Scope,
        job: &str,
        from: Timestamp,
        to: Timestamp,
    ) -> anyhow::Result<Vec<SlotRow>> {
        self.db.rows(
            "WHERE scope = ?1 AND job = ?2 AND to_at > ?3 AND to_at <= ?4
                 ORDER BY to_at, id",
            params![scope, job, from, to],
        )
    }

    /// Returns the newest slots of a scope, ended after that time, that were missed or failed and
    /// not run again.
    pub fn missed_slots(&self, scope: Scope, since: Timestamp, limit: u32) -> anyhow::Result<Vec<SlotRow>> {
        self.db.rows(
            "WHERE scope = ?1 AND ended_at > ?2 AND state IN ('missed', 'failed')
             AND NOT EXISTS (SELECT 1 FROM slots l WHERE l.job = slots.job AND l.scope = slots.scope
             AND l.period = slots.period AND l.run > slots.run)
             ORDER BY due_at DESC, id DESC LIMIT ?3",
            params![scope, since, limit],
        )
    }

    /// Returns the newest slots of all jobs, newest first.
    pub fn newest_slots(&self, limit: u32) -> anyhow::Result<Vec<SlotRow>> {
        self.db.rows("ORDER BY id DESC LIMIT ?1", [limit])
    }
}

impl SlotsMut<'_> {
    /// Claims a slot. `None` if it exists already, unless another run is allowed and the last one
    /// has ended.
    pub fn claim_slot(&self, new: &NewSlot<'_>) -> anyhow::Result<Option<SlotId>> {
        let last: Option<(u32, SlotState)> = self.db.first(
            "SELECT run, state FROM slots WHERE job = ?1 AND scope = ?2 AND period = ?3 ORDER BY run DESC LIMIT 1",
            params![new.job, new.scope, new.period],
        )?;
        let run = match last {
            None => 1,
            Some((run, state)) if new.again && !state.is_open() => run.saturating_add(1),
            Some(_) => return Ok(None),
        };
        let ended = (!new.state.is_open()).then_some(new.at);
        insert!(self.db, "slots" {
            job: new.job, scope: new.scope, period: new.period, run, from_at: new.from, to_at: new.to,
            due_at: new.due_at, state: new.state, reason: new.reason, claimed_at: new.at, ended_at: ended,
        })
        .map(Some)
    }

    /// Deletes slots in the future without a result.
    pub fn forget_slots_after(&self, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "DELETE FROM slots WHERE to_at > ?1 AND state IN ('quiet', 'missed', 'failed')
             AND job IN ('daily', 'weekly', 'monthly')",
            [now],
        )
    }

    /// Records that the assistant begins or resumes work on a slot, in that conversation.
    pub fn slot_works(&self, id: SlotId, conversation: ConversationId) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE slots SET state = 'working', conversation_id = ?2, tries = tries + 1, retry_at = NULL
             WHERE id = ?1 AND state IN ('claimed', 'working')",
            params![id, conversation],
        )
    }

    /// Schedules another request after an unusable answer.
    pub fn slot_waits(&self, id: SlotId, until: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE slots SET retry_at = ?2 WHERE id = ?1 AND state = 'working'", params![id, until])
    }

    /// Records that a person asks for a slot.
    pub fn wish(&self, id: SlotId, wish: SlotWish) -> anyhow::Result<()> {
        self.db.run("UPDATE slots SET wish = ?2 WHERE id = ?1", params![id, wish])
    }

    /// Stops the run of an open slot: slot and turn end together, and no answer is sent. Returns
    /// the stream in which it was.
    pub fn stop_run(&self, slot: &SlotRow, now: Timestamp) -> anyhow::Result<Option<StreamId>> {
        let (tx, reason) = (self.tx(), UnansweredReason::Stopped.as_str());
        self.end_slot(slot.id, SlotState::Done, reason, now)?;
        let Some(id) = slot.conversation else { return Ok(None) };
        let Some(conversation) = tx.conversations().conversation(id)? else { return Ok(None) };
        for request in tx.messages().queued(conversation.stream)? {
            if request.conversation == Some(id) {
                tx.messages().settle_message(request.id, MessageState::Closed, reason)?;
            }
        }
        if let Some(open) = tx.turns().open_turn(conversation.stream)?.filter(|turn| turn.conversation == id) {
            tx.messages().settle_turn(open.id, MessageState::Answered, reason)?;
            tx.turns().end_turn(open.id, TurnState::Stopped, reason, now)?;
        }
        Ok(Some(conversation.stream))
    }

    /// Ends a slot. Returns false if it had ended.
    pub fn end_slot(&self, id: SlotId, state: SlotState, reason: &str, now: Timestamp) -> anyhow::Result<bool> {
        self.db.changed(
            "UPDATE slots SET state = ?2, reason = ?3, ended_at = ?4 WHERE id = ?1
             AND state IN ('claimed', 'working')",
            params![id, state, reason, now],
        )
    }
}
