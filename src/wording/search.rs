//! Text about search: reasons why a file is not searched, semantic search, and the search tools.

use super::language::{Language, say};
use crate::text::sentence;

/// Reason: not UTF-8.
pub const NOT_TEXT: &str = "it is not UTF-8 text, so it is not searched";
/// Reason: too large.
pub const TOO_LARGE: &str = "it is larger than one megabyte, so it is not searched";
/// Reason: written for another person than the folder's owner.
pub const FOREIGN: &str = "it was written for another person, so it is neither loaded nor searched";
/// Reason: unterminated front matter.
pub const ENDLESS_FRONT_MATTER: &str =
    "it begins with --- but no second --- ends its front matter, so all of it counts as text";
/// Reason: read error.
pub const UNREADABLE: &str = "it cannot be read";

/// State without an embedding model.
pub const BY_WORDS: &str = "searches match words only; `[embedding]` in the configuration adds search by meaning";
/// Fix for an unreachable embedding server.
pub const FIX_AWAY: &str =
    "look at the network and embedding.base_url; until then searches match words only; it is retried automatically";
/// Fix for a refused key.
pub const FIX_KEY: &str = "put a working key in place of embedding.api_key (or what it names)";
/// Fix for a refused request.
pub const FIX_REQUEST: &str = "look at embedding.provider, embedding.name and embedding.dimensions";
/// Text of the connection test.
pub const PROBE: &str = "Good morning";

/// Embedding model and its progress. Counting stops at `most`.
pub fn embedding_model(
    language: Language,
    source: &str,
    name: &str,
    dimensions: Option<usize>,
    kept: u64,
    lacking: u64,
    most: u64,
) -> String {
    let length = match dimensions {
        Some(length) => say!(language, "vectors-length", count = length.to_string()),
        None => say!(language, "vectors-unasked"),
    };
    let lacking = match lacking {
        0 => say!(language, "vectors-complete"),
        some if some >= most => say!(language, "vectors-lacking-many", count = language.number(most)),
        some => say!(language, "vectors-lacking", count = language.number(some)),
    };
    let (model, kept) = (format!("{source}/{name}"), language.number(kept));
    say!(language, "vectors", model = model, length = length, kept = kept, lacking = lacking)
}

/// The same while the server is unreachable.
pub fn embedding_unreachable(language: Language, what: &str, why: &str, since: &str, next: &str) -> String {
    say!(language, "vectors-away", what = what, since = since, why = why, next = next)
}

/// Semantic search, in the status.
pub fn embedding_status(language: Language, what: &str) -> String {
    say!(language, "status-meaning", what = what)
}

/// Result of a successful connection test.
pub fn embedding_answers(model: &str, dimensions: usize) -> String {
    format!("{model}; the server answers with {dimensions} numbers")
}

/// Description of `memory_search`.
pub const MEMORY_SEARCH: &str = "Search what is known, said or sent.";
/// Description of `memory_search` if the memory is switched off.
pub const CONVERSATIONS_ONLY: &str = "Search what was said or sent.";
/// Description of `memory_recall`.
pub const MEMORY_RECALL: &str = "Look up facts and notes.";
/// Description of `read_conversation`.
pub const READ_CONVERSATION: &str = "Read a conversation (12), or around a message.";
/// Description of the argument `since`. `until` takes the same.
pub const TIME: &str = "2026-11-02 14:30";
/// Error: the limits of time exclude each other.
pub const EMPTY_TIME: &str = "Nothing lies between `since` and `until`: `since` must be earlier.";
/// Description of the argument `include_untrusted`.
pub const UNTRUSTED: &str = "Only if asked";
/// Error: no words to search for.
pub const NO_QUERY: &str = "`query` is empty: give the words to look for.";
/// Result without matching entries other than what the prompt contains.
pub const NOTHING: &str = "Nothing else that is kept matches.";
/// Result without matching messages.
pub const NOTHING_SAID: &str = "Nothing that was said matches.";
/// Result without any match.
pub const NOTHING_AT_ALL: &str = "Nothing else that is kept or was said matches.";
/// Error: a category of messages.
pub const NO_CATEGORIES: &str =
    "`category`, `agent` and `section` are for facts and notes; leave them out for conversations.";
/// Error of the search for entries.
pub const FAILED: &str = "The memory cannot be searched just now.";
/// Error of the search for messages.
pub const CONVERSATIONS_FAILED: &str = "The search did not work just now.";
/// Speaker: the person.
pub const THE_PERSON: &str = "person";
/// Speaker: the assistant.
pub const THE_ASSISTANT: &str = "assistant";
/// Speaker: the program, in a task.
pub const THE_PROGRAM: &str = "program";
/// Speaker: the assistant, in a reflection.
pub const A_REFLECTION: &str = "reflection";
/// Placeholder for a deleted message.
pub const DELETED: &str = "(deleted)";
/// Error: the conversations cannot be read.
pub const CONVERSATION_UNREADABLE: &str = "Conversations cannot be read just now.";
/// Part of a message: a quotation in it.
pub const QUOTED: &str = "(quoted)";
/// Part of a message: a transcribed recording.
pub const SPOKEN: &str = "(spoken)";
/// Part of a message: the text of a file.
pub const FILE: &str = "(file)";
/// Part of a message: its text after a later edit.
pub const EDITED: &str = "(edited later)";
/// Part of a message: text that was not typed.
pub const CARRIED: &str = "(attached)";
/// Part of a message: the name of the author of what was forwarded.
pub const FORWARDED_FROM: &str = "(forwarded from)";

/// Speaker: the assistant, without being asked.
pub fn sent_unasked(cause: &str) -> String {
    format!("assistant, by itself, {cause}")
}

/// Error: no such address.
pub fn bad_address(address: &str) -> String {
    format!(
        "{:?} is no conversation. Give the number of one, as 12, and as `around` the number of a message, as 345: a hit at conversations/12:345 names both.",
        crate::text::shorten(address, 40)
    )
}

/// Error: no such conversation.
pub fn no_such_conversation(id: crate::id::ConversationId) -> String {
    format!("There is no conversation {id} with this person. `memory_search` in conversations shows their numbers.")
}

/// Error: no such message.
pub fn no_such_message(id: crate::id::ConversationId, first: i64, last: i64) -> String {
    format!("Conversation {id} has no message of that number; it has those from {first} to {last}.")
}

/// Error: no such reflection.
pub fn no_such_reflection(id: crate::id::ReflectionId) -> String {
    format!("There is no reflection {id}. `read_reflection` reads one by its period.")
}

/// First line of a conversation that was read.
pub fn conversation(id: crate::id::ConversationId, from: &str, to: &str, title: &str) -> String {
    let title = if title.is_empty() { String::new() } else { format!(": {title}") };
    format!("Conversation {id}, {from} to {to}{title}")
}

/// Summary of a conversation, under the sources of its text.
pub fn summary(sources: &str, words: &str) -> String {
    let sources = if sources.is_empty() { String::new() } else { format!(", from outside ({sources})") };
    format!("Summary{sources}: {words}")
}

/// Remark about the messages before or after a page.
pub fn more_messages(earlier: Option<(usize, i64)>, later: Option<(usize, i64)>) -> String {
    let part = |what: &str, more: Option<(usize, i64)>| {
        more.map(|(count, around)| format!("{count} {what}: around \"{around}\""))
    };
    let parts: Vec<String> = part("earlier", earlier).into_iter().chain(part("later", later)).collect();
    format!("({})", parts.join("; "))
}

/// Remark at the end of a message that is longer than a page.
pub fn more_of_message(address: &str) -> String {
    format!("… (it goes on: around \"{address}\")")
}

/// Error: an invalid value of `since` or `until`.
pub fn invalid_time(name: &str, value: &str) -> String {
    let value = crate::text::shorten(value, 40);
    format!("`{name}` cannot be {value}; it takes a date (2026-11-02) or a date with time (2026-11-02 14:30).")
}

/// Summary of a conversation that has read untrusted text.
pub fn whole_conversation(id: crate::id::ConversationId, title: &str, sources: &str, words: &str) -> String {
    format!("In short, conversation {id}, from outside ({sources}): {} {words}", sentence(title))
}

/// Number of further untrusted matches.
pub fn more_untrusted(count: usize) -> String {
    let matches = match count {
        1 => "1 untrusted one matches".to_owned(),
        2..99 => format!("{count} untrusted ones match"),
        _ => "99 or more untrusted ones match".to_owned(),
    };
    format!("({matches}; memory_search with include_untrusted shows them, if the person asks for that.)")
}
