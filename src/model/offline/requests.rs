//! Plain requests of a person that a tool can carry out: reminders, notes and searches, in English
//! and German.
//!
//! Only what a person typed is read here. A request that lacks something is answered with what it
//! lacks, so the model never claims to have done what no tool did.

use crate::time::{TimeExpressionError, Timestamp, When, Zone};

use super::words;

const POLITE: &str = "please|can you|could you|bitte|kannst du";
const REMIND: &str = "remind me|erinnere mich|erinner mich";
const REMEMBER: &str = "\
    remember that|remember this|remember|note that|note down|note|make a note that|make a note of|make a note|\
    write down that|write down|keep in mind that|keep in mind|merk dir dass|merke dir dass|merk dir|merke dir|\
    notiere|notier";
const SEARCH: &str = "search for|search|look for|look up|find|such nach|suche nach|suche|finde";
const REMINDERS: &str = "\
    my reminders|list reminders|list the reminders|show reminders|what reminders|which reminders|\
    meine erinnerungen|welche erinnerungen";
/// Words between the time of a reminder and what it is about.
const JOINTS: &str = "to|that|about|of|an|daran|dass|zu";
/// German words of a time, and what the time parser reads.
const GERMAN: &[(&str, &str)] = &[
    ("heute", "today"),
    ("morgen", "tomorrow"),
    ("um", "at"),
    ("am", "on"),
    ("mittag", "noon"),
    ("montag", "monday"),
    ("dienstag", "tuesday"),
    ("mittwoch", "wednesday"),
    ("donnerstag", "thursday"),
    ("freitag", "friday"),
    ("samstag", "saturday"),
    ("sonntag", "sunday"),
    ("minute", "minutes"),
    ("minuten", "minutes"),
    ("stunde", "hours"),
    ("stunden", "hours"),
    ("tag", "days"),
    ("tagen", "days"),
    ("woche", "weeks"),
    ("wochen", "weeks"),
    ("einer", "1"),
    ("einem", "1"),
];
/// Maximum number of words of a time.
const LONGEST_TIME: usize = 6;
/// Maximum number of words in the title of a note.
const TITLE: usize = 6;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PlainRequest {
    /// Reminds the person at that time; either part is blank if it was not named.
    Remind { when: String, text: String },
    /// Stores a note.
    Remember { title: String, content: String },
    /// Searches for these words.
    Search(String),
    /// Lists the reminders.
    ListReminders,
}

/// Returns the request in a typed text; `sent_at` is the time in front of it.
pub(super) fn plain_request(text: &str, sent_at: Option<&str>) -> Option<PlainRequest> {
    if words::has_cue(&words::spaced(text), REMINDERS) {
        return Some(PlainRequest::ListReminders);
    }
    let all: Vec<&str> = text.split_whitespace().collect();
    let polite = after_cue(&all, POLITE).unwrap_or(&all);
    if let Some(rest) = after_cue(polite, REMIND) {
        return Some(reminder(rest, sent_at));
    }
    let is_question = text.trim_end().ends_with('?');
    let content = |cues| Some(after_cue(polite, cues)?.join(" ")).filter(|content| !content.is_empty());
    if let Some(content) = content(REMEMBER).filter(|_| !is_question) {
        let title: Vec<&str> = content.split_whitespace().take(TITLE).collect();
        let title = title.join(" ").trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned();
        return Some(PlainRequest::Remember { title, content });
    }
    content(SEARCH).map(|query| PlainRequest::Search(query.trim_end_matches(['?', '.', '!']).to_owned()))
}

fn reminder(rest: &[&str], sent_at: Option<&str>) -> PlainRequest {
    let now = sent_at.and_then(|at| Zone::UTC.parse_local(at)).map_or(Timestamp(0), |at| at.since);
    let found = (1..=LONGEST_TIME.min(rest.len())).rev().find_map(|length| {
        rest.windows(length).enumerate().find_map(|(start, window)| {
            let when = in_english(window);
            (When::parse(&when, now, Zone::UTC) != Err(TimeExpressionError::Form)).then_some((start, length, when))
        })
    });
    let (start, length, when) = found.unwrap_or((rest.len(), 0, String::new()));
    let (before, after) = (rest.get(..start).unwrap_or_default(), rest.get(start + length..).unwrap_or_default());
    let mut text = [before, after].concat();
    while text.first().is_some_and(|word| JOINTS.split('|').any(|joint| is_word(word, joint))) {
        text.remove(0);
    }
    let text = text.join(" ").trim_matches([',', ' ']).to_owned();
    PlainRequest::Remind { when, text }
}

/// The words of a time as the parser reads them: `um 9` is `at 9:00`.
fn in_english(window: &[&str]) -> String {
    let mut english: Vec<String> = Vec::new();
    for word in window {
        let word = word.trim_matches([',', ':', '.', '!']).to_lowercase();
        let known = GERMAN.iter().find(|(german, _)| *german == word).map(|(_, english)| (*english).to_owned());
        let is_hour = word.len() <= 2 && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let last = english.last().cloned();
        match (known, last.as_deref()) {
            (None, Some(last)) if matches!(word.as_str(), "uhr" | "o'clock") && !last.contains(':') => {
                let hour = english.pop().unwrap_or_default();
                english.push(format!("{hour}:00"));
            }
            (None, Some(_)) if word == "uhr" => {}
            (None, Some("at")) if is_hour => english.push(format!("{word}:00")),
            (known, _) => english.push(known.unwrap_or(word)),
        }
    }
    english.join(" ")
}

/// The words after the first cue with which the text begins.
fn after_cue<'a, 'b>(all: &'a [&'b str], cues: &str) -> Option<&'a [&'b str]> {
    cues.split('|').find_map(|cue| {
        let cue: Vec<&str> = cue.split(' ').collect();
        let begins = all.len() >= cue.len() && cue.iter().zip(all).all(|(cue, word)| is_word(word, cue));
        begins.then(|| all.get(cue.len()..))?
    })
}

fn is_word(word: &str, plain: &str) -> bool {
    word.trim_matches([',', ':', '.', '!']).to_lowercase() == plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Option<PlainRequest> {
        plain_request(text, Some("2026-11-20 18:05"))
    }

    #[test]
    fn reminders_have_a_time_and_words() {
        for (text, when, what) in [
            ("Remind me tomorrow at 9:00 to call Nora", "tomorrow at 9:00", "call Nora"),
            ("remind me to call Nora tomorrow at 9", "tomorrow at 9:00", "call Nora"),
            ("Please remind me in 20 minutes: the oven!", "in 20 minutes", "the oven!"),
            ("remind me on monday 18:30 that the bins go out", "on monday 18:30", "the bins go out"),
            ("Erinnere mich morgen um 9 Uhr an die Post", "tomorrow at 9:00", "die Post"),
            ("erinnere mich in 2 Stunden, dass der Kuchen fertig ist", "in 2 hours", "der Kuchen fertig ist"),
            ("remind me to call Nora", "", "call Nora"),
            ("remind me tomorrow at 9:00", "tomorrow at 9:00", ""),
        ] {
            let request = PlainRequest::Remind { when: when.to_owned(), text: what.to_owned() };
            assert_eq!(of(text), Some(request), "{text}");
        }
    }

    #[test]
    fn notes_searches_and_lists() {
        let note = |title: &str, content: &str| {
            Some(PlainRequest::Remember { title: title.to_owned(), content: content.to_owned() })
        };
        assert_eq!(of("Remember that the safe is blue."), note("the safe is blue", "the safe is blue."));
        assert_eq!(of("merk dir: Nora isst keine Nüsse"), note("Nora isst keine Nüsse", "Nora isst keine Nüsse"));
        assert_eq!(of("Note: milk"), note("milk", "milk"));
        assert_eq!(of("search for the blue safe?"), Some(PlainRequest::Search("the blue safe".to_owned())));
        assert_eq!(of("What are my reminders?"), Some(PlainRequest::ListReminders));
        for text in ["Do you remember the boat?", "My cat is called Whiskerino", "remember the boat?", "", "remind"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "(remind me|remember|search|erinnere mich)?[ a-z0-9:,.\\PC]{0,60}") {
            let _ = of(&text);
        }
    }
}
