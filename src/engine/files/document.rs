//! Kinds of received files, and the text of a document, page by page.
//!
//! The kind is detected by the bytes first, and by the sender's claims only where the bytes are
//! ambiguous. Text is decoded here, because decoding can neither fail badly nor take long; a format
//! that needs a parser is a [`Document`] and is read in [`super::reader`]'s child process.
//!
//! Nothing here defends that process. A parser may panic on a page, which loses the page; worse
//! failures end the process, which exists to absorb them. The output has no control characters and
//! no spelling that search would not recognise.

pub use super::parsed::Unread;
use super::parsed::{caught, plain};
use super::reader::Document;
use super::{office, pdf};
use crate::message::file_type;
use crate::tool::web::{self, decode};

/// Passes the text of each page to `each` as soon as it is extracted. Stops when it returns
/// `false`.
///
/// # Errors
/// If the document, or one of its pages, could not be read. The pages before that count.
pub fn read(kind: Document, bytes: &[u8], mut each: impl FnMut(&str) -> bool) -> Result<(), Unread> {
    match kind {
        Document::Html => {
            let page = web::decode(bytes, None).map_err(|_| Unread::Broken)?;
            let words = web::whole(&page).map_err(|_| Unread::Broken)?;
            each(&words);
            Ok(())
        }
        Document::Pdf => pdf::read(bytes, each),
        Document::Office => {
            let read = caught(|| office::read(bytes, &mut |words: &str| each(&plain(words))).ok());
            read.ok_or(Unread::Broken)
        }
    }
}

/// Range in which the PDF signature is searched; some programs put a line before it.
const MARK_WITHIN: usize = 1024;
/// Range in which the beginning of an HTML page is searched.
const PAGE_WITHIN: usize = 512;
/// File extensions that stand for text.
const TEXT_ENDINGS: [&str; 16] = [
    "txt", "text", "md", "markdown", "csv", "tsv", "json", "jsonl", "xml", "yaml", "yml", "toml", "log", "ini", "srt",
    "ics",
];
/// Parts of MIME types, and file extensions, of office documents.
const OFFICE_TYPES: [&str; 4] = ["wordprocessingml", "spreadsheetml", "opendocument.text", "opendocument.spreadsheet"];
const OFFICE_ENDINGS: [&str; 6] = ["docx", "docm", "xlsx", "xlsm", "odt", "ods"];
/// Place of the name of an archive's first entry.
const FIRST_NAME: usize = 30;
/// Encoding assumed for text without a byte order mark that is not UTF-8.
const WESTERN: &str = "windows-1252";

/// Content of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DocumentKind {
    /// Text, verbatim in the file.
    Plain(String),
    /// Text in another encoding than UTF-8.
    Foreign(String),
    /// Document that needs a parser.
    Document(Document),
    /// Unsupported format.
    Unknown,
}

impl DocumentKind {
    /// Detects the kind of these bytes, given the declared type and name.
    pub(super) fn of(bytes: &[u8], mime: &str, name: &str) -> Self {
        let start = bytes.get(..MARK_WITHIN).unwrap_or(bytes);
        if start.windows(5).any(|five| five == b"%PDF-") {
            return Self::Document(Document::Pdf);
        }
        let (mime, ending) = (file_type::bare(mime), file_type::extension(name));
        if mime == "application/pdf" || ending == "pdf" {
            return Self::Document(Document::Pdf);
        }
        if is_office(start, &mime, &ending) {
            return Self::Document(Document::Office);
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

/// Returns true for an archive that is, or claims to be, an office document with text.
fn is_office(start: &[u8], mime: &str, ending: &str) -> bool {
    let begins = |mark: &[u8]| start.get(FIRST_NAME..).is_some_and(|name| name.starts_with(mark));
    start.starts_with(b"PK\x03\x04")
        && (OFFICE_TYPES.iter().any(|kind| mime.contains(kind))
            || OFFICE_ENDINGS.contains(&ending)
            || begins(b"mimetypeapplication/vnd.oasis.opendocument.")
            || begins(b"[Content_Types].xml"))
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

/// Decodes bytes that are not valid UTF-8: if most non-ASCII characters are valid, as damaged
/// UTF-8, otherwise as the Western encoding.
fn decoded(bytes: &[u8], marked: bool) -> Option<String> {
    let lossy = String::from_utf8_lossy(bytes);
    let bad = lossy.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    let good = lossy.chars().filter(|c| !c.is_ascii() && *c != char::REPLACEMENT_CHARACTER).count();
    if !marked && good > bad {
        return Some(lossy.into_owned());
    }
    decode(bytes, (!marked).then_some(WESTERN)).ok()
}

/// Returns true for plausible text: no NUL, and hardly any control characters.
fn is_text(words: &str) -> bool {
    let strange = words.chars().filter(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}')).count();
    !words.contains('\0') && strange * 50 <= words.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn utf16(words: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        std::iter::once(0xFEFF).chain(words.encode_utf16()).flat_map(bytes).collect()
    }

    #[test]
    fn the_document_kind_is_taken_from_the_bytes_before_the_name() {
        let pdf = || DocumentKind::Document(Document::Pdf);
        let page = || DocumentKind::Document(Document::Html);
        let plain = |words: &str| DocumentKind::Plain(words.to_owned());
        let foreign = |words: &str| DocumentKind::Foreign(words.to_owned());
        for (bytes, mime, name, kind) in [
            (&b"%PDF-1.7 x"[..], "text/plain", "a.txt", pdf()),
            (b"\n\n%PDF-1.4", "", "", pdf()),
            (b"no mark", "application/pdf", "", pdf()),
            (b"PK\x03\x04 x", "", "a.docx", DocumentKind::Document(Document::Office)),
            (b"PK\x03\x04 x", "application/vnd.oasis.opendocument.text", "", DocumentKind::Document(Document::Office)),
            (b"PK\x03\x04 x", "application/zip", "a.zip", DocumentKind::Unknown),
            (b"no archive", "", "a.docx", plain("no archive")),
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
        fn utf_16_text_is_read(words in "[^\0\\p{Cc}]{1,40}") {
            prop_assert_eq!(DocumentKind::of(&utf16(&words, u16::to_le_bytes), "", ""), DocumentKind::Foreign(words));
        }
    }
}
