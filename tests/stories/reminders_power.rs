//! Reminders and tasks in a house whose power goes between any two commits: each is told once.

use std::time::Duration;

use compline::store::CommitPoint::{After, Before};
use serde_json::json;

use crate::support::power::{CrashTest, Cut};
use crate::support::story::{ADA, canary};

const MINUTE: Duration = Duration::from_secs(60);

/// Ada asks for something that is due within the hour; the power goes at the nth such commit, and
/// comes back.
fn cut(tool: &str, arguments: serde_json::Value, cut: Cut) -> CrashTest {
    let mut house = CrashTest::prepared("");
    house.story.model.calls(tool, arguments).says("Noted.");
    // Said again by the life that finds the reply unstored.
    house.story.model.says("Noted.");
    assert!(!house.start(Some(cut)));
    house.story.fake.says(ADA, &format!("please {}", canary(ADA)));
    assert!(house.pass(65 * MINUTE), "{cut:?} never came");
    house.revive();
    assert!(!house.pass(65 * MINUTE));
    house
}

/// What Ada heard besides the answer to her wish. A possible repetition counts once.
fn told(house: &CrashTest, what: &str) -> usize {
    house.story.received_by(ADA).iter().filter(|heard| heard.contains(what)).count()
}

/// Proves: time/reminder
#[test]
fn a_reminder_is_kept_once_and_told_once() {
    let jobs = [
        ("begin a tool step", 1),
        ("keep a reminder", 1),
        ("store a tool step", 1),
        ("store a reply", 1),
        ("fire a reminder", 1),
    ];
    for (side, (job, nth)) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let wish = json!({ "when": "in 20 minutes", "text": "the oven" });
        let house = cut("remind", wish, Cut { side, job: Some(job), nth });
        assert_eq!(told(&house, "the oven"), 1, "{side:?} {job}: {:?}", house.story.received_by(ADA));
        assert_eq!(house.story.text("SELECT group_concat(state) FROM reminders"), "done", "{side:?} {job}");
        house.end();
    }
}

/// Proves: time/scheduled-task
#[test]
fn a_task_is_run_once_and_told_once() {
    // The second of what the talk before it commits as well.
    let jobs = [
        ("keep a reminder", 1),
        ("fire a reminder", 1),
        ("claim messages", 2),
        ("store a reply", 2),
        ("end a task", 1),
    ];
    for (side, (job, nth)) in jobs.into_iter().flat_map(|job| [(Before, job), (After, job)]) {
        let wish = json!({ "cron": "50 12 20 11 *", "task": "Say what comes of it" });
        let house = cut("schedule", wish, Cut { side, job: Some(job), nth });
        assert_eq!(told(&house, "ok"), 1, "{side:?} {job}: {:?}", house.story.received_by(ADA));
        assert_eq!(house.story.text("SELECT group_concat(job || state) FROM slots"), "task:1done", "{side:?} {job}");
        house.end();
    }
}
