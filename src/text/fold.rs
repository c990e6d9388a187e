//! Folding for search: both the indexed text and the query are folded, so that they match.
//!
//! SQLite's `unicode61` removes diacritics but does not handle letters such as `ø` or `ß`, and
//! treats a run of Chinese or Thai as one word. Here such letters become their plain spelling, and
//! each letter of a script without spaces becomes a word, so that any part of a run is found; so does
//! each syllable of Korean, whose words grow endings. Porter stemming is left to the index.

/// Returns the text as the search index stores it.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut folded = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            'ø' | 'Ø' => folded.push('o'),
            'ł' | 'Ł' => folded.push('l'),
            'đ' | 'Đ' | 'ð' | 'Ð' => folded.push('d'),
            'ħ' | 'Ħ' => folded.push('h'),
            'ı' | 'İ' => folded.push('i'),
            'ß' | 'ẞ' => folded.push_str("ss"),
            'æ' | 'Æ' => folded.push_str("ae"),
            'œ' | 'Œ' => folded.push_str("oe"),
            'þ' | 'Þ' => folded.push_str("th"),
            c if is_unspaced_script(c) => {
                folded.push(' ');
                folded.push(c);
                while let Some(mark) = letters.next_if(|next| is_mark(*next)) {
                    folded.push(mark);
                }
                folded.push(' ');
            }
            c => folded.push(c),
        }
    }
    folded
}

/// Returns the text as stored by an index in which each word is prefixed with its owner. A query
/// under one prefix cannot match another owner's words, and only walks words of its own.
pub fn under(place: &str, text: &str) -> String {
    let folded = fold(text);
    let mut placed = String::with_capacity(folded.len() + folded.len() / 2);
    for word in folded.split(|c: char| !c.is_alphanumeric() && !is_mark(c)).filter(|word| !word.is_empty()) {
        placed.push_str(place);
        placed.push_str(word);
        placed.push(' ');
    }
    placed
}

/// Returns whether each letter of the character's script is a word of its own in the index: those
/// of Thai, Lao, Burmese and Khmer, kana and ideographs, and the syllables of Korean.
fn is_unspaced_script(c: char) -> bool {
    matches!(u32::from(c), 0x0E01..=0x0E30 | 0x0E32..=0x0E33 | 0x0E40..=0x0E46 | 0x0E81..=0x0EB0 | 0x0EB2..=0x0EB3
        | 0x0EC0..=0x0EC6 | 0x1000..=0x102A | 0x1780..=0x17B3 | 0x3040..=0x3096 | 0x309D..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Returns whether the character is a combining mark, which belongs to the word around it.
pub(super) fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x0300..=0x036F | 0x0483..=0x0487 | 0x0591..=0x05BD | 0x0610..=0x061A | 0x064B..=0x065F
        | 0x0900..=0x0903 | 0x093A..=0x094F | 0x0E31 | 0x0E34..=0x0E3A | 0x0E47..=0x0E4E | 0x0EB1 | 0x0EB4..=0x0EBC
        | 0x0EC8..=0x0ECE | 0x102B..=0x103E | 0x17B4..=0x17D3 | 0x3099..=0x309A)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    #[test]
    fn letters_that_are_not_diacritics_fold() {
        assert_eq!(fold("Tromsø Łódź Straße"), "Tromso lódź Strasse");
    }

    #[test]
    fn each_letter_of_a_script_without_spaces_is_a_word_with_its_marks() {
        assert_eq!(fold("東京"), " 東  京 ");
        assert_eq!(fold("게임을"), " 게  임  을 ");
        assert_eq!(fold("น้ำ"), " น้  ำ ");
    }

    #[test]
    fn each_word_says_whose_it_is() {
        assert_eq!(under("p1t", "Let's go: 東京"), "p1tLet p1ts p1tgo p1t東 p1t京 ");
    }

    proptest! {
        #[test]
        fn words_of_a_place_are_a_safe_phrase_for_the_index(text in ".{0,60}") {
            let db = rusqlite::Connection::open_in_memory().unwrap();
            db.execute_batch("CREATE VIRTUAL TABLE t USING fts5(body, tokenize='porter unicode61 remove_diacritics 2')").unwrap();
            let phrase = format!("\"{}\"", under("p1t", &text).trim_end());
            let found: i64 = db.query_row("SELECT count(*) FROM t WHERE t MATCH ?1", [phrase], |row| row.get(0)).unwrap();
            prop_assert_eq!(found, 0);
        }
    }
}
