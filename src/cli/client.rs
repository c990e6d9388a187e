//! Queries: the running gateway answers; without one, this process opens the same data and answers.
//!
//! Both call [`Admin::command_line`](crate::admin::Admin::command_line) with the same words, so the
//! answers are the same.

use std::time::Duration;

use anyhow::Context;
use clap::{Args, Subcommand, ValueEnum};
use tokio::net::UnixStream;

use super::chat::Screen;
use super::failure::CliError;
use super::paths::CliPaths;
use super::print::Printer;
use super::progress::Bar;
use super::{Exit, block_on, print};
use crate::adapter::markdown::LinkDisplay;
use crate::adapter::terminal::Connection;
use crate::adapter::terminal::protocol::{FromClient, FromGateway};
use crate::admin::command::help;
use crate::app::{App, BuildError, Overrides};
use crate::config::Home;
use crate::time::{Clock, SystemClock};
use crate::wording::cli as says;

/// Time until a note explains that the gateway has not answered.
const PATIENCE: Duration = Duration::from_secs(5);

/// `compline people …`
#[derive(Debug, Subcommand)]
pub enum People {
    /// List people with access and their addresses
    List,
    /// Make the code that claims the assistant for its first owner
    Claim,
    #[command(about = help("pair"))]
    Pair {
        /// Name of the person
        name: String,
        /// Role of the person
        #[arg(long, value_enum, default_value_t = ActAs::Member)]
        role: ActAs,
        /// Readmit the removed person with this number and name
        #[arg(long, value_name = "ID")]
        same_as: Option<u64>,
        /// Add a new person, even if the name was used before
        #[arg(long, conflicts_with = "same_as")]
        new: bool,
    },
    #[command(about = help("remove"))]
    Remove {
        /// Name of the person
        name: String,
    },
    /// Take an address from its person
    Unlink {
        /// Number of the address
        address: u64,
    },
    /// Merge a person with the earlier one of the same name
    Join {
        /// Number of the person
        person: u64,
    },
    /// Keep a person separate from the earlier one of the same name
    Apart {
        /// Number of the person
        person: u64,
    },
    /// Give the workspace root to another owner
    HandOver {
        /// Name of the new owner
        name: String,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

/// Role of a person with access.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ActAs {
    /// May chat
    Member,
    /// May do everything
    Owner,
}

/// `compline reminders …`
#[derive(Debug, Subcommand)]
pub enum Reminders {
    /// List the owner's reminders and tasks with their times
    List,
    /// Cancel a reminder or task
    Cancel {
        /// Number of the reminder or task
        id: u64,
    },
}

/// `compline conversations …`
#[derive(Debug, Subcommand)]
pub enum Conversations {
    /// List the newest conversations with their summaries
    List {
        /// Maximum number
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// Show a whole conversation
    Show {
        /// Number of the conversation
        id: u64,
        /// Print the Markdown source
        #[arg(long)]
        markdown: bool,
    },
}

/// `compline search …`
#[derive(Debug, Args)]
pub struct Search {
    /// Words to search for
    #[arg(required = true)]
    query: Vec<String>,
    /// Areas to search
    #[arg(long = "in", value_enum, value_delimiter = ',')]
    kinds: Vec<SearchArea>,
    /// Maximum number of results
    #[arg(long, default_value_t = 10)]
    limit: u32,
    /// Match upper and lower case exactly
    #[arg(long)]
    case: bool,
    /// Lines to show above and below a match in a file
    #[arg(long, default_value_t = 0)]
    context: u32,
}

/// Area of a search.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SearchArea {
    /// Messages
    Messages,
    /// Summaries of conversations
    Conversations,
    /// Reflections of the assistant
    Reflections,
    /// Facts, notes, and other stored memory
    Notes,
    /// All other files of the workspace
    Files,
    /// Active skills
    Skills,
}

/// Output style of Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkdownStyle {
    /// Rendered for the terminal.
    Shown,
    /// Markdown source.
    Markdown,
}

impl People {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List => words(&["people", "list"]),
            Self::Claim => words(&["people", "claim"]),
            Self::Pair { name, role, same_as, new } => {
                let role = match role {
                    ActAs::Member => "member",
                    ActAs::Owner => "owner",
                };
                let mut line = words(&["people", "pair", name, role]);
                match same_as {
                    Some(id) => line.extend(words(&["--same-as", &id.to_string()])),
                    None if *new => line.extend(words(&["--new"])),
                    None => {}
                }
                line
            }
            Self::Unlink { address } => words(&["people", "unlink", &address.to_string()]),
            Self::Join { person } => words(&["people", "join", &person.to_string()]),
            Self::Apart { person } => words(&["people", "apart", &person.to_string()]),
            Self::Remove { name } => words(&["people", "remove", name]),
            Self::HandOver { name, .. } => words(&["people", "hand-over", name]),
        }
    }
}

impl Reminders {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List => words(&["reminders", "list"]),
            Self::Cancel { id } => words(&["reminders", "cancel", &id.to_string()]),
        }
    }
}

impl Conversations {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List { limit } => words(&["conversations", "list", "--limit", &limit.to_string()]),
            Self::Show { id, .. } => words(&["conversations", "show", &id.to_string()]),
        }
    }

    /// Returns the output style.
    pub fn style(&self) -> MarkdownStyle {
        match self {
            Self::Show { markdown: true, .. } => MarkdownStyle::Markdown,
            Self::Show { .. } | Self::List { .. } => MarkdownStyle::Shown,
        }
    }
}

impl Search {
    /// Returns the command in the gateway's syntax.
    pub fn line(&self) -> Vec<String> {
        let mut line = words(&["search", "--limit", &self.limit.to_string()]);
        if self.case {
            line.push("--case".to_owned());
        }
        if self.context > 0 {
            line.extend(words(&["--context", &self.context.to_string()]));
        }
        for kind in &self.kinds {
            let kind = match kind {
                SearchArea::Messages => "messages",
                SearchArea::Conversations => "conversations",
                SearchArea::Reflections => "reflections",
                SearchArea::Notes => "notes",
                SearchArea::Files => "files",
                SearchArea::Skills => "skills",
            };
            line.extend(words(&["--in", kind]));
        }
        line.push("--".to_owned());
        line.push(self.query.join(" "));
        line
    }
}

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
pub(super) fn ask(line: &[String], place: &CliPaths, printer: Printer) -> Result<Answered, CliError> {
    block_on(async {
        let clock = SystemClock::default();
        let mut answered = std::pin::pin!(answer(line, place, printer, Needs::Data));
        tokio::select! {
            answered = &mut answered => return answered,
            _busy = clock.wake_at(clock.now().plus(PATIENCE)) => printer.note(says::NOT_ANSWERED_YET),
        }
        answered.await
    })
}

/// Runs a query and prints the answer.
pub fn run(line: &[String], look: MarkdownStyle, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    print_answer(&ask(line, place, printer)?, look, printer)
}

/// Runs a long query and prints the answer. A terminal shows a progress line meanwhile.
pub fn patiently(line: &[String], doing: &str, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let bar = || Bar::new(printer.quiet || printer.json);
    let answered = block_on(async { bar().while_it(doing, answer(line, place, printer, Needs::Data)).await })?;
    print_answer(&answered, MarkdownStyle::Shown, printer)
}

/// Runs a command that needs the assistant to work, and prints the answer. Without a gateway the
/// assistant works in this process, with no adapter.
pub fn work(line: &[String], place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let answered = block_on(answer(line, place, printer, Needs::Work))?;
    print_answer(&answered, MarkdownStyle::Shown, printer)
}

/// Requirement of a command without a running gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Data,
    Work,
}

/// Prints an answer.
pub(super) fn print_answer(
    Answered { text, failed }: &Answered,
    look: MarkdownStyle,
    printer: Printer,
) -> Result<Exit, CliError> {
    if *failed {
        let text = if printer.json { text.clone() } else { Screen::of_stderr().show(text, LinkDisplay::SpelledOut) };
        print::print_remark(text.trim_end());
        return Ok(Exit::Failed);
    }
    match look {
        MarkdownStyle::Shown if !printer.json => printer.markdown(text)?,
        MarkdownStyle::Shown | MarkdownStyle::Markdown => printer.fact(text)?,
    }
    Ok(Exit::Done)
}

async fn answer(line: &[String], place: &CliPaths, printer: Printer, needs: Needs) -> Result<Answered, CliError> {
    if let Some(answered) = of_gateway(line, &place.home, printer.json).await? {
        return Ok(answered);
    }
    let config = place.load()?.config;
    let seams = Overrides { terminal_only: needs == Needs::Work, ..Overrides::default() };
    let app = App::build(config, seams).await.map_err(|error| match error {
        BuildError::Held(home) => CliError::Failed(says::held_and_silent(&home)),
        other => other.into(),
    })?;
    printer.note(says::NOT_RUNNING);
    if needs == Needs::Work {
        app.start().await?;
    }
    let answer = app.admin.command_line(line).await;
    app.stop().await;
    let text = match printer.json {
        true => serde_json::to_string_pretty(&answer.json).map_err(anyhow::Error::from)?,
        false => answer.markdown,
    };
    Ok(Answered { text, failed: answer.failed })
}

/// Asks the gateway of this home. Returns `None` if none is running.
pub(super) async fn of_gateway(line: &[String], home: &Home, json: bool) -> Result<Option<Answered>, CliError> {
    let Ok(stream) = UnixStream::connect(home.socket()).await else { return Ok(None) };
    let mut connection = Connection::of_client(stream);
    let asked = FromClient::Run { args: line.to_vec(), json };
    connection.writer.write(&asked).await.context(says::GATEWAY_LOST)?;
    while let Some(frame) = connection.reader.next().await.context(says::GATEWAY_LOST)? {
        match frame {
            Ok(FromGateway::Answer { text, code }) => return Ok(Some(Answered { text, failed: code != 0 })),
            Ok(FromGateway::Refused { why } | FromGateway::Bye { why }) => return Err(CliError::Failed(why)),
            // A newer gateway may send unknown frames.
            Ok(_) | Err(_) => {}
        }
    }
    Err(CliError::Failed(says::GATEWAY_LOST.to_owned()))
}
