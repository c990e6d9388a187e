//! Quiet hours: what nobody asked for comes without a sound or in the morning; reminders and
//! answers come as always.

use std::time::Duration;

use compline::time::Clock;
use serde_json::json;

use crate::support::channel::{Channel, Start};
use crate::support::power::{CrashTest, Cut};
use crate::support::signal::FakeSignal;
use crate::support::story::{ADA, EVE, Story, StoryOver, UNTRUSTED, canary};
use crate::support::terminal_client::TerminalClient;
use compline::store::CommitPoint::{After, Before};

const HOUR: Duration = Duration::from_secs(3600);
const NIGHT: &str = "quiet_hours = \"22:00-07:00\"";
const AWAY: &str = "I was away";

async fn night_over<C: Start>(more: &str) -> StoryOver<C> {
    let mut story = StoryOver::<C>::prepared("").await;
    story.people_also(ADA, &format!("{NIGHT}\n{more}"));
    story.start().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    story
}

/// Switches the program off at noon, and on again the next day at 23:00: it tells of its absence.
async fn back_at_eleven<C: Channel>(story: &mut StoryOver<C>) {
    story.stop().await;
    story.clock.set(story.clock.now().plus(35 * HOUR));
    story.start().await;
    story.settle().await;
}

fn told<C: Channel>(story: &StoryOver<C>, words: &str) -> usize {
    story.received_by(ADA).iter().filter(|heard| heard.contains(words)).count()
}

/// Sound of the only message to Ada with these words.
fn is_silent(story: &Story, words: &str) -> bool {
    let sent = story.fake.sent(ADA);
    let found: Vec<bool> = sent.iter().filter(|sent| sent.text.contains(words)).map(|sent| sent.silent).collect();
    assert_eq!(found.len(), 1, "{words}: {:?}", story.received_by(ADA));
    found[0]
}

async fn wants_to_keep<C: Channel>(story: &StoryOver<C>) {
    let note = json!({ "title": "Tea", "content": "Warm the pot.", "kind": "preference" });
    story.model.calls("remember", note).says("Noted.");
    story.fake.passes_on(ADA, EVE, &format!("{UNTRUSTED}letter"));
    story.answered().await;
}

/// Promise (delivery/quiet-hours): In your quiet hours nothing that you did not ask for disturbs
/// you: it comes without a sound, or in the morning. Answers come at once, and what you set for
/// that time comes then.
#[tokio::test]
async fn at_night_a_notice_waits_a_question_is_silent_and_a_reminder_rings() {
    let mut story: Story = night_over("").await;
    back_at_eleven(&mut story).await;
    assert_eq!(told(&story, AWAY), 0, "it can wait");
    story.model.calls("remind", json!({ "when": "in 1 hour", "text": "the oven" })).says("It is set.");
    story.say(ADA, "remind me").await;
    assert!(!is_silent(&story, "It is set."), "an answer does not wait behind it");
    assert!(!story.model.last_prompt().contains(AWAY), "the model is not told that it arrived");
    wants_to_keep(&story).await;
    assert!(is_silent(&story, "Keep this?"));
    story.pass(2 * HOUR).await;
    assert!(!is_silent(&story, "the oven"), "it was asked for");
    assert_eq!(told(&story, AWAY), 0);
    story.pass(6 * HOUR).await;
    assert!(!is_silent(&story, AWAY));
    assert_eq!(story.clock.now().0 / 3_600_000 % 24, 7);
    story.say(ADA, "good morning").await;
    assert!(story.model.last_prompt().contains(AWAY), "now it has arrived");
    story.end().await;
}

/// Proves: delivery/quiet-hours
#[tokio::test]
async fn on_signal_which_knows_no_silence_a_question_waits_too() {
    let mut story: StoryOver<FakeSignal> = night_over("").await;
    back_at_eleven(&mut story).await;
    wants_to_keep(&story).await;
    assert_eq!((told(&story, "Noted."), told(&story, "Keep this?"), told(&story, AWAY)), (1, 0, 0));
    story.say(ADA, "anything new?").await;
    assert!(!story.model.last_prompt().contains("Keep this?"), "the model is not told that it arrived");
    story.pass(9 * HOUR).await;
    assert_eq!((told(&story, "Keep this?"), told(&story, AWAY)), (1, 1), "{:?}", story.received_by(ADA));
    story.say(ADA, "/yes 1").await;
    assert_eq!(story.text("SELECT state FROM keeps"), "kept", "its time began with the morning");
    story.end().await;
}

/// Proves: delivery/quiet-hours
#[tokio::test]
async fn quiet_hours_follow_the_clock_of_their_person() {
    for (zone, waits) in [("zone = \"America/New_York\"", 0), ("zone = \"Asia/Tokyo\"", 0), ("", 1)] {
        let mut story: Story = night_over(zone).await;
        back_at_eleven(&mut story).await;
        assert_eq!(told(&story, AWAY), 1 - waits, "{zone}");
        story.stop_here().await;
    }
}

/// Proves: delivery/quiet-hours
#[tokio::test]
async fn who_sits_at_the_terminal_is_not_disturbed_by_it() {
    let mut story: Story = night_over("prefer = \"terminal\"").await;
    let mut seat = TerminalClient::take(&story, "Ada").await;
    seat.says("q1", "hello from here").await;
    story.answered().await;
    drop(seat);
    back_at_eleven(&mut story).await;
    let mut seat = TerminalClient::take(&story, "Ada").await;
    wants_to_keep(&story).await;
    let note = json!({ "title": "Cake", "content": "Warm the oven.", "kind": "preference" });
    story.model.calls("remember", note).says("Noted too.");
    seat.says("q2", "and the cake").await;
    story.answered().await;
    while !seat.next("message").await["markdown"].as_str().unwrap().contains("Warm the oven.") {}
    story.stop_here().await;
}

/// Proves: delivery/power-cut
#[test]
fn what_is_kept_until_the_morning_survives_the_night_and_comes_once() {
    for (side, job) in
        [Before, After].into_iter().flat_map(|side| ["keep parts", "mark as sent"].map(|job| (side, job)))
    {
        let mut crash_test = CrashTest::prepared("");
        crash_test.story.people_also(ADA, NIGHT);
        assert!(!crash_test.start(None));
        assert!(!crash_test.during(async { crash_test.story.say(ADA, &format!("hello {}", canary(ADA))).await }));
        crash_test.away(35 * HOUR);
        crash_test.cut_next(Cut::at(side, job));
        assert!(crash_test.pass(9 * HOUR), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(HOUR));
        let heard = crash_test.story.received_by(ADA);
        let certain = heard.iter().filter(|text| text.contains(AWAY) && !text.contains("(possibly repeated)"));
        assert_eq!(certain.count(), 1, "{side:?} {job}: {heard:?}");
        crash_test.end();
    }
}
