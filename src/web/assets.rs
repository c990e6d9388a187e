//! Style, script and icon. They are part of the program; their address holds their digest, so a
//! browser keeps them until they change.

use std::io::Write;
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY,
};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

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
        Asset { name, kind, text, path, compressed: compress(text) }
    })
    .into()
});

fn compress(text: &str) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing into memory cannot fail; without its compressed form a file is sent as it is.
    let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
    written.unwrap_or_default().into()
}

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
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_compressed = accepted.contains("gzip") && !asset.compressed.is_empty();
    let body = if is_compressed { asset.compressed.clone() } else { Bytes::from_static(asset.text.as_bytes()) };
    let mut response = body.into_response();
    let fields = response.headers_mut();
    fields.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    fields.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_compressed {
        fields.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
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
