//! Which sentence tells which trouble, and when silence counts as one.

use std::time::Duration;

use crate::adapter::PollError;
use crate::wording::telegram as words;

/// A poll takes at most 65 seconds; several have failed to end, without an error, when this has passed.
pub(super) const SILENCE: Duration = Duration::from_secs(5 * 60);

/// The sentence for an error.
pub(super) fn sentence(error: &PollError) -> &'static str {
    match error {
        PollError::Conflict => words::CONFLICT,
        PollError::BadToken => words::BAD_TOKEN,
        PollError::Wait(_) => words::WAIT,
        PollError::Unreachable(_) | PollError::Closed => words::UNREACHABLE,
    }
}
