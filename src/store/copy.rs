//! Makes an exact copy of a journal in use.
//!
//! The copy is made through a read-only connection within one read transaction. It holds every
//! transaction committed before it began and nothing later, however long it takes. Writers do not
//! wait for it. The cost is that the log cannot be merged past that moment until the copy is done.
//!
//! A copy is one file without a log, readable by its owner alone, and on disk when this returns. It
//! never replaces another file, and an incomplete copy is removed.
//!
//! A copy is also made before a migration, so that a newer version's changes can be undone. Those
//! are in `backups/` next to the journal, named by the version that replaced them. The
//! newest three are kept. If no copy can be made, the journal is not migrated.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::error::{DiskFull, OpenError};
use super::{BUSY_MS, Db, Tx};
use crate::time::{Clock, SystemClock, Timestamp};

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

/// Reads the journal at `path`, to which another process may write. Changes nothing.
///
/// # Errors
/// Errors of `look`, or if the file cannot be opened.
pub fn examine<T>(path: &Path, look: impl FnOnce(Db<'_>) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "query_only", true)?;
    look(Db::on(&connection))
}

/// Adds to a copy in one transaction. No other process may have it open.
///
/// # Errors
/// Errors of `job`, or if the copy cannot be written.
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

/// Number of copies to keep.
const KEEP: usize = 3;
/// File name prefix of the copies.
const PREFIX: &str = "before-V";

/// Copies the journal, which is older than version `known`.
pub(super) fn copy_before_migration(path: &Path, known: u32) -> Result<(), OpenError> {
    // The name is for people; nothing depends on the time in it.
    copy_before_migration_at(path, known, SystemClock::default().now(), None)
}

fn copy_before_migration_at(path: &Path, known: u32, now: Timestamp, room: Option<u32>) -> Result<(), OpenError> {
    let Some(home) = path.parent() else { return Ok(()) };
    let folder = home.join("backups");
    let kept = make(path, &folder, known, now, room);
    kept.map_err(|error| match error.downcast_ref::<DiskFull>() {
        Some(DiskFull) => OpenError::NoRoomToCopy { path: path.to_owned() },
        None => OpenError::NotCopied { path: path.to_owned(), cause: error },
    })
}

fn make(path: &Path, folder: &Path, known: u32, now: Timestamp, room: Option<u32>) -> anyhow::Result<()> {
    make_folder(folder)?;
    let time: String = now.rfc3339().chars().filter(|c| !matches!(c, '-' | ':')).take(15).collect();
    let name = format!("{PREFIX}{known:04}-{time}.db");
    let (target, whole) = (folder.join(&name), folder.join(format!(".{name}.part")));
    let _ = std::fs::remove_file(&whole);
    copy_within(path, &whole, room, &mut |_, _| {})?;
    std::fs::rename(&whole, &target).with_context(|| format!("Cannot write {}", target.display()))?;
    std::fs::File::open(folder)?.sync_all()?;
    drop_old(folder)
}

/// Creates a private folder in the home.
fn make_folder(folder: &Path) -> anyhow::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .with_context(|| format!("Cannot make {}", folder.display()))
}

fn drop_old(folder: &Path) -> anyhow::Result<()> {
    let mut copies: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(PREFIX) && name.ends_with(".db") {
            copies.push(path);
        }
    }
    // Sorted by the time in the name, which follows the version: after a downgrade the program
    // makes copies again.
    copies.sort_by_key(|path| {
        path.file_stem().and_then(|stem| stem.to_str()?.rsplit_once('-')).map(|(_, time)| time.to_owned())
    });
    let too_many = copies.len().saturating_sub(KEEP);
    for old in copies.into_iter().take(too_many) {
        std::fs::remove_file(&old).with_context(|| format!("Cannot remove {}", old.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn old_journal() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("compline.db");
        let db = Connection::open(&path).unwrap();
        db.execute_batch("CREATE TABLE told (words TEXT); INSERT INTO told VALUES (hex(zeroblob(100000)));").unwrap();
        (home, path)
    }

    fn copies(home: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(home.join("backups")).into_iter().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_last_three_copies_are_kept() {
        let (home, path) = old_journal();
        for day in 0..5 {
            let now = Timestamp(1_795_176_000_000 + day * 86_400_000);
            copy_before_migration_at(&path, u32::try_from(9 - day).unwrap(), now, None).unwrap();
        }
        let names =
            ["before-V0005-20261124T120000.db", "before-V0006-20261123T120000.db", "before-V0007-20261122T120000.db"];
        assert_eq!(copies(home.path()), names);
        let copy = Connection::open(home.path().join("backups").join(names[0])).unwrap();
        let length: i64 = copy.query_row("SELECT length(words) FROM told", [], |row| row.get(0)).unwrap();
        assert_eq!(length, 200_000);
    }

    #[test]
    fn a_pre_migration_copy_is_readable_by_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let (home, path) = old_journal();
        copy_before_migration_at(&path, 4, Timestamp(0), None).unwrap();
        let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = home.path().join("backups");
        assert_eq!((mode(folder.join(&copies(home.path())[0])), mode(folder)), (0o600, 0o700));
    }

    #[test]
    fn without_room_nothing_is_left_behind() {
        let (home, path) = old_journal();
        let refused = copy_before_migration_at(&path, 4, Timestamp(0), Some(20));
        assert!(matches!(refused, Err(OpenError::NoRoomToCopy { .. })), "{refused:?}");
        assert_eq!(copies(home.path()), Vec::<String>::new());
    }
}
