//! Stamps that change when anything in a folder changes, without reading a file.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::skill::folder::MOST_FILES;

/// More files and folders than any skill may have; the walk stops here.
const MOST: usize = 2 * MOST_FILES;

/// The stamps of everything in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stamps {
    /// All stamps, ordered by path.
    All(Vec<(String, Stamp)>),
    /// Far too many entries.
    TooMany,
    /// The folder could not be read; the system's error message.
    Failed(String),
}

/// The status change time also detects a write that restores the old modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    file: (u64, u64),
    mode: u32,
    len: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Stamps {
    /// Stamps everything in the folder at `root`. Follows no link.
    pub(super) fn of(root: &Path) -> Self {
        let mut all = Vec::new();
        match collect(root, "", &mut all) {
            Ok(()) if all.len() > MOST => Self::TooMany,
            Ok(()) => {
                all.sort_by(|(one, _), (other, _)| one.cmp(other));
                Self::All(all)
            }
            Err(error) => Self::Failed(error.kind().to_string()),
        }
    }

    /// Returns the names directly in the folder.
    pub(super) fn top(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Self::All(all) => all.as_slice(),
            _ => &[],
        };
        all.iter().map(|(path, _)| path.as_str()).filter(|path| !path.contains('/'))
    }
}

impl Stamp {
    fn of(of: &Metadata) -> Self {
        Self {
            file: (of.dev(), of.ino()),
            mode: of.mode(),
            len: of.len(),
            written: (of.mtime(), of.mtime_nsec()),
            changed: (of.ctime(), of.ctime_nsec()),
        }
    }
}

fn collect(here: &Path, inside: &str, all: &mut Vec<(String, Stamp)>) -> io::Result<()> {
    let Some(entries) = if_present(fs::read_dir(here))? else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let Some(metadata) = if_present(entry.metadata())? else { continue };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let path = if inside.is_empty() { name.into_owned() } else { format!("{inside}/{name}") };
        all.push((path.clone(), Stamp::of(&metadata)));
        if all.len() > MOST {
            return Ok(());
        }
        if metadata.is_dir() {
            collect(&entry.path(), &path, all)?;
        }
    }
    Ok(())
}

/// Treats entries that vanished during the walk as missing.
fn if_present<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}
