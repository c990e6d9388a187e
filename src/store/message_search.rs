//! Full-text search over messages.
//!
//! Every term in the index begins with its scope and trust level, so a query can only match its own
//! scope. Matches in untrusted text are counted, and returned only on request.
//!
//! The index first returns candidates by words, and the caller may add candidates by meaning
//! ([`MessageQuery::near`]). Then all of them are ranked together with their context. Texts that
//! contain the query verbatim come first.

mod find;
mod keep;
mod rank;

use crate::store::handles::MessageSearch;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rusqlite::{OptionalExtension, params};

use super::maintenance::SEARCHED;
use crate::id::{ConversationId, MessageId, PersonId};
use crate::text::question::Question;
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Text};
use find::{RankCandidate, Speaker};

/// A matching text.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Message.
    pub message: MessageId,
    /// Conversation.
    pub conversation: Option<ConversationId>,
    /// Sender; none for the assistant.
    pub person: Option<PersonId>,
    /// Time.
    pub at: Timestamp,
    /// Text.
    pub text: Text,
    /// Higher is better.
    pub score: f64,
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matches {
    /// Best matches, best first.
    pub hits: Vec<Hit>,
    /// Number of untrusted matches if the query excludes them; at most [`COUNT_UP_TO`].
    pub untrusted: usize,
}

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
    /// Name of the assistant; blank if it has none.
    pub agent: &'a str,
    /// True to include the neighbours of matches: an answer need not repeat the words of its
    /// question.
    pub with_company: bool,
    /// Time zone of months and years in the query.
    pub zone: Zone,
    /// Digests of texts near in meaning, with their similarity. If empty, words alone decide.
    pub near: &'a [(String, f64)],
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
            agent: "",
            with_company: false,
            zone: Zone::UTC,
            near: &[],
        }
    }
}

/// Limit of the count: "99 or more" is as good for a person.
pub const COUNT_UP_TO: usize = 99;

/// Number of best matches whose neighbours are considered.
const COMPANY: usize = 30;

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

impl MessageSearch<'_> {
    /// Returns the best matches of `question` by words among the texts of `scope`, before the given
    /// message. No question text causes an error.
    pub fn recall(
        &self,
        scope: Scope,
        question: &str,
        untrusted_too: bool,
        limit: usize,
        before: Option<MessageId>,
    ) -> anyhow::Result<Matches> {
        self.recall_by(&MessageQuery { words: question, untrusted_too, limit, before, ..MessageQuery::of(scope) })
    }

    /// Returns the best matches by words and meaning. No question text causes an error.
    pub fn recall_by(&self, looked: &MessageQuery<'_>) -> anyhow::Result<Matches> {
        let people = self.who_talks(looked.scope, looked.agent)?;
        let names: Vec<String> = people.iter().map(|(_, name)| name.clone()).collect();
        let question = Question::of(looked.words, &names);
        if question.is_empty() {
            return Ok(Matches::default());
        }
        let places: Vec<String> = if looked.untrusted_too {
            vec![place(looked.scope, true), place(looked.scope, false)]
        } else {
            vec![place(looked.scope, true)]
        };
        let terms = self.text_terms(&question, &places)?;
        let mut candidates = self.texts_by_words(&terms, looked)?;
        self.add_texts_by_meaning(&mut candidates, looked)?;
        let exact = self.word_for_word(&question, &terms, &places, &candidates)?;
        let named: HashSet<Speaker> =
            question.named.iter().filter_map(|at| people.get(*at).map(|(speaker, _)| *speaker)).collect();
        let mut around = self.around_texts(&candidates)?;
        if looked.with_company {
            let company = self.company(&candidates, &around, looked)?;
            around.absorb(self.around_texts(&company)?);
            candidates.extend(company);
        }
        let zone = looked.zone;
        let light = rank::RankContext { question: &question, named, around, terms: &terms, exact, zone };
        let ranked = rank::rank(&candidates, &light);
        let mut hits = Vec::new();
        for (at, score) in ranked.into_iter().take(looked.limit) {
            hits.extend(candidates.get(at).map(|candidate| self.text_hit(candidate, score)).transpose()?.flatten());
        }
        let untrusted = if looked.untrusted_too { 0 } else { self.count_untrusted(&question, looked)? };
        Ok(Matches { hits, untrusted })
    }

    /// Returns the names of the possible senders of texts in that scope, including the assistant.
    /// In a group any admitted person may be one.
    pub fn names_of(&self, scope: Scope, agent: &str) -> anyhow::Result<Vec<String>> {
        Ok(self.who_talks(scope, agent)?.into_iter().map(|(_, name)| name).collect())
    }

    fn who_talks(&self, scope: Scope, agent: &str) -> anyhow::Result<Vec<(Speaker, String)>> {
        let mut people = match scope {
            Scope::Person(id) => self.db.people().person(id)?.into_iter().collect(),
            Scope::Group(_) => self.db.people().people()?,
            Scope::Shared => Vec::new(),
        };
        let assistant = (!agent.is_empty()).then(|| (None, agent.to_owned()));
        Ok(people.drain(..).map(|person| (Some(person.id), person.name)).chain(assistant).collect())
    }

    fn text_hit(&self, candidate: &RankCandidate, score: f64) -> anyhow::Result<Option<Hit>> {
        let mut query = self.db.prepare_cached("SELECT text, label, scope FROM texts WHERE id = ?1")?;
        let text = query.query_row([candidate.text], |row| {
            let words: Arc<str> = row.get(0)?;
            Ok(Labelled::new(words, row.get(1)?, row.get(2)?))
        });
        Ok(text.optional()?.map(|text| Hit {
            message: candidate.message,
            conversation: candidate.conversation,
            person: candidate.person,
            at: candidate.at,
            text,
            score,
        }))
    }

    fn count_untrusted(&self, question: &Question, looked: &MessageQuery<'_>) -> anyhow::Result<usize> {
        let untrusted = [place(looked.scope, false)];
        let any: Vec<String> = question.words.iter().map(|word| find::phrase(&untrusted, word)).collect();
        let mut query = self.db.prepare_cached(&format!(
            "SELECT count(*) FROM (SELECT 1 FROM texts_fts f JOIN texts t ON t.id = f.rowid
             WHERE texts_fts MATCH ?1 AND t.message_id < ?2 AND t.scope = ?3 AND NOT {} LIMIT ?4)",
            Label::is_trusted_sql("t.label")
        ))?;
        let (before, limit) = (before(looked), i64::try_from(COUNT_UP_TO).unwrap_or(i64::MAX));
        let count: i64 = query.query_row(params![any.join(" OR "), before, looked.scope, limit], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }
}

fn before(looked: &MessageQuery<'_>) -> i64 {
    looked.before.map_or(i64::MAX, |id| id.0)
}

/// Context of the candidates: neighbouring messages, and the lengths of their conversations.
#[derive(Debug, Default)]
struct Neighbours {
    beside: HashMap<MessageId, [Option<MessageId>; 2]>,
    lengths: HashMap<ConversationId, f64>,
}

impl Neighbours {
    fn absorb(&mut self, other: Self) {
        self.beside.extend(other.beside);
        self.lengths.extend(other.lengths);
    }
}

impl MessageSearch<'_> {
    /// Returns the neighbours of the best candidates that are not candidates.
    fn company(
        &self,
        of: &[RankCandidate],
        around: &Neighbours,
        looked: &MessageQuery<'_>,
    ) -> anyhow::Result<Vec<RankCandidate>> {
        let known: HashSet<MessageId> = of.iter().map(|candidate| candidate.message).collect();
        let best = rank::best(of, COMPANY).into_iter().filter_map(|at| of.get(at));
        let beside = best.filter_map(|candidate| around.beside.get(&candidate.message)).flatten().flatten();
        let beside: HashSet<MessageId> = beside.filter(|message| !known.contains(message)).copied().collect();
        let trusted = Label::is_trusted_sql("t.label");
        let mut query = self.db.prepare_cached(&format!(
            "SELECT m.id, m.conversation_id, m.person_id, m.effective_at, t.id
             FROM messages m JOIN texts t ON t.message_id = m.id
             WHERE m.id = ?1 AND m.id < ?2 AND t.scope = ?3 AND (?4 OR {trusted}) AND t.text <> '' AND {SEARCHED}"
        ))?;
        let mut company = Vec::new();
        for message in beside {
            let rows = query
                .query_map(params![message, before(looked), looked.scope, looked.untrusted_too], |row| {
                    RankCandidate::of_row(row, 0, row.get(4)?)
                })?;
            for row in rows {
                company.push(row?);
            }
        }
        Ok(company)
    }

    fn around_texts(&self, candidates: &[RankCandidate]) -> anyhow::Result<Neighbours> {
        let mut around = Neighbours::default();
        let mut beside = self.db.prepare_cached(
            "SELECT (SELECT max(id) FROM messages WHERE conversation_id = ?1 AND id < ?2),
                    (SELECT min(id) FROM messages WHERE conversation_id = ?1 AND id > ?2)",
        )?;
        let mut length = self.db.prepare_cached("SELECT messages FROM conversations WHERE id = ?1")?;
        for candidate in candidates {
            let Some(conversation) = candidate.conversation else { continue };
            let both =
                beside.query_row(params![conversation, candidate.message], |row| Ok([row.get(0)?, row.get(1)?]))?;
            around.beside.insert(candidate.message, both);
            if let Entry::Vacant(unknown) = around.lengths.entry(conversation) {
                let messages: Option<f64> = length.query_row([conversation], |row| row.get(0)).optional()?;
                unknown.insert(messages.unwrap_or(1.0).max(1.0));
            }
        }
        Ok(around)
    }
}

/// Returns true if a text with this label is included.
fn is_included(looked: &MessageQuery<'_>, label: &Label) -> bool {
    looked.untrusted_too || label.is_trusted()
}

impl MessageSearch<'_> {
    /// Adds candidates near in meaning, and sets the similarity of existing ones.
    fn add_texts_by_meaning(
        &self,
        candidates: &mut Vec<RankCandidate>,
        looked: &MessageQuery<'_>,
    ) -> anyhow::Result<()> {
        let mut known: HashMap<i64, usize> =
            candidates.iter().enumerate().map(|(at, candidate)| (candidate.text, at)).collect();
        let mut query = self.db.prepare_cached(
            "SELECT t.id, t.label, m.id, m.conversation_id, m.person_id, m.effective_at
             FROM text_digests d JOIN texts t ON t.id = d.text_id JOIN messages m ON m.id = t.message_id
             WHERE d.digest = ?1 AND t.scope = ?2 AND t.text <> '' AND t.message_id < ?3 ORDER BY t.id DESC LIMIT 20",
        )?;
        for (digest, similarity) in looked.near {
            let rows = query.query_map(params![digest, looked.scope, before(looked)], |row| {
                let label: Label = row.get(1)?;
                Ok((label, RankCandidate::of_row(row, 2, row.get(0)?)?))
            })?;
            for row in rows {
                let (label, candidate) = row?;
                if !is_included(looked, &label) {
                    continue;
                }
                let at = *known.entry(candidate.text).or_insert_with(|| {
                    candidates.push(candidate);
                    candidates.len() - 1
                });
                if let Some(candidate) = candidates.get_mut(at) {
                    candidate.meaning = Some(*similarity);
                }
            }
        }
        Ok(())
    }
}
