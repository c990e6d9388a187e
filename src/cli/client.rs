//! Commands that ask: the running gateway answers, and without one this process opens the same data
//! and answers itself.
//!
//! Both go through [`Admin::command_line`](crate::admin::Admin::command_line) with the same words,
//! so there is one answer to a question.

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
use crate::app::{App, BuildError, Overrides};
use crate::config::Home;
use crate::time::{Clock, SystemClock};
use crate::wording::cli as says;

/// Whoever has no answer after that is told what may be the matter.
const PATIENCE: Duration = Duration::from_secs(5);

/// `compline people …`
#[derive(Debug, Subcommand)]
pub enum People {
    /// Who is allowed in, and where they are reached
    List,
    /// Make the code by which the first owner makes themselves known
    Claim,
    /// Make a code that lets somebody in, or links another address of theirs
    Pair {
        /// Whom it lets in
        name: String,
        /// As what
        #[arg(long, value_enum, default_value_t = ActAs::Member)]
        role: ActAs,
        /// It is the removed person of that number, who bore the name before
        #[arg(long, value_name = "ID")]
        same_as: Option<u64>,
        /// It is somebody new, whoever bore the name before
        #[arg(long, conflicts_with = "same_as")]
        new: bool,
    },
    /// Let somebody in no longer
    Remove {
        /// Whom
        name: String,
    },
    /// Take an address from its person
    Unlink {
        /// The number of the address
        address: u64,
    },
    /// Join a person to the earlier one of the same name
    Join {
        /// The number of the person
        person: u64,
    },
    /// Keep a person apart from the earlier one of the same name
    Apart {
        /// The number of the person
        person: u64,
    },
    /// Give the workspace root to another owner
    HandOver {
        /// To whom
        name: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// As what somebody is let in.
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
    /// The owner's reminders and tasks, and when each is due
    List,
    /// Take one off the list
    Cancel {
        /// Its number
        id: u64,
    },
}

/// `compline conversations …`
#[derive(Debug, Subcommand)]
pub enum Conversations {
    /// The newest conversations with what was written down about each
    List {
        /// At most so many
        #[arg(long, default_value_t = 20)]
        limit: u32,
    },
    /// One conversation from its first to its last message
    Show {
        /// Its number
        id: u64,
        /// Print the Markdown itself
        #[arg(long)]
        markdown: bool,
    },
}

/// `compline search …`
#[derive(Debug, Args)]
pub struct Search {
    /// What to look for
    #[arg(required = true)]
    query: Vec<String>,
    /// Where to look
    #[arg(long = "in", value_enum, value_delimiter = ',')]
    kinds: Vec<SearchArea>,
    /// At most so many
    #[arg(long, default_value_t = 10)]
    limit: u32,
    /// Tell capital letters from small ones
    #[arg(long)]
    case: bool,
    /// Lines to show above and below a hit in a file
    #[arg(long, default_value_t = 0)]
    context: u32,
}

/// What can be searched.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SearchArea {
    /// What was said
    Messages,
    /// What was written down at the end of conversations
    Conversations,
    /// What the assistant wrote when it looked back
    Reflections,
    /// Facts, notes, and what else is kept
    Notes,
    /// All other files of the workspace
    Files,
    /// The skills that are used
    Skills,
}

/// How Markdown is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkdownStyle {
    /// Made readable.
    Shown,
    /// As it is.
    Markdown,
}

impl People {
    /// As the gateway understands it.
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
    /// As the gateway understands it.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List => words(&["reminders", "list"]),
            Self::Cancel { id } => words(&["reminders", "cancel", &id.to_string()]),
        }
    }
}

impl Conversations {
    /// As the gateway understands it.
    pub fn line(&self) -> Vec<String> {
        match self {
            Self::List { limit } => words(&["conversations", "list", "--limit", &limit.to_string()]),
            Self::Show { id, .. } => words(&["conversations", "show", &id.to_string()]),
        }
    }

    /// How it is printed.
    pub fn look(&self) -> MarkdownStyle {
        match self {
            Self::Show { markdown: true, .. } => MarkdownStyle::Markdown,
            Self::Show { .. } | Self::List { .. } => MarkdownStyle::Shown,
        }
    }
}

impl Search {
    /// As the gateway understands it.
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

/// Words as the gateway understands them.
pub(super) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// An answer as it came, with whether the command failed.
pub struct Answered {
    /// For a person, or for a program.
    pub text: String,
    /// Whether it did not do what was asked.
    pub failed: bool,
}

/// Asks, and leaves it to the caller what becomes of the answer.
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

/// Asks and prints the answer.
pub fn run(line: &[String], look: MarkdownStyle, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    tell(&ask(line, place, printer)?, look, printer)
}

/// The same for what may take a while; on a terminal a line says meanwhile what goes on.
pub fn patiently(line: &[String], doing: &str, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let bar = || Bar::new(printer.quiet || printer.json);
    let answered = block_on(async { bar().while_it(doing, answer(line, place, printer, Needs::Data)).await })?;
    tell(&answered, MarkdownStyle::Shown, printer)
}

/// The same for what the assistant has to work on: without a running gateway it works here
/// meanwhile, with no adapter.
pub fn work(line: &[String], place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let answered = block_on(answer(line, place, printer, Needs::Work))?;
    tell(&answered, MarkdownStyle::Shown, printer)
}

/// What a command needs where no gateway runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Data,
    Work,
}

/// Prints an answer.
pub(super) fn tell(
    Answered { text, failed }: &Answered,
    look: MarkdownStyle,
    printer: Printer,
) -> Result<Exit, CliError> {
    if *failed {
        let text = if printer.json { text.clone() } else { Screen::of_stderr().show(text, LinkDisplay::SpelledOut) };
        print::aside(text.trim_end());
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

/// What the gateway of that home says; `None` if none is running.
pub(super) async fn of_gateway(line: &[String], home: &Home, json: bool) -> Result<Option<Answered>, CliError> {
    let Ok(stream) = UnixStream::connect(home.socket()).await else { return Ok(None) };
    let mut connection = Connection::of_client(stream);
    let asked = FromClient::Run { args: line.to_vec(), json };
    connection.writer.write(&asked).await.context(says::GATEWAY_LOST)?;
    while let Some(frame) = connection.reader.next().await.context(says::GATEWAY_LOST)? {
        match frame {
            Ok(FromGateway::Answer { text, code }) => return Ok(Some(Answered { text, failed: code != 0 })),
            Ok(FromGateway::Refused { why } | FromGateway::Bye { why }) => return Err(CliError::Failed(why)),
            // A newer gateway may say more than we understand.
            Ok(_) | Err(_) => {}
        }
    }
    Err(CliError::Failed(says::GATEWAY_LOST.to_owned()))
}
