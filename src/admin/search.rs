//! `/search` and `compline search`: messages, summaries, memory, files and live skills. Always in
//! the scope of the person who asks and no other.
//!
//! Each source ranks its hits on a scale of its own, so the scores are normalised to the range 0 to
//! 1 before they are merged. Untrusted hits are shown and marked: the reader is a person, not a
//! model. Context lines around a hit come from the file's present content.

mod sources;

use crate::admin::SearchAdmin;
use std::sync::Arc;

use serde_json::{Value, json};

use super::answer::{Render, RenderContext, ShownLabel, plain, with_fields};
use super::memory::visible_path;
use crate::id::{ConversationId, MessageId};
use crate::people::Person;
use crate::search::snippet::{FoldedWords, Snippet};
use crate::store::ArchiveKind;
use crate::time::{TimeRange, Timestamp, Zone};
use crate::trust::{Labelled, Text};
use crate::wording::command as says;
use crate::wording::import::imported_from;
use crate::wording::why::all_in_words;
use sources::{FileExcerpt, FileLine};

/// A kind of searchable data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchKind {
    /// Single messages.
    Message,
    /// Conversations, by their best message and by their summary.
    Conversation,
    /// Reflections by the assistant.
    Reflection,
    /// Memory: facts, notes, daily notes, and identity files.
    Note,
    /// All other files of the workspace.
    File,
    /// Live skills.
    Skill,
}

impl SearchKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Message, Self::Conversation, Self::Reflection, Self::Note, Self::File, Self::Skill];

    /// Parses a value of `--in`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| word.strip_suffix('s') == Some(kind.as_str()))
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Conversation => "conversation",
            Self::Reflection => "reflection",
            Self::Note => "note",
            Self::File => "file",
            Self::Skill => "skill",
        }
    }
}

/// Maximum number of hits.
const MOST: usize = 200;
/// Maximum number of context lines above and below a hit.
const MOST_AROUND: usize = 20;
/// Default number of hits.
const USUAL: usize = 50;

/// A search query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words.
    pub words: String,
    /// Maximum number of hits.
    pub limit: usize,
    /// Number of hits to pass over: those of the pages before.
    pub after: usize,
    /// Kinds to search; empty for all.
    pub kinds: Vec<SearchKind>,
    /// Match the exact spelling only.
    pub case: bool,
    /// Number of context lines above and below a hit in a file.
    pub context: usize,
    /// Search only this agent's memory.
    pub agent: Option<String>,
    /// Search only under this heading.
    pub section: Option<String>,
    /// Search only in this category.
    pub category: Option<String>,
    /// First day or time, as typed.
    pub since: Option<String>,
    /// Last day or time, as typed.
    pub until: Option<String>,
}

impl SearchQuery {
    /// A search for the words in all kinds, without options.
    pub fn of(words: &str) -> Self {
        Self {
            words: words.to_owned(),
            limit: USUAL,
            after: 0,
            kinds: Vec::new(),
            case: false,
            context: 0,
            agent: None,
            section: None,
            category: None,
            since: None,
            until: None,
        }
    }

    /// Parses `[--limit N] [--after N] [--in KIND]… [--case] [--context N] [--agent A] [--section
    /// S] -- WORDS`.
    pub(super) fn read(mut arguments: &[&str]) -> Option<Self> {
        let mut query = Self::of("");
        loop {
            match arguments {
                ["--", words @ ..] if !words.is_empty() => return Some(Self { words: words.join(" "), ..query }),
                ["--case", rest @ ..] => {
                    query.case = true;
                    arguments = rest;
                }
                [flag, value, rest @ ..] => {
                    query.set(flag.strip_prefix("--")?, value)?;
                    arguments = rest;
                }
                _ => return None,
            }
        }
    }

    /// Sets the value of a flag; `None` if the flag is unknown or the value is invalid.
    pub(super) fn set(&mut self, flag: &str, value: &str) -> Option<()> {
        match flag {
            "limit" => self.limit = value.parse().ok()?,
            "after" => self.after = value.parse().ok()?,
            "context" => self.context = value.parse().ok()?,
            "agent" => self.agent = Some(value.to_owned()),
            "section" => self.section = Some(value.to_owned()),
            "category" => self.category = Some(value.trim().to_lowercase()),
            "since" | "until" => {
                Zone::UTC.parse_local(value)?;
                *(if flag == "since" { &mut self.since } else { &mut self.until }) = Some(value.to_owned());
            }
            "in" => self.kinds.push(SearchKind::parse(value)?),
            _ => return None,
        }
        Some(())
    }

    /// The arguments of the chat command that shows the hits after those.
    fn typed_after(&self, after: usize) -> String {
        let mut words: Vec<String> = Vec::new();
        if !self.kinds.is_empty() {
            let kinds: Vec<String> = self.kinds.iter().map(|kind| format!("{}s", kind.as_str())).collect();
            words.push(format!("--in {}", kinds.join(",")));
        }
        words.extend(self.case.then(|| "--case".to_owned()));
        words.extend((self.context > 0).then(|| format!("--context {}", self.context)));
        let values = [
            ("agent", &self.agent),
            ("section", &self.section),
            ("category", &self.category),
            ("since", &self.since),
            ("until", &self.until),
        ];
        for (flag, value) in values {
            words.extend(value.as_ref().map(|value| format!("--{flag} \"{value}\"")));
        }
        words.push(format!("--limit {} --after {after} -- {}", self.limit, self.words));
        words.join(" ")
    }

    /// Returns the time to search; the day named by `until` is included.
    fn time(&self, zone: Zone) -> TimeRange {
        let read = |value: &Option<String>| value.as_deref().and_then(|value| zone.parse_local(value));
        TimeRange {
            since: read(&self.since).map_or(TimeRange::ALL.since, |range| range.since),
            until: read(&self.until).map_or(TimeRange::ALL.until, |range| range.until),
        }
    }

    /// Returns whether the flags exclude everything but entries.
    fn is_for_entries(&self) -> bool {
        self.agent.is_some() || self.section.is_some() || self.category.is_some()
    }

    fn wants(&self, kind: SearchKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Returns whether a text has the words in the required spelling.
    fn fits(&self, text: &str) -> bool {
        !self.case || self.words.split_whitespace().all(|word| text.contains(word))
    }
}

/// One hit of any kind.
#[derive(Debug, Clone)]
pub struct SearchRow {
    /// Kind.
    pub kind: SearchKind,
    /// Number of what was found.
    pub id: i64,
    /// Time.
    pub at: Timestamp,
    /// Author or location.
    pub by: HitSource,
    /// The message that was found, or by which its conversation was.
    pub message: Option<MessageId>,
    /// Title, if there is one.
    pub title: Option<Labelled<String>>,
    /// Text.
    pub text: Text,
    /// Score, from 0 to 1.
    pub score: f64,
}

/// The author of a message, the program whose archive it is from, or the location of a hit in a
/// file.
#[derive(Debug, Clone)]
pub enum HitSource {
    /// The person who searches, in that conversation.
    Person(Option<ConversationId>),
    /// The assistant, in that conversation.
    Assistant(Option<ConversationId>),
    /// Another program, in that imported conversation.
    Archive(Option<ConversationId>, ArchiveKind),
    /// Unknown.
    Nobody,
    /// A file.
    File {
        /// Its path.
        path: String,
        /// First line of the hit, from 1.
        line: usize,
    },
}

impl SearchAdmin<'_> {
    /// Searches a person's own texts, best hits first.
    pub(super) async fn search(&self, person: &Person, query: &SearchQuery) -> anyhow::Result<SearchReport> {
        let query =
            SearchQuery { limit: query.limit.clamp(1, MOST), context: query.context.min(MOST_AROUND), ..query.clone() };
        // One hit more than the page has tells whether there is a next one.
        let reach = query.after.saturating_add(query.limit).saturating_add(1).min(MOST);
        let deep = SearchQuery { limit: reach, ..query.clone() };
        let mut rows = Vec::new();
        for source in [
            self.search_messages(person, &deep).await?,
            self.search_files(person, &deep).await?,
            self.search_skills(person, &deep).await?,
        ] {
            let best = source.iter().map(|row| row.score).fold(0.0, f64::max);
            let scale = |row: SearchRow| SearchRow { score: if best > 0.0 { row.score / best } else { 0.0 }, ..row };
            rows.extend(source.into_iter().map(scale));
        }
        rows.sort_by(|one, other| other.score.total_cmp(&one.score));
        rows.truncate(reach);
        rows.drain(..query.after.min(rows.len()));
        let next = (rows.len() > query.limit).then(|| query.after.saturating_add(query.limit));
        rows.truncate(query.limit);
        let mut hits = Vec::new();
        for row in rows {
            hits.push((self.around(person, &row).await?, row));
        }
        Ok(SearchReport {
            person: person.name.clone(),
            words: FoldedWords::new(&query.words),
            query,
            command: "/search",
            hits,
            next,
        })
    }

    /// Searches the memory only: that of all agents, or of one.
    pub(super) async fn search_memory(&self, person: &Person, query: &SearchQuery) -> anyhow::Result<SearchReport> {
        let found = self.search(person, &SearchQuery { kinds: vec![SearchKind::Note], ..query.clone() }).await?;
        let query = SearchQuery { kinds: query.kinds.clone(), ..found.query };
        Ok(SearchReport { query, command: "/memory search", ..found })
    }
}

/// Hits of a search, best first. Untrusted texts are marked.
#[derive(Debug, Clone)]
pub struct SearchReport {
    /// Name of the person who searches.
    pub person: String,
    /// What was searched.
    pub query: SearchQuery,
    /// The hits, each with its file.
    pub hits: Vec<(Option<FileExcerpt>, SearchRow)>,
    /// The `after` of the next page, if there is one.
    pub next: Option<usize>,
    words: FoldedWords,
    /// The chat command that searches again.
    command: &'static str,
}

impl SearchReport {
    /// The part of a hit around the search words, in marked pieces.
    pub(super) fn snippet(&self, row: &SearchRow, shown: &mut ShownLabel) -> Snippet {
        Snippet::new(shown.words::<Arc<str>>(&row.text), &self.words)
    }

    /// The line of a hit in a file, by the file's present content.
    fn line(&self, around: Option<&FileExcerpt>, found: usize, shown: &mut ShownLabel) -> usize {
        around.map_or(found, |around| around.line(shown, &self.words))
    }

    fn lines_around(&self, around: Option<&FileExcerpt>, shown: &mut ShownLabel) -> Option<Vec<FileLine>> {
        let context = self.query.context;
        around.filter(|_| context > 0).map(|around| around.lines(shown, &self.words, context))
    }
}

impl Render for SearchReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        if self.hits.is_empty() {
            return says::NOTHING_FOUND.in_language(context.language()).into_string();
        }
        let language = context.language();
        let mut lines = Vec::new();
        for (around, row) in &self.hits {
            let (at, sources) = (when(context, row), plain(&all_in_words(language, row.text.label())));
            let title = row.title(shown);
            let head = match (&row.by, row.kind) {
                (HitSource::File { path, line }, _) => {
                    let line = self.line(around.as_ref(), *line, shown);
                    says::hit(language, &at, &plain(&format!("{}:{line}", visible_path(path))), &sources)
                }
                (_, SearchKind::Conversation) => says::conversation_head(language, row.id, &plain(title), &at),
                (_, SearchKind::Reflection | SearchKind::Skill) => says::hit(language, &at, &plain(title), &sources),
                (HitSource::Archive(_, kind), _) => {
                    says::hit(language, &at, &imported_from(language, kind.as_str()), &sources)
                }
                (HitSource::Assistant(_), _) => says::hit(language, &at, context.agent, &sources),
                _ => says::hit(language, &at, &self.person, &sources),
            };
            let snippet = self.snippet(row, shown);
            let piece = self.lines_around(around.as_ref(), shown);
            let piece = piece.map_or_else(|| snippet.markdown(), |lines| FileExcerpt::markdown(&lines));
            lines.push(format!("{head}\n{piece}"));
        }
        lines.extend(self.next.map(|after| {
            let command = format!("{} {}", self.command, self.query.typed_after(after));
            let next = if context.surface.is_chat() { plain(&command) } else { format!("--after {after}") };
            says::more(context.surface.language(), &next)
        }));
        lines.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let hit = |(around, row): &(Option<FileExcerpt>, SearchRow)| {
            let snippet = self.snippet(row, shown);
            let json = json!({
                "kind": row.kind.as_str(),
                "id": row.id,
                "at": row.at.rfc3339(),
                "title": row.title(shown),
                "snippet": snippet.text(),
                "score": row.score,
                "tainted": !row.text.label().is_trusted(),
            });
            let json = match &row.by {
                HitSource::Person(conversation)
                | HitSource::Assistant(conversation)
                | HitSource::Archive(conversation, _) => {
                    with_fields(json, json!({ "conversation": conversation, "message": row.message }))
                }
                HitSource::File { path, line } => {
                    let line = self.line(around.as_ref(), *line, shown);
                    with_fields(json, json!({ "path": path, "line": line }))
                }
                HitSource::Nobody => json,
            };
            match self.lines_around(around.as_ref(), shown) {
                Some(lines) => {
                    with_fields(json, json!({ "lines": lines.iter().map(FileLine::json).collect::<Value>() }))
                }
                None => json,
            }
        };
        self.hits.iter().map(hit).collect()
    }
}

impl SearchRow {
    fn title(&self, shown: &mut ShownLabel) -> &str {
        self.title.as_ref().map(|title| shown.words(title).as_str()).unwrap_or_default()
    }
}

/// The time of a hit. A file dated by day has no time of day.
fn when(context: &RenderContext<'_>, row: &SearchRow) -> String {
    let zone = context.zone;
    let begins_day = zone.day(row.at) != zone.day(Timestamp(row.at.0.saturating_sub(1)));
    match begins_day && matches!(row.by, HitSource::File { .. }) {
        true => context.language().day(zone, row.at, context.now),
        false => context.near(row.at),
    }
}

#[cfg(test)]
mod tests {
    use super::super::command::{self, Command, Query};
    use super::super::tests::english;
    use super::super::tests::fixture::{Fixture, START, keys};
    use super::*;
    use crate::trust::{Label, Source};

    fn of(query: &str, kinds: &[SearchKind]) -> SearchQuery {
        SearchQuery { kinds: kinds.to_vec(), ..SearchQuery::of(query) }
    }

    #[tokio::test]
    async fn hits_have_the_promised_shape() {
        let fixture = Fixture::new().await;
        let said = fixture.says("Ada", "The red shoes are at the cobbler").await;
        let answer = fixture.rendering(
            &fixture
                .admin
                .finder()
                .search(&fixture.ada().person, &of("shoe", &[SearchKind::Message, SearchKind::Conversation]))
                .await
                .unwrap(),
        );
        assert_eq!(answer.json.as_array().unwrap().len(), 2);
        let promised = ["kind", "id", "at", "title", "snippet", "score", "tainted", "conversation", "message"];
        assert_eq!(keys(&answer.json[0]), promised);
        assert!(answer.json.as_array().unwrap().iter().all(|hit| hit["message"] == json!(said.message)));
        let message = answer.json.as_array().unwrap().iter().find(|hit| hit["kind"] == "message").unwrap();
        assert_eq!((&message["id"], &message["at"]), (&json!(said.message), &json!(START.rfc3339())));
        assert_eq!(
            (&message["snippet"], &message["tainted"]),
            (&json!("The red **shoes** are at the cobbler"), &json!(false))
        );
        assert!(message["score"].as_f64().unwrap() > 0.0);
        let conversation = answer.json.as_array().unwrap().iter().find(|hit| hit["kind"] == "conversation").unwrap();
        assert_eq!(conversation["id"], json!(said.conversation));
        assert!(answer.markdown.contains("**shoes**") && answer.label.is_trusted());
    }

    #[tokio::test]
    async fn a_search_never_shows_another_persons_text() {
        let fixture = Fixture::new().await;
        fixture.says("Ben", "canary ben-7f3a").await;
        fixture.says("Ada", "canary ada-19c0").await;
        for (mine, theirs, caller) in
            [("ada-19c0", "ben-7f3a", fixture.ada().person), ("ben-7f3a", "ada-19c0", fixture.ben().person)]
        {
            let answer =
                fixture.rendering(&fixture.admin.finder().search(&caller, &SearchQuery::of("canary")).await.unwrap());
            let all = format!("{}{}", answer.markdown, answer.json).replace("**", "");
            assert!(all.contains("canary") && !all.contains(theirs), "{mine}: {all}");
        }
        let owner = fixture.admin.chat(&fixture.ada(), "/search canary").await;
        assert!(!owner.markdown.contains("7f3a"), "{}", owner.markdown);
    }

    #[tokio::test]
    async fn untrusted_hits_are_marked_and_label_the_answer() {
        let fixture = Fixture::new().await;
        fixture.says("Ada", "about lighthouses").await;
        fixture.receives("Ada", "lighthouses, see [here](http://evil.example)", Source::web("example.org")).await;
        let answer = fixture.admin.chat(&fixture.ada(), "/search lighthouses").await;
        let tainted: Vec<bool> = answer.json.as_array().unwrap().iter().map(|hit| hit["tainted"] == true).collect();
        assert_eq!(tainted.iter().filter(|tainted| **tainted).count(), 1);
        assert!(
            answer.markdown.contains("from outside: text from the web, example.org")
                && !answer.markdown.contains("[here]("),
            "{}",
            answer.markdown
        );
        assert_eq!(answer.label, Label::untrusted(Source::web("example.org")));
    }

    #[tokio::test]
    async fn lines_around_a_hit_are_limited_in_the_memory_too() {
        let fixture = Fixture::new().await;
        let lines: Vec<String> = (0..100).map(|number| format!("- line{number}-")).collect();
        let text = lines.join("\n").replace("line50-", "needle");
        fixture.writes("workspace/memory/long.md", &format!("# Long\n\n{text}\n"));
        for command in ["/memory search --context 1000 needle", "/search --context 1000 needle"] {
            let told = fixture.admin.chat(&fixture.ada(), command).await.markdown;
            assert!(told.contains("line49-") && told.contains("line51-"), "{command}: {told}");
            assert!(!told.contains("line5-") && !told.contains("line95-"), "{command}: {told}");
        }
    }

    /// Promise (search/next-page): A search that found more ends with the command that goes on,
    /// with the same limits.
    #[tokio::test]
    async fn a_search_goes_on_where_it_ended() {
        let fixture = Fixture::new().await;
        for _ in 0..5 {
            fixture.says("Ada", "red shoes").await;
        }
        let mut found = Vec::new();
        let mut command = "/search --in messages --case --limit 2 red shoes".to_owned();
        loop {
            let answer = fixture.admin.chat(&fixture.ada(), &command).await;
            assert!(!answer.failed, "{command}");
            found.extend(answer.json.as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()));
            let more = answer.markdown.lines().last().and_then(|line| line.strip_prefix("More: ")).map(str::to_owned);
            let Some(more) = more else { break };
            command = more.replace('\\', "");
            assert!(command.starts_with("/search --in messages --case --limit 2 --after "), "{command}");
        }
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn the_next_page_is_typed_with_every_limit() {
        let query = SearchQuery {
            limit: 3,
            kinds: vec![SearchKind::Note, SearchKind::File],
            case: true,
            context: 2,
            agent: Some("reviewer".to_owned()),
            section: Some("Coding Conventions".to_owned()),
            category: Some("recipes".to_owned()),
            since: Some("2026-11-02 14:30".to_owned()),
            until: Some("2026-11-03".to_owned()),
            ..SearchQuery::of("red --case shoes")
        };
        let typed = format!("/search {}", query.typed_after(6));
        let Some(Command::Read(Query::Search(read))) = command::parse(&typed) else { panic!("{typed}") };
        assert_eq!(read, SearchQuery { after: 6, ..query });
    }

    #[tokio::test]
    async fn nothing_found_is_said() {
        let fixture = Fixture::new().await;
        let answer = fixture.admin.chat(&fixture.ada(), "/search ???").await;
        assert_eq!(
            (answer.markdown.as_str(), answer.json, answer.failed),
            (&*english(says::NOTHING_FOUND), json!([]), false)
        );
    }
}
