//! Proposals, what each stage said of them, and every attempt to decide. A proposal never changes
//! but for its state.

use crate::store::handles::{Proposals, ProposalsMut};
use std::time::Duration;

use rusqlite::{OptionalExtension, Row, params};

use super::skills::SkillFile;
use crate::id::{PersonId, ProposalId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// A proposal that nobody decided about is void that long after the owner was told.
pub const PROPOSAL_WAITS: Duration = Duration::from_secs(14 * 86_400);

/// A proposal to be staged.
#[derive(Debug, Clone)]
pub struct NewProposal<'a> {
    /// The skill it would change.
    pub skill: &'a str,
    /// `create`, `edit`, `delete`, `rename`.
    pub change: &'a str,
    /// For a rename.
    pub new_name: &'a str,
    /// Digest of the content it was made from; blank when there was none.
    pub base: &'a str,
    /// Digest of the content it would have; blank for a delete.
    pub content: &'a str,
    /// Random.
    pub nonce: &'a str,
    /// Over all that the owner decides about.
    pub digest: &'a str,
    /// Why.
    pub rationale: &'a str,
    /// `turn`, `note`, `import`, `folder`, `shipped`.
    pub origin: &'a str,
    /// The turn that proposed it.
    pub turn: Option<TurnId>,
    /// Whose turn that was.
    pub person: Option<PersonId>,
    /// `clean`, `careful`, `tainted`.
    pub standing: &'a str,
    /// Where its words came from.
    pub label: &'a Label,
    /// Whose turn it grew in.
    pub scope: Scope,
    /// All files that the skill would have.
    pub files: &'a [SkillFile],
    /// Now.
    pub at: Timestamp,
}

/// A stored proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposalRow {
    /// Its row.
    pub id: ProposalId,
    /// The skill it would change.
    pub skill: String,
    /// `create`, `edit`, `delete`, `rename`.
    pub change: String,
    /// For a rename.
    pub new_name: String,
    /// Digest of the content it was made from; blank when there was none.
    pub base: String,
    /// Digest of the content it would have; blank for a delete.
    pub content: String,
    /// Random.
    pub nonce: String,
    /// Over all that the owner decides about.
    pub digest: String,
    /// Why, in the words of whoever proposed it.
    pub rationale: String,
    /// `turn`, `note`, `import`, `folder`, `shipped`.
    pub origin: String,
    /// The turn that proposed it.
    pub turn: Option<TurnId>,
    /// Whose turn that was.
    pub person: Option<PersonId>,
    /// `clean`, `careful`, `tainted`.
    pub standing: String,
    /// Where its words came from.
    pub label: Label,
    /// Whose turn it grew in.
    pub scope: Scope,
    /// `pending`, `approved`, `rejected`, `expired`, `conflict`.
    pub state: String,
    /// Whether the reviewer was asked.
    pub reviewed: bool,
    /// Whether the owner was told.
    pub told: bool,
    /// When it was staged.
    pub created_at: Timestamp,
    /// Cannot be approved from then on; `None` before the owner was told.
    pub expires_at: Option<Timestamp>,
    /// When its state changed.
    pub decided_at: Option<Timestamp>,
    /// Why it was rejected.
    pub reason: String,
}

impl ProposalRow {
    /// Whether it waited too long to be approved.
    pub fn is_late(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }
}

/// What one stage said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictRow {
    /// `taint`, `hash`, `structure`, `scan`, `reviewer`, `person`.
    pub stage: String,
    /// `passed`, `waits`, `none`, `refused`.
    pub outcome: String,
    /// Why.
    pub note: String,
    /// JSON list of what the scan found.
    pub findings: String,
    /// Where the note came from.
    pub label: Label,
}

/// One attempt to decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDecision<'a> {
    /// About which; none for a roll-back.
    pub proposal: Option<ProposalId>,
    /// About which skill.
    pub skill: &'a str,
    /// `approve`, `reject`, `expire`, `rollback`.
    pub act: &'a str,
    /// `done`, or why it did not count.
    pub outcome: &'a str,
    /// `owner`, `reviewer`, `program`.
    pub decider: &'a str,
    /// Who, if it was a person.
    pub person: Option<PersonId>,
    /// `chat`, `command line`, blank for the program.
    pub way: &'a str,
    /// Now.
    pub at: Timestamp,
}

/// While the notice of it is on its way the owner was not told.
const COLUMNS: &str =
    "id, skill, change, new_name, base, content, nonce, digest, rationale, origin, turn_id, person_id, standing, label, scope,
    state, reviewed, told, created_at,
    CASE WHEN told = 1 AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.state = 'pending' AND o.kind = 'notice'
                                       AND o.buttons LIKE '%\"/approve ' || proposals.id || ' %') THEN expires_at END,
    decided_at, reason";

fn proposal(row: &Row<'_>) -> rusqlite::Result<ProposalRow> {
    Ok(ProposalRow {
        id: row.get(0)?,
        skill: row.get(1)?,
        change: row.get(2)?,
        new_name: row.get(3)?,
        base: row.get(4)?,
        content: row.get(5)?,
        nonce: row.get(6)?,
        digest: row.get(7)?,
        rationale: row.get(8)?,
        origin: row.get(9)?,
        turn: row.get(10)?,
        person: row.get(11)?,
        standing: row.get(12)?,
        label: row.get(13)?,
        scope: row.get(14)?,
        state: row.get(15)?,
        reviewed: row.get(16)?,
        told: row.get(17)?,
        created_at: row.get(18)?,
        expires_at: row.get(19)?,
        decided_at: row.get(20)?,
        reason: row.get(21)?,
    })
}

impl Proposals<'_> {
    /// That proposal.
    pub fn proposal(&self, id: ProposalId) -> anyhow::Result<Option<ProposalRow>> {
        let mut query = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM proposals WHERE id = ?1"))?;
        Ok(query.query_row([id], proposal).optional()?)
    }

    /// The proposals that wait, oldest first.
    pub fn pending_proposals(&self) -> anyhow::Result<Vec<ProposalRow>> {
        let mut query =
            self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM proposals WHERE state = 'pending' ORDER BY id"))?;
        Ok(query.query_map([], proposal)?.collect::<Result<_, _>>()?)
    }

    /// The newest proposals, newest first.
    pub fn newest_proposals(&self, limit: u32) -> anyhow::Result<Vec<ProposalRow>> {
        let mut query =
            self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM proposals ORDER BY id DESC LIMIT ?1"))?;
        Ok(query.query_map([limit], proposal)?.collect::<Result<_, _>>()?)
    }

    /// The first proposal that a policy approved and the owner was not told of.
    pub fn approved_by_policy_untold(&self) -> anyhow::Result<Option<ProposalRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM proposals WHERE told = 0 AND state IN ('approved', 'conflict') AND EXISTS
             (SELECT 1 FROM decisions d WHERE d.proposal_id = proposals.id AND d.decider IN ('reviewer', 'program') AND d.act = 'approve')
             ORDER BY id LIMIT 1"
        ))?;
        Ok(query.query_row([], proposal).optional()?)
    }

    /// By which setting a policy approved a proposal; blank if none did.
    pub fn approved_under(&self, id: ProposalId) -> anyhow::Result<String> {
        let mut query = self.db.prepare_cached(
            "SELECT coalesce(max(way), '') FROM decisions
             WHERE proposal_id = ?1 AND decider IN ('reviewer', 'program') AND act = 'approve'",
        )?;
        Ok(query.query_row([id], |row| row.get(0))?)
    }

    /// Earlier proposals of the same change to the same content, newest first.
    pub fn proposals_like(
        &self,
        skill: &str,
        change: &str,
        new_name: &str,
        content: &str,
    ) -> anyhow::Result<Vec<ProposalRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM proposals WHERE skill = ?1 AND content = ?4 AND change = ?2 AND new_name = ?3 ORDER BY id DESC"
        ))?;
        Ok(query.query_map([skill, change, new_name, content], proposal)?.collect::<Result<_, _>>()?)
    }

    /// What the stages said of a proposal, in order.
    pub fn verdicts_of(&self, id: ProposalId) -> anyhow::Result<Vec<VerdictRow>> {
        let mut query = self.db.prepare_cached(
            "SELECT stage, outcome, note, findings, label FROM verdicts WHERE proposal_id = ?1 ORDER BY id",
        )?;
        let row = |row: &Row<'_>| {
            Ok(VerdictRow {
                stage: row.get(0)?,
                outcome: row.get(1)?,
                note: row.get(2)?,
                findings: row.get(3)?,
                label: row.get(4)?,
            })
        };
        Ok(query.query_map([id], row)?.collect::<Result<_, _>>()?)
    }
}

impl ProposalsMut<'_> {
    /// Stages a proposal.
    pub fn stage(&self, new: &NewProposal<'_>) -> anyhow::Result<ProposalId> {
        self.db
            .prepare_cached(
                "INSERT INTO proposals (skill, change, new_name, base, content, nonce, digest, rationale, origin, turn_id, person_id,
                     standing, label, scope, state, created_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, 'pending', ?15, ?16)",
            )?
            .execute(params![
                new.skill,
                new.change,
                new.new_name,
                new.base,
                new.content,
                new.nonce,
                new.digest,
                new.rationale,
                new.origin,
                new.turn,
                new.person,
                new.standing,
                new.label,
                new.scope,
                new.at,
                new.at.plus(PROPOSAL_WAITS),
            ])?;
        let id = ProposalId(self.db.last_insert_rowid());
        self.tx().skills().add_skill_files("proposal_id", id.0, new.files, new.label, new.scope)?;
        self.tx().fingerprints().fingerprint_reason(id, new.rationale, new.label)?;
        Ok(id)
    }

    /// Keeps what a stage said.
    pub fn add_verdict(&self, id: ProposalId, said: &VerdictRow, scope: Scope, now: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "INSERT INTO verdicts (proposal_id, stage, outcome, note, findings, label, scope, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![id, said.stage, said.outcome, said.note, said.findings, said.label, scope, now])?;
        self.tx().fingerprints().fingerprint_verdict(self.db.last_insert_rowid(), &said.note, &said.label)
    }

    /// The reviewer was asked, whatever it said.
    pub fn reviewed(&self, id: ProposalId) -> anyhow::Result<()> {
        self.db.prepare_cached("UPDATE proposals SET reviewed = 1 WHERE id = ?1")?.execute([id])?;
        Ok(())
    }

    /// Something was posted by which the owner is told.
    pub fn told_of(&self, id: ProposalId, now: Timestamp) -> anyhow::Result<()> {
        self.db.prepare_cached("UPDATE proposals SET told = 1 WHERE id = ?1")?.execute([id])?;
        self.proposal_was_put(id, now)
    }

    /// The time of a pending proposal runs from now.
    pub fn proposal_was_put(&self, id: ProposalId, now: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE proposals SET expires_at = ?2 WHERE id = ?1 AND state = 'pending'")?
            .execute(params![id, now.plus(PROPOSAL_WAITS)])?;
        Ok(())
    }

    /// A pending proposal is decided. False if it was not pending any more.
    pub fn settle_proposal(&self, id: ProposalId, state: &str, reason: &str, now: Timestamp) -> anyhow::Result<bool> {
        let changed = self
            .db
            .prepare_cached(
                "UPDATE proposals SET state = ?2, reason = ?3, decided_at = ?4 WHERE id = ?1 AND state = 'pending'",
            )?
            .execute(params![id, state, reason, now])?;
        Ok(changed == 1)
    }

    /// An approved proposal could not be applied, because something else lies there now.
    pub fn proposal_in_conflict(&self, id: ProposalId, now: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE proposals SET state = 'conflict', decided_at = ?2 WHERE id = ?1")?
            .execute(params![id, now])?;
        Ok(())
    }

    /// Keeps an attempt to decide.
    pub fn add_decision(&self, new: &NewDecision<'_>) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "INSERT INTO decisions (proposal_id, skill, act, outcome, decider, person_id, way, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                new.proposal,
                new.skill,
                new.act,
                new.outcome,
                new.decider,
                new.person,
                new.way,
                new.at
            ])?;
        Ok(())
    }
}
