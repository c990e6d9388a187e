//! Answer of a model. The only constructor takes the request, so that the reply's label is the join
//! of all that went in.

use std::sync::Arc;

use super::request::Request;
use crate::trust::{Labelled, Text};

/// A complete answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    text: Text,
    calls: Vec<Labelled<ToolCall>>,
    /// Stop reason.
    pub stop: Stop,
    /// Token counts of the provider.
    pub usage: Usage,
    /// The model that answered, as `provider/name`.
    pub model: String,
}

impl Reply {
    /// Creates the answer to `request`, with the request's label and scope.
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
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
