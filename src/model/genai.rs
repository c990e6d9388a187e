//! Anthropic and Gemini, whose wire formats the `genai` library implements.
//!
//! The library only translates; this module closes its gaps. The library strips suffixes such as
//! `-high` from a model's name unless an effort is given, so one is always given or the name is
//! rejected. It ends a broken-off stream silently (Anthropic) or with an end event that lacks a
//! reason (Gemini), and continues after an error: here, an answer is complete only with a stop
//! reason, and the first error ends it. Its errors print the conversation, and it logs such errors
//! by itself: here, they are taken apart and never shown, and the library runs without a log
//! subscriber.

use std::collections::BTreeSet;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{
    self, Binary, CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatRole, ChatStreamEvent, ContentPart,
    JsonSpec, MessageContent, ReasoningEffort, StopReason, StreamEnd, Tool, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Error, ModelIden, ServiceTarget, webc};
use secrecy::SecretString;
use serde_json::Value;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;
use url::Url;

use super::error::{self, Fault, Refusal};
use super::learned::{Field, Learned, Server};
use super::request::{AnswerFormat, RequestPart, Role, ToolSpec};
use super::turns::{self, Turn};
use super::wire::Finish;
use super::{Model, ModelError, ModelInfo, Reply, Request, Stop, StreamSink, ToolCall, Usage, wire};
use crate::config;

/// Suffixes that the library interprets as an effort.
const EFFORTS: &[&str] = &["-none", "-zero", "-minimal", "-low", "-medium", "-high", "-xhigh", "-max"];

/// A model behind one of the library's adapters.
pub(super) struct GenAi {
    info: ModelInfo,
    client: Client,
    kind: AdapterKind,
    base: Url,
    key: Option<SecretString>,
    options: ChatOptions,
    server: Server,
}

impl GenAi {
    /// Creates an Anthropic model.
    pub(super) fn anthropic(config: &config::Model) -> anyhow::Result<Self> {
        let mut model = Self::new(config, "anthropic", AdapterKind::Anthropic, "https://api.anthropic.com/v1/")?;
        // A zero effort leaves the name unchanged. It also keeps thinking off, whose signed blocks
        // would have to be sent back.
        model.options = model.options.with_reasoning_effort(ReasoningEffort::Zero);
        Ok(model)
    }

    /// Creates a Google model.
    pub(super) fn gemini(config: &config::Model) -> anyhow::Result<Self> {
        const DEFAULT_URL: &str = "https://generativelanguage.googleapis.com/v1beta/";
        let mut model = Self::new(config, "gemini", AdapterKind::Gemini, DEFAULT_URL)?;
        if EFFORTS.iter().any(|effort| config.name.ends_with(effort)) {
            // For these families only, the library sends nothing if the effort is a budget.
            anyhow::ensure!(
                ["gemini-3", "gemma-4"].iter().any(|family| config.name.contains(family)),
                "The model name `{}` ends in a word that this wire takes for an effort; use provider `openai` with Gemini's \
                 OpenAI-compatible address for it",
                config.name
            );
            model.options = model.options.with_reasoning_effort(ReasoningEffort::Budget(0));
        }
        Ok(model)
    }

    fn new(config: &config::Model, provider: &str, kind: AdapterKind, default_url: &str) -> anyhow::Result<Self> {
        anyhow::ensure!(
            !config.name.contains("::"),
            "The model name `{}` holds `::`, which this wire takes for another provider's name",
            config.name
        );
        let mut options =
            ChatOptions::default().with_capture_usage(true).with_capture_tool_calls(true).with_capture_content(false);
        if let Some(temperature) = config.temperature {
            options = options.with_temperature(temperature);
        }
        Ok(Self {
            info: wire::info(config, provider),
            client: Client::builder().with_reqwest(wire::client(Some(config.patience))?).build()?,
            kind,
            base: wire::base(config.base_url.as_deref(), default_url)?,
            key: config.api_key.clone(),
            options,
            server: Server::default(),
        })
    }

    fn target(&self) -> ServiceTarget {
        ServiceTarget {
            endpoint: Endpoint::from_owned(self.base.as_str()),
            auth: AuthData::from_single(wire::key(self.key.as_ref())),
            model: ModelIden::new(self.kind, self.info.name.as_str()),
        }
    }

    fn options(&self, request: &Request, learned: &Learned) -> ChatOptions {
        let max_output = learned.output_limit(request, &self.info);
        let mut options = self.options.clone().with_max_tokens(u32::try_from(max_output).unwrap_or(u32::MAX));
        if !learned.sends(Field::Temperature) {
            options.temperature = None;
        }
        let AnswerFormat::Json(schema) = request.format() else { return options };
        // Servers that constrain an answer by a grammar cannot let it call tools as well.
        if turns::tools(request, learned).next().is_some() || !learned.sends(Field::JsonMode) {
            return options;
        }
        match serde_json::from_str::<Value>(schema) {
            Ok(schema) => options.with_response_format(JsonSpec::new("answer", schema)),
            Err(_) => options,
        }
    }

    async fn attempt(&self, request: &Request, learned: &Learned, live: &dyn StreamSink) -> Result<Reply, Refusal> {
        let failure =
            |error: &Error, has_begun: bool| classify(error, has_begun, wire::key(self.key.as_ref()), request);
        let options = self.options(request, learned);
        let chat = chat_request(request, self.kind, learned);
        let begin = self.client.exec_chat_stream(self.target(), chat, Some(&options));
        let begin = begin.with_subscriber(NoSubscriber::new());
        let mut stream = begin.await.map_err(|error| failure(&error, false))?.stream;
        let mut text = String::new();
        while let Some(event) = stream.next().with_subscriber(NoSubscriber::new()).await {
            match event.map_err(|error| failure(&error, !text.is_empty()))? {
                ChatStreamEvent::Chunk(chunk) if !chunk.content.is_empty() => {
                    live.append(&chunk.content);
                    text.push_str(&chunk.content);
                }
                ChatStreamEvent::End(end) => return self.finish(request, &text, end).map_err(Refusal::from),
                _ => {}
            }
            if text.len() > wire::MAX_ANSWER {
                return Err(ModelError::Cut.into());
            }
        }
        Err(ModelError::Cut.into())
    }

    fn finish(&self, request: &Request, text: &str, end: StreamEnd) -> Result<Reply, ModelError> {
        let usage = end.captured_usage.as_ref().map(usage).unwrap_or_default();
        let reason = end.captured_stop_reason.clone();
        let calls = calls(end, request.messages().len());
        let stop = match reason {
            None => return Err(ModelError::Cut),
            Some(StopReason::ContentFilter(_)) => return Err(ModelError::Refused),
            // The model meant to call a tool and wrote a malformed call.
            Some(StopReason::Other(reason)) if reason == "MALFORMED_FUNCTION_CALL" => {
                return Err(ModelError::Cut);
            }
            Some(StopReason::Other(reason)) => wire::finish(&reason).stop(!calls.is_empty())?,
            Some(StopReason::MaxTokens(_)) => Stop::Length,
            Some(_) => Finish::Good.stop(!calls.is_empty())?,
        };
        let model = format!("{}/{}", self.info.provider, self.info.name);
        Ok(Reply::to(request, text, calls, stop, usage, model))
    }
}

#[async_trait]
impl Model for GenAi {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn server(&self) -> Option<&Server> {
        Some(&self.server)
    }

    async fn call(&self, request: &Request, live: &dyn StreamSink) -> Result<Reply, ModelError> {
        let own: Vec<Field> = self.options.temperature.map(|_| Field::Temperature).into_iter().collect();
        let attempt = async |learned: Learned| self.attempt(request, &learned, live).await;
        self.server.call(request, &self.info, &own, attempt).await
    }
}

fn usage(counted: &chat::Usage) -> Usage {
    let tokens = |count: Option<i32>| count.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
    let input = tokens(counted.prompt_tokens);
    let cached = tokens(counted.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens));
    Usage { input, cached: cached.min(input), output: tokens(counted.completion_tokens) }
}

/// Returns the calls, each with a unique id: where Gemini gives none, the library restarts its
/// count in every piece of a stream.
fn calls(end: StreamEnd, round: usize) -> Vec<ToolCall> {
    let mut seen = BTreeSet::new();
    let calls = end.captured_into_tool_calls().unwrap_or_default();
    let named = calls.into_iter().enumerate().map(|(n, call)| {
        let made_up = call.call_id.is_empty() || call.call_id.starts_with("call#");
        let id = if made_up || !seen.insert(call.call_id.clone()) {
            // Uses the library's own format for generated ids, so that it does not send the id
            // back.
            format!("call#{}#{}", call.fn_name, round * 1000 + n)
        } else {
            call.call_id
        };
        let arguments = match call.fn_arguments {
            Value::String(written) => written,
            Value::Null => String::new(),
            object => object.to_string(),
        };
        let extra = call.thought_signatures.and_then(|signatures| serde_json::to_string(&signatures).ok());
        ToolCall { id, name: call.fn_name, arguments, extra: extra.unwrap_or_default() }
    });
    named.collect()
}

/// Builds the library's request for one call.
fn chat_request(request: &Request, kind: AdapterKind, learned: &Learned) -> ChatRequest {
    let messages: Vec<ChatMessage> = turns::of(request, learned).iter().flat_map(|turn| messages(turn, kind)).collect();
    let chat = ChatRequest::from_messages(messages);
    let tools: Vec<Tool> = turns::tools(request, learned).map(tool).collect();
    if tools.is_empty() { chat } else { chat.with_tools(tools) }
}

/// Converts a turn into one message. For Anthropic into several if it contains cache marks, because a
/// mark counts at the end of a message; Gemini has none, and its sides alternate.
fn messages(turn: &Turn, kind: AdapterKind) -> Vec<ChatMessage> {
    let mut messages = Vec::new();
    let takes_marks = kind == AdapterKind::Anthropic;
    for stretch in turn.parts.split_inclusive(|marked_part| marked_part.marked && takes_marks) {
        let content: Vec<ContentPart> = stretch.iter().map(|marked_part| part(&marked_part.part, kind)).collect();
        let message = ChatMessage::new(role(turn.role), MessageContent::from_parts(content));
        let marked = takes_marks && stretch.last().is_some_and(|marked_part| marked_part.marked);
        messages.push(if marked { message.with_options(CacheControl::Ephemeral) } else { message });
    }
    messages
}

fn role(role: Role) -> ChatRole {
    match role {
        Role::System => ChatRole::System,
        Role::User => ChatRole::User,
        Role::Assistant => ChatRole::Assistant,
        Role::Tool => ChatRole::Tool,
    }
}

fn part(part: &RequestPart, kind: AdapterKind) -> ContentPart {
    // Ids in the library's own format are not sent: Gemini has none of its own.
    let id = |id: &str, name: &str| match kind {
        AdapterKind::Gemini => format!("call#{name}#{id}"),
        _ => id.to_owned(),
    };
    match part {
        RequestPart::Text(text) => ContentPart::Text(text.to_string()),
        RequestPart::Image { mime, bytes } => {
            ContentPart::Binary(Binary::from_base64(mime.to_string(), STANDARD.encode(bytes), None))
        }
        RequestPart::Call { id: given, name, arguments, extra } => ContentPart::ToolCall(chat::ToolCall {
            call_id: id(given, name),
            fn_name: name.to_string(),
            fn_arguments: turns::arguments(arguments).into(),
            // Extra data of another wire is not a list of signatures and is dropped.
            thought_signatures: serde_json::from_str(extra).ok(),
        }),
        RequestPart::Result { id: given, name, text } => ContentPart::ToolResponse(
            ToolResponse::new(id(given, name), text.to_string()).with_fn_name(name.to_string()),
        ),
    }
}

fn tool(spec: &ToolSpec) -> Tool {
    Tool::new(spec.name.as_str()).with_description(spec.description.as_str()).with_schema(turns::schema(&spec.schema))
}

/// Classifies an error. `has_begun` is true if a part of the answer had arrived. Only kinds,
/// statuses and headers are used; the printed form may hold the conversation.
fn classify(error: &Error, has_begun: bool, key: &str, request: &Request) -> Refusal {
    let of_fault = |fault: Fault<'_>| fault.refusal(key, request);
    let error = match error {
        // While streaming, the real error is one level down.
        Error::WebStream { error, .. } => {
            if let Some(error) = error.downcast_ref::<Error>() {
                return classify(error, has_begun, key, request);
            }
            error.downcast_ref::<reqwest::Error>().map_or(ModelError::Cut, wire::connection_error)
        }
        Error::HttpError { status, body, headers, .. } => {
            return of_fault(Fault { status: status.as_u16(), headers: Some(headers), body });
        }
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => match webc_error {
            webc::Error::ResponseFailedStatus { status, body, headers } => {
                return of_fault(Fault { status: status.as_u16(), headers: Some(headers), body });
            }
            webc::Error::ResponseFailedNotJson { content_type, .. } => error::no_answer(content_type),
            webc::Error::Reqwest(error) => wire::connection_error(error),
            _ => ModelError::Cut,
        },
        // A piece with neither answer nor error: Gemini declines the question itself this way.
        Error::ChatResponse { body, .. } if body.get("usageMetadata").is_some_and(serde_json::Value::is_null) => {
            if has_begun {
                ModelError::Cut
            } else {
                ModelError::Refused
            }
        }
        Error::ChatResponse { body, .. } => {
            return of_fault(Fault { status: 200, headers: None, body: &body.to_string() });
        }
        Error::StreamParse { .. } | Error::JsonValueExt(_) | Error::SerdeJson(_) => ModelError::Cut,
        _ => ModelError::Rejected("this wire cannot carry the request".to_owned()),
    };
    error.into()
}
