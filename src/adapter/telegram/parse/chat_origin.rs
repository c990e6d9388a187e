//! Origin of an update: the ids of chat, topic, message and sender, without which it cannot be
//! answered; and the quoted message of a reply.
//!
//! A topic of a forum is part of the peer (`chat/topic`), because it is answered there. Other
//! groups have reply threads, which Telegram numbers in the same field; those are not addresses.
//! Every message in a forum topic refers to the topic's first message as if it were a reply. That
//! is no quote.

use serde_json::Value;

use super::{BotIdentity, content, message_key, number, text};
use crate::adapter::request::field;
use crate::message::{ChatKind, Event, Inbound, Quote};
use crate::time::Timestamp;

/// Origin of one message.
pub(super) struct ChatOrigin {
    pub(super) chat: i64,
    pub(super) message: i64,
    topic: Option<i64>,
    sender: i64,
    chat_kind: ChatKind,
}

impl ChatOrigin {
    /// Reads the ids of a message; `None` if one is missing.
    pub(super) fn of(message: &Value) -> Option<Self> {
        let chat = field(message, "chat")?;
        let id = number(chat, "id")?;
        // A sender acting as a channel or as an anonymous administrator has a placeholder in
        // `from`.
        let sender = ["sender_chat", "from"].iter().find_map(|who| number(field(message, who)?, "id"));
        Some(Self {
            chat: id,
            message: number(message, "message_id")?,
            topic: topic(message),
            sender: sender.unwrap_or(id),
            chat_kind: chat_kind(chat),
        })
    }

    /// Returns true in a chat without other members.
    pub(super) fn is_direct(&self) -> bool {
        self.chat_kind == ChatKind::Direct
    }

    /// Sets the flag that we are addressed; without effect in a direct chat.
    pub(super) fn addressed(mut self, is_addressed: bool) -> Self {
        if let ChatKind::Group { addressed, .. } = &mut self.chat_kind {
            *addressed = is_addressed;
        }
        self
    }

    /// Makes an item with this origin.
    pub(super) fn inbound(&self, external_id: String, server_at: Option<Timestamp>, event: Event) -> Inbound {
        Inbound {
            external_id,
            peer: self.topic.map_or_else(|| self.chat.to_string(), |topic| format!("{}/{topic}", self.chat)),
            sender: self.sender.to_string(),
            alias: None,
            chat_kind: self.chat_kind.clone(),
            server_at,
            event,
        }
    }
}

/// Forum topic of a message. The general topic has no number, and a direct chat never has topics,
/// even if one is marked.
pub(super) fn topic(message: &Value) -> Option<i64> {
    let is_in_topic = message.get("is_topic_message").and_then(Value::as_bool) == Some(true);
    let is_direct = field(message, "chat").is_some_and(|chat| chat_kind(chat) == ChatKind::Direct);
    number(message, "message_thread_id").filter(|topic| is_in_topic && !is_direct && *topic > 0)
}

/// Kind of a chat.
pub(super) fn chat_kind(chat: &Value) -> ChatKind {
    if text(chat, "type") == Some("private") { ChatKind::Direct } else { group(number(chat, "id")) }
}

/// A group in which we are not known to be addressed.
pub(super) fn group(chat: Option<i64>) -> ChatKind {
    ChatKind::Group { chat: chat.map(|id| id.to_string()).unwrap_or_default(), addressed: false }
}

/// Reads the quote of a message.
pub(super) fn quote(message: &Value) -> Option<Quote> {
    let piece = field(message, "quote").map(|quote| text(quote, "text").unwrap_or_default());
    if let Some(replied) = replied(message) {
        let text = piece.map_or_else(|| content::visible_text(replied), str::to_owned);
        let here = field(message, "chat").and_then(|chat| number(chat, "id"));
        let there = field(replied, "chat").map_or(here, |chat| number(chat, "id"));
        return Some(match (there, number(replied, "message_id")) {
            (Some(chat), Some(id)) if there == here => Quote::Message { external_id: message_key(chat, id), text },
            _ => Quote::Elsewhere { text },
        });
    }
    let elsewhere = ["external_reply", "reply_to_story"].iter().any(|key| field(message, key).is_some());
    (elsewhere || piece.is_some()).then(|| Quote::Elsewhere { text: piece.unwrap_or_default().to_owned() })
}

/// Returns true if it replies to a message of ours.
pub(super) fn replies_to_us(message: &Value, us: &BotIdentity) -> bool {
    replied(message).and_then(|replied| number(field(replied, "from")?, "id")) == Some(us.id)
}

fn replied(message: &Value) -> Option<&Value> {
    let replied = field(message, "reply_to_message")?;
    let begins_topic = topic(message).is_some() && topic(message) == number(replied, "message_id");
    (!begins_topic).then_some(replied)
}
