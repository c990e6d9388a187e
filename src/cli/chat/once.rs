//! One question and its answer, for scripts and pipes.
//!
//! Only the answer goes to standard output: text in reply to the messages of this client. Answers
//! to older messages, and other text, go to standard error; messages for other clients are ignored.
//! A command is answered separately, so a command with piped text has two answers. One answer may
//! also serve several clients whose questions were joined. An older gateway that does not name the
//! answered messages is assumed to answer in order. Unstored messages are printed back.

use std::io::Write;

use anyhow::Context;

use super::growth::{RemainingText, StreamedAnswer};
use super::input::ChatInput;
use super::link::{GatewayLink, is_command};
use super::screen::Screen;
use super::{ChatOutcome, links_of};
use crate::adapter::markdown::LinkDisplay;
use crate::adapter::terminal::protocol::FromGateway;
use crate::wording::chat as words;

/// Asks and waits for the answer.
pub(super) async fn ask(
    mut link: GatewayLink,
    question: ChatInput,
    screen: Screen,
    out: &mut (impl Write + Send),
    notes: &mut (impl Write + Send),
) -> anyhow::Result<ChatOutcome> {
    let mut asked = PendingAnswers::say(&question, &mut link).await;
    let mut growth = StreamedAnswer::default();
    while asked.is_open() {
        let frame = link.next_frame().await;
        asked.begun |= link.unstored().len() < asked.said.len();
        let print = match frame {
            Some(FromGateway::Message { markdown, trusted, answers, awaited, .. }) => {
                if !asked.is_answered(answers.as_deref()) {
                    if !awaited {
                        let label = label_of(answers.as_deref());
                        write!(notes, "{label}\n{}", screen.show(&markdown, links_of(trusted)))?;
                    }
                    continue;
                }
                last(growth.finish(&markdown), trusted, screen)
            }
            Some(FromGateway::Grow { delta, answers }) if screen.live && asked.is_ours(answers.as_deref()) => {
                growth.push(&delta).map(|block| screen.show(&block, LinkDisplay::SpelledOut)).unwrap_or_default()
            }
            Some(FromGateway::Restart) if growth.restart() => screen.remark(words::RULE),
            Some(FromGateway::Refused { why } | FromGateway::Bye { why }) => {
                return give_up(&link, &question, &why, notes);
            }
            None => return give_up(&link, &question, words::GONE, notes),
            Some(_) => continue,
        };
        out.write_all(print.as_bytes()).context("Could not print the answer")?;
        out.flush().context("Could not print the answer")?;
    }
    Ok(ChatOutcome::Done)
}

/// Sent messages, and those that wait for an answer.
struct PendingAnswers {
    said: Vec<String>,
    open: Vec<String>,
    /// `true` if the first message is a command, which is answered separately.
    command: bool,
    /// `true` if any message is stored.
    begun: bool,
}

impl PendingAnswers {
    async fn say(question: &ChatInput, link: &mut GatewayLink) -> Self {
        let mut said = Vec::new();
        if let Some(typed) = &question.typed {
            said.push(link.say(typed, false).await);
        }
        if let Some(piped) = &question.piped {
            said.push(link.say(piped, true).await);
        }
        let command = question.typed.as_deref().is_some_and(is_command);
        Self { open: said.clone(), said, command, begun: false }
    }

    fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Returns `true` if the frame belongs to the messages of this client.
    fn is_ours(&self, answers: Option<&[String]>) -> bool {
        answers.map_or(self.begun, |answers| answers.iter().any(|id| self.said.contains(id)))
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

fn last(rest: RemainingText, trusted: bool, screen: Screen) -> String {
    match rest {
        RemainingText::More(markdown) => screen.show(&markdown, links_of(trusted)),
        RemainingText::Whole(markdown) => screen.remark(words::RULE) + &screen.show(&markdown, links_of(trusted)),
    }
}

fn give_up(link: &GatewayLink, question: &ChatInput, why: &str, notes: &mut impl Write) -> anyhow::Result<ChatOutcome> {
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
    Ok(ChatOutcome::Failed)
}

#[cfg(test)]
mod tests;
