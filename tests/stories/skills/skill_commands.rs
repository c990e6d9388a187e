//! Commands about proposals as shown on a phone: with buttons, in an owner's direct chat.

use super::skill_gate::{shown_hash, submit};
use crate::support::story::{ADA, BEN, Story};

#[tokio::test]
async fn a_proposal_shown_on_request_carries_its_buttons() {
    let story = Story::begin().await;
    story.model.calls("submit_skill", submit("tea", "create", "Warm the pot first.")).says("I have proposed it.");
    story.say(ADA, "please remember how I like my tea").await;
    let hash = shown_hash(&story);
    story.say(ADA, "/pending").await;
    let listed = story.fake.sent(ADA).pop().unwrap();
    let shows = [("Show 1".to_owned(), "/show 1".to_owned())];
    assert_eq!(listed.buttons(), shows, "who sees a list has not seen a diff");
    assert!(story.last_received_by(ADA).contains("add the skill tea") && !story.last_received_by(ADA).contains(&hash));

    story.say(BEN, &format!("/approve 1 {hash}")).await;
    assert!(story.last_received_by(BEN).contains("Only an owner"), "{}", story.last_received_by(BEN));
    assert_eq!(story.skill("tea"), None);

    story.say(ADA, "/show 1").await;
    let shown = story.fake.sent(ADA).pop().unwrap();
    let carried: Vec<String> = shown.buttons().into_iter().map(|(_, data)| data).collect();
    assert_eq!(carried, [format!("/approve 1 {hash}"), "/reject 1".to_owned(), "/why 1".to_owned()]);
    story.fake.presses(ADA, shown.message_id, &carried[0]);
    story.answered().await;
    assert!(story.last_received_by(ADA).contains("tea is live"), "{}", story.last_received_by(ADA));
    assert!(story.skill("tea").is_some());
    story.fake.presses(ADA, shown.message_id, &carried[1]);
    story.answered().await;
    assert!(story.last_received_by(ADA).contains("was approved already"), "{}", story.last_received_by(ADA));
    assert!(story.skill("tea").is_some());
    story.end().await;
}
