//! Interface to the channels: one trait for polling, webhooks and sockets alike.
//!
//! Inwards, `next` yields raw items and the cursor that confirms them; the gateway commits both in
//! one transaction and only then calls `ack`. `parse` is pure and total: any bytes give an
//! [`Inbound`] or [`Unreadable`]. Outwards, `render` is pure and deterministic, so a part stored
//! before a crash is the same after it; errors of `send` are named by what to do next. An adapter
//! knows neither people nor journal nor engine.

mod request; // HTTP requests
pub mod signal; // Signal, through signal-cli
pub mod telegram; // Telegram; waits after a 429 in `rate_limits`
pub mod terminal; // the local socket of `compline chat`
pub mod web; // the chat of the page

use std::time::Duration;

use async_trait::async_trait;
use serde::de::DeserializeOwned;

use crate::message::{FetchFileError, Health, Inbound, Outbound, OutgoingFile, StartLink};
use crate::people::Role;
use crate::time::Backoff;
use crate::wording::gateway;

/// Space reserved in each part for a prefix such as the repeat notice.
const PREFIX_SPACE: usize = 40;

/// Shortest wait that a server may ask for: with none it would be asked without a pause.
const MIN_SERVER_WAIT: Duration = Duration::from_secs(1);
/// Longest wait that a server may ask for: bans of hours exist, but an absurd number must not
/// silence a chat for good.
pub const MAX_SERVER_WAIT: Duration = Duration::from_secs(24 * 3600);
/// Retry intervals of receiving.
pub const RECEIVE_RETRY: Backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(60) };

/// Returns the Markdown of a message for a channel whose buttons hold commands of at most that many
/// bytes, 0 for none: the other commands stand below the text, unless it names the first of them.
fn with_commands(outbound: &Outbound, longest: usize) -> String {
    let (text, _, _) = outbound.text.open();
    let others = || outbound.buttons.iter().filter(|(_, command)| command.len() > longest);
    let is_named = others().next().is_some_and(|(_, command)| text.contains(command.as_str()));
    let commands = others().filter_map(|(title, command)| gateway::button_in_words(title, command));
    let commands: Vec<String> = if is_named { Vec::new() } else { commands.collect() };
    if commands.is_empty() { text.to_string() } else { format!("{text}\n\n{}", commands.join("\n")) }
}

/// Returns how long to wait for a server that asks for this wait.
fn server_wait(asked: Duration) -> Duration {
    asked.clamp(MIN_SERVER_WAIT, MAX_SERVER_WAIT)
}

/// One of our accounts on one channel.
#[async_trait]
pub trait Adapter: Send + Sync {
    /// Name of the channel as used in addresses: `telegram`, `terminal`.
    fn name(&self) -> &'static str;

    /// Our account id, known once [`Adapter::connect`] has succeeded.
    fn account(&self) -> String;

    /// Name by which people find our account: `@bot`, a phone number. `None` before it is known.
    fn public_name(&self) -> Option<String> {
        None
    }

    /// Link that opens a chat with us, if possible with this pairing code.
    fn start_link(&self, _code: &str) -> Option<StartLink> {
        None
    }

    /// Checks the credentials and learns the account. Called first, until it succeeds.
    async fn connect(&self) -> Result<(), PollError>;

    /// Waits for raw items after `cursor`. May return an empty batch. Called again only after
    /// `ack`.
    async fn next(&self, cursor: Option<&str>) -> Result<Batch, PollError>;

    /// Parses one raw item.
    fn parse(&self, raw: &str) -> Result<Inbound, Unreadable>;

    /// Name of the sender of a raw item, as the channel tells it; blank if it tells none. It may be
    /// any text.
    fn sender_name(&self, _raw: &str) -> String {
        String::new()
    }

    /// Confirms that the batch is committed. A no-op for polling, where the next call confirms.
    async fn ack(&self, _cursor: Option<&str>) {}

    /// Reports that the batch could not be stored because the disk is full, so that it may be
    /// returned to its senders with the sentence `why`. A no-op for polling, where unconfirmed
    /// items are delivered again.
    async fn reject_batch(&self, _why: &str) {}

    /// Renders Markdown into parts within the limits of the channel. Empty only for empty text.
    fn render(&self, outbound: &Outbound) -> Vec<OutgoingPart>;

    /// Prefixes a part with a short notice, for which `render` leaves room.
    fn with_prefix(&self, piece: &OutgoingPart, words: &str) -> OutgoingPart {
        OutgoingPart {
            rich: format!("{words} {}", piece.rich),
            plain: format!("{words} {}", piece.plain),
            ..piece.clone()
        }
    }

    /// Returns true if a message that was not asked for would be noticed there now. A messenger
    /// keeps it; a terminal shows it only to an attached client.
    fn is_attended(&self, _peer: &str) -> bool {
        true
    }

    /// Sound with which messages arrive.
    fn sound(&self) -> Sound {
        Sound::Always
    }

    /// Returns whether it tells what was forwarded from what a person wrote or took themselves.
    fn marks_forwards(&self) -> bool {
        false
    }

    /// Sends one part and returns its external id.
    async fn send(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Result<String, SendError>;

    /// Replaces a part that was sent before. Succeeds if nothing would change; by default every
    /// edit is sent as a new message.
    async fn edit(
        &self,
        _peer: &str,
        _external_id: &str,
        _piece: &OutgoingPart,
        _form: PartFormat,
    ) -> Result<(), SendError> {
        Err(SendError::NotFound)
    }

    /// Replaces the buttons under a message by one with that title that does nothing. A no-op where
    /// the channel has no buttons.
    async fn replace_buttons(&self, _peer: &str, _external_id: &str, _title: &str) -> Result<(), SendError> {
        Ok(())
    }

    /// Minimum interval between edits of a streamed reply; `None` if replies are not streamed by
    /// editing.
    fn edit_interval(&self) -> Option<Duration> {
        None
    }

    /// Sends the next text of a streamed reply to the messages `answers`, on channels that stream
    /// by other means than editing. An empty delta restarts the reply.
    async fn stream_delta(&self, _peer: &str, _delta: &str, _answers: &[String]) {}

    /// Shows or hides the typing indicator. It lasts a few seconds and is renewed every
    /// [`Adapter::typing_interval`].
    async fn typing(&self, peer: &str, typing: Typing);

    /// Interval at which the typing indicator is renewed.
    fn typing_interval(&self) -> Duration;

    /// Sends a read receipt, where the channel has them.
    async fn mark_read(&self, _peer: &str, _external_id: &str) {}

    /// Sends a file and returns its external id.
    async fn send_file(&self, peer: &str, file: &OutgoingFile) -> Result<String, SendError>;

    /// Sets our emoji reaction on a message; an empty emoji removes it.
    async fn react(&self, peer: &str, external_id: &str, emoji: &str) -> Result<(), SendError>;

    /// Acknowledges a button press to the server, where the channel has buttons.
    async fn acknowledge_button(&self, _callback: &str) {}

    /// Fetches a received file of at most `max` bytes.
    async fn fetch(&self, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError>;

    /// Registers the commands available to each role, where the channel has a menu.
    async fn register_menu(&self, _commands: &[MenuEntry], _peers: &[(String, Role)]) {}

    /// Sets the text shown before the first message, by code of language, the default first, where
    /// the channel has one and its owner has set none.
    async fn register_description(&self, _texts: &[(&'static str, String)]) {}

    /// State of the channel.
    fn health(&self) -> Health;

    /// Completes when [`Adapter::health`] has changed for another reason than the passage of time.
    /// For one caller, who misses no change between two calls.
    async fn health_changed(&self) {
        std::future::pending().await
    }
}

/// Sound with which the messages of a channel arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sound {
    /// None: only those who look at it notice them.
    Never,
    /// Unless a message says otherwise.
    Optional,
    /// The channel has no silent messages.
    Always,
}

/// State of the typing indicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typing {
    /// A reply is being written.
    Started,
    /// The reply has been sent, or none will come.
    Stopped,
}

/// Result of `next`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Raw items, oldest first.
    pub items: Vec<String>,
    /// Cursor that confirms all of them, stored with them.
    pub cursor: Option<String>,
}

/// One part of a message. Both forms are stored before the first attempt to send it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutgoingPart {
    /// The channel's own markup.
    pub rich: String,
    /// The same without markup.
    pub plain: String,
    /// Buttons under the part.
    pub buttons: Vec<(String, String)>,
    /// External id of the message that it visibly replies to, in groups.
    pub reply_to: Option<String>,
    /// External ids of the messages that it answers, for channels whose clients await one reply
    /// each.
    pub answers: Vec<String>,
    /// True if it must arrive without a sound ([`Sound::Optional`]).
    pub silent: bool,
}

impl OutgoingPart {
    /// Returns the text in this form.
    fn text(&self, form: PartFormat) -> &str {
        match form {
            PartFormat::Rich => &self.rich,
            PartFormat::Plain => &self.plain,
        }
    }

    /// Decodes a rich form that is JSON; `None` if it is unreadable, or the plain form is wanted.
    fn decode<T: DeserializeOwned>(&self, form: PartFormat) -> Option<T> {
        (form == PartFormat::Rich).then(|| serde_json::from_str(&self.rich).ok()).flatten()
    }
}

/// Form in which a part is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartFormat {
    /// The channel's own markup.
    Rich,
    /// Plain text, after the markup was rejected.
    Plain,
}

/// One entry of a command menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuEntry {
    /// Command name without the slash.
    pub name: String,
    /// Description in a few words.
    pub description: String,
    /// Lowest role that may use it.
    pub role: Role,
}

/// Error for a raw item that cannot be parsed; it is stored and skipped.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("An item of {adapter} could not be read")]
pub struct Unreadable {
    /// Name of the adapter.
    pub adapter: &'static str,
}

/// Errors of receiving, by what to do next.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum PollError {
    /// The server asks to wait.
    #[error("The server asks to wait {0:?}")]
    Wait(Duration),
    /// Another program receives for the same account.
    #[error("Another program is receiving for the same account")]
    Conflict,
    /// The credentials are rejected.
    #[error("The credentials are refused")]
    BadToken,
    /// The server cannot be reached, or its response is invalid.
    #[error("No messages can be received: {0}")]
    Unreachable(String),
    /// The adapter is closed.
    #[error("The adapter is closed")]
    Closed,
}

/// Errors of sending, by what to do next.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum SendError {
    /// Nothing was sent, and nothing may be sent to this peer before that time is over.
    #[error("The server asks to wait {0:?}")]
    Wait(Duration),
    /// Certainly nothing was sent; retry later.
    #[error("Not sent: {0}")]
    Later(String),
    /// The response was lost; the part may have been sent.
    #[error("The answer was lost: {0}")]
    OutcomeUnknown(String),
    /// No client is attached; retry when one attaches.
    #[error("Nobody is attached")]
    NotAttached,
    /// The markup was rejected; send the plain form.
    #[error("The markup was refused")]
    BadMarkup,
    /// The message to be edited no longer exists; send a new one.
    #[error("The message is gone")]
    NotFound,
    /// The group has migrated to this id; nothing was sent.
    #[error("The group goes on under another id")]
    Migrated(String),
    /// The peer has blocked us, or does not exist.
    #[error("The peer refuses: {0}")]
    Blocked(String),
    /// Rejected for good.
    #[error("Refused: {0}")]
    Refused(String),
}

/// Maximum length of a message id that a client makes.
const LONGEST_ID: usize = 128;

/// Returns true if a client's own id of a message can be used: 1 to 128 visible ASCII characters.
fn is_message_id(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}
