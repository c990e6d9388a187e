//! What a person reads when a turn gives no ordinary answer.

use std::time::Duration;

use super::span;
use crate::id::TurnId;

/// The model said nothing.
pub const EMPTY_ANSWER: &str = "(I had nothing to say to that. Please ask again in other words.)";
/// The model's limit cut the answer.
pub const CUT_BY_LIMIT: &str = "_(The answer reached the length limit and ends here. Write \"go on\" for the rest.)_";
/// The provider declined.
pub const REFUSED: &str = "The model provider declined to answer that.";
/// The request does not fit.
pub const TOO_LONG: &str = "That is more than the model can read at once. Please send less, or start afresh with /new.";
/// The model was away for a day.
pub const MODEL_AWAY_TOO_LONG: &str =
    "The model could not be reached for a whole day, so I stopped trying to answer. Please ask again when it is back.";

/// Our own budget is used up.
pub fn over_budget(which: &str) -> String {
    format!(
        "I did not answer, because {which} is used up. It begins anew at midnight; an owner can raise it in the configuration."
    )
}

/// Why the model does not answer.
pub const BAD_KEY: &str = "The model provider refuses our key.";
/// Why the model does not answer.
pub const NO_CREDIT: &str = "Our account with the model provider has no credit left.";
/// Why the model does not answer.
pub const REJECTED: &str = "The model provider rejects our request.";
/// Why the model does not answer.
pub const UNREACHABLE: &str = "The model cannot be reached at the moment.";

/// The model does not answer now.
pub fn model_away(why: &str, turn: TurnId) -> String {
    format!("{why} Your message is kept, and I will answer as soon as I can. (turn {turn})")
}

/// The turn took too long.
pub fn took_too_long(limit: Duration) -> String {
    format!(
        "I stopped, because the answer took longer than {}. Please ask again, perhaps for less at a time.",
        span(limit)
    )
}

/// We were away when it was said.
pub fn late(said: &str, delay: Duration) -> String {
    format!("_I was away, so this answers what you wrote at {said}, {} ago._", span(delay))
}

/// Messages that waited for more than a day.
pub fn too_old(count: usize) -> String {
    if count == 1 {
        "A message of yours waited for more than a day while I was away. I left it unanswered; send it again if it still matters.".to_owned()
    } else {
        format!(
            "{count} messages of yours waited for more than a day while I was away. I left them unanswered; send again what still matters."
        )
    }
}

/// We were away for long.
pub fn away(absence: Duration) -> String {
    format!("I was away for {}; older messages may be missing. Please send again what I did not answer.", span(absence))
}
