//! A turn that is not over: taken up again after it waited, or after it was cut off.
//!
//! Its time begins anew each time, since time in the dark is not its own. What bounds it is how
//! often it was cut off: one that ends the program whenever it is worked on, or breaks here each
//! time, has an end itself, and the chat goes on.

use tokio_util::sync::CancellationToken;

use super::{DELAY_WORTH_NAMING, Now, StreamTask, party};
use crate::engine::{PATIENCE, context, turn};
use crate::store::{MessageKind, NewOutbox, TurnRow, is_full};
use crate::time::Timestamp;
use crate::time::task::Panicked;
use crate::wording::{self, ProgramText};

/// How often a turn may be cut off.
const LIVES: u32 = 5;
/// So many errors in a row, ten seconds apart, count like one time that it was cut off. While the
/// journal cannot be written none does.
const TROUBLES: u32 = 30;

impl StreamTask {
    /// Takes up a turn that was begun: one that waited, or one that was cut off.
    pub(super) async fn take_up(
        &mut self,
        mut row: TurnRow,
        hurry: bool,
        stop: &CancellationToken,
    ) -> anyhow::Result<Now> {
        let now = self.engine.clock.now();
        // Somebody who writes again while the model is away is there now: that is worth a try.
        if let Some(retry_at) = row.retry_at.map(|at| at.put_off(PATIENCE, now)).filter(|at| *at > now && !hurry) {
            return Ok(Now::Until(retry_at));
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
        let room = self.engine.room(&self.engine.chat);
        let identity = context::identity(&ready.known, &self.engine.agent, &ready.party, &room);
        self.history_of(&ready.opening, context::guess(&[&identity, &row.context])).await?;
        self.run_turn(row, ready, stop).await
    }

    /// After an error: a turn that breaks, or whose errors do not end, is taken up as one that was
    /// cut off.
    pub(super) fn may_be_its_fault(&mut self, error: &anyhow::Error) {
        if error.is::<Panicked>() || (self.troubles.is_multiple_of(TROUBLES) && !is_full(error)) {
            self.own = None;
        }
    }

    /// Counts that it was cut off. If that took long, whoever waits is told so, once.
    async fn live_again(&self, row: &TurnRow, now: Timestamp) -> anyhow::Result<u32> {
        let (id, address) = (row.id, row.address);
        let late = if row.state == "running" && row.lives == 0 { self.late_by_now(row, now).await? } else { None };
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

    /// The sentence that names the delay, unless it was long when the turn began: then it was
    /// named.
    async fn late_by_now(&self, row: &TurnRow, now: Timestamp) -> anyhow::Result<Option<ProgramText>> {
        let id = row.id;
        let messages = self.engine.journal.read(move |db| db.messages().messages_of_turn(id)).await?;
        let said =
            messages.iter().find(|message| message.kind == MessageKind::Said).map(|message| message.effective_at);
        let late = said.filter(|said| now.since(*said) > DELAY_WORTH_NAMING);
        let told = |said: &Timestamp| row.claimed_at.since(*said) > DELAY_WORTH_NAMING;
        Ok(late.filter(|said| !told(said)).map(|said| self.late(said, now, row.claimed_at < self.engine.runtime.began)))
    }

    /// Ends a turn that nothing can be made of, with a sentence for whoever waits for it.
    async fn abandon(&self, row: TurnRow, reason: &'static str, sentence: Option<&'static str>) -> anyhow::Result<Now> {
        let now = self.engine.clock.now();
        let (address, notice) = (row.address, sentence.map(|sentence| self.notice(sentence)));
        self.engine
            .journal
            .write("abandon a turn", move |tx| {
                // Stopped meanwhile: that is said already.
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
                tx.messages().settle_turn(row.id, "closed", reason)?;
                tx.turns().end_turn(row.id, "gave_up", reason, now)
            })
            .await?;
        self.engine.audience.posted(address);
        self.engine.ring_worker();
        Ok(Now::Again)
    }
}
