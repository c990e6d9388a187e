//! Text about search: reasons why a file is not searched, semantic search, and the search tools.

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
    source: &str,
    name: &str,
    dimensions: Option<usize>,
    kept: u64,
    lacking: u64,
    most: u64,
) -> String {
    let length = dimensions.map_or_else(|| "not asked yet".to_owned(), |length| format!("{length} numbers per vector"));
    let lacking = match lacking {
        0 => "none is missing".to_owned(),
        some if some >= most => format!("more than {most} are missing"),
        some => format!("{some} are missing"),
    };
    format!("{source}/{name}, {length}; {kept} texts have one, {lacking}")
}

/// The same while the server is unreachable.
pub fn embedding_unreachable(model: &str, why: &str, since: &str, next: &str) -> String {
    format!("{model}. Since {since} searches match words only: {why}. It is retried at {next}")
}

/// Semantic search, in the status.
pub fn embedding_status(what: &str) -> String {
    format!("- search by meaning: {what}")
}

/// Result of a successful connection test.
pub fn embedding_answers(model: &str, dimensions: usize) -> String {
    format!("{model}; the server answers with {dimensions} numbers")
}

/// Description of `memory_search`.
pub const MEMORY_SEARCH: &str = "Search what is kept about this person: facts, notes, files and past conversations; with in: conversations, every \
     message that was said or sent.";
/// Description of `memory_search` if the memory is switched off.
pub const CONVERSATIONS_ONLY: &str = "Search what was said in past conversations with this person, when they refer to something that is not in front of you.";
/// Description of `memory_recall`.
pub const MEMORY_RECALL: &str =
    "Like memory_search, among what was put down to be remembered: facts, notes and daily notes.";
/// Description of the argument `category`.
pub const CATEGORY: &str = "preference, decision, fact, context, or a note's type";
/// Description of the argument `since`, which says what both ends do.
pub const TIME: &str = "From then on; with until, up to then and that day: a date (2026-11-02) or date with time (2026-11-02 14:30), local";
/// Error: the limits of time exclude each other.
pub const EMPTY_TIME: &str = "Nothing lies between `since` and `until`: `since` must be earlier.";
/// Description of the argument `include_untrusted`.
pub const UNTRUSTED: &str = "What came from outside as well; only if the person asks";
/// Result without matching entries.
pub const NOTHING: &str = "Nothing that is kept matches.";
/// Result without matching messages.
pub const NOTHING_SAID: &str = "Nothing that was said matches.";
/// Error of the search for entries.
pub const FAILED: &str = "The memory cannot be searched just now.";
/// Error of the search for messages.
pub const CONVERSATIONS_FAILED: &str = "The search did not work just now.";
/// Speaker: the person.
pub const THE_PERSON: &str = "person";
/// Speaker: the assistant.
pub const THE_ASSISTANT: &str = "assistant";

/// Error: an unknown value of `in`.
pub fn unknown_area(value: &str, areas: &str) -> String {
    format!("`in` cannot be {}; it takes one of: {areas}.", crate::text::shorten(value, 40))
}

/// Error: an invalid value of `since` or `until`.
pub fn invalid_time(name: &str, value: &str) -> String {
    let value = crate::text::shorten(value, 40);
    format!("`{name}` cannot be {value}; it takes a date (2026-11-02) or a date with time (2026-11-02 14:30).")
}

/// Summary of a conversation that has read untrusted text.
pub fn whole_conversation(title: &str, sources: &str, words: &str) -> String {
    format!("In short, that conversation, from outside ({sources}): {title}. {words}")
}

/// Number of further untrusted matches.
pub fn more_untrusted(count: usize) -> String {
    let matches = match count {
        1 => "1 untrusted one matches".to_owned(),
        2..99 => format!("{count} untrusted ones match"),
        _ => "99 or more untrusted ones match".to_owned(),
    };
    format!("({matches}; include_untrusted shows them, if the person asks for that.)")
}
