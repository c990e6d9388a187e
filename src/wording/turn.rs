//! Replies of a turn without an ordinary answer.

use std::time::Duration;

use super::ProgramText;
use super::language::{Language, Sentence, say};
use crate::time::{Timestamp, Zone};

/// Reply when the model returned no text.
pub const EMPTY_ANSWER: Sentence = Sentence("answer-empty");
/// Note that the model's limit cut off the answer.
pub const CUT_BY_LIMIT: Sentence = Sentence("answer-cut");
/// Reply when thinking used up the limit of an answer.
pub const ONLY_THOUGHTS: Sentence = Sentence("answer-only-thoughts");
/// Note that the server ended the answer before it was whole.
pub const BROKE_OFF: Sentence = Sentence("answer-broke-off");
/// Warning about an address in an untrusted answer that no source contains.
pub const STRANGE_ADDRESS: Sentence = Sentence("answer-strange-address");
/// Reply when the provider declined.
pub const REFUSED: Sentence = Sentence("model-refused");
/// Reply when the request exceeds the context window.
pub const TOO_LONG: Sentence = Sentence("model-too-long");
/// Reply when a turn was interrupted too often.
pub const CUT_OFF: Sentence = Sentence("turn-cut-off");

/// Reply when the model was unreachable for a day.
pub fn model_away_too_long(language: Language, why: Sentence) -> ProgramText {
    ProgramText::message(say!(language, "model-away-too-long", why = why.in_language(language).into_string()))
}

/// Name of a budget, by its code.
pub fn budget(language: Language, which: &str) -> String {
    say!(language, "budget", which = which)
}

/// Reply when the budget of that code is used up.
pub fn over_budget(language: Language, which: &str) -> ProgramText {
    ProgramText::message(say!(language, "over-budget", budget = budget(language, which)))
}

/// Reply to a voice note alone, when that budget does not allow a transcription.
pub fn unheard_over_budget(language: Language, which: &str) -> ProgramText {
    ProgramText::message(say!(language, "unheard-over-budget", budget = budget(language, which)))
}

/// Reply when the worst-case cost of a transcription exceeds the daily limit itself.
pub fn unheard_above_limit(language: Language, setting: &str) -> ProgramText {
    ProgramText::message(say!(language, "unheard-above-limit", setting = setting))
}

/// Reply when the worst-case cost of one call exceeds the daily limit itself.
pub fn above_limit(language: Language, setting: &str) -> ProgramText {
    ProgramText::message(say!(language, "above-limit", setting = setting))
}

/// Reason: the provider refuses the key.
pub const BAD_KEY: Sentence = Sentence("model-bad-key");
/// Reason: no credit left.
pub const NO_CREDIT: Sentence = Sentence("model-no-credit");
/// Reply when the model's server refuses the request.
pub const REJECTED: Sentence = Sentence("model-rejected");

/// The same for owners, with the server's own sentence.
pub fn rejected_because(language: Language, why: &str) -> String {
    say!(language, "model-rejected-because", why = why.replace('`', "'"))
}

/// Reason: the server of the model says nothing for too long.
pub const SLOW: Sentence = Sentence("model-slow");
/// Reason: the model is unreachable.
pub const UNREACHABLE: Sentence = Sentence("model-unreachable");

/// Reply while the model does not answer.
pub fn model_away(language: Language, why: Sentence) -> ProgramText {
    ProgramText::message(say!(language, "model-away", why = why.in_language(language).into_string()))
}

/// Reply to a further message while the model does not answer.
pub fn still_away(
    language: Language,
    why: Sentence,
    since: Timestamp,
    now: Timestamp,
    zone: Zone,
    waiting: usize,
) -> ProgramText {
    let (why, since) = (why.in_language(language).into_string(), language.near(zone, since, now));
    ProgramText::message(say!(language, "model-still-away", why = why, since = since, waiting = waiting))
}

/// Reply when a turn exceeds its time limit.
pub fn took_too_long(language: Language, limit: Duration) -> ProgramText {
    ProgramText::message(say!(language, "turn-too-long", limit = language.span(limit)))
}

/// Prefix of a late answer. `away` distinguishes downtime from a long queue.
pub fn late(language: Language, said: &str, delay: Duration, away: bool) -> ProgramText {
    let delay = language.span(delay);
    ProgramText::message(match away {
        true => say!(language, "answer-late-away", said = said, delay = delay),
        false => say!(language, "answer-late", said = said, delay = delay),
    })
}

/// Notice about files of the memory that cannot be read.
pub fn unreadable_files(language: Language, names: &str) -> ProgramText {
    ProgramText::message(say!(language, "files-unreadable", names = names))
}

/// Notice about a value that was changed by hand and replaced others.
pub fn followed_by_hand(language: Language, path: &str, instead_of: &str) -> String {
    say!(language, "followed-by-hand", path = path, old = instead_of)
}

/// Notice about an edit by hand that was merged with what was written meanwhile. `lines` were put
/// back.
pub fn edit_merged(language: Language, path: &str, lines: &str) -> String {
    match lines {
        "" => say!(language, "edit-merged-shorter", path = path),
        lines => say!(language, "edit-merged", path = path, lines = lines),
    }
}

/// Notice about index lines of notes that are gone.
pub fn notes_unlisted(language: Language, count: usize, lines: &str) -> String {
    say!(language, "notes-unlisted", count = count, lines = lines)
}

/// Reply to messages that waited for more than a day.
pub fn too_old(language: Language, count: usize, away: bool) -> ProgramText {
    ProgramText::message(match away {
        true => say!(language, "messages-too-old-away", count = count),
        false => say!(language, "messages-too-old", count = count),
    })
}

/// Notice after a long downtime.
pub fn away(language: Language, absence: Duration) -> ProgramText {
    ProgramText::message(say!(language, "was-away", absence = language.span(absence)))
}
