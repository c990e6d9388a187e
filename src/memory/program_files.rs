//! Files written whole by the program: initial contents and received attachments.

use crate::memory::workspace::FileVersions;
use std::sync::Arc;

use anyhow::Context;

use super::disk::{self, Existing};
use super::path_walk::OpenFolder;
use super::workspace::blocking;
use super::{label, layout, page};
use crate::store::{NewFile, Tx};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

/// A file to be written.
pub(super) struct FileDraft {
    pub(super) folder: String,
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) label: Label,
    pub(super) scope: Scope,
    pub(super) existing: Existing,
}

impl FileVersions<'_> {
    /// Creates a file with its initial contents, if it does not exist.
    pub(super) async fn create(
        &self,
        folder: &str,
        name: &str,
        contents: String,
        scope: Scope,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let inside = layout::within(folder, name);
        let (folder, file) = inside.rsplit_once('/').unwrap_or(("", &inside));
        let draft = FileDraft {
            folder: folder.to_owned(),
            name: file.to_owned(),
            bytes: contents.into_bytes(),
            label: label::of_first_contents(),
            scope,
            existing: Existing::Keep,
        };
        self.write(draft, now).await.with_context(|| self.cannot_write(name))
    }

    /// Commits the row before the file is renamed into place.
    pub(super) async fn write(&self, draft: FileDraft, now: Timestamp) -> anyhow::Result<()> {
        let alone = Arc::clone(&self.0.writing).lock_owned().await;
        let inner = Arc::clone(&self.0);
        let (folder, draft, taken) = blocking(move || {
            let folder = inner.disk.folder(&draft.folder)?;
            let taken = disk::exists(&folder, &draft.name);
            Ok((folder, draft, taken))
        })
        .await?;
        if taken && draft.existing == Existing::Keep {
            return Ok(());
        }
        let draft = self.announce(&folder, draft, now).await?;
        blocking(move || {
            // Held by the thread, because the caller may be cancelled while it is still writing.
            let _alone = alone;
            disk::put(&folder, &draft.name, &draft.bytes, draft.existing)
        })
        .await
    }

    /// Announces the file. Initial contents are stored in the row, so that they can be restored; a
    /// received attachment is stored in its file alone.
    async fn announce(&self, folder: &OpenFolder, draft: FileDraft, now: Timestamp) -> anyhow::Result<FileDraft> {
        let path = layout::within(&folder.inside, &draft.name);
        let job = move |tx: Tx<'_>| {
            // Folders may have been moved since the location was looked up.
            anyhow::ensure!(!label::is_elsewhere(*tx, draft.scope, &path, &path)?, label::Foreign);
            let is_first = draft.existing == Existing::Keep;
            let new = NewFile {
                path: &path,
                digest: &page::digest(&draft.bytes),
                label: &draft.label,
                scope: draft.scope,
                author: "program",
                cause: if is_first { "first" } else { "received" },
                content: is_first.then_some(draft.bytes.as_slice()),
                at: now,
            };
            tx.file_versions().file_version_of(&new)?;
            Ok(draft)
        };
        self.0.journal.write("announce a file", job).await
    }
}
