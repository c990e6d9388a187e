//! `memory_save`: adds a line to the note of the day.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::knowledge_tools::{KnowledgeStore, text_of};
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError};
use crate::model::ToolSpec;
use crate::wording::knowledge as says;

/// The `memory_save` tool.
pub struct MemorySave(KnowledgeStore);

impl MemorySave {
    /// Creates the tool.
    pub fn new(keeping: KnowledgeStore) -> Self {
        Self(keeping)
    }
}

#[async_trait]
impl Tool for MemorySave {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "memory_save".to_owned(),
            description: says::MEMORY_SAVE.to_owned(),
            schema: json!({
                "type": "object",
                "properties": { "content": { "type": "string" } },
                "required": ["content"]
            }),
        }
    }

    /// The same line is not added twice.
    fn repeatable(&self) -> bool {
        true
    }

    fn effects(&self) -> Effects {
        Effects::WRITES
    }

    fn reach(&self, _: &Value) -> Egress {
        Egress::Inside
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let words = text_of(call, "content");
        let origin = self.0.origin(call, "save").await?;
        let kept = self.0.tree.files().save_today(&origin, words).await;
        self.0.answer(call, kept, words).await
    }
}
