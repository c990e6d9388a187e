//! Folders of other programs, whose entries may be links or worse.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::{ArchiveItem, Each, ImportError, SkipReason};

/// Maximum number of entries in one folder.
const MAX_ENTRIES: usize = 20_000;

/// Kind of an entry that may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Folder,
}

/// Files and folders in a folder, sorted. Links, other special files, hidden names and names that
/// are not UTF-8 are skipped.
pub(super) fn entries(folder: &Path, each: Each<'_>) -> Result<Vec<(String, EntryKind)>, ImportError> {
    let (mut found, mut count) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder).map_err(ImportError::Unreadable)? {
        count += 1;
        if count > MAX_ENTRIES {
            return Err(ImportError::TooMany);
        }
        let entry = entry.map_err(ImportError::Unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = match entry.file_type() {
            _ if entry.file_name().to_str().is_none() => Err(SkipReason::OddName),
            _ if name.starts_with('.') => Err(SkipReason::Hidden),
            Ok(kind) if kind.is_file() => Ok(EntryKind::File),
            Ok(kind) if kind.is_dir() => Ok(EntryKind::Folder),
            Ok(kind) if kind.is_symlink() => Err(SkipReason::Link),
            Ok(_) => Err(SkipReason::OtherFile),
            Err(_) => Err(SkipReason::Unreadable),
        };
        match kind {
            Ok(kind) => found.push((name, kind)),
            Err(why) => skip(why, name, each)?,
        }
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(found)
}

/// Opens a plain file, also if it became a link or a pipe since it was listed.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Tells that a file or folder is skipped.
pub(super) fn skip(why: SkipReason, name: String, each: Each<'_>) -> Result<(), ImportError> {
    pass(each(ArchiveItem::SkippedFile(why, name)))
}

/// Goes on unless the receiver broke off.
pub(super) fn pass(flow: ControlFlow<()>) -> Result<(), ImportError> {
    if flow.is_break() { Err(ImportError::Stopped) } else { Ok(()) }
}
