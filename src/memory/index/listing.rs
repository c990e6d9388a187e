//! Recursive listing of a folder: every file with its stamp, and every subfolder. Skips hidden
//! names, and links too: their targets are found at their own locations. All of this blocks.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::super::layout;

/// Maximum depth of nested folders.
const DEEPEST: usize = 32;

/// A file's path and change stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) path: String,
    pub(super) stamp: String,
}

/// Files below a party's folder.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: Vec<Listed>,
}

impl Listing {
    /// Adds the files of that folder below `root`. With an empty folder, the folders of other
    /// parties are left out. `seen` is called for every folder before it is read.
    pub(super) fn add(&mut self, root: &Path, folder: &str, seen: &mut dyn FnMut(&str)) {
        let mut open = vec![(folder.to_owned(), 0)];
        while let Some((inside, depth)) = open.pop() {
            let path = root.join(&inside);
            if fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink() && !inside.is_empty()) {
                continue;
            }
            seen(&inside);
            // An unreadable folder counts as empty; it is checked again next time.
            let Ok(names) = fs::read_dir(&path) else { continue };
            for entry in names.flatten() {
                let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
                let inside = layout::within(&inside, &name);
                let theirs = folder.is_empty() && layout::is_of_others(&inside);
                let Some(found) = entry.metadata().ok().filter(|_| !theirs && !name.starts_with('.')) else { continue };
                if found.is_file() {
                    self.files.push(Listed { path: inside, stamp: stamp(&found) });
                } else if found.is_dir() && depth < DEEPEST {
                    open.push((inside, depth + 1));
                }
            }
        }
    }
}

impl Listing {
    /// Adds those of the named files that exist.
    pub(super) fn add_files(&mut self, root: &Path, names: &[&str]) {
        for name in names {
            if let Some(found) = fs::symlink_metadata(root.join(name)).ok().filter(Metadata::is_file) {
                self.files.push(Listed { path: (*name).to_owned(), stamp: stamp(&found) });
            }
        }
    }
}

/// Returns a text that changes with the file. The time of the last status change also reveals a
/// write that resets the modification time.
pub(super) fn stamp(of: &Metadata) -> String {
    let (written, changed) = ((of.mtime(), of.mtime_nsec()), (of.ctime(), of.ctime_nsec()));
    format!("{}:{}:{}:{}.{}:{}.{}", of.dev(), of.ino(), of.len(), written.0, written.1, changed.0, changed.1)
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
        let list = |folder: &str| {
            let mut listing = Listing::default();
            listing.add(&root, folder, &mut |_| {});
            let mut paths: Vec<String> = listing.files.into_iter().map(|file| file.path).collect();
            paths.sort();
            paths
        };
        assert_eq!(list(""), ["USER.md", "memory/deep/er/note.md"]);
        assert_eq!(list("people/2-ben"), ["people/2-ben/USER.md"]);
        assert_eq!(list("people/nobody"), Vec::<String>::new());
    }

    #[test]
    fn a_stamp_changes_with_the_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.md");
        fs::write(&path, "one").unwrap();
        let first = stamp(&fs::metadata(&path).unwrap());
        assert_eq!(first, stamp(&fs::metadata(&path).unwrap()));
        fs::write(&path, "three").unwrap();
        assert_ne!(first, stamp(&fs::metadata(&path).unwrap()));
    }
}
