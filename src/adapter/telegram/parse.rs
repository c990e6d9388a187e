//! Conversion of the raw JSON of one update to an [`Inbound`]: pure and total, and never through a
//! type that could drop something.
//!
//! Typed messages are avoided on purpose. One field of an unexpected shape (a reply to a text in
//! another chat is enough) makes teloxide's `Message` an empty one, and the text would be lost. So
//! each field is read separately: a broken or new one costs only itself. Marks fail closed: any
//! field whose name says *forwarded* counts, regardless of its value, and any chat that is not
//! plainly private is a group.
//!
//! The parser of mentions depends on our identity ([`BotIdentity`]): our id is part of the token,
//! our name is known once Telegram was asked. Until then no mention by name is recognised.

mod content;
mod mention;
mod chat_origin;

use serde::Deserialize;
use serde_json::Value;

use crate::adapter::Unreadable;
use crate::adapter::request::{field, list};
use crate::message::{Event, Inbound, MessageContent, RemoteFile, TextOrigin};
use crate::time::Timestamp;

use chat_origin::ChatOrigin;
use content::MessageBody;
use mention::AddressedText;

/// Our identity on this channel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct BotIdentity {
    /// User id.
    pub(super) id: i64,
    /// User name without the at sign; blank until Telegram was asked.
    #[serde(default)]
    pub(super) username: String,
}

/// Parses one update. Only an update without a number is unreadable.
pub(super) fn parse(raw: &str, us: &BotIdentity) -> Result<Inbound, Unreadable> {
    let unreadable = || Unreadable { adapter: super::NAME };
    let update: Value = serde_json::from_str(raw).map_err(|_| unreadable())?;
    let id = update_id(&update).ok_or_else(unreadable)?;
    let understood = None
        .or_else(|| ["message", "channel_post"].iter().find_map(|kind| message(field(&update, kind)?, us)))
        .or_else(|| ["edited_message", "edited_channel_post"].iter().find_map(|kind| edit(field(&update, kind)?, us)))
        .or_else(|| button_press(field(&update, "callback_query")?))
        .or_else(|| reaction(field(&update, "message_reaction")?, id));
    Ok(understood.unwrap_or_else(|| irrelevant(&update, id)))
}

/// Number of an update, by which it is confirmed.
pub(super) fn update_id(update: &Value) -> Option<i64> {
    number(update, "update_id")
}

/// External id of a message, unique within one account.
pub(super) fn message_key(chat: i64, message: i64) -> String {
    format!("m{chat}:{message}")
}

fn message(message: &Value, us: &BotIdentity) -> Option<Inbound> {
    let origin = ChatOrigin::of(message)?;
    let addressed = AddressedText::of(message, us, origin.is_direct());
    let event = match content::of(message) {
        _ if addressed.is_for_another => Event::Irrelevant,
        MessageBody::Message { files, carried } => {
            Event::Message(MessageContent { carried, ..content_with_marks(message, &addressed, files) })
        }
        MessageBody::Unsupported(word) => Event::Unsupported(word.to_owned()),
        MessageBody::Moved(to) => Event::Migrated { to: to.to_string() },
        MessageBody::Service => Event::Irrelevant,
    };
    let origin = origin.addressed(addressed.is_addressed);
    Some(origin.inbound(message_key(origin.chat, origin.message), stamp(message, "date"), event))
}

fn edit(message: &Value, us: &BotIdentity) -> Option<Inbound> {
    let origin = ChatOrigin::of(message)?;
    let addressed = AddressedText::of(message, us, origin.is_direct());
    let at = number(message, "edit_date").or_else(|| number(message, "date")).unwrap_or_default();
    let name = format!("e{}:{}:{at}", origin.chat, origin.message);
    let event = match content::of(message) {
        MessageBody::Message { files, carried } if carried.is_empty() && !addressed.is_for_another => Event::Edited {
            message: message_key(origin.chat, origin.message),
            content: content_with_marks(message, &addressed, files),
            new_id: None,
        },
        // A moving location or a closing poll is no edit of text.
        _ => Event::Irrelevant,
    };
    let server_at = stamp(message, "edit_date").or_else(|| stamp(message, "date"));
    Some(origin.addressed(addressed.is_addressed).inbound(name, server_at, event))
}

fn button_press(query: &Value) -> Option<Inbound> {
    let callback = text(query, "id")?;
    let sender = number(field(query, "from")?, "id")?;
    let origin = field(query, "message").and_then(ChatOrigin::of)?.addressed(true);
    let event = match text(query, "data") {
        Some(data) => Event::Button { data: data.to_owned(), callback: callback.to_owned() },
        None => Event::Irrelevant,
    };
    let mut inbound = origin.inbound(format!("c{callback}"), None, event);
    // The message with the button is our own; its sender did not press it.
    inbound.sender = sender.to_string();
    Some(inbound)
}

/// A reaction as a channel or as an anonymous administrator has no sender and is ignored.
fn reaction(reaction: &Value, update: i64) -> Option<Inbound> {
    let sender = number(field(reaction, "user")?, "id")?;
    let origin = ChatOrigin::of(reaction)?;
    let event = Event::Reacted { message: message_key(origin.chat, origin.message), emoji: newest_emoji(reaction) };
    let mut inbound = origin.inbound(format!("u{update}"), stamp(reaction, "date"), event);
    inbound.sender = sender.to_string();
    Some(inbound)
}

/// The emoji added last; blank if none is left, or if it is a custom one.
fn newest_emoji(reaction: &Value) -> String {
    let (before, now) = (list(reaction, "old_reaction"), list(reaction, "new_reaction"));
    let newest = now.iter().rev().find(|one| !before.contains(one)).or(now.last());
    newest.and_then(|one| text(one, "emoji")).unwrap_or_default().to_owned()
}

/// An update of an unrequested or unknown kind, or without the expected ids.
fn irrelevant(update: &Value, id: i64) -> Inbound {
    let inner = update.as_object().and_then(|fields| fields.values().find(|value| value.is_object()));
    let chat = inner.and_then(|inner| field(inner, "chat"));
    let sender = inner.and_then(|inner| number(field(inner, "from")?, "id"));
    let peer = chat.and_then(|chat| number(chat, "id")).or(sender);
    let spell = |id: Option<i64>| id.map(|id| id.to_string()).unwrap_or_default();
    Inbound {
        external_id: format!("u{id}"),
        peer: spell(peer),
        sender: spell(sender.or(peer)),
        alias: None,
        chat_kind: chat.map_or_else(|| chat_origin::group(peer), chat_origin::chat_kind),
        server_at: None,
        event: Event::Irrelevant,
    }
}

fn content_with_marks(message: &Value, addressed: &AddressedText, files: Vec<RemoteFile>) -> MessageContent {
    MessageContent {
        text: addressed.text.clone(),
        origin: text_origin(message),
        quote: chat_origin::quote(message),
        files,
        carried: Vec::new(),
        expires_after: None,
        album: self::text(message, "media_group_id").map(str::to_owned),
    }
}

fn text_origin(message: &Value) -> TextOrigin {
    let marked = |mark: fn(&str) -> bool| {
        message.as_object().is_some_and(|fields| fields.iter().any(|(key, value)| mark(key) && is_there(value)))
    };
    if marked(|key| key.starts_with("forward") || key == "is_automatic_forward") {
        TextOrigin::Forwarded
    } else if marked(|key| key == "via_bot" || key == "sender_business_bot") {
        TextOrigin::ViaBot
    } else {
        TextOrigin::Typed
    }
}

fn stamp(message: &Value, key: &str) -> Option<Timestamp> {
    number(message, key).filter(|seconds| *seconds > 0).map(Timestamp::from_seconds)
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
