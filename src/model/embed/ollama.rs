//! Ollama's own `/api/embed`.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::super::ModelError;
use super::{Embedded, Embedder, EmbedderCard, Server, card, checked, inputs};
use crate::config;
use crate::trust::Text;

pub(super) struct Ollama {
    card: EmbedderCard,
    server: Server,
}

impl Ollama {
    /// Creates the model from its configuration.
    pub(super) fn new(config: &config::Embedding) -> anyhow::Result<Self> {
        Ok(Self { card: card(config, "ollama"), server: Server::new(config, "http://127.0.0.1:11434/", "api/embed")? })
    }
}

#[async_trait]
impl Embedder for Ollama {
    fn card(&self) -> &EmbedderCard {
        &self.card
    }

    async fn embed(&self, texts: &[Text], patience: Duration) -> Result<Embedded, ModelError> {
        let mut body = json!({ "model": self.card.name, "input": inputs(texts), "truncate": true });
        if let (Some(dimensions), Some(fields)) = (self.card.dimensions, body.as_object_mut()) {
            fields.insert("dimensions".to_owned(), dimensions.into());
        }
        let answer = self.server.ask(&body, patience).await?;
        let rows: Vec<&Value> = answer.get("embeddings").and_then(Value::as_array).into_iter().flatten().collect();
        let vectors = checked(&rows, texts.len(), self.card.dimensions)?;
        Ok(Embedded { vectors, input: answer.get("prompt_eval_count").and_then(Value::as_u64).unwrap_or(0) })
    }
}
