//! Text extracted from received files: stored next to the file, under its name with `.txt`
//! appended, so that people, the file tools and the index find it like any other text. It is
//! untrusted by location and label, regardless of edits, and is deleted with the file.

use crate::memory::workspace::WorkspaceFiles;
use std::sync::Arc;

use anyhow::Context;

use super::disk::{Existing, Received};
use super::layout;
use super::page;
use super::program_files::FileDraft;
use super::workspace::blocking;
use super::write::Author;
use crate::time::Timestamp;
use crate::trust::Text;

/// Suffix of the file name for extracted text.
const ENDING: &str = ".txt";
const INBOX: &str = "inbox";
/// Size limit for reading such a file, in bytes: more than is ever written.
const MAX_TEXT: u64 = 4 * 1024 * 1024;

/// Number of versions checked to recognise our own text.
const VERSIONS: u32 = 100;

/// Returns the path of a received file as its owner sees it; empty if it is not in an inbox.
pub fn received_path(path: &str) -> &str {
    match path.rfind("inbox/") {
        Some(at) if layout::is_inbox(path) => path.get(at..).unwrap_or_default(),
        _ => "",
    }
}

impl WorkspaceFiles<'_> {
    /// Saves the text extracted from the received file at that path, which is relative to the
    /// workspace. Returns the path of the text.
    ///
    /// # Errors
    /// If the path leads out of an inbox, or the workspace or the journal cannot be written.
    pub async fn save_text_of(&self, path: &str, words: &Text, now: Timestamp) -> anyhow::Result<String> {
        let (folder, name) = path.rsplit_once('/').context("A received file lies in a folder")?;
        anyhow::ensure!(
            layout::is_inbox(path) && folder.ends_with(INBOX),
            "Only received files have words beside them"
        );
        let (text, label, scope) = words.open();
        let draft = FileDraft {
            folder: folder.to_owned(),
            name: format!("{name}{ENDING}"),
            bytes: text.as_bytes().to_vec(),
            label: label.clone(),
            scope,
            existing: Existing::Replace,
        };
        let lies = format!("{path}{ENDING}");
        self.versions().write(draft, now).await?;
        self.touched(&lies);
        Ok(lies)
    }

    /// Deletes the text that [`Self::save_text_of`] saved at that path, if it is unchanged. Does
    /// not follow links.
    ///
    /// # Errors
    /// If the path leads out of an inbox, or the file cannot be deleted.
    pub async fn drop_text_of(&self, path: &str) -> anyhow::Result<Received> {
        anyhow::ensure!(layout::is_inbox(path), "Only received files have words beside them");
        let asked = path.to_owned();
        let written = self.0.journal.read(move |db| db.file_versions().file_history(&asked, VERSIONS)).await?;
        let ours = move |bytes: &[u8]| {
            let digest = page::digest(bytes);
            written.iter().any(|version| version.author == Author::Program.as_str() && version.digest == digest)
        };
        let (inner, asked) = (Arc::clone(&self.0), path.to_owned());
        let dropped = blocking(move || inner.disk.remove(&asked, MAX_TEXT, ours)).await;
        self.touched(path);
        dropped.context("Cannot delete the words of a received file")
    }
}
