//! What a lasting yes to a call of a tool of another program covers.
//!
//! By default that is the same call: of that tool of that server, with exactly these arguments. The
//! person may choose the wider form, which the question names: then the content of these places may
//! differ, and nothing else. Content is what the owner marked as such (`marks`). One that holds an
//! address, a path or a number to which something could go stays as it was shown.

use sha2::{Digest, Sha256};

use super::marks::{ArgumentKind, ArgumentValue};
use crate::store::{CallPattern, Covers};
use crate::text::links;
use crate::trust::Label;

/// Minimum number of digits of a value that looks like a telephone or account number.
const DIGITS: usize = 6;

/// A call of a tool of another program.
#[derive(Debug, Clone)]
pub struct OutsideCall {
    /// Configured name of the server.
    pub server: String,
    /// Name of the tool there.
    pub tool: String,
    /// Every value in the arguments.
    pub values: Vec<ArgumentValue>,
}

impl OutsideCall {
    /// Returns what a yes to the call covers.
    pub fn covers(&self) -> Covers {
        let mut varying: Vec<String> = self
            .values
            .iter()
            .filter(|value| value.kind == ArgumentKind::Content)
            .map(|value| value.place.clone())
            .collect();
        varying.sort();
        varying.dedup();
        varying.retain(|place| self.values.iter().filter(|value| value.place == *place).all(may_differ));
        Covers::Tool { same: self.pattern(Vec::new()), wider: (!varying.is_empty()).then(|| self.pattern(varying)) }
    }

    /// Returns whether a lasting yes to such calls covers the call.
    pub fn is_one_of(&self, pattern: &CallPattern) -> bool {
        self.pattern(pattern.varying.clone()) == *pattern
    }

    /// Returns the label of the results.
    pub fn results(&self) -> Label {
        super::mcp::source(&self.server, &self.tool)
    }

    fn pattern(&self, varying: Vec<String>) -> CallPattern {
        let is_fixed = |value: &&ArgumentValue| !(varying.contains(&value.place) && may_differ(value));
        let mut fixed: Vec<_> = self.values.iter().filter(is_fixed).map(|value| (&value.at, &value.value)).collect();
        fixed.sort_by_key(|(at, _)| *at);
        let digest = Sha256::digest(serde_json::json!([self.server, self.tool, varying, fixed]).to_string());
        CallPattern { digest: hex::encode(digest), varying }
    }
}

/// Returns whether a value may differ in further calls, if its place may.
fn may_differ(value: &ArgumentValue) -> bool {
    let is_whole = value.value.is_string() || value.value.is_number();
    value.kind == ArgumentKind::Content && is_whole && !holds_a_place(&value.text())
}

fn holds_a_place(words: &str) -> bool {
    is_a_place(words) || words.contains('@') || !links::keys(words).is_empty()
}

/// Returns whether a value as a whole names a path, a handle or a number that something goes to.
pub(super) fn is_a_place(words: &str) -> bool {
    let words = words.trim();
    let is_one_word = !words.contains(char::is_whitespace);
    let has_path = is_one_word && (words.contains(['/', '\\', '@']) || words.starts_with(['~', '#']));
    let digits = words.chars().filter(char::is_ascii_digit).count();
    let letters = words.chars().filter(char::is_ascii_alphabetic).count();
    let is_number = digits >= DIGITS.max(letters)
        && !is_date(words)
        && words.chars().all(|c| c.is_ascii_alphanumeric() || " +-./()".contains(c));
    has_path || is_number || is_one_word && !links::keys(words).is_empty()
}

/// Returns whether a value begins like a date: `2026-11-20`.
fn is_date(words: &str) -> bool {
    let mut parts = words.splitn(3, '-').map(|part| part.chars().take_while(char::is_ascii_digit).count());
    (parts.next(), parts.next(), parts.next()) == (Some(4), Some(2), Some(2))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::tool::marks::ArgumentMarks;

    fn schema() -> Value {
        let text = json!({ "type": "string" });
        json!({ "properties": {
            "to": {}, "text": text, "subject": text, "limit": { "type": "integer" }, "start": text,
            "message": { "properties": { "text": text, "to": text } }, "notes": { "items": text },
        } })
    }

    fn call(tool: &str, arguments: &Value) -> OutsideCall {
        let values = ArgumentMarks::proposed(&schema()).values(&schema(), arguments);
        OutsideCall { server: "mail".to_owned(), tool: tool.to_owned(), values }
    }

    fn patterns(arguments: &Value) -> (CallPattern, Option<CallPattern>) {
        match call("send", arguments).covers() {
            Covers::Tool { same, wider } => (same, wider),
            other => panic!("{other:?}"),
        }
    }

    /// Proves: tools/lasting-yes
    #[test]
    fn by_default_a_lasting_yes_covers_the_same_call_only() {
        for (first, others) in [
            (json!({ "query": "SELECT name FROM plants" }), vec![json!({ "query": "DROP TABLE plants" })]),
            (json!({ "start": "Home", "end": "Work" }), vec![json!({ "start": "Home", "end": "Eves house" })]),
            (json!({ "article": "soap", "count": 1 }), vec![json!({ "article": "soap", "count": 900 })]),
            (
                json!({ "to": "ben", "text": "a", "limit": 2 }),
                vec![
                    json!({ "to": "ben", "text": "b", "limit": 2 }),
                    json!({ "to": "ben", "text": "a", "limit": 3 }),
                    json!({ "to": "ben", "text": "a", "limit": 2, "subject": "" }),
                    json!({ "to": ["ben"], "text": "a", "limit": 2 }),
                    json!({ "to": "ben", "text": "a" }),
                    json!({ "to": "Ben", "text": "a", "limit": 2 }),
                    json!({ "to": "ben", "text": ["a"], "limit": 2 }),
                    json!({}),
                ],
            ),
        ] {
            let (same, _) = patterns(&first);
            assert!(call("send", &first).is_one_of(&same) && same.varying.is_empty());
            assert!(!call("forward", &first).is_one_of(&same));
            for other in others {
                assert!(!call("send", &other).is_one_of(&same), "{other}");
            }
        }
        let pay =
            |ben: u32, eve: u32| json!({ "payments": [{ "who": "ben", "sum": ben }, { "who": "eve", "sum": eve }] });
        assert!(!call("send", &pay(1, 100)).is_one_of(&patterns(&pay(100, 1)).0), "values stay in their places");
    }

    /// Proves: tools/lasting-yes
    #[test]
    fn in_the_wider_form_only_the_named_content_differs() {
        let first =
            json!({ "to": "ben@example.org", "text": "Hello", "limit": 2, "message": { "text": "a", "to": "b" } });
        let wider = patterns(&first).1.unwrap();
        assert_eq!(wider.varying, ["message/text", "text"]);
        let with = |change: fn(&mut Value)| {
            let mut other = first.clone();
            change(&mut other);
            call("send", &other)
        };
        let same: [fn(&mut Value); 3] = [
            |call| call["text"] = json!("And again, on 20 November 2026 at 10 or 11"),
            |call| call["message"]["text"] = json!("c"),
            |call| drop(call.as_object_mut().unwrap().remove("text")),
        ];
        for (number, change) in same.into_iter().enumerate() {
            assert!(with(change).is_one_of(&wider), "{number}");
        }
        let other: [fn(&mut Value); 13] = [
            |call| call["to"] = json!("eve@example.org"),
            |call| call["to"] = json!(["ben@example.org", "eve@example.org"]),
            |call| call["cc"] = json!("eve@example.org"),
            |call| call["limit"] = json!(900),
            |call| call["subject"] = json!("not in the call that was shown"),
            |call| call["message"]["to"] = json!("eve"),
            |call| call["message"] = json!("eve"),
            |call| call["text"] = json!({ "to": "Eve" }),
            |call| call["text"] = json!(["Eve"]),
            |call| call["text"] = json!("see evil.example/x"),
            |call| call["text"] = json!("/etc/passwd"),
            |call| call["text"] = json!("+49 170 1234567"),
            |call| call["text"] = json!("DE89 3704 0044 0532 0130 00"),
        ];
        for (number, change) in other.into_iter().enumerate() {
            assert!(!with(change).is_one_of(&wider), "{number}");
        }
        let fixed = json!({ "to": "ben", "text": "see ben@example.org", "notes": ["a", "/b"], "subject": "" });
        assert_eq!(patterns(&fixed).1, None, "an address that was shown stays, and nothing else may differ");
    }

    #[test]
    fn a_mark_that_was_changed_ends_the_wider_form() {
        let first = json!({ "to": "ben", "text": "a" });
        let wider = patterns(&first).1.unwrap();
        let mut marks = ArgumentMarks::proposed(&schema());
        marks.arguments.insert("text".to_owned(), ArgumentKind::Destination);
        let values = marks.values(&schema(), &first);
        let other = OutsideCall { values, ..call("send", &first) };
        assert!(call("send", &first).is_one_of(&wider) && !other.is_one_of(&wider));
    }
}
