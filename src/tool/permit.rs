//! Permission for a tool of another program, for one call or further ones: that tool of that
//! server, with the same recipients, addresses, paths and choices.
//!
//! Only the words of a message, times and limits may differ in further calls. Every other argument
//! is pinned by its value, because the name of an argument is not known to be harmless; so is a
//! value among the words that looks like an address, a path or a number to which something goes.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::store::Covers;
use crate::text::links;

/// Words of which the name of an argument consists if its value may differ.
const FREE: &[&str] = &[
    "body",
    "caption",
    "comment",
    "content",
    "count",
    "date",
    "day",
    "description",
    "due",
    "duration",
    "end",
    "html",
    "limit",
    "markdown",
    "max",
    "message",
    "min",
    "minutes",
    "note",
    "notes",
    "offset",
    "priority",
    "prompt",
    "q",
    "query",
    "question",
    "reason",
    "results",
    "start",
    "subject",
    "summary",
    "text",
    "time",
    "until",
    "when",
    "words",
];

/// Minimum number of digits of a value that looks like a telephone or account number.
const DIGITS: usize = 6;

/// Returns what a yes to a call of that tool covers.
pub fn permit(server: &str, tool: &str, arguments: &Value) -> Covers {
    let mut pinned = Vec::new();
    add_pinned(arguments, "", true, &mut pinned);
    pinned.sort();
    Covers::Tool(hex::encode(Sha256::digest(serde_json::json!([server, tool, pinned]).to_string())))
}

/// Returns the texts among the pinned values.
pub(super) fn pinned_values(arguments: &Value) -> Vec<String> {
    let mut pinned = Vec::new();
    add_pinned(arguments, "", true, &mut pinned);
    pinned.into_iter().map(|(_, value)| serde_json::from_str::<String>(&value).unwrap_or(value)).collect()
}

/// Adds the pinned values in a value, each with the names and positions that lead to it.
fn add_pinned(value: &Value, place: &str, is_free: bool, pinned: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                let place = format!("{place}/{}", name.replace('/', "//"));
                add_pinned(value, &place, is_free && may_differ(name), pinned);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (position, item) in items.iter().enumerate() {
                add_pinned(item, &format!("{place}/{position}"), is_free, pinned);
            }
        }
        Value::String(words) if is_free && looks_like_a_place(words) => {
            pinned.push((place.to_owned(), value.to_string()));
        }
        _ if is_free => {}
        value => pinned.push((place.to_owned(), value.to_string())),
    }
}

/// Returns whether all words of an argument's name (`messageText`, `due_date`) leave it free.
fn may_differ(name: &str) -> bool {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c.is_uppercase() || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    let mut named = words.iter().filter(|word| !word.is_empty()).peekable();
    named.peek().is_some() && named.all(|word| FREE.contains(&word.as_str()))
}

/// Returns whether a value by itself names an address, a path or a number that something goes to.
fn looks_like_a_place(words: &str) -> bool {
    let words = words.trim();
    let is_one_word = !words.contains(char::is_whitespace);
    let has_path = is_one_word && (words.contains('/') || words.contains('\\') || words.starts_with(['~', '@', '#']));
    let digits = words.chars().filter(char::is_ascii_digit).count();
    let letters = words.chars().filter(char::is_ascii_alphabetic).count();
    let is_number = digits >= DIGITS.max(letters)
        && !is_date(words)
        && words.chars().all(|c| c.is_ascii_alphanumeric() || " +-./()".contains(c));
    words.contains('@') || has_path || is_number || !links::keys(words).is_empty()
}

/// Returns whether a value begins like a date: `2026-11-20`.
fn is_date(words: &str) -> bool {
    let mut parts = words.splitn(3, '-').map(|part| part.chars().take_while(char::is_ascii_digit).count());
    (parts.next(), parts.next(), parts.next()) == (Some(4), Some(2), Some(2))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn further_calls_may_differ_in_words_times_and_limits_only() {
        let first = json!({ "to": "ben@example.org", "text": "Hello", "limit": 2, "start": "2026-11-20 10:00" });
        let covered = permit("mail", "send", &first);
        for same in [
            json!({ "start": "2026-12-24T18:00:00Z", "limit": 1, "text": "And again", "to": "ben@example.org" }),
            json!({ "to": "ben@example.org", "messageText": "Hello", "due_date": "tomorrow", "notes": [] }),
            json!({ "to": "ben@example.org", "text": "We meet on 20 November 2026 at 10 or 11" }),
        ] {
            assert_eq!(permit("mail", "send", &same), covered, "{same}");
        }
        for other in [
            json!({ "to": "eve@example.org", "text": "Hello" }),
            json!({ "to": "ben@example.org", "cc": "eve@example.org", "text": "Hello" }),
            json!({ "to": ["ben@example.org", "eve@example.org"], "text": "Hello" }),
            json!({ "text": "Hello" }),
            json!({ "to": "ben@example.org", "text": "see evil.example/x" }),
            json!({ "to": "ben@example.org", "text": "Hello", "more": { "replyTo": 7 } }),
            json!({ "to": "ben@example.org", "text": "Hello", "message": { "to": "Eve" } }),
            json!({ "to": "ben@example.org", "text": "Hello", "bcc": [] }),
            // Names of which nothing is known.
            json!({ "to": "ben@example.org", "text": "Hello", "an": "Eve" }),
            json!({ "to": "ben@example.org", "text": "Hello", "public": true }),
            json!({ "to": "ben@example.org", "text": "Hello", "amount": 50 }),
            json!({ "to": "ben@example.org", "text": "Hello", "message_id": "x" }),
            json!({ "to": "ben@example.org", "text": "/etc/passwd" }),
            json!({ "to": "ben@example.org", "text": "+49 170 1234567" }),
            json!({ "to": "ben@example.org", "text": "DE89 3704 0044 0532 0130 00" }),
        ] {
            assert_ne!(permit("mail", "send", &other), covered, "{other}");
        }
        assert_ne!(permit("mail", "forward", &first), covered);
        assert_ne!(permit("post", "send", &first), covered);
    }

    #[test]
    fn values_are_pinned_in_their_places() {
        let pay =
            |ben: u32, eve: u32| json!({ "payments": [{ "who": "ben", "sum": ben }, { "who": "eve", "sum": eve }] });
        assert_ne!(permit("bank", "pay", &pay(1, 100)), permit("bank", "pay", &pay(100, 1)));
    }
}
