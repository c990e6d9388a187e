//! Files outside the memory that the assistant wrote, such as plans: they lose lines like notes.
//!
//! A file counts only as long as it holds what the assistant wrote. One that a person has changed
//! since is theirs, and stays.

use std::collections::BTreeMap;

use super::{Erasure, is_memory};
use crate::memory::{OwnPath, digest};
use crate::trust::Scope;

/// Digests of the contents that the assistant wrote, by location.
#[derive(Debug, Clone, Default)]
pub(super) struct AssistantFiles(BTreeMap<String, String>);

impl Erasure<'_> {
    /// Returns the files of a scope that the assistant wrote last.
    pub(super) async fn assistant_files(&self, scope: Scope) -> anyhow::Result<AssistantFiles> {
        let files = self.journal.read_much(move |db| db.file_versions().written_by_assistant(scope)).await?;
        Ok(AssistantFiles(files.into_iter().collect()))
    }
}

impl AssistantFiles {
    /// Returns true if the file may lose lines, for one reading of its text.
    pub(super) fn may_lose_lines(&self, file: &OwnPath) -> bool {
        is_memory(&file.path) || self.0.contains_key(&file.location)
    }

    /// Returns true if matching lines of the file are removed, given its text.
    pub(super) fn loses_lines(&self, file: &OwnPath, text: &str) -> bool {
        is_memory(&file.path) || self.is_unchanged(file, text)
    }

    /// Returns true if the file lies outside of the memory and holds what the assistant wrote.
    pub(super) fn is_unchanged(&self, file: &OwnPath, text: &str) -> bool {
        let written = self.0.get(&file.location).filter(|_| !is_memory(&file.path));
        written.is_some_and(|written| *written == digest(text.as_bytes()))
    }
}
