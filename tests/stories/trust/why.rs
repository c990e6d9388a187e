//! `/why`: where the last answer, a note or a fact comes from.

use compline::model::Purpose;
use serde_json::json;

use crate::support::channel::Channel;
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::{Say, usual};
use crate::support::story::{ADA, BEN, EVE, UNTRUSTED};
use crate::support::web::Web;

on_every_channel! {
    stories:
        the_last_answer_says_what_it_was_made_of,
        a_file_that_was_sent_is_named,
        a_note_says_by_whose_hand_it_is_and_from_which_conversation,
        a_fact_says_since_when_it_has_its_value,
        a_note_from_outside_is_traced_to_its_source,
        proposals_are_the_owners;
}

const WALK: &str = "Today we went for a long walk along the river with the children and our dog Rex, and in the evening we sat in the garden and talked.";
const NOTHING: &str = "Nothing from outside had a part in it.";

/// The answer to `/why` with these words.
async fn why(story: &Story, person: i64, of: &str) -> String {
    story.say(person, &format!("/why {of}")).await;
    story.last_received_by(person).replace(['\\', '`'], "")
}

fn check(told: &str, parts: &[&str]) {
    for part in parts {
        assert_eq!(told.matches(part).count(), 1, "{part:?} in {told}");
    }
}

/// Promise (trust/why): You can ask where the last answer, a note or a fact of yours comes from: by
/// whose hand, when, in which conversation, and from which text from outside, each named once.
async fn the_last_answer_says_what_it_was_made_of(channel: TestChannel) {
    let web = Web::of(&[("/today", &format!("<p>{UNTRUSTED}rain</p>"))]).await;
    let mut story = channel.prepare_story("");
    story.fetch_through(web.fetcher());
    story.start().await;
    assert_eq!(why(&story, ADA, "").await, "I have not answered you yet.");
    story.say(ADA, "hello").await;
    let told = why(&story, ADA, "").await;
    check(&told, &["I had: your message;", "USER.md", "memory/MEMORY.md", "my last answer (12:00)", NOTHING]);
    assert!(!told.contains("I used the tools") && !told.contains("said before"), "{told}");

    story.model.calls("web_fetch", json!({ "url": "http://news.example/today" })).says("It rains.");
    story.say(ADA, "look at http://news.example/today").await;
    let told = why(&story, ADA, "").await;
    check(&told, &["what was said before in the conversation", "I used the tools web_fetch.", "news.example"]);
    assert!(told.contains("It came in here: the assistant used web_fetch") && !told.contains(NOTHING), "{told}");

    story.fake.passes_on(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
    let told = why(&story, ADA, "").await.to_lowercase();
    let passed_on = if story.fake.name() == "telegram" {
        "text forwarded from another person"
    } else {
        "the preview of a web page"
    };
    check(&told, &["text from the web, news.example", passed_on, "that answer knew an earlier one"]);
    assert!(story.fake.name() != "telegram" || told.contains("with the message (“eve”)"), "{told}");
    story.end().await;
}

/// Proves: trust/why
async fn a_file_that_was_sent_is_named(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.sends_file(ADA, "permit.txt", &format!("{UNTRUSTED}permit"));
    story.answered().await;
    let told = why(&story, ADA, "").await;
    assert!(told.contains("(“permit.txt”)"), "{told}");
    story.end().await;
}

/// Proves: trust/why
async fn a_note_says_by_whose_hand_it_is_and_from_which_conversation(channel: TestChannel) {
    let story = channel.begin_story().await;
    let note = json!({ "title": "Tea", "content": "Green, at 70 degrees.", "kind": "preference" });
    story.model.calls("remember", note).says("Noted.");
    story.say(ADA, "I like green tea").await;
    let told = why(&story, ADA, "memory/tea.md").await;
    let conversation = "conversation of 12:00 (/conversations 1)";
    check(&told, &["memory/tea.md", "from the assistant, a note", conversation, NOTHING]);
    assert!(!told.contains("was changed"), "{told}");
    story.writes("memory/tea.md", &format!("{}\nIn the morning.\n", story.reads("memory/tea.md")));
    check(&why(&story, ADA, "tea").await, &["It was changed once since", "by you, by hand", conversation]);
    story.say(BEN, "hello").await;
    assert!(why(&story, BEN, "tea").await.contains("no such note"), "{}", story.last_received_by(BEN));
    story.end().await;
}

/// Proves: trust/why
async fn a_fact_says_since_when_it_has_its_value(channel: TestChannel) {
    let story = channel.story_with("[memory]\nextract_every = 1").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => {
            let fact = json!({ "key": "dog", "value": "Rex", "category": "fact", "layer": "A", "sources": [1] });
            Say::Text(json!({ "facts": [fact], "corrections": [] }).to_string())
        }
        _ => usual(request),
    });
    story.say(ADA, WALK).await;
    let told = why(&story, ADA, "Dog").await;
    check(&told, &["“dog: Rex” is in experience/default.md", "facts from a conversation", "conversations 1", NOTHING]);

    story.say(ADA, "/remember Cat: Tom").await;
    check(&why(&story, ADA, "cat").await, &["“Cat: Tom” is in memory/MEMORY.md", "you, with a command", NOTHING]);
    story.say(ADA, "/remember Tea: green").await;
    story.pass(std::time::Duration::from_secs(3600)).await;
    story.writes("memory/MEMORY.md", &story.reads("memory/MEMORY.md").replace("Tom", "Bruno"));
    check(&why(&story, ADA, "fact cat").await, &["“Cat: Bruno”", "since 13:00", "you, by hand"]);
    check(&why(&story, ADA, "tea").await, &["“Tea: green”", "since 12:00", "you, with a command"]);
    assert_eq!(why(&story, ADA, "fact bird").await, "I know no fact with that key.");
    story.say(BEN, "hello").await;
    assert_eq!(why(&story, BEN, "fact cat").await, "I know no fact with that key.");
    story.end().await;
}

/// Proves: trust/why
async fn a_note_from_outside_is_traced_to_its_source(channel: TestChannel) {
    let web = Web::of(&[("/tea", &format!("<p>{UNTRUSTED}boil it</p>"))]).await;
    let mut story = channel.prepare_story("");
    story.fetch_through(web.fetcher());
    story.start().await;
    let note = json!({ "title": "Tea", "content": "Boil it.", "kind": "reference" });
    story.model.calls("web_fetch", json!({ "url": "http://tea.example/tea" })).calls("remember", note).says("Noted.");
    story.say(BEN, "keep http://tea.example/tea").await;
    let told = why(&story, BEN, "tea").await;
    check(&told, &["memory/untrusted/tea.md", "Text that nobody typed here", "That file came from an answer ("]);
    check(&told, &["the assistant used web_fetch", "text from the web, tea.example"]);
    story.end().await;
}

/// Proves: trust/why
async fn proposals_are_the_owners(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(BEN, "hello").await;
    for of in ["1", "#1"] {
        let told = why(&story, BEN, of).await;
        assert!(!told.contains("proposal"), "{told}");
    }
    assert!(why(&story, ADA, "1").await.contains("no proposal"), "{}", story.last_received_by(ADA));
    check(&why(&story, BEN, "").await, &["your message", NOTHING]);
    story.end().await;
}
