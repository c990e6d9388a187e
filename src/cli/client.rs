//! Queries: the running gateway answers; without one, this process opens the same data and answers.
//!
//! Both call [`Admin::command_line`](crate::admin::Admin::command_line) with the same words, so the
//! answers are the same.

use std::time::Duration;

use anyhow::Context;
use serde_json::Value;
use tokio::net::UnixStream;

use super::config::CliPaths;
use super::print::{Bar, CliError, Printer, Screen};
use super::{Exit, block_on, print};
use crate::adapter::terminal::protocol::{FromClient, FromGateway};
use crate::adapter::terminal::{Connection, Frame};
use crate::app::{App, BuildError, Overrides};
use crate::config::{Config, Home};
use crate::markdown::LinkDisplay;
use crate::review::reveal::escape_json;
use crate::time::clock::real_sleep;
use crate::time::{Clock, SystemClock};
use crate::wording::cli as says;

/// Time until a note explains that the gateway has not answered, and a check fails.
const NOTE_AFTER: Duration = Duration::from_secs(5);

/// Converts words to a command in the gateway's syntax.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Answer to a command.
pub struct Answered {
    /// Text for a person, or JSON for a program.
    pub text: String,
    /// `true` if the command failed.
    pub failed: bool,
}

/// Runs a query and returns the answer.
pub(super) fn ask(line: &[impl AsRef<str>], paths: &CliPaths, printer: Printer) -> Result<Answered, CliError> {
    block_on(async {
        let clock = SystemClock::default();
        let mut answered = std::pin::pin!(answer(line, paths, printer, Needs::Data));
        tokio::select! {
            answered = &mut answered => return answered,
            _busy = clock.wake_at(clock.now().plus(NOTE_AFTER)) => printer.note(says::NOT_ANSWERED_YET),
        }
        answered.await
    })
}

/// Runs a query and prints the answer.
pub fn run(line: &[impl AsRef<str>], paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    print_answer(&ask(line, paths, printer)?, printer)
}

/// Fails with the reasons unless a gateway runs and receives on every channel.
pub fn check(paths: &CliPaths) -> Result<Exit, CliError> {
    let query = words(&["status"]);
    let status = block_on(async {
        tokio::select! {
            status = ask_gateway(&query, &paths.home, true) => status,
            () = real_sleep(NOTE_AFTER) => Err(CliError::Failed(says::held_and_silent(paths.home.path()))),
        }
    })?;
    let status = status.ok_or_else(|| CliError::Failed(says::NO_GATEWAY.to_owned()))?;
    let status: Value = serde_json::from_str(&status.text).map_err(anyhow::Error::from)?;
    let channels = status.get("adapters").and_then(Value::as_array).into_iter().flatten();
    let problems: Vec<&str> = channels.filter_map(|channel| channel.get("trouble")?.as_str()).collect();
    if problems.is_empty() { Ok(Exit::Done) } else { Err(CliError::Failed(problems.join("\n"))) }
}

/// Runs a long query and prints the answer. A terminal shows a progress line meanwhile.
pub fn patiently(line: &[impl AsRef<str>], doing: &str, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let bar = || Bar::new(printer.quiet || printer.json);
    let answered = block_on(async { bar().while_it(doing, answer(line, paths, printer, Needs::Data)).await })?;
    print_answer(&answered, printer)
}

/// Query for the progress of a command, and what its answer says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Progress {
    /// The query.
    pub query: &'static [&'static str],
    /// The progress in words, from the answer as JSON.
    pub show: fn(&Value) -> Option<String>,
}

/// Runs a long command and prints the answer. A terminal shows a progress line with counts
/// meanwhile.
pub(super) fn counting(
    line: &[String],
    doing: &str,
    progress: Progress,
    paths: &CliPaths,
    printer: Printer,
) -> Result<Exit, CliError> {
    let (query, bar) = (words(progress.query), || Bar::new(printer.quiet || printer.json));
    let answered = block_on(async {
        let work = ask_gateway(line, &paths.home, printer.json);
        let count = async || {
            let answered = ask_gateway(&query, &paths.home, true).await.ok()??;
            (progress.show)(&serde_json::from_str(&answered.text).ok()?)
        };
        if let Some(answered) = bar().while_counting(doing, work, count).await? {
            return Ok(answered);
        }
        let app = open(paths, Needs::Data, printer).await?;
        let count = async || (progress.show)(&app.admin.command_line(&query).await.json);
        let answer = bar().while_counting(doing, app.admin.command_line(line), count).await;
        app.stop().await;
        answered_by(answer, printer)
    })?;
    print_answer(&answered, printer)
}

/// Opens the data in this process, after no gateway was reached.
async fn open(paths: &CliPaths, needs: Needs, printer: Printer) -> Result<App, CliError> {
    let app = build_app(paths.load()?.config, needs).await?;
    printer.note(says::NOT_RUNNING);
    Ok(app)
}

fn answered_by(answer: crate::admin::Answer, printer: Printer) -> Result<Answered, CliError> {
    let text = match printer.json {
        true => serde_json::to_string_pretty(&answer.json).map_err(anyhow::Error::from)?,
        false => answer.markdown,
    };
    Ok(Answered { text, failed: answer.failed })
}

/// Runs a command that needs the assistant to work, and prints the answer. Without a gateway the
/// assistant works in this process, with no adapter.
pub fn work(line: &[impl AsRef<str>], paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let answered = block_on(answer(line, paths, printer, Needs::Work))?;
    print_answer(&answered, printer)
}

/// Requirement of a command without a running gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// The stored data.
    Data,
    /// The assistant at work.
    Work,
}

/// Prints an answer.
pub(super) fn print_answer(answered: &Answered, printer: Printer) -> Result<Exit, CliError> {
    let Answered { text, failed } = answered;
    if !failed {
        printer.markdown(text)?;
        return Ok(Exit::Done);
    }
    let text = if printer.json { escape_json(text) } else { Screen::of_stderr().show(text, LinkDisplay::SpelledOut) };
    print::print_remark(text.trim_end());
    Ok(Exit::Failed)
}

async fn answer(
    line: &[impl AsRef<str>],
    paths: &CliPaths,
    printer: Printer,
    needs: Needs,
) -> Result<Answered, CliError> {
    let line: Vec<String> = line.iter().map(|word| word.as_ref().to_owned()).collect();
    if let Some(answered) = ask_gateway(&line, &paths.home, printer.json).await? {
        return Ok(answered);
    }
    let app = open(paths, needs, printer).await?;
    if needs == Needs::Work {
        app.start().await?;
    }
    let answer = app.admin.command_line(&line).await;
    app.stop().await;
    answered_by(answer, printer)
}

/// Builds the app in this process, after no gateway was reached.
pub(super) async fn build_app(config: Config, needs: Needs) -> Result<App, CliError> {
    let terminal_only = needs == Needs::Work;
    App::build(config, Overrides { terminal_only, ..Overrides::default() }).await.map_err(|error| match error {
        BuildError::Held(home) => CliError::Failed(says::held_and_silent(&home)),
        other => other.into(),
    })
}

/// Asks the gateway of this home. Returns `None` if none is running.
pub(super) async fn ask_gateway(line: &[String], home: &Home, json: bool) -> Result<Option<Answered>, CliError> {
    let Ok(stream) = UnixStream::connect(home.socket()).await else { return Ok(None) };
    let mut connection = Connection::of_client(stream);
    let request = FromClient::Run { args: line.to_vec(), json };
    connection.writer.write(&request).await.context(says::GATEWAY_LOST)?;
    loop {
        match connection.reader.next().await.context(says::GATEWAY_LOST)? {
            Frame::Message(FromGateway::Answer { text, code }) => {
                return Ok(Some(Answered { text, failed: code != 0 }));
            }
            Frame::Message(FromGateway::Refused { why } | FromGateway::Bye { why }) => {
                return Err(CliError::Failed(why));
            }
            Frame::End => return Err(CliError::Failed(says::GATEWAY_LOST.to_owned())),
            // A newer gateway may send unknown frames.
            Frame::Message(_) | Frame::Skipped(_) => {}
        }
    }
}
