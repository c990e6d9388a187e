//! One letter for all that look or mean the same.
//!
//! Two steps, because the second requires the whole word: [`plain`] removes style (full width,
//! mathematical and circled letters, ligatures), [`latin`] replaces a letter of another script with
//! the Latin one that it resembles. Both go by Unicode's own tables, compatibility decomposition
//! and the list of confusable characters; ours only add what these lack.

pub(super) use unicode_normalization::char::is_combining_mark as is_mark;
use unicode_normalization::char::{decompose_canonical, decompose_compatible};
use unicode_security::confusable_detection;

/// Small capitals, in the order of the alphabet. Unicode counts hardly any of them as confusable.
const SMALL_CAPITALS: &str = "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ";

/// Lower-case letters that resemble Latin ones, of which Unicode lists only the capitals or another
/// look.
const ALIKE: &[(&str, char)] = &[
    ("βвьƅ", 'b'),
    ("є", 'e'),
    ("н", 'h'),
    ("κк", 'k'),
    ("ϻм", 'm'),
    ("п", 'n'),
    ("τт", 't'),
    ("ωш", 'w'),
    ("χ", 'x'),
];

/// Appends the character without style, in lower case, to `out`.
pub(super) fn plain(c: char, out: &mut String) {
    match c {
        ..='\u{7f}' => out.push(c.to_ascii_lowercase()),
        'ß' | 'ẞ' => out.push_str("ss"),
        'æ' | 'Æ' => out.push_str("ae"),
        'œ' | 'Œ' => out.push_str("oe"),
        '—' => out.push('-'),
        '“' | '”' | '„' => out.push('"'),
        c => match unstyled(c) {
            Some(bare) => out.push_str(&bare.to_ascii_lowercase()),
            None => out.extend(c.to_lowercase()),
        },
    }
}

/// Returns the ASCII text of which this is another form, such as full width, a circled letter, a
/// small capital, a ligature or a typographic sign.
fn unstyled(c: char) -> Option<String> {
    // Dark circles, dark squares and flags; Unicode decomposes only the light ones.
    let letter = match u32::from(c) {
        code @ 0x1F150..=0x1F169 => u8::try_from(code - 0x1F150).ok(),
        code @ 0x1F170..=0x1F189 => u8::try_from(code - 0x1F170).ok(),
        code @ 0x1F1E6..=0x1F1FF => u8::try_from(code - 0x1F1E6).ok(),
        _ => SMALL_CAPITALS.chars().zip(0..).find(|(small, _)| *small == c).map(|(_, letter)| letter),
    };
    if let Some(letter) = letter {
        return Some(char::from(b'a' + letter).to_string());
    }
    let mut form = String::new();
    decompose_compatible(c, |part| form.push(part));
    let in_parentheses = form.strip_prefix('(').and_then(|form| form.strip_suffix(')'));
    if let Some(inside) = in_parentheses.filter(|inside| inside.is_ascii()) {
        return Some(inside.to_owned());
    }
    // A sign such as `™` stays one, so that it does not become a part of the word before it.
    if form.is_ascii() && (form.len() == 1 || c.is_alphabetic()) {
        return Some(form);
    }
    let is_sign = |alike: &char| alike.is_ascii_punctuation() && !c.is_alphanumeric();
    confusable(c).filter(|alike| is_sign(alike) || matches!(c, 'ı' | 'ɡ' | 'ɩ' | 'ʼ')).map(String::from)
}

/// Returns the Latin letter that a lower-case Cyrillic, Greek, Armenian, Coptic or Cherokee letter
/// resembles.
pub(super) fn latin(c: char) -> Option<char> {
    let has_doubles =
        matches!(u32::from(c), 0x370..=0x58F | 0x13A0..=0x13FF | 0x1F00..=0x1FFF | 0x2C80..=0x2CFF | 0xAB70..=0xABBF);
    if !has_doubles && !matches!(c, 'ɑ' | 'ƅ') {
        return None;
    }
    let listed = ALIKE.iter().find(|(alike, _)| alike.contains(c)).map(|(_, letter)| *letter);
    listed.or_else(|| confusable(c).filter(char::is_ascii_lowercase))
}

/// Returns the ASCII character with which Unicode says that this one can be confused.
fn confusable(c: char) -> Option<char> {
    let mut buffer = [0; 4];
    let mut skeleton = confusable_detection::skeleton(c.encode_utf8(&mut buffer)).filter(|part| !is_mark(*part));
    skeleton.next().filter(|alike| alike.is_ascii() && skeleton.next().is_none())
}

/// Returns a Latin letter without its diacritic, such as `e` for `é`.
pub(super) fn bare(c: char) -> char {
    match c {
        c if c.is_ascii() => c,
        'đ' | 'ð' => 'd',
        'ħ' => 'h',
        'ł' => 'l',
        'ø' => 'o',
        'ŧ' => 't',
        'ё' => 'е',
        c => {
            let mut first = None;
            decompose_canonical(c, |part| {
                first.get_or_insert(part);
            });
            first.filter(char::is_ascii_alphabetic).unwrap_or(c)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_and_scripts_fold() {
        let mut out = String::new();
        "Ｉｇ𝐧𝐨𝓻ⓔ ﬁＬᴇ".chars().for_each(|c| plain(c, &mut out));
        assert_eq!(out, "ignore file");
        assert_eq!("рауρаӏ".chars().filter_map(latin).collect::<String>(), "paypal");
        assert_eq!("éñü".chars().map(bare).collect::<String>(), "enu");
    }
}
