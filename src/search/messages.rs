//! Search in past messages, by words and by meaning. Matches in untrusted text are counted, and
//! returned only on request.
//!
//! The journal returns candidates by words, and those whose vectors are near the query. Then all of
//! them are ranked together with their context ([`rank`]). Texts that contain the
//! query verbatim come first. If none says anything about the query ([`floor`](super::floor)),
//! nothing is found.
//!
//! The names of the participants are removed from a query before the comparison by meaning: with a
//! name in it, the nearest messages are greetings. Without vectors, full-text search alone decides.

use std::collections::HashSet;
use std::sync::Arc;

use super::floor::Floor;
use super::rank::{self, RankContext};
use super::vectors::Vectors;
use crate::id::{ConversationId, MessageId, PersonId};
use crate::store::{Db, Journal, MessageCandidate, MessageQuery, Neighbours, Speaker};
use crate::text::question::{self, Question};
use crate::time::{TimeRange, Timestamp, Zone};
use crate::trust::{Labelled, Text};

/// Number of candidates by meaning.
const NEAR: usize = 100;
/// Number of candidates by meaning for a limited time, which the vectors do not know.
const NEAR_IN_TIME: usize = 2_000;
/// Number of best matches that are ranked with their neighbours.
const WITH_CONTEXT: usize = 100;
/// Number of best matches whose neighbours are candidates too.
const WITH_NEIGHBOURS: usize = 30;
/// Number of first hits whose rare words are searched for.
const FIRST: usize = 3;

/// A matching text.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageHit {
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
pub struct MessageMatches {
    /// Best matches, best first.
    pub hits: Vec<MessageHit>,
    /// Best texts if none is about the query; never shown.
    pub rejected: Vec<MessageHit>,
    /// Number of untrusted matches if the query excludes them, counted up to a limit.
    pub untrusted: usize,
}

/// Returns the best matches by words and meaning. No query text causes an error.
pub fn find_messages(db: Db<'_>, looked: &MessageQuery<'_>) -> anyhow::Result<MessageMatches> {
    let search = db.message_search();
    let speakers = search.speakers(looked.scope, looked.agent)?;
    let names: Vec<String> = speakers.iter().map(|(_, name)| name.clone()).collect();
    let question = Question::of(looked.words, &names);
    if question.is_empty() {
        return Ok(MessageMatches::default());
    }
    let prefixes = looked.prefixes();
    let terms = search.text_terms(&question, &prefixes)?;
    let mut candidates = search.texts_by_words(&terms, looked)?;
    search.add_texts_by_meaning(&mut candidates, looked)?;
    let exact = search.verbatim_texts(&question, &terms, &prefixes, &candidates)?;
    let named: HashSet<Speaker> =
        question.named.iter().filter_map(|at| speakers.get(*at).map(|(speaker, _)| *speaker)).collect();
    let around = Neighbours::default();
    let mut context = RankContext {
        question: &question,
        named,
        around,
        terms: &terms,
        exact,
        zone: looked.zone,
        mean_similarity: looked.mean_similarity,
    };
    add_context(db, &mut candidates, &mut context, looked)?;
    if looked.with_neighbours && !terms.all_common {
        let first: Vec<i64> = rank::rank(&candidates, &context)
            .into_iter()
            .take(FIRST)
            .filter_map(|(at, _)| candidates.get(at).map(|one| one.text))
            .collect();
        search.add_linked_texts(&mut candidates, &first, &terms, looked)?;
        add_context(db, &mut candidates, &mut context, looked)?;
    }
    let is_found = is_found(db, &candidates, &context, looked)?;
    let hit = |(at, score)| {
        let MessageCandidate { message, conversation, person, at, ref said, .. } = *candidates.get::<usize>(at)?;
        Some(MessageHit { message, conversation, person, at, text: said.clone(), score })
    };
    let hits = rank::rank(&candidates, &context).into_iter().take(looked.limit).filter_map(hit).collect();
    let untrusted = if looked.untrusted_too { 0 } else { search.count_untrusted(&question, looked)? };
    let (hits, rejected) = if is_found { (hits, Vec::new()) } else { (Vec::new(), hits) };
    Ok(MessageMatches { hits, rejected, untrusted })
}

/// Returns true if the candidates say something about the query, by words or by meaning.
fn is_found(
    db: Db<'_>,
    candidates: &[MessageCandidate],
    context: &RankContext<'_>,
    looked: &MessageQuery<'_>,
) -> anyhow::Result<bool> {
    let (terms, question) = (context.terms, context.question);
    // A text with all the words is about the query, regardless of their weights.
    let has_all = |one: &MessageCandidate| one.holds.len() == terms.list.len() && !one.holds.is_empty();
    let is_whole = terms.absent.is_empty() && candidates.iter().any(has_all);
    if terms.all_common || is_whole || candidates.iter().any(|one| context.exact.contains(&one.text)) {
        return Ok(true);
    }
    let is_name_unknown = terms.absent.iter().any(|word| question.proper.contains(word));
    let counts = terms.list.iter().map(|(_, count)| *count);
    let floor = Floor::of(counts, terms.absent.len(), is_name_unknown, db.message_search().messages_in(looked)?);
    if candidates.iter().any(|one| floor.is_about(&one.holds)) {
        return Ok(true);
    }
    // Any message of a month answers a question for that month.
    let is_dated = !question.months.is_empty() && candidates.iter().any(|one| context.is_dated(one));
    let is_near = |similarity| similarity > looked.least_similarity;
    let stands_out = candidates.iter().any(|one| one.meaning.is_some_and(is_near));
    Ok((is_dated || stands_out) && !is_name_unknown)
}

/// Adds the neighbours of the best candidates to the context, and those of the very best to the
/// candidates if the query wants them.
fn add_context(
    db: Db<'_>,
    candidates: &mut Vec<MessageCandidate>,
    context: &mut RankContext<'_>,
    looked: &MessageQuery<'_>,
) -> anyhow::Result<()> {
    let search = db.message_search();
    search.add_lengths(&mut context.around, candidates)?;
    let best = rank::best(candidates, context, WITH_CONTEXT);
    for candidate in best.iter().filter_map(|at| candidates.get(*at)) {
        search.add_neighbours(&mut context.around, candidate)?;
    }
    if looked.with_neighbours {
        let known: HashSet<MessageId> = candidates.iter().map(|candidate| candidate.message).collect();
        let best = best.iter().take(WITH_NEIGHBOURS).filter_map(|at| candidates.get(*at));
        let near =
            best.filter_map(|candidate| context.around.near.get(&candidate.message)).flat_map(|near| near.keys());
        let unknown = near.filter(|message| !known.contains(message)).copied().collect();
        candidates.extend(search.texts_of_messages(&unknown, looked)?);
    }
    search.add_lengths(&mut context.around, candidates)
}

/// Search in the conversations of a scope, also by meaning. Clones share the same state.
#[derive(Clone)]
pub struct ConversationSearch {
    journal: Journal,
    vectors: Option<Vectors>,
    agent: Arc<str>,
    zone: Zone,
}

/// A search in past conversations.
#[derive(Debug, Clone)]
pub struct ConversationQuery {
    /// Query text; its scope is the one searched.
    pub words: Text,
    /// Include untrusted texts.
    pub untrusted_too: bool,
    /// Maximum number of hits.
    pub limit: usize,
    /// Only messages before this one.
    pub before: Option<MessageId>,
    /// Only messages of this time.
    pub time: TimeRange,
}

impl ConversationSearch {
    /// Creates a search over that journal, also by meaning if there are vectors. `agent` is the
    /// assistant's name.
    pub fn new(journal: Journal, vectors: Option<Vectors>, agent: &str) -> Self {
        Self { journal, vectors, agent: Arc::from(agent), zone: Zone::UTC }
    }

    /// Sets the time zone for a month or a year in a query.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        Self { zone, ..self }
    }

    /// Returns the best matches; `and` reads more in the same snapshot of the journal.
    ///
    /// # Errors
    /// If `and` fails. An unusable query is not an error.
    pub async fn search<T: Send + 'static>(
        &self,
        asked: &ConversationQuery,
        and: impl FnOnce(Db<'_>, MessageMatches) -> anyhow::Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let (near, mean_similarity, least_similarity) = self.near(asked).await?;
        let (asked, agent, zone) = (asked.clone(), Arc::clone(&self.agent), self.zone);
        self.journal
            .read_much(move |db| {
                let (words, _, scope) = asked.words.open();
                let ConversationQuery { untrusted_too, limit, before, time, .. } = asked;
                let (agent, near) = (&*agent, near.as_slice());
                let looked = MessageQuery {
                    scope,
                    words,
                    untrusted_too,
                    limit,
                    before,
                    time,
                    agent,
                    with_neighbours: true,
                    zone,
                    near,
                    mean_similarity,
                    least_similarity,
                };
                let found = find_messages(db, &looked)?;
                and(db, found)
            })
            .await
    }

    /// Digests near in meaning with their similarity, the average similarity, and the one from
    /// which a text says something.
    async fn near(&self, asked: &ConversationQuery) -> anyhow::Result<(Vec<(String, f64)>, f64, f64)> {
        let Some(vectors) = &self.vectors else { return Ok(Default::default()) };
        let (words, label, scope) = asked.words.open();
        let agent = Arc::clone(&self.agent);
        let speakers = self.journal.read(move |db| db.message_search().speakers(scope, &agent)).await?;
        let names: Vec<String> = speakers.into_iter().map(|(_, name)| name).collect();
        let bare = Labelled::new(Arc::from(question::without_names(words, &names)), label.clone(), scope);
        let limit = if asked.time == TimeRange::ALL { NEAR } else { NEAR_IN_TIME };
        let found = vectors.nearest_messages(scope, &bare, asked.untrusted_too, limit).await.unwrap_or_default();
        let near = found.near.into_iter().map(|near| (near.digest, near.similarity)).collect();
        Ok((near, found.mean_similarity, found.least_similarity))
    }
}
