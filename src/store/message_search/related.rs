//! Context of candidates: neighbouring messages, and further texts with the rare words of the first
//! hits.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::params;

use super::{MOST, MessageCandidate, MessageQuery, Terms, as_f64, phrase, set_similarity};
use crate::id::{ConversationId, MessageId};
use crate::store::handles::MessageSearch;
use crate::store::maintenance::SEARCHED;
use crate::text::question::Question;
use crate::trust::Label;

/// Number of rare words in the second search.
const LINKS: usize = 4;
/// A word is rare if it occurs in at most one text of so many.
const RARE: f64 = 50.0;
/// Number of messages of a conversation that is read as a whole.
const SHORT: f64 = 200.0;
/// Number of neighbours on each side.
const REACH: usize = 3;

/// Neighbours of candidates, and the lengths of their conversations.
#[derive(Debug, Default)]
pub struct Neighbours {
    /// Messages near a message in its conversation, with their distance: negative for earlier ones.
    pub near: HashMap<MessageId, BTreeMap<MessageId, i32>>,
    /// Number of messages of a conversation. In order, so that their sum is the same every time.
    pub lengths: BTreeMap<ConversationId, f64>,
    /// Messages whose neighbours are complete.
    read: HashSet<MessageId>,
    /// Messages of short conversations, in order.
    short: BTreeMap<ConversationId, Vec<MessageId>>,
}

impl MessageSearch<'_> {
    /// Adds the lengths of the conversations of these candidates.
    pub fn add_lengths(&self, to: &mut Neighbours, candidates: &[MessageCandidate]) -> anyhow::Result<()> {
        for conversation in candidates.iter().filter_map(|candidate| candidate.conversation) {
            if let Entry::Vacant(unknown) = to.lengths.entry(conversation) {
                let messages: Option<f64> =
                    self.db.first("SELECT messages FROM conversations WHERE id = ?1", [conversation])?;
                unknown.insert(messages.unwrap_or(1.0).max(1.0));
            }
        }
        Ok(())
    }

    /// Adds the three messages before and after a candidate in its conversation.
    pub fn add_neighbours(&self, to: &mut Neighbours, candidate: &MessageCandidate) -> anyhow::Result<()> {
        let (message, Some(conversation)) = (candidate.message, candidate.conversation) else { return Ok(()) };
        if !to.read.insert(message) {
            return Ok(());
        }
        let near = self.near(to, message, conversation)?;
        let at = near.partition_point(|other| *other < message);
        let later = near.iter().skip(at).filter(|other| **other != message).zip(1..);
        let earlier = near.iter().take(at).rev().zip((1..).map(|steps: i32| -steps));
        for (other, distance) in later.chain(earlier) {
            to.near.entry(message).or_default().insert(*other, distance);
            to.near.entry(*other).or_default().insert(message, -distance);
        }
        Ok(())
    }

    /// Returns the messages around one, in order.
    fn near(
        &self,
        to: &mut Neighbours,
        message: MessageId,
        conversation: ConversationId,
    ) -> anyhow::Result<Vec<MessageId>> {
        if to.lengths.get(&conversation).is_none_or(|messages| *messages > SHORT) {
            let near = "SELECT * FROM (SELECT id FROM messages WHERE conversation_id = ?1 AND id <= ?2 ORDER BY id DESC LIMIT 4)
                 UNION ALL SELECT * FROM (SELECT id FROM messages WHERE conversation_id = ?1 AND id > ?2 ORDER BY id LIMIT 3)";
            let mut near: Vec<MessageId> = self.db.all(near, params![conversation, message])?;
            near.sort_unstable();
            return Ok(near);
        }
        let all = match to.short.entry(conversation) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let all = "SELECT id FROM messages WHERE conversation_id = ?1 ORDER BY id";
                unknown.insert(self.db.all(all, [conversation])?)
            }
        };
        let at = all.partition_point(|other| *other < message);
        Ok(all.iter().skip(at.saturating_sub(REACH)).take(at.min(REACH) + 1 + REACH).copied().collect())
    }

    /// Returns the texts of these messages as candidates without a score of their own.
    pub fn texts_of_messages(
        &self,
        messages: &HashSet<MessageId>,
        query: &MessageQuery<'_>,
    ) -> anyhow::Result<Vec<MessageCandidate>> {
        self.texts_by("m.id", messages.iter().map(|message| message.0), query)
    }

    /// Returns the texts with these values of a column as candidates without a score of their own.
    fn texts_by(
        &self,
        column: &str,
        values: impl Iterator<Item = i64>,
        query: &MessageQuery<'_>,
    ) -> anyhow::Result<Vec<MessageCandidate>> {
        let sql = format!(
            "{} 0.0 AS score FROM messages m JOIN texts t ON t.message_id = m.id
             WHERE {column} IN (SELECT value FROM json_each(?1))
             AND m.id < ?2 AND t.scope = ?3 AND (?4 OR {}) AND t.text <> '' AND {SEARCHED}",
            query.columns(),
            Label::is_trusted_sql("t.label")
        );
        let values: Vec<String> = values.map(|value| value.to_string()).collect();
        let limits = params![format!("[{}]", values.join(",")), query.before(), query.scope, query.untrusted_too];
        let mut candidates: Vec<MessageCandidate> = self.db.all(&sql, limits)?;
        candidates.retain(|candidate| query.time.contains(candidate.at));
        set_similarity(&mut candidates, query);
        Ok(candidates)
    }

    /// Searches a second time, by the rarest words of the first hits that lead to other texts. Adds
    /// the texts found, and the score of each by these words.
    pub fn add_linked_texts(
        &self,
        candidates: &mut Vec<MessageCandidate>,
        first: &[i64],
        terms: &Terms,
        query: &MessageQuery<'_>,
    ) -> anyhow::Result<()> {
        let links = self.links(first, terms, query)?;
        if links.is_empty() {
            return Ok(());
        }
        let mut place: HashMap<i64, usize> =
            candidates.iter().enumerate().map(|(at, candidate)| (candidate.text, at)).collect();
        let mut linked = self.texts_by_rank(&links.join(" OR "), query)?;
        set_similarity(&mut linked, query);
        for mut candidate in linked {
            let score = std::mem::take(&mut candidate.words);
            let at = *place.entry(candidate.text).or_insert_with(|| {
                candidates.push(candidate);
                candidates.len() - 1
            });
            if let Some(candidate) = candidates.get_mut(at) {
                candidate.linked = score;
            }
        }
        Ok(())
    }

    /// Expressions for the rarest words of these texts that also occur in a text without any of the
    /// terms; a word that stands in several of them counts for each.
    fn links(&self, texts: &[i64], terms: &Terms, query: &MessageQuery<'_>) -> anyhow::Result<Vec<String>> {
        let prefixes = query.prefixes();
        let most = (terms.texts.min(as_f64(MOST)) / RARE).floor().max(2.0);
        let without = if terms.list.is_empty() { String::new() } else { format!(" NOT ({})", terms.joined(" OR ")) };
        let sql = "SELECT count(*) FROM (SELECT 1 FROM texts_fts WHERE texts_fts MATCH ?1 LIMIT ?2)";
        let mut times: BTreeMap<String, f64> = BTreeMap::new();
        for text in texts {
            let words: String = self.db.first("SELECT text FROM texts WHERE id = ?1", [text])?.unwrap_or_default();
            for word in Question::of(&words, &[]).words {
                *times.entry(word).or_default() += 1.0;
            }
        }
        let mut links: Vec<(String, f64)> = Vec::new();
        for (word, times) in times {
            let term = phrase(&prefixes, &word);
            let count = as_f64(self.db.one(sql, params![format!("body : ({term}{without})"), most])?);
            if (1.0..most).contains(&count) {
                links.push((term, times * (terms.texts / count).max(1.0).ln()));
            }
        }
        links.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(links.into_iter().take(LINKS).map(|(term, _)| term).collect())
    }
}
