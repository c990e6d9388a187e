//! Interface to the language models: labelled parts go in, a labelled reply comes out.
//!
//! [`Request`] accepts only [`Labelled`](crate::trust::Labelled) parts of its own scope (or shared
//! ones), and every reply carries the join of all labels that went in. So no text reaches a model
//! without its origin, and no output of a model is more trusted than its input:
//!
//! ```
//! use compline::model::{Purpose, Request, Role};
//! use compline::trust::{Label, Labelled, Scope, Source};
//! let mut request = Request::new(Scope::Shared, Purpose::Chat);
//! let page =
//!     Labelled::new("hello".into(), Label::untrusted(Source::web("example.org")), Scope::Shared);
//! request.text(Role::User, page).unwrap();
//! assert!(!request.label().is_trusted());
//! ```
//!
//! Promise (trust/labelled): No text reaches a model without a label that says where it came from.
//!
//! The same without the label does not compile:
//!
//! ```compile_fail
//! use compline::model::{Purpose, Request, Role};
//! use compline::trust::{Label, Labelled, Scope, Source};
//! let mut request = Request::new(Scope::Shared, Purpose::Chat);
//! let page = "hello".into();
//! request.text(Role::User, page).unwrap();
//! assert!(!request.label().is_trusted());
//! ```
//!
//! [`client`] asks a server in its [`protocol`]; [`offline`] needs no network. The rules for retries
//! and for the next model ([`retry`]) are here; [`crate::spend`] applies them, within the budgets.

mod client;
mod draft;
pub mod embed;
mod error;
pub mod json_answer;
pub mod learned;
pub mod listing;
pub mod offline;
mod protocol;
pub mod request;
pub mod retry;
mod thinking;
pub mod transcribe;
mod turns;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::config::{self, Provider};

pub use crate::config::Price;
pub use embed::{Embedded, Embedder, EmbedderInfo};
pub use learned::{Field, Learned, Server};
pub use request::{
    AnswerFormat, Message, Purpose, Reply, Request, RequestPart, Role, Stop, ToolCall, ToolSpec, Usage, guess_tools,
};
pub use thinking::ThinkingFilter;

/// A language model behind a provider's API.
#[async_trait]
pub trait Model: Send + Sync {
    /// Returns the model's name, limits and price.
    fn info(&self) -> &ModelInfo;

    /// Returns what its server has taught; `None` if there is none to learn from.
    fn server(&self) -> Option<&Server> {
        None
    }

    /// Makes one call. Passes pieces of the answer's text to `live` as they arrive. Returns a
    /// complete reply or an error: an answer that was cut off is [`ModelError::Cut`], never a short
    /// reply.
    async fn call(&self, request: &Request, live: &dyn StreamSink) -> Result<Reply, ModelError>;
}

/// Builds the configured model.
///
/// # Errors
/// If the address is invalid, or the wire cannot carry the model's name.
pub fn build(config: &config::Model) -> anyhow::Result<Arc<dyn Model>> {
    Ok(match config.provider {
        Provider::Offline => Arc::new(offline::Offline::new(wire::info(config))),
        Provider::OpenAi => Arc::new(client::Client::openai(config)?),
        Provider::Ollama => Arc::new(client::Client::ollama(config)?),
        Provider::Anthropic => Arc::new(client::Client::anthropic(config)?),
        Provider::Gemini => Arc::new(client::Client::gemini(config)?),
    })
}

/// Name, limits and price of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// Provider: `openai`, `anthropic`, `gemini`, `ollama`, `offline`.
    pub provider: String,
    /// Model name, exactly as the provider spells it.
    pub name: String,
    /// Context window in tokens, question and answer together.
    pub context_window: u64,
    /// Maximum number of tokens in one answer.
    pub max_output: u64,
    /// True if the model accepts pictures.
    pub images: bool,
    /// Price, if known.
    pub price: Option<Price>,
}

impl ModelInfo {
    /// Returns `provider/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.provider, self.name)
    }
}

/// Receiver of a growing answer.
pub trait StreamSink: Send + Sync {
    /// Appends the next piece of text.
    fn append(&self, delta: &str);
    /// Discards the text so far: the answer starts again.
    fn restart(&self);
}

/// Sink that discards the stream.
#[derive(Debug, Clone, Copy)]
pub struct NullSink;

impl StreamSink for NullSink {
    fn append(&self, _: &str) {}
    fn restart(&self) {}
}

/// Reason why there is no reply, classified by the next action. The texts are ours or cleaned; they
/// never hold a key or the conversation.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum ModelError {
    /// Overloaded, rate limited, unreachable or timed out: retry, but not before the given time has
    /// passed.
    #[error("The model is not available now: {what}")]
    Later {
        /// The server's own `Retry-After`.
        after: Option<Duration>,
        /// Short description.
        what: String,
    },
    /// The server said nothing for so long: retry, and wait longer.
    #[error("The server said nothing for {} seconds", .0.as_secs())]
    Silent(Duration),
    /// The answer broke off: retry.
    #[error("The answer broke off")]
    Cut,
    /// The answer came whole, and is not what was asked for.
    #[error("The answer cannot be used: {0}")]
    Unusable(json_answer::AnswerProblem),
    /// The request exceeds the model's limit: send less.
    #[error("The request is too long for the model")]
    TooLong,
    /// The provider declines to answer this request.
    #[error("The provider declined to answer")]
    Refused,
    /// The account has no credit left.
    #[error("The account has no credit left")]
    NoCredit,
    /// The key is wrong or may not use this model.
    #[error("The key is refused")]
    BadKey,
    /// The provider rejects the request as invalid; a retry would not help. Holds the server's own
    /// sentence, which is text from outside: it is shown to owners, and to nobody and nothing else.
    #[error("The provider rejects the request{}", status_in(.0))]
    Rejected(String),
    /// Our own budget does not allow the call. Holds the code of that budget.
    #[error("Over budget: {0}")]
    OverBudget(String),
    /// The call alone may cost more than one of our own limits allows for a whole day. Holds the
    /// name of that setting.
    #[error("More than `{0}` allows for a day")]
    AboveLimit(String),
}

impl ModelError {
    /// Returns true if the same call may succeed a little later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Later { .. } | Self::Silent(_) | Self::Cut)
    }

    /// Returns true if the model can answer no request at present.
    pub fn is_outage(&self) -> bool {
        self.is_transient() || matches!(self, Self::NoCredit | Self::BadKey)
    }

    /// Returns the error with the server's own sentence, for owners.
    pub fn in_full(&self) -> String {
        match self {
            Self::Rejected(sentence) => format!("The provider rejects the request: {sentence}"),
            other => other.to_string(),
        }
    }
}

/// The status at the beginning of a server's sentence.
fn status_in(sentence: &str) -> String {
    let status = sentence.split(':').next().filter(|status| status.starts_with("HTTP "));
    status.map_or_else(String::new, |status| format!(" ({status})"))
}
