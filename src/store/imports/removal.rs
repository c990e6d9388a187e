//! Removal of an import: its messages, its notes, and the skills that it proposed. Each step can be
//! repeated. A note that was promoted is its person's own by then, and an approved skill its
//! owner's decision; both stay.

use rusqlite::params;

use super::super::erasure::{FORGOT, UNCUT};
use crate::id::{ImportId, MessageId, ProposalId};
use crate::store::handles::{Imports, ImportsMut};
use crate::store::{Node, ProposalState};
use crate::time::Timestamp;
use crate::trust::Source;

/// Reason of a proposal that went with its import.
const REMOVED: &str = "removed";

impl Imports<'_> {
    /// Returns the imports whose removal was cut off.
    pub fn leaving(&self) -> anyhow::Result<Vec<ImportId>> {
        self.db.all("SELECT id FROM imports WHERE state = 'leaving' ORDER BY id", [])
    }

    /// Returns the paths of the notes that an import brought, relative to the workspace.
    pub fn notes_of(&self, id: ImportId) -> anyhow::Result<Vec<String>> {
        let sql = "SELECT DISTINCT path FROM files WHERE cause = 'import' AND label = ?1 ORDER BY path";
        self.db.all(sql, [Source::import(id).as_str()])
    }
}

impl ImportsMut<'_> {
    /// Begins to remove an import. From then on the other methods follow, the last of them being
    /// [`Self::end_removal`], also after a crash.
    pub fn begin_removal(&self, id: ImportId) -> anyhow::Result<()> {
        self.db.run("UPDATE imports SET state = 'leaving' WHERE id = ?1 AND state <> 'gone'", [id])
    }

    /// Deletes some messages of an import with everything that repeats them. Returns zero once none
    /// is left.
    pub fn remove_some(&self, id: ImportId, limit: u32) -> anyhow::Result<usize> {
        let messages: Vec<MessageId> = self.db.all(
            "SELECT m.id FROM conversations c JOIN messages m ON m.conversation_id = c.id WHERE c.import_id = ?1 LIMIT ?2",
            params![id, limit],
        )?;
        for message in &messages {
            self.tx().redaction().redact_results(*message)?;
            let texts = "SELECT id, text FROM texts WHERE message_id = ?1 AND text <> ''";
            self.tx().maintenance().blank_texts(texts, [message])?;
            self.db.run("DELETE FROM texts WHERE message_id = ?1", [message])?;
            self.db.run("DELETE FROM messages WHERE id = ?1", [message])?;
        }
        self.mark_deletion(&format!("import {id} {}", messages.len()))?;
        Ok(messages.len())
    }

    /// Deletes the versions of a note with everything that repeats them, after its file. Versions
    /// that are not from the import stay.
    pub fn forget_note(&self, id: ImportId, path: &str) -> anyhow::Result<()> {
        let versions: Vec<(i64, Option<Vec<u8>>)> = self.db.all(
            "SELECT f.id, c.content FROM files f LEFT JOIN file_contents c ON c.file_id = f.id
             WHERE f.path = ?1 AND instr(' ' || f.label || ' ', ' ' || ?2 || ' ') > 0",
            [path, Source::import(id).as_str()],
        )?;
        for (version, content) in versions {
            let text = String::from_utf8_lossy(&content.unwrap_or_default()).into_owned();
            self.tx().redaction().redact_results_of(Node::File(version), &[text])?;
            self.db.run("DELETE FROM file_contents WHERE file_id = ?1", [version])?;
            self.db.run("DELETE FROM files WHERE id = ?1", [version])?;
        }
        self.tx().erasure().drop_entries_at(path)?;
        self.mark_deletion(&format!("import {id} {path}"))
    }

    /// Withdraws the skills that an import proposed, with their text, unless they were approved.
    pub fn withdraw_skills(&self, id: ImportId, now: Timestamp) -> anyhow::Result<()> {
        let proposals: Vec<ProposalId> = self.db.all(
            "SELECT id FROM proposals WHERE origin = 'import' AND label = ?1 AND state <> 'approved' ORDER BY id",
            [Source::import(id).as_str()],
        )?;
        for proposal in proposals {
            self.tx().proposals().settle_proposal(proposal, ProposalState::Expired, REMOVED, now)?;
            self.db.run("DELETE FROM skill_files WHERE proposal_id = ?1", [proposal])?;
            self.db.run("UPDATE verdicts SET findings = '[]' WHERE proposal_id = ?1", [proposal])?;
        }
        Ok(())
    }

    /// Ends a removal once nothing but the row is left.
    pub fn end_removal(&self, id: ImportId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run("DELETE FROM conversations WHERE import_id = ?1", [id])?;
        let gone = "UPDATE imports SET state = 'gone', name = '', ended_at = ?2 WHERE id = ?1";
        self.db.run(gone, params![id, now])
    }

    fn mark_deletion(&self, of: &str) -> anyhow::Result<()> {
        self.tx().settings().set_fact(FORGOT, "1")?;
        self.tx().settings().set_fact(UNCUT, of)
    }
}
