//! One question against a gateway that follows a script.

use super::*;
use crate::adapter::terminal::protocol::FromClient;
use crate::adapter::terminal::{Connection, accept};

const SCRIPT: Screen = Screen { live: false, width: 80, color: false };
const LIVE: Screen = Screen { live: true, width: 80, color: false };

/// The scripted gateway.
struct Gateway(Connection);

impl Gateway {
    async fn hears(&mut self) -> (String, String, bool) {
        match self.0.reader.next().await.unwrap().unwrap().unwrap() {
            FromClient::Say { id, text, piped } => (id, text, piped),
            other => panic!("{other:?} is no message"),
        }
    }

    async fn stores(&mut self) -> (String, bool) {
        let (id, text, piped) = self.hears().await;
        self.says(FromGateway::Stored { id }).await;
        (text, piped)
    }

    async fn says(&mut self, frame: FromGateway) {
        self.0.writer.write(&frame).await.unwrap();
    }

    async fn answers(&mut self, markdown: &str) {
        let id = "1".to_owned();
        self.says(FromGateway::Message { id, markdown: markdown.into(), trusted: true }).await;
    }
}

/// Asks while the script runs; what was printed and noted.
async fn asked<F: Future<Output = ()>>(
    typed: Option<&str>,
    piped: Option<&str>,
    screen: Screen,
    script: impl FnOnce(Gateway) -> F,
) -> (Ending, String, String) {
    let (ours, theirs) = tokio::io::duplex(1024);
    let gateway = async {
        let (_, mut connection) = accept(theirs).await.unwrap();
        let names = ("ada".to_owned(), "compline".to_owned(), "1".to_owned());
        let welcome = FromGateway::Welcome { person: names.0, assistant: names.1, peer: names.2 };
        connection.writer.write(&welcome).await.unwrap();
        script(Gateway(connection)).await;
    };
    let client = async {
        let (link, welcome) = Link::greet(Connection::of_client(ours), None).await.unwrap();
        assert_eq!(welcome.person, "ada");
        let question = Question { typed: typed.map(Into::into), piped: piped.map(Into::into) };
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let ending = ask(link, question, screen, &mut out, &mut notes).await.unwrap();
        (ending, String::from_utf8(out).unwrap(), String::from_utf8(notes).unwrap())
    };
    tokio::join!(gateway, client).1
}

#[tokio::test]
async fn words_and_pipe_are_one_question_in_two_parts() {
    let page = "long ".repeat(2000);
    let (ending, out, notes) = asked(Some("sum this up"), Some(&page), SCRIPT, async |mut gateway: Gateway| {
        assert_eq!(gateway.stores().await, ("sum this up".into(), false));
        let (text, piped) = gateway.stores().await;
        assert!(piped && text.len() == 10_000);
        gateway.says(FromGateway::Typing).await;
        gateway.says(FromGateway::Grow { delta: "Not\n\nshown".into() }).await;
        gateway.answers("It is **long**.").await;
    })
    .await;
    assert_eq!((ending, out.as_str(), notes.as_str()), (Ending::Done, "It is long.\n\n", ""));
}

#[tokio::test]
async fn an_answer_to_something_older_is_no_answer_to_this() {
    let (ending, out, notes) = asked(Some("hi"), None, SCRIPT, async |mut gateway: Gateway| {
        gateway.answers("old").await;
        gateway.stores().await;
        gateway.answers("new").await;
    })
    .await;
    assert_eq!((ending, out.as_str()), (Ending::Done, "new\n\n"));
    assert_eq!(notes, format!("{}\nold\n\n", words::EARLIER));
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
    assert_eq!((ending, out.as_str()), (Ending::Done, "All is well.\n\nA text.\n\n"));
}

#[tokio::test]
async fn a_person_sees_it_grow_and_nothing_twice() {
    let (ending, out, _) = asked(Some("hi"), None, LIVE, async |mut gateway: Gateway| {
        gateway.stores().await;
        for delta in ["Void.\n\nX", "", "One.\n", "\nTw", "o.\n\nThree."] {
            let grow = FromGateway::Grow { delta: delta.into() };
            gateway.says(if delta.is_empty() { FromGateway::Restart } else { grow }).await;
        }
        gateway.answers("One.\n\nTwo.\n\nThree.").await;
    })
    .await;
    assert_eq!(ending, Ending::Done);
    assert_eq!(out, format!("Void.\n\n{}\nOne.\n\nTwo.\n\nThree.\n\n", words::RULE));
}

#[tokio::test]
async fn what_was_not_stored_is_given_back() {
    let (ending, out, notes) = asked(Some("hi"), Some("page"), SCRIPT, async |mut gateway: Gateway| {
        gateway.hears().await;
        gateway.hears().await;
    })
    .await;
    assert_eq!((ending, out.as_str()), (Ending::Failed, ""));
    assert_eq!(notes, format!("{}\n{}\n{}\n", words::GONE, words::unstored("hi"), words::PIPE_UNSTORED));
}

#[tokio::test]
async fn what_was_stored_will_be_answered_later() {
    let (ending, _, notes) = asked(Some("hi"), None, SCRIPT, async |mut gateway: Gateway| {
        gateway.stores().await;
        gateway.says(FromGateway::Bye { why: words::STOPPING.into() }).await;
    })
    .await;
    assert_eq!(ending, Ending::Failed);
    assert_eq!(notes, format!("{}\n{}\n", words::STOPPING, words::ANSWER_LATER));
}
