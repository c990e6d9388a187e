//! Uploads by the bot: form parsing, and the file types that the real server accepts.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::methods::{Call, Outcome, Refusal, chat_for, reply_target};
use super::observing::{Sent, Upload};
use super::state::{MessageId, State};
use crate::support::fake::AcceptedKind;

/// Size limits of uploads by a bot, for files and pictures.
const MAX_UPLOAD: usize = 50 << 20;
const MAX_PHOTO: usize = 10 << 20;

/// One file of a form.
pub(super) struct UploadedFile {
    name: String,
    mime: String,
    bytes: Vec<u8>,
}

/// The boundary of a multipart form, if it is one.
pub(super) fn boundary(content_type: &str) -> Option<&str> {
    content_type.strip_prefix("multipart/form-data; boundary=").map(|boundary| boundary.trim_matches('"'))
}

/// Parses a form: fields into `params`, files into the result.
pub(super) fn read(
    body: &[u8],
    boundary: &str,
    params: &mut Map<String, Value>,
) -> Result<BTreeMap<String, UploadedFile>, Refusal> {
    let broken = || Refusal::bad("can't parse the form");
    let mut files = BTreeMap::new();
    let between = format!("\r\n--{boundary}");
    let mut rest = body.strip_prefix(format!("--{boundary}").as_bytes()).ok_or_else(broken)?;
    while let Some(inner) = rest.strip_prefix(b"\r\n") {
        let end = find(inner, between.as_bytes()).ok_or_else(broken)?;
        let (part, after) = inner.split_at(end);
        rest = &after[between.len()..];
        let head_end = find(part, b"\r\n\r\n").ok_or_else(broken)?;
        let head = String::from_utf8(part[..head_end].to_vec()).map_err(|_| broken())?;
        let bytes = part[head_end + 4..].to_vec();
        let field = quoted(&head, "name").ok_or_else(broken)?;
        match quoted(&head, "filename") {
            Some(name) => {
                let mime = head
                    .lines()
                    .find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case("content-type")));
                let mime = mime.map(|(_, mime)| mime.to_owned()).unwrap_or_default();
                files.insert(field, UploadedFile { name, mime, bytes });
            }
            None => {
                params.insert(field, Value::String(String::from_utf8(bytes).map_err(|_| broken())?));
            }
        }
    }
    if rest.starts_with(b"--") { Ok(files) } else { Err(broken()) }
}

/// Value of `name="…"` in the header of a part.
fn quoted(head: &str, key: &str) -> Option<String> {
    let (_, rest) = head.split_once(&format!("; {key}=\""))?;
    rest.split_once('"').map(|(value, _)| value.to_owned())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// `sendPhoto`, `sendVoice`, `sendDocument`
pub(super) fn send_file(state: &mut State, call: &Call) -> Outcome {
    let kind = match call.method.as_str() {
        "sendphoto" => "photo",
        "sendvoice" => "voice",
        _ => "document",
    };
    let chat = chat_for(state, call)?;
    let file = call.files.get(kind).ok_or_else(|| Refusal::bad(&format!("there is no {kind} in the request")))?;
    check(kind, file)?;
    let reply_to = reply_target(state, call, chat)?;
    state.check_flood(chat)?;
    let upload = Upload { kind, name: file.name.clone(), mime: file.mime.clone(), bytes: file.bytes.clone() };
    let sent = Sent {
        chat,
        message_id: state.new_message_id(chat),
        text: String::new(),
        first_text: String::new(),
        raw: String::new(),
        entities: Vec::new(),
        parse_mode: None,
        edits: Vec::new(),
        reply_to,
        thread_id: call.int("message_thread_id"),
        silent: call.flag("disable_notification"),
        link_preview_disabled: true,
        reply_markup: None,
        at_ms: state.now_ms(),
        deleted: false,
        file: Some(upload),
    };
    state.record(AcceptedKind::Send, &sent);
    state.sent.push(sent);
    Ok(state.sent.last().map(|sent| state.message_of(sent)).unwrap_or_default())
}

fn check(kind: &str, file: &UploadedFile) -> Result<(), Refusal> {
    let is_picture = file.bytes.starts_with(b"\xff\xd8") || file.bytes.starts_with(b"\x89PNG");
    match file.bytes.len() {
        0 => Err(Refusal::bad("file must be non-empty")),
        size if size > MAX_UPLOAD => Err(Refusal::new(413, "Request Entity Too Large")),
        size if kind == "photo" && size > MAX_PHOTO => Err(Refusal::bad("file is too big for a photo")),
        _ if kind == "photo" && !is_picture => Err(Refusal::bad("IMAGE_PROCESS_FAILED")),
        _ => Ok(()),
    }
}

/// File of a message as returned by the API.
pub(super) fn shown(file: &Upload, message: MessageId) -> Value {
    let id = format!("BQAC{message}");
    let look = json!({
        "file_id": id, "file_unique_id": format!("u{id}"), "file_size": file.bytes.len(), "width": 1, "height": 1,
        "duration": 1, "file_name": file.name, "mime_type": file.mime,
    });
    if file.kind == "photo" { json!([look]) } else { look }
}
