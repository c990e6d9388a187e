//! Erasure of a whole person. First everything pending for them ends and their name and addresses
//! are removed, then their messages are blanked in batches, then their files are deleted, and
//! finally every table and the folder are searched for remains. Each step can be repeated. A group
//! keeps what others wrote there; facts extracted from this person's messages are erased.

use crate::id::{ForgettingId, PersonId};
use crate::memory::workspace::WorkspaceErasure;
use crate::people::Party;
use crate::store::{Counts, Db, ForgettingRow, Forgotten, NewForgetting, Tx};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording;

use super::workspace::blocking;
use super::{disk, layout};

/// Maximum number of rows changed in one transaction.
const ROWS: u32 = 200;
/// Number of index pages merged at a time, and maximum number of merges; the nightly maintenance
/// does the rest.
const PAGES: i64 = 64;
const MERGES: u32 = 5_000;

/// Result of erasing a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PersonErasure {
    /// Number of deleted files.
    pub files: usize,
    /// Number of blanked messages.
    pub messages: usize,
    /// Places that still hold the person's data, with counts; empty on success.
    pub left: Vec<(String, usize)>,
    /// Files of groups, relative to the workspace, that contain the person's text and that only a
    /// person edits.
    pub by_hand: Vec<String>,
}

impl WorkspaceErasure<'_> {
    /// Returns the folder of a person with present or former access.
    pub async fn folder_once_of(&self, id: PersonId, name: &str) -> anyhow::Result<String> {
        let folder = self.0.journal.read(move |db| db.folders().folder_once_of(id)).await?;
        Ok(folder.unwrap_or_else(|| layout::folder_name(id, name)))
    }

    /// Erases a person, or resumes doing so.
    ///
    /// # Errors
    /// If the journal or the disk cannot be used; then the erasure is resumed later.
    pub async fn forget_person(&self, id: ForgettingId, now: Timestamp) -> anyhow::Result<PersonErasure> {
        let _alone = self.no_forgetting().await;
        // A finished one has no folder any more, and an empty folder means the root.
        let row = self.0.journal.read(move |db| db.erasure().open_forgetting(id)).await?;
        let Some(row) = row.filter(|row| row.what == Forgotten::Person) else { return Ok(PersonErasure::default()) };
        let Some(person) = row.person else { return Ok(PersonErasure::default()) };
        let folder = self.folder_to_drop(&row, person).await?;
        self.0.journal.write("end all of a person", move |tx| tx.erasure().end_all_of(person, now)).await?;
        self.request_group_erasures(person, now).await?;
        let said = self.drop_words_in_groups(person, now).await?;
        let (by_hand, elsewhere) = self.forget_in_groups(person, now).await?;
        let own = self.0.journal.read(move |db| db.erasure().messages_with_words(person)).await?;
        while self
            .0
            .journal
            .write("forget words of a person", move |tx| tx.erasure().blank_some_of(person, ROWS))
            .await?
            > 0
        {}
        let files = self.drop_files_of(person, folder.as_deref()).await?;
        let below = folder.clone().unwrap_or_default();
        let bury = move |tx: Tx<'_>| tx.erasure().files_forgotten(person, &below, id);
        self.0.journal.write("forget files of a person", bury).await?;
        self.purge_index().await?;
        self.0.journal.cut_log().await?;
        let mut left = self.left_of(person, folder).await?;
        if elsewhere > 0 {
            left.push(("what groups keep".to_owned(), elsewhere));
        }
        let messages = said.saturating_add(own);
        let (is_left, counts) = (!left.is_empty(), Counts { notes: files, messages, ..Counts::default() });
        let end = move |tx: Tx<'_>| {
            tx.erasure().count_forgotten(id, counts)?;
            tx.erasure().end_forgetting(id, is_left, now)
        };
        self.0.journal.write("end a forgetting", end).await?;
        Ok(PersonErasure { files, messages, left, by_hand })
    }

    async fn drop_words_in_groups(&self, person: PersonId, now: Timestamp) -> anyhow::Result<usize> {
        let mut count = 0_usize;
        loop {
            let some = self.0.journal.read(move |db| db.erasure().group_messages(person, ROWS)).await?;
            if some.is_empty() {
                return Ok(count);
            }
            count = count.saturating_add(some.len());
            let go =
                move |tx: Tx<'_>| some.into_iter().try_for_each(|id| tx.redaction().redact_message(id, now).map(drop));
            self.0.journal.write("forget words in groups", go).await?;
        }
    }

    /// Requests the erasure of facts that groups extracted from the person's messages: one request
    /// for each group, whose row keeps the texts until nothing holds them. Does nothing on a second
    /// call.
    async fn request_group_erasures(&self, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
        if !self.0.journal.read(move |db| db.erasure().forgettings_in_groups(person)).await?.is_empty() {
            return Ok(());
        }
        let taken = self.0.journal.read_much(move |db: Db<'_>| db.erasure().group_facts(person)).await?;
        let want = move |tx: Tx<'_>| {
            taken.iter().try_for_each(|(scope, needles)| {
                let own = wording::own("", *scope);
                let new = NewForgetting {
                    person: Some(person),
                    what: Forgotten::Fact,
                    target: "",
                    needles,
                    messages: false,
                    label: own.label(),
                    scope: *scope,
                    at: now,
                };
                tx.erasure().begin_erasure(&new).map(drop)
            })
        };
        self.0.journal.write("want something forgotten in groups", want).await
    }

    /// Erases those facts from the files of the groups and from everything derived from them.
    /// Returns the files that still hold them, and the number of other places.
    async fn forget_in_groups(&self, person: PersonId, now: Timestamp) -> anyhow::Result<(Vec<String>, usize)> {
        let (mut by_hand, mut elsewhere) = (Vec::new(), 0_usize);
        for row in self.0.journal.read(move |db| db.erasure().forgettings_in_groups(person)).await? {
            let Some(outcome) = self.forget_alone(row.id, now).await? else { continue };
            let Scope::Group(stream) = row.scope else { continue };
            let folder = self.folder_of(&Party::Group(stream)).await?;
            let left = outcome.left;
            let files = left.files.iter().chain(&left.unread).chain(&left.also.files);
            by_hand.extend(files.map(|file| format!("{folder}/{file}")));
            elsewhere = [left.reminders, left.proposals, left.other].into_iter().fold(elsewhere, usize::saturating_add);
        }
        Ok((by_hand, elsewhere))
    }

    /// Returns the folder to be deleted; `None` if it belongs to another person.
    async fn folder_to_drop(&self, row: &ForgettingRow, person: PersonId) -> anyhow::Result<Option<String>> {
        let holder = self.0.journal.read(|db| db.folders().workspace_owner()).await?;
        if row.target.is_empty() && holder != Some(person) {
            return Ok(None);
        }
        let others =
            self.0.journal.read(|db| db.people().people()).await?.into_iter().filter(|other| other.id != person);
        for other in others.filter(|_| row.is_left) {
            if self.folder_of(&Party::One(other)).await? == row.target {
                return Ok(None);
            }
        }
        Ok(Some(row.target.clone()))
    }

    /// Deletes the person's folder, and files written for them elsewhere in the workspace.
    async fn drop_files_of(&self, person: PersonId, folder: Option<&str>) -> anyhow::Result<usize> {
        let mut dropped = match folder {
            Some(folder) => self.folders().drop_all_in(folder, Scope::Person(person)).await?,
            None => 0,
        };
        let spots = self.0.journal.read(move |db| db.erasure().paths_of(person)).await?;
        for spot in spots.into_iter().filter(|spot| !layout::is_owner_only(spot)) {
            dropped = dropped.saturating_add(usize::from(self.drop_spot(&spot).await?));
        }
        Ok(dropped)
    }

    /// Merges the search indexes, because only a merge removes single words from them. For a
    /// message deleted by its sender the nightly merge is soon enough; an erasure on request does
    /// it at once.
    pub(super) async fn purge_index(&self) -> anyhow::Result<()> {
        for step in 0..MERGES {
            let merge = move |tx: Tx<'_>| tx.maintenance().merge_index(PAGES, step == 0);
            if !self.0.journal.write("merge the index", merge).await? {
                break;
            }
        }
        Ok(())
    }

    async fn left_of(&self, person: PersonId, folder: Option<String>) -> anyhow::Result<Vec<(String, usize)>> {
        let mut left = self.0.journal.read_much(move |db: Db<'_>| db.erasure().holding(person)).await?;
        let Some(folder) = folder else { return Ok(left) };
        let files = self.folders().files_in(&folder, Scope::Person(person)).await?;
        let files = files.into_iter().filter(|file| !layout::is_owner_only(&file.path)).count();
        if files > 0 {
            left.push(("files".to_owned(), files));
        }
        Ok(left)
    }

    /// Deletes a file that was written for a person. Skips a path that leads elsewhere.
    async fn drop_spot(&self, spot: &str) -> anyhow::Result<bool> {
        let (tree, spot) = (self.tree.clone(), spot.to_owned());
        let alone = std::sync::Arc::clone(&self.0.writing).lock_owned().await;
        blocking(move || {
            let _alone = alone;
            match tree.folders().drop_at(&spot) {
                Err(error) if disk::is_missing(&error) => Ok(false),
                dropped => dropped,
            }
        })
        .await
    }
}
