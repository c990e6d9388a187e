//! Check of the journal and of a party's files after an erasure: a file may hold the data, hold a
//! paraphrase, or be unreadable.
//!
//! A file too large to be changed is still searched, so that it is reported for its content and not
//! for its size.

use super::{Erasure, is_memory};
use crate::memory::{Author, OwnPath};
use crate::people::Party;
use crate::store::{Db, ErasureRow, RemainingMatches};
use crate::text::erasure_query::ParaphraseMatcher;
use crate::time::Timestamp;

/// Size limit for searched files, in bytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;

enum FileMatch {
    Match,
    Paraphrase,
    Unreadable,
}

impl Erasure<'_> {
    /// Returns the places that still hold the data, and possible paraphrases. Files are named as
    /// their owner sees them.
    pub async fn verify(&self, row: &ErasureRow) -> anyhow::Result<RemainingMatches> {
        let of = row.clone();
        let search = move |db: Db<'_>| {
            let mut remaining = db.erasure().remaining_matches(&of)?;
            remaining.paraphrases = db.erasure().paraphrases(&of, &remaining)?;
            Ok(remaining)
        };
        let mut remaining = self.journal.read_much(search).await?;
        let Some(who) = self.party_of(row.scope).await? else { return Ok(remaining) };
        let matcher = if row.has_paraphrases() { row.query.paraphrases() } else { ParaphraseMatcher::default() };
        let (files, of) = (self.workspace.folders().files_of(&who).await?, row.clone());
        let check = move |file: &OwnPath, bytes| Some((file_match(file, bytes, &of, &matcher)?, file.path.clone()));
        for (found, path) in self.workspace.folders().scan(files, MAX_FILE, check).await? {
            match found {
                FileMatch::Match if self.is_by_assistant(&who, &path).await? => remaining.assistant_files.push(path),
                FileMatch::Match => remaining.files.push(path),
                FileMatch::Paraphrase => remaining.paraphrases.files.push(path),
                FileMatch::Unreadable => remaining.unreadable_files.push(path),
            }
        }
        Ok(remaining)
    }

    /// Returns true if a file lies outside of the memory and its newest known version is the
    /// assistant's.
    async fn is_by_assistant(&self, who: &Party, path: &str) -> anyhow::Result<bool> {
        if path.starts_with("memory/") || is_memory(path) {
            return Ok(false);
        }
        let versions = self.workspace.versions().history(who, path).await?;
        Ok(versions.first().is_some_and(|newest| newest.author == Author::Assistant.as_str()))
    }

    /// Ends an erasure that left matches, once nothing holds them any more.
    pub async fn end_if_verified(&self, row: &ErasureRow, now: Timestamp) -> anyhow::Result<()> {
        if self.verify(row).await?.is_empty() {
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
    let is_in = row.query.matches(&text);
    let is_match = if is_memory(&file.path) { row.matches_line(&text) } else { is_in };
    if is_match {
        return Some(FileMatch::Match);
    }
    (is_in || matcher.matches_a_line(&text)).then_some(FileMatch::Paraphrase)
}
