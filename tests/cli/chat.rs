//! The conversation at a terminal, key by key.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use rusqlite::Connection;

use super::model::{Model, Say};
use super::program::{Gateway, Home, Session};

const ENTER: &str = "\r";
const ALT_ENTER: &str = "\u{1b}\r";
const CTRL_C: &str = "\u{3}";
const TAB: &str = "\t";

/// A model whose first answer comes in pieces.
fn slow_model() -> (Model, Sender<&'static str>) {
    let (sender, pieces) = channel();
    let pieces = Mutex::new(Some(pieces));
    (Model::start(move |_| pieces.lock().unwrap().take().map_or(Say::Text("Understood."), Say::Pieces)), sender)
}

/// A running gateway, and a chat that waits for words.
fn open(home: &Home) -> (Gateway, Session) {
    let (gateway, mut chat) = (home.gateway(), home.session("chat"));
    chat.shows("Ada> ");
    (gateway, chat)
}

/// Promise (command-line/chat-greeting): An interactive chat says who answers, with which model,
/// and how to get help and leave. `/help` there lists its keys, and tab completes a command.
#[test]
fn a_chat_greets_lists_its_keys_and_completes_commands() {
    let home = Home::plain();
    let _gateway = home.gateway();
    let mut chat = home.session("chat");
    chat.shows("This is compline (offline/");
    chat.shows("/help lists the commands, ctrl-d leaves.");
    chat.shows("Ada> ");
    chat.types(&format!("/hel{TAB}{ENTER}"));
    chat.shows("/help: List the commands");
    for key in ["/memory edit [NAME]", "/quit, /exit or ctrl-d", "ctrl-c", "alt-enter", "tab"] {
        chat.shows(key);
    }
    assert_eq!(chat.leaves().0, Some(0));
}

/// Promise (command-line/chat-thinking): At a terminal the chat shows at once that an answer is on
/// its way, with the seconds and the key that stops it, and then the answer line by line.
#[test]
fn an_answer_is_announced_at_once_and_grows_line_by_line() {
    let (model, pieces) = slow_model();
    let home = Home::configured(&model.config);
    let (_gateway, mut chat) = open(&home);
    chat.types(&format!("Tell me{ENTER}"));
    chat.shows("compline is thinking… 0 s (ctrl-c stops)");
    chat.shows("compline is thinking… 1 s (ctrl-c stops)");
    pieces.send(&"The lighthouse stands at the end of the pier, and ".repeat(2).leak()[..]).unwrap();
    chat.shows("The lighthouse stands at the end of the pier");
    chat.shows("compline is writing…");
    pieces.send("that is all.").unwrap();
    drop(pieces);
    chat.shows("that is all.");
    assert_eq!(chat.leaves().0, Some(0));
}

/// Proves: command-line/chat-thinking
#[test]
fn ctrl_c_stops_the_answer_and_then_leaves() {
    // A turn has not begun yet in the first moment.
    for moment in ["0 s", "1 s"] {
        let (model, pieces) = slow_model();
        let home = Home::configured(&model.config);
        let (_gateway, mut chat) = open(&home);
        chat.types(&format!("Tell me{ENTER}"));
        chat.shows(&format!("is thinking… {moment}"));
        chat.types(CTRL_C);
        // The prompt closes and opens again; the answer comes before or after that.
        let closed = chat.shows("\u{1b}[?2004h");
        if !closed.contains("Stopped.") {
            chat.shows("Stopped.");
        }
        chat.types(CTRL_C);
        assert_eq!(chat.ends().0, Some(0));
        drop(pieces);
    }
}

/// Promise (command-line/chat-lines): A message in the terminal takes line breaks: alt-enter, or a
/// backslash at the end of a line.
#[test]
fn a_message_takes_line_breaks() {
    let home = Home::plain();
    let (_gateway, mut chat) = open(&home);
    chat.types(&format!("What is{ALT_ENTER}12*7{ENTER}"));
    chat.shows("84");
    chat.types(&format!("What is\\{ENTER}23*29{ENTER}"));
    chat.shows("667");
    assert_eq!(chat.leaves().0, Some(0));
    let journal = Connection::open(home.file("compline.db")).unwrap();
    let sql =
        "SELECT group_concat(t.text, '|') FROM texts t JOIN messages m ON m.id = t.message_id WHERE m.kind = 'said'";
    let said: String = journal.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(said, "What is\n12*7|What is\n23*29");
}

/// Promise (command-line/chat-reconnect): If the gateway restarts during a chat, the chat connects
/// again, and what you typed meanwhile is sent once.
#[test]
fn a_chat_connects_again_and_keeps_what_was_typed() {
    let home = Home::plain();
    let (gateway, mut chat) = open(&home);
    assert_eq!(gateway.stop().0, Some(0));
    chat.shows("Connecting again. What you type is kept; ctrl-d leaves.");
    chat.types(&format!("What is 12*7?{ENTER}What is "));
    let _gateway = home.gateway();
    chat.shows("Connected again.");
    chat.shows("84");
    chat.types(&format!("23*29?{ENTER}"));
    chat.shows("667");
    assert_eq!(chat.leaves().0, Some(0));
    let journal = Connection::open(home.file("compline.db")).unwrap();
    let said: i64 =
        journal.query_row("SELECT count(*) FROM messages WHERE kind = 'said'", [], |row| row.get(0)).unwrap();
    assert_eq!(said, 2);
}

/// Proves: command-line/chat-reconnect
#[test]
fn an_answer_that_goes_on_after_a_restart_reads_once_and_in_order() {
    const PART: &str = "The lighthouse stands at the end of the pier.\n\nIt is ";
    let (first, pieces) = channel();
    let (second, more) = channel();
    let answers = Mutex::new(vec![more, pieces]);
    let model = Model::start(move |_| answers.lock().unwrap().pop().map_or(Say::Text("Understood."), Say::Pieces));
    let home = Home::configured(&model.config);
    let (gateway, mut chat) = open(&home);
    chat.types(&format!("Tell me{ENTER}"));
    first.send(PART).unwrap();
    chat.shows("The lighthouse stands");
    // Killed in the middle of the answer, which begins again.
    drop((gateway, first));
    chat.shows("Connecting again.");
    second.send(PART).unwrap();
    let _gateway = home.gateway();
    chat.shows("Connected again.");
    let before = chat.shows("The lighthouse stands");
    second.send("painted white.").unwrap();
    drop(second);
    let between = chat.shows("It is painted white.");
    assert!(!before.contains("painted") && !between.contains("lighthouse"), "{before}{between}");
    let (code, rest) = chat.leaves();
    assert!(code == Some(0) && !rest.contains("lighthouse"), "{code:?} {rest}");
}

/// Proves: command-line/chat-reconnect
#[test]
fn who_leaves_without_a_gateway_gets_back_what_was_not_sent() {
    let home = Home::plain();
    let (gateway, mut chat) = open(&home);
    assert_eq!(gateway.stop().0, Some(0));
    chat.shows("ctrl-d leaves.");
    chat.types(&format!("What is 12*7?{ENTER}"));
    // The line is taken.
    chat.shows("\u{1b}[?2004l");
    let (code, rest) = chat.leaves();
    assert!(code == Some(1) && rest.contains("This was not confirmed as stored:\r\nWhat is 12*7?"), "{code:?} {rest}");
}

/// Promise (command-line/chat-colour): In the chat the prompt is coloured, unless `NO_COLOR` is set
/// or the terminal cannot.
#[test]
fn the_prompt_is_coloured_where_colours_are_wanted() {
    let home = Home::plain();
    let _gateway = home.gateway();
    for (variables, is_coloured) in [(&[][..], true), (&[("NO_COLOR", "1")], false), (&[("TERM", "dumb")], false)] {
        let mut chat = home.session_with("chat", variables);
        let before = chat.shows("Ada> ");
        assert_eq!(before.contains("\u{1b}[1;36m"), is_coloured, "{variables:?}: {before:?}");
        assert_eq!(before.contains("\u{1b}[2m"), is_coloured, "{variables:?}: {before:?}");
        chat.types(&format!("What is 12*7?{ENTER}"));
        chat.shows("84");
        assert_eq!(chat.leaves().0, Some(0));
    }
}

/// Promise (command-line/chat-script): For a script `compline chat "…"` prints the answer without
/// marks and without an empty line at its end, and refuses `--json`.
#[test]
fn a_script_gets_plain_text() {
    let model = Model::start(|_| Say::Text("# Files\n\nUse `ls` for **all** of them."));
    let home = Home::configured(&model.config);
    let _gateway = home.gateway();
    assert_eq!(home.run("chat which files?").done(), "Files\n\nUse ls for all of them.\n");
    assert!(home.run("chat /whoami").done().contains("Ada"));
    for line in ["chat --json hello", "demo --json"] {
        home.run(line).refused(2, &["--json is not for it"]);
    }
}
