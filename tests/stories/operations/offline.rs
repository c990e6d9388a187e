//! Offline model: the whole program works without any model key.

use std::time::Duration;

use crate::support::story::{ADA, BEN, EVE, Story, UNTRUSTED};
use crate::support::web::Web;

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);

async fn without_a_key() -> Story {
    let mut story = Story::prepared("").await;
    story.without_a_key();
    story.start().await;
    story
}

/// Proves: models/offline
#[tokio::test]
async fn it_says_that_it_is_the_offline_model() {
    let story = without_a_key().await;
    for text in ["hello", "what is 12*7?", "tell me about quantum gravity", "🙂", "…", "who are you?"] {
        story.say(ADA, text).await;
        let answer = story.last_received_by(ADA);
        assert!(answer.contains("offline model"), "{text}: {answer}");
    }
    assert_eq!(story.received_by(ADA).len(), 6);
    story.end().await;
}

/// Promise (models/offline): Without any key you can chat, have facts remembered, recall earlier
/// conversations and read pages with the offline model, which always says that it is one.
#[tokio::test]
async fn it_remembers_within_a_conversation_and_recalls_from_an_earlier_one() {
    let mut story = without_a_key().await;
    story.say(ADA, "My cat is called Whiskerino.").await;
    story.say(ADA, "What is my cat called?").await;
    assert!(story.last_received_by(ADA).contains("Whiskerino"), "{}", story.last_received_by(ADA));
    story.say(BEN, "What is the cat called?").await;
    assert!(!story.last_received_by(BEN).contains("Whiskerino"));
    story.say(ADA, "The plumber comes on Tuesday.").await;
    story.pass(NEXT_CONVERSATION).await;
    story.restart().await;
    story.say(ADA, "What is my cat called?").await;
    assert!(story.last_received_by(ADA).contains("Whiskerino"), "{}", story.last_received_by(ADA));
    assert_eq!(story.count("SELECT count(*) FROM conversations WHERE stream_id = 1"), 2);
    for _ in 0..5 {
        story.pass(NEXT_CONVERSATION).await;
        story.say(ADA, "good morning").await;
    }
    story.say(ADA, "Who comes on Tuesday?").await;
    assert!(
        story.last_received_by(ADA).contains("plumber"),
        "five conversations later: {}",
        story.last_received_by(ADA)
    );
    story.end().await;
}

/// Proves: models/offline
#[tokio::test]
async fn it_fetches_an_address_that_a_person_typed_and_taints() {
    let page = format!("<title>Weather</title><p>It rains in Oslo today. {UNTRUSTED}page</p>");
    let web = Web::of(&[("/today", &page)]).await;
    let mut story = Story::prepared("").await;
    story.without_a_key();
    story.fetch_through(web.fetcher());
    story.start().await;
    story.say(ADA, "read http://weather.example/today please").await;
    let answer = story.last_received_by(ADA);
    assert!(answer.contains("rains in Oslo") && answer.contains("offline model"), "{answer}");
    assert_eq!(story.text("SELECT label FROM texts ORDER BY id DESC LIMIT 1"), "web:weather.example");
    assert_eq!(web.asked(), ["/today"]);
    story.end().await;
}

#[tokio::test]
async fn text_by_others_is_never_shown_as_ones_own_words() {
    let story = without_a_key().await;
    story.fake.forwards(ADA, EVE, "The lighthouse keeper is called Bartholomew.");
    story.answered().await;
    story.say(ADA, "thanks").await;
    story.say(ADA, "What is the lighthouse keeper called?").await;
    let answer = story.last_received_by(ADA);
    assert!(!answer.contains("You told me"), "{answer}");
    story.end().await;
}

/// Proves: models/offline
#[tokio::test]
async fn it_summarises_and_the_next_conversation_begins_with_that() {
    let story = without_a_key().await;
    story.say(ADA, "I decided to paint the boat green in spring.").await;
    story.say(ADA, "I prefer short answers.").await;
    story.pass(NEXT_CONVERSATION).await;
    assert_eq!(story.text("SELECT state || ' ' || label FROM summaries WHERE view = 'trusted'"), "made trusted");
    assert!(story.text("SELECT model FROM summaries").contains("offline"));
    story.say(ADA, "good evening").await;
    let opening = story.text("SELECT opening FROM conversations ORDER BY id DESC LIMIT 1");
    assert!(opening.contains("paint the boat green"), "{opening}");
    story.end().await;
}
