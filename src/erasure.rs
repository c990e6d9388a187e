//! Erasure on request: of a note, a fact, words in messages, or a person with all their data.
//!
//! A name or words lead to a plan of what was found ([`plan`]), which is shown item by item
//! ([`preview`]). Once the person wants it, as a whole or in part, its row is stored
//! ([`Erasure::begin`]); from then on it is resumed after a crash. [`Erasure::execute`] deletes
//! from the files first, then from the journal: the file of a note with its index line, lines of
//! other memory files and of [`assistant_files`] with the same text, and every copy in the journal,
//! by its row and by its derivation edges (`store::erasure`). Then everything is searched again
//! ([`verify`]), and remaining places are reported. Finally the search indexes are merged, because
//! only a merge removes single words from them. Files that a person edits, and files that people
//! sent, are kept and reported. Every step can be repeated: a second run finds nothing more to
//! erase. The erasure of a [`person`] runs the same way.
//!
//! Callers above this module end the turns that still use erased text.

mod assistant_files;
mod import;
mod person;
mod plan;
mod preview;
mod verify;

#[cfg(test)]
mod tests;

pub use import::RemovedImport;
pub use person::PersonErasure;
pub use preview::{ErasurePreview, PlannedItem};
pub use verify::FileMatches;

use std::time::Duration;

use crate::id::{ErasureId, MessageId, PersonId};
use crate::memory::{
    Author, ChangeOrigin, EXPERIENCE, NewContent, OwnPath, PersonShare, Workspace, memory_md, unless_refused,
};
use crate::people::Party;
use crate::store::{
    AfterRedaction, Db, ErasureChoice, ErasureCounts, ErasureItem, ErasureKind, ErasurePlan, ErasureRow, Journal,
    NewErasure, RemainingMatches, Tx,
};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};
use assistant_files::AssistantFiles;

/// Maximum number of rows changed in one transaction.
const ROWS: usize = 200;
/// Allowance for archives dated later than now, by a clock that was ahead.
const FUTURE: Duration = Duration::from_hours(10 * 365 * 24);
/// Number of messages in one transaction.
const MESSAGES: usize = 50;
/// Number of passes for data written meanwhile.
const ROUNDS: usize = 3;
/// Number of index pages merged at a time, and maximum number of merges; the nightly maintenance
/// does the rest.
const PAGES: i64 = 64;
const MERGES: u32 = 5_000;

/// Plans, executes and verifies erasures.
#[derive(Debug, Clone, Copy)]
pub struct Erasure<'a> {
    journal: &'a Journal,
    workspace: &'a Workspace,
}

/// Result of an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureOutcome {
    /// Number of erased items, since its start.
    pub counts: ErasureCounts,
    /// Places that still hold the data.
    pub remaining: RemainingMatches,
    /// Redacted messages.
    pub redacted: Vec<AfterRedaction>,
}

impl<'a> Erasure<'a> {
    /// Returns the erasure of data in that journal and that workspace.
    pub fn new(journal: &'a Journal, workspace: &'a Workspace) -> Self {
        Self { journal, workspace }
    }

    /// Stores the rows of erasures, all or none, at the request of that person. Source messages are
    /// deleted only if a plan's flag is true, and nothing that its choice leaves out.
    pub async fn begin(
        &self,
        plans: Vec<(ErasurePlan, bool, ErasureChoice)>,
        person: PersonId,
        scope: Scope,
        at: Timestamp,
    ) -> anyhow::Result<Vec<ErasureId>> {
        let is_person = plans.iter().any(|(plan, ..)| plan.kind == ErasureKind::Person);
        let cause = if is_person { "want a person forgotten" } else { "want something forgotten" };
        let begin = move |tx: Tx<'_>| {
            let new = |(plan, messages, choice): &(_, _, _)| {
                tx.erasure().begin(&NewErasure { plan, person, messages: *messages, choice, scope, at })
            };
            plans.iter().map(new).collect()
        };
        self.journal.write(cause, begin).await
    }

    /// Executes the erasure of a note, a fact or words, or resumes it, and verifies it. `None` if
    /// there is none of that number.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; then the erasure is resumed later.
    pub async fn execute(&self, id: ErasureId, now: Timestamp) -> anyhow::Result<Option<ErasureOutcome>> {
        let _alone = self.workspace.erasure_lock().await;
        self.execute_alone(id, now).await
    }

    /// Like [`Self::execute`], for a caller that holds the lock against other erasures.
    async fn execute_alone(&self, id: ErasureId, now: Timestamp) -> anyhow::Result<Option<ErasureOutcome>> {
        let Some(row) = self.journal.read(move |db| db.erasure().row(id)).await? else { return Ok(None) };
        if let Some(who) = &self.party_of(row.scope).await? {
            self.erase_from_files(&row, who, now).await?;
        }
        let redacted = if row.messages { self.redact_messages(&row, now).await? } else { Vec::new() };
        let mut remaining = RemainingMatches::default();
        for _ in 0..ROUNDS {
            self.redact_copies(&row).await?;
            remaining = self.verify(&row).await?;
            if remaining.other == 0 {
                break;
            }
        }
        self.purge_indexes_and_log().await?;
        // Its words are kept out of new text while something says them that was left out.
        let something_remains = !remaining.is_empty() || remaining.is_spared;
        let end = move |tx: Tx<'_>| {
            tx.erasure().end(id, something_remains, now)?;
            Ok(tx.erasure().row(id)?.map(|row| row.counts).unwrap_or_default())
        };
        let counts = self.journal.write("end a forgetting", end).await?;
        Ok(Some(ErasureOutcome { counts, remaining, redacted }))
    }

    /// Returns the party of a scope, if it still has access.
    async fn party_of(&self, scope: Scope) -> anyhow::Result<Option<Party>> {
        self.journal.read(move |db| db.people().party_of(scope)).await
    }

    async fn erase_from_files(&self, row: &ErasureRow, who: &Party, now: Timestamp) -> anyhow::Result<()> {
        let is_spared = |item: ErasureItem| row.choice.spares(&item.key());
        let note = (row.kind == ErasureKind::Note && !row.target.is_empty()).then_some(row.target.as_str());
        let note = note.filter(|path| !is_spared(ErasureItem::Note((*path).to_owned())));
        let archives = self.journal.read(move |db| db.erasure().exports_before(now.plus(FUTURE))).await?;
        let assistant_files = self.assistant_files(row.scope).await?;
        for file in self.workspace.folders().files_of(who).await? {
            let mut counts = ErasureCounts::default();
            if note == Some(file.location.as_str()) {
                counts.notes = usize::from(self.workspace.folders().drop_one(&file.location).await?);
            } else if let Some((path, digest)) = archives.iter().rfind(|(path, _)| *path == file.location) {
                // An archive of everything contains this too. A file that a person put next to it
                // is theirs.
                let is_dropped = !is_spared(ErasureItem::Archive(path.clone()))
                    && self.workspace.files().drop_export(&file.location, digest).await?;
                counts.archives = usize::from(is_dropped);
            } else if assistant_files.may_lose_lines(&file) {
                counts.lines = self.erase_lines(row, who, &file, &assistant_files, note, now).await?;
            }
            if counts != ErasureCounts::default() {
                let id = row.id;
                let add = move |tx: Tx<'_>| tx.erasure().add_counts(id, counts);
                self.journal.write("count what is forgotten", add).await?;
            }
        }
        if let Some(path) = note.map(str::to_owned) {
            let id = row.id;
            let erase = move |tx: Tx<'_>| tx.erasure().add_counts(id, tx.erasure().erase_file(&path, id)?);
            self.journal.write("forget a file", erase).await?;
        }
        Ok(())
    }

    /// Removes matching lines from another file, and the note's line from the index. A file outside
    /// of the memory without a line left is deleted. Returns the number of removed lines.
    async fn erase_lines(
        &self,
        row: &ErasureRow,
        who: &Party,
        file: &OwnPath,
        assistant_files: &AssistantFiles,
        note: Option<&str>,
        now: Timestamp,
    ) -> anyhow::Result<usize> {
        let (row, location) = (row.clone(), file.location.clone());
        let link =
            note.filter(|_| holds_index(&file.path)).map(|note| note.rsplit('/').next().unwrap_or(note).to_owned());
        let erased = move |text: &str| -> String {
            let text = link.as_ref().map_or_else(|| text.to_owned(), |name| memory_md::remove_index_line(text, name));
            row.without_matching_lines(&location, &text).unwrap_or(text)
        };
        let Some(before) = self.workspace.folders().words_of(who.scope(), file).await? else { return Ok(0) };
        let lines = before.lines().count().saturating_sub(erased(&before).lines().count());
        if lines == 0 || !assistant_files.loses_lines(file, &before) {
            return Ok(0);
        }
        let origin = ChangeOrigin {
            who: who.clone(),
            label: Label::neutral(),
            author: Author::Person,
            cause: "forget",
            from: Vec::new(),
            person: PersonShare::default(),
            now,
        };
        let (in_memory, known) = (is_memory(&file.path), before);
        let change = move |text: Option<&str>| {
            Ok(match text {
                None => NewContent::Deleted,
                // A person changed the file at the same moment.
                Some(text) if !in_memory && text != known => NewContent::Unchanged,
                Some(text) => match erased(text) {
                    rest if !in_memory && rest.trim().is_empty() => NewContent::Deleted,
                    rest => NewContent::Text(rest),
                },
            })
        };
        let changed = self.workspace.versions().change(&origin, &file.path, change).await;
        let is_made = unless_refused(changed)?.is_some();
        Ok(if is_made { lines } else { 0 })
    }

    async fn redact_messages(&self, row: &ErasureRow, now: Timestamp) -> anyhow::Result<Vec<AfterRedaction>> {
        let of = row.clone();
        let search = move |db: Db<'_>| {
            let mut messages = db.erasure().remaining_matches(&of)?.messages;
            let is_spared = |id: &MessageId| of.choice.spares(&ErasureItem::Message(*id).key());
            messages.extend(db.erasure().source_messages(of.id)?.into_iter().filter(|id| !is_spared(id)));
            Ok(messages.into_iter().collect::<Vec<_>>())
        };
        let messages = self.journal.read_much(search).await?;
        let mut redacted = Vec::new();
        for batch in messages.chunks(MESSAGES) {
            let (of, batch) = (row.clone(), batch.to_vec());
            let redact = move |tx: Tx<'_>| {
                let (counts, redacted) = tx.erasure().redact_messages(&of, &batch, now)?;
                tx.erasure().add_counts(of.id, counts)?;
                Ok(redacted)
            };
            redacted.extend(self.journal.write("forget messages", redact).await?);
        }
        Ok(redacted)
    }

    /// Redacts all copies in the journal.
    async fn redact_copies(&self, row: &ErasureRow) -> anyhow::Result<()> {
        let of = row.clone();
        let matches = self.journal.read_much(move |db| db.erasure().matching_rows(&of)).await?;
        for batch in matches.chunks(ROWS) {
            let (of, batch) = (row.clone(), batch.to_vec());
            let redact = move |tx: Tx<'_>| tx.erasure().add_counts(of.id, tx.erasure().redact_matches(&of, &batch)?);
            self.journal.write("forget copies", redact).await?;
        }
        Ok(())
    }

    /// Merges the search indexes, because only a merge removes single words from them, and
    /// truncates the log. For a message deleted by its sender the nightly merge is soon enough; an
    /// erasure on request does it at once.
    async fn purge_indexes_and_log(&self) -> anyhow::Result<()> {
        for step in 0..MERGES {
            let merge = move |tx: Tx<'_>| tx.maintenance().merge_index(PAGES, step == 0);
            if !self.journal.write("merge the index", merge).await? {
                break;
            }
        }
        self.journal.truncate_log().await.map(drop)
    }
}

/// Returns true if matching lines are removed from that file.
fn is_memory(path: &str) -> bool {
    let ours = ["memory/", "learnings/", "agents/", EXPERIENCE];
    ours.iter().any(|start| path.starts_with(start)) && path.ends_with(".md")
}

/// Returns true if the file holds index lines.
fn holds_index(path: &str) -> bool {
    let name = path.strip_prefix("memory/").filter(|name| !name.contains('/'));
    name.is_some_and(|name| name == "MEMORY.md" || memory_md::is_overflow(name))
}
