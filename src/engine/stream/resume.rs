//! Resumes a turn that is not over: after it waited, or after it was interrupted.
//!
//! The time limit restarts each time, since downtime does not count. The bound is the number of
//! interruptions: a turn that crashes the program whenever it runs, or fails here each time, ends,
//! and the chat goes on.

use tokio_util::sync::CancellationToken;

use super::{DELAY_WORTH_NAMING, NextAction, StreamTask, party};
use crate::engine::{PATIENCE, context, turn};
use crate::store::{MessageKind, MessageState, NewOutbox, TurnRow, TurnState, is_full};
use crate::time::Timestamp;
use crate::time::task::Panicked;
use crate::wording::{self, ProgramText};

/// Maximum number of interruptions of a turn.
const LIVES: u32 = 5;
/// Number of consecutive errors, ten seconds apart, that count as one interruption. Errors do not
/// count while the journal cannot be written.
const TROUBLES: u32 = 30;

impl StreamTask {
    /// Resumes a turn that waited or was interrupted.
    pub(super) async fn take_up(
        &mut self,
        mut row: TurnRow,
        hurry: bool,
        stop: &CancellationToken,
    ) -> anyhow::Result<NextAction> {
        let now = self.engine.clock.now();
        // A new message while the model is unreachable means that the person is waiting now: try
        // again.
        if let Some(retry_at) = row.retry_at.map(|at| at.put_off(PATIENCE, now)).filter(|at| *at > now && !hurry) {
            return Ok(NextAction::Until(retry_at));
        }
        if self.own != Some(row.id) {
            row.lives = self.live_again(&row, now).await?;
            self.own = Some(row.id);
        }
        let (person, scope) = (row.person, row.scope);
        let party = self.engine.journal.read(move |db| party(db, person, scope)).await?;
        let Some(party) = party else { return self.abandon(row, "not_allowed", None).await };
        if row.lives > LIVES {
            return self.abandon(row, "cut_off", Some(wording::turn::CUT_OFF)).await;
        }
        let ready = self.ready(party, row.conversation, row.claimed_at).await?;
        let room = self.engine.context_budget(&self.engine.chat);
        let identity = context::identity(&ready.known, &self.engine.agent, &ready.party, &room);
        self.history_of(&ready.opening, context::guess(&[&identity, &row.context])).await?;
        self.run_turn(row, ready, stop).await
    }

    /// Marks the turn as interrupted after an error, if it panicked or its errors do not end.
    pub(super) fn may_be_its_fault(&mut self, error: &anyhow::Error) {
        if error.is::<Panicked>() || (self.troubles.is_multiple_of(TROUBLES) && !is_full(error)) {
            self.own = None;
        }
    }

    /// Counts an interruption. If it took long, posts one notice of the delay.
    async fn live_again(&self, row: &TurnRow, now: Timestamp) -> anyhow::Result<u32> {
        let (id, address) = (row.id, row.address);
        let late =
            if row.state == TurnState::Running && row.lives == 0 { self.late_by_now(row, now).await? } else { None };
        let is_late = late.is_some();
        let notice = late.map(|sentence| self.notice(sentence));
        let lives = self
            .engine
            .journal
            .write("take a turn up again", move |tx| {
                if let Some(notice) = notice {
                    tx.outbox().post(&NewOutbox::notice(address, &notice, now))?;
                }
                tx.turns().live_again(id)
            })
            .await?;
        if is_late {
            self.engine.audience.posted(address);
        }
        Ok(lives)
    }

    /// Returns the sentence that names the delay, unless the delay was already long, and named,
    /// when the turn began.
    async fn late_by_now(&self, row: &TurnRow, now: Timestamp) -> anyhow::Result<Option<ProgramText>> {
        let id = row.id;
        let messages = self.engine.journal.read(move |db| db.messages().messages_of_turn(id)).await?;
        let said =
            messages.iter().find(|message| message.kind == MessageKind::Said).map(|message| message.effective_at);
        let late = said.filter(|said| now.since(*said) > DELAY_WORTH_NAMING);
        let told = |said: &Timestamp| row.claimed_at.since(*said) > DELAY_WORTH_NAMING;
        Ok(late.filter(|said| !told(said)).map(|said| self.late(said, now, row.claimed_at < self.engine.runtime.began)))
    }

    /// Ends a turn that cannot continue, with a notice to the person who waits for it.
    async fn abandon(
        &self,
        row: TurnRow,
        reason: &'static str,
        sentence: Option<&'static str>,
    ) -> anyhow::Result<NextAction> {
        let now = self.engine.clock.now();
        let (address, notice) = (row.address, sentence.map(|sentence| self.notice(sentence)));
        self.engine
            .journal
            .write("abandon a turn", move |tx| {
                // Stopped meanwhile: the person knows already.
                if !tx.turns().turn(row.id)?.is_some_and(|turn| turn.is_open()) {
                    return Ok(());
                }
                let is_task =
                    tx.messages().messages_of_turn(row.id)?.iter().any(|message| message.kind == MessageKind::Task);
                if let Some(notice) = notice.filter(|_| !is_task) {
                    let quotes = &turn::asked_there(tx, &row)?;
                    tx.outbox().post(&NewOutbox { quotes, ..NewOutbox::notice(row.address, &notice, now) })?;
                }
                tx.outbox().drop_preview(row.id)?;
                tx.messages().settle_turn(row.id, MessageState::Closed, reason)?;
                tx.turns().end_turn(row.id, TurnState::GaveUp, reason, now)
            })
            .await?;
        self.engine.audience.posted(address);
        self.engine.wake_worker();
        Ok(NextAction::Again)
    }
}
