//! Interface to the embedding models: labelled texts go in, the same number of vectors comes out.
//!
//! Every answer of a server is checked first: one vector for each text, all of the same length and
//! of the requested length, and every number finite. The vectors are normalised to length one here,
//! so that similarity is a plain dot product everywhere else. Errors are those of any model call;
//! texts and key are never part of one, and never logged.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::{Value, json};
use url::Url;

use super::{ModelError, error, wire};
use crate::config::{self, EmbeddingProvider};
use crate::trust::Text;

/// Maximum number of texts in one call.
pub const BATCH: usize = 64;

/// Maximum number of characters sent of one text: small models take 512 tokens, and longer texts
/// are split into entries beforehand.
const MOST_CHARS: usize = 2_000;

/// Maximum wait for a server, regardless of the model.
const LONGEST: Duration = Duration::from_secs(120);

/// Maximum number of bytes read of an answer: a full batch of the longest existing vectors, written
/// out.
const MOST_BYTES: usize = 24 << 20;

/// An embedding model.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns the model's description.
    fn info(&self) -> &EmbedderInfo;

    /// Computes the vectors of these texts, in order; at most [`BATCH`] texts. Takes at most
    /// `patience`.
    async fn embed(&self, texts: &[Text], patience: Duration) -> Result<Embedded, ModelError>;
}

/// Description of an embedding model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedderInfo {
    /// Provider: `openai`, `ollama`.
    pub provider: String,
    /// Model name, exactly as the server spells it.
    pub name: String,
    /// Requested vector length, if configured.
    pub dimensions: Option<usize>,
}

/// Vectors of length one, all of the same dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// One vector for each text.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens counted by the server; zero if it did not count.
    pub input: u64,
}

/// Builds the configured embedding model.
///
/// # Errors
/// If the address is invalid.
pub fn build(config: &config::Embedding) -> anyhow::Result<Arc<dyn Embedder>> {
    let (provider, default_url, endpoint) = match config.provider {
        EmbeddingProvider::OpenAi => ("openai", "https://api.openai.com/v1/", "embeddings"),
        EmbeddingProvider::Ollama => ("ollama", "http://127.0.0.1:11434/", "api/embed"),
    };
    let base = wire::base(Some(&config.base_url), default_url)?;
    Ok(Arc::new(EmbeddingServer {
        info: EmbedderInfo {
            provider: provider.to_owned(),
            name: config.name.clone(),
            dimensions: config.dimensions.and_then(|count| usize::try_from(count).ok()),
        },
        protocol: config.provider,
        http: wire::client(Some(LONGEST))?,
        url: base.join(endpoint).context("The address does not end in a path")?,
        key: config.api_key.clone(),
    }))
}

/// A server with OpenAI's embeddings API, or with Ollama's own.
struct EmbeddingServer {
    info: EmbedderInfo,
    protocol: EmbeddingProvider,
    http: reqwest::Client,
    url: Url,
    key: Option<SecretString>,
}

#[async_trait]
impl Embedder for EmbeddingServer {
    fn info(&self) -> &EmbedderInfo {
        &self.info
    }

    async fn embed(&self, texts: &[Text], patience: Duration) -> Result<Embedded, ModelError> {
        let mut body = match self.protocol {
            EmbeddingProvider::OpenAi => {
                json!({ "model": self.info.name, "input": inputs(texts), "encoding_format": "float" })
            }
            EmbeddingProvider::Ollama => json!({ "model": self.info.name, "input": inputs(texts), "truncate": true }),
        };
        if let (Some(dimensions), Some(fields)) = (self.info.dimensions, body.as_object_mut()) {
            fields.insert("dimensions".to_owned(), dimensions.into());
        }
        let answer = self.ask(&body, patience).await?;
        let rows_of = |key: &str| answer.get(key).and_then(Value::as_array).into_iter().flatten().collect::<Vec<_>>();
        let (rows, input) = match self.protocol {
            EmbeddingProvider::OpenAi => {
                let mut rows = rows_of("data");
                // Some servers compute in parallel and answer in order of completion.
                rows.sort_by_key(|row| row.get("index").and_then(Value::as_u64));
                let rows = rows.into_iter().map(|row| row.get("embedding").unwrap_or(&Value::Null)).collect();
                (rows, answer.pointer("/usage/prompt_tokens"))
            }
            EmbeddingProvider::Ollama => (rows_of("embeddings"), answer.get("prompt_eval_count")),
        };
        let vectors = checked(&rows, texts.len(), self.info.dimensions)?;
        Ok(Embedded { vectors, input: input.and_then(Value::as_u64).unwrap_or(0) })
    }
}

impl EmbeddingServer {
    /// Sends one request and returns the answer if it is JSON and not an error.
    async fn ask(&self, body: &Value, patience: Duration) -> Result<Value, ModelError> {
        let key = wire::key(self.key.as_ref());
        let post = wire::with_key(self.http.post(self.url.clone()).json(body).timeout(patience), key);
        let response = post.send().await.map_err(|error| wire::connection_error(&error))?;
        if !response.status().is_success() {
            return Err(without_words(error::of_response(response, key, None).await.error));
        }
        let text = wire::read_text(response, MOST_BYTES).await.map_err(|error| wire::connection_error(&error))?;
        let text = text.ok_or(ModelError::Cut)?;
        let answer: Value = serde_json::from_str(&text).map_err(|_| error::no_answer("something other than JSON"))?;
        if answer.get("error").is_some_and(|error| !error.is_null()) {
            return Err(without_words(error::Fault { status: 200, headers: None, body: &text }.classify(key, None)));
        }
        Ok(answer)
    }
}

/// Strips the server's own sentence from a rejection, because it might quote one of many texts.
fn without_words(error: ModelError) -> ModelError {
    match error {
        ModelError::Rejected(message) => {
            let status = message.split(':').next().unwrap_or_default().to_owned();
            ModelError::Rejected(status)
        }
        other => other,
    }
}

/// Text of each input as sent: never empty, because some servers reject the whole batch for an
/// empty text.
fn inputs(texts: &[Text]) -> Vec<String> {
    let of = |text: &Text| crate::text::shorten(text.open().0, MOST_CHARS);
    texts.iter().map(of).map(|words| if words.trim().is_empty() { "-".to_owned() } else { words }).collect()
}

/// Parses the vectors of an answer, if it matches the number of texts and the dimension.
fn checked(rows: &[&Value], texts: usize, dimensions: Option<usize>) -> Result<Vec<Vec<f32>>, ModelError> {
    let wrong = |what: &str| Err(ModelError::Rejected(what.to_owned()));
    if rows.len() != texts {
        return wrong("it gives fewer or more vectors than it was given texts");
    }
    let Some(vectors) = rows.iter().map(|row| normalised(row)).collect::<Option<Vec<_>>>() else {
        return wrong("a vector of its answer holds something other than finite numbers");
    };
    let length = dimensions.or_else(|| vectors.first().map(Vec::len)).unwrap_or_default();
    if vectors.iter().any(|vector| vector.len() != length) {
        return wrong("its vectors are not of the expected length");
    }
    Ok(vectors)
}

/// Normalises a vector to length one; `None` if it is invalid.
fn normalised(row: &Value) -> Option<Vec<f32>> {
    let numbers: Vec<f64> = row.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
    let length = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    if numbers.is_empty() || !length.is_finite() || length <= f64::MIN_POSITIVE {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "a number of at most one; its last digits do not matter")]
    Some(numbers.iter().map(|number| (number / length) as f32).collect())
}
