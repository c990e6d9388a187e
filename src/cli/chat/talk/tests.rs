//! What a conversation does about each event.

use super::*;

const SCREEN: Screen = Screen { live: true, width: 80, color: false };

fn talk() -> Talk {
    Talk::new(SCREEN)
}

fn line(text: &str) -> Typed {
    Typed::Line(text.to_owned())
}

fn say(text: &str) -> Step {
    Step::Say(text.to_owned())
}

fn print(text: &str) -> Step {
    Step::Print(text.to_owned())
}

fn grow(delta: &str) -> FromGateway {
    FromGateway::Grow { delta: delta.to_owned() }
}

fn message(markdown: &str) -> FromGateway {
    FromGateway::Message { id: "1".to_owned(), markdown: markdown.to_owned(), trusted: true }
}

#[test]
fn ctrl_c_stops_what_is_in_work_and_then_leaves() {
    let mut talk = talk();
    assert_eq!(talk.typed(Typed::Interrupt { empty: false }), Step::Nothing);
    assert_eq!(talk.typed(line("hi")), say("hi"));
    assert_eq!(talk.typed(Typed::Interrupt { empty: true }), say("/stop"));
    assert_eq!(talk.typed(Typed::Interrupt { empty: true }), Step::Leave);
    assert_eq!(talk.typed(line("hi")), say("hi"));
    assert_eq!(talk.heard(message("Stopped.")), print("Stopped.\n\n"));
    assert_eq!(talk.heard(message("Hello.")), print("Hello.\n\n"));
    assert_eq!(talk.typed(Typed::Interrupt { empty: true }), Step::Leave);
}

#[test]
fn leaving() {
    for typed in [Typed::End, line("/quit"), line(" /exit ")] {
        assert_eq!(talk().typed(typed), Step::Leave);
    }
    assert_eq!(talk().typed(line("  ")), Step::Nothing);
}

#[test]
fn a_growing_answer_is_completed_and_not_repeated() {
    let mut talk = talk();
    talk.typed(line("hi"));
    assert_eq!(talk.heard(grow("**One.**\n\nTw")), print("One.\n\n"));
    assert_eq!(talk.heard(grow("o.")), Step::Nothing);
    assert_eq!(talk.heard(message("**One.**\n\nTwo.")), print("Two.\n\n"));
    assert_eq!(talk.heard(message("Unasked.")), print("Unasked.\n\n"));
}

#[test]
fn a_command_is_answered_in_the_middle_of_a_growing_answer() {
    let mut talk = talk();
    talk.typed(line("hi"));
    talk.heard(grow("One.\n\nT"));
    assert_eq!(talk.typed(line("/status")), say("/status"));
    assert_eq!(talk.heard(message("All is well.")), print("All is well.\n\n"));
    assert_eq!(talk.heard(message("One.\n\nTwo.")), print("Two.\n\n"));
}

#[test]
fn another_answer_than_the_one_that_grew_comes_whole() {
    let mut talk = talk();
    talk.heard(grow("One.\n\nT"));
    assert_eq!(talk.heard(message("Two.")), Step::Print(format!("{}\nTwo.\n\n", words::RULE)));
    talk.heard(grow("One.\n\nT"));
    assert_eq!(talk.heard(FromGateway::Restart), Step::Print(format!("{}\n", words::RULE)));
    assert_eq!(talk.heard(message("Two.")), print("Two.\n\n"));
}

#[test]
fn a_long_wait_is_told_once() {
    let mut talk = talk();
    talk.typed(line("hi"));
    let shown: Vec<Step> = (0..4).map(|_| talk.heard(FromGateway::Typing)).collect();
    assert_eq!(shown, [Step::Nothing, Step::Print(format!("{}\n", words::WRITING)), Step::Nothing, Step::Nothing]);
}
