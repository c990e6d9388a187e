//! Reflection without a language model: quoted sentences, chosen by simple cues, in the requested
//! form.
//!
//! Conversations are quoted for decisions, preferences and open items, earlier reflections line by
//! line. Preferences are proposed as memories; no change to a skill is proposed, because that would
//! take understanding.

use serde_json::{Value, json};

use super::extract::{self, LineSpeaker};
use super::prompt_view::after_time;
use crate::model::request::{Request, RequestPart, Role};
use crate::text::shorten;
use crate::wording::{offline as phrases, prompt};

/// Maximum number of lines taken from earlier reflections, and of proposed memories.
const MOST: usize = 8;
const REMEMBERED: usize = 3;

/// Answers a request for a reflection.
pub(super) fn answer(request: &Request) -> String {
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
    lines: Vec<(LineSpeaker, &'a str)>,
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
            (Some(_), Some(words), _) => self.lines.push((LineSpeaker::Person, words)),
            (Some(_), _, Some(words)) => self.lines.push((LineSpeaker::Assistant, words)),
            _ => self.earlier.extend(line.strip_prefix("- ")),
        }
    }

    fn answer(&self) -> Value {
        let found = extract::summarise(&self.lines);
        let mut observations: Vec<String> = Vec::new();
        for entries in [&found.decisions, &found.preferences, &found.pending] {
            observations.extend(entries.iter().cloned());
        }
        observations.extend(self.earlier.iter().take(MOST).map(|line| (*line).to_owned()));
        if observations.is_empty() && !found.topics.is_empty() {
            observations.push(phrases::talked_about(&found.topics));
        }
        if observations.is_empty() {
            observations.push(phrases::NOTHING_TO_QUOTE.to_owned());
        }
        let title = if found.title.is_empty() { phrases::LOOKED_BACK.to_owned() } else { found.title };
        let remember = |words: &String| json!({ "kind": "memory", "title": shorten(words, 60), "why": phrases::SAID_SO, "text": words });
        let actions: Vec<Value> = found.preferences.iter().take(REMEMBERED).map(remember).collect();
        json!({ "title": title, "observations": observations, "patterns": [], "proposed_actions": actions })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::id::PersonId;
    use crate::model::Purpose;
    use crate::trust::{Label, Labelled, Scope};

    fn asked(parts: &[&str]) -> Value {
        let scope = Scope::Person(PersonId(1));
        let mut request = Request::new(scope, Purpose::Reflection);
        for part in parts {
            request.text(Role::User, Labelled::new(Arc::from(*part), Label::neutral(), scope)).unwrap();
        }
        serde_json::from_str(&answer(&request)).unwrap()
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
