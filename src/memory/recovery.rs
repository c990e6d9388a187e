//! Changes that were announced and not made, because the power went or the turn was stopped in
//! between.
//!
//! A change is a row first. Where what it replaces still stands untouched, it is made now; where
//! its words stand there already, only that is written down; where anything else stands there, a
//! person has changed the file since, and theirs stays.

use super::disk::Placed;
use super::workspace::blocking;
use super::{layout, page};
use crate::memory::workspace::FileVersions;
use crate::store::{Tx, Unplaced};

impl FileVersions<'_> {
    /// Makes the changes that were announced and not made, as far as the disk lets it; gives how
    /// many still are not. To be called at the start, before anybody reads.
    pub async fn finish(&self) -> anyhow::Result<usize> {
        let _alone = std::sync::Arc::clone(&self.0.writing).lock_owned().await;
        self.finish_open().await
    }

    /// The same for whoever holds the lock.
    pub(super) async fn finish_open(&self) -> anyhow::Result<usize> {
        let mut left = 0;
        for open in self.0.journal.read(|db| db.file_versions().files_to_place()).await? {
            let (tree, id) = (self.tree.clone(), open.id);
            if let Err(error) = blocking(move || tree.versions().make_up(&open)).await {
                // It stays open, and keeps nobody from changing other files.
                tracing::warn!(file.id = %id, "Change {id} of a file was cut off, and cannot be made yet: {error:#}");
                left += 1;
                continue;
            }
            let job = move |tx: Tx<'_>| tx.file_versions().file_placed(id);
            self.0.journal.write("an open change of a file is over", job).await?;
        }
        Ok(left)
    }

    /// Blocks.
    fn make_up(&self, open: &Unplaced) -> anyhow::Result<()> {
        let (disk, asked) = self.disk_of(&open.path);
        let Ok((inside, bytes)) = disk.standing(asked, layout::MAX_TEXT_FILE) else { return Ok(()) };
        let stands = bytes.map(|bytes| page::digest(&bytes)).unwrap_or_default();
        let forgotten = open.content.is_none() && !open.digest.is_empty();
        if inside != asked || stands != open.replaces || forgotten {
            return Ok(());
        }
        if self.place(&open.path, &open.replaces, open.content.as_deref())? == Placed::Done {
            self.touched(&open.path);
            tracing::info!(file.id = %open.id, "Change {} of a file was cut off, and is made now", open.id);
        }
        Ok(())
    }
}
