//! Nearness in meaning: vectors of what was said and of what is known, and what of them is near to
//! a question.
//!
//! The journal keeps the vectors. They are read into memory in the background ([`load`]), a byte
//! for each number ([`shelf`]), and one thread walks through them for each question ([`walk`]);
//! entries have categories besides ([`category`]). Nothing of this is there without `[embedding]`.
//! What lacks a vector is computed in the background as well ([`backfill`]): newest first, within
//! half of the background's budget, with pauses that grow while the server is away. Nothing has to
//! be remembered for that: what is missing is read off the rows.
//!
//! A search waits neither for a server nor for the disk. A server that is away, slow, or gives
//! nonsense leaves the search to words at once, and is asked again after a pause, for ever. Vectors
//! that are not in memory yet leave it to words until they are. Another model, or another length of
//! its vectors, is another key: all is computed anew, and the old ones go when that is done.

mod backfill;
pub(super) mod category;
mod health;
mod load;
mod vector_cache;
mod scan;

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::{Embedder, ModelError};
use crate::spend::Ledger;
use crate::store::{Corpus, Db, Journal};
use crate::time::clock::{WakeupSender, Wakeups, wakeups};
use crate::time::{Clock, Timestamp};
use crate::trust::{Scope, Text};
use backfill::Backlog;
pub use health::{COUNT_UP_TO, VectorFailure, VectorHealth};
pub use scan::{BestCategories, EntryFilter};
use vector_cache::{Digest, Key, Shelves, VectorCache, hexadecimal};

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

/// Entries that mean something like what was asked for.
#[derive(Debug, Clone, Default)]
pub struct NearEntries {
    /// What is nearest, nearest first.
    pub near: Vec<Near>,
    /// What is not so near, but nearest inside the best categories.
    pub inside: Vec<Near>,
    /// The best categories.
    pub best: BestCategories,
}

/// The vectors. Cloning gives another handle on the same ones.
#[derive(Clone)]
pub struct Vectors(Arc<VectorsInner>);

struct VectorsInner {
    journal: Journal,
    clock: Arc<dyn Clock>,
    ledger: Arc<Ledger>,
    embedder: Arc<dyn Embedder>,
    state: Mutex<VectorState>,
    shelves: Mutex<Shelves>,
    /// Wakes who reads shelves.
    ringer: WakeupSender,
    bell: Mutex<Option<Wakeups>>,
}

#[derive(Default)]
struct VectorState {
    /// How many numbers a vector has; none until that is known.
    dimensions: Option<usize>,
    asked: VecDeque<(String, Arc<[f32]>)>,
    away: Option<Away>,
    /// The last time that the server failed, and why.
    failed: Option<(String, Timestamp)>,
    backlog: Backlog,
    /// Shelves that are to be read on.
    wanted: HashSet<Key>,
}

/// The server failed us.
#[derive(Debug, Clone)]
struct Away {
    why: String,
    since: Timestamp,
    until: Timestamp,
    failures: u32,
}

impl Vectors {
    /// Vectors of that journal. Whoever makes them also has [`Vectors::load`] and [`Vectors::run`]
    /// at work.
    pub fn new(parts: VectorParts) -> Self {
        let VectorParts { journal, clock, ledger, embedder } = parts;
        let state = VectorState { dimensions: embedder.card().dimensions, ..VectorState::default() };
        let (ringer, bell) = wakeups();
        Self(Arc::new(VectorsInner {
            journal,
            clock,
            ledger,
            embedder,
            state: Mutex::new(state),
            shelves: Mutex::default(),
            ringer,
            bell: Mutex::new(Some(bell)),
        }))
    }

    /// What was said that is nearest to a question in one scope, nearest first. `None` when nobody
    /// computes vectors at the moment, or they are not read yet: then words alone decide.
    pub async fn said(&self, scope: Scope, question: &Text, untrusted_too: bool, limit: usize) -> Option<Vec<Near>> {
        let vector = self.of_question(question).await?;
        let walk = move |shelf: &VectorCache, vector: &[f32]| (shelf.nearest(vector, untrusted_too, limit), ());
        let (mut near, ()) = self.near((Corpus::Said, scope), vector, walk).await?;
        near.truncate(limit);
        Some(near)
    }

    /// The entries that are nearest to a question, of a scope and of what everybody shares. `None`
    /// as above.
    pub async fn entries(&self, scope: Scope, question: &Text, wanted: EntryFilter) -> Option<NearEntries> {
        let vector = self.of_question(question).await?;
        let limit = wanted.limit;
        let walk = move |shelf: &VectorCache, vector: &[f32]| shelf.entries(vector, &wanted);
        let (mut near, best) = self.near((Corpus::Known, scope), vector, walk).await?;
        let mut inside = near.split_off(near.len().min(limit));
        inside.retain(|near| best.members.contains(&near.digest));
        Some(NearEntries { near, inside, best })
    }

    /// Walks along a shelf that is read, and compares what comes out near with the exact vectors.
    async fn near<T: Send + 'static>(
        &self,
        key: Key,
        vector: Arc<[f32]>,
        walk: impl FnOnce(&VectorCache, &[f32]) -> (Vec<Digest>, T) + Send + 'static,
    ) -> Option<(Vec<Near>, T)> {
        let (vectors, model) = (self.clone(), self.key()?);
        let found = self.0.journal.read_much(move |db| {
            if !vectors.is_ready(db, &model, key, vector.len())? {
                return Ok(None);
            }
            let walked = vectors.shelves().ask(key).map(|shelf| walk(shelf, &vector));
            let Some((digests, besides)) = walked else { return Ok(None) };
            Ok(Some((closer(db, &model, &digests, &vector)?, besides)))
        });
        found.await.unwrap_or_else(|error| {
            tracing::error!("A search goes by words alone, because the vectors cannot be read: {error:#}");
            None
        })
    }

    fn shelves(&self) -> MutexGuard<'_, Shelves> {
        self.0.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, VectorState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Under which name the vectors are kept; none until their length is known.
    fn key(&self) -> Option<String> {
        let card = self.0.embedder.card();
        self.state().dimensions.map(|length| health::key_of(card, length))
    }

    /// The vector of a question, from memory or from the server.
    async fn of_question(&self, question: &Text) -> Option<Arc<[f32]>> {
        let (words, ..) = question.open();
        let now = self.0.clock.now();
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
        let embedded = self.0.ledger.embed(&*self.0.embedder, texts, scope, within).await?;
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
            let kept = self.0.journal.write("note the vectors", move |tx| tx.settings().set_fact(KEY, &key)).await;
            if let Err(error) = kept {
                tracing::warn!("The length of the vectors is not written down: {error:#}");
            }
        }
    }

    /// The server failed: it is left alone for a while. Of our own budget it is not to blame.
    fn failed(&self, error: &ModelError) {
        let now = self.0.clock.now();
        let mut state = self.state();
        let (since, failures) = state.away.as_ref().map_or((now, 0), |away| (away.since, away.failures));
        let failures = failures.saturating_add(1);
        if failures == 1 {
            tracing::warn!("Searches go by words alone for now: {error}");
        }
        let pause = (FIRST_PAUSE * (1 << (failures - 1).min(6))).min(LONGEST_PAUSE);
        let asked = if let ModelError::Later { after: Some(after), .. } = error { *after } else { Duration::ZERO };
        let until = now.plus(pause.max(asked.min(LONGEST_PAUSE)));
        state.failed = Some((error.to_string(), now));
        state.away = Some(Away { why: error.to_string(), since, until, failures });
    }
}

/// The exact nearness of each, nearest first. What went meanwhile is left out.
fn closer(db: Db<'_>, model: &str, digests: &[Digest], vector: &[f32]) -> anyhow::Result<Vec<Near>> {
    let mut near = Vec::with_capacity(digests.len());
    for digest in digests {
        let digest = hexadecimal(digest);
        if let Some(other) = db.embeddings().embedding(model, &digest)?.filter(|other| other.len() == vector.len()) {
            let similarity = other.iter().zip(vector).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            near.push(Near { digest, similarity });
        }
    }
    near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.digest.cmp(&b.digest)));
    Ok(near)
}
