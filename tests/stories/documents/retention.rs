//! Retention: documents and their text are deleted together, by age or with their message, and a
//! group beyond its quota fetches none.

use std::time::Duration;

use compline::message::{Event, FileKind, MessageContent, RemoteFile, TextOrigin};

use crate::support::injected_events::{comes, deleted, journal_contains_text};
use crate::support::pdf::pdf;
use crate::support::story::{ADA, EVE, Story, UNTRUSTED, canary};

const DAY: Duration = Duration::from_secs(24 * 3600);
const SECRET: &str = "Xylophonemusik";
const FAMILY: i64 = -100_200;

/// PDF from Ada with a word that she later deletes.
fn secret_pdf(story: &Story) -> Event {
    let reference = story.fake.file(&pdf(&[&format!("{UNTRUSTED} the word is {SECRET}")]));
    let (mime, name) = ("application/pdf".to_owned(), "Quakenbrueck.pdf".to_owned());
    let file = RemoteFile { kind: FileKind::Document, reference, mime, name, size: None };
    Event::Message(MessageContent {
        text: canary(ADA),
        origin: TextOrigin::Typed,
        files: vec![file],
        ..MessageContent::default()
    })
}

/// Proves: files/documents
#[tokio::test]
async fn a_document_that_is_deleted_goes_with_its_words() {
    let story = Story::begin().await;
    comes(&story, ADA, "m1", secret_pdf(&story)).await;
    story.answered().await;
    let look = serde_json::json!({ "query": SECRET, "include_untrusted": true });
    story.model.calls("memory_search", look).says("I looked.");
    comes(&story, ADA, "m2", crate::support::injected_events::message_event("look it up")).await;
    story.answered().await;
    assert!(story.count("SELECT count(*) FROM entries WHERE path LIKE 'inbox/%'") > 0, "it is in the index");
    let inbox = story.home.join("workspace/inbox");
    assert!(story.model.last_prompt().contains(SECRET) && inbox.join("1-Quakenbrueck.pdf.txt").exists());
    comes(&story, ADA, "d1", deleted("m1")).await;
    comes(&story, ADA, "d2", deleted("m2")).await;
    story.settle().await;
    assert_eq!(std::fs::read_dir(&inbox).unwrap().count(), 0);
    assert_eq!(story.count("SELECT count(*) FROM entries WHERE path LIKE 'inbox/%'"), 0);
    assert!(!journal_contains_text(&story, "Quakenbrueck") && !journal_contains_text(&story, SECRET));
    story.say(ADA, "and now?").await;
    assert!(!story.model.last_prompt().contains(SECRET) && !story.model.last_prompt().contains("Quakenbrueck"));
    story.end().await;
}

/// Proves: privacy/retention
#[tokio::test]
async fn documents_go_by_their_age_with_their_words_and_also_those_that_could_not_be_read() {
    let deaf = "[transcription]\nbase_url = \"http://127.0.0.1:9/v1\"\nname = \"deaf\"\n";
    let story = Story::with(&format!("[retention]\nattachments_days = 10\n{deaf}")).await;
    story.fake.sends_voice(ADA, 3, b"la la la");
    story.answered().await;
    for (name, bytes) in
        [("old.pdf", pdf(&["old"])), ("mine.pdf", pdf(&["mine"])), ("what.zip", b"PK\x03\x04\0".to_vec())]
    {
        story.fake.sends_document(ADA, name, "application/octet-stream", &bytes);
        story.answered().await;
    }
    let inbox = story.home.join("workspace/inbox");
    std::fs::write(inbox.join("3-mine.pdf.txt"), "Ada's own by now").unwrap();
    for _ in 0..12 {
        story.pass(DAY).await;
    }
    let left: Vec<_> = std::fs::read_dir(&inbox).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["3-mine.pdf.txt"]);
    assert_eq!(story.count("SELECT count(*) FROM attachments WHERE path || text_path <> ''"), 0);
    story.end().await;
}

/// Proves: models/voice-note
#[tokio::test]
async fn a_voice_note_that_a_groups_share_has_no_room_for_is_not_fetched() {
    let deaf = "[transcription]\nbase_url = \"http://127.0.0.1:9/v1\"\nname = \"deaf\"\n";
    let settings =
        format!("[groups]\nallowed = [\"telegram:{FAMILY}\"]\n[budget]\nper_group_daily_tokens = 20000\n{deaf}");
    let story = Story::with(&settings).await;
    story.fake.group(FAMILY, "The family");
    let caption = format!("@{} {UNTRUSTED} hear this", story.fake.bot_username());
    // Up to a quarter of an hour of speech.
    story.fake.from(EVE).in_chat(FAMILY).voice(3, &[7; 700_000]).caption(&caption).send();
    story.answered().await;
    let calls = story.fake.calls().iter().filter(|call| call.to_lowercase().contains("getfile")).count();
    assert_eq!((calls, story.model.asked()), (0, 1), "{:?}", story.fake.calls());
    assert!(story.model.last_prompt().contains("no room left to hear"), "{}", story.model.last_prompt());
    story.end().await;
}

/// Proves: groups/budget
#[tokio::test]
async fn a_group_that_has_spent_its_share_fetches_nothing() {
    for (share, fetched) in [(1_000_000, 1), (1, 0)] {
        let settings = format!(
            "[groups]\nallowed = [\"telegram:{FAMILY}\"]\n[budget]\ndaily_tokens = 1000000\nper_group_daily_tokens = {share}\n"
        );
        let story = Story::with(&settings).await;
        story.fake.group(FAMILY, "The family");
        let caption = format!("@{} {UNTRUSTED} read this", story.fake.bot_username());
        story
            .fake
            .from(EVE)
            .in_chat(FAMILY)
            .document("a.pdf", "application/pdf", &pdf(&["x"]))
            .caption(&caption)
            .send();
        story.answered().await;
        let calls = story.fake.calls().iter().filter(|call| call.to_lowercase().contains("getfile")).count();
        assert_eq!((calls, story.model.asked()), (fetched, fetched), "{share}: {:?}", story.fake.calls());
        story.end().await;
    }
}
