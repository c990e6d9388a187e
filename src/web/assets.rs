//! Style, script and icon. They are part of the program; their address holds their digest, so a
//! browser keeps them until they change.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, VARY};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use sha2::{Digest, Sha256};

use super::compression;

struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
    path: String,
    compressed: Bytes,
}

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    [
        ("page.css", "text/css; charset=utf-8", include_str!("assets/page.css")),
        ("page.js", "text/javascript; charset=utf-8", include_str!("assets/page.js")),
        ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
    ]
    .map(|(name, kind, text)| {
        let path = format!("/assets/{:.12}/{name}", hex::encode(Sha256::digest(text)));
        // Without its compressed form a file is sent as it is.
        let compressed = compression::gzip(text.as_bytes(), Compression::best()).unwrap_or_default().into();
        Asset { name, kind, text, path, compressed }
    })
    .into()
});

/// Returns the address of a file.
pub fn path(name: &str) -> &'static str {
    ASSETS.iter().find(|asset| asset.name == name).map_or("/", |asset| &asset.path)
}

/// Serves a file.
pub async fn asset(Path((digest, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let wanted = format!("/assets/{digest}/{name}");
    let Some(asset) = ASSETS.iter().find(|asset| asset.path == wanted) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let is_compressed = compression::is_accepted(&headers) && !asset.compressed.is_empty();
    let body = if is_compressed { asset.compressed.clone() } else { Bytes::from_static(asset.text.as_bytes()) };
    let mut response = body.into_response();
    let fields = response.headers_mut();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    fields.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_compressed {
        compression::mark(fields);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise (page/own-files): The page loads nothing from elsewhere.
    #[test]
    fn the_files_name_no_other_address() {
        for asset in ASSETS.iter() {
            let text = asset.text.replace("http://www.w3.org/2000/svg", "");
            assert!(!text.contains("//") || asset.name == "page.js", "{}", asset.name);
            assert!(!text.contains("http") && !text.contains("@import"), "{}", asset.name);
        }
    }

    /// Promise (page/light): Script, style and icon of the page weigh at most 25 KB as they are
    /// sent.
    #[test]
    fn the_files_are_light() {
        let sent: usize = ASSETS.iter().map(|asset| asset.compressed.len()).sum();
        assert!(sent > 0 && sent <= 25 << 10, "{sent} bytes");
    }
}
