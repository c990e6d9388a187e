//! Interpretation of send results: each recipient's outcome and each error code, by what to do
//! next. Pure.
//!
//! A response without an error is no success yet: it contains an outcome per recipient. A group
//! counts as reached if any member was, and the missed ones are reported. The daemon's own
//! sentences are not passed on, since they contain names and numbers.

use std::time::Duration;

use serde_json::Value;

use super::jsonrpc::{RpcError, RpcRefusal, code};
use crate::adapter::{SendError, server_wait};
use crate::wording::channel as words;

/// Wait after a rate limit without a duration.
const DEFAULT_WAIT: Duration = Duration::from_secs(60);

/// Kind of recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecipientKind {
    Person,
    Group,
}

/// A success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SendReceipt {
    /// Time of sending, which identifies our message. Zero if the daemon does not report it.
    pub(super) timestamp: u64,
    /// Account identifiers of missed members, where known.
    pub(super) missed: Vec<Option<String>>,
    /// Number of recipients.
    pub(super) all: usize,
}

/// A failure, or an unknown outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SendFailure {
    /// Error for the gateway.
    pub(super) error: SendError,
    /// Cause to report to the owner.
    pub(super) cause: FailureCause,
}

/// Cause of a failure, as far as a person can fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FailureCause {
    /// No known fix.
    Other,
    /// A proof that a person is sending is required; holds the challenge.
    Proof(String),
    /// Rate limit.
    RateLimit(Duration),
    /// New safety number of the other side.
    Identity,
    /// Our account is unknown to the daemon.
    Account,
}

/// Outcome for one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RecipientResult {
    kind: String,
    who: Option<String>,
    challenge: Option<String>,
    retry_after: Option<Duration>,
}

/// Interprets the response to a send request.
pub(super) fn interpret(to: RecipientKind, answer: Result<Value, RpcError>) -> Result<SendReceipt, SendFailure> {
    let rejected = |failure: RpcError| failure.rejection().map_or_else(SendFailure::from, |refusal| refused(&refusal));
    let receipt = answer.map_err(rejected)?;
    let outcomes = outcomes(&receipt);
    let timestamp = receipt.get("timestamp").and_then(Value::as_u64);
    if timestamp.is_none() && outcomes.is_empty() {
        return Err(SendFailure::from(SendError::OutcomeUnknown(
            "the daemon did not say what became of it".to_owned(),
        )));
    }
    let (reached, missed): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(|outcome| outcome.kind == "SUCCESS");
    if missed.is_empty() || (to == RecipientKind::Group && !reached.is_empty()) {
        let all = reached.len().saturating_add(missed.len());
        let missed = missed.into_iter().map(|outcome| outcome.who).collect();
        return Ok(SendReceipt { timestamp: timestamp.unwrap_or(0), missed, all });
    }
    Err(all_failed(&missed))
}

fn outcomes(receipt: &Value) -> Vec<RecipientResult> {
    let results = receipt.get("results").and_then(Value::as_array);
    results.into_iter().flatten().map(RecipientResult::of).collect()
}

impl RecipientResult {
    fn of(result: &Value) -> Self {
        let text = |name: &str| result.get(name).and_then(Value::as_str).map(str::to_owned);
        let who = result.pointer("/recipientAddress/uuid").and_then(Value::as_str).map(str::to_owned);
        let retry_after = result.get("retryAfterSeconds").and_then(Value::as_u64).map(Duration::from_secs);
        Self { kind: text("type").unwrap_or_default(), who, challenge: text("token"), retry_after }
    }
}

/// Error if no recipient was reached: temporary causes come first.
fn all_failed(missed: &[RecipientResult]) -> SendFailure {
    let of = |kind: &str| missed.iter().any(|outcome| outcome.kind == kind);
    let wait = server_wait(missed.iter().filter_map(|outcome| outcome.retry_after).max().unwrap_or(DEFAULT_WAIT));
    if let Some(challenge) = missed.iter().find_map(|outcome| outcome.challenge.clone()) {
        SendFailure { error: SendError::Wait(wait), cause: FailureCause::Proof(challenge) }
    } else if of("RATE_LIMIT_FAILURE") {
        SendFailure { error: SendError::Wait(wait), cause: FailureCause::RateLimit(wait) }
    } else if of("NETWORK_FAILURE") || of("INVALID_PRE_KEY_FAILURE") {
        SendFailure::from(SendError::Later("the daemon could not reach Signal".to_owned()))
    } else if of("IDENTITY_FAILURE") {
        identity()
    } else if of("UNREGISTERED_FAILURE") {
        SendFailure::from(SendError::Blocked(words::UNREGISTERED.to_owned()))
    } else {
        let kind = missed.first().map_or("", |outcome| outcome.kind.as_str());
        SendFailure::from(SendError::Refused(words::not_delivered(kind)))
    }
}

fn refused(refusal: &RpcRefusal) -> SendFailure {
    let outcomes = refusal.data.get("response").map(outcomes).unwrap_or_default();
    let missed: Vec<RecipientResult> = outcomes.into_iter().filter(|outcome| outcome.kind != "SUCCESS").collect();
    if !missed.is_empty() {
        return all_failed(&missed);
    }
    match refusal.code {
        code::RATE_LIMIT => {
            SendFailure { error: SendError::Wait(DEFAULT_WAIT), cause: FailureCause::RateLimit(DEFAULT_WAIT) }
        }
        code::IDENTITY => identity(),
        code::NETWORK => SendFailure::from(SendError::Later("the daemon could not reach Signal".to_owned())),
        code::ACCOUNT => {
            SendFailure { error: SendError::Later(words::refused(code::ACCOUNT)), cause: FailureCause::Account }
        }
        code => SendFailure::from(SendError::Refused(words::refused(code))),
    }
}

fn identity() -> SendFailure {
    SendFailure { error: SendError::Blocked(words::UNTRUSTED_PEER.to_owned()), cause: FailureCause::Identity }
}

impl From<SendError> for SendFailure {
    fn from(error: SendError) -> Self {
        Self { error, cause: FailureCause::Other }
    }
}

#[cfg(test)]
mod tests;
