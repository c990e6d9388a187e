//! Calls of tools: what is wrong with one is said in a sentence that helps, and the descriptions
//! stay short.

use serde_json::json;

use crate::support::model::Say;
use crate::support::story::{ADA, Story};

/// Maximum size of the descriptions of all tools on the wire, in bytes.
const MOST: usize = 6_200;

/// Result of a call with these arguments, as written.
async fn gave(story: &Story, tool: &str, arguments: &str) -> String {
    story.model.then(Say::Calls(vec![(tool.to_owned(), arguments.to_owned())])).says("I see.");
    story.say(ADA, "try it").await;
    assert_eq!(story.last_received_by(ADA), "I see.");
    story.text("SELECT text FROM steps WHERE kind = 'tool' ORDER BY id DESC LIMIT 1")
}

/// Promise (tools/arguments): A tool that is called with a wrong argument, or under a wrong name,
/// says what is wrong and what is right, and never acts on a guess.
#[tokio::test]
async fn a_wrong_argument_is_named_and_never_reads_as_a_fact() {
    let story = Story::begin().await;
    story.writes("memory/MEMORY.md", "- **keys**: with Nora\n");
    for (tool, arguments, parts) in [
        ("memory_search", r#"{"q": "keys"}"#, &["`q` is unknown (did you mean `query`?)", "`query` is missing"][..]),
        ("memory_search", "", &["`query` is missing", "query (required)"]),
        ("memory_search", r#"{"query": " "}"#, &["`query` is empty"]),
        ("memory_search", r#"{"query": "keys", "in": "said"}"#, &["`in` cannot be \"said\"", "conversations"]),
        ("memory_search", r#"{"query": "keys", "category": "note"}"#, &["`category` cannot be \"note\"", "decision"]),
        (
            "memory_search",
            r#"{"query": "keys", "in": "conversations", "category": "fact"}"#,
            &["`section` are for facts"],
        ),
        ("memory_recall", r#"{"query": "keys", "days": 3}"#, &["`days` is unknown", "category"]),
        (
            "remember",
            r#"{"title": "Keys", "content": "x", "kind": "simulator"}"#,
            &["`kind` cannot be", "person, project"],
        ),
        ("remember", r#"{"title": "Keys"}"#, &["`content` is missing"]),
        (
            "memory_section",
            r#"{"path": "memory/MEMORY.md", "section": "a", "action": "cut"}"#,
            &["read, append, replace"],
        ),
        ("cancel_scheduled", r#"{"id": "the first"}"#, &["`id` cannot be \"the first\"", "a whole number"]),
        ("list_scheduled", r#"{"day": "today"}"#, &["`day` is unknown", "it takes no arguments"]),
        ("search_web", "{}", &["no tool named \"search_web\". Did you mean ", "web_fetch", "memory_search"]),
        ("recall", "{}", &["Did you mean memory_recall"]),
        ("read_reflection", r#"{"period": "yesterday"}"#, &["no reflection on \"yesterday\"", "2026-W47", "none yet"]),
    ] {
        let sentence = gave(&story, tool, arguments).await;
        assert!(parts.iter().all(|part| sentence.contains(part)), "{tool} {arguments}: {sentence}");
        assert!(!sentence.contains("matches"), "{tool} {arguments}: {sentence}");
    }
    assert_eq!(story.count("SELECT count(*) FROM files WHERE path = 'memory/keys.md'"), 0);
    story.end().await;
}

/// Proves: tools/arguments
#[tokio::test]
async fn numbers_as_text_and_words_in_capitals_are_understood() {
    let story = Story::begin().await;
    story.writes(
        "memory/facts-2026-01.md",
        "## Facts\n\n- **tea**: oolong (preference)\n- **teapot**: blue (context)\n",
    );
    let found = gave(&story, "memory_search", r#"{"query": "tea", "limit": "1", "in": "Facts", "until": null}"#).await;
    assert_eq!(found.lines().count(), 1, "{found}");
    gave(&story, "remind", r#"{"when": "in 1 hour", "text": 42}"#).await;
    assert!(
        gave(&story, "cancel_scheduled", r#"{"id": "1"}"#).await.starts_with("Cancelled reminder 1: 42, 2026-11-20")
    );
    let kept = gave(&story, "remember", r#"{"name": "Nora", "text": "Her sister", "kind": "user"}"#).await;
    assert_eq!(kept, "Kept in memory/nora.md.");
    assert!(std::fs::read_to_string(story.path_of("memory/nora.md")).unwrap().contains("type: \"person\""));
    story.end().await;
}

/// Proves: models/prompt-cache
#[tokio::test]
async fn the_descriptions_of_all_tools_stay_short() {
    let story = Story::begin().await;
    story.say(ADA, "ping").await;
    let request = &story.model.chats()[0];
    let sizes: Vec<(usize, &str)> = request
        .tools()
        .iter()
        .map(|tool| {
            let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
            (json!({ "type": "function", "function": function }).to_string().len() + 1, tool.name.as_str())
        })
        .collect();
    let all: usize = sizes.iter().map(|(size, _)| size).sum();
    assert!(sizes.len() >= 22 && all <= MOST, "{all} bytes for {} tools: {sizes:?}", sizes.len());
    story.end().await;
}
