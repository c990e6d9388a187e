//! Decodes bytes to text. UTF-8, UTF-16 and the Western single-byte sets are supported; any other
//! declared set is refused by name, since mojibake would be taken for the page's words. A byte
//! order mark takes precedence over the header, the header over the page's own declaration; the
//! default is UTF-8. Invalid bytes become U+FFFD.

/// The number of bytes searched for a page's own declaration.
const DECLARATION_WITHIN: usize = 2048;

/// The meaning of 0x80..=0x9F in windows-1252, which is what `latin1` means on the web.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Decodes `bytes`; `header` is the character set in the response header.
///
/// # Errors
/// The name of an unsupported character set.
pub fn decode(bytes: &[u8], header: Option<&str>) -> Result<String, String> {
    if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF") {
        return Ok(String::from_utf8_lossy(rest).into_owned());
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE") {
        return Ok(utf16(rest, u16::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\xFE\xFF") {
        return Ok(utf16(rest, u16::from_be_bytes));
    }
    let label = header.map(str::to_owned).or_else(|| declared(bytes)).unwrap_or_default();
    match label.trim().to_ascii_lowercase().as_str() {
        "" | "utf-8" | "utf8" => Ok(String::from_utf8_lossy(bytes).into_owned()),
        "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "latin-1" | "l1" | "us-ascii" | "ascii"
        | "windows-1252" | "cp1252" | "x-cp1252" => Ok(bytes.iter().map(|byte| western(*byte)).collect()),
        "iso-8859-15" | "iso8859-15" | "iso_8859-15" | "latin9" | "l9" => {
            Ok(bytes.iter().map(|byte| western_with_euro(*byte)).collect())
        }
        "utf-16" | "utf-16le" => Ok(utf16(bytes, u16::from_le_bytes)),
        "utf-16be" => Ok(utf16(bytes, u16::from_be_bytes)),
        other => Err(other.to_owned()),
    }
}

/// Returns the character set that an HTML `meta` names within the first bytes. A page whose `meta`
/// is readable is not UTF-16.
fn declared(bytes: &[u8]) -> Option<String> {
    let start = bytes.get(..DECLARATION_WITHIN).unwrap_or(bytes);
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let (_, after) = start.split_once("<meta").and_then(|(_, metas)| metas.split_once("charset="))?;
    let label: String = after
        .trim_start_matches(['"', '\'', ' '])
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .collect();
    (!label.is_empty() && !label.starts_with("utf-16")).then_some(label)
}

fn western(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252.get(usize::from(byte - 0x80)).copied().unwrap_or(char::REPLACEMENT_CHARACTER),
        _ => char::from(byte),
    }
}

fn western_with_euro(byte: u8) -> char {
    match byte {
        0xa4 => '€',
        0xa6 => 'Š',
        0xa8 => 'š',
        0xb4 => 'Ž',
        0xb8 => 'ž',
        0xbc => 'Œ',
        0xbd => 'œ',
        0xbe => 'Ÿ',
        _ => char::from(byte),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, _) = bytes.as_chunks::<2>();
    char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .map(|decoded| decoded.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_honoured_in_their_order() {
        type Case<'a> = (&'a [u8], Option<&'a str>, Result<&'a str, &'a str>);
        let cases: [Case; 12] = [
            (b"caf\xe9", Some("ISO-8859-1"), Ok("café")),
            (b"\x80 \x93x\x94", Some("windows-1252"), Ok("€ “x”")),
            (b"\xa4", Some("iso-8859-15"), Ok("€")),
            ("café".as_bytes(), None, Ok("café")),
            (b"caf\xe9!", None, Ok("caf\u{fffd}!")),
            (b"\xEF\xBB\xBFcaf\xc3\xa9", Some("latin1"), Ok("café")),
            (b"\xFF\xFEa\0b\0\xe9\0", None, Ok("abé")),
            (b"\xFE\xFF\0a\xd8\0", None, Ok("a\u{fffd}")),
            (b"<meta charset='latin1'>\xe9", None, Ok("<meta charset='latin1'>é")),
            (b"<meta charset=latin1>\xc3\xa9", Some("utf-8"), Ok("<meta charset=latin1>é")),
            (b"x", Some("shift_jis"), Err("shift_jis")),
            (b"<meta http-equiv=x content='text/html; charset=koi8-r'>", None, Err("koi8-r")),
        ];
        for (bytes, header, expected) in cases {
            assert_eq!(decode(bytes, header), expected.map(str::to_owned).map_err(str::to_owned), "{bytes:?}");
        }
    }
}
