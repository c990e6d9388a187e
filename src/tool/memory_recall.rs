//! `memory_recall`: searches deliberately stored entries only: facts, notes, and the points of
//! daily notes; only of one category if one is given.
//!
//! The rules of [`super::memory_search`] apply.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::memory_search::{Looking, USUAL};
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolError};
use crate::memory::Index;
use crate::model::ToolSpec;
use crate::store::{EntryKind, Journal};
use crate::time::Zone;
use crate::wording::memory_search as says;

/// The `memory_recall` tool.
#[derive(Debug)]
pub struct MemoryRecall(Looking);

impl MemoryRecall {
    /// Creates a search of this index; times are displayed in `zone`.
    pub fn new(index: Index, journal: Journal, zone: Zone) -> Self {
        Self(Looking { index, journal, zone })
    }
}

#[async_trait]
impl Tool for MemoryRecall {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "memory_recall".to_owned(),
            description: says::MEMORY_RECALL.to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string" },
                    "category": { "type": "string" },
                    "include_untrusted": { "type": "boolean" }
                },
                "required": ["query"]
            }),
        }
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
        let kept = vec![EntryKind::Fact, EntryKind::Note, EntryKind::Day];
        self.0.answer(call, &[kept], USUAL).await
    }
}
