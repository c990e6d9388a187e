//! One question and its answer: for scripts and pipes.
//!
//! Only the answer goes to standard output: what the gateway says answers what was said here. What
//! answers something older, or nothing, goes to standard error; what somebody else is here to hear
//! is theirs. A command is answered for itself, so a command with a pipe has two answers; one
//! answer may also be that to several clients, whose questions were joined. A gateway that is too
//! old to name what it answers is taken to answer in order. What was not stored is given back.

use std::io::Write;

use anyhow::Context;

use super::growth::{Growth, Rest};
use super::input::ChatInput;
use super::link::{GatewayLink, is_command};
use super::screen::Screen;
use super::{Ending, links_of};
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
) -> anyhow::Result<Ending> {
    let mut asked = PendingAnswers::say(&question, &mut link).await;
    let mut growth = Growth::default();
    while asked.is_open() {
        let frame = link.hear().await;
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
            Some(FromGateway::Restart) if growth.restart() => screen.aside(words::RULE),
            Some(FromGateway::Refused { why } | FromGateway::Bye { why }) => {
                return give_up(&link, &question, &why, notes);
            }
            None => return give_up(&link, &question, words::GONE, notes),
            Some(_) => continue,
        };
        out.write_all(print.as_bytes()).context("Could not print the answer")?;
        out.flush().context("Could not print the answer")?;
    }
    Ok(Ending::Done)
}

/// What was said, and what of it waits for an answer.
struct PendingAnswers {
    said: Vec<String>,
    open: Vec<String>,
    /// Whether the first is answered for itself.
    command: bool,
    /// Whether something of it is stored.
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

    /// Whether something belongs to what was said here.
    fn is_ours(&self, answers: Option<&[String]>) -> bool {
        answers.map_or(self.begun, |answers| answers.iter().any(|id| self.said.contains(id)))
    }

    /// Takes note of a message; whether it is an answer to what was said here.
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

fn last(rest: Rest, trusted: bool, screen: Screen) -> String {
    match rest {
        Rest::More(markdown) => screen.show(&markdown, links_of(trusted)),
        Rest::Whole(markdown) => screen.aside(words::RULE) + &screen.show(&markdown, links_of(trusted)),
    }
}

fn give_up(link: &GatewayLink, question: &ChatInput, why: &str, notes: &mut impl Write) -> anyhow::Result<Ending> {
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
    Ok(Ending::Failed)
}

#[cfg(test)]
mod tests;
