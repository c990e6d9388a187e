//! Closes all pending work in a journal restored from a backup, or marks it in one taken over from
//! a replica.
//!
//! What happened after the backup is unknown: questions may have been answered, pending messages
//! sent and proposals refused. So nothing pending continues. It is closed with a reason, in one
//! transaction, before the restored home is opened. Adapter cursors are deleted, because the server
//! may be further; it delivers again what it still has, and known items are not stored twice.
//!
//! In an unauthenticated journal nothing acts, and none of its text is trusted.

mod people;

pub use people::{PersonRecord, PresentPeople, Readmission, RestoredPerson};

use anyhow::ensure;
use rusqlite::params;
use serde::{Deserialize, Serialize};

use super::migrations::without_comments;
use super::{Db, open};
use crate::store::UnansweredReason;
use crate::store::handles::{AfterRestore, AfterRestoreMut};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// Key of the time at which this journal was restored from a backup.
pub const RESTORED_AT: &str = "restored_at";
/// Key of the number of the home to which this journal belongs.
pub const HOME_ID: &str = "home_id";
/// Key of the time at which this journal was taken over from a replica.
pub const ACTIVATED_AT: &str = "activated_at";
/// Key of the counts of closed rows.
const PARKED: &str = "parked";
/// Tables that Litestream adds to the journals that it streams. Neither holds anything of ours.
const OF_LITESTREAM: [&str; 2] = [
    "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)",
    "CREATE TABLE _litestream_lock (id INTEGER)",
];
/// SQLite's own tables. A name alone proves nothing: with `writable_schema` any object may have one that
/// begins with `sqlite_`.
const OF_SQLITE: [&str; 3] = [
    "CREATE TABLE sqlite_sequence(name,seq)",
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
];
/// Reason stored in closed rows.
const REASON: UnansweredReason = UnansweredReason::Restored;

/// Counts of closed rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClosedWork {
    /// Messages and commands that were queued or being answered.
    pub messages: usize,
    /// Pending deliveries.
    pub outbox: usize,
    /// Pending proposals.
    pub proposals: usize,
    /// Pending questions.
    pub questions: usize,
    /// Open slots.
    pub slots: usize,
    /// Files that match nothing in the journal.
    pub files: usize,
    /// Skills that match no accepted version.
    pub skills: usize,
    /// People who are not admitted, or not as in the archive.
    pub people: usize,
    /// MCP tools whose acceptance is void.
    pub tools: usize,
    /// Cancelled reminders and tasks.
    pub reminders: usize,
    /// Messages and deliveries that go on, marked as possibly repeated.
    pub repeated: usize,
}

impl AfterRestore<'_> {
    /// Returns the counts of rows closed when this journal was restored; `None` if it never was.
    pub fn parked(&self) -> anyhow::Result<Option<ClosedWork>> {
        Ok(self.db.settings().fact(PARKED)?.and_then(|stored| serde_json::from_str(&stored).ok()))
    }

    /// Returns the last moment that this journal knows of; `None` if nothing ever happened.
    pub fn newest(&self) -> anyhow::Result<Option<Timestamp>> {
        self.db.one(
            "SELECT max(at) FROM (SELECT max(received_at) AS at FROM messages
             UNION ALL SELECT max(CAST(value AS INTEGER)) FROM meta WHERE key LIKE 'alive_at %')",
            [],
        )
    }

    /// Returns the newest version of each file that was not deleted: path and digest.
    pub fn newest_files(&self) -> anyhow::Result<Vec<(String, String)>> {
        self.db.all(
            "SELECT path, digest FROM files WHERE id IN (SELECT max(id) FROM files GROUP BY path) AND digest <> ''",
            [],
        )
    }

    /// Returns the paths of received files that should be in the workspace.
    pub fn received_files(&self) -> anyhow::Result<Vec<String>> {
        self.db.all("SELECT path FROM attachments WHERE state = 'here'", [])
    }
}

impl AfterRestoreMut<'_> {
    /// Closes all pending work of a backup.
    pub fn close_pending(&self, now: Timestamp) -> anyhow::Result<ClosedWork> {
        // Runs before the rest: only what is pending is counted.
        let messages = self.db.execute(
            "UPDATE messages SET state = 'closed', reason = ?1 WHERE state IN ('queued', 'claimed')",
            [REASON],
        )?;
        let outbox =
            self.over("UPDATE outbox SET state = 'failed', trouble = ?1, ended_at = ?2 WHERE state = 'pending'", now)?;
        self.over(
            "UPDATE turns SET state = 'stopped', reason = ?1, ended_at = ?2, retry_at = NULL
              WHERE state IN ('running', 'waiting')",
            now,
        )?;
        self.db.execute_batch(
            "UPDATE parts SET state = 'failed' WHERE state IN ('waiting', 'sending');
             UPDATE outbox SET set_aside = 0 WHERE set_aside > 0;",
        )?;
        self.tx().settings().set_fact(RESTORED_AT, &now.0.to_string())?;
        let parked = ClosedWork { messages, outbox, ..self.void_approvals(now)? };
        self.note_parked(&parked)?;
        Ok(parked)
    }

    /// Lets pending work of a replica go on, with every answer marked as possibly repeated: since
    /// its last moment the first machine may have sent that answer itself. Commands, scheduled runs
    /// and approvals are closed, because their effects cannot be marked.
    pub fn mark_pending(&self, now: Timestamp) -> anyhow::Result<ClosedWork> {
        let messages = self.db.execute(
            "UPDATE messages SET state = 'closed', reason = ?1 WHERE state IN ('queued', 'claimed') AND (kind <> 'said'
             OR stream_id IN (SELECT id FROM streams WHERE work_of IS NOT NULL))",
            [REASON],
        )?;
        self.over(
            "UPDATE turns SET state = 'stopped', reason = ?1, ended_at = ?2, retry_at = NULL
              WHERE state IN ('running', 'waiting')
              AND stream_id IN (SELECT id FROM streams WHERE work_of IS NOT NULL)",
            now,
        )?;
        let repeated: i64 = self.db.one(
            "SELECT (SELECT count(*) FROM messages WHERE state IN ('queued', 'claimed'))
             + (SELECT count(*) FROM outbox WHERE state = 'pending')",
            [],
        )?;
        self.db.run("UPDATE outbox SET repeated = 1 WHERE state = 'pending'", [])?;
        self.db.run("UPDATE parts SET repeated = 1 WHERE state IN ('waiting', 'sending')", [])?;
        self.tx().settings().set_fact(ACTIVATED_AT, &now.0.to_string())?;
        let parked = ClosedWork { messages, repeated: usize::try_from(repeated)?, ..self.void_approvals(now)? };
        self.note_parked(&parked)?;
        Ok(parked)
    }

    fn over(&self, sql: &str, now: Timestamp) -> anyhow::Result<usize> {
        self.db.execute(sql, params![REASON, now])
    }

    /// Closes everything that waits for a person or runs by the clock, and forgets what the
    /// channels were told last.
    fn void_approvals(&self, now: Timestamp) -> anyhow::Result<ClosedWork> {
        let at = |sql: &str| -> anyhow::Result<usize> { self.db.execute(sql, [now]) };
        // Runs before the skill changes are closed: approved proposals whose change was not yet
        // made are void as well.
        self.over(
            "UPDATE proposals SET state = 'expired', reason = ?1, decided_at = ?2
              WHERE id IN (SELECT proposal_id FROM skill_changes WHERE state = 'intended')",
            now,
        )?;
        let closed = ClosedWork {
            proposals: self.over(
                "UPDATE proposals SET state = 'expired', reason = ?1, decided_at = ?2 WHERE state = 'pending'",
                now,
            )?,
            questions: at("UPDATE questions SET state = 'expired', decided_at = ?1 WHERE state IN ('open', 'passed')")?
                + at("UPDATE keeps SET state = 'expired', decided_at = ?1 WHERE state IN ('new', 'open', 'yes')")?,
            slots: self.over(
                "UPDATE slots SET state = 'failed', reason = ?1, ended_at = ?2 WHERE state IN ('claimed', 'working')",
                now,
            )?,
            ..ClosedWork::default()
        };
        self.over(
            "UPDATE actions SET state = 'refused', reason = ?1, ended_at = ?2 WHERE state IN ('new', 'taken')",
            now,
        )?;
        at("UPDATE grants SET ended_at = ?1 WHERE ended_at IS NULL")?;
        at("UPDATE skill_changes SET state = 'conflict', ended_at = ?1 WHERE state = 'intended'")?;
        // Recurring reminders are scheduled again; a single late reminder is better than none.
        at("UPDATE reminders SET next_at = NULL WHERE state = 'waiting' AND cron <> '' AND next_at <= ?1")?;
        at("UPDATE pairing_codes SET expires_at = min(expires_at, ?1) WHERE used_at IS NULL")?;
        self.db.execute_batch(
            "DELETE FROM previews; DELETE FROM cursors; DELETE FROM web_codes; DELETE FROM web_sessions;",
        )?;
        // The workspace has changed.
        self.tx().entries().clear_entries()?;
        self.tx().settings().drop_fact(HOME_ID)?;
        Ok(closed)
    }

    /// Stores the counts of closed rows.
    pub fn note_parked(&self, parked: &ClosedWork) -> anyhow::Result<()> {
        self.tx().settings().set_fact(PARKED, &serde_json::to_string(parked)?)
    }

    /// Records that a received file is missing from the backup because it arrived while that was
    /// made. Its adapter still has it.
    pub fn received_file_missing(&self, path: &str) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE attachments SET state = 'remote', path = '', text_path = '', digest = '' WHERE state = 'here'
             AND path = ?1",
            [path],
        )
    }

    /// Records a file of unknown origin in the restored workspace.
    pub fn file_found(&self, path: &str, digest: &str, label: &Label, now: Timestamp) -> anyhow::Result<()> {
        let scope = self.db.folders().newest_scope_of(path)?.unwrap_or(Scope::Shared);
        self.tx().file_versions().file_written(path, digest, label, scope, now).map(drop)
    }
}

impl AfterRestore<'_> {
    /// Returns kind, name and SQL, without comments, of each schema entry that is neither a table of
    /// SQLite or Litestream nor an index that SQLite makes by itself.
    fn schema(&self) -> anyhow::Result<Vec<(String, String, String)>> {
        let mut entries: Vec<(String, String, String)> = self.db.all(
            "SELECT type, name, coalesce(sql, '') FROM sqlite_schema
             WHERE NOT (type = 'table' AND coalesce(sql, '') IN (SELECT value FROM json_each(?1)))
             AND NOT (type = 'index' AND sql IS NULL AND name LIKE 'sqlite!_autoindex!_%' ESCAPE '!')
             ORDER BY type, name",
            [serde_json::to_string(&[&OF_LITESTREAM[..], &OF_SQLITE].concat())?],
        )?;
        entries.iter_mut().for_each(|(.., sql)| *sql = without_comments(sql));
        Ok(entries)
    }
}

impl AfterRestoreMut<'_> {
    /// Refuses a journal whose tables, triggers or views differ from this program's schema: a
    /// foreign trigger would run in every later transaction.
    ///
    /// # Errors
    /// If the schema differs or cannot be read.
    pub fn has_our_schema(&self) -> anyhow::Result<()> {
        let ours = open::empty()?;
        let (ours, found) = (Db::on(&ours).after_restore().schema()?, self.schema()?);
        let is_ours = |row: &(String, String, String)| ours.iter().any(|one| one == row);
        let foreign = found.iter().find(|row| !is_ours(row)).or_else(|| ours.iter().find(|row| !found.contains(row)));
        let name = foreign.map(|(kind, name, _)| format!("{kind} {name}")).unwrap_or_default();
        ensure!(foreign.is_none(), "its journal is not of the shape that this program makes ({name})");
        Ok(())
    }

    /// Marks everything in the journal as untrusted and cancels scheduled work.
    pub fn distrust_all(&self, label: &Label, parked: &mut ClosedWork, now: Timestamp) -> anyhow::Result<()> {
        for (table, column) in self.label_columns()? {
            let is_trusted = Label::is_trusted_sql(&format!("\"{column}\""));
            let sql = format!("UPDATE \"{table}\" SET \"{column}\" = ?1 WHERE {is_trusted}");
            self.db.run(&sql, [label])?;
        }
        parked.reminders = self.db.execute(
            "UPDATE reminders SET state = 'cancelled', next_at = NULL, ended_at = ?1 WHERE state = 'waiting'",
            [now],
        )?;
        // The acceptance cannot be attributed. The next scan of the skills asks the owner about
        // each.
        self.db.execute_batch(
            "UPDATE skill_versions SET accepted = 0, hosts = '';
             UPDATE skills SET state = 'gone', digest = '', shipped = '', installed = '', version_id = NULL;
             DELETE FROM folder_moves;
             DELETE FROM forgettings WHERE state <> 'done';
             UPDATE conversations SET opening = '', opening_state = 'none', written_down = 1;",
        )?;
        // The next message starts a conversation, so that no conversation mixes old and new text.
        self.db.run("UPDATE streams SET break_at = ?1", params![now])?;
        self.tx().message_search().rebuild_index()?;
        self.tx().fingerprints().rebuild_fingerprints()
    }

    fn label_columns(&self) -> anyhow::Result<Vec<(String, String)>> {
        self.db.all(
            "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
             WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%' AND c.name IN ('label', 'context_label')",
            [],
        )
    }

    /// Voids the acceptance of every MCP tool and returns their names.
    pub fn void_outside_tools(&self) -> anyhow::Result<Vec<String>> {
        let mut names: Vec<String> = self.db.all(
            "UPDATE outside_tools SET accepted_digest = '', accepted_at = NULL, accepted_by = NULL
             WHERE accepted_digest <> '' RETURNING server || '__' || name",
            [],
        )?;
        names.sort();
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use crate::store::Journal;
    use crate::store::copy::amend_copy;

    /// An archive may hold such a journal.
    #[tokio::test]
    async fn the_schema_of_an_adopted_journal_is_ours() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.db");
        let development = include_str!("../../tests/corpus/homes/V0035.sql");
        rusqlite::Connection::open(&path).unwrap().execute_batch(development).unwrap();
        Journal::open_restored(&path).unwrap().close().await;
        amend_copy(&path, |tx| tx.after_restore().has_our_schema()).unwrap();
        assert!(!folder.path().join("backups").exists(), "the archive is the copy");
    }

    #[tokio::test]
    async fn foreign_schema_objects_in_a_journal_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.db");
        Journal::open(&path, None).unwrap().close().await;
        assert!(amend_copy(&path, |tx| tx.after_restore().has_our_schema()).is_ok());
        let streamed = super::OF_LITESTREAM.join(";");
        rusqlite::Connection::open(&path).unwrap().execute_batch(&streamed).unwrap();
        assert!(amend_copy(&path, |tx| tx.after_restore().has_our_schema()).is_ok());
        for (sql, undo) in [
            ("CREATE TRIGGER t AFTER INSERT ON messages BEGIN UPDATE people SET role = 'owner'; END", "DROP TRIGGER t"),
            ("CREATE VIEW v AS SELECT 1", "DROP VIEW v"),
            ("CREATE TABLE more (a)", "DROP TABLE more"),
            ("ALTER TABLE people ADD COLUMN more TEXT", "ALTER TABLE people DROP COLUMN more"),
            // A name of SQLite's own.
            (
                "CREATE TRIGGER t AFTER INSERT ON messages BEGIN SELECT 1; END; PRAGMA writable_schema = ON;
                 UPDATE sqlite_schema SET name = 'sqlite_x',
                 sql = 'CREATE TRIGGER sqlite_x AFTER INSERT ON messages BEGIN UPDATE people SET role = ''owner''; END'
                 WHERE name = 't'",
                "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'sqlite_x'",
            ),
            (
                "CREATE TABLE t (a); PRAGMA writable_schema = ON;
                 UPDATE sqlite_schema SET name = 'sqlite_t', tbl_name = 'sqlite_t', sql = 'CREATE TABLE sqlite_t (a)'
                 WHERE name = 't'",
                "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'sqlite_t'",
            ),
        ] {
            let run = |sql: &'static str| {
                rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
                amend_copy(&path, |tx| tx.after_restore().has_our_schema()).is_ok()
            };
            assert!(!run(sql), "{sql}");
            assert!(run(undo), "{undo}");
        }
    }
}
