//! Idle time: costs nothing.

use std::time::Duration;

use crate::support::story::{ADA, Story, canary};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Promise (operation/idle-week): An idle week makes no model calls, except for the summary of the
/// last conversation before it.
#[tokio::test]
async fn an_idle_week_calls_no_model() {
    let mut story = Story::begin().await;
    for _ in 0..7 {
        story.pass(DAY).await;
        story.restart().await;
    }
    assert_eq!(story.model.requests().len() + story.background.requests().len(), 0);
    assert_eq!(story.count("SELECT count(*) FROM spending"), 0);
    story.end().await;
}

/// Proves: operation/idle-week
#[tokio::test]
async fn a_week_after_a_talk_costs_its_summary_and_no_more() {
    let mut story = Story::begin().await;
    story.say(ADA, &format!("good night {}", canary(ADA))).await;
    for _ in 0..7 {
        story.pass(DAY).await;
        story.restart().await;
    }
    assert_eq!((story.model.requests().len(), story.background.requests().len()), (1, 1));
    assert_eq!(story.count("SELECT count(*) FROM spending"), 2);
    story.end().await;
}

/// Promise (privacy/raw-originals): The raw originals of messages are deleted after a week; each
/// text is stored once in the journal.
#[tokio::test]
async fn the_raw_originals_are_gone_after_a_week() {
    let story = Story::begin().await;
    story.say(ADA, &format!("good night {}", canary(ADA))).await;
    assert_eq!(story.count("SELECT count(*) FROM inbox WHERE raw LIKE '%canary%'"), 1);
    for _ in 0..9 {
        story.pass(DAY).await;
        story.say(ADA, "good morning").await;
    }
    assert_eq!(story.count("SELECT count(*) FROM inbox WHERE raw LIKE '%canary%'"), 0);
    assert_eq!(
        story.count("SELECT count(*) FROM texts WHERE text LIKE '%canary%'"),
        1,
        "the text stands in the journal, once"
    );
    story.end().await;
}
