//! Copies the database before a migration, so that a newer version's changes can be undone.
//!
//! The copies are in `backups/` next to the journal, named by the version that replaced them. The
//! newest three are kept. If no copy can be made, the journal is not migrated.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::copy::copy_within;
use super::disk_full::DiskFull;
use super::open_error::OpenError;
use crate::time::{Clock, SystemClock, Timestamp};

/// Number of copies to keep.
const KEEP: usize = 3;
/// File name prefix of the copies.
const PREFIX: &str = "before-V";

/// Copies the journal, which is older than version `known`.
pub(super) fn copy_journal(path: &Path, known: u32) -> Result<(), OpenError> {
    // The name is for people; nothing depends on the time in it.
    copy_journal_at(path, known, SystemClock::default().now(), None)
}

fn copy_journal_at(path: &Path, known: u32, now: Timestamp, room: Option<u32>) -> Result<(), OpenError> {
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
            copy_journal_at(&path, u32::try_from(9 - day).unwrap(), now, None).unwrap();
        }
        let names =
            ["before-V0005-20261124T120000.db", "before-V0006-20261123T120000.db", "before-V0007-20261122T120000.db"];
        assert_eq!(copies(home.path()), names);
        let copy = Connection::open(home.path().join("backups").join(names[0])).unwrap();
        let length: i64 = copy.query_row("SELECT length(words) FROM told", [], |row| row.get(0)).unwrap();
        assert_eq!(length, 200_000);
    }

    #[test]
    fn a_copy_is_nobody_elses_to_read() {
        use std::os::unix::fs::PermissionsExt;
        let (home, path) = old_journal();
        copy_journal_at(&path, 4, Timestamp(0), None).unwrap();
        let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = home.path().join("backups");
        assert_eq!((mode(folder.join(&copies(home.path())[0])), mode(folder)), (0o600, 0o700));
    }

    #[test]
    fn without_room_nothing_is_left_behind() {
        let (home, path) = old_journal();
        let refused = copy_journal_at(&path, 4, Timestamp(0), Some(20));
        assert!(matches!(refused, Err(OpenError::NoRoomToCopy { .. })), "{refused:?}");
        assert_eq!(copies(home.path()), Vec::<String>::new());
    }
}
