//! What cannot be read as text makes way for an earlier version of its file: it gets a name of its
//! own beside it, whole, and is nobody's memory any more.
//!
//! Nothing of it is written anew or looked into, so it may be as large and as broken as it likes.
//! Where its words came from goes along: the new name is marked before the file has it. A crash in
//! between leaves the broken file where it was, or beside, and the same command again puts the
//! version back.

use crate::memory::workspace::FileVersions;
use std::sync::Arc;

use super::disk;
use super::label::{self, Foreign};
use super::path_walk::{Lies, Reached};
use super::workspace::blocking;
use super::write::{ChangeOrigin, may};
use super::{layout, page};
use crate::id::FileId;

/// What is put behind its name, and the most files of one name that make way.
const BEHIND: &str = "unreadable";
const MOST: usize = 99;

/// A file that is to make way.
struct UnreadableFile {
    found: Reached,
    /// Its name from then on.
    name: String,
    digest: String,
}

impl FileVersions<'_> {
    /// Makes room where something stands that cannot be read as text, if that version of the file
    /// may come back there. Gives the new name as its owner sees it; `None` if nothing has to make
    /// way, or nothing may.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used.
    pub async fn make_way(&self, origin: &ChangeOrigin, path: &str, version: FileId) -> anyhow::Result<Option<String>> {
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

    /// The file there, and the first name beside it that is free.
    async fn broken(&self, spot: &str) -> anyhow::Result<Option<UnreadableFile>> {
        let (tree, spot) = (self.tree.clone(), spot.to_owned());
        blocking(move || {
            let (disk, inside) = tree.disk_of(&spot);
            let found = disk.find(inside)?;
            let name = |number| match number {
                1 => format!("{}.{BEHIND}", found.name),
                more => format!("{}.{BEHIND}-{more}", found.name),
            };
            let free = (1..=MOST).map(name).find(|name| !disk::is_taken(&found.folder, name));
            let Some(name) = free.filter(|_| found.lies == Lies::File) else { return Ok(None) };
            let bytes = disk::open(&found).and_then(|file| disk::read_up_to(file, layout::MAX_TEXT_FILE));
            // What is too large to be read is marked by its name alone.
            let digest = page::digest(&bytes.unwrap_or_else(|_| name.clone().into_bytes()));
            Ok(Some(UnreadableFile { found, name, digest }))
        })
        .await
    }

    /// What is not trusted stays so under its new name.
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
