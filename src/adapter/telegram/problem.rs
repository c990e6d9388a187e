//! Which sentence tells which trouble, and when silence counts as one.

use std::time::Duration;

use crate::adapter::PollError;
use crate::wording::telegram as words;

/// A poll takes at most 65 seconds; several have failed to end, without an error, when this has passed.
pub(super) const SILENCE: Duration = Duration::from_secs(5 * 60);

/// An error with the sentence that a person reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TelegramProblem {
    pub(super) sentence: &'static str,
    pub(super) error: PollError,
}

impl From<PollError> for TelegramProblem {
    fn from(error: PollError) -> Self {
        let sentence = match error {
            PollError::Conflict => words::CONFLICT,
            PollError::BadToken => words::BAD_TOKEN,
            PollError::Wait(_) => words::WAIT,
            PollError::Unreachable(_) | PollError::Closed => words::UNREACHABLE,
        };
        Self { sentence, error }
    }
}
