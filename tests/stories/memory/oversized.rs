//! Oversized memory: never cut silently; the newest part stays in the prompt, and search finds the
//! rest.

use serde_json::json;

use crate::support::story::{ADA, Story};

/// Promise (memory/large): However large you let `MEMORY.md` grow, its newest facts and its index
/// stay visible to the assistant, omissions are stated, and the rest can be found by search.
#[tokio::test]
async fn a_memory_of_164_kb_shows_its_newest_facts_and_its_index_and_says_what_is_missing() {
    let story = Story::begin().await;
    story.say(ADA, "hello").await;
    let path = story.home.join("workspace/memory/MEMORY.md");
    let facts: String =
        (0..3_200).map(|n| format!("- **shelf {n}**: holds the box with number {n} (2026-01-01)\n")).collect();
    let whole = format!(
        "# Memory\n\nLikes to be called Countess.\n\n## Recent facts\n\n{facts}- **door**: painted green (2026-11-20)\n\n## Index\n\n- [Tea](tea.md): how it is made\n"
    );
    assert!(whole.len() > 164_000, "{}", whole.len());
    std::fs::write(&path, &whole).unwrap();
    story.say(ADA, "and now?").await;
    let prompt = story.model.last_prompt();
    for shown in ["Likes to be called Countess.", "- **door**: painted green", "[Tea](tea.md)", "(cut here"] {
        assert!(prompt.contains(shown), "{shown:?} is missing");
    }
    assert!(!prompt.contains("**shelf 1500**"), "so it was cut");
    story.say(ADA, "/memory").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("MEMORY.md, 191.7 of 64 KB (300 %)"), "{told}");
    story.model.calls("memory_search", json!({ "query": "shelf 1500" })).says("Looked.");
    story.say(ADA, "Where is it?").await;
    assert!(
        story
            .text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1")
            .contains("the box with number 1500")
    );
    story.say(ADA, "/remember Window: painted blue").await;
    let now = std::fs::read_to_string(&path).unwrap();
    assert!(facts.lines().all(|line| now.contains(line)) && now.contains("painted green"), "nothing went");
    story.end().await;
}
