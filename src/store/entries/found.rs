//! Looking entries up: by words, by the digest of what they say, and by how often they were of use.
//!
//! Whose entry it is, whether it is trusted, and whatever else a question is limited to are words of the index, so nothing of another scope is even
//! a candidate, and a rare category is not crowded out by what matches better elsewhere. Ranking costs a microsecond for each row that matches, so
//! only the rarest words of a question weigh: those that stand in at most [`WEIGHED`] entries together. In an index smaller than that all do.
//! A word that stands nearly everywhere says nothing about where to look.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::{Row, ToSql, params, params_from_iter};

use super::super::recall::COUNT_UP_TO;
use super::super::{Db, EntryKind};
use super::{name_word, scope_word};
use crate::text::question::Question;
use crate::time::Moment;
use crate::trust::{Label, Labelled, Scope, Text};

/// The words that weigh stand in at most so many entries together.
const WEIGHED: i64 = 8_000;

/// So many of the newest answers of the extractor are asked for categories.
const TAKEN_DOWN: u32 = 1_000;

/// What a question is limited to.
#[derive(Debug, Clone)]
pub struct Lookup {
    /// Whose entries; what is shared is looked into as well.
    pub scope: Scope,
    /// Only these kinds; all if empty.
    pub kinds: Vec<EntryKind>,
    /// Only this category.
    pub category: Option<String>,
    /// Only under this heading.
    pub section: Option<String>,
    /// Only in the memory of this agent.
    pub agent: Option<String>,
    /// Untrusted ones as well.
    pub untrusted_too: bool,
}

/// The entries that match some words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matching {
    /// Row and score, best first; higher is better.
    pub ranked: Vec<(i64, f64)>,
    /// Those of them in which the words stand one after the other.
    pub phrase: HashSet<i64>,
    /// How many untrusted entries match besides, when they were not asked for; counted up to a bound.
    pub untrusted: usize,
}

/// An entry as it is stored, with what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryRow {
    /// Its row.
    pub id: i64,
    /// What it keeps through every rebuilding.
    pub key: String,
    /// Where it stands.
    pub path: String,
    /// The line there, from 1.
    pub line: u32,
    /// What it is.
    pub kind: EntryKind,
    /// Its category, or blank.
    pub category: String,
    /// Under which heading.
    pub section: Text,
    /// A fact's key, a note's title; blank for running text.
    pub name: Text,
    /// The words.
    pub text: Text,
    /// SHA-256 of the words.
    pub digest: String,
    /// When it was written.
    pub at: Moment,
    /// How often a trusted turn was given it.
    pub uses: u32,
    /// When the last time.
    pub used_at: Option<Moment>,
}

const ENTRY: &str = "SELECT e.id, e.key, e.path, e.line, e.kind, e.category, e.section, e.name, e.text, e.digest, e.at, e.label, e.scope,
    coalesce(u.uses, 0), u.last_at FROM entries e LEFT JOIN entry_uses u ON u.key = e.key";

fn entry(row: &Row<'_>) -> rusqlite::Result<EntryRow> {
    let (label, scope): (Label, Scope) = (row.get(11)?, row.get(12)?);
    let text = |index: usize| -> rusqlite::Result<Text> {
        Ok(Labelled::new(row.get::<_, Arc<str>>(index)?, label.clone(), scope))
    };
    let kind: String = row.get(4)?;
    Ok(EntryRow {
        id: row.get(0)?,
        key: row.get(1)?,
        path: row.get(2)?,
        line: row.get(3)?,
        kind: EntryKind::parse(&kind).unwrap_or(EntryKind::File),
        category: row.get(5)?,
        section: text(6)?,
        name: text(7)?,
        text: text(8)?,
        digest: row.get(9)?,
        at: row.get(10)?,
        uses: row.get(13)?,
        used_at: row.get(14)?,
    })
}

impl Lookup {
    /// Everything trusted of that scope.
    pub fn of(scope: Scope) -> Self {
        Self { scope, kinds: Vec::new(), category: None, section: None, agent: None, untrusted_too: false }
    }

    /// The limits as an expression of the index.
    fn places(&self, trust: &[bool]) -> String {
        let scopes = [self.scope, Scope::Shared];
        let mut whose: Vec<String> =
            scopes.iter().flat_map(|scope| trust.iter().map(|trusted| scope_word(*scope, *trusted))).collect();
        whose.dedup();
        let mut all = vec![format!("place : ({})", whose.join(" OR "))];
        if !self.kinds.is_empty() {
            let kinds: Vec<String> = self.kinds.iter().map(|kind| format!("kind{}0", kind.as_str())).collect();
            all.push(format!("place : ({})", kinds.join(" OR ")));
        }
        let names = [("category", &self.category), ("section", &self.section), ("agent", &self.agent)];
        all.extend(
            names.iter().filter_map(|(prefix, name)| {
                name.as_deref().map(|name| format!("place : ({})", name_word(prefix, name)))
            }),
        );
        all.join(" AND ")
    }

    /// The same for an entry that was not found by words.
    fn takes(&self, row: &EntryRow) -> bool {
        let named = |wanted: &Option<String>, name: &str| {
            wanted.as_deref().is_none_or(|wanted| name_word("", wanted) == name_word("", name))
        };
        let trusted = self.untrusted_too || row.text.label().is_trusted();
        let kind = self.kinds.is_empty() || self.kinds.contains(&row.kind);
        let agent = super::agent_of(&row.path).unwrap_or("");
        let names = named(&self.category, &row.category) && named(&self.section, row.section.open().0);
        row.text.scope().fits(self.scope) && trusted && kind && names && named(&self.agent, agent)
    }

    fn own_places(&self) -> String {
        self.places(if self.untrusted_too { &[true, false] } else { &[true] })
    }
}

impl Db<'_> {
    /// The entries that match the words of a question, best first, at most `limit`.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn entries_matching(&self, lookup: &Lookup, question: &Question, limit: usize) -> anyhow::Result<Matching> {
        if question.is_empty() {
            return Ok(Matching::default());
        }
        let quoted = |words: &[String]| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>();
        let terms = quoted(&question.words);
        let weighing = self.weighing(&terms)?;
        let (places, most) = (lookup.own_places(), i64::try_from(limit).unwrap_or(i64::MAX));
        let all = format!("{{name body}} : ({}) AND {places}", terms.join(" AND "));
        let mut found = Matching::default();
        let any = if weighing.is_empty() {
            found.ranked = self.newest_entries(&all, most)?;
            terms.join(" OR ")
        } else {
            let any = weighing.join(" OR ");
            found.ranked = self.ranked_entries(&any, &format!("{{name body}} : ({any}) AND {places}"), most)?;
            let whole = if terms.len() > 1 { self.ranked_entries(&any, &all, most)? } else { Vec::new() };
            found.add(whole);
            any
        };
        if question.all.len() > 1 {
            let phrase = format!("{{name body}} : ({}) AND {places}", quoted(&question.all).join(" + "));
            found.phrase = self.newest_entries(&phrase, most)?.into_iter().map(|(id, _)| id).collect();
        }
        if !lookup.untrusted_too {
            found.untrusted =
                self.count_matching(&format!("{} AND {{name body}} : ({any})", lookup.places(&[false])))?;
        }
        Ok(found)
    }

    /// The entries that say what has one of these digests, within the limits of a question.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn entries_saying(&self, lookup: &Lookup, digests: &[String]) -> anyhow::Result<Vec<EntryRow>> {
        let mut found = Vec::new();
        for some in digests.chunks(CHUNK) {
            let sql = format!("{ENTRY} WHERE e.digest IN ({}) ORDER BY e.id", marks(some.len()));
            let mut query = self.0.prepare(&sql)?;
            found.extend(query.query_map(params_from_iter(some), entry)?.collect::<Result<Vec<_>, _>>()?);
        }
        found.retain(|row| lookup.takes(row));
        Ok(found)
    }

    /// Those entries, in no order.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn entry_rows(&self, ids: &[i64]) -> anyhow::Result<Vec<EntryRow>> {
        let mut found = Vec::new();
        for some in ids.chunks(CHUNK) {
            let mut query = self.0.prepare(&format!("{ENTRY} WHERE e.id IN ({})", marks(some.len())))?;
            let values = some.iter().map(|id| id as &dyn ToSql);
            found.extend(query.query_map(params_from_iter(values), entry)?.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(found)
    }

    /// Path and section of the entries with these keys.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn entry_places(&self, keys: &[String]) -> anyhow::Result<Vec<(String, String)>> {
        let mut query = self.0.prepare_cached("SELECT path, section FROM entries WHERE key = ?1")?;
        let mut places = Vec::new();
        for key in keys {
            places
                .extend(query.query_map([key], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(places)
    }

    /// Trusted facts and notes of a scope that may matter most: the ones used last, and the newest. At most `limit` of each.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn entries_of_use(&self, scope: Scope, limit: u32) -> anyhow::Result<Vec<EntryRow>> {
        let which = "e.scope = ?1 AND e.kind IN ('fact', 'note') AND e.label = 'trusted'";
        let mut used = self
            .0
            .prepare_cached(&format!("{ENTRY} WHERE {which} AND u.key IS NOT NULL ORDER BY u.last_at DESC LIMIT ?2"))?;
        let mut newest = self.0.prepare_cached(&format!("{ENTRY} WHERE {which} ORDER BY e.at DESC, e.id LIMIT ?2"))?;
        let mut found: HashMap<i64, EntryRow> = HashMap::new();
        for query in [&mut used, &mut newest] {
            for row in query.query_map(params![scope, limit], entry)? {
                let row = row?;
                found.insert(row.id, row);
            }
        }
        Ok(found.into_values().collect())
    }

    /// The categories under which facts of a scope were taken down, by key in small letters; of a key that came twice, the newest.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn fact_categories(&self, scope: Scope) -> anyhow::Result<HashMap<String, String>> {
        let mut query = self.0.prepare_cached(
            "SELECT f.value ->> 'key', f.value ->> 'category' FROM extractions e, json_each(e.facts) f
             WHERE e.id IN (SELECT id FROM extractions WHERE scope = ?1 AND state IN ('asked', 'kept') ORDER BY id DESC LIMIT ?2)
             ORDER BY e.id",
        )?;
        let mut categories = HashMap::new();
        for row in query.query_map(params![scope, TAKEN_DOWN], |row| Ok((row.get(0)?, row.get(1)?)))? {
            let (key, category): (Option<String>, Option<String>) = row?;
            if let (Some(key), Some(category)) = (key, category) {
                categories.insert(key.trim().to_lowercase(), category);
            }
        }
        Ok(categories)
    }

    /// The terms that weigh: the rarest, as long as they do not stand in too many entries together. None, if each stands in too many.
    fn weighing<'t>(&self, terms: &'t [String]) -> anyhow::Result<Vec<&'t str>> {
        let mut count = self
            .0
            .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM entries_fts WHERE entries_fts MATCH ?1 LIMIT ?2)")?;
        let mut counted = Vec::new();
        for term in terms {
            let rows: i64 =
                count.query_row(params![format!("{{name body}} : {term}"), WEIGHED + 1], |row| row.get(0))?;
            counted.push((rows, term.as_str()));
        }
        counted.sort_by_key(|(rows, _)| *rows);
        let mut room = WEIGHED;
        Ok(counted
            .into_iter()
            .take_while(|(rows, _)| {
                room -= rows;
                room >= 0
            })
            .map(|(_, term)| term)
            .collect())
    }

    /// What is in `within`, ranked by the words `any` alone: the words that a question is limited to would cost more than all others to weigh.
    fn ranked_entries(&self, any: &str, within: &str, limit: i64) -> anyhow::Result<Vec<(i64, f64)>> {
        let mut query = self.0.prepare_cached(
            "SELECT rowid, -bm25(entries_fts, 2.0, 1.0, 0.0) AS score FROM entries_fts WHERE entries_fts MATCH ?1
             AND rowid IN (SELECT rowid FROM entries_fts WHERE entries_fts MATCH ?2) ORDER BY score DESC, rowid DESC LIMIT ?3",
        )?;
        let rows = query.query_map(params![format!("{{name body}} : ({any})"), within, limit], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn newest_entries(&self, within: &str, limit: i64) -> anyhow::Result<Vec<(i64, f64)>> {
        let mut query = self
            .0
            .prepare_cached("SELECT rowid FROM entries_fts WHERE entries_fts MATCH ?1 ORDER BY rowid DESC LIMIT ?2")?;
        Ok(query.query_map(params![within, limit], |row| Ok((row.get(0)?, 1.0)))?.collect::<Result<_, _>>()?)
    }

    fn count_matching(&self, within: &str) -> anyhow::Result<usize> {
        let mut query = self
            .0
            .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM entries_fts WHERE entries_fts MATCH ?1 LIMIT ?2)")?;
        let limit = i64::try_from(COUNT_UP_TO).unwrap_or(i64::MAX);
        let count: i64 = query.query_row(params![within, limit], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

impl Matching {
    /// With these besides.
    fn add(&mut self, more: Vec<(i64, f64)>) {
        let known: HashSet<i64> = self.ranked.iter().map(|(id, _)| *id).collect();
        self.ranked.extend(more.into_iter().filter(|(id, _)| !known.contains(id)));
        self.ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0)));
    }
}

/// As many rows are asked for at once.
const CHUNK: usize = 500;

fn marks(count: usize) -> String {
    vec!["?"; count].join(", ")
}
