//! Recovery of changes that were announced but not completed, because of a power cut or a cancelled
//! turn.
//!
//! A change is a row first. If the old content is still in place, the change is completed now; if
//! the new content is already in place, only its row is closed; with any other content a person has
//! edited the file since, and their version stays.

use super::disk::ReplaceOutcome;
use super::workspace::blocking;
use super::{layout, page};
use crate::memory::workspace::FileVersions;
use crate::store::{Tx, Unplaced};

impl FileVersions<'_> {
    /// Completes pending changes where the disk allows it; returns how many remain. Must be called
    /// at the start, before any read.
    pub async fn finish(&self) -> anyhow::Result<usize> {
        let _alone = std::sync::Arc::clone(&self.0.writing).lock_owned().await;
        self.finish_open().await
    }

    /// Like [`Self::finish`], for a caller that holds the lock.
    pub(super) async fn finish_open(&self) -> anyhow::Result<usize> {
        let mut left = 0;
        for open in self.0.journal.read(|db| db.file_versions().files_to_place()).await? {
            let (tree, id) = (self.tree.clone(), open.id);
            if let Err(error) = blocking(move || tree.versions().make_up(&open)).await {
                // The row stays open, and does not block changes of other files.
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
        if self.place(&open.path, &open.replaces, open.content.as_deref())? == ReplaceOutcome::Done {
            self.touched(&open.path);
            tracing::info!(file.id = %open.id, "Change {} of a file was cut off, and is made now", open.id);
        }
        Ok(())
    }
}
