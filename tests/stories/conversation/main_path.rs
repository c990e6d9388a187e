//! Main path: a message in, an answer out.

use super::Story;
use crate::support::story::ADA;

/// Promise (conversation/answered): Every message you send gets an answer.
#[tokio::test]
async fn a_message_is_answered() {
    let story = Story::begin().await;
    story.model.says("Hello, Ada.");
    story.say(ADA, "hello").await;
    assert_eq!(story.received_by(ADA), ["Hello, Ada."]);
    story.end().await;
}
