//! One question to a scripted gateway.

use super::*;
use crate::adapter::terminal::protocol::FromClient;
use crate::adapter::terminal::{Connection, Frame, accept};

const SCRIPT: Screen = Screen { live: false, width: 80, color: false, marks: true };
const LIVE: Screen = Screen { live: true, width: 80, color: false, marks: true };

/// The scripted gateway.
struct Gateway(Connection);

impl Gateway {
    async fn hears(&mut self) -> (String, String, bool) {
        let (id, text, piped, _) = self.hears_in_thread().await;
        (id, text, piped)
    }

    async fn hears_in_thread(&mut self) -> (String, String, bool, Option<String>) {
        match self.0.reader.next().await.unwrap() {
            Frame::Message(FromClient::Say { id, text, piped, thread }) => (id, text, piped, thread),
            other => panic!("{other:?} is no message"),
        }
    }

    async fn stores(&mut self) -> (String, bool) {
        let (text, piped, _) = self.stores_under().await;
        (text, piped)
    }

    /// Receives and confirms a message. Returns its text, its kind and its id.
    async fn stores_under(&mut self) -> (String, bool, String) {
        let (id, text, piped) = self.hears().await;
        self.says(FromGateway::Stored { id: id.clone() }).await;
        (text, piped, id)
    }

    async fn says(&mut self, frame: FromGateway) {
        self.0.writer.write(&frame).await.unwrap();
    }

    /// Answers like an older gateway that does not name the answered messages.
    async fn answers(&mut self, markdown: &str) {
        let (id, markdown) = ("1".to_owned(), markdown.to_owned());
        self.says(FromGateway::Message {
            id,
            markdown,
            trusted: true,
            answers: None,
            awaited: false,
            unanswered: false,
        })
        .await;
    }

    async fn answers_to(&mut self, ids: &[&str], awaited: bool, markdown: &str) {
        let (id, markdown, answers) = ("1".to_owned(), markdown.to_owned(), Some(named(ids)));
        self.says(FromGateway::Message { id, markdown, trusted: true, answers, awaited, unanswered: false }).await;
    }

    async fn gives_no_answer_to(&mut self, id: &str, markdown: &str) {
        let (answers, markdown) = (Some(named(&[id])), markdown.to_owned());
        let id = "1".to_owned();
        self.says(FromGateway::Message { id, markdown, trusted: true, answers, awaited: true, unanswered: true }).await;
    }

    async fn grows(&mut self, ids: &[&str], delta: &str) {
        self.says(FromGateway::Grow { delta: delta.to_owned(), answers: Some(named(ids)) }).await;
    }
}

fn named(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|&id| id.to_owned()).collect()
}

/// Asks while the script runs. Returns the output and the notes.
async fn asked<F: Future<Output = ()>>(
    typed: Option<&str>,
    piped: Option<&str>,
    screen: Screen,
    script: impl FnOnce(Gateway) -> F,
) -> (Exit, String, String) {
    asked_in(typed, piped, false, screen, script).await
}

async fn asked_in<F: Future<Output = ()>>(
    typed: Option<&str>,
    piped: Option<&str>,
    join: bool,
    screen: Screen,
    script: impl FnOnce(Gateway) -> F,
) -> (Exit, String, String) {
    let (ours, theirs) = tokio::io::duplex(1024);
    let gateway = async {
        let (_, mut connection) = accept(theirs).await.unwrap();
        let names = ("ada".to_owned(), "compline".to_owned(), "1".to_owned());
        let welcome = FromGateway::Welcome { person: names.0, assistant: names.1, peer: names.2, model: None };
        connection.writer.write(&welcome).await.unwrap();
        script(Gateway(connection)).await;
    };
    let client = async {
        let (link, welcome) = GatewayLink::greet(Connection::of_client(ours), None).await.unwrap();
        assert_eq!(welcome.person, "ada");
        let question = ChatInput { typed: typed.map(Into::into), piped: piped.map(Into::into), join };
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let ending = ask(link, question, screen, &mut out, &mut notes).await.unwrap();
        (ending, String::from_utf8(out).unwrap(), String::from_utf8(notes).unwrap())
    };
    tokio::join!(gateway, client).1
}

#[tokio::test]
async fn a_reason_without_an_answer_is_a_failure() {
    let (ending, out, notes) = asked(Some("hello"), None, SCRIPT, async |mut gateway: Gateway| {
        let (.., id) = gateway.stores_under().await;
        gateway.gives_no_answer_to(&id, "The model is away.").await;
    })
    .await;
    assert_eq!((ending, out.as_str(), notes.trim()), (Exit::Failed, "", "The model is away."));
}

#[tokio::test]
async fn words_and_pipe_are_one_question_in_two_parts() {
    let page = "long ".repeat(2000);
    let (ending, out, notes) = asked(Some("sum this up"), Some(&page), SCRIPT, async |mut gateway: Gateway| {
        assert_eq!(gateway.stores().await, ("sum this up".into(), false));
        let (text, piped) = gateway.stores().await;
        assert!(piped && text.len() == 10_000);
        gateway.says(FromGateway::Typing).await;
        gateway.says(FromGateway::Grow { delta: "Not\n\nshown".into(), answers: None }).await;
        gateway.answers("It is **long**.").await;
    })
    .await;
    assert_eq!((ending, out.as_str(), notes.as_str()), (Exit::Done, "It is long.\n", ""));
}

/// Proves: command-line/piped-conversation
#[tokio::test]
async fn both_parts_belong_to_a_conversation_of_their_own_unless_they_join() {
    let cases = [
        (Some("sum this up"), Some("a page"), false, [Some(0), Some(0)]),
        (None, Some("a page"), false, [Some(0), None]),
        (Some("/status"), Some("a page"), false, [None, Some(1)]),
        (Some("sum this up"), Some("a page"), true, [None, None]),
        (Some("hello"), None, false, [None, None]),
    ];
    for (typed, piped, join, threads) in cases {
        let parts = typed.iter().chain(&piped).count();
        asked_in(typed, piped, join, SCRIPT, async |mut gateway: Gateway| {
            let (mut ids, mut found) = (Vec::new(), Vec::new());
            for _ in 0..parts {
                let (id, _, _, thread) = gateway.hears_in_thread().await;
                ids.push(id);
                found.push(thread);
            }
            let expected = threads.iter().take(parts).map(|first| first.map(|first: usize| ids[first].clone()));
            assert_eq!(found, expected.collect::<Vec<_>>(), "{typed:?} {piped:?} {join}");
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            gateway.answers_to(&ids, true, "Done.").await;
        })
        .await;
    }
}

#[tokio::test]
async fn an_answer_to_something_older_is_no_answer_to_this() {
    let (ending, out, notes) = asked(Some("hi"), None, SCRIPT, async |mut gateway: Gateway| {
        gateway.answers("old").await;
        gateway.stores().await;
        gateway.answers("new").await;
    })
    .await;
    assert_eq!((ending, out.as_str()), (Exit::Done, "new\n"));
    assert_eq!(notes, format!("{}\nold\n\n", words::EARLIER));
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn only_what_answers_the_question_is_its_answer() {
    let (ending, out, notes) = asked(Some("hi"), None, SCRIPT, async |mut gateway: Gateway| {
        let (_, _, id) = gateway.stores_under().await;
        gateway.answers_to(&["older"], false, "old").await;
        gateway.answers_to(&["theirs"], true, "not for us").await;
        gateway.answers_to(&[], false, "It is eight.").await;
        gateway.answers_to(&[&id], true, "new").await;
    })
    .await;
    assert_eq!((ending, out.as_str()), (Exit::Done, "new\n"));
    assert_eq!(notes, format!("{}\nold\n\n{}\nIt is eight.\n\n", words::EARLIER, words::MEANWHILE));
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn an_answer_to_several_joined_questions_is_the_answer_to_each() {
    let (ending, out, notes) = asked(Some("hi"), Some("page"), SCRIPT, async |mut gateway: Gateway| {
        let (_, _, words) = gateway.stores_under().await;
        let (_, _, page) = gateway.stores_under().await;
        gateway.answers_to(&["theirs", &words], true, "to the words").await;
        gateway.answers_to(&[&page, "theirs too"], true, "to the page").await;
    })
    .await;
    assert_eq!((ending, out.as_str(), notes.as_str()), (Exit::Done, "to the words\n\nto the page\n", ""));
}

/// Proves: command-line/chat-answer
#[tokio::test]
async fn only_the_answer_to_the_question_is_seen_to_grow() {
    let (_, out, _) = asked(Some("hi"), None, LIVE, async |mut gateway: Gateway| {
        let (_, _, id) = gateway.stores_under().await;
        gateway.grows(&["theirs"], "Not.\n\nOurs.\n\nX").await;
        gateway.answers_to(&["theirs"], true, "Not.\n\nOurs.\n\nX").await;
        gateway.grows(&[&id], "One.\n\nTw").await;
        gateway.answers_to(&[&id], true, "One.\n\nTwo.").await;
    })
    .await;
    assert_eq!(out, "One.\n\nTwo.\n");
}

#[tokio::test]
async fn a_command_with_a_pipe_has_two_answers() {
    let (ending, out, _) = asked(Some("/status"), Some("text"), SCRIPT, async |mut gateway: Gateway| {
        gateway.stores().await;
        gateway.answers("All is well.").await;
        gateway.stores().await;
        gateway.answers("A text.").await;
    })
    .await;
    assert_eq!((ending, out.as_str()), (Exit::Done, "All is well.\n\nA text.\n"));
}

#[tokio::test]
async fn a_person_sees_it_grow_and_nothing_twice() {
    let (ending, out, _) = asked(Some("hi"), None, LIVE, async |mut gateway: Gateway| {
        gateway.stores().await;
        for delta in ["Void.\n\nX", "", "One.\n", "\nTw", "o.\n\nThree."] {
            let grow = FromGateway::Grow { delta: delta.into(), answers: None };
            gateway.says(if delta.is_empty() { FromGateway::Restart } else { grow }).await;
        }
        gateway.answers("One.\n\nTwo.\n\nThree.").await;
    })
    .await;
    assert_eq!(ending, Exit::Done);
    assert_eq!(out, format!("Void.\n\n{}\nOne.\n\nTwo.\n\nThree.\n", words::RULE));
}

#[tokio::test]
async fn an_unstored_message_is_returned_to_the_user() {
    let (ending, out, notes) = asked(Some("hi"), Some("page"), SCRIPT, async |mut gateway: Gateway| {
        gateway.hears().await;
        gateway.hears().await;
    })
    .await;
    assert_eq!((ending, out.as_str()), (Exit::Failed, ""));
    assert_eq!(notes, format!("{}\n{}\n{}\n", words::GONE, words::unstored("hi"), words::PIPE_UNSTORED));
}

#[tokio::test]
async fn a_stored_question_is_promised_a_later_answer() {
    let (ending, _, notes) = asked(Some("hi"), None, SCRIPT, async |mut gateway: Gateway| {
        gateway.stores().await;
        gateway.says(FromGateway::Bye { why: words::STOPPING.into() }).await;
    })
    .await;
    assert_eq!(ending, Exit::Failed);
    assert_eq!(notes, format!("{}\n{}\n", words::STOPPING, words::ANSWER_LATER));
}
