//! Requests to the server of a channel: how far a failed one came, its HTTP client, and the lenient
//! reading of its JSON.

use std::error::Error as _;
use std::time::Duration;

use anyhow::Context;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use serde_json::Value;

use super::SendError;
use crate::tls;

/// Time allowed for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Lifetime of an idle connection. Reusing a dead one makes an unsent request look sent, so it only
/// spans the requests of one reply.
const KEEP_IDLE: Duration = Duration::from_secs(15);

/// Errors of a request, by how far it came. `R` is the server's rejection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum RequestError<R> {
    /// Not sent; certainly nothing was done.
    #[error("{0}")]
    NotSent(String),
    /// Sent without a valid response: it may have been carried out.
    #[error("{0}")]
    NoResponse(String),
    /// Carried out, but the response exceeds the limit.
    #[error("the answer is too long")]
    TooLong,
    /// Rejected by the server.
    #[error("{0}")]
    Rejected(R),
}

impl<R: std::fmt::Display> RequestError<R> {
    /// Translates a failed HTTP exchange; `clean` prepares its description.
    pub(super) fn of_http(error: reqwest::Error, clean: impl Fn(String) -> String) -> Self {
        let never_left = error.is_connect() || error.is_builder();
        let why = clean(describe(error));
        if never_left { Self::NotSent(why) } else { Self::NoResponse(why) }
    }

    /// Returns the rejection, or the error for the outbox if there was none.
    pub(super) fn rejection(self) -> Result<R, SendError> {
        match self {
            Self::Rejected(rejection) => Ok(rejection),
            Self::NotSent(why) => Err(SendError::Later(why)),
            unanswered => Err(SendError::OutcomeUnknown(unanswered.to_string())),
        }
    }
}

impl<R: std::fmt::Display> From<reqwest::Error> for RequestError<R> {
    fn from(error: reqwest::Error) -> Self {
        Self::of_http(error, |why| why)
    }
}

/// Builds a client that follows no redirects, with these further settings.
pub(super) fn http_client(settings: impl Fn(ClientBuilder) -> ClientBuilder) -> anyhow::Result<Client> {
    let client = tls::client(|client| {
        let client = client.connect_timeout(CONNECT_TIMEOUT).pool_idle_timeout(KEEP_IDLE);
        settings(client.redirect(Policy::none()).referer(false))
    });
    client.context("The network client could not be built")
}

/// Reads a body; `None` if it is longer than `max` bytes.
pub(super) async fn read_body(mut response: Response, max: u64) -> reqwest::Result<Option<Vec<u8>>> {
    if response.content_length().is_some_and(|length| length > max) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if (bytes.len() as u64).saturating_add(chunk.len() as u64) > max {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Some(bytes))
}

/// Formats an error with its causes, without the address, which may contain an account or a token.
pub(super) fn describe(error: reqwest::Error) -> String {
    if tls::is_server_unknown(&error) {
        return tls::SERVER_NOT_FOUND.to_owned();
    }
    let error = error.without_url();
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        words = format!("{words}: {inner}");
        cause = inner.source();
    }
    words
}

/// Returns a field that is present and not null.
pub(super) fn field<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|value| !value.is_null())
}

/// Returns the list in a field, or an empty list.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
