//! Facts without a language model: a few unambiguous sentence patterns of English and German,
//! matched literally.
//!
//! Only people's statements about themselves become facts, and only explicit corrections count as
//! corrections. Everything else needs a configured model.

use serde_json::json;

use super::words;
use crate::model::request::{Request, RequestPart, Role};
use crate::text::{one_line, shorten};
use crate::wording::{offline::SIGNATURE, prompt};

/// Maximum number of words that name a thing, and that describe it.
const NAME: usize = 4;
const VALUE: usize = 20;
/// Maximum number of characters of the wrong and of the right statement.
const RIGHTED: usize = 200;

/// Phrases between a thing and its name.
const CALLED: &[&str] = &[" is called ", " is named ", "'s name is ", " heißt ", " heisst "];
/// Things of a person for which "is" states a lasting fact.
const LASTING: &[&str] = &["birthday", "name", "job", "geburtstag", "name", "beruf"];
/// Phrases for likes, dislikes and allergies.
const LIKING: &[(&str, &str)] = &[
    ("i'm allergic to ", "allergic to"),
    ("i am allergic to ", "allergic to"),
    ("i prefer ", "prefers"),
    ("i love ", "loves"),
    ("i like ", "likes"),
    ("i hate ", "hates"),
    ("ich bin allergisch gegen ", "allergisch gegen"),
    ("ich mag ", "mag"),
    ("ich liebe ", "liebt"),
    ("ich hasse ", "hasst"),
];
/// Phrases that call an answer wrong.
const WRONG: &[&str] = &[
    " that's wrong ",
    " that is wrong ",
    " that's not right ",
    " that is not right ",
    " i meant ",
    " das ist falsch ",
    " das stimmt nicht ",
    " ich meinte ",
];

/// A line of the transcript.
struct TranscriptLine<'t> {
    number: usize,
    by_person: bool,
    words: &'t str,
}

/// Answers a request for facts.
pub(super) fn answer(request: &Request) -> String {
    let said = request.messages().iter().filter(|message| message.role() == Role::User);
    let texts = said.flat_map(|message| message.parts()).filter_map(|part| match part.open().0 {
        RequestPart::Text(text) => Some(text),
        _ => None,
    });
    let (mut facts, mut corrections) = (Vec::new(), Vec::new());
    for text in texts {
        let lines = lines(text);
        for line in lines.iter().filter(|line| line.by_person) {
            for (key, value) in words::sentences(line.words).filter_map(fact) {
                let category = if LIKING.iter().any(|(_, verb)| key.starts_with(verb)) { "preference" } else { "fact" };
                facts.push(
                    json!({ "key": key, "value": value, "category": category, "layer": "A", "sources": [line.number] }),
                );
            }
        }
        for (before, line) in lines.iter().zip(lines.iter().skip(1)) {
            let spaced = words::spaced(line.words);
            if !before.by_person && line.by_person && WRONG.iter().any(|cue| spaced.contains(cue)) {
                let was = shorten(&one_line(&before.words.replace(SIGNATURE, "")), RIGHTED);
                let now = shorten(&one_line(line.words), RIGHTED);
                corrections.push(json!({ "was": was, "now": now, "sources": [line.number] }));
            }
        }
    }
    json!({ "facts": facts, "corrections": corrections }).to_string()
}

/// Splits a transcript into numbered lines, each with its continuation lines.
fn lines(text: &str) -> Vec<TranscriptLine<'_>> {
    let transcript = text.split_once("<transcript>\n").map_or("", |(_, rest)| rest);
    let transcript = transcript.rsplit_once("\n</transcript>").map_or(transcript, |(inner, _)| inner);
    let mut starts: Vec<(usize, usize, usize)> = Vec::new();
    let mut at = 0;
    for line in transcript.split_inclusive('\n') {
        let number = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let number = number.and_then(|(number, rest)| Some((number.parse().ok()?, rest)));
        // A number that does not continue the sequence is part of a message.
        if let Some((number, rest)) = number.filter(|(number, _)| *number == starts.len() + 1) {
            starts.push((number, at, at + line.len() - rest.len()));
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(_, start, _)| *start).chain([transcript.len()]);
    let spoken = starts.iter().zip(ends).filter_map(|((number, _, from), to)| {
        let (who, words) = transcript.get(*from..to)?.split_once(": ")?;
        Some(TranscriptLine { number: *number, by_person: who != prompt::ASSISTANT, words })
    });
    spoken.collect()
}

/// Extracts the fact that a sentence states about its speaker.
fn fact(sentence: &str) -> Option<(String, String)> {
    let sentence = one_line(&sentence.replace('\u{2019}', "'"));
    let said = sentence.trim_end_matches(['.', '!', ' ']);
    if said.is_empty() || sentence.ends_with('?') {
        return None;
    }
    liked(said).or_else(|| owned(said)).or_else(|| request_to_remember(said))
}

fn liked(said: &str) -> Option<(String, String)> {
    let (what, verb) = LIKING.iter().find_map(|(start, verb)| Some((after(said, start)?, verb)))?;
    let fits = (1..=VALUE).contains(&what.split(' ').count());
    fits.then(|| (shorten(&format!("{verb} {what}"), 80), said.to_owned()))
}

fn owned(said: &str) -> Option<(String, String)> {
    let rest = ["my ", "meine ", "mein "].iter().find_map(|start| after(said, start))?;
    let called = CALLED.iter().find_map(|between| rest.split_once(between));
    if let Some((what, name)) = called.filter(|(what, name)| is_short(what, NAME) && is_short(name, VALUE)) {
        return Some((format!("{what}: name"), name.to_owned()));
    }
    let (what, value) = rest.split_once(" is ").or_else(|| rest.split_once(" ist "))?;
    let lower = what.to_lowercase();
    let lasts = LASTING.contains(&lower.as_str()) || lower.starts_with("favo") || lower.starts_with("liebling");
    (lasts && is_short(what, NAME) && is_short(value, VALUE)).then(|| (what.to_owned(), value.to_owned()))
}

/// Extracts the content of a request to remember.
fn request_to_remember(said: &str) -> Option<(String, String)> {
    let starts = ["remember that ", "please remember that ", "merk dir, dass ", "merk dir bitte, dass "];
    let what = starts.iter().find_map(|start| after(said, start))?;
    let key: Vec<&str> = what.split(' ').take(6).collect();
    Some((shorten(&key.join(" "), 80), shorten(what, 300)))
}

fn is_short(words: &str, most: usize) -> bool {
    !words.is_empty() && words.split(' ').count() <= most
}

/// Returns the rest of a sentence after a start, ignoring ASCII case.
fn after<'s>(said: &'s str, start: &str) -> Option<&'s str> {
    said.get(..start.len()).filter(|begin| begin.eq_ignore_ascii_case(start))?;
    said.get(start.len()..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn plain_sentences_about_oneself_are_facts() {
        for (sentence, key, value) in [
            ("My cat is called Whiskerino.", "cat: name", "Whiskerino"),
            ("My cat’s name is Tom!", "cat: name", "Tom"),
            ("my favourite tea is green", "favourite tea", "green"),
            ("Meine Katze heißt Minka.", "Katze: name", "Minka"),
            ("Mein Geburtstag ist der 3. Mai", "Geburtstag", "der 3. Mai"),
            ("I'm allergic to nuts.", "allergic to nuts", "I'm allergic to nuts"),
            ("Ich mag Käse.", "mag Käse", "Ich mag Käse"),
            ("Remember that the key lies under the mat", "the key lies under the mat", "the key lies under the mat"),
        ] {
            assert_eq!(fact(sentence), Some((key.to_owned(), value.to_owned())), "{sentence}");
        }
        for nothing in [
            "Is my cat called Tom?",
            "My guess is that it rains.",
            "I would like tea.",
            "My",
            "",
            "Do you remember that?",
            "What is my favourite tea?",
            "My very best and oldest friend is called Bo",
        ] {
            assert_eq!(fact(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn lines_keep_their_numbers_and_what_belongs_to_them() {
        let text = "<known>\n[1] Person: no\n</known>\n\n<transcript>\n[1] Person: Hi\n[7] is a number\n[2] Assistant: Hello: you\n[3] Ben: Bye\n\n</transcript>";
        let lines: Vec<_> =
            lines(text).into_iter().map(|line| (line.number, line.by_person, line.words.trim())).collect();
        assert_eq!(lines, [(1, true, "Hi\n[7] is a number"), (2, false, "Hello: you"), (3, true, "Bye")]);
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_rules(text in "(?s)(<transcript>\n)?.{0,200}") {
            lines(&text);
            let _ = fact(&text);
        }
    }
}
