//! The seam to the models that turn words into vectors: labelled texts go in, as many vectors come
//! out.
//!
//! Whatever a server answers is checked before anybody counts on it: one vector for each text, all
//! of the same length and of the length that was asked for, and every number finite. The vectors
//! are brought to length one here, so that nearness is a plain sum of products everywhere else.
//! Errors are the ones of any model call; texts and key are never part of one, and never logged.

mod ollama;
mod openai;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

use super::{ModelError, error, wire};
use crate::config::{self, EmbeddingProvider};
use crate::trust::Text;

/// The most texts that go over in one call.
pub const BATCH: usize = 64;

/// The most that is sent of one text, in characters: small models take 512 tokens, and what is
/// longer is cut into entries before.
const MOST_CHARS: usize = 2_000;

/// No server is waited for longer, whatever it computes.
const LONGEST: Duration = Duration::from_secs(120);

/// The most that is read of an answer, in bytes: a full batch of the longest vectors there are,
/// written out.
const MOST_BYTES: usize = 24 << 20;

/// A model that turns words into vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// What it is.
    fn card(&self) -> &EmbedderCard;

    /// The vectors of these texts, in their order; at most [`BATCH`] texts. All of it takes at most
    /// `patience`.
    async fn embed(&self, texts: &[Text], patience: Duration) -> Result<Embedded, ModelError>;
}

/// What such a model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedderCard {
    /// `openai`, `ollama`.
    pub provider: String,
    /// The name, exactly as the server spells it.
    pub name: String,
    /// How many numbers a vector has, if that was asked for.
    pub dimensions: Option<usize>,
}

/// Vectors of length one, all of the same dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedded {
    /// One for each text.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens that the server counted; nought if it did not.
    pub input: u64,
}

/// The model that the configuration names.
///
/// # Errors
/// If the address is none.
pub fn build(config: &config::Embedding) -> anyhow::Result<Arc<dyn Embedder>> {
    Ok(match config.provider {
        EmbeddingProvider::OpenAi => Arc::new(openai::OpenAi::new(config)?),
        EmbeddingProvider::Ollama => Arc::new(ollama::Ollama::new(config)?),
    })
}

fn card(config: &config::Embedding, provider: &str) -> EmbedderCard {
    EmbedderCard {
        provider: provider.to_owned(),
        name: config.name.clone(),
        dimensions: config.dimensions.and_then(|count| usize::try_from(count).ok()),
    }
}

/// A server, and the place on it where vectors are computed.
struct Server {
    http: reqwest::Client,
    url: Url,
    key: Option<SecretString>,
}

impl Server {
    fn new(config: &config::Embedding, usual: &str, place: &str) -> anyhow::Result<Self> {
        let base = wire::base(Some(&config.base_url), usual)?;
        Ok(Self {
            http: wire::client(LONGEST)?,
            url: base.join(place).context("The address does not end in a path")?,
            key: config.api_key.clone(),
        })
    }

    /// One question, and its answer if it is JSON and no error.
    async fn ask(&self, body: &Value, patience: Duration) -> Result<Value, ModelError> {
        let key = wire::key(self.key.as_ref());
        let post = self.http.post(self.url.clone()).json(body).timeout(patience);
        let post = if key.is_empty() { post } else { post.bearer_auth(key) };
        let response = post.send().await.map_err(|error| wire::lost(&error))?;
        if !response.status().is_success() {
            return Err(without_words(error::of_response(response, key, None).await));
        }
        let text = wire::read_text(response, MOST_BYTES).await.map_err(|error| wire::lost(&error))?;
        let text = text.ok_or(ModelError::Cut)?;
        let answer: Value = serde_json::from_str(&text).map_err(|_| error::no_answer("something other than JSON"))?;
        if answer.get("error").is_some_and(|error| !error.is_null()) {
            return Err(without_words(error::Fault { status: 200, headers: None, body: &text }.classify(key, None)));
        }
        Ok(answer)
    }
}

/// A rejection without the server's own sentence, which might quote one of many texts.
fn without_words(error: ModelError) -> ModelError {
    match error {
        ModelError::Rejected(said) => {
            let status = said.split(':').next().unwrap_or_default().to_owned();
            ModelError::Rejected(status)
        }
        other => other,
    }
}

/// The words of each text as they go over: never nothing, which some servers refuse together with
/// all the others of the batch.
fn inputs(texts: &[Text]) -> Vec<String> {
    let of = |text: &Text| crate::text::shorten(text.open().0, MOST_CHARS);
    texts.iter().map(of).map(|words| if words.trim().is_empty() { "-".to_owned() } else { words }).collect()
}

/// The vectors of an answer, if it is one for that many texts of that dimension.
fn checked(rows: &[&Value], texts: usize, dimensions: Option<usize>) -> Result<Vec<Vec<f32>>, ModelError> {
    let wrong = |what: &str| Err(ModelError::Rejected(what.to_owned()));
    if rows.len() != texts {
        return wrong("it gives fewer or more vectors than it was given texts");
    }
    let Some(vectors) = rows.iter().map(|row| unit(row)).collect::<Option<Vec<_>>>() else {
        return wrong("a vector of its answer holds something other than finite numbers");
    };
    let length = dimensions.or_else(|| vectors.first().map(Vec::len)).unwrap_or_default();
    if vectors.iter().any(|vector| vector.len() != length) {
        return wrong("its vectors are not of the expected length");
    }
    Ok(vectors)
}

/// A vector brought to length one; `None` if it is none.
fn unit(row: &Value) -> Option<Vec<f32>> {
    let numbers: Vec<f64> = row.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
    let length = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    if numbers.is_empty() || !length.is_finite() || length <= f64::MIN_POSITIVE {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "a number of at most one; its last digits do not matter")]
    Some(numbers.iter().map(|number| (number / length) as f32).collect())
}
