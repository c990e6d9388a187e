//! Reads the facts and corrections in a model's answer. A malformed one affects only itself; an
//! answer without any, when some were given, is a failure and never "nothing".

use serde_json::{Map, Value};

use crate::model::json_answer::{self, AnswerProblem};
use crate::store::{Category, Correction, ExtractedItems, Fact, KnownCorrection, Layer, Node};
use crate::text::{one_line, shorten};

/// JSON Schema of an answer.
pub(super) const SCHEMA: &str = r#"{"type": "object", "properties": {
  "facts": {"type": "array", "items": {"type": "object", "properties": {
    "key": {"type": "string"}, "value": {"type": "string"},
    "category": {"type": "string", "enum": ["preference", "decision", "fact", "context"]},
    "layer": {"type": "string", "enum": ["A", "B"]}, "sources": {"type": "array", "items": {"type": "integer"}}},
    "required": ["key", "value", "category", "layer", "sources"], "additionalProperties": false}},
  "corrections": {"type": "array", "items": {"type": "object", "properties": {
    "was": {"type": "string"}, "now": {"type": "string"}, "again": {"type": "integer"},
    "sources": {"type": "array", "items": {"type": "integer"}}},
    "required": ["sources"], "additionalProperties": false}}},
  "required": ["facts", "corrections"], "additionalProperties": false}"#;

/// Maximum length of a fact's key and value, in characters.
const MAX_KEY: usize = 80;
const MAX_VALUE: usize = 500;
/// Maximum number of facts in one answer, and of corrections.
const MAX_FACTS: usize = 60;

/// Reads an answer; `lines` are the nodes of the lines in the question, `corrected` the known
/// corrections that it numbers.
///
/// Facts and corrections without a valid source line are dropped, and facts that are too long. If
/// that drops everything, the answer is malformed. The beginning of a correction is enough to
/// recognise it: corrections are truncated, never dropped for their length.
///
/// # Errors
/// If the answer holds no facts, not even an empty list.
pub(super) fn parse(
    answer: &str,
    lines: &[Node],
    corrected: &[KnownCorrection],
) -> Result<ExtractedItems, AnswerProblem> {
    let (facts, corrections) = match json_answer::object(answer, &["facts", "corrections"]) {
        Ok(fields) => (json_answer::items(&fields, "facts"), json_answer::items(&fields, "corrections")),
        Err(_) => (bare_facts(answer)?, Vec::new()),
    };
    let said = facts.len() + corrections.len();
    let fields = |items: Vec<Value>| {
        items.into_iter().filter_map(|item| if let Value::Object(it) = item { Some(it) } else { None })
    };
    let taken = ExtractedItems {
        facts: fields(facts).filter_map(|it| fact(&it, lines)).take(MAX_FACTS).collect(),
        corrections: once_each(fields(corrections).filter_map(|it| correction(&it, lines, corrected)).take(MAX_FACTS)),
    };
    if said == 0 || taken != ExtractedItems::default() { Ok(taken) } else { Err(AnswerProblem::OtherKeys) }
}

/// The facts of an answer that is a list of them, or one alone. Other lists stand in prose.
fn bare_facts(answer: &str) -> Result<Vec<Value>, AnswerProblem> {
    let is_fact = |value: &Value| value.get("key").is_some();
    let mut lists = json_answer::values(answer)?.into_iter().rev().filter_map(|(_, value)| match value {
        Value::Array(items) if items.iter().any(is_fact) || items.is_empty() => Some(items),
        object if is_fact(&object) => Some(vec![object]),
        _ => None,
    });
    lists.next().ok_or(AnswerProblem::OtherKeys)
}

fn fact(fields: &Map<String, Value>, lines: &[Node]) -> Option<Fact> {
    let text = |key| json_answer::string(fields, key);
    let (key, value) = (bare(&text("key")), one_line(&text("value")));
    let sources = sources(fields, lines);
    let fits = (1..=MAX_KEY).contains(&key.chars().count()) && (1..=MAX_VALUE).contains(&value.chars().count());
    let category = match text("category").trim().to_ascii_lowercase().as_str() {
        "preference" => Category::Preference,
        "decision" => Category::Decision,
        "context" => Category::Context,
        _ => Category::Fact,
    };
    // Layer A, which travels, must be given explicitly.
    let layer = if text("layer").trim().eq_ignore_ascii_case("A") { Layer::A } else { Layer::B };
    (fits && !sources.is_empty()).then_some(Fact { key, value, category, layer, sources })
}

fn correction(fields: &Map<String, Value>, lines: &[Node], corrected: &[KnownCorrection]) -> Option<Correction> {
    let text = |key| json_answer::string(fields, key);
    let sources = sources(fields, lines);
    let number = text("again").trim().parse::<usize>().ok();
    if let Some(known) = number.and_then(|number| corrected.get(number.checked_sub(1)?)) {
        let (was, now) = (known.was.clone(), known.now.clone());
        return (!sources.is_empty()).then_some(Correction { was, now, sources });
    }
    let (was, now) = (shorten(&bare(&text("was")), MAX_VALUE), shorten(&one_line(&text("now")), MAX_VALUE));
    let says = |words: &str| words.contains(|c: char| !c.is_whitespace() && !matches!(c, '*' | ':'));
    (says(&was) && says(&now) && !sources.is_empty()).then_some(Correction { was, now, sources })
}

/// Returns each correction once: one answer is one occasion.
fn once_each(corrections: impl Iterator<Item = Correction>) -> Vec<Correction> {
    let mut once: Vec<Correction> = Vec::new();
    for put in corrections {
        if !once.iter().any(|known| known.was == put.was && known.now == put.now) {
            once.push(put);
        }
    }
    once
}

/// Puts text on one line, without the marks that end a key in a file.
fn bare(words: &str) -> String {
    one_line(&words.replace("**", ""))
}

fn sources(fields: &Map<String, Value>, lines: &[Node]) -> Vec<Node> {
    let numbers =
        json_answer::strings(fields, "sources").into_iter().filter_map(|digits| digits.trim().parse::<usize>().ok());
    let mut nodes: Vec<Node> = numbers.filter_map(|number| lines.get(number.checked_sub(1)?).copied()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{MessageId, TurnId};
    use crate::model::json_answer::grammar;
    use proptest::prelude::*;

    const LINES: &[Node] = &[Node::Message(MessageId(7)), Node::Turn(TurnId(3)), Node::Message(MessageId(9))];

    fn one(fact: &str) -> Option<ExtractedItems> {
        parse(&format!("[{fact}]"), LINES, &[]).ok()
    }

    #[test]
    fn facts_and_corrections_are_read_with_where_they_come_from() {
        let answer = r#"```json
            {"facts": [{"key": "Cat's  **name**", "value": "Tom\n the cat", "category": "Preference", "layer": "a", "sources": [3, 1, "1", 1]}],
             "corrections": [{"was": "answered in English", "now": "answer in German", "sources": [2]}]}
            ```"#;
        let taken = parse(answer, LINES, &[]).unwrap();
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

    /// Proves: memory/mistakes
    #[test]
    fn a_correction_that_happened_again_is_named_by_its_number() {
        let known = |was: &str, now: &str| KnownCorrection {
            was: was.to_owned(),
            now: now.to_owned(),
            count: 1,
            day: String::new(),
        };
        let known = [known("net prices", "prices with VAT"), known("long answers", "short ones")];
        let corrections = |item: &str| {
            let answer = format!("{{\"facts\": [], \"corrections\": [{item}]}}");
            parse(&answer, LINES, &known).map(|taken| taken.corrections).unwrap_or_default()
        };
        for again in ["{\"again\": 2, \"sources\": [1]}", "{\"again\": \"2\", \"was\": null, \"sources\": 1}"] {
            let found = corrections(again);
            assert_eq!((found.len(), found[0].was.as_str(), found[0].now.as_str()), (1, "long answers", "short ones"));
        }
        for none in ["{\"again\": 3, \"sources\": [1]}", "{\"again\": 0, \"sources\": [1]}", "{\"again\": 1}"] {
            assert_eq!(corrections(none), [], "{none}");
        }
        assert_eq!(corrections("{\"again\": 0, \"was\": \"a\", \"now\": \"b\", \"sources\": [1]}").len(), 1);
    }

    #[test]
    fn nothing_is_nothing_and_no_answer_is_none() {
        for nothing in [
            "[]",
            " [] ",
            "Here you are: []",
            "[] That is all.",
            "{\"facts\": [], \"corrections\": null}",
            "{\"facts\": []}",
            "```\n[]\n```",
            "{\"facts\": [], \"corrections\": []}",
        ] {
            assert_eq!(parse(nothing, LINES, &[]), Ok(ExtractedItems::default()), "{nothing}");
        }
        for none in [
            "",
            "{}",
            "Nothing worth keeping.",
            r#"[{"key": "a", "value": "b", "sources": [1]"#,
            r#"{"facts": [{"key": "a", "value": "b", "sources": [1]}"#,
            r#"{"error": "too many requests"}"#,
            r#"["a: b"]"#,
            "null",
        ] {
            assert!(parse(none, LINES, &[]).is_err(), "{none}");
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
            assert_eq!(parse(&beside, LINES, &[]).unwrap().facts.len(), 1, "the others are kept");
        }
    }

    /// Proves: memory/mistakes
    #[test]
    fn a_long_correction_is_cut_and_an_empty_one_left_out() {
        let put = |was: &str, now: &str| {
            let answer =
                serde_json::json!({ "facts": [], "corrections": [{ "was": was, "now": now, "sources": [1] }] });
            parse(&answer.to_string(), LINES, &[]).ok().map(|taken| taken.corrections)
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

    #[test]
    fn good_items_are_read_whatever_stands_around_or_between_them() {
        let good = r#"{"key": "a", "value": "b", "sources": 2}"#;
        for answer in [
            good.to_owned(),
            format!("Here is what is worth keeping:\n```json\n[{good}]\n```"),
            format!("<think>{{maybe}} [1]</think>{{\"facts\": [{good}], \"corrections\": null, \"mood\": \"calm\"}}"),
            format!("{{\"facts\": [\"a: b\", null, {{\"key\": 7}}, {good}]}}"),
            format!("{{\"facts\": {good}}}"),
        ] {
            assert_eq!(parse(&answer, LINES, &[]).unwrap().facts.len(), 1, "{answer}");
        }
    }

    proptest! {
        #[test]
        fn no_answer_breaks_the_reader(answer in "(?s).{0,200}") {
            let _ = parse(&answer, LINES, &[]);
        }

        #[test]
        fn good_facts_are_always_understood((before, after) in grammar::around(), bad in "(null|7|\"x\"|\\{\\}|\\[\\])") {
            let good = r#"{"key": "tea", "value": "green", "sources": [1]}"#;
            let answer = format!("{before}{{\"facts\": [{bad}, {good}, {bad}], \"corrections\": {bad}}}{after}");
            let facts = parse(&answer, LINES, &[]).unwrap().facts;
            prop_assert_eq!((facts.len(), facts[0].value.as_str()), (1, "green"), "{}", answer);
        }

        #[test]
        fn extracted_facts_are_single_lines(key in "(?s)[^\"\\\\\u{0}-\u{1f}]{1,100}", value in "(?s)[^\"\\\\\u{0}-\u{1f}]{1,600}") {
            let answer = serde_json::json!([{ "key": key, "value": value, "sources": [1] }]).to_string();
            for fact in parse(&answer, LINES, &[]).unwrap_or_default().facts {
                prop_assert!(fact.key.lines().count() == 1 && fact.value.lines().count() == 1 && !fact.key.contains("**"));
            }
        }
    }
}
