//! One question and its answer: for scripts and pipes.
//!
//! Only the answer goes to standard output. It is the first message after the question was stored; what
//! comes before that belongs to something older and goes to standard error. A command is answered for
//! itself, so a command with a pipe has two answers. What was not stored is given back.

use std::io::Write;

use anyhow::Context;

use super::growth::{Growth, Rest};
use super::input::Question;
use super::link::{Link, is_command};
use super::screen::Screen;
use super::{Ending, links_of};
use crate::adapter::markdown::Links;
use crate::adapter::terminal::protocol::FromGateway;
use crate::wording::chat as words;

/// Asks and waits for the answer.
pub(super) async fn ask(
    mut link: Link,
    question: Question,
    screen: Screen,
    out: &mut (impl Write + Send),
    notes: &mut (impl Write + Send),
) -> anyhow::Result<Ending> {
    let mut answers = answers_to(&question);
    if let Some(typed) = &question.typed {
        link.say(typed, false).await;
    }
    if let Some(piped) = &question.piped {
        link.say(piped, true).await;
    }
    let parts = link.unstored().len();
    let mut growth = Growth::default();
    while answers > 0 {
        let frame = link.hear().await;
        let begun = link.unstored().len() < parts;
        let print = match frame {
            Some(FromGateway::Message { markdown, trusted, .. }) if !begun => {
                write!(notes, "{}\n{}", words::EARLIER, screen.show(&markdown, links_of(trusted)))?;
                continue;
            }
            Some(FromGateway::Message { markdown, trusted, .. }) => {
                answers -= 1;
                last(growth.finish(&markdown), trusted, screen)
            }
            Some(FromGateway::Grow { delta }) if screen.live && begun => {
                growth.push(&delta).map(|block| screen.show(&block, Links::Bare)).unwrap_or_default()
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

fn answers_to(question: &Question) -> usize {
    let command = question.typed.as_deref().is_some_and(is_command);
    1 + usize::from(command && question.piped.is_some())
}

fn last(rest: Rest, trusted: bool, screen: Screen) -> String {
    match rest {
        Rest::More(markdown) => screen.show(&markdown, links_of(trusted)),
        Rest::Whole(markdown) => screen.aside(words::RULE) + &screen.show(&markdown, links_of(trusted)),
    }
}

fn give_up(link: &Link, question: &Question, why: &str, notes: &mut impl Write) -> anyhow::Result<Ending> {
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
