//! Files that the program writes whole: initial contents, received attachments with their extracted
//! text, files that tools of other programs gave, and exported archives.
//!
//! The row with path, hash and label is committed before the file gets its name. Initial contents
//! are stored in the row, so that they can be restored; every other file is stored in its place
//! alone. Extracted text stands next to its file, under its name with `.txt` appended, so that
//! people, the file tools and the index find it like any other text. It is untrusted by location
//! and label, regardless of edits, and is deleted with the file. Archives lie in the party's folder
//! for a while because they are sent from there.

use std::sync::Arc;

use anyhow::Context;

use super::disk::{self, Existing, RemoveOutcome};
use super::workspace::{FileVersions, WorkspaceFiles, blocking};
use super::write::Author;
use super::{label, layout, page};
use crate::id::AttachmentId;
use crate::people::Party;
use crate::store::{NewFile, Tx};
use crate::time::Timestamp;
use crate::time::task::lock;
use crate::trust::{Label, Scope, Text};

/// Size limit for reading a received file or an archive, in bytes: more than is ever received or
/// sent.
const MAX_FILE: u64 = 64 * 1024 * 1024;
/// Size limit for reading extracted text, in bytes: more than is ever written.
const MAX_TEXT: u64 = 4 * 1024 * 1024;
/// Suffix of the file name for extracted text.
const TEXT_SUFFIX: &str = ".txt";
/// Number of hash digits in the name of a file that a tool gave.
pub(super) const GIVEN_DIGITS: usize = 8;
/// Cause of a file that came with a message or was made here.
pub(super) const RECEIVED: &str = "received";
/// Cause of a file that a tool gave.
const GIVEN: &str = "given";
/// Number of versions checked to recognise our own text.
const VERSIONS: u32 = 100;

/// A file to be written.
struct FileDraft {
    path: String,
    bytes: Vec<u8>,
    label: Label,
    scope: Scope,
    cause: &'static str,
    existing: Existing,
}

/// Returns the path of a received file as its owner sees it; empty if it is not in an inbox.
pub fn received_path(path: &str) -> &str {
    match path.rfind("inbox/") {
        Some(at) if layout::is_inbox(path) => path.get(at..).unwrap_or_default(),
        _ => "",
    }
}

/// Returns the path at which the text extracted from a received file is saved.
pub(super) fn text_path_of(path: &str) -> String {
    format!("{path}{TEXT_SUFFIX}")
}

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
        let path = layout::within(&self.folder_of(who).await?, &format!("inbox/{}", layout::file_name(id, name_hint)));
        self.save(path, bytes.to_vec(), label, scope, RECEIVED, now).await
    }

    /// Saves a file that a tool of another program gave, in the `inbox/` folder of the person or
    /// group. Returns its path relative to the workspace, and its SHA-256. The same content under
    /// the same name is the same file.
    pub async fn save_given(
        &self,
        who: &Party,
        name_hint: &str,
        bytes: &[u8],
        label: &Label,
        now: Timestamp,
    ) -> anyhow::Result<(String, String)> {
        let digest = page::digest(bytes);
        let name = layout::file_name(digest.get(..GIVEN_DIGITS).unwrap_or_default(), name_hint);
        let path = layout::within(&self.folder_of(who).await?, &format!("inbox/{name}"));
        self.save(path, bytes.to_vec(), label, who.scope(), GIVEN, now).await
    }

    /// Reads a file that [`Self::save_inbox`] saved for that party.
    ///
    /// # Errors
    /// If it does not exist, was saved for another party, or the path leads out of an inbox.
    pub async fn read_inbox(&self, reader: Scope, path: &str) -> anyhow::Result<Vec<u8>> {
        anyhow::ensure!(layout::is_inbox(path), "Only received files are read here");
        let requested = path.to_owned();
        let read = self.on_disk(move |workspace| workspace.0.disk.read(&requested, MAX_FILE));
        let (bytes, requested) = (read.await.context("Cannot read a received file")?, path.to_owned());
        let foreign = self.0.journal.read(move |db| label::is_foreign(db, reader, &requested, &requested)).await?;
        anyhow::ensure!(!foreign, label::Foreign);
        Ok(bytes)
    }

    /// Deletes a file that [`Self::save_inbox`] or [`Self::save_given`] saved, if it is unchanged.
    /// Does not follow links.
    ///
    /// # Errors
    /// If the path leads out of an inbox, or the file cannot be deleted.
    pub async fn drop_received(&self, path: &str, digest: &str) -> anyhow::Result<RemoveOutcome> {
        anyhow::ensure!(layout::is_inbox(path), "Only received files are deleted here");
        let (requested, digest) = (path.to_owned(), digest.to_owned());
        let is_ours = move |bytes: &[u8]| page::digest(bytes) == digest;
        self.on_disk(move |workspace| workspace.0.disk.remove(&requested, MAX_FILE, is_ours))
            .await
            .context("Cannot delete a received file")
    }

    /// Saves the text extracted from the received file at that path, which is relative to the
    /// workspace. Returns the path of the text.
    ///
    /// # Errors
    /// If the path leads out of an inbox, or the workspace or the journal cannot be written.
    pub async fn save_text_of(&self, path: &str, words: &Text, now: Timestamp) -> anyhow::Result<String> {
        let (folder, _) = path.rsplit_once('/').context("A received file lies in a folder")?;
        anyhow::ensure!(
            layout::is_inbox(path) && folder.ends_with("inbox"),
            "Only received files have words beside them"
        );
        let (text, label, scope) = words.open();
        let (text_path, _) =
            self.save(text_path_of(path), text.as_bytes().to_vec(), label, scope, RECEIVED, now).await?;
        self.touched(&text_path);
        // It may have been indexed before it had a text.
        self.touched(path);
        Ok(text_path)
    }

    /// Deletes the text that [`Self::save_text_of`] saved at that path, if it is unchanged. Does
    /// not follow links.
    ///
    /// # Errors
    /// If the path leads out of an inbox, or the file cannot be deleted.
    pub async fn drop_text_of(&self, path: &str) -> anyhow::Result<RemoveOutcome> {
        anyhow::ensure!(layout::is_inbox(path), "Only received files have words beside them");
        let requested = path.to_owned();
        let written = self.0.journal.read(move |db| db.file_versions().file_history(&requested, VERSIONS)).await?;
        let is_ours = move |bytes: &[u8]| {
            let digest = page::digest(bytes);
            written.iter().any(|version| version.author == Author::Program.as_str() && version.digest == digest)
        };
        let requested = path.to_owned();
        let dropped = self.on_disk(move |workspace| workspace.0.disk.remove(&requested, MAX_TEXT, is_ours)).await;
        self.touched(path);
        dropped.context("Cannot delete the words of a received file")
    }

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
        let path = layout::within(&self.folder_of(who).await?, &format!("exports/{name}"));
        self.save(path, bytes, label, who.scope(), RECEIVED, now).await
    }

    /// Deletes an archive, if it is still the one that we wrote. Returns false if it is not.
    ///
    /// # Errors
    /// If the file cannot be deleted.
    pub async fn drop_export(&self, path: &str, digest: &str) -> anyhow::Result<bool> {
        let (path, digest) = (path.to_owned(), digest.to_owned());
        let writing = Arc::clone(&self.0.writing).lock_owned().await;
        self.on_disk(move |workspace| {
            let _writing = writing;
            let (disk, disk_path) = workspace.disk_of(&path);
            let is_ours = disk.read(disk_path, MAX_FILE).is_ok_and(|bytes| page::digest(&bytes) == digest);
            if is_ours {
                workspace.folders().drop_at(&path)?;
            }
            Ok(is_ours)
        })
        .await
    }

    /// Writes a file, in place of an existing one. Returns its path and its SHA-256.
    async fn save(
        &self,
        path: String,
        bytes: Vec<u8>,
        label: &Label,
        scope: Scope,
        cause: &'static str,
        now: Timestamp,
    ) -> anyhow::Result<(String, String)> {
        let digest = page::digest(&bytes);
        let (existing, label) = (Existing::Replace, label.clone());
        let draft = FileDraft { path: path.clone(), bytes, label, scope, cause, existing };
        self.versions().write(draft, now).await?;
        lock(&self.0.counts).clear();
        Ok((path, digest))
    }
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
        let draft = FileDraft {
            path: layout::within(folder, name),
            bytes: contents.into_bytes(),
            label: label::of_first_contents(),
            scope,
            cause: "first",
            existing: Existing::Keep,
        };
        self.write(draft, now).await.with_context(|| self.cannot_write(name))
    }

    /// Commits the row before the file is renamed into place.
    async fn write(&self, draft: FileDraft, now: Timestamp) -> anyhow::Result<()> {
        let writing = Arc::clone(&self.0.writing).lock_owned().await;
        let (folder, name) = draft.path.rsplit_once('/').unwrap_or(("", &draft.path));
        let (location, name) = (folder.to_owned(), name.to_owned());
        let (folder, name, exists) = self
            .on_disk(move |workspace| {
                let folder = workspace.0.disk.folder(&location)?;
                let exists = disk::exists(&folder, &name);
                Ok((folder, name, exists))
            })
            .await?;
        if exists && draft.existing == Existing::Keep {
            return Ok(());
        }
        let path = layout::within(&folder.real_path, &name);
        let announce = move |tx: Tx<'_>| {
            // Folders may have been moved since the location was looked up.
            anyhow::ensure!(!label::is_elsewhere(*tx, draft.scope, &path, &path)?, label::Foreign);
            let is_first = draft.existing == Existing::Keep;
            let new = NewFile {
                path: &path,
                digest: &page::digest(&draft.bytes),
                label: &draft.label,
                scope: draft.scope,
                author: Author::Program.as_str(),
                cause: draft.cause,
                content: is_first.then_some(draft.bytes.as_slice()),
                at: now,
            };
            tx.file_versions().file_version_of(&new)?;
            Ok(draft)
        };
        let draft = self.0.journal.write("announce a file", announce).await?;
        blocking(move || {
            // Held by the thread, because the caller may be cancelled while it is still writing.
            let _writing = writing;
            disk::put(&folder, &name, &draft.bytes, draft.existing)
        })
        .await
    }
}
