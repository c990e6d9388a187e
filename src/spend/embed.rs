//! Metered embeddings. Their price is not configured, so they count in tokens; and they leave half
//! of the background budget to other work, because embedding old texts can wait for years and a
//! summary cannot.

use std::time::Duration;

use super::cost::Cost;
use super::ledger::{CallEstimate, Ledger, SpendCause};
use crate::model::{Embedded, Embedder, ModelError, Purpose};
use crate::text;
use crate::trust::{Scope, Text};

impl Ledger {
    /// Computes the vectors of these texts, if every limit has room for them.
    ///
    /// # Errors
    /// [`ModelError::OverBudget`] without any call, or the model's own.
    pub async fn embed(
        &self,
        embedder: &dyn Embedder,
        texts: &[Text],
        scope: Scope,
        patience: Duration,
    ) -> Result<Embedded, ModelError> {
        let card = embedder.card();
        let guessed = texts.iter().map(|text| text::estimate_tokens(text.open().0)).sum();
        let wanted = CallEstimate {
            scope,
            purpose: Purpose::Embedding,
            model: format!("{}/{}", card.provider, card.name),
            guessed,
            worst: Cost::of_reading(guessed),
        };
        let cost = |result: &Result<Embedded, ModelError>| match result {
            Ok(embedded) if embedded.input > 0 => Some(Cost::of_reading(embedded.input)),
            // The texts were read, and the count is unknown.
            Ok(_) | Err(ModelError::Cut) => None,
            Err(_) => Some(Cost::nothing()),
        };
        self.metered(wanted, on_behalf_of(scope), embedder.embed(texts, patience), cost).await
    }

    /// Returns true if more than half of today's background budget is left.
    pub async fn has_spare(&self) -> anyhow::Result<bool> {
        let left = self.left().await?.background;
        let limit = self.background_limit();
        Ok(left.tokens > limit.tokens / 2 || limit.tokens == u64::MAX)
    }
}

fn on_behalf_of(scope: Scope) -> SpendCause {
    let person = if let Scope::Person(person) = scope { Some(person) } else { None };
    SpendCause { turn: None, person }
}
