//! A late question is valid on arrival: its ten minutes begin when it is shown.

use std::time::Duration;

use compline::store::CommitPoint::After;
use compline::time::Clock;

use super::{EVIL, asked_through, fetch, state};
use crate::support::every_channel::{Story, TestChannel, on_every_channel};
use crate::support::model::Say;
use crate::support::power::Cut;
use crate::support::story::{ADA, EVE, UNTRUSTED, canary};
use crate::support::web::Web;

on_every_channel! {
    stories:
        a_late_question_stays_open_as_long_as_it_says,
        a_late_question_left_unanswered_still_means_no,
        another_message_means_no_also_before_the_question_came;
    crash_tests:
        a_question_delayed_by_a_power_cut_is_still_open_on_arrival;
}

const MINUTE: Duration = Duration::from_secs(60);

/// Ada was asked while no message reached her, and receives the question an hour later.
async fn asked_an_hour_ago(channel: TestChannel) -> (Story, Web) {
    let (story, web) = asked_through(channel, EVIL, |story| story.fake.server_error_next(1_000)).await;
    assert_eq!(story.received_by(ADA).len(), 1, "only what came before: {:?}", story.received_by(ADA));
    story.pass(60 * MINUTE).await;
    assert_eq!(state(&story, 1), "open", "nobody was asked yet");
    story.fake.clear_faults();
    for _ in 0..20 {
        if story.received_by(ADA).len() > 1 {
            break;
        }
        story.pass(Duration::from_secs(30)).await;
    }
    assert!(story.last_received_by(ADA).contains("10 minutes"), "{:?}", story.received_by(ADA));
    (story, web)
}

/// Promise (gate/time-to-answer): The time to answer a question starts when it reaches you, so a
/// late question is still open when it arrives; the same holds for the two weeks to decide about a
/// skill.
async fn a_late_question_stays_open_as_long_as_it_says(channel: TestChannel) {
    let (story, web) = asked_an_hour_ago(channel).await;
    story.pass(9 * MINUTE).await;
    let question = story.fake.sent(ADA).last().unwrap().message_id;
    story.model.says("It says: the page.");
    story.fake.presses(ADA, question, "/yes 1");
    story.answered().await;
    assert_eq!((state(&story, 1).as_str(), web.asked()), ("yes", vec!["/a".to_owned()]));
    assert_eq!(story.last_received_by(ADA), "It says: the page.");
    story.end().await;
}

/// Proves: gate/time-to-answer
async fn a_late_question_left_unanswered_still_means_no(channel: TestChannel) {
    let (story, web) = asked_an_hour_ago(channel).await;
    story.pass(11 * MINUTE).await;
    assert_eq!(state(&story, 1), "expired");
    story.say(ADA, "/yes 1").await;
    assert!(story.last_received_by(ADA).contains("is over"));
    assert_eq!(web.connections(), 0);
    story.end().await;
}

/// Proves: gate/time-to-answer
async fn another_message_means_no_also_before_the_question_came(channel: TestChannel) {
    let (story, web) = asked_through(channel, EVIL, |story| story.fake.server_error_next(1_000)).await;
    story.model.says("As you like.");
    story.fake.says(ADA, "never mind");
    story.answered().await;
    assert_eq!((state(&story, 1).as_str(), web.connections()), ("refused", 0));
    story.fake.clear_faults();
    story.pass(6 * MINUTE).await;
    story.end().await;
}

/// Proves: gate/time-to-answer
fn a_question_delayed_by_a_power_cut_is_still_open_on_arrival(channel: TestChannel) {
    let beside = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let web = beside.block_on(Web::of(&[("/a", "<p>the page</p>")]));
    let mut crash_test = channel.crash_test("");
    crash_test.story.fetch_through(web.fetcher());
    crash_test
        .story
        .model
        .then(Say::Text("Noted.".to_owned()))
        .calls("web_fetch", fetch(EVIL))
        .says("It says: the page.");
    let five = Duration::from_secs(5);
    assert!(!crash_test.start(Some(Cut::at(After, "ask the person"))));
    crash_test.story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter"));
    assert!(!crash_test.pass(five));
    crash_test.story.fake.says(ADA, &format!("what now? {}", canary(ADA)));
    assert!(crash_test.pass(five));
    crash_test.bury();
    let clock = &crash_test.story.clock;
    clock.set(clock.now().plus(60 * MINUTE));
    assert!(!crash_test.start(None));
    assert!(!crash_test.pass(five));
    crash_test.story.fake.says(ADA, "/yes 1");
    assert!(!crash_test.pass(five));
    assert_eq!(
        (state(&crash_test.story, 1).as_str(), web.connections()),
        ("yes", 1),
        "{:?}",
        crash_test.story.received_by(ADA)
    );
    crash_test.end();
}
