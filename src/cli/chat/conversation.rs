//! A conversation line by line. [`ChatSession`], which is pure, decides the action for each event;
//! the loop performs it.
//!
//! Ctrl-c stops an answer in progress; at an empty prompt with nothing in progress it leaves. When
//! the gateway goes away, the loop connects again if it can, and sends what was not stored. Else
//! the person is asked to press enter, because the prompt cannot be closed during typing, and the
//! line is printed back with all unstored messages.

use std::collections::VecDeque;
use std::io::Write;
use std::time::Duration;

use futures::future::BoxFuture;

use super::editor::{Editor, LineInput};
use super::stream::{GatewayLink, StreamedAnswer};
use super::{RunCommand, links_of};
use crate::adapter::terminal::protocol::FromGateway;
use crate::cli::Exit;
use crate::cli::memory;
use crate::cli::print::Screen;
use crate::markdown::LinkDisplay;
use crate::text::is_command;
use crate::time::{Clock, SystemClock, Timestamp};
use crate::wording::chat as words;

const STOP: &str = "/stop";

/// Interval at which the status is updated.
const TICK: Duration = Duration::from_secs(1);

/// Connects to a gateway again, as soon as there is one. The error is its reason to refuse.
pub(super) type Reconnect = Box<dyn Fn() -> BoxFuture<'static, Result<GatewayLink, String>> + Send + Sync>;

/// Runs the conversation until the person leaves. Text in `last` is printed when no prompt is open
/// any more.
pub(super) async fn converse(
    link: GatewayLink,
    editor: Editor,
    companion: &Companion<'_>,
    screen: Screen,
    last: &mut impl Write,
) -> Exit {
    let (session, status, clock) = (ChatSession::new(screen), StatusLine::default(), SystemClock::default());
    let (reconnecting, queued) = (None, VecDeque::new());
    let mut talk = Talk { link, editor, companion, session, status, clock, reconnecting, queued };
    let ending = loop {
        let action = talk.next_action().await;
        if let Some(ending) = talk.perform(action).await {
            break ending;
        }
        // The terminal may have been resized.
        let width = talk.editor.width();
        talk.session.screen.width = width.unwrap_or(talk.session.screen.width);
        let (activity, now) = (talk.session.activity, talk.clock.now());
        talk.editor.set_status(&talk.status.of(activity, &companion.assistant, now));
        talk.editor.go_on();
    };
    let unstored = talk.link.unstored().into_iter().map(words::unstored);
    for text in ending.said.into_iter().chain(unstored).chain(ending.typed.as_deref().map(words::unstored)) {
        // The terminal may be gone.
        let _ = writeln!(last, "{text}");
    }
    ending.exit
}

/// A conversation in progress.
struct Talk<'a> {
    link: GatewayLink,
    editor: Editor,
    companion: &'a Companion<'a>,
    session: ChatSession,
    status: StatusLine,
    clock: SystemClock,
    /// Search for the gateway, while the connection is lost.
    reconnecting: Option<BoxFuture<'static, Result<GatewayLink, String>>>,
    /// Frames that arrived while the external editor had the screen.
    queued: VecDeque<Option<FromGateway>>,
}

/// End of a conversation.
struct Ending {
    exit: Exit,
    /// Reason, if it is not on the screen yet.
    said: Option<String>,
    /// Line that was being typed.
    typed: Option<String>,
}

impl Ending {
    fn of(exit: Exit) -> Self {
        Self { exit, said: None, typed: None }
    }
}

impl Talk<'_> {
    async fn next_action(&mut self) -> ChatAction {
        if let Some(frame) = self.queued.pop_front() {
            return self.session.handle_frame_or_end(frame);
        }
        tokio::select! {
            frame = self.link.next_frame(), if self.reconnecting.is_none() => self.session.handle_frame_or_end(frame),
            found = completed(&mut self.reconnecting) => self.connected(found).await,
            typed = self.editor.typed() => self.session.typed(typed),
            _busy = self.clock.after(TICK), if self.session.activity.is_some() => ChatAction::Nothing,
        }
    }

    /// Goes on with a new connection, if there is one.
    async fn connected(&mut self, found: Result<GatewayLink, String>) -> ChatAction {
        self.reconnecting = None;
        match found {
            Ok(mut link) => {
                link.take_over(&mut self.link).await;
                (self.link, self.session.activity) = (link, None);
                ChatAction::Print(self.session.screen.remark(words::CONNECTED))
            }
            Err(why) => ChatAction::GatewayGone { why, for_good: true },
        }
    }

    async fn perform(&mut self, action: ChatAction) -> Option<Ending> {
        let screen = self.session.screen;
        match action {
            ChatAction::Nothing => {}
            ChatAction::Print(text) => self.editor.print(text),
            ChatAction::Say(text) => drop(self.link.say(&text).await),
            ChatAction::Edit(note) => {
                let (outcome, frames) = self.companion.edit(&note, &mut self.link).await;
                self.editor.print(screen.show(&outcome, LinkDisplay::SpelledOut));
                self.queued.extend(frames);
            }
            ChatAction::Leave => {
                let is_unsent = self.reconnecting.is_some() && !self.link.unstored().is_empty();
                return Some(Ending::of(if is_unsent { Exit::Failed } else { Exit::Done }));
            }
            ChatAction::Fail(why) => return Some(Ending { said: Some(why), ..Ending::of(Exit::Failed) }),
            ChatAction::GatewayGone { why, for_good } => match self.companion.reconnect.filter(|_| !for_good) {
                Some(reconnect) => {
                    let ended = self.session.lose();
                    self.editor.print(ended + &screen.remark(&why) + &screen.remark(words::CONNECTING));
                    self.reconnecting = Some(reconnect());
                }
                None => {
                    self.editor.print(screen.remark(&why) + &screen.remark(words::PRESS_ENTER));
                    let typed = after_the_end(&mut self.editor).await;
                    return Some(Ending { typed, ..Ending::of(Exit::Failed) });
                }
            },
        }
        None
    }
}

/// Waits for the future; forever if there is none.
async fn completed<T>(future: &mut Option<BoxFuture<'static, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

/// Text of the prompt while nothing is typed.
#[derive(Debug, Default)]
struct StatusLine {
    /// Start of the present activity.
    since: Option<Timestamp>,
}

impl StatusLine {
    fn of(&mut self, activity: Option<Activity>, assistant: &str, now: Timestamp) -> String {
        let Some(activity) = activity else {
            self.since = None;
            return String::new();
        };
        let seconds = now.since(*self.since.get_or_insert(now)).as_secs();
        match activity {
            Activity::Thinking => words::thinking(assistant, seconds),
            Activity::Writing => words::writing(assistant, seconds),
            Activity::Lost => words::NOT_CONNECTED.to_owned(),
        }
    }
}

/// Current activity, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// An answer is awaited.
    Thinking,
    /// An answer appears.
    Writing,
    /// The connection is lost.
    Lost,
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
    GatewayGone {
        why: String,
        /// `true` if connecting again cannot help.
        for_good: bool,
    },
}

fn gone(why: String) -> ChatAction {
    ChatAction::GatewayGone { why, for_good: false }
}

/// State of the conversation.
struct ChatSession {
    screen: Screen,
    answer: StreamedAnswer,
    /// Number of unanswered commands: their answers may arrive during a streamed answer.
    commands: usize,
    /// `true` if one of them is the list of commands, which the keys follow.
    lists_keys: bool,
    activity: Option<Activity>,
}

impl ChatSession {
    fn new(screen: Screen) -> Self {
        Self { screen, answer: StreamedAnswer::default(), commands: 0, lists_keys: false, activity: None }
    }

    fn typed(&mut self, typed: LineInput) -> ChatAction {
        match typed {
            LineInput::Line(line) => self.line(line),
            LineInput::Interrupt { .. } if matches!(self.activity, Some(Activity::Thinking | Activity::Writing)) => {
                // If nothing was in progress after all, the next ctrl-c leaves.
                self.activity = None;
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
            self.lists_keys |= line.trim().eq_ignore_ascii_case("/help");
        } else {
            self.activity.get_or_insert(Activity::Thinking);
        }
        ChatAction::Say(line)
    }

    /// Handles a frame from the gateway, or its disconnection.
    fn handle_frame_or_end(&mut self, frame: Option<FromGateway>) -> ChatAction {
        frame.map_or_else(|| gone(words::GONE.to_owned()), |frame| self.handle_frame(frame))
    }

    fn handle_frame(&mut self, frame: FromGateway) -> ChatAction {
        match frame {
            FromGateway::Grow { delta, .. } => {
                let shown = self.answer.push(&delta, self.screen);
                self.activity = Some(if self.answer.is_unseen() { Activity::Thinking } else { Activity::Writing });
                ChatAction::Print(shown)
            }
            FromGateway::Restart if self.answer.restart() => ChatAction::Print(self.screen.remark(words::RULE)),
            FromGateway::Typing => {
                self.activity.get_or_insert(Activity::Thinking);
                ChatAction::Nothing
            }
            FromGateway::Message { markdown, trusted, .. } => self.message(&markdown, trusted),
            FromGateway::Refused { why } => ChatAction::Print(self.screen.remark(&why)),
            FromGateway::Bye { why } => gone(why),
            FromGateway::Restart
            | FromGateway::Welcome { .. }
            | FromGateway::Stored { .. }
            | FromGateway::Answer { .. } => ChatAction::Nothing,
        }
    }

    fn message(&mut self, markdown: &str, trusted: bool) -> ChatAction {
        let links = links_of(trusted);
        let growing = !self.answer.is_unseen();
        if self.commands > 0 && !(growing && self.answer.continues_in(markdown, self.screen)) {
            self.commands -= 1;
            let mut shown = self.screen.show(markdown, links);
            if self.lists_keys && markdown.contains("/help") {
                self.lists_keys = false;
                shown.push_str(&self.screen.show(words::KEYS, links));
            }
            return ChatAction::Print(shown);
        }
        self.activity = None;
        ChatAction::Print(self.answer.finish(markdown, self.screen, links))
    }

    /// Ends what was in progress with a lost connection. Returns the end of a partial answer.
    fn lose(&mut self) -> String {
        self.activity = Some(Activity::Lost);
        if self.answer.restart() { self.screen.remark(words::RULE) } else { String::new() }
    }
}

/// The two who are talking, and other ways to the gateway.
pub(super) struct Companion<'a> {
    /// Name of the person who is talking.
    pub person: String,
    /// Name of the assistant.
    pub assistant: String,
    pub run_command: &'a RunCommand,
    /// `None` if the gateway works in this process.
    pub reconnect: Option<&'a Reconnect>,
}

impl Companion<'_> {
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
        let answered = (self.run_command)(memory::open_command(&self.person, note), true).await.ok_or_else(gone)?;
        let copy = memory::NoteCopy::edited(memory::parse_note_text(&answered)?).await?;
        match (self.run_command)(copy.save_command(&self.person), false).await {
            Some(edited) if edited.failed => Err(copy.keep(&edited.text)),
            Some(edited) => Ok(edited.text),
            None => Err(copy.keep(words::GONE)),
        }
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
