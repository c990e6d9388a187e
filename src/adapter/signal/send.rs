//! Outgoing requests: parts, edits, files, reactions, typing indicators and read receipts.
//!
//! Each is one request for one chat; the gateway awaits one before the next, so their order is
//! kept. Typing indicators and receipts are best effort: never retried, never reported, and left
//! out during a rate limit.

use crate::adapter::signal::SignalSender;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use url::form_urlencoded::byte_serialize;

use super::daemon_health::ProblemTopic;
use super::jsonrpc::{Params, method};
use super::message_key;
use super::render::{self, StyledText};
use super::send_results::{FailureCause, RecipientKind, SendFailure, SendReceipt, interpret};
use crate::adapter::{OutgoingPart, PartFormat, SendError, Typing};
use crate::message::{FileKind, OutgoingFile};
use crate::wording::signal as words;

/// Prefix of a group id in addresses.
const GROUP: &str = "group:";
/// Time allowed for sending. Longer than any group needs, because an abandoned request is sent
/// again and may arrive twice.
const SENDING: Duration = Duration::from_secs(120);
/// Time allowed for sending a file.
const SENDING_FILE: Duration = Duration::from_secs(600);
/// Time allowed for a best-effort request.
const BEST_EFFORT_LIMIT: Duration = Duration::from_secs(15);
/// Largest file: in Base64 it just fits into the longest text that the daemon reads.
const LARGEST_FILE: usize = 14_900_000;
/// First version that sends voice notes.
const VOICE_NOTES: (u64, u64, u64) = (0, 14, 2);
/// Placeholder for a removed emoji. The daemon requires one and ignores it.
const ANY_EMOJI: &str = "👍";

impl SignalSender<'_> {
    /// Sends one part and returns its external id.
    pub(super) async fn send_part(
        &self,
        peer: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<String, SendError> {
        let mut params = self.text_params(peer, piece, form);
        if let Some(quoted) = piece.reply_to.as_deref().and_then(message_key::parse) {
            params.insert("quoteTimestamp".to_owned(), quoted.timestamp.into());
            params.insert("quoteAuthor".to_owned(), self.author(quoted.author).into());
        }
        self.deliver(method::SEND, peer, &params, SENDING).await.map(message_key::own_key)
    }

    /// Replaces the text of a part that was sent before.
    pub(super) async fn edit_part(
        &self,
        peer: &str,
        external_id: &str,
        piece: &OutgoingPart,
        form: PartFormat,
    ) -> Result<(), SendError> {
        let ours =
            message_key::parse(external_id).filter(|message| message.author.is_none()).ok_or(SendError::NotFound)?;
        let mut params = self.text_params(peer, piece, form);
        params.insert("editTimestamp".to_owned(), ours.timestamp.into());
        match self.deliver(method::SEND, peer, &params, SENDING).await {
            Ok(_) => Ok(()),
            // A rejected edit is sent as a new message.
            Err(SendError::Refused(_)) => Err(SendError::NotFound),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn send_a_file(&self, peer: &str, file: &OutgoingFile) -> Result<String, SendError> {
        if file.bytes.len() > LARGEST_FILE {
            return Err(SendError::Refused(words::FILE_TOO_LARGE.to_owned()));
        }
        let mut params = self.to(peer);
        params.insert("attachment".to_owned(), json!([data_uri(file)]));
        if file.kind == FileKind::Voice && self.is_at_least(VOICE_NOTES) {
            params.insert("voiceNote".to_owned(), true.into());
        }
        self.deliver(method::SEND, peer, &params, SENDING_FILE).await.map(message_key::own_key)
    }

    /// Sets or removes our reaction to a message.
    pub(super) async fn send_reaction(&self, peer: &str, external_id: &str, emoji: &str) -> Result<(), SendError> {
        let refused = || SendError::Refused(words::NO_SUCH_MESSAGE.to_owned());
        let message = message_key::parse(external_id).ok_or_else(refused)?;
        let mut params = self.to(peer);
        params.insert("emoji".to_owned(), if emoji.is_empty() { ANY_EMOJI } else { emoji }.into());
        params.insert("targetAuthor".to_owned(), self.author(message.author).into());
        params.insert("targetTimestamp".to_owned(), message.timestamp.into());
        if emoji.is_empty() {
            params.insert("remove".to_owned(), true.into());
        }
        self.deliver(method::SEND_REACTION, peer, &params, SENDING).await.map(drop)
    }

    /// Sends a read receipt to the author of a message.
    pub(super) async fn send_receipt(&self, external_id: &str) {
        let Some(message) = message_key::parse(external_id) else { return };
        let Some(author) = message.author else { return };
        let mut params = self.to(author);
        params.insert("recipient".to_owned(), author.into());
        params.insert("targetTimestamp".to_owned(), json!([message.timestamp]));
        params.insert("type".to_owned(), "read".into());
        self.courtesy(method::SEND_RECEIPT, &params).await;
    }

    /// Shows or hides the typing indicator.
    pub(super) async fn send_typing(&self, peer: &str, typing: Typing) {
        let mut params = self.to(peer);
        if typing == Typing::Stopped {
            params.insert("stop".to_owned(), true.into());
        }
        self.courtesy(method::SEND_TYPING, &params).await;
    }

    /// Parameters for a text with its styles.
    fn text_params(&self, peer: &str, piece: &OutgoingPart, form: PartFormat) -> Params {
        let StyledText { text, styles } = render::StyledText::of(piece, form);
        let mut params = self.to(peer);
        params.insert("message".to_owned(), text.into());
        if !styles.is_empty() {
            let styles: Vec<String> = styles.iter().map(ToString::to_string).collect();
            params.insert("textStyle".to_owned(), styles.into());
        }
        params
    }

    fn to(&self, peer: &str) -> Params {
        let mut params = self.params();
        match peer.strip_prefix(GROUP) {
            Some(group) => params.insert("groupId".to_owned(), json!([group])),
            None => params.insert("recipient".to_owned(), json!([peer])),
        };
        params
    }

    /// Author as the daemon expects it; `None` is our own account.
    fn author(&self, author: Option<&str>) -> String {
        author.map_or_else(|| self.our_account(), str::to_owned)
    }

    async fn deliver(&self, method: &str, peer: &str, params: &Params, limit: Duration) -> Result<u64, SendError> {
        let answer: Result<Value, _> = self.rpc.call(method, params, limit).await;
        let to = if peer.starts_with(GROUP) { RecipientKind::Group } else { RecipientKind::Person };
        let chat = ProblemTopic::Chat(peer.to_owned());
        match interpret(to, answer) {
            Ok(sent) => {
                self.sent(chat, &sent);
                Ok(sent.timestamp)
            }
            Err(SendFailure { error, cause }) => {
                self.not_sent(chat, cause);
                Err(error)
            }
        }
    }

    fn sent(&self, chat: ProblemTopic, sent: &SendReceipt) {
        for topic in [ProblemTopic::Account, ProblemTopic::Proof] {
            self.health_tracker.settle(&topic);
        }
        if sent.missed.is_empty() {
            return self.health_tracker.settle(&chat);
        }
        for missed in &sent.missed {
            let who = missed.as_deref().unwrap_or("without an account identifier");
            tracing::warn!("A message to a group did not reach the member {who}");
        }
        self.health_tracker.note(chat, words::partly_sent(sent.missed.len(), sent.all));
    }

    fn not_sent(&self, chat: ProblemTopic, cause: FailureCause) {
        match cause {
            FailureCause::Other => {}
            FailureCause::Account => self.health_tracker.note(ProblemTopic::Account, words::ACCOUNT_UNKNOWN.to_owned()),
            FailureCause::Identity => self.health_tracker.note(chat, words::UNTRUSTED_PEER.to_owned()),
            FailureCause::Proof(challenge) => self.health_tracker.note(ProblemTopic::Proof, words::proof(&challenge)),
            FailureCause::RateLimit(span) => {
                self.health_tracker.record_rate_limit(self.clock.now(), span);
                self.health_tracker.note(ProblemTopic::Proof, words::rate_limited(span.as_secs()));
            }
        }
    }

    async fn courtesy(&self, method: &str, params: &Params) {
        if self.health_tracker.is_rate_limited(self.clock.now()) {
            return;
        }
        if let Err(failure) = self.rpc.call::<Value>(method, params, BEST_EFFORT_LIMIT).await {
            tracing::debug!("The Signal daemon did not take a {method}: {}", failure.reason());
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(LARGEST_FILE.div_ceil(3) * 4 + names < longest);
    }
}
