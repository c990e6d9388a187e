//! A message as its form sends it: a few fields, and files that are written to the disk as they
//! arrive. A file gets its name only when the whole form is there, and the message is stored last,
//! so a form that breaks off leaves nothing. If only the storing of the message fails, its files
//! wait in the inbox until it is sent again.

use axum::body::Bytes;
use axum::extract::multipart::{Field, Multipart};
use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use sha2::{Digest, Sha256};

use super::upload::{Arrived, Missing};
use crate::memory::StoredUpload;
use crate::message::ArrivedFile;
use crate::web::Web;
use crate::web::chat::{ChatMessage, IdUse};
use crate::web::visitor::Visitor;
use crate::wording::page as says;

/// Maximum number of files of a message.
const MAX_FILES: usize = 8;
/// Maximum length of all words of a message together.
const MAX_WORDS: usize = 1 << 20;

/// A refusal: its status and its sentence.
pub(super) type Refused = (StatusCode, String);

/// A message, and its files before they are stored.
#[derive(Default)]
pub(super) struct MessageForm {
    message: ChatMessage,
    files: Vec<Arrived>,
    /// True if the browser had files for it that it no longer has.
    has_lost_files: bool,
    /// Reason why a file did not arrive.
    refused: Option<Refused>,
}

impl MessageForm {
    fn set(&mut self, name: &str, value: String) {
        match name {
            "id" => self.message.id = value,
            "text" => self.message.text = value,
            "pasted" => self.message.pasted.push(value),
            "button" => self.message.button = value,
            "lost" => self.has_lost_files = true,
            _ => {}
        }
    }
}

impl Web {
    /// Reads a message to its end, because a browser shows an answer only when it has sent
    /// everything.
    pub(super) async fn read_message(
        &self,
        visitor: &Visitor,
        mut request: Request,
    ) -> anyhow::Result<Result<MessageForm, Refused>> {
        let bad = || (StatusCode::BAD_REQUEST, says::BAD_FORM.to_owned());
        let too_long = || (StatusCode::PAYLOAD_TOO_LARGE, says::TOO_LONG.to_owned());
        let kind = request.headers().get(CONTENT_TYPE);
        let has_parts = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/"));
        let mut form = MessageForm::default();
        if has_parts {
            DefaultBodyLimit::disable().apply(&mut request);
            let Ok(mut parts) = Multipart::from_request(request, &()).await else { return Ok(Err(bad())) };
            let mut left = Some(MAX_WORDS);
            loop {
                let field = match parts.next_field().await {
                    Ok(Some(field)) => field,
                    Ok(None) => break,
                    Err(_) => return Ok(Err(Missing::Nothing.told())),
                };
                if field.file_name().is_some() {
                    self.take_file(visitor, &mut form, field).await?;
                } else {
                    let name = field.name().unwrap_or_default().to_owned();
                    match words(field, &mut left).await {
                        Ok(value) => form.set(&name, value),
                        Err(()) => return Ok(Err(bad())),
                    }
                }
            }
            if left.is_none() {
                return Ok(Err(too_long()));
            }
        } else {
            let Ok(body) = Bytes::from_request(request, &()).await else { return Ok(Err(too_long())) };
            for (name, value) in url::form_urlencoded::parse(&body) {
                form.set(&name, value.into_owned());
            }
        }
        if let Some(refused) = form.refused.take() {
            return Ok(Err(refused));
        }
        Ok(if form.message.id.is_empty() { Err(bad()) } else { Ok(form) })
    }

    /// Receives a file of a message. A field without a choice is sent as a file without a name.
    async fn take_file(&self, visitor: &Visitor, form: &mut MessageForm, field: Field<'_>) -> anyhow::Result<()> {
        let is_chosen = field.file_name().is_some_and(|name| !name.is_empty());
        let refused = match self.receive(visitor, field).await? {
            _ if !is_chosen => return Ok(()),
            Ok(_) if form.files.len() == MAX_FILES => (StatusCode::PAYLOAD_TOO_LARGE, says::too_many_files(MAX_FILES)),
            Ok(arrived) => {
                form.files.push(arrived);
                return Ok(());
            }
            Err(missing) => missing.told(),
        };
        form.refused.get_or_insert(refused);
        Ok(())
    }

    /// Stores a message with its files, once.
    pub(super) async fn say(&self, visitor: &Visitor, form: MessageForm) -> anyhow::Result<Result<(), Refused>> {
        let MessageForm { mut message, files, has_lost_files, .. } = form;
        let mut uploads = Vec::new();
        for Arrived { upload, name, mime, size } in files {
            uploads.push(upload);
            message.files.push(ArrivedFile { name, mime, size, path: String::new(), digest: String::new() });
        }
        if self.is_stored(visitor, &mut message).await? {
            return Ok(Ok(()));
        }
        if has_lost_files {
            return Ok(Err((StatusCode::CONFLICT, says::FILES_LOST.to_owned())));
        }
        let memory = self.admin.memory_files();
        for (at, (upload, file)) in uploads.into_iter().zip(&mut message.files).enumerate() {
            let of = format!("{}/{at}", message.id);
            let StoredUpload { path, digest, .. } =
                memory.finish_file_of(&visitor.person, upload, &file.name, &of).await?;
            (file.path, file.digest) = (path, digest);
        }
        // Another message may come first under the same id, as from a copy of the tab.
        for _ in 0..2 {
            if let Err(why) = self.chat.say(&visitor.person, message.clone()).await? {
                return Ok(Err((StatusCode::SERVICE_UNAVAILABLE, why)));
            }
            if self.is_stored(visitor, &mut message).await? {
                break;
            }
        }
        Ok(Ok(()))
    }

    /// Returns true if the message is stored. If another one has its id, it gets one of its own.
    async fn is_stored(&self, visitor: &Visitor, message: &mut ChatMessage) -> anyhow::Result<bool> {
        let mut used = self.chat.find(&visitor.person, message).await?;
        if used == IdUse::Taken {
            message.id = own_id(message)?;
            used = self.chat.find(&visitor.person, message).await?;
        }
        Ok(used == IdUse::Stored)
    }
}

/// Returns an id that only this message has, however often it is sent.
fn own_id(message: &ChatMessage) -> anyhow::Result<String> {
    let ChatMessage { id, text, pasted, files, button } = message;
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    Ok(hex::encode(Sha256::digest(serde_json::to_vec(&(id, text, pasted, names, button))?)))
}

/// Reads the words of a field, of which so many bytes are left; beyond them, nothing is kept.
async fn words(mut field: Field<'_>, left: &mut Option<usize>) -> Result<String, ()> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(drop)? {
        *left = left.and_then(|left| left.checked_sub(chunk.len()));
        if left.is_some() {
            bytes.extend_from_slice(&chunk);
        }
    }
    String::from_utf8(bytes).map_err(drop)
}
