//! Candidates for the search in messages, from the full-text index and by digest. The module
//! `search` ranks them.
//!
//! Every term in the index begins with its scope and trust level, so a query can only match its own
//! scope.
//!
//! The cost of a query is bounded. BM25 ranking reads every text that contains any query word, and
//! words found in half of all texts decide nothing. So words are counted first, up to a bound, and
//! the rarest are used until together they match [`MOST`] texts. If all are common, the newest
//! texts with all of them are as good as any. A query costs the same with a million texts as with
//! fifty thousand.

mod indexing;
mod related;

use std::collections::{HashMap, HashSet};

use rusqlite::params;

pub use related::Neighbours;

use crate::id::{ConversationId, MessageId, PersonId};
use crate::store::handles::MessageSearch;
use crate::store::rows::{from_row, text};
use crate::text::fold;
use crate::text::question::{self, Question};
use crate::time::{TimeRange, Timestamp, Zone};
use crate::trust::{Label, Scope, Text};

/// Limit of the count of untrusted matches: "99 or more" is as good for a person.
pub const COUNT_UP_TO: usize = 99;

/// Texts ranked per query; about twenty milliseconds.
const MOST: i64 = 20_000;
/// Texts examined closely.
const CANDIDATES: usize = 300;
/// Maximum number of newer texts to skip: more than one turn ever joins.
const NEWER: i64 = 500;
/// Texts near in meaning that are candidates whatever their words.
const NEAREST: usize = 100;
/// A longer query never occurs verbatim in a text.
const LONGEST_PHRASE: usize = 12;

/// SQL condition for a row of the index: the message belongs to the time of the query. It costs
/// two look-ups for each match, so it is left out of queries over all times.
const IN_TIME: &str =
    "AND (SELECT m.effective_at FROM texts t JOIN messages m ON m.id = t.message_id WHERE t.id = texts_fts.rowid)
                   BETWEEN ?6 AND ?7 - 1";

/// Sender; none for the assistant.
pub type Speaker = Option<PersonId>;

/// A query.
#[derive(Debug, Clone, Copy)]
pub struct MessageQuery<'a> {
    /// Scope.
    pub scope: Scope,
    /// Words.
    pub words: &'a str,
    /// True to include untrusted texts.
    pub untrusted_too: bool,
    /// Maximum number of hits.
    pub limit: usize,
    /// Only messages before this one.
    pub before: Option<MessageId>,
    /// Only messages of this time.
    pub time: TimeRange,
    /// Name of the assistant; blank if it has none.
    pub agent: &'a str,
    /// True to include the neighbours of matches, and texts with the rare words of the best ones:
    /// an answer need not repeat the words of its question.
    pub with_neighbours: bool,
    /// Time zone of months and years in the query.
    pub zone: Zone,
    /// Digests of texts near in meaning, with their similarity, nearest first. If empty, words
    /// alone decide.
    pub near: &'a [(String, f64)],
    /// Average similarity of all texts of the scope.
    pub mean_similarity: f64,
    /// Similarity from which a text says something about the query.
    pub least_similarity: f64,
}

impl MessageQuery<'_> {
    /// Returns an empty query in that scope: words alone, in UTC.
    pub fn of(scope: Scope) -> Self {
        Self {
            scope,
            words: "",
            untrusted_too: false,
            limit: 0,
            before: None,
            time: TimeRange::ALL,
            agent: "",
            with_neighbours: false,
            zone: Zone::UTC,
            near: &[],
            mean_similarity: 0.0,
            least_similarity: f64::NEG_INFINITY,
        }
    }

    /// Returns the prefixes of the searched terms in the index.
    pub fn prefixes(&self) -> Vec<String> {
        let trust = if self.untrusted_too { &[true, false][..] } else { &[true] };
        trust.iter().map(|is_trusted| place(self.scope, *is_trusted)).collect()
    }

    fn columns(&self) -> &'static str {
        if self.near.is_empty() { CANDIDATE } else { CANDIDATE_WITH_DIGEST }
    }

    fn before(&self) -> i64 {
        self.before.map_or(i64::MAX, |id| id.0)
    }
}

/// A text that may be a hit.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageCandidate {
    /// Row id of the text.
    pub text: i64,
    /// Message.
    pub message: MessageId,
    /// Conversation.
    pub conversation: Option<ConversationId>,
    /// Sender.
    pub person: Speaker,
    /// Time.
    pub at: Timestamp,
    /// Score by words; zero if only the meaning matches.
    pub words: f64,
    /// Score by the words of the first hits, in a second search.
    pub linked: f64,
    /// Similarity of meaning, if known.
    pub meaning: Option<f64>,
    /// Indexes of the terms that it contains.
    pub holds: Vec<usize>,
    /// Share of the text that consists of questions.
    pub asks: f64,
    /// Digest of the text, under which its vector is stored.
    pub digest: Option<String>,
    /// The text.
    pub said: Text,
}

/// Columns of a candidate, to be followed by an expression for its score by words.
const CANDIDATE: &str =
    "SELECT t.id AS text_id, m.id, m.conversation_id, m.person_id, m.effective_at, t.text, t.label, t.scope,
    NULL AS digest,";
/// The same with the digest, where vectors were compared.
const CANDIDATE_WITH_DIGEST: &str =
    "SELECT t.id AS text_id, m.id, m.conversation_id, m.person_id, m.effective_at, t.text, t.label, t.scope,
    (SELECT digest FROM text_digests WHERE text_id = t.id) AS digest,";

from_row! {
    MessageCandidate {
        text: "text_id", message: "id", conversation: "conversation_id", person: "person_id", at: "effective_at",
        digest, words: "score",
    }
    with |row| {
        linked: 0.0, meaning: None, holds: Vec::new(),
        asks: question::asking_share(row.get_ref("text")?.as_str().unwrap_or_default()),
        said: text(row, "text")?,
    }
}

/// Query words worth searching for.
#[derive(Debug, Default)]
pub struct Terms {
    /// Expression for each word with the number of texts that contain it; rarest first.
    pub list: Vec<(String, f64)>,
    /// True if even the rarest is too common for ranking.
    pub all_common: bool,
    /// Approximate number of texts.
    pub texts: f64,
    /// Query words that occur in no text of the scope.
    pub absent: Vec<String>,
}

impl Terms {
    /// Selects the rare words; all of them if none is rare.
    fn among(mut counted: Vec<(String, i64)>, texts: i64) -> Self {
        counted.sort_by_key(|(_, count)| *count);
        let mut room = MOST;
        let rare = counted.iter().take_while(|(_, count)| {
            room -= count;
            room >= 0
        });
        let rare = rare.count();
        let all_common = rare == 0 && !counted.is_empty();
        if !all_common {
            counted.truncate(rare);
        }
        let list = counted.into_iter().map(|(term, count)| (term, as_f64(count))).collect();
        Self { list, all_common, texts: as_f64(texts), absent: Vec::new() }
    }

    fn joined(&self, with: &str) -> String {
        self.list.iter().map(|(term, _)| term.as_str()).collect::<Vec<_>>().join(with)
    }
}

/// Prefix of every term in the index, from scope and trust level: `p3t`. Ends in a letter, so that
/// no number runs on.
pub(super) fn place(scope: Scope, is_trusted: bool) -> String {
    let trust = if is_trusted { 't' } else { 'x' };
    match scope {
        Scope::Person(id) => format!("p{id}{trust}"),
        Scope::Group(id) => format!("g{id}{trust}"),
        Scope::Shared => format!("s{trust}"),
    }
}

/// Sets the similarity of candidates whose vectors were compared with the query.
fn set_similarity(candidates: &mut [MessageCandidate], query: &MessageQuery<'_>) {
    let near: HashMap<&str, f64> = query.near.iter().map(|(digest, nearness)| (digest.as_str(), *nearness)).collect();
    for candidate in candidates {
        candidate.meaning = candidate.digest.as_deref().and_then(|digest| near.get(digest).copied());
    }
}

/// Expression for one word with any of these prefixes, quoted so that it cannot be a syntax error.
fn phrase(prefixes: &[String], word: &str) -> String {
    let with = |prefix: &String| format!("\"{}\"", fold::under(prefix, word).trim_end());
    let all: Vec<String> = prefixes.iter().map(with).collect();
    if let [one] = all.as_slice() { one.clone() } else { format!("({})", all.join(" OR ")) }
}

impl MessageSearch<'_> {
    /// Returns the possible senders of texts in that scope with their names, including the
    /// assistant. In a group any admitted person may be one.
    pub fn speakers(&self, scope: Scope, agent: &str) -> anyhow::Result<Vec<(Speaker, String)>> {
        let people = match scope {
            Scope::Person(id) => self.db.people().person(id)?.into_iter().collect(),
            Scope::Group(_) => self.db.people().people()?,
            Scope::Shared => Vec::new(),
        };
        let assistant = (!agent.is_empty()).then(|| (None, agent.to_owned()));
        Ok(people.into_iter().map(|person| (Some(person.id), person.name)).chain(assistant).collect())
    }

    /// Counts the words of a query and keeps the rare ones.
    pub fn text_terms(&self, question: &Question, prefixes: &[String]) -> anyhow::Result<Terms> {
        let words = question.words.iter().map(|word| (Some(word), phrase(prefixes, word)));
        // The month as spelled in the index, if the query spells it differently.
        let months = question.month_words().filter(|month| !question.words.iter().any(|word| word == month));
        let days = months.map(|month| (None, format!("day : {}", phrase(prefixes, month))));
        let sql = "SELECT count(*) FROM (SELECT 1 FROM texts_fts WHERE texts_fts MATCH ?1 LIMIT ?2)";
        let (mut counted, mut absent): (Vec<(String, i64)>, Vec<String>) = Default::default();
        for (word, term) in words.chain(days) {
            let count = self.db.one(sql, params![term, MOST + 1])?;
            if count > 0 {
                counted.push((term, count));
            } else {
                absent.extend(word.cloned());
            }
        }
        let texts = self.db.one("SELECT coalesce(max(id), 0) FROM texts", [])?;
        Ok(Terms { absent, ..Terms::among(counted, texts) })
    }

    /// Returns the approximate number of messages that a query searches.
    pub fn messages_in(&self, query: &MessageQuery<'_>) -> anyhow::Result<f64> {
        let sql = "SELECT CAST(coalesce(sum(messages), 0) AS REAL) FROM conversations
             WHERE scope = ?1 AND (?2 OR kind <> 'imported')";
        self.db.one(sql, params![query.scope, query.untrusted_too])
    }

    /// Returns the candidates by words, each with the terms that it contains.
    pub fn texts_by_words(&self, terms: &Terms, query: &MessageQuery<'_>) -> anyhow::Result<Vec<MessageCandidate>> {
        let Some((rarest, _)) = terms.list.first() else { return Ok(Vec::new()) };
        if !terms.all_common {
            let mut candidates = self.texts_by_rank(&terms.joined(" OR "), query)?;
            self.mark_terms(&mut candidates, terms)?;
            return Ok(candidates);
        }
        let mut candidates = self.newest_texts(&terms.joined(" AND "), query, 1.0)?;
        if candidates.len() < query.limit {
            let known: HashSet<i64> = candidates.iter().map(|candidate| candidate.text).collect();
            let more = self.newest_texts(rarest, query, 0.5)?;
            candidates.extend(more.into_iter().filter(|candidate| !known.contains(&candidate.text)));
        }
        Ok(candidates)
    }

    /// Returns the best texts by BM25, with half weight for matches in the date.
    fn texts_by_rank(&self, expression: &str, query: &MessageQuery<'_>) -> anyhow::Result<Vec<MessageCandidate>> {
        self.matching_texts(expression, query, "rank", "AND rank MATCH 'bm25(1.0, 0.5)'", "rank")
    }

    /// Returns the newest matching texts, all with the same score.
    fn newest_texts(
        &self,
        expression: &str,
        query: &MessageQuery<'_>,
        words: f64,
    ) -> anyhow::Result<Vec<MessageCandidate>> {
        let mut newest = self.matching_texts(expression, query, "0.0", "", "rowid DESC")?;
        newest.iter_mut().for_each(|candidate| candidate.words = words);
        Ok(newest)
    }

    /// Returns the matching texts that come first in the index by that score, ranking and order.
    fn matching_texts(
        &self,
        expression: &str,
        query: &MessageQuery<'_>,
        score: &str,
        ranking: &str,
        order: &str,
    ) -> anyhow::Result<Vec<MessageCandidate>> {
        let TimeRange { since, until } = query.time;
        let in_time = if query.time == TimeRange::ALL { "" } else { IN_TIME };
        // The inner query reads the index alone; only the rows that come first are looked up.
        let sql = format!(
            "{} -f.score AS score
             FROM (SELECT rowid, {score} AS score FROM texts_fts
                   WHERE texts_fts MATCH ?1 {ranking} {in_time} ORDER BY {order} LIMIT ?2) f
             JOIN texts t ON t.id = f.rowid JOIN messages m ON m.id = t.message_id
             WHERE m.id < ?3 AND t.scope = ?4 AND (?5 OR {}) AND m.effective_at >= ?6 AND m.effective_at < ?7
             ORDER BY f.score, m.id DESC",
            query.columns(),
            Label::is_trusted_sql("t.label")
        );
        let (enough, before) = (self.enough_texts(query)?, query.before());
        self.db.all(&sql, params![expression, enough, before, query.scope, query.untrusted_too, since, until])
    }

    /// Number of index rows that yield enough candidates, so that excluded newer texts do not crowd
    /// out the others.
    fn enough_texts(&self, query: &MessageQuery<'_>) -> anyhow::Result<i64> {
        let most = i64::try_from(CANDIDATES.max(query.limit)).unwrap_or(i64::MAX);
        let sql = "SELECT count(*) FROM (SELECT 1 FROM texts WHERE message_id >= ?1 LIMIT ?2)";
        let newer: i64 = self.db.one(sql, [query.before(), NEWER])?;
        Ok(most.saturating_add(newer))
    }

    /// Marks the terms that each candidate contains.
    fn mark_terms(&self, candidates: &mut [MessageCandidate], terms: &Terms) -> anyhow::Result<()> {
        let place: HashMap<i64, usize> = candidates.iter().enumerate().map(|(at, one)| (one.text, at)).collect();
        for (number, (term, _)) in terms.list.iter().enumerate() {
            self.db.each("SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?1", [term], |row| {
                let at = place.get(&row.get(0)?);
                if let Some(candidate) = at.and_then(|at| candidates.get_mut(*at)) {
                    candidate.holds.push(number);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Adds the [`NEAREST`] texts in meaning as candidates, more for a limited time, which the
    /// vectors do not know.
    pub fn add_texts_by_meaning(
        &self,
        candidates: &mut Vec<MessageCandidate>,
        query: &MessageQuery<'_>,
    ) -> anyhow::Result<()> {
        let mut known: HashSet<i64> = candidates.iter().map(|candidate| candidate.text).collect();
        let sql = format!(
            "SELECT * FROM ({} 0.0 AS score
             FROM text_digests d JOIN texts t ON t.id = d.text_id JOIN messages m ON m.id = t.message_id
             WHERE d.digest = ?1 AND t.scope = ?2 AND t.text <> '' AND m.id < ?3 AND m.effective_at >= ?4 AND m.effective_at < ?5
             ORDER BY t.id DESC LIMIT 20)
             WHERE ?6 OR {}",
            query.columns(),
            Label::is_trusted_sql("label")
        );
        let TimeRange { since, until } = query.time;
        let nearest = if query.time == TimeRange::ALL { NEAREST } else { query.near.len() };
        for (digest, _) in query.near.iter().take(nearest) {
            let limits = params![digest, query.scope, query.before(), since, until, query.untrusted_too];
            let near = self.db.all::<_, MessageCandidate>(&sql, limits)?;
            candidates.extend(near.into_iter().filter(|candidate| known.insert(candidate.text)));
        }
        set_similarity(candidates, query);
        Ok(())
    }

    /// Returns the candidates that contain the whole query verbatim. A single word does so wherever
    /// it was found.
    pub fn verbatim_texts(
        &self,
        question: &Question,
        terms: &Terms,
        prefixes: &[String],
        candidates: &[MessageCandidate],
    ) -> anyhow::Result<HashSet<i64>> {
        if question.all.len() < 2 {
            return Ok(candidates.iter().filter(|one| one.words > 0.0).map(|one| one.text).collect());
        }
        if question.all.len() > LONGEST_PHRASE || terms.all_common || terms.list.is_empty() {
            return Ok(HashSet::new());
        }
        let expression = phrase(prefixes, &question.all.join(" "));
        let sql = "SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        Ok(self.db.all(sql, params![format!("body : {expression}"), MOST])?.into_iter().collect())
    }

    /// Counts the untrusted texts with any of the words, up to [`COUNT_UP_TO`].
    pub fn count_untrusted(&self, question: &Question, query: &MessageQuery<'_>) -> anyhow::Result<usize> {
        let untrusted = [place(query.scope, false)];
        let any: Vec<String> = question.words.iter().map(|word| phrase(&untrusted, word)).collect();
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 FROM texts_fts f JOIN texts t ON t.id = f.rowid JOIN messages m ON m.id = t.message_id
             WHERE texts_fts MATCH ?1 AND m.id < ?2 AND t.scope = ?3 AND m.effective_at >= ?5 AND m.effective_at < ?6 AND NOT {} LIMIT ?4)",
            Label::is_trusted_sql("t.label")
        );
        let limit = i64::try_from(COUNT_UP_TO).unwrap_or(i64::MAX);

        let TimeRange { since, until } = query.time;
        self.db.count(&sql, params![any.join(" OR "), query.before(), query.scope, limit, since, until])
    }
}

#[allow(clippy::cast_precision_loss, reason = "a count of texts, far below the bound")]
fn as_f64(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selected_counts(counts: &[i64]) -> (Vec<f64>, bool) {
        let counted = counts.iter().map(|count| (count.to_string(), *count)).collect();
        let terms = Terms::among(counted, 1_000_000);
        (terms.list.into_iter().map(|(_, count)| count).collect(), terms.all_common)
    }

    #[test]
    fn common_words_are_left_out_where_rare_ones_decide() {
        assert_eq!(selected_counts(&[20_001, 7, 15_000]), (vec![7.0, 15_000.0], false));
        assert_eq!(selected_counts(&[15_000, 6_000]), (vec![6_000.0], false));
        assert_eq!(selected_counts(&[20_001, 20_001]), (vec![20_001.0, 20_001.0], true));
        assert_eq!(selected_counts(&[]), (vec![], false));
    }

    #[test]
    fn a_word_is_looked_for_in_each_place_and_nowhere_else() {
        let places = ["p1t".to_owned(), "p1x".to_owned()];
        assert_eq!(phrase(&places[..1], "東 京"), "\"p1t東 p1t京\"");
        assert_eq!(phrase(&places, "tea"), "(\"p1ttea\" OR \"p1xtea\")");
    }
}
