//! Client for every server with OpenAI's chat completions API: OpenAI, OpenRouter, vLLM, llama.cpp,
//! Ollama.
//!
//! Small and exact: the model's name is sent unchanged, an answer is always streamed, and a stream
//! counts as complete only if the server said so. Failures become a [`ModelError`] that determines
//! the next action; bodies are never logged and never part of an error.

mod body;
mod draft;

use anyhow::Context;
use async_trait::async_trait;
use futures::FutureExt;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use secrecy::SecretString;
use url::Url;

use super::{Model, ModelError, ModelInfo, Reply, Request, StreamSink, error, wire};
use crate::config;
use crate::text::sse::{SseItem, SseReader};
use body::Dialect;
use draft::ReplyDraft;

/// Maximum length of an event, in bytes.
const MAX_EVENT: usize = 1 << 20;

/// A model behind an OpenAI-compatible server.
pub(super) struct OpenAi {
    card: ModelInfo,
    http: reqwest::Client,
    url: Url,
    key: Option<SecretString>,
    dialect: Dialect,
    temperature: Option<f64>,
}

impl OpenAi {
    /// Creates the model from its configuration; `provider` is its name in the description and
    /// `usual` the default address.
    pub(super) fn new(config: &config::Model, provider: &str, usual: &str) -> anyhow::Result<Self> {
        let base = wire::base(config.base_url.as_deref(), usual)?;
        Ok(Self {
            card: wire::card(config, provider),
            http: wire::client(config.patience)?,
            url: base.join("chat/completions").context("The address does not end in a path")?,
            key: config.api_key.clone(),
            dialect: Dialect::of(base.host_str().unwrap_or_default()),
            temperature: config.temperature,
        })
    }

    async fn send(&self, request: &Request) -> Result<Response, ModelError> {
        let key = wire::key(self.key.as_ref());
        let body = body::of(request, &self.card, self.dialect, self.temperature);
        let mut post = self.http.post(self.url.clone()).json(&body);
        if !key.is_empty() {
            post = post.bearer_auth(key);
        }
        let response = post.send().await.map_err(|error| wire::lost(&error))?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(error::of_response(response, key, Some(request)).await)
        }
    }

    async fn read_stream(
        &self,
        mut response: Response,
        request: &Request,
        live: &dyn StreamSink,
    ) -> Result<ReplyDraft, ModelError> {
        let mut draft = ReplyDraft::default();
        let mut events = SseReader::new(MAX_EVENT);
        loop {
            let piece = match response.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                // The answer is complete; only the connection ended badly.
                Err(_) if draft.is_whole() => return Ok(draft),
                Err(error) => return Err(wire::lost(&error)),
            };
            events.feed(&piece).map_err(|_| ModelError::Cut)?;
            while let Some(data) = next_data(&mut events) {
                draft.take(&data, live).map_err(|refusal| self.refused(&refusal, request))?;
                if draft.is_over() {
                    // Reading the end of the stream, which has usually arrived, lets the connection
                    // be reused.
                    let _ = response.chunk().now_or_never();
                    return Ok(draft);
                }
            }
        }
        events.finish();
        while let Some(data) = next_data(&mut events) {
            draft.take(&data, live).map_err(|refusal| self.refused(&refusal, request))?;
        }
        Ok(draft)
    }

    async fn read_whole(
        &self,
        response: Response,
        request: &Request,
        live: &dyn StreamSink,
    ) -> Result<ReplyDraft, ModelError> {
        let text = wire::read_text(response, wire::MAX_ANSWER).await.map_err(|error| wire::lost(&error))?;
        let mut draft = ReplyDraft::default();
        draft.take(&text.ok_or(ModelError::Cut)?, live).map_err(|refusal| self.refused(&refusal, request))?;
        Ok(draft)
    }

    fn refused(&self, refusal: &draft::DraftError, request: &Request) -> ModelError {
        let draft::DraftError::Said(body) = refusal else {
            return ModelError::Cut;
        };
        error::Fault { status: 200, headers: None, body }.classify(wire::key(self.key.as_ref()), Some(request))
    }
}

/// Returns the data of the next event that has any. Bytes that are not UTF-8 become replacement
/// characters instead of ending an otherwise complete answer.
fn next_data(events: &mut SseReader) -> Option<String> {
    std::iter::from_fn(|| events.next_item()).find_map(|item| match item {
        SseItem::Event { data, .. } if !data.is_empty() => Some(String::from_utf8_lossy(&data).into_owned()),
        _ => None,
    })
}

#[async_trait]
impl Model for OpenAi {
    fn card(&self) -> &ModelInfo {
        &self.card
    }

    async fn call(&self, request: &Request, live: &dyn StreamSink) -> Result<Reply, ModelError> {
        let response = self.send(request).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        let draft = if kind.starts_with("text/event-stream") {
            self.read_stream(response, request, live).await?
        } else if kind.contains("json") {
            self.read_whole(response, request, live).await?
        } else {
            return Err(error::no_answer(&kind));
        };
        draft.finish(request, &self.card)
    }
}
