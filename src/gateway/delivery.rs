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
//! A message waits without limit for a client to attach, or because the server asks to wait.

mod set_aside;

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use self::set_aside::SetAsideDecision;
use super::attachments_out::{self, OutgoingAttachment};
use super::consent;
use super::dispatcher::{DeliveryQueue, Dispatcher};
use super::log_throttle::QueueBlock;
use crate::adapter::{OutgoingPart, PartFormat, SendError};
use crate::id::{AddressId, StreamId, TurnId};
use crate::message::Outbound;
use crate::people::Address;
use crate::store::{EnclosedFile, NewOutbox, NewPart, OutboxKind, OutboxRow, PartRow, PartState, Tx};
use crate::time::clock::{Wakeups, wakeups};
use crate::time::task::guarded;
use crate::time::{Backoff, Timestamp};
use crate::trust::{Scope, Text};
use crate::wording::{self, gate};

/// Age after which an undeliverable message may be given up.
const GIVE_UP_AFTER: Duration = Duration::from_secs(7 * 24 * 3600);
/// Minimum number of attempts before that: about a day of them.
const MIN_ATTEMPTS: u32 = 288;
/// Retry intervals.
const RETRY: Backoff = Backoff { first: Duration::from_secs(2), longest: Duration::from_secs(300) };
/// Longest wait that a server may ask for.
const MAX_SERVER_WAIT: Duration = Duration::from_secs(24 * 3600);

impl Dispatcher {
    /// Queue of an address; `None` if its adapter is not registered or has another account now.
    pub async fn queue(self: &Arc<Self>, id: AddressId) -> anyhow::Result<Option<Arc<DeliveryQueue>>> {
        if let Some(lane) = self.queues.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return Ok(Some(Arc::clone(lane)));
        }
        let Some(address) = self.journal.read(move |db| db.addresses().address(id)).await? else { return Ok(None) };
        let Some(adapter) = self.adapter(&address.adapter) else { return Ok(None) };
        if adapter.account() != address.account {
            return Ok(None);
        }
        let mut lanes = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let lane = lanes.entry(id).or_insert_with(|| {
            let (ringer, bell) = wakeups();
            let lane = Arc::new(DeliveryQueue {
                id,
                address,
                adapter,
                sending: tokio::sync::Mutex::new(()),
                ringer,
                failure_log: QueueBlock::default(),
            });
            self.tasks.spawn(run(Arc::clone(self), Arc::clone(&lane), bell));
            lane
        });
        Ok(Some(Arc::clone(lane)))
    }
}

/// Delivers to one address until the program stops.
pub async fn run(desks: Arc<Dispatcher>, lane: Arc<DeliveryQueue>, mut bell: Wakeups) {
    let stop = desks.stop.clone();
    let (mut wake_at, mut busy) = (None, None);
    loop {
        busy = tokio::select! {
            () = stop.cancelled() => return,
            heard = bell.recv_or_timeout(&*desks.clock, wake_at, busy.take()) => heard,
        };
        if busy.is_none() {
            return;
        }
        let delivered = tokio::select! {
            // A part interrupted here is in state `sending` and marked as a possible repeat after
            // the next start.
            () = shutdown_grace(&stop) => return,
            delivered = guarded("A delivery", deliver_all(&desks, &lane)) => delivered,
        };
        wake_at = delivered.unwrap_or_else(|error| {
            tracing::error!(address.id = %lane.id, "Delivering to address {} failed: {error:#}", lane.id);
            Some(desks.clock.now().plus(Duration::from_secs(10)))
        });
    }
}

/// Gives a request in progress a moment to complete when the program stops.
async fn shutdown_grace(stop: &tokio_util::sync::CancellationToken) {
    stop.cancelled().await;
    crate::time::clock::real_sleep(Duration::from_secs(5)).await;
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

/// Delivers pending messages; returns the time of the next attempt if one has to wait.
async fn deliver_all(desks: &Arc<Dispatcher>, lane: &Arc<DeliveryQueue>) -> anyhow::Result<Option<Timestamp>> {
    loop {
        if desks.stop.is_cancelled() {
            return Ok(None);
        }
        let id = lane.id;
        let (row, wait_until) =
            desks.journal.read(move |db| Ok((db.outbox().next_outbox(id)?, db.addresses().wait_until(id)?))).await?;
        let Some(row) = row else { return Ok(None) };
        let now = desks.clock.now();
        let not_before = row.retry_at.put_off(RETRY.longest, now).max(wait_until.put_off(MAX_SERVER_WAIT, now));
        if not_before > now {
            return Ok(Some(not_before));
        }
        let _sending = lane.sending.lock().await;
        match deliver(desks, lane, &row, AttemptPurpose::InTurn).await? {
            AttemptResult::Done => {}
            AttemptResult::NotBefore(at) => return Ok(Some(at)),
            AttemptResult::Later { at, attempts } => {
                if attempts < set_aside::FAILURES {
                    return Ok(Some(at));
                }
                match set_aside::decide(desks, lane, &row).await? {
                    SetAsideDecision::Wait => return Ok(Some(at)),
                    SetAsideDecision::TryAgain => set_aside::try_again(desks, &row, attempts).await?,
                    SetAsideDecision::SetAside => set_aside::set_aside(desks, lane, &row).await?,
                }
            }
            AttemptResult::Absent => return Ok(None),
            AttemptResult::Failed(why) => give_up(desks, &row, why, None).await?,
            AttemptResult::GivenUp => {
                let notice = wording::own(gate::GIVEN_UP, row.text.scope());
                give_up(desks, &row, "could not be delivered for a week".to_owned(), Some(notice)).await?;
            }
        }
    }
}

/// Reason for an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttemptPurpose {
    /// The message is the first in the queue.
    InTurn,
    /// Probe whether anything gets through; a failure does not count.
    Probe,
}

/// Delivers one message as far as possible.
async fn deliver(
    desks: &Arc<Dispatcher>,
    lane: &Arc<DeliveryQueue>,
    row: &OutboxRow,
    trial: AttemptPurpose,
) -> anyhow::Result<AttemptResult> {
    if row.kind == OutboxKind::Reaction {
        return attachments_out::react(desks, lane, row).await.map(|()| AttemptResult::Done);
    }
    let parts = parts_of(desks, lane, row).await?;
    let preview = match row.turn {
        Some(turn) => {
            desks.journal.read(move |db| db.outbox().preview(turn)).await?.map(|external_id| (turn, external_id))
        }
        None => None,
    };
    let last = parts.len().saturating_sub(1);
    for (index, part) in parts.iter().enumerate() {
        if matches!(part.state, PartState::Sent | PartState::Failed) {
            continue;
        }
        let preview = preview.clone().filter(|_| index == 0);
        match deliver_part(desks, lane, row, part, preview, AttemptContext { trial, is_last: index == last }).await? {
            AttemptResult::Done => {}
            other => return Ok(other),
        }
    }
    Ok(AttemptResult::Done)
}

/// Returns the stored parts, rendering and storing them first if there are none.
async fn parts_of(desks: &Arc<Dispatcher>, lane: &Arc<DeliveryQueue>, row: &OutboxRow) -> anyhow::Result<Vec<PartRow>> {
    let id = row.id;
    let known = desks.journal.read(move |db| db.outbox().parts(id)).await?;
    if !known.is_empty() {
        return Ok(known);
    }
    let outbound = Outbound { text: row.text.clone(), buttons: row.buttons.clone() };
    let mut pieces = lane.adapter.render(&outbound);
    if pieces.is_empty() {
        let blank = gate::BLANK.to_owned();
        pieces.push(OutgoingPart {
            rich: blank.clone(),
            plain: blank,
            buttons: row.buttons.clone(),
            ..OutgoingPart::default()
        });
    }
    let text = |OutgoingPart { rich, plain, buttons, .. }| NewPart { rich, plain, buttons, ..NewPart::default() };
    let mut rows: Vec<NewPart> = pieces.into_iter().map(text).collect();
    let turn = row.turn.filter(|_| row.kind == OutboxKind::Reply);
    desks
        .journal
        .write("keep parts", move |tx| {
            let files = turn.map_or(Ok(Vec::new()), |turn| tx.outgoing_files().enclosed_files(turn))?;
            let file = |EnclosedFile { path: file, digest }| NewPart { file, digest, ..NewPart::default() };
            rows.extend(files.into_iter().map(file));
            tx.outbox().store_parts(id, &rows)?;
            tx.outbox().parts(id)
        })
        .await
}

/// Reason for the attempt, and position of the part.
#[derive(Clone, Copy)]
struct AttemptContext {
    trial: AttemptPurpose,
    is_last: bool,
}

/// A failed attempt.
struct FailedAttempt {
    error: SendError,
    /// True if the attempt was an edit of an existing message.
    edited: bool,
    trial: AttemptPurpose,
}

async fn deliver_part(
    desks: &Arc<Dispatcher>,
    lane: &Arc<DeliveryQueue>,
    row: &OutboxRow,
    part: &PartRow,
    preview: Option<(TurnId, String)>,
    place: AttemptContext,
) -> anyhow::Result<AttemptResult> {
    // Found in `sending`: an earlier attempt never learned its outcome. A preview without an id is
    // equally in doubt.
    let in_doubt = part.state == PartState::Sending;
    let target =
        preview.as_ref().map(|(_, external_id)| external_id.clone()).filter(|external_id| !external_id.is_empty());
    let lost_preview = preview.is_some() && target.is_none();
    // Editing the same message again displays nothing twice.
    let repeated = part.repeated || lost_preview || (in_doubt && target.is_none());
    let (peer, enclosed) = (desks.current_peer(lane).await?, OutgoingAttachment::open(desks, part).await?);
    let mut way = Attempt { peer, target, plain_only: part.plain_only, repeated, attachment: enclosed };
    loop {
        let (id, plain_only) = (part.id, way.plain_only);
        desks.journal.write("begin to send", move |tx| tx.outbox().part_sending(id, plain_only, repeated)).await?;
        match way.send(lane, row, part).await {
            Ok(external_id) => {
                if lane.failure_log.record_success() {
                    tracing::info!(outbox.id = %row.id, "Deliveries to address {} go through again", lane.id);
                }
                mark_sent(desks, row, part, external_id, preview.as_ref().map(|(turn, _)| *turn), place.is_last)
                    .await?;
                return Ok(AttemptResult::Done);
            }
            Err(error) if way.try_fallback(part, &error) => {}
            Err(error) => {
                let failure = FailedAttempt { error, edited: way.target.is_some(), trial: place.trial };
                return handle_failure(desks, lane, row, part, failure).await;
            }
        }
    }
}

/// Form and target of an attempt.
struct Attempt {
    peer: String,
    /// Message to be edited.
    target: Option<String>,
    plain_only: bool,
    repeated: bool,
    /// Content that is not text.
    attachment: Option<OutgoingAttachment>,
}

impl Attempt {
    async fn send(&self, lane: &DeliveryQueue, row: &OutboxRow, part: &PartRow) -> Result<String, SendError> {
        let (rich, plain, buttons) = (part.rich.clone(), part.plain.clone(), part.buttons.clone());
        let answers = row.answers().map(str::to_owned).collect();
        let (piece, is_plain) = match &self.attachment {
            Some(OutgoingAttachment::File(file)) => {
                if self.repeated {
                    attachments_out::warn_of_repeat(lane, &self.peer, file).await;
                }
                return lane.adapter.send_file(&self.peer, file).await;
            }
            Some(OutgoingAttachment::Notice(words)) => {
                (OutgoingPart { answers, ..attachments_out::plain_part(words) }, true)
            }
            None => (OutgoingPart { rich, plain, buttons, reply_to: reply_to(row, part), answers }, self.plain_only),
        };
        let piece = if self.repeated { lane.adapter.with_prefix(&piece, gate::POSSIBLY_REPEATED) } else { piece };
        let form = if is_plain { PartFormat::Plain } else { PartFormat::Rich };
        match &self.target {
            Some(external_id) => {
                lane.adapter.edit(&self.peer, external_id, &piece, form).await.map(|()| external_id.clone())
            }
            None => lane.adapter.send(&self.peer, &piece, form).await,
        }
    }

    /// Switches to a fallback after that failure; returns false if there is none.
    fn try_fallback(&mut self, part: &PartRow, error: &SendError) -> bool {
        let is_file = matches!(self.attachment, Some(OutgoingAttachment::File(_)));
        match error {
            SendError::Refused(_) | SendError::BadMarkup | SendError::NotFound if is_file => {
                self.attachment = Some(OutgoingAttachment::rejected_notice(part));
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

async fn mark_sent(
    desks: &Arc<Dispatcher>,
    row: &OutboxRow,
    part: &PartRow,
    external_id: String,
    preview: Option<TurnId>,
    is_last: bool,
) -> anyhow::Result<()> {
    let (part, row, now) = (part.id, row.clone(), desks.clock.now());
    let counts = desks
        .journal
        .write("mark as sent", move |tx| {
            tx.outbox().part_over(part, PartState::Sent, &external_id)?;
            if let Some(turn) = preview {
                tx.outbox().drop_preview(turn)?;
            }
            if !is_last {
                tx.outbox().outbox_later(row.id, 0, Timestamp(0), "")?;
                return Ok(FollowUp::default());
            }
            close_row(tx, &row, PartState::Sent, "", now)
        })
        .await?;
    counts.wake(desks);
    Ok(())
}

async fn handle_failure(
    desks: &Arc<Dispatcher>,
    lane: &Arc<DeliveryQueue>,
    row: &OutboxRow,
    part: &PartRow,
    failure: FailedAttempt,
) -> anyhow::Result<AttemptResult> {
    let FailedAttempt { error, edited, trial } = failure;
    let now = desks.clock.now();
    let attempts = row.attempts.saturating_add(1);
    if trial == AttemptPurpose::InTurn && should_give_up(row, attempts, &error, now) {
        return Ok(AttemptResult::GivenUp);
    }
    log_waiting(lane, row, &error);
    let (id, outbox, address) = (part.id, row.id, lane.id);
    match error {
        SendError::Wait(asked) => {
            let until = now.plus(asked.min(MAX_SERVER_WAIT));
            desks
                .journal
                .write("wait to send", move |tx| {
                    tx.outbox().part_waits(id)?;
                    tx.addresses().set_wait_until(address, until)
                })
                .await?;
            Ok(AttemptResult::NotBefore(until))
        }
        SendError::NotAttached => {
            desks.journal.write("wait for somebody", move |tx| tx.outbox().part_waits(id)).await?;
            Ok(AttemptResult::Absent)
        }
        SendError::Later(_) | SendError::OutcomeUnknown(_) => {
            // An unclear result leaves the part in `sending`, so that the next attempt knows it may
            // be a repeat. An edit cannot be one.
            let certain = edited || matches!(error, SendError::Later(_));
            let retry_at = now.plus(RETRY.pause(attempts));
            let trouble = error.to_string();
            desks
                .journal
                .write("send later", move |tx| {
                    if certain {
                        tx.outbox().part_waits(id)?;
                    }
                    match trial {
                        AttemptPurpose::InTurn => tx.outbox().outbox_failed(outbox, attempts, retry_at, &trouble, now),
                        AttemptPurpose::Probe => Ok(()),
                    }
                })
                .await?;
            Ok(AttemptResult::Later { at: retry_at, attempts })
        }
        SendError::Migrated(to) => {
            let (Address { adapter, account, peer }, retry_at) =
                (lane.address.clone(), now.plus(RETRY.pause(attempts)));
            desks
                .journal
                .write("follow a group", move |tx| {
                    tx.groups().group_moved(&adapter, &account, chat_of(&peer), chat_of(&to), now)?;
                    tx.outbox().part_waits(id)?;
                    tx.outbox().outbox_later(outbox, attempts, retry_at, "the group goes on under another id")
                })
                .await?;
            Ok(AttemptResult::NotBefore(retry_at))
        }
        SendError::BadMarkup | SendError::NotFound | SendError::Blocked(_) | SendError::Refused(_) => {
            Ok(AttemptResult::Failed(error.to_string()))
        }
    }
}

/// Returns true if the message was tried for long enough. An absent client or a wait is no failure.
fn should_give_up(row: &OutboxRow, attempts: u32, error: &SendError, now: Timestamp) -> bool {
    let failed = matches!(error, SendError::Later(_) | SendError::OutcomeUnknown(_));
    failed && attempts >= MIN_ATTEMPTS && now.since(row.created_at) > GIVE_UP_AFTER
}

/// Logs a new cause of waiting. An unattached terminal is no reason to warn.
fn log_waiting(lane: &DeliveryQueue, row: &OutboxRow, error: &SendError) {
    match error {
        error if !lane.failure_log.record_failure(error) => {}
        SendError::NotAttached => {
            tracing::info!(outbox.id = %row.id, "Delivery {} waits until somebody is attached to address {}", row.id, lane.id);
        }
        error => {
            tracing::warn!(outbox.id = %row.id, "Delivery {} and all that is for address {} has to wait: {error}", row.id, lane.id);
        }
    }
}

/// Group of a peer, without the topic.
fn chat_of(peer: &str) -> &str {
    peer.split_once('/').map_or(peer, |(chat, _topic)| chat)
}

/// Gives a message up with its remaining parts and stores the reason. `notice` is posted once, even
/// if more messages are given up before it is delivered.
async fn give_up(desks: &Arc<Dispatcher>, row: &OutboxRow, why: String, notice: Option<Text>) -> anyhow::Result<()> {
    tracing::error!(outbox.id = %row.id, "Delivery {} was given up: {why}", row.id);
    let (row, now) = (row.clone(), desks.clock.now());
    let counts = desks
        .journal
        .write("give a delivery up", move |tx| {
            for part in tx.outbox().parts(row.id)? {
                if !matches!(part.state, PartState::Sent) {
                    tx.outbox().part_over(part.id, PartState::Failed, "")?;
                }
            }
            if let Some(turn) = row.turn {
                tx.outbox().drop_preview(turn)?;
            }
            let counts = close_row(tx, &row, PartState::Failed, &why, now)?;
            // Posted only now: the row given up may be this very notice, which then waits again.
            if let Some(notice) = notice
                && !tx.outbox().says_soon(row.address, &notice)?
            {
                tx.outbox().post(&NewOutbox::notice(row.address, &notice, now))?;
            }
            Ok(counts)
        })
        .await?;
    counts.wake(desks);
    Ok(())
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
    fn wake(&self, desks: &Dispatcher) {
        if self.timer {
            desks.wake_timers();
        }
        if let Some(stream) = self.question {
            desks.notify_question(stream);
        }
    }
}

/// Closes an outbox row and starts the timers that depend on it.
fn close_row(tx: Tx<'_>, row: &OutboxRow, state: PartState, trouble: &str, now: Timestamp) -> anyhow::Result<FollowUp> {
    tx.outbox().outbox_over(row.id, state, trouble, now)?;
    let question = consent::start_time_limit(tx, row, now)?;
    Ok(FollowUp { timer: tx.timers().has_timer(row.id)?, question })
}
