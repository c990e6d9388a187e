//! Received documents: read, stored next to their text, searchable, and never taken for the
//! person's own words.

use std::time::Duration;

use compline::id::PersonId;
use compline::trust::Scope;

use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::words;
use crate::support::office::{docx, open_document, paragraph};
use crate::support::pdf::{LOCK, locked, of_streams, pdf};
use crate::support::story::{ADA, BEN, UNTRUSTED, canary, every_untrusted_part_is_labelled};

on_every_channel! {
    stories:
        a_pdf_is_read_answered_and_stored_with_its_text,
        the_text_of_a_document_is_labelled_and_traced_to_its_attachment,
        a_document_is_found_later_only_by_its_sender_and_only_as_untrusted,
        the_whole_text_of_a_document_is_found_by_the_memory_when_untrusted_text_is_asked_for,
        a_document_is_indexed_by_its_text_and_not_by_its_markup,
        the_turns_after_a_document_are_tainted_until_the_conversation_is_over,
        a_long_text_is_shown_from_its_beginning_and_said_to_go_on,
        texts_of_every_kind_are_read,
        an_unreadable_document_is_kept_and_reported,
        without_a_process_to_read_in_documents_are_kept_and_everything_else_goes_on,
        a_restart_shows_a_document_as_it_was_shown;
}

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);

/// Bill of two pages, with a mark on each.
fn bill() -> Vec<u8> {
    pdf(&[&format!("Invoice {UNTRUSTED}bill\nMarzipan: 12 euros"), "Second page: due in April"])
}

async fn sends(story: &Story, name: &str, mime: &str, bytes: &[u8]) {
    story.fake.sends_document(ADA, name, mime, bytes);
    story.answered().await;
}

fn inbox(story: &Story) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(story.home.join("workspace/inbox"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn found(story: &Story, person: i64, query: &str, untrusted_too: bool) -> usize {
    let scope = Scope::Person(PersonId(person));
    story
        .app()
        .journal
        .read_now(|db| crate::support::search::find(db, scope, query, untrusted_too, 20))
        .unwrap()
        .hits
        .len()
}

/// Promise (files/documents): A document that you send (PDF, docx, xlsx, odt, ods, HTML, CSV, JSON,
/// Markdown, text) is read, can be asked about and found later, and counts as text from outside.
async fn a_pdf_is_read_answered_and_stored_with_its_text(channel: TestChannel) {
    let story = channel.begin_story().await;
    sends(&story, "bill march.pdf", "application/pdf", &bill()).await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("Marzipan: 12 euros") && prompt.contains("Second page: due in April"), "{prompt}");
    let line = "It is kept as inbox/1-bill-march.pdf, and its text as inbox/1-bill-march.pdf.txt.)";
    assert!(prompt.contains(line) && !prompt.contains("read_file"), "{prompt}");
    assert_eq!(inbox(&story), ["1-bill-march.pdf", "1-bill-march.pdf.txt"]);
    let text = std::fs::read_to_string(story.home.join("workspace/inbox/1-bill-march.pdf.txt")).unwrap();
    assert!(text.contains("Marzipan") && text.contains("due in April"), "{text}");
    every_untrusted_part_is_labelled(&story);
    assert!(!story.model.requests().pop().unwrap().label().is_trusted());
    story.end().await;
}

/// Proves: files/documents
async fn the_text_of_a_document_is_labelled_and_traced_to_its_attachment(channel: TestChannel) {
    let story = channel.begin_story().await;
    sends(&story, "bill.pdf", "application/pdf", &bill()).await;
    let labels = "SELECT group_concat(DISTINCT label) FROM files WHERE path LIKE 'inbox/%'";
    assert!(
        story.text(labels).contains("file:1") && !story.text(labels).contains("trusted,"),
        "{}",
        story.text(labels)
    );
    let edges = "SELECT count(*) FROM derived_from d JOIN files f ON d.child = 'file:' || f.id
        WHERE f.path LIKE 'inbox/%' AND d.parent = 'attachment:1'";
    assert_eq!(story.count(edges), 2, "the file and its words grew from what was sent");
    story.end().await;
}

/// Proves: files/documents
async fn a_document_is_found_later_only_by_its_sender_and_only_as_untrusted(channel: TestChannel) {
    let story = channel.begin_story().await;
    sends(&story, "bill.pdf", "application/pdf", &bill()).await;
    story.pass(NEXT_CONVERSATION).await;
    let before = story.model.asked();
    story.say(ADA, &format!("good morning, {}", canary(ADA))).await;
    assert!(
        story.model.requests_since(before).iter().all(|request| request.label().is_trusted()),
        "nothing of it is loaded by itself"
    );
    assert_eq!((found(&story, 1, "marzipan", false), found(&story, 1, "marzipan", true)), (0, 1));
    assert_eq!(found(&story, 2, "marzipan", true), 0, "it is nobody else's");
    story.say(ADA, "/search marzipan").await;
    assert!(story.last_received_by(ADA).contains("Marzipan"), "{}", story.last_received_by(ADA));
    story.say(BEN, "/search marzipan").await;
    assert!(!story.last_received_by(BEN).contains("Marzipan"));
    story.end().await;
}

/// Proves: files/documents
async fn the_whole_text_of_a_document_is_found_by_the_memory_when_untrusted_text_is_asked_for(channel: TestChannel) {
    let story = channel.begin_story().await;
    let long =
        format!("{}Marzipan at the very end.", "One line after the other, and none of them says much.\n".repeat(1_500));
    sends(&story, "book.pdf", "application/pdf", &pdf(&[&long])).await;
    assert!(!story.model.last_prompt().contains("Marzipan"), "the prompt holds only the beginning");
    story.say(ADA, "/new").await;
    for (asked, found) in [(false, false), (true, true)] {
        let arguments = serde_json::json!({ "query": "marzipan", "include_untrusted": asked });
        story.model.calls("memory_search", arguments).says("I looked.");
        story.say(ADA, "what of the sweets?").await;
        let request = story.model.requests().pop().unwrap();
        assert_eq!(
            (words(&request).contains("Marzipan at the very end"), request.label().is_trusted()),
            (found, !found)
        );
    }
    story
        .model
        .calls("memory_search", serde_json::json!({ "query": "marzipan", "include_untrusted": true }))
        .says("I looked.");
    story.say(BEN, "what of the sweets?").await;
    assert!(!story.model.last_prompt().contains("Marzipan at"), "nobody else finds it");
    story.end().await;
}

/// Proves: files/documents
async fn a_document_is_indexed_by_its_text_and_not_by_its_markup(channel: TestChannel) {
    let story = channel.begin_story().await;
    sends(&story, "bill.pdf", "application/pdf", &bill()).await;
    let page = format!("<html><body><p class=\"marzipan\">Nougat, see {UNTRUSTED}page</p></body></html>");
    sends(&story, "page.html", "text/html", page.as_bytes()).await;
    story.writes("papers/own.pdf", &String::from_utf8(bill()).unwrap());
    story.say(ADA, "/search marzipan").await;
    let found = story.last_received_by(ADA);
    assert!(found.contains("Marzipan") && !found.contains("endobj") && !found.contains("class="), "{found}");
    let indexed =
        |names: &str| story.count(&format!("SELECT count(DISTINCT path) FROM entries WHERE path IN ({names})"));
    assert_eq!(indexed("'inbox/1-bill.pdf.txt', 'inbox/2-page.html.txt'"), 2);
    assert_eq!(indexed("'inbox/1-bill.pdf', 'inbox/2-page.html', 'papers/own.pdf'"), 0);
    story.end().await;
}

/// Proves: files/documents
async fn the_turns_after_a_document_are_tainted_until_the_conversation_is_over(channel: TestChannel) {
    let story = channel.begin_story().await;
    sends(&story, "bill.pdf", "application/pdf", &bill()).await;
    story.say(ADA, "thank you").await;
    assert!(!story.model.requests().pop().unwrap().label().is_trusted());
    story.say(ADA, "/new").await;
    story.say(ADA, "hello again").await;
    assert!(story.model.requests().pop().unwrap().label().is_trusted());
    story.end().await;
}

/// Proves: files/documents
async fn a_long_text_is_shown_from_its_beginning_and_said_to_go_on(channel: TestChannel) {
    let story = channel.begin_story().await;
    let long = format!("{}the end of it", "A line of many words, one after the other.\n".repeat(2_000));
    sends(&story, "book.txt", "text/plain", long.as_bytes()).await;
    let prompt = story.model.last_prompt();
    let line = "It is kept as inbox/1-book.txt. Only the beginning of its text stands above; `read_file` gives all of inbox/1-book.txt.)";
    assert!(prompt.contains(line) && !prompt.contains("the end of it"), "{}", &prompt[prompt.len() - 600..]);
    assert_eq!(inbox(&story), ["1-book.txt"], "what can be read as it is needs no second file");
    story.end().await;
}

/// Proves: files/documents
async fn texts_of_every_kind_are_read(channel: TestChannel) {
    let story = channel.begin_story().await;
    let utf16: Vec<u8> =
        std::iter::once(0xFEFF).chain("Grüße, 世界".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for (name, mime, bytes, said) in [
        ("a.md", "text/markdown", b"# Plums\n\n- ripe".as_slice(), "# Plums"),
        ("a.csv", "text/csv", b"name,price\n\"Jam, plum\",\"3 \"\"net\"\"\"\n", "\"Jam, plum\",\"3 \"\"net\"\"\""),
        ("a.json", "application/json", b"{\"plums\": [1, {\"ripe\": true}]}", "{\"plums\": [1, {\"ripe\": true}]}"),
        ("a.html", "text/html", b"<p>Plums &amp; pears</p><script>evil()</script>", "Plums & pears"),
        ("utf16.txt", "text/plain", &utf16, "Grüße, 世界"),
        ("latin.txt", "text/plain", b"Pfl\xe4umli f\xfcr 3 \x80", "Pfläumli für 3 €"),
    ] {
        sends(&story, name, mime, bytes).await;
        let prompt = story.model.last_prompt();
        let newest = &prompt[prompt.rfind("\nuser: ").unwrap_or(0)..];
        assert!(
            prompt.contains(said) && !newest.contains("cannot be read") && !prompt.contains("evil()"),
            "{name}: {newest}"
        );
    }
    let (letter, prices) = (docx(&paragraph("Plums for Ben")), open_document("text", "<text:p>Plums for Cy</text:p>"));
    for (name, bytes, said) in [("letter.docx", letter, "Plums for Ben"), ("prices.odt", prices, "Plums for Cy")] {
        sends(&story, name, "application/octet-stream", &bytes).await;
        let line = format!("-{name}, and its text as inbox/");
        assert!(story.model.last_prompt().contains(said) && story.model.last_prompt().contains(&line), "{name}");
    }
    let beside: Vec<String> = inbox(&story).into_iter().filter(|name| name.matches('.').count() == 2).collect();
    assert_eq!(beside, ["4-a.html.txt", "5-utf16.txt.txt", "6-latin.txt.txt", "7-letter.docx.txt", "8-prices.odt.txt"]);
    story.end().await;
}

/// Proves: files/documents
async fn an_unreadable_document_is_kept_and_reported(channel: TestChannel) {
    let story = channel.begin_story().await;
    let scan = of_streams(&[("", b"0 0 100 100 re f")], "");
    for (name, bytes, said) in [
        ("scan.pdf", scan.as_slice(), "this PDF holds no text, perhaps only pictures of pages"),
        ("locked.pdf", &locked(LOCK), "this PDF is locked with a password, so its text could not be read"),
        ("broken.pdf", b"%PDF-1.7 or not", "the text of this PDF could not be read"),
        ("nothing.html", b"<script>x</script>", "this web page holds no text"),
        ("broken.docx", b"PK\x03\x04 or not", "the text of this document could not be read"),
        ("archive.zip", b"PK\x03\x04\0\0\0", "files of this kind cannot be read"),
    ] {
        sends(&story, name, "application/octet-stream", bytes).await;
        let prompt = story.model.last_prompt();
        assert!(
            prompt.contains(&format!("(application/octet-stream): {said}. Say so if it matters. It is kept as inbox/")),
            "{name}: {prompt}"
        );
    }
    assert_eq!(inbox(&story).len(), 6);
    assert_eq!(story.received_by(ADA).len(), 6, "each was answered");
    story.end().await;
}

/// Proves: files/malicious-documents
async fn without_a_process_to_read_in_documents_are_kept_and_everything_else_goes_on(channel: TestChannel) {
    let mut story = channel.prepare_story("");
    story.read_documents_with(std::path::Path::new("/nowhere/at/all"));
    story.start().await;
    sends(&story, "bill.pdf", "application/pdf", &bill()).await;
    assert!(story.model.last_prompt().contains("the text of this PDF could not be read"));
    sends(&story, "a.txt", "text/plain", b"plums").await;
    assert!(story.model.last_prompt().contains("plums"));
    story.end().await;
}

/// Proves: files/documents
async fn a_restart_shows_a_document_as_it_was_shown(channel: TestChannel) {
    let mut story = channel.begin_story().await;
    sends(&story, "bill.pdf", "application/pdf", &bill()).await;
    let shown = |story: &Story| {
        let request = story.model.chats().pop().unwrap();
        words(&request)
            .lines()
            .filter(|line| line.contains("bill") || line.contains("Marzipan"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let first = shown(&story);
    story.restart().await;
    story.say(ADA, "and?").await;
    assert_eq!(shown(&story), first);
    story.end().await;
}
