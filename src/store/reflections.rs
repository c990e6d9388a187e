//! Reflections and their proposed actions.
//!
//! A reflection belongs to one slot and is stored once; its text is stored with its message. An
//! action goes `new` → `taken` → `proposed`, or ends before that; a final state never changes. The
//! transaction that takes an action checks the limit for its local day.

use crate::store::handles::{Reflections, ReflectionsMut};
use rusqlite::{OptionalExtension, Row, params};
use strum::{EnumString, IntoStaticStr};

use crate::id::{ActionId, MessageId, ProposalId, ReflectionId, SlotId, TurnId};
use crate::store::stored_word::stored_word;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// A reflection to store.
#[derive(Debug, Clone, Copy)]
pub struct NewReflection<'a> {
    /// Slot.
    pub slot: SlotId,
    /// Turn whose answer it is.
    pub turn: TurnId,
    /// Message with its text.
    pub message: MessageId,
    /// Title of a few words.
    pub title: &'a str,
    /// Join of the labels of its inputs.
    pub label: &'a Label,
    /// Owning scope.
    pub scope: Scope,
    /// Current time.
    pub at: Timestamp,
}

/// A stored reflection with the data of its slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectionRow {
    /// Row id.
    pub id: ReflectionId,
    /// Slot.
    pub slot: SlotId,
    /// Turn whose answer it is.
    pub turn: TurnId,
    /// Message with its text.
    pub message: MessageId,
    /// Title of a few words.
    pub title: String,
    /// Join of the labels of its inputs.
    pub label: Label,
    /// Owning scope.
    pub scope: Scope,
    /// Creation time.
    pub at: Timestamp,
    /// `daily`, `weekly` or `monthly`.
    pub job: String,
    /// Name of the local period.
    pub period: String,
    /// Start of the period.
    pub from: Timestamp,
    /// End of the period, exclusive.
    pub to: Timestamp,
}

/// State of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ActionState {
    /// Not yet processed.
    New,
    /// Counted for its day, about to be submitted for review.
    Taken,
    /// Submitted as a proposal.
    Proposed,
    /// Remembered, or waiting to be.
    Kept,
    /// Remains a suggestion.
    Suggested,
    /// Refused by a review stage.
    Refused,
    /// Beyond the limit.
    OverLimit,
    /// Malformed.
    Malformed,
}

stored_word!(ActionState);

impl ActionState {
    /// Returns the word by which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// All states.
    pub const ALL: [Self; 8] = [
        Self::New,
        Self::Taken,
        Self::Proposed,
        Self::Kept,
        Self::Suggested,
        Self::Refused,
        Self::OverLimit,
        Self::Malformed,
    ];
}

/// An action to store.
#[derive(Debug, Clone, Copy)]
pub struct NewAction<'a> {
    /// Reflection.
    pub reflection: ReflectionId,
    /// Position in the reflection, from 0.
    pub seq: u32,
    /// `create_skill`, `change_skill`, `promote_note`, `memory`, `configuration` or `other`.
    pub kind: &'a str,
    /// Title, one line.
    pub title: &'a str,
    /// Remaining content as JSON.
    pub payload: &'a str,
    /// `New` or a final state.
    pub state: ActionState,
    /// Reason if it has no effect.
    pub reason: &'a str,
    /// Trust label.
    pub label: &'a Label,
    /// Owning scope.
    pub scope: Scope,
    /// Current time.
    pub at: Timestamp,
}

/// A stored action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRow {
    /// Row id.
    pub id: ActionId,
    /// Reflection.
    pub reflection: ReflectionId,
    /// Position in the reflection, from 0.
    pub seq: u32,
    /// Kind.
    pub kind: String,
    /// Title, one line.
    pub title: String,
    /// Remaining content as JSON.
    pub payload: String,
    /// State.
    pub state: ActionState,
    /// Local day whose limit it counts for.
    pub day: String,
    /// Proposal that it became, or that existed already.
    pub proposal: Option<ProposalId>,
    /// Reason if it has no effect, in our own words.
    pub reason: String,
    /// Trust label.
    pub label: Label,
    /// Owning scope.
    pub scope: Scope,
}

const REFLECTION: &str = "SELECT r.id, r.slot_id, r.turn_id, r.message_id, r.title, r.label, r.scope, r.at,
    s.job, s.period, s.from_at, s.to_at FROM reflections r JOIN slots s ON s.id = r.slot_id";
const ACTION: &str =
    "SELECT id, reflection_id, seq, kind, title, payload, state, day, proposal_id, reason, label, scope FROM actions";

fn reflection(row: &Row<'_>) -> rusqlite::Result<ReflectionRow> {
    Ok(ReflectionRow {
        id: row.get("id")?,
        slot: row.get("slot_id")?,
        turn: row.get("turn_id")?,
        message: row.get("message_id")?,
        title: row.get("title")?,
        label: row.get("label")?,
        scope: row.get("scope")?,
        at: row.get("at")?,
        job: row.get("job")?,
        period: row.get("period")?,
        from: row.get("from_at")?,
        to: row.get("to_at")?,
    })
}

fn action(row: &Row<'_>) -> rusqlite::Result<ActionRow> {
    Ok(ActionRow {
        id: row.get("id")?,
        reflection: row.get("reflection_id")?,
        seq: row.get("seq")?,
        kind: row.get("kind")?,
        title: row.get("title")?,
        payload: row.get("payload")?,
        state: row.get("state")?,
        day: row.get("day")?,
        proposal: row.get("proposal_id")?,
        reason: row.get("reason")?,
        label: row.get("label")?,
        scope: row.get("scope")?,
    })
}

impl Reflections<'_> {
    /// Returns a reflection by id.
    pub fn reflection(&self, id: ReflectionId) -> anyhow::Result<Option<ReflectionRow>> {
        let mut query = self.db.prepare_cached(&format!("{REFLECTION} WHERE r.id = ?1"))?;
        Ok(query.query_row([id], reflection).optional()?)
    }

    /// Returns the reflection with its text in that message.
    pub fn reflection_in(&self, message: MessageId) -> anyhow::Result<Option<ReflectionRow>> {
        let mut query = self.db.prepare_cached(&format!("{REFLECTION} WHERE r.message_id = ?1"))?;
        Ok(query.query_row([message], reflection).optional()?)
    }

    /// Returns the newest reflection on a period, by the period's name.
    pub fn reflection_on(&self, scope: Scope, period: &str) -> anyhow::Result<Option<ReflectionRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "{REFLECTION} WHERE r.scope = ?1 AND s.period = ?2 ORDER BY s.run DESC LIMIT 1"
        ))?;
        Ok(query.query_row(params![scope, period], reflection).optional()?)
    }

    /// Returns reflections, latest first; of one scope, or of all.
    pub fn reflections(&self, scope: Option<Scope>, limit: u32) -> anyhow::Result<Vec<ReflectionRow>> {
        let mut query = self
            .db
            .prepare_cached(&format!("{REFLECTION} WHERE ?1 IS NULL OR r.scope = ?1 ORDER BY r.id DESC LIMIT ?2"))?;
        Ok(query.query_map(params![scope, limit], reflection)?.collect::<Result<_, _>>()?)
    }

    /// Returns a job's reflections on periods that end within these instants, oldest period first,
    /// the newest of each.
    pub fn reflections_within(
        &self,
        scope: Scope,
        job: &str,
        from: Timestamp,
        to: Timestamp,
    ) -> anyhow::Result<Vec<ReflectionRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "{REFLECTION} WHERE s.scope = ?1 AND s.job = ?2 AND s.to_at > ?3 AND s.to_at <= ?4
               AND s.run = (SELECT max(o.run) FROM slots o JOIN reflections n ON n.slot_id = o.id
                            WHERE o.job = s.job AND o.scope = s.scope AND o.period = s.period)
             ORDER BY s.to_at, s.period"
        ))?;
        Ok(query.query_map(params![scope, job, from, to], reflection)?.collect::<Result<_, _>>()?)
    }

    /// Returns the last reflection of a job on a period that ends no later, excluding that slot.
    pub fn reflection_before(
        &self,
        scope: Scope,
        job: &str,
        slot: SlotId,
        to: Timestamp,
    ) -> anyhow::Result<Option<ReflectionRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "{REFLECTION} WHERE s.scope = ?1 AND s.job = ?2 AND s.id <> ?3 AND s.to_at <= ?4
             ORDER BY s.to_at DESC, s.run DESC LIMIT 1"
        ))?;
        Ok(query.query_row(params![scope, job, slot, to], reflection).optional()?)
    }

    /// Returns an action by id.
    pub fn action(&self, id: ActionId) -> anyhow::Result<Option<ActionRow>> {
        let mut query = self.db.prepare_cached(&format!("{ACTION} WHERE id = ?1"))?;
        Ok(query.query_row([id], action).optional()?)
    }

    /// Returns the actions of a reflection, in order.
    pub fn actions_of(&self, of: ReflectionId) -> anyhow::Result<Vec<ActionRow>> {
        let mut query = self.db.prepare_cached(&format!("{ACTION} WHERE reflection_id = ?1 ORDER BY seq"))?;
        Ok(query.query_map([of], action)?.collect::<Result<_, _>>()?)
    }

    /// Returns the open actions, in order.
    pub fn open_actions(&self) -> anyhow::Result<Vec<ActionRow>> {
        let mut query = self.db.prepare_cached(&format!("{ACTION} WHERE state IN ('new', 'taken') ORDER BY id"))?;
        Ok(query.query_map([], action)?.collect::<Result<_, _>>()?)
    }

    /// Counts the actions submitted for review on that local day.
    pub fn actions_on(&self, day: &str) -> anyhow::Result<u32> {
        let mut query = self.db.prepare_cached(
            "SELECT count(*) FROM actions WHERE day <> '' AND day = ?1 AND state IN ('taken', 'proposed')",
        )?;
        Ok(query.query_row([day], |row| row.get(0))?)
    }
}

impl ReflectionsMut<'_> {
    /// Stores a reflection.
    ///
    /// # Errors
    /// If the slot has one.
    pub fn store_reflection(&self, new: &NewReflection<'_>) -> anyhow::Result<ReflectionId> {
        self.db
            .prepare_cached(
                "INSERT INTO reflections (slot_id, turn_id, message_id, title, label, scope, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![new.slot, new.turn, new.message, new.title, new.label, new.scope, new.at])?;
        Ok(ReflectionId(self.db.last_insert_rowid()))
    }

    /// Stores an action.
    pub fn add_action(&self, new: &NewAction<'_>) -> anyhow::Result<ActionId> {
        let ended = (new.state != ActionState::New).then_some(new.at);
        self.db
            .prepare_cached(
                "INSERT INTO actions (reflection_id, seq, kind, title, payload, state, reason, label, scope, ended_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                new.reflection,
                new.seq,
                new.kind,
                new.title,
                new.payload,
                new.state,
                new.reason,
                new.label,
                new.scope,
                ended,
            ])?;
        Ok(ActionId(self.db.last_insert_rowid()))
    }

    /// Takes an action if fewer than `most` are taken on that local day. Returns false if not.
    pub fn take_action(&self, id: ActionId, day: &str, most: u32) -> anyhow::Result<bool> {
        if self.actions_on(day)? >= most {
            return Ok(false);
        }
        let changed = self
            .db
            .prepare_cached("UPDATE actions SET state = 'taken', day = ?2 WHERE id = ?1 AND state = 'new'")?
            .execute(params![id, day])?;
        Ok(changed == 1)
    }

    /// Links a taken action to its proposal. Returns false if it was not taken, or has ended.
    pub fn action_proposed(&self, id: ActionId, proposal: ProposalId, now: Timestamp) -> anyhow::Result<bool> {
        let changed = self.db
            .prepare_cached(
                "UPDATE actions SET state = 'proposed', proposal_id = ?2, ended_at = ?3 WHERE id = ?1 AND state = 'taken'",
            )?
            .execute(params![id, proposal, now])?;
        Ok(changed == 1)
    }

    /// Ends an open action. Returns false if it had ended.
    pub fn end_action(&self, id: ActionId, state: ActionState, reason: &str, now: Timestamp) -> anyhow::Result<bool> {
        let changed = self
            .db
            .prepare_cached(
                "UPDATE actions SET state = ?2, reason = ?3, ended_at = ?4 WHERE id = ?1 AND state IN ('new', 'taken')",
            )?
            .execute(params![id, state, reason, now])?;
        Ok(changed == 1)
    }
}
