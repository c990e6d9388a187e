//! Retention and small repairs, in pieces that occupy the writer for milliseconds.
//!
//! The text of old messages is deleted while their rows stay: a conversation keeps its times,
//! summaries and derived rows. The unit is a finished conversation without open work, so an answer
//! never loses the beginning of its context. Reflections are kept, since they are summaries too.
//!
//! Each method handles at most `limit` rows and returns their number. The caller decides on the
//! schedule. The key-value settings of the journal are here too.

use rusqlite::params;

use super::derivations::Fingerprinted;
use super::migrations::Version;
use crate::id::{AttachmentId, ConversationId};
use crate::store::handles::{Maintenance, MaintenanceMut, Settings, SettingsMut};
use crate::store::rows::from_row;
use crate::time::Timestamp;

/// Condition for texts in the search index: no commands, no prompts or replies of system runs, no
/// text stored elsewhere.
pub(super) const SEARCHED: &str = "m.kind NOT IN ('command', 'task') AND t.kind NOT IN ('quote', 'edit', 'carried')
     AND NOT (m.kind = 'reply' AND EXISTS (SELECT 1 FROM streams s WHERE s.id = m.stream_id AND s.work_of IS NOT NULL))";

/// An old received file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldFile {
    /// Row id.
    pub id: AttachmentId,
    /// Path relative to the workspace.
    pub path: String,
    /// SHA-256 of the content that we wrote.
    pub digest: String,
    /// Path of the extracted text; blank if the file itself is text.
    pub text_path: String,
}

from_row! { OldFile from "attachments" { id, path, digest, text_path } }

/// Mismatches between the search index and the texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IndexMismatch {
    /// Texts missing from the index.
    pub missing: Vec<i64>,
    /// Index rows without a text.
    pub left_over: Vec<i64>,
}

impl IndexMismatch {
    /// Returns true if there are no mismatches.
    pub fn is_empty(&self) -> bool {
        self.missing.is_empty() && self.left_over.is_empty()
    }
}

impl Maintenance<'_> {
    /// Returns the oldest conversation that ended before `before`, has no open work and still has
    /// text.
    pub fn conversation_to_forget(&self, before: Timestamp) -> anyhow::Result<Option<ConversationId>> {
        self.db.first(
            "SELECT c.id FROM conversations c WHERE c.forgotten_at IS NULL AND c.last_at < ?1
             AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.conversation_id = c.id
             AND m.state IN ('queued', 'claimed'))
             AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.conversation_id = c.id AND m.received_at >= ?1)
             AND NOT EXISTS (SELECT 1 FROM turns u WHERE u.conversation_id = c.id
             AND u.state IN ('running', 'waiting'))
             AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.conversation_id = c.id AND q.state IN ('open', 'passed'))
             AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.conversation_id = c.id
             AND s.state IN ('claimed', 'working'))
             AND NOT EXISTS (SELECT 1 FROM summaries y WHERE y.conversation_id = c.id AND y.state = 'wanted')
             AND NOT EXISTS (SELECT 1 FROM outbox o JOIN messages m ON m.id = o.message_id
             WHERE m.conversation_id = c.id AND o.state = 'pending')
             ORDER BY c.last_at LIMIT 1",
            [before],
        )
    }

    /// Returns received files of messages older than `before` that are in the workspace and belong
    /// to no open work; only rows after `after`.
    pub fn old_files(&self, before: Timestamp, after: i64, limit: u32) -> anyhow::Result<Vec<OldFile>> {
        self.db.all(
            "SELECT a.id, a.path, a.digest, a.text_path FROM attachments a JOIN messages m ON m.id = a.message_id
             WHERE a.state <> 'gone' AND a.path <> '' AND a.id > ?2 AND m.received_at < ?1
             AND m.state NOT IN ('queued', 'claimed')
             ORDER BY a.id LIMIT ?3",
            params![before, after, limit],
        )
    }

    /// Returns the files that external tools gave, and last gave before that time: path and digest.
    pub fn given_files(&self, before: Timestamp, limit: u32) -> anyhow::Result<Vec<(String, String)>> {
        self.db.all(
            "SELECT path, digest FROM files WHERE cause = 'given' GROUP BY path, digest
             HAVING max(written_at) < ?1 ORDER BY max(id) LIMIT ?2",
            params![before, limit],
        )
    }

    /// Returns mismatches between the search index and the texts, at most `limit` of each kind.
    /// Reads every row, but no text.
    pub fn index_mismatches(&self, limit: u32) -> anyhow::Result<IndexMismatch> {
        let list = |sql: &str| -> anyhow::Result<Vec<i64>> { self.db.all(sql, [limit]) };
        Ok(IndexMismatch {
            missing: list(&format!(
                "SELECT t.id FROM texts t JOIN messages m ON m.id = t.message_id
                 WHERE {SEARCHED} AND t.text <> '' AND NOT EXISTS (SELECT 1 FROM texts_fts_docsize d WHERE d.id = t.id) LIMIT ?1"
            ))?,
            left_over: list(
                "SELECT d.id FROM texts_fts_docsize d LEFT JOIN texts t ON t.id = d.id WHERE t.id IS NULL OR t.text = '' LIMIT ?1",
            )?,
        })
    }

    /// Returns the tables for [`Self::check_table`].
    pub fn tables(&self) -> anyhow::Result<Vec<String>> {
        self.db.all(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
            [],
        )
    }

    /// Returns the defects of one table and its indexes; none if it is sound.
    ///
    /// # Errors
    /// If it cannot be read at all.
    pub fn check_table(&self, name: &str) -> anyhow::Result<Vec<String>> {
        let sql = format!("PRAGMA quick_check('{}')", name.replace('\'', "''"));
        let lines: Vec<String> = self.db.all(&sql, [])?;
        Ok(lines.into_iter().filter(|line| line != "ok").take(5).collect())
    }

    /// Returns when the first person was admitted, which is when this journal came into use.
    pub fn used_since(&self) -> anyhow::Result<Option<Timestamp>> {
        self.db.one("SELECT min(created_at) FROM people", [])
    }
}

impl MaintenanceMut<'_> {
    /// Deletes text of a conversation. Returns zero when none is left, and marks the conversation
    /// as done.
    pub fn forget_words(&self, id: ConversationId, limit: u32, now: Timestamp) -> anyhow::Result<usize> {
        let texts = "SELECT t.id, t.text FROM messages m JOIN texts t ON t.message_id = m.id
             WHERE m.conversation_id = ?1 AND t.text <> '' AND m.kind <> 'reflection' LIMIT ?2";
        let forgotten = self.blank_texts(texts, params![id, limit])?;
        if forgotten > 0 {
            return Ok(forgotten);
        }
        let steps = "SELECT s.id, s.text FROM turns u JOIN steps s ON s.turn_id = u.id
             WHERE u.conversation_id = ?1 AND (s.text <> '' OR s.call NOT IN ('', '[]')) LIMIT ?2";
        let steps = self.blank_steps(steps, params![id, limit])?;
        if steps > 0 {
            return Ok(steps);
        }
        for sql in [
            "UPDATE turns SET context = '', reacted = '', recalled = '' WHERE conversation_id = ?1
                 AND (context <> '' OR reacted <> '' OR recalled <> '')",
            "UPDATE questions SET call = '{}' WHERE conversation_id = ?1",
            "UPDATE keeps SET shown = '', instead_of = '' WHERE turn_id IN (SELECT id FROM turns WHERE conversation_id = ?1)",
            // Parts that were sent are blank already; abandoned ones still have their text.
            "UPDATE parts SET rich = '', plain = '' WHERE (rich <> '' OR plain <> '') AND outbox_id IN
                 (SELECT o.id FROM messages m JOIN outbox o ON o.message_id = m.id WHERE m.conversation_id = ?1)",
        ] {
            self.db.run(sql, [id])?;
        }
        self.db.run("UPDATE conversations SET forgotten_at = ?2 WHERE id = ?1", params![id, now])?;
        Ok(0)
    }

    /// Reopens cleared conversations in which a message was edited since, or whose turns still hold
    /// recalled memory, which earlier versions left there.
    pub fn reopen_cleared(&self) -> anyhow::Result<usize> {
        self.db.execute(
            "UPDATE conversations SET forgotten_at = NULL WHERE forgotten_at IS NOT NULL AND (id IN
             (SELECT conversation_id FROM turns WHERE recalled <> '') OR id IN
             (SELECT m.conversation_id FROM messages m JOIN conversations c ON c.id = m.conversation_id
             WHERE m.edited_at IS NOT NULL AND m.edited_at >= c.forgotten_at
             AND EXISTS (SELECT 1 FROM texts t WHERE t.message_id = m.id AND t.text <> '')))",
            [],
        )
    }

    /// Deletes the text of commands, and of notices that no turn was shown, older than `before`.
    pub fn forget_commands(&self, before: Timestamp, limit: u32) -> anyhow::Result<usize> {
        self.db.run(
            "UPDATE parts SET rich = '', plain = '' WHERE (rich <> '' OR plain <> '') AND outbox_id IN
             (SELECT o.id FROM messages m JOIN outbox o ON o.message_id = m.id
             WHERE m.conversation_id IS NULL AND m.received_at < ?1 AND o.state <> 'pending')",
            [before],
        )?;
        let texts = "SELECT t.id, t.text FROM messages m JOIN texts t ON t.message_id = m.id
             WHERE m.conversation_id IS NULL AND m.received_at < ?1 AND m.state NOT IN ('queued', 'claimed') AND t.text <> '' LIMIT ?2";
        self.blank_texts(texts, params![before, limit])
    }

    /// Deletes the text of notices and command answers older than `before` that were delivered or
    /// given up.
    pub fn forget_notices(&self, before: Timestamp, limit: u32) -> anyhow::Result<usize> {
        self.db.run(
            "UPDATE parts SET rich = '', plain = '', buttons = '[]' WHERE (rich <> '' OR plain <> '')
             AND outbox_id IN
             (SELECT id FROM outbox WHERE text <> '' AND created_at < ?1 AND state <> 'pending' LIMIT ?2)",
            params![before, limit],
        )?;
        self.db.execute(
            "UPDATE outbox SET text = '', buttons = '[]' WHERE id IN
             (SELECT id FROM outbox WHERE text <> '' AND created_at < ?1 AND state <> 'pending' LIMIT ?2)",
            params![before, limit],
        )
    }

    /// Blanks originals received before `before`.
    pub fn purge_originals(&self, before: Timestamp, limit: u32) -> anyhow::Result<usize> {
        let sql = "UPDATE inbox SET raw = '' WHERE id IN
             (SELECT id FROM inbox WHERE raw <> '' AND received_at < ?1 LIMIT ?2)";
        self.db.execute(sql, params![before, limit])
    }

    /// Records that a received file was deleted because of its age.
    pub fn file_dropped(&self, id: AttachmentId, why: &str) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE attachments SET state = 'failed', trouble = ?2, path = '', text_path = '', is_part = 0
             WHERE id = ?1",
            params![id, why],
        )
    }

    /// Records that a given file was deleted because of its age. Its label stays known.
    pub fn given_file_dropped(&self, path: &str, digest: &str) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE files SET cause = 'received' WHERE path = ?1 AND digest = ?2 AND cause = 'given'",
            [path, digest],
        )
    }

    /// Deletes small obsolete rows: contacts by strangers, slots of recurring jobs, expired codes.
    pub fn sweep(&self, month: Timestamp, quarter: Timestamp, year: Timestamp, limit: u32) -> anyhow::Result<usize> {
        let mut swept = 0;
        for (sql, before) in [
            (
                "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE fate IN ('stranger', 'nothing', 'unreadable') AND received_at < ?1 LIMIT ?2)",
                month,
            ),
            (
                "DELETE FROM slots WHERE id IN (SELECT id FROM slots WHERE (job IN ('heartbeat', 'upkeep') OR job LIKE 'task:%' OR job LIKE 'reminder:%' OR job LIKE 'later:%') AND ended_at < ?1 LIMIT ?2)",
                quarter,
            ),
            (
                "DELETE FROM pairing_codes WHERE id IN (SELECT id FROM pairing_codes WHERE expires_at < ?1 LIMIT ?2)",
                quarter,
            ),
            (
                "DELETE FROM reminders WHERE id IN (SELECT id FROM reminders WHERE state <> 'waiting' AND ended_at < ?1 LIMIT ?2)",
                quarter,
            ),
            ("DELETE FROM strangers WHERE id IN (SELECT id FROM strangers WHERE last_at < ?1 LIMIT ?2)", year),
        ] {
            swept += self.db.execute(sql, params![before, limit])?;
        }
        Ok(swept)
    }

    /// Repairs the mismatches found by [`Maintenance::index_mismatches`].
    pub fn fix_index(&self, astray: &IndexMismatch) -> anyhow::Result<()> {
        for id in &astray.left_over {
            self.db.run("DELETE FROM texts_fts WHERE rowid = ?1", [id])?;
        }
        for id in &astray.missing {
            self.tx().message_search().index_text(*id)?;
        }
        Ok(())
    }

    /// Merges part of the search index, so that a query reads few segments. Returns true if more
    /// remains. With `all`, repeated calls leave a single segment, and deleted text is gone from
    /// the file too.
    pub fn merge_index(&self, pages: i64, all: bool) -> anyhow::Result<bool> {
        let pages = if all { -pages } else { pages };
        let mut more = false;
        for sql in [
            "INSERT INTO texts_fts (texts_fts, rank) VALUES ('merge', ?1)",
            "INSERT INTO entries_fts (entries_fts, rank) VALUES ('merge', ?1)",
        ] {
            let before = self.db.total_changes();
            self.db.run(sql, [pages])?;
            // The insert itself counts as one.
            more |= self.db.total_changes().saturating_sub(before) >= 2;
        }
        Ok(more)
    }

    /// Lets SQLite refresh outdated table statistics. Reads a few hundred rows of each index.
    pub fn optimize(&self) -> anyhow::Result<()> {
        Ok(self.db.execute_batch("PRAGMA analysis_limit = 400; PRAGMA optimize;")?)
    }

    pub(super) fn blank_texts(&self, sql: &str, of: impl rusqlite::Params) -> anyhow::Result<usize> {
        let texts: Vec<(i64, String)> = self.db.all(sql, of)?;
        for (id, words) in &texts {
            self.tx().fingerprints().drop_fingerprints(Fingerprinted::Text(*id), words)?;
            self.tx().message_search().unindex_text(*id)?;
            self.db.run("UPDATE texts SET text = '' WHERE id = ?1", [id])?;
        }
        Ok(texts.len())
    }

    pub(super) fn blank_steps(&self, sql: &str, of: impl rusqlite::Params) -> anyhow::Result<usize> {
        let steps: Vec<(i64, String)> = self.db.all(sql, of)?;
        for (id, words) in &steps {
            self.tx().fingerprints().drop_fingerprints(Fingerprinted::Step(*id), words)?;
            self.db.run(
                "UPDATE steps SET text = '', call = CASE kind WHEN 'model' THEN '[]' ELSE '' END WHERE id = ?1",
                [id],
            )?;
        }
        Ok(steps.len())
    }
}

impl Settings<'_> {
    /// Returns the value of a key.
    pub fn fact(&self, key: &str) -> anyhow::Result<Option<String>> {
        self.db.first("SELECT value FROM meta WHERE key = ?1", [key])
    }
}

impl SettingsMut<'_> {
    /// Sets the value of a key.
    pub fn set_fact(&self, key: &str, value: &str) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
            [key, value],
        )
    }

    /// Deletes a key.
    pub fn drop_fact(&self, key: &str) -> anyhow::Result<()> {
        self.db.run("DELETE FROM meta WHERE key = ?1", [key])
    }
}

impl Settings<'_> {
    /// Returns the defects of the file; none if it is sound. Reads all of it.
    ///
    /// # Errors
    /// If it cannot be read at all.
    pub fn quick_check(&self) -> anyhow::Result<Vec<String>> {
        let lines: Vec<String> = self.db.all("PRAGMA quick_check(5)", [])?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }

    /// Returns the version of the journal; 0 if nothing has been migrated.
    pub fn version(&self) -> anyhow::Result<u32> {
        Ok(Version::read(self.db)?.number())
    }

    /// Returns false if a version before the first release opened the journal last.
    pub fn is_of_release(&self) -> anyhow::Result<bool> {
        Ok(!matches!(Version::read(self.db)?, Version::Development(_)))
    }

    /// Returns true if only an earlier program can bring the journal up to date.
    pub fn is_too_old(&self) -> anyhow::Result<bool> {
        Version::read(self.db)?.is_too_old(self.db)
    }
}
