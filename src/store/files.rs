//! The labels of files that we wrote. A row is committed before the file is renamed into place, so a file whose content matches
//! no row was written by a person's hand.

use rusqlite::{OptionalExtension, params};

use super::{Db, Tx};
use crate::time::Moment;
use crate::trust::{Label, Scope};

/// The label of a file that stood in a restored workspace and matched no row. It is about that content alone: what a person makes of it is theirs.
pub const FOUND: &str = "restored";

impl Tx<'_> {
    /// A version of a file is about to be written.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn file_written(
        &self,
        path: &str,
        digest: &str,
        label: &Label,
        scope: Scope,
        now: Moment,
    ) -> anyhow::Result<i64> {
        self.0
            .0
            .prepare_cached("INSERT INTO files (path, digest, label, scope, written_at) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![path, digest, label, scope, now])?;
        Ok(self.0.0.last_insert_rowid())
    }
}

impl Db<'_> {
    /// The row and label of the newest version of that path with that content; `None` if we did not write it.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn file_version(&self, path: &str, digest: &str) -> anyhow::Result<Option<(i64, Label)>> {
        let mut query = self
            .0
            .prepare_cached("SELECT id, label FROM files WHERE path = ?1 AND digest = ?2 ORDER BY id DESC LIMIT 1")?;
        Ok(query.query_row([path, digest], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
    }

    /// The label of the newest version of that path that we wrote, whatever it holds now. What was merely found there after a restore says nothing.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn last_label_of(&self, path: &str) -> anyhow::Result<Option<Label>> {
        let mut query = self
            .0
            .prepare_cached("SELECT label FROM files WHERE path = ?1 AND label <> ?2 ORDER BY id DESC LIMIT 1")?;
        Ok(query.query_row([path, FOUND], |row| row.get(0)).optional()?)
    }
}
