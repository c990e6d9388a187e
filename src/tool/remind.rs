//! `remind`: tells a person something at a later time, in their own words and without asking a
//! model.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{AuthorizableCall, Effects, Egress, Output, ScheduleStore, Tool, ToolError, argument, schedule_tools};
use crate::model::ToolSpec;
use crate::store::ReminderKind;
use crate::wording::reminder as says;

/// The `remind` tool.
pub struct Remind(ScheduleStore);

impl Remind {
    /// Creates the tool over these lists.
    pub fn new(later: ScheduleStore) -> Self {
        Self(later)
    }
}

fn when(arguments: &Value) -> &str {
    argument::text(arguments, "when")
}

#[async_trait]
impl Tool for Remind {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "remind".to_owned(),
            description: says::REMIND.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "when": { "type": "string", "description": says::REMIND_WHEN },
                    "text": { "type": "string" }
                },
                "required": ["when", "text"]
            }),
        }
    }

    /// A repeated call finds its own entry.
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
        schedule_tools::words(arguments, "text")?;
        self.0.plan_now(when(arguments)).map(drop)
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let words = schedule_tools::words(call.arguments, "text")?;
        let plan = self.0.plan_in(call, when(call.arguments)).await?;
        self.0.add_entry(call, ReminderKind::Reminder, words, plan).await
    }
}
