//! New journals for unit tests: copies of one that each test process migrates once.

use std::path::Path;
use std::sync::LazyLock;

use super::error::OpenError;
use super::{Failpoint, Journal};

/// A new journal, closed, as one file. It depends on nothing but the program.
static TEMPLATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let journal = Journal::open(&path, None).unwrap();
    futures::executor::block_on(journal.close());
    std::fs::read(&path).unwrap()
});

impl Journal {
    /// Opens a journal like [`Journal::open`], but a missing one is copied instead of migrated.
    pub(crate) fn open_or_copy(path: &Path, failpoint: Option<Failpoint>) -> Result<Self, OpenError> {
        if !path.exists() {
            std::fs::write(path, &*TEMPLATE).unwrap();
        }
        Self::open(path, failpoint)
    }
}
