//! The models of one use, in order of choice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::ledger::{Ledger, OnBehalf};
use crate::model::fallback::should_fall_back;
use crate::model::{Model, ModelError, ModelInfo, NullSink, Reply, Request, StreamSink};
use crate::trust::Scope;

/// The models of one use, each metered. Which one comes first can be changed while it runs; after a
/// restart it is the configured one again.
pub struct ModelPool {
    models: Vec<Arc<dyn Model>>,
    ledger: Arc<Ledger>,
    first: AtomicUsize,
}

impl ModelPool {
    /// The models in the order of the configuration, metered by `ledger`.
    pub fn new(models: Vec<Arc<dyn Model>>, ledger: Arc<Ledger>) -> Self {
        Self { models, ledger, first: AtomicUsize::new(0) }
    }

    /// How many models there are.
    pub fn len(&self) -> usize {
        self.models.len()
    }

    /// Whether there is no model at all.
    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    /// What the model at that place is.
    pub fn card(&self, index: usize) -> Option<&ModelInfo> {
        self.models.get(index).map(|model| model.card())
    }

    /// What the provider of the model at that place counts for one token of our guess; one until it
    /// has counted.
    pub fn scale(&self, index: usize) -> f64 {
        self.card(index).map_or(1.0, |card| self.ledger.scale(card))
    }

    /// Takes up what was counted before the program started.
    pub async fn recollect(&self) -> anyhow::Result<()> {
        for model in &self.models {
            self.ledger.recollect(model.card()).await?;
        }
        Ok(())
    }

    /// The places of the models in the order in which they are asked: the preferred one, then the
    /// others as configured.
    pub fn order(&self) -> Vec<usize> {
        let first = self.first.load(Ordering::Relaxed);
        let mut order: Vec<usize> = (0..self.models.len()).collect();
        order.sort_by_key(|index| *index != first);
        order
    }

    /// Prefers the model of that name (`name` or `provider/name`), or with `None` the configured
    /// one. False, and nothing changed, if there is no such model.
    pub fn prefer(&self, name: Option<&str>) -> bool {
        let place = match name {
            None => Some(0),
            Some(name) => self.models.iter().position(|model| goes_by(model.card(), name)),
        };
        if let Some(place) = place {
            self.first.store(place, Ordering::Relaxed);
        }
        place.is_some()
    }

    /// Whether every limit has room for an answer within that scope, were it the shortest.
    pub async fn has_room(&self, scope: Scope) -> anyhow::Result<bool> {
        let order = self.order();
        match order.first().and_then(|first| self.card(*first)) {
            Some(card) => self.ledger.has_room(card, scope).await,
            None => Ok(false),
        }
    }

    /// Calls the model at that place, if every limit has room for the worst that it can cost.
    ///
    /// # Errors
    /// [`ModelError::OverBudget`] without any call, or the model's own.
    pub async fn call(
        &self,
        index: usize,
        request: &Request,
        live: &dyn StreamSink,
        on_behalf: &OnBehalf,
    ) -> Result<Reply, ModelError> {
        match self.models.get(index) {
            Some(model) => self.ledger.call(&**model, request, live, on_behalf).await,
            None => Err(ModelError::Rejected("there is no such model".to_owned())),
        }
    }
}

impl ModelPool {
    /// Asks each model in its order, once, until one gives an answer that makes sense. Falls back
    /// by the same rule as an answer to a person: never after a refusal.
    ///
    /// # Errors
    /// The last model's.
    pub async fn first_sound(
        &self,
        request: &Request,
        on_behalf: &OnBehalf,
        is_sound: impl Fn(&Reply) -> bool,
    ) -> Result<Reply, ModelError> {
        let mut last = ModelError::Rejected("no model is configured".to_owned());
        let order = self.order();
        for (place, &index) in order.iter().enumerate() {
            last = match self.call(index, request, &NullSink, on_behalf).await {
                Ok(reply) if is_sound(&reply) => return Ok(reply),
                // As good as no answer, and worth another try later.
                Ok(_) => ModelError::Cut,
                Err(error) => error,
            };
            if !order.get(place + 1).is_some_and(|next| self.falls_back(&last, index, *next)) {
                break;
            }
        }
        Err(last)
    }

    /// Whether the model at `next` is asked after that failure of the one at `index`.
    pub fn falls_back(&self, error: &ModelError, index: usize, next: usize) -> bool {
        let cards = self.card(index).zip(self.card(next));
        cards.is_some_and(|(current, next)| should_fall_back(error, current, next))
    }
}

impl std::fmt::Debug for ModelPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.models.iter().map(|model| model.card())).finish()
    }
}

fn goes_by(card: &ModelInfo, name: &str) -> bool {
    card.name == name || name.split_once('/') == Some((&card.provider, &card.name))
}
