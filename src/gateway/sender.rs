//! Sender of an admitted item, and the label of what they send.
//!
//! Only here does typed text become trusted: see [`super::admission`].

use crate::id::{AddressId, InboxId, PersonId, StreamId};
use crate::message::{FileKind, Inbound, MessageContent, RemoteFile, TextOrigin};
use crate::people::Person;
use crate::store::{MessageKind, StoredMessage};
use crate::trust::{Label, Scope, Source};

/// Sender and context of an admitted item.
pub(super) struct Sender<'a> {
    pub(super) address: AddressId,
    pub(super) speaker: Speaker<'a>,
    pub(super) stream: StreamId,
    pub(super) scope: Scope,
    pub(super) inbox: InboxId,
    pub(super) inbound: &'a Inbound,
}

/// Context of an item received in a group.
pub(super) struct GroupContext<'a> {
    pub(super) inbound: &'a Inbound,
    pub(super) raw: &'a str,
    /// Id of the group.
    pub(super) chat: &'a str,
    /// True if the adapter knows that we are addressed.
    pub(super) addressed: bool,
}

/// Edit of an earlier message.
pub(super) struct MessageChange<'a> {
    pub(super) message: &'a str,
    pub(super) content: &'a MessageContent,
    /// Additional external id of the message from now on.
    pub(super) new_id: Option<&'a str>,
}

/// Speaker of an admitted item.
#[derive(Clone, Copy)]
pub(super) enum Speaker<'a> {
    /// A known person.
    Known(&'a Person),
    /// An unknown member of an allowed group, by their number in it.
    Guest(u32),
}

impl Speaker<'_> {
    pub(super) fn person(&self) -> Option<PersonId> {
        match self {
            Self::Known(person) => Some(person.id),
            Self::Guest(_) => None,
        }
    }

    pub(super) fn number(&self) -> u32 {
        match self {
            Self::Known(_) => 0,
            Self::Guest(number) => *number,
        }
    }
}

impl Sender<'_> {
    /// Label of text written or passed on by the sender.
    pub(super) fn label_of(&self, origin: TextOrigin) -> Label {
        match self.speaker {
            Speaker::Known(_) => label_of(origin),
            Speaker::Guest(number) => Label::untrusted(Source::guest(self.stream, number)),
        }
    }

    /// External id for a reply to quote; none in groups, where it would visibly quote a notice.
    pub(super) fn quotable_id(&self) -> &str {
        match self.scope {
            Scope::Group(_) => "",
            Scope::Person(_) | Scope::Shared => &self.inbound.external_id,
        }
    }

    /// Returns true if the same speaker sent that message.
    pub(super) fn is_author_of(&self, message: &StoredMessage) -> bool {
        message.kind != MessageKind::Reply
            && message.person == self.speaker.person()
            && message.guest == self.speaker.number()
    }
}

/// Label of a known person's text.
fn label_of(origin: TextOrigin) -> Label {
    match origin {
        TextOrigin::Typed => Label::trusted(),
        TextOrigin::Forwarded => Label::untrusted(Source::forward()),
        TextOrigin::ViaBot => Label::untrusted(Source::new("via_bot", "")),
        TextOrigin::Piped => Label::untrusted(Source::stdin()),
    }
}

/// Label of a file: a fresh voice note counts as the sender's own words; every other file is
/// untrusted.
pub(super) fn file_label(origin: TextOrigin, file: &RemoteFile, guest: &Sender<'_>) -> Label {
    let label = guest.label_of(origin);
    if file.kind == FileKind::Voice && origin == TextOrigin::Typed {
        return label;
    }
    label.join_with(&Label::untrusted(Source::file(format!("in{}", guest.inbox))))
}
