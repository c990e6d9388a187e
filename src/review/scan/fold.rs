//! One letter for all that look or mean the same.
//!
//! Two steps, because the second requires the whole word: [`plain`] removes style (full width,
//! mathematical and circled letters, ligatures), [`latin`] replaces a letter of another script with
//! the Latin one that it resembles. The tables cover common disguises; they are not a copy of
//! Unicode's list of confusable characters.

/// Appends the character without style, in lower case, to `out`.
pub(super) fn plain(c: char, out: &mut String) {
    match c {
        'a'..='z' | '0'..='9' | ' '..='@' => out.push(c),
        'A'..='Z' => out.push(c.to_ascii_lowercase()),
        'ﬀ' => out.push_str("ff"),
        'ﬁ' => out.push_str("fi"),
        'ﬂ' => out.push_str("fl"),
        'ﬃ' => out.push_str("ffi"),
        'ﬄ' => out.push_str("ffl"),
        'ß' | 'ẞ' => out.push_str("ss"),
        'æ' | 'Æ' => out.push_str("ae"),
        'œ' | 'Œ' => out.push_str("oe"),
        c => match styled(c) {
            Some(bare) => out.push(bare.to_ascii_lowercase()),
            None => out.extend(c.to_lowercase()),
        },
    }
}

/// Returns the ASCII character of which this is a full-width, mathematical, circled, squared or
/// small form.
pub(super) fn styled(c: char) -> Option<char> {
    let code = u32::from(c);
    let letter = |base: u8, offset: u32| char::from_u32(u32::from(base) + offset);
    match code {
        0xFF01..=0xFF5E => char::from_u32(code - 0xFEE0),
        0x1D400..=0x1D6A3 => {
            let offset = (code - 0x1D400) % 52;
            if offset < 26 { letter(b'A', offset) } else { letter(b'a', offset - 26) }
        }
        0x1D7CE..=0x1D7FF => letter(b'0', (code - 0x1D7CE) % 10),
        0x24B6..=0x24CF => letter(b'A', code - 0x24B6),
        0x24D0..=0x24E9 => letter(b'a', code - 0x24D0),
        0x249C..=0x24B5 => letter(b'a', code - 0x249C),
        0x1F110..=0x1F129 => letter(b'A', code - 0x1F110),
        0x1F130..=0x1F149 => letter(b'A', code - 0x1F130),
        0x1F150..=0x1F169 => letter(b'A', code - 0x1F150),
        0x1F170..=0x1F189 => letter(b'A', code - 0x1F170),
        0x1F1E6..=0x1F1FF => letter(b'A', code - 0x1F1E6),
        _ => one_of(
            c,
            &[
                ("ℬ", 'b'),
                ("ℰℯ", 'e'),
                ("ℱ", 'f'),
                ("ℊɡ", 'g'),
                ("ℋℌℍℎ", 'h'),
                ("ℐℑıɩⅰ", 'i'),
                ("ℒℓⅼ", 'l'),
                ("ℳⅿ", 'm'),
                ("ℕⁿ", 'n'),
                ("ℴ", 'o'),
                ("ℙ", 'p'),
                ("ℚ", 'q'),
                ("ℛℜℝ", 'r'),
                ("ℤℨ", 'z'),
                ("ᴀ", 'a'),
                ("ʙ", 'b'),
                ("ᴄⅽ", 'c'),
                ("ᴅⅾ", 'd'),
                ("ᴇ", 'e'),
                ("ꜰ", 'f'),
                ("ɢ", 'g'),
                ("ʜ", 'h'),
                ("ɪ", 'i'),
                ("ᴊ", 'j'),
                ("ᴋ", 'k'),
                ("ʟ", 'l'),
                ("ᴍ", 'm'),
                ("ɴ", 'n'),
                ("ᴏ", 'o'),
                ("ᴘ", 'p'),
                ("ʀ", 'r'),
                ("ꜱ", 's'),
                ("ᴛ", 't'),
                ("ᴜ", 'u'),
                ("ᴠⅴ", 'v'),
                ("ᴡ", 'w'),
                ("ʏ", 'y'),
                ("ᴢ", 'z'),
                ("‐‑‒–—−", '-'),
                ("‘’ʼ＇", '\''),
                ("“”„", '"'),
                ("∕⁄", '/'),
                ("։∶", ':'),
            ],
        ),
    }
}

/// Returns the Latin letter that a lower-case Cyrillic, Greek, Armenian or Cherokee letter
/// resembles.
pub(super) fn latin(c: char) -> Option<char> {
    one_of(
        c,
        &[
            ("аαɑ", 'a'),
            ("ьƅ", 'b'),
            ("сϲ", 'c'),
            ("ԁ", 'd'),
            ("еєҽ", 'e'),
            ("ց", 'g'),
            ("һհ", 'h'),
            ("іιї", 'i'),
            ("јϳ", 'j'),
            ("кκ", 'k'),
            ("ӏ", 'l'),
            ("мϻ", 'm'),
            ("пոη", 'n'),
            ("оοօσ", 'o'),
            ("рρ", 'p'),
            ("ԛզ", 'q'),
            ("гг", 'r'),
            ("ѕ", 's'),
            ("тτ", 't'),
            ("υս", 'u'),
            ("νѵ", 'v'),
            ("ԝѡωш", 'w'),
            ("хχ", 'x'),
            ("уγү", 'y'),
            ("ᴢ", 'z'),
            ("вβ", 'b'),
            ("нн", 'h'),
        ],
    )
}

/// Returns a Latin letter without its diacritic, such as `e` for `é`.
pub(super) fn bare(c: char) -> char {
    one_of(
        c,
        &[
            ("àáâãäåāăąǎ", 'a'),
            ("çćĉċč", 'c'),
            ("ďđð", 'd'),
            ("èéêëēĕėęěẽẹ", 'e'),
            ("ĝğġģ", 'g'),
            ("ĥħ", 'h'),
            ("ìíîïĩīĭįǐ", 'i'),
            ("ĵ", 'j'),
            ("ķ", 'k'),
            ("ĺļľł", 'l'),
            ("ñńņňṅ", 'n'),
            ("òóôõöøōŏőơọǒ", 'o'),
            ("ŕŗřṛ", 'r'),
            ("śŝşšș", 's'),
            ("ţťŧț", 't'),
            ("ùúûüũūŭůűųưǔ", 'u'),
            ("ŵ", 'w'),
            ("ýÿŷ", 'y'),
            ("źżž", 'z'),
            ("ё", 'е'),
        ],
    )
    .unwrap_or(c)
}

/// Returns whether the character combines with the letter before it.
pub(super) fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36F | 0x483..=0x489 | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20F0 | 0xFE20..=0xFE2F)
}

fn one_of(c: char, table: &[(&str, char)]) -> Option<char> {
    // Most texts in other scripts are outside the tables.
    if c.is_ascii() || matches!(u32::from(c), 0x2E80..=0xA72F | 0xAC00..=0x10FFFF) {
        return None;
    }
    table.iter().find(|(alike, _)| alike.contains(c)).map(|(_, letter)| *letter)
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
