//! How much of what is sent a provider's prompt cache can serve: the bytes that a request shares with the one before it, from the beginning on.
//!
//! A conversation of fifty turns, with a tool in every other one, a file from outside, memory that changes by a tool and by hand, and a window that fills twice. The
//! bytes are those of the parts in their order, with the descriptions of the tools first, as the providers read them.

use std::time::Duration;

use compline::model::{Part, Request};
use serde_json::json;

use crate::figure;
use crate::support::story::{ADA, Story};

const TURNS: usize = 50;

pub fn measure() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let requests = runtime.block_on(talk());
    let written: Vec<String> = requests.iter().map(written).collect();
    let (mut all, mut shared, mut worst) = (0, 0, 1.0_f64);
    for pair in written.windows(2) {
        let same = pair[0].bytes().zip(pair[1].bytes()).take_while(|(old, new)| old == new).count();
        all += pair[1].len();
        shared += same;
        worst = worst.min(same as f64 / pair[1].len() as f64);
    }
    figure("model calls of 50 turns with tools", requests.len().to_string());
    figure(
        "bytes of them that a prefix cache can serve (aim 95 %)",
        format!("{:.1} %", shared as f64 * 100.0 / all as f64),
    );
    figure("  of the worst single call", format!("{:.1} %", worst * 100.0));
}

async fn talk() -> Vec<Request> {
    let story = Story::begin().await;
    for turn in 0..TURNS {
        if turn % 2 == 1 {
            story
                .model
                .calls("recall", json!({ "query": format!("thing {}", turn / 2) }))
                .says("That was a while ago.");
        }
        if turn % 10 == 5 {
            story.model.calls("memory_save", json!({ "content": format!("Thing {turn} mattered.") })).says("Noted.");
        }
        if turn == 30 {
            std::fs::write(story.home.join("USER.md"), "I live by the sea.\n").unwrap();
        }
        // A paragraph of talk, as people write.
        let words = format!("thing {turn}: {}", "we went to the lighthouse and the keeper told us a story. ".repeat(6));
        story.say(ADA, &words).await;
        story.pass(Duration::from_secs(240)).await;
    }
    let requests = story.model.chats();
    story.end().await;
    requests
}

fn written(request: &Request) -> String {
    let mut bytes = String::new();
    for tool in request.tools() {
        bytes.push_str(&format!("{} {} {}\n", tool.name, tool.description, tool.schema));
    }
    for message in request.messages() {
        bytes.push_str(&format!("{:?}\n", message.role()));
        for part in message.parts() {
            match part.open().0 {
                Part::Text(text) => bytes.push_str(text),
                other => bytes.push_str(&format!("{other:?}")),
            }
            bytes.push('\n');
        }
    }
    bytes
}
