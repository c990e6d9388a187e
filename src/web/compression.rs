//! Compression of responses. On this computer only large pages are compressed: for the others it
//! would cost more than rendering them.

use std::io::Write;

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue, VARY,
};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::site_names::Via;

/// Level for pages, which are compressed for each request.
const QUICK: Compression = Compression::fast();
/// Size in bytes above which pages are also compressed on this computer.
const LARGE: usize = 50_000;

/// Returns true if the browser reads gzip.
pub fn is_accepted(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("gzip"))
}

/// Compresses bytes with gzip.
///
/// # Errors
/// None in practice: writing into memory does not fail.
pub fn gzip(bytes: &[u8], level: Compression) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Marks a response as compressed.
pub fn mark(headers: &mut HeaderMap) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
}

/// Compresses pages that are large or read under the public name. Streams and files are sent as
/// they are.
pub async fn compress_page(request: Request, next: Next) -> Response {
    let is_far = request.extensions().get::<Via>() == Some(&Via::Public);
    let is_wanted = is_accepted(request.headers());
    let response = next.run(request).await;
    let is_page = |kind: &HeaderValue| kind.as_bytes().starts_with(b"text/html");
    if !is_wanted || !response.headers().get(CONTENT_TYPE).is_some_and(is_page) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    // A page is whole in memory already.
    let Ok(page) = to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    if !is_far && page.len() <= LARGE {
        return (head, page).into_response();
    }
    let Ok(compressed) = gzip(&page, QUICK) else { return (head, page).into_response() };
    mark(&mut head.headers);
    head.headers.remove(CONTENT_LENGTH);
    head.headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    (head, compressed).into_response()
}
