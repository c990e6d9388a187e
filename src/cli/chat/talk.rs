//! A conversation line by line. What to do about each event is decided in [`ChatSession`], which is
//! pure; the loop carries it out.
//!
//! Ctrl-c stops an answer that is in work; at an empty prompt with nothing in work it leaves. When
//! the gateway goes away, the prompt cannot be closed under the person's hands: they are asked to
//! press enter, and what stood there is printed back with everything that was not stored.

use std::collections::VecDeque;
use std::io::Write;

use super::by_hand::{self, ByHand};
use super::editor::{Editor, Typed};
use super::growth::{Growth, Rest};
use super::link::{GatewayLink, is_command};
use super::screen::Screen;
use super::{Ending, links_of};
use crate::adapter::markdown::LinkDisplay;
use crate::adapter::terminal::protocol::FromGateway;
use crate::wording::chat as words;

const STOP: &str = "/stop";

/// Talks until the person leaves. What goes to `last` is printed when no prompt is open any more.
pub(super) async fn talk(
    mut link: GatewayLink,
    mut editor: Editor,
    by_hand: &ByHand<'_>,
    screen: Screen,
    last: &mut impl Write,
) -> Ending {
    let mut talk = ChatSession::new(screen);
    let mut in_line = None;
    // What came while the person's own editor had the screen.
    let mut missed = VecDeque::new();
    let ending = loop {
        let step = match missed.pop_front() {
            Some(frame) => talk.heard_or_gone(frame),
            None => tokio::select! {
                frame = link.hear() => talk.heard_or_gone(frame),
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
            ChatAction::Leave => break Ending::Done,
            ChatAction::Fail(why) => {
                // The terminal is gone, perhaps with all that could be printed to.
                let _ = writeln!(last, "{why}");
                break Ending::Failed;
            }
            ChatAction::GatewayGone(why) => {
                editor.print(screen.aside(&why) + &screen.aside(words::PRESS_ENTER));
                in_line = after_the_end(&mut editor).await;
                break Ending::Failed;
            }
        }
        talk.look(editor.width());
        editor.go_on();
    };
    for text in link.unstored().into_iter().chain(in_line.as_deref()) {
        let _ = writeln!(last, "{}", words::unstored(text));
    }
    ending
}

/// What stood in the line when the gateway went away.
async fn after_the_end(editor: &mut Editor) -> Option<String> {
    editor.go_on();
    match editor.typed().await {
        Typed::Line(line) => Some(line).filter(|line| !line.trim().is_empty()),
        Typed::Interrupt { .. } | Typed::End | Typed::Broken(_) => None,
    }
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
enum ChatAction {
    Nothing,
    Print(String),
    Say(String),
    /// Opens the person's own editor on a note.
    Edit(String),
    Leave,
    Fail(String),
    GatewayGone(String),
}

/// Where the conversation stands.
struct ChatSession {
    screen: Screen,
    growth: Growth,
    /// Commands that were not answered yet: their answers may come in the middle of a growing one.
    commands: usize,
    /// Whether an answer is in work, as far as we know.
    in_work: bool,
    /// Signs of life since anything was shown.
    signs: usize,
}

impl ChatSession {
    fn new(screen: Screen) -> Self {
        Self { screen, growth: Growth::default(), commands: 0, in_work: false, signs: 0 }
    }

    /// The terminal may have been resized.
    fn look(&mut self, width: Option<usize>) {
        self.screen.width = width.unwrap_or(self.screen.width);
    }

    fn typed(&mut self, typed: Typed) -> ChatAction {
        match typed {
            Typed::Line(line) => self.line(line),
            Typed::Interrupt { .. } if self.in_work => {
                // If nothing was in work after all, the next one leaves.
                self.in_work = false;
                self.commands += 1;
                ChatAction::Say(STOP.to_owned())
            }
            Typed::Interrupt { empty: false } => ChatAction::Nothing,
            Typed::Interrupt { empty: true } | Typed::End => ChatAction::Leave,
            Typed::Broken(why) => ChatAction::Fail(words::editor_broken(&why)),
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

    /// What the gateway says, or that it is gone.
    fn heard_or_gone(&mut self, frame: Option<FromGateway>) -> ChatAction {
        frame.map_or_else(|| ChatAction::GatewayGone(words::GONE.to_owned()), |frame| self.heard(frame))
    }

    fn heard(&mut self, frame: FromGateway) -> ChatAction {
        match frame {
            FromGateway::Grow { delta, .. } => {
                (self.in_work, self.signs) = (true, 0);
                let block = self.growth.push(&delta);
                block.map_or(ChatAction::Nothing, |block| {
                    ChatAction::Print(self.screen.show(&block, LinkDisplay::SpelledOut))
                })
            }
            FromGateway::Restart if self.growth.restart() => ChatAction::Print(self.screen.aside(words::RULE)),
            FromGateway::Typing => self.sign(),
            FromGateway::Message { markdown, trusted, .. } => self.message(&markdown, trusted),
            FromGateway::Refused { why } => ChatAction::Print(self.screen.aside(&why)),
            FromGateway::Bye { why } => ChatAction::GatewayGone(why),
            FromGateway::Restart
            | FromGateway::Welcome { .. }
            | FromGateway::Stored { .. }
            | FromGateway::Answer { .. } => ChatAction::Nothing,
        }
    }

    /// The second sign without a word in between means that it takes longer than usual: say so,
    /// once.
    fn sign(&mut self) -> ChatAction {
        self.in_work = true;
        self.signs += 1;
        match self.signs == 2 && self.growth.is_unseen() {
            true => ChatAction::Print(self.screen.aside(words::WRITING)),
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
            Rest::More(rest) => ChatAction::Print(self.screen.show(&rest, links)),
            Rest::Whole(markdown) => {
                ChatAction::Print(self.screen.aside(words::RULE) + &self.screen.show(&markdown, links))
            }
        }
    }
}

#[cfg(test)]
mod tests;
