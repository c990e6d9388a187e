//! Merges the write-ahead log as far as readers allow, and truncates it when all is merged.
//!
//! SQLite merges the log every thousand pages, which costs the writer a few milliseconds. It falls
//! behind only during a long read such as a backup. So most of the work is done here on a separate
//! connection that blocks nothing. The writer only truncates a merged log, and waits for no reader.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use rusqlite::Connection;

use super::{BUSY_MS, Journal};

impl Journal {
    /// Returns the length of the log in bytes.
    pub fn log_size(&self) -> u64 {
        std::fs::metadata(log_of(self.path())).map_or(0, |found| found.len())
    }

    /// Merges and truncates the log. Returns false if a reader is in the way; then the next run has
    /// less to do.
    pub async fn cut_log(&self) -> anyhow::Result<bool> {
        let path = self.path().to_owned();
        tokio::task::spawn_blocking(move || merge(&path)).await.context("Merging the log was abandoned")??;
        self.writer().between("cut the log", cut).await
    }
}

fn merge(path: &Path) -> anyhow::Result<()> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS.into()))?;
    Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
}

fn cut(connection: &Connection) -> anyhow::Result<bool> {
    connection.busy_timeout(Duration::ZERO)?;
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    connection.busy_timeout(Duration::from_millis(BUSY_MS.into()))?;
    Ok(busy? == 0)
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}
