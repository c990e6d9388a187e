//! Skills as last seen, all their versions, and the changes of the skills folder, each recorded
//! before it begins.
//!
//! Digests are 64 hexadecimal digits; blank means an absent folder.
//!
//! MCP tools are also stored as last seen, with the owner's acceptance of each. A tool is accepted
//! if the accepted digest equals the digest last seen; nothing else makes it available. A tool that
//! was never accepted and is no longer listed is deleted, so that a server that invents names
//! cannot fill the journal.

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{ChangeId, ConversationId, PersonId, ProposalId, VersionId, VersionNumber};
use crate::store::handles::{McpTools, McpToolsMut, Skills, SkillsMut};
use crate::store::rows::{from_row, insert, stored_word};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// A file's path and content.
pub type SkillFile = (String, Arc<[u8]>);

/// State of a skill folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SkillState {
    /// In use.
    Live,
    /// Waits for the owner.
    Held,
    /// Not readable.
    Broken,
    /// Deleted.
    Gone,
}

/// State of a change of the skills folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ChangeState {
    /// To be made.
    Intended,
    /// Made.
    Done,
    /// Not made, because the folder was changed meanwhile.
    Conflict,
}

stored_word!(SkillState, ChangeState);

/// A skill as last seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRow {
    /// Folder.
    pub name: String,
    /// State.
    pub state: SkillState,
    /// Digest of its files; blank when broken or gone.
    pub digest: String,
    /// Version in use, even if the folder holds other content that is held.
    pub version: Option<VersionId>,
    /// Description by the skill itself.
    pub description: String,
    /// `shipped`, `person`, `proposal` or `rollback`.
    pub origin: String,
    /// Digest of the newest built-in version that was installed or offered.
    pub shipped: String,
    /// Digest of the built-in version last installed.
    pub installed: String,
    /// Time at which this was first seen.
    pub changed_at: Timestamp,
    /// Version that the owners know: it came through the gate, or they were told of it.
    pub known: Option<VersionId>,
    /// Time at which they were told of an edit last.
    pub told_at: Option<Timestamp>,
}

/// A skill as seen now.
#[derive(Debug, Clone)]
pub struct SeenSkill<'a> {
    /// Folder.
    pub name: &'a str,
    /// State.
    pub state: SkillState,
    /// Digest of its files.
    pub digest: &'a str,
    /// Version in use.
    pub version: Option<VersionId>,
    /// Name in its front matter.
    pub title: &'a str,
    /// Description by the skill itself.
    pub description: &'a str,
    /// Origin.
    pub origin: &'a str,
    /// Trust label.
    pub label: &'a Label,
    /// Current time.
    pub at: Timestamp,
}

/// A stored version of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRow {
    /// Row id.
    pub id: VersionId,
    /// Number among the versions of its skill, which are never deleted.
    pub number: VersionNumber,
    /// Skill.
    pub skill: String,
    /// Digest of its files.
    pub digest: String,
    /// `shipped`, `person`, `proposal` or `rollback`.
    pub origin: String,
    /// Proposal that it came from.
    pub proposal: Option<ProposalId>,
    /// True if it may be used.
    pub accepted: bool,
    /// Trust label after the decision.
    pub label: Label,
    /// Time at which it was seen or written.
    pub made_at: Timestamp,
}

/// A version to store.
#[derive(Debug, Clone)]
pub struct NewVersion<'a> {
    /// Skill.
    pub skill: &'a str,
    /// Digest of its files.
    pub digest: &'a str,
    /// `shipped`, `person`, `proposal` or `rollback`.
    pub origin: &'a str,
    /// Proposal that it came from.
    pub proposal: Option<ProposalId>,
    /// True if it may be used.
    pub accepted: bool,
    /// Trust label.
    pub label: &'a Label,
    /// All files.
    pub files: &'a [SkillFile],
    /// Current time.
    pub at: Timestamp,
}

/// A change of the skills folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeRow {
    /// Row id.
    pub id: ChangeId,
    /// Proposal that caused it.
    pub proposal: Option<ProposalId>,
    /// Folder.
    pub skill: String,
    /// Digest of the content that it expects.
    pub base: String,
    /// Version to install; `None` removes the folder.
    pub version: Option<VersionId>,
    /// Change that must be made first.
    pub follows: Option<ChangeId>,
}

from_row! { ChangeRow from "skill_changes" { id, proposal: "proposal_id", skill, base, version: "version_id", follows: "follows_id" } }

from_row! {
    VersionRow from "skill_versions" {
        id, skill, digest, origin, proposal: "proposal_id", accepted, label, made_at,
        number = "(SELECT count(*) FROM skill_versions o WHERE o.skill = skill_versions.skill AND o.id <= skill_versions.id)",
    }
}

from_row! {
    SkillRow from "skills" {
        name, state, digest, description, origin, shipped, installed, changed_at, version: "version_id", known: "known_id",
        told_at,
    }
}

impl Skills<'_> {
    /// Returns all skills ever seen, by name.
    pub fn skills(&self) -> anyhow::Result<Vec<SkillRow>> {
        self.db.rows("ORDER BY name", [])
    }

    /// Returns a skill as last seen.
    pub fn skill(&self, name: &str) -> anyhow::Result<Option<SkillRow>> {
        self.db.row("WHERE name = ?1", [name])
    }

    /// Returns the last decided version of a skill with that content.
    pub fn version_with(&self, skill: &str, digest: &str) -> anyhow::Result<Option<VersionRow>> {
        self.db.row("WHERE skill = ?1 AND digest = ?2 ORDER BY id DESC LIMIT 1", [skill, digest])
    }

    /// Returns a version by id.
    pub fn version_row(&self, id: VersionId) -> anyhow::Result<Option<VersionRow>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns the versions of a skill, oldest first.
    pub fn versions_of(&self, skill: &str) -> anyhow::Result<Vec<VersionRow>> {
        self.db.rows("WHERE skill = ?1 ORDER BY id", [skill])
    }

    /// Returns the skills that were edited in place since the owners knew them, by name.
    pub fn edited_skills(&self) -> anyhow::Result<Vec<SkillRow>> {
        self.db.rows(
            "WHERE state IN ('live', 'held') AND (version_id <> known_id OR EXISTS (SELECT 1 FROM skill_versions v
             WHERE v.skill = skills.name AND v.id > skills.known_to AND v.origin = 'person' AND v.accepted = 1))
             ORDER BY name",
            [],
        )
    }

    /// Returns the newest version by hand that was live since the owners knew the skill, and is not that
    /// in use.
    pub fn used_meanwhile(&self, row: &SkillRow) -> anyhow::Result<Option<VersionRow>> {
        self.db.row(
            "WHERE skill = ?1 AND id > (SELECT known_to FROM skills WHERE name = ?1) AND id IS NOT ?2
             AND origin = 'person' AND accepted = 1 ORDER BY id DESC LIMIT 1",
            params![row.name, row.version],
        )
    }

    /// Returns the files of a version.
    pub fn files_of_version(&self, id: VersionId) -> anyhow::Result<Vec<SkillFile>> {
        let files: Vec<(String, Vec<u8>)> =
            self.db.all("SELECT path, bytes FROM skill_files WHERE version_id = ?1", [id])?;
        Ok(files.into_iter().map(|(path, bytes)| (path, Arc::from(bytes))).collect())
    }

    /// Returns the hosts shown when those versions were accepted.
    pub fn hosts_shown_of(&self, versions: impl IntoIterator<Item = VersionId>) -> anyhow::Result<BTreeSet<String>> {
        let mut hosts = BTreeSet::new();
        for version in versions {
            let shown: Option<String> =
                self.db.first("SELECT hosts FROM skill_versions WHERE id = ?1 AND accepted = 1", [version])?;
            hosts.extend(shown.unwrap_or_default().split_whitespace().map(str::to_owned));
        }
        Ok(hosts)
    }

    /// Returns the versions of skills that a conversation has read, each with its name and label.
    pub fn loaded_in(&self, conversation: ConversationId) -> anyhow::Result<Vec<(VersionId, String, Label)>> {
        self.db.all(
            "SELECT DISTINCT v.id, v.skill, v.label FROM turns t JOIN steps s ON s.turn_id = t.id
             JOIN skill_versions v ON v.id = s.version_id WHERE t.conversation_id = ?1 ORDER BY v.skill, v.id",
            [conversation],
        )
    }

    /// Returns the files of a proposal.
    pub fn files_of_proposal(&self, id: ProposalId) -> anyhow::Result<Vec<SkillFile>> {
        let files: Vec<(String, Vec<u8>)> =
            self.db.all("SELECT path, bytes FROM skill_files WHERE proposal_id = ?1", [id])?;
        Ok(files.into_iter().map(|(path, bytes)| (path, Arc::from(bytes))).collect())
    }

    /// Returns the intended changes not known to be done, in order.
    pub fn intended_changes(&self) -> anyhow::Result<Vec<ChangeRow>> {
        self.db.rows("WHERE state = 'intended' ORDER BY id", [])
    }
}

impl SkillsMut<'_> {
    /// Records a skill as seen now.
    pub fn saw_skill(&self, seen: &SeenSkill<'_>) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO skills (name, state, digest, title, description, origin, label, scope, changed_at,
             version_id, known_id, known_to)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?10)
             ON CONFLICT (name) DO UPDATE SET state = ?2, digest = ?3, title = ?4, description = ?5, origin = ?6,
             label = ?7,
             changed_at = ?9, version_id = ?10, known_id = coalesce(known_id, ?10), known_to = coalesce(known_to, ?10)",
            params![
                seen.name,
                seen.state,
                seen.digest,
                seen.title,
                seen.description,
                seen.origin,
                seen.label,
                Scope::Shared,
                seen.at,
                seen.version,
            ],
        )
    }

    /// Records that a built-in version was offered, and `installed` if it was. The skill must have
    /// a row.
    pub fn shipped_skill(&self, name: &str, shipped: &str, installed: Option<&str>) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE skills SET shipped = ?2, installed = coalesce(?3, installed) WHERE name = ?1",
            params![name, shipped, installed],
        )
    }

    /// Stores a version.
    pub fn add_version(&self, new: &NewVersion<'_>) -> anyhow::Result<VersionId> {
        let id: VersionId = insert!(self.db, "skill_versions" {
            skill: new.skill, digest: new.digest, origin: new.origin, proposal_id: new.proposal,
            accepted: new.accepted, label: new.label, scope: Scope::Shared, made_at: new.at,
        })?;
        self.add_skill_files("version_id", id.0, new.files, new.label, Scope::Shared)?;
        Ok(id)
    }

    /// Accepts a version, with its label from then on and the hosts that were shown.
    pub fn accept_version(&self, id: VersionId, label: &Label, hosts: &BTreeSet<String>) -> anyhow::Result<()> {
        let hosts = hosts.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        self.db.run(
            "UPDATE skill_versions SET accepted = 1, label = ?2, hosts = ?3 WHERE id = ?1",
            params![id, label, hosts],
        )
    }

    /// Marks a skill as live in the version in its folder.
    pub fn skill_is_live(&self, version: &VersionRow) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE skills SET state = 'live', version_id = ?3, known_id = ?3,
             known_to = (SELECT max(id) FROM skill_versions WHERE skill = ?1), label = (SELECT label FROM skill_versions
             WHERE id = ?3)
             WHERE name = ?1 AND digest = ?2",
            params![version.skill, version.digest, version.id],
        )
    }

    /// Records that the owners know a version: the gate wrote it, or they were told at that time.
    pub fn version_is_known(&self, skill: &str, id: VersionId, told_at: Option<Timestamp>) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE skills SET known_id = ?2, told_at = coalesce(?3, told_at),
             known_to = (SELECT max(id) FROM skill_versions WHERE skill = ?1) WHERE name = ?1",
            params![skill, id, told_at],
        )
    }

    /// Records a change of the folder before it begins.
    pub fn intend_change(
        &self,
        proposal: Option<ProposalId>,
        skill: &str,
        base: &str,
        version: Option<VersionId>,
        follows: Option<ChangeId>,
        now: Timestamp,
    ) -> anyhow::Result<ChangeId> {
        insert!(self.db, "skill_changes" {
            proposal_id: proposal, skill, base, version_id: version, follows_id: follows, state: "intended",
            begun_at: now,
        })
    }

    /// Ends a change of the folder: `done` or `conflict`.
    pub fn end_change(&self, id: ChangeId, state: ChangeState, now: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE skill_changes SET state = ?2, ended_at = ?3 WHERE id = ?1", params![id, state, now])
    }

    /// Ends the changes that were to follow that one.
    pub fn end_what_follows(&self, id: ChangeId, state: ChangeState, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE skill_changes SET state = ?2, ended_at = ?3 WHERE follows_id = ?1 AND state = 'intended'",
            params![id, state, now],
        )
    }

    /// Adds files to a version or a proposal.
    pub(super) fn add_skill_files(
        &self,
        owner: &'static str,
        id: i64,
        files: &[SkillFile],
        label: &Label,
        scope: Scope,
    ) -> anyhow::Result<()> {
        let sql = format!("INSERT INTO skill_files ({owner}, path, bytes, label, scope) VALUES (?1, ?2, ?3, ?4, ?5)");
        for (path, bytes) in files {
            let row = self.db.insert(&sql, params![id, path, &**bytes, label, scope])?;
            if owner == "proposal_id" {
                self.tx().fingerprints().fingerprint_file(row, bytes, label)?;
            }
        }
        Ok(())
    }
}

/// A tool as its server describes it now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenTool {
    /// Name on the server.
    pub name: String,
    /// Description by the server.
    pub description: String,
    /// JSON schema of the arguments.
    pub schema: String,
    /// Digest over name, description and schema.
    pub digest: String,
    /// Trust label.
    pub label: Label,
}

/// A stored tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideToolRow {
    /// Configured name of the server.
    pub server: String,
    /// Last description seen.
    pub seen: SeenTool,
    /// Time of that.
    pub seen_at: Timestamp,
    /// Accepted digest; blank if none.
    pub accepted_digest: String,
    /// What the owner said of its arguments; blank if they were never shown that.
    pub marks: String,
    /// Owning scope.
    pub scope: Scope,
}

from_row! {
    OutsideToolRow from "outside_tools", "name, description, schema, digest, label" {
        server, scope, seen_at, accepted_digest, marks,
    }
    with |row| {
        seen: SeenTool {
            name: row.get("name")?,
            description: row.get("description")?,
            schema: row.get("schema")?,
            digest: row.get("digest")?,
            label: row.get("label")?,
        },
    }
}

impl OutsideToolRow {
    /// Returns true if the last description seen is accepted.
    pub fn is_accepted(&self) -> bool {
        !self.accepted_digest.is_empty() && self.accepted_digest == self.seen.digest
    }
}

impl McpTools<'_> {
    /// Returns all tools, by server and name.
    pub fn outside_tools(&self) -> anyhow::Result<Vec<OutsideToolRow>> {
        self.db.rows("ORDER BY server, name", [])
    }
}

impl McpToolsMut<'_> {
    /// Replaces the tools of a server by this list.
    pub fn saw_tools(&self, server: &str, tools: &[SeenTool], now: Timestamp) -> anyhow::Result<()> {
        for tool in tools {
            self.db.run(
                "INSERT INTO outside_tools (server, name, description, schema, digest, label, scope, seen_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (server, name) DO UPDATE
                 SET description = ?3, schema = ?4, digest = ?5, label = ?6, scope = ?7, seen_at = ?8",
                params![server, tool.name, tool.description, tool.schema, tool.digest, tool.label, Scope::Shared, now],
            )?;
        }
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        self.db.run(
            "DELETE FROM outside_tools WHERE server = ?1 AND accepted_digest = ''
             AND name NOT IN (SELECT value FROM json_each(?2))",
            params![server, serde_json::Value::from(names).to_string()],
        )
    }

    /// Accepts a tool as in that row, with its marks. Returns false if the row has another digest
    /// than the one last seen.
    pub fn accept_tool(&self, row: &OutsideToolRow, by: Option<PersonId>, now: Timestamp) -> anyhow::Result<bool> {
        self.db.changed(
            "UPDATE outside_tools SET accepted_digest = digest, accepted_at = ?4, accepted_by = ?5, marks = ?6
             WHERE server = ?1 AND name = ?2 AND digest = ?3",
            params![row.server, row.seen.name, row.seen.digest, now, by, row.marks],
        )
    }

    /// Stores the marks of a tool that was accepted without any.
    pub fn set_marks(&self, row: &OutsideToolRow, marks: &str) -> anyhow::Result<()> {
        let sql = "UPDATE outside_tools SET marks = ?3 WHERE server = ?1 AND name = ?2 AND marks = ''";
        self.db.run(sql, params![row.server, row.seen.name, marks])
    }
}
