//! Decodes bytes to text by the character sets of the web. An unknown set is refused by name, since
//! mojibake would be taken for the page's words. A byte order mark takes precedence over the
//! header, the header over the page's own declaration; the default is UTF-8. Invalid bytes become
//! U+FFFD.

use encoding_rs::{Encoding, REPLACEMENT, UTF_8};

/// The number of bytes searched for a page's own declaration.
const DECLARATION_WITHIN: usize = 2048;

/// Decodes `bytes`; `header` is the character set in the response header.
///
/// # Errors
/// The name of an unsupported character set.
pub fn decode(bytes: &[u8], header: Option<&str>) -> Result<String, String> {
    let label = header.map(str::to_owned).or_else(|| declared(bytes)).unwrap_or_default();
    let label = label.trim().to_ascii_lowercase();
    let set = match label.as_str() {
        "" => Some(UTF_8),
        // Names in use that the web's list lacks.
        "latin-1" => Encoding::for_label(b"latin1"),
        "latin9" => Encoding::for_label(b"l9"),
        label => Encoding::for_label(label.as_bytes()),
    };
    if let Some((marked, _)) = Encoding::for_bom(bytes) {
        return Ok(marked.decode(bytes).0.into_owned());
    }
    let set = set.filter(|set| *set != REPLACEMENT).ok_or(label)?;
    Ok(set.decode(bytes).0.into_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_honoured_in_their_order() {
        type Case<'a> = (&'a [u8], Option<&'a str>, Result<&'a str, &'a str>);
        let cases: [Case; 16] = [
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
            (b"\xa4", Some("latin9"), Ok("€")),
            (b"caf\xe9", Some("latin-1"), Ok("café")),
            (b"\x93\xfa\x96\x7b", Some("shift_jis"), Ok("日本")),
            (b"<meta charset=koi8-r>\xc4\xc1", None, Ok("<meta charset=koi8-r>да")),
            (b"x", Some("iso-2022-kr"), Err("iso-2022-kr")),
            (b"<meta http-equiv=x content='text/html; charset=utf-7'>", None, Err("utf-7")),
        ];
        for (bytes, header, expected) in cases {
            assert_eq!(decode(bytes, header), expected.map(str::to_owned).map_err(str::to_owned), "{bytes:?}");
        }
    }
}
