//! Calls to the Bot API, and how far a failed one came.
//!
//! The payloads are teloxide's. The transport is our own, because teloxide's hides what a caller
//! has to know: whether a request was certainly not sent ([`CallError::NotSent`]) or may have been
//! carried out without a response ([`CallError::NoResponse`]); because a message counts as sent
//! once Telegram says `ok`, even if the response has unknown fields; and because a raw update must
//! reach the journal unchanged.
//!
//! The token is part of every address. It never leaves this file: addresses are removed from
//! errors, redirects are not followed, and any outgoing text is searched for it once more.

use std::time::Duration;

use anyhow::{Context, ensure};
use reqwest::multipart::Form;
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use teloxide_core::requests::Payload;

use crate::adapter::request::{self, RequestError};
use crate::adapter::server_wait;
use crate::markdown::strip_control;
use crate::message::FetchFileError;
use crate::text::{one_line, shorten};

/// Timeout of one call, from connecting to the last byte of the response.
pub(super) const CALL_LIMIT: Duration = Duration::from_secs(30);
/// Longest response that is read; a full batch of updates is far smaller.
const MAX_ANSWER: u64 = 32 << 20;
/// Wait after a 429 without a duration.
const DEFAULT_WAIT: Duration = Duration::from_secs(5);
/// Maximum length of an outside message in an error.
const MAX_REASON: usize = 160;

/// Client of the Bot API for one bot.
pub(super) struct BotApi {
    client: Client,
    api: Url,
    token: SecretString,
}

/// Errors of a call, by how far it came.
pub(super) type CallError = RequestError<ApiRefusal>;

/// Telegram's reason for a rejection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code} {reason}")]
pub(super) struct ApiRefusal {
    /// HTTP status code.
    pub(super) code: u16,
    /// Description, cleaned and shortened.
    pub(super) reason: String,
    /// Wait; present exactly if the code is 429.
    pub(super) wait: Option<Duration>,
    /// New id of a migrated group.
    pub(super) moved: Option<i64>,
}

impl ApiRefusal {
    /// Returns true if the description contains one of these, ignoring case.
    pub(super) fn mentions(&self, any: &[&str]) -> bool {
        let reason = self.reason.to_lowercase();
        any.iter().any(|words| reason.contains(&words.to_lowercase()))
    }
}

#[derive(Deserialize)]
struct ApiResponse {
    ok: bool,
    result: Option<Box<RawValue>>,
    error_code: Option<u16>,
    #[serde(default)]
    description: String,
    parameters: Option<Parameters>,
}

#[derive(Deserialize)]
struct Parameters {
    retry_after: Option<u64>,
    migrate_to_chat_id: Option<i64>,
}

impl BotApi {
    /// Creates a client for the server at `api_url` with that token.
    pub(super) fn new(api_url: &str, token: SecretString) -> anyhow::Result<Self> {
        // An odd character would end up in the address and cause an obscure rejection.
        ensure!(
            is_token(token.expose_secret()),
            "The Telegram token is not of the form 123456:letters that BotFather gives out"
        );
        let mut api = Url::parse(api_url).context("The address of the Bot API is not valid")?;
        ensure!(
            matches!(api.scheme(), "http" | "https") && api.has_host(),
            "The address of the Bot API does not begin with https:// or http://"
        );
        api.set_query(None);
        api.set_fragment(None);
        let client = request::http_client(|client| client)?;
        Ok(Self { client, api, token })
    }

    /// The bot's id, which is the public part of the token.
    pub(super) fn account(&self) -> String {
        self.token.expose_secret().split(':').next().unwrap_or_default().to_owned()
    }

    /// Calls the method of a typed payload.
    pub(super) async fn request<P: Payload + Serialize, T: DeserializeOwned>(
        &self,
        payload: &P,
    ) -> Result<T, CallError> {
        self.call(P::NAME, payload, CALL_LIMIT).await
    }

    /// Calls a method by name and decodes its result.
    pub(super) async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        body: &impl Serialize,
        limit: Duration,
    ) -> Result<T, CallError> {
        self.execute(self.client.post(self.method(method)?).timeout(limit).json(body)).await
    }

    /// Calls a method with a multipart form. The client cannot retry it, since a form is consumed.
    pub(super) async fn upload<T: DeserializeOwned>(
        &self,
        method: &str,
        form: Form,
        limit: Duration,
    ) -> Result<T, CallError> {
        self.execute(self.client.post(self.method(method)?).timeout(limit).multipart(form)).await
    }

    async fn execute<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, CallError> {
        let answer = request.send().await.map_err(|error| CallError::of_http(error, |why| self.clean(&why)))?;
        let status = answer.status();
        let bytes = self.read(answer, MAX_ANSWER).await.map_err(|failure| match failure {
            FetchFileError::Later(why) => CallError::NoResponse(why),
            _ => CallError::NoResponse("The answer is too long".to_owned()),
        })?;
        self.decode(status, &bytes)
    }

    /// Downloads a file by its path from `getFile`, at most `max` bytes.
    pub(super) async fn download(&self, path: &str, max: u64, limit: Duration) -> Result<Vec<u8>, FetchFileError> {
        let bot = format!("bot{}", self.token.expose_secret());
        let segments: Vec<&str> = ["file", &bot].into_iter().chain(path.split('/')).collect();
        let address = self.address(&segments).map_err(|failure| FetchFileError::Later(failure.to_string()))?;
        let request = self.client.get(address).timeout(limit);
        let answer = request.send().await.map_err(|error| FetchFileError::Later(self.describe(error)))?;
        match answer.status() {
            StatusCode::OK => self.read(answer, max).await,
            StatusCode::NOT_FOUND | StatusCode::GONE => Err(FetchFileError::NotFound),
            other => Err(FetchFileError::Later(format!("The server answered {}", other.as_u16()))),
        }
    }

    fn method(&self, name: &str) -> Result<Url, CallError> {
        self.address(&[&format!("bot{}", self.token.expose_secret()), &camel(name)])
    }

    fn address(&self, segments: &[&str]) -> Result<Url, CallError> {
        let mut address = self.api.clone();
        address
            .path_segments_mut()
            .map_err(|()| CallError::NotSent("The address of the Bot API cannot be extended".to_owned()))?
            .pop_if_empty()
            .extend(segments);
        Ok(address)
    }

    async fn read(&self, answer: Response, max: u64) -> Result<Vec<u8>, FetchFileError> {
        let body = request::read_body(answer, max).await;
        body.map_err(|error| FetchFileError::Later(self.describe(error)))?.ok_or(FetchFileError::TooLarge)
    }

    fn decode<T: DeserializeOwned>(&self, status: StatusCode, bytes: &[u8]) -> Result<T, CallError> {
        let Ok(envelope) = serde_json::from_slice::<ApiResponse>(bytes) else {
            // A proxy answered instead of Telegram, or a wrong address is configured.
            return Err(CallError::NoResponse(format!("The server answered {} and no JSON", status.as_u16())));
        };
        if envelope.ok {
            let result = envelope.result.as_deref().map_or("null", RawValue::get);
            return serde_json::from_str(result)
                .map_err(|_| CallError::NoResponse("The server answered something unexpected".to_owned()));
        }
        let code = envelope.error_code.unwrap_or(status.as_u16());
        if code >= 500 {
            return Err(CallError::NoResponse(format!("The server answered {code}")));
        }
        let (asked, moved) = envelope.parameters.map_or((None, None), |p| (p.retry_after, p.migrate_to_chat_id));
        let wait = (code == 429).then(|| server_wait(asked.map_or(DEFAULT_WAIT, Duration::from_secs)));
        Err(CallError::Rejected(ApiRefusal { code, reason: self.clean(&envelope.description), wait, moved }))
    }

    fn describe(&self, error: reqwest::Error) -> String {
        self.clean(&request::describe(error))
    }

    fn clean(&self, words: &str) -> String {
        let secret = self.token.expose_secret();
        let bare = words.replace(secret, "…");
        shorten(&one_line(&strip_control(&bare)), MAX_REASON)
    }
}

fn is_token(token: &str) -> bool {
    token.split_once(':').is_some_and(|(id, secret)| {
        !id.is_empty()
            && id.bytes().all(|b| b.is_ascii_digit())
            && !secret.is_empty()
            && secret.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
    })
}

/// Method name as documented: teloxide's begin with a capital.
fn camel(method: &str) -> String {
    let mut letters = method.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests;
