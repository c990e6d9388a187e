//! `/search` and `compline search`: messages, summaries, memory, files and live skills. Always in
//! the scope of the person who asks and no other.
//!
//! Each source ranks its hits on a scale of its own, so the scores are normalised to the range 0 to
//! 1 before they are merged. Untrusted hits are shown and marked: the reader is a person, not a
//! model. Context lines around a hit come from the file's present content.

mod query; // words and limits
mod sources; // what is searched, and lines around a hit

pub use query::{SearchKind, SearchQuery};
pub use sources::{FileExcerpt, FileLine};

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::SearchAdmin;
use super::answer::{Render, RenderContext, ShownLabel, plain, with_fields};
use super::memory::visible_path;
use crate::id::{ConversationId, MessageId};
use crate::people::Person;
use crate::search::snippet::{QueryWords, Snippet};
use crate::store::ArchiveKind;
use crate::time::{Timestamp, Zone};
use crate::trust::{Labelled, Scope, Text};
use crate::wording::command as says;
use crate::wording::import::imported_from;
use crate::wording::why::all_in_words;
use sources::RankedHit;

/// Number of the best hits that can be looked at, page by page. Each page ranks the hits to this
/// depth, so none is repeated or lost from one to the next.
pub const SEARCH_DEPTH: usize = 200;
/// Maximum number of context lines above and below a hit.
const MOST_AROUND: usize = 20;

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
        /// Path of the file.
        path: String,
        /// First line of the hit, from 1.
        line: usize,
    },
}

impl SearchAdmin<'_> {
    /// Searches a person's own texts, best hits first.
    pub async fn search(&self, person: &Person, query: &SearchQuery) -> anyhow::Result<SearchReport> {
        let query = SearchQuery {
            limit: query.limit.clamp(1, SEARCH_DEPTH),
            context: query.context.min(MOST_AROUND),
            ..query.clone()
        };
        let zone = self.engine.zone_of(Scope::Person(person.id)).await?;
        let (mut ranked, is_cut) = self.ranked(person, &query, zone).await?;
        let counts = counts(&ranked);
        ranked.drain(..query.after.min(ranked.len()));
        let next = (ranked.len() > query.limit).then(|| query.after.saturating_add(query.limit));
        ranked.truncate(query.limit);
        let words = QueryWords::new(&query.words);
        let hits = self.with_files(person, self.described(ranked, zone).await?, &words).await?;
        Ok(SearchReport { person: person.name.clone(), words, query, command: "/search", hits, counts, next, is_cut })
    }

    /// The best hits of all sources, at most [`SEARCH_DEPTH`], for any page; true if there are
    /// more.
    async fn ranked(&self, person: &Person, query: &SearchQuery, zone: Zone) -> anyhow::Result<(Vec<RankedHit>, bool)> {
        let whole = SearchQuery { limit: SEARCH_DEPTH + 1, after: 0, ..query.clone() };
        let ((messages, mut is_cut), files, skills) = tokio::try_join!(
            self.search_messages(person, &whole, zone),
            self.search_files(person, &whole, zone),
            self.search_skills(person, &whole, zone)
        )?;
        is_cut |= files.len() > SEARCH_DEPTH || skills.len() > SEARCH_DEPTH;
        let mut hits = Vec::new();
        for source in [messages, files, skills] {
            let best = source.iter().map(|hit| hit.row.score).fold(0.0, f64::max);
            hits.extend(source.into_iter().map(|mut hit| {
                hit.row.score = if best > 0.0 { hit.row.score / best } else { 0.0 };
                hit
            }));
        }
        hits.sort_by(|one, other| other.row.score.total_cmp(&one.row.score));
        // A message has several texts, and a conversation is found by its messages and its summary.
        let mut known = HashSet::new();
        let is_single = |kind| matches!(kind, SearchKind::Message | SearchKind::Conversation);
        hits.retain(|hit| !is_single(hit.row.kind) || known.insert((hit.row.kind, hit.row.id)));
        is_cut |= hits.len() > SEARCH_DEPTH;
        hits.truncate(SEARCH_DEPTH);
        Ok((hits, is_cut))
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
    /// The query.
    pub query: SearchQuery,
    /// The hits, each with its file.
    pub hits: Vec<(Option<FileExcerpt>, SearchRow)>,
    /// Number of hits of each kind on all pages; kinds without any are missing.
    pub counts: Vec<(SearchKind, usize)>,
    /// The `after` of the next page, if there is one.
    pub next: Option<usize>,
    /// True if more was found than can be looked at.
    pub is_cut: bool,
    words: QueryWords,
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
        around.map_or(found, |around| {
            shown.also(around.label());
            around.line
        })
    }

    /// The part of a hit around the search words, in marked pieces, with its label.
    pub fn passage(&self, row: &SearchRow) -> Labelled<Snippet> {
        let snippet = self.snippet(row, &mut ShownLabel::nothing());
        Labelled::new(snippet, row.text.label().clone(), row.text.scope())
    }

    /// The lines around a hit in a file, with the label of the file; `None` if none are wanted.
    pub fn lines(&self, around: &FileExcerpt) -> Option<Labelled<Vec<FileLine>>> {
        let lines = self.lines_around(Some(around), &mut ShownLabel::nothing())?;
        Some(Labelled::new(lines, around.label().clone(), around.scope()))
    }

    /// True if this is the last page, and more was found.
    pub fn ends_at_depth(&self) -> bool {
        self.is_cut && self.next.is_none()
    }

    fn lines_around(&self, around: Option<&FileExcerpt>, shown: &mut ShownLabel) -> Option<Vec<FileLine>> {
        let context = self.query.context;
        around.filter(|_| context > 0).map(|around| around.lines(shown, &self.words, context))
    }
}

impl Render for SearchReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        if self.hits.is_empty() && !self.ends_at_depth() {
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
        lines.extend(self.ends_at_depth().then(|| says::search_ends(language, SEARCH_DEPTH)));
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
    /// The title, if there is one.
    pub fn title_text(&self) -> Option<Text> {
        let title = self.title.as_ref()?;
        Some(Labelled::new(Arc::from(&**ShownLabel::nothing().words(title)), title.label().clone(), title.scope()))
    }

    /// The name of the skill, if it is one.
    pub fn skill_name(&self) -> Option<String> {
        let name = self.title.as_ref().filter(|_| self.kind == SearchKind::Skill);
        name.map(|name| ShownLabel::nothing().words(name).clone())
    }

    fn title(&self, shown: &mut ShownLabel) -> &str {
        self.title.as_ref().map(|title| shown.words(title).as_str()).unwrap_or_default()
    }
}

/// Counts the hits of each kind.
fn counts(hits: &[RankedHit]) -> Vec<(SearchKind, usize)> {
    let count = |kind| hits.iter().filter(|hit| hit.row.kind == kind).count();
    SearchKind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, count)| *count > 0).collect()
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
    use crate::wording::Language;

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
        let (mut found, mut command) = (Vec::new(), "/search --in messages --case --limit 2 red shoes".to_owned());
        loop {
            let answer = fixture.admin.chat(&fixture.ada(), &command).await;
            assert!(!answer.failed, "{command}");
            found.extend(answer.json.as_array().unwrap().clone());
            let more = answer.markdown.lines().last().and_then(|line| line.strip_prefix("More: ")).map(str::to_owned);
            let Some(more) = more else { break };
            command = more.replace('\\', "");
            assert!(command.starts_with("/search --in messages --case --limit 2 --after "), "{command}");
        }
        let whole = fixture.admin.chat(&fixture.ada(), "/search --in messages --limit 200 red shoes").await.json;
        assert_eq!((json!(found), whole.as_array().unwrap().len()), (whole.clone(), 5));
    }

    /// Promise (search/exact-pages): Page by page a search shows each of the best 200 hits once,
    /// for any size of its pages, and says so where it ends.
    #[tokio::test]
    async fn pages_of_a_search_repeat_nothing_and_lose_nothing() {
        let fixture = Fixture::new().await;
        let (ada, finder) = (fixture.ada().person, fixture.admin.finder());
        for number in 0..30 {
            let said = format!("red shoes, pair {number}{}", " and laces".repeat(number % 5));
            fixture.says("Ada", said.leak()).await;
            fixture.writes(&format!("workspace/memory/note-{number}.md"), &format!("# Shoes\n\nred, {number}\n"));
            fixture.writes(&format!("workspace/plans/list-{number}.txt"), "red shoes, red shoes and laces\n");
        }
        let page = async |limit, after| {
            let query = SearchQuery { limit, after, ..of("red shoes", &[]) };
            let report = finder.search(&ada, &query).await.unwrap();
            let hits = fixture.rendering(&report).json;
            (hits.as_array().unwrap().clone(), report.next, report.ends_at_depth())
        };
        let (whole, next, is_cut) = page(SEARCH_DEPTH, 0).await;
        assert!(whole.len() > 80 && next.is_none() && !is_cut, "{}", whole.len());
        for limit in [1, 3, 7, 50] {
            let (mut found, mut after) = (Vec::new(), Some(0));
            while let Some(from) = after {
                let (hits, next, _) = page(limit, from).await;
                found.extend(hits);
                after = next;
                // Time passes while one reads.
                fixture.clock.set(fixture.now().plus(std::time::Duration::from_secs(1)));
            }
            assert_eq!(json!(found), json!(whole), "{limit}");
        }
    }

    /// Proves: search/exact-pages
    #[tokio::test]
    async fn a_search_says_where_it_ends() {
        let fixture = Fixture::new().await;
        for number in 0..=SEARCH_DEPTH {
            fixture.writes(&format!("workspace/plans/list-{number}.txt"), "red shoes\n");
        }
        let told = async |command: &str| fixture.admin.chat(&fixture.ada(), command).await.markdown;
        let ends = says::search_ends(Language::ENGLISH, SEARCH_DEPTH);
        let last = told("/search --in files --limit 100 --after 100 shoes").await;
        assert!(last.ends_with(&ends), "{last}");
        let first = told("/search --in files --limit 100 shoes").await;
        assert!(first.contains("More: ") && !first.contains(&ends), "{first}");
        assert_eq!(told("/search --in files --after 200 shoes").await, ends);
        // All of these are one conversation, and none has the words in that case.
        for _ in 0..=SEARCH_DEPTH {
            fixture.says("Ada", "red hats").await;
        }
        let folded = told("/search --in conversations hats").await;
        assert!(folded.ends_with(&ends) && folded != ends, "{folded}");
        assert_eq!(told("/search --in messages --case Hats").await, ends);
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
