//! Key-value settings of this journal.

use crate::store::handles::{Settings, SettingsMut};

use super::Db;

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

    /// Returns the schema version.
    pub fn version(&self) -> anyhow::Result<u32> {
        self.db.one("SELECT coalesce(max(version), 0) FROM refinery_schema_history", [])
    }
}

/// Reads the journal at `path` while another process may write to it. Changes nothing.
///
/// # Errors
/// Those of `look`, or if the file cannot be opened.
pub fn examine<T>(path: &std::path::Path, look: impl FnOnce(Db<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let connection = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "query_only", true)?;
    look(Db::on(&connection))
}
