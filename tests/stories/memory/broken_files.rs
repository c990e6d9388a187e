//! Broken, full or misplaced memory files: each affects only itself, and its person is notified of
//! its name.

use std::path::PathBuf;
use std::time::Duration;

use compline::model::{Purpose, Request};
use compline::time::Clock;
use serde_json::json;

use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, EVE, Story, UNTRUSTED};

const MINUTE: Duration = Duration::from_secs(60);
const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";

fn path_of(story: &Story, path: &str) -> PathBuf {
    story.home.join(path)
}

fn read(story: &Story, path: &str) -> String {
    std::fs::read_to_string(path_of(story, path)).unwrap_or_default()
}

/// Overwrites the memory with bytes that are not text.
fn break_memory(story: &Story) {
    std::fs::write(path_of(story, "workspace/memory/MEMORY.md"), b"\xff\xfe\x00 no text").unwrap();
}

/// Makes a file unwritable by a folder in the place where its new content is prepared.
fn block(story: &Story, path: &str) -> PathBuf {
    let (folder, name) = path.rsplit_once('/').unwrap();
    let way = path_of(story, folder).join(format!(".{name}.part"));
    std::fs::create_dir_all(way.join("x")).unwrap();
    way
}

fn takes_down(story: &Story, key: &'static str, value: &'static str) {
    story.background.otherwise(move |request: &Request| match request.purpose() {
        Purpose::Extraction if words(request).contains(value) => {
            Say::Text(json!([{ "key": key, "value": value, "layer": "B", "sources": [1] }]).to_string())
        }
        _ => usual(request),
    });
}

/// Ada forwards a letter, and the model tries to remember part of it.
async fn wants(story: &Story, title: &str, content: &str) {
    story.model.calls("remember", json!({ "title": title, "content": content, "kind": "preference" })).says("Noted.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter {title}"));
    story.answered().await;
}

fn states(story: &Story) -> String {
    story.text("SELECT coalesce(group_concat(state, ' '), '') FROM keeps")
}

/// Promise (memory/damaged-file): A damaged, full or blocked memory file affects only itself:
/// facts, summaries and later approvals still work, nothing is lost, and you are told which file it
/// is.
#[tokio::test]
async fn a_broken_memory_stops_neither_facts_nor_the_summary_of_an_older_part() {
    let story = Story::begin().await;
    break_memory(&story);
    takes_down(&story, "tea", "Whiskerino");
    for number in 0..6 {
        story.say(ADA, &format!("thing {number}: the tea is called Whiskerino. {TALK}")).await;
    }
    story.model.counts(75_000);
    story.say(ADA, "and now the window is full").await;
    story.settle().await;
    assert!(read(&story, "workspace/agents/compline/memory.md").contains("- **tea**: Whiskerino"));
    assert_eq!(story.text("SELECT group_concat(DISTINCT state) FROM extractions"), "kept");
    assert_eq!(story.count("SELECT count(*) FROM compactions WHERE state = 'made'"), 1);
    assert_eq!(story.last_received_by(ADA), "ok");
    story.end().await;
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn an_unreadable_top_file_is_told_of_once() {
    let mut story = Story::begin().await;
    story.say(ADA, "hello").await;
    let soul = path_of(&story, "workspace/SOUL.md");
    let text = std::fs::read(&soul).unwrap();
    std::fs::remove_file(&soul).unwrap();
    std::fs::create_dir(&soul).unwrap();
    let told =
        |story: &Story| story.received_by(ADA).iter().filter(|told| told.contains("I cannot read SOUL.md")).count();
    for _ in 0..2 {
        story.say(ADA, "how are you?").await;
        assert_eq!((told(&story), story.last_received_by(ADA).as_str()), (1, "ok"), "{:?}", story.received_by(ADA));
    }
    story.restart().await;
    story.say(ADA, "and now?").await;
    assert_eq!(told(&story), 1);
    std::fs::remove_dir(&soul).unwrap();
    std::fs::write(&soul, text).unwrap();
    story.say(ADA, "better?").await;
    std::fs::remove_file(&soul).unwrap();
    std::fs::create_dir(&soul).unwrap();
    story.say(ADA, "worse?").await;
    assert_eq!(told(&story), 2, "it broke again");
    story.end().await;
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn a_fact_goes_to_the_monthly_note_if_its_list_is_broken() {
    let story = Story::with("[memory]\nextract_every = 1").await;
    std::fs::create_dir_all(path_of(&story, "workspace/agents/compline/memory.md")).unwrap();
    takes_down(&story, "tea", "Whiskerino");
    story.say(ADA, &format!("The tea is called Whiskerino. {TALK}")).await;
    assert_eq!(read(&story, "workspace/memory/facts-2026-11.md").matches("- **tea**: Whiskerino").count(), 1);
    assert_eq!(read(&story, "workspace/memory/MEMORY.md").matches("(facts-2026-11.md)").count(), 1);
    assert_eq!(story.text("SELECT state FROM extractions"), "kept");
    story.end().await;
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn a_failed_remember_request_names_the_broken_file() {
    let story = Story::begin().await;
    break_memory(&story);
    for command in ["/remember Cat: Tom", "/remember a text\nof two lines"] {
        story.say(ADA, command).await;
        let told = story.last_received_by(ADA);
        assert!(told.contains("memory/MEMORY.md cannot be read as text") && told.contains("doctor"), "{told}");
    }
    story
        .model
        .calls("remember", json!({ "title": "Tea", "content": "Green.", "kind": "user" }))
        .says("It did not work.");
    story.say(ADA, "Remember that").await;
    let gave = story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1");
    assert!(gave.contains("memory/MEMORY.md cannot be read as text"), "{gave}");
    assert!(!path_of(&story, "workspace/memory/tea.md").exists(), "all of it or nothing");
    story.end().await;
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn a_yes_that_a_broken_file_stands_against_is_answered_and_the_next_one_counts() {
    let story = Story::begin().await;
    wants(&story, "Tea", "Warm the pot first.").await;
    wants(&story, "Coffee", "No sugar.").await;
    let whole = read(&story, "workspace/memory/MEMORY.md");
    break_memory(&story);
    story.say(ADA, "/yes 1").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("memory/MEMORY.md cannot be read as text"), "{told}");
    std::fs::write(path_of(&story, "workspace/memory/MEMORY.md"), whole).unwrap();
    story.say(ADA, "/yes 2").await;
    assert!(story.last_received_by(ADA).contains("memory/coffee.md is yours now"), "{}", story.last_received_by(ADA));
    assert_eq!(states(&story), "changed kept");
    story.end().await;
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn a_yes_that_the_disk_stands_against_is_tried_again_and_keeps_no_other_waiting() {
    let story = Story::begin().await;
    wants(&story, "Tea", "Warm the pot first.").await;
    wants(&story, "Coffee", "No sugar.").await;
    let way = block(&story, "workspace/memory/tea.md");
    story.say(ADA, "/yes 1").await;
    story.say(ADA, "/yes 2").await;
    assert_eq!(states(&story), "yes kept", "{:?}", story.received_by(ADA));
    std::fs::remove_dir_all(way).unwrap();
    story.pass(2 * MINUTE).await;
    assert_eq!(states(&story), "kept kept");
    let told: Vec<String> =
        story.received_by(ADA).into_iter().filter(|heard| heard.contains("memory/tea.md is yours now")).collect();
    assert_eq!(told.len(), 1, "{:?}", story.received_by(ADA));
    assert_eq!(read(&story, "workspace/memory/MEMORY.md").matches("(tea.md)").count(), 1);
    story.end().await;
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn a_note_waiting_for_the_disk_is_reported_after_an_hour_and_saved_later() {
    let story = Story::begin().await;
    wants(&story, "Tea", "Warm the pot first.").await;
    let way = block(&story, "workspace/memory/tea.md");
    story.say(ADA, "/yes 1").await;
    assert_eq!(states(&story), "yes");
    story.pass(62 * MINUTE).await;
    assert_eq!(states(&story), "kept");
    let told = story.last_received_by(ADA);
    assert!(told.contains("becomes yours as soon as") && told.contains("doctor"), "{told}");
    std::fs::remove_dir_all(way).unwrap();
    story.say(ADA, "/remember The bread is in the oven").await;
    assert!(read(&story, "workspace/memory/tea.md").contains("Warm the pot"), "the next change finishes it");
    story.end().await;
}

/// Proves: memory/shown
#[tokio::test]
async fn the_list_names_what_cannot_be_read_and_why() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    story.say(ADA, "/memory").await;
    assert!(!story.last_received_by(ADA).contains("Not read"), "{}", story.last_received_by(ADA));
    let notes = path_of(&story, "workspace/memory");
    std::fs::write(notes.join("recipe.md"), b"Ten eggs \0\xff").unwrap();
    std::fs::write(notes.join("diary.md"), "x".repeat(1_100_000)).unwrap();
    std::fs::write(path_of(&story, "workspace/USER.md"), b"Ada \0\xff").unwrap();
    story.say(ADA, "/memory").await;
    let list = story.last_received_by(ADA);
    for line in ["• recipe: it is not UTF-8 text", "• diary: it is larger than 1 MB", "• USER: it is not UTF-8 text"]
    {
        assert!(list.contains(line), "{line:?} is missing in {list}");
    }
    assert_eq!(story.text("SELECT label FROM outbox ORDER BY id DESC LIMIT 1"), "trusted");
    story.say(ADA, "/memory diary").await;
    assert!(story.last_received_by(ADA).contains("larger than 1 MB"), "{}", story.last_received_by(ADA));
    break_memory(&story);
    std::fs::create_dir_all(notes.join("untrusted")).unwrap();
    std::fs::write(notes.join("untrusted/letter.md"), b"\xff\0").unwrap();
    story.say(ADA, "/memory").await;
    let list = story.last_received_by(ADA);
    assert!(list.contains("MEMORY.md cannot be read: it is not UTF-8 text") && list.contains("• letter:"), "{list}");
    assert_ne!(story.text("SELECT label FROM outbox ORDER BY id DESC LIMIT 1"), "trusted", "its name is from outside");
    story.end().await;
}

/// Proves: memory/damaged-file
#[tokio::test]
async fn an_hour_in_which_it_was_off_is_no_hour_of_trying() {
    let mut story = Story::begin().await;
    wants(&story, "Tea", "Warm the pot first.").await;
    let way = block(&story, "workspace/memory/tea.md");
    story.say(ADA, "/yes 1").await;
    story.stop().await;
    story.clock.set(story.clock.now().plus(2 * 60 * MINUTE));
    story.start().await;
    story.pass(3 * MINUTE).await;
    assert_eq!(states(&story), "yes", "{:?}", story.received_by(ADA));
    std::fs::remove_dir_all(way).unwrap();
    story.pass(2 * MINUTE).await;
    assert_eq!(states(&story), "kept");
    assert!(story.last_received_by(ADA).contains("memory/tea.md is yours now"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Proves: memory/shown
#[tokio::test]
async fn of_a_memory_that_is_too_large_it_says_how_much_it_reads_and_why_nothing_is_added() {
    let story = Story::begin().await;
    story.say(ADA, "/memory").await;
    assert!(story.last_received_by(ADA).contains("I read it before each answer"), "{}", story.last_received_by(ADA));
    story.writes("memory/MEMORY.md", &format!("# Memory\n\n{}", "An old thought of mine.\n".repeat(5_000)));
    story.say(ADA, "/memory").await;
    let list = story.last_received_by(ADA);
    assert!(list.contains("as much as fits") && !list.contains("I read it before"), "{list}");
    story.say(ADA, "/remember Cat: Tom").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("memory/MEMORY.md is already larger than the 64 KB limit"), "{told}");
    story.end().await;
}
