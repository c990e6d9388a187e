//! Letters that look like others.
//!
//! A word that mixes Latin letters with Cyrillic or Greek look-alikes was not typed by a person.
//! Words entirely of one script are fine, and so are signs such as `μs`, `Δx` or `kΩ`. Runs of
//! mathematical or circled letters are plain text in disguise.

use super::{Hit, fold};

const SAYS: &str = "Letters here only look like the ones that they seem to be.";

/// Finds all disguised words.
pub(super) fn find(text: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match start {
            None if c.is_alphabetic() || styled_letter(c) => start = Some(at),
            Some(from) if !(c.is_alphabetic() || styled_letter(c) || fold::is_mark(c) || c == '\u{200b}') => {
                if text.get(from..at).is_some_and(is_disguised) {
                    hits.push(Hit { rule: "lookalike", at: from..at, says: SAYS });
                }
                start = None;
            }
            _ => {}
        }
    }
    hits
}

fn is_disguised(word: &str) -> bool {
    let count = |test: fn(char) -> bool| word.chars().filter(|c| test(*c)).count();
    let latin = count(|c| c.is_ascii_alphabetic());
    let foreign = count(is_foreign);
    let alike = count(|c| is_foreign(c) && c.to_lowercase().any(|c| fold::latin(c).is_some()));
    let mixed = latin >= 1 && alike >= 1 && alike == foreign && latin + alike >= 3;
    mixed || count(styled_letter) >= 4 || (latin >= 1 && count(styled_letter) >= 2)
}

/// Returns whether the character is a Cyrillic, Greek or Armenian letter.
fn is_foreign(c: char) -> bool {
    matches!(u32::from(c), 0x370..=0x58F | 0x1D26..=0x1D2B | 0x1F00..=0x1FFF)
}

/// Returns whether the character is a mathematical, circled or squared letter. Full-width letters
/// do not count, since Japanese uses them.
fn styled_letter(c: char) -> bool {
    matches!(u32::from(c), 0x1D400..=0x1D6A3 | 0x249C..=0x24E9 | 0x1F110..=0x1F189)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_words_are_found_and_others_left_alone() {
        for text in ["ignоre", "Ρaypal", "𝐢𝐠𝐧𝐨𝐫𝐞", "ⓘⓖⓝⓞⓡⓔ", "раssword"] {
            assert_eq!(find(text).len(), 1, "{text}");
        }
        for text in
            ["правило", "κανόνας", "5 μs", "kΩ", "Δx", "3D-печать", "α-helix", "𝑓(𝑥)", "ＮＨＫ", "naïve", "λx", "πr"]
        {
            assert_eq!(find(text), [], "{text}");
        }
    }
}
