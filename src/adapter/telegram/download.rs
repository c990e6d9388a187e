//! Download of a received file: first its path, which the server keeps for an hour, then its bytes.

use std::time::Duration;

use serde::Deserialize;
use teloxide_core::payloads::GetFile;
use teloxide_core::types::FileId;

use super::bot_api::{ApiRefusal, BotApi, CallError, DownloadError};
use crate::adapter::FetchFileError;

/// Time allowed for a download; the Bot API serves at most 20 MB.
const LIMIT: Duration = Duration::from_secs(120);

#[derive(Deserialize)]
struct TelegramFile {
    #[serde(default)]
    file_path: String,
    file_size: Option<u64>,
}

/// Fetches a file by its id, at most `max` bytes.
pub(super) async fn fetch(wire: &BotApi, reference: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
    let payload = GetFile::new(FileId(reference.to_owned()));
    let found: TelegramFile = wire.request(&payload).await.map_err(fetch_error)?;
    if found.file_size.is_some_and(|size| size > max) {
        return Err(FetchFileError::TooLarge);
    }
    if found.file_path.is_empty() {
        return Err(FetchFileError::NotFound);
    }
    wire.download(&found.file_path, max, LIMIT).await.map_err(|failure| match failure {
        DownloadError::TooLarge => FetchFileError::TooLarge,
        DownloadError::NotFound => FetchFileError::NotFound,
        DownloadError::Broken(why) => FetchFileError::Later(why),
    })
}

fn fetch_error(failure: CallError) -> FetchFileError {
    match &failure {
        CallError::Rejected(refusal) if refusal.mentions(&["file is too big"]) => FetchFileError::TooLarge,
        CallError::Rejected(ApiRefusal { code: 400, .. }) => FetchFileError::NotFound,
        _ => FetchFileError::Later(failure.reason()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_named_is_gone_too_large_or_later() {
        let refused = |code, reason: &str| {
            fetch_error(CallError::Rejected(ApiRefusal { code, reason: reason.to_owned(), wait: None, moved: None }))
        };
        assert_eq!(refused(400, "Bad Request: file is too big"), FetchFileError::TooLarge);
        assert_eq!(
            refused(400, "Bad Request: wrong file_id or the file is temporarily unavailable"),
            FetchFileError::NotFound
        );
        assert_eq!(refused(429, "slow"), FetchFileError::Later("429 slow".to_owned()));
        assert_eq!(fetch_error(CallError::NoResponse("x".to_owned())), FetchFileError::Later("x".to_owned()));
    }
}
