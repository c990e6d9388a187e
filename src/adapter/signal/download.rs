//! Download of a received file by its reference `{id}|{peer}`.
//!
//! The daemon has downloaded it before. If its folder is readable, the file is read there, by a
//! plain name only, so that the id cannot point outside the folder. Otherwise the daemon transfers
//! the file, one at a time, because it comes as one long line.

use crate::adapter::signal::SignalSender;
use std::io;
use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use tokio::io::AsyncReadExt;

use super::jsonrpc::{RpcError, code, method};
use crate::adapter::FetchFileError;

/// Time allowed for the transfer of a file.
const LIMIT: Duration = Duration::from_secs(120);
/// Maximum length of a plain file name.
const LONGEST_ID: usize = 200;

#[derive(Deserialize)]
struct Data {
    data: String,
}

impl SignalSender<'_> {
    /// Fetches a file of at most `max` bytes.
    pub(super) async fn fetch_file(&self, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
        let (id, peer) = reference.split_once('|').ok_or(FetchFileError::NotFound)?;
        if !is_plain(id) {
            return Err(FetchFileError::NotFound);
        }
        if let Some(folder) = &self.attachments_dir {
            match read(&folder.join(id), max).await {
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Err(FetchFileError::TooLarge),
                Err(error) => tracing::debug!("A file is not in the daemon's folder: {}", error.kind()),
                Ok(bytes) => return Ok(bytes),
            }
        }
        self.ask_for_file(id, peer, max).await
    }

    async fn ask_for_file(&self, id: &str, peer: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
        let mut params = self.params();
        params.insert("id".to_owned(), id.into());
        match peer.strip_prefix("group:") {
            Some(group) => params.insert("groupId".to_owned(), group.into()),
            None => params.insert("recipient".to_owned(), peer.into()),
        };
        let _one = self.fetching.lock().await;
        let got: Data = self.rpc.call(method::GET_ATTACHMENT, &params, LIMIT).await.map_err(not_fetched)?;
        // Four letters for three bytes: checked before the file is held twice.
        if got.data.len() as u64 / 4 > max.div_ceil(3) {
            return Err(FetchFileError::TooLarge);
        }
        let bytes = STANDARD.decode(got.data).map_err(|_| FetchFileError::NotFound)?;
        if bytes.len() as u64 > max { Err(FetchFileError::TooLarge) } else { Ok(bytes) }
    }
}

/// Returns true for a plain file name without any path.
fn is_plain(id: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !id.is_empty() && id.len() <= LONGEST_ID && id.chars().all(is_of_name) && !id.chars().all(|c| c == '.')
}

/// Reads a regular file; links are refused.
async fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let found = tokio::fs::symlink_metadata(path).await?;
    if !found.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    if found.len() > max {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    // The file may have grown since.
    tokio::fs::File::open(path).await?.take(max.saturating_add(1)).read_to_end(&mut bytes).await?;
    if bytes.len() as u64 > max { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}

fn not_fetched(failure: RpcError) -> FetchFileError {
    match &failure {
        RpcError::TooLong => FetchFileError::TooLarge,
        // The daemon has no such file, or cannot read it: permanent.
        RpcError::Rejected(refusal) if matches!(refusal.code, code::USER | code::INTERNAL) => FetchFileError::NotFound,
        _ => FetchFileError::Later(failure.reason()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::signal::jsonrpc::RpcRefusal;

    #[test]
    fn only_a_plain_name_is_looked_for() {
        for id in ["aBc_1-2.jpg", "1234567890", ".hidden", "a..b"] {
            assert!(is_plain(id), "{id}");
        }
        let long = "x".repeat(LONGEST_ID + 1);
        for id in ["", ".", "..", "...", "a/b", "../a", "a\\b", "a\0", "ä", "a b", long.as_str()] {
            assert!(!is_plain(id), "{id:?}");
        }
    }

    #[tokio::test]
    async fn a_file_is_read_within_its_limit_and_a_link_never() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, b"123").unwrap();
        assert_eq!(read(&path, 3).await.unwrap(), b"123");
        assert_eq!(read(&path, 2).await.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(read(&link, 3).await.unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(read(folder.path(), 3).await.unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn what_is_gone_is_not_asked_for_again() {
        let refused = |code| not_fetched(RpcError::Rejected(RpcRefusal { code, data: serde_json::Value::Null }));
        assert_eq!(refused(-1), FetchFileError::NotFound);
        assert_eq!(refused(-32603), FetchFileError::NotFound);
        assert!(matches!(refused(-3), FetchFileError::Later(_)));
        assert_eq!(not_fetched(RpcError::TooLong), FetchFileError::TooLarge);
        assert!(matches!(not_fetched(RpcError::NoResponse(String::new())), FetchFileError::Later(_)));
    }
}
