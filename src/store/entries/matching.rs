//! Word search over entries at a bounded cost.
//!
//! Ranking costs about a microsecond for each matching row, so only the rarest words of a query are
//! scored: those that together occur in at most [`WEIGHED`] entries. In a smaller index all words
//! are scored. A word that occurs nearly everywhere does not help.
//!
//! The index holds a word once for each scope and trust level. By itself it would rate a word as
//! rare that is common in a person's own entries but not in the few shared ones. So each word is
//! scored separately in each of these partitions, weighted by its rarity in all searched partitions
//! together. BM25 is a sum over words, so nothing else changes.

use std::collections::{HashMap, HashSet};

use rusqlite::params;

use super::super::message_search::{COUNT_UP_TO, place};
use super::found::{Lookup, kind_word, name_word};
use crate::store::EntryKind;
use crate::store::handles::Entries;
use crate::text::fold;
use crate::text::question::Question;
use crate::time::TimeRange;
use crate::trust::Scope;

/// Limit on the total number of entries in which the scored words occur.
const WEIGHED: i64 = 5_000;
/// Bound for counting entries; beyond it the rarity of a word hardly changes.
const MANY: i64 = 20_000;

const AND: &str = " AND ";

/// Entries that match some words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matching {
    /// Row and score, best first; higher is better.
    pub ranked: Vec<(i64, f64)>,
    /// Number of entries with each scored word.
    pub counts: Vec<f64>,
    /// Scored words that a row contains, by their positions in `counts`.
    pub held: HashMap<i64, Vec<usize>>,
    /// Query words that occur in no entry.
    pub absent: Vec<String>,
    /// Number of entries of the scope, counted up to a bound.
    pub known: f64,
    /// Rows of `ranked` that contain the words as a phrase.
    pub phrase: HashSet<i64>,
    /// Number of untrusted matches if the query excludes them, counted up to a bound.
    pub untrusted: usize,
}

/// A partition of the index: the prefix of its words, and the limits of the query as an expression.
struct IndexColumn {
    prefix: String,
    limits: String,
}

/// A query word with the number of entries that contain it, per partition and in total.
struct QueryWord<'q> {
    word: &'q str,
    held: Vec<i64>,
    all: i64,
}

impl IndexColumn {
    fn of(lookup: &Lookup, scope: Scope, is_trusted: bool) -> Self {
        let prefix = place(scope, is_trusted);
        let any = |words: &[String]| {
            let quoted: Vec<String> = words.iter().map(|word| format!("\"{prefix}{word}\"")).collect();
            format!("{AND}place : ({})", quoted.join(" OR "))
        };
        let mut limits = String::new();
        let are_all = EntryKind::ALL.iter().all(|kind| lookup.kinds.contains(kind));
        if !lookup.kinds.is_empty() && !are_all {
            limits.push_str(&any(&lookup.kinds.iter().map(|kind| kind_word(*kind)).collect::<Vec<_>>()));
        }
        let names = [("category", &lookup.category), ("section", &lookup.section)];
        for (kind, name) in names {
            limits.extend(name.as_deref().map(|name| any(&[name_word(kind, name)])));
        }
        if !lookup.agents.is_empty() {
            limits.push_str(&any(&lookup.agents.iter().map(|agent| name_word("agent", agent)).collect::<Vec<_>>()));
        }
        Self { prefix, limits }
    }

    /// Returns all partitions that a query with these trust levels searches.
    fn all(lookup: &Lookup, trust: &[bool]) -> Vec<Self> {
        let mut scopes = vec![lookup.scope, Scope::Shared];
        scopes.dedup();
        let both = |scope: &Scope| trust.iter().map(|trusted| Self::of(lookup, *scope, *trusted)).collect::<Vec<_>>();
        scopes.iter().flat_map(both).collect()
    }

    /// Expression for all entries within the limits; `None` if there are no limits.
    fn whole(&self) -> Option<String> {
        self.limits.strip_prefix(AND).map(|limits| format!("({limits})"))
    }

    /// Quotes words as a phrase, so that they cannot be a syntax error.
    fn quoted(&self, words: &str) -> String {
        format!("\"{}\"", fold::under(&self.prefix, words).trim_end())
    }

    /// Expression for entries that contain the word, regardless of the limits.
    fn word_expression(&self, word: &str) -> String {
        format!("{{name body}} : {}", self.quoted(word))
    }

    /// Expression for entries within the limits that contain the words, joined by `join`.
    fn holding(&self, words: &[&str], join: &str) -> String {
        let words: Vec<String> = words.iter().map(|word| self.quoted(word)).collect();
        format!("({{name body}} : ({}){})", words.join(join), self.limits)
    }
}

fn anywhere(places: &[IndexColumn], words: &[&str], join: &str) -> String {
    places.iter().map(|place| place.holding(words, join)).collect::<Vec<_>>().join(" OR ")
}

impl Entries<'_> {
    /// Returns the entries that match the words of a query, best first. Exceeds `limit` if entries
    /// with all the words are not among the best.
    pub fn entries_matching(&self, lookup: &Lookup, question: &Question, limit: usize) -> anyhow::Result<Matching> {
        if question.is_empty() {
            return Ok(Matching::default());
        }
        let places = IndexColumn::all(lookup, if lookup.untrusted_too { &[true, false] } else { &[true] });
        let words: Vec<&str> = question.words.iter().map(String::as_str).collect();
        let mut weighing = self.weighing(&words, &places)?;
        let absent: Vec<String> =
            weighing.extract_if(.., |word| word.all == 0).map(|word| word.word.to_owned()).collect();
        let whole = || self.newest_entries(&anywhere(&places, &words, " AND "), lookup.time, limit);
        let mut found = Matching { absent, ..Matching::default() };
        if weighing.is_empty() {
            found.ranked = whole()?.into_iter().map(|id| (id, 1.0)).collect();
        } else {
            let known = self.entries_known(lookup.scope)?;
            found.counts = weighing.iter().map(|word| as_f64(word.all)).collect();
            found.known = as_f64(known);
            let scores = self.entry_scores(lookup, &weighing, &places, known, &mut found.held)?;
            let whole = if words.len() > 1 { whole()? } else { Vec::new() };
            found.ranked = ranked(&scores, limit, whole);
        }
        if question.all.len() > 1 {
            let phrase = anywhere(&places, &[&question.all.join(" ")], "");
            found.phrase = self.newest_entries(&phrase, lookup.time, limit)?.into_iter().collect();
        }
        if !lookup.untrusted_too {
            let weighed: Vec<&str> = weighing.iter().map(|word| word.word).collect();
            let any = if weighed.is_empty() { &words } else { &weighed };
            let others = IndexColumn::all(lookup, &[false]);
            found.untrusted = self.newest_entries(&anywhere(&others, any, " OR "), lookup.time, COUNT_UP_TO)?.len();
        }
        Ok(found)
    }

    /// Returns the digests of the newest entries within the limits, at most `limit`.
    pub fn entry_digests(&self, lookup: &Lookup, limit: usize) -> anyhow::Result<HashSet<String>> {
        let places = IndexColumn::all(lookup, if lookup.untrusted_too { &[true, false] } else { &[true] });
        let Some(within) = places.iter().map(IndexColumn::whole).collect::<Option<Vec<_>>>() else {
            return Ok(HashSet::new());
        };
        let sql = "SELECT e.digest FROM (SELECT rowid AS id FROM entries_fts WHERE entries_fts MATCH ?1 ORDER BY rowid DESC LIMIT ?2) w
             CROSS JOIN entries e ON e.id = w.id";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Ok(self.db.all(sql, params![within.join(" OR "), limit])?.into_iter().collect())
    }

    /// Returns the words to score: the rarest that together stay within [`WEIGHED`]; none if each
    /// is too common.
    fn weighing<'q>(&self, words: &[&'q str], places: &[IndexColumn]) -> anyhow::Result<Vec<QueryWord<'q>>> {
        let mut counted = Vec::new();
        for word in words {
            let mut held = Vec::new();
            for place in places {
                held.push(self.count_entries(&place.word_expression(word), WEIGHED + 1)?);
            }
            counted.push(QueryWord { word, all: held.iter().sum(), held });
        }
        counted.sort_by_key(|word| word.all);
        let mut room = WEIGHED;
        Ok(counted
            .into_iter()
            .take_while(|word| {
                room -= word.all;
                room >= 0
            })
            .collect())
    }

    /// Scores each entry within the limits for these words.
    fn entry_scores(
        &self,
        lookup: &Lookup,
        weighing: &[QueryWord<'_>],
        places: &[IndexColumn],
        known: i64,
        held_by: &mut HashMap<i64, Vec<usize>>,
    ) -> anyhow::Result<HashMap<i64, f64>> {
        let rows: i64 = self.db.one("SELECT count(*) FROM entries_fts_docsize", [])?;
        let mut scores = HashMap::new();
        for (number, word) in weighing.iter().enumerate() {
            let weight = rarity(known, word.all);
            for (place, held) in places.iter().zip(&word.held).filter(|(_, held)| **held > 0) {
                let share = weight / as_the_index_weighs(rows, *held);
                self.each_score(&place.word_expression(word.word), |id, score| {
                    *scores.entry(id).or_insert(0.0) += share * score;
                    held_by.entry(id).or_default().push(number);
                })?;
            }
        }
        if lookup.time != TimeRange::ALL || places.iter().any(|place| !place.limits.is_empty()) {
            let words: Vec<&str> = weighing.iter().map(|word| word.word).collect();
            let within = self.newest_entries(&anywhere(places, &words, " OR "), lookup.time, usize::MAX)?;
            let within: HashSet<i64> = within.into_iter().collect();
            scores.retain(|id, _| within.contains(id));
        }
        Ok(scores)
    }

    /// Passes on the BM25 scores of one word. The limits are left out: scoring their words would
    /// cost more than all others.
    fn each_score(&self, word: &str, mut add: impl FnMut(i64, f64)) -> anyhow::Result<()> {
        let sql = "SELECT rowid, -bm25(entries_fts, 2.0, 1.0, 0.0) FROM entries_fts WHERE entries_fts MATCH ?1";
        self.db.each(sql, [word], |row| {
            add(row.get(0)?, row.get(1)?);
            Ok(())
        })
    }

    /// Counts the entries of a scope including shared ones, up to a bound.
    fn entries_known(&self, scope: Scope) -> anyhow::Result<i64> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM entries WHERE scope IN (?1, ?2) LIMIT ?3)";
        self.db.one(sql, params![scope, Scope::Shared, MANY])
    }

    fn newest_entries(&self, within: &str, time: TimeRange, limit: usize) -> anyhow::Result<Vec<i64>> {
        let sql = "SELECT rowid FROM entries_fts WHERE entries_fts MATCH ?1
             AND (?3 OR (SELECT at FROM entries WHERE id = entries_fts.rowid) BETWEEN ?4 AND ?5 - 1) ORDER BY rowid DESC LIMIT ?2";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.db.all(sql, params![within, limit, time == TimeRange::ALL, time.since, time.until])
    }

    fn count_entries(&self, within: &str, up_to: i64) -> anyhow::Result<i64> {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM entries_fts WHERE entries_fts MATCH ?1 LIMIT ?2)";
        self.db.one(sql, params![within, up_to])
    }
}

/// Returns the best entries plus those in `besides`, best first; newer before older.
fn ranked(scores: &HashMap<i64, f64>, limit: usize, besides: Vec<i64>) -> Vec<(i64, f64)> {
    let order = |one: &(i64, f64), other: &(i64, f64)| other.1.total_cmp(&one.1).then(other.0.cmp(&one.0));
    let mut ranked: Vec<(i64, f64)> = scores.iter().map(|(id, score)| (*id, *score)).collect();
    ranked.sort_unstable_by(order);
    let left = ranked.split_off(limit.min(ranked.len()));
    let besides: HashSet<i64> = besides.into_iter().collect();
    ranked.extend(left.into_iter().filter(|(id, _)| besides.contains(id)));
    ranked
}

/// Weight of a word that occurs in `holding` of `known` entries. Never zero.
fn rarity(known: i64, holding: i64) -> f64 {
    let (known, holding) = (as_f64(known.max(holding)), as_f64(holding));
    (1.0 + (known - holding + 0.5) / (holding + 0.5)).ln()
}

/// SQLite's weight of a word: over all rows, and close to zero for a word in half of them.
fn as_the_index_weighs(rows: i64, holding: i64) -> f64 {
    let (rows, holding) = (as_f64(rows), as_f64(holding));
    let weight = ((rows - holding + 0.5) / (holding + 0.5)).ln();
    if weight > 0.0 { weight } else { 1e-6 }
}

#[allow(clippy::cast_precision_loss, reason = "a count of entries, far below the bound")]
fn as_f64(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::super::super::Journal;
    use super::super::{Indexed, NewEntry};
    use super::*;
    use crate::id::PersonId;
    use crate::store::Db;
    use crate::time::Timestamp;
    use crate::trust::{Label, Source};

    const ADA: Scope = Scope::Person(PersonId(1));
    const BEN: Scope = Scope::Person(PersonId(2));

    struct MatchScope {
        journal: Journal,
        _folder: tempfile::TempDir,
    }

    impl MatchScope {
        fn empty() -> Self {
            let folder = tempfile::tempdir().unwrap();
            Self { journal: Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap(), _folder: folder }
        }

        async fn store_lines(&self, path: &str, scope: Scope, label: Label, lines: &[&str]) {
            let file = Indexed {
                path: path.to_owned(),
                scope,
                stamp: String::new(),
                digest: String::new(),
                label,
                trouble: String::new(),
                size: 0,
                at: Timestamp(1),
            };
            let entry = |(at, line): (usize, &&str)| NewEntry {
                section: "Recent facts".to_owned(),
                line: 1,
                name: String::new(),
                kind: EntryKind::Text,
                category: String::new(),
                text: (*line).to_owned(),
                ordinal: u32::try_from(at).unwrap(),
                at: None,
                label: None,
            };
            let entries: Vec<NewEntry> = lines.iter().enumerate().map(entry).collect();
            self.journal.write("keep", move |tx| tx.entries().put_indexed(&file, &entries)).await.unwrap();
        }

        async fn ada_finds(&self, words: &str) -> Vec<String> {
            self.finds(&Lookup { untrusted_too: true, ..Lookup::of(ADA) }, words).await
        }

        async fn finds(&self, lookup: &Lookup, words: &str) -> Vec<String> {
            let question = Question::of(words, &[]);
            let look = |db: Db<'_>| {
                let mut words = Vec::new();
                for (id, _) in db.entries().entries_matching(lookup, &question, 50)?.ranked {
                    words.extend(db.entries().entry_rows(&[id])?.into_iter().map(|row| row.text.open().0.to_string()));
                }
                Ok(words)
            };
            self.journal.read(look).await.unwrap()
        }
    }

    fn web() -> Label {
        Label::untrusted(Source::web("example.org"))
    }

    /// Promise (search/other-people): Other people's data neither slows your search nor changes its
    /// order, and shared content does not outweigh your own.
    #[tokio::test]
    async fn other_peoples_entries_change_neither_word_rarity_nor_counts() {
        let fixture = MatchScope::empty();
        let known = ["the boat is red", "the boat is blue", "the boat leaks", "the red shed is at the harbour"];
        fixture.store_lines("memory/a.md", ADA, Label::trusted(), &known).await;
        let before = fixture.ada_finds("boat red").await;
        assert_eq!(before, ["the boat is red", "the red shed is at the harbour", "the boat leaks", "the boat is blue"]);
        // For Ben, red is the common word.
        let others = vec!["a red thing of four"; 200];
        fixture.store_lines("people/2-ben/b.md", BEN, Label::trusted(), &others).await;
        assert_eq!(fixture.ada_finds("boat red").await, before);
        let counted = fixture
            .journal
            .read(|db| Ok((db.entries().count_entries("p1tred", 999)?, db.entries().count_entries("p2tred", 999)?)));
        assert_eq!(counted.await.unwrap(), (2, 200));
        let bare =
            fixture.journal.read(|db| db.entries().count_entries("red OR boat OR kindtext0", 999)).await.unwrap();
        assert_eq!(bare, 0, "no word stands there without saying whose it is");
    }

    /// Proves: search/other-people
    #[tokio::test]
    async fn a_word_is_not_rare_because_it_stands_in_few_shared_or_untrusted_entries() {
        let fixture = MatchScope::empty();
        let mut known = vec!["garden work again today"; 60];
        known.push("the quince tree grows well");
        fixture.store_lines("memory/a.md", ADA, Label::trusted(), &known).await;
        fixture.store_lines("AGENTS.md", Scope::Shared, Label::trusted(), &["garden notes are dull"]).await;
        fixture.store_lines("inbox/x.md", ADA, web(), &["garden fences are cheap"]).await;
        let found = fixture.ada_finds("garden quince").await;
        assert_eq!(found.first().map(String::as_str), Some("the quince tree grows well"));
        assert!(
            found.iter().any(|words| words.contains("notes")) && found.iter().any(|words| words.contains("fences"))
        );
    }

    /// Proves: search/other-people
    #[tokio::test]
    async fn search_filters_are_applied_in_the_index() {
        let fixture = MatchScope::empty();
        fixture.store_lines("memory/a.md", ADA, Label::trusted(), &["the red boat"]).await;
        fixture.store_lines("agents/cook/memory.md", ADA, Label::trusted(), &["the red pot"]).await;
        fixture.store_lines("inbox/x.md", ADA, web(), &["the red herring"]).await;
        let of = |lookup: Lookup| {
            let fixture = &fixture;
            async move { fixture.finds(&lookup, "red").await }
        };
        assert_eq!(of(Lookup { agents: vec!["Cook".to_owned()], ..Lookup::of(ADA) }).await, ["the red pot"]);
        assert_eq!(of(Lookup { section: Some(" recent FACTS".to_owned()), ..Lookup::of(ADA) }).await.len(), 2);
        assert_eq!(of(Lookup { kinds: vec![EntryKind::Note], ..Lookup::of(ADA) }).await, Vec::<String>::new());
        assert_eq!(of(Lookup { untrusted_too: true, ..Lookup::of(ADA) }).await.len(), 3);
        assert_eq!(of(Lookup::of(BEN)).await, Vec::<String>::new());
    }

    #[tokio::test]
    async fn entries_of_a_heading_or_agent_are_listed_without_search_words() {
        let fixture = MatchScope::empty();
        fixture.store_lines("memory/a.md", ADA, Label::trusted(), &["the red boat", "a shed"]).await;
        fixture.store_lines("agents/cook/memory.md", ADA, Label::trusted(), &["the red pot"]).await;
        fixture.store_lines("people/2-ben/agents/cook/memory.md", BEN, Label::trusted(), &["a secret dish"]).await;
        fixture.store_lines("inbox/x.md", ADA, web(), &["the red herring"]).await;
        let of = |lookup: Lookup, limit| {
            let fixture = &fixture;
            async move { fixture.journal.read(|db| db.entries().entry_digests(&lookup, limit)).await.unwrap() }
        };
        let digests =
            |words: &[&str]| words.iter().map(|words| super::super::text_digest(words)).collect::<HashSet<_>>();
        let (cook, heading) = (vec!["cook".to_owned()], Some("Recent facts".to_owned()));
        assert_eq!(of(Lookup { agents: cook, ..Lookup::of(ADA) }, 9).await, digests(&["the red pot"]));
        let under = Lookup { section: heading, ..Lookup::of(ADA) };
        assert_eq!(of(under.clone(), 9).await, digests(&["the red boat", "a shed", "the red pot"]));
        assert_eq!(of(under.clone(), 1).await, digests(&["the red pot"]));
        assert_eq!(of(Lookup { untrusted_too: true, ..under }, 9).await.len(), 4);
    }

    #[test]
    fn a_rare_word_weighs_more_and_none_weighs_nothing() {
        assert!(rarity(100, 1) > rarity(100, 50) && rarity(100, 50) > rarity(100, 100) && rarity(100, 100) > 0.0);
        assert!(rarity(0, 5) > 0.0, "what is counted up to a bound may be more");
    }
}
