//! Edits of answered messages: shown with the next message, in their own frame, the same after a
//! restart, and gone with the message.

use std::time::Duration;

use crate::support::model::words;
use crate::support::story::{ADA, EVE, Story, UNTRUSTED, canary};

const NEXT_CONVERSATION: Duration = Duration::from_secs(7 * 3600);
const SHOWN: &str = "(Edited since: their message of ";

/// Ada writes something and is answered. Returns the number of her message.
async fn told(story: &Story) -> i64 {
    let message = story.fake.says(ADA, &format!("dinner is at five {}", canary(ADA)));
    story.answered().await;
    message
}

async fn edits(story: &Story, message: i64, text: &str) {
    // Telegram numbers edits by the second.
    story.pass(Duration::from_secs(1)).await;
    story.fake.edits(ADA, message, text);
    story.settle().await;
}

/// Promise (conversation/edits): If you edit a message after it was answered, the assistant is
/// shown the new text with your next message; an edit alone calls no model.
#[tokio::test]
async fn an_edit_after_the_answer_is_shown_with_the_next_message() {
    let mut story = Story::begin().await;
    let message = told(&story).await;
    let asked = story.model.asked();
    edits(&story, message, "dinner is at six").await;
    edits(&story, message, "dinner is at seven").await;
    // An update without a change of the text, as for a link preview.
    edits(&story, message, "dinner is at seven").await;
    assert_eq!(story.model.asked(), asked);
    story.say(ADA, "who comes?").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains(SHOWN) && prompt.contains("now says:)\n> dinner is at seven"), "{prompt}");
    assert!(!prompt.contains("at six"), "only the newest text counts");
    story.say(ADA, "and who cooks?").await;
    assert_eq!(story.model.last_prompt().matches(SHOWN).count(), 1, "it is shown once, and stays");
    let before = story.model.last_prompt();
    story.restart().await;
    story.say(ADA, "thanks").await;
    let after = story.model.last_prompt();
    let head = &before[..before.rfind("and who cooks?").unwrap()];
    assert!(after.contains(head), "{before}\n\n{after}");
    assert!(story.model.chats().iter().all(|request| request.label().is_trusted()));
    story.end().await;
}

/// Proves: conversation/edits
#[tokio::test]
async fn an_edit_of_an_earlier_conversation_is_shown_in_the_next_one_and_goes_with_its_message() {
    let story = Story::begin().await;
    let message = told(&story).await;
    edits(&story, message, "dinner is at six").await;
    story.pass(NEXT_CONVERSATION).await;
    story.say(ADA, "good evening").await;
    assert!(story.model.last_prompt().contains("> dinner is at six"), "{}", story.model.last_prompt());
    let name = format!("m{ADA}:{message}");
    crate::support::injected_events::comes(&story, ADA, "d1", crate::support::injected_events::deleted(&name)).await;
    story.say(ADA, "who comes?").await;
    assert!(!story.model.last_prompt().contains("at six"), "{}", story.model.last_prompt());
    assert!(!crate::support::injected_events::journal_contains_text(&story, "at six"));
    story.end().await;
}

/// Proves: trust/commands
#[tokio::test]
async fn an_edited_command_reaches_no_model() {
    let story = Story::begin().await;
    told(&story).await;
    let command = story.fake.says(ADA, "/approve 12 a3f9");
    story.answered().await;
    edits(&story, command, "/approve 12 a3f9c21b").await;
    story.say(ADA, "and now?").await;
    let prompt = story.model.last_prompt();
    assert!(!prompt.contains(SHOWN) && !prompt.contains("a3f9"), "{prompt}");
    story.end().await;
}

/// Proves: conversation/edits
#[tokio::test]
async fn an_edit_from_outside_marks_the_turn_that_is_shown_it() {
    let story = Story::begin().await;
    let message = told(&story).await;
    let page = format!("{UNTRUSTED} {}", "and so on and on for a hundred characters or more ".repeat(5));
    story.fake.forwards(ADA, EVE, &page);
    story.answered().await;
    story.say(ADA, "/new").await;
    // What is pasted into an edit keeps the label of its source.
    edits(&story, message, &page).await;
    story.say(ADA, "who comes?").await;
    let request = story.model.chats().pop().unwrap();
    let prompt = words(&request);
    assert!(prompt.contains("now says:)\n<untrusted source=\"forward\">"), "{prompt}");
    assert!(!request.label().is_trusted());
    assert_eq!(story.text("SELECT label FROM turns ORDER BY id DESC LIMIT 1"), "forward");
    story.end().await;
}
