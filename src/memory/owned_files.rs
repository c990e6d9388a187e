//! All files of one party, for operations on all of them: deletion, hand-over, health checks.
//!
//! Links are skipped, wherever they lead, and so are hidden names. The folder of the root's owner
//! is the root; the folders of other parties in it do not count. Deletions here leave no version,
//! because the content is to be forgotten.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::path_walk::PathType;
use super::workspace::WorkspaceFolders;
use super::workspace::blocking;
use super::{disk, label, layout};
use crate::people::Party;
use crate::store::Db;
use crate::text::charset;
use crate::trust::Scope;

/// Maximum depth of nested folders.
const DEEPEST: usize = 32;
/// Maximum number of files of one party; no person keeps more by hand.
const MOST: usize = 200_000;

/// A file of a party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPath {
    /// Path as its owner sees it.
    pub path: String,
    /// Path relative to the workspace.
    pub location: String,
    /// Size in bytes.
    pub size: u64,
}

impl WorkspaceFolders<'_> {
    /// Returns the files of a party by path, those next to the workspace last. Leaves out files
    /// written for another party.
    pub async fn files_of(&self, who: &Party) -> anyhow::Result<Vec<OwnPath>> {
        let folder = self.folder_of(who).await?;
        self.files_unless(&folder, who.scope(), label::is_foreign).await
    }

    /// Returns the files in that folder that belong to a person, with or without access.
    pub async fn files_in(&self, folder: &str, reader: Scope) -> anyhow::Result<Vec<OwnPath>> {
        self.files_unless(folder, reader, label::is_written_for_another).await
    }

    async fn files_unless(
        &self,
        folder: &str,
        reader: Scope,
        is_excluded: fn(Db<'_>, Scope, &str, &str) -> anyhow::Result<bool>,
    ) -> anyhow::Result<Vec<OwnPath>> {
        let folder = folder.to_owned();
        let files = self.on_disk(move |workspace| workspace.folders().all_in(&folder)).await?;
        let query = move |db: Db<'_>| {
            let mut own = Vec::new();
            for file in files {
                if !is_excluded(db, reader, &file.location, &file.location)? {
                    own.push(file);
                }
            }
            Ok(own)
        };
        self.0.journal.read_much(query).await
    }

    /// Returns the text of a party's file; `None` if it is missing, too large or not text.
    pub async fn words_of(&self, reader: Scope, file: &OwnPath) -> anyhow::Result<Option<String>> {
        let Some(opened) = self.open(reader, file).await? else { return Ok(None) };
        let bytes = self.on_disk(move |_| Ok(disk::read_up_to(opened, layout::MAX_TEXT_FILE).ok())).await?;
        Ok(bytes.and_then(charset::decode))
    }

    /// Opens a party's file; `None` if it is missing or belongs to another party.
    pub async fn open(&self, reader: Scope, file: &OwnPath) -> anyhow::Result<Option<File>> {
        let location = file.location.clone();
        let open = self.on_disk(move |workspace| {
            let (disk, disk_path) = workspace.disk_of(&location);
            Ok(disk.find(disk_path).and_then(|found| disk::open(&found)).ok())
        });
        let (opened, location) = (open.await?, file.location.clone());
        // Checked after the opening: folders may have been moved since the file was found.
        let foreign = self.0.journal.read(move |db| label::is_foreign(db, reader, &location, &location)).await?;
        Ok(opened.filter(|_| !foreign))
    }

    /// Deletes all files of a person in their folder. In the root, shared files stay; files written
    /// for another party stay anywhere.
    ///
    /// # Errors
    /// If a file cannot be deleted.
    pub async fn drop_all_in(&self, folder: &str, reader: Scope) -> anyhow::Result<usize> {
        let writing = Arc::clone(&self.0.writing).lock_owned().await;
        let files = self.files_in(folder, reader).await?;
        let folder = folder.to_owned();
        self.on_disk(move |workspace| {
            let _writing = writing;
            workspace.folders().drop_files(&folder, files)
        })
        .await
    }

    /// Deletes one file with any content, and the leftovers of an interrupted change to it. Skips a
    /// path that leads elsewhere. Returns true if the file existed.
    ///
    /// # Errors
    /// If the file cannot be deleted.
    pub async fn drop_one(&self, location: &str) -> anyhow::Result<bool> {
        let location = location.to_owned();
        let writing = Arc::clone(&self.0.writing).lock_owned().await;
        self.on_disk(move |workspace| {
            let _writing = writing;
            match workspace.folders().drop_at(&location) {
                Err(error) if disk::is_missing(&error) => Ok(false),
                dropped => dropped,
            }
        })
        .await
    }

    /// Reads each of these files and returns everything that `check` finds. A missing file is
    /// skipped; one that cannot be read, or is larger than `max` bytes, is passed as an error.
    pub async fn scan<T: Send + 'static>(
        &self,
        files: Vec<OwnPath>,
        max: u64,
        check: impl Fn(&OwnPath, anyhow::Result<Vec<u8>>) -> Option<T> + Send + 'static,
    ) -> anyhow::Result<Vec<T>> {
        let workspace = self.workspace.clone();
        let scan = move |file: &OwnPath| {
            let (disk, disk_path) = workspace.disk_of(&file.location);
            let bytes = disk.read(disk_path, max);
            if bytes.as_ref().is_err_and(disk::is_missing) { None } else { check(file, bytes) }
        };
        blocking(move || Ok(files.iter().filter_map(scan).collect())).await
    }

    /// Returns the files in that folder. Blocks.
    pub(super) fn all_in(&self, folder: &str) -> anyhow::Result<Vec<OwnPath>> {
        let mut found = Vec::new();
        for (disk, prefix) in [(&self.0.disk, ""), (&self.0.experience, layout::EXPERIENCE)] {
            let base = disk.unchecked(folder);
            // The root may be a link to where the memory is kept; no folder below it may be one.
            if base.symlink_metadata().is_ok_and(|found| found.is_dir()) || (folder.is_empty() && base.is_dir()) {
                add_files((prefix, folder), &base, "", 0, &mut found)?;
            }
        }
        Ok(found)
    }

    fn drop_files(&self, folder: &str, files: Vec<OwnPath>) -> anyhow::Result<usize> {
        let files: Vec<OwnPath> = files.into_iter().filter(|file| !layout::is_owner_only(&file.path)).collect();
        for file in &files {
            self.drop_at(&file.location)?;
        }
        let keeps_others = self.all_in(folder)?.iter().any(|file| !layout::is_owner_only(&file.path));
        for disk in [&self.0.disk, &self.0.experience] {
            let base = disk.unchecked(folder);
            match folder.is_empty() || keeps_others {
                true => drop_empty(&base),
                // Hidden files are deleted as well. No link is followed.
                false if base.symlink_metadata().is_ok_and(|found| found.is_dir()) => fs::remove_dir_all(&base)?,
                false => {}
            }
        }
        Ok(files.len())
    }

    /// Deletes the file at that location. Returns true if it existed. Blocks.
    pub(super) fn drop_at(&self, location: &str) -> anyhow::Result<bool> {
        let (disk, disk_path) = self.disk_of(location);
        let reached = disk.seek(disk_path)?;
        let was_there = reached.kind == PathType::File;
        for name in [reached.name.clone(), format!(".{}.new", reached.name), format!(".{}.part", reached.name)] {
            match rustix::fs::unlinkat(&reached.folder.fd, &name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
        rustix::fs::fsync(&reached.folder.fd).map_err(io::Error::from)?;
        self.touched(location);
        Ok(was_there)
    }
}

/// Adds the files below `path`, whose location within the base folder is `own`.
fn add_files(
    (prefix, folder): (&str, &str),
    path: &Path,
    own: &str,
    depth: usize,
    found: &mut Vec<OwnPath>,
) -> anyhow::Result<()> {
    anyhow::ensure!(depth < DEEPEST && found.len() < MOST, "There are too many files in a folder");
    let mut entries = match fs::read_dir(path) {
        // The folder was deleted since it was listed.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?.collect::<Result<Vec<_>, _>>()?,
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let own = layout::within(own, name);
        if folder.is_empty() && layout::is_of_others(&own) {
            continue;
        }
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            add_files((prefix, folder), &entry.path(), &own, depth.saturating_add(1), found)?;
        } else if kind.is_file() {
            let size = entry.metadata().map_or(0, |metadata| metadata.len());
            let location = format!("{prefix}{}", layout::within(folder, &own));
            found.push(OwnPath { path: format!("{prefix}{own}"), location, size });
        }
    }
    Ok(())
}

/// Removes empty folders, deepest first.
fn drop_empty(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            drop_empty(&entry.path());
            let _ = fs::remove_dir(entry.path());
        }
    }
}
