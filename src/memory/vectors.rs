//! Nearness in meaning: vectors of what was said and of what is known, and what of them is near to a question.
//!
//! The journal keeps the vectors; who asks first has those of their scope read into memory, in a byte for each number and one thread's walk for each question
//! ([`shelf`]). Nothing is read while nobody asks, and nothing at all without `[embedding]`. What lacks a vector is computed in the background
//! ([`backfill`]): newest first, within half of the background's budget, with pauses that grow while the server is away. Nothing has to be remembered for
//! that: what is missing is read off the rows.
//!
//! A search never waits long for a server. One that is away, slow, or gives nonsense leaves the search to words at once; it is asked again after a pause,
//! for ever. Another model, or another length of its vectors, is another key: all is computed anew, and the old ones go when that is done.

mod backfill;
mod shelf;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::{Embedder, ModelError};
use crate::spend::Ledger;
use crate::store::{Journal, Pool};
use crate::time::{Clock, Moment};
use crate::trust::{Scope, Text};
use backfill::Backlog;
use shelf::Shelves;

/// How long a search waits for the vector of its question.
const QUESTION_WITHIN: Duration = Duration::from_secs(2);
/// So many questions of late keep their vectors.
const QUESTIONS: usize = 32;
/// The first pause after a failure; each further one in a row doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(10);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// The fact under which the key of the vectors is kept.
const KEY: &str = "embedding";

/// Words that mean something like what was asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    /// SHA-256 of the words, in hexadecimal digits.
    pub digest: String,
    /// The cosine: higher is nearer.
    pub similarity: f64,
}

/// What vectors are made of, and with.
pub struct VectorParts {
    /// The journal, which keeps them.
    pub journal: Journal,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Who pays.
    pub ledger: Arc<Ledger>,
    /// Who computes them.
    pub embedder: Arc<dyn Embedder>,
}

/// How searching by meaning is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorHealth {
    /// `provider/name`, and the length of its vectors once that is known.
    pub model: String,
    /// How many words have a vector.
    pub kept: u64,
    /// Whether everything that is there was looked at.
    pub is_complete: bool,
    /// Why searches go by words alone at the moment, and since when.
    pub away: Option<(String, Moment)>,
}

/// The vectors. Cloning gives another handle on the same ones.
#[derive(Clone)]
pub struct Vectors(Arc<Inner>);

struct Inner {
    parts: VectorParts,
    state: Mutex<State>,
    shelves: Mutex<Shelves>,
}

#[derive(Default)]
struct State {
    /// How many numbers a vector has; none until that is known.
    dimensions: Option<usize>,
    asked: VecDeque<(String, Arc<[f32]>)>,
    away: Option<Away>,
    backlog: Backlog,
}

/// The server failed us.
#[derive(Debug, Clone)]
struct Away {
    why: String,
    since: Moment,
    until: Moment,
    failures: u32,
}

impl Vectors {
    /// Vectors that are loaded when they are first asked for.
    pub fn new(parts: VectorParts) -> Self {
        let state = State { dimensions: parts.embedder.card().dimensions, ..State::default() };
        Self(Arc::new(Inner { parts, state: Mutex::new(state), shelves: Mutex::new(Shelves::default()) }))
    }

    /// What is nearest to a question in one scope, nearest first; of entries also among those that everybody shares. `None` when nobody computes vectors
    /// at the moment: then words alone decide.
    pub async fn near(
        &self,
        scope: Scope,
        pool: Pool,
        question: &Text,
        untrusted_too: bool,
        limit: usize,
    ) -> Option<Vec<Near>> {
        let vector = self.of_question(question).await?;
        let (vectors, key) = (self.clone(), self.key()?);
        let found = self.0.parts.journal.read_much(move |db| {
            let mut shelves = vectors.0.shelves.lock().unwrap_or_else(PoisonError::into_inner);
            shelves.near(db, &key, (pool, scope), &vector, untrusted_too, limit)
        });
        match found.await {
            Ok(near) => Some(near),
            Err(error) => {
                tracing::error!("A search goes by words alone, because the vectors cannot be read: {error:#}");
                None
            }
        }
    }

    /// How it is.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub async fn health(&self) -> anyhow::Result<VectorHealth> {
        let card = self.0.parts.embedder.card();
        let key = self.key();
        let model = key.clone().unwrap_or_else(|| format!("{}/{}", card.provider, card.name));
        let kept = match key {
            Some(key) => self.0.parts.journal.read_much(move |db| db.embedded(&key)).await?,
            None => 0,
        };
        let state = self.state();
        let away = state.away.as_ref().map(|away| (away.why.clone(), away.since));
        Ok(VectorHealth { model, kept, is_complete: state.backlog.is_done(), away })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Under which name the vectors are kept; none until their length is known.
    fn key(&self) -> Option<String> {
        let card = self.0.parts.embedder.card();
        self.state().dimensions.map(|length| format!("{}/{}/{length}", card.provider, card.name))
    }

    /// The vector of a question, from memory or from the server.
    async fn of_question(&self, question: &Text) -> Option<Arc<[f32]>> {
        let (words, ..) = question.open();
        let now = self.0.parts.clock.now();
        {
            let state = self.state();
            if let Some((_, vector)) = state.asked.iter().find(|(asked, _)| **asked == **words) {
                return Some(Arc::clone(vector));
            }
            if state.away.as_ref().is_some_and(|away| away.until > now) {
                return None;
            }
        }
        let computed = self.compute(std::slice::from_ref(question), question.scope(), QUESTION_WITHIN).await;
        let vectors = computed.inspect_err(|error| self.failed(error)).ok()?;
        let vector: Arc<[f32]> = Arc::from(vectors.into_iter().next()?);
        let mut state = self.state();
        state.asked.truncate(QUESTIONS - 1);
        state.asked.push_front((words.to_string(), Arc::clone(&vector)));
        Some(vector)
    }

    /// Has vectors computed, and takes note that the server is there.
    async fn compute(&self, texts: &[Text], scope: Scope, within: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let parts = &self.0.parts;
        let embedded = parts.ledger.embed(&*parts.embedder, texts, scope, within).await?;
        if let Some(length) = embedded.vectors.first().map(Vec::len) {
            self.came(length).await;
        }
        Ok(embedded.vectors)
    }

    /// The server is there. If its vectors have another length than before, everything begins anew.
    async fn came(&self, length: usize) {
        let is_new = {
            let mut state = self.state();
            if let Some(away) = state.away.take() {
                tracing::info!("Vectors are computed again, after {} failures", away.failures);
            }
            let is_new = state.dimensions != Some(length);
            if is_new {
                state.dimensions = Some(length);
                state.asked.clear();
                state.backlog = Backlog::default();
            }
            is_new
        };
        if let (true, Some(key)) = (is_new, self.key()) {
            let kept = self.0.parts.journal.write("note the vectors", move |tx| tx.set_fact(KEY, &key)).await;
            if let Err(error) = kept {
                tracing::warn!("The length of the vectors is not written down: {error:#}");
            }
        }
    }

    /// The server failed: it is left alone for a while. Of our own budget it is not to blame.
    fn failed(&self, error: &ModelError) {
        let now = self.0.parts.clock.now();
        let mut state = self.state();
        let (since, failures) = state.away.as_ref().map_or((now, 0), |away| (away.since, away.failures));
        let failures = failures.saturating_add(1);
        if failures == 1 {
            tracing::warn!("Searches go by words alone for now: {error}");
        }
        let pause = (FIRST_PAUSE * (1 << (failures - 1).min(6))).min(LONGEST_PAUSE);
        let asked = if let ModelError::Later { after: Some(after), .. } = error { *after } else { Duration::ZERO };
        let until = now.plus(pause.max(asked.min(LONGEST_PAUSE)));
        state.away = Some(Away { why: error.to_string(), since, until, failures });
    }
}
