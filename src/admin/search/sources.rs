//! The sources of a search, and the lines around a hit in a file. A conversation is found by its
//! best message and by its summary; a live skill is scored by the share of the search words that
//! its text contains.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::super::answer::ShownLabel;
use super::super::conversations::{map_labelled, title_of};
use super::{HitSource, SEARCH_DEPTH, SearchKind, SearchQuery, SearchRow};
use crate::admin::SearchAdmin;
use crate::id::{ConversationId, ReflectionId};
use crate::memory::Index;
use crate::people::{Party, Person, Role};
use crate::review::LiveSkill;
use crate::search::snippet::{QueryWords, Snippet};
use crate::search::{EntryHit, EntryQuery, MessageHit, find_messages};
use crate::skill::MAIN;
use crate::store::{Db, EntryKind, MessageQuery, Node};
use crate::time::{TimeRange, Zone};
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wording::Language;

/// A hit before it is described: only hits that are shown are.
pub(super) struct RankedHit {
    pub(super) row: SearchRow,
    /// The entry that it is, if it is one.
    entry: Option<EntryHit>,
}

impl From<SearchRow> for RankedHit {
    fn from(row: SearchRow) -> Self {
        Self { row, entry: None }
    }
}

impl SearchAdmin<'_> {
    /// Also returns true if more texts were found than are looked at.
    pub(super) async fn search_messages(
        &self,
        person: &Person,
        query: &SearchQuery,
        zone: Zone,
    ) -> anyhow::Result<(Vec<RankedHit>, bool)> {
        if query.is_for_entries() || !(query.wants(SearchKind::Message) || query.wants(SearchKind::Conversation)) {
            return Ok((Vec::new(), false));
        }
        let (scope, query) = (Scope::Person(person.id), query.clone());
        self.journal.read_much(move |db| find_conversations(db, scope, &query, zone)).await
    }
}

fn find_conversations(
    db: Db<'_>,
    scope: Scope,
    query: &SearchQuery,
    zone: Zone,
) -> anyhow::Result<(Vec<RankedHit>, bool)> {
    let message_query = MessageQuery {
        words: &query.words,
        untrusted_too: true,
        limit: query.limit,
        zone,
        time: query.time(zone),
        ..MessageQuery::of(scope)
    };
    let mut hits = find_messages(db, &message_query)?.hits;
    let is_cut = hits.len() > SEARCH_DEPTH;
    hits.retain(|hit| query.fits(ShownLabel::nothing().words::<Arc<str>>(&hit.text)));
    let mut rows = Vec::new();
    let mut known: HashSet<ConversationId> = HashSet::new();
    for hit in hits {
        if let Some(conversation) =
            hit.conversation.filter(|id| query.wants(SearchKind::Conversation) && known.insert(*id))
        {
            rows.push(message_row(SearchKind::Conversation, conversation.0, hit.clone()));
        }
        if query.wants(SearchKind::Message) {
            rows.push(message_row(SearchKind::Message, hit.message.0, hit));
        }
    }
    Ok((rows, is_cut))
}

fn message_row(kind: SearchKind, id: i64, hit: MessageHit) -> RankedHit {
    let by = match hit.person {
        Some(_) => HitSource::Person(hit.conversation),
        None => HitSource::Assistant(hit.conversation),
    };
    let MessageHit { at, text, score, .. } = hit;
    SearchRow { kind, id, at, by, message: Some(hit.message), title: None, text, score }.into()
}

impl SearchAdmin<'_> {
    /// Adds to the hits of a page what is shown of them besides their text.
    pub(super) async fn described(&self, hits: Vec<RankedHit>, zone: Zone) -> anyhow::Result<Vec<SearchRow>> {
        let read = move |db: Db<'_>| {
            let rows = hits.into_iter().map(|RankedHit { mut row, entry }| {
                if let (Some(hit), HitSource::File { .. }) = (entry, &row.by) {
                    let origin = Index::origins_in(db, &[hit.key])?;
                    let version =
                        origin.iter().find_map(|node| if let Node::File(id) = node { Some(*id) } else { None });
                    row.id = version.unwrap_or(0);
                }
                describe(db, row, zone)
            });
            rows.collect()
        };
        self.journal.read_much(read).await
    }
}

/// Adds the title of the conversation, the program that an imported message is from, and the
/// message with a reflection.
fn describe(db: Db<'_>, row: SearchRow, zone: Zone) -> anyhow::Result<SearchRow> {
    Ok(match (row.by.clone(), row.message) {
        (HitSource::Person(conversation), Some(_)) => SearchRow { title: title_in(db, conversation, zone)?, ..row },
        (HitSource::Assistant(conversation), Some(message)) => {
            let archive = db.imports().archive_of(message)?;
            let by = archive.map_or(HitSource::Assistant(conversation), |kind| HitSource::Archive(conversation, kind));
            SearchRow { by, title: title_in(db, conversation, zone)?, ..row }
        }
        (HitSource::Nobody, None) if row.kind == SearchKind::Reflection => {
            let reflection = db.reflections().reflection(ReflectionId(row.id))?;
            let message = reflection.map(|reflection| db.messages().message(reflection.message)).transpose()?.flatten();
            match message {
                Some(message) => {
                    SearchRow { by: HitSource::Assistant(message.conversation), message: Some(message.id), ..row }
                }
                None => row,
            }
        }
        _ => row,
    })
}

fn title_in(db: Db<'_>, id: Option<ConversationId>, zone: Zone) -> anyhow::Result<Option<Labelled<String>>> {
    let Some(conversation) = id.map(|id| db.conversations().conversation(id)).transpose()?.flatten() else {
        return Ok(None);
    };
    let mut shown = ShownLabel::nothing();
    let words = title_of(db, &conversation)?.words(Language::ENGLISH, zone, &mut shown);
    let title = map_labelled(&shown.text(words, conversation.scope), |words| words.to_string());
    Ok(Some(title).filter(|title| !ShownLabel::nothing().words(title).is_empty()))
}

/// The entry kinds that count as notes or files.
const NOTES: [EntryKind; 4] = [EntryKind::Fact, EntryKind::Note, EntryKind::Day, EntryKind::Text];

impl SearchAdmin<'_> {
    pub(super) async fn search_files(
        &self,
        person: &Person,
        query: &SearchQuery,
        zone: Zone,
    ) -> anyhow::Result<Vec<RankedHit>> {
        let kinds: Vec<EntryKind> = EntryKind::ALL.into_iter().filter(|kind| query.wants(shown_kind(*kind))).collect();
        if kinds.is_empty() {
            return Ok(Vec::new());
        }
        let party = Party::One(person.clone());
        let question = EntryQuery {
            kinds,
            agents: query.agent.iter().cloned().collect(),
            category: query.category.clone(),
            time: query.time(zone),
            section: query.section.clone(),
            case: query.case,
            untrusted_too: true,
            limit: query.limit,
            ..EntryQuery::of(&party, Labelled::new(Arc::from(&*query.words), Label::neutral(), party.scope()))
        };
        let found = self.index.search(&question).await?;
        Ok(found.hits.into_iter().map(entry_row).collect())
    }
}

fn shown_kind(kind: EntryKind) -> SearchKind {
    match kind {
        EntryKind::Conversation => SearchKind::Conversation,
        EntryKind::Reflection => SearchKind::Reflection,
        kind if NOTES.contains(&kind) => SearchKind::Note,
        _ => SearchKind::File,
    }
}

/// Builds a hit. The path of a conversation's or reflection's entry contains its number; a file is
/// identified by its known version.
fn entry_row(hit: EntryHit) -> RankedHit {
    let kind = shown_kind(hit.kind);
    let number = hit.path.rsplit_once('/').and_then(|(_, number)| number.parse().ok());
    let is_file = matches!(kind, SearchKind::Note | SearchKind::File);
    let row = SearchRow {
        kind,
        id: number.unwrap_or(0),
        at: hit.at,
        by: if is_file {
            HitSource::File { path: hit.path.clone(), line: usize::try_from(hit.line).unwrap_or(1) }
        } else {
            HitSource::Nobody
        },
        message: None,
        title: Some(title(&hit.name)),
        text: hit.text.clone(),
        score: hit.score,
    };
    RankedHit { row, entry: Some(hit) }
}

fn title(name: &Text) -> Labelled<String> {
    let words: &Arc<str> = ShownLabel::nothing().words(name);
    Labelled::new(words.to_string(), name.label().clone(), name.scope())
}

impl SearchAdmin<'_> {
    pub(super) async fn search_skills(
        &self,
        person: &Person,
        query: &SearchQuery,
        zone: Zone,
    ) -> anyhow::Result<Vec<RankedHit>> {
        let is_limited = query.is_for_entries() || query.time(zone) != TimeRange::ALL;
        // Members search what is their own.
        if !query.wants(SearchKind::Skill) || is_limited || person.role != Role::Owner {
            return Ok(Vec::new());
        }
        let (wanted, live) = (QueryWords::new(&query.words), self.review.live().await?);
        let mut rows = Vec::new();
        for skill in live.skills.values() {
            let words = skill_words(skill);
            let score = wanted.share_in(&words);
            if score > 0.0 && query.fits(&words) {
                rows.push(self.skill_row(skill, words, score).await?);
            }
        }
        rows.sort_by(|one, other| other.score.total_cmp(&one.score));
        rows.truncate(query.limit);
        Ok(rows.into_iter().map(RankedHit::from).collect())
    }

    async fn skill_row(&self, live: &LiveSkill, words: String, score: f64) -> anyhow::Result<SearchRow> {
        let version = live.version;
        let born = self.journal.read(move |db| db.derivations().birth(Node::Version(version))).await?;
        let (label, name) = (live.label.clone(), live.skill.manifest.name.clone());
        Ok(SearchRow {
            kind: SearchKind::Skill,
            id: version.0,
            at: born.map_or_else(|| self.clock.now(), |(at, _)| at),
            by: HitSource::Nobody,
            message: None,
            title: Some(Labelled::new(name, label.clone(), Scope::Shared)),
            text: Labelled::new(Arc::from(words), label, Scope::Shared),
            score,
        })
    }
}

fn skill_words(live: &LiveSkill) -> String {
    let manifest = &live.skill.manifest;
    let main = live.skill.content.text(MAIN).unwrap_or_default();
    format!("{}\n{}\n{main}", manifest.name, manifest.description)
}

/// A file, and the position of a hit in it.
#[derive(Debug, Clone)]
pub struct FileExcerpt {
    text: Text,
    /// The line of the hit that contains most search words, from 1; the hit's first line if none
    /// does.
    pub line: usize,
}

/// A line around a hit.
#[derive(Debug, Clone)]
pub struct FileLine {
    /// Number, from 1.
    pub number: usize,
    /// The line, in marked pieces.
    pub words: Snippet,
    /// True for the line of the hit.
    pub is_hit: bool,
}

impl SearchAdmin<'_> {
    /// Adds the files to the hits in them; `None` if a hit is in no file, or the file no longer
    /// exists.
    pub(super) async fn with_files(
        &self,
        person: &Person,
        rows: Vec<SearchRow>,
        wanted: &QueryWords,
    ) -> anyhow::Result<Vec<(Option<FileExcerpt>, SearchRow)>> {
        let path = |row: &SearchRow| if let HitSource::File { path, .. } = &row.by { Some(path.clone()) } else { None };
        let paths: BTreeSet<String> = rows.iter().filter_map(path).collect();
        let paths: Vec<String> = paths.into_iter().collect();
        let texts = self.workspace.files().read_texts(&Party::One(person.clone()), paths.clone()).await?;
        let read = texts.into_iter().map(|read| read.ok().map(|(text, ..)| text));
        let read: BTreeMap<String, Option<Text>> = paths.into_iter().zip(read).collect();
        let with_file = |row: SearchRow| {
            let HitSource::File { path, line } = &row.by else { return (None, row) };
            let text = read.get(path).cloned().flatten();
            (text.map(|text| FileExcerpt::of(text, *line, &row.text, wanted)), row)
        };
        Ok(rows.into_iter().map(with_file).collect())
    }
}

impl FileExcerpt {
    /// Finds a hit in its file; `first` is its first line.
    fn of(text: Text, first: usize, hit: &Text, wanted: &QueryWords) -> Self {
        let mut shown = ShownLabel::nothing();
        let length = shown.words::<Arc<str>>(hit).lines().count();
        let all = (1..).zip(shown.words::<Arc<str>>(&text).lines());
        let mut best = (first, 0.0);
        for (number, line) in all.skip(first.saturating_sub(1)).take(length.max(1) + 1) {
            let share = wanted.share_in(line);
            if share > best.1 {
                best = (number, share);
            }
        }
        Self { text, line: best.0 }
    }

    pub(super) fn label(&self) -> &Label {
        self.text.label()
    }

    pub(super) fn scope(&self) -> Scope {
        self.text.scope()
    }

    /// The line of the hit, with `context` lines above and below.
    pub(super) fn lines(&self, shown: &mut ShownLabel, wanted: &QueryWords, context: usize) -> Vec<FileLine> {
        let hit = self.line;
        let (first, last) = (hit.saturating_sub(context), hit.saturating_add(context));
        let all = (1..).zip(shown.words::<Arc<str>>(&self.text).lines());
        let kept = all.skip_while(|(number, _)| *number < first).take_while(|(number, _)| *number <= last);
        kept.map(|(number, line)| FileLine { number, words: Snippet::new(line, wanted), is_hit: number == hit })
            .collect()
    }

    /// Numbered lines for a person.
    pub(super) fn markdown(lines: &[FileLine]) -> String {
        let one = |line: &FileLine| {
            format!("{}{} {}", line.number, if line.is_hit { ":" } else { "-" }, line.words.markdown())
        };
        lines.iter().map(one).collect::<Vec<_>>().join("\n")
    }
}

impl FileLine {
    pub(super) fn json(&self) -> Value {
        json!({ "line": self.number, "text": self.words.text(), "hit": self.is_hit })
    }
}
