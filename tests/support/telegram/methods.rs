//! All methods except `getUpdates`, with the validation order and error texts of the real server.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::faults::SENDS;
use super::markup::{self, Formatted};
use super::observing::{Edit, Sent};
use super::state::{CallbackAnswer, ChatId, MessageId, State, bot};
use super::upload::{self, UploadedFile};
use super::webhook;
use crate::support::fake::AcceptedKind;

/// Length limit of the visible text, in UTF-16 units.
const MAX_TEXT: usize = 4096;
/// Size limit of downloads by a bot.
const MAX_DOWNLOAD: usize = 20 << 20;
const NOT_MODIFIED: &str = "message is not modified: specified new message content and reply markup are exactly the \
                            same as a current content and reply markup of the message";

/// One parsed call; the method in lower case, because the real server ignores case too.
pub(super) struct Call {
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
    pub(super) files: BTreeMap<String, UploadedFile>,
}

impl Call {
    pub(super) fn is_send(&self) -> bool {
        SENDS.contains(&self.method.as_str())
    }

    pub(super) fn text(&self, key: &str) -> &str {
        self.params.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a number, also from text as in forms.
    pub(super) fn int(&self, key: &str) -> Option<i64> {
        let value = self.params.get(key)?;
        value.as_i64().or_else(|| value.as_str()?.parse().ok())
    }

    /// Returns a structured parameter, also from JSON in text as in forms.
    pub(super) fn json(&self, key: &str) -> Option<Value> {
        match self.params.get(key)? {
            Value::String(text) => serde_json::from_str(text).ok(),
            Value::Null => None,
            value => Some(value.clone()),
        }
    }

    pub(super) fn flag(&self, key: &str) -> bool {
        self.json(key).is_some_and(|value| value == json!(true))
    }
}

/// An answer with `ok: false`.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: u16,
    pub(super) description: String,
    pub(super) parameters: Option<Value>,
}

impl Refusal {
    pub(super) fn new(code: u16, description: &str) -> Self {
        Self { code, description: description.to_owned(), parameters: None }
    }

    pub(super) fn bad(why: &str) -> Self {
        Self::new(400, &format!("Bad Request: {why}"))
    }

    pub(super) fn conflict() -> Self {
        let why = "terminated by other getUpdates request; make sure that only one bot instance is running";
        Self::new(409, &format!("Conflict: {why}"))
    }
}

pub(super) type Outcome = Result<Value, Refusal>;

/// Runs one call. Under `strict` every refusal caused by the bot is a violation.
pub(super) fn run(state: &mut State, call: &Call) -> Outcome {
    let outcome = dispatch(state, call);
    if let Err(refusal) = &outcome
        && state.strict
        && !matches!(refusal.code, 403 | 429)
    {
        state.violate(call.int("chat_id"), format!("{}: {}", call.method, refusal.description));
    }
    outcome
}

fn dispatch(state: &mut State, call: &Call) -> Outcome {
    match call.method.as_str() {
        "getme" => Ok(me()),
        "sendmessage" => send_message(state, call),
        "sendphoto" | "sendvoice" | "senddocument" => upload::send_file(state, call),
        "editmessagetext" => edit_message_text(state, call),
        "editmessagereplymarkup" => edit_reply_markup(state, call),
        "deletemessage" => delete_message(state, call),
        "sendchataction" => send_chat_action(state, call),
        "setmessagereaction" => set_message_reaction(state, call),
        "answercallbackquery" => answer_callback_query(state, call),
        "getfile" => get_file(state, call),
        "getchat" => chat_for(state, call).map(|chat| state.chat(chat)),
        "setmycommands" => set_my_commands(state, call),
        "deletemycommands" => {
            state.menus.remove(&menu_key(call));
            Ok(json!(true))
        }
        "getmycommands" => Ok(get_my_commands(state, call)),
        "getmydescription" => {
            let language = call.text("language_code");
            let text = state.descriptions.get(language).or_else(|| state.descriptions.get(""));
            Ok(json!({ "description": text.cloned().unwrap_or_default() }))
        }
        "setmydescription" => {
            let (language, text) = (call.text("language_code").to_owned(), call.text("description").to_owned());
            if text.chars().count() > 512 {
                return Err(Refusal::bad("BOT_DESCRIPTION_TOO_LONG"));
            }
            state.descriptions.insert(language, text);
            Ok(json!(true))
        }
        "setwebhook" => webhook::set(state, call),
        "deletewebhook" => Ok(delete_webhook(state, call)),
        "getwebhookinfo" => Ok(webhook::info(state)),
        "logout" | "close" => Ok(json!(true)),
        _ => Err(Refusal::new(404, "Not Found: method not found")),
    }
}

fn me() -> Value {
    let mut me = bot();
    for right in ["can_join_groups", "can_read_all_group_messages"] {
        me[right] = json!(true);
    }
    for right in ["supports_inline_queries", "can_connect_to_business", "has_main_web_app"] {
        me[right] = json!(false);
    }
    me
}

fn send_message(state: &mut State, call: &Call) -> Outcome {
    let formatted = formatted(call)?;
    let chat = chat_for(state, call)?;
    check_markup(call)?;
    let reply_to = reply_target(state, call, chat)?;
    if state.has_no_topics && call.int("message_thread_id").is_some() {
        return Err(Refusal::bad("message thread not found"));
    }
    state.check_flood(chat)?;
    let message_id = state.new_message_id(chat);
    let sent = Sent {
        chat,
        message_id,
        first_text: formatted.text.clone(),
        text: formatted.text,
        raw: call.text("text").to_owned(),
        entities: formatted.entities,
        parse_mode: parse_mode(call),
        edits: Vec::new(),
        reply_to,
        thread_id: call.int("message_thread_id"),
        silent: call.flag("disable_notification"),
        link_preview_disabled: link_preview_disabled(call),
        reply_markup: call.json("reply_markup"),
        at_ms: state.now_ms(),
        deleted: false,
        file: None,
    };
    state.record(AcceptedKind::Send, &sent);
    state.sent.push(sent);
    Ok(state.sent.last().map(|sent| state.message_of(sent)).unwrap_or_default())
}

fn edit_message_text(state: &mut State, call: &Call) -> Outcome {
    let formatted = formatted(call)?;
    check_markup(call)?;
    let index = own_message(state, call, "edit")?;
    let markup = call.json("reply_markup");
    let old = &state.sent[index];
    if (&old.text, &old.entities, &old.reply_markup) == (&formatted.text, &formatted.entities, &markup) {
        return Err(Refusal::bad(NOT_MODIFIED));
    }
    let chat = old.chat;
    state.check_flood(chat)?;
    let at_ms = state.now_ms();
    let sent = &mut state.sent[index];
    sent.text = formatted.text;
    sent.entities = formatted.entities;
    sent.raw = call.text("text").to_owned();
    sent.parse_mode = parse_mode(call);
    sent.reply_markup = markup;
    sent.link_preview_disabled = link_preview_disabled(call);
    finish_edit(state, index, at_ms)
}

fn edit_reply_markup(state: &mut State, call: &Call) -> Outcome {
    check_markup(call)?;
    let index = own_message(state, call, "edit")?;
    let markup = call.json("reply_markup");
    if state.sent[index].reply_markup == markup {
        return Err(Refusal::bad(NOT_MODIFIED));
    }
    let chat = state.sent[index].chat;
    state.check_flood(chat)?;
    let at_ms = state.now_ms();
    state.sent[index].reply_markup = markup;
    finish_edit(state, index, at_ms)
}

fn finish_edit(state: &mut State, index: usize, at_ms: i64) -> Outcome {
    let sent = &mut state.sent[index];
    let (text, raw) = (sent.text.clone(), sent.raw.clone());
    let (parse_mode, reply_markup) = (sent.parse_mode.clone(), sent.reply_markup.clone());
    sent.edits.push(Edit { text, raw, parse_mode, reply_markup, at_ms });
    let sent = sent.clone();
    state.record(AcceptedKind::Edit, &sent);
    Ok(state.message_of(&sent))
}

fn delete_message(state: &mut State, call: &Call) -> Outcome {
    let index = own_message(state, call, "delete")?;
    state.sent[index].deleted = true;
    let sent = state.sent[index].clone();
    state.record(AcceptedKind::Delete, &sent);
    Ok(json!(true))
}

/// Index of the bot's message that a call names.
fn own_message(state: &State, call: &Call, verb: &str) -> Result<usize, Refusal> {
    let chat = chat_for(state, call)?;
    let id = call.int("message_id").ok_or_else(|| Refusal::bad("message identifier is not specified"))?;
    let found = state.sent.iter().position(|sent| sent.chat == chat && sent.message_id == id && !sent.deleted);
    let theirs = state.received.contains_key(&(chat, id));
    found.ok_or_else(|| match theirs {
        true => Refusal::bad(&format!("message can't be {}", if verb == "edit" { "edited" } else { "deleted" })),
        false => Refusal::bad(&format!("message to {verb} not found")),
    })
}

/// The chat of a call, if the bot may write there.
pub(super) fn chat_for(state: &State, call: &Call) -> Result<ChatId, Refusal> {
    if call.params.get("chat_id").is_none_or(|id| id == "") {
        return Err(Refusal::bad("chat_id is empty"));
    }
    let chat = call.int("chat_id").ok_or_else(|| Refusal::bad("chat not found"))?;
    if let Some(new) = state.migrated.get(&chat) {
        let mut refusal = Refusal::bad("group chat was upgraded to a supergroup chat");
        refusal.parameters = Some(json!({ "migrate_to_chat_id": new }));
        return Err(refusal);
    }
    if !state.known.contains(&chat) {
        return Err(Refusal::bad("chat not found"));
    }
    if state.blocked.contains(&chat) {
        let why = if chat < 0 { "bot was kicked from the supergroup chat" } else { "bot was blocked by the user" };
        return Err(Refusal::new(403, &format!("Forbidden: {why}")));
    }
    Ok(chat)
}

/// The text of a call with its entities, if it may be sent.
fn formatted(call: &Call) -> Result<Formatted, Refusal> {
    let raw = call.text("text");
    let formatted = match parse_mode(call).as_deref().map(str::to_ascii_lowercase).as_deref() {
        None => Formatted::plain(raw, call.json("entities")),
        Some("html") => markup::parse_html(raw).map_err(|why| Refusal::bad(&format!("can't parse entities: {why}")))?,
        Some(_) => return Err(Refusal::bad("unsupported parse_mode")),
    };
    let length = formatted.text.encode_utf16().count();
    match length {
        0 => Err(Refusal::bad("message text is empty")),
        1..=MAX_TEXT => Ok(formatted),
        _ => Err(Refusal::bad("message is too long")),
    }
}

pub(super) fn parse_mode(call: &Call) -> Option<String> {
    Some(call.text("parse_mode").to_owned()).filter(|mode| !mode.is_empty())
}

fn link_preview_disabled(call: &Call) -> bool {
    let options = call.json("link_preview_options").unwrap_or_default();
    options["is_disabled"] == json!(true) || call.flag("disable_web_page_preview")
}

/// Buttons carry 1 to 64 bytes of data and a label.
fn check_markup(call: &Call) -> Result<(), Refusal> {
    let Some(markup) = call.json("reply_markup") else {
        return Ok(());
    };
    for button in super::observing::buttons(&markup) {
        if button.get("text").and_then(Value::as_str).unwrap_or_default().is_empty() {
            return Err(Refusal::bad("can't parse inline keyboard button: text must be non-empty"));
        }
        let data = button.get("callback_data").and_then(Value::as_str);
        if data.is_some_and(|data| data.is_empty() || data.len() > 64) {
            return Err(Refusal::bad("BUTTON_DATA_INVALID"));
        }
    }
    Ok(())
}

pub(super) fn reply_target(state: &State, call: &Call, chat: ChatId) -> Result<Option<MessageId>, Refusal> {
    let reply = call.json("reply_parameters").unwrap_or_default();
    let Some(id) = reply["message_id"].as_i64().or_else(|| call.int("reply_to_message_id")) else {
        return Ok(None);
    };
    let lenient = reply["allow_sending_without_reply"] == json!(true) || call.flag("allow_sending_without_reply");
    match state.shown(chat, id) {
        Some(_) => Ok(Some(id)),
        None if lenient => Ok(None),
        None => Err(Refusal::bad("message to be replied not found")),
    }
}

fn send_chat_action(state: &mut State, call: &Call) -> Outcome {
    let chat = chat_for(state, call)?;
    match call.text("action") {
        "" => return Err(Refusal::bad("wrong parameter action in request")),
        "typing" => {
            let at_ms = state.now_ms();
            state.typing.entry(chat).or_default().push(at_ms);
        }
        _ => {}
    }
    Ok(json!(true))
}

fn set_message_reaction(state: &mut State, call: &Call) -> Outcome {
    let chat = chat_for(state, call)?;
    let id = call.int("message_id").unwrap_or_default();
    state.shown(chat, id).ok_or_else(|| Refusal::bad("message to react not found"))?;
    let reactions = call.json("reaction").unwrap_or_default();
    let emoji = reactions.as_array().into_iter().flatten().filter_map(|one| one["emoji"].as_str());
    state.reactions.insert((chat, id), emoji.map(str::to_owned).collect());
    Ok(json!(true))
}

fn answer_callback_query(state: &mut State, call: &Call) -> Outcome {
    let callback_id = call.text("callback_query_id").to_owned();
    if !state.callbacks.remove(&callback_id) {
        let why = "query is too old and response timeout expired or query ID is invalid";
        return Err(Refusal::bad(why));
    }
    let text = call.text("text").to_owned();
    state.callback_answers.push(CallbackAnswer { callback_id, text });
    Ok(json!(true))
}

fn get_file(state: &State, call: &Call) -> Outcome {
    let id = call.text("file_id");
    let bytes = state.files.get(id).ok_or_else(|| Refusal::bad("invalid file_id"))?;
    if bytes.len() > MAX_DOWNLOAD {
        return Err(Refusal::bad("file is too big"));
    }
    let path = match &state.local_files {
        None => format!("files/{id}"),
        Some(folder) => {
            let path = folder.join(id);
            std::fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        }
    };
    Ok(json!({ "file_id": id, "file_unique_id": format!("u{id}"), "file_size": bytes.len(), "file_path": path }))
}

/// Key of a command menu: `default`, `all_private_chats`, `chat:7`, `chat_member:-100:7`, with the
/// language after a slash.
fn menu_key(call: &Call) -> String {
    let scope = call.json("scope").unwrap_or_default();
    let mut key = scope["type"].as_str().unwrap_or("default").to_owned();
    for part in ["chat_id", "user_id"] {
        if let Some(id) = scope.get(part) {
            key += &format!(":{id}");
        }
    }
    match call.text("language_code") {
        "" => key,
        language => format!("{key}/{language}"),
    }
}

fn set_my_commands(state: &mut State, call: &Call) -> Outcome {
    let listed = call.json("commands").unwrap_or_default();
    let listed = listed.as_array().ok_or_else(|| Refusal::bad("commands must be an array"))?;
    if listed.len() > 100 {
        return Err(Refusal::bad("BOT_COMMANDS_TOO_MUCH"));
    }
    let mut menu = Vec::new();
    for entry in listed {
        let command = entry["command"].as_str().unwrap_or_default().trim_start_matches('/');
        let description = entry["description"].as_str().unwrap_or_default();
        let valid = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !(1..=32).contains(&command.len()) || !command.chars().all(valid) {
            return Err(Refusal::bad("BOT_COMMAND_INVALID"));
        }
        if !(1..=256).contains(&description.chars().count()) {
            return Err(Refusal::bad("BOT_COMMAND_DESCRIPTION_INVALID"));
        }
        menu.push((command.to_owned(), description.to_owned()));
    }
    state.menus.insert(menu_key(call), menu);
    Ok(json!(true))
}

fn get_my_commands(state: &State, call: &Call) -> Value {
    let menu = state.menus.get(&menu_key(call)).into_iter().flatten();
    menu.map(|(command, description)| json!({ "command": command, "description": description })).collect()
}

fn delete_webhook(state: &mut State, call: &Call) -> Value {
    state.webhook.clear();
    if call.flag("drop_pending_updates") {
        state.queue.clear();
    }
    json!(true)
}
