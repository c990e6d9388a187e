//! `memory_recall`: searches deliberately stored entries only: facts, notes, and the points of
//! daily notes; only of one category if one is given.
//!
//! The rules of [`super::memory_search`] apply.

use async_trait::async_trait;
use serde_json::json;

use super::memory_search::{Looking, USUAL};
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::memory::Index;
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
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "query": { "type": "string" },
            "category": { "type": "string" },
            "include_untrusted": { "type": "boolean" }
        });
        ToolDeclaration {
            spec: argument::spec("memory_recall", says::MEMORY_RECALL, properties, &["query"]),
            effects: Effects::READS,
            egress: Egress::Inside,
            repeatable: true,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let kept = vec![EntryKind::Fact, EntryKind::Note, EntryKind::Day];
        self.0.answer(call, &[kept], USUAL).await
    }
}
