//! The terminal as a channel: clients exchange JSON lines with the gateway over any byte stream.
//!
//! The socket reads a greeting ([`accept`]), determines the person, and passes the rest to
//! [`Terminal::attach`]. A message waits in a short queue until it is in the journal, and only then
//! is it confirmed; a flooding client is slowed down, not dropped. A part counts as delivered once
//! one client of the peer has received its whole line, and a client that awaits the answer if there
//! is one; without a client it stays in the outbox until one attaches
//! ([`Terminal::on_presence_change`]) or, if it answers nothing, moves to another channel
//! ([`Adapter::is_attended`]).
//! All clients of a peer receive every message with the ids of what it answers, and a client
//! awaiting one answer selects it.
//!
//! Kept in memory only: the attached clients, and what has grown of unfinished answers. This module
//! knows neither people nor commands.

pub mod ansi;
mod clients;
mod connection;
mod stored_forms;
pub mod protocol;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::adapter::{
    Adapter, Batch, OutgoingPart, PartFormat, PollError, SendError, Sound, Typing, Unreadable, is_message_id,
};
use crate::message::{ChannelKind, FetchFileError, Health, Inbound, Outbound, OutgoingFile};
use crate::time::Clock;
use crate::time::task::lock;
use crate::wording::chat as words;

use clients::{ClientGuard, ClientReply, Clients, PendingWrite, PostedAnswer};
pub use connection::{ClientReader, ClientWriter, Connection, Frame, FrameError, Greeting, accept};
use protocol::{FromClient, FromGateway};
use stored_forms::{RichPart, TerminalItem};

/// Name of the channel in addresses.
const NAME: &str = ChannelKind::Terminal.name();
/// Our only account: this home.
const ACCOUNT: &str = "local";
/// Number of messages that may wait for the journal, each up to the longest line.
const QUEUE_CAPACITY: usize = 16;
/// Time allowed for a client to take one message.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval at which the typing indicator is renewed.
const TYPING_INTERVAL: Duration = Duration::from_secs(4);

type OnPresenceChange = Box<dyn Fn(&str) + Send + Sync>;

/// All terminal clients of this home.
pub struct Terminal {
    clock: Arc<dyn Clock>,
    clients: Clients,
    incoming: mpsc::Sender<PendingMessage>,
    inbox: tokio::sync::Mutex<mpsc::Receiver<PendingMessage>>,
    unconfirmed: Mutex<VecDeque<PendingMessage>>,
    on_presence_change: OnceLock<OnPresenceChange>,
    closing: CancellationToken,
    /// Distinguishes the message ids of this run from those of all others.
    run: u64,
    sent_count: AtomicU64,
}

/// A message that is not in the journal yet.
struct PendingMessage {
    id: String,
    raw: String,
    sender: ClientReply,
}

impl Terminal {
    /// Creates a terminal without clients.
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        let (incoming, inbox) = mpsc::channel(QUEUE_CAPACITY);
        Arc::new(Self {
            clock,
            clients: Clients::default(),
            incoming,
            inbox: tokio::sync::Mutex::new(inbox),
            unconfirmed: Mutex::default(),
            on_presence_change: OnceLock::new(),
            closing: CancellationToken::new(),
            run: rand::random(),
            sent_count: AtomicU64::new(0),
        })
    }

    /// Sets the callback for a client of a peer that attached or left: pending messages can then be
    /// delivered, or have to go elsewhere. Set once.
    pub fn on_presence_change(&self, callback: impl Fn(&str) + Send + Sync + 'static) {
        let _ = self.on_presence_change.set(Box::new(callback));
    }

    fn presence_changed(&self, peer: &str) {
        if !self.closing.is_cancelled()
            && let Some(callback) = self.on_presence_change.get()
        {
            callback(peer);
        }
    }

    /// Serves one greeted client until it disconnects or is disconnected. May be cancelled.
    pub async fn attach(&self, peer: String, connection: Connection) {
        let Connection { mut reader, mut writer, once } = connection;
        // Dropped after the client is no longer registered.
        let _left = Departure { terminal: self, peer: &peer };
        let (guard, mut queue) = self.clients.register(peer.clone(), once);
        // A client that attached during `close` may have been missed.
        if self.closing.is_cancelled() {
            guard.handle().send(&farewell());
        }
        self.presence_changed(&peer);
        tokio::select! {
            () = guard.disconnected() => (),
            () = self.listen(&peer, &guard, &mut reader) => (),
            () = queue.write_out(&mut writer) => (),
        }
    }

    /// Says goodbye to all clients and ends receiving. A message that was not stored is not
    /// confirmed, so its client reports it.
    pub async fn close(&self) {
        self.closing.cancel();
        self.any_written(self.clients.post_to_all(&farewell())).await;
    }

    /// Tells every client that waits for an answer why none can come now, once per message. A
    /// client whose message is not yet stored or returned is told of that instead.
    pub fn warn_waiting(&self, why: &str) {
        self.clients.warn(&FromGateway::Refused { why: why.to_owned() });
    }

    async fn listen(&self, peer: &str, guard: &ClientGuard, reader: &mut ClientReader) {
        loop {
            let refused = match reader.next().await {
                Ok(Frame::Message(FromClient::Say { id, text, piped, thread })) if is_message_id(&id) => {
                    guard.record_message(&id);
                    let item = TerminalItem { id, peer: peer.to_owned(), piped, thread, text };
                    let Ok(raw) = serde_json::to_string(&item) else { return };
                    // Waits for a free slot; fails if the receiver is gone.
                    let message = PendingMessage { id: item.id, raw, sender: guard.handle() };
                    if self.incoming.send(message).await.is_err() {
                        return;
                    }
                    continue;
                }
                Ok(Frame::Message(FromClient::Say { .. })) => words::BAD_ID,
                Ok(Frame::Message(FromClient::Hello { .. } | FromClient::Run { .. })) => words::NOT_UNDERSTOOD,
                Ok(Frame::Skipped(unusable)) => unusable.sentence(),
                Ok(Frame::End) | Err(_) => return,
            };
            guard.handle().send(&FromGateway::Refused { why: refused.to_owned() });
        }
    }

    async fn any_written(&self, posted: Vec<PendingWrite>) -> bool {
        let limit = self.clock.now().plus(WRITE_TIMEOUT);
        let each = posted.into_iter().map(|line| line.written(self.clock.wake_at(limit)));
        futures::future::join_all(each).await.contains(&true)
    }

    fn unconfirmed(&self) -> MutexGuard<'_, VecDeque<PendingMessage>> {
        lock(&self.unconfirmed)
    }

    fn batch(&self) -> Batch {
        let items = self.unconfirmed().iter().map(|pending| pending.raw.clone()).collect();
        Batch { items, cursor: None }
    }
}

/// Reports on drop that a client of a peer has left, also if serving it was cancelled.
struct Departure<'a> {
    terminal: &'a Terminal,
    peer: &'a str,
}

impl Drop for Departure<'_> {
    fn drop(&mut self) {
        self.terminal.presence_changed(self.peer);
    }
}

fn farewell() -> FromGateway {
    FromGateway::Bye { why: words::STOPPING.to_owned() }
}

#[async_trait]
impl Adapter for Terminal {
    fn name(&self) -> &'static str {
        NAME
    }

    fn account(&self) -> String {
        ACCOUNT.to_owned()
    }

    async fn connect(&self) -> Result<(), PollError> {
        Ok(())
    }

    /// Unconfirmed items are returned again.
    async fn next(&self, _cursor: Option<&str>) -> Result<Batch, PollError> {
        let mut inbox = self.inbox.lock().await;
        if !self.unconfirmed().is_empty() {
            return Ok(self.batch());
        }
        let first = tokio::select! {
            biased;
            () = self.closing.cancelled() => return Err(PollError::Closed),
            message = inbox.recv() => message.ok_or(PollError::Closed)?,
        };
        let mut unconfirmed = self.unconfirmed();
        unconfirmed.push_back(first);
        while let Ok(message) = inbox.try_recv() {
            unconfirmed.push_back(message);
            if unconfirmed.len() == QUEUE_CAPACITY {
                break;
            }
        }
        drop(unconfirmed);
        Ok(self.batch())
    }

    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable> {
        stored_forms::parse(raw)
    }

    async fn ack(&self, _cursor: Option<&str>) {
        for PendingMessage { id, sender, .. } in self.unconfirmed().drain(..) {
            sender.confirm(id);
        }
    }

    /// Returns the messages to their senders and drops them: a message reported as not stored must
    /// not be stored later.
    async fn reject_batch(&self, why: &str) {
        for PendingMessage { sender, .. } in self.unconfirmed().drain(..) {
            sender.reject(&FromGateway::Refused { why: why.to_owned() });
        }
    }

    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart> {
        stored_forms::render(outbound)
    }

    fn with_prefix(&self, piece: &OutgoingPart, words: &str) -> OutgoingPart {
        stored_forms::with_prefix(piece, words)
    }

    fn sound(&self) -> Sound {
        Sound::Never
    }

    fn is_attended(&self, peer: &str) -> bool {
        self.clients.has_lasting(peer)
    }

    async fn send(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Result<String, SendError> {
        let id = format!("{:016x}-{}", self.run, self.sent_count.fetch_add(1, Ordering::Relaxed));
        let RichPart { markdown, trusted, unanswered } = RichPart::of(piece, form);
        let answers = Some(piece.answers.clone());
        let message = |awaited| {
            let (id, markdown, answers) = (id.clone(), markdown.clone(), answers.clone());
            FromGateway::Message { id, markdown, trusted, answers, awaited, unanswered }
        };
        let PostedAnswer { awaiting, others } = self.clients.post(peer, &piece.answers, message);
        let is_awaited = !awaiting.is_empty();
        // An incomplete line is no message, so a client that did not take all of it received
        // nothing.
        match tokio::join!(self.any_written(awaiting), self.any_written(others)) {
            (true, _) => Ok(id),
            (false, true) if !is_awaited => Ok(id),
            // The other clients know that the answer was awaited elsewhere, and may have ignored
            // it.
            (false, true) => Err(SendError::OutcomeUnknown(words::ASKER_LEFT.to_owned())),
            (false, false) => Err(SendError::NotAttached),
        }
    }

    async fn stream_delta(&self, peer: &str, delta: &str, answers: &[String]) {
        match delta {
            "" => {
                self.clients.stop_growing(peer);
                self.clients.post_optional(peer, &FromGateway::Restart);
            }
            delta => self.clients.grow(peer, delta, answers),
        }
    }

    async fn typing(&self, peer: &str, typing: Typing) {
        match typing {
            Typing::Started => self.clients.post_optional(peer, &FromGateway::Typing),
            Typing::Stopped => self.clients.stop_growing(peer),
        }
    }

    fn typing_interval(&self) -> Duration {
        TYPING_INTERVAL
    }

    async fn send_file(&self, _peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
        Err(SendError::Refused(words::no_files(&file.name)))
    }

    async fn react(&self, _peer: &str, _external_id: &str, _emoji: &str) -> Result<(), SendError> {
        Err(SendError::Refused(words::NO_REACTIONS.to_owned()))
    }

    async fn fetch(&self, _reference: &str, _max: u64) -> Result<Vec<u8>, FetchFileError> {
        Err(FetchFileError::NotFound)
    }

    fn health(&self) -> Health {
        Health::default()
    }
}

#[cfg(test)]
mod tests;
