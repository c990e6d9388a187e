//! Actions of a conversation for each event.

use super::*;
use crate::adapter::terminal::protocol::FromClient;
use crate::adapter::terminal::{Connection, Frame, accept};

const SCREEN: Screen = Screen { live: true, width: 80, color: false, marks: true };

fn begun() -> ChatSession {
    ChatSession::new(SCREEN)
}

fn line(text: &str) -> LineInput {
    LineInput::Line(text.to_owned())
}

fn say(text: &str) -> ChatAction {
    ChatAction::Say(text.to_owned())
}

fn print(text: &str) -> ChatAction {
    ChatAction::Print(text.to_owned())
}

fn grow(delta: &str) -> FromGateway {
    FromGateway::Grow { delta: delta.to_owned(), answers: None }
}

fn message(markdown: &str) -> FromGateway {
    let (id, markdown) = ("1".to_owned(), markdown.to_owned());
    FromGateway::Message { id, markdown, trusted: true, answers: None, awaited: false, unanswered: false }
}

#[test]
fn ctrl_c_stops_what_is_in_work_and_then_leaves() {
    let mut talk = begun();
    assert_eq!(talk.typed(LineInput::Interrupt { empty: false }), ChatAction::Nothing);
    assert_eq!(talk.typed(line("hi")), say("hi"));
    assert_eq!(talk.typed(LineInput::Interrupt { empty: true }), say("/stop"));
    assert_eq!(talk.typed(LineInput::Interrupt { empty: true }), ChatAction::Leave);
    assert_eq!(talk.typed(line("hi")), say("hi"));
    assert_eq!(talk.handle_frame(message("Stopped.")), print("Stopped.\n\n"));
    assert_eq!(talk.handle_frame(message("Hello.")), print("Hello.\n\n"));
    assert_eq!(talk.typed(LineInput::Interrupt { empty: true }), ChatAction::Leave);
}

#[test]
fn leaving() {
    for typed in [LineInput::End, line("/quit"), line(" /exit ")] {
        assert_eq!(begun().typed(typed), ChatAction::Leave);
    }
    assert_eq!(begun().typed(line("  ")), ChatAction::Nothing);
}

#[test]
fn an_editor_is_no_message() {
    let edit = |note: &str| ChatAction::Edit(note.to_owned());
    for (typed, step) in [
        ("/memory edit", edit("")),
        (" /Memory  EDIT  deploy key ", edit("deploy key")),
        ("/memory edit.md", say("/memory edit.md")),
        ("/memory editor", say("/memory editor")),
        ("/memory", say("/memory")),
    ] {
        assert_eq!(begun().typed(line(typed)), step, "{typed}");
    }
}

#[test]
fn a_growing_answer_is_completed_and_not_repeated() {
    let mut talk = begun();
    talk.typed(line("hi"));
    assert_eq!(talk.handle_frame(grow("**One.**\n\nTw")), print("One.\n\n"));
    assert_eq!(talk.handle_frame(grow("o.")), print(""));
    assert_eq!(talk.handle_frame(message("**One.**\n\nTwo.")), print("Two.\n\n"));
    assert_eq!(talk.handle_frame(message("Unasked.")), print("Unasked.\n\n"));
}

#[test]
fn a_command_is_answered_in_the_middle_of_a_growing_answer() {
    let mut talk = begun();
    talk.typed(line("hi"));
    talk.handle_frame(grow("One.\n\nT"));
    assert_eq!(talk.typed(line("/status")), say("/status"));
    assert_eq!(talk.handle_frame(message("All is well.")), print("All is well.\n\n"));
    assert_eq!(talk.handle_frame(message("One.\n\nTwo.")), print("Two.\n\n"));
}

#[test]
fn another_answer_than_the_one_that_grew_comes_whole() {
    let mut talk = begun();
    talk.handle_frame(grow("One.\n\nT"));
    assert_eq!(talk.handle_frame(message("Two.")), ChatAction::Print(format!("{}\nTwo.\n\n", words::RULE)));
    talk.handle_frame(grow("One.\n\nT"));
    assert_eq!(talk.handle_frame(FromGateway::Restart), ChatAction::Print(format!("{}\n", words::RULE)));
    assert_eq!(talk.handle_frame(message("Two.")), print("Two.\n\n"));
}

#[test]
fn what_goes_on_is_known_from_the_question_to_the_answer() {
    let mut talk = begun();
    assert_eq!(talk.activity, None);
    talk.typed(line("/status"));
    assert_eq!(talk.activity, None, "a command is answered at once");
    talk.typed(line("hi"));
    assert_eq!(talk.activity, Some(Activity::Thinking));
    talk.handle_frame(grow("One"));
    assert_eq!(talk.activity, Some(Activity::Thinking), "nothing is shown yet");
    talk.handle_frame(grow(".\n\nTwo"));
    assert_eq!(talk.activity, Some(Activity::Writing));
    talk.handle_frame(message("All is well."));
    talk.handle_frame(message("One.\n\nTwo."));
    assert_eq!(talk.activity, None);
    talk.handle_frame(FromGateway::Typing);
    assert_eq!(talk.activity, Some(Activity::Thinking), "asked elsewhere");
}

#[test]
fn the_status_counts_seconds_from_the_beginning() {
    let mut status = StatusLine::default();
    let at = |seconds: i64| Timestamp(seconds * 1000);
    assert_eq!(status.of(Some(Activity::Thinking), "Compline", at(10)), "Compline is thinking… 0 s (ctrl-c stops)");
    assert_eq!(status.of(Some(Activity::Thinking), "Compline", at(13)), "Compline is thinking… 3 s (ctrl-c stops)");
    assert_eq!(status.of(Some(Activity::Writing), "Compline", at(15)), "Compline is writing… 5 s (ctrl-c stops)");
    assert_eq!(status.of(None, "Compline", at(16)), "");
    assert_eq!(status.of(Some(Activity::Thinking), "Compline", at(20)), "Compline is thinking… 0 s (ctrl-c stops)");
}

#[test]
fn the_keys_follow_the_list_of_commands() {
    let mut talk = begun();
    talk.typed(line("/status"));
    talk.typed(line("/HELP"));
    assert_eq!(talk.handle_frame(message("All is well.")), print("All is well.\n\n"));
    let ChatAction::Print(shown) = talk.handle_frame(message("- /help: List the commands")) else { panic!() };
    for key in ["/quit", "/exit", "ctrl-d", "/memory edit", "ctrl-c", "alt-enter", "tab"] {
        assert!(shown.contains(key), "{key}: {shown}");
    }
}

#[tokio::test]
async fn when_the_gateway_goes_away_everything_unstored_is_given_back() {
    let (ours, theirs) = tokio::io::duplex(1024);
    let gateway = async {
        let (_, mut connection) = accept(theirs).await.unwrap();
        let names = ("ada".to_owned(), "compline".to_owned(), "1".to_owned());
        let welcome = FromGateway::Welcome { person: names.0, assistant: names.1, peer: names.2, model: None };
        connection.writer.write(&welcome).await.unwrap();
        for stored in [true, false] {
            let said = connection.reader.next().await.unwrap();
            let Frame::Message(FromClient::Say { id, .. }) = said else { panic!("{said:?} is no message") };
            if stored {
                connection.writer.write(&FromGateway::Stored { id }).await.unwrap();
            }
        }
        let bye = FromGateway::Bye { why: words::STOPPING.into() };
        connection.writer.write(&bye).await.unwrap();
    };
    let (editor, keyboard, printed) = Editor::scripted(80);
    let run_command: crate::cli::chat::RunCommand = Box::new(|_, _| Box::pin(async { None }));
    let client = async {
        let (link, _) = GatewayLink::greet(Connection::of_client(ours), None).await.unwrap();
        let mut last = Vec::new();
        let (person, assistant) = ("Ada".to_owned(), "Compline".to_owned());
        let companion = Companion { person, assistant, run_command: &run_command, reconnect: None };
        (converse(link, editor, &companion, SCREEN, &mut last).await, String::from_utf8(last).unwrap())
    };
    let person = async {
        keyboard.send(line("first")).await.unwrap();
        keyboard.send(line("second")).await.unwrap();
        // The third line is typed only after the farewell was read above the prompt.
        while !printed.try_recv().is_ok_and(|text| text.contains(words::PRESS_ENTER)) {
            tokio::task::yield_now().await;
        }
        keyboard.send(line("third")).await.unwrap();
    };
    let ((), (ending, last), ()) = tokio::join!(gateway, client, person);
    assert_eq!(ending, Exit::Failed);
    assert_eq!(last, format!("{}\n{}\n", words::unstored("second"), words::unstored("third")));
}

/// Accepts a client and greets it.
async fn welcome(stream: tokio::io::DuplexStream) -> Connection {
    let (_, mut connection) = accept(stream).await.unwrap();
    let [person, assistant, peer] = ["ada", "compline", "1"].map(str::to_owned);
    connection.writer.write(&FromGateway::Welcome { person, assistant, peer, model: None }).await.unwrap();
    connection
}

/// Receives a message.
async fn said(connection: &mut Connection) -> (String, String) {
    let said = connection.reader.next().await.unwrap();
    let Frame::Message(FromClient::Say { id, text, .. }) = said else { panic!("{said:?} is no message") };
    (id, text)
}

#[tokio::test]
async fn after_a_restart_what_was_not_stored_is_sent_again_once() {
    let (ours, theirs) = tokio::io::duplex(1024);
    let (again, after) = tokio::io::duplex(1024);
    let again = std::sync::Mutex::new(Some(again));
    let reconnect: Reconnect = Box::new(move || {
        let stream = again.lock().unwrap().take().unwrap();
        Box::pin(async move { Ok(GatewayLink::greet(Connection::of_client(stream), None).await.ok().unwrap().0) })
    });
    let (editor, keyboard, printed) = Editor::scripted(80);
    let run_command: crate::cli::chat::RunCommand = Box::new(|_, _| Box::pin(async { None }));
    let gateway = async {
        let mut connection = welcome(theirs).await;
        let (id, _) = said(&mut connection).await;
        connection.writer.write(&FromGateway::Stored { id }).await.unwrap();
        let lost = said(&mut connection).await;
        drop(connection);
        keyboard.send(line("third")).await.unwrap();
        let mut connection = welcome(after).await;
        assert_eq!(said(&mut connection).await, lost);
        let (id, third) = said(&mut connection).await;
        assert_eq!((lost.1.as_str(), third.as_str()), ("second", "third"));
        for id in [lost.0, id] {
            connection.writer.write(&FromGateway::Stored { id }).await.unwrap();
        }
        connection.writer.write(&message("All three.")).await.unwrap();
        while !printed.try_recv().is_ok_and(|text| text.contains("All three.")) {
            tokio::task::yield_now().await;
        }
        keyboard.send(LineInput::End).await.unwrap();
        connection
    };
    let client = async {
        let (link, _) = GatewayLink::greet(Connection::of_client(ours), None).await.ok().unwrap();
        let (person, assistant) = ("Ada".to_owned(), "Compline".to_owned());
        let companion = Companion { person, assistant, run_command: &run_command, reconnect: Some(&reconnect) };
        let mut last = Vec::new();
        (converse(link, editor, &companion, SCREEN, &mut last).await, String::from_utf8(last).unwrap())
    };
    let person = async {
        keyboard.send(line("first")).await.unwrap();
        keyboard.send(line("second")).await.unwrap();
    };
    let (_, (ending, last), ()) = tokio::join!(gateway, client, person);
    assert_eq!((ending, last.as_str()), (Exit::Done, ""));
}
