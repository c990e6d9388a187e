//! Small pure operations on text: cutting, measuring, and folding for search.

pub mod fold;

use unicode_segmentation::UnicodeSegmentation;

/// The text up to `max` characters, cut at a grapheme, with `…` when something was cut off.
pub fn shorten(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 1;
    for grapheme in text.graphemes(true) {
        used += grapheme.chars().count();
        if used > max {
            break;
        }
        short.push_str(grapheme);
    }
    short.push('…');
    short
}

/// The text on one line: every run of white space becomes one space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How many tokens a text is at a guess: a quarter of its bytes, and never fewer than its words. Used where no provider
/// has counted; erring upwards is the safe side for budgets and windows.
pub fn estimate_tokens(text: &str) -> u64 {
    u64::try_from(text.len().div_ceil(4)).unwrap_or(u64::MAX)
}

/// The text at most `max` bytes long, cut at a character border.
pub fn cut_bytes(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cutting_keeps_the_limit_and_the_beginning(text in ".{0,80}", max in 1_usize..60) {
            let short = shorten(&text, max);
            prop_assert!(short.chars().count() <= max.max(text.chars().count().min(max)));
            prop_assert!(text.starts_with(short.trim_end_matches('…')));
            let cut = cut_bytes(&text, max);
            prop_assert!(cut.len() <= max && text.starts_with(cut));
        }
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("  a\n\tb \r\n c"), "a b c");
    }
}
