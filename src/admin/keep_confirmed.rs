//! A person said yes to keeping something: here it becomes theirs.
//!
//! The yes was stored when it came; what is to be done is read off the rows, so it outlives a
//! crash. Doing it and telling it are two things: if the program is cut off between them, the
//! change is there already, and only the telling is left. A yes is for the exact file that was
//! shown, and if something else lies there by now nothing is done. One that cannot be done now (the
//! disk is full) keeps no other from being done; it is tried again, and after an hour of that its
//! person is told instead: that it failed, or, where the change was begun and will be finished,
//! that it waits. Time in which the program was off or asleep is no time of trying.

use crate::admin::MemoryAdmin;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::answer::plain;
use crate::id::{AddressId, KeepId};
use crate::memory::{NotWritten, Workspace};
use crate::people::Party;
use crate::store::{KeepRow, KeepState, NewOutbox, OutboxKind};
use crate::trust::Labelled;
use crate::wording::memory as says;

/// So long it is tried, and so often at least, which takes as long: it is tried once a minute.
const PATIENCE: Duration = Duration::from_secs(3600);
const TRIES: u32 = 60;

/// Why it changes, as it stands in the history of the file.
const CAUSE: &str = "promote";

/// How often each was tried in vain since the program began.
#[derive(Default)]
pub(crate) struct Tries(Mutex<BTreeMap<KeepId, u32>>);

impl Tries {
    /// One more; gives how many those are.
    fn failed(&self, id: KeepId) -> u32 {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tried = tries.entry(id).or_default();
        *tried = tried.saturating_add(1);
        *tried
    }

    fn over(&self, id: KeepId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}

impl MemoryAdmin<'_> {
    /// Does everything that persons said yes to, as far as it can be done. `told` takes the
    /// addresses to which something was posted.
    ///
    /// # Errors
    /// If something of it could not be done: then it is to be tried again in a while.
    pub async fn keep_what_was_allowed(&self, told: &mut Vec<AddressId>) -> anyhow::Result<()> {
        let (mut done_to, mut failed) = (KeepId(0), Ok(()));
        while let Some(row) = self.journal.read(move |db| db.keep_requests().keep_to_do(done_to)).await? {
            done_to = row.id;
            match self.keep_or_give_up(&row).await {
                Ok((state, sentence)) => {
                    self.tries.over(row.id);
                    self.tell_kept(&row, state, sentence).await?;
                    told.extend(row.address);
                }
                Err(error) => failed = Err(error),
            }
        }
        failed
    }

    async fn keep_or_give_up(&self, row: &KeepRow) -> anyhow::Result<(KeepState, String)> {
        let error = match self.keep(row).await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let since = row.decided_at.map_or(PATIENCE, |decided| self.clock.now().since(decided));
        if self.tries.failed(row.id) < TRIES || since < PATIENCE {
            return Err(error.context(format!("What turn {} wanted to keep is not kept yet", row.turn)));
        }
        let (id, path) = (row.person, plain(&row.path));
        let person = self.journal.read(move |db| db.people().person(id)).await?;
        if let Some(person) = person
            && self.kept_before(&Party::One(person), row).await?.is_some()
        {
            // The change was begun, and whoever writes next finishes it: it cannot be said to have
            // failed.
            tracing::error!(turn.id = %row.turn, "What turn {} wanted to keep cannot be written yet: {error:#}", row.turn);
            return Ok((KeepState::Kept, says::keep_waits(&path)));
        }
        tracing::error!(turn.id = %row.turn, "What turn {} wanted to keep cannot be kept, and is given up: {error:#}", row.turn);
        Ok((KeepState::Changed, says::keep_stuck(&path)))
    }

    async fn keep(&self, row: &KeepRow) -> anyhow::Result<(KeepState, String)> {
        let id = row.person;
        let Some(person) = self.journal.read(move |db| db.people().person(id)).await? else {
            return Ok((KeepState::No, String::new()));
        };
        let origin = self.theirs(&person, CAUSE);
        if let Some(path) = self.kept_before(&origin.who, row).await? {
            anyhow::ensure!(
                self.tree.versions().finish().await? == 0,
                "A change of a file that was begun cannot be finished"
            );
            return Ok((KeepState::Kept, says::promoted(&plain(&path), self.reads_memory())));
        }
        if !self.is_as_shown(&origin.who, row).await? {
            return Ok((KeepState::Changed, says::KEEP_CHANGED.to_owned()));
        }
        Ok(match self.tree.versions().promote(&origin, &row.path, &row.digest).await? {
            Ok(kept) => (KeepState::Kept, says::promoted(&plain(&kept.path), self.reads_memory())),
            Err(NotWritten::TooLarge(most)) => {
                (KeepState::Changed, says::full(&plain(&row.path), most, Workspace::room_for(&row.path)))
            }
            Err(NotWritten::Unreadable(path)) => (KeepState::Changed, says::broken(&plain(&path))),
            Err(why) => (KeepState::Changed, says::not_kept(&plain(&why.to_string()))),
        })
    }

    /// Where it went, if the program was cut off after it was done: it was taken from where it lay,
    /// and made theirs, since they said yes.
    async fn kept_before(&self, who: &Party, row: &KeepRow) -> anyhow::Result<Option<String>> {
        let past = self.tree.versions().past(who, &row.path).await?;
        let taken = past.first().filter(|newest| newest.digest.is_empty() && newest.cause == CAUSE);
        let Some(at) = taken.map(|taken| taken.at).filter(|at| Some(*at) >= row.decided_at) else { return Ok(None) };
        let scope = who.scope();
        self.journal.read(move |db| db.keep_requests().promoted_at(scope, at)).await
    }

    async fn is_as_shown(&self, who: &Party, row: &KeepRow) -> anyhow::Result<bool> {
        let read = self.tree.files().read_text(who, &row.path).await?;
        Ok(read.is_ok_and(|(_, _, digest)| digest == row.digest))
    }

    async fn tell_kept(&self, row: &KeepRow, state: KeepState, sentence: String) -> anyhow::Result<()> {
        let (row, now) = (row.clone(), self.clock.now());
        // The names of files were made of the words that were kept.
        let text = Labelled::new(Arc::from(&*sentence), row.shown.label().clone(), row.shown.scope());
        let tell = move |tx: crate::store::Tx<'_>| {
            if !tx.keep_requests().decide_keep(row.id, KeepState::Yes, state, None, now)? {
                return Ok(());
            }
            tracing::info!(turn.id = %row.turn, "What turn {} wanted to keep is settled: {state:?}", row.turn);
            match row.address {
                Some(address) if !sentence.is_empty() => {
                    let (kind, quotes) = (OutboxKind::Answer, &tx.keep_requests().yes_to(&row)?);
                    tx.outbox().post(&NewOutbox { kind, quotes, ..NewOutbox::notice(address, &text, now) }).map(drop)
                }
                _ => Ok(()),
            }
        };
        self.journal.write("settle what is kept", tell).await
    }
}
