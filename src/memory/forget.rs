//! Erasure on request: first from the files, then from the journal.
//!
//! The file of a note is deleted with its index line, and so are lines of other memory files with
//! the same text. Then every copy in the journal is blanked (`Erasure::held` of the store),
//! everything is searched again, and remaining places are reported. Finally the search indexes are
//! merged, because only a merge removes single words from them. Files that only a person edits, and
//! files that people sent, are kept and reported. Every step can be repeated: a second run finds
//! nothing more to erase.

mod kept;
mod look;
mod named;

use crate::memory::workspace::WorkspaceErasure;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;

use crate::id::ForgettingId;
use crate::people::Party;
use crate::store::{AfterRedaction, Counts, Db, ErasureRemainder, ForgettingRow, Forgotten, Tx};
use crate::text::needle::ErasureQuery;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

use super::owned_files::OwnPath;
use super::write::{Author, ChangeOrigin, New};
use super::{layout, memory_md};

/// Maximum number of rows changed in one transaction.
const ROWS: usize = 200;
/// Allowance for archives dated later than now, by a clock that was ahead.
const FUTURE: Duration = Duration::from_hours(10 * 365 * 24);
/// Number of messages in one transaction.
const MESSAGES: usize = 50;
/// Number of passes for data written meanwhile.
const ROUNDS: usize = 3;

/// Data that can be erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgettable {
    /// A note, a fact, or text that occurs only in messages.
    pub what: Forgotten,
    /// Path of the note relative to the workspace, key of the fact, or the text.
    pub target: String,
    /// Texts to be erased everywhere.
    pub needles: ErasureQuery,
    /// Label of the data.
    pub label: Label,
}

/// Result of an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureOutcome {
    /// Number of erased items, since its start.
    pub counts: Counts,
    /// Places that still hold the data.
    pub left: ErasureRemainder,
    /// Streams whose turns ended because their messages were erased.
    pub partings: Vec<AfterRedaction>,
}

impl WorkspaceErasure<'_> {
    /// Waits until no erasure runs, and blocks new ones while the guard is held. Data written
    /// meanwhile is either seen by an erasure or leaves out the erased data.
    pub async fn no_forgetting(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.0.forgetting).lock_owned().await
    }

    /// Erases a note or a fact, or resumes doing so, and checks what still holds it.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; then the erasure is resumed later.
    pub async fn forget(&self, id: ForgettingId, now: Timestamp) -> anyhow::Result<Option<ErasureOutcome>> {
        let _alone = self.no_forgetting().await;
        self.forget_alone(id, now).await
    }

    /// Like [`Self::forget`], for a caller that holds the guard against other erasures.
    pub(super) async fn forget_alone(
        &self,
        id: ForgettingId,
        now: Timestamp,
    ) -> anyhow::Result<Option<ErasureOutcome>> {
        let Some(row) = self.0.journal.read(move |db| db.erasure().forgetting(id)).await? else { return Ok(None) };
        let who = self.party_of(row.scope).await?;
        if let Some(who) = &who {
            self.forget_in_files(&row, who, now).await?;
        }
        let partings = self.forget_messages(&row, now).await?;
        let mut left = self.cut_out(&row).await?;
        for _ in 1..ROUNDS {
            if left.other > 0 {
                left = self.cut_out(&row).await?;
            }
        }
        let (of, known) = (row.clone(), left.clone());
        left.also = self.0.journal.read_much(move |db| db.erasure().paraphrases(&of, &known)).await?;
        self.scan_files(&row, &mut left).await?;
        self.purge_index().await?;
        self.0.journal.cut_log().await?;
        let is_left = !left.is_nothing();
        let end = move |tx: Tx<'_>| {
            tx.erasure().end_forgetting(id, is_left, now)?;
            Ok(tx.erasure().forgetting(id)?.map(|row| row.counts).unwrap_or_default())
        };
        let counts = self.0.journal.write("end a forgetting", end).await?;
        Ok(Some(ErasureOutcome { counts, left, partings }))
    }

    /// Returns the party of a scope, if it still has access.
    async fn party_of(&self, scope: Scope) -> anyhow::Result<Option<Party>> {
        match scope {
            Scope::Person(id) => Ok(self.0.journal.read(move |db| db.people().person(id)).await?.map(Party::One)),
            Scope::Group(stream) => Ok(Some(Party::Group(stream))),
            Scope::Shared => Ok(None),
        }
    }

    async fn forget_in_files(&self, row: &ForgettingRow, who: &Party, now: Timestamp) -> anyhow::Result<()> {
        let note = (row.what == Forgotten::Note && !row.target.is_empty()).then_some(row.target.as_str());
        let archives = self.0.journal.read(move |db| db.erasure().old_exports(now.plus(FUTURE))).await?;
        for file in self.folders().files_of(who).await? {
            let counts = if note == Some(file.spot.as_str()) {
                Counts { notes: usize::from(self.folders().drop_one(&file).await?), ..Counts::default() }
            } else if let Some((_, digest)) = archives.iter().rfind(|(path, _)| *path == file.spot) {
                // An archive of everything contains this too. A file that a person put next to it
                // is theirs.
                Counts {
                    archives: usize::from(self.files().drop_export(&file.spot, digest).await?),
                    ..Counts::default()
                }
            } else if is_memory(&file.path) {
                self.cut_from(row, who, &file, note, now).await?
            } else {
                Counts::default()
            };
            self.count(row.id, counts).await?;
        }
        if let Some(path) = note.map(str::to_owned) {
            let id = row.id;
            let bury = move |tx: Tx<'_>| tx.erasure().count_forgotten(id, tx.erasure().file_forgotten(&path, id)?);
            self.0.journal.write("forget a file", bury).await?;
        }
        Ok(())
    }

    /// Removes matching lines from another file, and the note's line from the index.
    async fn cut_from(
        &self,
        row: &ForgettingRow,
        who: &Party,
        file: &OwnPath,
        note: Option<&str>,
        now: Timestamp,
    ) -> anyhow::Result<Counts> {
        let of = row.clone();
        let link =
            note.filter(|_| holds_index(&file.path)).map(|note| note.rsplit('/').next().unwrap_or(note).to_owned());
        let cut = move |text: &str| -> String {
            let text = link.as_ref().map_or_else(|| text.to_owned(), |name| memory_md::drop_index_line(text, name));
            of.cut(&text).unwrap_or(text)
        };
        let Some(before) = self.folders().words_of(who.scope(), file).await? else { return Ok(Counts::default()) };
        let lines = before.lines().count().saturating_sub(cut(&before).lines().count());
        if lines == 0 {
            return Ok(Counts::default());
        }
        let origin = ChangeOrigin {
            who: who.clone(),
            label: Label::neutral(),
            author: Author::Person,
            cause: "forget",
            from: Vec::new(),
            now,
        };
        let made = self
            .versions()
            .change(&origin, &file.path, move |text| Ok(text.map_or(New::Gone, |text| New::Text(cut(text)))))
            .await?;
        Ok(Counts { lines: if made.is_ok() { lines } else { 0 }, ..Counts::default() })
    }

    async fn forget_messages(&self, row: &ForgettingRow, now: Timestamp) -> anyhow::Result<Vec<AfterRedaction>> {
        if !row.messages {
            return Ok(Vec::new());
        }
        let of = row.clone();
        let look = move |db: Db<'_>| {
            let mut messages = db.erasure().left(&of)?.messages;
            messages.extend(db.erasure().source_messages(of.id)?);
            Ok(messages.into_iter().collect::<Vec<_>>())
        };
        let messages = self.0.journal.read_much(look).await?;
        let mut partings = Vec::new();
        for some in messages.chunks(MESSAGES) {
            let (of, some) = (row.clone(), some.to_vec());
            let go = move |tx: Tx<'_>| {
                let (counts, partings) = tx.erasure().messages_forgotten(&of, &some, now)?;
                tx.erasure().count_forgotten(of.id, counts)?;
                Ok(partings)
            };
            partings.extend(self.0.journal.write("forget messages", go).await?);
        }
        Ok(partings)
    }

    /// Blanks the data in the journal and returns what is left.
    async fn cut_out(&self, row: &ForgettingRow) -> anyhow::Result<ErasureRemainder> {
        let of = row.clone();
        let held = self.0.journal.read_much(move |db| db.erasure().held(&of)).await?;
        for some in held.chunks(ROWS) {
            let (of, some) = (row.clone(), some.to_vec());
            let cut = move |tx: Tx<'_>| tx.erasure().count_forgotten(of.id, tx.erasure().cut_out(&of, &some)?);
            self.0.journal.write("forget copies", cut).await?;
        }
        let of = row.clone();
        self.0.journal.read_much(move |db| db.erasure().left(&of)).await
    }

    async fn count(&self, id: ForgettingId, more: Counts) -> anyhow::Result<()> {
        if more.is_zero() {
            return Ok(());
        }
        self.0.journal.write("count what is forgotten", move |tx| tx.erasure().count_forgotten(id, more)).await
    }
}

/// Returns true if matching lines are removed from that file.
fn is_memory(path: &str) -> bool {
    let ours = ["memory/", "learnings/", "agents/", layout::EXPERIENCE];
    ours.iter().any(|start| path.starts_with(start)) && path.ends_with(".md")
}

/// Returns true if the file holds index lines.
fn holds_index(path: &str) -> bool {
    let name = path.strip_prefix("memory/").filter(|name| !name.contains('/'));
    name.is_some_and(|name| name == "MEMORY.md" || memory_md::is_fold(name))
}
