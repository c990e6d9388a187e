//! Why nothing goes through to an address: the log says it once, and again when the reason changes or all goes on.
//!
//! What cannot be delivered is tried again and again, for days if it must be; a line for each try would hide everything else.

use std::sync::{Mutex, PoisonError};

use crate::adapter::SendError;

/// What holds a lane up, if anything does.
#[derive(Debug, Default)]
pub struct QueueBlock(Mutex<Option<String>>);

impl QueueBlock {
    /// Nothing goes through for that reason. Whether that is news.
    pub fn by(&self, error: &SendError) -> bool {
        // How long a server asks to wait is another number each time.
        let cause = match error {
            SendError::Wait(_) => "wait".to_owned(),
            other => other.to_string(),
        };
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.replace(cause.clone()) != Some(cause)
    }

    /// Something went through. Whether that is news.
    pub fn over(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_reason_is_news_once_and_again_after_another_or_after_it_was_over() {
        let held = QueueBlock::default();
        assert!(!held.over());
        assert!(held.by(&SendError::Wait(Duration::from_secs(3))));
        assert!(!held.by(&SendError::Wait(Duration::from_secs(4))));
        assert!(held.by(&SendError::Later("HTTP 502".to_owned())));
        assert!(held.by(&SendError::Later("HTTP 503".to_owned())));
        assert!(!held.by(&SendError::Later("HTTP 503".to_owned())));
        assert!(held.over() && !held.over());
        assert!(held.by(&SendError::Later("HTTP 503".to_owned())));
    }
}
