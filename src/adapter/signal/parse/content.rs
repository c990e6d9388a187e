//! Content of a data message: text, files, attached content, or something unsupported.
//!
//! Attached content is what the sender did not type: link previews, contact cards, polls. Each
//! becomes a few plain lines, because the model should read what the sender's screen displays.
//! Pictures in them are ignored.

use std::time::Duration;

use serde_json::Value;

use super::{ParsedMessage, mention};
use crate::adapter::request::{field, list};
use crate::adapter::signal::envelope::{SignalParty, is_set, stamp, text};
use crate::message::{Attached, AttachedTextKind, Event, FileKind, MessageContent, Quote, RemoteFile, TextOrigin};

/// Reads the content of a message. The flag is true if it mentions us or answers a message of ours.
/// `None` if there is no content.
pub(super) fn of(message: &ParsedMessage<'_>) -> Option<(Event, bool)> {
    let words = mention::read(text(message.data, "message"), list(message.data, "mentions"), &message.us);
    let quote = quote(message);
    let addresses_us =
        words.mentions_us || quote.as_ref().and_then(Quote::external_id).is_some_and(|name| name.starts_with("m:"));
    let content = MessageContent {
        text: words.text,
        origin: TextOrigin::Typed,
        quote,
        carried: attached_texts(message.data),
        files: list(message.data, "attachments").iter().filter_map(|file| remote(file, &message.peer())).collect(),
        expires_after: timer(message.data),
        album: None,
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
    } else if mime.starts_with("audio/") && is_bare(file) && file.get("voiceNote").is_none() && is_recorded(&mime) {
        FileKind::Audio
    } else {
        FileKind::Document
    }
}

/// True for audio without name and caption. Without the sender's voice-note mark, which the daemon
/// does not pass on so far, it may be a recording by another person.
fn is_bare(file: &Value) -> bool {
    ["filename", "caption"].iter().all(|key| text(file, key).is_empty())
}

fn is_recorded(mime: &str) -> bool {
    ["audio/aac", "audio/ogg"].iter().any(|kind| mime.split(';').next() == Some(kind))
}

fn timer(data: &Value) -> Option<Duration> {
    if is_set(data, "viewOnce") {
        return Some(Duration::ZERO);
    }
    data.get("expiresInSeconds").and_then(Value::as_u64).filter(|seconds| *seconds > 0).map(Duration::from_secs)
}

const NAME: [&str; 6] = ["prefix", "given", "middle", "family", "suffix", "nickname"];
const ADDRESS: [&str; 7] = ["street", "pobox", "neighborhood", "postcode", "city", "region", "country"];

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
