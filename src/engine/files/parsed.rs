//! What the parsers of documents share: how one fails, and how its text is cleaned.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::tool::web;

/// Reason why a document has no readable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// Locked with a password.
    Locked,
    /// Broken, or not of its declared type; perhaps only from some page on.
    Broken,
}

/// Runs a parser; `None` if it panics.
pub(super) fn caught<T>(work: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok().flatten()
}

/// Cleans text and splits typographic ligatures.
pub(super) fn plain(words: &str) -> String {
    let mut apart = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '\u{fb00}' => apart.push_str("ff"),
            '\u{fb01}' => apart.push_str("fi"),
            '\u{fb02}' => apart.push_str("fl"),
            '\u{fb03}' => apart.push_str("ffi"),
            '\u{fb04}' => apart.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => apart.push_str("st"),
            c => apart.push(c),
        }
    }
    web::clean(&apart)
}
