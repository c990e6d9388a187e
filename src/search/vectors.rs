//! Semantic search: vectors of messages and of knowledge, and the nearest ones to a query.
//!
//! The journal stores the vectors. They are loaded into memory in the background ([`load`]), one
//! byte for each number ([`vector_cache`]), and one thread scans them for each query ([`scan`]);
//! entries also have categories ([`category`]). None of this exists without `[embedding]`. Missing
//! vectors are computed in the background ([`backfill`]): newest first, within half of the
//! background budget, with pauses that grow while the server is unavailable. No progress is stored:
//! the rows show what is missing.
//!
//! A search waits neither for a server nor for the disk. If the server is unavailable, slow, or
//! returns nonsense, the search uses full text at once; the server is retried after a pause,
//! indefinitely. A search also uses full text until the vectors are loaded. Another model, or
//! another vector length, is another key: all vectors are computed again, and the old ones are
//! deleted afterwards.

mod backfill;
pub(super) mod category;
mod load;
mod vector_cache;
mod scan;

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use crate::model::{Embedder, EmbedderInfo, ModelError};
use crate::spend::Ledger;
use crate::store::{Corpus, Db, Journal};
use crate::time::clock::{WakeupSender, Wakeups, wakeups};
use crate::time::task::lock;
use crate::time::{Backoff, Clock, Timestamp};
use crate::trust::{Scope, Text};
use backfill::Backlog;
pub use scan::{BestCategories, EntryFilter};
use vector_cache::{Digest, Key, VectorCache, VectorCaches};

/// Timeout for the vector of a query.
const QUESTION_WITHIN: Duration = Duration::from_secs(2);
/// Number of recent queries whose vectors are cached.
const QUESTIONS: usize = 32;
/// Pauses after failures.
const RETRY: Backoff = Backoff { first: Duration::from_secs(10), longest: Duration::from_secs(600) };
/// Name of the stored setting that holds the key of the vectors.
const KEY: &str = "embedding";

/// Limit for counting missing vectors. Beyond it only the order of magnitude matters.
pub const VECTORS_COUNTED_UP_TO: u64 = 100_000;

/// State of semantic search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorHealth {
    /// Provider of the embedding model: `openai`, `ollama`.
    pub source: String,
    /// Name of the model.
    pub model: String,
    /// Vector length, once it is known.
    pub dimensions: Option<usize>,
    /// Number of texts with a vector.
    pub kept: u64,
    /// Number of texts without a vector, counted up to [`VECTORS_COUNTED_UP_TO`].
    pub lacking: u64,
    /// Number of vectors in memory, where a search finds them.
    pub loaded: usize,
    /// True if all texts were checked and no vector is missing.
    pub is_complete: bool,
    /// Present outage; searches use full text alone.
    pub away: Option<VectorOutage>,
    /// Reason and time of the last server failure since the start.
    pub failed: Option<(String, Timestamp)>,
}

/// Outage of the embedding server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorOutage {
    /// Reason, as a sentence.
    pub why: String,
    /// Start of the outage.
    pub since: Timestamp,
    /// Time of the next attempt.
    pub next: Timestamp,
}

/// A text similar in meaning to the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    /// SHA-256 of the text, in hexadecimal.
    pub digest: String,
    /// Cosine similarity; higher is nearer.
    pub similarity: f64,
}

/// Dependencies of [`Vectors`].
pub struct VectorParts {
    /// Store of the vectors.
    pub journal: Journal,
    /// Clock for timeouts and pauses.
    pub clock: Arc<dyn Clock>,
    /// Ledger that meters the calls.
    pub ledger: Arc<Ledger>,
    /// Client of the embedding model.
    pub embedder: Arc<dyn Embedder>,
}

/// Messages similar in meaning to the query.
#[derive(Debug, Clone, Default)]
pub struct NearMessages {
    /// Nearest texts, nearest first.
    pub near: Vec<Near>,
    /// Average similarity of all texts.
    pub mean_similarity: f64,
    /// Similarity from which a text says something about the query.
    pub least_similarity: f64,
}

/// Entries similar in meaning to the query.
#[derive(Debug, Clone, Default)]
pub struct NearEntries {
    /// Nearest entries, nearest first.
    pub near: Vec<Near>,
    /// Further entries: the nearest ones inside the best categories.
    pub inside: Vec<Near>,
    /// Best categories.
    pub best: BestCategories,
}

/// Access to the vectors. Clones share the same state.
#[derive(Clone)]
pub struct Vectors(Arc<VectorsInner>);

struct VectorsInner {
    journal: Journal,
    clock: Arc<dyn Clock>,
    ledger: Arc<Ledger>,
    embedder: Arc<dyn Embedder>,
    state: Mutex<VectorState>,
    caches: Mutex<VectorCaches>,
    /// Wakes the loading task.
    wakeup_sender: WakeupSender,
    wakeups: Mutex<Option<Wakeups>>,
}

#[derive(Default)]
struct VectorState {
    /// Vector length; `None` until it is known.
    dimensions: Option<usize>,
    asked: VecDeque<(String, Arc<[f32]>)>,
    away: Option<ModelOutage>,
    /// Reason and time of the last server failure.
    failed: Option<(String, Timestamp)>,
    backlog: Backlog,
    /// Caches to load further.
    wanted: HashSet<Key>,
}

/// Outage of the embedding server.
#[derive(Debug, Clone)]
struct ModelOutage {
    why: String,
    since: Timestamp,
    until: Timestamp,
    failures: u32,
}

impl Vectors {
    /// Creates the vectors of that journal. The caller also starts [`Vectors::load`] and
    /// [`Vectors::run`].
    pub fn new(parts: VectorParts) -> Self {
        let VectorParts { journal, clock, ledger, embedder } = parts;
        let state = VectorState { dimensions: embedder.info().dimensions, ..VectorState::default() };
        let (wakeup_sender, receiver) = wakeups();
        Self(Arc::new(VectorsInner {
            journal,
            clock,
            ledger,
            embedder,
            state: Mutex::new(state),
            caches: Mutex::default(),
            wakeup_sender,
            wakeups: Mutex::new(Some(receiver)),
        }))
    }

    /// Returns at least that many of the nearest messages of a scope. `None` if the vectors are
    /// unavailable or not loaded yet: then full-text search alone decides.
    pub async fn nearest_messages(
        &self,
        scope: Scope,
        question: &Text,
        untrusted_too: bool,
        limit: usize,
    ) -> Option<NearMessages> {
        let vector = self.of_question(question).await?;
        let scan = move |cache: &VectorCache, vector: &[f32]| cache.nearest(vector, untrusted_too, limit);
        let (near, (mean_similarity, least_similarity)) = self.near((Corpus::Said, scope), vector, scan).await?;
        Some(NearMessages { near, mean_similarity, least_similarity })
    }

    /// Returns the nearest entries of a scope and of the shared files. `None` as in
    /// [`Vectors::nearest_messages`].
    pub async fn entries(&self, scope: Scope, question: &Text, wanted: EntryFilter) -> Option<NearEntries> {
        let vector = self.of_question(question).await?;
        let limit = wanted.limit;
        let scan = move |cache: &VectorCache, vector: &[f32]| cache.entries(vector, &wanted);
        let (mut near, best) = self.near((Corpus::Known, scope), vector, scan).await?;
        let mut inside = near.split_off(near.len().min(limit));
        inside.retain(|near| best.members.contains(&near.digest));
        Some(NearEntries { near, inside, best })
    }

    /// Scans a loaded cache and compares the best candidates with the exact vectors.
    async fn near<T: Send + 'static>(
        &self,
        key: Key,
        vector: Arc<[f32]>,
        scan: impl FnOnce(&VectorCache, &[f32]) -> (Vec<Digest>, T) + Send + 'static,
    ) -> Option<(Vec<Near>, T)> {
        let (vectors, model) = (self.clone(), self.key()?);
        let found = self.0.journal.read_much(move |db| {
            if !vectors.is_ready(db, &model, key, vector.len())? {
                return Ok(None);
            }
            let scanned = vectors.caches().ask(key).map(|cache| scan(cache, &vector));
            let Some((digests, besides)) = scanned else { return Ok(None) };
            Ok(Some((closer(db, &model, &digests, &vector)?, besides)))
        });
        found.await.unwrap_or_else(|error| {
            tracing::error!("A search goes by words alone, because the vectors cannot be read: {error:#}");
            None
        })
    }

    /// Returns the present state.
    pub async fn health(&self) -> anyhow::Result<VectorHealth> {
        let info = self.0.embedder.info();
        let (key, ahead) = (self.key(), self.state().backlog.ahead());
        let (kept, lacking) = self
            .0
            .journal
            .read_much(move |db| {
                let key = key.unwrap_or_default();
                let mut lacking = 0;
                for (corpus, rows) in ahead {
                    let rows = (rows.0, rows.1.min(db.embeddings().newest_words(corpus)?));
                    lacking += db.embeddings().count_lacking(
                        corpus,
                        &key,
                        rows,
                        VECTORS_COUNTED_UP_TO.saturating_sub(lacking),
                    )?;
                }
                Ok((db.embeddings().embedded(&key)?, lacking))
            })
            .await?;
        let loaded = self.caches().count();
        let state = self.state();
        let away = state.away.as_ref();
        Ok(VectorHealth {
            source: info.provider.clone(),
            model: info.name.clone(),
            dimensions: state.dimensions,
            kept,
            lacking,
            loaded,
            is_complete: lacking == 0 && state.backlog.is_done(),
            away: away.map(|away| VectorOutage { why: away.why.clone(), since: away.since, next: away.until }),
            failed: state.failed.clone(),
        })
    }

    fn caches(&self) -> MutexGuard<'_, VectorCaches> {
        lock(&self.0.caches)
    }

    fn state(&self) -> MutexGuard<'_, VectorState> {
        lock(&self.0.state)
    }

    /// Returns the key under which the vectors are stored; `None` until their length is known.
    fn key(&self) -> Option<String> {
        let info = self.0.embedder.info();
        self.state().dimensions.map(|length| key_of(info, length))
    }

    /// Returns the vector of a query, cached or computed by the server; none for one with a part
    /// from an archive that may not be sent there.
    async fn of_question(&self, question: &Text) -> Option<Arc<[f32]>> {
        let (words, label, _) = question.open();
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
        // A model may quote an archive in its query.
        let label = label.clone();
        if self.0.journal.read(move |db| db.imports().withholds(&label)).await.unwrap_or(true) {
            return None;
        }
        let computed = self.compute(std::slice::from_ref(question), question.scope(), QUESTION_WITHIN).await;
        let vectors = computed.inspect_err(|error| self.failed(error)).ok()?;
        let vector: Arc<[f32]> = Arc::from(vectors.into_iter().next()?);
        let mut state = self.state();
        state.asked.truncate(QUESTIONS - 1);
        state.asked.push_front((words.to_string(), Arc::clone(&vector)));
        Some(vector)
    }

    /// Computes vectors, and records success of the server.
    async fn compute(&self, texts: &[Text], scope: Scope, within: Duration) -> Result<Vec<Vec<f32>>, ModelError> {
        let embedded = self.0.ledger.embed(&*self.0.embedder, texts, scope, within).await?;
        if let Some(length) = embedded.vectors.first().map(Vec::len) {
            self.record_success(length).await;
        }
        Ok(embedded.vectors)
    }

    /// Records that the server is available. A change of vector length restarts everything.
    async fn record_success(&self, length: usize) {
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

    /// Records a failure, even one of our own budget, and sets the pause.
    fn failed(&self, error: &ModelError) {
        let now = self.0.clock.now();
        let mut state = self.state();
        let (since, failures) = state.away.as_ref().map_or((now, 0), |away| (away.since, away.failures));
        let failures = failures.saturating_add(1);
        if failures == 1 {
            tracing::warn!("Searches go by words alone for now: {error}");
        }
        let asked = if let ModelError::Later { after: Some(after), .. } = error { *after } else { Duration::ZERO };
        let until = now.plus(RETRY.pause(failures).max(asked.min(RETRY.longest)));
        state.failed = Some((error.to_string(), now));
        state.away = Some(ModelOutage { why: error.to_string(), since, until, failures });
    }
}

impl VectorHealth {
    /// Reads the state from the journal, while no gateway runs that computes vectors.
    pub fn read(db: Db<'_>, info: &EmbedderInfo) -> anyhow::Result<Self> {
        let dimensions = match info.dimensions {
            Some(dimensions) => Some(dimensions),
            None => known_length(db, info)?,
        };
        let key = dimensions.map(|length| key_of(info, length)).unwrap_or_default();
        let mut lacking = 0;
        for corpus in [Corpus::Known, Corpus::Said] {
            let all = (1, db.embeddings().newest_words(corpus)?);
            lacking +=
                db.embeddings().count_lacking(corpus, &key, all, VECTORS_COUNTED_UP_TO.saturating_sub(lacking))?;
        }
        Ok(Self {
            source: info.provider.clone(),
            model: info.name.clone(),
            dimensions,
            kept: db.embeddings().embedded(&key)?,
            lacking,
            is_complete: lacking == 0,
            ..Self::default()
        })
    }
}

/// Returns the key under which vectors are stored.
fn key_of(info: &EmbedderInfo, length: usize) -> String {
    format!("{}/{}/{length}", info.provider, info.name)
}

/// Returns the vector length of the previous run, if the model is the same.
fn known_length(db: Db<'_>, info: &EmbedderInfo) -> anyhow::Result<Option<usize>> {
    let known = db.settings().fact(KEY)?;
    Ok(known.and_then(|key| key.strip_prefix(&format!("{}/{}/", info.provider, info.name))?.parse().ok()))
}

/// Returns the exact similarities, nearest first. Leaves out vectors deleted meanwhile.
fn closer(db: Db<'_>, model: &str, digests: &[Digest], vector: &[f32]) -> anyhow::Result<Vec<Near>> {
    let mut near = Vec::with_capacity(digests.len());
    for digest in digests {
        let digest = hex::encode(digest);
        if let Some(other) = db.embeddings().embedding(model, &digest)?.filter(|other| other.len() == vector.len()) {
            let similarity = other.iter().zip(vector).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            near.push(Near { digest, similarity });
        }
    }
    near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.digest.cmp(&b.digest)));
    Ok(near)
}
