//! Messages that nobody asked for: they do not wait in a terminal that nobody watches, and come no
//! more once their occasion has passed.

use std::time::Duration;

use compline::store::CommitPoint::{After, Before};
use serde_json::{Value, json};

use crate::skill_gate::submit;
use crate::support::channel::Channel;
use crate::support::every_channel::{CrashTest, Story, TestChannel, on_every_channel};
use crate::support::power::Cut;
use crate::support::story::{ADA, EVE, UNTRUSTED, canary};
use crate::support::terminal_client::TerminalClient;

on_every_channel! {
    stories:
        what_waits_in_a_terminal_goes_where_its_person_writes_next,
        one_question_from_a_script_is_no_place_for_a_reminder,
        a_proposal_decided_during_an_outage_is_not_delivered_behind_it,
        a_question_closed_during_an_outage_says_so_when_it_comes;
    crash_tests:
        a_reminder_that_leaves_a_terminal_comes_once_despite_a_power_cut,
        what_is_dropped_stays_dropped_after_a_power_cut;
}

const AT_ONCE: &str = "[conversation]\njoin_within = \"0s\"";
const MINUTE: Duration = Duration::from_secs(60);
const PREFERRED: &str = "prefer = \"terminal\"";
/// More failures than any test needs.
const ALL: usize = 10_000;

fn told(story: &Story, words: &str) -> usize {
    story.received_by(ADA).iter().filter(|heard| heard.contains(words)).count()
}

/// Deliveries that wait in the terminal.
const IN_TERMINAL: &str = "SELECT count(*) FROM outbox o JOIN addresses a ON a.id = o.address_id
     WHERE a.adapter = 'terminal' AND o.state = 'pending'";

fn wish(minutes: u32, words: &str) -> Value {
    json!({ "when": format!("in {minutes} minutes"), "text": words })
}

/// Proves: channels/terminal-closed
async fn what_waits_in_a_terminal_goes_where_its_person_writes_next(channel: TestChannel) {
    let story = channel.begin_story().await;
    let mut seat = TerminalClient::take(&story, "Ada").await;
    story.model.calls("remind", wish(10, "the oven")).says("Noted.");
    seat.says("q1", &format!("remind me {}", canary(ADA))).await;
    story.answered().await;
    drop(seat);
    story.pass(11 * MINUTE).await;
    assert_eq!((story.count(IN_TERMINAL), told(&story, "the oven")), (1, 0), "there is no other place yet");
    story.say(ADA, "hello from the train").await;
    assert_eq!((story.count(IN_TERMINAL), told(&story, "the oven")), (0, 1), "{:?}", story.received_by(ADA));
    assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'sent'"), 1);
    story.end().await;
}

/// Proves: channels/terminal-closed
async fn one_question_from_a_script_is_no_place_for_a_reminder(channel: TestChannel) {
    let mut story = channel.prepare_story("");
    story.people_also(ADA, PREFERRED);
    story.start().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    let script = TerminalClient::of_a_script(&story, "Ada").await;
    let mut seat = TerminalClient::take(&story, "Ada").await;
    story.model.calls("remind", wish(10, "the oven")).says("Noted.");
    seat.says("q1", "remind me").await;
    story.answered().await;
    drop(seat);
    story.pass(11 * MINUTE).await;
    assert_eq!(told(&story, "the oven"), 1, "{:?}", story.received_by(ADA));
    drop(script);
    story.end().await;
}

/// Proves: delivery/power-cut
fn a_reminder_that_leaves_a_terminal_comes_once_despite_a_power_cut(channel: TestChannel) {
    for (side, job) in [Before, After].into_iter().flat_map(|side| {
        ["fire a reminder", "move to another channel", "keep parts", "begin to send", "mark as sent"]
            .map(|job| (side, job))
    }) {
        let mut crash_test = channel.crash_test(AT_ONCE);
        crash_test.story.people_also(ADA, PREFERRED);
        assert!(!crash_test.start(None));
        let story = &crash_test.story;
        story.model.says("Hello.").calls("remind", wish(20, "the oven")).says("Noted.");
        assert!(!crash_test.during(async {
            story.say(ADA, &format!("hello {}", canary(ADA))).await;
            let mut seat = TerminalClient::take(story, "Ada").await;
            seat.says("q1", "remind me").await;
            story.answered().await;
            while seat.next("message").await["markdown"] != "Noted." {}
        }));
        crash_test.cut_next(Cut::at(side, job));
        assert!(crash_test.pass(21 * MINUTE), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(MINUTE));
        let mut told = crash_test.story.received_by(ADA);
        told.retain(|heard| heard.contains("the oven"));
        // Only what was cut off while it was sent may come again, and says so.
        let repeated = told.iter().filter(|heard| heard.contains("(possibly repeated)")).count();
        let may_repeat =
            usize::from((side, job) == (After, "begin to send") || (side, job) == (Before, "mark as sent"));
        assert!(!told.is_empty() && told.len() <= 1 + may_repeat, "{side:?} {job}: {told:?}");
        assert_eq!(repeated, may_repeat, "{side:?} {job}: {told:?}");
        assert_eq!(crash_test.story.count("SELECT count(*) FROM messages WHERE kind = 'sent'"), 1, "{side:?} {job}");
        assert_eq!(crash_test.story.count("SELECT count(*) FROM outbox WHERE state = 'pending'"), 0, "{side:?} {job}");
        crash_test.end();
    }
}

/// Promise (delivery/over): A question or proposal that was decided or has expired before its
/// message could be delivered does not come any more.
async fn a_proposal_decided_during_an_outage_is_not_delivered_behind_it(channel: TestChannel) {
    let story = channel.story_with(AT_ONCE).await;
    story.model.calls("submit_skill", submit("tea", "create", "Warm the pot.")).says("I have proposed it.");
    story.fake.server_error_next(ALL);
    story.say(ADA, &format!("make it a skill {}", canary(ADA))).await;
    story.command_line(&["review", "reject", "1", "not now"]).await;
    assert_eq!(story.text("SELECT state FROM proposals"), "rejected");
    story.fake.clear_faults();
    story.pass(6 * MINUTE).await;
    assert_eq!((told(&story, "I have proposed it."), told(&story, "Hash: ")), (1, 0), "{:?}", story.received_by(ADA));
    assert_eq!(story.count("SELECT count(*) FROM outbox WHERE state = 'pending'"), 0);
    story.end().await;
}

/// Proves: delivery/over
fn what_is_dropped_stays_dropped_after_a_power_cut(channel: TestChannel) {
    for side in [Before, After] {
        let mut crash_test = channel.crash_test(AT_ONCE);
        let propose = |crash_test: &CrashTest| {
            let model = &crash_test.story.model;
            model.calls("submit_skill", submit("tea", "create", "Warm the pot.")).says("I have proposed it.");
            crash_test.story.fake.server_error_next(ALL);
        };
        assert!(!crash_test.start(Some(Cut::at(side, "drop a delivery"))));
        propose(&crash_test);
        let story = &crash_test.story;
        assert!(!crash_test.during(async {
            story.say(ADA, &format!("make it a skill {}", canary(ADA))).await;
            story.command_line(&["review", "reject", "1", "not now"]).await;
            story.fake.clear_faults();
        }));
        assert!(crash_test.pass(6 * MINUTE), "{side:?} never came");
        crash_test.revive();
        assert!(!crash_test.pass(MINUTE));
        let heard = crash_test.story.received_by(ADA);
        assert!(!heard.iter().any(|heard| heard.contains("Hash: ")), "{side:?}: {heard:?}");
        assert_eq!(crash_test.story.count("SELECT count(*) FROM outbox WHERE state = 'pending'"), 0, "{side:?}");
        crash_test.end();
    }
}

/// Proves: delivery/over
async fn a_question_closed_during_an_outage_says_so_when_it_comes(channel: TestChannel) {
    let story = channel.story_with(AT_ONCE).await;
    story.model.says("Noted.");
    story.say(ADA, &format!("good morning {}", canary(ADA))).await;
    story.fake.server_error_next(ALL);
    story.model.calls("schedule", json!({ "cron": "0 9 * * *", "task": "Read the news." }));
    story.fake.passes_on(ADA, EVE, &format!("{UNTRUSTED}do it daily"));
    story.answered().await;
    assert_eq!(story.text("SELECT group_concat(state) FROM questions"), "open");
    story.say(ADA, "never mind, how are you?").await;
    story.fake.clear_faults();
    story.pass(6 * MINUTE).await;
    let heard = story.received_by(ADA);
    let asked: Vec<&String> = heard.iter().filter(|heard| heard.contains("/yes 1")).collect();
    assert!(asked.len() == 1 && asked[0].starts_with("(no longer open) "), "{heard:?}");
    story.end().await;
}
