//! Every file of one party, for what concerns all of them: forgetting, handing over, the operator's
//! look at their health.
//!
//! Links are passed over, wherever they lead, and so are hidden names. The first owner's folder is
//! the root of the tree; the folders of others in it are not theirs. What is deleted here goes
//! without a version, because it is forgotten.

use crate::memory::workspace::WorkspaceFolders;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use rustix::fs::AtFlags;
use rustix::io::Errno;

use super::path_walk::Lies;
use super::workspace::blocking;
use super::{label, layout};
use crate::people::Party;
use crate::store::Db;
use crate::trust::Scope;

/// Folders within folders, at most.
const DEEPEST: usize = 32;
/// So many files of one party are looked at; more than that nobody keeps by hand.
const MOST: usize = 200_000;

/// A file of a party.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPath {
    /// As its owner sees it.
    pub path: String,
    /// Where it lies, relative to the workspace.
    pub spot: String,
    /// In bytes.
    pub size: u64,
}

impl WorkspaceFolders<'_> {
    /// The files of a party by path, those beside the workspace last. What was written for somebody
    /// else is none of theirs.
    ///
    /// # Errors
    /// If the journal or a folder cannot be read.
    pub async fn files_of(&self, who: &Party) -> anyhow::Result<Vec<OwnPath>> {
        let (tree, folder, scope) = (self.tree.clone(), self.folder_of(who).await?, who.scope());
        let files = blocking(move || tree.folders().belongings(&folder)).await?;
        let look = move |db: Db<'_>| {
            let own = files
                .into_iter()
                .map(|file| Ok((!label::is_foreign(db, scope, &file.spot, &file.spot)?).then_some(file)));
            own.filter_map(Result::transpose).collect()
        };
        self.0.journal.read_much(look).await
    }

    /// The files in that folder which are a person's, whether they are let in or not.
    pub(super) async fn files_in(&self, folder: &str, whose: Scope) -> anyhow::Result<Vec<OwnPath>> {
        let (tree, folder) = (self.tree.clone(), folder.to_owned());
        let files = blocking(move || tree.folders().belongings(&folder)).await?;
        let look = move |db: Db<'_>| {
            let own = files
                .into_iter()
                .map(|file| Ok((!label::is_written_for_another(db, whose, &file.spot, &file.spot)?).then_some(file)));
            own.filter_map(Result::transpose).collect()
        };
        self.0.journal.read_much(look).await
    }

    /// The words of a file of a party; `None` if it is not there, or is no text of a usual size.
    ///
    /// # Errors
    /// If the work was abandoned.
    pub async fn words_of(&self, whose: Scope, file: &OwnPath) -> anyhow::Result<Option<String>> {
        let bytes = self.bytes_of(whose, file, layout::MAX_TEXT_FILE).await?;
        Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
    }

    /// The bytes of a file of a party; `None` if it is not there any more or not theirs, or larger
    /// than that.
    pub async fn bytes_of(&self, whose: Scope, file: &OwnPath, most: u64) -> anyhow::Result<Option<Vec<u8>>> {
        let (tree, spot) = (self.tree.clone(), file.spot.clone());
        let read = blocking(move || {
            let (disk, inside) = tree.disk_of(&spot);
            Ok(disk.read(inside, most).ok())
        });
        let (bytes, spot) = (read.await?, file.spot.clone());
        // Asked after the reading: folders may have been moved since the file was found.
        let foreign = self.0.journal.read(move |db| label::is_foreign(db, whose, &spot, &spot)).await?;
        Ok(bytes.filter(|_| !foreign))
    }

    /// Takes everything of a person in their folder off the disk. Of the root only what is theirs
    /// goes, not what is for everybody; what was written for somebody else stays.
    ///
    /// # Errors
    /// If something cannot be deleted.
    pub async fn drop_all_in(&self, folder: &str, whose: Scope) -> anyhow::Result<usize> {
        let (tree, folder) = (self.tree.clone(), folder.to_owned());
        let alone = Arc::clone(&self.0.writing).lock_owned().await;
        let files = self.files_in(&folder, whose).await?;
        blocking(move || {
            let _alone = alone;
            tree.folders().drop_files(&folder, files)
        })
        .await
    }

    /// Takes one file off the disk, whatever it holds, with what a change of it left behind. True
    /// if it was there.
    ///
    /// # Errors
    /// If it cannot be deleted.
    pub async fn drop_one(&self, file: &OwnPath) -> anyhow::Result<bool> {
        let (tree, spot) = (self.tree.clone(), file.spot.clone());
        let alone = Arc::clone(&self.0.writing).lock_owned().await;
        blocking(move || {
            let _alone = alone;
            tree.folders().drop_at(&spot)
        })
        .await
    }

    /// The files in that folder. Blocks.
    pub(super) fn belongings(&self, folder: &str) -> anyhow::Result<Vec<OwnPath>> {
        let mut found = Vec::new();
        for (disk, prefix) in [(&self.0.disk, ""), (&self.0.experience, layout::EXPERIENCE)] {
            let base = disk.unchecked(folder);
            // The root may be a link to where the memory is kept; nothing below it may.
            if base.symlink_metadata().is_ok_and(|found| found.is_dir()) || (folder.is_empty() && base.is_dir()) {
                OwnerSearch { prefix, folder, found: &mut found }.enter(&base, "", 0)?;
            }
        }
        Ok(found)
    }

    fn drop_files(&self, folder: &str, files: Vec<OwnPath>) -> anyhow::Result<usize> {
        let files: Vec<OwnPath> = files.into_iter().filter(|file| !layout::is_owners_hand(&file.path)).collect();
        for file in &files {
            self.drop_at(&file.spot)?;
        }
        let keeps_others = self.belongings(folder)?.iter().any(|file| !layout::is_owners_hand(&file.path));
        for disk in [&self.0.disk, &self.0.experience] {
            let base = disk.unchecked(folder);
            match folder.is_empty() || keeps_others {
                true => drop_empty(&base),
                // What is hidden goes as well. No link is followed.
                false if base.symlink_metadata().is_ok_and(|found| found.is_dir()) => fs::remove_dir_all(&base)?,
                false => {}
            }
        }
        Ok(files.len())
    }

    /// Blocks.
    pub(super) fn drop_at(&self, spot: &str) -> anyhow::Result<bool> {
        let (disk, inside) = self.disk_of(spot);
        let reached = disk.seek(inside)?;
        let was_there = reached.lies == Lies::File;
        for name in [reached.name.clone(), format!(".{}.new", reached.name), format!(".{}.part", reached.name)] {
            match rustix::fs::unlinkat(&reached.folder.fd, &name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
        }
        rustix::fs::fsync(&reached.folder.fd).map_err(io::Error::from)?;
        self.touched(spot);
        Ok(was_there)
    }
}

struct OwnerSearch<'a> {
    prefix: &'a str,
    folder: &'a str,
    found: &'a mut Vec<OwnPath>,
}

impl OwnerSearch<'_> {
    fn enter(&mut self, path: &Path, own: &str, depth: usize) -> anyhow::Result<()> {
        anyhow::ensure!(depth < DEEPEST && self.found.len() < MOST, "There are too many files in a folder");
        let mut entries = match fs::read_dir(path) {
            // It was there a moment ago: whoever took it away meant to.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            entries => entries?.collect::<Result<Vec<_>, _>>()?,
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let inside = layout::within(own, name);
            if self.folder.is_empty() && layout::is_of_others(&inside) {
                continue;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                self.enter(&entry.path(), &inside, depth.saturating_add(1))?;
            } else if kind.is_file() {
                let size = entry.metadata().map_or(0, |found| found.len());
                let spot = format!("{}{}", self.prefix, layout::within(self.folder, &inside));
                self.found.push(OwnPath { path: format!("{}{inside}", self.prefix), spot, size });
            }
        }
        Ok(())
    }
}

/// Removes the folders within one that hold nothing, deepest first. What is not empty stays.
fn drop_empty(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            drop_empty(&entry.path());
            let _ = fs::remove_dir(entry.path());
        }
    }
}
