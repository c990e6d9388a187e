//! The quoted message of a reply.
//!
//! Every message in a forum topic refers to the topic's first message as if it were a reply. That
//! is no quote.

use serde_json::Value;

use super::chat_origin::topic;
use super::{BotIdentity, content, field, message_key, number, text};
use crate::message::Quote;

/// Reads the quote of a message.
pub(super) fn of(message: &Value) -> Option<Quote> {
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
