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
use crate::web::session::Member;
use crate::web::visitor::Visitor;
use crate::web::{Web, layout};
use crate::wording::page as says;

/// Size up to which a request is read to its end, in bytes.
const MAX_READ: u64 = 4 << 30;

/// What became of one file.
enum Received {
    /// It is in the inbox.
    Stored,
    /// It is larger than allowed.
    TooLarge,
    /// It did not arrive whole, or there was none.
    Nothing,
    /// Too many others are arriving.
    Busy,
}

/// Stores the files of a form in the visitor's inbox.
pub async fn upload(Member(visitor): Member, (State(web), mut request): (State<Arc<Web>>, Request)) -> Response {
    DefaultBodyLimit::disable().apply(&mut request);
    let mut form = match Multipart::from_request(request, &()).await {
        Ok(form) => form,
        Err(refusal) => return refusal.into_response(),
    };
    let mut result = Received::Nothing;
    while let Ok(Some(field)) = form.next_field().await {
        result = match web.receive(&visitor, field).await {
            Ok(Received::Stored) => Received::Stored,
            Ok(refused) => {
                result = refused;
                break;
            }
            Err(error) => return layout::failure(&error),
        };
    }
    let (status, sentence) = match result {
        Received::Stored => return Redirect::to("/files/inbox").into_response(),
        Received::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, says::upload_too_large(MAX_FILE >> 20)),
        Received::Nothing => (StatusCode::BAD_REQUEST, says::NO_UPLOAD.to_owned()),
        Received::Busy => (StatusCode::SERVICE_UNAVAILABLE, says::TOO_MANY_UPLOADS.to_owned()),
    };
    layout::message(Some(&visitor), status, &sentence)
}

impl Web {
    async fn receive(&self, visitor: &Visitor, mut field: Field<'_>) -> anyhow::Result<Received> {
        let name = field.file_name().unwrap_or_default().to_owned();
        let memory = self.admin.memory_files();
        let mut upload = memory.begin_upload(&visitor.person).await?;
        let (is_busy, mut size) = (upload.is_none(), 0_u64);
        loop {
            let chunk = match field.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => break,
                Err(_) => return Ok(Received::Nothing),
            };
            size = size.saturating_add(u64::try_from(chunk.len())?);
            if size > MAX_READ {
                break;
            }
            upload = upload.filter(|_| size <= MAX_FILE);
            if let Some(upload) = &mut upload {
                Upload::write(upload, &chunk).await?;
            }
        }
        Ok(match upload {
            _ if size > MAX_FILE => Received::TooLarge,
            None if is_busy => Received::Busy,
            Some(upload) if size > 0 => {
                memory.finish_upload(&visitor.person, upload, &name).await?;
                Received::Stored
            }
            _ => Received::Nothing,
        })
    }
}
