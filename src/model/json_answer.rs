//! Tolerant reader of JSON that a model was asked for.
//!
//! Models put prose, fences and thinking around an answer, leave lists out, or write `null` where
//! nothing is. A complete object with one of the expected keys is found among all of that; of
//! several, the last, because drafts come first. A field of another type is read where that is
//! unambiguous, and otherwise as missing, so a bad item spoils only itself. Unknown keys are
//! ignored.

use serde_json::{Deserializer, Map, Value};

/// The reason why an answer cannot be used. Its text completes "your last answer could not be used:
/// …".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.as_str())]
pub enum AnswerProblem {
    /// There is no JSON object.
    NoObject,
    /// The object has no end.
    Incomplete,
    /// The object has none of the expected keys, or nothing in them.
    OtherKeys,
    /// There is no summary behind the line that announces it.
    NoSummary,
}

impl AnswerProblem {
    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoObject => "it holds no JSON object",
            Self::Incomplete => "its JSON object is not complete",
            Self::OtherKeys => "its JSON object lacks the keys that were asked for",
            Self::NoSummary => "no summary follows a line \"Summary:\"",
        }
    }
}

/// Returns the outermost complete objects and lists of an answer in order, each as written and as
/// parsed.
///
/// # Errors
/// If there is none.
pub fn values(answer: &str) -> Result<Vec<(&str, Value)>, AnswerProblem> {
    let (mut found, mut at, mut problem) = (Vec::new(), 0, AnswerProblem::NoObject);
    while let Some(rest) = answer.get(at..) {
        let Some(begins) = rest.find(['{', '[']) else { break };
        let rest = rest.get(begins..).unwrap_or_default();
        let mut parsed = Deserializer::from_str(rest).into_iter::<Value>();
        at += begins;
        match parsed.next() {
            Some(Ok(value)) => {
                let length = parsed.byte_offset();
                found.extend(rest.get(..length).map(|written| (written, value)));
                at += length;
            }
            // What follows is inside of it.
            Some(Err(error)) if error.is_eof() && rest.starts_with('{') => {
                problem = AnswerProblem::Incomplete;
                // Unless it broke off, and a whole one begins on a line of its own.
                let Some(line) = rest.find("\n{") else { break };
                at += line;
            }
            Some(Err(_)) | None => at += 1,
        }
    }
    if found.is_empty() { Err(problem) } else { Ok(found) }
}

/// Returns the last object with one of these keys, without fields that are `null`.
///
/// # Errors
/// If there is none.
pub fn object(answer: &str, keys: &[&str]) -> Result<Map<String, Value>, AnswerProblem> {
    let objects = values(answer)?.into_iter().filter_map(|(_, value)| match value {
        Value::Object(fields) => Some(fields),
        // A list of one object is that object.
        Value::Array(list) => match <[Value; 1]>::try_from(list) {
            Ok([Value::Object(fields)]) => Some(fields),
            _ => None,
        },
        _ => None,
    });
    let has_key = |fields: &Map<String, Value>| keys.iter().any(|key| fields.get(*key).is_some_and(|it| !it.is_null()));
    let mut fields = objects.rev().find(has_key).ok_or(AnswerProblem::OtherKeys)?;
    fields.retain(|_, value| !value.is_null());
    Ok(fields)
}

/// Returns a field as text: a string or a number. Blank if it is missing or something else.
pub fn string(fields: &Map<String, Value>, key: &str) -> String {
    fields.get(key).and_then(as_string).unwrap_or_default()
}

/// Returns a field as a list of texts. A single text is a list of one; items of other types are
/// left out.
pub fn strings(fields: &Map<String, Value>, key: &str) -> Vec<String> {
    items(fields, key).iter().filter_map(as_string).collect()
}

/// Returns a field as a list. A single item is a list of one.
pub fn items(fields: &Map<String, Value>, key: &str) -> Vec<Value> {
    match fields.get(key) {
        Some(Value::Array(items)) => items.iter().filter(|item| !item.is_null()).cloned().collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(item) => vec![item.clone()],
    }
}

fn as_string(value: &Value) -> Option<String> {
    match value {
        Value::String(words) => Some(words.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Grammar of what models put around an answer.
#[cfg(test)]
pub(crate) mod grammar {
    use proptest::prelude::*;

    /// Text before and after an answer: prose, fences, thinking, tables, drafts.
    pub fn around() -> impl Strategy<Value = (String, String)> {
        let before = prop_oneof![
            Just(String::new()),
            Just("```json\n".to_owned()),
            Just("\n```\n".to_owned()),
            Just("<think>\nFirst { then [ and {\"title\": maybe\n</think>\n".to_owned()),
            Just("{\"thought\": \"a draft\"}".to_owned()),
            Just("{\"title\": \"draft\", \"topics\": []}\n".to_owned()),
            Just("{\"title\": \"broken off\", \"topics\": [\n".to_owned()),
            Just("| a | b |\n|---|---|\n| [x](y) | {z} |\n".to_owned()),
            "[a-zA-ZäöüЖ .,:!?*_#\\[\\]}-]{0,60}".prop_map(|words| format!("{words}\n")),
        ];
        let after = "[a-zA-Zäöü .,:!?*_#`\\n-]{0,80}";
        (prop::collection::vec(before, 0..6).prop_map(|pieces| pieces.concat()), after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const KEYS: &[&str] = &["title", "topics"];
    const OBJECT: &str = "{\"title\": \"A {brace}\", \"topics\": [\"x\"], \"pending\": null}";

    fn title(answer: &str) -> Result<String, AnswerProblem> {
        object(answer, KEYS).map(|fields| string(&fields, "title"))
    }

    #[test]
    fn an_object_is_found_whatever_stands_around_it() {
        for answer in [
            OBJECT.to_owned(),
            format!("Here you are: {OBJECT} I hope {{that}} helps [1]."),
            format!("```json\n{OBJECT}\n```"),
            format!("~~~\n{OBJECT}\n~~~\n| a | b |\n|---|---|\n"),
            format!("<think>{{\"title\": \"draft\"}} or {{ rather</think>\n{OBJECT}"),
            format!("<think>I should write {{\"title\": …}}</think>{OBJECT}"),
            format!("[{OBJECT}]"),
            format!("{{\"example\": 1}}\n{OBJECT}\n{{\"note\": 2}}"),
        ] {
            assert_eq!(title(&answer).as_deref(), Ok("A {brace}"), "{answer}");
        }
        assert!(!object(OBJECT, KEYS).unwrap().contains_key("pending"), "null is nothing");
    }

    #[test]
    fn an_unusable_answer_says_why() {
        for (answer, problem) in [
            ("", AnswerProblem::NoObject),
            ("Sure!", AnswerProblem::NoObject),
            ("}{", AnswerProblem::Incomplete),
            ("{\"title\": \"x\", \"actions\": [{\"title\": \"y\"}", AnswerProblem::Incomplete),
            ("{}", AnswerProblem::OtherKeys),
            ("{\"title\": null}", AnswerProblem::OtherKeys),
        ] {
            assert_eq!(title(answer), Err(problem), "{answer}");
        }
    }

    #[test]
    fn fields_of_another_type_are_read_where_that_is_unambiguous() {
        let fields = object("{\"title\": 3, \"topics\": \"one\", \"more\": [1, null, {}, \"x\"]}", KEYS).unwrap();
        assert_eq!((string(&fields, "title"), strings(&fields, "topics")), ("3".to_owned(), vec!["one".to_owned()]));
        assert_eq!(strings(&fields, "more"), ["1", "x"]);
        assert_eq!(items(&fields, "more"), [json!(1), json!({}), json!("x")]);
        assert!(strings(&fields, "missing").is_empty() && string(&fields, "more").is_empty());
    }

    proptest! {
        #[test]
        fn one_complete_object_is_always_understood(
            (before, after) in grammar::around(),
            words in "[^\u{0}]{0,40}",
            number in any::<i64>(),
        ) {
            let given = json!({ "title": words, "topics": [number, null, words], "other": { "title": "inner" } });
            let answer = format!("{before}{given}{after}");
            let fields = object(&answer, KEYS).unwrap();
            prop_assert_eq!(string(&fields, "title"), words.clone(), "{}", answer);
            prop_assert_eq!(strings(&fields, "topics"), vec![number.to_string(), words]);
        }

        #[test]
        fn no_answer_makes_it_panic(answer in "(?s).{0,300}", nested in 0_usize..300) {
            let _ = object(&answer, KEYS);
            let _ = object(&"[".repeat(nested), KEYS);
            let _ = object(&"{\"a\":".repeat(nested), KEYS);
        }

        #[test]
        fn a_truncated_object_is_never_taken_for_whole(length in 1_usize..200) {
            let whole = json!({ "title": "t", "topics": [{ "title": "inner", "topics": [] }, "x"], "z": "end" }).to_string();
            let cut = whole.get(..length.min(whole.len() - 1)).unwrap();
            prop_assert!(object(cut, KEYS).is_err(), "{}", cut);
        }
    }
}
