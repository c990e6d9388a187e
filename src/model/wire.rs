//! Shared parts of all wire modules: the HTTP client with its timeouts, the address of an endpoint,
//! and bounded reading.
//!
//! The client never follows a redirect: it would send the conversation to a server that is not
//! configured.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use reqwest::Response;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::{AnswerFormat, ModelError, ModelInfo, Request};
use crate::{config, tls};

/// Maximum number of bytes read of one answer.
pub(super) const MAX_ANSWER: usize = 8 << 20;

const CONNECT: Duration = Duration::from_secs(10);

/// Creates a client that waits at most `patience` for the head of an answer and between two pieces
/// of it.
pub(super) fn client(patience: Duration) -> anyhow::Result<reqwest::Client> {
    let client = tls::client(|client| {
        client
            .connect_timeout(CONNECT.min(patience))
            .read_timeout(patience)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("compline/", env!("CARGO_PKG_VERSION")))
    });
    client.context("Cannot set up the HTTP client")
}

/// Returns the base address: the configured one, or the provider's own. One without a path gets the
/// provider's usual path, so that `http://localhost:11434` means the same as
/// `http://localhost:11434/v1`. The result always ends with a slash.
pub(super) fn base(configured: Option<&str>, default_url: &str) -> anyhow::Result<Url> {
    let default_url = Url::parse(default_url).context("The usual address does not parse")?;
    let Some(configured) = configured else {
        return Ok(default_url);
    };
    let mut url = Url::parse(configured).with_context(|| format!("`{configured}` is not an address"))?;
    anyhow::ensure!(
        matches!(url.scheme(), "http" | "https") && url.has_host(),
        "`{configured}` is not an http or https address"
    );
    if url.path().trim_end_matches('/').is_empty() {
        url.set_path(default_url.path());
    } else if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

/// Returns the key as text; empty if there is none.
pub(super) fn key(key: Option<&SecretString>) -> &str {
    key.map_or("", |key| key.expose_secret()).trim()
}

/// Adds the key to a request, if there is one.
pub(super) fn with_key(post: reqwest::RequestBuilder, key: &str) -> reqwest::RequestBuilder {
    if key.is_empty() { post } else { post.bearer_auth(key) }
}

/// Builds the description of a configured model.
pub(super) fn info(config: &config::Model, provider: &str) -> ModelInfo {
    ModelInfo {
        provider: provider.to_owned(),
        name: config.name.clone(),
        context_window: config.context_window,
        max_output: config.max_output,
        images: config.images,
        price: config.price,
    }
}

/// Classifies a missing or incomplete answer. The library's own messages may hold the address, so
/// none of them are used.
pub(super) fn connection_error(error: &reqwest::Error) -> ModelError {
    let what = if error.is_timeout() {
        "the server keeps silent"
    } else if tls::is_server_unknown(error) {
        tls::SERVER_NOT_FOUND
    } else if error.is_connect() {
        "no connection to the server"
    } else if error.is_body() || error.is_decode() {
        return ModelError::Cut;
    } else {
        "the connection broke"
    };
    ModelError::Later { after: None, what: what.to_owned() }
}

/// Reads the whole body as text, up to `limit` bytes; `None` if it is longer. Bytes that are not
/// UTF-8 are replaced.
pub(super) async fn read_text(mut response: Response, limit: usize) -> Result<Option<String>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(String::from_utf8_lossy(&body).into_owned()))
}

/// The JSON mode of a server. It is asked for until the server refuses it.
#[derive(Debug, Default)]
pub(super) struct JsonMode {
    is_refused: AtomicBool,
}

impl JsonMode {
    /// Makes a call: with the schema of the answer if the request asks for JSON, and once more
    /// without it if the server refuses that.
    pub(super) async fn call<T, F>(
        &self,
        request: &Request,
        attempt: impl Fn(Option<&'static str>) -> F,
    ) -> Result<T, ModelError>
    where
        F: Future<Output = Result<T, ModelError>>,
    {
        // Servers that constrain an answer by a grammar cannot let it call tools as well.
        let schema = match request.format() {
            AnswerFormat::Json(schema) if request.tools().is_empty() => schema,
            AnswerFormat::Json(_) | AnswerFormat::Text => return attempt(None).await,
        };
        if self.is_refused.load(Ordering::Relaxed) {
            return attempt(None).await;
        }
        match attempt(Some(schema)).await {
            Err(ModelError::Rejected(_)) => {
                let answer = attempt(None).await?;
                self.is_refused.store(true, Ordering::Relaxed);
                Ok(answer)
            }
            answer => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_path_gets_the_usual_one() {
        let default_url = "https://api.example.org/v1/";
        let table = [
            (None, "https://api.example.org/v1/"),
            (Some("http://localhost:8080"), "http://localhost:8080/v1/"),
            (Some("http://localhost:8080/"), "http://localhost:8080/v1/"),
            (Some("https://host/api/v1"), "https://host/api/v1/"),
            (Some("https://host/openai/"), "https://host/openai/"),
        ];
        for (configured, expected) in table {
            assert_eq!(base(configured, default_url).unwrap().as_str(), expected);
        }
        for wrong in ["", "localhost", "localhost:8080", "ftp://host/v1", "file:///etc/passwd"] {
            assert!(base(Some(wrong), default_url).is_err(), "{wrong}");
        }
    }
}
