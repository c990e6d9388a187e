//! Upload of files: as a picture, as a voice note, or as a document.
//!
//! A file that Telegram rejects as a picture or a voice note (dimensions, size, a misleading
//! extension, or the privacy settings of the recipient) is sent as a document instead. The bytes
//! are uploaded each time; Telegram's file ids are not stored.

use std::time::Duration;

use reqwest::multipart::{Form, Part};

use super::bot_api::BotApi;
use super::parse::message_key;
use super::send::{SendTarget, SentMessage};
use crate::adapter::SendError;
use crate::adapter::markdown::strip_control;
use crate::message::{FileKind, OutgoingFile};
use crate::text::one_line;

/// Largest file that a bot may send.
const MAX_FILE: usize = 50 << 20;
/// Largest file that may be sent as a picture.
const MAX_PHOTO: usize = 10 << 20;
/// Time allowed for an upload.
const LIMIT: Duration = Duration::from_secs(300);
/// Default MIME type.
const BYTES: &str = "application/octet-stream";

/// Sends a file and returns the external id of its message.
pub(super) async fn send(wire: &BotApi, peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
    let target = SendTarget::of(peer)?;
    if file.bytes.len() > MAX_FILE {
        return Err(SendError::Refused("The file is larger than the 50 MB that Telegram takes from a bot".to_owned()));
    }
    match send_as(wire, target, kind(file), file).await {
        Err(SendError::Refused(_)) if kind(file) != FileKind::Document => {
            send_as(wire, target, FileKind::Document, file).await
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

async fn send_as(wire: &BotApi, target: SendTarget, kind: FileKind, file: &OutgoingFile) -> Result<String, SendError> {
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
    let sent: SentMessage = wire.upload(method, form, LIMIT).await.map_err(|failure| target.send_error(failure))?;
    Ok(message_key(target.chat.0, sent.message_id))
}

fn part(file: &OutgoingFile) -> Result<Part, SendError> {
    // A line break would end the header that contains the name.
    let name = one_line(&strip_control(&file.name));
    let typed = |mime: &str| Part::bytes(file.bytes.to_vec()).file_name(name.clone()).mime_str(mime);
    typed(&file.mime).or_else(|_| typed(BYTES)).map_err(|_| SendError::Refused("The file has no type".to_owned()))
}
