//! A conversation line by line. [`ChatSession`], which is pure, decides the action for each event;
//! the loop performs it.
//!
//! Ctrl-c stops an answer in progress; at an empty prompt with nothing in progress it leaves. When
//! the gateway goes away, the prompt cannot be closed during typing: the person is asked to press
//! enter, and the line is printed back with all unstored messages.

use std::collections::VecDeque;
use std::io::Write;

use super::by_hand::{self, ByHand};
use super::editor::{Editor, LineInput};
use super::growth::{RemainingText, StreamedAnswer};
use super::link::{GatewayLink, is_command};
use super::screen::Screen;
use super::{ChatOutcome, links_of};
use crate::adapter::markdown::LinkDisplay;
use crate::adapter::terminal::protocol::FromGateway;
use crate::wording::chat as words;

const STOP: &str = "/stop";

/// Runs the conversation until the person leaves. Text in `last` is printed when no prompt is open
/// any more.
pub(super) async fn talk(
    mut link: GatewayLink,
    mut editor: Editor,
    by_hand: &ByHand<'_>,
    screen: Screen,
    last: &mut impl Write,
) -> ChatOutcome {
    let mut talk = ChatSession::new(screen);
    let mut in_line = None;
    // Frames that arrived while the external editor had the screen.
    let mut missed = VecDeque::new();
    let ending = loop {
        let step = match missed.pop_front() {
            Some(frame) => talk.handle_frame_or_end(frame),
            None => tokio::select! {
                frame = link.next_frame() => talk.handle_frame_or_end(frame),
                typed = editor.typed() => talk.typed(typed),
            },
        };
        match step {
            ChatAction::Nothing => {}
            ChatAction::Print(text) => editor.print(text),
            ChatAction::Say(text) => drop(link.say(&text, false).await),
            ChatAction::Edit(note) => {
                let (said, frames) = by_hand.edit(&note, &mut link).await;
                editor.print(screen.show(&said, LinkDisplay::SpelledOut));
                missed.extend(frames);
            }
            ChatAction::Leave => break ChatOutcome::Done,
            ChatAction::Fail(why) => {
                // The terminal is gone, perhaps with all output.
                let _ = writeln!(last, "{why}");
                break ChatOutcome::Failed;
            }
            ChatAction::GatewayGone(why) => {
                editor.print(screen.remark(&why) + &screen.remark(words::PRESS_ENTER));
                in_line = after_the_end(&mut editor).await;
                break ChatOutcome::Failed;
            }
        }
        talk.update_width(editor.width());
        editor.go_on();
    };
    for text in link.unstored().into_iter().chain(in_line.as_deref()) {
        let _ = writeln!(last, "{}", words::unstored(text));
    }
    ending
}

/// Returns the line that was being typed when the gateway went away.
async fn after_the_end(editor: &mut Editor) -> Option<String> {
    editor.go_on();
    match editor.typed().await {
        LineInput::Line(line) => Some(line).filter(|line| !line.trim().is_empty()),
        LineInput::Interrupt { .. } | LineInput::End | LineInput::Broken(_) => None,
    }
}

/// Next action.
#[derive(Debug, PartialEq, Eq)]
enum ChatAction {
    Nothing,
    Print(String),
    Say(String),
    /// Opens a note in the person's external editor.
    Edit(String),
    Leave,
    Fail(String),
    GatewayGone(String),
}

/// State of the conversation.
struct ChatSession {
    screen: Screen,
    growth: StreamedAnswer,
    /// Number of unanswered commands: their answers may arrive during a streamed answer.
    commands: usize,
    /// `true` while an answer is in progress, as far as known.
    in_work: bool,
    /// Number of activity signals since the last output.
    signs: usize,
}

impl ChatSession {
    fn new(screen: Screen) -> Self {
        Self { screen, growth: StreamedAnswer::default(), commands: 0, in_work: false, signs: 0 }
    }

    /// Updates the width, because the terminal may have been resized.
    fn update_width(&mut self, width: Option<usize>) {
        self.screen.width = width.unwrap_or(self.screen.width);
    }

    fn typed(&mut self, typed: LineInput) -> ChatAction {
        match typed {
            LineInput::Line(line) => self.line(line),
            LineInput::Interrupt { .. } if self.in_work => {
                // If nothing was in progress after all, the next ctrl-c leaves.
                self.in_work = false;
                self.commands += 1;
                ChatAction::Say(STOP.to_owned())
            }
            LineInput::Interrupt { empty: false } => ChatAction::Nothing,
            LineInput::Interrupt { empty: true } | LineInput::End => ChatAction::Leave,
            LineInput::Broken(why) => ChatAction::Fail(words::editor_broken(&why)),
        }
    }

    fn line(&mut self, line: String) -> ChatAction {
        match line.trim() {
            "" => return ChatAction::Nothing,
            "/quit" | "/exit" => return ChatAction::Leave,
            _ => {}
        }
        if let Some(note) = by_hand::note_in(&line) {
            return ChatAction::Edit(note.to_owned());
        }
        if is_command(&line) {
            self.commands += 1;
        } else {
            (self.in_work, self.signs) = (true, 0);
        }
        ChatAction::Say(line)
    }

    /// Handles a frame from the gateway, or its disconnection.
    fn handle_frame_or_end(&mut self, frame: Option<FromGateway>) -> ChatAction {
        frame.map_or_else(|| ChatAction::GatewayGone(words::GONE.to_owned()), |frame| self.handle_frame(frame))
    }

    fn handle_frame(&mut self, frame: FromGateway) -> ChatAction {
        match frame {
            FromGateway::Grow { delta, .. } => {
                (self.in_work, self.signs) = (true, 0);
                let block = self.growth.push(&delta);
                block.map_or(ChatAction::Nothing, |block| {
                    ChatAction::Print(self.screen.show(&block, LinkDisplay::SpelledOut))
                })
            }
            FromGateway::Restart if self.growth.restart() => ChatAction::Print(self.screen.remark(words::RULE)),
            FromGateway::Typing => self.sign(),
            FromGateway::Message { markdown, trusted, .. } => self.message(&markdown, trusted),
            FromGateway::Refused { why } => ChatAction::Print(self.screen.remark(&why)),
            FromGateway::Bye { why } => ChatAction::GatewayGone(why),
            FromGateway::Restart
            | FromGateway::Welcome { .. }
            | FromGateway::Stored { .. }
            | FromGateway::Answer { .. } => ChatAction::Nothing,
        }
    }

    /// Handles an activity signal. The second one without any output means that the answer takes
    /// longer than usual, which is shown once.
    fn sign(&mut self) -> ChatAction {
        self.in_work = true;
        self.signs += 1;
        match self.signs == 2 && self.growth.is_unseen() {
            true => ChatAction::Print(self.screen.remark(words::WRITING)),
            false => ChatAction::Nothing,
        }
    }

    fn message(&mut self, markdown: &str, trusted: bool) -> ChatAction {
        let links = links_of(trusted);
        let growing = !self.growth.is_unseen();
        if self.commands > 0 && !(growing && self.growth.continues_in(markdown)) {
            self.commands -= 1;
            return ChatAction::Print(self.screen.show(markdown, links));
        }
        (self.in_work, self.signs) = (false, 0);
        match self.growth.finish(markdown) {
            RemainingText::More(rest) => ChatAction::Print(self.screen.show(&rest, links)),
            RemainingText::Whole(markdown) => {
                ChatAction::Print(self.screen.remark(words::RULE) + &self.screen.show(&markdown, links))
            }
        }
    }
}

#[cfg(test)]
mod tests;
