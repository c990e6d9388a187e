//! Finding entries.
//!
//! By words: BM25 over name and words, the name weighing double, and whatever holds all words is a candidate even where much else matches better. By
//! meaning, where vectors are to be had: what lies near the question. The two scales are put together by [`fuse`]; without vectors words decide
//! alone, and never worse. What was of use lifts a score by a quarter at the most.
//!
//! Then in three tiers. The best three categories, each as good as its best member; inside them, what scores at least half as much as the best of all; then
//! everything else. An entry without a category counts as of its kind. Before all of that stands an exact match: an entry whose name is the
//! question, or that says it word for word. Within a tier the score decides, so nothing strong is ever pushed out of the list by something weak.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::super::fuse;
use super::super::vectors::{Near, Vectors};
use super::salience::{factor, salience};
use super::{EntryHit, Found, Question};
use crate::store::{Db, EntryRow, Journal, Lookup, Pool};
use crate::text::question::Question as Words;
use crate::time::Moment;

/// The fewest candidates that are weighed.
const CANDIDATES: usize = 50;
/// As many where a question asks for more than the index can decide.
const MANY: usize = 2_000;
/// So many categories are the first tier.
const CATEGORIES: usize = 3;
/// A member of theirs is in the second tier if its score is at least this share of the best.
const STRONG: f64 = 0.5;

/// How exactly an entry is what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Exact {
    Not,
    /// It says the question word for word.
    Phrase,
    /// Its name is the question.
    Name,
}

/// A candidate with all that decides where it stands.
struct Candidate {
    row: EntryRow,
    score: f64,
    exact: Exact,
    tier: u8,
}

pub(super) async fn search(
    journal: &Journal,
    vectors: Option<&Vectors>,
    question: &Question,
    now: Moment,
) -> anyhow::Result<Found> {
    // Names of people stay among the words here: what is known is often known of somebody.
    let words = Words::of(question.words.open().0, &[]);
    if words.is_empty() || question.limit == 0 {
        return Ok(Found::default());
    }
    let lookup = lookup(question);
    let narrow =
        !lookup.kinds.is_empty() || [&lookup.category, &lookup.section, &lookup.agent].iter().any(|one| one.is_some());
    let wanted = wanted(question);
    let near = match vectors {
        // What a question is limited to is not known to the vectors: a small category would be crowded out.
        Some(vectors) if !question.case => {
            let most = if narrow { usize::MAX } else { wanted };
            vectors.near(question.scope(), Pool::Known, &question.words, question.untrusted_too, most).await
        }
        _ => None,
    };
    let asked = question.clone();
    journal.read_much(move |db| look(db, &asked, &lookup, &words, near.as_deref(), now)).await
}

/// What was of use most and last, best first.
pub(super) fn most_salient(rows: Vec<EntryRow>, limit: usize, now: Moment) -> Vec<EntryHit> {
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

fn lookup(question: &Question) -> Lookup {
    Lookup {
        scope: question.scope(),
        kinds: question.kinds.clone(),
        category: question.category.clone(),
        section: question.section.clone(),
        agent: question.agent.clone(),
        untrusted_too: question.untrusted_too,
    }
}

/// How many candidates it takes.
fn wanted(question: &Question) -> usize {
    let usual = question.limit.saturating_mul(4).max(CANDIDATES);
    if question.case || question.before.is_some() { usual.max(MANY) } else { usual }
}

fn look(
    db: Db<'_>,
    question: &Question,
    lookup: &Lookup,
    words: &Words,
    near: Option<&[Near]>,
    now: Moment,
) -> anyhow::Result<Found> {
    let wanted = wanted(question);
    let matching = db.entries_matching(lookup, words, wanted)?;
    let meant = meant(db, lookup, near.unwrap_or_default(), wanted)?;
    let mut rows: HashMap<i64, EntryRow> = meant.iter().map(|(row, _)| (row.id, row.clone())).collect();
    let by_meaning: Vec<(i64, f64)> = meant.iter().map(|(row, similarity)| (row.id, *similarity)).collect();
    let share = if near.is_some() { fuse::MEANING } else { 0.0 };
    let mut scores: HashMap<i64, f64> = fuse::weighted(&matching.ranked, &by_meaning, share).into_iter().collect();
    let mut phrase = matching.phrase;
    load(db, &mut rows, scores.keys().chain(&phrase))?;
    if matching.ranked.len() >= wanted {
        // There was more than came along: look inside the best categories.
        for category in best_categories(&rows, &scores) {
            let inside = Lookup { category: Some(category), ..lookup.clone() };
            let more = db.entries_matching(&inside, words, wanted)?;
            let best = matching.ranked.first().map_or(0.0, |(_, score)| *score);
            for (id, score) in more.ranked {
                scores.entry(id).or_insert(if best > 0.0 { (score / best).min(1.0) * (1.0 - share) } else { 0.0 });
            }
            phrase.extend(more.phrase);
        }
        load(db, &mut rows, scores.keys().chain(&phrase))?;
    }
    let mut found = candidates(rows, &scores, &phrase, words, now);
    found.retain(|candidate| fits(candidate, question));
    set_tiers(&mut found);
    found.sort_by(order);
    found.truncate(question.limit);
    let hits = found.into_iter().map(|candidate| hit(candidate.row, candidate.score)).collect();
    Ok(Found { hits, untrusted: matching.untrusted })
}

/// The entries that mean something like the question, nearest first.
fn meant(db: Db<'_>, lookup: &Lookup, near: &[Near], wanted: usize) -> anyhow::Result<Vec<(EntryRow, f64)>> {
    let mut meant = Vec::new();
    for some in near.chunks(wanted) {
        let digests: Vec<String> = some.iter().map(|near| near.digest.clone()).collect();
        let similar: HashMap<&str, f64> = some.iter().map(|near| (near.digest.as_str(), near.similarity)).collect();
        let rows = db.entries_saying(lookup, &digests)?;
        meant.extend(rows.into_iter().filter_map(|row| {
            let similarity = *similar.get(row.digest.as_str())?;
            Some((row, similarity))
        }));
        if meant.len() >= wanted {
            break;
        }
    }
    meant.sort_by(|one, other| other.1.total_cmp(&one.1));
    meant.truncate(wanted);
    Ok(meant)
}

fn load<'i>(db: Db<'_>, rows: &mut HashMap<i64, EntryRow>, ids: impl Iterator<Item = &'i i64>) -> anyhow::Result<()> {
    let missing: HashSet<i64> = ids.copied().filter(|id| !rows.contains_key(id)).collect();
    let missing: Vec<i64> = missing.into_iter().collect();
    rows.extend(db.entry_rows(&missing)?.into_iter().map(|row| (row.id, row)));
    Ok(())
}

fn candidates(
    rows: HashMap<i64, EntryRow>,
    scores: &HashMap<i64, f64>,
    phrase: &HashSet<i64>,
    words: &Words,
    now: Moment,
) -> Vec<Candidate> {
    rows.into_values()
        .map(|row| {
            let exact = match Words::of(row.name.open().0, &[]).all == words.all {
                true => Exact::Name,
                false if phrase.contains(&row.id) => Exact::Phrase,
                false => Exact::Not,
            };
            let score = scores.get(&row.id).copied().unwrap_or(0.0) * factor(salience_of(&row, now));
            Candidate { row, score, exact, tier: 1 }
        })
        .collect()
}

fn fits(candidate: &Candidate, question: &Question) -> bool {
    let row = &candidate.row;
    let stands = |word: &str| row.text.open().0.contains(word) || row.name.open().0.contains(word);
    let as_written = !question.case || question.words.open().0.split_whitespace().all(stands);
    as_written && question.before.is_none_or(|before| row.at < before)
}

/// Three categories by their best members, best first.
fn best_categories(rows: &HashMap<i64, EntryRow>, scores: &HashMap<i64, f64>) -> Vec<String> {
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

fn set_tiers(found: &mut [Candidate]) {
    let top = best(found.iter().map(|candidate| (category_of(&candidate.row), candidate.score)));
    let enough = STRONG * found.iter().map(|candidate| candidate.score).fold(0.0, f64::max);
    for candidate in found {
        let strong = candidate.score >= enough && top.contains(&category_of(&candidate.row));
        candidate.tier = if strong { 0 } else { 1 };
    }
}

fn category_of(row: &EntryRow) -> String {
    if row.category.is_empty() { row.kind.as_str().to_owned() } else { row.category.clone() }
}

fn order(one: &Candidate, other: &Candidate) -> Ordering {
    let by_score = || other.score.total_cmp(&one.score).then(other.row.at.cmp(&one.row.at));
    let by_place =
        || (&one.row.path, one.row.line, &one.row.key).cmp(&(&other.row.path, other.row.line, &other.row.key));
    other.exact.cmp(&one.exact).then(one.tier.cmp(&other.tier)).then_with(by_score).then_with(by_place)
}

fn salience_of(row: &EntryRow, now: Moment) -> f64 {
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
