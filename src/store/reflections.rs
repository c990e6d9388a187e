//! Reflections and their proposed actions.
//!
//! A reflection belongs to one slot and is stored once; its text is stored with its message. An
//! action goes `new` → `taken` → `proposed`, or ends before that; a final state never changes. The
//! transaction that takes an action checks the limit for its local day.

use crate::store::handles::{Reflections, ReflectionsMut};
use crate::store::rows::{from_row, insert, stored_word};
use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{ActionId, MessageId, ProposalId, ReflectionId, SlotId, TurnId};
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
    /// Report to its owner that is due; `None` for none.
    pub report: Option<Report>,
    /// Current time.
    pub at: Timestamp,
}

/// When a report to the owner of a reflection is posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Report {
    /// If something was done, waits for the owner or was left out.
    Changes,
    /// In any case.
    Always,
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

/// Kind of a proposed action. The model uses the same words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ActionKind {
    /// New skill.
    CreateSkill,
    /// Change to an existing skill.
    ChangeSkill,
    /// Conversion of a note to a skill.
    PromoteNote,
    /// New or changed memory.
    Memory,
    /// Change to a setting.
    Configuration,
    /// Any other action.
    Other,
}

impl ActionKind {
    /// Returns true if the program executes the action, within its limits.
    pub fn is_done(self) -> bool {
        self.is_for_the_gate() || self == Self::Memory
    }

    /// Returns true if the action would change a skill, and so could be submitted for review.
    pub fn is_for_the_gate(self) -> bool {
        matches!(self, Self::CreateSkill | Self::ChangeSkill | Self::PromoteNote)
    }
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

stored_word!(ActionKind, ActionState, Report);

/// An action to store.
#[derive(Debug, Clone, Copy)]
pub struct NewAction<'a> {
    /// Reflection.
    pub reflection: ReflectionId,
    /// Position in the reflection, from 0.
    pub seq: u32,
    /// Kind.
    pub kind: ActionKind,
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
    pub kind: ActionKind,
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
from_row! {
    ReflectionRow from REFLECTION {
        id, slot: "slot_id", turn: "turn_id", message: "message_id", title, label, scope, at, job, period,
        from: "from_at", to: "to_at",
    }
}

from_row! {
    ActionRow from "actions" {
        id, reflection: "reflection_id", seq, kind, title, payload, state, day, proposal: "proposal_id", reason,
        label, scope,
    }
}

/// Returns the condition that this proposal is told of in the report of its reflection, which is due.
pub(super) fn in_report(proposal: &str) -> String {
    format!(
        "EXISTS (SELECT 1 FROM actions a JOIN reflections r ON r.id = a.reflection_id
             WHERE a.proposal_id = {proposal} AND r.report IS NOT NULL)"
    )
}

impl Reflections<'_> {
    /// Returns a reflection by id.
    pub fn reflection(&self, id: ReflectionId) -> anyhow::Result<Option<ReflectionRow>> {
        self.db.row("WHERE r.id = ?1", [id])
    }

    /// Returns the reflections whose owner is still to be told of them, oldest first.
    pub fn unreported(&self) -> anyhow::Result<Vec<ReflectionId>> {
        self.db.all("SELECT id FROM reflections WHERE report IS NOT NULL ORDER BY id", [])
    }

    /// Returns the report that is due about a reflection.
    pub fn report_due(&self, id: ReflectionId) -> anyhow::Result<Option<Report>> {
        Ok(self.db.first("SELECT report FROM reflections WHERE id = ?1", [id])?.flatten())
    }

    /// Returns true if a person has no earlier reflection of the same job.
    pub fn is_first_of_job(&self, id: ReflectionId) -> anyhow::Result<bool> {
        self.db.one(
            "SELECT NOT EXISTS (SELECT 1 FROM reflections r JOIN slots s ON s.id = r.slot_id
                 JOIN reflections o ON o.scope = r.scope AND o.id < r.id JOIN slots p ON p.id = o.slot_id AND p.job = s.job
                 WHERE r.id = ?1)",
            [id],
        )
    }

    /// Returns true if a proposal is told of in the report of its reflection, which is due.
    pub fn is_in_report(&self, proposal: ProposalId) -> anyhow::Result<bool> {
        self.db.one(&format!("SELECT {}", in_report("?1")), [proposal])
    }

    /// Returns the reflection with its text in that message.
    pub fn reflection_in(&self, message: MessageId) -> anyhow::Result<Option<ReflectionRow>> {
        self.db.row("WHERE r.message_id = ?1", [message])
    }

    /// Returns the newest reflection on a period, by the period's name.
    pub fn reflection_on(&self, scope: Scope, period: &str) -> anyhow::Result<Option<ReflectionRow>> {
        self.db.row("WHERE r.scope = ?1 AND s.period = ?2 ORDER BY s.run DESC LIMIT 1", params![scope, period])
    }

    /// Returns reflections, latest first; of one scope, or of all.
    pub fn reflections(&self, scope: Option<Scope>, before: i64, limit: u32) -> anyhow::Result<Vec<ReflectionRow>> {
        let values = params![scope, before, limit];
        self.db.rows("WHERE (?1 IS NULL OR r.scope = ?1) AND r.id < ?2 ORDER BY r.id DESC LIMIT ?3", values)
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
        self.db.rows(
            "WHERE s.scope = ?1 AND s.job = ?2 AND s.to_at > ?3 AND s.to_at <= ?4
                 AND s.run = (SELECT max(o.run) FROM slots o JOIN reflections n ON n.slot_id = o.id
                 WHERE o.job = s.job AND o.scope = s.scope AND o.period = s.period)
                 ORDER BY s.to_at, s.period",
            params![scope, job, from, to],
        )
    }

    /// Returns the last reflection of a job on a period that ends no later, excluding that slot.
    pub fn reflection_before(
        &self,
        scope: Scope,
        job: &str,
        slot: SlotId,
        to: Timestamp,
    ) -> anyhow::Result<Option<ReflectionRow>> {
        self.db.row(
            "WHERE s.scope = ?1 AND s.job = ?2 AND s.id <> ?3 AND s.to_at <= ?4
                 ORDER BY s.to_at DESC, s.run DESC LIMIT 1",
            params![scope, job, slot, to],
        )
    }

    /// Returns an action by id.
    pub fn action(&self, id: ActionId) -> anyhow::Result<Option<ActionRow>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns the actions of a reflection, in order.
    pub fn actions_of(&self, of: ReflectionId) -> anyhow::Result<Vec<ActionRow>> {
        self.db.rows("WHERE reflection_id = ?1 ORDER BY seq", [of])
    }

    /// Returns the open actions, in order.
    pub fn open_actions(&self) -> anyhow::Result<Vec<ActionRow>> {
        self.db.rows("WHERE state IN ('new', 'taken') ORDER BY id", [])
    }

    /// Counts the actions submitted for review on that local day.
    pub fn actions_on(&self, day: &str) -> anyhow::Result<u32> {
        self.db
            .one("SELECT count(*) FROM actions WHERE day <> '' AND day = ?1 AND state IN ('taken', 'proposed')", [day])
    }
}

impl ReflectionsMut<'_> {
    /// Stores a reflection.
    ///
    /// # Errors
    /// If the slot has one.
    pub fn store_reflection(&self, new: &NewReflection<'_>) -> anyhow::Result<ReflectionId> {
        insert!(self.db, "reflections" {
            slot_id: new.slot, turn_id: new.turn, message_id: new.message, title: new.title, label: new.label,
            scope: new.scope, report: new.report, at: new.at,
        })
    }

    /// Records that the owner of a reflection was told of it.
    pub fn reported(&self, id: ReflectionId) -> anyhow::Result<()> {
        self.db.run("UPDATE reflections SET report = NULL WHERE id = ?1", [id])
    }

    /// Stores an action.
    pub fn add_action(&self, new: &NewAction<'_>) -> anyhow::Result<ActionId> {
        let ended = (new.state != ActionState::New).then_some(new.at);
        insert!(self.db, "actions" {
            reflection_id: new.reflection, seq: new.seq, kind: new.kind, title: new.title, payload: new.payload,
            state: new.state, reason: new.reason, label: new.label, scope: new.scope, ended_at: ended,
        })
    }

    /// Takes an action if fewer than `most` are taken on that local day. Returns false if not.
    pub fn take_action(&self, id: ActionId, day: &str, most: u32) -> anyhow::Result<bool> {
        if self.actions_on(day)? >= most {
            return Ok(false);
        }
        self.db
            .changed("UPDATE actions SET state = 'taken', day = ?2 WHERE id = ?1 AND state = 'new'", params![id, day])
    }

    /// Links a taken action to its proposal. Returns false if it was not taken, or has ended.
    pub fn action_proposed(&self, id: ActionId, proposal: ProposalId, now: Timestamp) -> anyhow::Result<bool> {
        self.db.changed(
            "UPDATE actions SET state = 'proposed', proposal_id = ?2, ended_at = ?3 WHERE id = ?1 AND state = 'taken'",
            params![id, proposal, now],
        )
    }

    /// Ends an open action. Returns false if it had ended.
    pub fn end_action(&self, id: ActionId, state: ActionState, reason: &str, now: Timestamp) -> anyhow::Result<bool> {
        self.db.changed(
            "UPDATE actions SET state = ?2, reason = ?3, ended_at = ?4 WHERE id = ?1 AND state IN ('new', 'taken')",
            params![id, state, reason, now],
        )
    }
}
