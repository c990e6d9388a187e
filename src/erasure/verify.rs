//! Check of the journal and of a party's files after an erasure: a file may hold the data, hold a
//! paraphrase, or be unreadable.
//!
//! A file too large to be changed is still searched, so that it is reported for its content and not
//! for its size.

use super::assistant_files::AssistantFiles;
use super::{Erasure, is_memory};
use crate::memory::{OwnPath, received_path};
use crate::people::Party;
use crate::store::{Db, ErasureRow, RemainingMatches};
use crate::text::erasure_query::ParaphraseMatcher;
use crate::time::Timestamp;

/// Size limit for searched files, in bytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;

enum FileMatch {
    Match,
    /// In a file outside the memory that the assistant wrote.
    ByAssistant,
    Paraphrase,
    Unreadable,
}

/// Files of a party that hold the data or may hold it, by their owner's paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileMatches {
    /// Files of the memory, and files that a person wrote.
    pub files: Vec<String>,
    /// Files outside the memory that the assistant wrote.
    pub by_assistant: Vec<String>,
    /// Files that a person sent or was sent.
    pub received: Vec<String>,
    /// Files with a possible paraphrase.
    pub paraphrases: Vec<String>,
    /// Files that could not be read.
    pub unreadable: Vec<String>,
}

impl Erasure<'_> {
    /// Returns the places that still hold the data, and possible paraphrases. What the person left
    /// out is none of them.
    pub async fn verify(&self, row: &ErasureRow) -> anyhow::Result<RemainingMatches> {
        let mut remaining = self.remaining(row).await?;
        if row.choice.is_narrow() {
            remaining.is_spared = !self.remaining(&row.with_everything()).await?.is_empty();
        }
        Ok(remaining)
    }

    async fn remaining(&self, row: &ErasureRow) -> anyhow::Result<RemainingMatches> {
        let of = row.clone();
        let search = move |db: Db<'_>| {
            let mut remaining = db.erasure().remaining_matches(&of)?;
            remaining.paraphrases = db.erasure().paraphrases(&of, &remaining)?;
            Ok(remaining)
        };
        let mut remaining = self.journal.read_much(search).await?;
        let Some(who) = self.party_of(row.scope).await? else { return Ok(remaining) };
        let found = self.file_matches(&who, row).await?;
        remaining.paraphrases.files = found.paraphrases;
        Ok(RemainingMatches {
            files: found.files,
            assistant_files: found.by_assistant,
            received_files: found.received,
            unreadable_files: found.unreadable,
            ..remaining
        })
    }

    /// Returns the files that hold the data.
    pub(super) async fn file_matches(&self, who: &Party, row: &ErasureRow) -> anyhow::Result<FileMatches> {
        let matcher = if row.has_paraphrases() { row.query.paraphrases() } else { ParaphraseMatcher::default() };
        let (files, of) = (self.workspace.folders().files_of(who).await?, row.clone());
        let assistant_files = self.assistant_files(who.scope()).await?;
        let check = move |file: &OwnPath, bytes| {
            Some((file_match(file, bytes, &of, &matcher, &assistant_files)?, file.path.clone()))
        };
        let mut matches = FileMatches::default();
        for (found, path) in self.workspace.folders().scan(files, MAX_FILE, check).await? {
            match found {
                FileMatch::Match if !received_path(&path).is_empty() => matches.received.push(path),
                FileMatch::ByAssistant => matches.by_assistant.push(path),
                FileMatch::Match => matches.files.push(path),
                FileMatch::Paraphrase => matches.paraphrases.push(path),
                FileMatch::Unreadable => matches.unreadable.push(path),
            }
        }
        Ok(matches)
    }

    /// Ends an erasure that left matches, once nothing holds them any more.
    pub async fn end_if_verified(&self, row: &ErasureRow, now: Timestamp) -> anyhow::Result<()> {
        let remaining = self.verify(row).await?;
        if remaining.is_empty() && !remaining.is_spared {
            let id = row.id;
            self.journal.write("let go of forgotten words", move |tx| tx.erasure().end(id, false, now)).await?;
        }
        Ok(())
    }
}

fn file_match(
    file: &OwnPath,
    bytes: anyhow::Result<Vec<u8>>,
    row: &ErasureRow,
    matcher: &ParaphraseMatcher,
    assistant_files: &AssistantFiles,
) -> Option<FileMatch> {
    // An unreadable file that was renamed for a restored version still counts as memory.
    let is_ours = is_memory(&file.path) || file.path.contains(".md.unreadable");
    let text = match bytes.map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(error)) if is_ours => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        // An unreadable file may hold the data.
        Err(_) if is_ours => return Some(FileMatch::Unreadable),
        Ok(Err(_)) | Err(_) => return None,
    };
    let is_by_assistant = assistant_files.is_unchanged(file, &text);
    let text = row.unspared(&file.location, &text);
    let is_in = row.query.matches(&text);
    let has_lines = is_by_assistant || is_memory(&file.path);
    let is_match = if has_lines { row.matches_line(&file.location, &text) } else { is_in };
    if is_match {
        return Some(if is_by_assistant { FileMatch::ByAssistant } else { FileMatch::Match });
    }
    (is_in || matcher.matches_a_line(&text)).then_some(FileMatch::Paraphrase)
}
