//! Sentences for problems with receiving, and the limit of silence.

use std::time::Duration;

use crate::adapter::PollError;
use crate::wording::telegram as words;

/// A poll takes at most 65 seconds; after this time several have hung without an error.
pub(super) const SILENCE: Duration = Duration::from_secs(5 * 60);

/// An error with its sentence for people.
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
