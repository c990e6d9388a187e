//! Sentences about the search on the page.

/// The page before anything was searched.
pub const WHAT_IS_SEARCHED: &str = "Searches your messages and conversations, reflections, your memory and your files. \
    Any form of a word is found.";
/// A search without results.
pub const NOTHING_FOUND: &str = "Nothing was found. Fewer or other words may find it.";

/// The end of the last page, if more was found.
pub fn ends(depth: usize) -> String {
    format!("Only the best {depth} hits are listed. More words or a limit find the others.")
}

/// A limit that cannot be read.
pub fn invalid_limit(name: &str) -> String {
    format!("The limit “{name}” cannot be read, so nothing was searched.")
}
