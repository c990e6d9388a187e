//! Conversion of the raw JSON of one notification to an [`Inbound`]: pure and total.
//!
//! Only the sender's own `message_key` becomes their text; attached content (previews, contacts,
//! polls, quotes) is marked as such, and names never appear in a text. A message has no id on the
//! wire but its author and the author's timestamp, so every id consists of these two
//! ([`ParsedMessage::message_key`]); ours have no author, since the daemon identifies us now by
//! number, now by identifier. An event without such an id gets a digest of itself, which is unique
//! and stable across redelivery.
//!
//! A group without a readable id is still a group: its messages never pass for direct ones.

mod content;
mod mention;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::envelope::{Envelope, EnvelopeContent, SignalParty, is_set, stamp, text};
use crate::adapter::Unreadable;
use crate::adapter::request::field;
use crate::message::{ChatKind, Event, Inbound};

/// Parses one notification for `account`. Only a notification without an envelope is unreadable.
pub(super) fn parse(raw: &str, account: &str) -> Result<Inbound, Unreadable> {
    let unreadable = || Unreadable { adapter: super::NAME };
    let notification: Value = serde_json::from_str(raw).map_err(|_| unreadable())?;
    let envelope = Envelope::of(&notification).ok_or_else(unreadable)?;
    let inbound = interpret(&envelope, SignalParty::from_name(account), raw);
    Ok(inbound.unwrap_or_else(|| self::inbound(&envelope, digest(raw), false, Event::Irrelevant)))
}

/// A message with its author and chat.
struct ParsedMessage<'v> {
    data: &'v Value,
    us: SignalParty,
    author: &'v SignalParty,
    /// The author's name.
    author_name: &'v str,
    sent_at: Option<i64>,
    group: Option<&'v str>,
}

/// An event with its id; `is_addressed` is true if it addresses us.
struct ParsedEvent {
    name: Option<String>,
    event: Event,
    is_addressed: bool,
}

fn interpret(envelope: &Envelope<'_>, account: SignalParty, raw: &str) -> Option<Inbound> {
    let us = account.clone().merged_with(envelope.account.clone());
    // Messages to other accounts of the daemon and our own messages are not for us.
    if account.is_distinct_from(&envelope.account) || us.is_same_as(&envelope.sender) {
        return None;
    }
    let message = ParsedMessage::of(envelope, us)?;
    let parsed = match envelope.content {
        EnvelopeContent::Edit { of, .. } => message.edit(of?)?,
        _ => message.deletion().or_else(|| message.reaction()).or_else(|| message.message_event())?,
    };
    let external_id = parsed.name.unwrap_or_else(|| digest(raw));
    Some(inbound(envelope, external_id, parsed.is_addressed, parsed.event))
}

impl<'v> ParsedMessage<'v> {
    /// Returns `None` for mere news about the chat.
    fn of(envelope: &'v Envelope<'v>, us: SignalParty) -> Option<Self> {
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
            author_name: envelope.sender.name()?,
            sent_at: stamp(data, "timestamp").or(envelope.sent_at),
            group,
        })
    }

    fn deletion(&self) -> Option<ParsedEvent> {
        let at = stamp(field(self.data, "remoteDelete")?, "timestamp")?;
        Some(self.event('d', Event::Deleted { message: format!("m{}:{at}", self.author_name) }))
    }

    fn reaction(&self) -> Option<ParsedEvent> {
        let reaction = field(self.data, "reaction")?;
        let whose = SignalParty::of(reaction, ["targetAuthorUuid", "targetAuthorNumber", "targetAuthor"]);
        let to = self.message_key(&whose, stamp(reaction, "targetSentTimestamp")?)?;
        let emoji = if is_set(reaction, "isRemove") { "" } else { text(reaction, "emoji") };
        let is_plain = !emoji.is_empty() || is_set(reaction, "isRemove");
        is_plain.then(|| self.event('r', Event::Reacted { message: to, emoji: emoji.to_owned() }))
    }

    fn message_event(&self) -> Option<ParsedEvent> {
        let (event, addresses_us) = content::of(self)?;
        Some(ParsedEvent { is_addressed: addresses_us, ..self.event('m', event) })
    }

    fn edit(&self, of: i64) -> Option<ParsedEvent> {
        let (Event::Message(content), addresses_us) = content::of(self)? else { return None };
        let name = self.sent_at.map(|at| format!("e{}:{of}:{at}", self.author_name));
        // The next edit, or a deletion, may refer to this one instead of the first.
        let new_id = self.sent_at.map(|at| format!("m{}:{at}", self.author_name));
        Some(ParsedEvent {
            name,
            event: Event::Edited { message: format!("m{}:{of}", self.author_name), content, new_id },
            is_addressed: addresses_us,
        })
    }

    fn event(&self, kind: char, event: Event) -> ParsedEvent {
        ParsedEvent {
            name: self.sent_at.map(|at| format!("{kind}{}:{at}", self.author_name)),
            event,
            is_addressed: false,
        }
    }

    /// Id of a message of this chat. In a direct chat, a message not written by the other party is
    /// ours.
    fn message_key(&self, author: &SignalParty, at: i64) -> Option<String> {
        let theirs = author.name()?;
        if author.is_same_as(self.author) {
            return Some(format!("m{}:{at}", self.author_name));
        }
        let ours = self.group.is_none() || author.is_same_as(&self.us);
        Some(format!("m{}:{at}", if ours { "" } else { theirs }))
    }

    fn peer(&self) -> String {
        peer(self.author_name, self.group)
    }
}

/// Makes an item of this envelope. One without a sender belongs to no direct chat.
fn inbound(envelope: &Envelope<'_>, external_id: String, addressed: bool, event: Event) -> Inbound {
    let sender = envelope.sender.name().unwrap_or_default();
    let group = envelope.content.group().or_else(|| sender.is_empty().then_some(""));
    Inbound {
        external_id,
        peer: peer(sender, group),
        sender: sender.to_owned(),
        alias: envelope.sender.alias().map(str::to_owned),
        chat_kind: group.map_or(ChatKind::Direct, |chat| ChatKind::Group { chat: chat.to_owned(), addressed }),
        server_at: envelope.server_at,
        event,
    }
}

fn peer(sender: &str, group: Option<&str>) -> String {
    group.map_or_else(|| sender.to_owned(), |group| format!("group:{group}"))
}

fn digest(raw: &str) -> String {
    let hash = Sha256::digest(raw.as_bytes());
    format!("u{}", hex::encode(hash.get(..16).unwrap_or_default()))
}

#[cfg(test)]
mod tests;
