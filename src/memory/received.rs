//! Received attachments: stored under `inbox/`, read back, and deleted when they expire.

use crate::memory::workspace::WorkspaceFiles;
use anyhow::Context;

use super::disk::{Existing, Received};
use super::program_files::FileDraft;
use super::workspace::blocking;
use super::{label, layout, page};
use crate::id::AttachmentId;
use crate::people::Party;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};
use std::sync::Arc;

/// Size limit for reading a received file, in bytes: somewhat more than is ever received.
const MAX_RECEIVED: u64 = 64 * 1024 * 1024;

impl WorkspaceFiles<'_> {
    /// Saves an attachment in the `inbox/` folder of the person or group. Returns its path relative
    /// to the workspace, and its SHA-256. Saving the same attachment again replaces the file.
    #[allow(clippy::too_many_arguments, reason = "each is one fact about the file, and none has a default")]
    pub async fn save_inbox(
        &self,
        scope: Scope,
        who: &Party,
        id: AttachmentId,
        name_hint: &str,
        bytes: &[u8],
        label: &Label,
        now: Timestamp,
    ) -> anyhow::Result<(String, String)> {
        let folder = layout::within(&self.folder_of(who).await?, "inbox");
        let name = layout::file_name(id, name_hint);
        let (path, digest) = (layout::within(&folder, &name), page::digest(bytes));
        let draft =
            FileDraft { folder, name, bytes: bytes.to_vec(), label: label.clone(), scope, existing: Existing::Replace };
        self.versions().write(draft, now).await?;
        Ok((path, digest))
    }

    /// Reads a file that [`Self::save_inbox`] saved for that party.
    ///
    /// # Errors
    /// If it does not exist, was saved for another party, or the path leads out of an inbox.
    pub async fn read_inbox(&self, whose: Scope, path: &str) -> anyhow::Result<Vec<u8>> {
        anyhow::ensure!(layout::is_inbox(path), "Only received files are read here");
        let (inner, asked) = (Arc::clone(&self.0), path.to_owned());
        let bytes =
            blocking(move || inner.disk.read(&asked, MAX_RECEIVED)).await.context("Cannot read a received file")?;
        let asked = path.to_owned();
        let foreign = self.0.journal.read(move |db| label::is_foreign(db, whose, &asked, &asked)).await?;
        anyhow::ensure!(!foreign, label::Foreign);
        Ok(bytes)
    }

    /// Deletes a file that [`Self::save_inbox`] saved, if it is unchanged. Does not follow links.
    ///
    /// # Errors
    /// If the path leads out of an inbox, or the file cannot be deleted.
    pub async fn drop_received(&self, path: &str, digest: &str) -> anyhow::Result<Received> {
        anyhow::ensure!(layout::is_inbox(path), "Only received files are deleted here");
        let (inner, asked, digest) = (Arc::clone(&self.0), path.to_owned(), digest.to_owned());
        blocking(move || inner.disk.remove(&asked, MAX_RECEIVED, |bytes| page::digest(bytes) == digest))
            .await
            .context("Cannot delete a received file")
    }
}
