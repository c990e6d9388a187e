//! Exports of a person: every conversation of every kind.

use std::time::Duration;

use crate::support::channel::Channel;
use crate::support::every_channel::{TestChannel, on_every_channel};
use crate::support::story::{ADA, BEN};
use crate::support::terminal_client::TerminalClient;
use serde_json::json;

on_every_channel! {
    stories:
        an_export_holds_every_conversation_of_every_kind,
        an_export_asked_for_in_the_terminal_comes_to_the_messenger;
}

const SETTINGS: &str = "[heartbeat]\ninterval = \"30m\"\nquiet_hours = \"\"\n[reflection]\nmin_messages = 1\n";
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Names of the archived files.
fn names(bytes: &[u8]) -> Vec<String> {
    let archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    archive.file_names().map(|name| name.unwrap().into_owned()).collect()
}

/// Promise (forgetting/export): Your export holds every conversation: chats, questions with piped
/// text, and the runs of tasks, heartbeats and reflections.
async fn an_export_holds_every_conversation_of_every_kind(channel: TestChannel) {
    let story = channel.story_with(SETTINGS).await;
    let task = json!({ "cron": "0 13 * * *", "task": "count the herons of the lake" });
    story.model.calls("schedule", task).says("Every day at one.");
    story.say(ADA, "count the herons of the lake every day at one").await;
    story.say(BEN, "hello").await;
    let mut script = TerminalClient::of_a_script(&story, "Ada").await;
    for (id, text, piped) in [("q", "what does it say?", false), ("p", "the train leaves at nine", true)] {
        script.write(&json!({ "type": "say", "id": id, "text": text, "piped": piped, "thread": "q" })).await;
        script.next("stored").await;
    }
    story.answered().await;
    std::fs::write(story.home.join("workspace/HEARTBEAT.md"), "# Heartbeat\n\n- [ ] look at the post\n").unwrap();
    story.pass(DAY).await;
    story.say(ADA, "good morning").await;
    story.pass(DAY).await;
    let kinds = "SELECT group_concat(kind) FROM (SELECT DISTINCT kind FROM conversations ORDER BY kind)";
    assert_eq!(story.text(kinds), "chat,heartbeat,piped,reflection,task");
    story.say(ADA, "/export").await;
    let told = story.received_by(ADA);
    assert!(told.iter().any(|text| text.starts_with("Here is everything")), "{told:?}");
    assert!(!told.iter().any(|text| text.contains("will arrive in your direct chat")), "it is there: {told:?}");
    let archived = names(&story.fake.files(ADA).pop().unwrap());
    let of_ada =
        "SELECT count(*) FROM conversations c JOIN streams s ON s.id = c.stream_id WHERE 1 IN (s.person_id, s.work_of)";
    let archived = archived.iter().filter(|name| name.starts_with("conversations/")).count();
    assert_eq!(i64::try_from(archived).unwrap(), story.count(of_ada), "{}", story.fake.name());
    assert!(story.count("SELECT count(*) FROM conversations") > story.count(of_ada));
    story.end().await;
}

/// Proves: forgetting/export
async fn an_export_asked_for_in_the_terminal_comes_to_the_messenger(channel: TestChannel) {
    let story = channel.begin_story().await;
    story.say(ADA, "hello").await;
    let mut script = TerminalClient::of_a_script(&story, "Ada").await;
    script.write(&json!({ "type": "say", "id": "e", "text": "/export" })).await;
    let answer = script.next("message").await;
    assert!(answer["markdown"].as_str().unwrap().contains("will arrive in your direct chat"), "{answer}");
    story.answered().await;
    assert_eq!(story.fake.files(ADA).len(), 1);
    story.end().await;
}
