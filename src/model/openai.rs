//! Client for every server with OpenAI's chat completions API: OpenAI, OpenRouter, vLLM, llama.cpp,
//! Ollama.
//!
//! Small and exact: the model's name is sent unchanged, an answer is always streamed, and a stream
//! counts as complete only if the server said so. Failures become a [`ModelError`] that determines
//! the next action; bodies are never logged and never part of an error.

mod draft;

use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use draft::ReplyDraft;
use futures::FutureExt;
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use url::Url;

use super::error::Refusal;
use super::learned::{Field, Learned, Server};
use super::request::{AnswerFormat, RequestPart, Role, ToolSpec};
use super::turns::{self, MarkedPart, Turn};
use super::{Model, ModelError, ModelInfo, Reply, Request, StreamSink, error, wire};
use crate::config;
use crate::text::sse::{SseItem, SseReader};

/// Maximum length of an event, in bytes.
const MAX_EVENT: usize = 1 << 20;

/// A model behind an OpenAI-compatible server.
pub(super) struct OpenAi {
    info: ModelInfo,
    http: reqwest::Client,
    url: Url,
    key: Option<SecretString>,
    dialect: Dialect,
    temperature: Option<f64>,
    patience: Duration,
    server: Server,
}

impl OpenAi {
    /// Creates the model from its configuration; `provider` is its name in the description and
    /// `default_url` the default address.
    pub(super) fn new(config: &config::Model, provider: &str, default_url: &str) -> anyhow::Result<Self> {
        let base = wire::base(config.base_url.as_deref(), default_url)?;
        Ok(Self {
            info: wire::info(config, provider),
            http: wire::client(None)?,
            url: base.join("chat/completions").context("The address does not end in a path")?,
            key: config.api_key.clone(),
            dialect: Dialect::of(base.host_str().unwrap_or_default()),
            temperature: config.temperature,
            patience: config.patience,
            server: Server::default(),
        })
    }

    /// Sends the request. Returns the head of the answer, and what the server takes.
    async fn send(&self, request: &Request, patience: Duration) -> Result<Response, ModelError> {
        let own = self.temperature.map(|_| Field::Temperature);
        let own: Vec<Field> = own.into_iter().chain([Field::StreamOptions]).collect();
        let post = async |learned: Learned| match wire::within(patience, self.post(request, &learned)).await {
            Ok(response) => response,
            Err(error) => Err(error.into()),
        };
        self.server.call(request, &self.info, &own, post).await
    }

    async fn post(&self, request: &Request, learned: &Learned) -> Result<Response, Refusal> {
        let key = wire::key(self.key.as_ref());
        let body = body(request, &self.info, self.dialect, self.temperature, learned);
        let post = wire::with_key(self.http.post(self.url.clone()).json(&body), key);
        let response = post.send().await.map_err(|error| wire::connection_error(&error))?;
        if response.status().is_success() {
            Ok(response)
        } else {
            Err(error::of_response(response, key, Some(request)).await)
        }
    }

    async fn read_stream(
        &self,
        body: AnswerBody,
        request: &Request,
        live: &dyn StreamSink,
    ) -> Result<ReplyDraft, ModelError> {
        let AnswerBody { begun: mut piece, mut response, patience } = body;
        let mut draft = ReplyDraft::default();
        let mut events = SseReader::new(MAX_EVENT);
        loop {
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
            piece = match wire::within(patience, response.chunk()).await {
                Ok(Ok(Some(next))) => next.into(),
                Ok(Ok(None)) => break,
                // The answer is complete; only the connection ended badly.
                _ if draft.is_whole() => return Ok(draft),
                Ok(Err(error)) => return Err(wire::connection_error(&error)),
                Err(silent) => return Err(silent),
            };
        }
        events.finish();
        while let Some(data) = next_data(&mut events) {
            draft.take(&data, live).map_err(|refusal| self.refused(&refusal, request))?;
        }
        Ok(draft)
    }

    async fn read_whole(
        &self,
        body: AnswerBody,
        request: &Request,
        live: &dyn StreamSink,
    ) -> Result<ReplyDraft, ModelError> {
        let reading = wire::read_text_after(body.begun, body.response, wire::MAX_ANSWER);
        let text = wire::within(body.patience, reading).await?.map_err(|error| wire::connection_error(&error))?;
        let mut draft = ReplyDraft::default();
        draft.take(&text.ok_or(ModelError::Cut)?, live).map_err(|refusal| self.refused(&refusal, request))?;
        Ok(draft)
    }

    async fn answer(&self, request: &Request, live: &dyn StreamSink, patience: Duration) -> Result<Reply, ModelError> {
        let response = self.send(request, patience).await?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.to_ascii_lowercase();
        let body = AnswerBody::begin(response, patience).await?;
        // Some servers name no type, or the wrong one.
        let draft = match body.words().first() {
            Some(b'{' | b'[') => self.read_whole(body, request, live).await?,
            Some(_) if body.is_stream() => self.read_stream(body, request, live).await?,
            Some(_) => return Err(error::no_answer(&kind)),
            None => return Err(ModelError::Cut),
        };
        draft.finish(request, &self.info)
    }

    fn refused(&self, refusal: &draft::DraftError, request: &Request) -> ModelError {
        let draft::DraftError::ServerError(body) = refusal else {
            return ModelError::Cut;
        };
        error::Fault { status: 200, headers: None, body }.classify(wire::key(self.key.as_ref()), Some(request))
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

/// Known differences between servers; every other server gets the common subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// OpenAI's own servers, where `max_tokens` has been replaced.
    OpenAi,
    /// OpenRouter, which passes prompt-cache marks on to the providers that need them.
    OpenRouter,
    /// Any other server.
    Common,
}

impl Dialect {
    /// Detects the dialect of a server by its host.
    fn of(host: &str) -> Self {
        let is = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
        if is("openai.com") || is("openai.azure.com") {
            Self::OpenAi
        } else if is("openrouter.ai") {
            Self::OpenRouter
        } else {
            Self::Common
        }
    }
}

/// Builds the body for one call.
fn body(request: &Request, info: &ModelInfo, dialect: Dialect, temperature: Option<f64>, learned: &Learned) -> Value {
    let (usual, other) = match dialect {
        Dialect::OpenAi => ("max_completion_tokens", "max_tokens"),
        Dialect::OpenRouter | Dialect::Common => ("max_tokens", "max_completion_tokens"),
    };
    let limit = if learned.sends(Field::OutputLimit) { usual } else { other };
    let mut body = json!({
        "model": info.name,
        "messages": messages(request, dialect, learned),
        "stream": true,
    });
    if learned.sends(Field::StreamOptions) {
        set(&mut body, "stream_options", json!({ "include_usage": true }));
    }
    set(&mut body, limit, json!(learned.output_limit(request, info)));
    if let Some(temperature) = temperature.filter(|_| learned.sends(Field::Temperature)) {
        set(&mut body, "temperature", json!(temperature));
    }
    let tools: Vec<Value> = turns::tools(request, learned).map(tool).collect();
    // Servers that constrain an answer by a grammar cannot let it call tools as well.
    if tools.is_empty() && matches!(request.format(), AnswerFormat::Json(_)) && learned.sends(Field::JsonMode) {
        // Not every server knows schemas.
        set(&mut body, "response_format", json!({ "type": "json_object" }));
    }
    if !tools.is_empty() {
        set(&mut body, "tools", tools.into());
    }
    body
}

fn messages(request: &Request, dialect: Dialect, learned: &Learned) -> Vec<Value> {
    let mut messages = Vec::new();
    for turn in turns::of(request, learned) {
        match turn.role {
            Role::System => messages.push(message("system", &turn, dialect)),
            Role::User => messages.push(message("user", &turn, dialect)),
            Role::Assistant => messages.push(assistant(&turn, dialect, learned)),
            Role::Tool => messages.extend(turn.parts.iter().filter_map(result)),
        }
    }
    messages
}

fn message(role: &str, turn: &Turn, dialect: Dialect) -> Value {
    json!({ "role": role, "content": content(&turn.parts, dialect) })
}

fn assistant(turn: &Turn, dialect: Dialect, learned: &Learned) -> Value {
    let calls: Vec<Value> = turn.parts.iter().filter_map(|marked_part| call(marked_part, dialect)).collect();
    let mut message = message("assistant", turn, dialect);
    if calls.is_empty() {
        return message;
    }
    // OpenAI gives no thinking and rejects that of other servers.
    if dialect != Dialect::OpenAi && learned.sends(Field::Reasoning) {
        let mut given = turn.parts.iter().filter_map(|marked_part| reasoning(&marked_part.part)).peekable();
        if given.peek().is_none() && learned.wants_reasoning {
            set(&mut message, REASONING[0], "(not kept)".into());
        }
        given.flatten().for_each(|(field, thinking)| set(&mut message, &field, thinking));
    }
    set(&mut message, "tool_calls", calls.into());
    message
}

/// Fields of a message in which servers give the thinking before calls, and some want it back:
/// DeepSeek and Kimi, vLLM and OpenRouter, OpenRouter
/// (<https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks>). It is kept with the first of the calls.
pub(super) const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

/// The thinking that a call was given with.
fn reasoning(part: &RequestPart) -> Option<Map<String, Value>> {
    let RequestPart::Call { extra, .. } = part else { return None };
    let Ok(Value::Object(mut extra)) = serde_json::from_str(extra) else { return None };
    extra.retain(|field, _| REASONING.contains(&field.as_str()));
    (!extra.is_empty()).then_some(extra)
}

/// Plain text where possible, because every server accepts it; parts for pictures and marks; null
/// for no content.
fn content(parts: &[MarkedPart], dialect: Dialect) -> Value {
    let marks = dialect == Dialect::OpenRouter && parts.iter().any(|marked_part| marked_part.marked);
    let pictures = parts.iter().any(|marked_part| matches!(marked_part.part, RequestPart::Image { .. }));
    if marks || pictures {
        return parts.iter().filter_map(|marked_part| content_part(marked_part, marks)).collect();
    }
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|marked_part| match &marked_part.part {
            RequestPart::Text(text) => Some(&**text),
            _ => None,
        })
        .collect();
    if texts.is_empty() { Value::Null } else { texts.join("\n\n").into() }
}

fn content_part(marked_part: &MarkedPart, marks: bool) -> Option<Value> {
    let mut part = match &marked_part.part {
        RequestPart::Text(text) => json!({ "type": "text", "text": text }),
        RequestPart::Image { mime, bytes } => {
            let url = format!("data:{mime};base64,{}", STANDARD.encode(bytes));
            json!({ "type": "image_url", "image_url": { "url": url } })
        }
        RequestPart::Call { .. } | RequestPart::Result { .. } => return None,
    };
    if marks && marked_part.marked {
        set(&mut part, "cache_control", json!({ "type": "ephemeral" }));
    }
    Some(part)
}

fn call(marked_part: &MarkedPart, dialect: Dialect) -> Option<Value> {
    let RequestPart::Call { id, name, arguments, extra } = &marked_part.part else {
        return None;
    };
    let arguments = Value::Object(turns::arguments(arguments)).to_string();
    let mut call = json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    // OpenAI gives no extra data and rejects that of other servers.
    if let Ok(Value::Object(mut extra)) = serde_json::from_str(extra)
        && dialect != Dialect::OpenAi
    {
        extra.retain(|field, _| !REASONING.contains(&field.as_str()));
        if !extra.is_empty() {
            set(&mut call, "extra_content", extra.into());
        }
    }
    Some(call)
}

fn result(marked_part: &MarkedPart) -> Option<Value> {
    let RequestPart::Result { id, text, .. } = &marked_part.part else {
        return None;
    };
    Some(json!({ "role": "tool", "tool_call_id": id, "content": text }))
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": { "name": spec.name, "description": spec.description, "parameters": turns::schema(&spec.schema) },
    })
}

fn set(object: &mut Value, key: &str, value: Value) {
    object.as_object_mut().unwrap_or(&mut Map::new()).insert(key.to_owned(), value);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Message, Purpose};
    use crate::trust::{Label, Labelled, Scope};

    #[test]
    fn the_dialect_follows_from_the_host() {
        for (host, expected) in [
            ("api.openai.com", Dialect::OpenAi),
            ("mine.openai.azure.com", Dialect::OpenAi),
            ("openrouter.ai", Dialect::OpenRouter),
            ("notopenrouter.ai", Dialect::Common),
            ("openai.com.example.org", Dialect::Common),
            ("localhost", Dialect::Common),
            ("", Dialect::Common),
        ] {
            assert_eq!(Dialect::of(host), expected, "{host}");
        }
    }

    #[test]
    fn each_server_gets_what_it_knows() {
        let own = |text: &str| Labelled::new(Arc::from(text), Label::trusted(), Scope::Shared);
        let mut request = Request::new(Scope::Shared, Purpose::Chat).with_max_output(7);
        request.push(Arc::new(Message::of(Role::System, own("Rules")).cached())).unwrap();
        request.text(Role::System, own("More")).unwrap();
        let (id, name, arguments) = (Arc::from("a"), Arc::from("f"), Arc::from("{}"));
        let call =
            RequestPart::Call { id, name, arguments, extra: Arc::from(r#"{"google":{"thought_signature":"s"}}"#) };
        let mut made = Message::new(Role::Assistant);
        made.push(Labelled::new(call, Label::trusted(), Scope::Shared));
        request.push(Arc::new(made)).unwrap();
        let info = ModelInfo {
            provider: "openai".to_owned(),
            name: "n".to_owned(),
            context_window: 100,
            max_output: 50,
            images: false,
            price: None,
        };
        let body = |dialect| super::body(&request, &info, dialect, Some(0.5), &Learned::default());

        let router = body(Dialect::OpenRouter);
        assert_eq!(router["messages"][0]["content"][0]["cache_control"], json!({ "type": "ephemeral" }));
        assert_eq!(router["messages"][0]["content"][1], json!({ "type": "text", "text": "More" }));
        for (dialect, limit, extra) in
            [(Dialect::OpenAi, "max_completion_tokens", false), (Dialect::Common, "max_tokens", true)]
        {
            let body = body(dialect);
            assert_eq!(body["messages"][0]["content"], "Rules\n\nMore");
            assert_eq!(body[limit], 7);
            assert_eq!(body["temperature"], 0.5);
            assert_eq!(body["messages"][2]["tool_calls"][0].get("extra_content").is_some(), extra);
            assert!(body.get("tools").is_none());
        }
    }

    #[test]
    fn fuzzed() {
        let seeds = crate::fuzz::seeds_in("stream");
        crate::fuzz::target("model-stream", &seeds, |bytes| {
            let (mut draft, mut events) = (ReplyDraft::default(), SseReader::new(MAX_EVENT));
            events.feed(bytes).map_err(|_| draft::DraftError::Unreadable)?;
            events.finish();
            while let Some(data) = next_data(&mut events) {
                draft.take(&data, &crate::model::NullSink)?;
            }
            Ok::<_, draft::DraftError>(draft)
        });
    }
}
