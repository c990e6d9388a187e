//! Failed deliveries: retried for a long time before they are given up, regardless of clock
//! changes.

use std::sync::Arc;
use std::time::Duration;

use compline::model::ModelError;
use compline::time::Clock;

use crate::support::model::{Gate, Say, usual};
use crate::support::story::{ADA, BEN, Story, canary};
use crate::support::terminal_client::TerminalClient;

const AT_ONCE: &str = "[conversation]\njoin_within = \"0s\"";
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// More failures than any test needs.
const ALL: usize = 10_000;

/// States of the deliveries, in order.
fn outbox(story: &Story) -> String {
    story.text("SELECT group_concat(kind || ' ' || state, ', ') FROM (SELECT kind, state FROM outbox ORDER BY id)")
}

/// Tests for the answer that Ada waits for, also when it is marked as a possible repeat.
fn came(story: &Story) -> bool {
    story.received_by(ADA).iter().any(|text| text.ends_with("the answer that matters"))
}

/// Switches the computer off for `span`.
async fn off(story: &mut Story, span: Duration) {
    story.stop().await;
    story.clock.set(story.clock.now().plus(span));
    story.start().await;
}

/// Proves: delivery/giving-up
#[tokio::test]
async fn a_reply_delayed_while_the_computer_was_off_survives_the_first_failure() {
    let mut story = Story::with(AT_ONCE).await;
    story.model.says("the answer that matters");
    story.fake.server_error_next(ALL);
    story.say(ADA, &format!("well? {}", canary(ADA))).await;
    assert_eq!(outbox(&story), "reply pending");
    off(&mut story, 8 * DAY).await;
    story.fake.clear_faults();
    story.fake.server_error_next(1);
    story.pass(HOUR).await;
    assert!(came(&story), "{:?}", story.received_by(ADA));
    story.end().await;
}

/// Promise (delivery/giving-up): An undelivered message is given up only after it is a week old and
/// has been tried for a day; you are told once, when delivery works again. Answers for a terminal
/// wait until you return.
#[tokio::test]
async fn a_week_old_reply_tried_for_a_day_is_given_up_and_reported_once() {
    let mut story = Story::with(AT_ONCE).await;
    story.model.says("one").says("two");
    story.fake.server_error_next(ALL);
    story.say(ADA, &format!("first {}", canary(ADA))).await;
    story.say(ADA, "second").await;
    off(&mut story, 7 * DAY + HOUR).await;
    story.pass(12 * HOUR).await;
    assert!(outbox(&story).starts_with("reply pending, reply pending"), "{}", outbox(&story));
    story.restart().await;
    story.pass(14 * HOUR).await;
    assert!(outbox(&story).starts_with("reply failed, reply pending"), "{}", outbox(&story));
    story.pass(26 * HOUR).await;
    assert!(outbox(&story).starts_with("reply failed, reply failed"), "{}", outbox(&story));
    off(&mut story, 7 * DAY).await;
    story.pass(60 * HOUR).await;
    assert!(
        outbox(&story).contains("notice failed, notice failed"),
        "what tells of it grew old itself: {}",
        outbox(&story)
    );
    story.fake.clear_faults();
    story.pass(10 * MINUTE).await;
    let told = |text: &String| text.contains("for more than a week, so I gave up on them");
    let heard = story.received_by(ADA);
    assert_eq!(heard.iter().filter(|text| told(text)).count(), 1, "{heard:?}");
    assert!(!heard.iter().any(|text| text == "one" || text == "two"), "{heard:?}");
    story.end().await;
}

/// Proves: delivery/giving-up
#[tokio::test]
async fn an_answer_waits_for_its_terminal_as_long_as_it_takes() {
    let mut story = Story::with(AT_ONCE).await;
    let mut seat = TerminalClient::take(&story, "Ada").await;
    let gate = Gate::default();
    story.model.then(Say::Hold(gate.clone())).says("the answer that matters");
    seat.says("1", &format!("well? {}", canary(ADA))).await;
    gate.reached().await;
    drop(seat);
    gate.open();
    story.pass(MINUTE).await;
    for _ in 0..2 {
        assert_eq!(outbox(&story), "reply pending");
        off(&mut story, 8 * DAY).await;
        story.pass(2 * DAY).await;
    }
    let mut seat = TerminalClient::take(&story, "Ada").await;
    assert_eq!(seat.next("message").await["markdown"], "the answer that matters");
    story.end().await;
}

/// Lets the first attempt to deliver an answer fail while the clock is `ahead`.
async fn failed_ahead(ahead: Duration) -> Story {
    let story = Story::with(AT_ONCE).await;
    story.clock.set(story.clock.now().plus(ahead));
    story.fake.server_error_next(1);
    story.model.says("the answer that matters");
    story.fake.says(ADA, &format!("well? {}", canary(ADA)));
    story.until(async || story.count("SELECT count(*) FROM outbox WHERE attempts = 1") == 1).await;
    story
}

/// Promise (time/clock-ahead): A clock that ran ahead for a while delays nothing once it is
/// corrected: no answer, flood limit, summary or fact.
#[tokio::test]
async fn a_clock_that_was_ahead_holds_no_delivery_up() {
    for ahead in [2 * HOUR, 400 * DAY] {
        let story = failed_ahead(ahead).await;
        let wrong = story.clock.now();
        story.clock.set(wrong.minus(ahead));
        story.pass(5 * MINUTE).await;
        assert!(came(&story), "{ahead:?}");
        story.end().await;

        let mut story = failed_ahead(ahead).await;
        story.stop().await;
        story.clock.set(wrong.minus(ahead));
        story.start().await;
        story.pass(5 * MINUTE).await;
        assert!(came(&story), "{ahead:?}, restarted");
        story.end().await;
    }
}

/// Proves: time/clock-ahead
#[tokio::test]
async fn a_flood_limit_under_a_clock_that_was_ahead_holds_nothing_up() {
    let mut story = Story::with(AT_ONCE).await;
    let (right, gate) = (story.clock.now(), Gate::default());
    story.model.then(Say::Hold(gate.clone())).says("the answer that matters");
    story.fake.says(ADA, &format!("well? {}", canary(ADA)));
    gate.reached().await;
    story.clock.set(right.plus(3 * DAY));
    // The server's own clock stays right.
    story.fake.set_now(Arc::new(move || right.0));
    story.fake.flood(ADA, 7);
    gate.open();
    story.until(async || story.count("SELECT count(*) FROM addresses WHERE wait_until > 0") == 1).await;
    story.stop().await;
    story.clock.set(right.plus(MINUTE));
    story.fake.set_now(Arc::new(move || right.plus(MINUTE).0));
    story.start().await;
    story.pass(MINUTE).await;
    assert!(came(&story), "{:?}", story.received_by(ADA));
    story.end().await;
}

/// Proves: time/clock-ahead
#[tokio::test]
async fn jobs_postponed_by_a_fast_clock_run_once_it_is_corrected() {
    let open = |table: &str, state: &str| format!("SELECT count(*) FROM {table} WHERE {state} AND attempts > 0");
    let jobs = [
        open("summaries", "state IN ('wanted', 'standin')"),
        open("extractions", "state IN ('wanted', 'asked')"),
        open("compactions", "state = 'wanted'"),
    ];
    let story = Story::with(AT_ONCE).await;
    story.background.otherwise(|_| Say::Fail(ModelError::Later { after: None, what: "it is down".to_owned() }));
    let right = story.clock.now();
    story.clock.set(right.plus(2 * DAY));
    let talk = "a little story about a lighthouse, its keeper, and the long winter in which nobody came to see either";
    story.say(BEN, &format!("{talk} {}", canary(BEN))).await;
    story.say(BEN, "/new").await;
    for number in 0..6 {
        story.say(ADA, &format!("{number}: {talk} {}", canary(ADA))).await;
    }
    story.model.counts(75_000);
    story.say(ADA, "full").await;
    story.pass(Duration::from_secs(5)).await;
    for job in &jobs {
        assert!(story.count(job) > 0, "nothing was put off: {job}");
    }
    story.clock.set(right);
    story.background.otherwise(usual);
    story.pass(3 * MINUTE).await;
    for job in &jobs {
        assert_eq!(story.count(job), 0, "{job}");
    }
    story.end().await;
}
