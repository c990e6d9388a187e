//! `list_scheduled` and `cancel_scheduled`: access to the person's own list only.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{AuthorizableCall, Effects, Egress, Output, ScheduleStore, Tool, ToolError};
use crate::id::ReminderId;
use crate::model::ToolSpec;
use crate::store::ReminderRow;
use crate::text::{one_line, shorten};
use crate::wording::reminder as says;

/// The maximum number of characters displayed of one entry.
const SHOWN: usize = 300;

/// The `list_scheduled` tool.
pub struct ListScheduled(ScheduleStore);

impl ListScheduled {
    /// Creates the tool over these lists.
    pub fn new(later: ScheduleStore) -> Self {
        Self(later)
    }

    fn line(&self, row: &ReminderRow) -> String {
        let (words, label, _) = row.text.open();
        let sources = if label.is_trusted() { String::new() } else { label.encode() };
        says::line(row.id, row.kind.as_str(), &self.0.when(row), &sources, &shorten(&one_line(words), SHOWN))
    }
}

#[async_trait]
impl Tool for ListScheduled {
    fn spec(&self) -> ToolSpec {
        let schema = json!({ "type": "object", "properties": {} });
        ToolSpec { name: "list_scheduled".to_owned(), description: says::LIST.to_owned(), schema }
    }

    fn repeatable(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::READS
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Inside
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (rows, mut label) = (self.0.list(call).await?, call.label.clone());
        rows.iter().for_each(|row| label.absorb(row.text.label()));
        let lines: Vec<String> = rows.iter().map(|row| self.line(row)).collect();
        let text = if lines.is_empty() { says::NOTHING_WAITS.to_owned() } else { lines.join("\n") };
        Ok(Output { text, label, from: Vec::new() })
    }
}

/// The `cancel_scheduled` tool.
pub struct CancelScheduled(ScheduleStore);

impl CancelScheduled {
    /// Creates the tool over these lists.
    pub fn new(later: ScheduleStore) -> Self {
        Self(later)
    }
}

/// Some models write numbers as text.
fn id(arguments: &Value) -> Result<ReminderId, ToolError> {
    let id = arguments.get("id");
    let id = id.and_then(|id| id.as_i64().or_else(|| id.as_str()?.trim().parse().ok()));
    id.map(ReminderId).ok_or_else(|| ToolError::Arguments(says::WHICH.to_owned()))
}

#[async_trait]
impl Tool for CancelScheduled {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "cancel_scheduled".to_owned(),
            description: says::CANCEL.to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "id": { "type": "integer" } },
                "required": ["id"]
            }),
        }
    }

    fn repeatable(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::SCHEDULES
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Later
    }

    fn judge(&self, arguments: &Value) -> Result<(), ToolError> {
        id(arguments).map(drop)
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        self.0.cancel(call, id(call.arguments)?).await?;
        Ok(Output { text: says::CANCELLED.to_owned(), label: call.label.clone(), from: Vec::new() })
    }
}
