//! Search in past messages, by words and by meaning. Matches in untrusted text are counted, and
//! returned only on request.
//!
//! The journal returns candidates by words, and those whose vectors are near the query. Then all of
//! them are ranked together with their context ([`rank`]). Texts that contain the
//! query verbatim come first.
//!
//! The names of the participants are removed from a query before the comparison by meaning: with a
//! name in it, the nearest messages are greetings. Without vectors, full-text search alone decides.

use std::collections::HashSet;
use std::sync::Arc;

use super::rank;
use super::vectors::Vectors;
use crate::id::{ConversationId, MessageId, PersonId};
use crate::store::{Db, Journal, MessageQuery, Neighbours, Speaker};
use crate::text::question::{self, Question};
use crate::time::{TimeRange, Timestamp, Zone};
use crate::trust::{Labelled, Text};

/// Number of candidates by meaning.
const NEAR: usize = 100;
/// Number of candidates by meaning for a limited time, which the vectors do not know.
const NEAR_IN_TIME: usize = 2_000;
/// Number of best matches whose neighbours are candidates too.
const WITH_NEIGHBOURS: usize = 30;

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
    let mut around = Neighbours::default();
    search.add_neighbours(&mut around, &candidates)?;
    if looked.with_neighbours {
        let known: HashSet<MessageId> = candidates.iter().map(|candidate| candidate.message).collect();
        let best = rank::best(&candidates, WITH_NEIGHBOURS).into_iter().filter_map(|at| candidates.get(at));
        let beside = best.filter_map(|candidate| around.beside.get(&candidate.message)).flatten().flatten();
        let unknown = beside.filter(|message| !known.contains(message)).copied().collect();
        let more = search.texts_of_messages(&unknown, looked)?;
        search.add_neighbours(&mut around, &more)?;
        candidates.extend(more);
    }
    let context = rank::RankContext { question: &question, named, around, terms: &terms, exact, zone: looked.zone };
    let mut hits = Vec::new();
    for (at, score) in rank::rank(&candidates, &context).into_iter().take(looked.limit) {
        let Some(candidate) = candidates.get(at) else { continue };
        let (message, conversation) = (candidate.message, candidate.conversation);
        let text = search.candidate_text(candidate.text)?;
        let (person, at) = (candidate.person, candidate.at);
        hits.extend(text.map(|text| MessageHit { message, conversation, person, at, text, score }));
    }
    let untrusted = if looked.untrusted_too { 0 } else { search.count_untrusted(&question, looked)? };
    Ok(MessageMatches { hits, untrusted })
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
        let near = self.near(asked).await?;
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
                };
                let found = find_messages(db, &looked)?;
                and(db, found)
            })
            .await
    }

    async fn near(&self, asked: &ConversationQuery) -> anyhow::Result<Vec<(String, f64)>> {
        let Some(vectors) = &self.vectors else { return Ok(Vec::new()) };
        let (words, label, scope) = asked.words.open();
        let agent = Arc::clone(&self.agent);
        let speakers = self.journal.read(move |db| db.message_search().speakers(scope, &agent)).await?;
        let names: Vec<String> = speakers.into_iter().map(|(_, name)| name).collect();
        let bare = Labelled::new(Arc::from(question::without_names(words, &names)), label.clone(), scope);
        let limit = if asked.time == TimeRange::ALL { NEAR } else { NEAR_IN_TIME };
        let near = vectors.nearest_messages(scope, &bare, asked.untrusted_too, limit).await;
        Ok(near.unwrap_or_default().into_iter().map(|near| (near.digest, near.similarity)).collect())
    }
}
