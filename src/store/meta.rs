//! Single facts about this journal.

use rusqlite::OptionalExtension;

use super::{Db, Tx};

impl Db<'_> {
    /// The fact of that name.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn fact(&self, key: &str) -> anyhow::Result<Option<String>> {
        let mut query = self.0.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
        Ok(query.query_row([key], |row| row.get(0)).optional()?)
    }
}

impl Tx<'_> {
    /// Sets the fact of that name.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn set_fact(&self, key: &str, value: &str) -> anyhow::Result<()> {
        self.0.0
            .prepare_cached("INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2")?
            .execute([key, value])?;
        Ok(())
    }

    /// Deletes the fact of that name.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn drop_fact(&self, key: &str) -> anyhow::Result<()> {
        self.0.0.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([key])?;
        Ok(())
    }
}
