//! `memory_section`: reads, extends or replaces one section of a Markdown file.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::knowledge_tools::{KnowledgeStore, no_skill, not_given, shown_path, text_of};
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError};
use crate::memory::Section;
use crate::model::ToolSpec;
use crate::wording::knowledge as says;

/// The `memory_section` tool.
pub struct MemorySection(KnowledgeStore);

impl MemorySection {
    /// Creates the tool.
    pub fn new(keeping: KnowledgeStore) -> Self {
        Self(keeping)
    }

    async fn read(&self, call: &AuthorizableCall<'_>, path: &str, section: &str) -> Result<Output, ToolError> {
        let party = self.0.party(call).await?;
        let read =
            self.0.tree.files().read_section(&party, path, section).await.map_err(super::knowledge_tools::failed)?;
        let found = read.map_err(not_given)?;
        let (text, from) = found.ok_or_else(|| ToolError::Arguments(says::NO_SUCH_SECTION.to_owned()))?;
        let (words, label, _) = text.open();
        Ok(Output { text: words.to_string(), label: label.clone(), from })
    }
}

#[async_trait]
impl Tool for MemorySection {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "memory_section".to_owned(),
            description: says::MEMORY_SECTION.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "section": { "type": "string", "description": says::SECTION },
                    "action": { "type": "string", "enum": ["read", "append", "replace"] },
                    "content": { "type": "string" }
                },
                "required": ["path", "section", "action"]
            }),
        }
    }

    /// The same text is not appended twice.
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
        let (path, section) = (shown_path(text_of(call, "path")), text_of(call, "section"));
        let words = text_of(call, "content");
        no_skill(&path)?;
        let change = match text_of(call, "action") {
            "read" => return self.read(call, &path, section).await,
            "append" if words.trim().is_empty() => return Err(ToolError::Arguments(says::NO_CONTENT.to_owned())),
            "append" => Section::Append(words.to_owned()),
            "replace" => Section::Replace(words.to_owned()),
            _ => return Err(ToolError::Arguments(says::BAD_ACTION.to_owned())),
        };
        let origin = self.0.origin(call, "section").await?;
        let kept = self.0.tree.files().section(&origin, &path, section, change).await;
        self.0.answer(call, kept, words).await
    }
}
