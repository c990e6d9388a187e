//! Replies of a turn without an ordinary answer.

use std::time::Duration;

use super::{ProgramText, span};
use crate::id::TurnId;
use crate::time::{Timestamp, Zone};

/// Reply when the model returned no text.
pub const EMPTY_ANSWER: &str = "(I had nothing to say to that. Please ask again in other words.)";
/// Note that the model's limit cut off the answer.
pub const CUT_BY_LIMIT: &str = "_(The answer reached the length limit and ends here. Write \"go on\" for the rest.)_";
/// Warning about an address in an untrusted answer that no source contains.
pub const STRANGE_ADDRESS: &str = "_(Careful: an address with [.] in it appears in nothing that you or a source wrote. I changed it so that it cannot be tapped; do not open it \
     unless you know it.)_";
/// Reply when the provider declined.
pub const REFUSED: &str = "The model provider declined to answer that.";
/// Reply when the request exceeds the context window.
pub const TOO_LONG: &str =
    "That is more than the model can read at once. Please send less, or begin a new conversation with /new.";
/// Reply when a turn was interrupted too often.
pub const CUT_OFF: &str = "I was interrupted several times while working on this, so I stopped. Please ask again, perhaps in another way; the log has the details.";

/// Reply when the model was unreachable for a day.
pub fn model_away_too_long(why: &'static str) -> ProgramText {
    ProgramText::message(format!(
        "{why} I tried for a whole day and have stopped. Please ask again once that is fixed."
    ))
}

/// Reply when the budget is used up.
pub fn over_budget(which: &str) -> ProgramText {
    ProgramText::message(format!(
        "I did not answer, because {which} is used up. It resets at midnight; an owner can raise it in the configuration."
    ))
}

/// Reply to a voice note alone, when the budget does not allow a transcription.
pub fn unheard_over_budget(which: &str) -> ProgramText {
    ProgramText::message(format!(
        "I did not listen to your voice note, because {which} is used up. It resets at midnight; an owner can raise it in the configuration."
    ))
}

/// Reply when the worst-case cost of a transcription exceeds the daily limit itself.
pub fn unheard_above_limit(setting: &str) -> ProgramText {
    ProgramText::message(format!(
        "I did not listen to your voice note, because hearing it may take more than `{setting}` under [budget] allows for a whole day; \
         waiting does not help. A shorter one takes less, and an owner can raise the limit in the configuration."
    ))
}

/// Reply when the worst-case cost of one call exceeds the daily limit itself.
pub fn above_limit(setting: &str) -> ProgramText {
    ProgramText::message(format!(
        "I did not answer, because one answer may take more than `{setting}` under [budget] allows for a whole day; waiting does not help. A new \
         conversation (/new) takes less, and an owner can raise the limit in the configuration."
    ))
}

/// Reason: the provider refuses the key.
pub const BAD_KEY: &str = "The model provider refuses our key.";
/// Reason: no credit left.
pub const NO_CREDIT: &str = "The account with the model provider has no credit left.";
/// Reason: the provider rejects the request.
pub const REJECTED: &str = "The model provider rejects our request.";
/// Reason: the model is unreachable.
pub const UNREACHABLE: &str = "The model cannot be reached at the moment.";

/// Reply while the model does not answer.
pub fn model_away(why: &'static str, turn: TurnId) -> ProgramText {
    ProgramText::message(format!("{why} Your message is kept, and I will answer as soon as I can. (turn {turn})"))
}

/// Reply to a further message while the model does not answer.
pub fn still_away(why: &'static str, since: Timestamp, now: Timestamp, zone: Zone, waiting: usize) -> ProgramText {
    let since = zone.show_near(since, now);
    ProgramText::message(format!(
        "{why} No answers since {since}. Messages waiting: {waiting}. I will answer as soon as I can."
    ))
}

/// Reply when a turn exceeds its time limit.
pub fn took_too_long(limit: Duration) -> ProgramText {
    ProgramText::message(format!(
        "I stopped, because the answer took longer than {}. Please ask again, perhaps for less at a time.",
        span(limit)
    ))
}

/// Prefix of a late answer. `away` distinguishes downtime from a long queue.
pub fn late(said: &str, delay: Duration, away: bool) -> ProgramText {
    ProgramText::message(match away {
        true => format!("_I was away, so this answers what you wrote at {said}, {} ago._", span(delay)),
        false => format!("_This answers what you wrote at {said}, {} ago; it had to wait until now._", span(delay)),
    })
}

/// Notice about files of the memory that cannot be read.
pub fn unreadable_files(names: &str) -> ProgramText {
    ProgramText::message(format!(
        "I cannot read {names}, so I answer without what it says. `/memory history NAME` shows earlier versions, and how to put one back."
    ))
}

/// Notice about a value that was changed by hand and replaced others.
pub fn followed_by_hand(path: &str, instead_of: &str) -> String {
    format!(
        "What you wrote into {path} counts everywhere now, instead of “{instead_of}”. `/memory history NAME` shows what was there."
    )
}

/// Reply to messages that waited for more than a day.
pub fn too_old(count: usize, away: bool) -> ProgramText {
    let away = if away { " while I was away" } else { "" };
    ProgramText::message(if count == 1 {
        format!(
            "A message of yours waited for more than a day{away}. I left it unanswered; send it again if it still matters."
        )
    } else {
        format!(
            "{count} messages of yours waited for more than a day{away}. I left them unanswered; send again what still matters."
        )
    })
}

/// Notice after a long downtime.
pub fn away(absence: Duration) -> ProgramText {
    ProgramText::message(format!(
        "I was away for {}; older messages may be missing. Please send again what I did not answer.",
        span(absence)
    ))
}
