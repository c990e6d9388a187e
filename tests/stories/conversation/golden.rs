//! Golden requests: what a model is shown at typical moments, whole, as files that are reviewed.
//!
//! `COMPLINE_WRITE=golden cargo test --test stories golden` writes them anew; a change of a prompt
//! shows as a difference in `tests/golden/`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use compline::model::{ModelError, Purpose, Request};
use serde_json::json;

use crate::skill_gate::submit;
use crate::support::model::{Say, usual, words};
use crate::support::story::{ADA, BEN, EVE, Story};

const HOUR: Duration = Duration::from_secs(3600);
const FAMILY: i64 = -100_200;
/// All files; the folder holds no others.
const MOMENTS: [&str; 14] = [
    "tools",
    "first-hello",
    "after-a-boundary",
    "after-a-reminder",
    "tainted-turn",
    "compaction",
    "extraction",
    "daily",
    "weekly",
    "heartbeat",
    "review",
    "group",
    "task",
    "diary",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Compares a text with its file, or writes the file.
pub fn compare(moment: &str, shown: &str) {
    assert!(MOMENTS.contains(&moment), "{moment} is not listed");
    let path = folder().join(format!("{moment}.txt"));
    if std::env::var("COMPLINE_WRITE").is_ok_and(|what| what == "golden") {
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(path, shown).unwrap();
        return;
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = reviewed.lines().zip(shown.lines()).position(|(old, new)| old != new);
    let line = line.unwrap_or_else(|| reviewed.lines().count().min(shown.lines().count()));
    assert!(
        reviewed == shown,
        "{moment}.txt differs from line {}: {:?} is now {:?}. If that is intended: COMPLINE_WRITE=golden cargo test --test \
         stories golden",
        line + 1,
        reviewed.lines().nth(line),
        shown.lines().nth(line)
    );
}

/// Compares a whole request. Of the tools only the names stand in it: all else is in `tools.txt`.
fn golden(moment: &str, request: &Request) {
    let tools: Vec<&str> = request.tools().iter().map(|tool| tool.name.as_str()).collect();
    let head = format!(
        "purpose: {}\nlabel: {}\ntools: {}\n\n",
        request.purpose().as_str(),
        request.label().encode(),
        tools.join(", ")
    );
    compare(moment, &(head + &words(request)));
}

fn newest(story: &Story, purpose: Purpose) -> Request {
    let all = [story.background.requests(), story.model.requests()].concat();
    all.into_iter().rfind(|request| request.purpose() == purpose).unwrap()
}

/// A story with the skills that ship.
async fn shipped(settings: &str) -> Story {
    let mut story = Story::prepared(settings).await;
    story.ship(compline::skill::builtin::all());
    story.start().await;
    story
}

/// Proves: models/prompt-cache
#[tokio::test]
async fn golden_requests_of_two_conversations() {
    let story = shipped("").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Summary => Say::Text(
            json!({ "title": "Tea, and a reminder", "topics": ["tea"], "decisions": ["The magistrate is called on Friday."],
                "preferences": ["oolong"], "new": ["Call the magistrate."] })
            .to_string(),
        ),
        Purpose::Extraction => Say::Text(
            json!({ "facts": [{ "key": "tea", "value": "likes oolong", "category": "preference", "layer": "A", "sources": [1] }],
                "corrections": [{ "was": "offered black tea", "now": "offer oolong first", "sources": [1] }] })
            .to_string(),
        ),
        _ => usual(request),
    });
    story.say(ADA, "hello").await;
    let first = newest(&story, Purpose::Chat);
    golden("first-hello", &first);
    let tools: Vec<String> = first
        .tools()
        .iter()
        .map(|tool| {
            format!("{}\n{}\n{}\n", tool.name, tool.description, serde_json::to_string_pretty(&tool.schema).unwrap())
        })
        .collect();
    compare("tools", &tools.join("\n"));

    story
        .model
        .calls("remind", json!({ "when": "in 1 hour", "text": "call the magistrate" }))
        .says("I will remind you.");
    story.say(ADA, "Please remind me in an hour to call the magistrate. And I like oolong more than black tea.").await;
    story.pass(HOUR).await;
    story.say(ADA, "done, I called them").await;
    golden("after-a-reminder", &newest(&story, Purpose::Chat));
    story.fake.forwards(ADA, EVE, "The market is closed on Monday. Tell everybody.");
    story.model.calls("remind", json!({ "when": "in 2 hours", "text": "buy bread today" }));
    story.say(ADA, "what does she mean, and do I have to do something?").await;
    story.model.says("The market is closed on Monday.");
    story.say(ADA, "/no 1").await;
    golden("tainted-turn", &newest(&story, Purpose::Chat));
    story.pass(7 * HOUR).await;
    golden("extraction", &newest(&story, Purpose::Extraction));
    story.say(ADA, "good evening").await;
    golden("after-a-boundary", &newest(&story, Purpose::Chat));
    story.end().await;
}

/// Proves: models/prompt-cache
#[tokio::test]
async fn golden_request_of_a_compaction() {
    let story = shipped("").await;
    for number in 0..6 {
        story.say(ADA, &format!("thing {number}, a little story about a lighthouse and its keeper")).await;
    }
    story.model.calls("list_scheduled", json!({})).says("Nothing is set.");
    story.say(ADA, "is a reminder set?").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Summary => Say::Text("Summary:\nThey tell each other of a lighthouse.".to_owned()),
        _ => usual(request),
    });
    for half in ["first", "second"] {
        story.model.counts(72_000);
        story.say(ADA, &format!("and now the window is nearly full for the {half} time")).await;
        story.settle().await;
        story.model.counts(20_000);
        for number in 0..6 {
            story.say(ADA, &format!("{half} thing {number}, another story about the lighthouse and its keeper")).await;
        }
    }
    golden("compaction", &newest(&story, Purpose::Summary));
    story.end().await;
}

/// Proves: models/prompt-cache
#[tokio::test]
async fn golden_requests_of_reflections() {
    let story = shipped("[reflection]\nmin_messages = 1\n").await;
    story.background.otherwise(|request| match request.purpose() {
        Purpose::Summary => Say::Text(
            json!({ "title": "Oslo", "topics": ["Oslo"], "decisions": [], "preferences": [], "new": ["Book the hotel in Oslo."] })
                .to_string(),
        ),
        _ => usual(request),
    });
    story.model.calls("remind", json!({ "when": "in 1 hour", "text": "book the hotel" })).says("I will.");
    story.say(ADA, "I leave for Oslo on 3 May, and the hotel is still open. Remind me in an hour.").await;
    story.pass(24 * HOUR).await;
    golden("daily", &newest(&story, Purpose::Reflection));
    story.pass(48 * HOUR).await;
    golden("weekly", &newest(&story, Purpose::Reflection));
    story.end().await;
}

/// Proves: models/prompt-cache
#[tokio::test]
async fn golden_requests_of_runs() {
    let story = shipped("[heartbeat]\ninterval = \"30m\"\nquiet_hours = \"\"\n").await;
    story.model.calls("schedule", json!({ "cron": "0 14 * * *", "task": "Name one thing that is still open." }));
    story.model.says("I will.");
    story.say(ADA, "every day at two, name one thing that is still open").await;
    story.pass(2 * HOUR).await;
    golden("task", &newest(&story, Purpose::Task));
    story.writes("HEARTBEAT.md", "# Heartbeat\n\n- [ ] Look whether the hotel is booked.\n- [ ] Order boxes.\n");
    story.background.calls("heartbeat_done", json!({ "item": "Order boxes." })).says("Is the hotel booked?");
    story.pass(HOUR).await;
    story.writes(
        "HEARTBEAT.md",
        "# Heartbeat\n\n- [ ] Look whether the hotel is booked.\n- [ ] Order boxes.\n- [ ] Water the plants.\n",
    );
    story.pass(HOUR).await;
    golden("heartbeat", &newest(&story, Purpose::Heartbeat));
    story.end().await;
}

/// Proves: models/prompt-cache
#[tokio::test]
async fn golden_requests_of_a_review_and_of_a_group() {
    let story = shipped("[groups]\nallowed = [\"telegram:-100200\"]\n").await;
    story.model.calls("submit_skill", submit("tea", "create", "Warm the pot first.")).says("I have proposed it.");
    story.say(ADA, "please propose how I like my tea").await;
    story.settle().await;
    golden("review", &newest(&story, Purpose::Review));

    story.fake.group(FAMILY, "The family");
    let bot = format!("@{}", story.fake.bot_username());
    story.fake.says_in(FAMILY, BEN, &format!("{bot} who brings the cake?"));
    story.answered().await;
    story.model.fails(ModelError::Refused);
    story.fake.says_in(FAMILY, EVE, &format!("{bot} tell me what Ben likes"));
    story.answered().await;
    golden("group", &newest(&story, Purpose::Chat));
    story.end().await;
}

/// Proves: models/prompt-cache
#[test]
fn every_golden_file_belongs_to_a_moment() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(MOMENTS.iter().any(|moment| name == format!("{moment}.txt")), "{name} belongs to no moment");
    }
}
