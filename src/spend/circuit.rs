//! Circuit breaker of a model: one that keeps failing is asked after the others for a while, so that
//! it does not cost every message its retries.

use std::time::Duration;

use crate::model::ModelError;
use crate::time::{Backoff, Timestamp};

/// Failures in a row that open the circuit: fewer than the attempts of one message.
const THRESHOLD: u32 = 3;
/// Pauses before the probes.
const PROBES: Backoff = Backoff { first: Duration::from_secs(30), longest: Duration::from_secs(600) };

/// State of the circuit of one model. Kept in memory: after a restart each model is tried again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Circuit {
    failures: u32,
    open_until: Option<Timestamp>,
}

impl Circuit {
    /// Whether the model failed so often that it gets no retries.
    pub(super) fn has_opened(self) -> bool {
        self.open_until.is_some()
    }

    /// Whether other models are asked first.
    pub(super) fn is_open(self, now: Timestamp) -> bool {
        self.open_until.is_some_and(|until| now < until)
    }

    /// Takes the outcome of a call into account. Errors that are due to the request leave the
    /// circuit as it is.
    pub(super) fn record(&mut self, error: Option<&ModelError>, now: Timestamp) {
        match error {
            None => *self = Self::default(),
            Some(ModelError::Later { .. } | ModelError::Cut | ModelError::NoCredit | ModelError::BadKey) => {
                self.failures = self.failures.saturating_add(1);
                if let Some(failed_probes) = self.failures.checked_sub(THRESHOLD) {
                    self.open_until = Some(now.plus(PROBES.pause(failed_probes.saturating_add(1))));
                }
            }
            Some(
                ModelError::TooLong
                | ModelError::Refused
                | ModelError::Rejected(_)
                | ModelError::OverBudget(_)
                | ModelError::AboveLimit(_),
            ) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_open_it_and_an_answer_closes_it() {
        let mut circuit = Circuit::default();
        let now = Timestamp(1_000);
        for _ in 1..THRESHOLD {
            circuit.record(Some(&ModelError::Cut), now);
            assert!(!circuit.has_opened());
        }
        circuit.record(Some(&ModelError::TooLong), now);
        assert!(!circuit.has_opened(), "the request is at fault, not the model");
        circuit.record(Some(&ModelError::BadKey), now);
        assert!(circuit.is_open(now) && !circuit.is_open(now.plus(PROBES.first)));
        assert!(circuit.has_opened(), "a probe gets no retries");
        circuit.record(Some(&ModelError::Cut), now);
        assert!(circuit.is_open(now.plus(PROBES.first)), "a failed probe doubles the pause");
        circuit.record(None, now);
        assert_eq!(circuit, Circuit::default());
    }

    #[test]
    fn the_pause_is_bounded() {
        let mut circuit = Circuit::default();
        for _ in 0..100 {
            circuit.record(Some(&ModelError::Cut), Timestamp(0));
        }
        assert!(!circuit.is_open(Timestamp(0).plus(PROBES.longest)));
    }
}
