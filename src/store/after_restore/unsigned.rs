//! Restores an unauthenticated journal: nothing in it acts, and none of its text is trusted.

use crate::store::handles::{AfterRestore, AfterRestoreMut};
use anyhow::ensure;
use rusqlite::params;

use super::super::{Db, open};
use super::ParkedWork;
use crate::time::Timestamp;
use crate::trust::Label;

impl AfterRestore<'_> {
    /// Returns kind, name and SQL of each schema entry that is not SQLite's own.
    fn schema(&self) -> anyhow::Result<Vec<(String, String, String)>> {
        self.db.all(
            "SELECT type, name, coalesce(sql, '') FROM sqlite_schema
             WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY type, name",
            [],
        )
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
    pub fn distrust_all(&self, label: &Label, parked: &mut ParkedWork, now: Timestamp) -> anyhow::Result<()> {
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
             DELETE FROM meta WHERE key = 'skills_carried_over';
             DELETE FROM folder_moves WHERE kind = 'hand_over';
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

    #[tokio::test]
    async fn what_this_program_does_not_make_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j.db");
        Journal::open(&path, None).unwrap().close().await;
        assert!(amend_copy(&path, |tx| tx.after_restore().has_our_schema()).is_ok());
        for (sql, undo) in [
            ("CREATE TRIGGER t AFTER INSERT ON messages BEGIN UPDATE people SET role = 'owner'; END", "DROP TRIGGER t"),
            ("CREATE VIEW v AS SELECT 1", "DROP VIEW v"),
            ("CREATE TABLE more (a)", "DROP TABLE more"),
            ("ALTER TABLE people ADD COLUMN more TEXT", "ALTER TABLE people DROP COLUMN more"),
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
