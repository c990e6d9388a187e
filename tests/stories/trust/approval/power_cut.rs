//! Approvals across power cuts: between question and yes, yes and call, call and reply.

use std::time::Duration;

use compline::store::CommitPoint::{self, After, Before};
use serde_json::json;

use super::{EVIL, fetch, state};
use crate::support::every_channel::{CrashTest, TestChannel, on_every_channel};
use crate::support::model::Say;
use crate::support::power::Cut;
use crate::support::story::{ADA, EVE, UNTRUSTED, canary};
use crate::support::web::Web;

on_every_channel! {
    crash_tests:
        a_power_cut_anywhere_between_question_and_reply_changes_nothing,
        a_power_cut_anywhere_between_a_no_and_the_answer_changes_nothing,
        a_power_cut_around_silence_and_a_late_yes_sets_one_reminder;
}

/// A program whose power is cut at the nth such commit, and which then continues. Ada gives that
/// answer to the question.
fn through_the_dark(
    channel: TestChannel,
    side: CommitPoint,
    job: &'static str,
    nth: u32,
    reply: &'static str,
) -> (CrashTest, Web, tokio::runtime::Runtime) {
    let beside = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let web = beside.block_on(Web::of(&[("/a", "<p>the page</p>")]));
    let mut crash_test = channel.crash_test("");
    crash_test.story.fetch_through(web.fetcher());
    crash_test.story.model.otherwise(|request| match crate::support::model::words(request) {
        words if words.contains("the page") => Say::Text("It says: the page.".to_owned()),
        words if words.contains("They said no") => Say::Text("Then from memory.".to_owned()),
        words if words.contains("what now?") => Say::Calls(vec![("web_fetch".to_owned(), fetch(EVIL).to_string())]),
        _ => Say::Text("Noted.".to_owned()),
    });
    let mut dark = crash_test.start(Some(Cut { side, job: Some(job), nth }));
    let five = Duration::from_secs(5);
    let deeds: [&dyn Fn(&CrashTest) -> i64; 3] = [
        &|crash_test| crash_test.story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter")),
        &|crash_test| crash_test.story.fake.says(ADA, &format!("what now? {}", canary(ADA))),
        &|crash_test| crash_test.story.fake.says(ADA, reply),
    ];
    let mut cuts = 0;
    for deed in deeds {
        deed(&crash_test);
        dark |= crash_test.pass(five);
        if dark {
            cuts += 1;
            crash_test.revive();
            dark = crash_test.pass(five);
        }
    }
    assert_eq!(cuts, 1, "the power goes once: {side:?} {job}");
    (crash_test, web, beside)
}

/// Promise (gate/power-cut): A power cut between a request for approval, your answer and the reply
/// changes nothing.
fn a_power_cut_anywhere_between_question_and_reply_changes_nothing(channel: TestChannel) {
    // The question's turn has not begun its tool calls yet; the second of each job belongs to the
    // turn of the yes.
    let cuts = [
        (Before, "ask the person", 1),
        (After, "ask the person", 1),
        (Before, "accept messages", 3),
        (After, "accept messages", 3),
        (Before, "begin a tool step", 1),
        (After, "begin a tool step", 1),
        (Before, "store a tool step", 1),
        (After, "store a tool step", 1),
        (Before, "begin a model step", 3),
        (Before, "store a reply", 2),
        (After, "store a reply", 2),
    ];
    // A message that was not stored comes again, or is lost without other effects.
    let is_fair = |(side, job, _): &(CommitPoint, &str, u32)| {
        channel.gives_again() || (*side, *job) != (Before, "accept messages")
    };
    for (side, job, nth) in cuts.into_iter().filter(is_fair) {
        let (crash_test, web, _beside) = through_the_dark(channel, side, job, nth, "/yes 1");
        let story = &crash_test.story;
        let again = usize::from(job == "store a tool step" && side == Before);
        assert_eq!(web.connections(), 1 + again, "{side:?} {job}: only an unfinished call is made again");
        let heard = story.received_by(ADA);
        for sentence in ["Open this address", "I will do that", "It says: the page."] {
            let heard = || heard.iter().filter(|heard| heard.contains(sentence));
            let unmarked = heard().filter(|heard| !heard.contains("(possibly repeated)")).count();
            assert!(heard().count() > 0 && unmarked <= 1, "{side:?} {job}: {sentence} {:?}", story.received_by(ADA));
        }
        assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'reply'"), 3, "{side:?} {job}");
        assert_eq!(state(story, 1), "yes", "{side:?} {job}");
        assert_eq!(story.count("SELECT count(*) FROM turns WHERE state <> 'done'"), 0, "{side:?} {job}");
        crash_test.end();
    }
}

/// Proves: gate/power-cut
fn a_power_cut_anywhere_between_a_no_and_the_answer_changes_nothing(channel: TestChannel) {
    let cuts = [
        (Before, "accept messages", 3),
        (After, "accept messages", 3),
        (Before, "begin a model step", 3),
        (After, "begin a model step", 3),
        (Before, "store a reply", 2),
        (After, "store a reply", 2),
    ];
    let is_fair = |(side, job, _): &(CommitPoint, &str, u32)| {
        channel.gives_again() || (*side, *job) != (Before, "accept messages")
    };
    for (side, job, nth) in cuts.into_iter().filter(is_fair) {
        let (crash_test, web, _beside) = through_the_dark(channel, side, job, nth, "/no 1");
        let story = &crash_test.story;
        assert_eq!((web.connections(), state(story, 1).as_str()), (0, "refused"), "{side:?} {job}");
        let heard = story.received_by(ADA);
        for sentence in ["Open this address", "I will not do that", "Then from memory."] {
            let heard = || heard.iter().filter(|heard| heard.contains(sentence));
            let unmarked = heard().filter(|heard| !heard.contains("(possibly repeated)")).count();
            assert!(heard().count() > 0 && unmarked <= 1, "{side:?} {job}: {sentence} {:?}", story.received_by(ADA));
        }
        assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'reply'"), 3, "{side:?} {job}");
        assert_eq!(story.count("SELECT count(*) FROM turns WHERE state <> 'done'"), 0, "{side:?} {job}");
        assert_eq!(story.count("SELECT count(*) FROM questions"), 1, "{side:?} {job}");
        crash_test.end();
    }
}

type Deed = fn(&CrashTest) -> i64;

/// Proves: gate/power-cut, gate/late-yes
fn a_power_cut_around_silence_and_a_late_yes_sets_one_reminder(channel: TestChannel) {
    let cuts = [
        (Before, "let questions expire", 1),
        (After, "let questions expire", 1),
        (Before, "store a reply", 2),
        (After, "store a reply", 2),
        (Before, "accept messages", 3),
        (After, "accept messages", 3),
        (Before, "begin a tool step", 1),
        (After, "begin a tool step", 1),
        (Before, "keep a reminder", 1),
        (After, "keep a reminder", 1),
        (Before, "store a tool step", 1),
        (After, "store a tool step", 1),
    ];
    let is_fair = |(side, job, _): &(CommitPoint, &str, u32)| {
        channel.gives_again() || (*side, *job) != (Before, "accept messages")
    };
    for (side, job, nth) in cuts.into_iter().filter(is_fair) {
        let mut crash_test = channel.crash_test("");
        crash_test.story.model.otherwise(|request| match crate::support::model::words(request) {
            words if words.contains("They said yes") => Say::Text("It is set.".to_owned()),
            words if words.contains("have not answered yet") => Say::Text("It is not set.".to_owned()),
            words if words.contains("the tape") => {
                let tape = json!({ "when": "2026-11-21 18:00", "text": "Buy tape." });
                Say::Calls(vec![("remind".to_owned(), tape.to_string())])
            }
            _ => Say::Text("Noted.".to_owned()),
        });
        let mut dark = crash_test.start(Some(Cut { side, job: Some(job), nth }));
        let deeds: [(Deed, Duration); 3] = [
            (|test| test.story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}letter")), Duration::from_secs(5)),
            (|test| test.story.fake.says(ADA, "mind the tape"), Duration::from_secs(11 * 60)),
            (|test| test.story.fake.says(ADA, "/yes 1"), Duration::from_secs(5)),
        ];
        let mut cuts = 0;
        for (deed, passes) in deeds {
            deed(&crash_test);
            dark |= crash_test.pass(passes);
            if dark {
                cuts += 1;
                crash_test.revive();
                dark = crash_test.pass(passes);
            }
        }
        let story = &crash_test.story;
        assert_eq!(cuts, 1, "the power goes once: {side:?} {job}");
        assert_eq!(story.count("SELECT count(*) FROM reminders"), 1, "{side:?} {job}");
        assert_eq!(state(story, 1), "yes", "{side:?} {job}");
        assert_eq!(story.count("SELECT count(*) FROM turns WHERE state <> 'done'"), 0, "{side:?} {job}");
        assert_eq!(story.count("SELECT count(*) FROM messages WHERE kind = 'reply'"), 4, "{side:?} {job}");
        crash_test.end();
    }
}
