//! What the model may call, and the rules that hold for every tool.
//!
//! A tool is told where its arguments came from and answers with labelled text. The toolbox keeps the rules in one place: an
//! unknown tool, bad arguments and a failure are answered in a sentence that the model can act on; what is too long is cut and
//! says so; and in a tainted turn nothing reaches out to an address that no person typed ([`Reach`]).

pub mod recall;
pub mod web;
pub mod web_fetch;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::id::{ConversationId, MessageId};
use crate::model::ToolSpec;
use crate::store::Node;
use crate::trust::{Label, Labelled, Scope, Text};

/// The most characters of a result that go to a model.
pub const MAX_RESULT: usize = 24_000;

/// Something that a model may call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// How it is described to a model.
    fn spec(&self) -> ToolSpec;

    /// Whether a call that was cut off may simply be made again.
    fn repeatable(&self) -> bool;

    /// Where a call with these arguments would send something.
    fn reach(&self, arguments: &Value) -> Reach;

    /// Makes the call.
    async fn run(&self, call: &Call<'_>) -> Result<Output, ToolError>;
}

/// Where a call sends something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Nowhere outside.
    Inside,
    /// To this web address.
    Address(String),
}

/// One call.
#[derive(Debug)]
pub struct Call<'a> {
    /// The arguments.
    pub arguments: &'a Value,
    /// Whose turn it is.
    pub scope: Scope,
    /// In which conversation.
    pub conversation: ConversationId,
    /// The first message that the turn answers: what is to be recalled is older.
    pub before: MessageId,
    /// The texts that persons typed in this conversation so far.
    pub typed: &'a [Text],
    /// The join of all that the turn has read so far: where the arguments came from.
    pub label: &'a Label,
}

/// What a call gave: the text, and where it came from besides the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// What the model gets to read.
    pub text: String,
    /// Where it came from.
    pub label: Label,
    /// What in the journal its words grew from.
    pub from: Vec<Node>,
}

/// Why a call gave nothing. The text goes to the model, in our own words.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum ToolError {
    /// The arguments make no sense.
    #[error("{0}")]
    Arguments(String),
    /// It did not work; another try may.
    #[error("{0}")]
    Failed(String),
    /// A rule forbids it.
    #[error("{0}")]
    Refused(String),
}

/// The tools of a conversation.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|tool| tool.spec().name)).finish()
    }
}

impl Toolbox {
    /// A box with these tools.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools }
    }

    /// How the tools are described to a model.
    pub fn specs(&self) -> Arc<[ToolSpec]> {
        self.tools.iter().map(|tool| tool.spec()).collect()
    }

    /// Whether a call of that tool that was cut off may simply be made again.
    pub fn repeatable(&self, name: &str) -> bool {
        self.find(name).is_none_or(|tool| tool.repeatable())
    }

    /// Makes a call under the rules. Whatever happens, there is a text for the model: its label is the join of where the
    /// arguments and the result came from. With it comes what in the journal its words grew from.
    pub async fn run(&self, name: &str, arguments: &str, call: Call<'_>) -> (Text, Vec<Node>) {
        let label = call.label.clone();
        let scope = call.scope;
        let output = self.try_run(name, arguments, call).await.unwrap_or_else(|error| Output {
            text: error.to_string(),
            label: Label::join_of([]),
            from: Vec::new(),
        });
        let text = crate::text::shorten(&output.text, MAX_RESULT);
        (Labelled::new(Arc::from(text), label.join(&output.label), scope), output.from)
    }

    async fn try_run(&self, name: &str, arguments: &str, call: Call<'_>) -> Result<Output, ToolError> {
        let tool = self.find(name).ok_or_else(|| ToolError::Arguments(crate::wording::tool::unknown(name)))?;
        let arguments = parse_arguments(arguments)?;
        let call = Call { arguments: &arguments, ..call };
        if let Reach::Address(address) = tool.reach(&arguments)
            && !call.label.is_trusted()
            && !was_typed(&address, call.typed)
        {
            return Err(ToolError::Refused(crate::wording::tool::way_out_refused(&address)));
        }
        tool.run(&call).await
    }

    fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }
}

fn parse_arguments(text: &str) -> Result<Value, ToolError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(map)) => Ok(Value::Object(map)),
        _ => Err(ToolError::Arguments(crate::wording::tool::BAD_ARGUMENTS.to_owned())),
    }
}

/// Whether a person typed that address in this conversation.
fn was_typed(address: &str, typed: &[Text]) -> bool {
    let Ok(wanted) = web::parse(address) else { return false };
    typed
        .iter()
        .filter(|text| text.label().is_trusted())
        .flat_map(|text| web::addresses_in(text.open().0))
        .any(|known| web::same_address(&known, &wanted))
}
