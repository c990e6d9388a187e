//! Erasure of a whole person. First everything pending for them ends and their name and addresses
//! are removed, then their messages are blanked in batches, then their files are deleted, and
//! finally every table and the folder are searched for remains. Each step can be repeated. A group
//! keeps what others wrote there; facts extracted from this person's messages are erased.

use super::Erasure;
use crate::id::{ErasureId, PersonId};
use crate::memory::is_owner_only;
use crate::people::Party;
use crate::store::{
    Db, ErasureChoice, ErasureCounts, ErasureKind, ErasurePlan, ErasureRow, ErasureState, NewErasure, Tx,
};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording;

/// Maximum number of rows changed in one transaction.
const ROWS: u32 = 200;

/// Result of erasing a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonErasure {
    /// Number of deleted files.
    pub files: usize,
    /// Number of blanked messages.
    pub messages: usize,
    /// Places that still hold the person's data, with counts; empty on success.
    pub remaining: Vec<(String, usize)>,
    /// Files of groups, relative to the workspace, that contain the person's text and that only a
    /// person edits.
    pub files_to_edit: Vec<String>,
}

impl Erasure<'_> {
    /// Executes the erasure of a person, or resumes it.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; then the erasure is resumed later.
    pub async fn execute_person(&self, id: ErasureId, now: Timestamp) -> anyhow::Result<PersonErasure> {
        let _alone = self.workspace.erasure_lock().await;
        // A finished one has no folder any more, and an empty folder means the root.
        let is_open = |row: &ErasureRow| row.kind == ErasureKind::Person && row.state != ErasureState::Done;
        let row = self.journal.read(move |db| db.erasure().row(id)).await?;
        let Some(row) = row.filter(is_open) else { return Ok(PersonErasure::default()) };
        let Some(person) = row.person else { return Ok(PersonErasure::default()) };
        let folder = self.folder_to_drop(&row, person).await?;
        self.journal.write("end all of a person", move |tx| tx.erasure().end_all_of(person, now)).await?;
        self.begin_in_groups(person, now).await?;
        let in_groups = self.redact_group_messages(person, now).await?;
        let (files_to_edit, others) = self.execute_in_groups(person, now).await?;
        let own = self.journal.read(move |db| db.erasure().messages_with_words(person)).await?;
        let blank = move |tx: Tx<'_>| tx.erasure().blank_batch_of(person, ROWS);
        while self.journal.write("forget words of a person", blank).await? > 0 {}
        let files = self.drop_files_of(person, folder.as_deref()).await?;
        let below = folder.clone().unwrap_or_default();
        let erase = move |tx: Tx<'_>| tx.erasure().erase_files_of(person, &below, id);
        self.journal.write("forget files of a person", erase).await?;
        self.purge_indexes_and_log().await?;
        let mut remaining = self.remaining_of(person, folder).await?;
        if others > 0 {
            remaining.push(("what groups keep".to_owned(), others));
        }
        let messages = in_groups.saturating_add(own);
        let (something_remains, counts) =
            (!remaining.is_empty(), ErasureCounts { notes: files, messages, ..ErasureCounts::default() });
        let end = move |tx: Tx<'_>| {
            tx.erasure().add_counts(id, counts)?;
            tx.erasure().end(id, something_remains, now)
        };
        self.journal.write("end a forgetting", end).await?;
        Ok(PersonErasure { files, messages, remaining, files_to_edit })
    }

    async fn redact_group_messages(&self, person: PersonId, now: Timestamp) -> anyhow::Result<usize> {
        let mut count = 0_usize;
        loop {
            let batch = self.journal.read(move |db| db.erasure().group_messages(person, ROWS)).await?;
            if batch.is_empty() {
                return Ok(count);
            }
            count = count.saturating_add(batch.len());
            let redact =
                move |tx: Tx<'_>| batch.into_iter().try_for_each(|id| tx.redaction().forget_message(id, now).map(drop));
            self.journal.write("forget words in groups", redact).await?;
        }
    }

    /// Begins the erasure of facts that groups extracted from the person's messages: one for each
    /// group, whose row keeps the texts until nothing holds them. Does nothing on a second call.
    async fn begin_in_groups(&self, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
        if !self.journal.read(move |db| db.erasure().open_in_groups(person)).await?.is_empty() {
            return Ok(());
        }
        let facts = self.journal.read_much(move |db: Db<'_>| db.erasure().group_facts(person)).await?;
        let begin = move |tx: Tx<'_>| {
            facts.into_iter().try_for_each(|(scope, query)| {
                let label = wording::own("", scope).label().clone();
                let plan = ErasurePlan { kind: ErasureKind::Fact, target: String::new(), query, label };
                let choice = &ErasureChoice::default();
                let new = NewErasure { plan: &plan, person, messages: false, choice, scope, at: now };
                tx.erasure().begin(&new).map(drop)
            })
        };
        self.journal.write("want something forgotten in groups", begin).await
    }

    /// Erases those facts from the files of the groups and from everything derived from them.
    /// Returns the files that still hold them, and the number of other places.
    async fn execute_in_groups(&self, person: PersonId, now: Timestamp) -> anyhow::Result<(Vec<String>, usize)> {
        let (mut files, mut others) = (Vec::new(), 0_usize);
        for row in self.journal.read(move |db| db.erasure().open_in_groups(person)).await? {
            let Some(outcome) = self.execute_alone(row.id, now).await? else { continue };
            let Scope::Group(stream) = row.scope else { continue };
            let folder = self.workspace.folder_of(&Party::Group(stream)).await?;
            let found = outcome.remaining;
            let left = found.files.iter().chain(&found.assistant_files).chain(&found.received_files);
            let left = left.chain(&found.unreadable_files);
            let paths = left.chain(&found.paraphrases.files);
            files.extend(paths.map(|file| format!("{folder}/{file}")));
            others = [found.reminders, found.proposals, found.other].into_iter().fold(others, usize::saturating_add);
        }
        Ok((files, others))
    }

    /// Returns the folder to be deleted; `None` if it belongs to another person.
    async fn folder_to_drop(&self, row: &ErasureRow, person: PersonId) -> anyhow::Result<Option<String>> {
        let owner = self.journal.read(|db| db.folders().workspace_owner()).await?;
        if row.target.is_empty() && owner != Some(person) {
            return Ok(None);
        }
        if row.state == ErasureState::Incomplete {
            let people = self.journal.read(|db| db.people().people()).await?;
            for other in people.into_iter().filter(|other| other.id != person) {
                if self.workspace.folder_of(&Party::One(other)).await? == row.target {
                    return Ok(None);
                }
            }
        }
        Ok(Some(row.target.clone()))
    }

    /// Deletes the person's folder, and files written for them elsewhere in the workspace.
    async fn drop_files_of(&self, person: PersonId, folder: Option<&str>) -> anyhow::Result<usize> {
        let mut dropped = match folder {
            Some(folder) => self.workspace.folders().drop_all_in(folder, Scope::Person(person)).await?,
            None => 0,
        };
        let paths = self.journal.read(move |db| db.erasure().paths_of(person)).await?;
        for path in paths.into_iter().filter(|path| !is_owner_only(path)) {
            dropped = dropped.saturating_add(usize::from(self.workspace.folders().drop_one(&path).await?));
        }
        Ok(dropped)
    }

    async fn remaining_of(&self, person: PersonId, folder: Option<String>) -> anyhow::Result<Vec<(String, usize)>> {
        let mut remaining = self.journal.read_much(move |db: Db<'_>| db.erasure().remaining_rows(person)).await?;
        let Some(folder) = folder else { return Ok(remaining) };
        let files = self.workspace.folders().files_in(&folder, Scope::Person(person)).await?;
        let files = files.into_iter().filter(|file| !is_owner_only(&file.path)).count();
        if files > 0 {
            remaining.push(("files".to_owned(), files));
        }
        Ok(remaining)
    }
}
