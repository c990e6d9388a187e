//! Changes on the disk since the last query.
//!
//! On Linux the kernel queues them (inotify), and a query drains the queue: there is no thread and
//! no waiting, and every save before a search is in the queue by then. On other systems, and when
//! the kernel has no room for more watches, there is no queue, and callers check every file. The
//! queue is never the only source: on a network filesystem the kernel does not see writes by
//! others.

/// Known changes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Paths of changed files.
    pub(super) paths: Vec<String>,
    /// True if unnamed files may have changed as well.
    pub(super) all: bool,
}

pub(super) use system::Watch;

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
            match inotify::add_watch(list, folder, WATCHED) {
                Ok(number) => {
                    self.folders.insert(number, known.to_owned());
                }
                Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {}
                Err(error) => {
                    tracing::warn!("The workspace cannot be watched, so every search looks at every file: {error}");
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
                    if !name.starts_with('.') && changes.paths.last() != Some(&path) {
                        changes.paths.push(path);
                    }
                }
            }
            changes
        }
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_happened_is_on_the_list_at_once() {
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

    #[test]
    fn a_folder_that_is_not_there_is_no_trouble() {
        let mut watch = Watch::new();
        watch.add(std::path::Path::new("/nowhere/at/all"), "");
        assert!(watch.is_working());
    }
}
