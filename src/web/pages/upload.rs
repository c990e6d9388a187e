//! Files that the visitor puts into their inbox.
//!
//! They are written to the disk as they arrive and are never held in memory. One that is too large
//! is read to its end and thrown away, because a browser shows an answer only when it has sent
//! everything.

use std::sync::Arc;

use axum::extract::multipart::{Field, Multipart};
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};

use crate::engine::files::MAX_FILE;
use crate::memory::Upload;
use crate::memory::room::FileRoom;
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, layout};
use crate::wording::Language;
use crate::wording::attachments::no_room;
use crate::wording::page as says;

/// Size up to which a request is read to its end, in bytes.
const MAX_READ: u64 = 4 << 30;

/// A file that arrived whole, before it is stored.
pub(super) struct Arrived {
    pub upload: Upload,
    /// Name given by the sender.
    pub name: String,
    /// MIME type claimed by the browser, or empty.
    pub mime: String,
    pub size: u64,
}

/// Reason why a file did not arrive.
pub(super) enum Missing {
    /// Larger than allowed.
    TooLarge,
    /// Incomplete, or none at all.
    Nothing,
    /// Too many others are arriving.
    Busy,
    /// There is no space for it.
    NoRoom(FileRoom),
}

impl Missing {
    /// Returns the answer to the browser.
    pub fn told(&self) -> (StatusCode, String) {
        match self {
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, says::upload_too_large(MAX_FILE >> 20)),
            Self::Nothing => (StatusCode::BAD_REQUEST, says::NO_UPLOAD.to_owned()),
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, says::TOO_MANY_UPLOADS.to_owned()),
            Self::NoRoom(room) => (StatusCode::INSUFFICIENT_STORAGE, no_room(Language::ENGLISH, room.used, room.most)),
        }
    }
}

/// Stores the files of a form in the visitor's inbox.
pub async fn upload(Member(visitor): Member, (State(web), mut request): (State<Arc<Web>>, Request)) -> Response {
    DefaultBodyLimit::disable().apply(&mut request);
    let mut form = match Multipart::from_request(request, &()).await {
        Ok(form) => form,
        Err(refusal) => return refusal.into_response(),
    };
    let mut is_empty = true;
    let missing = loop {
        match form.next_field().await {
            Ok(Some(field)) => match web.store(&visitor, field).await {
                Ok(Ok(())) => is_empty = false,
                Ok(Err(missing)) => break missing,
                Err(error) => return layout::failure(&error),
            },
            Ok(None) if !is_empty => return Redirect::to("/files/inbox").into_response(),
            Ok(None) | Err(_) => break Missing::Nothing,
        }
    };
    let (status, sentence) = missing.told();
    layout::message(Some(&visitor), status, &sentence)
}

impl Web {
    async fn store(&self, visitor: &Visitor, field: Field<'_>) -> anyhow::Result<Result<(), Missing>> {
        let Arrived { upload, name, .. } = match self.receive(visitor, field).await? {
            Ok(arrived) => arrived,
            Err(missing) => return Ok(Err(missing)),
        };
        self.admin.memory_files().finish_upload(&visitor.person, upload, &name).await.map(Ok)
    }

    /// Receives one file of a form.
    pub(super) async fn receive(
        &self,
        visitor: &Visitor,
        mut field: Field<'_>,
    ) -> anyhow::Result<Result<Arrived, Missing>> {
        let name = field.file_name().unwrap_or_default().to_owned();
        let mime = field.content_type().unwrap_or_default().to_owned();
        let room = self.admin.memory_files().room_of(&visitor.person).await?;
        let mut upload = self.admin.memory_files().begin_upload(&visitor.person).await?;
        let (is_busy, mut size) = (upload.is_none(), 0_u64);
        let mut fits = true;
        loop {
            let chunk = match field.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(_) => return Ok(Err(Missing::Nothing)),
            };
            size = size.saturating_add(u64::try_from(chunk.len())?);
            if size > MAX_READ {
                break;
            }
            fits = fits && size <= room.left() && self.admin.memory_files().disk_has_room();
            upload = upload.filter(|_| fits && size <= MAX_FILE);
            if let Some(upload) = &mut upload {
                Upload::write(upload, &chunk).await?;
            }
        }
        Ok(match upload {
            _ if size > MAX_FILE => Err(Missing::TooLarge),
            _ if !fits => Err(Missing::NoRoom(room)),
            None if is_busy => Err(Missing::Busy),
            Some(upload) if size > 0 => Ok(Arrived { upload, name, mime, size }),
            _ => Err(Missing::Nothing),
        })
    }
}
