//! Content of a message: text and files, something unsupported, or mere news about the chat.

use serde_json::Value;

use super::{is_there, number, text};
use crate::adapter::request::{field, list};
use crate::message::{Attached, AttachedTextKind, FileKind, RemoteFile};

/// Largest file that the Bot API serves.
const MAX_FILE: u64 = 20 << 20;

/// Content of a message.
pub(super) enum MessageBody {
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

/// Fields that hold one file, with its kind and default type. Telegram repeats an animation as a
/// document, so only the first match counts.
const FILES: &[(&str, FileKind, &str)] = &[
    ("animation", FileKind::Document, "video/mp4"),
    ("document", FileKind::Document, ""),
    ("voice", FileKind::Voice, "audio/ogg"),
    ("audio", FileKind::Document, "audio/mpeg"),
    ("video", FileKind::Document, "video/mp4"),
    ("video_note", FileKind::Document, "video/mp4"),
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

/// Reads the content of a message.
pub(super) fn of(message: &Value) -> MessageBody {
    let text_or_caption = visible_text(message);
    let files: Vec<RemoteFile> = photo(message).or_else(|| file(message)).into_iter().collect();
    let carried: Vec<Attached> = contact(message).or_else(|| poll(message)).into_iter().collect();
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
pub(super) fn visible_text(message: &Value) -> String {
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
    let part = |key| text(contact, key).filter(|part| !part.is_empty());
    let name: Vec<&str> = [part("first_name"), part("last_name")].into_iter().flatten().collect();
    let parts: Vec<String> =
        [Some(name.join(" ")).filter(|name| !name.is_empty()), part("phone_number").map(str::to_owned)]
            .into_iter()
            .flatten()
            .collect();
    (!parts.is_empty()).then(|| Attached { kind: AttachedTextKind::Contact, text: parts.join(", ") })
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
    Some(RemoteFile {
        kind,
        reference: text(file, "file_id")?.to_owned(),
        mime: text(file, "mime_type").unwrap_or(mime).to_owned(),
        name: text(file, "file_name").unwrap_or_default().to_owned(),
        size: file_size(file),
    })
}

fn file_size(file: &Value) -> Option<u64> {
    file.get("file_size")?.as_u64()
}
