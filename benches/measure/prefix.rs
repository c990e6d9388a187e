//! Share of a request that a provider's prompt cache can serve: the common prefix in bytes with the
//! previous request.
//!
//! A conversation of fifty turns, with a tool call in every other one, a received document,
//! `MEMORY.md` changed by a tool and by hand, and a window so small that it fills several times: it
//! leaves the same room for the conversation however long the prompt is. The benchmark fails if any
//! of these does not happen. The bytes are those of the parts in their
//! order, with the descriptions of the tools first, as the providers read them.

use std::time::Duration;

use compline::model::{ModelInfo, Request, RequestPart};
use compline::text::estimate_tokens;
use serde_json::json;

use crate::figure;
use crate::support::model::{Scripted, words};
use crate::support::story::{ADA, Story};

const TURNS: usize = 50;
/// Tokens of the window besides those of the first request: few enough to be filled several times.
const ROOM: u64 = 10_000;
/// Least number of times that it is filled.
const FILLED: usize = 2;
/// Turns of the document and of the manual edit of `MEMORY.md`.
const DOCUMENT: usize = 22;
const BY_HAND: usize = 30;

pub fn measure() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (requests, filled) = runtime.block_on(async {
        let first = first_request(|_| {}).await;
        talk(estimate_tokens(&written(&first)) + ROOM).await
    });
    let written: Vec<String> = requests.iter().map(written).collect();
    let (mut all, mut shared, mut shares) = (0, 0, Vec::new());
    for pair in written.windows(2) {
        let same = pair[0].bytes().zip(pair[1].bytes()).take_while(|(old, new)| old == new).count();
        all += pair[1].len();
        shared += same;
        shares.push(same as f64 / pair[1].len() as f64);
    }
    shares.sort_by(f64::total_cmp);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    figure("model calls of 50 turns with tools", requests.len().to_string());
    figure("bytes of them that a prefix cache can serve (aim 95 %)", percent(shared as f64 / all as f64));
    figure(&format!("  of the worst single call, after the window was full ({filled} times)"), percent(shares[0]));
    figure("  of the worst of the others", percent(shares[filled]));
}

/// Returns the first request of a home that is prepared like that.
pub async fn first_request(prepare: impl FnOnce(&mut Story)) -> Request {
    let mut story = Story::prepared("").await;
    prepare(&mut story);
    story.start().await;
    story.say(ADA, "ping").await;
    let first = story.model.chats().remove(0);
    story.end().await;
    first
}

/// Returns the requests of a conversation, and how often it filled a window of that many tokens.
async fn talk(window: u64) -> (Vec<Request>, usize) {
    let mut story = Story::prepared("").await;
    story.model = Scripted::with_card(story.clock.clone(), info(window));
    story.start().await;
    for turn in 0..TURNS {
        happens(&story, turn).await;
        // A paragraph of ordinary talk.
        let words = format!("thing {turn}: {}", "we went to the lighthouse and the keeper told us a story. ".repeat(6));
        story.say(ADA, &words).await;
        story.pass(Duration::from_secs(240)).await;
    }
    let requests = story.model.chats();
    let filled = usize::try_from(story.count("SELECT count(*) FROM compactions WHERE state = 'made'")).unwrap();
    assert!(filled >= FILLED, "the window fills only {filled} times");
    for what in ["Thing 5 mattered", "The lamp burns oil", "I live by the sea"] {
        assert!(requests.iter().any(|request| words(request).contains(what)), "the model is shown: {what}");
    }
    story.end().await;
    (requests, filled)
}

fn info(context_window: u64) -> ModelInfo {
    ModelInfo {
        provider: "scripted".to_owned(),
        name: "scripted".to_owned(),
        context_window,
        max_output: 1_000,
        images: true,
        price: None,
    }
}

/// Events of a turn besides the talk.
async fn happens(story: &Story, turn: usize) {
    if turn % 2 == 1 {
        story
            .model
            .calls("memory_search", json!({ "in": "conversations", "query": format!("thing {}", turn / 2) }))
            .says("That was a while ago.");
    }
    if turn % 10 == 5 {
        story.model.calls("memory_save", json!({ "content": format!("Thing {turn} mattered.") })).says("Noted.");
    }
    if turn == DOCUMENT {
        let text = "The lamp burns oil, and is lit at dusk.\n".repeat(60);
        story.fake.sends_document(ADA, "lighthouse.txt", "text/plain", text.as_bytes());
        story.answered().await;
    }
    if turn == BY_HAND {
        let memory = story.reads("memory/MEMORY.md");
        story.writes("memory/MEMORY.md", &format!("I live by the sea.\n\n{memory}"));
    }
}

/// Returns what a provider reads of a request, in its order.
pub fn written(request: &Request) -> String {
    let mut bytes = String::new();
    for tool in request.tools() {
        bytes.push_str(&format!("{} {} {}\n", tool.name, tool.description, tool.schema));
    }
    for message in request.messages() {
        bytes.push_str(&format!("{:?}\n", message.role()));
        for part in message.parts() {
            match part.open().0 {
                RequestPart::Text(text) => bytes.push_str(text),
                other => bytes.push_str(&format!("{other:?}")),
            }
            bytes.push('\n');
        }
    }
    bytes
}
