//! Versions of a file: its history, and restoring an earlier version.
//!
//! Before a version is restored over an unreadable file, that file is renamed to `NAME.unreadable`
//! next to it, and no longer belongs to the memory. It is neither rewritten nor parsed, so any size
//! and any damage is fine. Its label goes along: the new name is recorded with the label before the
//! rename. A crash in between leaves the broken file under either name, and repeating the command
//! restores the version.

use std::path::PathBuf;
use std::sync::Arc;

use super::disk::Disk;
use super::files::AccessError;
use super::passages::Passages;
use super::path_walk::PathType;
use super::workspace::{FileVersions, Workspace, WriteError, WriteRefusal, unless_refused};
use super::write::{ChangeOrigin, LabelRule, NewContent, WriteResult, check_permission};
use super::{disk, label, layout, page};
use crate::id::FileId;
use crate::people::Party;
use crate::store::{Db, FileRow, Tx};
use crate::trust::Label;
use crate::wording::knowledge as says;

/// Number of the newest versions of a file that are listed.
pub const MAX_VERSIONS: u32 = 200;
/// Suffix of a quarantined file, and maximum number of quarantined files of one name.
const UNREADABLE: &str = "unreadable";
const MAX_QUARANTINED: usize = 99;

/// Content of a version (`None` for a deleted file) and its label.
pub type Version = (Option<String>, Label);

impl FileVersions<'_> {
    /// Records an edit that a person made by hand, if there is one.
    pub async fn take_note_of(&self, origin: &ChangeOrigin, path: &str) -> Result<WriteResult, WriteError> {
        let written = self.change(origin, path, |_| Ok(NewContent::Unchanged)).await?;
        self.touched(&written.path);
        Ok(written)
    }

    /// Returns the newest versions of the file at that path of the party's folder, newest first,
    /// and the last trusted one, however old. Empty if the path is not theirs.
    pub async fn history(&self, who: &Party, path: &str) -> anyhow::Result<Vec<FileRow>> {
        let Some(location) = self.location_of(who, path).await? else { return Ok(Vec::new()) };
        let scope = who.scope();
        let query = move |db: Db<'_>| {
            let mut rows = db.file_versions().file_history(&location, MAX_VERSIONS)?;
            let last = db.file_versions().last_trusted(&location)?;
            rows.extend(last.filter(|last| rows.iter().all(|row| row.id != last.id)));
            Ok(rows)
        };
        let rows = self.0.journal.read(query).await?;
        // Versions of a previous owner of the folder have another scope.
        Ok(rows.into_iter().filter(|row| row.scope.equals(scope)).collect())
    }

    /// Returns what [`Index::deleted_files`](super::Index::deleted_files) does, once the index is
    /// up to date.
    pub(super) async fn deleted(&self, who: &Party, after: &str, most: usize) -> anyhow::Result<Vec<FileRow>> {
        let (folder, scope) = (self.folder_of(who).await?, who.scope());
        // Paths in a folder begin with it and a slash: `0` is the character after `/`.
        let end = if folder.is_empty() { char::MAX.to_string() } else { format!("{folder}0") };
        let after = if folder.is_empty() { after.to_owned() } else { format!("{folder}/{after}") };
        let unindexed = self.0.journal.read_much(move |db| db.file_versions().unindexed_between(&after, &end)).await?;
        let gone = self.on_disk(move |workspace| Ok(without_present(&workspace.0.disk, unindexed))).await?;
        let newest = move |db: Db<'_>| {
            let own = gone.iter().filter_map(|path| Some((path, layout::own(&folder, path)?)));
            let rows = own.map(|(path, own)| {
                let row = db.file_versions().newest_kept(path)?.filter(|row| row.scope.equals(scope));
                Ok(row.map(|row| FileRow { path: own, ..row }))
            });
            rows.filter_map(Result::transpose).take(most).collect()
        };
        self.0.journal.read_much(newest).await
    }

    /// Returns the location on the disk of that path of the party's folder, and creates its folder.
    /// The file need not exist.
    pub async fn disk_path(&self, who: &Party, path: &str) -> Result<PathBuf, AccessError> {
        let location = self.files().real_location(who, path).await?;
        let create = move |workspace: &Workspace| {
            let (disk, disk_path) = workspace.disk_of(&location);
            disk.folder(disk_path.rsplit_once('/').map_or("", |(folder, _)| folder))?;
            Ok(disk.unchecked(disk_path))
        };
        Ok(self.on_disk(create).await?)
    }

    /// Restores an earlier version of a file, with its former label, and the index line of a note.
    pub async fn restore_version(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        version: FileId,
    ) -> Result<WriteResult, WriteError> {
        let found = self.content(&origin.who, path, version).await?;
        let (text, label) = found.ok_or_else(|| WriteRefusal::impossible(says::NO_VERSION))?;
        let stored = self.0.journal.read(move |db| db.file_versions().passages(version)).await?;
        let rule = LabelRule::Restored(Passages::decode(&stored, label.clone()));
        let origin = ChangeOrigin { label, ..origin.clone() };
        let new = text.map_or(NewContent::Deleted, NewContent::Text);
        let written = self.change_first(&origin, &[path], rule, move |_| Ok(vec![new.clone()])).await?;
        self.list_again(&origin.who, path, origin.now).await?;
        Ok(written)
    }

    /// Returns the content and the label of that version, if it belongs to the file at that path
    /// and its content is stored.
    pub async fn content(&self, who: &Party, path: &str, version: FileId) -> anyhow::Result<Option<Version>> {
        let Some(location) = self.location_of(who, path).await? else { return Ok(None) };
        let scope = who.scope();
        let query = move |db: Db<'_>| {
            // Versions of a previous owner of the folder have another scope.
            let is_theirs = |row: &FileRow| row.path == location && row.scope.equals(scope);
            let Some(row) = db.file_versions().file_row(version)?.filter(is_theirs) else { return Ok(None) };
            let content = db.file_versions().file_content(version)?;
            let text = content.and_then(|content| String::from_utf8(content).ok());
            Ok((row.digest.is_empty() || text.is_some()).then_some((text, row.label)))
        };
        self.0.journal.read(query).await
    }

    /// Returns the real location of that path, if it lies in the party's folder.
    pub(super) async fn location_of(&self, who: &Party, path: &str) -> anyhow::Result<Option<String>> {
        unless_refused(self.files().real_location(who, path).await)
    }

    /// Quarantines an unreadable file so that the given version can be restored. Returns the new
    /// name as its owner sees it; `None` if no file has to move, or none may.
    pub async fn quarantine_for_restore(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        version: FileId,
    ) -> anyhow::Result<Option<String>> {
        let Some((text, label)) = self.content(&origin.who, path, version).await? else { return Ok(None) };
        let fits = text.is_none_or(|text| text.len() <= layout::most_bytes(path));
        let folder = self.folder_of(&origin.who).await?;
        let (origin, scope) = (ChangeOrigin { label, ..origin.clone() }, origin.who.scope());
        let is_permitted = |location: &str| check_permission(&origin, &folder, location).is_ok();
        let Some(location) = layout::locate(&folder, path).filter(|location| fits && is_permitted(location)) else {
            return Ok(None);
        };
        let _writing = Arc::clone(&self.0.writing).lock_owned().await;
        self.finish_open().await?;
        if unless_refused(self.current(&location).await)?.is_some() {
            return Ok(None);
        }
        let requested = location.clone();
        let find = move |workspace: &Workspace| {
            let (disk, disk_path) = workspace.disk_of(&requested);
            let found = disk.find(disk_path)?;
            let numbered = |number| match number {
                1 => format!("{}.{UNREADABLE}", found.name),
                more => format!("{}.{UNREADABLE}-{more}", found.name),
            };
            let free = (1..=MAX_QUARANTINED).map(numbered).find(|name| !disk::exists(&found.folder, name));
            let Some(name) = free.filter(|_| found.kind == PathType::File) else { return Ok(None) };
            let bytes = disk::open(&found).and_then(|file| disk::read_up_to(file, layout::MAX_TEXT_FILE));
            // A file too large to be read is recorded by the digest of its name.
            let digest = page::digest(&bytes.unwrap_or_else(|_| name.clone().into_bytes()));
            Ok(Some((found, name, digest)))
        };
        let Some((found, name, digest)) = self.on_disk(find).await? else { return Ok(None) };
        let real_path = layout::with_base_of(&location, &found.real_path());
        if !is_permitted(&real_path) {
            return Ok(None);
        }
        let target = real_path.rsplit_once('/').map_or_else(|| name.clone(), |(at, _)| format!("{at}/{name}"));
        let (requested, at, of) = (location.clone(), real_path.clone(), digest.clone());
        let found_label = self.0.journal.read(move |db| label::of_file(db, scope, &requested, &at, &of)).await?;
        let Some((_, label)) = found_label else { return Ok(None) };
        if !label.is_trusted() {
            let (path, now) = (target.clone(), origin.now);
            let record =
                move |tx: Tx<'_>| tx.file_versions().file_written(&path, &digest, &label, scope, now).map(drop);
            self.0.journal.write("a file makes way", record).await?;
        }
        self.on_disk(move |workspace| workspace.disk_of(&location).0.rename(&found, &name)).await?;
        self.touched(&real_path);
        Ok(layout::own(&folder, &target))
    }
}

/// Returns those of `paths` where no file is. Blocks.
fn without_present(disk: &Disk, mut paths: Vec<String>) -> Vec<String> {
    // Files next to the workspace have no list. Hidden ones are not indexed, and a name in other
    // letters may be the same file.
    paths.retain(|path| !path.starts_with(layout::EXPERIENCE) && disk.unchecked(path).symlink_metadata().is_err());
    paths
}
