//! The list of the backups that were made of a home, newest first.
//!
//! A backup is made by a process of its own, next to the gateway, so the list is a file of the home
//! and no table. It only tells a person when the last one was made: a list that is lost or cannot
//! be read is begun again.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::admin::ReportsAdmin;
use crate::config::{Home, write_private};
use crate::time::Timestamp;

/// Number of backups listed.
const LISTED: usize = 20;

/// A backup that was made, read back and found to be whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupRow {
    /// Time of it.
    pub made_at: Timestamp,
    /// The file.
    pub file: PathBuf,
    /// Size in bytes.
    pub size: u64,
    /// Number of files in it, without the journal.
    pub files: usize,
    /// True if it contains the configuration.
    pub has_config: bool,
}

impl ReportsAdmin<'_> {
    /// The backups that were made, newest first.
    pub async fn backups(&self) -> anyhow::Result<Vec<BackupRow>> {
        let home = self.config.home.clone();
        Ok(tokio::task::spawn_blocking(move || read(&home)).await?)
    }
}

fn read(home: &Home) -> Vec<BackupRow> {
    let stored = std::fs::read(home.backup_list()).unwrap_or_default();
    serde_json::from_slice(&stored).unwrap_or_default()
}

/// Adds a backup.
///
/// # Errors
/// If the list cannot be written.
pub fn add(home: &Home, row: BackupRow) -> anyhow::Result<()> {
    let mut rows = read(home);
    rows.insert(0, row);
    rows.truncate(LISTED);
    write_private(&home.backup_list(), &serde_json::to_vec(&rows)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_come_first_and_a_broken_list_is_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        std::fs::write(home.backup_list(), "[{").unwrap();
        assert_eq!(read(&home), []);
        for number in 0..25 {
            let file = PathBuf::from(format!("/backups/{number}.tgz"));
            let row = BackupRow { made_at: Timestamp(number), file, size: 1, files: 2, has_config: true };
            add(&home, row).unwrap();
        }
        let times: Vec<i64> = read(&home).iter().map(|row| row.made_at.0).collect();
        assert_eq!(times, (5..25).rev().collect::<Vec<_>>());
    }
}
