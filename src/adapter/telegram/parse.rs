//! Conversion of the raw JSON of one update to an [`Inbound`]: pure and total, and never through a
//! type that could drop something.
//!
//! Typed messages are avoided on purpose. One field of an unexpected shape (a reply to a text in
//! another chat is enough) makes teloxide's `Message` an empty one, and the text would be lost. So
//! each field is read separately: a broken or new one costs only itself. Marks fail closed: any
//! field whose name says *forwarded* counts, regardless of its value, and any chat that is not
//! plainly private is a group.
//!
//! A topic of a forum is part of the peer (`chat/topic`), because it is answered there. Other
//! groups have reply threads, which Telegram numbers in the same field; those are not addresses.
//! Every message in a forum topic refers to the topic's first message as if it were a reply. That
//! is no quote.
//!
//! The parser of mentions depends on our identity ([`BotIdentity`]): our id is part of the token,
//! our name is known once Telegram was asked. Until then no mention by name is recognised.

mod mention;

use serde::Deserialize;
use serde_json::Value;

use crate::adapter::Unreadable;
use crate::adapter::request::{field, list};
use crate::message::{
    Attached, AttachedTextKind, ChatKind, Event, FileKind, Inbound, MessageContent, Quote, RemoteFile, TextOrigin,
};
use crate::time::Timestamp;

use mention::AddressedText;

/// Largest file that the Bot API serves.
const MAX_FILE: u64 = 20 << 20;

/// Fields that hold one file, with its kind and default type. Telegram repeats an animation as a
/// document, so only the first match counts.
const FILES: &[(&str, FileKind, &str)] = &[
    ("animation", FileKind::Document, "video/mp4"),
    ("document", FileKind::Document, ""),
    ("voice", FileKind::Voice, "audio/ogg"),
    ("audio", FileKind::Audio, "audio/mpeg"),
    ("video", FileKind::Document, "video/mp4"),
    ("video_note", FileKind::Audio, "video/mp4"),
];

/// Fields of unsupported content, with a description for people. A venue also has a location.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("contact", "a contact"),
    ("venue", "a place"),
    ("location", "a location"),
    ("poll", "a poll"),
    ("dice", "a dice"),
    ("game", "a game"),
    ("invoice", "an invoice"),
    ("story", "a story"),
    ("checklist", "a checklist"),
    ("paid_media", "paid media"),
    ("giveaway", "a giveaway"),
    ("giveaway_winners", "a giveaway"),
    ("gift", "a gift"),
    ("unique_gift", "a gift"),
    ("passport_data", "a passport"),
    ("sticker", "a sticker"),
    ("photo", "a photo"),
];

/// Fields of any message, which say nothing about its content.
const ENVELOPE: &str = "message_id message_thread_id direct_messages_topic from sender_chat sender_boost_count \
    sender_business_bot sender_tag date business_connection_id chat is_topic_message reply_to_message \
    external_reply quote reply_to_story reply_to_checklist_task_id via_bot edit_date \
    is_automatic_forward has_protected_content is_from_offline is_paid_post media_group_id \
    author_signature paid_star_count link_preview_options suggested_post_info effect_id reply_markup";

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
    let addressed = addressed(message, us, origin.is_direct());
    let event = match body_of(message) {
        _ if addressed.is_for_another => Event::Irrelevant,
        MessageBody::Message { files, mut carried } => {
            carried.extend(links(message));
            Event::Message(MessageContent { carried, ..content_with_marks(message, &addressed, files) })
        }
        MessageBody::Unsupported(word) => Event::Unsupported(word.to_owned()),
        MessageBody::Moved(to) => Event::Migrated { to: to.to_string() },
        MessageBody::Service => Event::Irrelevant,
    };
    let origin = origin.addressed(addressed.is_addressed);
    let inbound = origin.inbound(message_key(origin.chat, origin.message), stamp(message, "date"), event);
    Some(Inbound { language: field(message, "from").map(language).unwrap_or_default(), ..inbound })
}

fn edit(message: &Value, us: &BotIdentity) -> Option<Inbound> {
    let origin = ChatOrigin::of(message)?;
    let addressed = addressed(message, us, origin.is_direct());
    let at = number(message, "edit_date").or_else(|| number(message, "date")).unwrap_or_default();
    let name = format!("e{}:{}:{at}", origin.chat, origin.message);
    let event = match body_of(message) {
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
    inbound.language = field(query, "from").map(language).unwrap_or_default();
    Some(inbound)
}

/// Language of a user's client; blank if it is not told.
fn language(user: &Value) -> String {
    text(user, "language_code").unwrap_or_default().to_owned()
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

/// Name and user name of the sender of an update; blank if it tells none.
pub(super) fn sender_name(raw: &str) -> String {
    let update: Value = serde_json::from_str(raw).unwrap_or_default();
    let inner = update.as_object().and_then(|fields| fields.values().find(|value| value.is_object()));
    let Some(from) = inner.and_then(|inner| field(inner, "from")) else { return String::new() };
    let username = text(from, "username").filter(|name| !name.is_empty()).map(|name| format!("(@{name})"));
    [Some(full_name(from)), username]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// First and last name of a user or contact; blank if it has none.
fn full_name(of: &Value) -> String {
    let parts = ["first_name", "last_name"].into_iter().filter_map(|key| text(of, key));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Name of the author of a forwarded message: a user, a user who hides their account, a group or a
/// channel. Before Bot API 7.0 the fields stood in the message itself.
fn forwarded_from(message: &Value) -> String {
    let origin = field(message, "forward_origin");
    let of = |key, older| origin.and_then(|origin| field(origin, key)).or_else(|| field(message, older));
    let user = || of("sender_user", "forward_from").map(full_name);
    let hidden =
        || origin.and_then(|origin| text(origin, "sender_user_name")).or_else(|| text(message, "forward_sender_name"));
    let chat = || of("sender_chat", "forward_from_chat").or_else(|| field(origin?, "chat"));
    let title = || text(chat()?, "title");
    user().or_else(|| hidden().or_else(title).map(str::to_owned)).unwrap_or_default()
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
        language: String::new(),
        chat_kind: chat.map_or_else(|| group(peer), chat_kind),
        server_at: None,
        event: Event::Irrelevant,
    }
}

/// Most messages mark no part of their text, and so have no name to remove.
fn addressed(message: &Value, us: &BotIdentity, is_direct: bool) -> AddressedText {
    if !list(message, "entities").is_empty() || !list(message, "caption_entities").is_empty() {
        return AddressedText::of(message, us, is_direct);
    }
    let (text, is_addressed) = (visible_text(message), replies_to_us(message, us));
    AddressedText { text, is_addressed, is_for_another: false }
}

fn content_with_marks(message: &Value, addressed: &AddressedText, files: Vec<RemoteFile>) -> MessageContent {
    MessageContent {
        text: addressed.text.clone(),
        origin: text_origin(message),
        forwarded_from: forwarded_from(message),
        quote: quote(message),
        files,
        carried: Vec::new(),
        expires_after: None,
        album: self::text(message, "media_group_id").map(str::to_owned),
        thread: None,
        arrived: Vec::new(),
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

/// Origin of one message.
struct ChatOrigin {
    chat: i64,
    message: i64,
    topic: Option<i64>,
    sender: i64,
    chat_kind: ChatKind,
}

impl ChatOrigin {
    /// Reads the ids of a message; `None` if one is missing.
    fn of(message: &Value) -> Option<Self> {
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
    fn is_direct(&self) -> bool {
        self.chat_kind == ChatKind::Direct
    }

    /// Sets the flag that we are addressed; without effect in a direct chat.
    fn addressed(mut self, is_addressed: bool) -> Self {
        if let ChatKind::Group { addressed, .. } = &mut self.chat_kind {
            *addressed = is_addressed;
        }
        self
    }

    /// Makes an item with this origin.
    fn inbound(&self, external_id: String, server_at: Option<Timestamp>, event: Event) -> Inbound {
        Inbound {
            external_id,
            peer: self.topic.map_or_else(|| self.chat.to_string(), |topic| format!("{}/{topic}", self.chat)),
            sender: self.sender.to_string(),
            alias: None,
            language: String::new(),
            chat_kind: self.chat_kind.clone(),
            server_at,
            event,
        }
    }
}

/// Topic of a message in a forum, or in a direct chat with topics (since Bot API 9.3). The general
/// topic has no number.
fn topic(message: &Value) -> Option<i64> {
    let is_in_topic = message.get("is_topic_message").and_then(Value::as_bool) == Some(true);
    number(message, "message_thread_id").filter(|topic| is_in_topic && *topic > 0)
}

/// Kind of a chat.
fn chat_kind(chat: &Value) -> ChatKind {
    if text(chat, "type") == Some("private") { ChatKind::Direct } else { group(number(chat, "id")) }
}

/// A group in which we are not known to be addressed.
fn group(chat: Option<i64>) -> ChatKind {
    ChatKind::Group { chat: chat.map(|id| id.to_string()).unwrap_or_default(), addressed: false }
}

/// Reads the quote of a message.
fn quote(message: &Value) -> Option<Quote> {
    let piece = field(message, "quote").map(|quote| text(quote, "text").unwrap_or_default());
    if let Some(replied) = replied(message) {
        let text = piece.map_or_else(|| visible_text(replied), str::to_owned);
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
fn replies_to_us(message: &Value, us: &BotIdentity) -> bool {
    replied(message).and_then(|replied| number(field(replied, "from")?, "id")) == Some(us.id)
}

fn replied(message: &Value) -> Option<&Value> {
    let replied = field(message, "reply_to_message")?;
    let begins_topic = topic(message).is_some() && topic(message) == number(replied, "message_id");
    (!begins_topic).then_some(replied)
}

/// Content of a message.
enum MessageBody {
    /// Text, files or attached content.
    Message {
        files: Vec<RemoteFile>,
        carried: Vec<Attached>,
    },
    Unsupported(&'static str),
    /// The group's new id.
    Moved(i64),
    Service,
}

/// Reads the content of a message.
fn body_of(message: &Value) -> MessageBody {
    let text_or_caption = visible_text(message);
    let files: Vec<RemoteFile> = photo(message).or_else(|| file(message)).into_iter().collect();
    let carried: Vec<Attached> =
        contact(message).or_else(|| poll(message)).or_else(|| location(message)).into_iter().collect();
    if !text_or_caption.is_empty() || !files.is_empty() || !carried.is_empty() {
        return MessageBody::Message { files, carried };
    }
    if let Some(to) = number(message, "migrate_to_chat_id") {
        return MessageBody::Moved(to);
    }
    let unsupported = UNSUPPORTED.iter().find(|(key, _)| field(message, key).is_some());
    match unsupported {
        Some((_, word)) => MessageBody::Unsupported(word),
        // Content that the Bot API cannot express arrives as a message without any.
        None if is_bare(message) => MessageBody::Unsupported("something of a kind that bots cannot see"),
        None => MessageBody::Service,
    }
}

/// The text, the caption, or the emoji of a sticker, which is what its sender meant.
fn visible_text(message: &Value) -> String {
    let sticker = || field(message, "sticker").and_then(|sticker| text(sticker, "emoji"));
    text(message, "text").or_else(|| text(message, "caption")).or_else(sticker).unwrap_or_default().to_owned()
}

fn is_bare(message: &Value) -> bool {
    message.as_object().is_some_and(|fields| {
        let mut content_fields = fields.iter().filter(|(_, value)| is_there(value)).map(|(key, _)| key.as_str());
        content_fields.all(|key| key.starts_with("forward") || ENVELOPE.split(' ').any(|known| known == key))
    })
}

/// Name and number of a contact in one line.
fn contact(message: &Value) -> Option<Attached> {
    let contact = field(message, "contact")?;
    let number = text(contact, "phone_number").unwrap_or_default().to_owned();
    let parts: Vec<String> = [full_name(contact), number].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| Attached { kind: AttachedTextKind::Contact, text: parts.join(", ") })
}

/// The addresses behind words of a text, a line each.
fn links(message: &Value) -> Option<Attached> {
    let links = mention::links(message);
    let lines: Vec<String> = links.into_iter().map(|(words, address)| format!("{words}: {address}")).collect();
    (!lines.is_empty()).then(|| Attached { kind: AttachedTextKind::Link, text: lines.join("\n") })
}

/// Place on the map: name and address if it has them, and the coordinates.
fn location(message: &Value) -> Option<Attached> {
    let venue = field(message, "venue");
    let place = venue.and_then(|venue| field(venue, "location")).or_else(|| field(message, "location"))?;
    let degrees = |key| place.get(key).and_then(Value::as_f64);
    let (latitude, longitude) = (degrees("latitude")?, degrees("longitude")?);
    let words = ["title", "address"].iter().filter_map(|key| text(venue?, key)).filter(|words| !words.is_empty());
    let precise = place.get("horizontal_accuracy").and_then(Value::as_f64);
    let precise = precise.map(|metres| format!(" (within {metres:.0} m)")).unwrap_or_default();
    let lines: Vec<String> =
        words.map(str::to_owned).chain([format!("{latitude:.6}, {longitude:.6}{precise}")]).collect();
    Some(Attached { kind: AttachedTextKind::Location, text: lines.join("\n") })
}

/// Question of a poll, and its options below it.
fn poll(message: &Value) -> Option<Attached> {
    let poll = field(message, "poll")?;
    let answers =
        list(poll, "options").iter().filter_map(|option| text(option, "text")).map(|answer| format!("\n- {answer}"));
    Some(Attached {
        kind: AttachedTextKind::Poll,
        text: text(poll, "question")?.to_owned() + &answers.collect::<String>(),
    })
}

/// Largest size of a photo that can be fetched.
fn photo(message: &Value) -> Option<RemoteFile> {
    let sizes = field(message, "photo")?.as_array()?;
    let area = |size: &&Value| {
        let side = |key| number(size, key).unwrap_or_default().max(0);
        side("width").saturating_mul(side("height"))
    };
    let fits = |size: &&Value| file_size(size).is_none_or(|bytes| bytes <= MAX_FILE) && text(size, "file_id").is_some();
    let largest = sizes.iter().filter(fits).max_by_key(area)?;
    remote(largest, FileKind::Photo, "image/jpeg")
}

fn file(message: &Value) -> Option<RemoteFile> {
    FILES.iter().find_map(|(key, kind, mime)| remote(field(message, key)?, *kind, mime))
}

fn remote(file: &Value, kind: FileKind, mime: &str) -> Option<RemoteFile> {
    let mime = text(file, "mime_type").unwrap_or(mime);
    // An audio file that is sent as a document is audio too.
    let is_audio = kind == FileKind::Document && mime.to_ascii_lowercase().starts_with("audio/");
    Some(RemoteFile {
        kind: if is_audio { FileKind::Audio } else { kind },
        reference: text(file, "file_id")?.to_owned(),
        mime: mime.to_owned(),
        name: text(file, "file_name").unwrap_or_default().to_owned(),
        size: file_size(file),
    })
}

fn file_size(file: &Value) -> Option<u64> {
    file.get("file_size")?.as_u64()
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
