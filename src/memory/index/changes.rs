//! Change detection on the disk.
//!
//! On Linux the kernel queues changes (inotify), and a query drains the queue: there is no thread
//! and no waiting, and every save before a look is in the queue by then. On other systems, on
//! filesystems that others may write to unseen (network disks, folders shared with a virtual
//! machine), and when the kernel has no room for more watches, there is no queue, and every file is
//! checked. The queue is never the only source: from time to time a search lists all files with
//! their stamps. A listing skips hidden names, those of editors and systems
//! among them, and links too: their targets are found at their own
//! locations.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::time::Duration;

use super::super::{disk, layout};
use crate::time::Timestamp;
use system::Watch;

/// Validity of a listing, even with notifications for every change.
const LIST_EVERY: Duration = Duration::from_secs(60);
/// Number of files per folder for which a listing stays valid that long; more files extend it in
/// proportion.
const FEW_FILES: usize = 10_000;
/// Maximum depth of nested folders.
const DEEPEST: usize = 32;

/// Known changes on the disk that are not in the index yet.
#[derive(Debug)]
pub(super) struct PendingChanges {
    pub(super) watch: Watch,
    /// Paths of the files to be read.
    pub(super) paths: BTreeSet<String>,
    /// Time of the last listing and number of files, by folder.
    pub(super) listed: HashMap<String, (Timestamp, usize)>,
}

impl PendingChanges {
    pub(super) fn nothing() -> Self {
        Self { watch: Watch::new(), paths: BTreeSet::new(), listed: HashMap::new() }
    }

    /// Simulates a system without notifications.
    #[cfg(test)]
    pub(super) fn stop_watching(&mut self) {
        self.watch = Watch::deaf();
    }

    /// Returns true if changed files of that folder may be unknown.
    pub(super) fn listing_is_needed(&self, folder: &str) -> bool {
        !self.watch.is_working() || !self.listed.contains_key(folder)
    }

    /// Returns true if the files of that folder have to be listed again for a search.
    pub(super) fn listing_is_due(&self, folder: &str, now: Timestamp) -> bool {
        let Some((at, files)) = self.listed.get(folder) else { return true };
        let longer = u32::try_from(files / FEW_FILES).unwrap_or(u32::MAX).saturating_add(1);
        !self.watch.is_working() || now < *at || now.since(*at) >= LIST_EVERY.saturating_mul(longer)
    }
}

/// Decides whether the files of a folder are listed at that time.
pub(super) type ListingRule = fn(&PendingChanges, &str, Timestamp) -> bool;

/// Stamps of files by path.
pub(super) type Listing = BTreeMap<String, String>;

/// Lists the files of that folder below `root`, recursively. With an empty folder, the folders of
/// other parties are left out. `on_folder` is called for every folder before it is read. Blocks.
pub(super) fn list_files(root: &Path, folder: &str, on_folder: &mut dyn FnMut(&str)) -> Listing {
    let mut files = Listing::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((inside, depth)) = open.pop() {
        let path = root.join(&inside);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink() && !inside.is_empty()) {
            continue;
        }
        on_folder(&inside);
        // An unreadable folder counts as empty; it is checked again next time.
        let Ok(names) = fs::read_dir(&path) else { continue };
        for entry in names.flatten() {
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            let inside = layout::within(&inside, &name);
            let is_of_others = folder.is_empty() && layout::is_of_others(&inside);
            let is_skipped = is_of_others || layout::is_hidden(&name);
            let Some(found) = entry.metadata().ok().filter(|_| !is_skipped) else { continue };
            if found.is_file() {
                files.insert(inside, disk::stamp(&found));
            } else if found.is_dir() && depth < DEEPEST {
                open.push((inside, depth + 1));
            }
        }
    }
    files
}

/// Lists the shared files at the root. Blocks.
pub(super) fn list_shared_files(root: &Path) -> Listing {
    let found = layout::SHARED.into_iter().filter_map(|name| {
        let found = fs::symlink_metadata(root.join(name)).ok().filter(fs::Metadata::is_file)?;
        Some((name.to_owned(), disk::stamp(&found)))
    });
    found.collect()
}

/// Changes that the kernel has reported.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Paths of changed files.
    pub(super) paths: Vec<String>,
    /// True if unnamed files may have changed as well.
    pub(super) all: bool,
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::HashMap;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

    use super::super::super::layout;
    use super::Changes;

    const WATCHED: WatchFlags = WatchFlags::CREATE
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MODIFY)
        .union(WatchFlags::CLOSE_WRITE)
        .union(WatchFlags::ATTRIB)
        .union(WatchFlags::MOVED_FROM)
        .union(WatchFlags::MOVED_TO)
        .union(WatchFlags::DELETE_SELF)
        .union(WatchFlags::MOVE_SELF)
        .union(WatchFlags::ONLYDIR)
        .union(WatchFlags::DONT_FOLLOW);

    /// Types of filesystems to which only this kernel writes, as `linux/magic.h` numbers them: ext4,
    /// XFS, Btrfs, F2FS, bcachefs, ZFS, JFS, ReiserFS, FAT, exFAT, overlayfs, tmpfs and ramfs.
    const LOCAL: [i128; 13] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0xf2f5_2010,
        0xca45_1a4e,
        0x2fc1_2fc1,
        0x3153_464a,
        0x5265_4973,
        0x4d44,
        0x2011_bab0,
        0x794c_7630,
        0x0102_1994,
        0x8584_58f6,
    ];

    /// Events that concern a whole folder, or are not known to concern a single file.
    const BEYOND_ONE_FILE: ReadFlags = ReadFlags::ISDIR
        .union(ReadFlags::QUEUE_OVERFLOW)
        .union(ReadFlags::UNMOUNT)
        .union(ReadFlags::DELETE_SELF)
        .union(ReadFlags::MOVE_SELF);

    /// The kernel's event queue.
    #[derive(Debug)]
    pub(in super::super) struct Watch {
        list: Option<OwnedFd>,
        folders: HashMap<i32, String>,
    }

    impl Watch {
        pub(in super::super) fn new() -> Self {
            let list = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok();
            Self { list, folders: HashMap::new() }
        }

        /// Creates a watch without events.
        #[cfg(test)]
        pub(in super::super) fn deaf() -> Self {
            Self { list: None, folders: HashMap::new() }
        }

        /// Returns true if all events in the added folders are queued.
        pub(in super::super) fn is_working(&self) -> bool {
            self.list.is_some()
        }

        /// Watches a folder, whose events get the path prefix `known`.
        pub(in super::super) fn add(&mut self, folder: &Path, known: &str) {
            let Some(list) = &self.list else { return };
            if !is_local(folder) {
                tracing::info!("Others may write to the workspace unseen, so every look is at every file");
                self.list = None;
                return;
            }
            match inotify::add_watch(list, folder, WATCHED) {
                Ok(number) => {
                    self.folders.insert(number, known.to_owned());
                }
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {}
                Err(error) => {
                    tracing::warn!("The workspace cannot be watched, so every look is at every file: {error}");
                    self.list = None;
                }
            }
        }

        /// Drains the queue.
        pub(in super::super) fn changes(&mut self) -> Changes {
            let mut changes = Changes::default();
            let Some(list) = &self.list else { return Changes { all: true, ..changes } };
            let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
            let mut reader = Reader::new(list, &mut buffer);
            // The loop ends with an error when the queue is empty.
            while let Ok(event) = reader.next() {
                if event.events().intersects(BEYOND_ONE_FILE) {
                    changes.all = true;
                } else if let (Some(folder), Some(name)) = (self.folders.get(&event.wd()), event.file_name()) {
                    let name = name.to_string_lossy();
                    let path =
                        if folder.ends_with('/') { format!("{folder}{name}") } else { layout::within(folder, &name) };
                    if !layout::is_hidden(&name) && changes.paths.last() != Some(&path) {
                        changes.paths.push(path);
                    }
                }
            }
            changes
        }
    }

    /// Returns true if the kernel sees every write to the folder, or if there is none.
    pub(super) fn is_local(folder: &Path) -> bool {
        let kind = rustix::fs::statfs(folder).map(|found| i128::from(found.f_type) & 0xffff_ffff);
        kind.is_ok_and(|kind| LOCAL.contains(&kind)) || kind == Err(rustix::io::Errno::NOENT)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;

    use super::Changes;

    /// No event queue.
    #[derive(Debug)]
    pub(in super::super) struct Watch;

    impl Watch {
        pub(in super::super) fn new() -> Self {
            Self
        }

        #[cfg(test)]
        pub(in super::super) fn deaf() -> Self {
            Self
        }

        pub(in super::super) fn is_working(&self) -> bool {
            false
        }

        pub(in super::super) fn add(&mut self, _: &Path, _: &str) {}

        pub(in super::super) fn changes(&mut self) -> Changes {
            Changes { all: true, ..Changes::default() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_names_links_and_the_folders_of_others_are_left_out() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("workspace");
        for (path, words) in [
            ("USER.md", "a"),
            ("memory/deep/er/note.md", "b"),
            ("people/2-ben/USER.md", "c"),
            (".git/config", "d"),
            ("memory/.note.md.new", "e"),
        ] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), words).unwrap();
        }
        fs::write(home.path().join("secret.md"), "f").unwrap();
        std::os::unix::fs::symlink(home.path().join("secret.md"), root.join("link.md")).unwrap();
        std::os::unix::fs::symlink(home.path(), root.join("memory/out")).unwrap();
        let list = |folder: &str| list_files(&root, folder, &mut |_| {}).into_keys().collect::<Vec<String>>();
        assert_eq!(list(""), ["USER.md", "memory/deep/er/note.md"]);
        assert_eq!(list("people/2-ben"), ["people/2-ben/USER.md"]);
        assert_eq!(list("people/nobody"), Vec::<String>::new());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn file_changes_are_listed_at_once() {
        let home = tempfile::tempdir().unwrap();
        let mut watch = Watch::new();
        watch.add(home.path(), "memory");
        assert!(watch.is_working());
        assert_eq!(watch.changes(), Changes::default());
        fs::write(home.path().join("tea.md"), "green").unwrap();
        fs::write(home.path().join(".tea.md.new"), "green").unwrap();
        assert_eq!(watch.changes(), Changes { paths: vec!["memory/tea.md".to_owned()], all: false });
        fs::rename(home.path().join("tea.md"), home.path().join("coffee.md")).unwrap();
        assert_eq!(watch.changes().paths, ["memory/tea.md", "memory/coffee.md"]);
        fs::remove_file(home.path().join("coffee.md")).unwrap();
        assert_eq!(watch.changes().paths, ["memory/coffee.md"]);
        fs::create_dir(home.path().join("deep")).unwrap();
        assert!(watch.changes().all);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_filesystem_that_others_write_to_is_not_relied_on() {
        let home = tempfile::tempdir().unwrap();
        let mut watch = Watch::new();
        watch.add(home.path(), "memory");
        assert!(watch.is_working(), "a disk of this computer");
        // Any filesystem that is not in the list stands for a network disk.
        watch.add(Path::new("/proc"), "");
        assert!(!watch.is_working() && watch.changes().all);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_is_not_there_is_no_trouble() {
        let mut watch = Watch::new();
        watch.add(std::path::Path::new("/nowhere/at/all"), "");
        assert!(watch.is_working());
    }
}
