//! `memory_search` searches everything known in the scope of the turn: facts, all other text in the
//! workspace, and the messages of past conversations. `memory_recall` searches only what was stored
//! deliberately: facts, notes, and the points of daily notes.
//!
//! A hit is the passage around the match, in one line, so that its text cannot pass for another
//! hit, with an address that `read_file` and `read_conversation` understand. Files that every
//! prompt holds anyway (`SOUL.md`, `AGENTS.md`, `HEARTBEAT.md`, learnings) are no hits.
//!
//! The searches return trusted hits and the number of untrusted matches. Untrusted hits must be
//! requested explicitly, and then carry their label into the turn. Only entries returned to a clean
//! turn count as used.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use strum::{EnumString, IntoStaticStr, VariantArray};

use super::conversation::{address_of, points, speaker};
use super::{AuthorizableCall, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::id::ConversationId;
use crate::memory::{EXPERIENCE, Index, is_instruction};
use crate::search::entries::UnaskedMemories;
use crate::search::snippet::{QueryWords, passage};
use crate::search::{ConversationQuery, ConversationSearch, EntryHit, EntryMatches, EntryQuery, MessageHit};
use crate::store::{Db, EntryKind, Journal, Node, Summary, SummaryInputs};
use crate::text::{one_line, shorten};
use crate::time::{TimeRange, Zone};
use crate::trust::{Label, Labelled, Text};
use crate::wording;
use crate::wording::search as says;

/// The maximum number of hits, or of entries of each sort.
const MOST: usize = 20;
/// The default number of entries of each sort.
const USUAL: usize = 5;
/// The default number of messages, alone and among other hits.
const USUAL_MESSAGES: usize = 6;
const MESSAGES_AMONG_ALL: usize = 3;
/// The maximum number of whole conversations displayed with messages.
const SUMMARIES: usize = 3;
/// The maximum number of characters displayed of one hit.
const PASSAGE: usize = 600;

/// Categories of facts, and kinds of notes.
const CATEGORIES: [&str; 7] = ["preference", "decision", "fact", "context", "person", "project", "reference"];

/// Arguments that limit a search to some entries, and so exclude messages.
const ENTRY_LIMITS: [&str; 3] = ["category", "agent", "section"];

/// Number of categories of the person's own that an error names.
const STATED: usize = 20;

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
    fn read(arguments: &Value) -> Option<Self> {
        argument::text(arguments, "in").parse().ok()
    }
}

/// Reads the argument `category`; none if it is not given.
fn read_category(arguments: &Value) -> Option<String> {
    let category = argument::text(arguments, "category").trim().to_lowercase();
    let category = if category == "user" { "person".to_owned() } else { category };
    Some(category).filter(|category| !category.is_empty())
}

/// Refuses a category that neither is built in nor was named by the person.
fn check_category(category: &str, stated: &[String]) -> Result<(), ToolError> {
    let known: Vec<&str> = CATEGORIES.into_iter().chain(stated.iter().map(String::as_str)).collect();
    if known.contains(&category) {
        return Ok(());
    }
    let further = stated.iter().map(String::as_str).filter(|stated| !CATEGORIES.contains(stated)).take(STATED);
    let shown: Vec<&str> = CATEGORIES.into_iter().chain(further).collect();
    let name = format!("{:?}", shorten(category, 40));
    Err(ToolError::Arguments(wording::tool::unknown_value("category", &name, &shown)))
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
    /// Time zone of the home.
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
            "since": { "type": "string", "description": says::TIME },
            "until": { "type": "string" },
            "limit": { "type": "integer" },
            "include_untrusted": { "type": "boolean", "description": says::UNTRUSTED }
        });
        let mut description = says::CONVERSATIONS_ONLY;
        let areas: Vec<&str> = match self.0.index {
            Some(_) => SearchArea::VARIANTS.iter().map(Into::into).collect(),
            None => vec![SearchArea::Conversations.into()],
        };
        if let Some(properties) = properties.as_object_mut() {
            properties.insert("in".to_owned(), json!({ "type": "string", "enum": areas }));
            if self.0.index.is_some() {
                for limit in ENTRY_LIMITS {
                    properties.insert(limit.to_owned(), json!({ "type": "string" }));
                }
                description = says::MEMORY_SEARCH;
            }
        }
        ToolDeclaration::reading(argument::spec("memory_search", description, properties, &["query"]))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let area = SearchArea::read(call.arguments);
        let query = SearchArguments::read(call, call.zone(&self.0.journal, self.0.zone).await?)?;
        let index = self.0.index.as_ref().filter(|_| area != Some(SearchArea::Conversations));
        let Some(index) = index else {
            if query.is_for_entries() {
                return Err(ToolError::Arguments(says::NO_CATEGORIES.to_owned()));
            }
            let found = self.0.messages(call, &query, USUAL_MESSAGES).await?;
            return Ok(found.output(says::NOTHING_SAID));
        };
        let rest = || EntryKind::ALL.into_iter().filter(|kind| *kind != EntryKind::Fact).collect();
        let sorts = match area {
            Some(SearchArea::Facts) => vec![vec![EntryKind::Fact]],
            Some(SearchArea::Notes) => vec![vec![EntryKind::Note, EntryKind::Day, EntryKind::Text]],
            Some(SearchArea::Files) => vec![vec![EntryKind::File]],
            Some(SearchArea::Reflections) => vec![vec![EntryKind::Reflection]],
            Some(SearchArea::Conversations) | None => vec![vec![EntryKind::Fact], rest()],
        };
        let mut found = self.0.entries(index, call, &query, &sorts).await?;
        if area.is_some() || query.is_for_entries() {
            return Ok(found.output(says::NOTHING));
        }
        found.extend(self.0.messages(call, &query, MESSAGES_AMONG_ALL).await?);
        Ok(found.output(says::NOTHING_AT_ALL))
    }
}

#[async_trait]
impl Tool for MemoryRecall {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "query": { "type": "string" },
            "category": { "type": "string" }
        });
        ToolDeclaration::reading(argument::spec("memory_recall", says::MEMORY_RECALL, properties, &["query"]))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let query = SearchArguments::read(call, call.zone(&self.0.journal, self.0.zone).await?)?;
        let kinds = vec![EntryKind::Fact, EntryKind::Note, EntryKind::Day];
        let found = self.0.entries(&self.1, call, &query, &[kinds]).await?;
        Ok(found.output(says::NOTHING))
    }
}

/// Arguments of a search.
struct SearchArguments {
    /// Query text, under the label of the arguments.
    words: Text,
    wanted: QueryWords,
    category: Option<String>,
    agent: Option<String>,
    section: Option<String>,
    time: TimeRange,
    untrusted_too: bool,
    /// Zone of the times.
    zone: Zone,
}

impl SearchArguments {
    fn read(call: &AuthorizableCall<'_>, zone: Zone) -> Result<Self, ToolError> {
        let words = call.text("query").trim();
        if words.is_empty() {
            return Err(ToolError::Arguments(says::NO_QUERY.to_owned()));
        }
        Ok(Self {
            words: Labelled::new(Arc::from(words), call.label.clone(), call.scope),
            wanted: QueryWords::new(words),
            category: read_category(call.arguments),
            agent: given(call, "agent"),
            section: given(call, "section"),
            time: read_time(call.arguments, zone)?,
            untrusted_too: argument::flag(call.arguments, "include_untrusted"),
            zone,
        })
    }
}

/// Returns an argument that is given and not blank.
fn given(call: &AuthorizableCall<'_>, name: &str) -> Option<String> {
    Some(call.text(name).trim().to_owned()).filter(|value| !value.is_empty())
}

impl SearchArguments {
    /// Returns true if the arguments exclude messages.
    fn is_for_entries(&self) -> bool {
        self.category.is_some() || self.agent.is_some() || self.section.is_some()
    }
}

/// Hits of a search, one in a line.
#[derive(Default)]
struct FoundLines {
    lines: Vec<String>,
    untrusted: usize,
    /// Further lines, after the number of untrusted matches.
    below: Vec<String>,
    labels: Vec<Label>,
    from: Vec<Node>,
}

impl FoundLines {
    fn extend(&mut self, other: Self) {
        self.lines.extend(other.lines);
        self.untrusted += other.untrusted;
        self.below.extend(other.below);
        self.labels.extend(other.labels);
        self.from.extend(other.from);
    }

    fn output(self, nothing: &str) -> Output {
        let mut lines = self.lines;
        if lines.is_empty() {
            lines.push(nothing.to_owned());
        }
        if self.untrusted > 0 {
            lines.push(says::more_untrusted(self.untrusted));
        }
        lines.extend(self.below);
        Output { text: lines.join("\n"), label: Label::join_of(&self.labels), from: self.from }
    }
}

impl SearchSources {
    /// Returns the matching entries of each of these sorts.
    async fn entries(
        &self,
        index: &Index,
        call: &AuthorizableCall<'_>,
        query: &SearchArguments,
        sorts: &[Vec<EntryKind>],
    ) -> Result<FoundLines, ToolError> {
        if let Some(category) = query.category.as_deref().filter(|category| !CATEGORIES.contains(category)) {
            let stated = index.categories(call.scope).await.map_err(|_| ToolError::Failed(says::FAILED.to_owned()))?;
            check_category(category, &stated)?;
        }
        let found = self.find_entries(index, call, query, sorts).await.map_err(|error| {
            tracing::warn!("A search of the memory failed: {error:#}");
            ToolError::Failed(says::FAILED.to_owned())
        })?;
        // An entry counts as used only without any untrusted influence.
        if call.label.is_trusted() && found.hits.iter().all(|hit| hit.text.label().is_trusted()) {
            let keys: Vec<String> = found.hits.iter().map(|hit| hit.key.clone()).collect();
            if let Err(error) = index.used(&keys).await {
                tracing::warn!("The use of entries cannot be counted: {error:#}");
            }
        }
        let from = index.origins(&found.hits).await.map_err(|_| ToolError::Failed(says::FAILED.to_owned()))?;
        Ok(FoundLines {
            lines: found.hits.iter().map(|hit| entry_line(hit, query)).collect(),
            untrusted: found.untrusted,
            below: Vec::new(),
            labels: found.hits.iter().map(|hit| hit.text.label().clone()).collect(),
            from,
        })
    }

    async fn find_entries(
        &self,
        index: &Index,
        call: &AuthorizableCall<'_>,
        query: &SearchArguments,
        sorts: &[Vec<EntryKind>],
    ) -> anyhow::Result<EntryMatches> {
        let Some(party) = call.party(&self.journal).await? else { return Ok(EntryMatches::default()) };
        let mut all = EntryMatches::default();
        // What the prompt contains is no hit, unless a limit asks which of it belongs together.
        let known_texts = if query.is_for_entries() { Arc::default() } else { index.prompt_lines(&party).await? };
        // The memory of another agent is found by its name only.
        let unasked = match query.agent {
            None => index.unasked_memories(&party).await?,
            Some(_) => UnaskedMemories::default(),
        };
        for kinds in sorts {
            let question = EntryQuery {
                kinds: kinds.clone(),
                category: query.category.clone(),
                agents: query.agent.iter().cloned().collect(),
                section: query.section.clone(),
                unasked: unasked.clone(),
                known_texts: Arc::clone(&known_texts),
                untrusted_too: query.untrusted_too,
                time: query.time,
                limit: argument::limit(call.arguments, USUAL, MOST),
                without: Some(is_instruction),
                ..EntryQuery::of(&party, query.words.clone())
            };
            let found = index.search(&question).await?;
            all.hits.extend(found.hits);
            all.untrusted += found.untrusted;
        }
        Ok(all)
    }

    /// Returns the matching messages of past conversations; `usual` is the default number.
    async fn messages(
        &self,
        call: &AuthorizableCall<'_>,
        query: &SearchArguments,
        usual: usize,
    ) -> Result<FoundLines, ToolError> {
        let (untrusted_too, zone, wanted) = (query.untrusted_too, query.zone, query.wanted.clone());
        let asked = ConversationQuery {
            words: query.words.clone(),
            untrusted_too,
            limit: argument::limit(call.arguments, usual, MOST),
            before: Some(call.before),
            time: query.time,
        };
        let found = self.messages.search(&asked, move |db, found| {
            let mut lines = FoundLines { untrusted: found.untrusted, ..FoundLines::default() };
            for hit in &found.hits {
                lines.lines.push(message_line(db, hit, &wanted, zone)?);
                lines.labels.push(hit.text.label().clone());
                lines.from.push(db.derivations().node_of(hit.message)?);
            }
            for summary in if untrusted_too { full_summaries(db, &found.hits)? } else { Vec::new() } {
                lines.below.push(summary_line(&summary));
                lines.labels.push(summary.content.label().clone());
                lines.from.push(Node::Summary(summary.id));
            }
            Ok(lines)
        });
        found.await.map_err(|_| ToolError::Failed(says::CONVERSATIONS_FAILED.to_owned()))
    }
}

fn entry_line(hit: &EntryHit, query: &SearchArguments) -> String {
    let (words, label, _) = hit.text.open();
    let sort = if hit.category.is_empty() || hit.category == hit.kind.as_str() {
        hit.kind.as_str().to_owned()
    } else {
        format!("{}, {}", hit.kind.as_str(), one_line(&hit.category))
    };
    let sort = if label.is_trusted() { sort } else { wording::tool::from_outside(&sort, &label.encode()) };
    let path = hit.path.strip_prefix(EXPERIENCE).map(|name| format!("experience/{name}"));
    let path = path.unwrap_or_else(|| hit.path.clone());
    // A summary has no lines.
    let place = if hit.kind == EntryKind::Conversation { path } else { format!("{path}:{}", hit.line) };
    // What is dated by its day alone was not written at midnight.
    let (day, time) = (query.zone.day(hit.at), query.zone.time_of_day(hit.at));
    let at = if time == "00:00" { day } else { format!("{day} {time}") };
    let words = if hit.kind == EntryKind::Note { without_repeats(words) } else { words.to_string() };
    format!("[{at}] {sort}: {} ({})", passage(&words, &query.wanted, PASSAGE), one_line(&place))
}

fn message_line(db: Db<'_>, hit: &MessageHit, wanted: &QueryWords, zone: Zone) -> anyhow::Result<String> {
    let message = db.messages().message(hit.message)?;
    let (who, address) = match &message {
        Some(message) => (speaker(db, message)?, address_of(db, message)?),
        None => (says::THE_ASSISTANT.to_owned(), None),
    };
    let (words, label, _) = hit.text.open();
    let who = if label.is_trusted() { who } else { wording::tool::from_outside(&who, &label.encode()) };
    let address = address.map(|address| format!(" ({address})")).unwrap_or_default();
    Ok(format!("[{}] {who}: {}{address}", zone.show_short(hit.at), passage(words, wanted, PASSAGE)))
}

/// Removes the title and the summary from the beginning of a note's text where the lines below
/// begin with the same words.
fn without_repeats(text: &str) -> String {
    let (mut lines, mut rest) = (Vec::new(), text);
    for _ in 0..2 {
        let Some((first, below)) = rest.split_once('\n') else { break };
        let start = one_line(first);
        let start = start.trim_end_matches('…');
        if !one_line(below.trim_start_matches(['#', '>', ' ', '\n'])).starts_with(start) {
            lines.push(first);
        }
        rest = below;
    }
    lines.push(rest);
    lines.join("\n")
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
    let points = shorten(&points(content), PASSAGE);
    says::whole_conversation(summary.conversation, &one_line(&content.title), &label.encode(), &points)
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
    fn a_category_is_one_of_the_known_ones() {
        let category = |category: &str| read_category(&json!({ "category": category }));
        assert_eq!(category(" Preference "), Some("preference".to_owned()));
        assert_eq!(category("user"), Some("person".to_owned()), "the former word");
        assert_eq!((category(" "), read_category(&json!({}))), (None, None));
        let stated = ["recipes".to_owned()];
        assert_eq!(check_category("recipes", &stated), Ok(()));
        let sentence = refusal(check_category("note", &stated));
        assert!(sentence.contains("`category` cannot be \"note\"") && sentence.contains("decision"), "{sentence}");
        assert!(sentence.contains("recipes"), "{sentence}");
    }

    #[test]
    fn a_note_says_nothing_twice() {
        for (text, shown) in [
            (
                "Nora\nAda's sister. Has a…\n\nAda's sister. Has a boat.\nTall.",
                "Nora\n\nAda's sister. Has a boat.\nTall.",
            ),
            ("Nora\nWhere she lives\n# Where she lives\n\nGraz.", "Nora\n# Where she lives\n\nGraz."),
            ("Tea\nTea is green.", "Tea is green."),
            ("The boat lies in Oostende.", "The boat lies in Oostende."),
        ] {
            assert_eq!(without_repeats(text), shown);
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
