//! What a call gave, or why it failed.

use crate::memory;
use crate::store::Node;
use crate::trust::{Label, Text};

/// Word for the failure of a call that a rule forbids.
pub const REFUSED: &str = "refused";

/// Result of a call, with its origins besides the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Text for the model.
    pub text: String,
    /// Label.
    pub label: Label,
    /// Origins in the journal.
    pub from: Vec<Node>,
}

/// Result of a call, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// Text for the model.
    pub text: Text,
    /// Origins in the journal.
    pub from: Vec<Node>,
    /// True if it brought anything from outside.
    pub from_outside: bool,
    /// Our own word for the failure, if any.
    pub failed: Option<&'static str>,
}

/// Reason for a failed call. The text goes to the model, in our own words.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum ToolError {
    /// Invalid arguments.
    #[error("{0}")]
    Arguments(String),
    /// A failure; a retry may succeed.
    #[error("{0}")]
    Failed(String),
    /// The other side could not be reached; a retry may succeed.
    #[error("{0}")]
    Unreachable(String),
    /// The other side took too long; a retry may succeed.
    #[error("{0}")]
    TimedOut(String),
    /// Forbidden by a rule.
    #[error("{0}")]
    Refused(String),
}

impl ToolError {
    /// Returns our own word for the error, which contains nothing from outside.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Arguments(_) => "bad arguments",
            Self::Failed(_) => memory::FAILED_CALL,
            Self::Unreachable(_) => memory::UNREACHABLE,
            Self::TimedOut(_) => memory::TIMED_OUT,
            Self::Refused(_) => REFUSED,
        }
    }
}
