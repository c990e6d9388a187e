//! Failures of the journal that callers tell apart: reasons why it cannot be opened, and lack of
//! disk space, the one disk failure a user can fix.
//!
//! A full disk, a reached quota or file-size limit, and a journal log that cannot grow all count
//! alike, because the remedy is the same. The journal counts such failures of its own writes, so
//! that waiting callers are informed at once.

use std::io::ErrorKind;
use std::path::PathBuf;

use rusqlite::{ErrorCode, ffi};

/// The disk is full. A separate error because the user can act on it.
#[derive(Debug, thiserror::Error)]
#[error("The disk is full")]
pub struct DiskFull;

/// Returns true if lack of space caused the error.
pub fn is_full(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<DiskFull>()
            || cause.downcast_ref::<std::io::Error>().is_some_and(|error| is_file_full(error.kind()))
            || cause.downcast_ref::<rusqlite::Error>().is_some_and(is_journal_full)
    })
}

/// Returns true if another program held the journal for too long.
pub fn is_locked(error: &anyhow::Error) -> bool {
    let locked = |error: &rusqlite::Error| {
        error
            .sqlite_error()
            .is_some_and(|error| matches!(error.code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    };
    error.chain().filter_map(|cause| cause.downcast_ref()).any(locked)
}

fn is_file_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// SQLite reports only the first code as full; the others are writes beyond a quota or file-size
/// limit.
pub(super) fn is_journal_full(error: &rusqlite::Error) -> bool {
    let Some(error) = error.sqlite_error() else { return false };
    error.code == ErrorCode::DiskFull
        || matches!(error.extended_code, ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE)
}

/// Journal writes that failed for lack of space.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskSpace {
    /// Number of failures.
    pub failures: u64,
    /// True from such a failure until a write succeeds.
    pub is_none: bool,
}

impl DiskSpace {
    /// Records the result of a write. Returns true for such a failure, and for the first success
    /// after one.
    pub(super) fn learn<T>(&mut self, result: &anyhow::Result<T>) -> bool {
        let failed = result.as_ref().err().is_some_and(is_full);
        let is_news = failed || (self.is_none && result.is_ok());
        self.failures += u64::from(failed);
        self.is_none = failed || (self.is_none && result.is_err());
        is_news
    }
}

/// Reason why a journal cannot be opened. Variants differ by remedy.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Written by a newer program.
    #[error(
        "{path} was written by a newer Compline{} (journal version {found}; this is {} and knows {known})",
        program.as_ref().map(|version| format!(", {version}")).unwrap_or_default(),
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// Path.
        path: PathBuf,
        /// Version of the program that used it last, if it was recorded.
        program: Option<String>,
        /// Version of the file.
        found: u32,
        /// Newest version that this program knows.
        known: u32,
    },
    /// Older than the baseline.
    #[error(
        "{path} (journal version {found}) comes from before the first release: start Compline of commit {} with it \
         once, then this one",
        crate::wording::upkeep::LAST_BEFORE_RELEASE
    )]
    TooOld {
        /// Path.
        path: PathBuf,
        /// Version of the file.
        found: u32,
    },
    /// Not an SQLite file, or damaged.
    #[error("{path} is not a journal, or it is damaged")]
    Damaged {
        /// Path.
        path: PathBuf,
    },
    /// Locked by another program.
    #[error("{path} is locked by another program")]
    Locked {
        /// Path.
        path: PathBuf,
    },
    /// Directory or file not writable.
    #[error("{path} cannot be written")]
    ReadOnly {
        /// Path.
        path: PathBuf,
    },
    /// Disk full.
    #[error("The disk that holds {path} is full")]
    Full {
        /// Path.
        path: PathBuf,
    },
    /// Older than the program, and no room for a copy.
    #[error("{path} is older than this program, and there is no room for a copy of it before it is brought up to date")]
    NoRoomToCopy {
        /// Path.
        path: PathBuf,
    },
    /// Older than the program, and cannot be copied.
    #[error(
        "{path} is older than this program, and no copy of it can be made before it is brought up to date: {cause:#}"
    )]
    NotCopied {
        /// Path.
        path: PathBuf,
        /// Cause.
        cause: anyhow::Error,
    },
    /// Any other error.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    fn of_the_journal(code: i32) -> anyhow::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()
    }

    /// Proves: operation/terminal-on-full-disk
    #[test]
    fn every_kind_of_full_disk_error_is_recognised() {
        let of_files = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];
        let of_files = of_files.map(|kind| std::io::Error::from(kind).into());
        let of_the_journal = [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE].map(of_the_journal);
        for error in of_files.into_iter().chain(of_the_journal).chain([DiskFull.into()]) {
            let deep = Err::<(), _>(error).context("Cannot write").context("Cannot store: a reply").unwrap_err();
            assert!(is_full(&deep), "{deep:#}");
        }
    }

    #[test]
    fn a_journal_that_another_program_holds_is_recognised() {
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED] {
            assert!(is_locked(&of_the_journal(code).context("Cannot store: a reply")), "{code}");
        }
        assert!(!is_locked(&of_the_journal(ffi::SQLITE_FULL)) && !is_locked(&anyhow!("locked")));
    }

    /// Proves: operation/terminal-on-full-disk
    #[test]
    fn other_trouble_is_not_taken_for_it() {
        let denied = std::io::Error::from(ErrorKind::PermissionDenied).into();
        for error in [of_the_journal(ffi::SQLITE_BUSY), of_the_journal(ffi::SQLITE_IOERR_READ), denied, anyhow!("full")]
        {
            assert!(!is_full(&error), "{error:#}");
        }
    }

    /// Proves: operation/terminal-on-full-disk
    #[test]
    fn each_failure_is_news_and_so_is_the_first_write_that_works_again() {
        let mut room = DiskSpace::default();
        let (works, fails, other) = (Ok(()), Err(of_the_journal(ffi::SQLITE_FULL)), Err(anyhow!("other trouble")));
        let seen = [&works, &fails, &fails, &other, &works, &works].map(|result| (room.learn(result), room.is_none));
        assert_eq!(seen, [(false, false), (true, true), (true, true), (false, true), (true, false), (false, false)]);
        assert_eq!(room.failures, 2);
    }
}
