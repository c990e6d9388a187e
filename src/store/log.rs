//! The log beside the journal: merged as far as nobody is in the way, and cut when all of it is
//! merged.
//!
//! A page of the log is merged by itself every thousand pages, and that costs the writer a few
//! milliseconds. It falls behind only while somebody reads for long, as a backup does. So the bulk
//! is merged here through a connection of its own, which holds up nobody; the writer only has to
//! cut what is merged already, and does not wait for anybody to do it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use rusqlite::Connection;

use super::Journal;
use super::open::BUSY_MS;

impl Journal {
    /// How long the log is, in bytes.
    pub fn log_size(&self) -> u64 {
        std::fs::metadata(log_of(self.path())).map_or(0, |found| found.len())
    }

    /// Merges and cuts the log. False if somebody who reads is in the way: then it is shorter next
    /// time.
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
