//! Delivery of the outbox to one address, part by part and in order.
//!
//! A part is rendered and stored before the first attempt, and marked `sending` before it is sent.
//! A part found in that state after a start, or whose response was lost, is sent again and marked
//! as a possible repeat: the wire is at-least-once, the journal exactly-once. A streamed reply is
//! completed by editing its preview.
//!
//! A message that keeps failing although others get through is [set aside](set_aside), and the
//! queue goes on. A message is never given up for its age alone, since a computer that was off has
//! tried nothing: it must also have been tried for about a day, and the address is then told once.
//! A message waits without limit for a client to attach, or because the server asks to
//! wait; that time is stored with the address, and the channel may pause more than this address
//! (`adapter::telegram`: the whole chat).

mod attachments; // files of an answer
mod buttons; // buttons whose decision was made
mod quiet_hours; // what is kept until the morning
mod set_aside; // deliveries that keep failing
mod unasked; // what nobody asked for, and what is over

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use self::attachments::OutgoingAttachment;
use self::unasked::Decision;
use super::dispatcher::{DeliveryQueue, Dispatcher, FailureLog};
use crate::adapter::{MAX_SERVER_WAIT, OutgoingPart, PartFormat, SendError};
use crate::id::{AddressId, StreamId, TurnId};
use crate::message::{Outbound, chat_of};
use crate::people::Address;
use crate::store::{Db, EnclosedFile, NewOutbox, NewPart, OutboxKind, OutboxRow, PartRow, PartState, Tx};
use crate::time::clock::{Wakeups, wakeups};
use crate::time::task::{guarded, lock};
use crate::time::{Backoff, Timestamp};
use crate::trust::{Scope, Text};
use crate::wording::{self, Language, gateway};

/// Age after which an undeliverable message may be given up.
const GIVE_UP_AFTER: Duration = Duration::from_secs(7 * 24 * 3600);
/// Minimum number of attempts before that: about a day of them.
const MIN_ATTEMPTS: u32 = 288;
/// Retry intervals.
const RETRY: Backoff = Backoff { first: Duration::from_secs(2), longest: Duration::from_secs(300) };

impl Dispatcher {
    /// Queue of an address; `None` if its adapter is not registered or has another account now.
    pub async fn queue(self: &Arc<Self>, id: AddressId) -> anyhow::Result<Option<Arc<DeliveryQueue>>> {
        if let Some(queue) = lock(&self.queues).get(&id) {
            return Ok(Some(Arc::clone(queue)));
        }
        let Some(address) = self.journal.read(move |db| db.addresses().address(id)).await? else { return Ok(None) };
        let Some(adapter) = self.adapter(&address.adapter) else { return Ok(None) };
        if adapter.account() != address.account {
            return Ok(None);
        }
        let mut queues = lock(&self.queues);
        let queue = queues.entry(id).or_insert_with(|| {
            let (waker, wakeups) = wakeups();
            let (sending, failure_log) = (tokio::sync::Mutex::new(()), FailureLog::default());
            let queue = Arc::new(DeliveryQueue { id, address, adapter, sending, waker, failure_log });
            let delivery =
                Delivery { dispatcher: Arc::clone(self), queue: Arc::clone(&queue), edits_at: AtomicI64::new(0) };
            self.tasks.spawn(delivery.run(wakeups));
            queue
        });
        Ok(Some(Arc::clone(queue)))
    }
}

/// Task that delivers to one address.
struct Delivery {
    dispatcher: Arc<Dispatcher>,
    queue: Arc<DeliveryQueue>,
    /// Time before which no buttons are replaced, after a failure.
    edits_at: AtomicI64,
}

/// Reason for an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttemptPurpose {
    /// The message is the first in the queue.
    InTurn,
    /// Probe whether anything gets through; a failure does not count.
    Probe,
}

/// Result of an attempt.
enum AttemptResult {
    Done,
    NotBefore(Timestamp),
    /// A temporary failure.
    Later {
        at: Timestamp,
        attempts: u32,
    },
    Absent,
    Failed(String),
    GivenUp,
}

impl Delivery {
    /// Delivers until the program stops.
    async fn run(self, mut wakeups: Wakeups) {
        let (dispatcher, id) = (&self.dispatcher, self.queue.id);
        let (mut wake_at, mut busy) = (None, None);
        loop {
            busy = tokio::select! {
                () = dispatcher.stop.cancelled() => return,
                woken = wakeups.recv_or_timeout(&*dispatcher.clock, wake_at, busy.take()) => woken,
            };
            if busy.is_none() {
                return;
            }
            // A request in progress gets a moment to complete when the program stops.
            let grace = async {
                dispatcher.stop.cancelled().await;
                crate::time::clock::real_sleep(Duration::from_secs(5)).await;
            };
            let delivered = tokio::select! {
                // A part interrupted here is in state `sending` and marked as a possible repeat
                // after the next start.
                () = grace => return,
                delivered = guarded("A delivery", self.work()) => delivered,
            };
            wake_at = delivered.unwrap_or_else(|error| {
                tracing::error!(address.id = %id, "Delivering to address {id} failed: {error:#}");
                Some(dispatcher.clock.now().plus(Duration::from_secs(10)))
            });
        }
    }

    /// Does everything that is due, and returns the time of the next attempt.
    async fn work(&self) -> anyhow::Result<Option<Timestamp>> {
        let next = self.deliver_all().await?;
        Ok(next.into_iter().chain(self.replace_buttons().await?).min())
    }

    /// Delivers pending messages; returns the time of the next attempt if one has to wait.
    async fn deliver_all(&self) -> anyhow::Result<Option<Timestamp>> {
        let (dispatcher, id) = (&self.dispatcher, self.queue.id);
        loop {
            if dispatcher.stop.is_cancelled() {
                return Ok(None);
            }
            self.move_unasked().await?;
            let now = dispatcher.clock.now();
            let (held, until) = self.quiet_hours(now).await?.unzip();
            let read = move |db: Db<'_>| Ok((db.outbox().next_outbox(id, held)?, db.addresses().wait_until(id)?));
            let (Some(row), wait_until) = dispatcher.journal.read(read).await? else { return Ok(until) };
            let not_before = row.retry_at.put_off(RETRY.longest, now).max(wait_until.put_off(MAX_SERVER_WAIT, now));
            if not_before > now {
                return Ok(Some(not_before));
            }
            let _sending = self.queue.sending.lock().await;
            match self.deliver(&row, AttemptPurpose::InTurn).await? {
                AttemptResult::Done => {}
                AttemptResult::NotBefore(at) => return Ok(Some(at)),
                AttemptResult::Later { at, attempts } => {
                    if attempts < set_aside::FAILURES || self.has_to_wait(&row, attempts, held).await? {
                        return Ok(Some(at));
                    }
                }
                AttemptResult::Absent => return Ok(None),
                AttemptResult::Failed(why) => self.give_up(&row, why, None).await?,
                AttemptResult::GivenUp => {
                    let scope = row.text.scope();
                    let language = self.dispatcher.journal.read(move |db| db.people().language_in(scope)).await?;
                    let notice = wording::own(gateway::GIVEN_UP.in_language(language), scope);
                    self.give_up(&row, "could not be delivered for a week".to_owned(), Some(notice)).await?;
                }
            }
        }
    }

    /// Delivers one message as far as possible.
    async fn deliver(&self, row: &OutboxRow, purpose: AttemptPurpose) -> anyhow::Result<AttemptResult> {
        if row.kind == OutboxKind::Reaction {
            return self.react(row).await.map(|()| AttemptResult::Done);
        }
        let decision = self.drop_if_over(row).await?;
        if decision == Decision::Dropped {
            return Ok(AttemptResult::Done);
        }
        let parts = self.parts_of(row).await?;
        let preview = match row.turn {
            Some(turn) => {
                let preview = self.dispatcher.journal.read(move |db| db.outbox().preview(turn)).await?;
                preview.map(|external_id| (turn, external_id))
            }
            None => None,
        };
        let last = parts.len().saturating_sub(1);
        for (index, part) in parts.iter().enumerate() {
            if matches!(part.state, PartState::Sent | PartState::Failed) {
                continue;
            }
            let preview = preview.clone().filter(|_| index == 0);
            let place = PartPlace { is_last: index == last, is_closed: decision == Decision::Closed };
            match self.deliver_part(row, part, preview, purpose, place).await? {
                AttemptResult::Done => {}
                other => return Ok(other),
            }
        }
        Ok(AttemptResult::Done)
    }

    /// Returns the stored parts, rendering and storing them first if there are none.
    async fn parts_of(&self, row: &OutboxRow) -> anyhow::Result<Vec<PartRow>> {
        let (journal, id) = (&self.dispatcher.journal, row.id);
        let known = journal.read(move |db| db.outbox().parts(id)).await?;
        if !known.is_empty() {
            return Ok(known);
        }
        let unanswered = match row.kind {
            // A notice that quotes stands in place of an answer.
            OutboxKind::Notice => !row.quotes.is_empty(),
            kind => kind == OutboxKind::Refusal,
        };
        let outbound = Outbound { text: row.text.clone(), buttons: row.buttons.clone(), unanswered };
        let mut pieces = self.queue.adapter.render(&outbound);
        if pieces.is_empty() {
            let buttons = row.buttons.clone();
            let blank = gateway::BLANK.in_language(self.language().await?);
            pieces.push(OutgoingPart { buttons, ..attachments::plain_part(&blank) });
        }
        let text = |OutgoingPart { rich, plain, buttons, .. }| NewPart { rich, plain, buttons, ..NewPart::default() };
        let mut rows: Vec<NewPart> = pieces.into_iter().map(text).collect();
        let turn = row.turn.filter(|_| row.kind == OutboxKind::Reply);
        let store = move |tx: Tx<'_>| {
            let files = turn.map_or(Ok(Vec::new()), |turn| tx.outgoing_files().enclosed_files(turn))?;
            let file = |EnclosedFile { path: file, digest }| NewPart { file, digest, ..NewPart::default() };
            rows.extend(files.into_iter().map(file));
            tx.outbox().store_parts(id, &rows)?;
            tx.outbox().parts(id)
        };
        journal.write("keep parts", store).await
    }

    async fn deliver_part(
        &self,
        row: &OutboxRow,
        part: &PartRow,
        preview: Option<(TurnId, String)>,
        purpose: AttemptPurpose,
        PartPlace { is_last, is_closed }: PartPlace,
    ) -> anyhow::Result<AttemptResult> {
        let (dispatcher, queue) = (&self.dispatcher, &self.queue);
        // Found in `sending`: an earlier attempt never learned its outcome. A preview without an id
        // is equally in doubt.
        let in_doubt = part.state == PartState::Sending;
        let (preview_of, target) = preview.unzip();
        let target = target.filter(|external_id| !external_id.is_empty());
        let lost_preview = preview_of.is_some() && target.is_none();
        // Editing the same message again displays nothing twice.
        let repeated = part.repeated || lost_preview || (in_doubt && target.is_none());
        let peer = dispatcher.current_peer(queue).await?;
        let is_file = !part.file.is_empty();
        let language = if is_file || repeated || is_closed { self.language().await? } else { Language::ENGLISH };
        let attachment = match is_file {
            false => None,
            true => Some(OutgoingAttachment::open(&dispatcher.workspace, part, language).await?),
        };
        let plain_only = part.plain_only;
        let mut attempt = Attempt { peer, target, plain_only, repeated, is_closed, attachment, language };
        loop {
            let (id, plain_only) = (part.id, attempt.plain_only);
            let begin = move |tx: Tx<'_>| tx.outbox().part_sending(id, plain_only, repeated);
            dispatcher.journal.write("begin to send", begin).await?;
            match attempt.send(queue, row, part).await {
                Ok(external_id) => {
                    if queue.failure_log.record_success() {
                        tracing::info!(outbox.id = %row.id, "Deliveries to address {} go through again", queue.id);
                    }
                    self.mark_sent(row, part, external_id, preview_of, is_last).await?;
                    return Ok(AttemptResult::Done);
                }
                Err(error) if attempt.try_fallback(part, &error) => {}
                Err(error) => {
                    return self.handle_failure(row, part, error, attempt.target.is_some(), purpose).await;
                }
            }
        }
    }

    /// Returns the language of what the program adds to a message.
    async fn language(&self) -> anyhow::Result<Language> {
        let id = self.queue.id;
        self.dispatcher.journal.read(move |db| db.people().language_at(id)).await
    }

    async fn mark_sent(
        &self,
        row: &OutboxRow,
        part: &PartRow,
        external_id: String,
        preview: Option<TurnId>,
        is_last: bool,
    ) -> anyhow::Result<()> {
        let (part, row, now) = (part.id, row.clone(), self.dispatcher.clock.now());
        let mark = move |tx: Tx<'_>| {
            tx.outbox().part_over(part, PartState::Sent, &external_id)?;
            if let Some(turn) = preview {
                tx.outbox().drop_preview(turn)?;
            }
            if !is_last {
                tx.outbox().outbox_later(row.id, 0, Timestamp(0), "")?;
                return Ok(FollowUp::default());
            }
            close_row(tx, &row, PartState::Sent, "", now)
        };
        self.dispatcher.journal.write("mark as sent", mark).await?.wake(&self.dispatcher);
        Ok(())
    }

    /// Stores what follows from a failed attempt. `edited` tells whether it was an edit of an
    /// existing message.
    async fn handle_failure(
        &self,
        row: &OutboxRow,
        part: &PartRow,
        error: SendError,
        edited: bool,
        purpose: AttemptPurpose,
    ) -> anyhow::Result<AttemptResult> {
        let (journal, now) = (&self.dispatcher.journal, self.dispatcher.clock.now());
        let attempts = row.attempts.saturating_add(1);
        if purpose == AttemptPurpose::InTurn && should_give_up(row, attempts, &error, now) {
            return Ok(AttemptResult::GivenUp);
        }
        log_waiting(&self.queue, row, &error);
        let (id, outbox, address) = (part.id, row.id, self.queue.id);
        let retry_at = now.plus(RETRY.pause(attempts));
        match error {
            SendError::Wait(pause) => {
                let until = now.plus(pause);
                let wait = move |tx: Tx<'_>| {
                    tx.outbox().part_waits(id)?;
                    tx.addresses().set_wait_until(address, until)
                };
                journal.write("wait to send", wait).await?;
                Ok(AttemptResult::NotBefore(until))
            }
            SendError::NotAttached => {
                journal.write("wait for somebody", move |tx| tx.outbox().part_waits(id)).await?;
                Ok(AttemptResult::Absent)
            }
            SendError::Later(_) | SendError::OutcomeUnknown(_) => {
                // An unclear result leaves the part in `sending`, so that the next attempt knows it
                // may be a repeat. An edit cannot be one.
                let certain = edited || matches!(error, SendError::Later(_));
                let reason = error.to_string();
                let postpone = move |tx: Tx<'_>| {
                    if certain {
                        tx.outbox().part_waits(id)?;
                    }
                    match purpose {
                        AttemptPurpose::InTurn => tx.outbox().outbox_failed(outbox, attempts, retry_at, &reason, now),
                        AttemptPurpose::Probe => Ok(()),
                    }
                };
                journal.write("send later", postpone).await?;
                Ok(AttemptResult::Later { at: retry_at, attempts })
            }
            SendError::Migrated(to) => {
                let Address { adapter, account, peer } = self.queue.address.clone();
                let follow = move |tx: Tx<'_>| {
                    tx.groups().group_moved(&adapter, &account, chat_of(&peer), chat_of(&to), now)?;
                    tx.outbox().part_waits(id)?;
                    tx.outbox().outbox_later(outbox, attempts, retry_at, "the group goes on under another id")
                };
                journal.write("follow a group", follow).await?;
                Ok(AttemptResult::NotBefore(retry_at))
            }
            SendError::BadMarkup | SendError::NotFound | SendError::Blocked(_) | SendError::Refused(_) => {
                Ok(AttemptResult::Failed(error.to_string()))
            }
        }
    }

    /// Gives a message up with its remaining parts and stores the reason. `notice` is posted once,
    /// even if more messages are given up before it is delivered.
    async fn give_up(&self, row: &OutboxRow, why: String, notice: Option<Text>) -> anyhow::Result<()> {
        tracing::error!(outbox.id = %row.id, "Delivery {} was given up: {why}", row.id);
        let (row, now) = (row.clone(), self.dispatcher.clock.now());
        let close = move |tx: Tx<'_>| {
            fail_parts(tx, &row)?;
            if let Some(turn) = row.turn {
                tx.outbox().drop_preview(turn)?;
            }
            let follow_up = close_row(tx, &row, PartState::Failed, &why, now)?;
            // Posted only now: the row given up may be this very notice, which then waits again.
            if let Some(notice) = notice
                && !tx.outbox().says_soon(row.address, &notice)?
            {
                tx.outbox().post(&NewOutbox::answer(OutboxKind::Notice, row.address, &notice, now))?;
            }
            Ok(follow_up)
        };
        self.dispatcher.journal.write("give a delivery up", close).await?.wake(&self.dispatcher);
        Ok(())
    }
}

/// Place of a part in its message.
#[derive(Debug, Clone, Copy)]
struct PartPlace {
    is_last: bool,
    /// True if the message asks for a decision that is no longer possible.
    is_closed: bool,
}

/// Form and target of an attempt.
struct Attempt {
    peer: String,
    /// Message to be edited.
    target: Option<String>,
    plain_only: bool,
    repeated: bool,
    /// True if nothing is to be decided any more.
    is_closed: bool,
    /// Content that is not text.
    attachment: Option<OutgoingAttachment>,
    /// Language of what the program adds.
    language: Language,
}

impl Attempt {
    async fn send(&self, queue: &DeliveryQueue, row: &OutboxRow, part: &PartRow) -> Result<String, SendError> {
        let buttons = if self.is_closed { Vec::new() } else { part.buttons.clone() };
        let (rich, plain) = (part.rich.clone(), part.plain.clone());
        let answers = row.answers().map(str::to_owned).collect();
        let (piece, is_plain) = match &self.attachment {
            Some(OutgoingAttachment::File(file)) => {
                if self.repeated {
                    attachments::warn_of_repeat(queue, &self.peer, file, self.language).await;
                }
                return queue.adapter.send_file(&self.peer, file).await;
            }
            Some(OutgoingAttachment::Notice(words)) => {
                (OutgoingPart { answers, ..attachments::plain_part(words) }, true)
            }
            None => (
                OutgoingPart {
                    rich,
                    plain,
                    buttons,
                    reply_to: reply_to(row, part),
                    answers,
                    silent: row.silent || part.seq > 0,
                },
                self.plain_only,
            ),
        };
        let piece = match (self.is_closed && part.seq == 0, self.repeated) {
            (true, _) => queue.adapter.with_prefix(&piece, &gateway::CLOSED.in_language(self.language)),
            (false, true) => queue.adapter.with_prefix(&piece, &gateway::POSSIBLY_REPEATED.in_language(self.language)),
            (false, false) => piece,
        };
        let form = if is_plain { PartFormat::Plain } else { PartFormat::Rich };
        match &self.target {
            Some(external_id) => {
                queue.adapter.edit(&self.peer, external_id, &piece, form).await.map(|()| external_id.clone())
            }
            None => queue.adapter.send(&self.peer, &piece, form).await,
        }
    }

    /// Switches to a fallback after that failure; returns false if there is none.
    fn try_fallback(&mut self, part: &PartRow, error: &SendError) -> bool {
        let is_file = matches!(self.attachment, Some(OutgoingAttachment::File(_)));
        match error {
            SendError::Refused(_) | SendError::BadMarkup | SendError::NotFound if is_file => {
                self.attachment = Some(OutgoingAttachment::rejected_notice(part, self.language));
            }
            SendError::BadMarkup if !self.plain_only => self.plain_only = true,
            SendError::NotFound if self.target.is_some() => self.target = None,
            _ => return false,
        }
        true
    }
}

/// Message that a part visibly replies to: in groups, and for the first part only. Between two
/// people it is obvious.
fn reply_to(row: &OutboxRow, part: &PartRow) -> Option<String> {
    let is_shown = part.seq == 0 && matches!(row.text.scope(), Scope::Group(_));
    row.answers().next().filter(|_| is_shown).map(str::to_owned)
}

/// Returns true if the message was tried for long enough. An absent client or a wait is no failure.
fn should_give_up(row: &OutboxRow, attempts: u32, error: &SendError, now: Timestamp) -> bool {
    let failed = matches!(error, SendError::Later(_) | SendError::OutcomeUnknown(_));
    failed && attempts >= MIN_ATTEMPTS && now.since(row.created_at) > GIVE_UP_AFTER
}

/// Logs a new cause of waiting. An unattached terminal is no reason to warn.
fn log_waiting(queue: &DeliveryQueue, row: &OutboxRow, error: &SendError) {
    match error {
        error if !queue.failure_log.record_failure(error) => {}
        SendError::NotAttached => {
            tracing::info!(outbox.id = %row.id, "Delivery {} waits until somebody is attached to address {}", row.id, queue.id);
        }
        error => {
            tracing::warn!(outbox.id = %row.id, "Delivery {} and all that is for address {} has to wait: {error}", row.id, queue.id);
        }
    }
}

/// Follow-up work once a message was delivered or given up.
#[derive(Default)]
struct FollowUp {
    timer: bool,
    /// Stream of an open question.
    question: Option<StreamId>,
}

impl FollowUp {
    /// Wakes the tasks that depend on it.
    fn wake(&self, dispatcher: &Dispatcher) {
        if self.timer {
            dispatcher.scheduler.wake(&*dispatcher.clock);
        }
        if let Some(stream) = self.question {
            dispatcher.notify_question(stream);
        }
    }
}

/// Closes an outbox row and starts the timers that depend on it.
fn close_row(tx: Tx<'_>, row: &OutboxRow, state: PartState, reason: &str, now: Timestamp) -> anyhow::Result<FollowUp> {
    tx.outbox().outbox_over(row.id, state, reason, now)?;
    let question = start_time_limit(tx, row, now)?;
    Ok(FollowUp { timer: tx.timers().has_timer(row.id)?, question })
}

/// Marks every part that was not sent as failed.
fn fail_parts(tx: Tx<'_>, row: &OutboxRow) -> anyhow::Result<()> {
    for part in tx.outbox().parts(row.id)? {
        if part.state != PartState::Sent {
            tx.outbox().part_over(part.id, PartState::Failed, "")?;
        }
    }
    Ok(())
}

/// Starts the time limit of a question or proposal when its message was delivered or given up.
/// Returns the stream in which the question waits, if it was the reply of a turn.
fn start_time_limit(tx: Tx<'_>, row: &OutboxRow, now: Timestamp) -> anyhow::Result<Option<StreamId>> {
    // Only the first notice starts the limit; a proposal displayed again keeps it.
    if let (OutboxKind::Notice, Some(proposal)) = (row.kind, unasked::proposal_of(row)) {
        tx.proposals().proposal_was_put(proposal, row.id, now)?;
    }
    // A list of what waits has the same buttons, and starts nothing.
    let question = unasked::question_of(row).filter(|_| row.kind != OutboxKind::Answer);
    let Some(question) = question else { return Ok(None) };
    tx.keep_requests().start_keep_limit(question, now)?;
    tx.questions().asked_with(row.id)
}
