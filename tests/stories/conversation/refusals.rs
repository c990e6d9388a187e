//! Model servers that refuse a request or a part of it, and answers that are none.

use std::time::Duration;

use compline::model::{Field, Learned, ModelError, Request, RequestPart, Stop};
use serde_json::json;

use crate::support::model::{Say, Scripted, words};
use crate::support::story::{ADA, BEN, Story, canary};

const REFUSED: &str = "HTTP 400: Unknown field in messages.2, see [https://evil.example/x](https://evil.example/x)";

fn refusal() -> ModelError {
    ModelError::Rejected(REFUSED.to_owned())
}

fn has_calls(request: &Request) -> bool {
    let mut parts = request.messages().iter().flat_map(|message| message.parts());
    parts.any(|part| matches!(part.open().0, RequestPart::Call { .. } | RequestPart::Result { .. }))
}

/// Promise (models/refused): A request that the model's server refuses ends at once, with true words and
/// without a promise to answer later; owners see the server's own sentence, nobody else does, and the
/// next message is answered.
#[tokio::test]
async fn a_refused_request_is_said_and_blocks_nothing() {
    let story = Story::begin().await;
    for person in [ADA, BEN] {
        story.model.fails(refusal());
        story.say(person, &format!("hello {}", canary(person))).await;
    }
    let (owner, member) = (story.last_received_by(ADA), story.last_received_by(BEN));
    assert!(owner.contains("refuses this request") && owner.contains("Unknown field in messages.2"), "{owner}");
    assert!(!owner.contains("<a "), "its address is no link: {owner}");
    assert!(member.contains("refuses this request") && !member.contains("Unknown field"), "{member}");
    for told in [&owner, &member] {
        assert!(!told.contains("as soon as I can"), "{told}");
    }
    let status = story.command_line(&["status"]).await;
    assert!(!status.label.is_trusted(), "its sentence is text from outside");
    let status = status.markdown;
    assert!(status.contains("refused by its server") && status.contains("Unknown field in messages"), "{status}");
    story.say(BEN, "/status").await;
    assert!(!story.last_received_by(BEN).contains("Unknown field"), "{}", story.last_received_by(BEN));
    let marked = "SELECT count(*) FROM outbox WHERE label LIKE '%model-server%'";
    assert_eq!(story.count(marked), 1, "the owner's alone is text from outside");
    let asked = story.model.asked();
    story.pass(Duration::from_secs(3 * 3600)).await;
    assert_eq!(story.model.asked(), asked, "it is not tried again");
    for person in [ADA, BEN] {
        story.say(person, "and now?").await;
        assert_eq!(story.last_received_by(person), "ok");
    }
    assert!(!words(&story.model.chats().pop().unwrap()).contains("Unknown field"), "no word of it in a prompt");
    assert!(!story.command_line(&["status"]).await.markdown.contains("refused by its server"));
    story.end().await;
}

/// Proves: models/refused
#[tokio::test]
async fn what_was_refused_is_left_out_of_later_requests() {
    let story = Story::begin().await;
    story.model.calls("memory_search", json!({ "query": "tea" })).fails(refusal());
    story.say(ADA, &format!("what of tea? {}", canary(ADA))).await;
    assert!(story.last_received_by(ADA).contains("refuses this request"));
    story.say(ADA, "hello").await;
    assert_eq!(story.last_received_by(ADA), "ok");
    let request = story.model.chats().pop().unwrap();
    assert!(!has_calls(&request) && words(&request).contains("what of tea?"), "{}", words(&request));
    story.end().await;
}

/// Promise (models/refused-history): If a request is refused for something in earlier exchanges, it is
/// asked once more without their calls, and so are the next: neither `/stop` nor `/new` is needed.
#[tokio::test]
async fn a_chat_whose_history_is_refused_frees_itself() {
    let story = Story::begin().await;
    story.model.calls("memory_search", json!({ "query": "tea" })).says("There is none.");
    story.say(ADA, &format!("what of tea? {}", canary(ADA))).await;
    story.model.otherwise(|request| match has_calls(request) {
        true => Say::Fail(refusal()),
        false => Say::Text("fine".to_owned()),
    });
    for _ in 0..2 {
        let asked = story.model.asked();
        story.say(ADA, "hello").await;
        assert_eq!(story.last_received_by(ADA), "fine");
        let request = words(&story.model.chats().pop().unwrap());
        assert!(request.contains("There is none.") && story.model.asked() - asked <= 2, "{request}");
    }
    assert_eq!(story.received_by(ADA).len(), 3);
    story.end().await;
}

/// Promise (models/only-thoughts): An answer whose limit was used up by thinking is asked for once more
/// with twice the limit, and then said to be one.
#[tokio::test]
async fn thinking_that_uses_up_an_answer_gets_twice_the_room() {
    let story = Story::begin().await;
    let thought = || Say::Ends("<think>Hm, hm.".to_owned(), Stop::Length);
    story.model.then(thought()).says("Here it is.");
    story.say(ADA, &format!("a riddle {}", canary(ADA))).await;
    assert_eq!(story.last_received_by(ADA), "Here it is.");
    let limits: Vec<u64> = story.model.chats().iter().map(|request| request.output_limit(100)).collect();
    assert_eq!(limits, [100, 200]);
    story.model.then(thought()).then(thought());
    story.say(ADA, "another").await;
    let told = story.last_received_by(ADA);
    assert!(told.contains("max_output") && !told.contains("other words"), "{told}");
    story.end().await;
}

/// Promise (models/written-calls): A call that a model writes as text is shown to nobody: the model is
/// asked once to call the tool, and nothing is carried out from the text.
#[tokio::test]
async fn a_call_in_words_is_no_answer() {
    let story = Story::begin().await;
    let written = r#"{"name": "remind", "arguments": {"when": "tomorrow 12:00", "text": "tea"}}"#;
    story.model.says(written).calls("remind", json!({ "when": "tomorrow 12:00", "text": "tea" })).says("Set.");
    story.say(ADA, &format!("remind me of tea {}", canary(ADA))).await;
    assert_eq!(story.received_by(ADA), ["Set."]);
    let asked = words(&story.model.chats()[1]);
    assert!(asked.contains("Call `remind` as a tool"), "{asked}");
    assert_eq!(story.count("SELECT count(*) FROM reminders"), 1);
    story.model.says(written).says(&format!("<tool_call>{written}</tool_call>"));
    story.say(ADA, "and again").await;
    let told = story.last_received_by(ADA);
    assert!(!told.contains("arguments") && told.contains("nothing to say"), "{told}");
    assert_eq!(story.count("SELECT count(*) FROM reminders"), 1);
    story.end().await;
}

/// Proves: models/learned
#[tokio::test]
async fn what_a_server_taught_is_kept_told_once_and_can_be_forgotten() {
    let mut story = Story::prepared("").await;
    let reviewer = Scripted::new(story.clock.clone());
    story.reviewer = Some(reviewer.clone());
    story.start().await;
    story.say(ADA, &format!("hello {}", canary(ADA))).await;
    let learned = Learned {
        without: [Field::Tools, Field::StreamOptions].into(),
        context_window: Some(4_096),
        ..Learned::default()
    };
    story.model.server.learn(learned.clone());
    story.say(ADA, "and now?").await;
    story.pass(Duration::from_secs(5)).await;
    let told: Vec<String> = story.received_by(ADA).into_iter().filter(|text| text.contains("I learned")).collect();
    assert!(
        told.len() == 1 && told[0].contains("4096 tokens") && told[0].contains("no tools"),
        "what people notice, once: {told:?}"
    );
    assert!(!told[0].contains("stream_options"), "{told:?}");
    story.model.server.learn(Learned::default());
    story.restart().await;
    story.settle().await;
    assert_eq!(story.model.server.learned(), learned, "it survives a restart");
    let listed = story.command_line(&["model"]).await.markdown;
    assert!(listed.contains("stream_options") && listed.contains("4096"), "{listed}");
    story.say(ADA, "thanks").await;
    assert_eq!(story.received_by(ADA).iter().filter(|text| text.contains("I learned")).count(), 1);
    reviewer.server.learn(learned);
    let answer = story.command_line(&["model", "forget-learned"]).await.markdown;
    assert!(answer.contains("forgotten"), "{answer}");
    for server in [&story.model.server, &reviewer.server] {
        assert_eq!(server.learned(), Learned::default());
    }
    assert_eq!(story.count("SELECT count(*) FROM meta WHERE key LIKE 'learned %'"), 0);
    story.end().await;
}
