//! The work behind an answer: the tools that it used and what they gave, the models, what they
//! cost, and how long it took.

use std::sync::Arc;

use serde_json::{Value, json};

use super::answer::{ShownLabel, amount, sources};
use crate::store::{Db, SpendLine, StepKind, TurnRow};
use crate::text::{one_line, shorten};
use crate::time::Timestamp;
use crate::trust::{Labelled, Text};

/// Maximum number of characters of what a tool was asked, and of what it gave, for a program.
const MAX_TOOL_TEXT: usize = 2_000;

/// A turn with its tools and its cost.
#[derive(Debug, Clone)]
pub struct TurnWork {
    /// The turn.
    pub turn: TurnRow,
    /// End; `None` while it goes on.
    pub ended_at: Option<Timestamp>,
    /// Tool calls, in order.
    pub tools: Vec<ToolCallItem>,
    /// Model calls, by purpose and model.
    pub models: Vec<SpendLine>,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct ToolCallItem {
    /// Name as the model spelled it; it may be any text.
    pub tool: String,
    /// Arguments, as JSON, which may repeat all that the turn had read.
    pub arguments: Text,
    /// Result of the tool.
    pub result: Text,
    /// False if it was refused, or put to the person instead.
    pub is_made: bool,
}

impl TurnWork {
    /// Reads the work of a turn.
    pub(super) fn read(db: Db<'_>, turn: TurnRow) -> anyhow::Result<Self> {
        let steps = db.turns().steps(turn.id)?.into_iter().filter(|step| step.kind == StepKind::Tool);
        let tools = steps.map(|step| ToolCallItem {
            tool: step.tool,
            arguments: Labelled::new(arguments(&step.call).into(), turn.label.clone(), turn.scope),
            result: step.text,
            is_made: step.made,
        });
        let (tools, ended_at) = (tools.collect(), db.turns().ended_at(turn.id)?);
        let models = db.spending().spent_in_turn(turn.id)?;
        Ok(Self { turn, ended_at, tools, models })
    }

    /// Seconds from its beginning to its end, waiting included.
    pub fn seconds(&self) -> Option<f64> {
        self.ended_at.map(|end| end.since(self.turn.claimed_at).as_secs_f64())
    }

    /// Money in micro-units.
    pub fn micros(&self) -> u64 {
        self.models.iter().map(|line| line.micros).sum()
    }

    /// The fields that `conversations show` promises of a turn.
    pub(super) fn json(&self, shown: &mut ShownLabel) -> Value {
        let tools = self.tools.iter().map(|tool| {
            let mut text = |text: &Text| shorten(shown.words::<Arc<str>>(text), MAX_TOOL_TEXT);
            json!({
                "tool": tool.tool,
                "arguments": text(&tool.arguments),
                "result": text(&tool.result),
                "made": tool.is_made,
                "sources": sources(tool.result.label()),
            })
        });
        let tools: Value = tools.collect();
        let models = self.models.iter().map(|line| {
            json!({
                "purpose": line.purpose,
                "model": line.model,
                "calls": line.calls,
                "input_tokens": line.input,
                "cached_tokens": line.cached,
                "output_tokens": line.output,
                "cost": if line.priced { amount(line.micros) } else { Value::Null },
            })
        });
        json!({
            "id": self.turn.id,
            "state": self.turn.state.as_str(),
            "began_at": self.turn.claimed_at.rfc3339(),
            "ended_at": self.ended_at.map(Timestamp::rfc3339),
            "tainted": !self.turn.label.is_trusted(),
            "sources": sources(&self.turn.label),
            "tools": tools,
            "models": models.collect::<Value>(),
        })
    }
}

/// Takes the arguments out of a stored call.
fn arguments(call: &str) -> String {
    let stored: Option<Value> = serde_json::from_str(call).ok();
    let arguments = stored.as_ref().and_then(|call| call.get("arguments"));
    one_line(arguments.and_then(Value::as_str).unwrap_or_default())
}
