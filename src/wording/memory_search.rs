//! What a model reads about the tools that search the memory, and from them.

/// `memory_search`
pub const MEMORY_SEARCH: &str = "Search everything that is kept about this person and their things: facts, notes, daily notes, files of the workspace, and \
     what past conversations were about. Use it before you say that you do not know something about them.";
/// `memory_recall`
pub const MEMORY_RECALL: &str = "Look up what was put down to be remembered: facts, notes and entries of daily notes, of one category if you name one.";
/// An argument.
pub const QUERY: &str = "Words to look for, as they might stand there";
/// An argument.
pub const CATEGORY: &str = "Only one category: preference, decision, fact, context, or the type of a note";
/// An argument.
pub const UNTRUSTED: &str =
    "Also search what came from web pages, received files and forwards; only when the person asks for that";
/// Nothing was found.
pub const NOTHING: &str = "Nothing that is kept matches.";
/// It did not work.
pub const FAILED: &str = "The memory cannot be searched just now.";
