//! A chat in Telegram Desktop's export as JSON.
//!
//! The fields are those that `Telegram/SourceFiles/export/output/export_output_json.cpp` of
//! Telegram Desktop writes: `name`, `id` and `messages` of a chat; of a message `id`, `type`
//! (`message` or `service`), `date_unixtime`, `from`, `forwarded_from` and `text`, which is a
//! string, or a list of strings and objects with `text`. No real export was at hand.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::Value;

use super::{ArchiveItem, Chat, Each, SkipReason, from_seconds, title};
use crate::wording::import as says;

#[derive(Deserialize)]
struct Message {
    id: i64,
    r#type: String,
    date_unixtime: Option<String>,
    from: Option<String>,
    forwarded_from: Option<String>,
    text: Option<Value>,
}

/// A chat whose messages are being read.
#[derive(Default)]
pub(super) struct OpenChat {
    id: String,
    chat: Chat,
}

impl OpenChat {
    /// Takes the chat's name, as JSON.
    pub(super) fn name(&mut self, json: &str) {
        self.chat.title = title(serde_json::from_str::<String>(json).ok().as_deref());
    }

    /// Takes the chat's id, as JSON.
    pub(super) fn id(&mut self, json: &str) {
        self.id = json.chars().take(40).collect();
    }

    /// Takes a message, as JSON. Returns false if its form is unknown.
    pub(super) fn read(&mut self, json: &str, each: Each<'_>) -> (bool, ControlFlow<()>) {
        match serde_json::from_str::<Message>(json) {
            Ok(message) => (true, self.add(&message, each)),
            Err(_) => (false, each(ArchiveItem::Skipped(SkipReason::Unknown))),
        }
    }

    fn add(&mut self, message: &Message, each: Each<'_>) -> ControlFlow<()> {
        if message.r#type != "message" {
            return each(ArchiveItem::Skipped(SkipReason::NotSaid));
        }
        let words = message.text.as_ref().map(words).unwrap_or_default();
        if words.trim().is_empty() {
            return each(ArchiveItem::Skipped(SkipReason::File));
        }
        self.chat.is_endless = true;
        let at = message.date_unixtime.as_deref().and_then(|seconds| seconds.parse().ok()).and_then(from_seconds);
        let from = message.from.as_deref().unwrap_or(says::NOBODY);
        let speaker = match &message.forwarded_from {
            Some(first) => says::forwarded(from, first),
            None => from.to_owned(),
        };
        let id = message.id.to_string();
        self.chat.add(["telegram", &self.id, &id], &speaker, at, &words, each)
    }

    /// Ends the chat.
    pub(super) fn end(&mut self, each: Each<'_>) -> ControlFlow<()> {
        self.chat.end(each)
    }
}

/// The words of a text, which may consist of parts with and without formatting.
fn words(text: &Value) -> String {
    match text {
        Value::String(words) => words.clone(),
        Value::Array(parts) => parts.iter().map(words).collect(),
        Value::Object(part) => part.get("text").and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}
