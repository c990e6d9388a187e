//! A draft is labelled by the journal: if any of its sources is untrusted, so is the draft.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::skill_gate::submit;
use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, EVE, Story, UNTRUSTED};

/// Changes the journal without the program's knowledge.
fn change(home: &Path, sql: &str) {
    let db = rusqlite::Connection::open(home.join("compline.db")).unwrap();
    db.busy_timeout(Duration::from_secs(10)).unwrap();
    db.execute_batch(sql).unwrap();
}

fn call(tool: &str, arguments: serde_json::Value) -> Say {
    Say::Calls(vec![(tool.to_owned(), arguments.to_string())])
}

/// Label of a proposal made after this change of the journal. With `is_from_outside` the model has
/// read a forwarded message first.
async fn label_after(sql: &'static str, is_from_outside: bool) -> String {
    let story = Story::begin().await;
    let home = story.home.clone();
    story.model.otherwise(move |request| match words(request) {
        said if said.contains("Staged as proposal") => usual(request),
        said if said.contains("tool: ") => {
            change(&home, sql);
            call("submit_skill", submit("tea", "create", "Three minutes."))
        }
        _ => call("load_skill", json!({ "name": "no-such-skill" })),
    });
    if is_from_outside {
        story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}words"));
        story.answered().await;
    } else {
        story.say(ADA, "make that a skill").await;
    }
    let label = story.text("SELECT group_concat(label) FROM proposals");
    story.stop_here().await;
    label
}

#[tokio::test]
async fn a_draft_carries_the_labels_of_the_journal_and_the_turn() {
    let all_trusted =
        "UPDATE turns SET label = 'trusted'; UPDATE texts SET label = 'trusted'; UPDATE steps SET label = 'trusted'";
    for (sql, is_from_outside, source) in [
        ("UPDATE texts SET label = 'quote'", false, "quote"),
        ("UPDATE steps SET label = 'quote'", false, "quote"),
        ("UPDATE turns SET label = 'quote'", false, "quote"),
        (all_trusted, true, "forward"),
        ("UPDATE turns SET person_id = 2", false, "unknown"),
    ] {
        let label = label_after(sql, is_from_outside).await;
        assert!(label.contains(source), "{sql}: {label}");
    }
}

#[tokio::test]
async fn a_shown_draft_carries_its_verdicts_labels_and_a_held_folder_its_own() {
    let story = Story::with("[skills]\nby_hand = \"hold\"\n").await;
    story.write_skill("party", "Plans parties.", "Call everybody.");
    story.say(ADA, "hello").await;
    assert!(story.text("SELECT group_concat(label) FROM skill_versions WHERE skill = 'party'").contains("folder"));
    change(&story.home, "UPDATE verdicts SET label = 'web:evil.example'");
    let shown = story.command_line(&["review", "show", "1"]).await;
    assert!(shown.label.encode().contains("web:evil.example"), "{:?}", shown.label);
    story.stop_here().await;
}

#[tokio::test]
async fn the_message_that_a_draft_came_from_is_named() {
    let story = Story::begin().await;
    story.model.calls("submit_skill", submit("tea", "create", "Three minutes.")).says("Proposed.");
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}words"));
    story.answered().await;
    story.say(ADA, "/why 1").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("It came in here: the message"), "{told}");
    story.stop_here().await;
}

#[tokio::test]
async fn a_note_too_long_to_confirm_is_named_under_its_own_label() {
    let story = Story::begin().await;
    let home = story.home.clone();
    let note = json!({ "title": "Tea", "content": "Strong. ".repeat(600), "kind": "reference" });
    story.model.otherwise(move |request| match words(request) {
        said if said.contains("tool: ") => {
            change(&home, "UPDATE keeps SET label = 'web:evil.example'");
            usual(request)
        }
        _ => call("remember", note.clone()),
    });
    story.fake.forwards(ADA, EVE, &format!("{UNTRUSTED}words"));
    story.answered().await;
    let label = story.text(
        "SELECT o.label FROM outbox o JOIN texts t ON t.message_id = o.message_id WHERE t.text LIKE '%Keep this?%'",
    );
    assert!(label.contains("web:evil.example"), "{label}");
    story.stop_here().await;
}
