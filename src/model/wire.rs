//! Shared parts of all wire modules: the HTTP client with its timeouts, the address of an endpoint,
//! and bounded reading.
//!
//! The client never follows a redirect: it would send the conversation to a server that is not
//! configured.

use std::future::Future;
use std::time::Duration;

use anyhow::Context;
use reqwest::Response;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::{ModelError, ModelInfo, Stop};
use crate::time::clock::real_sleep;
use crate::{config, tls};

/// Version of Anthropic's API (<https://docs.anthropic.com/en/api/versioning>).
pub(super) const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Maximum number of bytes read of one answer.
pub(super) const MAX_ANSWER: usize = 8 << 20;

/// What a server's reason for the end of an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    /// The answer is whole.
    Good,
    /// It reached its token limit.
    Length,
    /// The provider declined.
    Refused,
    /// The model meant to call a tool and wrote a malformed call.
    Malformed,
    /// Any other: an error, an abort, or a word that is not known.
    Unknown,
}

impl Finish {
    /// Returns why the model stopped.
    ///
    /// # Errors
    /// If the provider declined, or broke off while the model called tools: perhaps not all calls are
    /// there, or not whole.
    pub(super) fn stop(self, has_calls: bool) -> Result<Stop, ModelError> {
        match self {
            Self::Refused => Err(ModelError::Refused),
            Self::Length => Ok(Stop::Length),
            Self::Good => Ok(if has_calls { Stop::Tools } else { Stop::End }),
            Self::Malformed => Err(ModelError::Cut),
            Self::Unknown if has_calls => Err(ModelError::Cut),
            Self::Unknown => Ok(Stop::Broken),
        }
    }
}

/// Reads the reason for the end of an answer, in the spellings of OpenAI, Anthropic, Gemini, Mistral,
/// Ollama, vLLM, SGLang, text-generation-inference, Zhipu and Cohere. The good ends are a closed list: half a
/// sentence must not count as an answer.
pub(super) fn finish(reason: &str) -> Finish {
    const GOOD: &[&str] = &[
        "stop",
        "end_turn",
        "end",
        "eos",
        "eos_token",
        "stop_sequence",
        "complete",
        "completed",
        "finished",
        "done",
        "tool_calls",
        "tool_call",
        "tool_use",
        "function_call",
        "pause_turn",
    ];
    const LENGTH: &[&str] = &[
        "length",
        "max_tokens",
        "max_output_tokens",
        "model_length",
        "token_limit",
        "max_length",
        "max_completion_tokens",
        "model_context_window_exceeded",
    ];
    const REFUSED: &[&str] = &[
        "content_filter",
        "content_filtered",
        "refusal",
        "safety",
        "sensitive",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "image_safety",
        "language",
        "error_toxic",
        "guardrail_intervened",
    ];
    const MALFORMED: &[&str] = &[
        "malformed_function_call",
        "unexpected_tool_call",
        "too_many_tool_calls",
        "missing_thought_signature",
        "malformed_response",
    ];
    let reason = reason.trim().to_ascii_lowercase();
    let is_in = |known: &[&str]| known.contains(&reason.as_str());
    match () {
        () if is_in(GOOD) => Finish::Good,
        () if is_in(LENGTH) => Finish::Length,
        () if is_in(REFUSED) => Finish::Refused,
        () if is_in(MALFORMED) => Finish::Malformed,
        () => Finish::Unknown,
    }
}

const CONNECT: Duration = Duration::from_secs(10);

/// Creates a client. With `patience` it waits at most that long for the head of an answer and between
/// two pieces of it.
pub(super) fn client(patience: Option<Duration>) -> anyhow::Result<reqwest::Client> {
    let client = tls::client(|client| {
        let client = patience.into_iter().fold(client, |client, patience| client.read_timeout(patience));
        client
            .connect_timeout(patience.map_or(CONNECT, |patience| CONNECT.min(patience)))
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("compline/", env!("CARGO_PKG_VERSION")))
    });
    client.context("Cannot set up the HTTP client")
}

/// Ends of the addresses of calls, longest first.
const CALLS: &[&str] = &[
    "/chat/completions",
    "/audio/transcriptions",
    "/completions",
    "/embeddings",
    "/responses",
    "/messages",
    "/models",
    "/chat",
];

/// Returns the base address: the configured one, or the provider's own. One without a path gets the
/// provider's usual path, so that `http://localhost:11434` means the same as
/// `http://localhost:11434/v1`; that of a call means its server. The result always ends with a slash.
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
    // Documentation often shows the address of a call, not that of the server.
    let path = url.path().trim_end_matches('/');
    let path = CALLS.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path).to_owned();
    url.set_path(&path);
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
pub(super) fn info(config: &config::Model) -> ModelInfo {
    ModelInfo {
        provider: config.provider.as_str().to_owned(),
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
pub(super) async fn read_text(response: Response, limit: usize) -> Result<Option<String>, reqwest::Error> {
    read_text_after(Vec::new(), response, limit).await
}

/// Like [`read_text`], after the beginning of the body.
pub(super) async fn read_text_after(
    mut body: Vec<u8>,
    mut response: Response,
    limit: usize,
) -> Result<Option<String>, reqwest::Error> {
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(String::from_utf8_lossy(&body).into_owned()))
}

/// Waits for work of a server, but not longer than its patience.
pub(super) async fn within<T>(patience: Duration, work: impl Future<Output = T>) -> Result<T, ModelError> {
    tokio::select! {
        done = work => Ok(done),
        () = real_sleep(patience) => Err(ModelError::Silent(patience)),
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
            (Some("https://host/api/v1/chat/completions"), "https://host/api/v1/"),
            (Some("https://host/v1/messages/"), "https://host/v1/"),
            (Some("http://localhost:8080/v1//"), "http://localhost:8080/v1/"),
        ];
        for (configured, expected) in table {
            assert_eq!(base(configured, default_url).unwrap().as_str(), expected);
        }
        for wrong in ["", "localhost", "localhost:8080", "ftp://host/v1", "file:///etc/passwd"] {
            assert!(base(Some(wrong), default_url).is_err(), "{wrong}");
        }
    }
}
