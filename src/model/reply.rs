//! What a model answers. The only way to build a reply takes the request, so that its label is the
//! join of all that went in.

use std::sync::Arc;

use super::request::Request;
use crate::trust::{Labelled, Text};

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    text: Text,
    calls: Vec<Labelled<ToolCall>>,
    /// Why the model stopped.
    pub stop: Stop,
    /// What the provider counted.
    pub usage: Usage,
    /// The model that answered, as `provider/name`.
    pub model: String,
}

impl Reply {
    /// The answer to `request`; it takes the request's label and scope.
    pub fn to(request: &Request, text: &str, calls: Vec<ToolCall>, stop: Stop, usage: Usage, model: String) -> Self {
        let (label, scope) = (request.label(), request.scope());
        Self {
            text: Labelled::new(Arc::from(text), label.clone(), scope),
            calls: calls.into_iter().map(|call| Labelled::new(call, label.clone(), scope)).collect(),
            stop,
            usage,
            model,
        }
    }

    /// What it says; may be empty when it calls tools.
    pub fn text(&self) -> &Text {
        &self.text
    }

    /// The tools it calls.
    pub fn calls(&self) -> &[Labelled<ToolCall>] {
        &self.calls
    }
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call, or one of ours where it gives none.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text, just as the model wrote them; possibly not valid JSON.
    pub arguments: String,
    /// What the provider wants back unchanged with the call (thought signatures), or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub extra: String,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// It had said all.
    End,
    /// It wants tools.
    Tools,
    /// The limit on the answer was reached.
    Length,
}

/// What the provider counted, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// All input, cached or not.
    pub input: u64,
    /// The part of the input that came from the provider's cache.
    pub cached: u64,
    /// Output.
    pub output: u64,
}
