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

impl Imports<'_> {
    /// Returns true if the newest version of that file is from the import. A later note may have
    /// taken the place of one that was promoted or dropped.
    pub fn holds_note(&self, id: ImportId, path: &str) -> anyhow::Result<bool> {
        let newest: Option<bool> = self.db.first(
            "SELECT instr(' ' || label || ' ', ' ' || ?2 || ' ') > 0 FROM files WHERE path = ?1 ORDER BY id DESC LIMIT 1",
            [path, Source::import(id).as_str()],
        )?;
        Ok(newest.unwrap_or(false))
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

    /// Withdraws the skills that an import proposed, with their text and the notices that show it,
    /// unless they were approved.
    pub fn withdraw_skills(&self, id: ImportId, now: Timestamp) -> anyhow::Result<()> {
        let proposals: Vec<ProposalId> = self.db.all(
            "SELECT id FROM proposals WHERE origin = 'import' AND label = ?1 AND state <> 'approved' ORDER BY id",
            [Source::import(id).as_str()],
        )?;
        for proposal in proposals {
            self.tx().proposals().settle_proposal(proposal, ProposalState::Expired, REMOVED, now)?;
            self.db.run("DELETE FROM skill_files WHERE proposal_id = ?1", [proposal])?;
            self.db.run("UPDATE verdicts SET findings = '[]', note = '' WHERE proposal_id = ?1", [proposal])?;
        }
        self.tx().outbox().blank_notices(&Source::import(id))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Journal;
    use crate::trust::{Label, Scope};

    /// Proves: forgetting/import
    #[tokio::test]
    async fn a_later_note_in_the_place_of_an_imported_one_is_not_the_imports() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("j.db"), None).unwrap();
        let id = ImportId(1);
        let labels = [Source::import(id), Source::web("example.org")].map(Label::untrusted);
        let write = move |tx: crate::store::Tx<'_>| {
            let path = "memory/untrusted/user.md";
            let mut held = vec![tx.imports().holds_note(id, path)?];
            for (label, digest) in labels.iter().zip(["1", "2"]) {
                tx.file_versions().file_written(path, digest, label, Scope::Shared, Timestamp(1))?;
                held.push(tx.imports().holds_note(id, path)?);
            }
            Ok(held)
        };
        assert_eq!(journal.write("write versions", write).await.unwrap(), [false, true, false]);
        journal.close().await;
    }
}
