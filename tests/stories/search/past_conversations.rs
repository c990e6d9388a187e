//! Past conversations and reflections are found by other forms of their words, even if the model
//! still sees them.

use std::time::Duration;

use compline::model::{ModelInfo, Purpose};
use serde_json::{Value, json};

use crate::support::model::{Say, Scripted, usual, words};
use crate::support::story::{ADA, BEN, Story};

const HOUR: Duration = Duration::from_secs(3600);

/// Lets the model call a tool on a person's request; returns the result.
async fn through(story: &Story, person: i64, tool: &str, arguments: Value) -> String {
    story.model.calls(tool, arguments).says("Looked.");
    story.say(person, "Look it up.").await;
    story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1")
}

/// Proves: search/conversations
#[tokio::test]
async fn conversations_and_reflections_are_found_by_other_forms_of_their_words() {
    let story = Story::with("[reflection]\nmin_messages = 1\ntell_owner = false\n").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Summary => {
            Say::Text(json!({ "title": "Release", "topics": ["The gateway was deployed to the shed"] }).to_string())
        }
        _ => usual(request),
    });
    let thought = json!({ "title": "Shipping", "observations": ["She was painting the deployed gateway"], "patterns": [], "proposed_actions": [] });
    story.say(ADA, "It is in the shed now.").await;
    story.pass(13 * HOUR).await;
    story.background.says(&thought.to_string());
    let done = story.command_line(&["reflect", "daily"]).await;
    assert!(!done.failed && done.json["state"] == "done", "{}", done.markdown);
    for query in ["deploying", "deploys", "Gateways"] {
        let found = through(&story, ADA, "memory_search", json!({ "query": query, "limit": 20 })).await;
        assert!(found.contains("conversations/") && found.contains("deployed to the shed"), "{query}: {found}");
        assert!(found.contains("reflections/") && found.contains("painting the deployed gateway"), "{query}: {found}");
    }
    let painted = through(&story, ADA, "memory_search", json!({ "query": "painted" })).await;
    assert!(painted.contains("reflections/") && !painted.contains("conversations/"), "{painted}");
    let bens = through(&story, BEN, "memory_search", json!({ "query": "deploying", "include_untrusted": true })).await;
    assert!(!bens.contains("shed") && !bens.contains("painting"), "{bens}");
    story.end().await;
}

/// Proves: conversation/many-messages
#[tokio::test]
async fn compacted_messages_are_still_found_verbatim() {
    let story = Story::begin().await;
    for number in 0..6 {
        story.say(ADA, &format!("thing {number}: {}", "a lighthouse and its keeper ".repeat(20))).await;
    }
    story.model.counts(75_000);
    story.say(ADA, "and that is all").await;
    story.model.counts(20_000);
    story.say(ADA, "go on").await;
    assert!(!story.model.last_prompt().contains("thing 0:"), "it gave way");
    let found = story.command_line(&["search", "--in", "messages", "--", "thing 0 lighthouse"]).await.markdown;
    assert!(found.contains("0: a **lighthouse**") || found.contains("**thing** **0**"), "{found}");
    let gave =
        through(&story, ADA, "memory_search", json!({ "in": "conversations", "query": "lighthouse keeper thing 0" }))
            .await;
    assert!(gave.contains("thing 0: a lighthouse"), "{gave}");
    story.end().await;
}

/// Promise (conversation/oversized-turn): A turn that reads more than the window holds is still
/// answered: its older results are cut, and this is stated.
#[tokio::test]
async fn a_turn_that_reads_more_than_the_window_holds_is_cut_where_it_is_old_and_is_answered() {
    let mut story = Story::prepared("").await;
    let info = ModelInfo {
        provider: "scripted".to_owned(),
        name: "scripted".to_owned(),
        context_window: 16_000,
        max_output: 1_000,
        images: true,
        price: None,
    };
    story.model = Scripted::with_card(story.clock.clone(), info);
    story.start().await;
    for number in 0..8 {
        let words = format!("page {number} begins\n{}\npage {number} ends\n", "what stands there\n".repeat(400));
        std::fs::write(story.home.join(format!("workspace/{number}.txt")), words).unwrap();
        story.model.calls("read_file", json!({ "path": format!("{number}.txt") }));
    }
    story.model.says("I have read them all.");
    story.say(ADA, "read the eight pages").await;
    assert_eq!(story.last_received_by(ADA), "I have read them all.");
    let requests = story.model.chats();
    assert!(requests.iter().all(|request| request.estimate_tokens() < 15_000), "each fits beside its answer");
    let last = words(requests.last().unwrap());
    assert_eq!(last.matches("(calls read_file").count(), last.matches("(read_file gave)").count());
    assert!(last.contains("page 7 ends") && last.contains("page 0 begins") && !last.contains("page 0 ends"), "{last}");
    assert!(last.contains("cut here, because the window is nearly full"), "and it is said");
    story.end().await;
}
