//! Times on the page: by the clock of the visitor, and days of use by that of the home.

use std::time::Duration;

use serde_json::json;

use crate::support::browser::{Browser, SERVED};
use crate::support::story::{ADA, BEN, NOON, StoryOver};
use crate::support::telegram::FakeTelegram;

type Story = StoryOver<FakeTelegram>;

/// Proves: time/own-zone
#[tokio::test]
async fn each_page_shows_the_times_of_its_visitor() {
    let mut story = Story::prepared(&format!("timezone = \"Europe/Vienna\"\n{SERVED}")).await;
    story.people_are(&[("Ada", "owner", ADA), ("Ben", "owner", BEN)]);
    story.people_also(BEN, "zone = \"Asia/Tokyo\"");
    // In UTC it is still the day before.
    story.clock.set(NOON.plus(Duration::from_secs(41_400)));
    story.start().await;
    for (person, name, zone, time, reminder) in
        [(ADA, "Ada", "Europe/Vienna", "00:30", "today 01:30"), (BEN, "Ben", "Asia/Tokyo", "08:30", "today 09:30")]
    {
        story.model.calls("remind", json!({ "when": "in 1 hour", "text": "the oven" })).says("I will.");
        story.say(person, "remind me of the oven").await;
        let browser = Browser::of(story.app(), name).await;
        let id = story.count("SELECT max(id) FROM conversations");
        for (path, shown) in [
            ("/", reminder),
            ("/schedule", reminder),
            ("/chat", time),
            ("/conversations", time),
            (&format!("/conversations/{id}"), time),
            ("/status", time),
        ] {
            let page = browser.get(path).await.text;
            assert!(page.contains(&format!(" {zone}\">{shown}</time>")), "{name} {path} lacks {shown}: {page}");
            assert_eq!(
                page.matches(&format!(" {zone}\">")).count(),
                page.matches("<time").count(),
                "{name} {path}: {page}"
            );
        }
        let calendar = browser.get("/conversations").await.text;
        assert!(calendar.contains("21 November 2026: 1 message of yours"), "{calendar}");
        let usage = browser.get("/usage").await.text;
        assert!(usage.contains(" to 21 November 2026"), "{usage}");
    }
    // It is the next day in Tokyo, and not in Vienna.
    story.pass(Duration::from_secs(16 * 3600)).await;
    story.say(BEN, "Are you there?").await;
    let ben = Browser::of(story.app(), "Ben").await;
    assert!(ben.get("/conversations").await.text.contains("22 November 2026: 1 message of yours"));
    // A search by days means those of his clock.
    for (limit, is_found) in [("since=2026-11-22", true), ("until=2026-11-21", false)] {
        let page = ben.get(&format!("/search?q=there&{limit}")).await.text;
        assert_eq!(page.contains("<mark>there</mark>"), is_found, "{limit}: {page}");
    }
    assert!(ben.get("/usage").await.text.contains(" to 21 November 2026"), "a day of the budget is one of the home");
    story.end().await;
}
