//! Conversion of the raw JSON of one notification to an [`Inbound`]: pure and total.
//!
//! Only the sender's own text, or the emoji of their sticker, becomes their text; attached content
//! (previews, contacts, polls, quotes) is marked as such, and names never appear in a text. A
//! message has no id on the wire but its author and the author's timestamp, so every id consists of
//! these two ([`ParsedMessage::message_key`]); ours have no author, since the daemon identifies us
//! now by number, now by identifier. An event without such an id gets a digest of itself, which is
//! unique and stable across redelivery.
//!
//! A group without a readable id is still a group: its messages never pass for direct ones.
//!
//! Attached content is what the sender did not type: link previews, contact cards, polls. Each
//! becomes a few plain lines, because the model should read what the sender's screen displays.
//! Pictures in them are ignored.

mod mention;

use std::time::Duration;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::envelope::{Envelope, EnvelopeContent, SignalParty, is_set, stamp, text};
use crate::adapter::Unreadable;
use crate::adapter::request::{field, list};
use crate::message::{
    Attached, AttachedTextKind, ChatKind, Event, FileKind, Inbound, MessageContent, Quote, RemoteFile, TextOrigin,
};
use crate::text::is_emoji;

const NAME: [&str; 6] = ["prefix", "given", "middle", "family", "suffix", "nickname"];
const ADDRESS: [&str; 7] = ["street", "pobox", "neighborhood", "postcode", "city", "region", "country"];

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
        let (event, addresses_us) = content_event(self)?;
        Some(ParsedEvent { is_addressed: addresses_us, ..self.event('m', event) })
    }

    fn edit(&self, of: i64) -> Option<ParsedEvent> {
        let (Event::Message(content), addresses_us) = content_event(self)? else { return None };
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

/// Profile name of the sender of a notification; blank if it tells none.
pub(super) fn sender_name(raw: &str) -> String {
    let notification: Value = serde_json::from_str(raw).unwrap_or_default();
    let notice = field(&notification, "result").unwrap_or(&notification);
    field(notice, "envelope").map(|envelope| text(envelope, "sourceName")).unwrap_or_default().to_owned()
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
        language: String::new(),
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

/// Reads the content of a message. The flag is true if it mentions us or answers a message of ours.
/// `None` if there is no content.
fn content_event(message: &ParsedMessage<'_>) -> Option<(Event, bool)> {
    let words = mention::read(text(message.data, "message"), list(message.data, "mentions"), &message.us);
    let quote = quote(message);
    let addresses_us =
        words.mentions_us || quote.as_ref().and_then(Quote::external_id).is_some_and(|name| name.starts_with("m:"));
    let content = MessageContent {
        text: if words.text.is_empty() { sticker(message.data) } else { words.text },
        origin: TextOrigin::Typed,
        // Signal does not mark forwards.
        forwarded_from: String::new(),
        quote,
        carried: attached_texts(message.data),
        files: list(message.data, "attachments").iter().filter_map(|file| remote(file, &message.peer())).collect(),
        expires_after: timer(message.data),
        album: None,
        thread: None,
        arrived: Vec::new(),
    };
    let holds = !content.text.trim().is_empty()
        || !content.files.is_empty()
        || !content.carried.is_empty()
        || words.mentions_us;
    if holds {
        Some((Event::Message(content), addresses_us))
    } else {
        unsupported(message.data).map(|what| (Event::Unsupported(what.to_owned()), false))
    }
}

/// Emoji of a sticker, which is what its sender meant; blank if there is none.
fn sticker(data: &Value) -> String {
    let emoji = field(data, "sticker").map(|sticker| text(sticker, "emoji")).filter(|emoji| is_emoji(emoji));
    emoji.unwrap_or_default().to_owned()
}

/// Description of unsupported content, if there is nothing else.
fn unsupported(data: &Value) -> Option<&'static str> {
    let alone = [("sticker", "a sticker"), ("payment", "a payment")];
    let known = alone.iter().find(|(key, _)| field(data, key).is_some()).map(|(_, word)| *word);
    known.or_else(|| (!list(data, "attachments").is_empty()).then_some("a file that did not arrive with its message"))
}

/// Reads the quoted message. A story belongs to no chat, and a quote without author or timestamp
/// could be anything.
fn quote(message: &ParsedMessage<'_>) -> Option<Quote> {
    let Some(quote) = field(message.data, "quote") else {
        return field(message.data, "storyContext").map(|_| Quote::Elsewhere { text: String::new() });
    };
    let text = mention::read(text(quote, "text"), list(quote, "mentions"), &message.us).text;
    let author = SignalParty::of(quote, ["authorUuid", "authorNumber", "author"]);
    let quoted = stamp(quote, "id").and_then(|at| message.message_key(&author, at));
    Some(match quoted {
        Some(external_id) => Quote::Claimed { external_id, text },
        None => Quote::Elsewhere { text },
    })
}

/// The daemon finds a file by its id and chat. A file without an id was not received.
fn remote(file: &Value, peer: &str) -> Option<RemoteFile> {
    let id = Some(text(file, "id")).filter(|id| !id.is_empty())?;
    Some(RemoteFile {
        kind: kind(file),
        reference: format!("{id}|{peer}"),
        mime: text(file, "contentType").to_owned(),
        name: text(file, "filename").to_owned(),
        size: file.get("size").and_then(Value::as_u64),
    })
}

fn kind(file: &Value) -> FileKind {
    let mime = text(file, "contentType").to_ascii_lowercase();
    if mime.starts_with("image/") {
        FileKind::Photo
    } else if mime.starts_with("audio/") && is_bare(file) && is_set(file, "voiceNote") {
        FileKind::Voice
    } else if mime.starts_with("audio/") {
        FileKind::Audio
    } else {
        FileKind::Document
    }
}

/// True for audio without name and caption. Only with the sender's voice-note mark, which older
/// daemons do not pass on, it is their own voice; otherwise it may be a recording by another
/// person.
fn is_bare(file: &Value) -> bool {
    ["filename", "caption"].iter().all(|key| text(file, key).is_empty())
}

fn timer(data: &Value) -> Option<Duration> {
    if is_set(data, "viewOnce") {
        return Some(Duration::ZERO);
    }
    data.get("expiresInSeconds").and_then(Value::as_u64).filter(|seconds| *seconds > 0).map(Duration::from_secs)
}

/// All attached content in reading order; empty items are left out.
fn attached_texts(data: &Value) -> Vec<Attached> {
    let previews = list(data, "previews").iter().map(|page| (AttachedTextKind::Preview, preview(page)));
    let contacts = list(data, "contacts").iter().map(|card| (AttachedTextKind::Contact, contact(card)));
    let polls = field(data, "pollCreate").into_iter().map(|poll_data| (AttachedTextKind::Poll, poll(poll_data)));
    let all = previews.chain(contacts).chain(polls).map(|(what, lines)| Attached { kind: what, text: lines });
    all.filter(|carried| !carried.text.is_empty()).collect()
}

fn preview(page: &Value) -> String {
    joined(["title", "description", "url"].map(|key| text(page, key)), "\n")
}

fn contact(card: &Value) -> String {
    let name = field(card, "name").map(|name| joined(NAME.map(|key| text(name, key)), " ")).unwrap_or_default();
    let values = |key| list(card, key).iter().map(|entry| text(entry, "value").to_owned());
    let places = list(card, "address").iter().map(|place| joined(ADDRESS.map(|key| text(place, key)), ", "));
    let lines = [name, text(card, "organization").to_owned()].into_iter();
    let lines: Vec<String> = lines.chain(values("phone")).chain(values("email")).chain(places).collect();
    joined(lines.iter().map(String::as_str), "\n")
}

fn poll(poll_data: &Value) -> String {
    let answers = list(poll_data, "options").iter().filter_map(Value::as_str).map(|answer| format!("- {answer}"));
    let lines: Vec<String> = [text(poll_data, "question").to_owned()].into_iter().chain(answers).collect();
    joined(lines.iter().map(String::as_str), "\n")
}

fn joined<'t>(parts: impl IntoIterator<Item = &'t str>, between: &str) -> String {
    let parts: Vec<&str> = parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join(between)
}

#[cfg(test)]
mod tests;
