//! Strict parser of the model's answer: JSON with nothing around it but a fence. Prose, or an
//! answer that was cut off, is a failure and never "nothing".

use serde::Deserialize;
use serde_json::Value;

use crate::store::{Category, Correction, ExtractedItems, Fact, Layer, Node};
use crate::text::{one_line, shorten};

/// Maximum length of a fact's key and value, in characters.
const MAX_KEY: usize = 80;
const MAX_VALUE: usize = 500;
/// Maximum number of facts in one answer, and of corrections.
const MAX_FACTS: usize = 60;

#[derive(Deserialize)]
#[serde(untagged)]
enum ExtractorAnswer {
    Both {
        facts: Vec<ExtractedFact>,
        #[serde(default)]
        corrections: Vec<CorrectionDraft>,
    },
    Facts(Vec<ExtractedFact>),
}

#[derive(Deserialize)]
struct ExtractedFact {
    key: String,
    value: String,
    #[serde(default)]
    category: String,
    #[serde(default)]
    layer: String,
    #[serde(default)]
    sources: Vec<Value>,
}

#[derive(Deserialize)]
struct CorrectionDraft {
    was: String,
    now: String,
    #[serde(default)]
    sources: Vec<Value>,
}

/// Parses an answer; `lines` are the nodes of the lines in the question. Returns `None` if the
/// answer is malformed.
///
/// Facts and corrections without a valid source line are dropped, and facts that are too long. If
/// that drops everything, the answer is malformed. The beginning of a correction is enough to
/// recognise it: corrections are truncated, never dropped for their length.
pub(super) fn parse(answer: &str, lines: &[Node]) -> Option<ExtractedItems> {
    let (facts, corrections) = match serde_json::from_str(unfenced(answer)).ok()? {
        ExtractorAnswer::Both { facts, corrections } => (facts, corrections),
        ExtractorAnswer::Facts(facts) => (facts, Vec::new()),
    };
    let said = facts.len() + corrections.len();
    let taken = ExtractedItems {
        facts: facts.into_iter().filter_map(|fact| fact.read(lines)).take(MAX_FACTS).collect(),
        corrections: corrections.into_iter().filter_map(|put| put.read(lines)).take(MAX_FACTS).collect(),
    };
    (said == 0 || taken != ExtractedItems::default()).then_some(taken)
}

impl ExtractedFact {
    fn read(self, lines: &[Node]) -> Option<Fact> {
        let (key, value) = (bare(&self.key), one_line(&self.value));
        let sources = sources(&self.sources, lines);
        let fits = (1..=MAX_KEY).contains(&key.chars().count()) && (1..=MAX_VALUE).contains(&value.chars().count());
        let category = match self.category.trim().to_ascii_lowercase().as_str() {
            "preference" => Category::Preference,
            "decision" => Category::Decision,
            "context" => Category::Context,
            _ => Category::Fact,
        };
        // Layer A, which travels, must be given explicitly.
        let layer = if self.layer.trim().eq_ignore_ascii_case("A") { Layer::A } else { Layer::B };
        (fits && !sources.is_empty()).then_some(Fact { key, value, category, layer, sources })
    }
}

impl CorrectionDraft {
    fn read(self, lines: &[Node]) -> Option<Correction> {
        let (was, now) = (shorten(&bare(&self.was), MAX_VALUE), shorten(&one_line(&self.now), MAX_VALUE));
        let sources = sources(&self.sources, lines);
        let says = |words: &str| words.contains(|c: char| !c.is_whitespace() && !matches!(c, '*' | ':'));
        (says(&was) && says(&now) && !sources.is_empty()).then_some(Correction { was, now, sources })
    }
}

/// Puts text on one line, without the marks that end a key in a file.
fn bare(words: &str) -> String {
    one_line(&words.replace("**", ""))
}

fn sources(numbers: &[Value], lines: &[Node]) -> Vec<Node> {
    let number = |value: &Value| match value {
        Value::String(digits) => digits.trim().parse().ok(),
        value => value.as_u64().and_then(|number| usize::try_from(number).ok()),
    };
    let mut nodes: Vec<Node> =
        numbers.iter().filter_map(|value| lines.get(number(value)?.checked_sub(1)?).copied()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Removes the fence that many models put around JSON.
fn unfenced(answer: &str) -> &str {
    let answer = answer.trim();
    let inner = answer.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.map_or(answer, |inner| inner.split_once('\n').map_or(inner, |(_, body)| body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{MessageId, TurnId};
    use proptest::prelude::*;

    const LINES: &[Node] = &[Node::Message(MessageId(7)), Node::Turn(TurnId(3)), Node::Message(MessageId(9))];

    fn one(fact: &str) -> Option<ExtractedItems> {
        parse(&format!("[{fact}]"), LINES)
    }

    #[test]
    fn facts_and_corrections_are_read_with_where_they_come_from() {
        let answer = r#"```json
            {"facts": [{"key": "Cat's  **name**", "value": "Tom\n the cat", "category": "Preference", "layer": "a", "sources": [3, 1, "1", 1]}],
             "corrections": [{"was": "answered in English", "now": "answer in German", "sources": [2]}]}
            ```"#;
        let taken = parse(answer, LINES).unwrap();
        let sources = vec![Node::Message(MessageId(7)), Node::Message(MessageId(9))];
        let fact = Fact {
            key: "Cat's name".to_owned(),
            value: "Tom the cat".to_owned(),
            category: Category::Preference,
            layer: Layer::A,
            sources,
        };
        assert_eq!(taken.facts, [fact]);
        assert_eq!(taken.corrections[0].sources, [Node::Turn(TurnId(3))]);
    }

    #[test]
    fn nothing_is_nothing_and_no_answer_is_none() {
        for nothing in ["[]", " [] ", "{\"facts\": []}", "```\n[]\n```", "{\"facts\": [], \"corrections\": []}"] {
            assert_eq!(parse(nothing, LINES), Some(ExtractedItems::default()), "{nothing}");
        }
        for none in [
            "",
            "{}",
            "Nothing worth keeping.",
            "Here you are: []",
            "[] That is all.",
            r#"[{"key": "a", "value": "b", "sources": [1]"#,
            r#"{"facts": [{"key": "a", "value": "b", "sources": [1]}"#,
            r#"{"error": "too many requests"}"#,
            r#"["a: b"]"#,
            "null",
        ] {
            assert_eq!(parse(none, LINES), None, "{none}");
        }
    }

    #[test]
    fn a_fact_fits_in_a_line_and_says_where_it_was_said() {
        assert!(one(r#"{"key": "a", "value": "b", "sources": [1]}"#).is_some());
        let long = "x".repeat(501);
        for broken in [
            r#"{"key": "", "value": "b", "sources": [1]}"#.to_owned(),
            r#"{"key": "a", "value": " ", "sources": [1]}"#.to_owned(),
            r#"{"key": "a", "value": "b", "sources": []}"#.to_owned(),
            r#"{"key": "a", "value": "b"}"#.to_owned(),
            r#"{"key": "a", "value": "b", "sources": [0, 4, -1, "x"]}"#.to_owned(),
            format!(r#"{{"key": "a", "value": "{long}", "sources": [1]}}"#),
            format!(r#"{{"key": "{}", "value": "b", "sources": [1]}}"#, "k".repeat(81)),
        ] {
            assert_eq!(one(&broken), None, "{broken}");
            let beside = format!(r#"[{broken}, {{"key": "a", "value": "b", "sources": [1]}}]"#);
            assert_eq!(parse(&beside, LINES).unwrap().facts.len(), 1, "the others are kept");
        }
    }

    /// Proves: memory/mistakes
    #[test]
    fn a_long_correction_is_cut_and_an_empty_one_left_out() {
        let put = |was: &str, now: &str| {
            let answer =
                serde_json::json!({ "facts": [], "corrections": [{ "was": was, "now": now, "sources": [1] }] });
            parse(&answer.to_string(), LINES).map(|taken| taken.corrections)
        };
        let long = "é".repeat(700);
        let read = put(&long, &long).unwrap();
        assert_eq!((read[0].was.chars().count(), read[0].now.chars().count()), (500, 500));
        assert_eq!(put(&long, &long), Some(read), "The same again is the same");
        assert_eq!(put("* wrong", "right").unwrap()[0].was, "* wrong");
        for (was, now) in [("***", "x"), (" ", "x"), ("x", ""), ("**:", "x")] {
            assert_eq!(put(was, now), None, "{was} {now}");
        }
    }

    #[test]
    fn a_fact_not_marked_as_portable_stays_local() {
        for layer in ["\"B\"", "\"\"", "\"personal\""] {
            let fact = format!(r#"{{"key": "a", "value": "b", "sources": [1], "layer": {layer}, "category": "?"}}"#);
            let taken = one(&fact).unwrap();
            assert_eq!((taken.facts[0].layer, taken.facts[0].category), (Layer::B, Category::Fact), "{layer}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader(answer in "(?s).{0,200}") {
            let _ = parse(&answer, LINES);
        }

        #[test]
        fn extracted_facts_are_single_lines(key in "(?s)[^\"\\\\\u{0}-\u{1f}]{1,100}", value in "(?s)[^\"\\\\\u{0}-\u{1f}]{1,600}") {
            let answer = serde_json::json!([{ "key": key, "value": value, "sources": [1] }]).to_string();
            for fact in parse(&answer, LINES).unwrap_or_default().facts {
                prop_assert!(fact.key.lines().count() == 1 && fact.value.lines().count() == 1 && !fact.key.contains("**"));
            }
        }
    }
}
