//! Requests for our account: parts, edits, files, reactions, typing indicators, read receipts, and
//! the download of received files.
//!
//! Each is one request for one chat; the gateway awaits one before the next, so their order is
//! kept. Typing indicators and receipts are best effort: never retried, never reported, and left
//! out during a rate limit.
//!
//! On Signal a message is identified by its author and the time at which it was sent, so external
//! ids are `m{author}:{timestamp}`, and `m:{timestamp}` for our own.
//!
//! A received file has the reference `{id}|{peer}`. The daemon has downloaded it before. If its
//! folder is readable, the file is read there, by a plain name only, so that the id cannot point
//! outside the folder. Otherwise the daemon transfers the file, one at a time, because it comes as
//! one long line.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use url::form_urlencoded::byte_serialize;

use super::health::{HealthTracker, ProblemTopic};
use super::jsonrpc::{Params, RpcError, code, method};
use super::render::StyledText;
use super::rpc_client::RpcClient;
use super::send_results::{FailureCause, RecipientKind, SendFailure, SendReceipt, interpret};
use crate::adapter::{OutgoingPart, PartFormat, SendError, Typing};
use crate::message::{FetchFileError, FileKind, OutgoingFile};
use crate::time::Clock;
use crate::time::task::lock;
use crate::wording::channel as words;

/// Prefix of a group id in addresses.
const GROUP: &str = "group:";
/// Time allowed for sending. Longer than any group needs, because an abandoned request is sent
/// again and may arrive twice.
const SEND_TIMEOUT: Duration = Duration::from_secs(120);
/// Time allowed for sending a file.
const FILE_TIMEOUT: Duration = Duration::from_secs(600);
/// Time allowed for a best-effort request.
const BEST_EFFORT_TIMEOUT: Duration = Duration::from_secs(15);
/// Largest file: in Base64 it just fits into the longest text that the daemon reads.
const MAX_FILE: usize = 14_900_000;
/// First version that sends voice notes.
const VOICE_NOTES: (u64, u64, u64) = (0, 14, 2);
/// Placeholder for a removed emoji. The daemon requires one and ignores it.
const ANY_EMOJI: &str = "👍";

/// Our account at the daemon.
pub(super) struct SignalAccount {
    pub(super) clock: Arc<dyn Clock>,
    pub(super) rpc: RpcClient,
    pub(super) health: Arc<HealthTracker>,
    /// Configured account.
    pub(super) configured: Option<String>,
    /// Folder of the daemon with received files.
    pub(super) attachments_dir: Option<PathBuf>,
    pub(super) known: Mutex<DaemonInfo>,
    pub(super) download_lock: tokio::sync::Mutex<()>,
}

/// Facts learned from the daemon on connecting.
#[derive(Default)]
pub(super) struct DaemonInfo {
    pub(super) account: Option<String>,
    pub(super) version: (u64, u64, u64),
}

impl SignalAccount {
    pub(super) fn known(&self) -> MutexGuard<'_, DaemonInfo> {
        lock(&self.known)
    }

    /// Returns the name of our account; blank if it is unknown yet.
    pub(super) fn name(&self) -> String {
        self.known().account.clone().or_else(|| self.configured.clone()).unwrap_or_default()
    }

    /// Common parameters of all requests for our account.
    pub(super) fn params(&self) -> Params {
        let account = Some(self.name()).filter(|account| !account.is_empty());
        account.into_iter().map(|account| ("account".to_owned(), account.into())).collect()
    }

    /// Sends one part and returns its external id.
    pub(super) async fn send_part(
        &self,
        peer: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<String, SendError> {
        let mut params = self.text_params(peer, piece, form);
        if let Some(quoted) = piece.reply_to.as_deref().and_then(parse_key) {
            params.insert("quoteTimestamp".to_owned(), quoted.timestamp.into());
            params.insert("quoteAuthor".to_owned(), self.author(quoted.author).into());
        }
        self.deliver(method::SEND, peer, &params, SEND_TIMEOUT).await.map(own_key)
    }

    /// Replaces the text of a part that was sent before.
    pub(super) async fn edit_part(
        &self,
        peer: &str,
        external_id: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<(), SendError> {
        let ours = parse_key(external_id).filter(|message| message.author.is_none()).ok_or(SendError::NotFound)?;
        let mut params = self.text_params(peer, piece, form);
        params.insert("editTimestamp".to_owned(), ours.timestamp.into());
        match self.deliver(method::SEND, peer, &params, SEND_TIMEOUT).await {
            Ok(_) => Ok(()),
            // A rejected edit is sent as a new message.
            Err(SendError::Refused(_)) => Err(SendError::NotFound),
            Err(error) => Err(error),
        }
    }

    /// Sends a file and returns its external id.
    pub(super) async fn send_file(&self, peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
        if file.bytes.len() > MAX_FILE {
            return Err(SendError::Refused(words::FILE_TOO_LARGE.to_owned()));
        }
        let mut params = self.params_to(peer);
        params.insert("attachment".to_owned(), json!([data_uri(file)]));
        if file.kind == FileKind::Voice && self.known().version >= VOICE_NOTES {
            params.insert("voiceNote".to_owned(), true.into());
        }
        self.deliver(method::SEND, peer, &params, FILE_TIMEOUT).await.map(own_key)
    }

    /// Sets or removes our reaction to a message.
    pub(super) async fn send_reaction(&self, peer: &str, external_id: &str, emoji: &str) -> Result<(), SendError> {
        let refused = || SendError::Refused(words::NO_SUCH_MESSAGE.to_owned());
        let message = parse_key(external_id).ok_or_else(refused)?;
        let mut params = self.params_to(peer);
        params.insert("emoji".to_owned(), if emoji.is_empty() { ANY_EMOJI } else { emoji }.into());
        params.insert("targetAuthor".to_owned(), self.author(message.author).into());
        params.insert("targetTimestamp".to_owned(), message.timestamp.into());
        if emoji.is_empty() {
            params.insert("remove".to_owned(), true.into());
        }
        self.deliver(method::SEND_REACTION, peer, &params, SEND_TIMEOUT).await.map(drop)
    }

    /// Sends a read receipt to the author of a message.
    pub(super) async fn send_receipt(&self, external_id: &str) {
        let Some(message) = parse_key(external_id) else { return };
        let Some(author) = message.author else { return };
        let mut params = self.params_to(author);
        params.insert("recipient".to_owned(), author.into());
        params.insert("targetTimestamp".to_owned(), json!([message.timestamp]));
        params.insert("type".to_owned(), "read".into());
        self.best_effort(method::SEND_RECEIPT, &params).await;
    }

    /// Shows or hides the typing indicator.
    pub(super) async fn send_typing(&self, peer: &str, typing: Typing) {
        let mut params = self.params_to(peer);
        if typing == Typing::Stopped {
            params.insert("stop".to_owned(), true.into());
        }
        self.best_effort(method::SEND_TYPING, &params).await;
    }

    /// Parameters for a text with its styles.
    fn text_params(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Params {
        let StyledText { text, styles } = StyledText::of(piece, form);
        let mut params = self.params_to(peer);
        params.insert("message".to_owned(), text.into());
        if !styles.is_empty() {
            let styles: Vec<String> = styles.iter().map(ToString::to_string).collect();
            params.insert("textStyle".to_owned(), styles.into());
        }
        params
    }

    fn params_to(&self, peer: &str) -> Params {
        let mut params = self.params();
        match peer.strip_prefix(GROUP) {
            Some(group) => params.insert("groupId".to_owned(), json!([group])),
            None => params.insert("recipient".to_owned(), json!([peer])),
        };
        params
    }

    /// Author as the daemon expects it; `None` is our own account.
    fn author(&self, author: Option<&str>) -> String {
        author.map_or_else(|| self.name(), str::to_owned)
    }

    async fn deliver(&self, method: &str, peer: &str, params: &Params, limit: Duration) -> Result<u64, SendError> {
        let answer: Result<Value, _> = self.rpc.call(method, params, limit).await;
        let to = if peer.starts_with(GROUP) { RecipientKind::Group } else { RecipientKind::Person };
        let chat = ProblemTopic::Chat(peer.to_owned());
        match interpret(to, answer) {
            Ok(sent) => {
                self.report_sent(chat, &sent);
                Ok(sent.timestamp)
            }
            Err(SendFailure { error, cause }) => {
                self.report_failure(chat, cause);
                Err(error)
            }
        }
    }

    fn report_sent(&self, chat: ProblemTopic, sent: &SendReceipt) {
        for topic in [ProblemTopic::Account, ProblemTopic::Proof] {
            self.health.clear(&topic);
        }
        if sent.missed.is_empty() {
            return self.health.clear(&chat);
        }
        for missed in &sent.missed {
            let who = missed.as_deref().unwrap_or("without an account identifier");
            tracing::warn!("A message to a group did not reach the member {who}");
        }
        self.health.report(chat, words::partly_sent(sent.missed.len(), sent.all));
    }

    fn report_failure(&self, chat: ProblemTopic, cause: FailureCause) {
        match cause {
            FailureCause::Other => {}
            FailureCause::Account => self.health.report(ProblemTopic::Account, words::ACCOUNT_UNKNOWN.to_owned()),
            FailureCause::Identity => self.health.report(chat, words::UNTRUSTED_PEER.to_owned()),
            FailureCause::Proof(challenge) => self.health.report(ProblemTopic::Proof, words::proof(&challenge)),
            FailureCause::RateLimit(span) => {
                self.health.record_rate_limit(self.clock.now(), span);
                self.health.report(ProblemTopic::Proof, words::rate_limited(span.as_secs()));
            }
        }
    }

    async fn best_effort(&self, method: &str, params: &Params) {
        if self.health.is_rate_limited(self.clock.now()) {
            return;
        }
        if let Err(failure) = self.rpc.call::<Value>(method, params, BEST_EFFORT_TIMEOUT).await {
            tracing::debug!("The Signal daemon did not take a {method}: {failure}");
        }
    }
}

/// Encodes a file as a data URI. Name and type come from outside, so no character in them may end
/// its field.
fn data_uri(file: &OutgoingFile) -> String {
    let is_type = |c: char| c.is_ascii_alphanumeric() || "+-._/".contains(c);
    let is_sound = file.mime.split('/').filter(|part| !part.is_empty()).count() == 2 && file.mime.chars().all(is_type);
    let mime = if is_sound { file.mime.as_str() } else { "application/octet-stream" };
    let name: String = byte_serialize(file.name.as_bytes()).collect();
    let name = if name.is_empty() { String::new() } else { format!(";filename={name}") };
    format!("data:{mime}{name};base64,{}", STANDARD.encode(&file.bytes))
}

/// Time allowed for the transfer of a file.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum length of a plain file name.
const MAX_ID: usize = 200;

#[derive(Deserialize)]
struct Data {
    data: String,
}

impl SignalAccount {
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
        self.download(id, peer, max).await
    }

    async fn download(&self, id: &str, peer: &str, max: u64) -> Result<Vec<u8>, FetchFileError> {
        let mut params = self.params();
        params.insert("id".to_owned(), id.into());
        match peer.strip_prefix(GROUP) {
            Some(group) => params.insert("groupId".to_owned(), group.into()),
            None => params.insert("recipient".to_owned(), peer.into()),
        };
        let _one = self.download_lock.lock().await;
        let file: Data = self.rpc.call(method::GET_ATTACHMENT, &params, DOWNLOAD_TIMEOUT).await.map_err(not_fetched)?;
        // Four letters for three bytes: checked before the file is held twice.
        if file.data.len() as u64 / 4 > max.div_ceil(3) {
            return Err(FetchFileError::TooLarge);
        }
        let bytes = STANDARD.decode(file.data).map_err(|_| FetchFileError::NotFound)?;
        if bytes.len() as u64 > max { Err(FetchFileError::TooLarge) } else { Ok(bytes) }
    }
}

/// Returns true for a plain file name without any path.
fn is_plain(id: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !id.is_empty() && id.len() <= MAX_ID && id.chars().all(is_of_name) && !id.chars().all(|c| c == '.')
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
        _ => FetchFileError::Later(failure.to_string()),
    }
}

/// A parsed message id.
#[derive(Debug, Clone, PartialEq, Eq)]
struct MessageKey<'a> {
    /// Author; `None` if it is our own.
    author: Option<&'a str>,
    /// Time of sending in milliseconds.
    timestamp: u64,
}

/// Parses a message id.
fn parse_key(name: &str) -> Option<MessageKey<'_>> {
    let (author, timestamp) = name.strip_prefix('m')?.rsplit_once(':')?;
    let is_number = timestamp.bytes().all(|byte| byte.is_ascii_digit());
    let timestamp = timestamp.parse().ok().filter(|_| is_number)?;
    Some(MessageKey { author: (!author.is_empty()).then_some(author), timestamp })
}

/// Returns the id of a message of ours.
fn own_key(timestamp: u64) -> String {
    format!("m:{timestamp}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::signal::jsonrpc::RpcRefusal;

    fn file(name: &str, mime: &str, bytes: &[u8]) -> OutgoingFile {
        OutgoingFile { kind: FileKind::Document, name: name.to_owned(), mime: mime.to_owned(), bytes: bytes.into() }
    }

    #[test]
    fn a_file_becomes_a_text_that_holds_it() {
        assert_eq!(data_uri(&file("a.txt", "text/plain", b"hi")), "data:text/plain;filename=a.txt;base64,aGk=");
        assert_eq!(data_uri(&file("", "image/svg+xml", b"")), "data:image/svg+xml;base64,");
        let odd = data_uri(&file("ä;x=1,b c", "text/plain;charset=x,", b"hi"));
        assert_eq!(odd, "data:application/octet-stream;filename=%C3%A4%3Bx%3D1%2Cb+c;base64,aGk=");
        for mime in ["", "text", "text/", "/plain", "a/b/c"] {
            assert!(data_uri(&file("", mime, b"")).starts_with("data:application/octet-stream;"), "{mime}");
        }
    }

    #[test]
    fn the_largest_file_fits_into_the_longest_text() {
        let longest = 20_000_000;
        let names = 2 * 1024;
        assert!(MAX_FILE.div_ceil(3) * 4 + names < longest);
    }

    #[test]
    fn only_a_plain_name_is_looked_for() {
        for id in ["aBc_1-2.jpg", "1234567890", ".hidden", "a..b"] {
            assert!(is_plain(id), "{id}");
        }
        let long = "x".repeat(MAX_ID + 1);
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
    fn a_missing_attachment_is_not_fetched_again() {
        let refused = |code| not_fetched(RpcError::Rejected(RpcRefusal { code, data: serde_json::Value::Null }));
        assert_eq!(refused(-1), FetchFileError::NotFound);
        assert_eq!(refused(-32603), FetchFileError::NotFound);
        assert!(matches!(refused(-3), FetchFileError::Later(_)));
        assert_eq!(not_fetched(RpcError::TooLong), FetchFileError::TooLarge);
        assert!(matches!(not_fetched(RpcError::NoResponse(String::new())), FetchFileError::Later(_)));
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        assert_eq!(parse_key(&own_key(17)), Some(MessageKey { author: None, timestamp: 17 }));
        assert_eq!(parse_key("mPNI:u-1:17"), Some(MessageKey { author: Some("PNI:u-1"), timestamp: 17 }));
        assert_eq!(parse_key("m+431:17"), Some(MessageKey { author: Some("+431"), timestamp: 17 }));
        for odd in ["", "m", "m17", "m:", "m:x", "m:+7", "eu:1:2", "ru:1", "m:99999999999999999999999"] {
            assert_eq!(parse_key(odd), None, "{odd}");
        }
    }
}
