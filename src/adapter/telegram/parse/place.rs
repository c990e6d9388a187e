//! Where something happened, and who was there: the ids without which it cannot be answered.
//!
//! A topic of a forum is part of the peer (`chat/topic`), because what is said in it is answered in it. Other
//! groups have threads of replies, which Telegram numbers in the same field; they are no places.

use serde_json::Value;

use super::{field, number, text};
use crate::message::{ChatKind, Event, Inbound};
use crate::time::Timestamp;

/// The place of one message.
pub(super) struct Where {
    pub(super) chat: i64,
    pub(super) message: i64,
    topic: Option<i64>,
    sender: i64,
    place: ChatKind,
}

impl Where {
    /// Where a message stands; `None` without its ids.
    pub(super) fn of(message: &Value) -> Option<Self> {
        let chat = field(message, "chat")?;
        let id = number(chat, "id")?;
        // Whoever speaks as a channel or as an anonymous administrator has a stand-in in `from`.
        let sender = ["sender_chat", "from"].iter().find_map(|who| number(field(message, who)?, "id"));
        Some(Self {
            chat: id,
            message: number(message, "message_id")?,
            topic: topic(message),
            sender: sender.unwrap_or(id),
            place: kind(chat),
        })
    }

    /// Whether nobody else reads along.
    pub(super) fn is_direct(&self) -> bool {
        self.place == ChatKind::Direct
    }

    /// The same place, told whether we are meant; in a direct chat we always are.
    pub(super) fn addressed(mut self, is_addressed: bool) -> Self {
        if let ChatKind::Group { addressed, .. } = &mut self.place {
            *addressed = is_addressed;
        }
        self
    }

    /// Something that happened here.
    pub(super) fn inbound(&self, external_id: String, server_at: Option<Timestamp>, event: Event) -> Inbound {
        Inbound {
            external_id,
            peer: self.topic.map_or_else(|| self.chat.to_string(), |topic| format!("{}/{topic}", self.chat)),
            sender: self.sender.to_string(),
            alias: None,
            place: self.place.clone(),
            server_at,
            event,
        }
    }
}

/// The topic in which a message stands. The general one of a forum has no number, and a direct chat is one, whatever is marked in it.
pub(super) fn topic(message: &Value) -> Option<i64> {
    let is_in_topic = message.get("is_topic_message").and_then(Value::as_bool) == Some(true);
    let is_direct = field(message, "chat").is_some_and(|chat| kind(chat) == ChatKind::Direct);
    number(message, "message_thread_id").filter(|topic| is_in_topic && !is_direct && *topic > 0)
}

/// What kind of place a chat is.
pub(super) fn kind(chat: &Value) -> ChatKind {
    if text(chat, "type") == Some("private") { ChatKind::Direct } else { group(number(chat, "id")) }
}

/// A group in which we are not known to be meant.
pub(super) fn group(chat: Option<i64>) -> ChatKind {
    ChatKind::Group { chat: chat.map(|id| id.to_string()).unwrap_or_default(), addressed: false }
}
