//! Text about the open items: for the model that closes them, and replies to `/open`.

use super::language::{Language, Sentence, say};
use crate::id::OpenItemId;
use crate::text::sentence;

/// Description of `open_done`.
pub const DONE: &str = "Close an item of Still open.";
/// Error: the list could not be read or changed.
pub const NOT_CLOSED: &str = "That could not be closed just now. Nothing was changed.";
/// Reply to `/open` without items.
pub const NOTHING_OPEN: Sentence = Sentence("open-nothing");
/// Reply: a time that cannot be read.
pub const WHEN: Sentence = Sentence("open-when");
/// Refusal: the words of an item stand in something from outside.
pub const PASTED: Sentence = Sentence("open-pasted");
/// Headings of `/open`.
pub const OPEN: Sentence = Sentence("open-heading");
/// Items that are put off.
pub const LATER: Sentence = Sentence("open-later-heading");
/// Items that were closed lately.
pub const CLOSED: Sentence = Sentence("open-closed-heading");
/// Reminders and tasks.
pub const REMINDERS: Sentence = Sentence("open-reminders-heading");
/// Items of the heartbeat.
pub const HEARTBEAT: Sentence = Sentence("open-heartbeat-heading");
/// How to change the list.
pub const HOW: Sentence = Sentence("open-how");

/// Result for the model: the item is closed.
pub fn closed(words: &str) -> String {
    format!("Closed: {}", sentence(words))
}

/// Error for the model: there is no such item.
pub fn no_such(number: i64) -> String {
    format!("Nothing with number {number} is open. Still open in <context> has the numbers.")
}

/// Question for consent to close an item; words that are not quoted stand below.
pub fn may_i_close(language: Language, words: Option<&str>) -> String {
    match words {
        Some(words) => say!(language, "may-i-close", words = words),
        None => say!(language, "may-i-close-this"),
    }
}

/// An item with its number.
pub fn item(language: Language, id: OpenItemId, words: &str, since: &str) -> String {
    say!(language, "open-item", id = id.to_string(), words = words, since = since)
}

/// An item that is put off.
pub fn later_item(language: Language, id: OpenItemId, words: &str, from: &str) -> String {
    say!(language, "open-later-item", id = id.to_string(), words = words, from = from)
}

/// A closed item.
pub fn closed_item(language: Language, id: OpenItemId, words: &str, how: &str, at: &str) -> String {
    say!(language, "open-closed-item", id = id.to_string(), words = words, how = how, at = at)
}

/// Reply: the item is closed, and how to open it again.
pub fn was_closed(language: Language, id: OpenItemId, words: &str) -> String {
    say!(language, "open-was-closed", id = id.to_string(), words = words)
}

/// Reply: the item is open again.
pub fn reopened(language: Language, words: &str) -> String {
    say!(language, "open-reopened", words = words)
}

/// Reply: the item is put off.
pub fn put_off(language: Language, words: &str, from: &str) -> String {
    say!(language, "open-put-off", words = words, from = from)
}

/// Reply: the item is added.
pub fn added(language: Language, id: OpenItemId, words: &str) -> String {
    say!(language, "open-added", id = id.to_string(), words = words)
}

/// Reply: the item is on the list already.
pub fn known(language: Language, words: &str) -> String {
    say!(language, "open-known", words = words)
}

/// Refusal: there is no such item.
pub fn unknown(language: Language, id: OpenItemId) -> String {
    say!(language, "open-unknown", id = id.to_string())
}
