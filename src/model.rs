//! The seam to the language models: labelled parts go in, a labelled reply comes out.
//!
//! [`Request`] can be filled only with [`Labelled`](crate::trust::Labelled) parts of its own scope
//! (or shared ones), and every reply carries the join of all labels that went in. So no text
//! reaches a model without its origin, and nothing a model says is cleaner than what it read:
//!
//! ```
//! use compline::model::{Purpose, Request, Role};
//! use compline::trust::{Label, Labelled, Scope, Source};
//! let mut request = Request::new(Scope::Shared, Purpose::Chat);
//! let page = Labelled::new("hello".into(), Label::untrusted(Source::web("example.org")), Scope::Shared);
//! request.text(Role::User, page).unwrap();
//! assert!(!request.label().is_trusted());
//! ```
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
//! The wires translate: [`openai`] is exact and ours, [`others`] goes through a library,
//! [`offline`] needs no wire. When to try again ([`retry`]) and when to ask the next model
//! ([`fallback`]) is decided here and waited for by the engine, which owns the clock; money is the
//! spend room's business.

pub mod build;
pub mod embed;
pub mod fallback;
mod error;
pub mod offline;
mod openai;
mod genai;
pub mod reply;
pub mod request;
pub mod retry;
mod sse;
pub mod transcribe;
mod turns;
mod wire;

use std::time::Duration;

use async_trait::async_trait;

pub use crate::config::Price;
pub use build::build;
pub use embed::{Embedded, Embedder, EmbedderCard};
pub use reply::{Reply, Stop, ToolCall, Usage};
pub use request::{Message, Purpose, Request, RequestPart, Role, ToolSpec, guess_tools};
pub use wire::install_tls;

/// A language model behind some wire.
#[async_trait]
pub trait Model: Send + Sync {
    /// What it is and what it can take.
    fn card(&self) -> &ModelInfo;

    /// One call. Pieces of the answer's text are shown to `live` as they come; the reply is whole,
    /// or it is an error: an answer that was cut off is [`ModelError::Cut`], never a short reply.
    async fn call(&self, request: &Request, live: &dyn StreamSink) -> Result<Reply, ModelError>;
}

/// What a model is and what it can take.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// `openai`, `anthropic`, `gemini`, `ollama`, `offline`.
    pub provider: String,
    /// The name, exactly as the provider spells it.
    pub name: String,
    /// In tokens, question and answer together.
    pub context_window: u64,
    /// The most tokens of one answer.
    pub max_output: u64,
    /// Whether it can see pictures.
    pub images: bool,
    /// What it costs, if known.
    pub price: Option<Price>,
}

/// Who watches an answer grow.
pub trait StreamSink: Send + Sync {
    /// The next piece of text.
    fn grow(&self, delta: &str);
    /// What was shown so far is void: the answer begins anew.
    fn restart(&self);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct NullSink;

impl StreamSink for NullSink {
    fn grow(&self, _: &str) {}
    fn restart(&self) {}
}

/// Why there is no reply, by what to do next. The texts are ours or cleaned; they never hold a key
/// or the conversation.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum ModelError {
    /// Overloaded, rate limited, unreachable or timed out: try again, not before the given time has
    /// passed.
    #[error("The model is not available now: {what}")]
    Later {
        /// The server's own `Retry-After`.
        after: Option<Duration>,
        /// A few words.
        what: String,
    },
    /// The answer broke off: try again.
    #[error("The answer broke off")]
    Cut,
    /// The request is longer than the model takes: send less.
    #[error("The request is too long for the model")]
    TooLong,
    /// The provider declines to answer this.
    #[error("The provider declined to answer")]
    Refused,
    /// The account has no credit left.
    #[error("The account has no credit left")]
    NoCredit,
    /// The key is wrong or may not use this model.
    #[error("The key is refused")]
    BadKey,
    /// The provider does not understand the request; asking again would not help.
    #[error("The provider rejects the request: {0}")]
    Rejected(String),
    /// Our own budget does not allow the call.
    #[error("Over budget: {0}")]
    OverBudget(String),
    /// The call alone may take more than a limit of our own allows for a whole day; which setting
    /// that is.
    #[error("More than `{0}` allows for a day")]
    AboveLimit(String),
}

impl ModelError {
    /// Whether the same call may succeed a little later.
    pub fn passes(&self) -> bool {
        matches!(self, Self::Later { .. } | Self::Cut)
    }
}
