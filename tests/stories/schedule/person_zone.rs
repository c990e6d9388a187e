//! A person's own time zone: the times that they name and are shown are theirs, the day of the home
//! stays that of the home.

use std::time::Duration;

use serde_json::json;

use crate::support::story::{ADA, BEN, NOON, Story, canary};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

async fn ada_in(zone: &str, after: Duration) -> Story {
    let mut story = Story::prepared("").await;
    story.people_also(ADA, &format!("zone = \"{zone}\""));
    story.clock.set(NOON.plus(after));
    story.start().await;
    story
}

/// Promise (time/own-zone): The times that you name and that you are shown are those of your own
/// time zone, if you have one.
#[tokio::test]
async fn what_a_person_names_and_sees_is_by_their_own_clock() {
    let story = ada_in("Asia/Kathmandu", Duration::ZERO).await;
    story.model.calls("remind", json!({ "when": "2026-11-20 18:00", "text": "the oven" })).says("Noted.");
    story.say(ADA, &format!("remind me at six {}", canary(ADA))).await;
    let prompt = story.model.last_prompt();
    for part in ["Now: Friday, 20 November 2026 (Asia/Kathmandu)", "[2026-11-20 17:45]", "18:00 +05:45 Asia/Kathmandu"]
    {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    story.say(ADA, "/reminders").await;
    let listed = story.last_received_by(ADA);
    assert!(listed.contains("Asia/Kathmandu") && listed.contains("today 18:00"), "{listed}");
    story.pass(16 * MINUTE).await;
    assert!(story.last_received_by(ADA).contains("the oven"), "{:?}", story.received_by(ADA));
    story.say(ADA, "thanks").await;
    assert!(story.model.last_prompt().contains("[2026-11-20 18:00] reminder 1"), "{}", story.model.last_prompt());
    story.say(BEN, &format!("hello {}", canary(BEN))).await;
    assert!(story.model.last_prompt().contains("Now: Friday, 20 November 2026 (UTC)"), "{}", story.model.last_prompt());
    story.end().await;
}

/// Proves: time/own-zone
#[tokio::test]
async fn what_recurs_follows_the_summer_time_of_its_person() {
    // The clocks of New York go forward on 14 March 2027; those of the home never do.
    let story = ada_in("America/New_York", 113 * DAY + 8 * HOUR).await;
    story.model.calls("remind", json!({ "when": "0 9 * * *", "text": "the pills" })).says("Noted.");
    story.say(ADA, &format!("every day at nine {}", canary(ADA))).await;
    let told = || story.received_by(ADA).iter().filter(|heard| heard.contains("the pills")).count();
    let next = |after: Duration| assert_eq!(story.count("SELECT next_at FROM reminders"), NOON.plus(after).0);
    next(114 * DAY + HOUR);
    story.pass(16 * HOUR).await;
    assert_eq!(told(), 0, "it is eight there");
    story.pass(HOUR + MINUTE).await;
    assert_eq!(told(), 1);
    next(115 * DAY + HOUR);
    story.end().await;
}

/// Proves: time/own-zone
#[tokio::test]
async fn a_changed_zone_moves_what_recurs() {
    let mut story = ada_in("Asia/Kathmandu", Duration::ZERO).await;
    story.model.calls("remind", json!({ "when": "0 9 * * *", "text": "the pills" })).says("Noted.");
    story.say(ADA, &format!("every day at nine {}", canary(ADA))).await;
    assert_eq!(story.count("SELECT next_at FROM reminders"), NOON.plus(15 * HOUR + 15 * MINUTE).0);
    story.stop().await;
    story.people_are(&[("Ada", "owner", ADA), ("Ben", "member", BEN)]);
    story.start().await;
    story.pass(MINUTE).await;
    assert_eq!(story.count("SELECT next_at FROM reminders"), NOON.plus(21 * HOUR).0);
    story.end().await;
}
