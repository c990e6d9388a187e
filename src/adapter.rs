//! The seam to the channels: one trait that a poller, a webhook and a socket all fit.
//!
//! Inwards, `next` yields raw items and the cursor that confirms them; the gateway stores both in one transaction and only
//! then calls `ack`. `parse` is pure and total: any bytes give an [`Inbound`] or [`Unreadable`]. Outwards, `render` is pure and
//! deterministic, so that a part that was stored before a crash is the same part after it; `send` reports by what to do
//! next. An adapter knows no persons, no journal and no engine.

pub mod markdown;
pub mod signal;
pub mod telegram;
pub mod terminal;

use std::time::Duration;

use async_trait::async_trait;

use crate::message::{Health, Inbound, Outbound, OutgoingFile};
use crate::people::Role;

/// One channel with one of our accounts on it.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// The channel's name, as it stands in addresses: `telegram`, `terminal`.
    fn name(&self) -> &'static str;

    /// Which account of ours, known once [`Adapter::connect`] has succeeded.
    fn account(&self) -> String;

    /// Checks the credentials and learns the account. Called until it succeeds, before anything else.
    async fn connect(&self) -> Result<(), PollError>;

    /// Waits for raw items after `cursor`. May return an empty batch. Called again only after `ack`.
    async fn next(&self, cursor: Option<&str>) -> Result<Batch, PollError>;

    /// Understands one raw item.
    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable>;

    /// The batch is in the journal. A poller has nothing to do: its next call confirms.
    async fn ack(&self, cursor: Option<&str>);

    /// The batch could not be stored because nothing more can be written, and may be given back to its senders with that sentence. A poller has nothing
    /// to do: what it did not confirm comes again.
    async fn not_stored(&self, _why: &str) {}

    /// Turns Markdown into the parts of this channel, each within its limits. Empty only for empty text.
    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart>;

    /// The part with a few plain words before it, which leave room for themselves in `render`.
    fn with_prefix(&self, piece: &OutgoingPart, words: &str) -> OutgoingPart {
        OutgoingPart {
            rich: format!("{words} {}", piece.rich),
            plain: format!("{words} {}", piece.plain),
            buttons: piece.buttons.clone(),
            quotes: piece.quotes.clone(),
            answers: piece.answers.clone(),
        }
    }

    /// Sends one part and returns its external id.
    async fn send(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Result<String, SendError>;

    /// Replaces a part that was sent before. Replacing it by the same is success.
    async fn edit(
        &self,
        peer: &str,
        external_id: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<(), SendError>;

    /// How often a growing answer may be shown by editing; `None` where the channel cannot edit.
    fn preview_pace(&self) -> Option<Duration>;

    /// Shows a piece of a growing answer to the messages of those external ids. Channels that stream by other means than editing do it here.
    async fn stream_delta(&self, peer: &str, delta: &str, answers: &[String]);

    /// Shows that an answer is on its way, for some seconds only, so it is repeated every [`Adapter::typing_pace`]; or that none is any more.
    async fn typing(&self, peer: &str, typing: Typing);

    /// How often the sign that an answer is on its way has to be renewed.
    fn typing_pace(&self) -> Duration;

    /// Tells the sender that a message was read, where senders are told.
    async fn mark_read(&self, peer: &str, external_id: &str);

    /// Sends a file and returns its external id.
    async fn send_file(&self, peer: &str, file: &OutgoingFile) -> Result<String, SendError>;

    /// Puts an emoji under a message; an empty one takes ours away.
    async fn react(&self, peer: &str, external_id: &str, emoji: &str) -> Result<(), SendError>;

    /// Tells the server that a button press was heard.
    async fn acknowledge_button(&self, callback: &str);

    /// Fetches a file that came with a message, at most `max` bytes.
    async fn fetch(&self, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError>;

    /// Registers the commands that each role may use, where the channel has a menu.
    async fn menu(&self, commands: &[MenuEntry], peers: &[(String, Role)]);

    /// How the channel is.
    fn health(&self) -> Health;
}

/// Whether an answer is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typing {
    /// It is.
    Begun,
    /// It is there, or will not come.
    Over,
}

/// What `next` hands over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Raw items, oldest first.
    pub items: Vec<String>,
    /// What confirms all of them, to be stored with them.
    pub cursor: Option<String>,
}

/// One part as it goes over the wire. Both forms are stored before the first attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutgoingPart {
    /// In the channel's own markup.
    pub rich: String,
    /// The same without markup.
    pub plain: String,
    /// Buttons under it.
    pub buttons: Vec<(String, String)>,
    /// The external id of the message that it answers, where many speak at once.
    pub quotes: Option<String>,
    /// The external ids of the messages that it answers, for channels whose clients wait for one answer each.
    pub answers: Vec<String>,
}

/// Which form of a part to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartFormat {
    /// The channel's own markup.
    Rich,
    /// Plain text, after the markup was refused.
    Plain,
}

/// One line of a command menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuEntry {
    /// Without the slash.
    pub name: String,
    /// What it does, in a few words.
    pub does: String,
    /// The least role that may use it.
    pub role: Role,
}

/// A raw item that makes no sense; it is stored and passed over.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("An item of {adapter} could not be read")]
pub struct Unreadable {
    /// Which adapter.
    pub adapter: &'static str,
}

/// Why nothing could be received, by what to do next.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum PollError {
    /// The server asks to wait.
    #[error("The server asks to wait {0:?}")]
    Wait(Duration),
    /// Another program receives for the same account.
    #[error("Another program is receiving for the same account")]
    Conflict,
    /// The credentials are refused.
    #[error("The credentials are refused")]
    BadToken,
    /// The server cannot be reached or talks nonsense.
    #[error("The server cannot be reached: {0}")]
    Unreachable(String),
    /// The adapter was closed.
    #[error("The adapter is closed")]
    Closed,
}

/// Why a part was not sent, by what to do next.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum SendError {
    /// Not now; nothing was sent. No other part to this peer may go before that time is over.
    #[error("The server asks to wait {0:?}")]
    Wait(Duration),
    /// Not now; certainly nothing was sent.
    #[error("Not sent: {0}")]
    Later(String),
    /// The answer was lost: it may have been sent.
    #[error("The answer was lost: {0}")]
    Unclear(String),
    /// Nobody is there to receive; to be tried again when somebody comes.
    #[error("Nobody is attached")]
    Absent,
    /// The markup was refused: send the plain form.
    #[error("The markup was refused")]
    BadMarkup,
    /// The message to be edited is gone: send a new one.
    #[error("The message is gone")]
    Gone,
    /// The group goes on under another id; nothing was sent.
    #[error("The group goes on under another id")]
    Moved(String),
    /// The peer does not want to hear from us, or does not exist.
    #[error("The peer refuses: {0}")]
    Blocked(String),
    /// It will never be accepted.
    #[error("Refused: {0}")]
    Refused(String),
}

/// Why a file could not be fetched.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum FetchFileError {
    /// Larger than allowed.
    #[error("The file is too large")]
    TooLarge,
    /// The server no longer has it.
    #[error("The file is gone")]
    Gone,
    /// Worth another try.
    #[error("The file could not be fetched: {0}")]
    Later(String),
}
