//! Search for entries: facts, notes, passages of files, summaries and reflections.
//!
//! Full-text scores are BM25 over name and text, with double weight for the name; an entry that
//! contains all words is a candidate even if many others match better. With vectors, entries near
//! the query are candidates too. [`hybrid_score`] combines the two scales; without vectors full
//! text decides alone, and never worse. Usage raises a score by a quarter at most.
//!
//! Results come in three tiers: the best three categories; inside them, entries that score at least
//! half as much as the best of all; then the others. With vectors the best categories are those
//! whose centres are nearest to the query ([`category`](super::vectors::category)); without
//! them, those with the best members, where an entry without a category counts under its kind.
//! Exact matches come before all tiers: an entry whose name is the query, or that contains it
//! verbatim. The best entry of all is in the first tier regardless of its category. Within a tier
//! the score decides, so no weak entry pushes a strong one off the list.
//!
//! Salience comes from the number of uses of an entry and the time of the last one. It is computed
//! on reading: no stored value decays, and no periodic update is needed.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::floor::Floor;
use super::hybrid_score;
use super::vectors::category::{folded, has_category};
use super::vectors::{BestCategories, EntryFilter, Near, NearEntries, Vectors};
use crate::people::Party;
use crate::store::{Db, EntryKind, EntryRow, Journal, Lookup, Matching, agent_of};
use crate::text::one_line;
use crate::text::question::{Question as Words, words_of};
use crate::time::{TimeRange, Timestamp};
use crate::trust::{Scope, Text};

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

/// Upper bound.
const MOST_SALIENT: f64 = 10.0;
/// Share left after a day without use.
const KEPT_A_DAY: f64 = 0.95;
/// Minimum share after disuse.
const LEAST_KEPT: f64 = 0.01;
/// Daily loss of the weight of earlier uses, and its minimum.
const DAILY_LOSS: f64 = 0.05;
const LEAST_WEIGHT: f64 = 0.1;
/// Maximum increase of a score by salience, as a share of the score.
const LIFT: f64 = 0.25;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Category of the facts that state none.
pub const PLAIN: &str = "fact";

/// A search of the index.
#[derive(Debug, Clone)]
pub struct EntryQuery {
    /// Party that searches: only its own and shared entries are searched.
    pub party: Party,
    /// Query text.
    pub words: Text,
    /// Only these kinds; all if empty.
    pub kinds: Vec<EntryKind>,
    /// Only this category. A fact without one belongs to [`PLAIN`].
    pub category: Option<String>,
    /// Only entries under this heading.
    pub section: Option<String>,
    /// Only the memory of these agents and profiles, the latter as `experience/NAME`; all if empty.
    pub agents: Vec<String>,
    /// Agents and profiles whose memory is searched unasked.
    pub unasked: UnaskedMemories,
    /// Case-sensitive match.
    pub case: bool,
    /// Include untrusted entries.
    pub untrusted_too: bool,
    /// Only entries written in this time.
    pub time: TimeRange,
    /// Maximum number of hits.
    pub limit: usize,
    /// Paths, relative to the workspace, whose entries are left out.
    pub without: Option<fn(&str) -> bool>,
    /// Texts in one line that the reader has already: what they contain is left out.
    pub known_texts: Arc<[String]>,
}

impl EntryQuery {
    /// Searches all trusted entries for that text, with at most five hits.
    pub fn of(party: &Party, words: Text) -> Self {
        Self {
            party: party.clone(),
            words,
            kinds: Vec::new(),
            category: None,
            section: None,
            agents: Vec::new(),
            unasked: UnaskedMemories::default(),
            case: false,
            untrusted_too: false,
            time: TimeRange::ALL,
            limit: 5,
            without: None,
            known_texts: Arc::default(),
        }
    }

    /// Returns the scope to be searched.
    pub fn scope(&self) -> Scope {
        self.party.scope()
    }

    /// Returns true if only facts of no other category are searched. The index knows only the
    /// categories that are stated, so these are picked from all facts.
    fn is_of_plain_facts(&self) -> bool {
        self.category.as_deref() == Some(PLAIN)
    }

    /// Returns the kinds and the category by which the index limits the search.
    fn limits(&self) -> (Vec<EntryKind>, Option<String>) {
        let is_any = self.kinds.is_empty() || self.kinds.contains(&EntryKind::Fact);
        match self.is_of_plain_facts() && is_any {
            true => (vec![EntryKind::Fact], None),
            false => (self.kinds.clone(), self.category.clone()),
        }
    }
}

/// Agents and profiles whose memory comes without being asked for, as [`agent_of`] names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnaskedMemories {
    /// All except these.
    AllBut(Vec<String>),
    /// Only these.
    Only(Vec<String>),
}

impl Default for UnaskedMemories {
    fn default() -> Self {
        Self::AllBut(Vec::new())
    }
}

impl UnaskedMemories {
    /// Returns false for the memory of an agent or profile that does not come unasked.
    pub fn has(&self, path: &str) -> bool {
        let Some(agent) = agent_of(path) else { return true };
        let is_named = |names: &[String]| names.iter().any(|name| name.eq_ignore_ascii_case(&agent));
        match self {
            Self::AllBut(names) => !is_named(names),
            Self::Only(names) => is_named(names),
        }
    }
}

/// Result of a search.
#[derive(Debug, Clone, Default)]
pub struct EntryMatches {
    /// Best hits, best first.
    pub hits: Vec<EntryHit>,
    /// Number of further matches that are untrusted, if these were not requested; counted up to a
    /// limit.
    pub untrusted: usize,
}

/// An entry that was found. Its path has the same label as its text.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryHit {
    /// Key that survives rebuilding.
    pub key: String,
    /// Kind of entry.
    pub kind: EntryKind,
    /// Category; empty if it has none.
    pub category: String,
    /// Path as its owner sees it, or `conversations/N`, `reflections/N`.
    pub path: String,
    /// Line number, from 1.
    pub line: u32,
    /// Heading above it.
    pub section: Text,
    /// Key of a fact or title of a note; empty for running text.
    pub name: Text,
    /// Text; that of a fact begins with its key.
    pub text: Text,
    /// Time of writing.
    pub at: Timestamp,
    /// Score; higher is better.
    pub score: f64,
}

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

/// Returns matches, best first. The query may be any text.
pub async fn find_entries(
    journal: &Journal,
    vectors: Option<&Vectors>,
    question: &EntryQuery,
    now: Timestamp,
) -> anyhow::Result<EntryMatches> {
    // Names of people stay in the query here: facts are often about people.
    let words = Words::of(question.words.open().0, &[]);
    if words.is_empty() || question.limit == 0 {
        return Ok(EntryMatches::default());
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
    // The same hits in the same order all day long, so that one can go through them page by page.
    let today = Timestamp(now.0 - now.0.rem_euclid(DAY.as_millis().try_into()?));
    journal.read_much(move |db| search_entries(db, &asked, &lookup, &words, near.as_ref(), today)).await
}

/// Returns the entries used most often and most recently, best first.
pub fn most_salient(rows: Vec<EntryRow>, limit: usize, now: Timestamp) -> Vec<EntryHit> {
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

fn lookup(question: &EntryQuery) -> Lookup {
    let (kinds, category) = question.limits();
    Lookup {
        scope: question.scope(),
        kinds,
        category,
        section: question.section.clone(),
        agents: question.agents.clone(),
        untrusted_too: question.untrusted_too,
        time: question.time,
    }
}

/// Returns the number of candidates to fetch.
fn candidate_count(question: &EntryQuery) -> usize {
    let usual = question.limit.saturating_mul(4).max(CANDIDATES);
    let is_picked_later = question.case
        || !question.known_texts.is_empty()
        || question.unasked != UnaskedMemories::default()
        || question.time != TimeRange::ALL
        || question.is_of_plain_facts();
    if is_picked_later { usual.max(MANY) } else { usual }
}

/// Returns the filter for candidates by meaning.
fn vector_filter(question: &EntryQuery, only: Option<HashSet<String>>) -> EntryFilter {
    let (kinds, category) = question.limits();
    EntryFilter { untrusted_too: question.untrusted_too, kinds, category, only, limit: candidate_count(question) }
}

/// Returns the digests of entries under that heading or agent, which only the index knows.
async fn only(journal: &Journal, question: &EntryQuery, lookup: &Lookup) -> anyhow::Result<Option<HashSet<String>>> {
    if question.section.is_none() && question.agents.is_empty() {
        return Ok(None);
    }
    let lookup = lookup.clone();
    journal.read_much(move |db| db.entries().entry_digests(&lookup, NAMED)).await.map(Some)
}

fn search_entries(
    db: Db<'_>,
    question: &EntryQuery,
    lookup: &Lookup,
    words: &Words,
    near: Option<&NearEntries>,
    now: Timestamp,
) -> anyhow::Result<EntryMatches> {
    let wanted = candidate_count(question);
    let mut matching = db.entries().entries_matching(lookup, words, wanted)?;
    let meant = near.map_or(Ok(Vec::new()), |near| meant(db, lookup, near, wanted))?;
    let mut rows: HashMap<i64, EntryRow> = meant.iter().map(|(row, _)| (row.id, row.clone())).collect();
    let by_meaning: Vec<(i64, f64)> = meant.iter().map(|(row, similarity)| (row.id, *similarity)).collect();
    let share = if near.is_some() { hybrid_score::MEANING } else { 0.0 };
    let mut scores: HashMap<i64, f64> =
        hybrid_score::weighted(&matching.ranked, &by_meaning, share).into_iter().collect();
    let mut phrase = std::mem::take(&mut matching.phrase);
    load(db, &mut rows, scores.keys().chain(&phrase))?;
    if matching.ranked.len() >= wanted {
        // There are more candidates than fetched: search inside the best categories.
        for category in best_categories(&rows, &scores, near) {
            // If all candidates are inside, the same ones would be found again.
            if rows.values().all(|row| row.category == category) {
                continue;
            }
            let inside = Lookup { category: Some(category), ..lookup.clone() };
            let more = db.entries().entries_matching(&inside, words, wanted)?;
            let best = matching.ranked.first().map_or(0.0, |(_, score)| *score);
            for (id, score) in more.ranked {
                scores.entry(id).or_insert(if best > 0.0 { (score / best).min(1.0) * (1.0 - share) } else { 0.0 });
            }
            phrase.extend(more.phrase);
            // The words are the same ones, but their numbers are not if other ones are weighed.
            if more.counts == matching.counts {
                matching.held.extend(more.held);
            }
        }
        load(db, &mut rows, scores.keys().chain(&phrase))?;
    }
    let meanings = near.map_or_else(HashMap::new, |near| above_mean(&by_meaning, near.best.mean_similarity));
    let least_similarity = near.map_or(f64::INFINITY, |near| near.best.least_similarity);
    let is_found = is_found(db, question, words, &matching, &rows, least_similarity, &by_meaning)?;
    let mut found = candidates(rows, &scores, &meanings, &phrase, words, now);
    found.retain(|one| fits(one, question));
    if !is_found && found.iter().all(|one| one.exact == Exact::Not) {
        found.clear();
    }
    set_tiers(&mut found, near.map(|near| &near.best));
    found.sort_by(order);
    found.truncate(question.limit);
    let hits = found.into_iter().map(|candidate| hit(candidate.row, candidate.score)).collect();
    Ok(EntryMatches { hits, untrusted: matching.untrusted })
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

/// Returns true if an entry says something about the query ([`floor`](super::floor)): by its words,
/// by its name if the query contains it, or by its meaning.
fn is_found(
    db: Db<'_>,
    question: &EntryQuery,
    words: &Words,
    matching: &Matching,
    rows: &HashMap<i64, EntryRow>,
    least_similarity: f64,
    by_meaning: &[(i64, f64)],
) -> anyhow::Result<bool> {
    if matching.counts.is_empty() && !matching.ranked.is_empty() {
        return Ok(true);
    }
    let names: Vec<String> =
        db.message_search().speakers(question.scope(), "")?.into_iter().map(|(_, name)| name).collect();
    let names: Vec<String> = words_of(&names.join(" ")).collect();
    let absent: Vec<&String> = matching.absent.iter().filter(|word| !names.contains(word)).collect();
    let is_name_unknown = absent.iter().any(|word| words.proper.contains(*word));
    let floor = Floor::of(matching.counts.iter().copied(), absent.len(), is_name_unknown, matching.known);
    let is_named = |row: &EntryRow| {
        let name = Words::of(row.name.open().0, &[]).words;
        !name.is_empty() && name.iter().all(|word| words.words.contains(word))
    };
    let stands_out =
        || by_meaning.iter().any(|(_, similarity)| *similarity > least_similarity) || rows.values().any(is_named);
    Ok(matching.held.values().any(|held| floor.is_about(held)) || (!is_name_unknown && stands_out()))
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
            let exact = match words_of(row.name.open().0).eq(words.all.iter().cloned()) {
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

fn fits(candidate: &HitCandidate, question: &EntryQuery) -> bool {
    let row = &candidate.row;
    let is_other = question.is_of_plain_facts() && category_of(row) != PLAIN;
    if is_other || question.without.is_some_and(|without| without(&row.path)) || !question.unasked.has(&row.path) {
        return false;
    }
    if !question.known_texts.is_empty() {
        let text = one_line(row.text.open().0);
        if question.known_texts.iter().any(|known| known.contains(&text)) {
            return false;
        }
    }
    let stands = |word: &str| row.text.open().0.contains(word) || row.name.open().0.contains(word);
    !question.case || question.words.open().0.split_whitespace().all(stands)
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
fn above_mean(by_meaning: &[(i64, f64)], mean: f64) -> HashMap<i64, f64> {
    let most = by_meaning.iter().map(|(_, similarity)| similarity - mean).fold(0.0, f64::max);
    let share = |similarity: f64| if most > 0.0 { ((similarity - mean) / most).max(0.0) } else { 0.0 };
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

/// Returns `min(10, 1 + ln(1 + n) × max(0.1, 1 − 0.05 d)) × max(0.01, 0.95^d)`, for `uses` and the
/// days since the last one; an unused entry counts from its time of writing.
fn salience(uses: u32, last: Timestamp, now: Timestamp) -> f64 {
    let days = now.since(last).div_duration_f64(DAY);
    let weight = (1.0 - DAILY_LOSS * days).max(LEAST_WEIGHT);
    let grown = (1.0 + f64::from(uses).ln_1p() * weight).min(MOST_SALIENT);
    grown * KEPT_A_DAY.powf(days).max(LEAST_KEPT)
}

/// Returns the multiplier for a score: between 1 and 1.25.
fn factor(salience: f64) -> f64 {
    1.0 + LIFT * (salience / MOST_SALIENT).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn days_ago(days: u64) -> Timestamp {
        NOW.minus(DAY * u32::try_from(days).unwrap())
    }

    /// Promise (memory/aging): Unused entries lose importance from day to day, without anything
    /// being written.
    #[test]
    fn uses_lift_and_days_let_fall() {
        for (uses, days, grown) in
            [(0, 0, 1.0), (1, 0, 1.693), (10, 0, 3.398), (100, 0, 5.615), (10, 10, 2.199), (10, 40, 1.240)]
        {
            let kept = 0.95_f64.powi(i32::try_from(days).unwrap()).max(0.01);
            let found = salience(uses, days_ago(days), NOW);
            assert!((found - grown * kept).abs() < 0.001, "{uses} uses, {days} days: {found}");
        }
        assert!(salience(10, days_ago(30), NOW) < salience(10, NOW, NOW));
        assert!((salience(u32::MAX, NOW, NOW) - 10.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn it_is_bounded_and_so_is_what_it_lifts(uses in any::<u32>(), days in 0_u64..20_000) {
            let found = salience(uses, days_ago(days), NOW);
            prop_assert!((0.01..=10.0).contains(&found));
            prop_assert!((1.0..=1.25).contains(&factor(found)));
        }

        /// Proves: memory/aging
        #[test]
        fn more_uses_and_fewer_days_never_matter_less(uses in 0_u32..5_000, days in 0_u64..400) {
            prop_assert!(salience(uses + 1, days_ago(days), NOW) >= salience(uses, days_ago(days), NOW));
            prop_assert!(salience(uses, days_ago(days), NOW) >= salience(uses, days_ago(days + 1), NOW));
        }
    }
}
