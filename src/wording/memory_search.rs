//! Descriptions and results of the memory search tools.

/// Description of `memory_search`.
pub const MEMORY_SEARCH: &str = "Search everything that is kept about this person and their things: facts, notes, files, and what past conversations \
     were about; with in: conversations, what was said in them, when they refer to something that is not in front of you.";
/// Description of `memory_search` if the memory is switched off.
pub const CONVERSATIONS_ONLY: &str = "Search what was said in past conversations with this person, when they refer to something that is not in front of you.";
/// Description of `memory_recall`.
pub const MEMORY_RECALL: &str =
    "Like memory_search, among what was put down to be remembered: facts, notes and daily notes.";
/// Description of the argument `category`.
pub const CATEGORY: &str = "preference, decision, fact, context, or a note's type";
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
