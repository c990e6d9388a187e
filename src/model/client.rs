//! Client of a model server, whichever protocol it speaks.
//!
//! Small and exact: the model's name is sent unchanged, an answer is always streamed, and it counts as
//! complete only if the server said so. Failures become a [`ModelError`] that determines the next
//! action; bodies are never logged and never part of an error.

use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use super::draft::{DraftError, ReplyDraft};
use super::error::Refusal;
use super::learned::{Field, Learned, Server};
use super::protocol::chat_completions::{ChatCompletions, Dialect};
use super::protocol::gemini::Gemini;
use super::protocol::messages::Messages;
use super::protocol::ollama::Ollama;
use super::protocol::responses::Responses;
use super::protocol::{Call, Protocol};
use super::{Model, ModelError, ModelInfo, Reply, Request, StreamSink, error, wire};
use crate::config;
use crate::text::sse::{SseItem, SseReader};

/// Maximum length of an event, in bytes.
const MAX_EVENT: usize = 1 << 20;

/// A model behind a server.
pub(super) struct Client {
    info: ModelInfo,
    http: reqwest::Client,
    url: Url,
    key: Option<SecretString>,
    protocol: Box<dyn Protocol>,
    temperature: Option<f64>,
    patience: Duration,
    server: Server,
}

impl Client {
    /// Creates a model of Anthropic, or of a server that speaks its protocol.
    pub(super) fn anthropic(config: &config::Model) -> anyhow::Result<Self> {
        Self::new(config, "https://api.anthropic.com/v1/", |_| Box::new(Messages))
    }

    /// Creates a model of Google.
    pub(super) fn gemini(config: &config::Model) -> anyhow::Result<Self> {
        Self::new(config, "https://generativelanguage.googleapis.com/v1beta/", |_| Box::new(Gemini))
    }

    /// Creates a model of Ollama. At an address that ends in `/v1` it speaks OpenAI's protocol.
    pub(super) fn ollama(config: &config::Model) -> anyhow::Result<Self> {
        Self::new(config, "http://localhost:11434/", |base| match base.path().ends_with("/v1/") {
            true => Box::new(ChatCompletions { dialect: Dialect::Common }),
            false => Box::new(Ollama),
        })
    }

    /// Creates a model of OpenAI, or of a compatible server. OpenAI's own servers, and others at an
    /// address that ends in `/responses`, are asked through the Responses API, unless the address ends
    /// in `/chat/completions`.
    pub(super) fn openai(config: &config::Model) -> anyhow::Result<Self> {
        let written = config.base_url.as_deref().unwrap_or_default().trim_end_matches('/');
        Self::new(config, "https://api.openai.com/v1/", |base| {
            let host = base.host_str().unwrap_or_default();
            let is_own = host == "api.openai.com" && !written.ends_with("/chat/completions");
            match is_own || written.ends_with("/responses") {
                true => Box::new(Responses),
                false => Box::new(ChatCompletions { dialect: Dialect::of(host) }),
            }
        })
    }

    fn new(
        config: &config::Model,
        default_url: &str,
        protocol: impl FnOnce(&Url) -> Box<dyn Protocol>,
    ) -> anyhow::Result<Self> {
        let base = wire::base(config.base_url.as_deref(), default_url)?;
        let protocol = protocol(&base);
        Ok(Self {
            info: wire::info(config),
            http: wire::client(None)?,
            url: protocol.url(&base, &config.name)?,
            key: config.api_key.clone(),
            protocol,
            temperature: config.temperature,
            patience: config.patience,
            server: Server::default(),
        })
    }

    /// Sends the request. Returns the head of the answer.
    async fn send(&self, request: &Request, patience: Duration) -> Result<Response, ModelError> {
        let own = self.temperature.map(|_| Field::Temperature);
        let own: Vec<Field> = own.into_iter().chain(self.protocol.fields().iter().copied()).collect();
        let post = async |learned: Learned| match wire::within(patience, self.post(request, &learned)).await {
            Ok(response) => response,
            Err(error) => Err(error.into()),
        };
        self.server.call(request, &self.info, &own, post).await
    }

    async fn post(&self, request: &Request, learned: &Learned) -> Result<Response, Refusal> {
        let key = wire::key(self.key.as_ref());
        let call = Call { request, info: &self.info, learned, temperature: self.temperature };
        let post = self.http.post(self.url.clone()).json(&self.protocol.body(&call));
        let response =
            self.protocol.with_key(post, key).send().await.map_err(|error| wire::connection_error(&error))?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(error::of_response(response, key, Some(request)).await)
        }
    }

    async fn answer(&self, request: &Request, live: &dyn StreamSink, patience: Duration) -> Result<Reply, ModelError> {
        let response = self.send(request, patience).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        let body = AnswerBody::begin(response, patience).await?;
        let mut draft = ReplyDraft::new(live);
        // Some servers name no type, or the wrong one.
        let read = match body.words().first() {
            Some(b'{' | b'[') => self.read_values(body, &mut draft).await,
            Some(_) if body.is_stream() => self.read_events(body, &mut draft).await,
            Some(_) => return Err(error::no_answer(&kind)),
            None => return Err(ModelError::Cut),
        };
        match read {
            // The answer is complete; only the connection ended badly.
            Err(ReadError::Connection(_)) if draft.is_whole() => {}
            Err(ReadError::Connection(error)) => return Err(error),
            Err(ReadError::Draft(DraftError::Unreadable)) => return Err(ModelError::Cut),
            Err(ReadError::Draft(DraftError::ServerError(body))) => {
                let fault = error::Fault { status: 200, headers: None, body: &body };
                return Err(fault.classify(wire::key(self.key.as_ref()), Some(request)));
            }
            Ok(()) => {}
        }
        draft.finish(request, &self.info)
    }

    /// Reads server-sent events.
    async fn read_events(&self, mut body: AnswerBody, draft: &mut ReplyDraft<'_>) -> Result<(), ReadError> {
        let mut events = SseReader::new(MAX_EVENT);
        let mut piece = std::mem::take(&mut body.begun);
        loop {
            events.feed(&piece).map_err(|_| DraftError::Unreadable)?;
            while let Some(event) = next_event(&mut events) {
                self.protocol.take(&event.kind, &event.data, draft)?;
                if draft.is_over {
                    // Reading the end of the stream, which has usually arrived, lets the connection
                    // be reused.
                    let _ = body.response.chunk().now_or_never();
                    return Ok(());
                }
            }
            let Some(next) = body.next().await? else { break };
            piece = next;
        }
        events.finish();
        while let Some(event) = next_event(&mut events) {
            self.protocol.take(&event.kind, &event.data, draft)?;
        }
        Ok(())
    }

    /// Reads JSON values: a whole answer, a list of pieces, or a piece a line as they come.
    async fn read_values(&self, mut body: AnswerBody, draft: &mut ReplyDraft<'_>) -> Result<(), ReadError> {
        let mut text = body.words().to_vec();
        let mut comes_in_lines = true;
        loop {
            while let Some(end) = text.iter().position(|byte| *byte == b'\n').filter(|_| comes_in_lines) {
                let line: Vec<u8> = text.get(..end).unwrap_or_default().to_vec();
                match serde_json::from_str::<Value>(&String::from_utf8_lossy(&line)) {
                    Ok(piece) => {
                        draft.grow(end)?;
                        self.protocol.take_piece("", piece, draft)?;
                    }
                    Err(_) if line.trim_ascii().is_empty() => {}
                    Err(_) => {
                        comes_in_lines = false;
                        break;
                    }
                }
                text.drain(..=end);
            }
            if text.len() > wire::MAX_ANSWER {
                return Err(DraftError::Unreadable.into());
            }
            let Some(next) = body.next().await? else { break };
            text.extend_from_slice(&next);
        }
        let rest = String::from_utf8_lossy(&text);
        for piece in serde_json::Deserializer::from_str(&rest).into_iter::<Value>() {
            self.protocol.take_piece("", piece.map_err(|_| DraftError::Unreadable)?, draft)?;
        }
        Ok(())
    }
}

/// Reason why the rest of an answer was not read.
enum ReadError {
    Connection(ModelError),
    Draft(DraftError),
}

impl From<DraftError> for ReadError {
    fn from(error: DraftError) -> Self {
        Self::Draft(error)
    }
}

/// An answer whose first bytes are there.
struct AnswerBody {
    begun: Vec<u8>,
    response: Response,
    /// Longest silence.
    patience: Duration,
}

impl AnswerBody {
    /// Waits for something other than white space, or the end.
    async fn begin(mut response: Response, patience: Duration) -> Result<Self, ModelError> {
        let mut begun = Vec::new();
        while begun.trim_ascii().len() < SHORTEST && begun.len() <= wire::MAX_ANSWER {
            let piece = wire::within(patience, response.chunk()).await?;
            match piece.map_err(|error| wire::connection_error(&error))? {
                Some(piece) => begun.extend_from_slice(&piece),
                None => break,
            }
        }
        Ok(Self { begun, response, patience })
    }

    /// Waits for the next piece; none at the end.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, ReadError> {
        let piece = match wire::within(self.patience, self.response.chunk()).await {
            Ok(Ok(piece)) => piece,
            Ok(Err(error)) => return Err(ReadError::Connection(wire::connection_error(&error))),
            Err(silent) => return Err(ReadError::Connection(silent)),
        };
        Ok(piece.map(Into::into))
    }

    /// The beginning, without white space and a byte order mark.
    fn words(&self) -> &[u8] {
        let begun = self.begun.trim_ascii_start();
        begun.strip_prefix(b"\xef\xbb\xbf").unwrap_or(begun)
    }

    /// Returns whether it begins with a line of server-sent events.
    fn is_stream(&self) -> bool {
        [&b":"[..], b"data", b"event", b"id", b"retry"].iter().any(|field| self.words().starts_with(field))
    }
}

/// Bytes after which the form of an answer is known.
const SHORTEST: usize = 5;

/// Returns the type and the data of the next event that has any. Bytes that are not UTF-8 become
/// replacement characters instead of ending an otherwise complete answer.
fn next_event(events: &mut SseReader) -> Option<Event> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    std::iter::from_fn(|| events.next_item()).find_map(|item| match item {
        SseItem::Event { kind, data } if !data.is_empty() => Some(Event { kind: text(&kind), data: text(&data) }),
        _ => None,
    })
}

/// A server-sent event.
struct Event {
    kind: String,
    data: String,
}

#[async_trait]
impl Model for Client {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn server(&self) -> Option<&Server> {
        Some(&self.server)
    }

    async fn call(&self, request: &Request, live: &dyn StreamSink) -> Result<Reply, ModelError> {
        let patience = self.server.patience(self.patience);
        let reply = self.answer(request, live, patience).await;
        match &reply {
            Err(ModelError::Silent(_)) => self.server.was_silent(),
            Err(_) => {}
            Ok(reply) => {
                self.server.has_answered(patience, self.patience);
                self.server.count(request.estimate_tokens(), reply.usage.input);
            }
        }
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::NullSink;

    #[test]
    fn the_protocol_follows_from_provider_and_address() {
        let config = |base_url: Option<&str>| config::Model {
            base_url: base_url.map(str::to_owned),
            provider: config::Provider::OpenAi,
            name: "a b/c".to_owned(),
            api_key: None,
            context_window: 10_000,
            max_output: 500,
            temperature: None,
            images: true,
            price: None,
            patience: Duration::from_secs(20),
        };
        type Build = fn(&config::Model) -> anyhow::Result<Client>;
        let table: [(Build, Option<&str>, &str); 13] = [
            (Client::openai, None, "https://api.openai.com/v1/responses"),
            (Client::openai, Some("https://api.openai.com/v1/"), "https://api.openai.com/v1/responses"),
            (
                Client::openai,
                Some("https://api.openai.com/v1/chat/completions"),
                "https://api.openai.com/v1/chat/completions",
            ),
            (Client::openai, Some("http://localhost:8080"), "http://localhost:8080/v1/chat/completions"),
            (Client::openai, Some("https://api.x.ai/v1/responses/"), "https://api.x.ai/v1/responses"),
            (Client::ollama, None, "http://localhost:11434/api/chat"),
            (Client::ollama, Some("http://nas:11434"), "http://nas:11434/api/chat"),
            (Client::ollama, Some("http://nas:11434/api/chat"), "http://nas:11434/api/chat"),
            (Client::ollama, Some("http://nas:11434/api/"), "http://nas:11434/api/chat"),
            (Client::ollama, Some("http://nas:11434/v1"), "http://nas:11434/v1/chat/completions"),
            (Client::anthropic, None, "https://api.anthropic.com/v1/messages"),
            (
                Client::anthropic,
                Some("https://api.deepseek.com/anthropic"),
                "https://api.deepseek.com/anthropic/v1/messages",
            ),
            (
                Client::gemini,
                None,
                "https://generativelanguage.googleapis.com/v1beta/models/a%20b%2Fc:streamGenerateContent?alt=sse",
            ),
        ];
        for (build, base_url, expected) in table {
            assert_eq!(build(&config(base_url)).unwrap().url.as_str(), expected, "{base_url:?}");
        }
    }

    #[test]
    fn fuzzed() {
        let seeds = crate::fuzz::seeds_in("stream");
        let protocols: [&dyn Protocol; 5] =
            [&ChatCompletions { dialect: Dialect::Common }, &Responses, &Messages, &Gemini, &Ollama];
        crate::fuzz::target("model-stream", &seeds, |bytes| {
            let mut events = SseReader::new(MAX_EVENT);
            events.feed(bytes).map_err(|_| DraftError::Unreadable)?;
            events.finish();
            let events: Vec<Event> = std::iter::from_fn(|| next_event(&mut events)).collect();
            let read = protocols.map(|protocol| {
                let mut draft = ReplyDraft::new(&NullSink);
                events.iter().try_for_each(|event| protocol.take(&event.kind, &event.data, &mut draft))
            });
            read.into_iter().collect::<Result<Vec<()>, DraftError>>()
        });
    }
}
