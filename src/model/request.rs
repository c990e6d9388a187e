//! What a model is asked: labelled parts in order, and the tools it may call.

use std::sync::Arc;

use crate::trust::{Label, Labelled, Scope, Text, WrongScope};

/// What a call is for. Budgets and usage are kept apart by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// Answering a person.
    Chat,
    /// Writing the end of a conversation down.
    Summary,
    /// Taking down facts.
    Extraction,
    /// Turning a person's voice note into words.
    Transcription,
    /// Computing embeddings.
    Embedding,
    /// Reviewing a change to a skill.
    Review,
    /// Looking back on a day, a week or a month.
    Reflection,
    /// Seeing to what the owner wants looked at again and again.
    Heartbeat,
    /// Doing what somebody wanted done at a time.
    Task,
}

impl Purpose {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Summary => "summary",
            Self::Extraction => "extraction",
            Self::Transcription => "transcription",
            Self::Embedding => "embedding",
            Self::Review => "review",
            Self::Reflection => "reflection",
            Self::Heartbeat => "heartbeat",
            Self::Task => "task",
        }
    }

    /// Whether nobody waits for it.
    pub fn is_background(self) -> bool {
        !matches!(self, Self::Chat | Self::Transcription)
    }
}

/// Who speaks in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The program's instructions.
    System,
    /// A person, or text that the program puts before the model.
    User,
    /// The model.
    Assistant,
    /// The results of tool calls.
    Tool,
}

/// One part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestPart {
    /// Words.
    Text(Arc<str>),
    /// A picture.
    Image {
        /// Its type, as `image/jpeg`.
        mime: Arc<str>,
        /// Its bytes.
        bytes: Arc<[u8]>,
    },
    /// A tool call that the model made.
    Call {
        /// The provider's id of the call.
        id: Arc<str>,
        /// The tool's name.
        name: Arc<str>,
        /// The arguments as JSON text.
        arguments: Arc<str>,
        /// What the provider wants back unchanged with the call (thought signatures), or empty.
        extra: Arc<str>,
    },
    /// What a tool call gave.
    Result {
        /// The call's id.
        id: Arc<str>,
        /// The tool's name.
        name: Arc<str>,
        /// What it gave.
        text: Arc<str>,
    },
}

impl RequestPart {
    /// How many tokens it is at a guess, a picture at a flat rate.
    fn estimate_tokens(&self) -> u64 {
        const IMAGE: u64 = 1_500;
        const FRAME: u64 = 4;
        match self {
            Self::Text(text) | Self::Result { text, .. } => crate::text::estimate_tokens(text) + FRAME,
            Self::Call { arguments, .. } => crate::text::estimate_tokens(arguments) + FRAME,
            Self::Image { .. } => IMAGE,
        }
    }
}

/// A message of one speaker.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    role: Role,
    parts: Vec<Labelled<RequestPart>>,
    label: Label,
    cache: bool,
    tokens: u64,
}

impl Message {
    /// An empty message of `role`.
    pub fn new(role: Role) -> Self {
        Self { role, parts: Vec::new(), label: Label::neutral(), cache: false, tokens: 0 }
    }

    /// A message of one text.
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

    /// Adds words.
    pub fn push_text(&mut self, text: Text) {
        let (value, label, scope) = text.open();
        self.push(Labelled::new(RequestPart::Text(Arc::clone(value)), label.clone(), scope));
    }

    /// Marks the message as the end of a stretch that a provider's prompt cache may keep.
    #[must_use]
    pub fn cached(mut self) -> Self {
        self.cache = true;
        self
    }

    /// Who speaks.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The parts in order.
    pub fn parts(&self) -> &[Labelled<RequestPart>] {
        &self.parts
    }

    /// Whether a cache mark stands after this message.
    pub fn ends_cached_stretch(&self) -> bool {
        self.cache
    }

    /// How many tokens it is at a guess.
    pub fn estimate_tokens(&self) -> u64 {
        self.tokens
    }

    /// The join of its parts' labels.
    pub fn label(&self) -> &Label {
        &self.label
    }
}

/// A tool as it is described to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub schema: serde_json::Value,
}

/// Everything that one call sends.
#[derive(Debug, Clone)]
pub struct Request {
    scope: Scope,
    purpose: Purpose,
    messages: Vec<Arc<Message>>,
    tools: Arc<[ToolSpec]>,
    label: Label,
    max_output: Option<u64>,
    tokens: u64,
}

impl Request {
    /// An empty request for one scope.
    pub fn new(scope: Scope, purpose: Purpose) -> Self {
        Self {
            scope,
            purpose,
            messages: Vec::new(),
            tools: Arc::from([]),
            label: Label::neutral(),
            max_output: None,
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

    /// Offers tools.
    #[must_use]
    pub fn with_tools(mut self, tools: Arc<[ToolSpec]>) -> Self {
        self.tools = tools;
        self
    }

    /// Limits the answer to so many tokens, where that is less than the model's own limit.
    #[must_use]
    pub fn with_max_output(mut self, tokens: u64) -> Self {
        self.max_output = Some(tokens);
        self
    }

    /// For whom the prompt is built.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// What the call is for.
    pub fn purpose(&self) -> Purpose {
        self.purpose
    }

    /// The messages in order.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The tools on offer.
    pub fn tools(&self) -> &[ToolSpec] {
        &self.tools
    }

    /// The join of all labels: the reply's label.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// The limit on the answer, if the caller set one.
    pub fn max_output(&self) -> Option<u64> {
        self.max_output
    }

    /// How many tokens the request is at a guess.
    pub fn estimate_tokens(&self) -> u64 {
        self.tokens + guess_tools(&self.tools)
    }
}

/// How many tokens the descriptions of tools are at a guess.
pub fn guess_tools(tools: &[ToolSpec]) -> u64 {
    let one = |tool: &ToolSpec| {
        crate::text::estimate_tokens(&tool.description) + crate::text::estimate_tokens(&tool.schema.to_string())
    };
    tools.iter().map(one).sum()
}
