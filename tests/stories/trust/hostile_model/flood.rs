//! Floods: messages of strangers and guests fill neither the disk nor the queue, and cause at most
//! a few lines of output.

use std::time::Duration;

use serde_json::json;

use super::groups::{ALLOWED, BOT, FAMILY};
use crate::support::signal::{FakeSignal, group_id, uuid};
use crate::support::story::{ADA, BEN, EVE, Story, StoryOver, UNTRUSTED, canary};
use crate::support::two_channels::TwoChannels;

const MINUTE: Duration = Duration::from_secs(60);

async fn family() -> Story {
    let story = Story::with(ALLOWED).await;
    story.fake.group(FAMILY, "The family");
    story
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn strangers_leave_a_count_and_hear_a_few_lines_a_day() {
    let story = StoryOver::<TwoChannels>::begin().await;
    let strangers: Vec<i64> = (8_000..8_020).collect();
    for person in &strangers {
        story.fake.telegram.person(*person, "Eve", None);
        story.fake.signal.person(*person, "Eve", None);
        for n in 0..15 {
            story.fake.telegram.says(*person, &format!("{UNTRUSTED}{n} {}", "x".repeat(3_000)));
            story.fake.signal.says(*person, &format!("{UNTRUSTED}{n} {}", "x".repeat(1_000)));
        }
    }
    story.pass(MINUTE).await;
    let fake = &story.fake;
    let heard = |person: &i64| [fake.telegram.sent(*person).len(), fake.signal.sent(*person).len()];
    let lines: Vec<usize> = strangers.iter().flat_map(heard).collect();
    assert!(lines.iter().all(|lines| (1..=5).contains(lines)), "each hears at least one: {lines:?}");
    assert!(lines.iter().sum::<usize>() < 100, "and all of them few: {lines:?}");
    assert_eq!(story.count("SELECT count(*) FROM strangers"), 40);
    assert_eq!(story.count("SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM texts)"), 0);
    assert_eq!(story.count("SELECT coalesce(sum(length(raw)), 0) FROM inbox"), 0);
    assert_eq!(story.model.asked(), 0);
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn one_guest_makes_us_write_one_line() {
    let story = family().await;
    for n in 0..30 {
        story.fake.says_in(FAMILY, EVE, &format!("{BOT} {UNTRUSTED}{n}"));
    }
    story.pass(MINUTE).await;
    let full = story.received_by(FAMILY).iter().filter(|text| text.contains("great many")).count();
    assert_eq!(full, 1, "{:?}", story.received_by(FAMILY));
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn many_guests_leave_room_for_who_is_known() {
    let story = family().await;
    let guests: Vec<i64> = (8_000..8_050).collect();
    for guest in &guests {
        story.fake.person(*guest, "Eve", None);
        for n in 0..5 {
            story.fake.says_in(FAMILY, *guest, &format!("{BOT} {UNTRUSTED}{n}"));
        }
    }
    story.fake.says_in(FAMILY, BEN, &format!("{BOT} and I?"));
    story.pass(MINUTE).await;
    assert_eq!(
        story.count("SELECT count(*) FROM messages WHERE kind = 'said' AND guest = 0 AND state <> 'answered'"),
        0
    );
    let full = story.received_by(FAMILY).iter().filter(|text| text.contains("great many")).count();
    assert!(full <= 1, "{:?}", story.received_by(FAMILY));
    let most = story
        .count("SELECT max(n) FROM (SELECT count(*) AS n FROM messages WHERE turn_id IS NOT NULL GROUP BY turn_id)");
    assert!(most <= 60, "{most} messages in one prompt");
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn ten_thousand_reactions_are_one_row_for_each_message() {
    let story = family().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story.fake.says_in(FAMILY, BEN, &format!("{BOT} hello"));
    story.answered().await;
    let (mine, ours) = (story.fake.sent(ADA)[0].message_id, story.fake.sent(FAMILY)[0].message_id);
    for n in 0..2_500 {
        story.fake.reacts(ADA, ADA, mine, ["👍", "👎"][n % 2]);
        story.fake.reacts(FAMILY, EVE, ours, ["👍", "👎"][n % 2]);
        story.fake.reacts(FAMILY, BEN, ours, "удали");
        story.fake.reacts(FAMILY, BEN, ours + 1_000, "👍");
    }
    story.pass(MINUTE).await;
    assert_eq!((story.count("SELECT count(*) FROM reactions"), story.model.asked()), (1, 2));
    assert_eq!(story.count("SELECT coalesce(sum(length(raw)), 0) FROM inbox WHERE fate = 'nothing'"), 0);
    story.say(ADA, "and now?").await;
    assert!(story.model.last_prompt().len() < 20_000);
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn deletions_of_what_never_was_are_few_rows() {
    let settings = format!("[groups]\nallowed = [\"signal:{}\"]\n", group_id(FAMILY));
    let story = StoryOver::<FakeSignal>::with(&settings).await;
    story.fake.group(FAMILY, "The family");
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    for n in 0..150 {
        for (person, group) in [(ADA, false), (EVE, false), (EVE, true)] {
            let at = 1_000 + n + if group { 5_000 } else { 0 };
            let mut data = json!({ "timestamp": at, "remoteDelete": { "timestamp": 7 + n } });
            if group {
                data["groupInfo"] = json!({ "groupId": group_id(FAMILY), "type": "DELIVER" });
            }
            story.fake.envelope(json!({ "account": story.fake.account(), "envelope": {
                "sourceUuid": uuid(person), "timestamp": at, "serverReceivedTimestamp": at, "dataMessage": data,
            } }));
        }
    }
    story.pass(MINUTE).await;
    assert!(story.count("SELECT count(*) FROM deleted_ahead") <= 200);
    assert_eq!(story.count("SELECT coalesce(sum(length(raw)), 0) FROM inbox WHERE fate IN ('nothing', 'stranger')"), 0);
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE gone_at IS NOT NULL"), 0);
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn an_album_without_end_is_answered_all_the_same() {
    let story = family().await;
    for n in 0..80 {
        let photo = story.fake.from(EVE).in_chat(FAMILY).photo(b"sea").media_group("endless");
        photo.caption(&format!("{BOT} {n} {UNTRUSTED}")).send();
        story.pass(Duration::from_secs(1)).await;
    }
    story.pass(MINUTE).await;
    assert!(story.model.asked() >= 2, "one does not wait for ever");
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said' AND state IN ('queued', 'claimed')"), 0);
    story.end().await;
}

/// Proves: trust/hidden-orders
#[tokio::test]
async fn an_overlong_message_is_not_sent_to_the_model() {
    let story = family().await;
    let long = format!("{BOT} {UNTRUSTED} {}", "x".repeat(250_000));
    story.fake.says_in(FAMILY, EVE, &long);
    story.fake.from(BEN).in_chat(FAMILY).text(&format!("{BOT} what?")).external_quote("Eve", &long).send();
    story.pass(MINUTE).await;
    assert!(story.model.requests().iter().all(|request| request.estimate_tokens() < 100_000));
    story.fake.says_in(FAMILY, BEN, &format!("{BOT} still there?"));
    story.answered().await;
    assert_eq!(story.last_received_by(FAMILY), "ok");
    story.end().await;
}
