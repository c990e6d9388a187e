//! `memory_search` searches everything known in the scope of the turn: facts, all other text in the
//! workspace, and the messages of past conversations. `memory_recall` searches only what was stored
//! deliberately: facts, notes, and the points of daily notes.
//!
//! Both return trusted hits and the number of untrusted matches. Untrusted hits must be requested
//! explicitly, and then carry their label into the turn. Only entries returned to a clean turn
//! count as used. Each hit is one line, so that its text cannot pass for another hit.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::id::ConversationId;
use crate::memory::Index;
use crate::people::Party;
use crate::search::{ConversationQuery, ConversationSearch, EntryHit, EntryMatches, EntryQuery, MessageHit};
use crate::store::{Db, EntryKind, Journal, Node, Summary, SummaryInputs};
use crate::text::{one_line, shorten};
use crate::time::Zone;
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording;
use crate::wording::search as says;

/// The maximum number of hits, or of entries of each sort.
const MOST: usize = 20;
/// The default number of entries of each sort.
const USUAL: usize = 5;
/// The default number of messages.
const USUAL_MESSAGES: usize = 6;
/// The maximum number of whole conversations displayed with messages.
const SUMMARIES: usize = 3;
/// The maximum number of characters displayed of one hit.
const SNIPPET: usize = 600;

/// Values of the argument `in`.
#[derive(Clone, Copy, PartialEq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
enum SearchArea {
    Facts,
    Notes,
    Files,
    Conversations,
    Reflections,
}

/// Sources of a search whose results go to a model.
#[derive(Clone)]
pub struct SearchSources {
    /// Messages of past conversations.
    pub messages: ConversationSearch,
    /// Entries of the memory; none if the memory is switched off.
    pub index: Option<Index>,
    /// The journal.
    pub journal: Journal,
    /// Time zone of displayed times.
    pub zone: Zone,
}

/// The `memory_search` tool.
pub struct MemorySearch(SearchSources);

/// The `memory_recall` tool.
pub struct MemoryRecall(SearchSources, Index);

impl MemorySearch {
    /// Creates a search of these sources.
    pub fn new(sources: SearchSources) -> Self {
        Self(sources)
    }
}

impl MemoryRecall {
    /// Creates a search of this index.
    pub fn new(sources: SearchSources, index: Index) -> Self {
        Self(sources, index)
    }
}

#[async_trait]
impl Tool for MemorySearch {
    fn declaration(&self) -> ToolDeclaration {
        let mut properties = json!({
            "query": { "type": "string" },
            "limit": { "type": "integer", "maximum": MOST },
            "include_untrusted": { "type": "boolean", "description": says::UNTRUSTED }
        });
        let mut description = says::CONVERSATIONS_ONLY;
        if let (true, Some(properties)) = (self.0.index.is_some(), properties.as_object_mut()) {
            let areas: Vec<&str> = SearchArea::VARIANTS.iter().map(Into::into).collect();
            properties.insert("in".to_owned(), json!({ "type": "string", "enum": areas }));
            properties.insert("category".to_owned(), json!({ "type": "string", "description": says::CATEGORY }));
            description = says::MEMORY_SEARCH;
        }
        ToolDeclaration {
            spec: argument::spec("memory_search", description, properties, &["query"]),
            effects: Effects::READS,
            egress: Egress::Inside,
            repeatable: true,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let area = argument::text(call.arguments, "in").trim().to_lowercase().parse::<SearchArea>().ok();
        let Some(index) = self.0.index.as_ref().filter(|_| area != Some(SearchArea::Conversations)) else {
            return self.0.messages(call).await;
        };
        let rest = || EntryKind::ALL.into_iter().filter(|kind| *kind != EntryKind::Fact).collect();
        let sorts = match area {
            Some(SearchArea::Facts) => vec![vec![EntryKind::Fact]],
            Some(SearchArea::Notes) => vec![vec![EntryKind::Note, EntryKind::Day, EntryKind::Text]],
            Some(SearchArea::Files) => vec![vec![EntryKind::File]],
            Some(SearchArea::Reflections) => vec![vec![EntryKind::Reflection]],
            Some(SearchArea::Conversations) | None => vec![vec![EntryKind::Fact], rest()],
        };
        self.0.entries(index, call, &sorts, argument::limit(call.arguments, USUAL, MOST)).await
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
        self.0.entries(&self.1, call, &[vec![EntryKind::Fact, EntryKind::Note, EntryKind::Day]], USUAL).await
    }
}

impl SearchSources {
    /// Returns the matching entries of each of these sorts, at most `limit` of each.
    async fn entries(
        &self,
        index: &Index,
        call: &AuthorizableCall<'_>,
        sorts: &[Vec<EntryKind>],
        limit: usize,
    ) -> Result<Output, ToolError> {
        let found = self.find_entries(index, call, sorts, limit).await.map_err(|error| {
            tracing::warn!("A search of the memory failed: {error:#}");
            ToolError::Failed(says::FAILED.to_owned())
        })?;
        let mut lines: Vec<String> = found.hits.iter().map(|hit| self.entry_line(hit)).collect();
        if lines.is_empty() {
            lines.push(says::NOTHING.to_owned());
        }
        if found.untrusted > 0 {
            lines.push(says::more_untrusted(found.untrusted));
        }
        let label = Label::join_of(found.hits.iter().map(|hit| hit.text.label()));
        // An entry counts as used only without any untrusted influence.
        if call.label.is_trusted() && label.is_trusted() {
            let keys: Vec<String> = found.hits.iter().map(|hit| hit.key.clone()).collect();
            if let Err(error) = index.used(&keys).await {
                tracing::warn!("The use of entries cannot be counted: {error:#}");
            }
        }
        let from = index.origins(&found.hits).await.map_err(|_| ToolError::Failed(says::FAILED.to_owned()))?;
        Ok(Output { text: lines.join("\n"), label, from })
    }

    async fn find_entries(
        &self,
        index: &Index,
        call: &AuthorizableCall<'_>,
        sorts: &[Vec<EntryKind>],
        limit: usize,
    ) -> anyhow::Result<EntryMatches> {
        let party = match call.scope {
            Scope::Group(stream) => Some(Party::Group(stream)),
            Scope::Person(id) => self.journal.read(move |db| db.people().person(id)).await?.map(Party::One),
            Scope::Shared => None,
        };
        let Some(party) = party else { return Ok(EntryMatches::default()) };
        let category = argument::text(call.arguments, "category").trim();
        let mut all = EntryMatches::default();
        for kinds in sorts {
            let question = EntryQuery {
                kinds: kinds.clone(),
                category: (!category.is_empty()).then(|| category.to_owned()),
                untrusted_too: argument::flag(call.arguments, "include_untrusted"),
                limit,
                ..EntryQuery::of(&party, query_text(call))
            };
            let found = index.search(&question).await?;
            all.hits.extend(found.hits);
            all.untrusted += found.untrusted;
        }
        Ok(all)
    }

    /// Returns the matching messages of past conversations.
    async fn messages(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let untrusted_too = argument::flag(call.arguments, "include_untrusted");
        let limit = argument::limit(call.arguments, USUAL_MESSAGES, MOST);
        let asked = ConversationQuery { words: query_text(call), untrusted_too, limit, before: Some(call.before) };
        let (found, mut from, summaries) = self
            .messages
            .search(&asked, move |db, found| {
                let nodes = found.hits.iter().map(|hit| db.derivations().node_of(hit.message));
                let from = nodes.collect::<anyhow::Result<Vec<Node>>>()?;
                let summaries = if untrusted_too { full_summaries(db, &found.hits)? } else { Vec::new() };
                Ok((found, from, summaries))
            })
            .await
            .map_err(|_| ToolError::Failed(says::CONVERSATIONS_FAILED.to_owned()))?;
        let mut lines: Vec<String> = found.hits.iter().map(|hit| self.message_line(hit)).collect();
        if lines.is_empty() {
            lines.push(says::NOTHING_SAID.to_owned());
        }
        if found.untrusted > 0 {
            lines.push(says::more_untrusted(found.untrusted));
        }
        lines.extend(summaries.iter().map(summary_line));
        let labels = found.hits.iter().map(|hit| hit.text.label());
        let label = Label::join_of(labels.chain(summaries.iter().map(|summary| summary.content.label())));
        from.extend(summaries.iter().map(|summary| Node::Summary(summary.id)));
        Ok(Output { text: lines.join("\n"), label, from })
    }

    fn entry_line(&self, hit: &EntryHit) -> String {
        let (words, label, _) = hit.text.open();
        let sort = if hit.category.is_empty() || hit.category == hit.kind.as_str() {
            hit.kind.as_str().to_owned()
        } else {
            format!("{}, {}", hit.kind.as_str(), one_line(&hit.category))
        };
        let sort = if label.is_trusted() { sort } else { wording::tool::from_outside(&sort, &label.encode()) };
        let place = one_line(&format!("{}:{}", hit.path, hit.line));
        format!("[{}] {sort}: {} ({place})", self.zone.show_short(hit.at), shorten(&one_line(words), SNIPPET))
    }

    fn message_line(&self, hit: &MessageHit) -> String {
        let who = if hit.person.is_some() { says::THE_PERSON } else { says::THE_ASSISTANT };
        let (words, label, _) = hit.text.open();
        let who = if label.is_trusted() { who.to_owned() } else { wording::tool::from_outside(who, &label.encode()) };
        format!("[{}] {who}: {}", self.zone.show_short(hit.at), shorten(&one_line(words), SNIPPET))
    }
}

/// The query, under the label of the arguments.
fn query_text(call: &AuthorizableCall<'_>) -> Text {
    let words = argument::text(call.arguments, "query").trim();
    Labelled::new(Arc::from(words), call.label.clone(), call.scope)
}

/// Returns the full summaries of the conversations that contain the hits. Only conversations that
/// read untrusted text have one, in addition to the trusted one.
fn full_summaries(db: Db<'_>, hits: &[MessageHit]) -> anyhow::Result<Vec<Summary>> {
    let conversations: BTreeSet<ConversationId> = hits.iter().filter_map(|hit| hit.conversation).collect();
    let found =
        conversations.into_iter().rev().take(SUMMARIES).map(|id| db.summaries().summary_of(id, SummaryInputs::Full));
    found.filter_map(Result::transpose).collect()
}

fn summary_line(summary: &Summary) -> String {
    let (content, label, _) = summary.content.open();
    let lists = [&content.topics, &content.decisions, &content.preferences, &content.pending];
    let points: Vec<&str> = lists.into_iter().flatten().map(String::as_str).collect();
    let points = shorten(&one_line(&points.join("; ")), SNIPPET);
    says::whole_conversation(&one_line(&content.title), &label.encode(), &points)
}
