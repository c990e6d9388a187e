//! The words in which a person is asked before a call, and its arguments in lines that they can
//! read.
//!
//! Nothing is left out, and no value can pass for another: each name has a line of its own, what
//! belongs to it is indented, and a text that would read as something else stands in quotes.

use serde_json::Value;

use crate::text::links;
use crate::trust::Label;

/// Maximum number of characters quoted within a sentence.
const QUOTED: usize = 80;

/// Question to a person about one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionText {
    /// Question, in one or two sentences.
    pub question: String,
    /// Data that it is about, complete; blank if the question holds all of it.
    pub shown: String,
    /// Label of both.
    pub label: Label,
}

impl QuestionText {
    /// Creates a question about words, which stand within it if they are short and plain, and below
    /// it otherwise.
    pub fn about(words: &str, label: Label, question: impl Fn(Option<&str>) -> String) -> Self {
        if is_plain(words) {
            return Self { question: question(Some(words)), shown: String::new(), label };
        }
        Self { question: question(None), shown: words.to_owned(), label }
    }
}

/// Returns whether a text can stand within a sentence: short, one line, no markup and no address.
fn is_plain(words: &str) -> bool {
    let may_stand = |c: char| c.is_alphanumeric() || " ,.:;!?'()-–%+€$".contains(c);
    let is_short = !words.trim().is_empty() && words.chars().count() <= QUOTED;
    is_short && words.trim() == words && words.chars().all(may_stand) && links::keys(words).is_empty()
}

/// Returns arguments as lines, one or more for each name.
pub fn lines(arguments: &Value) -> String {
    let mut lines = Vec::new();
    add(arguments, "", &mut lines);
    lines.join("\n")
}

/// Adds the lines of an object or a list.
fn add(value: &Value, indent: &str, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| add_named(&format!("{}:", plain_name(name)), value, indent, lines));
        }
        Value::Array(items) => items.iter().for_each(|item| add_named("-", item, indent, lines)),
        other => lines.push(format!("{indent}{}", scalar(other))),
    }
}

/// Adds the lines of a value after its name.
fn add_named(name: &str, value: &Value, indent: &str, lines: &mut Vec<String>) {
    let deeper = format!("{indent}    ");
    let has_parts = match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    match value {
        _ if has_parts => {
            lines.push(format!("{indent}{name}"));
            add(value, &deeper, lines);
        }
        Value::String(words) if words.contains('\n') && !words.contains('\r') => {
            lines.push(format!("{indent}{name} |"));
            lines.extend(words.split('\n').map(|line| format!("{deeper}{line}")));
        }
        other => lines.push(format!("{indent}{name} {}", scalar(other))),
    }
}

/// Returns a value without parts in one line: a text as it is, or in quotes if it could be read as
/// something else.
fn scalar(value: &Value) -> String {
    match value {
        Value::String(words) if is_clear(words) => words.clone(),
        other => other.to_string(),
    }
}

fn is_clear(words: &str) -> bool {
    !words.is_empty()
        && words.trim() == words
        && !words.starts_with(['"', '{', '[', '|'])
        && !words.contains(['\n', '\r'])
        && serde_json::from_str::<Value>(words).is_err()
}

/// Returns a name as it is, or in quotes if it could be read as something else.
fn plain_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain) {
        name.to_owned()
    } else {
        Value::from(name).to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_lines_that_a_person_can_read() {
        let arguments = json!({
            "recipient": "Eve", "count": 2, "text": "pay Eve\nrecipient: Ben", "tags": ["a", "5"], "to": { "n": null },
            "empty": "", "none": [], "at": "10:00",
        });
        let shown = lines(&arguments);
        for line in [
            "recipient: Eve",
            "count: 2",
            "text: |\n    pay Eve\n    recipient: Ben",
            "tags:\n    - a\n    - \"5\"",
            "to:\n    n: null",
            "empty: \"\"",
            "none: []",
            "at: 10:00",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
        assert_eq!(lines(&json!({})), "");
    }

    #[test]
    fn only_short_plain_words_stand_within_a_sentence() {
        for words in ["call MA 46", "Zähler ablesen (bis 10:00)!", "buy 2 l milk, bread"] {
            assert!(is_plain(words), "{words}");
        }
        for words in
            ["", " a", "a\nb", "see evil.example", "http://evil.example", "**bold**", "a\u{200b}b", "\"", "`x`"]
        {
            assert!(!is_plain(words), "{words}");
        }
        assert!(!is_plain(&"a".repeat(81)));
    }

    /// Any arguments over a small alphabet full of what could be confused.
    fn value() -> impl Strategy<Value = Value> {
        let text = "[a1:\"{}\\[\\]|\\- \n]{0,6}|true|null|2";
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..3).prop_map(Value::from),
            text.prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 12, 3, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map(text, inner, 0..3)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    fn arguments() -> impl Strategy<Value = Value> {
        prop::collection::btree_map("[ab: \n]{0,3}", value(), 0..3)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
    }

    /// Reads lines as they were written: a name or an item, and what is indented below it.
    fn read(lines: &[&str], indent: &str) -> Value {
        let deeper = format!("{indent}    ");
        let (mut fields, mut items, mut rest) = (serde_json::Map::new(), Vec::new(), lines);
        while let Some((line, after)) = rest.split_first() {
            let line = line.strip_prefix(indent).unwrap();
            let length = after.iter().take_while(|line| line.starts_with(&deeper)).count();
            let (below, after) = after.split_at(length);
            let (name, value) = match line.strip_prefix('-') {
                Some(value) => (None, value),
                None if line.starts_with('"') => {
                    let mut names = serde_json::Deserializer::from_str(line).into_iter::<String>();
                    let name = names.next().unwrap().unwrap();
                    (Some(name), line.get(names.byte_offset() + 1..).unwrap_or_default())
                }
                None => line.split_once(':').map(|(name, value)| (Some(name.to_owned()), value)).unwrap(),
            };
            let value = match value.strip_prefix(' ').unwrap_or_default() {
                "" => read(below, &deeper),
                "|" => {
                    below.iter().map(|line| line.strip_prefix(&*deeper).unwrap()).collect::<Vec<_>>().join("\n").into()
                }
                value => serde_json::from_str(value).unwrap_or_else(|_| value.into()),
            };
            match name {
                Some(name) => drop(fields.insert(name, value)),
                None => items.push(value),
            }
            rest = after;
        }
        if items.is_empty() { fields.into() } else { items.into() }
    }

    proptest! {
        /// Proves: gate/exact-approval
        #[test]
        fn nothing_is_left_out_and_nothing_passes_for_something_else(arguments in arguments()) {
            let shown = lines(&arguments);
            let lines: Vec<&str> = if shown.is_empty() { Vec::new() } else { shown.split('\n').collect() };
            prop_assert_eq!(read(&lines, ""), arguments, "{}", shown);
        }
    }
}
