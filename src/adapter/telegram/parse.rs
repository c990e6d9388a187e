//! From the raw JSON of one update to an [`Inbound`]: pure, total, and never by way of a type that could drop
//! something.
//!
//! A typed message is not read here on purpose. One field of an unexpected shape (a reply to a text in
//! another chat is enough) makes teloxide's `Message` an empty one, and what the person wrote would be gone.
//! So each field is looked up for itself: a broken or new one costs only itself. Marks fail closed: any field
//! whose name says *forwarded* counts, whatever is in it, and any chat that is not plainly private is a
//! group.

mod content;

use serde_json::Value;

use crate::adapter::Unreadable;
use crate::message::{Event, Inbound, Origin, Place, Quote, Said};
use crate::time::Moment;

use content::Content;

/// Understands one update. Only what has no update number at all is unreadable.
pub(super) fn parse(raw: &str) -> Result<Inbound, Unreadable> {
    let unreadable = || Unreadable { adapter: super::NAME };
    let update: Value = serde_json::from_str(raw).map_err(|_| unreadable())?;
    let id = update_id(&update).ok_or_else(unreadable)?;
    let understood = None
        .or_else(|| ["message", "channel_post"].iter().find_map(|kind| said(field(&update, kind)?)))
        .or_else(|| ["edited_message", "edited_channel_post"].iter().find_map(|kind| edited(field(&update, kind)?)))
        .or_else(|| pressed(field(&update, "callback_query")?));
    Ok(understood.unwrap_or_else(|| unconcerning(&update, id)))
}

/// The number of an update, by which it is confirmed.
pub(super) fn update_id(update: &Value) -> Option<i64> {
    number(update, "update_id")
}

/// How a message is named among all items of one account.
pub(super) fn message_name(chat: i64, message: i64) -> String {
    format!("m{chat}:{message}")
}

fn said(message: &Value) -> Option<Inbound> {
    let place = Where::of(message)?;
    let event = match content::of(message) {
        Content::Said { text, files } => Event::Said(with_marks(message, text, files)),
        Content::Unsupported(word) => Event::Unsupported(word.to_owned()),
        Content::Service => Event::Nothing,
    };
    Some(place.inbound(message_name(place.chat, place.message), stamp(message, "date"), event))
}

fn edited(message: &Value) -> Option<Inbound> {
    let place = Where::of(message)?;
    let at = number(message, "edit_date").or_else(|| number(message, "date")).unwrap_or_default();
    let name = format!("e{}:{}:{at}", place.chat, place.message);
    let event = match content::of(message) {
        Content::Said { text, files } => {
            Event::Edited { of: message_name(place.chat, place.message), said: with_marks(message, text, files) }
        }
        // A location that moves or a poll that closes: nobody said anything.
        Content::Unsupported(_) | Content::Service => Event::Nothing,
    };
    let server_at = stamp(message, "edit_date").or_else(|| stamp(message, "date"));
    Some(place.inbound(name, server_at, event))
}

fn pressed(query: &Value) -> Option<Inbound> {
    let callback = text(query, "id")?;
    let sender = number(field(query, "from")?, "id")?;
    let place = field(query, "message").and_then(Where::of)?;
    let event = match text(query, "data") {
        Some(data) => Event::Button { data: data.to_owned(), callback: callback.to_owned() },
        None => Event::Nothing,
    };
    let mut inbound = place.inbound(format!("c{callback}"), None, event);
    // The message under which the button stands is our own; its sender is not who pressed.
    inbound.sender = sender.to_string();
    Some(inbound)
}

/// A kind that we do not ask for or do not know, or one without the ids that it should have.
fn unconcerning(update: &Value, id: i64) -> Inbound {
    let inner = update.as_object().and_then(|fields| fields.values().find(|value| value.is_object()));
    let chat = inner.and_then(|inner| field(inner, "chat"));
    let sender = inner.and_then(|inner| number(field(inner, "from")?, "id"));
    let peer = chat.and_then(|chat| number(chat, "id")).or(sender);
    let spell = |id: Option<i64>| id.map(|id| id.to_string()).unwrap_or_default();
    Inbound {
        external_id: format!("u{id}"),
        peer: spell(peer),
        sender: spell(sender.or(peer)),
        place: chat.map_or(Place::Group, kind_of_place),
        server_at: None,
        event: Event::Nothing,
    }
}

/// The ids without which a message cannot be answered.
struct Where {
    chat: i64,
    message: i64,
    sender: i64,
    place: Place,
}

impl Where {
    fn of(message: &Value) -> Option<Self> {
        let chat = field(message, "chat")?;
        let id = number(chat, "id")?;
        // Whoever speaks as a channel or as an anonymous administrator has a stand-in in `from`.
        let sender = ["sender_chat", "from"].iter().find_map(|who| number(field(message, who)?, "id"));
        let message = number(message, "message_id")?;
        Some(Self { chat: id, message, sender: sender.unwrap_or(id), place: kind_of_place(chat) })
    }

    fn inbound(&self, external_id: String, server_at: Option<Moment>, event: Event) -> Inbound {
        Inbound {
            external_id,
            peer: self.chat.to_string(),
            sender: self.sender.to_string(),
            place: self.place,
            server_at,
            event,
        }
    }
}

fn kind_of_place(chat: &Value) -> Place {
    if text(chat, "type") == Some("private") { Place::Direct } else { Place::Group }
}

fn with_marks(message: &Value, text: String, files: Vec<crate::message::RemoteFile>) -> Said {
    Said {
        text,
        origin: origin(message),
        quote: quote(message),
        files,
        album: self::text(message, "media_group_id").map(str::to_owned),
    }
}

fn origin(message: &Value) -> Origin {
    let marked = |mark: fn(&str) -> bool| {
        message.as_object().is_some_and(|fields| fields.iter().any(|(key, value)| mark(key) && is_there(value)))
    };
    if marked(|key| key.starts_with("forward") || key == "is_automatic_forward") {
        Origin::Forwarded
    } else if marked(|key| key == "via_bot" || key == "sender_business_bot") {
        Origin::ViaBot
    } else {
        Origin::Typed
    }
}

fn quote(message: &Value) -> Option<Quote> {
    let piece = field(message, "quote").map(|quote| text(quote, "text").unwrap_or_default());
    if let Some(replied) = field(message, "reply_to_message") {
        let text = piece.map_or_else(|| content::words(replied), str::to_owned);
        let here = field(message, "chat").and_then(|chat| number(chat, "id"));
        let there = field(replied, "chat").map_or(here, |chat| number(chat, "id"));
        return Some(match (there, number(replied, "message_id")) {
            (Some(chat), Some(id)) if there == here => Quote::Message { external_id: message_name(chat, id), text },
            _ => Quote::Elsewhere { text },
        });
    }
    let elsewhere = ["external_reply", "reply_to_story"].iter().any(|key| field(message, key).is_some());
    (elsewhere || piece.is_some()).then(|| Quote::Elsewhere { text: piece.unwrap_or_default().to_owned() })
}

fn stamp(message: &Value, key: &str) -> Option<Moment> {
    number(message, key).filter(|seconds| *seconds > 0).map(Moment::from_seconds)
}

/// A field that is there and not null.
fn field<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|value| !value.is_null())
}

fn is_there(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false))
}

fn number(value: &Value, key: &str) -> Option<i64> {
    value.get(key)?.as_i64()
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

#[cfg(test)]
mod tests;
