//! Long results of tools in older exchanges: shortened to their beginning, with the call that reads
//! them again. The journal keeps all of them.
//!
//! The rule depends only on the number of exchanges, also of those that are no longer shown. Its
//! boundary advances in steps and never back, so what was shortened stays so, and between two steps
//! the beginning of the prompt is the same.

use std::collections::HashMap;
use std::sync::Arc;

use crate::tool::skills::LOAD_SKILL;
use crate::wording::prompt;

/// Newest exchanges of which every result stands in full.
const IN_FULL: usize = 4;
/// Number of exchanges by which that boundary advances at once.
const STEP: usize = 3;
/// Maximum number of characters of an older result, and number to which a longer one is shortened.
const LONG_RESULT: usize = 2_000;
const SHORT_RESULT: usize = 500;

/// Shortened results of tools, each with the texts that it stands for.
pub type ShortenedResults = HashMap<Arc<str>, Vec<Arc<str>>>;

/// Returns how many of so many exchanges, from the first on, show long results shortened.
pub fn shortened_of(exchanges: usize) -> usize {
    exchanges.saturating_sub(IN_FULL) / STEP * STEP
}

/// Returns a long result as an older exchange shows it; `None` if it stays as it is. The text of a
/// skill is an instruction that goes on. `reads` says that its call only reads.
pub fn shortened(tool: &str, words: &str, reads: bool) -> Option<String> {
    let is_long = words.chars().count() > LONG_RESULT && tool != LOAD_SKILL;
    is_long.then(|| prompt::old_result(words, SHORT_RESULT, reads.then_some(tool)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundary_of_short_results_advances_in_steps_and_leaves_the_newest_alone() {
        let steps: Vec<usize> = (0..13).map(shortened_of).collect();
        assert_eq!(steps, [0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 6, 6, 6]);
        assert!((IN_FULL..1_000).all(|count| count - shortened_of(count) >= IN_FULL));
    }

    /// Proves: models/old-results
    #[test]
    fn only_a_long_result_is_shortened_and_only_a_reading_call_is_to_be_made_again() {
        let long = format!("What it gave:\n<outside>\n{}\n</outside>", "word ".repeat(LONG_RESULT));
        let read = shortened("read_file", &long, true).unwrap_or_default();
        assert!(read.contains("…\n</outside>\n(Only") && read.contains("`read_file`, called with the same"), "{read}");
        let made = shortened("mail__send", &long, false).unwrap_or_default();
        assert!(made.ends_with("(Only the beginning still stands here.)"), "{made}");
        assert_eq!(shortened("read_file", &read, true), None, "once");
        assert_eq!(shortened(LOAD_SKILL, &long, true), None, "its instructions go on");
    }
}
