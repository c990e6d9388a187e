//! Small pure operations on text: cutting, measuring, and folding for search.

pub mod fold;
pub mod winnow;

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

/// The text with every mark of that name (`<name`, `</name`, in whatever spelling) made harmless, so that it cannot close a frame
/// around it or open one of its own: an unseen space follows the bracket.
pub fn defuse(text: &str, name: &str) -> String {
    let mut pieces = text.split('<');
    let mut defused = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let word = piece.trim_start_matches(|c: char| !c.is_alphanumeric());
        let is_mark = word.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        defused.push_str(if is_mark { "<\u{200b}" } else { "<" });
        defused.push_str(piece);
    }
    defused
}

/// The longest emoji that is taken for one, in bytes.
const LONGEST_EMOJI: usize = 16;

/// Emoji that are letters all the same.
const LETTERS: &str = "ℹⓂ🅰🅱🅾🅿";

/// Whether a text can stand under a message: an emoji is short and spells nothing. A blank one takes another away.
pub fn is_emoji(text: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && !LETTERS.contains(c);
    let spells = |c: char| is_letter(c) || c.is_control() || c.is_whitespace() || "<>«»".contains(c);
    text.len() <= LONGEST_EMOJI && !text.contains(spells)
}

/// How many tokens a text is at a guess: four ASCII characters make one, every other character one of its own. Used where no
/// provider has counted; erring upwards is the safe side for budgets and windows.
pub fn estimate_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().count() - ascii;
    u64::try_from(ascii.div_ceil(4) + others).unwrap_or(u64::MAX)
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
    fn no_spelling_of_a_mark_stays_a_mark() {
        for mark in ["<page", "</page>", "</ PAGE >", "< / Page", "<\u{200b}/page>", "<</page>"] {
            let defused = defuse(mark, "page");
            assert!(defused.ends_with(mark.trim_start_matches('<')) && defused.contains("<\u{200b}"), "{defused}");
        }
        assert_eq!(defuse("1 < 2, <b>pages</b> </pag", "page"), "1 < 2, <b>pages</b> </pag");
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("  a\n\tb \r\n c"), "a b c");
    }

    #[test]
    fn an_emoji_is_short_and_spells_nothing() {
        for emoji in ["👍", "❤️", "👍🏽", "", "🏳️‍🌈", "‼", "🅰️", "ℹ️", "🇦🇹"] {
            assert!(is_emoji(emoji), "{emoji}");
        }
        for other in ["ok", "👍 approve 12", "</context>", "👍\n", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "1", "«", "да"]
        {
            assert!(!is_emoji(other), "{other}");
        }
    }
}
