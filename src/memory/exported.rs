//! Exported archives, which lie in the party's folder for a while because they are sent from there.

use super::disk::Existing;
use super::program_files::FileDraft;
use super::workspace::blocking;
use super::{layout, page};
use crate::memory::workspace::WorkspaceFiles;
use crate::people::Party;
use crate::time::Timestamp;
use crate::trust::Label;

/// Size limit for reading an archive again, in bytes: more than is ever sent.
const LARGEST: u64 = 64 << 20;

impl WorkspaceFiles<'_> {
    /// Saves an archive in the `exports/` folder of a party. Returns its path relative to the
    /// workspace, and its SHA-256.
    pub async fn save_export(
        &self,
        who: &Party,
        name: &str,
        bytes: Vec<u8>,
        label: &Label,
        now: Timestamp,
    ) -> anyhow::Result<(String, String)> {
        let folder = layout::within(&self.folder_of(who).await?, "exports");
        let (path, digest) = (layout::within(&folder, name), page::digest(&bytes));
        let (name, label) = (name.to_owned(), label.clone());
        self.versions()
            .write(FileDraft { folder, name, bytes, label, scope: who.scope(), existing: Existing::Replace }, now)
            .await?;
        Ok((path, digest))
    }

    /// Deletes an archive, if it is still the one that we wrote. Returns false if it is not.
    ///
    /// # Errors
    /// If the file cannot be deleted.
    pub async fn drop_export(&self, path: &str, digest: &str) -> anyhow::Result<bool> {
        let (tree, path, digest) = (self.tree.clone(), path.to_owned(), digest.to_owned());
        let alone = std::sync::Arc::clone(&self.0.writing).lock_owned().await;
        blocking(move || {
            let _alone = alone;
            let (disk, inside) = tree.disk_of(&path);
            let is_ours = disk.read(inside, LARGEST).is_ok_and(|bytes| page::digest(&bytes) == digest);
            if is_ours {
                tree.folders().drop_at(&path)?;
            }
            Ok(is_ours)
        })
        .await
    }
}
