//! Several terminals at once: each line sent to one names the question that it answers.

use std::time::Duration;

use compline::model::ModelError;
use serde_json::{Value, json};

use crate::support::model::{Gate, Say, usual};
use crate::support::story::{ADA, Story, canary};
use crate::support::terminal_client::TerminalClient;

const AT_ONCE: &str = "[conversation]\njoin_within = \"0s\"";
const MINUTE: Duration = Duration::from_secs(60);

/// Text of a message, the questions that it answers, and whether a person is waiting for it.
fn told(message: &Value) -> (String, Vec<String>, bool) {
    let names = message["answers"].as_array().expect("it does not say what it answers").iter();
    let names = names.map(|name| name.as_str().unwrap().to_owned()).collect();
    (message["markdown"].as_str().unwrap().to_owned(), names, message["awaited"] == json!(true))
}

/// Next message that answers the given question.
async fn answer_to(seat: &mut TerminalClient, id: &str) -> (String, Vec<String>, bool) {
    loop {
        let heard = told(&seat.next("message").await);
        if heard.1.iter().any(|answered| answered == id) {
            return heard;
        }
    }
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn three_commands_at_once_get_three_answers_each_with_its_name() {
    let story = Story::begin().await;
    let asked = [("q1", "/whoami", "Ada"), ("q2", "/search zzz", "Nothing"), ("q3", "/help", "/whoami")];
    let mut seats = [
        TerminalClient::take(&story, "Ada").await,
        TerminalClient::take(&story, "Ada").await,
        TerminalClient::take(&story, "Ada").await,
    ];
    for (seat, (id, text, _)) in seats.iter_mut().zip(asked) {
        seat.write(&json!({ "type": "say", "id": id, "text": text })).await;
    }
    for (seat, (id, _, expected)) in seats.iter_mut().zip(asked) {
        let (words, names, awaited) = answer_to(seat, id).await;
        assert!(words.contains(expected) && names == [id] && awaited, "{id}: {names:?}: {words}");
    }
    story.stop_here().await;
}

/// Promise (channels/terminal-closed): A reminder does not wait in a terminal that nobody watches:
/// it comes to the messenger that you use, unless you prefer the terminal and are attached to it.
#[tokio::test]
async fn a_reminder_asked_for_in_the_terminal_comes_to_the_messenger() {
    const PREFERRED: &str = "prefer = \"terminal\"";
    for (prefer, leaves, reached) in [("", true, 1), (PREFERRED, true, 1), (PREFERRED, false, 0)] {
        let mut story = Story::prepared("").await;
        story.people_also(ADA, prefer);
        story.start().await;
        story.say(ADA, &format!("hello {}", canary(ADA))).await;
        let mut seat = TerminalClient::take(&story, "Ada").await;
        story.model.calls("remind", json!({ "when": "in 1 hour", "text": "the oven" })).says("Noted.");
        seat.says("q1", "remind me of the oven").await;
        story.answered().await;
        let seat = Some(seat).filter(|_| !leaves);
        story.pass(Duration::from_secs(2 * 3600)).await;
        let told = story.received_by(ADA).iter().filter(|heard| heard.contains("the oven")).count();
        assert_eq!(told, reached, "{prefer}: {:?}", story.received_by(ADA));
        if let Some(mut seat) = seat {
            while !seat.next("message").await["markdown"].as_str().unwrap().contains("the oven") {}
        }
        story.stop_here().await;
    }
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn an_answer_to_joined_questions_names_each_of_them_and_so_does_its_growth() {
    let story = Story::begin().await;
    let grown = ["Both ", "are answered."].map(|piece| (Duration::from_millis(200), piece.to_owned()));
    story.model.then(Say::Grow(grown.to_vec()));
    let (mut one, mut two) = (TerminalClient::take(&story, "Ada").await, TerminalClient::take(&story, "Ada").await);
    one.says("q1", &format!("what is the first? {}", canary(ADA))).await;
    two.says("q2", "what is the second?").await;
    story.answered().await;
    let grow = one.next("grow").await;
    assert_eq!((grow["delta"].as_str(), &grow["answers"]), (Some("Both "), &json!(["q1", "q2"])));
    for seat in [&mut one, &mut two] {
        let (words, names, awaited) = told(&seat.next("message").await);
        assert_eq!(
            (words.as_str(), names, awaited),
            ("Both are answered.", vec!["q1".to_owned(), "q2".to_owned()], true)
        );
    }
    story.end().await;
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn the_growth_of_an_answer_names_a_question_that_joined_it_later() {
    let story = Story::begin().await;
    let grown = ["Both ", "are answered."].map(|piece| (Duration::from_millis(500), piece.to_owned()));
    story.model.otherwise(move |_| Say::Grow(grown.to_vec()));
    let (mut one, mut two) = (TerminalClient::take(&story, "Ada").await, TerminalClient::take(&story, "Ada").await);
    one.says("q1", &format!("what is the first? {}", canary(ADA))).await;
    story.pass(Duration::from_millis(400)).await;
    two.says("q2", "what is the second?").await;
    story.pass(Duration::from_secs(4)).await;
    let grow = one.next("grow").await;
    assert_eq!((grow["delta"].as_str(), &grow["answers"]), (Some("Both "), &json!(["q1", "q2"])));
    assert_eq!(told(&two.next("message").await).1, ["q1", "q2"]);
    story.end().await;
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn an_answer_that_waited_is_known_to_answer_something_older() {
    let story = Story::with(AT_ONCE).await;
    let gate = Gate::default();
    story.model.then(Say::Hold(gate.clone())).says("to the older one");
    let mut gone = TerminalClient::take(&story, "Ada").await;
    gone.says("old", &format!("what was it? {}", canary(ADA))).await;
    gate.reached().await;
    drop(gone);
    gate.open();
    story.answered().await;
    let mut seat = TerminalClient::take(&story, "Ada").await;
    let older = told(&seat.next("message").await);
    assert_eq!(older, ("to the older one".to_owned(), vec!["old".to_owned()], false));
    story.model.says("to the new one");
    seat.says("new", "and now?").await;
    story.answered().await;
    assert_eq!(answer_to(&mut seat, "new").await, ("to the new one".to_owned(), vec!["new".to_owned()], true));
    story.end().await;
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn a_stopped_question_is_answered_by_the_stop_command() {
    let story = Story::with(AT_ONCE).await;
    let gate = Gate::default();
    story.model.then(Say::Hold(gate.clone())).says("never heard");
    let (mut asker, mut other) = (TerminalClient::take(&story, "Ada").await, TerminalClient::take(&story, "Ada").await);
    asker.says("q", "what takes long?").await;
    gate.reached().await;
    other.says("s", "/stop").await;
    let stopped = answer_to(&mut asker, "q").await;
    assert_eq!(stopped.1, ["s", "q"], "{stopped:?}");
    assert_eq!(answer_to(&mut other, "s").await, stopped);
    gate.open();
    other.says("w", "/whoami").await;
    assert_eq!(answer_to(&mut other, "w").await.1, ["w"]);
    story.stop_here().await;
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn a_question_that_was_stopped_before_its_turn_is_answered_by_the_stop_command() {
    let story = Story::begin().await;
    let (mut asker, mut other) = (TerminalClient::take(&story, "Ada").await, TerminalClient::take(&story, "Ada").await);
    asker.says("q", "what takes long?").await;
    other.says("s", "/stop").await;
    let stopped = answer_to(&mut asker, "q").await;
    assert_eq!((stopped.0.as_str(), stopped.1.as_slice()), ("Stopped.", ["s".to_owned(), "q".to_owned()].as_slice()));
    story.pass(MINUTE).await;
    assert_eq!(story.model.asked(), 0);
    story.stop_here().await;
}

/// Proves: command-line/chat-reconnect
#[tokio::test]
async fn who_comes_in_the_middle_of_an_answer_gets_it_from_the_beginning() {
    let story = Story::with(AT_ONCE).await;
    let grown = ["One, ", "two, ", "three."].map(|piece| (Duration::from_secs(1), piece.to_owned()));
    story.model.then(Say::Grow(grown.to_vec()));
    let mut first = TerminalClient::take(&story, "Ada").await;
    first.says("q", &format!("count {}", canary(ADA))).await;
    story.pass(Duration::from_millis(2500)).await;
    for piece in ["One, ", "two, "] {
        assert_eq!(first.next("grow").await["delta"], piece);
    }
    drop(first);
    let mut second = TerminalClient::take(&story, "Ada").await;
    assert_eq!(second.next("grow").await["delta"], "One, two, ");
    story.answered().await;
    assert_eq!(answer_to(&mut second, "q").await.0, "One, two, three.");
    story.end().await;
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn a_notice_in_the_place_of_an_answer_names_the_question_and_a_reminder_none() {
    let story = Story::begin().await;
    story.model.otherwise(|_| Say::Fail(ModelError::Later { after: None, what: "it is down".to_owned() }));
    let mut seat = TerminalClient::take(&story, "Ada").await;
    seat.says("q", &format!("what is new? {}", canary(ADA))).await;
    story.pass(MINUTE).await;
    let notice = told(&seat.next("message").await);
    assert!(notice.0.contains("cannot be reached") && notice.1 == ["q"], "{notice:?}");
    story.model.otherwise(usual);
    story.pass(20 * MINUTE).await;
    assert_eq!(told(&seat.next("message").await).1, ["q"]);
    story.model.calls("remind", json!({ "text": "the kettle", "when": "in 10 minutes" })).says("I will.");
    seat.says("r", "remind me of the kettle in ten minutes").await;
    story.answered().await;
    assert_eq!(answer_to(&mut seat, "r").await.0, "I will.");
    story.pass(15 * MINUTE).await;
    let reminder = told(&seat.next("message").await);
    assert!(reminder.0.contains("the kettle") && reminder.1.is_empty() && !reminder.2, "{reminder:?}");
    story.end().await;
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn a_yes_is_answered_by_what_came_of_it() {
    let story = Story::begin().await;
    let note = json!({ "title": "Tea", "content": "Warm the pot.", "kind": "preference" });
    story.model.calls("remember", note).says("Noted.");
    let mut seat = TerminalClient::take(&story, "Ada").await;
    let page = format!("a letter about tea {}", canary(ADA));
    seat.write(&json!({ "type": "say", "id": "p", "text": page, "piped": true })).await;
    seat.next("stored").await;
    story.answered().await;
    assert_eq!(answer_to(&mut seat, "p").await.0, "Noted.");
    assert!(told(&seat.next("message").await).0.contains("Keep this?"));
    seat.says("y", "/yes  1").await;
    let kept = answer_to(&mut seat, "y").await;
    assert!(kept.0.contains("tea"), "{kept:?}");
    story.stop_here().await;
}
