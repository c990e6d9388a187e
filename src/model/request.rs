//! Request to a model: labelled parts in order, and the tools it may call; and its answer, whose
//! only constructor takes the request, so that the reply's label is the join of all that went in.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::thinking::{without_thinking, written_call};
use crate::trust::{Label, Labelled, Scope, Source, Text, WrongScope};

/// Purpose of a call. Budgets and usage are separated by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Purpose {
    /// Answering a person.
    Chat,
    /// Summarising a conversation.
    Summary,
    /// Extracting facts.
    Extraction,
    /// Transcribing a voice note.
    Transcription,
    /// Computing embeddings.
    Embedding,
    /// Reviewing a change to a skill.
    Review,
    /// Reflecting on a day, a week or a month.
    Reflection,
    /// Checking the owner's recurring list.
    Heartbeat,
    /// Running a scheduled task of a person.
    Task,
}

impl Purpose {
    /// Stored name of the purpose.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns true if the program asked for an answer of a certain form.
    fn has_form(self) -> bool {
        matches!(self, Self::Summary | Self::Extraction | Self::Review | Self::Reflection)
    }

    /// Returns true if no person waits for the result.
    pub fn is_background(self) -> bool {
        !matches!(self, Self::Chat | Self::Transcription)
    }
}

/// Format of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerFormat {
    /// Text.
    #[default]
    Text,
    /// One JSON object with this JSON Schema. Servers that can are told to write nothing else.
    Json(&'static str),
}

/// Role of a message's author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The program's instructions.
    System,
    /// A person, or text that the program presents to the model.
    User,
    /// The model.
    Assistant,
    /// Results of tool calls.
    Tool,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestPart {
    /// Text.
    Text(Arc<str>),
    /// Picture.
    Image {
        /// MIME type, such as `image/jpeg`.
        mime: Arc<str>,
        /// Image data.
        bytes: Arc<[u8]>,
    },
    /// Tool call made by the model.
    Call {
        /// The provider's id of the call.
        id: Arc<str>,
        /// Name of the tool.
        name: Arc<str>,
        /// Arguments as JSON text.
        arguments: Arc<str>,
        /// Data to send back unchanged to the provider with the call (thought signatures), or
        /// empty.
        extra: Arc<str>,
    },
    /// Result of a tool call.
    Result {
        /// Id of the call.
        id: Arc<str>,
        /// Name of the tool.
        name: Arc<str>,
        /// Text of the result.
        text: Arc<str>,
    },
}

impl RequestPart {
    /// Estimates the number of tokens, with a flat rate for a picture.
    fn estimate_tokens(&self) -> u64 {
        const IMAGE: u64 = 1_500;
        const FRAME: u64 = 4;
        match self {
            Self::Text(text) | Self::Result { text, .. } => crate::text::estimate_tokens(text) + FRAME,
            Self::Call { arguments, extra, .. } => {
                crate::text::estimate_tokens(arguments) + crate::text::estimate_tokens(extra) + FRAME
            }
            Self::Image { .. } => IMAGE,
        }
    }
}

/// A message of one role.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    role: Role,
    parts: Vec<Labelled<RequestPart>>,
    label: Label,
    cache: bool,
    tokens: u64,
}

impl Message {
    /// Creates an empty message of `role`.
    pub fn new(role: Role) -> Self {
        Self { role, parts: Vec::new(), label: Label::neutral(), cache: false, tokens: 0 }
    }

    /// Creates a message of one text.
    pub fn of(role: Role, text: Text) -> Self {
        let mut message = Self::new(role);
        message.push_text(text);
        message
    }

    /// Adds a part.
    pub fn push(&mut self, part: Labelled<RequestPart>) {
        self.label.absorb(part.label());
        self.tokens += part.open().0.estimate_tokens();
        self.parts.push(part);
    }

    /// Adds text.
    pub fn push_text(&mut self, text: Text) {
        let (value, label, scope) = text.open();
        self.push(Labelled::new(RequestPart::Text(Arc::clone(value)), label.clone(), scope));
    }

    /// Marks the message as the end of a prefix that a provider's prompt cache may keep.
    #[must_use]
    pub fn cached(mut self) -> Self {
        self.cache = true;
        self
    }

    /// Role of the author.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Parts in order.
    pub fn parts(&self) -> &[Labelled<RequestPart>] {
        &self.parts
    }

    /// Returns true if a cache mark follows this message.
    pub fn ends_cached_stretch(&self) -> bool {
        self.cache
    }

    /// Estimated number of tokens.
    pub fn estimate_tokens(&self) -> u64 {
        self.tokens
    }

    /// Join of the labels of its parts.
    pub fn label(&self) -> &Label {
        &self.label
    }
}

/// A tool as described to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Name of the tool.
    pub name: String,
    /// Description of its purpose and use.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: serde_json::Value,
}

/// Complete input of one call.
#[derive(Debug, Clone)]
pub struct Request {
    scope: Scope,
    purpose: Purpose,
    messages: Vec<Arc<Message>>,
    tools: Arc<[ToolSpec]>,
    label: Label,
    format: AnswerFormat,
    max_output: Option<u64>,
    is_wider: bool,
    tokens: u64,
}

impl Request {
    /// Creates an empty request for one scope.
    pub fn new(scope: Scope, purpose: Purpose) -> Self {
        Self {
            scope,
            purpose,
            messages: Vec::new(),
            tools: Arc::from([]),
            label: Label::neutral(),
            format: AnswerFormat::Text,
            max_output: None,
            is_wider: false,
            tokens: 0,
        }
    }

    /// Adds a message of one text.
    ///
    /// # Errors
    /// If the text belongs to another scope.
    pub fn text(&mut self, role: Role, text: Text) -> Result<(), WrongScope> {
        self.push(Arc::new(Message::of(role, text)))
    }

    /// Adds a message.
    ///
    /// # Errors
    /// If a part of it belongs to another scope; then nothing is added.
    pub fn push(&mut self, message: Arc<Message>) -> Result<(), WrongScope> {
        for part in message.parts() {
            if !part.scope().fits(self.scope) {
                return Err(WrongScope { found: part.scope(), prompt: self.scope });
            }
        }
        self.label.absorb(message.label());
        self.tokens += message.estimate_tokens();
        self.messages.push(message);
        Ok(())
    }

    /// Counts these sources as those of the person, who vouched for them in this conversation.
    #[must_use]
    pub fn with_vouched(mut self, vouched: &BTreeSet<Source>) -> Self {
        self.label = self.label.vouched_for(vouched);
        self
    }

    /// Offers tools.
    #[must_use]
    pub fn with_tools(mut self, tools: Arc<[ToolSpec]>) -> Self {
        self.tools = tools;
        self
    }

    /// Asks for an answer of that format.
    #[must_use]
    pub fn with_format(mut self, format: AnswerFormat) -> Self {
        self.format = format;
        self
    }

    /// Limits the answer to that many tokens, if this is less than the model's own limit.
    #[must_use]
    pub fn with_max_output(mut self, tokens: u64) -> Self {
        self.max_output = Some(tokens);
        self
    }

    /// Scope that the prompt is built for.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Purpose of the call.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// Messages in order.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// All parts of the messages, in order.
    pub(super) fn parts(&self) -> impl Iterator<Item = &RequestPart> {
        self.messages.iter().flat_map(|message| message.parts()).map(|part| part.open().0)
    }

    /// Offered tools.
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// Join of all labels, as far as the person did not vouch for a source; also the reply's label.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// Format of the answer.
    pub fn format(&self) -> AnswerFormat {
        self.format
    }

    /// Allows an answer of twice the usual length.
    #[must_use]
    pub fn with_wider_output(mut self) -> Self {
        self.is_wider = true;
        self
    }

    /// Maximum number of tokens in the answer, for a model with that limit.
    pub fn output_limit(&self, of_model: u64) -> u64 {
        let most = if self.is_wider { of_model.saturating_mul(2) } else { of_model };
        self.max_output.map_or(most, |asked| asked.min(most))
    }

    /// Estimated number of tokens in the request.
    pub fn estimate_tokens(&self) -> u64 {
        self.tokens + guess_tools(&self.tools)
    }
}

/// Estimated number of tokens in the descriptions of tools.
pub fn guess_tools(tools: &[ToolSpec]) -> u64 {
    let one = |tool: &ToolSpec| {
        crate::text::estimate_tokens(&tool.description) + crate::text::estimate_tokens(&tool.schema.to_string())
    };
    tools.iter().map(one).sum()
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    text: Text,
    calls: Vec<Labelled<ToolCall>>,
    /// The offered tool that the answer calls in its text only, instead of as a call.
    pub written_call: Option<String>,
    /// Stop reason.
    pub stop: Stop,
    /// Token counts of the provider.
    pub usage: Usage,
    /// The model that answered, as `provider/name`.
    pub model: String,
}

impl Reply {
    /// Creates the answer to `request`, with the request's label and scope. Thinking is left out,
    /// unless an answer of a certain form consists of nothing else.
    pub fn to(request: &Request, text: &str, calls: Vec<ToolCall>, stop: Stop, usage: Usage, model: String) -> Self {
        let (label, scope) = (request.label(), request.scope());
        let offered = request.tools().iter().map(|tool| tool.name.as_str());
        let written_call = if calls.is_empty() { written_call(text, offered) } else { None };
        let shown = without_thinking(text);
        let text = if request.purpose().has_form() && shown.trim().is_empty() { text } else { &shown };
        Self {
            text: Labelled::new(Arc::from(text), label.clone(), scope),
            calls: calls.into_iter().map(|call| Labelled::new(call, label.clone(), scope)).collect(),
            written_call,
            stop,
            usage,
            model,
        }
    }

    /// Returns true if it says nothing and calls nothing.
    pub fn is_blank(&self) -> bool {
        self.calls.is_empty() && self.text.open().0.trim().is_empty()
    }

    /// Returns the reply without what it says.
    #[must_use]
    pub fn without_text(self) -> Self {
        let (_, label, scope) = self.text.open();
        Self { text: Labelled::new(Arc::from(""), label.clone(), scope), ..self }
    }

    /// Text of the answer; may be empty if there are tool calls.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// Tool calls.
    pub fn calls(&self) -> &[Labelled<ToolCall>] {
        &self.calls
    }
}

/// A tool call.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call, or one of ours if the provider gives none.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments as JSON text, exactly as the model wrote them; possibly invalid JSON.
    pub arguments: String,
    /// Data to send back unchanged to the provider with the call (thought signatures), or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub extra: String,
}

/// Reason why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The answer is finished.
    End,
    /// The model calls tools.
    Tools,
    /// The answer reached its token limit.
    Length,
    /// The server ended the answer for a reason that is no good end, such as an error of its own.
    Broken,
}

/// Token counts of the provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// All input, cached or not.
    pub input: u64,
    /// Part of the input that came from the provider's cache.
    pub cached: u64,
    /// Output.
    pub output: u64,
}
