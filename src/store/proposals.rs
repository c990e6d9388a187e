//! Skill proposals, the verdict of each stage, and every decision attempt. Only the state of a
//! proposal ever changes.

use crate::store::handles::{Proposals, ProposalsMut};
use crate::store::rows::{from_row, insert, stored_word};
use std::time::Duration;

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use super::derivations::Fingerprinted;
use super::reflections::in_report;
use super::skills::SkillFile;
use crate::id::{OutboxId, PersonId, ProposalId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};
use crate::wording::{Sentence, gateway};

/// Time after which an undecided proposal expires, counted from the owner's notification.
pub const PROPOSAL_WAITS: Duration = Duration::from_secs(14 * 86_400);

/// State of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ProposalState {
    /// Undecided.
    Pending,
    /// Approved.
    Approved,
    /// Refused.
    Rejected,
    /// Void: not decided in time, or without its object.
    Expired,
    /// Not applied, because the skill was changed meanwhile.
    Conflict,
}

/// Origin of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum OriginKind {
    /// A turn.
    Turn,
    /// A reflection.
    Reflection,
    /// A note that the owner turns into a skill.
    Note,
    /// Imported by the owner.
    Import,
    /// Held content of the skills folder.
    Folder,
    /// A newer version of a built-in skill.
    Shipped,
}

/// Stage of the review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ReviewStage {
    /// Origin of the text.
    Taint,
    /// Duplicates.
    Hash,
    /// Structure of the files.
    Structure,
    /// Scan for hidden content.
    Scan,
    /// New effects of the change.
    Effects,
    /// The reviewing model.
    Reviewer,
    /// The owner.
    Person,
}

/// The degree to which a proposal can proceed without its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Clearance {
    /// A reviewer may approve it, if the owner's policy allows it.
    Clean,
    /// Made of trusted text, but waits for the owner.
    Careful,
    /// Influenced by untrusted text: the owner decides, regardless of the policy.
    Tainted,
}

/// Outcome of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum StageOutcome {
    /// Nothing objectionable.
    Passed,
    /// Left to the owner.
    Waits,
    /// No verdict.
    None,
    /// Left out by a setting.
    Skipped,
    /// Refused.
    Refused,
}

stored_word!(Clearance, ProposalState, OriginKind, ReviewStage, StageOutcome);

/// A proposal to store.
#[derive(Debug, Clone)]
pub struct NewProposal<'a> {
    /// Skill.
    pub skill: &'a str,
    /// `create`, `edit`, `delete` or `rename`.
    pub change: &'a str,
    /// New name, for a rename.
    pub new_name: &'a str,
    /// Digest of the content it is based on; blank for none.
    pub base: &'a str,
    /// Digest of the proposed content; blank for a delete.
    pub content: &'a str,
    /// Random value.
    pub nonce: &'a str,
    /// Digest of everything that the owner decides about.
    pub digest: &'a str,
    /// Reason given.
    pub rationale: &'a str,
    /// Origin.
    pub origin: OriginKind,
    /// Proposing turn.
    pub turn: Option<TurnId>,
    /// Person of that turn.
    pub person: Option<PersonId>,
    /// Degree to which it can proceed without the owner.
    pub clearance: Clearance,
    /// Trust label.
    pub label: &'a Label,
    /// Scope of the proposing turn.
    pub scope: Scope,
    /// All files of the proposed skill.
    pub files: &'a [SkillFile],
    /// Current time.
    pub at: Timestamp,
}

/// A stored proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalRow {
    /// Row id.
    pub id: ProposalId,
    /// Skill.
    pub skill: String,
    /// `create`, `edit`, `delete` or `rename`.
    pub change: String,
    /// New name, for a rename.
    pub new_name: String,
    /// Digest of the content it is based on; blank for none.
    pub base: String,
    /// Digest of the proposed content; blank for a delete.
    pub content: String,
    /// Random value.
    pub nonce: String,
    /// Digest of everything that the owner decides about.
    pub digest: String,
    /// Reason, in the proposer's words.
    pub rationale: String,
    /// Origin.
    pub origin: OriginKind,
    /// Proposing turn.
    pub turn: Option<TurnId>,
    /// Person of that turn.
    pub person: Option<PersonId>,
    /// Degree to which it can proceed without the owner.
    pub clearance: Clearance,
    /// Trust label.
    pub label: Label,
    /// Scope of the proposing turn.
    pub scope: Scope,
    /// State.
    pub state: ProposalState,
    /// True if the reviewer was asked.
    pub reviewed: bool,
    /// True if the owner was notified.
    pub told: bool,
    /// Creation time.
    pub created_at: Timestamp,
    /// Time after which it cannot be approved; `None` before the owner was notified.
    pub expires_at: Option<Timestamp>,
    /// Time of the last state change.
    pub decided_at: Option<Timestamp>,
    /// Reason of a rejection.
    pub reason: String,
}

impl ProposalRow {
    /// Returns true if it has expired.
    pub fn is_late(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// The verdict of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictRow {
    /// Stage.
    pub stage: ReviewStage,
    /// Outcome.
    pub outcome: StageOutcome,
    /// Reason.
    pub note: String,
    /// Findings of the scan, or effects, as a JSON list.
    pub findings: String,
    /// Label of the note.
    pub label: Label,
}

from_row! { VerdictRow from "verdicts" { stage, outcome, note, findings, label } }

/// A decision that counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRow {
    /// `approve`, `reject` or `expire`.
    pub act: String,
    /// `owner`, `reviewer` or `program`.
    pub decider: String,
    /// The owner, unless it was the command line.
    pub person: Option<PersonId>,
    /// `chat`, `page` or `command line`; of a policy, its setting.
    pub way: String,
    /// Time.
    pub at: Timestamp,
}

from_row! { DecisionRow from "decisions" { act, decider, person: "person_id", way, at } }

/// A decision attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDecision<'a> {
    /// Proposal; none for a roll-back.
    pub proposal: Option<ProposalId>,
    /// Skill.
    pub skill: &'a str,
    /// `approve`, `reject`, `expire` or `rollback`.
    pub act: &'a str,
    /// `done`, or the reason why it did not count.
    pub outcome: &'a str,
    /// `owner`, `reviewer` or `program`.
    pub decider: &'a str,
    /// Deciding person, if any.
    pub person: Option<PersonId>,
    /// `chat`, `page` or `command line`; blank for the program.
    pub way: &'a str,
    /// Current time.
    pub at: Timestamp,
}

from_row! {
    ProposalRow from "proposals" {
        id, skill, change, new_name, base, content, nonce, digest, rationale, origin, turn: "turn_id",
        person: "person_id", clearance: "standing", label, scope, state, reviewed, told, created_at,
        // The owners count as notified only once the first notice has left the outbox.
        expires_at = "CASE WHEN told = 1 AND coalesce((
            SELECT max(o.state <> 'pending') FROM outbox o WHERE o.kind = 'notice'
            AND o.buttons LIKE '%\"/approve ' || proposals.id || ' %'), 1) THEN expires_at END",
        decided_at, reason,
    }
}

impl Proposals<'_> {
    /// Returns a proposal by id.
    pub fn proposal(&self, id: ProposalId) -> anyhow::Result<Option<ProposalRow>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns true if the owner approved the last offered update of a built-in skill.
    pub fn was_last_update_approved(&self, skill: &str) -> anyhow::Result<bool> {
        let last =
            "SELECT state = 'approved' FROM proposals WHERE skill = ?1 AND origin = 'shipped' ORDER BY id DESC LIMIT 1";
        Ok(self.db.first(last, [skill])?.unwrap_or(false))
    }

    /// Returns the pending proposals, oldest first.
    pub fn pending_proposals(&self) -> anyhow::Result<Vec<ProposalRow>> {
        self.db.rows("WHERE state = 'pending' ORDER BY id", [])
    }

    /// Returns the newest proposals, newest first.
    pub fn newest_proposals(&self, before: i64, limit: u32) -> anyhow::Result<Vec<ProposalRow>> {
        self.db.rows("WHERE id < ?1 ORDER BY id DESC LIMIT ?2", params![before, limit])
    }

    /// Returns the first proposal approved by a policy without notice to the owner.
    pub fn unannounced_approval(&self) -> anyhow::Result<Option<ProposalRow>> {
        let sql = format!(
            "WHERE told = 0 AND state IN ('approved', 'conflict') AND EXISTS
                 (SELECT 1 FROM decisions d WHERE d.proposal_id = proposals.id
                 AND d.decider IN ('reviewer', 'program') AND d.act = 'approve')
             AND NOT {} ORDER BY id LIMIT 1",
            in_report("proposals.id")
        );
        self.db.row(&sql, [])
    }

    /// Returns the setting under which a policy approved a proposal; blank if none did.
    pub fn approved_under(&self, id: ProposalId) -> anyhow::Result<String> {
        self.db.one(
            "SELECT coalesce(max(way), '') FROM decisions
             WHERE proposal_id = ?1 AND decider IN ('reviewer', 'program') AND act = 'approve'",
            [id],
        )
    }

    /// Returns the decision about a proposal that counted.
    pub fn decision_on(&self, id: ProposalId) -> anyhow::Result<Option<DecisionRow>> {
        self.db.row("WHERE proposal_id = ?1 AND outcome = 'done' ORDER BY id DESC LIMIT 1", [id])
    }

    /// Returns earlier proposals with the same change and content, newest first.
    pub fn proposals_like(
        &self,
        skill: &str,
        change: &str,
        new_name: &str,
        content: &str,
    ) -> anyhow::Result<Vec<ProposalRow>> {
        self.db.rows(
            "WHERE skill = ?1 AND content = ?4 AND change = ?2
                 AND new_name = ?3 ORDER BY id DESC",
            [skill, change, new_name, content],
        )
    }

    /// Returns the verdicts on a proposal, in order.
    pub fn verdicts_of(&self, id: ProposalId) -> anyhow::Result<Vec<VerdictRow>> {
        self.db.rows("WHERE proposal_id = ?1 ORDER BY id", [id])
    }
}

impl ProposalsMut<'_> {
    /// Stores a proposal.
    pub fn stage(&self, new: &NewProposal<'_>) -> anyhow::Result<ProposalId> {
        let id: ProposalId = insert!(self.db, "proposals" {
            skill: new.skill, change: new.change, new_name: new.new_name, base: new.base, content: new.content,
            nonce: new.nonce, digest: new.digest, rationale: new.rationale, origin: new.origin, turn_id: new.turn,
            person_id: new.person, standing: new.clearance, label: new.label, scope: new.scope, state: "pending",
            created_at: new.at, expires_at: new.at.plus(PROPOSAL_WAITS),
        })?;
        self.tx().skills().add_skill_files("proposal_id", id.0, new.files, new.label, new.scope)?;
        self.tx().fingerprints().add_fingerprints(Fingerprinted::Reason(id), new.rationale, new.label)?;
        Ok(id)
    }

    /// Stores the verdict of a stage.
    pub fn add_verdict(&self, id: ProposalId, said: &VerdictRow, scope: Scope, now: Timestamp) -> anyhow::Result<()> {
        let row = insert!(self.db, "verdicts" {
            proposal_id: id, stage: said.stage, outcome: said.outcome, note: said.note, findings: said.findings,
            label: said.label, scope, at: now,
        })?;
        self.tx().fingerprints().add_fingerprints(Fingerprinted::Verdict(row), &said.note, &said.label)
    }

    /// Records that the reviewer was asked, for any verdict.
    pub fn reviewed(&self, id: ProposalId) -> anyhow::Result<()> {
        self.db.run("UPDATE proposals SET reviewed = 1 WHERE id = ?1", [id])
    }

    /// Records that a notice to the owner was posted.
    pub fn mark_notified(&self, id: ProposalId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE proposals SET told = 1, expires_at = iif(state = 'pending', ?2, expires_at) WHERE id = ?1",
            params![id, now.plus(PROPOSAL_WAITS)],
        )
    }

    /// Starts the expiry time of a pending proposal when its first notice has left the outbox.
    pub fn proposal_was_put(&self, id: ProposalId, notice: OutboxId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE proposals SET expires_at = ?2 WHERE id = ?1 AND state = 'pending' AND NOT EXISTS (
                 SELECT 1 FROM outbox o WHERE o.id <> ?3 AND o.state <> 'pending' AND o.kind = 'notice'
                 AND o.buttons LIKE '%\"/approve ' || ?1 || ' %')",
            params![id, now.plus(PROPOSAL_WAITS), notice],
        )
    }

    /// Decides a pending proposal. Returns false if it was not pending.
    pub fn settle_proposal(
        &self,
        id: ProposalId,
        state: ProposalState,
        reason: &str,
        now: Timestamp,
    ) -> anyhow::Result<bool> {
        let settled = self.db.changed(
            "UPDATE proposals SET state = ?2, reason = ?3, decided_at = ?4 WHERE id = ?1 AND state = 'pending'",
            params![id, state, reason, now],
        )?;
        let shown = match state {
            ProposalState::Pending => return Ok(settled),
            ProposalState::Approved => gateway::APPROVED,
            ProposalState::Rejected => gateway::REJECTED,
            ProposalState::Expired => self.why_void(id, now)?,
            ProposalState::Conflict => gateway::NOT_APPLIED,
        };
        if settled {
            self.tx().outbox().decide_buttons(&format!("/approve {id}"), shown, now)?;
        }
        Ok(settled)
    }

    /// Returns what the buttons of a void proposal show.
    fn why_void(&self, id: ProposalId, now: Timestamp) -> anyhow::Result<Sentence> {
        Ok(match self.proposal(id)? {
            Some(row) if !row.is_late(now) && row.origin == OriginKind::Folder => gateway::CHANGED_MEANWHILE,
            Some(row) if !row.is_late(now) => gateway::WITHDRAWN,
            _ => gateway::EXPIRED,
        })
    }

    /// Marks an approved proposal as not applicable, because the folder has changed.
    pub fn proposal_in_conflict(&self, id: ProposalId, now: Timestamp) -> anyhow::Result<()> {
        self.tx().outbox().decide_buttons(&format!("/approve {id}"), gateway::NOT_APPLIED, now)?;
        self.db.run("UPDATE proposals SET state = 'conflict', decided_at = ?2 WHERE id = ?1", params![id, now])
    }

    /// Stores a decision attempt.
    pub fn add_decision(&self, new: &NewDecision<'_>) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO decisions (proposal_id, skill, act, outcome, decider, person_id, way, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![new.proposal, new.skill, new.act, new.outcome, new.decider, new.person, new.way, new.at],
        )
    }
}
