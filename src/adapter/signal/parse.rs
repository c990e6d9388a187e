//! Conversion of the raw JSON of one notification to an [`Inbound`]: pure and total.
//!
//! Only the sender's own `message` becomes their text; attached content (previews, contacts, polls,
//! quotes) is marked as such, and names never appear in a text. A message has no id on the wire but
//! its author and the author's timestamp, so every id consists of these two ([`ParsedMessage::message`]);
//! ours have no author, since the daemon identifies us now by number, now by identifier. An event
//! without such an id gets a digest of itself, which is unique and stable across redelivery.
//!
//! A group without a readable id is still a group: its messages never pass for direct ones.

mod carried;
mod content;
mod mention;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::envelope::{Envelope, EnvelopeContent, Party, field, is_set, stamp, text};
use crate::adapter::Unreadable;
use crate::message::{ChatKind, Event, Inbound};

/// Parses one notification for `account`. Only a notification without an envelope is unreadable.
pub(super) fn parse(raw: &str, account: &str) -> Result<Inbound, Unreadable> {
    let unreadable = || Unreadable { adapter: super::NAME };
    let notification: Value = serde_json::from_str(raw).map_err(|_| unreadable())?;
    let envelope = Envelope::of(&notification).ok_or_else(unreadable)?;
    let inbound = understood(&envelope, Party::named(account), raw);
    Ok(inbound.unwrap_or_else(|| unconcerning(&envelope, raw)))
}

/// A message with its author and chat.
struct ParsedMessage<'v> {
    data: &'v Value,
    us: Party,
    author: &'v Party,
    /// The author's name.
    by: &'v str,
    sent_at: Option<i64>,
    group: Option<&'v str>,
}

/// An event with its id; `to_us` is true if it addresses us.
struct ParsedEvent {
    name: Option<String>,
    event: Event,
    to_us: bool,
}

fn understood(envelope: &Envelope<'_>, account: Party, raw: &str) -> Option<Inbound> {
    let us = account.clone().or(envelope.account.clone());
    // Messages to other accounts of the daemon and our own messages are not for us.
    if account.differs(&envelope.account) || us.is(&envelope.sender) {
        return None;
    }
    let talk = ParsedMessage::of(envelope, us)?;
    let heard = match envelope.content {
        EnvelopeContent::Edit { of, .. } => talk.edited(of?)?,
        _ => talk.taken_back().or_else(|| talk.reacted()).or_else(|| talk.said())?,
    };
    let external_id = heard.name.unwrap_or_else(|| digest(raw));
    Some(talk.inbound(external_id, heard.to_us, heard.event, envelope))
}

impl<'v> ParsedMessage<'v> {
    /// Returns `None` for mere news about the chat.
    fn of(envelope: &'v Envelope<'v>, us: Party) -> Option<Self> {
        let data = envelope.content.data()?;
        let group = envelope.content.group();
        let is_update = field(data, "groupInfo").is_some_and(|group| text(group, "type") == "UPDATE");
        if is_update || group == Some("") || is_set(data, "isExpirationUpdate") {
            return None;
        }
        Some(Self {
            data,
            us,
            author: &envelope.sender,
            by: envelope.sender.name()?,
            sent_at: stamp(data, "timestamp").or(envelope.sent_at),
            group,
        })
    }

    fn taken_back(&self) -> Option<ParsedEvent> {
        let at = stamp(field(self.data, "remoteDelete")?, "timestamp")?;
        Some(self.heard('d', Event::Deleted { of: format!("m{}:{at}", self.by) }))
    }

    fn reacted(&self) -> Option<ParsedEvent> {
        let reaction = field(self.data, "reaction")?;
        let whose = Party::of(reaction, ["targetAuthorUuid", "targetAuthorNumber", "targetAuthor"]);
        let to = self.message(&whose, stamp(reaction, "targetSentTimestamp")?)?;
        let emoji = if is_set(reaction, "isRemove") { "" } else { text(reaction, "emoji") };
        let is_plain = !emoji.is_empty() || is_set(reaction, "isRemove");
        is_plain.then(|| self.heard('r', Event::Reacted { to, emoji: emoji.to_owned() }))
    }

    fn said(&self) -> Option<ParsedEvent> {
        let (event, to_us) = content::of(self)?;
        Some(ParsedEvent { to_us, ..self.heard('m', event) })
    }

    fn edited(&self, of: i64) -> Option<ParsedEvent> {
        let (Event::Message(said), to_us) = content::of(self)? else { return None };
        let name = self.sent_at.map(|at| format!("e{}:{of}:{at}", self.by));
        // The next edit, or a deletion, may refer to this one instead of the first.
        let also = self.sent_at.map(|at| format!("m{}:{at}", self.by));
        Some(ParsedEvent { name, event: Event::Edited { of: format!("m{}:{of}", self.by), said, also }, to_us })
    }

    fn heard(&self, kind: char, event: Event) -> ParsedEvent {
        ParsedEvent { name: self.sent_at.map(|at| format!("{kind}{}:{at}", self.by)), event, to_us: false }
    }

    /// Id of a message of this chat. In a direct chat, a message not written by the other party is
    /// ours.
    fn message(&self, author: &Party, at: i64) -> Option<String> {
        let theirs = author.name()?;
        if author.is(self.author) {
            return Some(format!("m{}:{at}", self.by));
        }
        let ours = self.group.is_none() || author.is(&self.us);
        Some(format!("m{}:{at}", if ours { "" } else { theirs }))
    }

    fn peer(&self) -> String {
        peer(self.by, self.group)
    }

    fn inbound(&self, external_id: String, addressed: bool, event: Event, envelope: &Envelope<'_>) -> Inbound {
        Inbound {
            external_id,
            peer: self.peer(),
            sender: self.by.to_owned(),
            alias: self.author.alias().map(str::to_owned),
            place: place(self.group, addressed),
            server_at: envelope.server_at,
            event,
        }
    }
}

/// An item that concerns no conversation, or has no sender.
fn unconcerning(envelope: &Envelope<'_>, raw: &str) -> Inbound {
    let sender = envelope.sender.name().unwrap_or_default();
    let group = envelope.content.group().or_else(|| sender.is_empty().then_some(""));
    Inbound {
        external_id: digest(raw),
        peer: peer(sender, group),
        sender: sender.to_owned(),
        alias: envelope.sender.alias().map(str::to_owned),
        place: place(group, false),
        server_at: envelope.server_at,
        event: Event::Nothing,
    }
}

fn peer(sender: &str, group: Option<&str>) -> String {
    group.map_or_else(|| sender.to_owned(), |group| format!("group:{group}"))
}

fn place(group: Option<&str>, addressed: bool) -> ChatKind {
    group.map_or(ChatKind::Direct, |chat| ChatKind::Group { chat: chat.to_owned(), addressed })
}

fn digest(raw: &str) -> String {
    let hash = Sha256::digest(raw.as_bytes());
    hash.iter().take(16).fold("u".to_owned(), |name, byte| format!("{name}{byte:02x}"))
}

#[cfg(test)]
mod tests;
