//! Descriptions and results of the memory search tools.

/// Description of `memory_search`.
pub const MEMORY_SEARCH: &str = "Search everything that is kept about this person and their things: facts, notes, files, and what past conversations \
     were about.";
/// Description of `memory_recall`.
pub const MEMORY_RECALL: &str =
    "Like memory_search, among what was put down to be remembered: facts, notes and daily notes.";
/// Description of the argument `category`.
pub const CATEGORY: &str = "preference, decision, fact, context, or a note's type";
/// Description of the argument `include_untrusted`.
pub const UNTRUSTED: &str = "What came from outside as well; only if the person asks";
/// Result without matches.
pub const NOTHING: &str = "Nothing that is kept matches.";
/// Error of the search.
pub const FAILED: &str = "The memory cannot be searched just now.";
