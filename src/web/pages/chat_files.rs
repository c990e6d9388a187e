//! Files of messages: those that the visitor sent lie in their inbox, and those that they got are
//! offered as they were sent, or not at all.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

use super::files;
use crate::id::PartId;
use crate::memory::received_path;
use crate::message::file_type;
use crate::review::reveal::reveal;
use crate::store::{Attachment, AttachmentState, SentFile};
use crate::web::session::Member;
use crate::web::{Web, html as render, layout};
use crate::wording::page as says;

/// Renders the files that came with a message.
pub fn received(files: &[Attachment]) -> Markup {
    html! { @for file in files {
        @let path = received_path(&file.path);
        @let name = if file.remote.name.is_empty() { path.rsplit('/').next().unwrap_or(path) } else { &file.remote.name };
        @if file.state == AttachmentState::Here && !path.is_empty() {
            p.note { "File: " a href=(render::path("/files", path)) { bdi { (reveal(name)) } } }
        } @else { p.note { "File: " bdi { (reveal(name)) } } }
    } }
}

/// Renders the files that a message brought to the visitor.
pub fn sent(files: &[SentFile]) -> Markup {
    html! { @for file in files {
        @let address = format!("/chat/files/{}", file.part);
        @if file_type::is_displayed(file_type::of_name(file.name())) {
            p { a href=(address) { img.picture src=(address) alt=(reveal(file.name())) loading="lazy"; } }
        } @else {
            p { a.button href=(address) download { "Download " bdi { (reveal(file.name())) } } }
        }
    } }
}

/// Sends a file that a message brought to the visitor.
pub async fn file(Member(visitor): Member, (State(web), Path(part)): (State<Arc<Web>>, Path<i64>)) -> Response {
    match web.admin.memory_files().sent_file(&visitor.person, PartId(part)).await {
        Ok(Some((name, bytes))) => {
            let (size, picture) = (u64::try_from(bytes.len()).unwrap_or(u64::MAX), file_type::of_picture(&bytes));
            files::sent(Body::from(bytes), &name, size, picture).into_response()
        }
        Ok(None) => layout::message(Some(&visitor), StatusCode::NOT_FOUND, says::SENT_FILE_GONE),
        Err(error) => layout::failure(&error),
    }
}
