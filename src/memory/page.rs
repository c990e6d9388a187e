//! What goes into a prompt of a file: readable text without its comments, and not too much of it.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::text::cut_bytes;

/// The most of one file that is loaded, in bytes.
pub(super) const MAX_TEXT: usize = 64 * 1024;

/// One version of a file.
#[derive(Debug)]
pub(super) struct Page {
    /// Where it really lies.
    pub inside: String,
    /// SHA-256 of all its bytes.
    pub digest: String,
    /// What goes into a prompt.
    pub text: Arc<str>,
    /// What is missing in the text and why.
    pub notes: Vec<String>,
}

impl Page {
    /// The page of a file's bytes; `name` is how the person whose file it is finds it.
    pub(super) fn of(inside: String, name: &str, bytes: &[u8]) -> Self {
        let mut notes = Vec::new();
        let words = String::from_utf8_lossy(bytes);
        if std::str::from_utf8(bytes).is_err() {
            notes.push(format!("{name} holds bytes that are not UTF-8; they are shown as \u{fffd}"));
        }
        let mut text = without_comments(words.trim_start_matches('\u{feff}'));
        if text.len() > MAX_TEXT {
            let kept = cut_bytes(&text, MAX_TEXT);
            let count = kept.chars().count();
            notes.push(format!("{name} is too long and was cut after {count} characters"));
            text = format!("{kept}\n\n(cut after {count} characters; the rest is in {name})");
        }
        Self { inside, digest: digest(bytes), text: Arc::from(text), notes }
    }
}

/// SHA-256 as lower-case hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The text without `<!-- … -->`; a comment that has its lines to itself takes them along. One that never ends is text.
pub fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once("<!--") {
        let Some((_, after)) = inner.split_once("-->") else {
            break;
        };
        kept.push_str(before);
        let alone = kept.is_empty() || kept.ends_with('\n');
        rest = if alone {
            after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after)
        } else {
            after
        };
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(bytes: &[u8]) -> String {
        Page::of("USER.md".to_owned(), "USER.md", bytes).text.to_string()
    }

    #[test]
    fn comments_are_left_out() {
        for (written, shown) in [
            ("a\n<!-- one\ntwo -->\nb\n", "a\nb\n"),
            ("a <!-- x --> b", "a  b"),
            ("<!--a--><!--b-->c", "c"),
            ("<!-- never ends", "<!-- never ends"),
            ("--> a <!-- b -->", "--> a "),
            ("<!-->\na", "<!-->\na"),
            ("\u{feff}# Hello", "# Hello"),
        ] {
            assert_eq!(text(written.as_bytes()), shown, "{written}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut_at_a_character_and_says_so() {
        let page = Page::of("x".to_owned(), "memory/MEMORY.md", "é".repeat(MAX_TEXT).as_bytes());
        assert!(page.text.ends_with("é\n\n(cut after 32768 characters; the rest is in memory/MEMORY.md)"));
        assert_eq!(page.notes, ["memory/MEMORY.md is too long and was cut after 32768 characters"]);
        let page = Page::of("x".to_owned(), "x", "a".repeat(MAX_TEXT).as_bytes());
        assert!(page.notes.is_empty() && page.text.len() == MAX_TEXT);
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_and_noted() {
        let page = Page::of("x".to_owned(), "USER.md", b"caf\xe9 au lait");
        assert_eq!(&*page.text, "caf\u{fffd} au lait");
        assert_eq!(page.notes.len(), 1);
    }

    #[test]
    fn the_digest_is_that_of_all_bytes() {
        assert_eq!(digest(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    proptest! {
        #[test]
        fn any_bytes_make_a_page(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let page = Page::of("x".to_owned(), "x", &bytes);
            prop_assert_eq!(page.notes.is_empty(), std::str::from_utf8(&bytes).is_ok());
        }
    }
}
