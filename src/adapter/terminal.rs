//! The terminal as a channel like any other: clients talk JSON lines with the gateway over any byte stream.
//!
//! The socket reads a greeting ([`accept`]), decides who speaks, and hands the rest to [`Terminal::attach`].
//! What a client says waits in a short queue until the journal has it, and only then it is confirmed; a
//! client that floods is slowed down, not dropped. A part counts as delivered once one client of the peer
//! has taken its whole line, one who asked for it if such a client is there; with nobody there it stays in the
//! outbox until somebody comes ([`Terminal::on_attach`]). Everybody hears everything and is told what it answers:
//! who wants one answer alone picks it out.
//!
//! Kept in memory alone: who is attached. Nothing here knows persons or commands.

pub mod ansi;
mod clients;
mod connection;
mod item;
pub mod protocol;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::adapter::{
    Adapter, Batch, FetchFileError, MenuEntry, OutgoingPart, PartFormat, PollError, SendError, Typing, Unreadable,
};
use crate::message::{Health, Inbound, Outbound, OutgoingFile};
use crate::people::Role;
use crate::time::Clock;
use crate::wording::chat as words;

use clients::{Answering, ClientReply, Clients, Posted, Seat};
pub use connection::{ClientReader, ClientWriter, Connection, Greeting, Unusable, accept};
use item::{RichPart, TerminalItem};
use protocol::{FromClient, FromGateway};

/// The channel's name in addresses.
const NAME: &str = "terminal";
/// Our one account: this home.
const ACCOUNT: &str = "local";
/// How many messages may wait for the journal, each up to the longest line.
const WAITING: usize = 16;
/// How long a client may take for one message before it counts as asleep.
const PATIENCE: Duration = Duration::from_secs(30);
const LONGEST_ID: usize = 128;
/// How often a client is told that an answer is on its way.
const TYPING_PACE: Duration = Duration::from_secs(4);

type OnAttach = Box<dyn Fn(&str) + Send + Sync>;

/// All terminals of this home.
pub struct Terminal {
    clock: Arc<dyn Clock>,
    clients: Clients,
    said: mpsc::Sender<PendingMessage>,
    inbox: tokio::sync::Mutex<mpsc::Receiver<PendingMessage>>,
    unconfirmed: Mutex<VecDeque<PendingMessage>>,
    on_attach: OnceLock<OnAttach>,
    closing: CancellationToken,
    /// Tells this run's message ids from those of all other runs.
    run: u64,
    sent: AtomicU64,
}

/// Something that was said and is not in the journal yet.
struct PendingMessage {
    id: String,
    raw: String,
    from: ClientReply,
}

impl Terminal {
    /// With nobody attached.
    pub fn new(clock: Arc<dyn Clock>) -> Arc<Self> {
        let (said, inbox) = mpsc::channel(WAITING);
        Arc::new(Self {
            clock,
            clients: Clients::default(),
            said,
            inbox: tokio::sync::Mutex::new(inbox),
            unconfirmed: Mutex::default(),
            on_attach: OnceLock::new(),
            closing: CancellationToken::new(),
            run: rand::random(),
            sent: AtomicU64::new(0),
        })
    }

    /// What to do whenever a client of some peer comes: whatever waits for that peer can be delivered now.
    /// Set once.
    pub fn on_attach(&self, callback: impl Fn(&str) + Send + Sync + 'static) {
        let _ = self.on_attach.set(Box::new(callback));
    }

    /// Serves one client that was greeted and welcomed, until it leaves or is sent away. May be cancelled.
    pub async fn attach(&self, peer: String, connection: Connection) {
        let Connection { mut reader, mut writer } = connection;
        let (seat, mut queue) = self.clients.enter(peer.clone());
        // Whoever comes during `close` was perhaps not in its list.
        if self.closing.is_cancelled() {
            seat.reply().tell(&farewell());
        } else if let Some(callback) = self.on_attach.get() {
            callback(&peer);
        }
        tokio::select! {
            () = seat.expelled() => (),
            () = self.listen(&peer, &seat, &mut reader) => (),
            () = queue.write_out(&mut writer) => (),
        }
    }

    /// Says goodbye to everybody and ends receiving. What was not stored is not confirmed, so its client
    /// gives it back.
    pub async fn close(&self) {
        self.closing.cancel();
        self.any_written(self.clients.post_to_all(&farewell())).await;
    }

    /// Tells everybody who waits for an answer why it does not come now, once for each thing that they said. Whoever is still to learn whether it was
    /// stored hears of that alone.
    pub fn cannot_go_on(&self, why: &str) {
        self.clients.warn(&FromGateway::Refused { why: why.to_owned() });
    }

    async fn listen(&self, peer: &str, seat: &Seat, reader: &mut ClientReader) {
        while let Ok(Some(line)) = reader.next().await {
            let refused = match line {
                Ok(FromClient::Say { id, text, piped }) if is_usable(&id) => {
                    seat.says(&id);
                    let item = TerminalItem { id, peer: peer.to_owned(), piped, text };
                    match self.take(item, seat.reply()).await {
                        Some(()) => continue,
                        None => return,
                    }
                }
                Ok(FromClient::Say { .. }) => words::BAD_ID,
                Ok(FromClient::Hello { .. } | FromClient::Run { .. }) => words::NOT_UNDERSTOOD,
                Err(unusable) => unusable.sentence(),
            };
            seat.reply().tell(&FromGateway::Refused { why: refused.to_owned() });
        }
    }

    /// Waits for room; `None` when nobody will ever make some.
    async fn take(&self, item: TerminalItem, from: ClientReply) -> Option<()> {
        let raw = serde_json::to_string(&item).ok()?;
        self.said.send(PendingMessage { id: item.id, raw, from }).await.ok()
    }

    async fn any_written(&self, posted: Vec<Posted>) -> bool {
        let limit = self.clock.now().plus(PATIENCE);
        let each = posted.into_iter().map(|line| line.written(self.clock.wake_at(limit)));
        futures::future::join_all(each).await.contains(&true)
    }

    fn unconfirmed(&self) -> MutexGuard<'_, VecDeque<PendingMessage>> {
        self.unconfirmed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn batch(&self) -> Batch {
        let items = self.unconfirmed().iter().map(|heard| heard.raw.clone()).collect();
        Batch { items, cursor: None }
    }
}

fn farewell() -> FromGateway {
    FromGateway::Bye { why: words::STOPPING.to_owned() }
}

fn is_usable(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
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

    /// What was handed over and never confirmed is handed over again.
    async fn next(&self, _cursor: Option<&str>) -> Result<Batch, PollError> {
        let mut inbox = self.inbox.lock().await;
        if !self.unconfirmed().is_empty() {
            return Ok(self.batch());
        }
        let first = tokio::select! {
            biased;
            () = self.closing.cancelled() => return Err(PollError::Closed),
            heard = inbox.recv() => heard.ok_or(PollError::Closed)?,
        };
        let mut unconfirmed = self.unconfirmed();
        unconfirmed.push_back(first);
        while let Ok(heard) = inbox.try_recv() {
            unconfirmed.push_back(heard);
            if unconfirmed.len() == WAITING {
                break;
            }
        }
        drop(unconfirmed);
        Ok(self.batch())
    }

    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable> {
        item::parse(raw)
    }

    async fn ack(&self, _cursor: Option<&str>) {
        for PendingMessage { id, from, .. } in self.unconfirmed().drain(..) {
            from.confirm(id);
        }
    }

    /// Each sender is told, and nothing is kept: what they were told not to be stored never will be.
    async fn not_stored(&self, why: &str) {
        for PendingMessage { from, .. } in self.unconfirmed().drain(..) {
            from.give_back(&FromGateway::Refused { why: why.to_owned() });
        }
    }

    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart> {
        item::render(outbound)
    }

    fn with_prefix(&self, piece: &OutgoingPart, words: &str) -> OutgoingPart {
        item::marked(piece, words)
    }

    async fn send(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Result<String, SendError> {
        let id = format!("{:016x}-{}", self.run, self.sent.fetch_add(1, Ordering::Relaxed));
        let RichPart { markdown, trusted } = RichPart::of(piece, form);
        let answers = Some(piece.answers.clone());
        let message = |awaited| {
            let (id, markdown, answers) = (id.clone(), markdown.clone(), answers.clone());
            FromGateway::Message { id, markdown, trusted, answers, awaited }
        };
        let Answering { asked, others } = self.clients.post(peer, &piece.answers, message);
        let is_awaited = !asked.is_empty();
        // A line without its end is no message, so whoever did not take all of it got nothing.
        match tokio::join!(self.any_written(asked), self.any_written(others)) {
            (true, _) => Ok(id),
            (false, true) if !is_awaited => Ok(id),
            // The others know that somebody else waited for it, and may have left it at that.
            (false, true) => Err(SendError::Unclear(words::ASKER_LEFT.to_owned())),
            (false, false) => Err(SendError::Absent),
        }
    }

    async fn edit(
        &self,
        _peer: &str,
        _external_id: &str,
        _piece: &OutgoingPart,
        _form: PartFormat,
    ) -> Result<(), SendError> {
        Err(SendError::Gone)
    }

    fn preview_pace(&self) -> Option<Duration> {
        None
    }

    /// An empty piece says that the answer begins again.
    async fn stream_delta(&self, peer: &str, delta: &str, answers: &[String]) {
        let frame = match delta {
            "" => FromGateway::Restart,
            delta => FromGateway::Grow { delta: delta.to_owned(), answers: Some(answers.to_vec()) },
        };
        self.clients.hint(peer, &frame);
    }

    async fn typing(&self, peer: &str, typing: Typing) {
        if typing == Typing::Begun {
            self.clients.hint(peer, &FromGateway::Typing);
        }
    }

    fn typing_pace(&self) -> Duration {
        TYPING_PACE
    }

    async fn mark_read(&self, _peer: &str, _external_id: &str) {}

    async fn send_file(&self, _peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
        Err(SendError::Refused(words::no_files(&file.name)))
    }

    async fn react(&self, _peer: &str, _external_id: &str, _emoji: &str) -> Result<(), SendError> {
        Err(SendError::Refused(words::NO_REACTIONS.to_owned()))
    }

    async fn acknowledge_button(&self, _callback: &str) {}

    async fn fetch(&self, _reference: &str, _max: u64) -> Result<Vec<u8>, FetchFileError> {
        Err(FetchFileError::Gone)
    }

    async fn menu(&self, _commands: &[MenuEntry], _peers: &[(String, Role)]) {}

    fn health(&self) -> Health {
        Health::default()
    }
}

#[cfg(test)]
mod tests;
