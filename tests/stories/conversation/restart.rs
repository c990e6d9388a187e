//! Recovery from a crash at one exact point: one test for each step of a message.
//!
//! The power is cut on the journal's own thread, so each point is exact: before or after one named
//! commit.

use std::time::Duration;

use compline::time::Clock;

use compline::store::CommitPoint::{self, After, Before};

use crate::support::every_channel::{CrashTest, TestChannel, on_every_channel};
use crate::support::model::Say;
use crate::support::power::Cut;
use crate::support::story::{ADA, canary};

on_every_channel! {
    crash_tests:
        killed_after_storing_and_before_the_model_it_answers_once,
        killed_while_the_model_thinks_it_asks_once_more,
        killed_before_the_reply_is_stored_it_asks_once_more_and_answers_once,
        killed_after_the_reply_is_stored_it_sends_it_without_asking_again,
        killed_before_a_part_is_marked_as_sent_it_says_that_it_may_repeat,
        killed_between_two_parts_it_goes_on_with_the_second,
        killed_between_a_tool_and_the_next_step_it_keeps_what_the_tool_gave,
        killed_after_a_file_is_kept_it_still_reads_it,
        killed_at_the_end_of_a_conversation_it_still_writes_it_down,
        a_stopped_turn_stays_stopped_whenever_the_power_goes,
        time_while_the_program_is_off_does_not_count_against_an_answer,
        in_the_next_life_an_answer_has_as_long_as_ever,
        a_message_that_always_crashes_the_program_is_given_up;
}

const MARK: &str = "(possibly repeated)";
const HALF_AN_HOUR: Duration = Duration::from_secs(1800);

/// Ada writes one message, and the power is cut at the given commit. No work of that life runs on
/// after this returns.
fn dies(channel: TestChannel, side: CommitPoint, job: &'static str, answer: &str) -> CrashTest {
    let mut crash_test = channel.crash_test("");
    crash_test.story.model.otherwise(|_| Say::Text("An answer that nobody should have asked for.".to_owned()));
    crash_test.story.model.says(answer);
    let nth = if job == "accept messages" { 1 + channel.batches_before() } else { 1 };
    assert!(!crash_test.start(Some(Cut { nth, ..Cut::at(side, job) })));
    crash_test.story.fake.says(ADA, &format!("Good evening {}", canary(ADA)));
    assert!(crash_test.pass(Duration::from_secs(5)), "the power did not go");
    crash_test
}

/// Starts the next life and gives it all the time it needs.
fn lives_on(crash_test: &mut CrashTest) {
    crash_test.revive();
    assert!(!crash_test.pass(Duration::from_secs(5)));
}

fn stored(crash_test: &CrashTest) -> (i64, i64) {
    let said = crash_test.story.count("SELECT count(*) FROM messages WHERE kind = 'said' AND state = 'answered'");
    (said, crash_test.story.count("SELECT count(*) FROM messages WHERE kind = 'reply'"))
}

/// Proves: delivery/resume
fn killed_after_storing_and_before_the_model_it_answers_once(channel: TestChannel) {
    let mut crash_test = dies(channel, After, "accept messages", "Good evening, Ada.");
    lives_on(&mut crash_test);
    assert_eq!(
        (stored(&crash_test), crash_test.story.received_by(ADA)),
        ((1, 1), vec!["Good evening, Ada.".to_owned()])
    );
    assert_eq!(crash_test.story.model.chats().len(), 1);
    crash_test.end();
}

/// Proves: delivery/resume
fn killed_while_the_model_thinks_it_asks_once_more(channel: TestChannel) {
    let mut crash_test = dies(channel, After, "reserve a call", "Good evening, Ada.");
    assert_eq!(crash_test.story.model.chats().len(), 0);
    lives_on(&mut crash_test);
    assert_eq!(
        (stored(&crash_test), crash_test.story.received_by(ADA)),
        ((1, 1), vec!["Good evening, Ada.".to_owned()])
    );
    assert_eq!(crash_test.story.model.chats().len(), 1);
    let reserved = crash_test.story.count("SELECT count(*) FROM spending WHERE purpose = 'chat'");
    assert_eq!(reserved, 2, "the budget counts the call that was cut off");
    crash_test.end();
}

/// Proves: delivery/resume
fn killed_before_the_reply_is_stored_it_asks_once_more_and_answers_once(channel: TestChannel) {
    let mut crash_test = dies(channel, Before, "store a reply", "An answer that is lost.");
    assert_eq!(crash_test.story.model.chats().len(), 1);
    crash_test.story.model.says("Good evening, Ada.");
    lives_on(&mut crash_test);
    assert_eq!(
        (stored(&crash_test), crash_test.story.received_by(ADA)),
        ((1, 1), vec!["Good evening, Ada.".to_owned()])
    );
    assert_eq!(crash_test.story.model.chats().len(), 2);
    crash_test.end();
}

/// Promise (delivery/resume): If the program is killed at any step between receiving a message and
/// sending the last part of its answer, it resumes there; the model is not asked again for a reply
/// it already gave.
fn killed_after_the_reply_is_stored_it_sends_it_without_asking_again(channel: TestChannel) {
    let mut crash_test = dies(channel, After, "store a reply", "Good evening, Ada.");
    assert_eq!(crash_test.story.received_by(ADA), Vec::<String>::new());
    lives_on(&mut crash_test);
    assert_eq!(
        (stored(&crash_test), crash_test.story.received_by(ADA)),
        ((1, 1), vec!["Good evening, Ada.".to_owned()])
    );
    assert_eq!(crash_test.story.model.chats().len(), 1, "a stored reply is never asked for again");
    crash_test.end();
}

/// Proves: delivery/resume
fn killed_before_a_part_is_marked_as_sent_it_says_that_it_may_repeat(channel: TestChannel) {
    let mut crash_test = dies(channel, Before, "mark as sent", "Good evening, Ada.");
    assert_eq!(crash_test.story.received_by(ADA), ["Good evening, Ada."]);
    lives_on(&mut crash_test);
    let heard = crash_test.story.received_by(ADA);
    assert!(heard.len() == 2 && heard[1].contains("Good evening, Ada.") && heard[1].contains(MARK), "{heard:?}");
    assert_eq!((stored(&crash_test), crash_test.story.model.chats().len()), ((1, 1), 1));
    crash_test.end();
}

/// Proves: delivery/resume
fn killed_between_two_parts_it_goes_on_with_the_second(channel: TestChannel) {
    let answer: String = (0..80).map(|n| format!("part{n}z {}\n\n", "and so on ".repeat(9))).collect();
    let mut crash_test = dies(channel, After, "mark as sent", &answer);
    let first = crash_test.story.received_by(ADA);
    assert_eq!(first.len(), 1);
    lives_on(&mut crash_test);
    let heard = crash_test.story.received_by(ADA);
    assert!(heard.len() > 1 && heard[0] == first[0] && !heard.concat().contains(MARK), "{heard:?}");
    for n in 0..80 {
        assert_eq!(heard.concat().matches(&format!("part{n}z")).count(), 1, "part {n}");
    }
    assert_eq!(crash_test.story.model.chats().len(), 1);
    crash_test.end();
}

/// Proves: delivery/resume
fn killed_between_a_tool_and_the_next_step_it_keeps_what_the_tool_gave(channel: TestChannel) {
    let mut crash_test = channel.crash_test("");
    crash_test
        .story
        .model
        .calls("memory_search", serde_json::json!({ "in": "conversations", "query": "birthday" }))
        .says("It is in May.");
    assert!(!crash_test.start(Some(Cut::at(After, "store a tool step"))));
    crash_test.story.fake.says(ADA, &format!("When is it? {}", canary(ADA)));
    assert!(crash_test.pass(Duration::from_secs(5)));
    lives_on(&mut crash_test);
    assert_eq!(crash_test.story.received_by(ADA), ["It is in May."]);
    assert_eq!(crash_test.story.model.chats().len(), 2, "the first reply and the tool's result were stored");
    crash_test.end();
}

/// Proves: delivery/resume
fn killed_after_a_file_is_kept_it_still_reads_it(channel: TestChannel) {
    let mut crash_test = channel.crash_test("");
    assert!(!crash_test.start(Some(Cut::at(After, "keep a file"))));
    crash_test.story.fake.sends_document(ADA, "list.txt", "text/plain", b"bread and butter");
    assert!(crash_test.pass(Duration::from_secs(5)));
    lives_on(&mut crash_test);
    assert!(crash_test.story.model.last_prompt().contains("bread and butter"));
    assert_eq!(crash_test.story.received_by(ADA), ["ok"]);
    crash_test.end();
}

/// Proves: delivery/resume
fn killed_at_the_end_of_a_conversation_it_still_writes_it_down(channel: TestChannel) {
    for (side, job) in [(Before, "want a summary"), (After, "want a summary"), (Before, "keep a summary")] {
        let mut crash_test = channel.crash_test("");
        assert!(!crash_test.start(Some(Cut::at(side, job))));
        crash_test.story.fake.says(ADA, &format!("Good evening {}", canary(ADA)));
        assert!(crash_test.pass(Duration::from_secs(7 * 3600)), "{job}");
        crash_test.revive();
        assert!(!crash_test.pass(Duration::from_secs(3600)));
        assert_eq!(crash_test.story.count("SELECT count(*) FROM summaries WHERE state = 'made'"), 1, "{side:?} {job}");
        crash_test.end();
    }
}

/// Promise (conversation/stays-stopped): An answer that you stopped stays stopped.
fn a_stopped_turn_stays_stopped_whenever_the_power_goes(channel: TestChannel) {
    for side in [Before, After] {
        let mut crash_test = channel.crash_test("");
        let slowly = vec![(Duration::from_secs(30), "at last".to_owned())];
        crash_test.story.model.then(Say::Grow(slowly.clone())).then(Say::Grow(slowly));
        assert!(!crash_test.start(Some(Cut::at(side, "stop a turn"))));
        crash_test.story.fake.says(ADA, &format!("Think hard {}", canary(ADA)));
        assert!(!crash_test.pass(Duration::from_secs(5)));
        crash_test.story.fake.says(ADA, "/stop");
        assert!(crash_test.pass(Duration::from_secs(1)));
        crash_test.revive();
        assert!(!crash_test.pass(Duration::from_secs(60)));
        assert_eq!(crash_test.story.text("SELECT state FROM turns"), "stopped", "{side:?}");
        assert!(!crash_test.story.received_by(ADA).concat().contains("at last"));
        crash_test.end();
    }
}

/// Promise (delivery/interrupted-answer): A power cut, a sleeping laptop or a full disk during an
/// answer costs you neither the answer nor its time limit, and a long delay is stated.
fn time_while_the_program_is_off_does_not_count_against_an_answer(channel: TestChannel) {
    for (dark, named) in [(HALF_AN_HOUR, "30 minutes ago"), (25 * HALF_AN_HOUR * 2, "25 hours ago")] {
        let crash_test = cut_off_for(channel, dark, Say::Text("Here I am.".to_owned()));
        assert!(!crash_test.pass(Duration::from_secs(5)));
        let heard = crash_test.story.received_by(ADA);
        let told = heard.iter().filter(|text| text.contains("I was away, so this answers what you wrote "));
        assert!(told.clone().count() == 1 && told.clone().all(|told| told.contains(named)), "{heard:?}");
        assert_eq!(heard.iter().filter(|text| *text == "Here I am.").count(), 1, "{heard:?}");
        crash_test.end();
    }
}

/// Proves: delivery/interrupted-answer
fn in_the_next_life_an_answer_has_as_long_as_ever(channel: TestChannel) {
    for (minutes, expected) in [(9, "slow, but here"), (11, "took longer than 10 minutes")] {
        let slow = Say::Grow(vec![(Duration::from_secs(60 * minutes), "slow, but here".to_owned())]);
        let crash_test = cut_off_for(channel, HALF_AN_HOUR, slow);
        assert!(!crash_test.pass(Duration::from_secs(60 * minutes)));
        let heard = crash_test.story.last_received_by(ADA);
        assert!(heard.contains(expected), "{heard}");
        crash_test.end();
    }
}

/// Promise (operation/crashing-message): A message that crashes the program each time is given up
/// with a sentence, and the chat goes on.
fn a_message_that_always_crashes_the_program_is_given_up(channel: TestChannel) {
    let mut crash_test = channel.crash_test("");
    assert!(!crash_test.start(Some(Cut::at(Before, "begin a model step"))));
    crash_test.story.fake.says(ADA, &format!("Are you there? {}", canary(ADA)));
    assert!(crash_test.pass(Duration::from_secs(5)));
    for life in 2..=6 {
        crash_test.bury();
        let blown =
            crash_test.start(Some(Cut::at(Before, "begin a model step"))) || crash_test.pass(Duration::from_secs(5));
        assert!(blown, "given up in life {life}");
    }
    crash_test.bury();
    assert!(!crash_test.start(None));
    assert!(!crash_test.pass(Duration::from_secs(5)));
    let heard = crash_test.story.received_by(ADA).concat();
    assert_eq!(heard.matches("interrupted several times").count(), 1, "{heard}");
    assert_eq!(crash_test.story.text("SELECT reason FROM messages WHERE kind = 'said'"), "cut_off");
    crash_test.story.fake.says(ADA, "And now?");
    assert!(!crash_test.pass(Duration::from_secs(5)));
    assert_eq!(crash_test.story.last_received_by(ADA), "ok");
    crash_test.end();
}

/// Cuts the power right after a message is claimed and restores it after `dark`.
fn cut_off_for(channel: TestChannel, dark: Duration, answer: Say) -> CrashTest {
    let mut crash_test = channel.crash_test("");
    crash_test.story.model.then(answer);
    assert!(!crash_test.start(Some(Cut::at(After, "claim messages"))));
    crash_test.story.fake.says(ADA, &format!("Are you there? {}", canary(ADA)));
    assert!(crash_test.pass(Duration::from_secs(5)));
    crash_test.bury();
    let clock = &crash_test.story.clock;
    clock.set(clock.now().plus(dark));
    assert!(!crash_test.start(None));
    crash_test
}
