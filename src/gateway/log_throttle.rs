//! Log throttle for failed deliveries: the log names the cause once, and again when it changes or
//! the delivery works again.
//!
//! An undeliverable message may be retried for days; a line per attempt would hide everything else.

use std::sync::{Mutex, PoisonError};

use crate::adapter::SendError;

/// The current cause of failure, if any.
#[derive(Debug, Default)]
pub struct QueueBlock(Mutex<Option<String>>);

impl QueueBlock {
    /// Records a failure. Returns true if its cause is new.
    pub fn record_failure(&self, error: &SendError) -> bool {
        // The wait that a server asks for differs each time.
        let cause = match error {
            SendError::Wait(_) => "wait".to_owned(),
            other => other.to_string(),
        };
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.replace(cause.clone()) != Some(cause)
    }

    /// Records a success. Returns true if it ends a failure.
    pub fn record_success(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Proves: operation/logged-once
    #[test]
    fn a_reason_is_news_once_and_again_after_another_or_after_it_was_over() {
        let held = QueueBlock::default();
        assert!(!held.record_success());
        assert!(held.record_failure(&SendError::Wait(Duration::from_secs(3))));
        assert!(!held.record_failure(&SendError::Wait(Duration::from_secs(4))));
        assert!(held.record_failure(&SendError::Later("HTTP 502".to_owned())));
        assert!(held.record_failure(&SendError::Later("HTTP 503".to_owned())));
        assert!(!held.record_failure(&SendError::Later("HTTP 503".to_owned())));
        assert!(held.record_success() && !held.record_success());
        assert!(held.record_failure(&SendError::Later("HTTP 503".to_owned())));
    }
}
