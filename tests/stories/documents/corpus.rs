//! Malformed documents: reading always ends, with text or with a reason.

use std::path::Path;
use std::time::Duration;

use compline::engine::files::document::{Unread, read};
use compline::engine::files::reader::{Document, DocumentContent, DocumentReader};
use compline::time::SystemClock;
use flate2::{Compress, Compression, FlushCompress};
use proptest::prelude::*;

use crate::support::office::{DOCX, Entry, archive, document, docx, open_document, paragraph, xlsx};
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

/// Proves: files/documents
#[tokio::test]
async fn office_documents_are_read_with_their_tables() {
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", paragraph(text));
    let table = format!("<w:tbl><w:tr>{}{}</w:tr><w:tr>{}</w:tr></w:tbl>", cell("Plums"), cell("3"), cell("Pears"));
    let deleted = "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t>kept &amp; &#233;<![CDATA[ <b>]]></w:t><w:tab/><w:t>x</w:t><w:br/><w:t>y</w:t></w:r></w:p>";
    let bytes = docx(&format!("{}{table}{deleted}", paragraph("Dear Ada")));
    assert_eq!(found(Document::Office, &bytes).await, words("Dear Ada\nPlums \t3\nPears\nkept & é <b>\tx\ny"));

    let rows = "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>1</v></c><c r=\"C1\" s=\"1\"><v>46350</v></c></row>\
        <row r=\"2\"><c r=\"A2\" t=\"inlineStr\"><is><t>in\nline</t></is></c><c r=\"B2\"><f>1+1</f><v>2.5</v></c><c r=\"C2\" t=\"b\"><v>1</v></c></row>";
    let bytes = xlsx("Prices", rows, &["Plums", "Jam"]);
    assert_eq!(found(Document::Office, &bytes).await, words("Prices\nJam\t\t2026-11-24\nin line\t2.5\tTRUE"));

    let text = "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:h>Title</text:h>\
        <text:p>a<text:s text:c=\"3\"/>b<text:tab/><text:span>c</text:span><text:line-break/>d</text:p>";
    assert_eq!(found(Document::Office, &open_document("text", text)).await, words("Title\na   b\tc\nd"));
    let cells = "<table:table table:name=\"Sheet1\"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>\
        <table:table-cell table:number-columns-repeated=\"2\"/><table:table-cell><text:p>d</text:p></table:table-cell>\
        <table:table-cell table:number-columns-repeated=\"16000\"/></table:table-row></table:table>";
    assert_eq!(found(Document::Office, &open_document("spreadsheet", cells)).await, words("Sheet1\na\t\t\td"));
}

#[tokio::test]
async fn a_document_without_text_is_distinguished_from_a_broken_one() {
    assert_eq!(found(Document::Office, &docx("")).await, DocumentContent::Nothing);
    assert_eq!(found(Document::Office, b"PK\x03\x04").await, DocumentContent::Broken);
    let empty = archive(&[Entry::stored("[Content_Types].xml", "<Types/>")]);
    assert_eq!(found(Document::Office, &empty).await, DocumentContent::Broken, "an archive without a document");
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
async fn a_stream_without_end_costs_only_its_page() {
    let text = |words: &str| format!("BT /F1 12 Tf 72 720 Td ({words}) Tj ET").into_bytes();
    let (before, after) = (text("before"), text("after"));
    let flate = "/Filter /FlateDecode";
    let twice = {
        let mut compress = Compress::new(Compression::best(), true);
        let mut coded = Vec::with_capacity(1 << 20);
        compress.compress_vec(&bomb(3_000), &mut coded, FlushCompress::Finish).unwrap();
        coded
    };
    for (entries, large) in [
        (flate, bomb(3_000)),
        ("/Filter [/FlateDecode /FlateDecode]", twice),
        ("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", bomb(3_000)),
        // A broken head, which the parser skips.
        (flate, [b"xx", &bomb(3_000)[2..]].concat()),
    ] {
        let bytes = of_streams(&[("", &before), (entries, &large), ("", &after)], "");
        let read = DocumentContent::Words { text: "before\n\nafter".to_owned(), whole: false };
        assert_eq!(found(Document::Pdf, &bytes).await, read, "{entries}");
    }
    // One stream that fits, again and again in one page.
    let again = "4 0 R ".repeat(10_000);
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents [{again}] >>"),
    ];
    let mut objects: Vec<Vec<u8>> = objects.into_iter().map(String::into_bytes).collect();
    let megabyte = bomb(1);
    let head = format!("<< /Length {} {flate} >>\nstream\n", megabyte.len());
    objects.push([head.as_bytes(), &megabyte, b"\nendstream"].concat());
    assert_eq!(found(Document::Pdf, &of_objects(&objects, "")).await, DocumentContent::Broken);
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
#[tokio::test]
async fn a_hostile_archive_costs_the_document_and_not_the_gateway() {
    let before = document(&paragraph("before the bomb")).replace("</w:body></w:document>", "");
    // One text without end, elements without end, an attribute without end.
    let element = format!("<w:p a=\"{}\"/>", "a".repeat(1_000));
    for (start, filling) in
        [(format!("{before}<w:p><w:t>"), "x"), (before.clone(), element.as_str()), (format!("{before}<w:p a=\""), "a")]
    {
        let bomb = || Entry::bomb(DOCX, &start, filling, 3_000);
        assert_eq!(found(Document::Office, &archive(&[bomb().claiming(1_000)])).await, DocumentContent::Broken);
        let read = found(Document::Office, &archive(&[bomb()])).await;
        let DocumentContent::Words { text, whole: false } = read else { panic!("{filling:?}: {read:?}") };
        assert!(text.starts_with("before the bomb"), "{filling:?}: {text:.40}");
    }
    let shared = Entry::bomb("xl/sharedStrings.xml", "<sst>", &format!("<si><t>{}</t></si>", "a".repeat(1_000)), 3_000);
    let book = [("xl/workbook.xml", "<workbook/>"), ("xl/_rels/workbook.xml.rels", "<Relationships/>")];
    let book = book.map(|(name, text)| Entry::stored(name, text)).into_iter().chain([shared]).collect::<Vec<_>>();
    assert_eq!(found(Document::Office, &archive(&book)).await, DocumentContent::Broken);
}

/// Proves: files/malicious-documents
#[test]
fn odd_xml_is_read_or_not_and_expands_nothing() {
    let deep = "<w:p>".repeat(100_000);
    let entities =
        "<!DOCTYPE x [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;\">]><w:document><w:p><w:t>1&b;2</w:t></w:p></w:document>";
    let file =
        "<!DOCTYPE x [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><w:document><w:p><w:t>1&a;2</w:t></w:p></w:document>";
    let of = |text: &str| archive(&[Entry::stored("word/document.xml", text)]);
    for (text, expected, is_whole) in [
        (document(&format!("{}{deep}", paragraph("one"))), "one\n", false),
        (entities.to_owned(), "12\n", true),
        (file.to_owned(), "12\n", true),
        ("not XML".to_owned(), "", true),
        ("<w:document><w:p></w:document>".to_owned(), "", false),
        (document("<w:p><w:t>&#0;&#xFFFFFFFF;&nothing;x</w:t></w:p>"), "x\n", true),
    ] {
        let (words, end) = taken(Document::Office, &of(&text));
        assert_eq!((words.as_str(), end.is_ok()), (expected, is_whole), "{}", &text[..text.len().min(200)]);
    }
    let row = "<row><c r=\"XFD1048576\"><v>1</v></c><c r=\"ZZZZZZZ1\" t=\"s\"><v>99</v></c><c r=\"A1\" s=\"9\"><v>x</v></c></row>";
    let (words, end) = taken(Document::Office, &xlsx("S", row, &[]));
    assert!(end.is_ok() && words.starts_with("S\n\t") && words.len() < 200, "{words}");
}

/// Proves: files/malicious-documents
#[test]
fn an_archive_that_was_cut_anywhere_is_read_or_not() {
    let bytes = docx(&format!("{}{}", paragraph("one"), paragraph("two")));
    assert_eq!(taken(Document::Office, &bytes), ("one\ntwo\n".to_owned(), Ok(())));
    for length in 0..bytes.len() {
        let (words, _) = taken(Document::Office, &bytes[..length]);
        assert!(words.len() <= "one\ntwo\n".len(), "{length}: {words}");
    }
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

    /// Proves: files/malicious-documents
    #[test]
    fn an_archive_with_any_bytes_changed_is_read_or_not(at in prop::collection::vec((any::<usize>(), any::<u8>()), 1..20), which in 0..3_usize) {
        let rows = "<row><c t=\"s\" s=\"1\"><v>0</v></c><c><v>1.5</v></c></row>";
        let mut bytes = match which {
            0 => docx(&paragraph("one &amp; two")),
            1 => xlsx("S", rows, &["x"]),
            _ => open_document("text", "<text:p>one<text:s text:c=\"9\"/></text:p>"),
        };
        for (place, byte) in at {
            let length = bytes.len();
            bytes[place % length] = byte;
        }
        let (words, _) = taken(Document::Office, &bytes);
        prop_assert!(words.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
    }

    #[test]
    fn any_bytes_are_read_as_a_page_or_not(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (words, _) = taken(Document::Html, &bytes);
        prop_assert!(words.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
    }
}
