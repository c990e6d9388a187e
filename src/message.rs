//! What travels between an adapter and the gateway: what came in ([`Inbound`]), what goes out ([`Outbound`]), and how an
//! adapter is ([`Health`]).
//!
//! An adapter's `parse` knows no persons and no trust: it hands over *marks* (forwarded, sent through another bot, quoted
//! from a stranger), and the gateway makes labels of them on admission.

use crate::time::Moment;
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
    /// A direct chat, or not.
    pub place: Place,
    /// The server's stamp, if it sets one.
    pub server_at: Option<Moment>,
    /// What happened.
    pub event: Event,
}

/// In what kind of chat something was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Between the sender and us alone.
    Direct,
    /// Before others.
    Group,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Somebody said something.
    Said(Said),
    /// Somebody changed what they had said.
    Edited {
        /// The external id of the message that was changed.
        of: String,
        /// What it says now.
        said: Said,
    },
    /// Somebody pressed a button under one of our messages.
    Button {
        /// What the button carries.
        data: String,
        /// To be told to the server, so that the button stops waiting.
        callback: String,
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
    pub origin: Origin,
    /// What it answers, if it answers something.
    pub quote: Option<Quote>,
    /// Photos, voice notes, documents.
    pub files: Vec<RemoteFile>,
    /// Items with the same album belong to one message.
    pub album: Option<String>,
}

/// How a text came to stand in a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
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
    /// Something from elsewhere.
    Elsewhere {
        /// Its text, or the quoted piece of it.
        text: String,
    },
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
    /// Any other file.
    Document,
}

impl FileKind {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Photo => "photo",
            Self::Voice => "voice",
            Self::Document => "document",
        }
    }

    /// The kind of that word; anything else is a document.
    pub fn parse(word: &str) -> Self {
        match word {
            "photo" => Self::Photo,
            "voice" => Self::Voice,
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

/// How an adapter is, as `status` and the health page show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// Working, or a plain sentence on what is wrong and what to do.
    pub trouble: Option<String>,
    /// When something was last heard: a successful poll or an event.
    pub last_event_at: Option<Moment>,
}
