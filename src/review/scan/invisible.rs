//! Characters that a person does not see.
//!
//! Characters that honest texts need are left alone: emoji, joiners in scripts that join letters,
//! direction marks in right-to-left texts, the spaces of French and Japanese, a byte order mark at
//! the very beginning. A run is one finding.

use super::Hit;
use crate::review::reveal::{is_bidi, is_hidden, is_odd_space, joins_emoji};

/// Finds all runs of invisible characters.
pub(super) fn find(text: &str) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    let right_to_left = text.chars().any(is_right_to_left);
    let mut before = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let after = rest.peek().map(|(_, c)| *c);
        if is_hidden(c) && !is_honest(at, before, c, after) && !(right_to_left && is_mark(c)) {
            let (rule, says) = kind(c);
            let end = at + c.len_utf8();
            match hits.last_mut() {
                Some(last) if last.at.end == at && last.rule == rule => last.at.end = end,
                _ => hits.push(Hit { rule, at: at..end, says }),
            }
        }
        before = Some(c);
    }
    hits
}

fn kind(c: char) -> (&'static str, &'static str) {
    match u32::from(c) {
        _ if is_bidi(c) => ("bidi", "Text is shown in another order than it is read."),
        0xE0000..=0xE007F => ("tags", "Invisible characters spell out text that only a model reads."),
        _ if c.is_control() => ("control", "A control character changes what a terminal shows."),
        _ => ("invisible", "There are characters here that nobody sees."),
    }
}

fn is_honest(at: usize, before: Option<char>, c: char, after: Option<char>) -> bool {
    let beside = |test: fn(char) -> bool| before.is_some_and(test) || after.is_some_and(test);
    match c {
        '\r' => after == Some('\n'),
        '\u{feff}' => at == 0,
        '\u{2028}' | '\u{2029}' => false,
        c if is_odd_space(c) => true,
        '\u{200c}' | '\u{200d}' if before.is_some_and(joins_letters) => true,
        // Legitimate in scripts that write vowels this way.
        '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => beside(|c| matches!(u32::from(c), 0x1780..=0x18AF)),
        c => joins_emoji(before, c, after) || is_ideographic_variant(before, c),
    }
}

fn joins_letters(c: char) -> bool {
    matches!(u32::from(c), 0x600..=0x7FF | 0x8A0..=0xDFF | 0xF00..=0x109F | 0x1780..=0x18AF | 0xFB50..=0xFEFC)
}

/// Returns whether the character only sets the direction of the adjacent sign.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}')
}

fn is_right_to_left(c: char) -> bool {
    matches!(u32::from(c), 0x590..=0x8FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFC)
}

/// Returns whether the character selects a variant of an ideograph, which personal names need.
fn is_ideographic_variant(before: Option<char>, c: char) -> bool {
    matches!(c, '\u{e0100}'..='\u{e01ef}' | '\u{fe00}'..='\u{fe02}')
        && before.is_some_and(|c| matches!(u32::from(c), 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<&'static str> {
        find(text).iter().map(|hit| hit.rule).collect()
    }

    #[test]
    fn what_nobody_sees_is_found() {
        assert_eq!(rules("a\u{200b}\u{200b}b\u{2060}"), ["invisible", "invisible"]);
        assert_eq!(rules("\u{202e}x\u{e0041}\u{e0042}\u{1b}[0m"), ["bidi", "tags", "control"]);
        assert_eq!(rules("a\u{fe0f}\u{ad}x\u{feff}y\u{3164}"), ["invisible", "invisible", "invisible"]);
    }

    #[test]
    fn honest_texts_are_left_alone() {
        for text in [
            "☀\u{fe0f} 👩\u{200d}🔬",
            "می\u{200c}خواهم",
            "क\u{200d}ष",
            "שלום\u{200f}!",
            "Quoi\u{a0}? 3\u{202f}000",
            "東京\u{3000}駅",
            "\u{feff}# A\r\n",
            "葛\u{e0100}",
        ] {
            assert_eq!(rules(text), Vec::<&str>::new(), "{text:?}");
        }
    }
}
