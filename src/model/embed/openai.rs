//! Client for every server with OpenAI's embeddings API.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::super::ModelError;
use super::{Embedded, Embedder, EmbedderCard, Server, card, checked, inputs};
use crate::config;
use crate::trust::Text;

/// A model behind `/embeddings`.
pub(super) struct OpenAi {
    card: EmbedderCard,
    server: Server,
}

impl OpenAi {
    /// Creates the model from its configuration.
    pub(super) fn new(config: &config::Embedding) -> anyhow::Result<Self> {
        Ok(Self {
            card: card(config, "openai"),
            server: Server::new(config, "https://api.openai.com/v1/", "embeddings")?,
        })
    }
}

#[async_trait]
impl Embedder for OpenAi {
    fn card(&self) -> &EmbedderCard {
        &self.card
    }

    async fn embed(&self, texts: &[Text], patience: Duration) -> Result<Embedded, ModelError> {
        let mut body = json!({ "model": self.card.name, "input": inputs(texts), "encoding_format": "float" });
        if let (Some(dimensions), Some(fields)) = (self.card.dimensions, body.as_object_mut()) {
            fields.insert("dimensions".to_owned(), dimensions.into());
        }
        let answer = self.server.ask(&body, patience).await?;
        let mut rows: Vec<&Value> = answer.get("data").and_then(Value::as_array).into_iter().flatten().collect();
        // Some servers compute in parallel and answer in order of completion.
        rows.sort_by_key(|row| row.get("index").and_then(Value::as_u64));
        let rows: Vec<&Value> = rows.into_iter().map(|row| row.get("embedding").unwrap_or(&Value::Null)).collect();
        let vectors = checked(&rows, texts.len(), self.card.dimensions)?;
        Ok(Embedded { vectors, input: answer.pointer("/usage/prompt_tokens").and_then(Value::as_u64).unwrap_or(0) })
    }
}
