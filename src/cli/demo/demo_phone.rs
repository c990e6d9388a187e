//! The telephone of the demonstration: a channel whose other end is in this process.
//!
//! To the gateway it is the configured messenger: it parses, renders and sends like any other
//! channel, and its messages go through the same journal and outbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, mpsc};

use crate::adapter::{Adapter, Batch, OutgoingPart, PartFormat, PollError, SendError, Typing, Unreadable};
use crate::message::{
    ChannelKind, ChatKind, Event, FetchFileError, Health, Inbound, MessageContent, Outbound, OutgoingFile,
};

/// The person's number on this channel.
pub const NUMBER: &str = "1001";
/// Messages that may wait at either end.
const CAPACITY: usize = 64;
const TYPING_INTERVAL: Duration = Duration::from_secs(4);

/// The gateway's end.
pub struct DemoPhone {
    typed: Mutex<mpsc::Receiver<String>>,
    stored: mpsc::Sender<()>,
    shown: mpsc::Sender<String>,
    count: AtomicU64,
}

/// The person's end.
pub struct Handset {
    /// Messages to send.
    pub typed: mpsc::Sender<String>,
    /// Confirmations that a message is stored.
    pub stored: mpsc::Receiver<()>,
    /// Messages that arrived.
    pub shown: mpsc::Receiver<String>,
}

/// Creates both ends.
pub fn pair() -> (Arc<DemoPhone>, Handset) {
    let ((typed, at_gateway), (sent, shown)) = (mpsc::channel(CAPACITY), mpsc::channel(CAPACITY));
    let (confirm, stored) = mpsc::channel(CAPACITY);
    let phone = DemoPhone { typed: Mutex::new(at_gateway), stored: confirm, shown: sent, count: AtomicU64::new(0) };
    (Arc::new(phone), Handset { typed, stored, shown })
}

impl DemoPhone {
    fn next_id(&self) -> String {
        self.count.fetch_add(1, Ordering::Relaxed).to_string()
    }
}

#[async_trait]
impl Adapter for DemoPhone {
    fn name(&self) -> &'static str {
        ChannelKind::Telegram.name()
    }

    fn account(&self) -> String {
        "demo".to_owned()
    }

    async fn connect(&self) -> Result<(), PollError> {
        Ok(())
    }

    async fn next(&self, _cursor: Option<&str>) -> Result<Batch, PollError> {
        let text = self.typed.lock().await.recv().await.ok_or(PollError::Closed)?;
        Ok(Batch { items: vec![format!("{} {text}", self.next_id())], cursor: None })
    }

    async fn ack(&self, _cursor: Option<&str>) {
        // After the demonstration it has no receiver.
        let _ = self.stored.send(()).await;
    }

    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable> {
        let (id, text) = raw.split_once(' ').ok_or(Unreadable { adapter: self.name() })?;
        Ok(Inbound {
            external_id: format!("phone-{id}"),
            peer: NUMBER.to_owned(),
            sender: NUMBER.to_owned(),
            alias: None,
            language: String::new(),
            chat_kind: ChatKind::Direct,
            server_at: None,
            event: Event::Message(MessageContent { text: text.to_owned(), ..MessageContent::default() }),
        })
    }

    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart> {
        let words = outbound.text.open().0.to_string();
        let is_empty = words.trim().is_empty();
        let part = OutgoingPart { rich: words.clone(), plain: words, ..OutgoingPart::default() };
        if is_empty { Vec::new() } else { vec![part] }
    }

    async fn send(&self, _peer: &str, piece: &OutgoingPart, _form: PartFormat) -> Result<String, SendError> {
        self.shown.send(piece.plain.clone()).await.map_err(|_| SendError::NotAttached)?;
        Ok(format!("sent-{}", self.next_id()))
    }

    async fn typing(&self, _peer: &str, _typing: Typing) {}

    fn typing_interval(&self) -> Duration {
        TYPING_INTERVAL
    }

    async fn send_file(&self, _peer: &str, _file: &OutgoingFile) -> Result<String, SendError> {
        Err(SendError::Refused("no files".to_owned()))
    }

    async fn react(&self, _peer: &str, _external_id: &str, _emoji: &str) -> Result<(), SendError> {
        Err(SendError::Refused("no reactions".to_owned()))
    }

    async fn fetch(&self, _reference: &str, _max: u64) -> Result<Vec<u8>, FetchFileError> {
        Err(FetchFileError::NotFound)
    }

    fn health(&self) -> Health {
        Health::default()
    }
}
