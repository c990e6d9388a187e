//! Power cuts during reminders and tasks: each is sent once.

use std::time::Duration;

use compline::model::Role;
use compline::store::CommitPoint::{After, Before};
use serde_json::json;

use crate::support::model::Say;
use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, canary};

const MINUTE: Duration = Duration::from_secs(60);

/// Ada schedules something for the next hour; the power is cut at the nth such commit and restored.
fn cut(tool: &str, arguments: serde_json::Value, cut: Cut) -> CrashTest {
    let mut crash_test = CrashTest::prepared("");
    crash_test.story.model.calls(tool, arguments).says("Noted.");
    // Reply of the life that finds the first one unstored.
    crash_test.story.model.says("Noted.");
    assert!(!crash_test.start(Some(cut)));
    crash_test.story.fake.says(ADA, &format!("please {}", canary(ADA)));
    assert!(crash_test.pass(65 * MINUTE), "{cut:?} never came");
    crash_test.revive();
    assert!(!crash_test.pass(65 * MINUTE));
    crash_test
}

/// Number of messages to Ada that contain `what`, beyond the answer to her request. A possible
/// repetition counts once.
fn told(crash_test: &CrashTest, what: &str) -> usize {
    crash_test.story.received_by(ADA).iter().filter(|heard| heard.contains(what)).count()
}

/// Proves: time/reminder
#[test]
fn a_reminder_is_stored_and_sent_once_despite_a_power_cut() {
    let jobs = [
        ("begin a tool step", 1),
        ("keep a reminder", 1),
        ("store a tool step", 1),
        ("store a reply", 1),
        ("fire a reminder", 1),
    ];
    for (side, (job, nth)) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let wish = json!({ "when": "in 20 minutes", "text": "the oven" });
        let crash_test = cut("remind", wish, Cut { side, job: Some(job), nth });
        assert_eq!(told(&crash_test, "the oven"), 1, "{side:?} {job}: {:?}", crash_test.story.received_by(ADA));
        assert_eq!(crash_test.story.text("SELECT group_concat(state) FROM reminders"), "done", "{side:?} {job}");
        crash_test.end();
    }
}

/// Proves: time/change
#[test]
fn a_change_takes_effect_once_despite_a_power_cut() {
    let jobs = [("begin a tool step", 2), ("change a reminder", 1), ("store a tool step", 2), ("fire a reminder", 1)];
    for (side, (job, nth)) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let mut crash_test = CrashTest::prepared("");
        let model = &crash_test.story.model;
        model.calls("remind", json!({ "when": "in 5 hours", "text": "the oven" }));
        model.calls("change_scheduled", json!({ "id": 1, "when": "in 20 minutes" })).says("Noted.").says("Noted.");
        let cut = Cut { side, job: Some(job), nth };
        assert!(!crash_test.start(Some(cut)));
        crash_test.story.fake.says(ADA, &format!("please {}", canary(ADA)));
        assert!(crash_test.pass(65 * MINUTE), "{cut:?} never came");
        crash_test.revive();
        assert!(!crash_test.pass(6 * 65 * MINUTE));
        assert_eq!(told(&crash_test, "the oven"), 1, "{side:?} {job}: {:?}", crash_test.story.received_by(ADA));
        assert_eq!(crash_test.story.text("SELECT group_concat(state) FROM reminders"), "done", "{side:?} {job}");
        crash_test.end();
    }
}

/// Proves: time/scheduled-task
#[test]
fn a_task_runs_and_answers_once_despite_a_power_cut() {
    // The chat before it commits these jobs too, so their second commit counts.
    let jobs = [
        ("keep a reminder", 1),
        ("fire a reminder", 1),
        ("claim messages", 2),
        ("store a reply", 2),
        ("end a task", 1),
    ];
    for (side, (job, nth)) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let wish = json!({ "cron": "50 12 20 11 *", "task": "Say what comes of it" });
        let crash_test = cut("schedule", wish, Cut { side, job: Some(job), nth });
        assert_eq!(told(&crash_test, "ok"), 1, "{side:?} {job}: {:?}", crash_test.story.received_by(ADA));
        assert_eq!(
            crash_test.story.text("SELECT group_concat(job || state) FROM slots"),
            "task:1done",
            "{side:?} {job}"
        );
        crash_test.end();
    }
}

/// Proves: conversation/sent
#[test]
fn what_was_sent_and_edited_is_shown_once_despite_a_power_cut() {
    for (side, job) in
        [Before, After].into_iter().flat_map(|side| ["claim messages", "store a reply"].map(|job| (side, job)))
    {
        let mut crash_test = CrashTest::prepared("");
        crash_test.story.model.calls("remind", json!({ "when": "in 20 minutes", "text": "the oven" })).says("Noted.");
        assert!(!crash_test.start(None));
        let message = crash_test.story.fake.says(ADA, "remind me of the oven");
        assert!(!crash_test.pass(30 * MINUTE));
        crash_test.story.fake.edits(ADA, message, "remind me of the oven, please");
        assert!(!crash_test.pass(MINUTE));
        crash_test.cut_next(Cut::at(side, job));
        crash_test.story.fake.says(ADA, "done");
        assert!(crash_test.pass(MINUTE), "{side:?} {job} never came");
        crash_test.revive();
        assert!(!crash_test.pass(MINUTE));
        crash_test.story.fake.says(ADA, "thanks");
        assert!(!crash_test.pass(MINUTE));
        let prompt = crash_test.story.model.last_prompt();
        for shown in ["**Reminder:** the oven", "(Edited since: "] {
            assert_eq!(prompt.matches(shown).count(), 1, "{side:?} {job}: {shown} in {prompt}");
        }
        crash_test.end();
    }
}

/// Proves: time/heartbeat-items
#[test]
fn a_tick_counts_once_despite_a_power_cut() {
    for side in [Before, After] {
        let mut crash_test = CrashTest::prepared("[heartbeat]\ninterval = \"30m\"\nquiet_hours = \"\"\n");
        crash_test.story.background.otherwise(|request| match request.messages().last().map(|last| last.role()) {
            Some(Role::Tool) => Say::Text("HEARTBEAT_OK".to_owned()),
            _ => Say::Calls(vec![("heartbeat_done".to_owned(), json!({ "item": "Order boxes." }).to_string())]),
        });
        assert!(!crash_test.start(None));
        crash_test.story.fake.says(ADA, "good morning");
        assert!(!crash_test.pass(MINUTE));
        crash_test.story.writes("HEARTBEAT.md", "- [ ] Order boxes.\n- [ ] Call Nora.\n");
        crash_test.cut_next(Cut::at(side, "tick a heartbeat item"));
        assert!(crash_test.pass(31 * MINUTE), "{side:?} never came");
        crash_test.revive();
        assert!(!crash_test.pass(31 * MINUTE));
        assert_eq!(crash_test.story.count("SELECT count(*) FROM heartbeat_ticks"), 1, "{side:?}");
        crash_test.end();
    }
}
