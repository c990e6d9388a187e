//! Whether something failed because nothing more can be written: the one failure of a disk that a
//! person can do something about.
//!
//! A disk that is full, a quota or the largest size of a file that is reached, and a log of the
//! journal that cannot grow are all the same to whoever has to make room. The journal counts such
//! failures of its own writing, so that whoever waits for an answer can be told at once.

use std::io::ErrorKind;

use rusqlite::{ErrorCode, ffi};

use super::DiskFull;

/// Whether that is why it failed.
pub fn is_full(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<DiskFull>()
            || cause.downcast_ref::<std::io::Error>().is_some_and(|error| is_file_full(error.kind()))
            || cause.downcast_ref::<rusqlite::Error>().is_some_and(is_journal_full)
    })
}

fn is_file_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// The library calls only the first of these full; the others are writes beyond what a quota or a
/// limit of the size of files allows.
fn is_journal_full(error: &rusqlite::Error) -> bool {
    let Some(error) = error.sqlite_error() else { return false };
    error.code == ErrorCode::DiskFull
        || matches!(error.extended_code, ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE)
}

/// How often the journal could not be written for want of room, and whether that is so since its
/// last write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskSpace {
    /// How often.
    pub failures: u64,
    /// Whether it is so now.
    pub is_none: bool,
}

impl DiskSpace {
    /// Takes note of how a write went; whether that is news.
    pub(super) fn learn<T>(&mut self, result: &anyhow::Result<T>) -> bool {
        let failed = result.as_ref().err().is_some_and(is_full);
        let is_news = failed || (self.is_none && result.is_ok());
        self.failures += u64::from(failed);
        self.is_none = failed || (self.is_none && result.is_err());
        is_news
    }
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::*;

    fn of_the_journal(code: i32) -> anyhow::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into()
    }

    #[test]
    fn what_is_full_is_known_under_every_name() {
        let of_files = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge];
        let of_files = of_files.map(|kind| std::io::Error::from(kind).into());
        let of_the_journal = [ffi::SQLITE_FULL, ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_SHMSIZE].map(of_the_journal);
        for error in of_files.into_iter().chain(of_the_journal).chain([DiskFull.into()]) {
            let deep = Err::<(), _>(error).context("Cannot write").context("Cannot store: a reply").unwrap_err();
            assert!(is_full(&deep), "{deep:#}");
        }
    }

    #[test]
    fn other_trouble_is_not_taken_for_it() {
        let denied = std::io::Error::from(ErrorKind::PermissionDenied).into();
        for error in [of_the_journal(ffi::SQLITE_BUSY), of_the_journal(ffi::SQLITE_IOERR_READ), denied, anyhow!("full")]
        {
            assert!(!is_full(&error), "{error:#}");
        }
    }

    #[test]
    fn each_failure_is_news_and_so_is_the_first_write_that_works_again() {
        let mut room = DiskSpace::default();
        let (works, fails, other) = (Ok(()), Err(of_the_journal(ffi::SQLITE_FULL)), Err(anyhow!("other trouble")));
        let seen = [&works, &fails, &fails, &other, &works, &works].map(|result| (room.learn(result), room.is_none));
        assert_eq!(seen, [(false, false), (true, true), (true, true), (false, true), (true, false), (false, false)]);
        assert_eq!(room.failures, 2);
    }
}
