//! The skill for plans, followed through: a plan in a file, one item at a time by schedule until it
//! is done.

use std::time::Duration;

use compline::model::{Purpose, Request};
use serde_json::json;

use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, Story};

const DAY: Duration = Duration::from_secs(24 * 3600);
const PLAN: &str = "# Plan: the move\n\n## Items\n\n- [ ] 1. Boxes (you)\n- [ ] 2. Mover (you)\n";

fn call(tool: &str, arguments: serde_json::Value) -> Say {
    Say::Calls(vec![(tool.to_owned(), arguments.to_string())])
}

/// A model that does what the skill says: reads the plan, ticks the first open item, and reports.
fn works_off(request: &Request) -> Say {
    let said = words(request);
    let Some(read) = said.split("(read_file gave)").nth(1) else {
        return call("read_file", json!({ "path": "plans/move.md" }));
    };
    let open = read.lines().find(|line| line.starts_with("- [ ]"));
    match (said.contains("(edit_file gave)"), open) {
        (false, Some(item)) => {
            let ticked = item.replace("[ ]", "[x]") + ", settled";
            call("edit_file", json!({ "path": "plans/move.md", "old": item, "new": ticked }))
        }
        (true, Some(item)) => Say::Text(format!("Done: {}", item.trim_start_matches("- [ ] "))),
        (_, None) => Say::Text("The plan is done.".to_owned()),
    }
}

/// Promise (skills/plan): A plan for several days is a file in your workspace. The assistant can go
/// through it by schedule, one item at each run, and stops when it is done.
#[tokio::test]
async fn a_plan_is_worked_off_one_item_a_day_and_its_schedule_ends() {
    let mut story = Story::prepared("").await;
    story.ship(compline::skill::builtin::all());
    story.start().await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Task => works_off(request),
        _ => usual(request),
    });
    story
        .model
        .calls("load_skill", json!({ "name": "iterative-planning" }))
        .calls("load_skill_resource", json!({ "name": "iterative-planning", "path": "resources/plan.md" }))
        .calls("write_file", json!({ "path": "plans/move.md", "content": PLAN }))
        .calls("schedule", json!({ "cron": "0 9 * * *", "task": "Read plans/move.md. Do the first open item." }))
        .says("Each morning at nine I do one item.");
    story.say(ADA, "plan my move").await;
    for (told, open) in [("Done: 1. Boxes (you)", 1), ("Done: 2. Mover (you)", 0), ("The plan is done.", 0)] {
        story.pass(DAY).await;
        assert_eq!(story.last_received_by(ADA), told);
        let plan = std::fs::read_to_string(story.home.join("workspace/plans/move.md")).unwrap();
        assert_eq!(plan.matches("- [ ]").count(), open, "{plan}");
    }
    story.model.calls("cancel_scheduled", json!({ "id": 1 })).says("It is off the list.");
    story.say(ADA, "wonderful, thanks").await;
    assert!(story.model.last_prompt().contains("task 1: The plan is done."), "{}", story.model.last_prompt());
    assert_eq!(story.count("SELECT count(*) FROM reminders WHERE state = 'waiting'"), 0);
    story.end().await;
}
