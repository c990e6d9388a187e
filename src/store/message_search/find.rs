//! Candidates from the index at a bounded cost.
//!
//! BM25 ranking reads every text that contains any query word, and words found in half of all texts
//! decide nothing. So words are counted first, up to a bound, and the rarest are used until
//! together they match [`MOST`] texts. If all are common, the newest texts with all of them are as
//! good as any. A query costs the same with a million texts as with fifty thousand.

use crate::store::handles::MessageSearch;
use std::collections::{HashMap, HashSet};

use rusqlite::{Row, params};

use super::{MessageQuery, before};
use crate::id::{ConversationId, MessageId, PersonId};
use crate::text::fold;
use crate::text::question::Question;
use crate::time::Timestamp;
use crate::trust::Label;

/// Texts ranked per query; about twenty milliseconds.
const MOST: i64 = 20_000;
/// Texts examined closely.
const CANDIDATES: usize = 300;
/// Maximum number of newer texts to skip: more than one turn ever joins.
const NEWER: i64 = 500;
/// A longer query never occurs verbatim in a text.
const LONGEST_PHRASE: usize = 12;

/// Query words worth searching for.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// Expression for each word with the number of texts that contain it; rarest first.
    pub list: Vec<(String, f64)>,
    /// True if even the rarest is too common for ranking.
    pub all_common: bool,
    /// Approximate number of texts.
    pub texts: f64,
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
        Self { list, all_common, texts: as_f64(texts) }
    }
}

/// Sender; none for the assistant.
pub(super) type Speaker = Option<PersonId>;

/// A candidate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RankCandidate {
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
    /// Similarity of meaning, if known.
    pub meaning: Option<f64>,
    /// Indexes of the terms that it contains.
    pub holds: Vec<usize>,
}

impl RankCandidate {
    /// Reads a candidate from the columns of its message, which start at `first`: id, conversation,
    /// person, time.
    pub(super) fn of_row(row: &Row<'_>, first: usize, text: i64) -> rusqlite::Result<Self> {
        Ok(Self {
            text,
            message: row.get(first)?,
            conversation: row.get(first + 1)?,
            person: row.get(first + 2)?,
            at: row.get(first + 3)?,
            words: 0.0,
            meaning: None,
            holds: Vec::new(),
        })
    }
}

/// Expression for one word in any of these partitions, quoted so that it cannot be a syntax error.
pub(super) fn phrase(places: &[String], word: &str) -> String {
    let in_place = |place: &String| format!("\"{}\"", fold::under(place, word).trim_end());
    let all: Vec<String> = places.iter().map(in_place).collect();
    if let [one] = all.as_slice() { one.clone() } else { format!("({})", all.join(" OR ")) }
}

impl MessageSearch<'_> {
    /// Counts the words of a query and keeps the rare ones.
    pub(super) fn text_terms(&self, question: &Question, places: &[String]) -> anyhow::Result<Terms> {
        let words = question.words.iter().map(|word| phrase(places, word));
        // The month as spelled in the index, if the query spells it differently.
        let months = question.month_words().filter(|month| !question.words.iter().any(|word| word == month));
        let days = months.map(|month| format!("day : {}", phrase(places, month)));
        let mut query = self
            .db
            .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM texts_fts WHERE texts_fts MATCH ?1 LIMIT ?2)")?;
        let mut counted: Vec<(String, i64)> = Vec::new();
        for term in words.chain(days) {
            let count = query.query_row(params![term, MOST + 1], |row| row.get(0))?;
            if count > 0 {
                counted.push((term, count));
            }
        }
        let texts: i64 = self.db.query_row("SELECT coalesce(max(id), 0) FROM texts", [], |row| row.get(0))?;
        Ok(Terms::among(counted, texts))
    }

    /// Returns the candidates by words, each with the terms that it contains.
    pub(super) fn texts_by_words(
        &self,
        terms: &Terms,
        looked: &MessageQuery<'_>,
    ) -> anyhow::Result<Vec<RankCandidate>> {
        let join = |with: &str| terms.list.iter().map(|(term, _)| term.as_str()).collect::<Vec<_>>().join(with);
        if terms.list.is_empty() {
            return Ok(Vec::new());
        }
        if !terms.all_common {
            let mut candidates = self.texts_by_rank(&join(" OR "), looked)?;
            self.mark_terms(&mut candidates, terms)?;
            return Ok(candidates);
        }
        let mut candidates = self.newest_texts(&join(" AND "), looked, 1.0)?;
        if let (true, Some((rarest, _))) = (candidates.len() < looked.limit, terms.list.first()) {
            let known: HashSet<i64> = candidates.iter().map(|candidate| candidate.text).collect();
            let more = self.newest_texts(rarest, looked, 0.5)?;
            candidates.extend(more.into_iter().filter(|candidate| !known.contains(&candidate.text)));
        }
        Ok(candidates)
    }

    /// Returns the best texts by BM25, with half weight for matches in the date.
    fn texts_by_rank(&self, expression: &str, looked: &MessageQuery<'_>) -> anyhow::Result<Vec<RankCandidate>> {
        // The inner query ranks by the index alone; only the best rows are looked up.
        let mut query = self.db.prepare_cached(&format!(
            "SELECT m.id, m.conversation_id, m.person_id, m.effective_at, t.id, f.score
             FROM (SELECT rowid, rank AS score FROM texts_fts
                   WHERE texts_fts MATCH ?1 AND rank MATCH 'bm25(1.0, 0.5)' ORDER BY rank LIMIT ?2) f
             JOIN texts t ON t.id = f.rowid JOIN messages m ON m.id = t.message_id
             WHERE m.id < ?3 AND t.scope = ?4 AND (?5 OR {}) ORDER BY f.score, m.id DESC",
            Label::is_trusted_sql("t.label")
        ))?;
        let rows = query.query_map(
            params![expression, self.enough_texts(looked)?, before(looked), looked.scope, looked.untrusted_too],
            |row| {
                let score: f64 = row.get(5)?;
                Ok(RankCandidate { words: -score, ..RankCandidate::of_row(row, 0, row.get(4)?)? })
            },
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the newest matching texts, all with the same score.
    fn newest_texts(
        &self,
        expression: &str,
        looked: &MessageQuery<'_>,
        score: f64,
    ) -> anyhow::Result<Vec<RankCandidate>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT m.id, m.conversation_id, m.person_id, m.effective_at, t.id
             FROM (SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?1 ORDER BY rowid DESC LIMIT ?2) f
             JOIN texts t ON t.id = f.rowid JOIN messages m ON m.id = t.message_id
             WHERE m.id < ?3 AND t.scope = ?4 AND (?5 OR {}) ORDER BY m.id DESC",
            Label::is_trusted_sql("t.label")
        ))?;
        let rows = query.query_map(
            params![expression, self.enough_texts(looked)?, before(looked), looked.scope, looked.untrusted_too],
            |row| Ok(RankCandidate { words: score, ..RankCandidate::of_row(row, 0, row.get(4)?)? }),
        )?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Number of index rows that yield enough candidates, so that excluded newer texts do not crowd
    /// out the others.
    fn enough_texts(&self, looked: &MessageQuery<'_>) -> anyhow::Result<i64> {
        let most = i64::try_from(CANDIDATES.max(looked.limit)).unwrap_or(i64::MAX);
        let mut query =
            self.db.prepare_cached("SELECT count(*) FROM (SELECT 1 FROM texts WHERE message_id >= ?1 LIMIT ?2)")?;
        let newer: i64 = query.query_row([before(looked), NEWER], |row| row.get(0))?;
        Ok(most.saturating_add(newer))
    }

    /// Marks the terms that each candidate contains.
    fn mark_terms(&self, candidates: &mut [RankCandidate], terms: &Terms) -> anyhow::Result<()> {
        let place: HashMap<i64, usize> = candidates.iter().enumerate().map(|(at, one)| (one.text, at)).collect();
        let mut query = self.db.prepare_cached("SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?1")?;
        for (number, (term, _)) in terms.list.iter().enumerate() {
            let mut rows = query.query([term])?;
            while let Some(row) = rows.next()? {
                let at = place.get(&row.get(0)?);
                if let Some(candidate) = at.and_then(|at| candidates.get_mut(*at)) {
                    candidate.holds.push(number);
                }
            }
        }
        Ok(())
    }

    /// Returns the candidates that contain the whole query verbatim. A single word does so wherever
    /// it was found.
    pub(super) fn word_for_word(
        &self,
        question: &Question,
        terms: &Terms,
        places: &[String],
        candidates: &[RankCandidate],
    ) -> anyhow::Result<HashSet<i64>> {
        if question.all.len() < 2 {
            return Ok(candidates.iter().filter(|one| one.words > 0.0).map(|one| one.text).collect());
        }
        if question.all.len() > LONGEST_PHRASE || terms.all_common || terms.list.is_empty() {
            return Ok(HashSet::new());
        }
        let expression = phrase(places, &question.all.join(" "));
        let mut query = self
            .db
            .prepare_cached("SELECT rowid FROM texts_fts WHERE texts_fts MATCH ?1 ORDER BY rowid DESC LIMIT ?2")?;
        let rows = query.query_map(params![format!("body : {expression}"), MOST], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
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
