//! The page's chat as a channel.
//!
//! The page shows the journal, so what is stored there has arrived: [`Adapter::send`] only tells
//! the open pages of its person that there is something to fetch, and an answer never waits for
//! them. What a person sends waits in a short queue until it is in the journal, and only then does
//! [`WebChat::say`] return; a message that is sent again under its id counts once.
//!
//! Kept in memory only: which pages are open, and what of an answer has grown so far.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::adapter::{
    Adapter, Batch, OutgoingPart, PartFormat, PollError, SendError, Sound, Typing, Unreadable, is_message_id,
};
use crate::markdown::is_blank;
use crate::message::{
    ArrivedFile, Attached, AttachedTextKind, ChannelKind, ChatEvent, ChatKind, Event, FetchFileError, Health, Inbound,
    MessageContent, Outbound, OutgoingFile,
};
use crate::time::task::lock;
use crate::wording::chat as words;

/// Name of the channel in addresses.
const NAME: &str = ChannelKind::Web.name();
/// Our only account: this home.
pub const ACCOUNT: &str = "local";
/// Number of messages that may wait for the journal.
const QUEUE_CAPACITY: usize = 16;
/// Number of events that a slow page may be behind before it has to read the journal again.
const EVENT_CAPACITY: usize = 256;
/// Interval at which the typing indicator is renewed.
const TYPING_INTERVAL: Duration = Duration::from_secs(4);
/// Maximum number of open pages of one person, who holds a connection with each.
const PAGES_OF_PERSON: usize = 8;
/// Maximum number of open pages of all, which leaves connections for everything else.
const PAGES: usize = 32;

type OnPresenceChange = Box<dyn Fn(&str) + Send + Sync>;

/// The chats of all open pages.
pub struct WebChat {
    incoming: mpsc::Sender<PendingMessage>,
    inbox: tokio::sync::Mutex<mpsc::Receiver<PendingMessage>>,
    unconfirmed: Mutex<Vec<PendingMessage>>,
    pages: Mutex<HashMap<String, Conversation>>,
    on_presence_change: OnceLock<OnPresenceChange>,
    closing: CancellationToken,
    /// Distinguishes the message ids of this run from those of all others.
    run: u64,
    sent_count: AtomicU64,
}

/// The open pages of one person.
struct Conversation {
    events: broadcast::Sender<ChatEvent>,
    /// The answer that grows now, as far as it has come.
    grown: String,
    /// Ids of the messages that it answers.
    answers: Vec<String>,
}

impl Default for Conversation {
    fn default() -> Self {
        Self { events: broadcast::Sender::new(EVENT_CAPACITY), grown: String::new(), answers: Vec::new() }
    }
}

/// A message that a person wrote on the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebMessage {
    /// The page's own id: 1 to 128 visible ASCII characters, unique among the messages of its peer.
    pub id: String,
    /// The sender, and the address of the answer.
    pub peer: String,
    /// Typed text.
    pub text: String,
    /// Pasted pieces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pasted: Vec<String>,
    /// Files that they sent with it, which lie in their inbox.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ArrivedFile>,
    /// Data of the pressed button; blank for a message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub button: String,
}

/// Returns the id of a message among those of all people, so that none can take the id that
/// another's page will send.
pub fn external_id(peer: &str, id: &str) -> String {
    format!("{peer}:{id}")
}

struct PendingMessage {
    raw: String,
    stored: oneshot::Sender<Result<(), String>>,
}

/// An open page, until it is dropped.
pub struct OpenPage {
    chat: Arc<WebChat>,
    peer: String,
    events: broadcast::Receiver<ChatEvent>,
}

impl OpenPage {
    /// Waits for the next event; `None` when the gateway stops, or when the page fell behind and
    /// has to be opened again.
    pub async fn next(&mut self) -> Option<ChatEvent> {
        tokio::select! {
            () = self.chat.closing.cancelled() => None,
            event = self.events.recv() => event.ok(),
        }
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        self.chat.presence_changed(&self.peer);
    }
}

impl WebChat {
    /// Creates a channel without open pages.
    pub fn new() -> Arc<Self> {
        let (incoming, inbox) = mpsc::channel(QUEUE_CAPACITY);
        Arc::new(Self {
            incoming,
            inbox: tokio::sync::Mutex::new(inbox),
            unconfirmed: Mutex::default(),
            pages: Mutex::default(),
            on_presence_change: OnceLock::new(),
            closing: CancellationToken::new(),
            run: rand::random(),
            sent_count: AtomicU64::new(0),
        })
    }

    /// Sets the callback for a page of a peer that was opened or closed. Set once.
    pub fn on_presence_change(&self, callback: impl Fn(&str) + Send + Sync + 'static) {
        let _ = self.on_presence_change.set(Box::new(callback));
    }

    /// Stores a message, or returns the sentence that says why it was not stored.
    ///
    /// # Errors
    /// If the id cannot be used, nothing can be written, or the gateway stops.
    pub async fn say(&self, message: &WebMessage) -> Result<(), String> {
        if !is_message_id(&message.id) {
            return Err(words::BAD_ID.to_owned());
        }
        let raw = serde_json::to_string(message).map_err(|error| error.to_string())?;
        let (stored, done) = oneshot::channel();
        let stopping = || words::STOPPING.to_owned();
        self.incoming.send(PendingMessage { raw, stored }).await.map_err(|_| stopping())?;
        done.await.unwrap_or_else(|_| Err(stopping()))
    }

    /// Opens a page of that peer; `None` if too many are open. An answer that grows now is sent
    /// from its beginning.
    pub fn open(self: &Arc<Self>, peer: &str) -> Option<OpenPage> {
        let events = {
            let mut pages = self.pages();
            let open: usize = pages.values().map(|conversation| conversation.events.receiver_count()).sum();
            let conversation = pages.entry(peer.to_owned()).or_default();
            if open >= PAGES || conversation.events.receiver_count() >= PAGES_OF_PERSON {
                return None;
            }
            let events = conversation.events.subscribe();
            let _ = conversation.events.send(ChatEvent::Restart);
            if !conversation.grown.is_empty() {
                let _ = conversation.events.send(ChatEvent::Grow(conversation.grown.clone()));
            }
            events
        };
        self.presence_changed(peer);
        Some(OpenPage { chat: Arc::clone(self), peer: peer.to_owned(), events })
    }

    /// Closes all pages and ends receiving.
    pub fn close(&self) {
        self.closing.cancel();
    }

    fn tell(&self, peer: &str, event: ChatEvent) {
        if let Some(conversation) = self.pages().get_mut(peer) {
            match &event {
                ChatEvent::Grow(delta) => conversation.grown.push_str(delta),
                ChatEvent::Restart | ChatEvent::Answer => conversation.grown.clear(),
                ChatEvent::Message | ChatEvent::Typing => {}
            }
            // Possibly no page is open.
            let _ = conversation.events.send(event);
        }
    }

    /// Tells the pages of a message that was stored, which may be the answer that grew.
    fn tell_of_message(&self, peer: &str, answers: &[String]) {
        let has_grown = |growing: &Conversation| {
            growing.answers.is_empty() || growing.answers.iter().any(|id| answers.contains(id))
        };
        let is_answer = self.pages().get(peer).is_some_and(has_grown);
        self.tell(peer, if is_answer { ChatEvent::Answer } else { ChatEvent::Message });
    }

    fn presence_changed(&self, peer: &str) {
        if !self.closing.is_cancelled()
            && let Some(callback) = self.on_presence_change.get()
        {
            callback(peer);
        }
    }

    fn pages(&self) -> MutexGuard<'_, HashMap<String, Conversation>> {
        lock(&self.pages)
    }

    fn unconfirmed(&self) -> MutexGuard<'_, Vec<PendingMessage>> {
        lock(&self.unconfirmed)
    }

    fn batch(&self) -> Batch {
        Batch { items: self.unconfirmed().iter().map(|message| message.raw.clone()).collect(), cursor: None }
    }

    fn settle(&self, result: &Result<(), String>) {
        for PendingMessage { stored, .. } in self.unconfirmed().drain(..) {
            // The page may have been closed; it sends the message again under its id.
            let _ = stored.send(result.clone());
        }
    }
}

#[async_trait]
impl Adapter for WebChat {
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
        if self.unconfirmed().is_empty() {
            let first = tokio::select! {
                biased;
                () = self.closing.cancelled() => return Err(PollError::Closed),
                message = inbox.recv() => message.ok_or(PollError::Closed)?,
            };
            let mut unconfirmed = self.unconfirmed();
            unconfirmed.push(first);
            while let Ok(message) = inbox.try_recv() {
                unconfirmed.push(message);
                if unconfirmed.len() == QUEUE_CAPACITY {
                    break;
                }
            }
        }
        Ok(self.batch())
    }

    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable> {
        let message: WebMessage = serde_json::from_str(raw).map_err(|_| Unreadable { adapter: NAME })?;
        let pasted = message.pasted.into_iter().filter(|text| !is_blank(text));
        let carried = pasted.map(|text| Attached { kind: AttachedTextKind::Pasted, text }).collect();
        let event = match message.button.is_empty() {
            true => {
                let (text, arrived) = (message.text, message.files);
                Event::Message(MessageContent { text, carried, arrived, ..MessageContent::default() })
            }
            false => Event::Button { data: message.button, callback: String::new() },
        };
        Ok(Inbound {
            external_id: external_id(&message.peer, &message.id),
            sender: message.peer.clone(),
            alias: None,
            language: String::new(),
            peer: message.peer,
            chat_kind: ChatKind::Direct,
            server_at: None,
            event,
        })
    }

    async fn ack(&self, _cursor: Option<&str>) {
        self.settle(&Ok(()));
    }

    async fn reject_batch(&self, why: &str) {
        self.settle(&Err(why.to_owned()));
    }

    /// One part without words: the page shows what stands in the journal.
    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart> {
        vec![OutgoingPart { buttons: outbound.buttons.clone(), ..OutgoingPart::default() }]
    }

    fn sound(&self) -> Sound {
        Sound::Never
    }

    fn is_attended(&self, peer: &str) -> bool {
        self.pages().get(peer).is_some_and(|conversation| conversation.events.receiver_count() > 0)
    }

    async fn send(&self, peer: &str, piece: &OutgoingPart, _form: PartFormat) -> Result<String, SendError> {
        self.tell_of_message(peer, &piece.answers);
        Ok(format!("{:016x}-{}", self.run, self.sent_count.fetch_add(1, Ordering::Relaxed)))
    }

    async fn edit(
        &self,
        peer: &str,
        _external_id: &str,
        _piece: &OutgoingPart,
        _form: PartFormat,
    ) -> Result<(), SendError> {
        self.tell(peer, ChatEvent::Message);
        Ok(())
    }

    async fn replace_buttons(&self, peer: &str, _external_id: &str, _title: &str) -> Result<(), SendError> {
        self.tell(peer, ChatEvent::Message);
        Ok(())
    }

    async fn stream_delta(&self, peer: &str, delta: &str, answers: &[String]) {
        if let Some(conversation) = self.pages().get_mut(peer)
            && conversation.answers != answers
        {
            conversation.answers = answers.to_vec();
        }
        let event = if delta.is_empty() { ChatEvent::Restart } else { ChatEvent::Grow(delta.to_owned()) };
        self.tell(peer, event);
    }

    async fn typing(&self, peer: &str, typing: Typing) {
        if typing == Typing::Started {
            self.tell(peer, ChatEvent::Typing);
        }
    }

    fn typing_interval(&self) -> Duration {
        TYPING_INTERVAL
    }

    /// Nothing is sent: the page offers the file from the home.
    async fn send_file(&self, peer: &str, _file: &OutgoingFile) -> Result<String, SendError> {
        self.tell(peer, ChatEvent::Message);
        Ok(format!("{:016x}-{}", self.run, self.sent_count.fetch_add(1, Ordering::Relaxed)))
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
mod tests {
    use super::*;

    /// Proves: page/streams
    #[test]
    fn open_pages_leave_connections_for_everything_else() {
        let chat = WebChat::new();
        let open = |person: usize| chat.open(&format!("person-{person}"));
        let mut pages: Vec<OpenPage> = (0..PAGES).filter_map(|at| open(at / PAGES_OF_PERSON)).collect();
        assert_eq!(pages.len(), PAGES);
        assert!(open(PAGES).is_none() && open(0).is_none());
        pages.pop();
        assert!(open(PAGES).is_some(), "as soon as one is closed");
    }
}
