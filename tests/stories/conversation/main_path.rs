//! Main path: a message in, an answer out.

use crate::support::every_channel::{TestChannel, on_every_channel};
use crate::support::story::ADA;

on_every_channel! {
    stories:
        a_message_is_answered;
}

/// Promise (conversation/answered): Every message you send gets an answer.
async fn a_message_is_answered(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.model.says("Hello, Ada.");
    story.say(ADA, "hello").await;
    assert_eq!(story.received_by(ADA), ["Hello, Ada."]);
    story.end().await;
}
