//! Makes an exact copy of a journal in use.
//!
//! The copy is made through a read-only connection within one read transaction. It holds every
//! transaction committed before it began and nothing later, however long it takes. Writers do not
//! wait for it. The cost is that the log cannot be merged past that moment until the copy is done.
//!
//! A copy is one file without a log, readable by its owner alone, and on disk when this returns. It
//! never replaces another file, and an incomplete copy is removed.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::Context;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::disk_full::DiskFull;
use super::{BUSY_MS, Db, Tx};

/// Pages copied between two progress reports.
const PAGES: i32 = 256;

/// Copies the journal at `from` to `to`, which must not exist. Calls `progress` with the bytes
/// copied and the total.
///
/// # Errors
/// If the journal cannot be read or the copy not written; [`DiskFull`] if there is no room.
pub fn copy_journal(from: &Path, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> anyhow::Result<()> {
    copy_within(from, to, None, progress)
}

/// Same as `copy_journal`, limited to a number of pages. For tests of a full disk.
pub(super) fn copy_within(
    from: &Path,
    to: &Path,
    room: Option<u32>,
    progress: &mut dyn FnMut(u64, u64),
) -> anyhow::Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)
        .map_err(named)
        .with_context(|| format!("Cannot write {}", to.display()))?;
    let copied = copy(from, to, room, progress);
    if copied.is_err() {
        let _ = std::fs::remove_file(to);
    }
    copied
}

/// Reads a journal that no other process has open. Changes nothing, not even files next to it.
///
/// # Errors
/// Those of `look`, or if the file cannot be opened.
pub fn examine_still<T>(path: &Path, look: impl FnOnce(Db<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "query_only", true)?;
    look(Db::on(&connection))
}

/// Adds to a copy in one transaction. No other process may have it open.
///
/// # Errors
/// Those of `job`, or if the copy cannot be written.
pub fn amend_copy<T>(path: &Path, job: impl FnOnce(Tx<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction()?;
    let done = job(Tx::on(&transaction))?;
    transaction.commit().map_err(full)?;
    connection.close().map_err(|(_, error)| error)?;
    File::open(path)?.sync_all().map_err(named)?;
    Ok(done)
}

fn copy(from: &Path, to: &Path, room: Option<u32>, progress: &mut dyn FnMut(u64, u64)) -> anyhow::Result<()> {
    let source = Connection::open_with_flags(from, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .with_context(|| format!("Cannot open {}", from.display()))?;
    source.busy_timeout(std::time::Duration::from_millis(BUSY_MS.into()))?;
    let moment = source.unchecked_transaction()?;
    // A transaction sees the state at its first read.
    moment.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    let mut copy = Connection::open(to)?;
    if let Some(pages) = room {
        copy.pragma_update(None, "max_page_count", pages)?;
    }
    let page: u32 = moment.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    pages(&moment, &mut copy, page.into(), progress).map_err(full)?;
    // One file: no separate log that could be forgotten.
    copy.pragma_update(None, "journal_mode", "DELETE").map_err(full)?;
    copy.close().map_err(|(_, error)| error)?;
    File::open(to)?.sync_all().map_err(named)?;
    Ok(())
}

fn pages(
    from: &Connection,
    to: &mut Connection,
    page: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> rusqlite::Result<()> {
    let backup = Backup::new(from, to)?;
    loop {
        let step = backup.step(PAGES)?;
        let (all, left) = (backup.progress().pagecount, backup.progress().remaining);
        let bytes = |pages: i32| u64::try_from(pages).unwrap_or(0).saturating_mul(page);
        progress(bytes(all.saturating_sub(left)), bytes(all));
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => {
                return Err(rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                    None,
                ));
            }
        }
    }
}

fn full(error: rusqlite::Error) -> anyhow::Error {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => anyhow::Error::new(DiskFull),
        _ => error.into(),
    }
}

/// Converts a full-disk error to [`DiskFull`].
fn named(error: std::io::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => anyhow::Error::new(DiskFull),
        _ => error.into(),
    }
}
