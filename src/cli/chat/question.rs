//! One question and its answer, for scripts and pipes.
//!
//! Only the answer goes to standard output: text in reply to the messages of this client. Answers
//! to older messages, and other text, go to standard error; messages for other clients are ignored.
//! A reason why there is no answer, or why a command was not done, goes there too, and the question
//! has failed.
//! A command is answered separately, so a command with piped text has two answers. One answer may
//! also serve several clients whose questions were joined. An older gateway that does not name the
//! answered messages is assumed to answer in order. Unstored messages are printed back.

use std::io::{IsTerminal, Read, Write};

use anyhow::Context;

use super::links_of;
use super::stream::{GatewayLink, StreamedAnswer, new_id};
use crate::adapter::terminal::protocol::FromGateway;
use crate::cli::Exit;
use crate::cli::print::{CliError, Screen};
use crate::text::is_command;
use crate::wording::chat as words;

/// Maximum size of piped text in bytes.
const MAX_PIPED: usize = 256 * 1024;

/// Asks and waits for the answer.
pub(super) async fn ask(
    mut link: GatewayLink,
    question: ChatInput,
    screen: Screen,
    out: &mut (impl Write + Send),
    notes: &mut (impl Write + Send),
) -> anyhow::Result<Exit> {
    let mut pending = PendingAnswers::send(&question, &mut link).await;
    let (mut answer, mut exit) = (StreamedAnswer::default(), Exit::Done);
    let mut out = WithoutLastGap { out, is_held: false };
    while pending.is_open() {
        let frame = link.next_frame().await;
        pending.begun |= link.unstored().len() < pending.sent.len();
        let print = match frame {
            Some(FromGateway::Message { markdown, trusted, answers, awaited, unanswered, .. }) => {
                if !pending.is_answered(answers.as_deref()) {
                    if !awaited {
                        let label = label_of(answers.as_deref());
                        write!(notes, "{label}\n{}", screen.show(&markdown, links_of(trusted)))?;
                    }
                    continue;
                }
                if unanswered {
                    writeln!(notes, "{}", screen.show(&markdown, links_of(trusted)).trim_end())?;
                    exit = Exit::Failed;
                    continue;
                }
                answer.finish(&markdown, screen, links_of(trusted))
            }
            Some(FromGateway::Grow { delta, answers }) if screen.live && pending.is_ours(answers.as_deref()) => {
                answer.push(&delta, screen)
            }
            Some(FromGateway::Restart) if answer.restart() => screen.remark(words::RULE),
            Some(FromGateway::Refused { why } | FromGateway::Bye { why }) => {
                return give_up(&link, &question, &why, notes);
            }
            None => return give_up(&link, &question, words::GONE, notes),
            Some(_) => continue,
        };
        out.print(&print).context("Could not print the answer")?;
    }
    Ok(exit)
}

/// Output in which an empty line separates texts, and ends none.
struct WithoutLastGap<'a, W> {
    out: &'a mut W,
    is_held: bool,
}

impl<W: Write> WithoutLastGap<'_, W> {
    fn print(&mut self, text: &str) -> std::io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if std::mem::take(&mut self.is_held) {
            self.out.write_all(b"\n")?;
        }
        let shown = text.strip_suffix("\n\n");
        self.is_held = shown.is_some();
        self.out.write_all(shown.unwrap_or(text).as_bytes())?;
        self.out.write_all(if self.is_held { b"\n" } else { b"" })?;
        self.out.flush()
    }
}

/// Sent messages, and those that wait for an answer.
struct PendingAnswers {
    sent: Vec<String>,
    open: Vec<String>,
    /// `true` if the first message is a command, which is answered separately.
    command: bool,
    /// `true` if any message is stored.
    begun: bool,
}

impl PendingAnswers {
    async fn send(question: &ChatInput, link: &mut GatewayLink) -> Self {
        let command = question.typed.as_deref().is_some_and(is_command);
        let parts = [(question.typed.as_deref(), false), (question.piped.as_deref(), true)];
        let (mut sent, mut thread) = (Vec::new(), None);
        for (text, piped) in parts.into_iter().filter_map(|(text, piped)| Some((text?, piped))) {
            let id = new_id();
            // A command belongs to no conversation.
            if question.piped.is_some() && !question.join && (piped || !command) {
                thread.get_or_insert_with(|| id.clone());
            }
            link.say_under(&id, text, piped, thread.as_deref()).await;
            sent.push(id);
        }
        Self { open: sent.clone(), sent, command, begun: false }
    }

    fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns `true` if the frame belongs to the messages of this client.
    fn is_ours(&self, answers: Option<&[String]>) -> bool {
        answers.map_or(self.begun, |answers| answers.iter().any(|id| self.sent.contains(id)))
    }

    /// Records a frame. Returns `true` if it answers a message of this client.
    fn is_answered(&mut self, answers: Option<&[String]>) -> bool {
        let is_ours = self.is_ours(answers);
        match answers {
            Some(answers) => self.open.retain(|id| !answers.contains(id)),
            None if is_ours && self.command && self.open.len() > 1 => drop(self.open.remove(0)),
            None if is_ours => self.open.clear(),
            None => {}
        }
        is_ours
    }
}

fn label_of(answers: Option<&[String]>) -> &'static str {
    if answers.is_some_and(<[String]>::is_empty) { words::MEANWHILE } else { words::EARLIER }
}

fn give_up(link: &GatewayLink, question: &ChatInput, why: &str, notes: &mut impl Write) -> anyhow::Result<Exit> {
    writeln!(notes, "{why}")?;
    for text in link.unstored() {
        if question.piped.as_deref() == Some(text) {
            writeln!(notes, "{}", words::PIPE_UNSTORED)?;
        } else {
            writeln!(notes, "{}", words::unstored(text))?;
        }
    }
    if link.unstored().is_empty() {
        writeln!(notes, "{}", words::ANSWER_LATER)?;
    }
    Ok(Exit::Failed)
}

/// Mode of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Line by line.
    Interactive,
    /// One question, then the answer.
    ChatInput(ChatInput),
}

/// A question of two parts, at least one of which is present.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatInput {
    /// Text typed as arguments.
    pub typed: Option<String>,
    /// Piped text, which is not the person's own words.
    pub piped: Option<String>,
    /// True if piped text joins the ongoing conversation.
    pub join: bool,
}

impl Input {
    /// Takes the arguments and reads standard input to its end, unless it is a terminal. Piped text
    /// gets a conversation of its own, unless it is to join the ongoing one. Blocks.
    pub fn gather(words: &[String], join: bool) -> Result<Self, CliError> {
        let stdin = std::io::stdin();
        if stdin.is_terminal() {
            return Ok(Self::without_pipe(words));
        }
        Self::from_pipe(words, stdin.lock(), join, &mut std::io::stderr())
    }

    fn without_pipe(words: &[String]) -> Self {
        match typed(words) {
            None => Self::Interactive,
            typed => Self::ChatInput(ChatInput { typed, ..ChatInput::default() }),
        }
    }

    fn from_pipe(words: &[String], pipe: impl Read, join: bool, notes: &mut impl Write) -> Result<Self, CliError> {
        let question = ChatInput { typed: typed(words), piped: piped(pipe, notes)?, join };
        if question.typed.is_none() && question.piped.is_none() {
            return Err(CliError::Wrong(words::NOTHING_SAID.to_owned()));
        }
        Ok(Self::ChatInput(question))
    }
}

fn typed(words: &[String]) -> Option<String> {
    Some(words.join(" ")).filter(|text| !text.trim().is_empty())
}

fn piped(pipe: impl Read, notes: &mut impl Write) -> Result<Option<String>, CliError> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_PIPED).unwrap_or(u64::MAX).saturating_add(1);
    pipe.take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::Wrong(words::pipe_broken(&error.to_string())))?;
    if bytes.len() > MAX_PIPED {
        return Err(CliError::Wrong(words::pipe_too_long(MAX_PIPED)));
    }
    let text = String::from_utf8(bytes).unwrap_or_else(|broken| {
        // Standard error may be closed; the text is still usable.
        let _ = writeln!(notes, "{}", words::REPLACED_INVALID);
        String::from_utf8_lossy(broken.as_bytes()).into_owned()
    });
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

#[cfg(test)]
mod input_tests {
    use super::*;

    fn gathered(arguments: &[&str], pipe: &[u8]) -> (Result<Input, CliError>, String) {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        let mut notes = Vec::new();
        let input = Input::from_pipe(&arguments, pipe, false, &mut notes);
        (input, String::from_utf8(notes).unwrap())
    }

    fn question(typed: Option<&str>, piped: Option<&str>) -> Result<Input, CliError> {
        let (typed, piped) = (typed.map(Into::into), piped.map(Into::into));
        Ok(Input::ChatInput(ChatInput { typed, piped, join: false }))
    }

    #[test]
    fn arguments_and_pipe_are_kept_apart() {
        assert_eq!(gathered(&["sum", "this up"], b"a page\n").0, question(Some("sum this up"), Some("a page\n")));
        assert_eq!(gathered(&[], b"a page\n").0, question(None, Some("a page\n")));
        assert_eq!(gathered(&["hello"], b" \n").0, question(Some("hello"), None));
        assert_eq!(Input::without_pipe(&[]), Input::Interactive);
    }

    #[test]
    fn an_empty_or_oversized_chat_input_is_refused() {
        assert_eq!(gathered(&[" "], b"\n").0, Err(CliError::Wrong(words::NOTHING_SAID.into())));
        assert_eq!(
            gathered(&["x"], &vec![b'a'; MAX_PIPED + 1]).0,
            Err(CliError::Wrong(words::pipe_too_long(MAX_PIPED)))
        );
        assert!(gathered(&["x"], &vec![b'a'; MAX_PIPED]).0.is_ok());
    }

    #[test]
    fn broken_text_is_repaired_and_that_is_said() {
        let (input, notes) = gathered(&[], b"a\xff");
        assert_eq!(input, question(None, Some("a\u{fffd}")));
        assert!(notes.contains(words::REPLACED_INVALID));
    }
}

#[cfg(test)]
mod tests;
