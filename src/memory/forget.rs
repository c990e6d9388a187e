//! Forgetting reaches the files first and the journal after them.
//!
//! The file of a note goes, with its line in the index; the lines of other files of the memory that
//! say the same go as well. Then the journal lets go of every copy ([`crate::store::Db::held`]),
//! everything is looked through again, and what still holds the words is named. At last the search
//! indexes are put together anew, because they let go of single words only then. Files that only a
//! person's hand changes, and what people sent, are left and named. All of it can be done twice:
//! what is gone is not found the second time.

mod kept;
mod look;
mod named;

use crate::memory::workspace::WorkspaceErasure;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use tokio::sync::OwnedMutexGuard;

use crate::id::ForgettingId;
use crate::people::Party;
use crate::store::{Counts, Db, ForgettingRow, Forgotten, Left, Parting, Tx};
use crate::text::needle::ErasureQuery;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

use super::owned_files::OwnPath;
use super::write::{Author, ChangeOrigin, New};
use super::{layout, memory_md};

/// How many rows one transaction changes at most.
const ROWS: usize = 200;
/// Under a clock that was ahead an archive may be younger than now.
const FUTURE: Duration = Duration::from_hours(10 * 365 * 24);
/// How many messages go in one transaction.
const MESSAGES: usize = 50;
/// What is written while this goes on is looked for once more, but not for ever.
const ROUNDS: usize = 3;

/// Something that can be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgettable {
    /// A note, a fact, or words that were only said.
    pub what: Forgotten,
    /// The note's path relative to the workspace; the fact's key; the words.
    pub target: String,
    /// The words that nothing may hold any more.
    pub needles: ErasureQuery,
    /// Where they came from.
    pub label: Label,
}

/// What came of a forgetting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureOutcome {
    /// How much of what went, from its beginning on.
    pub counts: Counts,
    /// What still holds it.
    pub left: Left,
    /// The streams whose turns ended with the messages that they answered.
    pub partings: Vec<Parting>,
}

impl WorkspaceErasure<'_> {
    /// Waits until nothing is being forgotten. As long as what this gives is held, nothing is: what
    /// is written meanwhile is either seen by a forgetting, or leaves out what is forgotten.
    pub async fn no_forgetting(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.0.forgetting).lock_owned().await
    }

    /// Does a forgetting of a note or a fact, or goes on with it, and looks whether anything holds
    /// it still.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; then it is gone on with later.
    pub async fn forget(&self, id: ForgettingId, now: Timestamp) -> anyhow::Result<Option<ErasureOutcome>> {
        let _alone = self.no_forgetting().await;
        self.forget_alone(id, now).await
    }

    /// The same for whoever sees to it that nothing else is forgotten meanwhile.
    pub(super) async fn forget_alone(
        &self,
        id: ForgettingId,
        now: Timestamp,
    ) -> anyhow::Result<Option<ErasureOutcome>> {
        let Some(row) = self.0.journal.read(move |db| db.erasure().forgetting(id)).await? else { return Ok(None) };
        // To find nothing without knowing what to look for would be taken for success.
        ensure!(row.is_readable, "The words of forgetting {id} cannot be read, so it is not finished");
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
        left.also = self.0.journal.read_much(move |db| db.erasure().also_said(&of, &known)).await?;
        self.look_into_files(&row, &mut left).await?;
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

    /// Whose words a scope holds, if they are still let in.
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
                // A copy of everything is a copy of this too. What somebody put beside it is
                // theirs.
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

    /// Cuts the lines that say it out of another file, and in the index the line that leads to the
    /// note.
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

    async fn forget_messages(&self, row: &ForgettingRow, now: Timestamp) -> anyhow::Result<Vec<Parting>> {
        if !row.messages {
            return Ok(Vec::new());
        }
        let of = row.clone();
        let look = move |db: Db<'_>| {
            let mut messages = db.erasure().left(&of)?.messages;
            messages.extend(db.erasure().messages_it_grew_from(of.id)?);
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

    /// Cuts it out of the journal, and says what is left.
    async fn cut_out(&self, row: &ForgettingRow) -> anyhow::Result<Left> {
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

/// Whether lines that are forgotten are cut out of a file.
fn is_memory(path: &str) -> bool {
    let ours = ["memory/", "learnings/", "agents/", layout::EXPERIENCE];
    ours.iter().any(|start| path.starts_with(start)) && path.ends_with(".md")
}

/// Whether lines that lead to notes stand in a file.
fn holds_index(path: &str) -> bool {
    let name = path.strip_prefix("memory/").filter(|name| !name.contains('/'));
    name.is_some_and(|name| name == "MEMORY.md" || memory_md::is_fold(name))
}
