//! Pure rules for retries and for falling back to another model: the caller owns the clock and does
//! the waiting.
//!
//! Only errors that may pass are retried. The waits double from one second; half of each is random
//! (`jitter`), so that the clients of a recovering server do not return all at once. A server's own
//! `Retry-After` is never undercut; one that is longer than the caller is willing to wait ends the
//! attempts.

use std::time::Duration;

use super::{ModelError, ModelInfo};
use crate::time::Backoff;

/// Maximum number of calls of a model for one request, and the longest wait between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Calls in all.
    pub attempts: u32,
    /// A server that asks for more ends the attempts.
    pub longest_wait: Duration,
}

/// For a person who waits for an answer.
pub const STANDARD: RetryPolicy = RetryPolicy { attempts: 4, longest_wait: Duration::from_secs(60) };
/// For work whose caller retries by itself, hours later if necessary.
pub const ONCE: RetryPolicy = RetryPolicy { attempts: 1, longest_wait: Duration::ZERO };

/// Waits of a model that gives none; the policy bounds the number of attempts.
const BACKOFF: Backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(60) };

/// Wait before the next attempt; `None` ends them. `attempt` counts the failed ones, from 1;
/// `jitter` is a random number from 0 to 1.
pub fn next_attempt(policy: RetryPolicy, error: &ModelError, attempt: u32, jitter: f64) -> Option<Duration> {
    if !error.is_transient() || attempt == 0 || attempt >= policy.attempts {
        return None;
    }
    let backoff = BACKOFF.with_jitter(attempt, 1.0 - jitter);
    match error {
        ModelError::Later { after: Some(after), .. } if *after > policy.longest_wait => None,
        ModelError::Later { after: Some(after), .. } => Some(backoff.max(*after)),
        _ => Some(backoff),
    }
}

/// Returns true if `next` is to be asked after `current` has failed for good (that is, after its
/// retries).
///
/// A refusal stands: we do not search for a model that says what another declined to say. Our own
/// budget counts for all models together. A request that is too long for one model may fit only a
/// larger one.
pub fn should_fall_back(error: &ModelError, current: &ModelInfo, next: &ModelInfo) -> bool {
    match error {
        ModelError::Refused | ModelError::OverBudget(_) | ModelError::AboveLimit(_) => false,
        ModelError::TooLong => next.context_window > current.context_window,
        ModelError::Later { .. }
        | ModelError::Silent(_)
        | ModelError::Cut
        | ModelError::Unusable(_)
        | ModelError::NoCredit
        | ModelError::BadKey
        | ModelError::Rejected(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn later(seconds: Option<u64>) -> ModelError {
        ModelError::Later { after: seconds.map(Duration::from_secs), what: "HTTP 429".to_owned() }
    }

    #[test]
    fn the_table_of_waits() {
        let ms = Duration::from_millis;
        let table = [
            (later(None), 1, 0.0, Some(ms(500))),
            (later(None), 1, 1.0, Some(ms(1000))),
            (later(None), 2, 1.0, Some(ms(2000))),
            (ModelError::Cut, 3, 1.0, Some(ms(4000))),
            (ModelError::Cut, 4, 1.0, None),
            (later(Some(30)), 1, 0.0, Some(ms(30_000))),
            (later(Some(60)), 3, 0.0, Some(ms(60_000))),
            (later(Some(61)), 1, 0.0, None),
            (later(Some(1)), 3, 1.0, Some(ms(4000))),
            (ModelError::TooLong, 1, 0.0, None),
            (ModelError::Refused, 1, 0.0, None),
            (ModelError::NoCredit, 1, 0.0, None),
            (ModelError::BadKey, 1, 0.0, None),
            (ModelError::Rejected(String::new()), 1, 0.0, None),
            (ModelError::OverBudget(String::new()), 1, 0.0, None),
        ];
        for (error, attempt, jitter, expected) in table {
            assert_eq!(next_attempt(STANDARD, &error, attempt, jitter), expected, "{error:?} after {attempt}");
            assert_eq!(next_attempt(ONCE, &error, attempt, jitter), None);
        }
    }

    proptest! {
        #[test]
        fn retry_after_is_never_undercut_and_the_attempts_end(
            after in prop::option::of(0_u64..200), attempt in 0_u32..10, jitter in -1.0_f64..2.0
        ) {
            if let Some(wait) = next_attempt(STANDARD, &later(after), attempt, jitter) {
                prop_assert!((1..STANDARD.attempts).contains(&attempt));
                prop_assert!(wait >= Duration::from_secs(after.unwrap_or(0)));
                prop_assert!(wait <= STANDARD.longest_wait);
            }
        }
    }

    fn info(context_window: u64) -> ModelInfo {
        ModelInfo {
            provider: "openai".to_owned(),
            name: "small".to_owned(),
            context_window,
            max_output: 1000,
            images: false,
            price: None,
        }
    }

    #[test]
    fn the_table_of_falls() {
        let (small, large) = (info(8_000), info(128_000));
        let later = ModelError::Later { after: None, what: String::new() };
        for error in
            [later, ModelError::Cut, ModelError::NoCredit, ModelError::BadKey, ModelError::Rejected(String::new())]
        {
            assert!(should_fall_back(&error, &large, &small), "{error:?}");
        }
        for error in [ModelError::Refused, ModelError::OverBudget(String::new()), ModelError::AboveLimit(String::new())]
        {
            assert!(!should_fall_back(&error, &small, &large), "{error:?}");
        }
        assert!(should_fall_back(&ModelError::TooLong, &small, &large));
        assert!(!should_fall_back(&ModelError::TooLong, &large, &small));
        assert!(!should_fall_back(&ModelError::TooLong, &small, &small));
    }
}
