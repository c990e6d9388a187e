//! The part of an unattended run's answer that its person is sent.
//!
//! A run says with an agreed word that it has nothing to report
//! ([`NOTHING_TO_REPORT`](says::NOTHING_TO_REPORT)). An answer that begins or ends with the word
//! sends nothing: models put their reasoning before or after it, and it has no addressee.
//! Where the word is only mentioned, in the middle of a message or of its first sentence ("…, but
//! the oven is on"), the message counts, because a lost message is worse than one too many: it is
//! sent without the word.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::wording::Language;
use crate::wording::schedule as says;
use crate::wording::turn::EMPTY_ANSWER;

/// The agreed word. Models escape its underscore at times.
static WORD: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!("(?i){}", says::NOTHING_TO_REPORT.replace('_', r"\\?_"))).ok());
/// Marks that may follow the end of a sentence.
const CLOSING: [char; 9] = ['*', '_', '`', '"', '\'', ')', ']', '~', '>'];
/// Minimum letters and digits of a sentence, so that "e.g." ends none.
const SHORTEST_SENTENCE: usize = 4;

/// Returns what an answer has to tell its person; `None` if it says that there is nothing.
pub(super) fn to_report(answer: &str) -> Option<String> {
    let bare = letters(&without_tags(answer));
    if bare == letters(says::NOTHING_TO_REPORT) {
        return None;
    }
    let words: Vec<(usize, usize)> =
        WORD.iter().flat_map(|word| word.find_iter(answer)).map(|found| (found.start(), found.end())).collect();
    let whole = || Some(answer.to_owned());
    let Some(((start, end), (_, last))) = words.first().copied().zip(words.last().copied()) else { return whole() };
    let (before, after) = (answer.get(..start).unwrap_or_default(), answer.get(end..).unwrap_or_default());
    let behind = answer.get(last..).unwrap_or_default();
    if after.starts_with(char::is_alphanumeric) || before.ends_with(char::is_alphanumeric) {
        return whole();
    }
    if letters(behind).is_empty() || letters(before).is_empty() && ends_a_sentence(after) {
        return None;
    }
    let without: Vec<String> = answer.lines().filter_map(without_the_word).collect();
    let without = without.join("\n");
    if !letters(&without).is_empty() {
        return Some(without.trim().to_owned());
    }
    let rest = WORD.as_ref().map_or_else(|| answer.into(), |word| word.replace_all(answer, ""));
    Some(rest.trim_start_matches(|c: char| !c.is_alphanumeric()).trim_end().to_owned())
}

/// Returns true if an answer has no words.
pub(super) fn is_empty(answer: &str) -> bool {
    letters(&without_tags(answer)).is_empty()
        || Language::all().any(|language| answer == &*EMPTY_ANSWER.in_language(language))
}

/// Returns a message without the sentences and lines that one of the earlier messages said; `None`
/// if nothing is left of it.
pub(super) fn without_repetition(message: &str, earlier: &[&str]) -> Option<String> {
    let said: BTreeSet<String> = earlier
        .iter()
        .flat_map(|words| words.lines())
        .flat_map(|line| sentences(line).into_iter().chain([line]))
        .map(|words| letters(without_number(words)))
        .collect();
    let is_new = |words: &str| letters(words).is_empty() || !said.contains(&letters(without_number(words)));
    let fresh = |line: &str| {
        if !is_new(line) {
            return None;
        }
        let all = sentences(line);
        let new: Vec<&str> = all.iter().copied().filter(|sentence| is_new(sentence)).collect();
        match new.len() {
            // Nothing but marks is left of the line.
            _ if letters(&new.concat()).is_empty() && !letters(line).is_empty() => None,
            count if count == all.len() => Some(line.to_owned()),
            _ => Some(new.concat()),
        }
    };
    let left: Vec<String> = message.lines().filter_map(fresh).collect();
    let left = left.join("\n");
    (!letters(&left).is_empty()).then(|| left.trim().to_owned())
}

/// Removes the sentences of a line with the word; `None` if nothing is left of it.
fn without_the_word(line: &str) -> Option<String> {
    let has_word = |words: &str| WORD.as_ref().is_some_and(|word| word.is_match(words));
    if !has_word(line) {
        return Some(line.to_owned());
    }
    let kept: String = sentences(line).into_iter().filter(|sentence| !has_word(sentence)).collect();
    (!letters(&kept).is_empty()).then_some(kept)
}

/// Returns true if a sentence ends here: with its line, a full stop, a colon or a dash. A comma
/// goes on.
fn ends_a_sentence(after: &str) -> bool {
    let after = after.trim_start_matches(CLOSING);
    let next = after.trim_start_matches([' ', '\t']);
    next.starts_with(['\n', '\r', '.', '!', ':', ';', '…', '–', '—', '-', '(', '<'])
}

/// Splits a line after each sentence, with the spaces behind it.
fn sentences(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut from, mut last) = (0, ' ');
    for (at, c) in line.char_indices() {
        let piece = line.get(from..at).unwrap_or_default();
        let end = piece.trim_end().trim_end_matches(CLOSING);
        let is_over = !c.is_whitespace() && last.is_whitespace() && end.ends_with(['.', '!', '?', '…']);
        if is_over && letters(piece).chars().count() >= SHORTEST_SENTENCE {
            pieces.push(piece);
            from = at;
        }
        last = c;
    }
    pieces.extend(line.get(from..));
    pieces
}

/// Removes the number of a list item, as in "2. Call Nora".
fn without_number(line: &str) -> &str {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).unwrap_or(line)
}

/// Letters and digits in lower case.
fn letters(words: &str) -> String {
    words.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

fn without_tags(words: &str) -> String {
    let mut pieces = words.split('<');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |all, piece| all + piece.split_once('>').map_or(piece, |(_, after)| after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_variant_of_nothing_to_report() {
        for words in [
            "HEARTBEAT_OK",
            "heartbeat_ok",
            " Heartbeat_OK.\n",
            "**HEARTBEAT_OK**",
            "`HEARTBEAT_OK`!",
            "> *heartbeat ok*",
            "<b>HEARTBEAT_OK</b>",
            "(HEARTBEAT\\_OK)",
            "Nothing new since the last look: the post has not come.\n\nHEARTBEAT_OK",
            "Nothing new. **HEARTBEAT_OK**",
            "All is quiet, so: HEARTBEAT_OK.",
            "HEARTBEAT_OK\n\nThe post has not come yet.",
            "HEARTBEAT_OK. The post has not come yet.",
            "**HEARTBEAT_OK** - nothing is due",
            "HEARTBEAT_OK: nothing is due",
            "HEARTBEAT_OK (nothing is due)",
        ] {
            assert_eq!(to_report(words), None, "{words:?}");
        }
        for words in ["", "…", " \n", &EMPTY_ANSWER.in_language(Language::ENGLISH)] {
            assert!(is_empty(words), "{words:?}");
        }
    }

    #[test]
    fn a_message_that_mentions_the_word_is_sent_without_it() {
        for (answer, sent) in [
            ("HEARTBEAT_OK, but the oven is on", "but the oven is on"),
            ("There is a letter. HEARTBEAT_OK is what I would have said otherwise.", "There is a letter."),
            ("There is a letter.\n\nHEARTBEAT_OK does not apply.\n\nFrom Nora.", "There is a letter.\n\n\nFrom Nora."),
            ("HEARTBEAT_NOT_OK", "HEARTBEAT_NOT_OK"),
            ("HEARTBEAT_OKAY", "HEARTBEAT_OKAY"),
            ("ok", "ok"),
            ("Nothing to report < 3", "Nothing to report < 3"),
        ] {
            assert_eq!(to_report(answer).as_deref(), Some(sent), "{answer:?}");
            assert!(!is_empty(answer));
        }
    }

    #[test]
    fn a_sentence_is_said_once() {
        let earlier =
            ["Good morning!\n- Order the internet.\n- Call Nora: her number is 5.", "The oven is on. Look at it."];
        let left = |message: &str| without_repetition(message, &earlier);
        for same in [
            "Order the internet!",
            "* **Order the internet**",
            "Look at it. The oven is on.",
            "Good morning!\n\n1. Order the internet.",
            "---",
        ] {
            assert_eq!(left(same), None, "{same:?}");
        }
        for (message, new) in [
            ("Good morning!\n- Order the internet.\n- Pack the kitchen.", "- Pack the kitchen."),
            ("The oven is on. It has been on for an hour.", "It has been on for an hour."),
            ("Call Nora: her number is 6.", "Call Nora: her number is 6."),
            ("The oven is off.", "The oven is off."),
            ("See e.g. the oven. Look at it.", "See e.g. the oven."),
            ("**Look at it!** The oven is off.", "The oven is off."),
        ] {
            assert_eq!(left(message).as_deref(), Some(new), "{message:?}");
        }
    }

    proptest! {
        #[test]
        fn every_answer_is_judged(answer in "(HEARTBEAT_OK|heartbeat|[\\PC\n]{0,9}|[.!?*` ]){0,9}", earlier in "\\PC{0,30}") {
            if let Some(sent) = to_report(&answer) {
                without_repetition(&sent, &[&earlier]);
            }
            prop_assert_eq!(without_repetition(&answer, &[&answer]), None);
        }
    }
}
