//! Delivery: whole answers in order, despite any network fault.

use std::time::Duration;

use compline::model::ModelError;

use crate::support::channel::Channel;
use crate::support::every_channel::{TestChannel, on_every_channel};
use crate::support::model::Say;
use crate::support::story::{ADA, BEN, NOON, canary};

on_every_channel! {
    stories:
        a_long_answer_comes_whole_in_order_and_within_the_limit,
        a_flood_limit_delays_its_whole_chat_and_no_other_chat,
        an_answer_whose_receipt_is_lost_is_repeated_once_and_says_so,
        a_receipt_lost_in_the_middle_repeats_that_part_alone,
        a_person_who_blocks_the_bot_is_left_alone_and_heard_after_unblocking,
        the_typing_sign_is_renewed_and_ends_with_the_turn,
        the_typing_sign_ends_while_the_model_is_away;
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Ten thousand characters that commonly break: markup, emojis, links, code.
fn long_answer() -> String {
    let mut answer = String::new();
    for n in 0..60 {
        answer.push_str(&format!(
            "Point {n:03}: `snake_case` and 2*3*4, **bold** 🌍👩‍👩‍👧, [a page](https://example.org/{n}).\n\n"
        ));
    }
    answer.push_str("```rust\n");
    for n in 60..160 {
        answer.push_str(&format!("let point_{n:03} = \"Point {n:03}: a < b && c > d\";\n"));
    }
    answer.push_str("```\n\nPoint 160: the end.");
    answer
}

/// Promise (delivery/long-answer): A long answer arrives complete and in order, with no code block
/// or link broken.
async fn a_long_answer_comes_whole_in_order_and_within_the_limit(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.strict(true);
    story.model.says(&long_answer());
    story.say(ADA, &format!("tell me all {}", canary(ADA))).await;
    story.pass(secs(10)).await;
    let sent = story.fake.sent(ADA);
    assert!(sent.len() >= 3, "{} parts", sent.len());
    for part in &sent {
        assert!(part.text.len() <= 2 * 4096 && part.is_marked_up, "the markup was refused:\n{}", part.text);
    }
    let whole = story.received_by(ADA).join("\n");
    let places: Vec<_> = (0..=160).map(|n| whole.find(&format!("Point {n:03}:")).unwrap()).collect();
    assert!(places.is_sorted());
    for expected in ["snake_case", "2*3*4", "a < b && c > d", "👩‍👩‍👧"] {
        assert!(whole.contains(expected), "{expected}");
    }
    assert_eq!(story.fake.violations(), [""; 0]);
    story.end().await;
}

/// Promise (delivery/flood-limit): A flood limit is waited out, and it delays no other chat.
async fn a_flood_limit_delays_its_whole_chat_and_no_other_chat(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.flood(ADA, 7);
    story.model.says("first").says("to Ben").says("second");
    story.say(ADA, &format!("one {}", canary(ADA))).await;
    story.say(BEN, &format!("hello {}", canary(BEN))).await;
    assert_eq!((story.received_by(ADA).len(), story.received_by(BEN)), (0, vec!["to Ben".to_owned()]));
    story.say(ADA, "two").await;
    story.fake.says(ADA, "/whoami");
    story.pass(secs(10)).await;
    assert_eq!(story.received_by(ADA).first().map(String::as_str), Some("first"));
    assert_eq!(story.received_by(ADA).iter().filter(|text| *text == "second").count(), 1);
    assert_eq!(story.received_by(ADA).len(), 3);
    assert!(story.fake.sent(ADA)[0].at_ms >= NOON.0 + 7_000);
    assert_eq!(story.fake.violations(), [""; 0], "something knocked before the time was over");
    story.end().await;
}

/// Promise (delivery/lost-receipt): If the receipt for an answer is lost, the answer is sent once
/// more and marked as a possible repeat.
async fn an_answer_whose_receipt_is_lost_is_repeated_once_and_says_so(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.drop_after_accept_next(1);
    story.model.says("The answer.");
    story.say(ADA, &format!("well? {}", canary(ADA))).await;
    story.pass(secs(600)).await;
    assert_eq!(story.received_by(ADA), ["The answer.", "(possibly repeated) The answer."]);
    assert_eq!(story.model.chats().len(), 1);
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'reply'"), 1);
    story.end().await;
}

/// Proves: delivery/lost-receipt
async fn a_receipt_lost_in_the_middle_repeats_that_part_alone(channel: TestChannel) {
    let story = channel.story_with("[conversation]\njoin_within = \"0s\"").await;
    story.model.says(&long_answer());
    story.fake.hold_answers();
    story.fake.says(ADA, &format!("tell me all {}", canary(ADA)));
    story.fake.until(|fake| fake.held() == 1).await;
    story.fake.drop_after_accept_next(1);
    story.fake.release_sends();
    story.pass(secs(600)).await;
    let heard = story.received_by(ADA);
    let marked: Vec<_> = heard.iter().enumerate().filter(|(_, text)| text.starts_with("(possibly repeated)")).collect();
    assert_eq!(marked.len(), 1);
    assert_eq!(marked[0].0, 2, "the second part is what was in doubt");
    assert!(heard[2].ends_with(&heard[1]));
    story.end().await;
}

/// Promise (delivery/blocked-bot): If you block the bot it stops trying to reach you, and it hears
/// you again once you unblock it.
async fn a_person_who_blocks_the_bot_is_left_alone_and_heard_after_unblocking(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.fake.blocks(ADA);
    story.say(ADA, &format!("are you there? {}", canary(ADA))).await;
    story.pass(secs(3600)).await;
    assert_eq!(story.text("SELECT state FROM outbox"), "failed");
    let tried = story.fake.calls().iter().filter(|call| *call == channel.sending_call()).count();
    assert_eq!(tried, 1, "a blocked chat is not tried again and again");
    story.fake.unblocks(ADA);
    story.model.says("Here I am.");
    story.say(ADA, "and now?").await;
    assert_eq!(story.received_by(ADA), ["Here I am."]);
    story.end().await;
}

/// Promise (delivery/typing): The typing indicator stops when the turn ends.
async fn the_typing_sign_is_renewed_and_ends_with_the_turn(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.then(Say::Grow(vec![(secs(59), "slow".to_owned())]));
    story.fake.says(ADA, &format!("well? {}", canary(ADA)));
    story.until(async || story.fake.typing(ADA) >= 3).await;
    story.until(async || story.received_by(ADA) == ["slow"]).await;
    let shown = story.fake.typing(ADA);
    story.pass(secs(3600)).await;
    assert_eq!(story.fake.typing(ADA), shown, "typing although nobody writes");
    story.end().await;
}

/// Proves: delivery/typing
async fn the_typing_sign_ends_while_the_model_is_away(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.otherwise(|_| Say::Fail(ModelError::NoCredit));
    story.fake.says(ADA, &format!("well? {}", canary(ADA)));
    story.until(async || story.received_by(ADA).len() == 1).await;
    story.pass(secs(10)).await;
    let shown = story.fake.typing(ADA);
    story.pass(secs(15)).await;
    assert_eq!(story.fake.typing(ADA), shown, "typing although nothing is on its way");
    story.end().await;
}
