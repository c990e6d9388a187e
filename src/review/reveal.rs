//! Makes hidden characters in a text visible.
//!
//! A person who approves a text must see what a model will read. So every character that leaves no
//! mark on the screen, or that changes the display of its neighbours, is written out as `⟨U+200B
//! zero width space⟩`: control characters (so that an escape sequence loses its first character),
//! zero-width and bidirectional marks, the tags block, variation selectors, soft hyphens, invisible
//! operators, fillers, and all spaces but the plain one. Line ends stay, with or without carriage
//! return; a lone carriage return is written out.
//!
//! One exception keeps honest text readable: a single variation selector 15 or 16 after a symbol,
//! and a zero-width joiner between two emoji, stay as they are. They only select one of a few
//! shapes of a picture, so nothing can be hidden in them.

use icu_properties::CodePointSetData;
use icu_properties::props::BidiControl;

use crate::text::is_ignorable;

/// Returns the text with every hidden character written out.
pub fn reveal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            c if !is_hidden(c) || joins_emoji(before, c, rest.peek().copied()) => {
                shown.push(c);
                before = Some(c);
            }
            c => {
                shown.push_str(&named(c));
                before = None;
            }
        }
    }
    shown
}

/// Returns a JSON text in which hidden characters stand as escapes: a program reads the same, and a
/// terminal shows what is there.
pub fn escape_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            let units = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            shown.push_str(&units);
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns whether the character is invisible, or changes the display of others. Line feed and tab
/// count as visible.
pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_control() && !matches!(c, '\n' | '\t');
    }
    c.is_control() || is_odd_space(c) || is_bidi(c) || is_blank(c)
}

/// Returns whether the character changes the text direction.
pub(super) fn is_bidi(c: char) -> bool {
    CodePointSetData::new::<BidiControl>().contains(c)
}

/// Returns whether the character is a space other than the plain one.
pub(super) fn is_odd_space(c: char) -> bool {
    c.is_whitespace() && !c.is_ascii() && !c.is_control()
}

/// Returns whether `c` is part of a picture: a selector after a symbol, or a joiner between two.
pub(super) fn joins_emoji(before: Option<char>, c: char, after: Option<char>) -> bool {
    match c {
        '\u{fe0e}' | '\u{fe0f}' => {
            let keycap = before.is_some_and(|b| matches!(b, '#' | '*' | '0'..='9')) && after == Some('\u{20e3}');
            keycap || before.is_some_and(is_symbol)
        }
        '\u{200d}' => {
            let ends = |b| is_symbol(b) || matches!(b, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}');
            before.is_some_and(ends) && after.is_some_and(is_symbol)
        }
        _ => false,
    }
}

/// Returns whether the character has no mark of its own: ignorable characters, the blank of
/// Braille, and codes that are no characters.
fn is_blank(c: char) -> bool {
    let code = u32::from(c);
    is_ignorable(c) || code == 0x2800 || code & 0xFFFE == 0xFFFE || matches!(code, 0xFDD0..=0xFDEF)
}

/// Returns whether the character is one of the pictures and signs that emoji are made of.
fn is_symbol(c: char) -> bool {
    matches!(u32::from(c),
        0xA9 | 0xAE | 0x203C | 0x2049 | 0x2122 | 0x2139 | 0x2190..=0x21FF | 0x2300..=0x23FF | 0x24C2 | 0x25A0..=0x27BF
        | 0x2934..=0x2935 | 0x2B00..=0x2BFF | 0x3030 | 0x303D | 0x3297 | 0x3299 | 0x1F000..=0x1FAFF)
}

fn named(c: char) -> String {
    format!("⟨U+{:04X} {}⟩", u32::from(c), name(c))
}

/// Returns the character's Unicode name, or the name of its kind.
fn name(c: char) -> &'static str {
    match u32::from(c) {
        0x00 => "null",
        0x07 => "bell",
        0x08 => "backspace",
        0x0B => "vertical tab",
        0x0C => "form feed",
        0x0D => "carriage return",
        0x1B => "escape",
        0x7F => "delete",
        0x85 => "next line",
        0xA0 => "no-break space",
        0xAD => "soft hyphen",
        0x34F => "combining grapheme joiner",
        0x61C => "Arabic letter mark",
        0x115F | 0x1160 | 0x3164 | 0xFFA0 => "Hangul filler",
        0x180E => "Mongolian vowel separator",
        0x200B => "zero width space",
        0x200C => "zero width non-joiner",
        0x200D => "zero width joiner",
        0x200E => "left-to-right mark",
        0x200F => "right-to-left mark",
        0x2028 => "line separator",
        0x2029 => "paragraph separator",
        0x202A => "left-to-right embedding",
        0x202B => "right-to-left embedding",
        0x202C => "pop directional formatting",
        0x202D => "left-to-right override",
        0x202E => "right-to-left override",
        0x202F => "narrow no-break space",
        0x2060 => "word joiner",
        0x2061..=0x2064 => "invisible operator",
        0x2066 => "left-to-right isolate",
        0x2067 => "right-to-left isolate",
        0x2068 => "first strong isolate",
        0x2069 => "pop directional isolate",
        0x2800 => "blank braille pattern",
        0x3000 => "ideographic space",
        0xFE00..=0xFE0F | 0xE0100..=0xE01EF | 0x180B..=0x180F => "variation selector",
        0xFEFF => "byte order mark",
        0xE0000..=0xE007F => "tag character",
        _ if c.is_control() => "control character",
        _ if is_odd_space(c) => "unusual space",
        _ => "invisible character",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any text, with many hidden characters.
    fn text() -> impl Strategy<Value = String> {
        let odd = "\u{0}\r\n\u{1b}\u{ad}\u{200b}\u{200d}\u{202e}\u{2066}\u{fe0f}\u{e0041}\u{e0101}\u{feff}\u{3164}\u{a0}☀👩🔬1";
        let odd: Vec<char> = odd.chars().collect();
        prop::collection::vec(prop_oneof![any::<char>(), prop::sample::select(odd)], 0..60)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        /// Promise (gate/odd-characters): Hidden, direction-changing and look-alike characters are
        /// shown for what they are, and anything that looks like an attack is flagged.
        #[test]
        fn nothing_hidden_is_left(text in text()) {
            let shown: Vec<char> = reveal(&text).chars().collect();
            for (at, c) in shown.iter().enumerate() {
                let (before, after) = (at.checked_sub(1).map(|at| shown[at]), shown.get(at + 1).copied());
                prop_assert!(!is_hidden(*c) || joins_emoji(before, *c, after), "{:?} in {:?}", c, shown);
            }
        }

        #[test]
        fn revealing_hidden_characters_leaves_visible_text_unchanged(text in text()) {
            let seen: String = text.replace("\r\n", "\n").chars().filter(|c| !is_hidden(*c)).collect();
            let mut shown = reveal(&text);
            for c in text.chars().filter(|c| is_hidden(*c)) {
                shown = shown.replace(&named(c), "").replace(c, "");
            }
            prop_assert_eq!(shown, seen);
        }
    }

    proptest! {
        /// Proves: operation/json-output
        #[test]
        fn json_without_hidden_characters_says_the_same(text in text(), key in text()) {
            let value = serde_json::json!({ key: [text] });
            let escaped = escape_json(&serde_json::to_string_pretty(&value).unwrap());
            prop_assert!(!escaped.chars().any(is_hidden), "{escaped:?}");
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
        }
    }

    #[test]
    fn each_kind_of_hidden_character_has_a_name() {
        for (text, shown) in [
            ("a\u{200b}b", "a⟨U+200B zero width space⟩b"),
            ("\u{1b}[31mred", "⟨U+001B escape⟩[31mred"),
            ("\u{202e}cod.exe", "⟨U+202E right-to-left override⟩cod.exe"),
            ("a\u{e0041}", "a⟨U+E0041 tag character⟩"),
            ("x\u{e0101}", "x⟨U+E0101 variation selector⟩"),
            ("pass\u{ad}word", "pass⟨U+00AD soft hyphen⟩word"),
            ("one\rtwo\r\nthree\n", "one⟨U+000D carriage return⟩two\nthree\n"),
            ("\u{feff}x", "⟨U+FEFF byte order mark⟩x"),
            ("a\u{a0}b\u{2009}c", "a⟨U+00A0 no-break space⟩b⟨U+2009 unusual space⟩c"),
            ("2\u{2062}x\u{3164}", "2⟨U+2062 invisible operator⟩x⟨U+3164 Hangul filler⟩"),
        ] {
            assert_eq!(reveal(text), shown);
        }
    }

    #[test]
    fn emoji_stay_readable_and_hide_nothing() {
        for text in
            ["☀\u{fe0f} 👩\u{200d}🔬 👩🏽\u{200d}🚀 1\u{fe0f}\u{20e3} 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f}", "naïve 東京 שלום"]
        {
            assert_eq!(reveal(text), text);
        }
        for text in ["👩\u{200d}a", "a\u{fe0f}", "☀\u{fe0f}\u{fe0f}", "1\u{fe0f}", "🏴\u{e0067}"] {
            assert!(reveal(text).contains('⟨'), "{text:?}");
        }
    }
}
