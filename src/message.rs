//! What travels between an adapter and the gateway: what came in ([`Inbound`]), what goes out ([`Outbound`]), and how an
//! adapter is ([`Health`]).
//!
//! An adapter's `parse` knows no persons and no trust: it hands over *marks* (forwarded, sent through another bot, quoted
//! from a stranger), and the gateway makes labels of them on admission.

use std::sync::Arc;
use std::time::Duration;

use crate::time::Timestamp;
use crate::trust::Text;

/// One item as an adapter understood it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbound {
    /// Unique among all items of one account, also across restarts and redelivery.
    pub external_id: String,
    /// Where an answer would go, as the adapter spells it.
    pub peer: String,
    /// Who sent it, as the adapter spells it; equal to `peer` in a direct chat.
    pub sender: String,
    /// Another name under which the sender may have been declared, as a number beside an account identifier.
    pub alias: Option<String>,
    /// A direct chat, or not.
    pub place: ChatKind,
    /// The server's stamp, if it sets one.
    pub server_at: Option<Timestamp>,
    /// What happened.
    pub event: Event,
}

/// In what kind of chat something was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatKind {
    /// Between the sender and us alone.
    Direct,
    /// Before others.
    Group {
        /// The group's id, the same for all of its topics; `peer` holds the topic too.
        chat: String,
        /// Whether it names us, or answers one of our messages.
        addressed: bool,
    },
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Somebody said something.
    Message(Said),
    /// Somebody changed what they had said.
    Edited {
        /// The external id of the message that was changed.
        of: String,
        /// What it says now.
        said: Said,
        /// The external id that it goes by from now on too, where a change has one of its own.
        also: Option<String>,
    },
    /// Somebody pressed a button under one of our messages.
    Button {
        /// What the button carries.
        data: String,
        /// To be told to the server, so that the button stops waiting.
        callback: String,
    },
    /// Somebody put an emoji under a message, or took it away.
    Reacted {
        /// The external id of that message.
        to: String,
        /// Which; blank when it was taken away.
        emoji: String,
    },
    /// Somebody deleted for everyone what they had said.
    Deleted {
        /// The external id of that message.
        of: String,
    },
    /// The group goes on under another id.
    Moved {
        /// Which.
        to: String,
    },
    /// Something that we cannot take, in a word for a person: `a poll`, `a contact`.
    Unsupported(String),
    /// Nothing that concerns a conversation: somebody joined, the bot was unblocked, a kind that we do not know.
    Nothing,
}

/// What somebody said, in all its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// Text or caption; empty when there is none.
    pub text: String,
    /// How the text came to be.
    pub origin: TextOrigin,
    /// What it answers, if it answers something.
    pub quote: Option<Quote>,
    /// Texts that came along and that nobody typed.
    pub carried: Vec<Attached>,
    /// Photos, voice notes, documents.
    pub files: Vec<RemoteFile>,
    /// The sender wants it gone so long after it was read; at once if it was to be viewed once.
    pub expires_after: Option<Duration>,
    /// Items with the same album belong to one message.
    pub album: Option<String>,
}

/// A text that came along with a message, and that its sender did not type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// What it is.
    pub what: Carrier,
    /// Its words.
    pub text: String,
}

/// In what a text came along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// What a page says of itself, shown under a link.
    Preview,
    /// A card with somebody's name and numbers.
    Contact,
    /// A poll and its answers.
    Poll,
}

impl Carrier {
    /// The word for it, in labels and before the text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Preview => "preview",
            Self::Contact => "contact",
            Self::Poll => "poll",
        }
    }
}

/// How a text came to stand in a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextOrigin {
    /// The sender wrote it.
    #[default]
    Typed,
    /// The sender passed on what somebody else wrote.
    Forwarded,
    /// Another bot wrote it on the sender's behalf.
    ViaBot,
    /// It came through a pipe.
    Piped,
}

/// What a message answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quote {
    /// A message of this chat, by its external id; `text` is what the server says it holds.
    Message {
        /// External id of the quoted message.
        external_id: String,
        /// Its text, or the quoted piece of it.
        text: String,
    },
    /// A message of this chat, with its text as the sender's own program tells it: nobody vouches for that.
    Claimed {
        /// External id of the quoted message.
        external_id: String,
        /// What it is said to hold.
        text: String,
    },
    /// Something from elsewhere.
    Elsewhere {
        /// Its text, or the quoted piece of it.
        text: String,
    },
}

impl Quote {
    /// The external id of the quoted message, if it is one of this chat.
    pub fn named(&self) -> Option<&str> {
        match self {
            Self::Message { external_id, .. } | Self::Claimed { external_id, .. } => Some(external_id),
            Self::Elsewhere { .. } => None,
        }
    }
}

/// A file that still lies with the adapter's server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    /// What it is.
    pub kind: FileKind,
    /// How the adapter finds it again.
    pub reference: String,
    /// The type that the sender's program claims, or an empty text.
    pub mime: String,
    /// The name that the sender gave it, or an empty text. Never a path for us.
    pub name: String,
    /// In bytes, if known.
    pub size: Option<u64>,
}

/// What kind of file came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A picture.
    Photo,
    /// A spoken message recorded just now.
    Voice,
    /// Something that sounds, whoever may speak in it.
    Sound,
    /// Any other file.
    Document,
}

impl FileKind {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Photo => "photo",
            Self::Voice => "voice",
            Self::Sound => "sound",
            Self::Document => "document",
        }
    }

    /// The kind of that word; anything else is a document.
    pub fn parse(word: &str) -> Self {
        match word {
            "photo" => Self::Photo,
            "voice" => Self::Voice,
            "sound" => Self::Sound,
            _ => Self::Document,
        }
    }
}

/// Something to be delivered to one address, as Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outbound {
    /// The Markdown.
    pub text: Text,
    /// Buttons under the last part, each with a title and what it carries.
    pub buttons: Vec<(String, String)>,
}

/// A file that goes out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingFile {
    /// What it is: a picture is shown, a voice note played, a document offered.
    pub kind: FileKind,
    /// The name that the other side sees.
    pub name: String,
    /// Its type.
    pub mime: String,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
}

/// How an adapter is, as `status` and the health page show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Working, or a plain sentence on what is wrong and what to do.
    pub trouble: Option<String>,
    /// When something was last heard: a successful poll, a sign of life, an event.
    pub last_event_at: Option<Timestamp>,
    /// When something last came from somebody, where that is another thing than a sign of life.
    pub last_message_at: Option<Timestamp>,
    /// What concerns one chat and not the channel: a plain sentence.
    pub remark: Option<String>,
}
