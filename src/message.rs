//! Data that adapters, gateway and engine exchange: incoming items ([`Inbound`]), outgoing messages
//! ([`Outbound`]) and the state of a channel ([`Health`]).
//!
//! An adapter's `parse` knows neither people nor trust: it passes on *marks* (forwarded, sent
//! through another bot, quoted from elsewhere), from which the gateway derives labels on admission.

pub mod file_type;
pub mod reaction;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::time::Timestamp;
use crate::trust::Text;

/// Kinds of channels. Everything that the program asks about a channel by its name is told here;
/// the settings are in `config`, and the adapters are built in `app`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, EnumString, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum ChannelKind {
    /// Telegram bot.
    Telegram,
    /// Signal account.
    Signal,
    /// Terminal clients of this computer.
    Terminal,
    /// The page in a browser.
    Web,
}

impl ChannelKind {
    /// Name in addresses, and of the section in the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Telegram => "telegram",
            Self::Signal => "signal",
            Self::Terminal => "terminal",
            Self::Web => "web",
        }
    }

    /// Name for display.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Telegram => "Telegram",
            Self::Signal => "Signal",
            Self::Terminal => "terminal",
            Self::Web => "page",
        }
    }

    /// Returns true for the name of a channel that reaches a person only while they look at it.
    pub fn is_attended(name: &str) -> bool {
        [Self::Terminal.name(), Self::Web.name()].contains(&name)
    }

    /// Returns true if a text has the form of a group's id. Terminal and page have no groups.
    pub fn is_group_id(self, id: &str) -> bool {
        match self {
            Self::Telegram => id.parse::<i64>().is_ok_and(|id| id < 0),
            Self::Signal => !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "+/=_-".contains(c)),
            Self::Terminal | Self::Web => false,
        }
    }
}

/// One incoming item, as parsed by an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbound {
    /// Unique among all items of one account, across restarts and redeliveries.
    pub external_id: String,
    /// Address for the reply, in the adapter's format.
    pub peer: String,
    /// Address of the sender, in the adapter's format; equal to `peer` in a direct chat.
    pub sender: String,
    /// Second address under which the sender may have been declared: a phone number besides an
    /// account identifier.
    pub alias: Option<String>,
    /// Language of the sender's client, as the channel tells it; empty if it does not.
    pub language: String,
    /// Kind of chat.
    pub chat_kind: ChatKind,
    /// The server's timestamp, if it sends one.
    pub server_at: Option<Timestamp>,
    /// The event itself.
    pub event: Event,
}

/// Returns the chat of a peer, without the topic of a forum.
pub fn chat_of(peer: &str) -> &str {
    peer.split_once('/').map_or(peer, |(chat, _topic)| chat)
}

/// Kind of chat in which an item was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatKind {
    /// A chat between the sender and us alone.
    Direct,
    /// A chat with other members.
    Group {
        /// Id of the group, the same for all of its topics; `peer` also holds the topic.
        chat: String,
        /// True if it mentions us or replies to one of our messages.
        addressed: bool,
    },
}

/// Kinds of incoming events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// New message.
    Message(MessageContent),
    /// Edit of an earlier message.
    Edited {
        /// External id of the edited message.
        message: String,
        /// The new content.
        content: MessageContent,
        /// Additional external id of the message from now on, where an edit has an id of its own.
        new_id: Option<String>,
    },
    /// Press of a button under one of our messages.
    Button {
        /// Callback data of the button.
        data: String,
        /// Id for acknowledging the press, so that the client stops waiting.
        callback: String,
    },
    /// Emoji reaction added or removed.
    Reacted {
        /// External id of the message.
        message: String,
        /// The emoji; blank if the reaction was removed.
        emoji: String,
    },
    /// Deletion of a message for everyone, by its sender.
    Deleted {
        /// External id of the deleted message.
        message: String,
    },
    /// Migration of the group to another id.
    Migrated {
        /// The new id.
        to: String,
    },
    /// Unsupported content, described in a phrase for people: `a game`, `an invoice`.
    Unsupported(String),
    /// Event that concerns no conversation: a member joined, the bot was unblocked, an unknown
    /// kind.
    Irrelevant,
}

/// Complete content of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageContent {
    /// Text or caption; empty if there is none.
    pub text: String,
    /// Origin of the text.
    pub origin: TextOrigin,
    /// Name of the author of a forwarded message, as its server tells it; blank if unknown. Anyone
    /// can take any name.
    pub forwarded_from: String,
    /// The quoted message, if it is a reply.
    pub quote: Option<Quote>,
    /// Attached texts that the sender did not type.
    pub carried: Vec<Attached>,
    /// Photos, voice notes and documents.
    pub files: Vec<RemoteFile>,
    /// Files that arrived in the inbox before the message.
    pub arrived: Vec<ArrivedFile>,
    /// Delay between reading and deletion, as wished by the sender; zero for view-once messages.
    pub expires_after: Option<Duration>,
    /// Album id: items with the same id form one message.
    pub album: Option<String>,
    /// Key of a conversation of its own: the external id of its first message. Without it, the
    /// message belongs to the ongoing conversation.
    pub thread: Option<String>,
}

/// Text that arrived with a message and was not typed by its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// Kind of the attached text.
    pub kind: AttachedTextKind,
    /// The text.
    pub text: String,
}

/// Kinds of attached text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachedTextKind {
    /// Description of a linked page.
    Preview,
    /// Contact card with a name and numbers.
    Contact,
    /// Poll with its answers.
    Poll,
    /// Place on the map.
    Location,
    /// Text pasted into the page's field.
    Pasted,
    /// Addresses behind words of the text, which its sender may have copied with them.
    Link,
}

impl AttachedTextKind {
    /// Stored word, used in labels and in front of the text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preview => "preview",
            Self::Contact => "contact",
            Self::Poll => "poll",
            Self::Location => "location",
            Self::Pasted => "pasted",
            Self::Link => "link",
        }
    }
}

/// Origin of the text of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextOrigin {
    /// Written by the sender.
    #[default]
    Typed,
    /// Written by someone else and forwarded by the sender.
    Forwarded,
    /// Written by another bot on the sender's behalf.
    ViaBot,
    /// Read from a pipe.
    Piped,
}

/// The message that a reply quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quote {
    /// A message of this chat; `text` is reported by the server.
    Message {
        /// External id of the quoted message.
        external_id: String,
        /// The text, or the quoted part of it.
        text: String,
    },
    /// A message of this chat; `text` is reported by the sender's client and therefore unverified.
    Claimed {
        /// External id of the quoted message.
        external_id: String,
        /// The alleged text.
        text: String,
    },
    /// A message from elsewhere.
    Elsewhere {
        /// The text, or the quoted part of it.
        text: String,
    },
}

impl Quote {
    /// External id of the quoted message, if it belongs to this chat.
    pub fn external_id(&self) -> Option<&str> {
        match self {
            Self::Message { external_id, .. } | Self::Claimed { external_id, .. } => Some(external_id),
            Self::Elsewhere { .. } => None,
        }
    }
}

/// File stored by the adapter's server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    /// Kind of file.
    pub kind: FileKind,
    /// Handle by which the adapter fetches it.
    pub reference: String,
    /// MIME type claimed by the sender's client, or empty.
    pub mime: String,
    /// File name given by the sender, or empty; never used as a path.
    pub name: String,
    /// Size in bytes, if known.
    pub size: Option<u64>,
}

/// File that lies in the inbox of its sender before the message that it belongs to is received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivedFile {
    /// File name given by the sender.
    pub name: String,
    /// MIME type claimed by the sender's client, or empty.
    pub mime: String,
    /// Size in bytes.
    pub size: u64,
    /// Path relative to the workspace.
    pub path: String,
    /// SHA-256 of the bytes.
    pub digest: String,
}

impl ArrivedFile {
    /// Returns it as a file of a message, which needs no adapter.
    pub fn as_remote(&self) -> RemoteFile {
        // A browser that knows nothing about a file says so.
        let is_known = !matches!(file_type::bare(&self.mime).as_str(), "" | file_type::UNKNOWN);
        let mime = if is_known { &self.mime } else { file_type::of_name(&self.name) };
        let file = RemoteFile {
            kind: FileKind::Document,
            reference: String::new(),
            mime: mime.to_owned(),
            name: self.name.clone(),
            size: Some(self.size),
        };
        let kind = match file_type::bare(mime) {
            sound if sound.starts_with("audio/") => FileKind::Audio,
            _ if file_type::is_picture(&file) => FileKind::Photo,
            _ => FileKind::Document,
        };
        RemoteFile { kind, ..file }
    }
}

/// Kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FileKind {
    /// Picture.
    Photo,
    /// Voice message just recorded by the sender.
    Voice,
    /// Audio or video note whose speaker is unknown.
    #[strum(serialize = "sound")]
    Audio,
    /// Any other file.
    Document,
}

/// Markdown message for one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outbound {
    /// The Markdown.
    pub text: Text,
    /// Buttons under the last part: title and callback data.
    pub buttons: Vec<(String, String)>,
    /// True if it says why there is no answer.
    pub unanswered: bool,
}

/// File to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingFile {
    /// Kind of file: a photo is displayed, a voice note played, a document offered for download.
    pub kind: FileKind,
    /// Visible file name.
    pub name: String,
    /// MIME type.
    pub mime: String,
    /// The content.
    pub bytes: Arc<[u8]>,
}

/// Event in a person's chat while a page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatEvent {
    /// A message was stored or changed.
    Message,
    /// The answer that grew was stored.
    Answer,
    /// Next text of the answer that grows.
    Grow(String),
    /// The answer that grew is void: it begins again.
    Restart,
    /// An answer is being written; renewed every few seconds.
    Typing,
}

/// Errors of fetching a file.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum FetchFileError {
    /// Larger than allowed.
    #[error("The file is too large")]
    TooLarge,
    /// No longer on the server.
    #[error("The file is gone")]
    NotFound,
    /// Temporary failure.
    #[error("The file could not be fetched: {0}")]
    Later(String),
}

/// One channel on which a pairing code can be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartWay {
    /// Name of the channel for display.
    pub channel: &'static str,
    /// Name by which people find our account there.
    pub account: String,
    /// Link to our account there.
    pub link: Option<StartLink>,
}

/// A link that opens a chat with us; the more useful kind first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StartLink {
    /// One tap sends the code.
    WithCode(String),
    /// The person sends the code.
    Chat(String),
}

impl StartLink {
    /// Returns the address of the link.
    pub fn into_address(self) -> String {
        let (Self::WithCode(address) | Self::Chat(address)) = self;
        address
    }
}

/// State of a channel, for `status` and the health page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Sentence that names the problem and the fix; `None` if the channel works.
    pub problem: Option<String>,
    /// Time of the last sign of life: a successful poll, a keep-alive, an event.
    pub last_event_at: Option<Timestamp>,
    /// Time of the last message, where signs of life are counted apart.
    pub last_message_at: Option<Timestamp>,
    /// Sentence about a problem with one chat only.
    pub chat_problem: Option<String>,
    /// True until the first contact or its failure.
    pub is_connecting: bool,
    /// True if neither a success nor a failure was seen for longer than any attempt takes: the
    /// program itself hangs, and a restart helps.
    pub is_stalled: bool,
}
