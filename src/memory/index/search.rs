//! Search for entries.
//!
//! Full-text scores are BM25 over name and text, with double weight for the name; an entry that
//! contains all words is a candidate even if many others match better. With vectors, entries near
//! the query are candidates too. [`hybrid_score`] combines the two scales; without vectors full
//! text decides alone, and never worse. Usage raises a score by a quarter at most.
//!
//! Results come in three tiers: the best three categories; inside them, entries that score at least
//! half as much as the best of all; then the others. With vectors the best categories are those
//! whose centres are nearest to the query ([`category`](super::super::vectors::category)); without
//! them, those with the best members, where an entry without a category counts under its kind.
//! Exact matches come before all tiers: an entry whose name is the query, or that contains it
//! verbatim. The best entry of all is in the first tier regardless of its category. Within a tier
//! the score decides, so no weak entry pushes a strong one off the list.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::super::hybrid_score;
use super::super::vectors::category::{folded, has_category};
use super::super::vectors::{BestCategories, EntryFilter, Near, NearEntries, Vectors};
use super::salience::{factor, salience};
use super::{EntryHit, IndexMatches, IndexQuery};
use crate::store::{Db, EntryRow, Journal, Lookup};
use crate::text::question::Question as Words;
use crate::time::Timestamp;

/// Minimum number of candidates.
const CANDIDATES: usize = 50;
/// Number of candidates for queries with conditions that the index cannot check.
const MANY: usize = 2_000;
/// Maximum number of entries of a heading or agent compared by meaning, newest first.
const NAMED: usize = 20_000;
/// Number of categories in the first tier.
const CATEGORIES: usize = 3;
/// Minimum share of the best score for their members in the second tier.
const STRONG: f64 = 0.5;

/// Exactness of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Exact {
    Not,
    /// The text contains the query verbatim.
    Phrase,
    /// The name is the query.
    Name,
}

/// A candidate with its ranking criteria.
struct HitCandidate {
    row: EntryRow,
    score: f64,
    /// Score by meaning alone, scaled so that the nearest entry gets the full share and an average
    /// one gets none.
    meaning: f64,
    exact: Exact,
    tier: u8,
}

pub(super) async fn search(
    journal: &Journal,
    vectors: Option<&Vectors>,
    question: &IndexQuery,
    now: Timestamp,
) -> anyhow::Result<IndexMatches> {
    // Names of people stay in the query here: facts are often about people.
    let words = Words::of(question.words.open().0, &[]);
    if words.is_empty() || question.limit == 0 {
        return Ok(IndexMatches::default());
    }
    let lookup = lookup(question);
    let near = match vectors {
        Some(vectors) if !question.case => {
            let only = only(journal, question, &lookup).await?;
            vectors.entries(question.scope(), &question.words, vector_filter(question, only)).await
        }
        _ => None,
    };
    let asked = question.clone();
    journal.read_much(move |db| search_entries(db, &asked, &lookup, &words, near.as_ref(), now)).await
}

/// Returns the entries used most often and most recently, best first.
pub(super) fn most_salient(rows: Vec<EntryRow>, limit: usize, now: Timestamp) -> Vec<EntryHit> {
    let mut hits: Vec<EntryHit> = rows
        .into_iter()
        .map(|row| {
            let score = salience_of(&row, now);
            hit(row, score)
        })
        .collect();
    hits.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| one.key.cmp(&other.key)));
    hits.truncate(limit);
    hits
}

fn lookup(question: &IndexQuery) -> Lookup {
    Lookup {
        scope: question.scope(),
        kinds: question.kinds.clone(),
        category: question.category.clone(),
        section: question.section.clone(),
        agent: question.agent.clone(),
        untrusted_too: question.untrusted_too,
    }
}

/// Returns the number of candidates to fetch.
fn candidate_count(question: &IndexQuery) -> usize {
    let usual = question.limit.saturating_mul(4).max(CANDIDATES);
    if question.case || question.before.is_some() { usual.max(MANY) } else { usual }
}

/// Returns the filter for candidates by meaning.
fn vector_filter(question: &IndexQuery, only: Option<HashSet<String>>) -> EntryFilter {
    EntryFilter {
        untrusted_too: question.untrusted_too,
        kinds: question.kinds.clone(),
        category: question.category.clone(),
        only,
        limit: candidate_count(question),
    }
}

/// Returns the digests of entries under that heading or agent, which only the index knows.
async fn only(journal: &Journal, question: &IndexQuery, lookup: &Lookup) -> anyhow::Result<Option<HashSet<String>>> {
    if question.section.is_none() && question.agent.is_none() {
        return Ok(None);
    }
    let lookup = lookup.clone();
    journal.read_much(move |db| db.entries().entry_digests(&lookup, NAMED)).await.map(Some)
}

fn search_entries(
    db: Db<'_>,
    question: &IndexQuery,
    lookup: &Lookup,
    words: &Words,
    near: Option<&NearEntries>,
    now: Timestamp,
) -> anyhow::Result<IndexMatches> {
    let wanted = candidate_count(question);
    let matching = db.entries().entries_matching(lookup, words, wanted)?;
    let meant = near.map_or(Ok(Vec::new()), |near| meant(db, lookup, near, wanted))?;
    let mut rows: HashMap<i64, EntryRow> = meant.iter().map(|(row, _)| (row.id, row.clone())).collect();
    let by_meaning: Vec<(i64, f64)> = meant.iter().map(|(row, similarity)| (row.id, *similarity)).collect();
    let share = if near.is_some() { hybrid_score::MEANING } else { 0.0 };
    let mut scores: HashMap<i64, f64> =
        hybrid_score::weighted(&matching.ranked, &by_meaning, share).into_iter().collect();
    let mut phrase = matching.phrase;
    load(db, &mut rows, scores.keys().chain(&phrase))?;
    if matching.ranked.len() >= wanted {
        // There are more candidates than fetched: search inside the best categories.
        for category in best_categories(&rows, &scores, near) {
            let inside = Lookup { category: Some(category), ..lookup.clone() };
            let more = db.entries().entries_matching(&inside, words, wanted)?;
            let best = matching.ranked.first().map_or(0.0, |(_, score)| *score);
            for (id, score) in more.ranked {
                scores.entry(id).or_insert(if best > 0.0 { (score / best).min(1.0) * (1.0 - share) } else { 0.0 });
            }
            phrase.extend(more.phrase);
        }
        load(db, &mut rows, scores.keys().chain(&phrase))?;
    }
    let meanings = near.map_or_else(HashMap::new, |near| above_usual(&by_meaning, near.best.usual));
    let mut found = candidates(rows, &scores, &meanings, &phrase, words, now);
    found.retain(|candidate| fits(candidate, question));
    set_tiers(&mut found, near.map(|near| &near.best));
    found.sort_by(order);
    found.truncate(question.limit);
    let hits = found.into_iter().map(|candidate| hit(candidate.row, candidate.score)).collect();
    Ok(IndexMatches { hits, untrusted: matching.untrusted })
}

/// Returns the entries similar in meaning to the query, nearest first, followed by the nearest ones
/// inside the best categories.
fn meant(db: Db<'_>, lookup: &Lookup, near: &NearEntries, wanted: usize) -> anyhow::Result<Vec<(EntryRow, f64)>> {
    let mut meant = Vec::new();
    for some in near.near.chunks(wanted) {
        meant.extend(saying(db, lookup, some)?);
        if meant.len() >= wanted {
            break;
        }
    }
    meant.sort_by(|one, other| other.1.total_cmp(&one.1));
    meant.truncate(wanted);
    meant.extend(saying(db, lookup, &near.inside)?);
    Ok(meant)
}

fn saying(db: Db<'_>, lookup: &Lookup, near: &[Near]) -> anyhow::Result<Vec<(EntryRow, f64)>> {
    let digests: Vec<String> = near.iter().map(|near| near.digest.clone()).collect();
    let similar: HashMap<&str, f64> = near.iter().map(|near| (near.digest.as_str(), near.similarity)).collect();
    let rows = db.entries().entries_saying(lookup, &digests)?;
    let with = |row: EntryRow| Some((similar.get(row.digest.as_str()).copied()?, row));
    Ok(rows.into_iter().filter_map(with).map(|(similarity, row)| (row, similarity)).collect())
}

fn load<'i>(db: Db<'_>, rows: &mut HashMap<i64, EntryRow>, ids: impl Iterator<Item = &'i i64>) -> anyhow::Result<()> {
    let missing: HashSet<i64> = ids.copied().filter(|id| !rows.contains_key(id)).collect();
    let missing: Vec<i64> = missing.into_iter().collect();
    rows.extend(db.entries().entry_rows(&missing)?.into_iter().map(|row| (row.id, row)));
    Ok(())
}

fn candidates(
    rows: HashMap<i64, EntryRow>,
    scores: &HashMap<i64, f64>,
    meanings: &HashMap<i64, f64>,
    phrase: &HashSet<i64>,
    words: &Words,
    now: Timestamp,
) -> Vec<HitCandidate> {
    rows.into_values()
        .map(|row| {
            let exact = match Words::of(row.name.open().0, &[]).all == words.all {
                true => Exact::Name,
                false if phrase.contains(&row.id) => Exact::Phrase,
                false => Exact::Not,
            };
            let score = scores.get(&row.id).copied().unwrap_or(0.0) * factor(salience_of(&row, now));
            let meaning = hybrid_score::MEANING * meanings.get(&row.id).copied().unwrap_or(0.0);
            HitCandidate { row, score, meaning, exact, tier: 1 }
        })
        .collect()
}

fn fits(candidate: &HitCandidate, question: &IndexQuery) -> bool {
    let row = &candidate.row;
    let stands = |word: &str| row.text.open().0.contains(word) || row.name.open().0.contains(word);
    let as_written = !question.case || question.words.open().0.split_whitespace().all(stands);
    as_written && question.before.is_none_or(|before| row.at < before)
}

/// Returns three stated categories: the best by meaning, or else by their best members.
fn best_categories(
    rows: &HashMap<i64, EntryRow>,
    scores: &HashMap<i64, f64>,
    near: Option<&NearEntries>,
) -> Vec<String> {
    if let Some(near) = near {
        return near.best.stated.iter().cloned().collect();
    }
    let members = rows.values().filter_map(|row| Some((category_of(row), *scores.get(&row.id)?)));
    best(members).into_iter().filter(|name| rows.values().any(|row| row.category == *name)).collect()
}

fn best(members: impl Iterator<Item = (String, f64)>) -> Vec<String> {
    let mut categories: HashMap<String, f64> = HashMap::new();
    for (category, score) in members {
        let best = categories.entry(category).or_insert(score);
        *best = best.max(score);
    }
    let mut ranked: Vec<(String, f64)> = categories.into_iter().collect();
    ranked.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    ranked.into_iter().take(CATEGORIES).map(|(category, _)| category).collect()
}

fn set_tiers(found: &mut [HitCandidate], nearest: Option<&BestCategories>) {
    let by_label = best(found.iter().map(|candidate| (category_of(&candidate.row), candidate.score)));
    let is_inside = |row: &EntryRow| match nearest {
        Some(nearest) => belongs(row, nearest),
        None => by_label.contains(&category_of(row)),
    };
    let most = found.iter().map(|candidate| candidate.score).fold(0.0, f64::max);
    for candidate in found {
        let is_strong = candidate.score.max(candidate.meaning) >= STRONG * most && is_inside(&candidate.row);
        candidate.tier = if is_strong || candidate.score >= most { 0 } else { 1 };
    }
}

/// Returns for each entry its excess over the average similarity, as a share of the largest excess.
fn above_usual(by_meaning: &[(i64, f64)], usual: f64) -> HashMap<i64, f64> {
    let most = by_meaning.iter().map(|(_, similarity)| similarity - usual).fold(0.0, f64::max);
    let share = |similarity: f64| if most > 0.0 { ((similarity - usual) / most).max(0.0) } else { 0.0 };
    by_meaning.iter().map(|(row, similarity)| (*row, share(*similarity))).collect()
}

/// Returns true if an entry belongs to one of those categories.
fn belongs(row: &EntryRow, to: &BestCategories) -> bool {
    if !has_category(row.kind) {
        return false;
    }
    let category = folded(&row.category);
    if !category.is_empty() {
        return to.stated.contains(&category);
    }
    to.single.contains(&row.digest) || to.titled.contains(&folded(row.name.open().0))
}

fn category_of(row: &EntryRow) -> String {
    if row.category.is_empty() { row.kind.as_str().to_owned() } else { row.category.clone() }
}

fn order(one: &HitCandidate, other: &HitCandidate) -> Ordering {
    let by_score = || other.score.total_cmp(&one.score).then(other.row.at.cmp(&one.row.at));
    let by_place =
        || (&one.row.path, one.row.line, &one.row.key).cmp(&(&other.row.path, other.row.line, &other.row.key));
    other.exact.cmp(&one.exact).then(one.tier.cmp(&other.tier)).then_with(by_score).then_with(by_place)
}

fn salience_of(row: &EntryRow, now: Timestamp) -> f64 {
    salience(row.uses, row.used_at.unwrap_or(row.at), now)
}

fn hit(row: EntryRow, score: f64) -> EntryHit {
    EntryHit {
        key: row.key,
        kind: row.kind,
        category: row.category,
        path: row.path,
        line: row.line,
        section: row.section,
        name: row.name,
        text: row.text,
        at: row.at,
        score,
    }
}
