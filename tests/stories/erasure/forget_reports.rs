//! Erasure reports: the erasure is complete and its report is true for paraphrases, earlier
//! versions, messages, and places that could not be read.

use std::time::Duration;

use compline::model::{Purpose, Request};
use serde_json::json;

use crate::support::injected_events::journal_contains;
use crate::support::model::{Gate, Say, usual, words};
use crate::support::story::{ADA, BEN, Story};

const MINUTE: Duration = Duration::from_secs(60);
const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";
const PIN: &str = "/remember Secret pin: kumquat7 for the safe";
const WIFI: &str = "the wifi password is hunter22";
const PROVED: &str = "A search for it finds nothing any more.";

/// Extracts the cat's name under a key that no message contains.
fn names_the_cat(request: &Request) -> Say {
    let facts = json!([{ "key": "cat: name", "value": "Mitzi", "layer": "A", "sources": [1] }]);
    let is_told = request.purpose() == Purpose::Extraction && words(request).contains("called Mitzi");
    if is_told { Say::Text(facts.to_string()) } else { usual(request) }
}

async fn the_cat_has_a_name() -> Story {
    let story = Story::with("[memory]\nextract_every = 1").await;
    story.background.otherwise(names_the_cat);
    story.say(ADA, &format!("My cat is called Mitzi. {TALK}")).await;
    story.pass(10 * MINUTE).await;
    story
}

/// Code in the command that an answer offers.
fn code(told: &str) -> String {
    let before = told.split(" messages deletes").next().unwrap_or_default();
    before.rsplit(' ').next().unwrap_or_default().to_owned()
}

/// Deletes the lines with a word by hand.
fn takes_out(story: &Story, path: &str, word: &str) {
    let left: String = story.reads(path).split_inclusive('\n').filter(|line| !line.contains(word)).collect();
    story.writes(path, &left);
}

/// Promise (forgetting/remains): `/forget` reports what remains: it counts the messages a fact came
/// from, which go with `messages`, names paraphrases without deleting them unasked, checks large
/// files, and names any archive it deletes.
#[tokio::test]
async fn a_message_that_a_fact_was_taken_from_is_named_and_goes_when_it_is_asked_for() {
    let story = the_cat_has_a_name().await;
    story.forgets(ADA, "cat: name").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("1 line") && told.contains("Still in 1 message") && !told.contains(PROVED), "{told}");
    assert!(!told.contains("Mitzi") && journal_contains(&story, "Mitzi"), "{told}");
    story.say(ADA, "/forget 1 messages").await;
    assert!(story.last_received_by(ADA).contains(PROVED), "{}", story.last_received_by(ADA));
    assert!(!journal_contains(&story, "Mitzi"));
    story.end().await;
}

/// Proves: forgetting/remains
#[tokio::test]
async fn paraphrases_are_named_and_never_deleted_without_a_request() {
    let story = the_cat_has_a_name().await;
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "We were at the vet with Mitzi.").await;
    story.writes(
        "memory/vet.md",
        "# Vet\n\nOn Monday morning we went there by bus with mitzi, and it rained all day.\n",
    );
    story.forgets(ADA, "cat: name messages").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("another sentence, in 1 message, memory/vet.md"), "{told}");
    assert!(!told.contains(PROVED) && !told.contains("Mitzi"), "{told}");
    assert!(story.reads("memory/vet.md").contains("mitzi"));
    story.say(ADA, "/forget Mitzi messages").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("1 message") && told.contains("We were at the vet with Mitzi."), "{told}");
    story.say(ADA, &format!("/forget Mitzi {} messages", code(&told))).await;
    assert!(story.last_received_by(ADA).contains(PROVED), "{}", story.last_received_by(ADA));
    assert!(!journal_contains(&story, "Mitzi") && !story.reads("memory/vet.md").contains("mitzi"));
    story.end().await;
}

/// Promise (forgetting/old-versions): Text that exists only in earlier versions, or was in a note
/// you deleted by hand, can be forgotten too, and cannot be restored afterwards.
#[tokio::test]
async fn text_that_remains_only_in_earlier_versions_is_forgotten_too() {
    let story = Story::begin().await;
    story.say(ADA, PIN).await;
    story.say(ADA, "/remember Bread: in the oven").await;
    takes_out(&story, "memory/MEMORY.md", "kumquat7");
    story.say(ADA, "Hello").await;
    story.forgets(ADA, "bank pin").await;
    assert!(story.last_received_by(ADA).contains("There is no note"), "{}", story.last_received_by(ADA));
    story.forgets(ADA, "secret PIN").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("earlier version") && told.contains("in no current file") && told.contains(PROVED), "{told}");
    assert!(!journal_contains(&story, "kumquat7"));
    assert!(story.reads("memory/MEMORY.md").contains("oven"));
    story.end().await;
}

/// Proves: forgetting/old-versions
#[tokio::test]
async fn a_note_that_was_deleted_by_hand_is_forgotten_by_its_name_or_title() {
    for name in ["safe", "How it opens"] {
        let story = Story::begin().await;
        story.writes("memory/safe.md", "# How it opens\n\nTurn the wheel to kumquat7.\n");
        story.say(ADA, "Hello").await;
        story.say(ADA, "/memory safe").await;
        std::fs::remove_file(story.home.join("workspace/memory/safe.md")).unwrap();
        story.say(ADA, "Hello again").await;
        story.forgets(ADA, &format!("{name} messages")).await;
        let told = story.last_received_by(ADA);
        assert!(told.contains("earlier version") && told.contains(PROVED), "{told}");
        assert!(!journal_contains(&story, "kumquat7") && !story.reads("memory/MEMORY.md").contains("safe"), "{name}");
        story.end().await;
    }
}

/// Promise (forgetting/said-words): You can delete things you only said by their words: Compline
/// shows how many messages contain them and from which days, and its code deletes exactly those and
/// any repetitions of the words. Other people's messages stay.
#[tokio::test]
async fn words_only_said_are_deleted_with_the_code_shown() {
    let story = Story::begin().await;
    story.model.says("Noted: the wifi password is hunter22.");
    story.say(ADA, &format!("By the way, {WIFI}.")).await;
    story.say(ADA, "The password of the bank is another one.").await;
    story.say(BEN, WIFI).await;
    story.say(ADA, "/forget WIFI password IS hunter22").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("There is no note") && told.contains("/forget WORDS messages"), "{told}");
    story.say(ADA, "/forget WIFI password IS hunter22 messages").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("2 messages") && told.contains("Nothing is deleted yet"), "{told}");
    for shown in ["your message (12:00)", "my message (12:00)", "By the way, the wifi password"] {
        assert!(told.contains(shown), "{told}");
    }
    assert!(journal_contains(&story, "hunter22"), "nothing goes without the code");
    story.say(ADA, "/forget wifi password is hunter22 0123456789 messages").await;
    assert_eq!(code(&story.last_received_by(ADA)), code(&told), "a wrong code deletes nothing and shows it again");
    story.say(ADA, &format!("/forget wifi password is hunter22 {} messages", code(&told))).await;
    let done = story.last_received_by(ADA);
    assert!(done.contains("2 messages") && done.contains(PROVED), "{done}");
    let of_ada = "SELECT count(*) FROM texts WHERE text LIKE '%hunter22%' AND scope =";
    assert_eq!((story.count(&format!("{of_ada} 'person:1'")), story.count(&format!("{of_ada} 'person:2'"))), (0, 1));
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE text LIKE '%of the bank%'"), 1);
    let before = story.model.asked();
    story.say(ADA, "So?").await;
    let prompt: String = story.model.requests_since(before).iter().map(words).collect();
    assert!(!prompt.contains("hunter22") && prompt.contains("of the bank"), "{prompt}");
    story.end().await;
}

/// Proves: forgetting/said-words
#[tokio::test]
async fn a_newer_match_asks_again_and_short_or_unsaid_words_are_reported() {
    let story = Story::begin().await;
    story.say(ADA, WIFI).await;
    story.say(ADA, "/forget hunter22 messages").await;
    let told = story.last_received_by(ADA);
    story.say(ADA, "yes, hunter22 it is").await;
    story.say(ADA, &format!("/forget hunter22 {} messages", code(&told))).await;
    let again = story.last_received_by(ADA);
    assert!(again.contains("2 messages") && again.contains("yes, hunter22 it is"), "{again}");
    assert!(again.contains("has changed since it was shown") && code(&again) != code(&told), "{again}");
    for (typed, sentence) in
        [("/forget hunter23 messages", "no message or file holds"), ("/forget it messages", "too short")]
    {
        story.say(ADA, typed).await;
        assert!(story.last_received_by(ADA).contains(sentence), "{}", story.last_received_by(ADA));
    }
    assert_eq!(story.count("SELECT count(*) FROM forgettings"), 0);
    story.end().await;
}

/// Proves: forgetting/said-words
#[tokio::test]
async fn words_forgotten_during_extraction_do_not_return_as_a_fact() {
    let story = Story::with("[conversation]\njoin_within = \"0s\"\n[memory]\nextract_every = 1").await;
    let fact = json!([{ "key": "wifi", "value": "hunter22", "layer": "A", "sources": [1] }]).to_string();
    let gate = Gate::default();
    story.background.then(Say::Hold(gate.clone())).says(&fact);
    story.fake.says(ADA, &format!("By the way: {WIFI}. {TALK}"));
    gate.reached().await;
    story.fake.says(ADA, "/forget hunter22 messages");
    story.fake.until(|fake| fake.texts(ADA).iter().any(|text| text.contains("Nothing is deleted"))).await;
    story.fake.says(ADA, &format!("/forget hunter22 {} messages", code(&story.last_received_by(ADA))));
    story.fake.until(|fake| fake.texts(ADA).iter().any(|text| text.contains("Forgotten"))).await;
    gate.open();
    story.pass(10 * MINUTE).await;
    assert!(!journal_contains(&story, "hunter22") && !story.reads("memory/MEMORY.md").contains("hunter22"));
    story.end().await;
}

/// Proves: forgetting/remains
#[tokio::test]
async fn a_large_file_is_looked_into_and_one_that_is_too_large_is_named() {
    let story = Story::begin().await;
    let padding = "nothing of interest\n".repeat(100_000);
    story.writes("memory/large.md", &padding);
    story.writes("memory/vast.md", &"x".repeat(17 * 1024 * 1024));
    for (key, large) in [("Secret pin", false), ("Other pin", true)] {
        story.say(ADA, &format!("/remember {key}: 4711 for the safe")).await;
        if large {
            story.writes("memory/large.md", &format!("{padding}{key}: 4711 for the safe\n"));
        }
        story.forgets(ADA, key).await;
        let told = story.last_received_by(ADA);
        assert_eq!(told.contains("Still in memory/large.md"), large, "{told}");
        assert!(told.contains("I could not search memory/vast.md") && !told.contains("Still in memory/vast"), "{told}");
        assert!(!told.contains(PROVED), "{told}");
    }
    story.end().await;
}
