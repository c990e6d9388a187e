//! An outside tool, callable by a model.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::describe::source;
use super::link::McpError;
use super::register::Accepted;
use super::result;
use super::server::{CallRefusal, Server};
use crate::model::ToolSpec;
use crate::tool::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError};
use crate::wording::outside as says;

/// An accepted tool of an MCP server.
pub struct OutsideTool {
    server: Arc<Server>,
    accepted: Accepted,
}

impl OutsideTool {
    /// Creates the accepted tool, called on this server.
    pub fn new(server: Arc<Server>, accepted: Accepted) -> Self {
        Self { server, accepted }
    }

    /// Returns the error in our own words.
    fn error(&self, no: &CallRefusal) -> ToolError {
        let name = &self.accepted.spec.name;
        match no {
            CallRefusal::Away => ToolError::Failed(says::unavailable(name)),
            CallRefusal::Changed => ToolError::Refused(says::changed(name)),
            CallRefusal::Trouble(McpError::Silent(limit)) => ToolError::Failed(says::no_answer(name, limit.as_secs())),
            CallRefusal::Trouble(_) => ToolError::Failed(says::broke_off(name)),
        }
    }

    fn output(&self, text: String) -> Output {
        Output { text, label: source(&self.accepted.server, &self.accepted.name), from: Vec::new() }
    }
}

#[async_trait]
impl Tool for OutsideTool {
    fn spec(&self) -> ToolSpec {
        self.accepted.spec.clone()
    }

    /// The tool's effects are unknown.
    fn repeatable(&self) -> bool {
        false
    }

    /// Tools that the owner trusts as read-only count as reading; all others may do anything.
    fn effects(&self) -> Effects {
        if self.server.trusts_to_read(&self.accepted.name) { Effects::READS } else { Effects::LEAVES }
    }

    fn reach(&self, _: &Value) -> Egress {
        if self.server.trusts_to_read(&self.accepted.name) {
            return Egress::Inside;
        }
        Egress::Outside { server: self.accepted.server.clone(), tool: self.accepted.name.clone() }
    }

    fn judge(&self, _: &Value) -> Result<(), ToolError> {
        self.server.judge(&self.accepted).map_err(|no| self.error(&no))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let Value::Object(arguments) = call.arguments else {
            return Err(ToolError::Arguments(crate::wording::tool::BAD_ARGUMENTS.to_owned()));
        };
        let name = &self.accepted.spec.name;
        match self.server.call(&self.accepted, arguments.clone()).await {
            Ok(given) => Ok(self.output(result::framed(name, &given))),
            Err(CallRefusal::Trouble(McpError::Objects(words))) => Ok(self.output(result::objection(name, &words))),
            Err(no) => Err(self.error(&no)),
        }
    }
}
