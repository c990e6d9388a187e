//! Malformed documents: reading always ends, with text or with a reason.

use std::path::Path;
use std::time::Duration;

use compline::engine::files::document::{Unread, read};
use compline::engine::files::reader::{Document, DocumentContent, DocumentReader};
use compline::time::SystemClock;
use flate2::{Compress, Compression, FlushCompress};
use proptest::prelude::*;

use crate::support::pdf::{LOCK, locked, of_objects, of_streams, pdf};

/// Content that the program reads from the bytes.
async fn found(kind: Document, bytes: &[u8]) -> DocumentContent {
    let reader = DocumentReader::new(Path::new(env!("CARGO_BIN_EXE_compline")));
    let clock = SystemClock::default();
    let reading = reader.read(&clock, kind, bytes);
    tokio::time::timeout(Duration::from_secs(100), reading).await.expect("it never ended")
}

fn words(text: &str) -> DocumentContent {
    DocumentContent::Words { text: text.to_owned(), whole: true }
}

/// Text read from the bytes in this process.
fn taken(kind: Document, bytes: &[u8]) -> (String, Result<(), Unread>) {
    let mut all = String::new();
    let end = read(kind, bytes, |words| {
        all.push_str(words);
        all.push('\n');
        true
    });
    (all, end)
}

/// Archive with about a megabyte of zeros per kilobyte.
fn bomb(megabytes: usize) -> Vec<u8> {
    let mut compress = Compress::new(Compression::fast(), true);
    let zeros = vec![0; 1 << 20];
    let mut chunk = Vec::with_capacity(1 << 20);
    compress.compress_vec(&zeros, &mut chunk, FlushCompress::Full).unwrap();
    let (head, chunk) = chunk.split_at(2);
    [head, &chunk.repeat(megabytes), &[3, 0]].concat()
}

#[tokio::test]
async fn a_pdf_is_read_page_by_page() {
    let bytes = pdf(&["The bill of March\nis (still) unpaid.", "Second page: 12 \\ 3"]);
    let read = words("The bill of March\nis (still) unpaid.\n\nSecond page: 12 \\ 3");
    assert_eq!(found(Document::Pdf, &bytes).await, read);
}

#[tokio::test]
async fn a_web_page_is_read_without_its_invisible_parts() {
    let page = "<!doctype html><title>x</title><script>steal()</script><style>p{}</style><!-- hidden --><p>Tea &amp; <b>cake</b></p>\
        <table><tr><td>one<td>two</table><a href='https://a.example/'>a link</a>";
    let DocumentContent::Words { text, whole } = found(Document::Html, page.as_bytes()).await else {
        panic!("no words")
    };
    assert!(whole && text.contains("Tea & ") && text.contains("a link <https://a.example/>"), "{text}");
    assert!(!text.contains("steal") && !text.contains("hidden") && !text.contains("p{"), "{text}");
}

#[tokio::test]
async fn a_document_without_text_is_distinguished_from_a_broken_one() {
    assert_eq!(found(Document::Pdf, &of_streams(&[("", b"0 0 100 100 re f")], "")).await, DocumentContent::Nothing);
    assert_eq!(found(Document::Pdf, b"%PDF-1.7\nnothing of the kind").await, DocumentContent::Broken);
    assert_eq!(found(Document::Pdf, b"").await, DocumentContent::Broken);
    assert_eq!(found(Document::Html, b"<script>all of it</script>").await, DocumentContent::Nothing);
}

#[tokio::test]
async fn a_locked_document_is_recognised() {
    assert_eq!(found(Document::Pdf, &locked(LOCK)).await, DocumentContent::Locked);
}

/// Promise (files/malicious-documents): No document, however broken or malicious, stops the
/// assistant.
#[tokio::test]
async fn a_bomb_costs_the_document_and_not_the_gateway() {
    let before = b"BT /F1 12 Tf 72 720 Td (before the bomb) Tj ET";
    let both = of_streams(&[("", before), ("/Filter /FlateDecode", &bomb(3_000))], "");
    assert_eq!(
        found(Document::Pdf, &both).await,
        DocumentContent::Words { text: "before the bomb".to_owned(), whole: false },
        "what was read before it is kept"
    );
}

/// Proves: files/malicious-documents
#[tokio::test]
async fn an_endless_or_deeply_nested_document_fails_without_harming_the_gateway() {
    let catalog = || b"<< /Type /Catalog /Pages 2 0 R >>".to_vec();
    let nested = format!("<< /Type /Catalog /Pages {}{} >>", "[".repeat(100_000), "]".repeat(100_000));
    let kids = |n: usize| format!("<< /Type /Pages /Parent {n} 0 R /Kids [{n} 0 R {n} 0 R] /Count 9 >>").into_bytes();
    for bytes in [
        of_objects(&[nested.into_bytes()], ""),
        of_streams(&[("", "[".repeat(100_000).as_bytes())], ""),
        of_streams(&[("", "<<".repeat(100_000).as_bytes())], ""),
        of_streams(&[("", "q ".repeat(1_000_000).as_bytes())], ""),
        of_objects(&[catalog(), kids(2)], ""),
        of_objects(&[catalog(), kids(3), kids(2)], ""),
        of_objects(&[b"1 0 R".to_vec()], ""),
    ] {
        let read = found(Document::Pdf, &bytes).await;
        assert!(matches!(read, DocumentContent::Broken | DocumentContent::Nothing), "{read:?}");
    }
    let deep = "<div>".repeat(200_000) + "bottom";
    assert_eq!(found(Document::Html, deep.as_bytes()).await, words("bottom"));
}

/// Proves: files/malicious-documents
#[test]
fn a_pdf_that_was_cut_anywhere_is_read_or_not() {
    let bytes = pdf(&["one", "two"]);
    let (whole, end) = taken(Document::Pdf, &bytes);
    assert_eq!((whole.as_str(), end), ("one\ntwo\n", Ok(())));
    for length in 0..bytes.len() {
        let (words, _) = taken(Document::Pdf, &bytes[..length]);
        assert!(words.len() <= whole.len(), "{length}: {words}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Proves: files/malicious-documents
    #[test]
    fn a_pdf_with_any_bytes_changed_is_read_or_not(at in prop::collection::vec((0..900_usize, any::<u8>()), 1..20)) {
        let mut bytes = pdf(&["one (two) three", "four"]);
        for (place, byte) in at {
            let length = bytes.len();
            bytes[place % length] = byte;
        }
        let (words, _) = taken(Document::Pdf, &bytes);
        prop_assert!(words.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
    }

    #[test]
    fn any_bytes_are_read_as_a_page_or_not(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (words, _) = taken(Document::Html, &bytes);
        prop_assert!(words.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
    }
}
