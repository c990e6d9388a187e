//! `memory_search` searches everything known in the scope of the turn: facts, all other text in the
//! workspace, and the messages of past conversations. `memory_recall` searches only what was stored
//! deliberately: facts, notes, and the points of daily notes. `read_reflection` returns the
//! assistant's reflection on a day, a week or a month.
//!
//! The searches return trusted hits and the number of untrusted matches. Untrusted hits must be
//! requested explicitly, and then carry their label into the turn. Only entries returned to a clean
//! turn count as used. Each hit is one line, so that its text cannot pass for another hit. A
//! reflection influenced by text from outside is never given to a model automatically; requesting
//! it is explicit, and the result carries its label into the turn.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::id::ConversationId;
use crate::memory::Index;
use crate::people::Party;
use crate::search::{ConversationQuery, ConversationSearch, EntryHit, EntryMatches, EntryQuery, MessageHit};
use crate::store::{Db, EntryKind, Journal, Node, Summary, SummaryInputs};
use crate::text::{one_line, shorten};
use crate::time::{TimeRange, Zone};
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

impl SearchArea {
    /// Reads the argument; none if it is not given.
    fn read(arguments: &Value) -> Result<Option<Self>, ToolError> {
        let invalid = |value: &str| {
            let areas: Vec<&str> = Self::VARIANTS.iter().map(Into::into).collect();
            ToolError::Arguments(says::unknown_area(value, &areas.join(", ")))
        };
        match arguments.get("in") {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(area)) if area.trim().is_empty() => Ok(None),
            Some(Value::String(area)) => area.trim().to_lowercase().parse().map(Some).map_err(|_| invalid(area)),
            Some(other) => Err(invalid(&other.to_string())),
        }
    }
}

/// Reads `since` and `until`; a missing one sets no limit. The day named by `until` is included.
fn read_time(arguments: &Value, zone: Zone) -> Result<TimeRange, ToolError> {
    let read = |name: &str| match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(time)) if time.trim().is_empty() => Ok(None),
        Some(time) => match time.as_str().and_then(|time| zone.parse_local(time.trim())) {
            Some(range) => Ok(Some(range)),
            None => Err(ToolError::Arguments(says::invalid_time(name, time.as_str().unwrap_or(&time.to_string())))),
        },
    };
    let since = read("since")?.map_or(TimeRange::ALL.since, |range| range.since);
    let until = read("until")?.map_or(TimeRange::ALL.until, |range| range.until);
    if since >= until {
        return Err(ToolError::Arguments(says::EMPTY_TIME.to_owned()));
    }
    Ok(TimeRange { since, until })
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
            "since": { "type": "string", "description": says::TIME },
            "until": { "type": "string" },
            "include_untrusted": { "type": "boolean", "description": says::UNTRUSTED }
        });
        let mut description = says::CONVERSATIONS_ONLY;
        if let (true, Some(properties)) = (self.0.index.is_some(), properties.as_object_mut()) {
            let areas: Vec<&str> = SearchArea::VARIANTS.iter().map(Into::into).collect();
            properties.insert("in".to_owned(), json!({ "type": "string", "enum": areas }));
            properties.insert("category".to_owned(), json!({ "type": "string", "description": says::CATEGORY }));
            description = says::MEMORY_SEARCH;
        }
        ToolDeclaration::reading(argument::spec("memory_search", description, properties, &["query"]))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let area = SearchArea::read(call.arguments)?;
        let time = read_time(call.arguments, self.0.zone)?;
        let Some(index) = self.0.index.as_ref().filter(|_| area != Some(SearchArea::Conversations)) else {
            return self.0.messages(call, time).await;
        };
        let rest = || EntryKind::ALL.into_iter().filter(|kind| *kind != EntryKind::Fact).collect();
        let sorts = match area {
            Some(SearchArea::Facts) => vec![vec![EntryKind::Fact]],
            Some(SearchArea::Notes) => vec![vec![EntryKind::Note, EntryKind::Day, EntryKind::Text]],
            Some(SearchArea::Files) => vec![vec![EntryKind::File]],
            Some(SearchArea::Reflections) => vec![vec![EntryKind::Reflection]],
            Some(SearchArea::Conversations) | None => vec![vec![EntryKind::Fact], rest()],
        };
        self.0.entries(index, call, &sorts, time, argument::limit(call.arguments, USUAL, MOST)).await
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
        ToolDeclaration::reading(argument::spec("memory_recall", says::MEMORY_RECALL, properties, &["query"]))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let kinds = vec![EntryKind::Fact, EntryKind::Note, EntryKind::Day];
        self.0.entries(&self.1, call, &[kinds], TimeRange::ALL, USUAL).await
    }
}

impl SearchSources {
    /// Returns the matching entries of each of these sorts, at most `limit` of each.
    async fn entries(
        &self,
        index: &Index,
        call: &AuthorizableCall<'_>,
        sorts: &[Vec<EntryKind>],
        time: TimeRange,
        limit: usize,
    ) -> Result<Output, ToolError> {
        let found = self.find_entries(index, call, sorts, time, limit).await.map_err(|error| {
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
        time: TimeRange,
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
                time,
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
    async fn messages(&self, call: &AuthorizableCall<'_>, time: TimeRange) -> Result<Output, ToolError> {
        let untrusted_too = argument::flag(call.arguments, "include_untrusted");
        let limit = argument::limit(call.arguments, USUAL_MESSAGES, MOST);
        let asked =
            ConversationQuery { words: query_text(call), untrusted_too, limit, before: Some(call.before), time };
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

/// The `read_reflection` tool.
#[derive(Debug)]
pub struct ReadReflection(Journal);

impl ReadReflection {
    /// Creates the tool over this journal.
    pub fn new(journal: Journal) -> Self {
        Self(journal)
    }
}

#[async_trait]
impl Tool for ReadReflection {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "period": { "type": "string", "description": wording::tool::REFLECTION_PERIOD } });
        ToolDeclaration {
            spec: argument::spec("read_reflection", wording::tool::READ_REFLECTION, properties, &["period"]),
            effects: Effects::READS_PERSONAL,
            egress: Egress::Inside,
            repeatable: true,
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let period = call.text("period").trim().to_owned();
        let (scope, named) = (call.scope, period.clone());
        let found = self.0.read(move |db| reflection_on(db, scope, &named)).await;
        match found {
            Ok(Some(output)) => Ok(output),
            Ok(None) => Err(ToolError::Failed(wording::tool::no_reflection(&period))),
            Err(_) => Err(ToolError::Failed(wording::tool::REFLECTIONS_UNREADABLE.to_owned())),
        }
    }
}

fn reflection_on(db: Db<'_>, scope: Scope, period: &str) -> anyhow::Result<Option<Output>> {
    let Some(reflection) = db.reflections().reflection_on(scope, period)? else { return Ok(None) };
    let mut label = reflection.label;
    let mut words = String::new();
    for text in db.messages().texts_of(reflection.message)? {
        let (part, of, _) = text.text.open();
        label.absorb(of);
        words.push_str(part);
    }
    Ok(Some(Output { text: words, label, from: vec![Node::Message(reflection.message)] }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    fn refusal<T>(read: Result<T, ToolError>) -> String {
        match read {
            Err(ToolError::Arguments(sentence)) => sentence,
            _ => String::new(),
        }
    }

    #[test]
    fn an_unknown_area_is_an_error_with_the_known_ones() {
        let area = |value: Value| SearchArea::read(&json!({ "in": value }));
        assert!(matches!(area(json!(" Facts ")), Ok(Some(SearchArea::Facts))));
        for none in [json!(null), json!(" ")] {
            assert!(matches!(area(none), Ok(None)));
        }
        assert!(matches!(SearchArea::read(&json!({})), Ok(None)));
        for unknown in [json!("everything"), json!("fact"), json!(["facts"]), json!(3)] {
            let sentence = refusal(area(unknown.clone()));
            assert!(sentence.contains("facts, notes, files, conversations, reflections"), "{unknown}: {sentence}");
        }
    }

    #[test]
    fn a_time_is_read_in_the_zone_of_the_person() {
        let vienna = Zone::named("Europe/Vienna").unwrap();
        let at = |text: &str| Timestamp::of_rfc3339(text).unwrap();
        let read = |since: Value, until: Value| read_time(&json!({ "since": since, "until": until }), vienna);
        let day = read(json!("2026-11-02"), json!("2026-11-02")).unwrap();
        assert_eq!(day, TimeRange { since: at("2026-11-01T23:00:00Z"), until: at("2026-11-02T23:00:00Z") });
        let hours = read(json!("2026-11-02 09:30"), json!("2026-11-02T10:00:30")).unwrap();
        assert_eq!(hours, TimeRange { since: at("2026-11-02T08:30:00Z"), until: at("2026-11-02T09:00:30Z") });
        assert_eq!(read_time(&Value::Null, vienna).unwrap(), TimeRange::ALL);
        let open = read(json!("2026-11-02"), json!(null)).unwrap();
        assert_eq!((open.since, open.until), (day.since, TimeRange::ALL.until));
    }

    #[test]
    fn an_invalid_time_is_an_error_that_names_it() {
        // The last one is skipped by the clocks of Vienna.
        for invalid in
            [json!("yesterday"), json!("2026-13-01"), json!("2026-2-3"), json!(2026), json!("2026-03-29 02:30")]
        {
            let zone = Zone::named("Europe/Vienna").unwrap();
            let sentence = refusal(read_time(&json!({ "until": invalid }), zone));
            assert!(sentence.contains("`until`") && sentence.contains("2026-11-02"), "{invalid}: {sentence}");
        }
        let reversed = json!({ "since": "2026-11-03", "until": "2026-11-02" });
        assert_eq!(refusal(read_time(&reversed, Zone::UTC)), says::EMPTY_TIME);
    }
}
