//! What a yes to a tool of another program covers, once or for further calls: that tool of that
//! server, with the same recipients, addresses and paths.
//!
//! Arguments that name where something goes or what is touched are pinned by their value: by the
//! name of the argument, and by the look of the value, so that a recipient in an argument of an
//! unknown name is pinned as well. Everything else, such as the text of a message, may differ.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::store::Covers;
use crate::text::links;

/// Words in the name of an argument whose value is pinned.
const PINNED: &[&str] = &[
    "account",
    "address",
    "attendee",
    "attendees",
    "bcc",
    "branch",
    "bucket",
    "calendar",
    "cc",
    "channel",
    "chat",
    "chats",
    "command",
    "contact",
    "customer",
    "database",
    "dest",
    "destination",
    "dir",
    "directory",
    "domain",
    "email",
    "emails",
    "endpoint",
    "file",
    "filename",
    "files",
    "folder",
    "from",
    "group",
    "guests",
    "host",
    "iban",
    "id",
    "ids",
    "invitees",
    "key",
    "link",
    "mail",
    "mailbox",
    "member",
    "number",
    "organisation",
    "organization",
    "owner",
    "participants",
    "path",
    "paths",
    "payee",
    "person",
    "phone",
    "port",
    "project",
    "receiver",
    "recipient",
    "recipients",
    "remote",
    "repo",
    "repository",
    "room",
    "script",
    "sender",
    "server",
    "source",
    "table",
    "target",
    "thread",
    "to",
    "topic",
    "uri",
    "url",
    "urls",
    "user",
    "username",
    "users",
    "wallet",
    "webhook",
    "workspace",
];

/// Minimum number of digits of a value that looks like a telephone or account number.
const DIGITS: usize = 6;

/// Returns what a yes to a call of that tool covers.
pub fn permit(server: &str, tool: &str, arguments: &Value) -> Covers {
    let mut pinned = Vec::new();
    add_pinned(arguments, "", false, &mut pinned);
    pinned.sort();
    Covers::Tool(hex::encode(Sha256::digest(serde_json::json!([server, tool, pinned]).to_string())))
}

/// Returns the texts among the pinned values.
pub(super) fn pinned_values(arguments: &Value) -> Vec<String> {
    let mut pinned = Vec::new();
    add_pinned(arguments, "", false, &mut pinned);
    pinned.into_iter().map(|(_, value)| serde_json::from_str::<String>(&value).unwrap_or(value)).collect()
}

/// Adds the pinned values below a value, each with the names that lead to it.
fn add_pinned(value: &Value, place: &str, is_named: bool, pinned: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let place = format!("{place}/{}", name.replace('/', "//"));
                add_pinned(value, &place, is_named || names_a_place(name), pinned);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_pinned(item, place, is_named, pinned)),
        Value::String(words) if !is_named && !looks_like_a_place(words) => {}
        Value::Number(_) | Value::Bool(_) | Value::Null if !is_named => {}
        value => pinned.push((place.to_owned(), value.to_string())),
    }
}

/// Returns whether a word of an argument's name (`toAddress`, `chat_id`) is pinned.
fn names_a_place(name: &str) -> bool {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c.is_uppercase() || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    let whole = name.to_lowercase();
    words.iter().chain([&whole]).any(|word| PINNED.contains(&word.as_str()))
}

/// Returns whether a value by itself names an address, a path or a number that something goes to.
fn looks_like_a_place(words: &str) -> bool {
    let words = words.trim();
    let is_one_word = !words.contains(char::is_whitespace);
    let has_path = is_one_word && (words.contains('/') || words.contains('\\') || words.starts_with(['~', '@', '#']));
    let digits = words.chars().filter(char::is_ascii_digit).count();
    let is_number = digits >= DIGITS && words.chars().all(|c| c.is_ascii_alphanumeric() || " +-./()".contains(c));
    words.contains('@') || has_path || is_number || !links::keys(words).is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn further_calls_may_differ_in_words_only() {
        let first = json!({ "to": "ben@example.org", "text": "Hello", "priority": 2 });
        let covered = permit("mail", "send", &first);
        assert_eq!(
            permit("mail", "send", &json!({ "to": "ben@example.org", "text": "And again", "priority": 1 })),
            covered
        );
        for other in [
            json!({ "to": "eve@example.org", "text": "Hello", "priority": 2 }),
            json!({ "to": "ben@example.org", "cc": "eve@example.org", "text": "Hello" }),
            json!({ "to": ["ben@example.org", "eve@example.org"], "text": "Hello" }),
            json!({ "text": "Hello" }),
            json!({ "to": "ben@example.org", "text": "see evil.example/x" }),
            json!({ "to": "ben@example.org", "text": "Hello", "more": { "replyTo": 7 } }),
            json!({ "to": "ben@example.org", "text": "Hello", "extra": "/etc/passwd" }),
            json!({ "to": "ben@example.org", "text": "Hello", "extra": "+49 170 1234567" }),
        ] {
            assert_ne!(permit("mail", "send", &other), covered, "{other}");
        }
        assert_ne!(permit("mail", "forward", &first), covered);
        assert_ne!(permit("post", "send", &first), covered);
    }

    #[test]
    fn names_are_read_word_by_word() {
        for name in ["to", "chat_id", "toAddress", "Recipients", "file-name", "URL", "userId"] {
            assert!(names_a_place(name), "{name}");
        }
        for name in ["text", "tomorrow", "body", "title", "urlaub", "priority"] {
            assert!(!names_a_place(name), "{name}");
        }
    }
}
