//! Proposals and several owners: each is told, the text stays with its own, and the first decision
//! counts.

use std::time::Duration;

use super::skill_gate::{shown_hash, submit};
use crate::support::model::Say;
use crate::support::story::{ADA, BEN, Story, canary};

/// A story with two owners who have both written.
async fn two_owners() -> Story {
    let mut story = Story::prepared("").await;
    story.people_are(&[("Ada", "owner", ADA), ("Zoe", "owner", BEN)]);
    story.start().await;
    story.say(ADA, "hello").await;
    story.say(BEN, "hello").await;
    story
}

/// Promise (gate/all-owners): Every owner is told of a proposal; its text is shown unasked only to
/// the one from whose conversations it comes. The first decision counts, and the others are told.
#[tokio::test]
async fn each_owner_is_told_and_the_first_decision_counts() {
    let story = two_owners().await;
    story.model.calls("submit_skill", submit("tea", "create", "Warm the pot first.")).says("I have proposed it.");
    story.say(ADA, "please remember how I like my tea").await;
    let hash = shown_hash(&story);
    let told = story.last_received_by(BEN);
    assert!(told.contains("from the conversations of Ada") && !told.contains('/'), "{told}");
    let shows = story.fake.sent(BEN).pop().unwrap().buttons();
    assert_eq!(shows, [("Show it".to_owned(), "/show 1".to_owned())]);
    assert!(!told.contains("Warm the pot") && !told.contains(&hash) && !told.contains("tea"), "{told}");
    story.say(BEN, "/show 1").await;
    assert!(story.last_received_by(BEN).contains(&hash), "an owner may look: {}", story.last_received_by(BEN));
    story.say(BEN, &format!("/approve 1 {hash}")).await;
    assert!(story.skill("tea").is_some());
    assert!(story.last_received_by(ADA).contains("Proposal 1 was approved by Zoe"), "{}", story.last_received_by(ADA));
    story.say(ADA, "/reject 1").await;
    assert!(story.last_received_by(ADA).contains("was approved already"), "{}", story.last_received_by(ADA));
    assert!(story.skill("tea").is_some());
    story.end().await;
}

/// Proves: gate/all-owners
#[tokio::test]
async fn an_only_owner_is_not_told_of_their_own_decision() {
    let story = Story::begin().await;
    story.model.calls("submit_skill", submit("tea", "create", "Warm the pot first.")).says("I have proposed it.");
    story.say(ADA, &format!("please {}", canary(ADA))).await;
    let hash = shown_hash(&story);
    story.command_line(&["review", "approve", "1", &hash]).await;
    story.settle().await;
    assert!(story.skill("tea").is_some());
    assert!(!story.last_received_by(ADA).contains("was approved"), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Promise (gate/after-the-answer): A proposal never comes before the answer that announces it.
#[tokio::test]
async fn a_proposal_comes_behind_the_answer_however_long_that_takes() {
    let story = Story::begin().await;
    let slow = vec![(Duration::from_secs(30), "I have proposed it.".to_owned())];
    story.model.calls("submit_skill", submit("tea", "create", "Warm the pot first.")).then(Say::Grow(slow));
    story.say(ADA, &format!("please {}", canary(ADA))).await;
    story.pass(Duration::from_secs(60)).await;
    let heard = story.received_by(ADA);
    assert!(heard.len() == 2 && heard[0] == "I have proposed it." && heard[1].contains("Hash: "), "{heard:?}");
    story.end().await;
}
