//! Cache of prompt texts. An unchanged file costs one metadata check; a changed one is read again.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::disk::{self, Disk};
use super::layout;
use super::page::{DefaultFile, FileVersion};

/// Size limit in bytes. A larger file is not read: no person keeps such a text by hand.
const MAX_FILE: u64 = 4 * 1024 * 1024;

/// Maximum number of profiles.
const MOST_PROFILES: usize = 20;

/// Prompt texts, one of each kind for each folder. So it grows with the number of people, not of
/// days.
#[derive(Debug)]
pub(super) struct PageCache {
    disk: Disk,
    /// Experience of profiles, next to the workspace.
    experience: Disk,
    pages: Mutex<HashMap<PageKey, CachedPage>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum PageKey {
    /// A file of that kind in that folder.
    Own(String, DefaultFile),
    /// Any other file, by path.
    At(String),
}

/// Result of a lookup.
#[derive(Debug, Clone)]
pub(super) enum PageLookup {
    /// No such file.
    Missing,
    /// The file cannot be loaded, for that reason.
    Unreadable(String),
    /// The prompt text.
    Page(Arc<FileVersion>),
}

#[derive(Debug)]
struct CachedPage {
    requested_path: String,
    stamp: Stamp,
    page: Arc<FileVersion>,
}

/// Metadata that changes with the file. The time of the last status change also reveals a write
/// that resets the modification time.
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

impl PageCache {
    pub(super) fn new(disk: Disk, experience: Disk) -> Self {
        Self { disk, experience, pages: Mutex::default() }
    }

    /// Returns the file of that kind for that folder. Blocks.
    pub(super) fn get(&self, folder: &str, kind: DefaultFile, day: &str) -> PageLookup {
        self.look_up(PageKey::Own(folder.to_owned(), kind), &kind.path(folder, day), &kind.name(day))
    }

    /// Returns the file at that path; `name` is its name as its owner knows it. Blocks.
    pub(super) fn get_path(&self, requested_path: &str, name: &str) -> PageLookup {
        self.look_up(PageKey::At(requested_path.to_owned()), requested_path, name)
    }

    /// Returns the profile files with experience about the person of that folder, sorted. Blocks.
    pub(super) fn profiles(&self, folder: &str) -> Vec<String> {
        let found = fs::read_dir(self.experience.unchecked(folder)).into_iter().flatten();
        let names = found.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut profiles: Vec<String> = names.filter(|file| file.ends_with(".md") && !file.starts_with('.')).collect();
        profiles.sort();
        profiles.truncate(MOST_PROFILES);
        profiles
    }

    fn look_up(&self, key: PageKey, requested_path: &str, name: &str) -> PageLookup {
        let (disk, disk_path) = self.disk_of(requested_path);
        let stamp = match fs::metadata(disk.unchecked(disk_path)) {
            Ok(metadata) => Stamp::of(&metadata),
            Err(error) if error.kind() == ErrorKind::NotFound => return PageLookup::Missing,
            Err(error) => return PageLookup::Unreadable(format!("{name} cannot be read: {error}")),
        };
        let is_current = |cached: &&CachedPage| cached.requested_path == requested_path && cached.stamp == stamp;
        if let Some(page) = self.lock().get(&key).filter(is_current).map(|cached| Arc::clone(&cached.page)) {
            return PageLookup::Page(page);
        }
        match self.read(requested_path, name) {
            Ok((stamp, page)) => {
                let page = Arc::new(page);
                let cached = CachedPage { requested_path: requested_path.to_owned(), stamp, page: Arc::clone(&page) };
                self.lock().insert(key, cached);
                PageLookup::Page(page)
            }
            Err(error) => PageLookup::Unreadable(format!("{name} is left out: {error:#}")),
        }
    }

    fn read(&self, requested_path: &str, name: &str) -> anyhow::Result<(Stamp, FileVersion)> {
        let (disk, disk_path) = self.disk_of(requested_path);
        let found = disk.find(disk_path)?;
        let file = disk::open(&found)?;
        let stamp = Stamp::of(&file.metadata()?);
        let bytes = disk::read_up_to(file, MAX_FILE)?;
        Ok((stamp, FileVersion::of(layout::with_base_of(requested_path, &found.real_path()), name, &bytes)))
    }

    fn disk_of<'a>(&self, requested_path: &'a str) -> (&Disk, &'a str) {
        match requested_path.strip_prefix(layout::EXPERIENCE) {
            Some(path) => (&self.experience, path),
            None => (&self.disk, requested_path),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PageKey, CachedPage>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
