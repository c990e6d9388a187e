//! Lessons and memories that were added automatically are recorded as sources of the answer.

use std::time::Duration;

use compline::model::Purpose;
use serde_json::json;

use crate::support::model::{Say, usual};
use crate::support::story::{ADA, Story};

const TALK: &str = "Today we went for a long walk along the river with the children, and in the evening we sat in the garden and talked.";

/// Number of turns that derive from the newest version of a file.
fn told(story: &Story, path: &str) -> i64 {
    story.count(&format!(
        "SELECT count(*) FROM derived_from WHERE child LIKE 'turn:%' AND parent =
             'file:' || (SELECT max(id) FROM files WHERE path = '{path}')"
    ))
}

/// Proves: trust/traceable
#[tokio::test]
async fn an_answer_derives_from_the_context_its_conversation_started_with() {
    let story = Story::with("[memory]\nextract_every = 1").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Extraction => Say::Text(
            json!({ "facts": [], "corrections": [{ "was": "wrote much", "now": "write less", "sources": [1] }] })
                .to_string(),
        ),
        _ => usual(request),
    });
    story
        .model
        .calls("remember", json!({ "title": "Tomatoes", "content": "They grow behind the shed.", "kind": "user" }));
    story.say(ADA, TALK).await;
    // The turn that stored the note has it as a source.
    assert_eq!((told(&story, "learnings/corrections.md"), told(&story, "memory/tomatoes.md")), (0, 1));
    let memory = std::fs::read_to_string(story.home.join("workspace/memory/MEMORY.md")).unwrap();
    // Without its line in the index the note is not loaded automatically, but recalled.
    let kept: String = memory.split_inclusive('\n').filter(|line| !line.contains("tomatoes.md")).collect();
    std::fs::write(story.home.join("workspace/memory/MEMORY.md"), kept).unwrap();
    story.say(ADA, "/new").await;
    story.say(ADA, "How are the tomatoes?").await;
    let prompt = story.model.last_prompt();
    assert!(
        prompt.contains("write less") && prompt.contains("- Tomatoes (memory/tomatoes.md, 2026-11-20)"),
        "{prompt}"
    );
    assert_eq!((told(&story, "learnings/corrections.md"), told(&story, "memory/tomatoes.md")), (1, 2));
    story.pass(Duration::from_secs(60)).await;
    story.end().await;
}
