//! Stores texts as a person's own after they said yes.
//!
//! The yes was stored on arrival, and pending work is read from the rows, so it survives a crash.
//! The change and its notice are two steps: after a crash in between, the change exists already and
//! only the notice is left. A yes applies to the exact file that was shown; if the file has changed
//! since, nothing is done. A change that cannot be made now (the disk is full) does not hold up the
//! others. It is retried, and after an hour of retries the person is notified that it failed or, if
//! the change was begun and will be finished, that it is waiting. Time while the program is off or
//! asleep does not count.

use crate::admin::MemoryAdmin;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::answer::plain;
use crate::admin::memory::{not_kept, shown_of};
use crate::id::{AddressId, KeepId};
use crate::memory::{Workspace, WriteRefusal, is_pending_note, unless_refused};
use crate::people::Party;
use crate::store::{KeepRow, KeepState, NewOutbox, OutboxKind};
use crate::time::task::lock;
use crate::trust::Labelled;
use crate::wording::memory as says;

/// Retry time, and minimum number of retries. Both agree, because retries run once a minute.
const RETRY_TIME: Duration = Duration::from_secs(3600);
const MIN_RETRIES: u32 = 60;

/// The cause recorded in the file's history.
const CAUSE: &str = "promote";

/// Failed attempts per text since the program started.
#[derive(Default)]
pub(crate) struct FailedAttempts(Mutex<BTreeMap<KeepId, u32>>);

impl FailedAttempts {
    /// Counts a failed attempt, and returns the new total.
    fn count(&self, id: KeepId) -> u32 {
        let mut tries = lock(&self.0);
        let tried = tries.entry(id).or_default();
        *tried = tried.saturating_add(1);
        *tried
    }

    fn clear(&self, id: KeepId) {
        lock(&self.0).remove(&id);
    }
}

impl MemoryAdmin<'_> {
    /// Makes all confirmed changes that can be made now. `posted` receives the addresses to which a
    /// message was posted.
    ///
    /// # Errors
    /// If a change could not be made and should be retried later.
    pub async fn apply_confirmed(&self, posted: &mut Vec<AddressId>) -> anyhow::Result<()> {
        let (mut done_to, mut result) = (KeepId(0), Ok(()));
        while let Some(row) = self.journal.read(move |db| db.keep_requests().next_accepted_keep(done_to)).await? {
            done_to = row.id;
            match self.apply_or_give_up(&row).await {
                Ok((state, sentence)) => {
                    self.failed_attempts.clear(row.id);
                    self.post_outcome(&row, state, sentence).await?;
                    posted.extend(row.address);
                }
                Err(error) => result = Err(error),
            }
        }
        result
    }

    async fn apply_or_give_up(&self, row: &KeepRow) -> anyhow::Result<(KeepState, String)> {
        let error = match self.apply(row).await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let since = row.decided_at.map_or(RETRY_TIME, |decided| self.clock.now().since(decided));
        if self.failed_attempts.count(row.id) < MIN_RETRIES || since < RETRY_TIME {
            return Err(error.context(format!("What turn {} wanted to keep is not kept yet", row.turn)));
        }
        let (id, path) = (row.person, plain(&row.path));
        let language = self.language_of(id).await?;
        let person = self.journal.read(move |db| db.people().person(id)).await?;
        if let Some(person) = person
            && self.already_applied(&Party::One(person), row).await?.is_some()
        {
            // The change was begun, and the next writer finishes it, so it must not be reported as
            // failed.
            tracing::error!(turn.id = %row.turn, "What turn {} wanted to keep cannot be written yet: {error:#}", row.turn);
            return Ok((KeepState::Kept, says::keep_waits(language, &path)));
        }
        tracing::error!(turn.id = %row.turn, "What turn {} wanted to keep cannot be kept, and is given up: {error:#}", row.turn);
        Ok((KeepState::Changed, says::keep_stuck(language, &path)))
    }

    async fn apply(&self, row: &KeepRow) -> anyhow::Result<(KeepState, String)> {
        let id = row.person;
        let Some(person) = self.journal.read(move |db| db.people().person(id)).await? else {
            return Ok((KeepState::No, String::new()));
        };
        let (origin, language) = (self.change_by(&person, CAUSE), self.language_of(id).await?);
        if let Some(path) = self.already_applied(&origin.who, row).await? {
            anyhow::ensure!(
                self.workspace.versions().finish().await? == 0,
                "A change of a file that was begun cannot be finished"
            );
            let instead_of = Some(row.instead_of.as_str()).filter(|old| !old.is_empty());
            return Ok((KeepState::Kept, says::promoted(language, &plain(&path), instead_of, self.reads_memory())));
        }
        let replaced = self.workspace.versions().replaced_by_pending(&origin.who, &row.path).await?;
        let replaces_as_told = replaced.as_ref().map_or("", |replaced| replaced.digest.as_str()) == row.replaces;
        if !replaces_as_told || !self.is_as_shown(&origin.who, row).await? {
            return Ok((KeepState::Changed, says::KEEP_CHANGED.in_language(language).into_string()));
        }
        let error = match self.workspace.versions().promote(&origin, &row.path, &row.digest, replaced.as_ref()).await {
            Ok(kept) => {
                let path = plain(kept.path.trim_start_matches('/'));
                let words = says::promoted(language, &path, shown_of(&kept), self.reads_memory());
                return Ok((KeepState::Kept, words));
            }
            Err(error) => error,
        };
        let why = match error.refusal()? {
            WriteRefusal::TooLarge(most) => {
                says::full(language, &plain(&row.path), most, Workspace::size_limit(&row.path))
            }
            WriteRefusal::Unreadable(path) => says::broken(language, &plain(&path)),
            why => not_kept(language, &why),
        };
        Ok((KeepState::Changed, why))
    }

    /// Returns the new path if the change was completed before a crash: since the yes, the file was
    /// removed from its old path and stored as the person's own.
    async fn already_applied(&self, who: &Party, row: &KeepRow) -> anyhow::Result<Option<String>> {
        let past = self.workspace.versions().history(who, &row.path).await?;
        let taken = past.first().filter(|newest| newest.digest.is_empty() && newest.cause == CAUSE);
        let Some(at) = taken.map(|taken| taken.at).filter(|at| Some(*at) >= row.decided_at) else { return Ok(None) };
        let scope = who.scope();
        let promoted = self.journal.read(move |db| db.keep_requests().promoted_at(scope, at)).await?;
        // A text that was there already changed no other file.
        Ok(promoted.or_else(|| Some(row.path.replacen("untrusted/", "", 1))))
    }

    async fn is_as_shown(&self, who: &Party, row: &KeepRow) -> anyhow::Result<bool> {
        if !is_pending_note(&row.path) {
            let outside = unless_refused(self.workspace.files().outside_of(who, &row.path).await)?;
            return Ok(outside.is_some_and(|(_, digest)| digest == row.digest));
        }
        let read = unless_refused(self.workspace.files().read_text(who, &row.path).await)?;
        Ok(read.is_some_and(|(_, _, digest)| digest == row.digest))
    }

    async fn post_outcome(&self, row: &KeepRow, state: KeepState, sentence: String) -> anyhow::Result<()> {
        let (row, now) = (row.clone(), self.clock.now());
        // The file names in the notice derive from the stored text, so its label applies.
        let text = Labelled::new(Arc::from(&*sentence), row.shown.label().clone(), row.shown.scope());
        let tell = move |tx: crate::store::Tx<'_>| {
            if !tx.keep_requests().set_keep_state(row.id, KeepState::Yes, state, None, now)? {
                return Ok(());
            }
            tracing::info!(turn.id = %row.turn, "What turn {} wanted to keep is settled: {state:?}", row.turn);
            match row.address {
                Some(address) if !sentence.is_empty() => {
                    let quotes = &tx.keep_requests().yes_to(&row)?;
                    let answer = NewOutbox::answer(OutboxKind::Answer, address, &text, now);
                    tx.outbox().post(&NewOutbox { quotes, ..answer }).map(drop)
                }
                _ => Ok(()),
            }
        };
        self.journal.write("settle what is kept", tell).await
    }
}
