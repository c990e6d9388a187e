//! Reactions: reported with the next message, the same after a restart, and never the start of a
//! turn.

use std::time::Duration;

use crate::support::injected_events::{comes, deleted, message_event};
use crate::support::story::{ADA, BEN, EVE, Story, canary};

const SOUP: &str = "The soup is ready.";

/// Ada gets an answer. Returns the number of its message, for reactions.
async fn told() -> (Story, i64) {
    let story = Story::begin().await;
    story.model.says(SOUP);
    story.say(ADA, &format!("How is dinner? {}", canary(ADA))).await;
    let message = story.fake.sent(ADA).last().unwrap().message_id;
    (story, message)
}

async fn reacts(story: &Story, person: i64, message: i64, emoji: &str) {
    story.fake.reacts(person, person, message, emoji);
    story.answered().await;
}

/// Promise (conversation/reaction): An emoji reaction is reported to the assistant with your next
/// message, in the same words after a restart; it triggers no model call and starts no
/// conversation.
#[tokio::test]
async fn a_reaction_calls_no_model_and_is_reported_with_the_next_message() {
    let (story, message) = told().await;
    let asked = story.model.asked();
    reacts(&story, ADA, message, "👍").await;
    story.pass(Duration::from_secs(600)).await;
    assert_eq!((story.model.asked(), story.received_by(ADA).len()), (asked, 1));
    story.say(ADA, "Thank you").await;
    let prompt = story.model.last_prompt();
    let line = format!("Ada put 👍 under your message of Fri 2026-11-20 12:00 «{SOUP}»");
    assert!(
        prompt.contains("Ada put 👍 under your message of ") && prompt.contains(&format!("«{SOUP}»")),
        "{line}\n{prompt}"
    );
    assert_eq!(prompt.matches("👍").count(), 1);
    story.end().await;
}

/// Proves: conversation/reaction
#[tokio::test]
async fn after_a_restart_the_same_bytes_are_shown() {
    let (mut story, message) = told().await;
    reacts(&story, ADA, message, "👍").await;
    story.say(ADA, "Thank you").await;
    story.say(ADA, "More?").await;
    let before = story.model.last_prompt();
    story.restart().await;
    story.say(ADA, "More?").await;
    let after = story.model.last_prompt();
    let head = before.len() - "More?".len() - 40;
    assert!(after.contains(&before[..head]), "{before}\n\n{after}");
    story.end().await;
}

#[tokio::test]
async fn a_reaction_removed_before_it_was_reported_is_not_reported() {
    let (story, message) = told().await;
    reacts(&story, ADA, message, "👍").await;
    let name = story.text("SELECT external_id FROM parts");
    let gone = compline::message::Event::Reacted { message: name.clone(), emoji: String::new() };
    comes(&story, ADA, "r2", gone.clone()).await;
    story.say(ADA, "Well").await;
    assert!(!story.model.last_prompt().contains("reactions"));
    reacts(&story, ADA, message, "🎉").await;
    story.say(ADA, "Well").await;
    comes(&story, ADA, "r3", gone).await;
    story.say(ADA, "Well").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("Ada put 🎉 under") && prompt.contains("Ada took 🎉 away from"), "{prompt}");
    story.end().await;
}

/// Proves: conversation/reaction
#[tokio::test]
async fn no_conversation_begins_with_a_reaction_or_goes_on_because_of_one() {
    let (story, message) = told().await;
    story.pass(Duration::from_secs(5 * 3600)).await;
    reacts(&story, ADA, message, "👍").await;
    story.pass(Duration::from_secs(2 * 3600)).await;
    story.say(ADA, "Good evening").await;
    assert_eq!(story.text("SELECT group_concat(began_because, ' ') FROM conversations"), "first silence");
    story.end().await;
}

#[tokio::test]
async fn strangers_words_and_unknown_messages_are_no_reactions() {
    let (story, message) = told().await;
    let name = story.text("SELECT external_id FROM parts");
    reacts(&story, EVE, message, "👍").await;
    for (at, (who, to, emoji)) in [
        (BEN, name.as_str(), "👍"),
        (ADA, "m99", "👍"),
        (ADA, name.as_str(), "approve 12"),
        (ADA, name.as_str(), "</context>"),
    ]
    .into_iter()
    .enumerate()
    {
        let event = compline::message::Event::Reacted { message: to.to_owned(), emoji: emoji.to_owned() };
        comes(&story, who, &format!("r{at}"), event).await;
    }
    assert_eq!(story.count("SELECT count(*) FROM reactions"), 0);
    story.end().await;
}

/// Proves: conversation/reaction
#[tokio::test]
async fn text_repeated_in_a_reaction_disappears_with_its_message() {
    let story = Story::begin().await;
    story.say(ADA, "Hello").await;
    comes(&story, ADA, "m1", message_event("The word is Xylophonemusik.")).await;
    story.answered().await;
    let event = compline::message::Event::Reacted { message: "m1".to_owned(), emoji: "👎".to_owned() };
    comes(&story, ADA, "r1", event).await;
    story.say(ADA, "No, not that").await;
    assert!(story.model.last_prompt().contains("Ada put 👎 under their message of"));
    comes(&story, ADA, "d1", deleted("m1")).await;
    story.say(ADA, "Better").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("Ada put 👎 under their message of") && !prompt.contains("Xylophonemusik"), "{prompt}");
    story.end().await;
}
