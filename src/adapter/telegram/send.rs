//! Requests for the outbox and the inbox: sending and editing of parts, upload and download of
//! files, the command menu, and the meaning of each rejection for the outbox.
//!
//! A peer is a chat, or a chat and a topic (`chat/topic`). Requests about an existing message need
//! no topic: its number is unique in the chat.
//!
//! A file is sent as a picture, as a voice note, or as a document. One that Telegram rejects as a
//! picture or a voice note (dimensions, size, a misleading extension, or the privacy settings of
//! the recipient) is sent as a document instead. The bytes are uploaded each time; Telegram's file
//! ids are not stored. A received file has a path, which the server keeps for an hour.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use teloxide_core::payloads::{
    DeleteMyCommands, DeleteMyCommandsSetters, EditMessageReplyMarkup, EditMessageReplyMarkupSetters, EditMessageText,
    EditMessageTextSetters, GetFile, SendMessage, SendMessageSetters, SetMessageReaction, SetMessageReactionSetters,
    SetMyCommands, SetMyCommandsSetters,
};
use teloxide_core::types::{
    BotCommand, BotCommandScope, ChatId, FileId, InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions,
    MessageId, ParseMode, ReactionType, Recipient, ReplyParameters, ThreadId,
};

use super::bot_api::{ApiRefusal, BotApi, CallError};
use super::parse::message_key;
use crate::adapter::{MenuEntry, OutgoingPart, PartFormat, SendError};
use crate::markdown::strip_control;
use crate::message::{FetchFileError, FileKind, OutgoingFile, reaction};
use crate::people::Role;
use crate::text::one_line;

/// Data of a button that does nothing.
const NO_COMMAND: &str = "-";
/// Number of buttons per row.
const BUTTONS_IN_A_ROW: usize = 2;

/// Rejections of a rich text that a plain one would not meet.
const BAD_MARKUP: &[&str] = &["can't parse entities", "can't parse message text", "ENTITY_BOUNDS_INVALID"];
/// Rejections with code 400 that mean the chat cannot be reached; so does every 403.
const BLOCKED: &[&str] = &[
    "chat not found",
    "user not found",
    "deactivated",
    "PEER_ID_INVALID",
    "CHAT_WRITE_FORBIDDEN",
    "have no rights to send",
    "not enough rights to send",
    "upgraded to a supergroup",
    "bot was kicked",
];
/// Rejections that mean a message can no longer be edited.
const GONE: &[&str] =
    &["message to edit not found", "message can't be edited", "message to react not found", "MESSAGE_ID_INVALID"];
/// Rejection because the topic of a message was deleted.
const NO_TOPIC: &[&str] = &["message thread not found"];
/// Rejections of an edit that would change nothing.
const SAME: &[&str] = &["message is not modified", "MESSAGE_NOT_MODIFIED"];

/// The only field that is read of a response: more could fail to parse although the message was
/// sent.
#[derive(Deserialize)]
pub(super) struct SentMessage {
    pub(super) message_id: i64,
}

/// Recipient of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SendTarget {
    pub(super) chat: ChatId,
    /// Topic of a forum.
    pub(super) topic: Option<ThreadId>,
}

impl SendTarget {
    /// Parses a peer.
    pub(super) fn of(peer: &str) -> Result<Self, SendError> {
        let (chat, topic) = peer.split_once('/').map_or((peer, None), |(chat, topic)| (chat, Some(topic)));
        let wrong = || SendError::Refused("The address is no chat id".to_owned());
        // User names are not accepted: names change hands.
        let chat = chat.parse().map(ChatId).map_err(|_| wrong())?;
        let topic = topic.map(|topic| topic.parse().map(|id| ThreadId(MessageId(id))).map_err(|_| wrong()));
        Ok(Self { chat, topic: topic.transpose()? })
    }

    /// Translates a failed call for the outbox.
    pub(super) fn send_error(self, failure: CallError) -> SendError {
        match send_error(failure) {
            SendError::Migrated(chat) => SendError::Migrated(match self.topic {
                Some(topic) => format!("{chat}/{topic}"),
                None => chat,
            }),
            other => other,
        }
    }
}

/// Sends one part and returns its external id.
pub(super) async fn send(
    api: &BotApi,
    peer: &str,
    piece: &OutgoingPart,
    form: PartFormat,
) -> Result<String, SendError> {
    let target = SendTarget::of(peer)?;
    let mut payload = SendMessage::new(target.chat, piece.text(form)).link_preview_options(no_preview());
    payload.message_thread_id = target.topic;
    payload.disable_notification = piece.silent.then_some(true);
    // A part is sent even if the message it answers was deleted meanwhile.
    let replied = piece.reply_to.as_deref().and_then(|name| message_in(target.chat, name));
    payload.reply_parameters = replied.map(|message| ReplyParameters::new(message).allow_sending_without_reply());
    if form == PartFormat::Rich {
        payload = payload.parse_mode(ParseMode::Html);
    }
    if let Some(keyboard) = keyboard(piece) {
        payload = payload.reply_markup(keyboard);
    }
    let mut sent: Result<SentMessage, CallError> = api.request(&payload).await;
    // The topic of a direct chat was deleted. That of a group stays where it is asked for.
    if let Err(CallError::Rejected(refusal)) = &sent
        && refusal.mentions(NO_TOPIC)
        && target.chat.0 > 0
        && payload.message_thread_id.take().is_some()
    {
        sent = api.request(&payload).await;
    }
    let sent = sent.map_err(|failure| target.send_error(failure))?;
    Ok(message_key(target.chat.0, sent.message_id))
}

/// Replaces the text of a part that was sent before.
pub(super) async fn edit(
    api: &BotApi,
    peer: &str,
    external_id: &str,
    piece: &OutgoingPart,
    form: PartFormat,
) -> Result<(), SendError> {
    let target = SendTarget::of(peer)?;
    let message = message_in(target.chat, external_id).ok_or(SendError::NotFound)?;
    let mut payload = EditMessageText::new(target.chat, message, piece.text(form)).link_preview_options(no_preview());
    if form == PartFormat::Rich {
        payload = payload.parse_mode(ParseMode::Html);
    }
    if let Some(keyboard) = keyboard(piece) {
        payload = payload.reply_markup(keyboard);
    }
    match api.request::<_, serde::de::IgnoredAny>(&payload).await {
        Err(CallError::Rejected(refusal)) if refusal.mentions(SAME) => Ok(()),
        Err(CallError::Rejected(refusal)) if refusal.mentions(GONE) => Err(SendError::NotFound),
        other => other.map(|_| ()).map_err(|failure| target.send_error(failure)),
    }
}

/// Replaces the buttons under a message by one that does nothing.
pub(super) async fn replace_buttons(api: &BotApi, peer: &str, external_id: &str, title: &str) -> Result<(), SendError> {
    let target = SendTarget::of(peer)?;
    let message = message_in(target.chat, external_id).ok_or(SendError::NotFound)?;
    let shown = InlineKeyboardMarkup::new([[InlineKeyboardButton::callback(title, NO_COMMAND)]]);
    let payload = EditMessageReplyMarkup::new(target.chat, message).reply_markup(shown);
    match api.request::<_, serde::de::IgnoredAny>(&payload).await {
        Err(CallError::Rejected(refusal)) if refusal.mentions(SAME) => Ok(()),
        Err(CallError::Rejected(refusal)) if refusal.mentions(GONE) => Err(SendError::NotFound),
        other => other.map(|_| ()).map_err(|failure| target.send_error(failure)),
    }
}

/// Sets or removes our reaction to a message.
pub(super) async fn react(api: &BotApi, peer: &str, external_id: &str, emoji: &str) -> Result<(), SendError> {
    let target = SendTarget::of(peer)?;
    let message = message_in(target.chat, external_id).ok_or(SendError::NotFound)?;
    let ours = (!emoji.is_empty())
        .then(|| ReactionType::Emoji { emoji: reaction::on_telegram(emoji).unwrap_or(emoji).to_owned() });
    let payload = SetMessageReaction::new(target.chat, message).reaction(ours);
    match api.request::<_, serde::de::IgnoredAny>(&payload).await {
        Err(CallError::Rejected(refusal)) if refusal.mentions(GONE) => Err(SendError::NotFound),
        other => other.map(|_| ()).map_err(|failure| target.send_error(failure)),
    }
}

fn message_in(chat: ChatId, external_id: &str) -> Option<MessageId> {
    let (named_chat, message) = external_id.strip_prefix('m')?.split_once(':')?;
    (named_chat.parse() == Ok(chat.0)).then_some(())?;
    message.parse().ok().map(MessageId)
}

/// A preview would fetch an address written by the model, which could leak data.
fn no_preview() -> LinkPreviewOptions {
    LinkPreviewOptions {
        is_disabled: true,
        url: None,
        prefer_small_media: false,
        prefer_large_media: false,
        show_above_text: false,
    }
}

fn keyboard(piece: &OutgoingPart) -> Option<InlineKeyboardMarkup> {
    let button = |(title, data): &(String, String)| InlineKeyboardButton::callback(title, data);
    let rows = piece.buttons.chunks(BUTTONS_IN_A_ROW).map(|row| row.iter().map(button));
    (!piece.buttons.is_empty()).then(|| InlineKeyboardMarkup::new(rows))
}

fn send_error(failure: CallError) -> SendError {
    failure.rejection().map_or_else(|error| error, rejection_error)
}

fn rejection_error(refusal: ApiRefusal) -> SendError {
    if let Some(chat) = refusal.moved {
        return SendError::Migrated(chat.to_string());
    }
    match (refusal.code, refusal.wait) {
        (_, Some(wait)) => SendError::Wait(wait),
        // A bad token is reported by the receive loop; the parts wait for a valid one.
        (401 | 404, _) => SendError::Later(refusal.reason),
        (403, _) => SendError::Blocked(refusal.reason),
        _ if refusal.mentions(BAD_MARKUP) => SendError::BadMarkup,
        _ if refusal.mentions(BLOCKED) => SendError::Blocked(refusal.reason),
        _ => SendError::Refused(refusal.reason),
    }
}

/// Largest file that a bot may send.
const MAX_FILE: usize = 50 << 20;
/// Largest file that may be sent as a picture.
const MAX_PHOTO: usize = 10 << 20;
/// Time allowed for an upload.
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(300);
/// Default MIME type.
const DEFAULT_MIME: &str = "application/octet-stream";

/// Sends a file and returns the external id of its message.
pub(super) async fn send_file(api: &BotApi, peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
    let target = SendTarget::of(peer)?;
    if file.bytes.len() > MAX_FILE {
        return Err(SendError::Refused("The file is larger than the 50 MB that Telegram takes from a bot".to_owned()));
    }
    match send_as(api, target, kind(file), file).await {
        Err(SendError::Refused(_)) if kind(file) != FileKind::Document => {
            send_as(api, target, FileKind::Document, file).await
        }
        sent => sent,
    }
}

fn kind(file: &OutgoingFile) -> FileKind {
    match file.kind {
        FileKind::Photo if file.bytes.len() > MAX_PHOTO => FileKind::Document,
        kind => kind,
    }
}

async fn send_as(api: &BotApi, target: SendTarget, kind: FileKind, file: &OutgoingFile) -> Result<String, SendError> {
    let (method, field) = match kind {
        FileKind::Photo => ("sendPhoto", "photo"),
        FileKind::Voice => ("sendVoice", "voice"),
        FileKind::Document | FileKind::Audio => ("sendDocument", "document"),
    };
    // Telegram reads a name verbatim and does not decode percent signs in it.
    let mut form = Form::new().percent_encode_noop().text("chat_id", target.chat.to_string());
    if let Some(topic) = target.topic {
        form = form.text("message_thread_id", topic.to_string());
    }
    let form = form.part(field, part(file)?);
    let sent: SentMessage =
        api.upload(method, form, UPLOAD_TIMEOUT).await.map_err(|failure| target.send_error(failure))?;
    Ok(message_key(target.chat.0, sent.message_id))
}

fn part(file: &OutgoingFile) -> Result<Part, SendError> {
    // A line break would end the header that contains the name.
    let name = one_line(&strip_control(&file.name));
    let typed = |mime: &str| Part::bytes(file.bytes.to_vec()).file_name(name.clone()).mime_str(mime);
    typed(&file.mime)
        .or_else(|_| typed(DEFAULT_MIME))
        .map_err(|_| SendError::Refused("The file has no type".to_owned()))
}

/// Time allowed for a download; the Bot API serves at most 20 MB.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Deserialize)]
struct TelegramFile {
    #[serde(default)]
    file_path: String,
    file_size: Option<u64>,
}

/// Fetches a file by its id, at most `max` bytes. A local Bot API server names a path on this
/// computer, which is read only within `files_dir`.
pub(super) async fn fetch(
    api: &BotApi,
    files_dir: Option<&Path>,
    reference: &str,
    max: u64,
) -> Result<Vec<u8>, FetchFileError> {
    let payload = GetFile::new(FileId(reference.to_owned()));
    let found: TelegramFile = api.request(&payload).await.map_err(fetch_error)?;
    if found.file_size.is_some_and(|size| size > max) {
        return Err(FetchFileError::TooLarge);
    }
    if found.file_path.is_empty() {
        return Err(FetchFileError::NotFound);
    }
    if !found.file_path.starts_with('/') {
        return api.download(&found.file_path, max, DOWNLOAD_TIMEOUT).await;
    }
    let Some(files_dir) = files_dir.map(Path::to_owned) else {
        tracing::warn!("The Bot API server keeps files on this computer: name their folder in telegram.files_dir");
        return Err(FetchFileError::NotFound);
    };
    let read = tokio::task::spawn_blocking(move || read_within(&files_dir, Path::new(&found.file_path), max));
    read.await.unwrap_or(Err(FetchFileError::NotFound))
}

fn read_within(folder: &Path, path: &Path, max: u64) -> Result<Vec<u8>, FetchFileError> {
    let there = |_: io::Error| FetchFileError::NotFound;
    let (folder, path) = (fs::canonicalize(folder).map_err(there)?, fs::canonicalize(path).map_err(there)?);
    if !path.starts_with(folder) {
        return Err(FetchFileError::NotFound);
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(there)?;
    file.take(max.saturating_add(1)).read_to_end(&mut bytes).map_err(there)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > max { Err(FetchFileError::TooLarge) } else { Ok(bytes) }
}

fn fetch_error(failure: CallError) -> FetchFileError {
    match &failure {
        CallError::Rejected(refusal) if refusal.mentions(&["file is too big"]) => FetchFileError::TooLarge,
        CallError::Rejected(ApiRefusal { code: 400, .. }) => FetchFileError::NotFound,
        _ => FetchFileError::Later(failure.to_string()),
    }
}

/// Registers the command menus: known people see the commands of their role, strangers none. Best
/// effort: a failure is logged once.
pub(super) async fn register_menu(api: &BotApi, commands: &[MenuEntry], peers: &[(String, Role)]) {
    let for_all = DeleteMyCommands::new().scope(BotCommandScope::Default);
    let mut failed = api.request::<_, bool>(&for_all).await.err();
    for (peer, role) in peers {
        // A rate limit or an outage would affect the next request too.
        if failed.as_ref().is_some_and(|failure| !is_about_one_chat(failure)) {
            break;
        }
        let Ok(target) = SendTarget::of(peer) else { continue };
        failed = api.request::<_, bool>(&for_chat(target.chat, *role, commands)).await.err().or(failed);
    }
    if let Some(failure) = failed {
        let reason = failure.to_string();
        tracing::warn!(%reason, "The Telegram command menu could not be set for everybody");
    }
}

fn for_chat(chat: ChatId, role: Role, commands: &[MenuEntry]) -> SetMyCommands {
    let allowed = commands.iter().filter(|entry| entry.role <= role);
    let entries = allowed.map(|entry| BotCommand::new(&entry.name, &entry.description));
    SetMyCommands::new(entries).scope(BotCommandScope::Chat { chat_id: Recipient::Id(chat) })
}

/// Returns true if the chat does not exist, or its person has not written yet.
fn is_about_one_chat(failure: &CallError) -> bool {
    matches!(failure, CallError::Rejected(refusal) if matches!(refusal.code, 400 | 403))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_refusal_has_its_consequence() {
        let told = |code, reason: &str| {
            rejection_error(ApiRefusal { code, reason: reason.to_owned(), wait: None, moved: None })
        };
        let blocked = [
            (403, "Forbidden: bot was blocked by the user"),
            (403, "Forbidden: user is deactivated"),
            (403, "Forbidden: bot can't initiate conversation with a user"),
            (403, "Forbidden: something new"),
            (400, "Bad Request: chat not found"),
            (400, "Bad Request: PEER_ID_INVALID"),
            (400, "Bad Request: group chat was upgraded to a supergroup chat"),
            (400, "Bad Request: not enough rights to send text messages to the chat"),
        ];
        for (code, reason) in blocked {
            assert_eq!(told(code, reason), SendError::Blocked(reason.to_owned()));
        }
        for reason in [
            "Bad Request: can't parse entities: Unsupported start tag \"x\" at byte offset 3",
            "Bad Request: can't parse entities in message text: Can't find end tag",
        ] {
            assert_eq!(told(400, reason), SendError::BadMarkup);
        }
        for reason in [
            "Bad Request: message is too long",
            "Bad Request: message text is empty",
            "Bad Request: BUTTON_DATA_INVALID",
        ] {
            assert_eq!(told(400, reason), SendError::Refused(reason.to_owned()));
        }
        assert_eq!(told(401, "Unauthorized"), SendError::Later("Unauthorized".to_owned()));
        let flood = ApiRefusal { code: 429, reason: String::new(), wait: Some(Duration::from_secs(7)), moved: None };
        assert_eq!(rejection_error(flood), SendError::Wait(Duration::from_secs(7)));
        assert_eq!(send_error(CallError::NotSent("x".to_owned())), SendError::Later("x".to_owned()));
        assert_eq!(send_error(CallError::NoResponse("x".to_owned())), SendError::OutcomeUnknown("x".to_owned()));
    }

    #[test]
    fn only_a_message_of_the_same_chat_can_be_edited() {
        assert_eq!(message_in(ChatId(7), "m7:12"), Some(MessageId(12)));
        assert_eq!(message_in(ChatId(-1007), "m-1007:12"), Some(MessageId(12)));
        for odd in ["", "m", "m7", "m8:12", "e7:12:3", "c12", "m7:12:3", "m7:99999999999", "m7:x"] {
            assert_eq!(message_in(ChatId(7), odd), None, "{odd}");
        }
    }

    #[test]
    fn peers_are_numbers() {
        assert_eq!(SendTarget::of("-1001"), Ok(SendTarget { chat: ChatId(-1001), topic: None }));
        let topic = Some(ThreadId(MessageId(5)));
        assert_eq!(SendTarget::of("-1001/5"), Ok(SendTarget { chat: ChatId(-1001), topic }));
        for odd in ["", "@ada", "7 ", "7.0", "7/", "/7", "7/5/5", "7/x"] {
            assert!(matches!(SendTarget::of(odd), Err(SendError::Refused(_))), "{odd}");
        }
    }

    #[test]
    fn a_group_that_moved_keeps_its_topic() {
        let moved = || {
            let reason = "Bad Request: group chat was upgraded to a supergroup chat".to_owned();
            CallError::Rejected(ApiRefusal { code: 400, reason, wait: None, moved: Some(-1009) })
        };
        assert_eq!(SendTarget::of("-5").unwrap().send_error(moved()), SendError::Migrated("-1009".to_owned()));
        assert_eq!(SendTarget::of("-5/7").unwrap().send_error(moved()), SendError::Migrated("-1009/7".to_owned()));
    }

    #[test]
    fn buttons_stand_two_in_a_row() {
        let buttons = ["a", "b", "c"].map(|name| (name.to_owned(), format!("{name}!"))).to_vec();
        let piece = OutgoingPart { buttons, ..OutgoingPart::default() };
        assert_eq!(
            serde_json::to_value(keyboard(&piece)).unwrap(),
            serde_json::json!({"inline_keyboard": [
                [{"text": "a", "callback_data": "a!"}, {"text": "b", "callback_data": "b!"}],
                [{"text": "c", "callback_data": "c!"}],
            ]})
        );
        assert!(keyboard(&OutgoingPart { buttons: Vec::new(), ..piece }).is_none());
    }

    #[test]
    fn a_file_that_cannot_be_named_is_gone_too_large_or_later() {
        let refused = |code, reason: &str| {
            fetch_error(CallError::Rejected(ApiRefusal { code, reason: reason.to_owned(), wait: None, moved: None }))
        };
        assert_eq!(refused(400, "Bad Request: file is too big"), FetchFileError::TooLarge);
        assert_eq!(
            refused(400, "Bad Request: wrong file_id or the file is temporarily unavailable"),
            FetchFileError::NotFound
        );
        assert_eq!(refused(429, "slow"), FetchFileError::Later("429 slow".to_owned()));
        assert_eq!(fetch_error(CallError::NoResponse("x".to_owned())), FetchFileError::Later("x".to_owned()));
    }

    #[test]
    fn a_menu_holds_what_the_role_may_use() {
        let entry = |name: &str, role| MenuEntry { name: name.to_owned(), description: "x".to_owned(), role };
        let commands = [entry("help", Role::Member), entry("people", Role::Owner)];
        let names = |role| {
            let menu = for_chat(ChatId(7), role, &commands);
            menu.commands.into_iter().map(|command| command.command).collect::<Vec<_>>()
        };
        assert_eq!(names(Role::Owner), ["help", "people"]);
        assert_eq!(names(Role::Member), ["help"]);
        assert!(names(Role::Guest).is_empty());
    }
}
