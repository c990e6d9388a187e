//! Joining of messages that follow each other quickly into one turn.
//!
//! A turn waits only for what arrives together ([`TOGETHER`]), and then begins. A message that
//! continues it before the model's first word cancels the request, at most once in a turn: the turn
//! waits until nothing more came within `join_within`, takes the messages in, and asks again. The
//! cancelled call stays counted at its worst case, like one that a crash cut off. In the journal
//! this is an open turn that was given further messages, so a power cut leaves the messages either
//! queued or in the turn.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Turn, TurnRecord};
use crate::engine::auto_recall;
use crate::id::{ConversationId, MessageId};
use crate::model::StreamSink;
use crate::store::{Db, MessageKind, Node, StoredMessage, TurnRow, Tx};
use crate::time::Timestamp;
use crate::time::clock::suspend_activity;
use crate::trust::{Label, Text};

/// Time in which messages arrive that were sent together: an album, a forward and its comment.
pub(in crate::engine) const TOGETHER: Duration = Duration::from_millis(100);

/// Maximum time for which messages are joined, however fast they follow each other.
const JOIN_AT_MOST: Duration = Duration::from_secs(5);

/// Returns the time at which nothing more came after `last` within that span; `None` if it has
/// passed. If the clock was set back, it is not waited for.
pub(in crate::engine) fn quiet_at(
    first: Timestamp,
    last: Timestamp,
    within: Duration,
    now: Timestamp,
) -> Option<Timestamp> {
    let at = last.plus(within).min(first.plus(JOIN_AT_MOST));
    Some(at).filter(|at| now < *at && at.since(now) <= JOIN_AT_MOST)
}

/// Joins the labels of these messages and of their files into `label`. Something from outside among
/// them ends what a yes allows of tools.
pub(in crate::engine) fn absorb_messages(
    tx: Tx<'_>,
    conversation: ConversationId,
    messages: &[MessageId],
    others: Vec<Label>,
    label: &Label,
    now: Timestamp,
) -> anyhow::Result<Label> {
    let (mut came, mut label) = (others, label.clone());
    for id in messages {
        came.extend(tx.messages().texts_of(*id)?.into_iter().map(|text| text.text.label().clone()));
        came.extend(tx.attachments().attachments_of(*id)?.into_iter().map(|file| file.label));
    }
    if came.iter().any(Label::asks_before_leaving) {
        tx.grants().end_tools(conversation, "", now)?;
    }
    came.iter().for_each(|came| label.absorb(came));
    Ok(label.vouched_for(&tx.grants().vouched_in(conversation)?))
}

/// Forwards everything to another sink and records whether there was text.
pub(super) struct FirstWord<'a> {
    to: &'a dyn StreamSink,
    is_shown: AtomicBool,
}

impl<'a> FirstWord<'a> {
    pub(super) fn new(to: &'a dyn StreamSink) -> Self {
        Self { to, is_shown: AtomicBool::new(false) }
    }
}

impl StreamSink for FirstWord<'_> {
    fn append(&self, delta: &str) {
        self.is_shown.store(true, Ordering::Relaxed);
        self.to.append(delta);
    }

    fn restart(&self) {
        self.to.restart();
    }
}

/// The messages of a turn, and those in the queue that continue them: from the same place, each
/// soon after the one before.
struct Burst {
    own: Vec<StoredMessage>,
    more: Vec<StoredMessage>,
}

impl Burst {
    fn read(db: Db<'_>, turn: &TurnRow, within: Duration) -> anyhow::Result<Self> {
        let own = db.messages().messages_of_turn(turn.id)?;
        let mut more = Vec::new();
        let Some((first, last)) = own.first().zip(own.last()) else { return Ok(Self { own, more }) };
        let (until, mut newest) = (first.received_at.plus(JOIN_AT_MOST), last.received_at);
        for message in db.messages().queued(turn.stream)? {
            let is_same_place = message.kind == MessageKind::Said
                && message.conversation == Some(turn.conversation)
                && message.address == Some(turn.address);
            if !is_same_place || message.received_at.since(newest) > within || message.received_at > until {
                break;
            }
            newest = message.received_at;
            more.push(message);
        }
        Ok(Self { own, more })
    }

    /// Time at which the burst is over, as [`quiet_at`].
    fn over_at(&self, within: Duration, now: Timestamp) -> Option<Timestamp> {
        let (first, last) = self.own.first().zip(self.more.last().or(self.own.last()))?;
        quiet_at(first.received_at, last.received_at, within, now)
    }
}

impl Turn<'_> {
    /// Completes when a message came that continues this turn, while its first request has not
    /// shown a word. Never completes for a turn that asks again, or that waited for the model.
    pub(super) async fn continued(&self, record: &TurnRecord, word: &FirstWord<'_>) {
        let within = self.engine.conversation.join_within;
        let is_first = record.steps.iter().all(|step| !step.done) && self.row.attempts == 0 && !self.row.noticed;
        if self.has_joined || within.is_zero() || self.kind().is_run() || !is_first {
            return std::future::pending().await;
        }
        loop {
            self.arrivals.notified().await;
            let _busy = self.engine.clock.busy();
            let row = self.row.clone();
            let more = self.engine.journal.read(move |db| Burst::read(db, &row, within)).await;
            match more {
                _ if word.is_shown.load(Ordering::Relaxed) => {}
                Ok(burst) if burst.more.is_empty() => {}
                Ok(_) => return,
                Err(error) => tracing::warn!(turn.id = %self.row.id, "Turn {}: {error:#}", self.row.id),
            }
        }
    }

    /// Waits until the burst is over, and takes its messages into the turn.
    pub(super) async fn take_messages_in(&mut self) -> anyhow::Result<()> {
        self.has_joined = true;
        let (within, clock) = (self.engine.conversation.join_within, &self.engine.clock);
        let burst = loop {
            let row = self.row.clone();
            let burst = self.engine.journal.read(move |db| Burst::read(db, &row, within)).await?;
            let now = clock.now();
            let Some(over_at) = burst.over_at(within, now) else { break burst };
            suspend_activity(&**clock, over_at.since(now)).await;
        };
        let ids: Vec<MessageId> = burst.more.iter().map(|message| message.id).collect();
        let all = burst.own.iter().chain(&burst.more).map(|message| message.id);
        let (recalled, sources) = match self.history.last_turn {
            Some(_) => (self.row.recalled.clone(), Vec::new()),
            None => auto_recall::for_messages(self.engine, &self.inputs, all.collect()).await?,
        };
        let (row, now) = (self.row.clone(), clock.now());
        let take = move |tx: Tx<'_>| take_in(tx, row, ids, &recalled, &sources, now);
        self.row = self.engine.journal.write("take messages in", take).await?;
        Ok(())
    }
}

/// Gives an open turn those messages that still wait. Returns the turn as it is then.
fn take_in(
    tx: Tx<'_>,
    row: TurnRow,
    ids: Vec<MessageId>,
    recalled: &Text,
    sources: &[Node],
    now: Timestamp,
) -> anyhow::Result<TurnRow> {
    let Some(turn) = tx.turns().turn(row.id)?.filter(TurnRow::is_open) else { return Ok(row) };
    let ids = tx.messages().still_queued(&ids)?;
    let label = absorb_messages(tx, turn.conversation, &ids, Vec::new(), &turn.label, now)?;
    tx.turns().set_label(turn.id, &label)?;
    tx.turns().set_context(turn.id, &turn.context, recalled)?;
    tx.messages().claim(turn.id, &ids)?;
    let messages = ids.into_iter().map(Node::Message);
    for parent in messages.chain(sources.iter().copied()) {
        tx.derivations().derive(Node::Turn(turn.id), parent)?;
    }
    Ok(tx.turns().turn(turn.id)?.unwrap_or(row))
}
