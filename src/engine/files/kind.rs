//! What a received file is, by its bytes first and by what its sender says of it only where the
//! bytes leave it open.
//!
//! Text is read here, because decoding it can neither fail badly nor take long; whatever needs a
//! parser is a [`Document`] and is read elsewhere.

use super::reader::Document;
use crate::tool::web::decode;

/// How far into a file the mark of a PDF is looked for; some programs put a line before it.
const MARK_WITHIN: usize = 1024;
/// How far into a text it is looked for what a page begins with.
const PAGE_WITHIN: usize = 512;
/// Endings of names that stand for text.
const TEXT_ENDINGS: [&str; 16] = [
    "txt", "text", "md", "markdown", "csv", "tsv", "json", "jsonl", "xml", "yaml", "yml", "toml", "log", "ini", "srt",
    "ics",
];
/// The set that text without any mark is taken for when it is not UTF-8.
const WESTERN: &str = "windows-1252";

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DocumentKind {
    /// Words, in the file just as they are.
    Plain(String),
    /// Words, in another spelling than the one that everybody reads.
    Foreign(String),
    /// Something that a parser has to read.
    Document(Document),
    /// Nothing that can be read.
    Unknown,
}

impl DocumentKind {
    /// What these bytes are, if they came under that type and name.
    pub(super) fn of(bytes: &[u8], mime: &str, name: &str) -> Self {
        let start = bytes.get(..MARK_WITHIN).unwrap_or(bytes);
        if start.windows(5).any(|five| five == b"%PDF-") {
            return Self::Document(Document::Pdf);
        }
        let mime = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
        if mime == "application/pdf" || ending == "pdf" {
            return Self::Document(Document::Pdf);
        }
        if is_page(start, &mime, &ending) {
            return Self::Document(Document::Html);
        }
        match std::str::from_utf8(bytes) {
            Ok(words) if is_text(words) => return Self::Plain(words.to_owned()),
            Ok(_) => return Self::Unknown,
            Err(_) => {}
        }
        let claims = mime.starts_with("text/") || mime.contains("json") || TEXT_ENDINGS.contains(&ending.as_str());
        let marked = bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF");
        if !claims && !marked {
            return Self::Unknown;
        }
        match decoded(bytes, marked) {
            Some(words) if is_text(&words) => Self::Foreign(words),
            _ => Self::Unknown,
        }
    }
}

fn is_page(start: &[u8], mime: &str, ending: &str) -> bool {
    if matches!(mime, "text/html" | "application/xhtml+xml") || matches!(ending, "html" | "htm" | "xhtml") {
        return true;
    }
    let start = String::from_utf8_lossy(start.get(..PAGE_WITHIN).unwrap_or(start));
    let start = start.trim_start_matches('\u{feff}').trim_start();
    ["<!doctype html", "<html"]
        .iter()
        .any(|mark| start.get(..mark.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(mark)))
}

/// Bytes that are not wholly UTF-8 as text: a few bad ones among many good ones were UTF-8 once,
/// all others are taken for the Western set.
fn decoded(bytes: &[u8], marked: bool) -> Option<String> {
    let lossy = String::from_utf8_lossy(bytes);
    let bad = lossy.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    let good = lossy.chars().filter(|c| !c.is_ascii() && *c != char::REPLACEMENT_CHARACTER).count();
    if !marked && good > bad {
        return Some(lossy.into_owned());
    }
    decode(bytes, (!marked).then_some(WESTERN)).ok()
}

/// Whether a person could have written it: not one zero, and hardly a control character.
fn is_text(words: &str) -> bool {
    let strange = words.chars().filter(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}')).count();
    !words.contains('\0') && strange * 50 <= words.chars().count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn utf16(words: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        std::iter::once(0xFEFF).chain(words.encode_utf16()).flat_map(bytes).collect()
    }

    #[test]
    fn each_kind_is_told_by_its_bytes_before_its_name() {
        let pdf = || DocumentKind::Document(Document::Pdf);
        let page = || DocumentKind::Document(Document::Html);
        let plain = |words: &str| DocumentKind::Plain(words.to_owned());
        let foreign = |words: &str| DocumentKind::Foreign(words.to_owned());
        for (bytes, mime, name, kind) in [
            (&b"%PDF-1.7 x"[..], "text/plain", "a.txt", pdf()),
            (b"\n\n%PDF-1.4", "", "", pdf()),
            (b"no mark", "application/pdf", "", pdf()),
            (b"<!DOCTYPE html><p>x", "", "", page()),
            (b"  <HTML lang=en>", "application/octet-stream", "x", page()),
            (b"hello", "text/html; charset=utf-8", "", page()),
            (b"hello", "", "a.HTM", page()),
            (b"a,b\n1,\"2\n3\"\n", "text/csv", "a.csv", plain("a,b\n1,\"2\n3\"\n")),
            (b"{\"a\": [1]}", "application/json", "a.json", plain("{\"a\": [1]}")),
            (b"# Title", "", "", plain("# Title")),
            (b"\x7fELF\0\0\0", "text/plain", "a.txt", DocumentKind::Unknown),
            (b"a\0b", "text/plain", "", DocumentKind::Unknown),
            (b"\x89PNG\r\n\x1a\n", "", "a.png", DocumentKind::Unknown),
            (b"caf\xe9 \x80 5", "text/plain", "", foreign("café € 5")),
            (b"caf\xe9", "", "", DocumentKind::Unknown),
            (b"Z\xc3\xbcrich, Gr\xc3\xb6\xc3\x9fe \xff", "", "a.txt", foreign("Zürich, Größe \u{fffd}")),
        ] {
            assert_eq!(DocumentKind::of(bytes, mime, name), kind, "{mime} {name} {bytes:?}");
        }
        for bytes in [utf16("Grüße, 世界", u16::to_le_bytes), utf16("Grüße, 世界", u16::to_be_bytes)] {
            assert_eq!(DocumentKind::of(&bytes, "", "x"), DocumentKind::Foreign("Grüße, 世界".to_owned()));
        }
    }

    #[test]
    fn text_of_any_depth_is_text() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(DocumentKind::of(deep.as_bytes(), "application/json", "a.json"), DocumentKind::Plain(deep));
    }

    proptest! {
        #[test]
        fn any_bytes_are_something(bytes in prop::collection::vec(any::<u8>(), 0..300), mime in "[a-z/;=-]{0,20}", name in ".{0,20}") {
            match DocumentKind::of(&bytes, &mime, &name) {
                DocumentKind::Plain(words) => prop_assert_eq!(words.as_bytes(), &bytes[..]),
                DocumentKind::Foreign(words) => prop_assert!(!words.contains('\0')),
                DocumentKind::Document(_) | DocumentKind::Unknown => {}
            }
        }

        #[test]
        fn what_was_written_in_utf_16_is_read(words in "[^\0\\p{Cc}]{1,40}") {
            prop_assert_eq!(DocumentKind::of(&utf16(&words, u16::to_le_bytes), "", ""), DocumentKind::Foreign(words));
        }
    }
}
