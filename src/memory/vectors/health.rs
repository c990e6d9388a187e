//! Health of semantic search.

use super::{KEY, Vectors};
use crate::model::EmbedderCard;
use crate::store::Db;
use crate::time::Timestamp;

/// Limit for counting missing vectors. Beyond it only the order of magnitude matters.
pub const COUNT_UP_TO: u64 = 100_000;

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
    /// Number of texts without a vector, counted up to [`COUNT_UP_TO`].
    pub lacking: u64,
    /// Number of vectors in memory, where a search finds them.
    pub loaded: usize,
    /// True if all texts were checked and no vector is missing.
    pub is_complete: bool,
    /// Present outage; searches use full text alone.
    pub away: Option<VectorFailure>,
    /// Reason and time of the last server failure since the start.
    pub failed: Option<(String, Timestamp)>,
}

/// Outage of the embedding server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorFailure {
    /// Reason, as a sentence.
    pub why: String,
    /// Start of the outage.
    pub since: Timestamp,
    /// Time of the next attempt.
    pub next: Timestamp,
}

impl Vectors {
    /// Returns the present state.
    pub async fn health(&self) -> anyhow::Result<VectorHealth> {
        let card = self.0.embedder.card();
        let (key, ahead) = (self.key(), self.state().backlog.ahead());
        let (kept, lacking) = self
            .0
            .journal
            .read_much(move |db| {
                let key = key.unwrap_or_default();
                let mut lacking = 0;
                for (pool, rows) in ahead {
                    let rows = (rows.0, rows.1.min(db.embeddings().newest_words(pool)?));
                    lacking += db.embeddings().count_lacking(pool, &key, rows, COUNT_UP_TO.saturating_sub(lacking))?;
                }
                Ok((db.embeddings().embedded(&key)?, lacking))
            })
            .await?;
        let loaded = self.caches().count();
        let state = self.state();
        let away = state.away.as_ref();
        Ok(VectorHealth {
            source: card.provider.clone(),
            model: card.name.clone(),
            dimensions: state.dimensions,
            kept,
            lacking,
            loaded,
            is_complete: lacking == 0 && state.backlog.is_done(),
            away: away.map(|away| VectorFailure { why: away.why.clone(), since: away.since, next: away.until }),
            failed: state.failed.clone(),
        })
    }
}

impl VectorHealth {
    /// Reads the state from the journal, while no gateway runs that computes vectors.
    pub fn read(db: Db<'_>, card: &EmbedderCard) -> anyhow::Result<Self> {
        let dimensions = match card.dimensions {
            Some(dimensions) => Some(dimensions),
            None => known_length(db, card)?,
        };
        let key = dimensions.map(|length| key_of(card, length)).unwrap_or_default();
        let mut lacking = 0;
        for pool in [super::Corpus::Known, super::Corpus::Said] {
            let all = (1, db.embeddings().newest_words(pool)?);
            lacking += db.embeddings().count_lacking(pool, &key, all, COUNT_UP_TO.saturating_sub(lacking))?;
        }
        Ok(Self {
            source: card.provider.clone(),
            model: card.name.clone(),
            dimensions,
            kept: db.embeddings().embedded(&key)?,
            lacking,
            is_complete: lacking == 0,
            ..Self::default()
        })
    }
}

/// Returns the key under which vectors are stored.
pub(super) fn key_of(card: &EmbedderCard, length: usize) -> String {
    format!("{}/{}/{length}", card.provider, card.name)
}

/// Returns the vector length of the previous run, if the model is the same.
pub(super) fn known_length(db: Db<'_>, card: &EmbedderCard) -> anyhow::Result<Option<usize>> {
    let known = db.settings().fact(KEY)?;
    Ok(known.and_then(|key| key.strip_prefix(&format!("{}/{}/", card.provider, card.name))?.parse().ok()))
}
