//! Quarantine of unreadable files: before a version is restored over an unreadable file, that file
//! is renamed to `NAME.unreadable` next to it, and no longer belongs to the memory.
//!
//! The file is neither rewritten nor parsed, so any size and any damage is fine. Its label goes
//! along: the new name is recorded with the label before the rename. A crash in between leaves the
//! broken file under either name, and repeating the command restores the version.

use crate::memory::workspace::FileVersions;
use std::sync::Arc;

use super::disk;
use super::label::{self, Foreign};
use super::path_walk::{PathType, ResolvedPath};
use super::workspace::blocking;
use super::write::{ChangeOrigin, may};
use super::{layout, page};
use crate::id::FileId;

/// Suffix of the new name, and maximum number of quarantined files of one name.
const BEHIND: &str = "unreadable";
const MOST: usize = 99;

/// A file to be renamed.
struct UnreadableFile {
    found: ResolvedPath,
    /// New name.
    name: String,
    digest: String,
}

impl FileVersions<'_> {
    /// Quarantines an unreadable file so that the given version can be restored. Returns the new
    /// name as its owner sees it; `None` if no file has to move, or none may.
    pub async fn quarantine_for_restore(
        &self,
        origin: &ChangeOrigin,
        path: &str,
        version: FileId,
    ) -> anyhow::Result<Option<String>> {
        let Some((text, words)) = self.version(&origin.who, path, version).await? else { return Ok(None) };
        let fits = text.is_none_or(|text| text.len() <= layout::most_bytes(path));
        let folder = self.folder_of(&origin.who).await?;
        let origin = ChangeOrigin { label: words, ..origin.clone() };
        let Some(spot) = layout::spot(&folder, path).filter(|spot| fits && may(&origin, &folder, spot).is_ok()) else {
            return Ok(None);
        };
        let _alone = Arc::clone(&self.0.writing).lock_owned().await;
        self.finish_open().await?;
        if self.before(&spot).await?.is_ok() {
            return Ok(None);
        }
        let Some(broken) = self.broken(&spot).await? else { return Ok(None) };
        let inside = layout::spelt(&spot, &broken.found.inside());
        if may(&origin, &folder, &inside).is_err() {
            return Ok(None);
        }
        let beside =
            inside.rsplit_once('/').map_or_else(|| broken.name.clone(), |(at, _)| format!("{at}/{}", broken.name));
        if self.mark(&origin, &spot, &inside, &beside, &broken.digest).await?.is_err() {
            return Ok(None);
        }
        let (tree, asked, name) = (self.tree.clone(), spot.clone(), broken.name.clone());
        blocking(move || tree.disk_of(&asked).0.rename(&broken.found, &name)).await?;
        self.touched(&inside);
        Ok(layout::own(&folder, &beside))
    }

    /// Returns the file at that place, with the first free name for it.
    async fn broken(&self, spot: &str) -> anyhow::Result<Option<UnreadableFile>> {
        let (tree, spot) = (self.tree.clone(), spot.to_owned());
        blocking(move || {
            let (disk, inside) = tree.disk_of(&spot);
            let found = disk.find(inside)?;
            let name = |number| match number {
                1 => format!("{}.{BEHIND}", found.name),
                more => format!("{}.{BEHIND}-{more}", found.name),
            };
            let free = (1..=MOST).map(name).find(|name| !disk::exists(&found.folder, name));
            let Some(name) = free.filter(|_| found.lies == PathType::File) else { return Ok(None) };
            let bytes = disk::open(&found).and_then(|file| disk::read_up_to(file, layout::MAX_TEXT_FILE));
            // A file too large to be read is recorded by the digest of its name.
            let digest = page::digest(&bytes.unwrap_or_else(|_| name.clone().into_bytes()));
            Ok(Some(UnreadableFile { found, name, digest }))
        })
        .await
    }

    /// Records that an untrusted file stays untrusted under its new name.
    async fn mark(
        &self,
        origin: &ChangeOrigin,
        spot: &str,
        inside: &str,
        beside: &str,
        digest: &str,
    ) -> anyhow::Result<Result<(), Foreign>> {
        let (asked, at, of, whose) = (spot.to_owned(), inside.to_owned(), digest.to_owned(), origin.who.scope());
        let label = match self.0.journal.read(move |db| label::of_file(db, whose, &asked, &at, &of)).await? {
            Ok((_, label)) => label,
            Err(foreign) => return Ok(Err(foreign)),
        };
        if label.is_trusted() {
            return Ok(Ok(()));
        }
        let (beside, digest, scope, now) = (beside.to_owned(), digest.to_owned(), origin.who.scope(), origin.now);
        let job = move |tx: crate::store::Tx<'_>| {
            tx.file_versions().file_written(&beside, &digest, &label, scope, now).map(drop)
        };
        self.0.journal.write("a file makes way", job).await.map(Ok)
    }
}
