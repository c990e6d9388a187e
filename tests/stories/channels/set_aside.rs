//! A message refused by the server does not block its chat: it is set aside, reported, and can be
//! sent again.

use std::time::Duration;

use compline::store::CommitPoint::{After, Before};

use crate::support::every_channel::{TestChannel, on_every_channel};
use crate::support::power::Cut;
use crate::support::story::{ADA, BEN, canary};

on_every_channel! {
    stories:
        an_undeliverable_message_is_set_aside_reported_and_can_be_resent,
        while_the_server_takes_nothing_nothing_is_set_aside,
        deliveries_to_another_chat_prove_that_the_server_works,
        owners_hear_of_a_chat_that_takes_nothing_and_can_send_again,
        a_possibly_delivered_message_is_marked_when_resent;
    crash_tests:
        a_delivery_is_set_aside_and_resent_once_despite_a_power_cut;
}

const AT_ONCE: &str = "[conversation]\njoin_within = \"0s\"";
const MINUTE: Duration = Duration::from_secs(60);
/// More failures than any test needs.
const ALL: usize = 10_000;

const SET_ASIDE: &str = "SELECT count(*) FROM outbox WHERE set_aside > 0";

/// Number of texts that report a message as set aside.
fn told(texts: &[String]) -> usize {
    texts.iter().filter(|text| text.contains("I set it aside")).count()
}

fn with(texts: &[String], words: &str) -> usize {
    texts.iter().filter(|text| text.contains(words)).count()
}

/// Promise (delivery/undeliverable): One undeliverable message does not block a chat: it is set
/// aside, you are told once, and you can send it again. While the server accepts nothing at all,
/// everything waits.
async fn an_undeliverable_message_is_set_aside_reported_and_can_be_resent(channel: TestChannel) {
    let story = channel.story_with(AT_ONCE).await;
    story.fake.never_takes("poison");
    story.model.says("poison in a cup").says("the second answer").says("the third answer");
    story.say(ADA, &format!("first {}", canary(ADA))).await;
    story.say(ADA, "second").await;
    story.pass(2 * MINUTE).await;
    story.say(ADA, "third").await;
    let heard = story.received_by(ADA);
    assert_eq!((with(&heard, "second answer"), with(&heard, "third answer"), told(&heard)), (1, 1, 1), "{heard:?}");
    let status = story.command_line(&["status"]).await;
    assert_eq!(status.json["queues"]["set_aside"], 1);
    assert!(
        status.markdown.contains("set aside") && status.markdown.contains("compline resend"),
        "{}",
        status.markdown
    );
    story.fake.takes_everything();
    story.say(BEN, "/resend").await;
    assert_eq!(story.last_received_by(BEN), "Nothing is set aside.", "it is not his");
    story.say(ADA, "/resend").await;
    story.pass(MINUTE).await;
    let heard = story.received_by(ADA);
    assert_eq!((with(&heard, "poison in a cup"), told(&heard)), (1, 1), "{heard:?}");
    assert_eq!(story.count(SET_ASIDE), 0);
    story.end().await;
}

/// Proves: delivery/undeliverable
async fn while_the_server_takes_nothing_nothing_is_set_aside(channel: TestChannel) {
    let story = channel.story_with(AT_ONCE).await;
    story.model.says("to Ada").says("more to Ada").says("to Ben");
    story.fake.server_error_next(ALL);
    story.say(ADA, &format!("one {}", canary(ADA))).await;
    story.say(ADA, "two").await;
    story.say(BEN, &format!("hello {}", canary(BEN))).await;
    story.pass(120 * MINUTE).await;
    assert_eq!(story.count(SET_ASIDE), 0);
    story.fake.clear_faults();
    story.pass(6 * MINUTE).await;
    let heard = story.received_by(ADA);
    let order = |words: &str| heard.iter().position(|text| text.contains(words));
    assert!(order("to Ada").is_some() && order("to Ada") < order("more to Ada"), "{heard:?}");
    assert_eq!((heard.len(), told(&heard), with(&story.received_by(BEN), "to Ben")), (2, 0, 1), "{heard:?}");
    story.end().await;
}

/// Proves: delivery/undeliverable
async fn deliveries_to_another_chat_prove_that_the_server_works(channel: TestChannel) {
    let story = channel.story_with(AT_ONCE).await;
    story.fake.never_takes("poison");
    story.model.says("poison in a cup");
    story.say(ADA, &format!("well? {}", canary(ADA))).await;
    for _ in 0..20 {
        story.say(BEN, &format!("hello {}", canary(BEN))).await;
        story.pass(Duration::from_secs(10)).await;
    }
    assert_eq!((story.count(SET_ASIDE), told(&story.received_by(ADA))), (1, 1), "{:?}", story.received_by(ADA));
    story.end().await;
}

/// Proves: delivery/undeliverable
async fn owners_hear_of_a_chat_that_takes_nothing_and_can_send_again(channel: TestChannel) {
    let story = channel.story_with(AT_ONCE).await;
    story.fake.takes_nothing_for(BEN);
    story.model.says("Ben's own secret");
    story.say(BEN, &format!("a secret, please {}", canary(BEN))).await;
    for _ in 0..40 {
        story.say(ADA, &format!("hello {}", canary(ADA))).await;
        story.pass(Duration::from_secs(10)).await;
    }
    let heard = story.received_by(ADA);
    let about = |text: &&String| text.contains("Messages to Ben") && text.contains("cannot be delivered");
    assert_eq!(heard.iter().filter(about).count(), 1, "{heard:?}");
    assert_eq!(with(&heard, "secret"), 0, "{heard:?}");
    story.fake.takes_everything();
    let number = story.text("SELECT CAST(id AS TEXT) FROM outbox WHERE set_aside > 0");
    story.say(ADA, "/resend 99999").await;
    assert_eq!(story.last_received_by(ADA), "No delivery of that number is set aside.");
    let again = story.command_line(&["resend", &number]).await;
    assert!(!again.failed, "{}", again.markdown);
    story.pass(MINUTE).await;
    assert_eq!(with(&story.received_by(BEN), "Ben's own secret"), 1, "{:?}", story.received_by(BEN));
    story.end().await;
}

/// Proves: delivery/undeliverable
async fn a_possibly_delivered_message_is_marked_when_resent(channel: TestChannel) {
    let story = channel.story_with(AT_ONCE).await;
    story.fake.loses_answers_to("poison");
    story.model.says("poison in a cup").says("the second answer");
    story.say(ADA, &format!("first {}", canary(ADA))).await;
    story.say(ADA, "second").await;
    story.until(async || story.count(SET_ASIDE) == 1).await;
    story.fake.takes_everything();
    let before = with(&story.received_by(ADA), "poison");
    story.say(ADA, "/resend").await;
    story.pass(MINUTE).await;
    let heard = story.received_by(ADA);
    assert_eq!(with(&heard, "the second answer"), 1, "{heard:?}");
    let last = heard.iter().rfind(|text| text.contains("poison")).unwrap();
    assert!(last.contains("(possibly repeated)") || with(&heard, "poison") == before, "{heard:?}");
    story.end().await;
}

/// Proves: delivery/undeliverable
fn a_delivery_is_set_aside_and_resent_once_despite_a_power_cut(channel: TestChannel) {
    let jobs = ["set a delivery aside", "send again"];
    for (side, job) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut crash_test = channel.crash_test(AT_ONCE);
        assert!(!crash_test.start(None));
        crash_test.story.fake.never_takes("poison");
        crash_test.story.model.says("poison in a cup").says("the second answer");
        assert!(!crash_test.during(crash_test.story.say(ADA, &format!("first {}", canary(ADA)))));
        crash_test.cut_next(Cut::at(side, job));
        crash_test.story.fake.says(ADA, "second");
        let mut is_cut = crash_test.pass(2 * MINUTE);
        if !is_cut {
            crash_test.story.fake.takes_everything();
            crash_test.story.fake.says(ADA, "/resend");
            is_cut = crash_test.pass(MINUTE);
        }
        assert!(is_cut, "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(5 * MINUTE));
        if job == "set a delivery aside" {
            assert_eq!(crash_test.story.count(SET_ASIDE), 1, "{side:?} {job}");
            crash_test.story.fake.takes_everything();
            crash_test.story.fake.says(ADA, "/resend");
        }
        assert!(!crash_test.pass(5 * MINUTE));
        let heard = crash_test.story.received_by(ADA);
        assert_eq!(with(&heard, "poison in a cup"), 1, "{side:?} {job}: {heard:?}");
        assert!(with(&heard, "the second answer") >= 1 && told(&heard) == 1, "{side:?} {job}: {heard:?}");
        assert_eq!(crash_test.story.count(SET_ASIDE), 0, "{side:?} {job}");
        crash_test.end();
    }
}
