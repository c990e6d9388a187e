//! `schedule`: makes the assistant perform a recurring task, at times of a cron expression in the
//! configured zone.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::schedule_tools::{self, ScheduleSpec};
use super::{AuthorizableCall, Effects, Egress, Output, ScheduleStore, Tool, ToolError, argument};
use crate::model::ToolSpec;
use crate::store::ReminderKind;
use crate::time::Cron;
use crate::wording::reminder as says;

/// The `schedule` tool.
pub struct ScheduleTask(ScheduleStore);

impl ScheduleTask {
    /// Creates the tool over these lists.
    pub fn new(later: ScheduleStore) -> Self {
        Self(later)
    }

    fn read(&self, arguments: &Value) -> Result<(String, Cron), ToolError> {
        let cron = argument::text(arguments, "cron");
        Ok((schedule_tools::words(arguments, "task")?, self.0.cron(cron)?))
    }
}

#[async_trait]
impl Tool for ScheduleTask {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "schedule".to_owned(),
            description: says::SCHEDULE.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "cron": { "type": "string", "description": says::SCHEDULE_CRON },
                    "task": { "type": "string", "description": says::SCHEDULE_TASK }
                },
                "required": ["cron", "task"]
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
        self.read(arguments).map(drop)
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (task, cron) = self.read(call.arguments)?;
        self.0.add_entry(call, ReminderKind::Task, task, ScheduleSpec::Again(cron)).await
    }
}
