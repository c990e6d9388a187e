//! What a model reads about the tools that search the memory, and from them.

/// `memory_search`
pub const MEMORY_SEARCH: &str = "Search everything that is kept about this person and their things: facts, notes, files, and what past conversations \
     were about.";
/// `memory_recall`
pub const MEMORY_RECALL: &str =
    "Like memory_search, among what was put down to be remembered: facts, notes and daily notes.";
/// An argument.
pub const CATEGORY: &str = "preference, decision, fact, context, or a note's type";
/// An argument.
pub const UNTRUSTED: &str = "What came from outside as well; only if the person asks";
/// Nothing was found.
pub const NOTHING: &str = "Nothing that is kept matches.";
/// It did not work.
pub const FAILED: &str = "The memory cannot be searched just now.";
