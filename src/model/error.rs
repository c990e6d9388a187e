//! Classifies a server's refusal: converts status, headers and body of an answer into a
//! [`ModelError`] that determines the next action.
//!
//! Providers disagree about codes and agree roughly about wording, so the words are checked before
//! the status. Only a rejection carries the server's own sentence, because the configuration cannot
//! be fixed without it; it is cleaned and short, without the key and without what it quotes of the
//! conversation.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::request::{Request, RequestPart};
use super::retry::STANDARD;
use super::{ModelError, wire};
use crate::text;

/// Maximum number of characters passed on of a server's sentence.
const MAX_SENTENCE: usize = 200;

/// Length of a character sequence that counts as a quote if the request contains it too.
const QUOTE: usize = 20;

const REFUSED: &[&str] = &[
    "content_filter",
    "content_policy",
    "content management policy",
    "responsibleaipolicy",
    "flagged",
    "prohibited_content",
];
const NO_CREDIT: &[&str] = &["insufficient_quota", "billing_hard_limit", "credit balance", "insufficient_balance"];
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "maximum context length",
    "prompt is too long",
    "exceed_context_size",
    "exceeds the available context",
    "input token count",
    "request_too_large",
    "string_above_max_length",
    "context length",
    "context size",
    "context window",
    "n_ctx",
    "num_ctx",
    "max_model_len",
];
const BAD_KEY: &[&str] =
    &["invalid_api_key", "api_key_invalid", "api key not valid", "authentication_error", "permission_error"];
const LATER: &[&str] = &["overloaded", "rate_limit", "resource_exhausted", "server_error", "api_error", "unavailable"];

/// A failed answer: what it means, and what the server said.
#[derive(Debug)]
pub(super) struct Refusal {
    /// What to do next.
    pub(super) error: ModelError,
    /// HTTP status; 200 if there was none.
    pub(super) status: u16,
    /// The whole body in lower case, for matching only. Text from outside, which may quote the
    /// conversation.
    pub(super) said: String,
}

impl From<ModelError> for Refusal {
    fn from(error: ModelError) -> Self {
        Self { error, status: 200, said: String::new() }
    }
}

/// A failed answer before classification.
pub(super) struct Fault<'a> {
    /// HTTP status; 200 for an error inside a stream that had begun well.
    pub status: u16,
    /// Response headers.
    pub headers: Option<&'a HeaderMap>,
    /// Response body.
    pub body: &'a str,
}

impl Fault<'_> {
    /// Classifies the failure. `key` and the text of `request` must not be repeated in the error.
    pub(super) fn classify(&self, key: &str, request: Option<&Request>) -> ModelError {
        let body: Value = serde_json::from_str(self.body).unwrap_or(Value::Null);
        let error_body = ErrorBody::of(&body);
        let has_any = |words: &[&str]| words.iter().any(|word| error_body.words.contains(word));
        let status = if self.status == 200 { error_body.status.unwrap_or(200) } else { self.status };
        if has_any(REFUSED) {
            return ModelError::Refused;
        }
        if status == 402 || has_any(NO_CREDIT) {
            return ModelError::NoCredit;
        }
        if status == 413 || has_any(TOO_LONG) {
            return ModelError::TooLong;
        }
        if matches!(status, 401 | 403) || has_any(BAD_KEY) {
            return ModelError::BadKey;
        }
        // An error inside a stream: the request itself was accepted, so a retry may succeed.
        if matches!(status, 200 | 408 | 409 | 425 | 429 | 500..) || has_any(LATER) {
            return self.later(status);
        }
        ModelError::Rejected(sentence(status, &error_body.sentence, key, request))
    }

    fn later(&self, status: u16) -> ModelError {
        let what = if status == 200 { "an error inside the answer".to_owned() } else { format!("HTTP {status}") };
        ModelError::Later { after: self.headers.and_then(retry_after), what }
    }
}

/// Wait requested by the server: seconds, or a date compared with the server's own clock.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = chrono::DateTime::parse_from_rfc2822(value).ok()?;
    let now = headers.get(DATE).and_then(|date| chrono::DateTime::parse_from_rfc2822(date.to_str().ok()?).ok());
    // Without the server's clock the date cannot be compared with anything: the longest wait is the
    // safe guess.
    Some(now.map_or(STANDARD.longest_wait, |now| (until - now).to_std().unwrap_or_default()))
}

/// Returns the error for a 200 response that is not a model's answer, such as a web page.
pub(super) fn no_answer(content_type: &str) -> ModelError {
    let kind = content_type.split(';').next().unwrap_or_default().trim();
    let kind = if kind.is_empty() { "nothing" } else { kind };
    ModelError::Rejected(format!("it answers with {}, not with a model's answer", text::shorten(kind, 40)))
}

struct ErrorBody {
    /// All codes and messages in lower case, for matching.
    words: String,
    /// Message for the user.
    sentence: String,
    /// Status given inside the body.
    status: Option<u16>,
}

impl ErrorBody {
    fn of(body: &Value) -> Self {
        // Gemini wraps its error in a list when it streams.
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
        let word = |field: &str| error.get(field).and_then(Value::as_str).unwrap_or_default();
        let message = error
            .as_str()
            .or_else(|| error.get("message").and_then(Value::as_str))
            .or_else(|| error.get("detail").and_then(Value::as_str))
            // FastAPI's form, as of Mistral: https://fastapi.tiangolo.com/tutorial/handling-errors/
            .or_else(|| error.pointer("/detail/0/msg").and_then(Value::as_str))
            .or_else(|| error.pointer("/message/detail/0/msg").and_then(Value::as_str))
            .unwrap_or_default();
        let words = [word("code"), word("type"), word("status"), message].join(" ").to_lowercase();
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        Self { words, sentence: message.to_owned(), status: status.filter(|code| (400..600).contains(code)) }
    }
}

/// Cleans the server's sentence for display.
fn sentence(status: u16, message: &str, key: &str, request: Option<&Request>) -> String {
    let visible: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut whole = text::one_line(&visible);
    if !key.is_empty() {
        whole = whole.replace(key, LEFT_OUT);
    }
    let short = text::shorten(&whole, MAX_SENTENCE - "HTTP 400: ".len());
    let message = request.map_or_else(|| short.clone(), |request| without_quotes(&short, request));
    if message.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {message}") }
}

/// Leaves out what also stands in the conversation.
fn without_quotes(sentence: &str, request: &Request) -> String {
    let chars: Vec<char> = sentence.chars().collect();
    let messages = request.messages().iter().flat_map(|message| message.parts());
    let texts: Vec<String> = messages
        .filter_map(|part| match part.open().0 {
            RequestPart::Text(text) | RequestPart::Result { text, .. } | RequestPart::Call { arguments: text, .. } => {
                Some(text::one_line(text))
            }
            RequestPart::Image { .. } => None,
        })
        .collect();
    let mut quoted = vec![false; chars.len()];
    for (at, window) in chars.windows(QUOTE).enumerate() {
        let window: String = window.iter().collect();
        if texts.iter().any(|text| text.contains(&window)) {
            quoted.iter_mut().skip(at).take(QUOTE).for_each(|is_quoted| *is_quoted = true);
        }
    }
    let mut shown = String::new();
    for (c, is_quoted) in chars.iter().zip(quoted) {
        if !is_quoted {
            shown.push(*c);
        } else if !shown.ends_with(LEFT_OUT) {
            shown.push_str(LEFT_OUT);
        }
    }
    shown
}

/// Stands for a part of a sentence that is not shown.
const LEFT_OUT: &str = "[...]";

/// Reads a response that is not a success.
pub(super) async fn of_response(response: reqwest::Response, key: &str, request: Option<&Request>) -> Refusal {
    const MAX_BODY: usize = 64 << 10;
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let body = wire::read_text(response, MAX_BODY).await.ok().flatten().unwrap_or_default();
    let error = Fault { status, headers: Some(&headers), body: &body }.classify(key, request);
    Refusal { error, status, said: body.to_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Purpose, Role};
    use crate::trust::{Label, Labelled, Scope};

    fn classify(status: u16, body: &str) -> ModelError {
        Fault { status, headers: None, body }.classify("sk-secret", None)
    }

    fn later(what: &str) -> ModelError {
        ModelError::Later { after: None, what: what.to_owned() }
    }

    #[test]
    fn a_table_of_refusals() {
        use ModelError::{BadKey, NoCredit, Refused, Rejected, TooLong};
        let rejected = |text: &str| Rejected(text.to_owned());
        let table = [
            (401, "", BadKey),
            (403, "{}", BadKey),
            (403, r#"{"error":{"message":"Your input was flagged","code":403}}"#, Refused),
            (400, r#"{"error":{"message":"API key not valid. Please pass","status":"INVALID_ARGUMENT"}}"#, BadKey),
            (402, "", NoCredit),
            (429, r#"{"error":{"message":"You exceeded","code":"insufficient_quota"}}"#, NoCredit),
            (400, r#"{"type":"error","error":{"message":"Your credit balance is too low"}}"#, NoCredit),
            (413, "", TooLong),
            (400, r#"{"error":{"code":"context_length_exceeded"}}"#, TooLong),
            (
                400,
                r#"{"error":{"message":"prompt is too long: 9 tokens > 8","type":"invalid_request_error"}}"#,
                TooLong,
            ),
            (400, r#"[{"error":{"message":"The input token count (9) exceeds the maximum","code":400}}]"#, TooLong),
            (400, r#"{"error":{"code":"content_filter"}}"#, Refused),
            (408, "", later("HTTP 408")),
            (409, "", later("HTTP 409")),
            (425, "", later("HTTP 425")),
            (429, "", later("HTTP 429")),
            (500, "<html>", later("HTTP 500")),
            (529, r#"{"error":{"type":"overloaded_error"}}"#, later("HTTP 529")),
            (200, r#"{"error":{"message":"whatever"}}"#, later("an error inside the answer")),
            (200, r#"{"error":{"message":"Provider returned error","code":402}}"#, NoCredit),
            (200, r#"{"error":{"message":"No such model","code":404}}"#, rejected("HTTP 404: No such model")),
            (404, r#"{"error":"model \"x\" not found"}"#, rejected("HTTP 404: model \"x\" not found")),
            (404, r#"{"detail":"Not Found"}"#, rejected("HTTP 404: Not Found")),
            (422, r#"{"detail":[{"msg":"x"}]}"#, rejected("HTTP 422: x")),
            (400, r#"{"error":"loaded with context length of only 4096 tokens"}"#, TooLong),
            (301, "", rejected("HTTP 301")),
            (400, "not json", rejected("HTTP 400")),
        ];
        for (status, body, expected) in table {
            assert_eq!(classify(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn a_sentence_is_one_short_line_without_secrets() {
        let said = |message: &str| {
            let body = serde_json::json!({ "error": { "message": message } }).to_string();
            let mut request = Request::new(Scope::Shared, Purpose::Chat);
            let words = "my very private diary entry about tea".into();
            request.text(Role::User, Labelled::new(words, Label::trusted(), Scope::Shared)).unwrap();
            match (Fault { status: 400, headers: None, body: &body }).classify("sk-secret", Some(&request)) {
                ModelError::Rejected(text) => text,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(said("a\n\tb\u{1b}[31m"), "HTTP 400: a b [31m");
        assert_eq!(said("bad key sk-secret here"), "HTTP 400: bad key [...] here");
        assert_eq!(said("cannot parse 'my very private diary entry'"), "HTTP 400: cannot parse '[...]'");
        assert_eq!(said(&"ä".repeat(500)).chars().count(), 200);
    }

    #[test]
    fn retry_after_in_both_shapes() {
        let after = |value: &str, date: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().unwrap());
            if let Some(date) = date {
                headers.insert(DATE, date.parse().unwrap());
            }
            retry_after(&headers)
        };
        let date = Some("Fri, 20 Nov 2026 18:05:00 GMT");
        assert_eq!(after("7", None), Some(Duration::from_secs(7)));
        assert_eq!(after("1.5", None), Some(Duration::from_millis(1500)));
        assert_eq!(after("Fri, 20 Nov 2026 18:05:09 GMT", date), Some(Duration::from_secs(9)));
        assert_eq!(after("Fri, 20 Nov 2026 18:04:00 GMT", date), Some(Duration::ZERO));
        assert_eq!(after("Fri, 20 Nov 2026 18:05:09 GMT", None), Some(STANDARD.longest_wait));
        assert_eq!(after("soon", date), None);
        assert_eq!(after("-3", None), None);
        assert_eq!(after("1e300", None), None);
    }
}
