//! A conversation line by line. [`ChatSession`], which is pure, decides the action for each event;
//! the loop performs it.
//!
//! Ctrl-c stops an answer in progress; at an empty prompt with nothing in progress it leaves. When
//! the gateway goes away, the prompt cannot be closed during typing: the person is asked to press
//! enter, and the line is printed back with all unstored messages.

use std::collections::VecDeque;
use std::io::Write;

use super::editor::{Editor, LineInput};
use super::stream::{GatewayLink, StreamedAnswer, is_command};
use super::{RunCommand, links_of};
use crate::adapter::markdown::LinkDisplay;
use crate::adapter::terminal::protocol::FromGateway;
use crate::cli::Exit;
use crate::cli::memory;
use crate::cli::print::Screen;
use crate::wording::chat as words;

const STOP: &str = "/stop";

/// Runs the conversation until the person leaves. Text in `last` is printed when no prompt is open
/// any more.
pub(super) async fn converse(
    mut link: GatewayLink,
    mut editor: Editor,
    note_editor: &NoteEditor<'_>,
    screen: Screen,
    out: &mut impl Write,
) -> Exit {
    let mut session = ChatSession::new(screen);
    let mut typed_line = None;
    // Frames that arrived while the external editor had the screen.
    let mut queued = VecDeque::new();
    let ending = loop {
        let step = match queued.pop_front() {
            Some(frame) => session.handle_frame_or_end(frame),
            None => tokio::select! {
                frame = link.next_frame() => session.handle_frame_or_end(frame),
                typed = editor.typed() => session.typed(typed),
            },
        };
        match step {
            ChatAction::Nothing => {}
            ChatAction::Print(text) => editor.print(text),
            ChatAction::Say(text) => drop(link.say(&text).await),
            ChatAction::Edit(note) => {
                let (outcome, frames) = note_editor.edit(&note, &mut link).await;
                editor.print(screen.show(&outcome, LinkDisplay::SpelledOut));
                queued.extend(frames);
            }
            ChatAction::Leave => break Exit::Done,
            ChatAction::Fail(why) => {
                // The terminal is gone, perhaps with all output.
                let _ = writeln!(out, "{why}");
                break Exit::Failed;
            }
            ChatAction::GatewayGone(why) => {
                editor.print(screen.remark(&why) + &screen.remark(words::PRESS_ENTER));
                typed_line = after_the_end(&mut editor).await;
                break Exit::Failed;
            }
        }
        // The terminal may have been resized.
        session.screen.width = editor.width().unwrap_or(session.screen.width);
        editor.go_on();
    };
    for text in link.unstored().into_iter().chain(typed_line.as_deref()) {
        let _ = writeln!(out, "{}", words::unstored(text));
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
    answer: StreamedAnswer,
    /// Number of unanswered commands: their answers may arrive during a streamed answer.
    commands: usize,
    /// `true` while an answer is in progress, as far as known.
    is_answering: bool,
    /// Number of activity signals since the last output.
    activity_signals: usize,
}

impl ChatSession {
    fn new(screen: Screen) -> Self {
        Self { screen, answer: StreamedAnswer::default(), commands: 0, is_answering: false, activity_signals: 0 }
    }

    fn typed(&mut self, typed: LineInput) -> ChatAction {
        match typed {
            LineInput::Line(line) => self.line(line),
            LineInput::Interrupt { .. } if self.is_answering => {
                // If nothing was in progress after all, the next ctrl-c leaves.
                self.is_answering = false;
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
        if let Some(note) = note_in(&line) {
            return ChatAction::Edit(note.to_owned());
        }
        if is_command(&line) {
            self.commands += 1;
        } else {
            (self.is_answering, self.activity_signals) = (true, 0);
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
                (self.is_answering, self.activity_signals) = (true, 0);
                let block = self.answer.push(&delta);
                block.map_or(ChatAction::Nothing, |block| {
                    ChatAction::Print(self.screen.show(&block, LinkDisplay::SpelledOut))
                })
            }
            FromGateway::Restart if self.answer.restart() => ChatAction::Print(self.screen.remark(words::RULE)),
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
        self.is_answering = true;
        self.activity_signals += 1;
        match self.activity_signals == 2 && self.answer.is_unseen() {
            true => ChatAction::Print(self.screen.remark(words::WRITING)),
            false => ChatAction::Nothing,
        }
    }

    fn message(&mut self, markdown: &str, trusted: bool) -> ChatAction {
        let links = links_of(trusted);
        let growing = !self.answer.is_unseen();
        if self.commands > 0 && !(growing && self.answer.continues_in(markdown)) {
            self.commands -= 1;
            return ChatAction::Print(self.screen.show(markdown, links));
        }
        (self.is_answering, self.activity_signals) = (false, 0);
        ChatAction::Print(self.answer.finish(markdown).render(self.screen, links))
    }
}

/// The editing person, and access to the location of their files.
pub(super) struct NoteEditor<'a> {
    /// Name of the person who is talking.
    pub person: String,
    pub run_command: &'a RunCommand,
}

impl NoteEditor<'_> {
    /// Opens the note in an editor and waits until it is closed. Returns the result as text, and
    /// the frames that arrived meanwhile; the last one is `None` if the gateway went away.
    pub async fn edit(&self, note: &str, link: &mut GatewayLink) -> (String, Vec<Option<FromGateway>>) {
        let editing = self.editing(note);
        tokio::pin!(editing);
        let mut frames: Vec<Option<FromGateway>> = Vec::new();
        loop {
            let gone = frames.last().is_some_and(Option::is_none);
            tokio::select! {
                outcome = &mut editing => return (outcome.unwrap_or_else(|why| why), frames),
                frame = link.next_frame(), if !gone => frames.push(frame),
            }
        }
    }

    async fn editing(&self, note: &str) -> Result<String, String> {
        let gone = || words::GONE.to_owned();
        let placed = (self.run_command)(memory::locate_command(&self.person, note), true).await.ok_or_else(gone)?;
        let open = memory::parse_note_file(&placed)?;
        memory::open_editor(&open).await?;
        let edited = (self.run_command)(memory::report_command(&self.person, &open), false).await.ok_or_else(gone)?;
        Ok(edited.text)
    }
}

/// Returns the note that a line asks to edit; blank for `MEMORY.md`.
pub(super) fn note_in(line: &str) -> Option<&str> {
    let rest = of(line, "/memory")?;
    of(rest, "edit")
}

/// Returns the text after `word`, if the line begins with it.
fn of<'l>(line: &'l str, word: &str) -> Option<&'l str> {
    let line = line.trim();
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    first.eq_ignore_ascii_case(word).then(|| rest.trim())
}

#[cfg(test)]
mod tests;
