//! Resumes a turn that is not over: after it waited, or after it was interrupted.
//!
//! The time limit restarts each time, since downtime does not count. The bound is the number of
//! interruptions: a turn that crashes the program whenever it runs, or fails here each time, ends,
//! and the chat goes on.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

use super::{DELAY_WORTH_NAMING, NextAction, StreamTask, party};
use crate::engine::turn::reply::{end_unanswered, is_open, may_say_why, post_notice};
use crate::engine::{MAX_MESSAGE_AGE, context};
use crate::id::{AddressId, TurnId};
use crate::store::{Db, MessageKind, NewOutbox, OutboxKind, TurnRow, TurnState, Tx, UnansweredReason, is_full};
use crate::time::Timestamp;
use crate::time::task::Panicked;
use crate::trust::{Scope, Text};
use crate::wording::{self, Sentence};

/// Maximum number of interruptions of a turn.
const MAX_INTERRUPTIONS: u32 = 5;
/// Number of consecutive errors, ten seconds apart, that count as one interruption. Errors do not
/// count while the journal cannot be written.
const ERRORS: u32 = 30;

impl StreamTask {
    /// Resumes a turn that waited or was interrupted.
    pub(super) async fn resume(
        &mut self,
        mut row: TurnRow,
        is_awaited: bool,
        stop: &CancellationToken,
    ) -> anyhow::Result<NextAction> {
        let now = self.engine.clock.now();
        // A new message while the model is unreachable means that the person is waiting now: try
        // again.
        if let Some(retry_at) =
            row.retry_at.map(|at| at.put_off(MAX_MESSAGE_AGE, now)).filter(|at| *at > now && !is_awaited)
        {
            return Ok(NextAction::Until(retry_at));
        }
        if self.current_turn != Some(row.id) {
            row.interruptions = self.count_interruption(&row, now).await?;
            self.current_turn = Some(row.id);
        }
        let (person, scope) = (row.person, row.scope);
        let party = self.engine.journal.read(move |db| party(db, person, scope)).await?;
        let Some(party) = party else { return self.abandon(row, UnansweredReason::NotAllowed, None).await };
        if row.interruptions > MAX_INTERRUPTIONS {
            return self.abandon(row, UnansweredReason::CutOff, Some(wording::turn::CUT_OFF)).await;
        }
        let inputs = self.inputs_of(party, row.conversation, row.address, row.claimed_at).await?;
        let budget = self.engine.context_budget(&self.engine.chat);
        let identity = context::identity(&self.engine, &inputs, &budget);
        self.history_of(&inputs.conversation, context::guess(&[&identity, &row.context])).await?;
        let turn = row.id;
        let next = self.run_turn(row, inputs, stop).await?;
        if is_awaited && matches!(next, NextAction::Until(_)) {
            self.tell_of_outage(turn, scope).await?;
        }
        Ok(next)
    }

    /// Answers the messages that wait behind that turn while the model is unreachable: each once,
    /// where it came from.
    async fn tell_of_outage(&mut self, turn: TurnId, scope: Scope) -> anyhow::Result<()> {
        let (id, now) = (self.id, self.engine.clock.now());
        let Some((since, why)) = self.engine.outage() else { return Ok(()) };
        let read = move |db: Db<'_>| Ok((db.messages().messages_of_turn(turn)?, db.messages().queued(id)?));
        let (asked, mut queued) = self.engine.journal.read(read).await?;
        queued.retain(|message| message.kind == MessageKind::Said);
        let waiting = queued.len() + asked.iter().filter(|message| message.kind == MessageKind::Said).count();
        // Before a restart they were told.
        let told = std::mem::replace(&mut self.told_of_outage, queued.last().map(|message| message.id));
        queued.retain(|message| Some(message.id) > told && message.received_at >= self.engine.runtime.began);
        let mut quotes: BTreeMap<AddressId, Vec<String>> = BTreeMap::new();
        for message in queued {
            if let Some(address) = message.address {
                quotes.entry(address).or_default().push(message.external_id);
            }
        }
        let zone = self.engine.zone_of(scope).await?;
        let language = self.engine.language_of(scope).await?;
        let notice = self.notice(wording::turn::still_away(language, why, since, now, zone, waiting));
        let addresses: Vec<AddressId> = quotes.keys().copied().collect();
        let post = move |tx: Tx<'_>| {
            for (address, quotes) in quotes {
                if !may_say_why(tx, scope, address, now)? {
                    continue;
                }
                let quotes = if matches!(scope, Scope::Group(_)) { "" } else { &quotes.join("\n") };
                let answer = NewOutbox::answer(OutboxKind::Notice, address, &notice, now);
                tx.outbox().post(&NewOutbox { quotes, ..answer })?;
            }
            Ok(())
        };
        if !addresses.is_empty() {
            self.engine.journal.write("tell of an outage", post).await?;
            addresses.into_iter().for_each(|address| self.engine.channels.posted(address));
        }
        Ok(())
    }

    /// Marks the turn as interrupted after an error, if it panicked or its errors do not end.
    pub(super) fn count_against_turn(&mut self, error: &anyhow::Error) {
        if error.is::<Panicked>() || (self.errors.is_multiple_of(ERRORS) && !is_full(error)) {
            self.current_turn = None;
        }
    }

    /// Counts an interruption. If it took long, posts one notice of the delay.
    async fn count_interruption(&self, row: &TurnRow, now: Timestamp) -> anyhow::Result<u32> {
        let (id, address) = (row.id, row.address);
        let is_first = row.state == TurnState::Running && row.interruptions == 0;
        let notice = if is_first { self.new_delay_notice(row, now).await? } else { None };
        let is_delayed = notice.is_some();
        let interruptions = self
            .engine
            .journal
            .write("take a turn up again", move |tx| {
                if let Some(notice) = notice {
                    tx.outbox().post(&NewOutbox::answer(OutboxKind::Notice, address, &notice, now))?;
                }
                tx.turns().count_interruption_of(id)
            })
            .await?;
        if is_delayed {
            self.engine.channels.posted(address);
        }
        Ok(interruptions)
    }

    /// Returns the notice that names the delay, unless the delay was already long, and named,
    /// when the turn began.
    async fn new_delay_notice(&self, row: &TurnRow, now: Timestamp) -> anyhow::Result<Option<Text>> {
        let (id, claimed_at) = (row.id, row.claimed_at);
        let messages = self.engine.journal.read(move |db| db.messages().messages_of_turn(id)).await?;
        let Some(first) = messages.iter().find(|message| message.kind == MessageKind::Said) else { return Ok(None) };
        let is_long = |until: Timestamp| until.since(first.effective_at) > DELAY_WORTH_NAMING;
        let was_away = claimed_at < self.engine.runtime.began;
        let (zone, language) = (self.engine.zone_of(row.scope).await?, self.engine.language_of(row.scope).await?);
        let notice = || self.notice(Self::delay_notice(language, first.effective_at, now, was_away, zone));
        Ok((is_long(now) && !is_long(claimed_at)).then(notice))
    }

    /// Ends a turn that cannot continue, with a notice to the person who waits for it.
    async fn abandon(
        &self,
        row: TurnRow,
        reason: UnansweredReason,
        sentence: Option<Sentence>,
    ) -> anyhow::Result<NextAction> {
        let now = self.engine.clock.now();
        let (address, language) = (row.address, self.engine.language_of(row.scope).await?);
        let notice = sentence.map(|sentence| self.notice(sentence.in_language(language)));
        self.engine
            .journal
            .write("abandon a turn", move |tx| {
                // Stopped meanwhile: the person knows already.
                if !is_open(tx, row.id)? {
                    return Ok(());
                }
                let is_task =
                    tx.messages().messages_of_turn(row.id)?.iter().any(|message| message.kind == MessageKind::Task);
                if let Some(notice) = notice.filter(|_| !is_task) {
                    post_notice(tx, &row, &notice, now)?;
                }
                end_unanswered(tx, row.id, reason, now)
            })
            .await?;
        self.engine.channels.posted(address);
        self.engine.wake_schedule();
        Ok(NextAction::Again)
    }
}
