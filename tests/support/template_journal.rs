//! New journals: copies of one that each test process migrates once.

use std::path::Path;
use std::sync::LazyLock;

use compline::store::Journal;

/// A new journal, closed, as one file. It depends on nothing but the program: the times, the people
/// and the number of a home come with its first start.
static TEMPLATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("compline.db");
    let journal = Journal::open(&path, None).unwrap();
    futures::executor::block_on(journal.close());
    std::fs::read(&path).unwrap()
});

/// Puts a new journal into a home.
pub fn place_in(home: &Path) {
    std::fs::write(home.join("compline.db"), &*TEMPLATE).unwrap();
}
