//! Linked accounts: one person with several addresses has one stream and one conversation, and
//! linking never admits a stranger.

use std::time::Duration;

use compline::model::ModelError;
use compline::time::Clock;
use serde_json::json;

use crate::support::model::Say;
use crate::support::signal::{number, uuid};
use crate::support::story::{ADA, BEN, EVE, Story, StoryOver, canary};
use crate::support::two_channels::TwoChannels;

const HOUR: Duration = Duration::from_hours(1);

/// Code in the last message to a person.
fn code_for(story: &Story, person: i64) -> String {
    let said = story.last_received_by(person);
    said.split_whitespace().find(|word| word.len() == 9 && word.as_bytes()[4] == b'-').unwrap_or(&said).to_owned()
}

/// Promise (people/linked-address): An address is added to yours only by a code that you requested
/// or by the configuration; the code works once and makes no one an owner.
#[tokio::test]
async fn a_code_from_the_other_address_joins_it() {
    let story = Story::begin().await;
    story.say(ADA, &format!("the boat is red {}", canary(ADA))).await;
    story.say(ADA, "/link").await;
    let code = code_for(&story, ADA);
    story.say(EVE, &code).await;
    assert!(story.last_received_by(EVE).contains("Ada"), "{}", story.last_received_by(EVE));
    story.say(EVE, "what colour is it?").await;
    assert!(story.model.last_prompt().contains("the boat is red"), "the conversation goes on");
    assert_eq!(story.received_by(EVE).len(), 2, "the answer goes to where the question came from");
    assert_eq!(story.count("SELECT count(*) FROM streams WHERE person_id IS NOT NULL"), 1);
    story.say(ADA, "/whoami").await;
    assert!(story.last_received_by(ADA).contains(&EVE.to_string()), "{}", story.last_received_by(ADA));
    story.end().await;
}

/// Proves: people/linked-address
#[tokio::test]
async fn a_link_code_works_once_and_a_wrong_guess_fails() {
    let story = Story::begin().await;
    story.say(BEN, "/link").await;
    let code = code_for(&story, BEN);
    story.say(BEN, &code).await;
    story.say(EVE, "AAAA-AAAA").await;
    assert_eq!(story.count("SELECT count(*) FROM addresses WHERE person_id = 2"), 1);
    story.say(EVE, &code).await;
    assert_eq!(story.count("SELECT count(*) FROM addresses WHERE person_id = 2"), 2, "his own line did not use it up");
    story.say(EVE, "/people").await;
    assert!(
        !story.last_received_by(EVE).contains("Ada"),
        "a member's code makes no owner: {}",
        story.last_received_by(EVE)
    );
    story.end().await;
}

/// Promise (people/joined): If you were admitted under two names, joining them also joins their
/// conversations.
#[tokio::test]
async fn a_person_admitted_twice_keeps_their_conversations_when_joined() {
    let story = Story::begin().await;
    story.say(ADA, "/pair Zoe").await;
    story.say(EVE, &code_for(&story, ADA)).await;
    story.say(EVE, "the boat is red").await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    assert!(!story.model.last_prompt().contains("the boat is red"), "they are two so far");
    story.say(ADA, "/link").await;
    let code = code_for(&story, ADA);
    story.say(EVE, &code).await;
    assert!(story.last_received_by(EVE).contains("once more"), "{}", story.last_received_by(EVE));
    assert_eq!(
        story.count("SELECT count(*) FROM people WHERE removed_at IS NULL"),
        3,
        "she is told first what it means"
    );
    story.say(EVE, &code).await;
    assert!(story.last_received_by(EVE).contains("From now on"), "{}", story.last_received_by(EVE));
    story.pass(HOUR).await;
    story.say(EVE, "and now?").await;
    assert_eq!(story.count("SELECT count(DISTINCT stream_id) FROM messages WHERE kind = 'said'"), 1);
    assert_eq!(story.count("SELECT count(*) FROM texts WHERE scope = 'person:3'"), 0);
    assert_eq!(story.count("SELECT count(*) FROM people WHERE removed_at IS NULL"), 2);
    story.say(ADA, "/search boat").await;
    assert!(story.last_received_by(ADA).contains("red"), "{}", story.last_received_by(ADA));
    story.stop_here().await;
}

/// Proves: people/linked-address
#[tokio::test]
async fn a_configured_person_can_only_be_linked_in_the_configuration() {
    let story = Story::begin().await;
    story.say(ADA, "/link").await;
    story.say(BEN, &code_for(&story, ADA)).await;
    assert!(story.last_received_by(BEN).contains("configuration"), "{}", story.last_received_by(BEN));
    story.say(BEN, &format!("still me {}", canary(BEN))).await;
    assert_eq!(story.count("SELECT count(*) FROM addresses WHERE person_id = 1 AND adapter = 'telegram'"), 1);
    story.end().await;
}

/// Proves: channels/two-at-once
#[tokio::test]
async fn two_addresses_at_once_keep_one_order() {
    let story = Story::begin().await;
    story.say(ADA, "/link").await;
    story.say(EVE, &code_for(&story, ADA)).await;
    for n in 0..20 {
        story.fake.says(if n % 2 == 0 { ADA } else { EVE }, &format!("message {n}"));
    }
    story.pass(Duration::from_secs(60)).await;
    let order = story.text("SELECT group_concat(text, ',') FROM (SELECT t.text FROM texts t JOIN messages m ON m.id = t.message_id WHERE m.kind = 'said' ORDER BY m.id)");
    let expected: Vec<String> = (0..20).map(|n| format!("message {n}")).collect();
    assert_eq!(order, expected.join(","));
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said' AND state <> 'answered'"), 0);
    let crossing = "SELECT count(*) FROM turns a JOIN turns b ON a.id < b.id AND b.claimed_at < a.ended_at";
    assert_eq!(story.count(crossing), 0, "never two turns at once");
    story.end().await;
}

/// Promise (channels/telegram-and-signal): You can start a conversation on Telegram in the morning
/// and continue it on Signal in the evening; answers come where you last wrote.
#[tokio::test]
async fn asked_in_the_morning_on_telegram_and_gone_on_with_in_the_evening_on_signal() {
    let story = StoryOver::<TwoChannels>::begin().await;
    story.fake.telegram.says(ADA, &format!("the boat is red {}", canary(ADA)));
    story.answered().await;
    story.pass(5 * HOUR).await;
    story.fake.signal.says(ADA, "what colour is it?");
    story.answered().await;
    assert!(story.model.last_prompt().contains("the boat is red"), "the conversation goes on");
    assert_eq!((story.fake.telegram.texts(ADA).len(), story.fake.signal.texts(ADA).len()), (1, 1));
    assert_eq!(story.count("SELECT count(*) FROM conversations"), 1);
    story.pass(7 * HOUR).await;
    story.fake.telegram.says(ADA, "good morning");
    story.answered().await;
    assert_eq!(story.count("SELECT count(*) FROM conversations"), 2, "silence is silence on all of them");
    story.end().await;
}

/// Promise (channels/two-at-once): If you write on two channels at once, the messages are answered
/// in order of arrival, one at a time.
#[tokio::test]
async fn both_channels_at_once_are_one_order_and_never_two_turns() {
    let story = StoryOver::<TwoChannels>::begin().await;
    for n in 0..30 {
        let words = format!("message {n}");
        if n % 2 == 0 {
            story.fake.telegram.says(ADA, &words)
        } else {
            story.fake.signal.says(ADA, &words)
        };
        if n % 7 == 0 {
            story.answered().await;
        }
    }
    story.pass(Duration::from_secs(60)).await;
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said' AND state = 'answered'"), 30);
    let crossing = "SELECT count(*) FROM turns a JOIN turns b ON a.id < b.id AND b.claimed_at < a.ended_at";
    assert_eq!(story.count(crossing), 0, "never two turns at once");
    let backwards = "SELECT count(*) FROM messages a JOIN messages b ON a.id < b.id AND b.turn_id < a.turn_id WHERE a.kind = 'said' AND b.kind = 'said'";
    assert_eq!(story.count(backwards), 0, "what came first is answered first");
    story.end().await;
}

/// Promise (channels/each-answered): If you write on two channels at once, or while the model is
/// unreachable, each message is answered on the channel that it came from.
#[tokio::test]
async fn messages_on_two_channels_are_each_answered_where_they_came_from() {
    let story = StoryOver::<TwoChannels>::begin().await;
    let heard =
        |story: &StoryOver<TwoChannels>| (story.fake.telegram.texts(ADA).len(), story.fake.signal.texts(ADA).len());
    for is_down in [false, true] {
        let before = heard(&story);
        let down = || Say::Fail(ModelError::Later { after: None, what: "it is down".to_owned() });
        story.model.then(if is_down { down() } else { Say::Text("to the first".to_owned()) });
        story.fake.telegram.says(ADA, &format!("is the ferry late? {}", canary(ADA)));
        story.fake.signal.says(ADA, "and who is cooking?");
        story.answered().await;
        story.pass(Duration::from_secs(120)).await;
        let after = heard(&story);
        assert!(after.0 > before.0 && after.1 > before.1, "{is_down}: {before:?}, {after:?}");
        let unanswered = "SELECT count(*) FROM messages m WHERE kind = 'said' AND NOT EXISTS (
            SELECT 1 FROM messages r JOIN outbox o ON o.message_id = r.id
            WHERE r.kind = 'reply' AND r.turn_id = m.turn_id AND o.address_id = m.address_id)";
        assert_eq!(story.count(unanswered), 0, "{is_down}");
    }
    story.end().await;
}

/// Promise (channels/preferred): Reminders and notices go to your preferred channel, or else to
/// where you last wrote.
#[tokio::test]
async fn a_reminder_goes_to_where_one_likes_to_be_reached_else_to_where_one_wrote_last() {
    for (prefer, on_signal) in [("", false), ("prefer = \"signal\"\n", true)] {
        let mut story = StoryOver::<TwoChannels>::prepared("").await;
        story.people_also(ADA, prefer);
        story.start().await;
        story.fake.signal.says(ADA, "hello from here");
        story.answered().await;
        let reminder = json!({ "when": "in 2 hours", "text": "water the plants" });
        story.model.calls("remind", reminder).says("I will.");
        story.fake.telegram.says(ADA, &format!("remind me of the plants in two hours {}", canary(ADA)));
        story.answered().await;
        story.pass(3 * HOUR).await;
        let reached = |texts: Vec<String>| texts.iter().any(|text| text.contains("water the plants"));
        let (telegram, signal) = (reached(story.fake.telegram.texts(ADA)), reached(story.fake.signal.texts(ADA)));
        assert_eq!((telegram, signal), (!on_signal, on_signal), "with {prefer:?}");
        story.end().await;
    }
}

/// Promise (people/telephone-number): A new holder of your old telephone number is treated as a
/// stranger; a known person who hides their number is still answered.
#[tokio::test]
async fn a_new_holder_of_a_known_number_is_a_stranger() {
    let story = StoryOver::<TwoChannels>::begin().await;
    story.fake.signal.says(ADA, &format!("it is me {}", canary(ADA)));
    story.answered().await;
    let now = story.clock.now().0;
    story.fake.signal.envelope(json!({
        "account": story.fake.signal.account(),
        "envelope": {
            "sourceNumber": number(ADA), "sourceUuid": uuid(EVE), "sourceDevice": 1, "timestamp": now, "serverReceivedTimestamp": now,
            "dataMessage": { "timestamp": now, "message": "it is me, with a new telephone" },
        },
    }));
    story.answered().await;
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'said'"), 1);
    assert!(story.fake.signal.texts(EVE).iter().all(|text| !text.contains("ok")), "she is a stranger");
    story.end().await;
}
