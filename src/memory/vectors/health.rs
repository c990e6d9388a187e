//! How searching by meaning is, in numbers and in plain sentences.

use super::{KEY, Vectors};
use crate::model::EmbedderCard;
use crate::store::Db;
use crate::time::Timestamp;

/// Counting what lacks stops here: beyond it only the order of magnitude matters.
pub const COUNT_UP_TO: u64 = 100_000;

/// How searching by meaning is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorHealth {
    /// Who computes vectors: `openai`, `ollama`.
    pub source: String,
    /// The name of the model.
    pub model: String,
    /// How many numbers a vector has, once that is known.
    pub dimensions: Option<usize>,
    /// How many words have a vector.
    pub kept: u64,
    /// How many have none yet, counted up to [`COUNT_UP_TO`].
    pub lacking: u64,
    /// How many are in memory, where a search finds them.
    pub loaded: usize,
    /// Whether everything that is there was looked at.
    pub is_complete: bool,
    /// Why searches go by words alone at the moment.
    pub away: Option<VectorFailure>,
    /// The last time that the server failed since the start, and why.
    pub failed: Option<(String, Timestamp)>,
}

/// The server failed us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VectorFailure {
    /// Why, in a sentence.
    pub why: String,
    /// Since when.
    pub since: Timestamp,
    /// When it is asked again.
    pub next: Timestamp,
}

impl Vectors {
    /// How it is.
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
        let loaded = self.shelves().count();
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
    /// As far as the journal tells, while no gateway runs that computes any.
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

/// Under which name vectors are kept.
pub(super) fn key_of(card: &EmbedderCard, length: usize) -> String {
    format!("{}/{}/{length}", card.provider, card.name)
}

/// The length of the vectors as it was before the program started, if it is the same model.
pub(super) fn known_length(db: Db<'_>, card: &EmbedderCard) -> anyhow::Result<Option<usize>> {
    let known = db.settings().fact(KEY)?;
    Ok(known.and_then(|key| key.strip_prefix(&format!("{}/{}/", card.provider, card.name))?.parse().ok()))
}
