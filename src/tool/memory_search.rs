//! `memory_search`: searches everything known in the scope of the turn: facts and all other text in
//! the workspace.
//!
//! It returns trusted entries and the number of untrusted matches. Untrusted entries must be
//! requested explicitly, and then carry their label into the turn. Only entries returned to a clean
//! turn count as used.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::memory::{EntryHit, Index, IndexMatches, IndexQuery};
use crate::people::Party;
use crate::store::{EntryKind, Journal};
use crate::time::Zone;
use crate::trust::{Label, Labelled, Scope};
use crate::wording;
use crate::wording::memory_search as says;

/// The maximum number of entries of each sort.
const MOST: usize = 20;
/// The default number of entries.
pub(super) const USUAL: usize = 5;
/// The maximum number of characters displayed of one entry.
const SNIPPET: usize = 600;

/// The `memory_search` tool.
#[derive(Debug)]
pub struct MemorySearch(Looking);

impl MemorySearch {
    /// Creates a search of this index; times are displayed in `zone`.
    pub fn new(index: Index, journal: Journal, zone: Zone) -> Self {
        Self(Looking { index, journal, zone })
    }
}

/// The dependencies of a search whose results go to a model.
#[derive(Debug)]
pub(super) struct Looking {
    pub(super) index: Index,
    pub(super) journal: Journal,
    pub(super) zone: Zone,
}

#[async_trait]
impl Tool for MemorySearch {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "query": { "type": "string" },
            "category": { "type": "string", "description": says::CATEGORY },
            "limit": { "type": "integer", "maximum": MOST },
            "include_untrusted": { "type": "boolean", "description": says::UNTRUSTED }
        });
        ToolDeclaration {
            spec: argument::spec("memory_search", says::MEMORY_SEARCH, properties, &["query"]),
            effects: Effects::READS,
            egress: Egress::Inside,
            repeatable: true,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let limit = argument::limit(call.arguments, USUAL, MOST);
        let rest: Vec<EntryKind> = EntryKind::ALL.into_iter().filter(|kind| *kind != EntryKind::Fact).collect();
        self.0.answer(call, &[vec![EntryKind::Fact], rest], limit).await
    }
}

impl Looking {
    /// Returns the matches among each of these sorts of entries, at most `limit` of each, as text
    /// for the model.
    pub(super) async fn answer(
        &self,
        call: &AuthorizableCall<'_>,
        sorts: &[Vec<EntryKind>],
        limit: usize,
    ) -> Result<Output, ToolError> {
        let found = self.find(call, sorts, limit).await.map_err(|error| {
            tracing::warn!("A search of the memory failed: {error:#}");
            ToolError::Failed(says::FAILED.to_owned())
        })?;
        let mut lines: Vec<String> = found.hits.iter().map(|hit| self.line(hit)).collect();
        if lines.is_empty() {
            lines.push(says::NOTHING.to_owned());
        }
        if found.untrusted > 0 {
            lines.push(wording::tool::recall_untrusted(found.untrusted));
        }
        let label = Label::join_of(found.hits.iter().map(|hit| hit.text.label()));
        self.count(call, &label, &found.hits).await;
        let from = self.index.origins(&found.hits).await.map_err(|_| ToolError::Failed(says::FAILED.to_owned()))?;
        Ok(Output { text: lines.join("\n"), label, from })
    }

    async fn find(
        &self,
        call: &AuthorizableCall<'_>,
        sorts: &[Vec<EntryKind>],
        limit: usize,
    ) -> anyhow::Result<IndexMatches> {
        let word = |name: &str| Some(argument::text(call.arguments, name).trim()).filter(|word| !word.is_empty());
        let Some(party) = self.party(call).await? else { return Ok(IndexMatches::default()) };
        let words = Labelled::new(Arc::from(word("query").unwrap_or_default()), call.label.clone(), call.scope);
        let mut all = IndexMatches::default();
        for kinds in sorts {
            let question = IndexQuery {
                kinds: kinds.clone(),
                category: word("category").map(str::to_owned),
                untrusted_too: argument::flag(call.arguments, "include_untrusted"),
                limit,
                ..IndexQuery::of(&party, words.clone())
            };
            let found = self.index.search(&question).await?;
            all.hits.extend(found.hits);
            all.untrusted += found.untrusted;
        }
        Ok(all)
    }

    async fn party(&self, call: &AuthorizableCall<'_>) -> anyhow::Result<Option<Party>> {
        match call.scope {
            Scope::Group(stream) => Ok(Some(Party::Group(stream))),
            Scope::Person(id) => Ok(self.journal.read(move |db| db.people().person(id)).await?.map(Party::One)),
            Scope::Shared => Ok(None),
        }
    }

    /// Counts uses, only in turns without any untrusted influence.
    async fn count(&self, call: &AuthorizableCall<'_>, given: &Label, hits: &[EntryHit]) {
        if !call.label.is_trusted() || !given.is_trusted() {
            return;
        }
        let keys: Vec<String> = hits.iter().map(|hit| hit.key.clone()).collect();
        if let Err(error) = self.index.used(&keys).await {
            tracing::warn!("The use of entries cannot be counted: {error:#}");
        }
    }

    /// One line each, so that text of a file cannot pass for another entry.
    fn line(&self, hit: &EntryHit) -> String {
        let (words, label, _) = hit.text.open();
        let sort = if hit.category.is_empty() || hit.category == hit.kind.as_str() {
            hit.kind.as_str().to_owned()
        } else {
            format!("{}, {}", hit.kind.as_str(), crate::text::one_line(&hit.category))
        };
        let sort = if label.is_trusted() { sort } else { wording::tool::from_outside(&sort, &label.encode()) };
        let words = crate::text::shorten(&crate::text::one_line(words), SNIPPET);
        let place = crate::text::one_line(&format!("{}:{}", hit.path, hit.line));
        format!("[{}] {sort}: {words} ({place})", self.zone.show_short(hit.at))
    }
}
