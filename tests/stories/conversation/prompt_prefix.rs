//! Prompt prefix: successive requests share their beginning byte for byte, so that providers can
//! cache it.

use std::time::Duration;

use compline::model::{Message, ModelError, ModelInfo, Request};

use crate::support::model::{Say, Scripted, words};
use crate::support::story::{ADA, Story};
use crate::support::web::Web;

/// Message as text, without the cache marks, which the model does not read.
fn written(message: &Message) -> String {
    let parts: Vec<_> = message.parts().iter().map(|part| part.open().0).collect();
    format!("{:?} {parts:?}", message.role())
}

fn lines(request: &Request) -> Vec<String> {
    request.messages().iter().map(|message| written(message)).collect()
}

/// Checks that each request begins with the whole of the previous one.
fn each_begins_with_the_one_before(requests: &[Request]) {
    for pair in requests.windows(2) {
        let (before, after) = (lines(&pair[0]), lines(&pair[1]));
        assert!(after.len() > before.len());
        for (old, new) in before.iter().zip(&after) {
            assert_eq!(old, new);
        }
        assert_eq!(pair[0].tools(), pair[1].tools());
    }
}

/// Story whose model has a context window of `tokens`.
async fn with_window(tokens: u64) -> Story {
    let mut story = Story::prepared("").await;
    let info = ModelInfo {
        provider: "scripted".to_owned(),
        name: "scripted".to_owned(),
        context_window: tokens,
        max_output: 1_000,
        images: true,
        price: None,
    };
    story.model = Scripted::with_card(story.clock.clone(), info);
    story.start().await;
    story
}

/// Promise (models/prompt-cache): A long conversation stays cheap: the first request is small, and
/// each later one repeats the previous one byte for byte up to the newest exchange.
#[tokio::test]
async fn consecutive_requests_share_everything_up_to_the_newest_exchange() {
    let mut story = Story::begin().await;
    story.say(ADA, "first").await;
    story.model.calls("memory_search", serde_json::json!({ "in": "conversations", "query": "first" })).says("found it");
    story.say(ADA, "second, with a tool").await;
    story.pass(Duration::from_secs(1800)).await;
    story.fake.says(ADA, "third, in two");
    story.say(ADA, "messages").await;
    story.restart().await;
    story.say(ADA, "fourth, after a restart").await;
    story.fake.sends_document(ADA, "a.txt", "text/plain", b"some text");
    story.answered().await;
    story.say(ADA, "sixth, after a file").await;
    let requests = story.model.chats();
    assert_eq!(requests.len(), 7);
    each_begins_with_the_one_before(&requests);
    story.end().await;
}

/// Promise (models/old-results): What a tool gave some messages ago is sent on shortened, with the call
/// that reads it again; the journal keeps all of it. The beginning of the prompt changes once for it,
/// also across a restart.
#[tokio::test]
async fn a_long_result_is_shortened_once_for_good_some_exchanges_later() {
    let page =
        format!("<p>Hours.</p><p>{}</p><p>See http://museum.example/fees</p>", "It opens at nine. ".repeat(1_100));
    let web = Web::of(&[("/visit", page.as_str())]).await;
    let mut story = Story::prepared("").await;
    story.fetch_through(web.fetcher());
    story.start().await;
    story.model.calls("web_fetch", serde_json::json!({ "url": "http://museum.example/visit" })).says("At nine.");
    story.say(ADA, "what does http://museum.example/visit say?").await;
    for turn in 2..=12 {
        if turn == 10 {
            story.restart().await;
        }
        if turn == 9 {
            story.model.says("The fees are at http://museum.example/fees");
        }
        story.say(ADA, &format!("message {turn}")).await;
    }
    // The first turn has two requests, each later one has one.
    let requests = story.model.chats();
    assert_eq!(requests.len(), 13);
    each_begins_with_the_one_before(&requests[..=7]);
    each_begins_with_the_one_before(&requests[8..]);
    let (before, after) = (words(&requests[7]), words(&requests[8]));
    assert!(before.len() > 15_000 && after.len() + 10_000 < before.len(), "{} to {}", before.len(), after.len());
    let end = "…\n</page>\n(Only the beginning still stands here; `web_fetch`, called with the same arguments, reads all of it again.)";
    assert!(after.contains("Hours.") && after.contains(end) && !before.contains("Only the beginning"), "{after}");
    let (before, after) = (lines(&requests[7]), lines(&requests[8]));
    let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    assert_eq!(changed, 1, "only the message with the result");
    assert!(story.count("SELECT max(length(text)) FROM steps WHERE tool = 'web_fetch'") > 10_000);
    let told = story.received_by(ADA);
    assert!(told.iter().any(|text| text.ends_with("http://museum.example/fees")), "an address of the page: {told:?}");
    story.end().await;
}

/// Proves: models/prompt-cache
#[tokio::test]
async fn the_memory_is_repeated_only_when_it_changed() {
    let mut story = Story::begin().await;
    let copies = |story: &Story| story.model.last_prompt().matches("## Long-term Memory").count();
    story.say(ADA, "zero").await;
    assert_eq!(copies(&story), 0, "an empty memory is not shown");
    story.say(ADA, "/new").await;
    story.writes("memory/MEMORY.md", "The cat is called Whiskers.\n");
    let asked = story.model.chats().len();
    story.say(ADA, "one").await;
    story.say(ADA, "two").await;
    story.restart().await;
    story.say(ADA, "three").await;
    assert_eq!(copies(&story), 1);
    std::fs::write(story.home.join("workspace/memory/MEMORY.md"), "The cat is called Whiskerino.\n").unwrap();
    story.say(ADA, "four").await;
    story.say(ADA, "five").await;
    assert_eq!(copies(&story), 2);
    each_begins_with_the_one_before(&story.model.chats()[asked..]);
    story.pass(Duration::from_secs(5 * 3600)).await;
    story.pass(Duration::from_secs(5 * 3600)).await;
    story.pass(Duration::from_secs(5 * 3600)).await;
    story.say(ADA, "the next day").await;
    assert_eq!(copies(&story), 1, "a new conversation has its own");
    story.end().await;
}

/// Promise (models/changed-memory): When your memory changes during a conversation, the assistant
/// is shown the changed section alone, also after a restart.
#[tokio::test]
async fn only_the_section_that_changed_is_shown_again() {
    let mut story = Story::begin().await;
    story.writes("memory/MEMORY.md", "# Memory\n\nThe cat is called Whiskerino.\n\n## Recent facts\n\n## Index\n");
    story.writes("memory/2026-11-20.md", "# Friday\n\n- [09:00] post the form\n");
    story.say(ADA, "one").await;
    let first = "<context>\nNow: Friday, 20 November 2026 (UTC)\nChannel: Telegram (Markdown; tables are monospaced text: \
        keep them narrow)\n\n## Long-term Memory\n\nThe cat is called Whiskerino.\n\n## Today's Notes\n\n- [09:00] post the form\n</context>";
    assert!(story.model.last_prompt().contains(first), "{}", story.model.last_prompt());
    story.writes("memory/2026-11-20.md", "# Friday\n\n- [09:00] post the form\n- [10:00] call Ben\n");
    story.say(ADA, "two").await;
    story.restart().await;
    story.say(ADA, "three").await;
    let changed = "<context part=\"changed\">\nNow: Friday, 20 November 2026 (UTC)\n\n## Today's Notes now\n\n- [09:00] post the \
        form\n- [10:00] call Ben\n</context>";
    let prompt = story.model.last_prompt();
    assert!(prompt.contains(changed), "{prompt}");
    assert_eq!((prompt.matches("Whiskerino").count(), prompt.matches("<context").count()), (1, 3), "{prompt}");
    story.writes("memory/MEMORY.md", "");
    story.say(ADA, "four").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("## Long-term Memory now\n\n(empty)\n</context>"), "{prompt}");
    each_begins_with_the_one_before(&story.model.chats());
    story.end().await;
}

/// Promise (memory/fullness): From 80 % full, the assistant is told how full `MEMORY.md` is, while
/// the beginning of the prompt stays the same.
#[tokio::test]
async fn the_assistant_is_notified_when_its_memory_is_nearly_full() {
    let story = Story::begin().await;
    let filled = |percent: usize| "The cat is called Whiskerino.\n".repeat(64 * 1024 * percent / 100 / 30 + 1);
    for (percent, told) in [(79, 0), (85, 1), (85, 1), (40, 1)] {
        story.writes("memory/MEMORY.md", &filled(percent));
        story.say(ADA, &format!("it is at {percent}")).await;
        let prompt = story.model.last_prompt();
        assert_eq!(prompt.matches("MEMORY.md is ").count(), told, "{percent}");
        assert_eq!(prompt.matches("(MEMORY.md is 85 % full;").count(), told, "{percent}");
    }
    each_begins_with_the_one_before(&story.model.chats());
    story.end().await;
}

/// Proves: models/prompt-cache
#[tokio::test]
async fn the_first_request_is_small() {
    let story = Story::begin().await;
    story.say(ADA, "ping").await;
    let request = &story.model.chats()[0];
    let tools: usize = request
        .tools()
        .iter()
        .map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len())
        .sum();
    let bytes = words(request).len() + tools;
    assert!(bytes < 12 * 1024, "{bytes} bytes for a ping");
    assert!(request.label().is_trusted());
    story.end().await;
}

fn nothing_is_summarised(story: &Story) {
    let away = |_: &Request| Say::Fail(ModelError::Later { after: None, what: "overloaded".to_owned() });
    story.background.otherwise(away);
}

/// Sends 24 long messages while summaries fail, restarts if asked to, and sends one more. Returns
/// the last prompt.
async fn last_prompt_of_a_long_talk(restart: bool) -> String {
    let mut story = with_window(9_000).await;
    nothing_is_summarised(&story);
    for number in 0..24 {
        story.say(ADA, &format!("thing {number}: {}", "a long story ".repeat(120))).await;
    }
    if restart {
        story.restart().await;
    }
    story.say(ADA, "and now?").await;
    let prompt = story.model.last_prompt();
    story.end().await;
    prompt
}

/// Promise (models/window): If part of a conversation no longer fits in the model's window, you are
/// told; it is never dropped silently.
#[tokio::test]
async fn a_talk_longer_than_the_window_loses_its_oldest_exchanges_and_says_so() {
    let prompt = last_prompt_of_a_long_talk(false).await;
    assert!(!prompt.contains("thing 0:") && prompt.contains("thing 23:"));
    let kept = (0..24).filter(|number| prompt.contains(&format!("thing {number}:"))).count();
    assert!(
        prompt.contains(&format!("(The first {} exchanges of this conversation cannot be shown", 24 - kept)),
        "{kept} kept"
    );
    assert!(prompt.contains("<context>\n"), "the memory does not vanish with them");
    assert_eq!(prompt, last_prompt_of_a_long_talk(true).await, "after a restart the same ones are left out");
}

/// Proves: models/window
#[tokio::test]
async fn exchanges_are_left_out_in_blocks_so_the_beginning_stays_the_same_between() {
    let story = with_window(9_000).await;
    nothing_is_summarised(&story);
    for number in 0..24 {
        story.say(ADA, &format!("thing {number}: {}", "a long story ".repeat(120))).await;
    }
    let requests = story.model.chats();
    let moved = requests.windows(2).filter(|pair| {
        let (before, after) = (lines(&pair[0]), lines(&pair[1]));
        before.iter().zip(&after).any(|(old, new)| old != new)
    });
    let moved = moved.count();
    assert!((1..=7).contains(&moved), "the beginning changed {moved} times in 24 turns");
    let limit = 9_000 - 1_000;
    assert!(requests.iter().all(|request| request.estimate_tokens() < limit), "no request is longer than the window");
    story.end().await;
}

#[tokio::test]
async fn a_request_that_is_too_long_is_tried_once_with_less() {
    let story = Story::begin().await;
    for word in ["one", "two", "three"] {
        story.say(ADA, word).await;
    }
    story.model.fails(ModelError::TooLong).says("Here I am.");
    story.say(ADA, "four").await;
    assert_eq!(story.last_received_by(ADA), "Here I am.");
    let requests = story.model.chats();
    assert_eq!(requests.len(), 5);
    assert!(lines(&requests[4]).len() < lines(&requests[3]).len());
    assert!(words(&requests[4]).contains("cannot be shown") && words(&requests[4]).contains("four"));
    assert!(words(&requests[4]).contains("<context>\nNow: "), "the memory does not vanish with what is left out");
    assert_eq!(story.count("SELECT count(*) FROM turns WHERE context LIKE '<context>%'"), 2, "stored as it was shown");

    story.model.fails(ModelError::TooLong).fails(ModelError::TooLong);
    story.say(ADA, "five").await;
    assert!(
        story.last_received_by(ADA).contains("more than the model can read at once"),
        "{}",
        story.last_received_by(ADA)
    );
    assert_eq!(story.model.chats().len(), 7, "once, not for ever");
    story.end().await;
}

#[tokio::test]
async fn a_stopped_or_failed_turn_stays_in_the_history_for_what_it_was() {
    let story = Story::begin().await;
    story.model.then(Say::Fail(ModelError::Refused));
    story.say(ADA, "a forbidden wish").await;
    story.say(ADA, "another one").await;
    let prompt = story.model.last_prompt();
    assert!(prompt.contains("a forbidden wish") && prompt.contains("(This was not answered.)"), "{prompt}");
    assert_eq!(prompt.matches("assistant: ").count(), 1);
    story.end().await;
}
