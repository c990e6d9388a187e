//! Reflections, and the actions that they propose.
//!
//! A reflection belongs to one slot and is stored once; its words stand with its message. An action
//! goes `new` → `taken` → `proposed`, or ends before that; a state that is final never changes.
//! That few enough are taken on one local day is checked in the transaction that takes one.

use crate::store::handles::{Reflections, ReflectionsMut};
use rusqlite::{OptionalExtension, Row, params};

use crate::id::{ActionId, MessageId, ProposalId, ReflectionId, SlotId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// A reflection to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewReflection<'a> {
    /// The slot that it fills.
    pub slot: SlotId,
    /// The turn whose answer it is.
    pub turn: TurnId,
    /// Holds its text.
    pub message: MessageId,
    /// A few words.
    pub title: &'a str,
    /// The join of all that was read for it.
    pub label: &'a Label,
    /// Whose it is.
    pub scope: Scope,
    /// Now.
    pub at: Timestamp,
}

/// A stored reflection with what its slot says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflectionRow {
    /// Its row.
    pub id: ReflectionId,
    /// The slot that it fills.
    pub slot: SlotId,
    /// The turn whose answer it is.
    pub turn: TurnId,
    /// Holds its text.
    pub message: MessageId,
    /// A few words.
    pub title: String,
    /// The join of all that was read for it.
    pub label: Label,
    /// Whose it is.
    pub scope: Scope,
    /// Stored.
    pub at: Timestamp,
    /// `daily`, `weekly`, `monthly`.
    pub job: String,
    /// The local period by its name.
    pub period: String,
    /// The period's first instant.
    pub from: Timestamp,
    /// The first instant after it.
    pub to: Timestamp,
}

/// What became of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionState {
    /// Nobody has seen to it.
    New,
    /// It counts for its day, and is about to go to the gate.
    Taken,
    /// It is a proposal.
    Proposed,
    /// It is remembered, or waits to be.
    Kept,
    /// It stays a suggestion.
    Suggested,
    /// A stage of the gate refused it.
    Refused,
    /// There were too many.
    OverLimit,
    /// It made no sense.
    Malformed,
}

impl ActionState {
    /// All of them.
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

    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Taken => "taken",
            Self::Proposed => "proposed",
            Self::Kept => "kept",
            Self::Suggested => "suggested",
            Self::Refused => "refused",
            Self::OverLimit => "over_limit",
            Self::Malformed => "malformed",
        }
    }

    /// The state of that word; one that was never written is malformed, and so nothing comes of it.
    fn parse(word: &str) -> Self {
        Self::ALL.into_iter().find(|state| state.as_str() == word).unwrap_or(Self::Malformed)
    }
}

/// An action to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewAction<'a> {
    /// Which reflection proposes it.
    pub reflection: ReflectionId,
    /// Its order there, from 0.
    pub seq: u32,
    /// `create_skill`, `change_skill`, `promote_note`, `memory`, `configuration`, `other`.
    pub kind: &'a str,
    /// One line.
    pub title: &'a str,
    /// JSON: everything else that was said of it.
    pub payload: &'a str,
    /// `New`, or final from the beginning.
    pub state: ActionState,
    /// Why it became nothing.
    pub reason: &'a str,
    /// Where it came from.
    pub label: &'a Label,
    /// Whose it is.
    pub scope: Scope,
    /// Now.
    pub at: Timestamp,
}

/// A stored action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRow {
    /// Its row.
    pub id: ActionId,
    /// Which reflection proposes it.
    pub reflection: ReflectionId,
    /// Its order there.
    pub seq: u32,
    /// Its kind as a word.
    pub kind: String,
    /// One line.
    pub title: String,
    /// JSON: everything else that was said of it.
    pub payload: String,
    /// What became of it.
    pub state: ActionState,
    /// The local day whose limit it counts for.
    pub day: String,
    /// The proposal that it became, or that was there already.
    pub proposal: Option<ProposalId>,
    /// Why it became nothing, in our own words.
    pub reason: String,
    /// Where it came from.
    pub label: Label,
    /// Whose it is.
    pub scope: Scope,
}

const REFLECTION: &str = "SELECT r.id, r.slot_id, r.turn_id, r.message_id, r.title, r.label, r.scope, r.at,
    s.job, s.period, s.from_at, s.to_at FROM reflections r JOIN slots s ON s.id = r.slot_id";
const ACTION: &str =
    "SELECT id, reflection_id, seq, kind, title, payload, state, day, proposal_id, reason, label, scope FROM actions";

fn reflection(row: &Row<'_>) -> rusqlite::Result<ReflectionRow> {
    Ok(ReflectionRow {
        id: row.get(0)?,
        slot: row.get(1)?,
        turn: row.get(2)?,
        message: row.get(3)?,
        title: row.get(4)?,
        label: row.get(5)?,
        scope: row.get(6)?,
        at: row.get(7)?,
        job: row.get(8)?,
        period: row.get(9)?,
        from: row.get(10)?,
        to: row.get(11)?,
    })
}

fn action(row: &Row<'_>) -> rusqlite::Result<ActionRow> {
    let state: String = row.get(6)?;
    Ok(ActionRow {
        id: row.get(0)?,
        reflection: row.get(1)?,
        seq: row.get(2)?,
        kind: row.get(3)?,
        title: row.get(4)?,
        payload: row.get(5)?,
        state: ActionState::parse(&state),
        day: row.get(7)?,
        proposal: row.get(8)?,
        reason: row.get(9)?,
        label: row.get(10)?,
        scope: row.get(11)?,
    })
}

impl Reflections<'_> {
    /// The reflection of that id.
    pub fn reflection(&self, id: ReflectionId) -> anyhow::Result<Option<ReflectionRow>> {
        let mut query = self.db.prepare_cached(&format!("{REFLECTION} WHERE r.id = ?1"))?;
        Ok(query.query_row([id], reflection).optional()?)
    }

    /// The reflection of which that message holds the text.
    pub fn reflection_in(&self, message: MessageId) -> anyhow::Result<Option<ReflectionRow>> {
        let mut query = self.db.prepare_cached(&format!("{REFLECTION} WHERE r.message_id = ?1"))?;
        Ok(query.query_row([message], reflection).optional()?)
    }

    /// The newest reflection on the period of that name.
    pub fn reflection_on(&self, scope: Scope, period: &str) -> anyhow::Result<Option<ReflectionRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "{REFLECTION} WHERE r.scope = ?1 AND s.period = ?2 ORDER BY s.run DESC LIMIT 1"
        ))?;
        Ok(query.query_row(params![scope, period], reflection).optional()?)
    }

    /// Reflections, the latest first; of one scope, or of all.
    pub fn reflections(&self, scope: Option<Scope>, limit: u32) -> anyhow::Result<Vec<ReflectionRow>> {
        let mut query = self
            .db
            .prepare_cached(&format!("{REFLECTION} WHERE ?1 IS NULL OR r.scope = ?1 ORDER BY r.id DESC LIMIT ?2"))?;
        Ok(query.query_map(params![scope, limit], reflection)?.collect::<Result<_, _>>()?)
    }

    /// The reflections of a job on the periods that end within these instants, oldest period first,
    /// the newest one of each.
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

    /// The last reflection of that job but for the one of that slot, on a period that does not end
    /// later.
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

    /// The action of that id.
    pub fn action(&self, id: ActionId) -> anyhow::Result<Option<ActionRow>> {
        let mut query = self.db.prepare_cached(&format!("{ACTION} WHERE id = ?1"))?;
        Ok(query.query_row([id], action).optional()?)
    }

    /// What a reflection proposes, in its order.
    pub fn actions_of(&self, of: ReflectionId) -> anyhow::Result<Vec<ActionRow>> {
        let mut query = self.db.prepare_cached(&format!("{ACTION} WHERE reflection_id = ?1 ORDER BY seq"))?;
        Ok(query.query_map([of], action)?.collect::<Result<_, _>>()?)
    }

    /// The actions that are to be seen to, in order.
    pub fn open_actions(&self) -> anyhow::Result<Vec<ActionRow>> {
        let mut query = self.db.prepare_cached(&format!("{ACTION} WHERE state IN ('new', 'taken') ORDER BY id"))?;
        Ok(query.query_map([], action)?.collect::<Result<_, _>>()?)
    }

    /// How many actions were given to the gate on that local day.
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
    /// If the journal cannot be written, or the slot has one.
    pub fn keep_reflection(&self, new: &NewReflection<'_>) -> anyhow::Result<ReflectionId> {
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
                new.state.as_str(),
                new.reason,
                new.label,
                new.scope,
                ended,
            ])?;
        Ok(ActionId(self.db.last_insert_rowid()))
    }

    /// Takes an action for that local day, if fewer than `most` are taken on it. False if not.
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

    /// A taken action is that proposal now. False if it was not taken, or is over.
    pub fn action_proposed(&self, id: ActionId, proposal: ProposalId, now: Timestamp) -> anyhow::Result<bool> {
        let changed = self.db
            .prepare_cached(
                "UPDATE actions SET state = 'proposed', proposal_id = ?2, ended_at = ?3 WHERE id = ?1 AND state = 'taken'",
            )?
            .execute(params![id, proposal, now])?;
        Ok(changed == 1)
    }

    /// Nothing more comes of an action that is open. False if it was over.
    pub fn end_action(&self, id: ActionId, state: ActionState, reason: &str, now: Timestamp) -> anyhow::Result<bool> {
        let changed = self
            .db
            .prepare_cached(
                "UPDATE actions SET state = ?2, reason = ?3, ended_at = ?4 WHERE id = ?1 AND state IN ('new', 'taken')",
            )?
            .execute(params![id, state.as_str(), reason, now])?;
        Ok(changed == 1)
    }
}
