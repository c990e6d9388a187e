//! Facts and reflections without a language model. Facts: a few unambiguous sentence patterns of
//! English and German, matched literally.
//!
//! Only people's statements about themselves become facts, and only explicit corrections count as
//! corrections. Everything else needs a configured model.
//!
//! A reflection quotes conversations for decisions, preferences and open items, and earlier
//! reflections line by line. Preferences are proposed as memories; no change to a skill is
//! proposed, because that would take understanding.

use serde_json::{Value, json};

use super::extract::{self, LineSpeaker, SpokenLine};
use super::prompt_view::after_time;
use super::words;
use crate::model::request::{Request, RequestPart, Role};
use crate::text::{one_line, shorten};
use crate::wording::{offline as phrases, prompt};

/// Maximum number of words that name a thing, and that describe it.
const MAX_NAME_WORDS: usize = 4;
const MAX_VALUE_WORDS: usize = 20;
/// Maximum number of characters of the wrong and of the right statement.
const MAX_CORRECTION: usize = 200;

/// Phrases between a thing and its name.
const CALLED: &[&str] = &[" is called ", " is named ", "'s name is ", " heißt ", " heisst "];
/// Things of a person for which "is" states a lasting fact.
const LASTING_FACTS: &[&str] = &["birthday", "name", "job", "geburtstag", "name", "beruf"];
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
const WRONG: &str = "\
    that's wrong|that is wrong|that's not right|that is not right|i meant|das ist falsch|das stimmt nicht|\
    ich meinte";

/// A line of the transcript.
struct TranscriptLine<'t> {
    number: usize,
    by_person: bool,
    words: &'t str,
}

/// Answers a request for facts.
pub(super) fn facts(request: &Request) -> String {
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
            if !before.by_person && line.by_person && words::has_cue(&spaced, WRONG) {
                let was = shorten(&one_line(&before.words.replace(phrases::SIGNATURE, "")), MAX_CORRECTION);
                let now = shorten(&one_line(line.words), MAX_CORRECTION);
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
        // The head of a text that its speaker did not write has no words behind its colon.
        let (who, words) =
            after_time(transcript.get(*from..to)?).1.split_once(": ").filter(|(who, _)| !who.contains('\n'))?;
        Some(TranscriptLine { number: *number, by_person: !who.starts_with(prompt::ASSISTANT), words })
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
    let fits = (1..=MAX_VALUE_WORDS).contains(&what.split(' ').count());
    fits.then(|| (shorten(&format!("{verb} {what}"), 80), said.to_owned()))
}

fn owned(said: &str) -> Option<(String, String)> {
    let rest = ["my ", "meine ", "mein "].iter().find_map(|start| after(said, start))?;
    let called = CALLED.iter().find_map(|between| rest.split_once(between));
    if let Some((what, name)) =
        called.filter(|(what, name)| is_short(what, MAX_NAME_WORDS) && is_short(name, MAX_VALUE_WORDS))
    {
        return Some((format!("{what}: name"), name.to_owned()));
    }
    let (what, value) = rest.split_once(" is ").or_else(|| rest.split_once(" ist "))?;
    let lower = what.to_lowercase();
    let is_lasting =
        LASTING_FACTS.contains(&lower.as_str()) || lower.starts_with("favo") || lower.starts_with("liebling");
    (is_lasting && is_short(what, MAX_NAME_WORDS) && is_short(value, MAX_VALUE_WORDS))
        .then(|| (what.to_owned(), value.to_owned()))
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

/// Maximum number of lines taken from earlier reflections, and of proposed memories.
const MAX_EARLIER: usize = 8;
const MAX_MEMORIES: usize = 3;

/// Answers a request for a reflection.
pub(super) fn reflection(request: &Request) -> String {
    let mut seen = PromptActivity::default();
    for message in request.messages().iter().filter(|message| message.role() == Role::User) {
        for part in message.parts() {
            if let RequestPart::Text(text) = part.open().0 {
                seen.read(text);
            }
        }
    }
    seen.answer().to_string()
}

/// Material in the prompt.
#[derive(Default)]
struct PromptActivity<'a> {
    lines: Vec<SpokenLine<'a>>,
    earlier: Vec<&'a str>,
}

impl<'a> PromptActivity<'a> {
    /// Only framed text is material; the example in the instructions is not.
    fn read(&mut self, text: &'a str) {
        for (within, rest) in [("<transcript>\n", "</transcript>"), ("<reflection ", "</reflection>")] {
            for piece in text.split(within).skip(1) {
                let Some((framed, _)) = piece.split_once(rest) else { continue };
                for line in framed.lines() {
                    self.read_line(line);
                }
            }
        }
    }

    fn read_line(&mut self, line: &'a str) {
        let (time, words) = after_time(line);
        let said = |who: &str| words.strip_prefix(who).and_then(|rest| rest.strip_prefix(": "));
        match (time, said(prompt::PERSON), said(prompt::ASSISTANT)) {
            (Some(_), Some(words), _) => self.lines.push(SpokenLine { speaker: LineSpeaker::Person, day: "", words }),
            (Some(_), _, Some(words)) => {
                self.lines.push(SpokenLine { speaker: LineSpeaker::Assistant, day: "", words })
            }
            _ => self.earlier.extend(line.strip_prefix("- ")),
        }
    }

    fn answer(&self) -> Value {
        let found = extract::summarise(&self.lines);
        let mut observations: Vec<String> = Vec::new();
        for entries in [&found.decisions, &found.preferences, &found.pending] {
            observations.extend(entries.iter().cloned());
        }
        observations.extend(self.earlier.iter().take(MAX_EARLIER).map(|line| (*line).to_owned()));
        if observations.is_empty() {
            observations.extend(found.topics);
        }
        if observations.is_empty() {
            observations.push(phrases::NOTHING_TO_QUOTE.to_owned());
        }
        let title = if found.title.is_empty() { phrases::LOOKED_BACK.to_owned() } else { found.title };
        let remember = |words: &String| json!({ "kind": "memory", "title": shorten(words, 60), "why": phrases::SAID_SO, "text": words });
        let actions: Vec<Value> = found.preferences.iter().take(MAX_MEMORIES).map(remember).collect();
        json!({ "title": title, "observations": observations, "patterns": [], "proposed_actions": actions })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::id::PersonId;
    use crate::model::Purpose;
    use crate::trust::{Label, Labelled, Scope};

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

    fn asked(parts: &[&str]) -> Value {
        let scope = Scope::Person(PersonId(1));
        let mut request = Request::new(scope, Purpose::Reflection);
        for part in parts {
            request.text(Role::User, Labelled::new(Arc::from(*part), Label::neutral(), scope)).unwrap();
        }
        serde_json::from_str(&reflection(&request)).unwrap()
    }

    #[test]
    fn a_day_is_quoted_and_what_is_liked_is_to_be_remembered() {
        let said = "[2026-11-20 12:00] Person: I prefer tea over coffee. Let's book the vet.\n[2026-11-20 12:01] Assistant: ok";
        let answer = asked(&[
            "{\"observations\": [\"I like the example.\"]}",
            &format!("### A conversation\n<transcript>\n{said}\n</transcript>\n"),
        ]);
        assert_eq!(answer["observations"], json!(["Let's book the vet.", "I prefer tea over coffee."]));
        assert_eq!(answer["proposed_actions"][0]["kind"], "memory");
        assert!(!answer.to_string().contains("example"), "{answer}");
    }

    #[test]
    fn earlier_reflections_are_quoted_and_nothing_is_said_to_be_nothing() {
        let answer = asked(&["<reflection period=\"2026-11-20\">\n# A day\n\n- It rained.\n</reflection>"]);
        assert_eq!(answer["observations"], json!(["It rained."]));
        assert_eq!(asked(&["nothing"])["observations"], json!([phrases::NOTHING_TO_QUOTE]));
    }
}
