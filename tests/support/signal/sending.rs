//! `send`: its parameters, its outcome for each recipient, and its failure as a whole.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::faults::Failure;
use super::methods::{Outcome, chats};
use super::observing::{Edit, Sent, SentFile};
use super::rpc::{Call, Refusal};
use super::state::{ChatId, MessageId, OWN_NUMBER, OWN_UUID, State, group_id, number, uuid};
use crate::support::fake::AcceptedKind;

/// Longer bodies become attachments that older clients do not show.
const LONGEST_BODY: usize = 2000;
const STYLES: [&str; 5] = ["BOLD", "ITALIC", "SPOILER", "STRIKETHROUGH", "MONOSPACE"];

/// Chat of a `send`; the first of several.
pub(super) fn chat_of(state: &State, call: &Call) -> Option<ChatId> {
    chats(state, call).ok()?.first().copied()
}

pub(super) fn send(state: &mut State, call: &Call) -> Outcome {
    let chats = chats(state, call)?;
    let text = call.text("message").unwrap_or_default().to_owned();
    let files = files(call)?;
    if text.is_empty() && files.is_empty() && call.param("sticker").is_none() {
        return Err(Refusal::user("Message body is empty"));
    }
    check_text(state, call, &chats, &text);
    let timestamp = state.stamp(0);
    let (mut results, mut failed) = (Vec::new(), Vec::new());
    for chat in chats {
        let missed_by = deliver(state, chat, &mut results, &mut failed);
        let members = state.groups.get(&chat).map_or(1, |group| group.members.len());
        if missed_by.len() < members.max(1) {
            keep(state, call, chat, timestamp, &text, &files, missed_by);
        }
    }
    conclude(timestamp, results, &failed)
}

/// Adds the outcome for every member of a chat; returns those that did not get it.
fn deliver(state: &mut State, chat: ChatId, results: &mut Vec<Value>, failed: &mut Vec<Failure>) -> Vec<i64> {
    let group = state.groups.get(&chat).map(|group| group.members.iter().copied().collect::<Vec<_>>());
    let is_group = group.is_some();
    let mut missed_by = Vec::new();
    for person in group.unwrap_or_else(|| vec![chat]) {
        let failure = if person == 0 { None } else { state.failure(chat, person) };
        let mut result = failure.as_ref().map_or_else(|| json!({ "type": "SUCCESS" }), Failure::result);
        result["recipientAddress"] = state.recipient_address(person);
        if is_group {
            result["groupId"] = json!(group_id(chat));
        }
        results.push(result);
        if let Some(failure) = failure {
            missed_by.push(person);
            failed.push(failure);
        }
    }
    missed_by
}

/// Succeeds if any recipient got it; a complete failure sets the error code.
fn conclude(timestamp: MessageId, results: Vec<Value>, failed: &[Failure]) -> Outcome {
    let response = json!({ "timestamp": timestamp, "results": results });
    if failed.is_empty() || failed.len() < response["results"].as_array().map_or(0, Vec::len) {
        return Ok(response);
    }
    let limited = |failure: &Failure| matches!(failure, Failure::RateLimit(_) | Failure::ProofRequired { .. });
    let code = match failed {
        all if all.iter().all(|failure| *failure == Failure::Identity) => -4,
        all if all.iter().all(limited) => -5,
        _ => -1,
    };
    let mut refusal = Refusal::new(code, "Failed to send message");
    refusal.data = Some(json!({ "response": response }));
    Err(refusal)
}

/// Records the visible message.
fn keep(
    state: &mut State,
    call: &Call,
    chat: ChatId,
    timestamp: MessageId,
    text: &str,
    files: &[SentFile],
    missed_by: Vec<i64>,
) {
    let at_ms = state.now_ms();
    if let Some(target) = call.int("editTimestamp") {
        let found = state.sent.iter_mut().find(|sent| sent.chat == chat && sent.is_named(target) && !sent.deleted);
        let Some(sent) = found else {
            state.violate(Some(chat), "edits what was never sent");
            return;
        };
        text.clone_into(&mut sent.text);
        sent.styles = call.list("textStyle");
        sent.params = Value::Object(call.params.clone());
        sent.edits.push(Edit { message_id: timestamp, text: text.to_owned(), at_ms });
        let sent = sent.clone();
        state.record(AcceptedKind::Edit, &sent);
        return;
    }
    let quote = call
        .text("quoteAuthor")
        .map(|author| (author.to_owned(), call.text("quoteMessage").unwrap_or_default().to_owned()));
    let sent = Sent {
        chat,
        message_id: timestamp,
        text: text.to_owned(),
        first_text: text.to_owned(),
        styles: call.list("textStyle"),
        mentions: call.list("mention"),
        edits: Vec::new(),
        reply_to: call.int("quoteTimestamp"),
        quote,
        files: files.to_vec(),
        view_once: call.flag("viewOnce"),
        params: Value::Object(call.params.clone()),
        missed_by,
        at_ms,
        deleted: false,
    };
    state.record(AcceptedKind::Send, &sent);
    state.sent.push(sent);
}

/// Records errors in a text and its marks as violations: the daemon sends it nevertheless.
fn check_text(state: &mut State, call: &Call, chats: &[ChatId], text: &str) {
    let chat = chats.first().copied();
    if text.len() > LONGEST_BODY {
        state.violate(chat, format!("a body of {} bytes", text.len()));
    }
    let units = text.encode_utf16().count();
    for style in call.list("textStyle") {
        let parts: Vec<&str> = style.splitn(3, ':').collect();
        let (start, length) = match parts[..] {
            [start, length, kind] if STYLES.contains(&kind) => (start.parse::<usize>(), length.parse::<usize>()),
            _ => ("".parse(), "".parse()),
        };
        match (start, length) {
            (Ok(start), Ok(length)) if length > 0 && start + length <= units => {}
            _ => state.violate(chat, format!("a style that covers nothing: {style}")),
        }
    }
    let (target, author) = (call.int("quoteTimestamp"), call.text("quoteAuthor"));
    if target.is_some() != author.is_some() {
        state.violate(chat, "half a quote");
    }
    if let (Some(target), Some(author), Some(chat)) = (target, author, chat)
        && !state.was_written_by(chat, target, author)
    {
        state.violate(Some(chat), "quotes what nobody wrote");
    }
}

impl State {
    /// Returns whether a message of the chat is by this author.
    pub(super) fn was_written_by(&self, chat: ChatId, message: MessageId, author: &str) -> bool {
        if author == OWN_NUMBER || author.eq_ignore_ascii_case(OWN_UUID) {
            return self.sent.iter().any(|sent| sent.chat == chat && sent.is_named(message));
        }
        let written = self.received.get(&(chat, message));
        written.is_some_and(|(by, _)| number(*by) == author || uuid(*by).eq_ignore_ascii_case(author))
    }
}

/// Attachments of a request: each a data address or the path of a file.
fn files(call: &Call) -> Result<Vec<SentFile>, Refusal> {
    call.list("attachment").iter().map(|given| file(given)).collect()
}

fn file(given: &str) -> Result<SentFile, Refusal> {
    let unreadable = || Refusal::new(-32603, "Failed to add attachment");
    let Some(address) = given.strip_prefix("data:") else {
        let bytes = std::fs::read(given).map_err(|_| unreadable())?;
        let name = Path::new(given).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        return Ok(SentFile { name, mime: String::new(), bytes });
    };
    let (head, data) = address.split_once(";base64,").ok_or_else(unreadable)?;
    let bytes = STANDARD.decode(data).map_err(|_| unreadable())?;
    let mut parts = head.split(';');
    let mime = parts.next().unwrap_or_default().to_owned();
    let name = parts.find_map(|part| part.strip_prefix("filename=")).unwrap_or_default().to_owned();
    Ok(SentFile { name, mime, bytes })
}
