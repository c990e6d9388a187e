//! `remember`: stores a note under a title, with its line in the index.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::knowledge_tools::{KnowledgeStore, text_of};
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError};
use crate::memory::{NoteDraft, note};
use crate::model::ToolSpec;
use crate::wording::knowledge as says;

/// The `remember` tool.
pub struct Remember(KnowledgeStore);

impl Remember {
    /// Creates the tool.
    pub fn new(keeping: KnowledgeStore) -> Self {
        Self(keeping)
    }
}

#[async_trait]
impl Tool for Remember {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "remember".to_owned(),
            description: says::REMEMBER.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "title": { "type": "string" },
                    "content": { "type": "string" },
                    "kind": { "type": "string", "enum": note::KINDS }
                },
                "required": ["title", "content"]
            }),
        }
    }

    /// Storing the same note twice results in one note.
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
        let part = |name| text_of(call, name).trim().to_owned();
        let note = NoteDraft { title: part("title"), content: part("content"), kind: part("kind") };
        let origin = self.0.origin(call, "remember").await?;
        let kept = self.0.tree.notes().remember(&origin, &note).await;
        self.0.answer(call, kept, &format!("{}\n\n{}", note.title, note.content)).await
    }
}
