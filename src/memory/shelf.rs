//! The pages read so far. An unchanged file costs one look at its metadata; a changed one is read again.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, PoisonError};

use super::disk::{self, Disk};
use super::first::Kept;
use super::page::Page;

/// A larger file is not read at all: it is no text that a person keeps by hand.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// The pages that were read, one of each kind for each folder; so it grows with the people and not with the days.
#[derive(Debug)]
pub(super) struct Shelf {
    disk: Disk,
    pages: Mutex<HashMap<(String, Kept), Shelved>>,
}

/// What a look at a file gave.
#[derive(Debug, Clone)]
pub(super) enum Look {
    /// There is no such file.
    Missing,
    /// It cannot be loaded, and why.
    Unreadable(String),
    /// Its page.
    Page(Arc<Page>),
}

#[derive(Debug)]
struct Shelved {
    asked: String,
    stamp: Stamp,
    page: Arc<Page>,
}

/// What changes when a file changes. The time of the last status change also sees a write that sets the old time back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    len: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(of: &Metadata) -> Self {
        Self {
            file: (of.dev(), of.ino()),
            len: of.len(),
            written: (of.mtime(), of.mtime_nsec()),
            changed: (of.ctime(), of.ctime_nsec()),
        }
    }
}

impl Shelf {
    pub(super) fn new(disk: Disk) -> Self {
        Self { disk, pages: Mutex::default() }
    }

    /// The page of that kind for that folder. Blocks.
    pub(super) fn look(&self, folder: &str, kind: Kept, day: &str) -> Look {
        let asked = kind.path(folder, day);
        let stamp = match fs::metadata(self.disk.unchecked(&asked)) {
            Ok(metadata) => Stamp::of(&metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => return Look::Missing,
            Err(error) => return Look::Unreadable(format!("{} cannot be read: {error}", kind.name(day))),
        };
        let key = (folder.to_owned(), kind);
        let shelved = self
            .lock()
            .get(&key)
            .filter(|old| old.asked == asked && old.stamp == stamp)
            .map(|old| Arc::clone(&old.page));
        if let Some(page) = shelved {
            return Look::Page(page);
        }
        match self.read(&asked, &kind.name(day)) {
            Ok((stamp, page)) => {
                let page = Arc::new(page);
                self.lock().insert(key, Shelved { asked, stamp, page: Arc::clone(&page) });
                Look::Page(page)
            }
            Err(error) => Look::Unreadable(format!("{} is left out: {error:#}", kind.name(day))),
        }
    }

    fn read(&self, asked: &str, name: &str) -> anyhow::Result<(Stamp, Page)> {
        let found = self.disk.find(asked)?;
        let file = disk::open(&found)?;
        let stamp = Stamp::of(&file.metadata()?);
        let bytes = disk::read_up_to(file, MAX_FILE)?;
        Ok((stamp, Page::of(found.inside, name, &bytes)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(String, Kept), Shelved>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
