//! Content of a data message: text, files, attached content, or something unsupported.

use std::time::Duration;

use serde_json::Value;

use super::{ParsedMessage, attached_texts, mention};
use crate::adapter::signal::envelope::{SignalParty, field, is_set, list, stamp, text};
use crate::message::{Event, FileKind, MessageContent, Quote, RemoteFile, TextOrigin};

/// Reads the content of a message. The flag is true if it mentions us or answers a message of ours.
/// `None` if there is no content.
pub(super) fn of(talk: &ParsedMessage<'_>) -> Option<(Event, bool)> {
    let words = mention::read(text(talk.data, "message"), list(talk.data, "mentions"), &talk.us);
    let quote = quote(talk);
    let to_us =
        words.mentions_us || quote.as_ref().and_then(Quote::external_id).is_some_and(|name| name.starts_with("m:"));
    let said = MessageContent {
        text: words.text,
        origin: TextOrigin::Typed,
        quote,
        carried: attached_texts::all(talk.data),
        files: list(talk.data, "attachments").iter().filter_map(|file| remote(file, &talk.peer())).collect(),
        expires_after: timer(talk.data),
        album: None,
    };
    let holds = !said.text.trim().is_empty() || !said.files.is_empty() || !said.carried.is_empty() || words.mentions_us;
    if holds {
        Some((Event::Message(said), to_us))
    } else {
        unsupported(talk.data).map(|what| (Event::Unsupported(what.to_owned()), false))
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
fn quote(talk: &ParsedMessage<'_>) -> Option<Quote> {
    let Some(quote) = field(talk.data, "quote") else {
        return field(talk.data, "storyContext").map(|_| Quote::Elsewhere { text: String::new() });
    };
    let text = mention::read(text(quote, "text"), list(quote, "mentions"), &talk.us).text;
    let author = SignalParty::of(quote, ["authorUuid", "authorNumber", "author"]);
    let quoted = stamp(quote, "id").and_then(|at| talk.message_key(&author, at));
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
