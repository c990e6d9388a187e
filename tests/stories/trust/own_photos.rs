//! Photos that count as their sender's, where the configuration says so.

use serde_json::json;

use crate::support::channel::Channel;
use crate::support::signal::FakeSignal;
use crate::support::story::{ADA, EVE, Story, StoryOver};

const TRUSTS_PHOTOS: &str = "[conversation]\ntrust_own_photos = true";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n x";

async fn remind(story: &StoryOver<impl Channel>) -> String {
    story.model.calls("remind", json!({ "when": "2026-12-03 09:00", "text": "the dentist" }));
    story.say(ADA, "remind me of it").await;
    story.last_received_by(ADA)
}

/// Promise (trust/own-photos): If you set `trust_own_photos`, photos that you take and send count
/// as yours in their conversation; files and forwarded photos never do.
#[tokio::test]
async fn only_own_photos_are_vouched_for_by_the_setting() {
    let photo = |story: &Story| story.fake.from(ADA).photo(PNG).send();
    for (case, settings, sends, asks) in [
        ("by default", "", &photo as &dyn Fn(&Story) -> i64, true),
        ("by the setting", TRUSTS_PHOTOS, &photo, false),
        ("as a file", TRUSTS_PHOTOS, &|story: &Story| story.fake.sends_document(ADA, "a.png", "image/png", PNG), true),
        ("forwarded", TRUSTS_PHOTOS, &|story: &Story| story.fake.from(ADA).photo(PNG).forwarded_from(EVE).send(), true),
    ] {
        let story = Story::with(settings).await;
        sends(&story);
        story.answered().await;
        let said = remind(&story).await;
        assert_eq!(said.contains("/yes 1"), asks, "{case}: {said}");
        assert_eq!(story.count("SELECT count(*) FROM reminders"), i64::from(!asks), "{case}");
        story.end().await;
    }
}

/// Proves: trust/own-photos
#[tokio::test]
async fn signal_does_not_tell_what_was_forwarded_so_the_setting_has_no_effect_there() {
    let story = StoryOver::<FakeSignal>::with(TRUSTS_PHOTOS).await;
    story.fake.sends_photo(ADA, "my card", PNG);
    story.answered().await;
    let said = remind(&story).await;
    assert!(said.contains("/yes 1"), "{said}");
    assert_eq!(story.count("SELECT count(*) FROM grants"), 0);
    story.end().await;
}
