//! The command line: what can be typed, and which file does it.
//!
//! Commands that only ask are answered by the running gateway if there is one, and by this process
//! on the same data if not ([`ask`]). Facts go to standard output, everything else to standard
//! error; the exit code is [`Exit`]. What went wrong is a [`CliError`]: one sentence with its
//! place, and under it how to mend it.

mod client;
mod backup;
mod channel;
pub mod chat;
mod config;
mod confinement;
mod demo;
mod doctor;
mod ephemeral;
mod failure;
mod forget;
mod external_editor;
mod hand_over;
mod init;
mod log;
mod memory;
mod people;
mod paths;
mod print;
mod probe;
mod progress;
mod read_document;
mod reflect;
mod restore;
mod review;
mod run;
mod signal;
mod skills;
mod talk;
mod tools;

use std::iter;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::engine::files::reader::LOCKED;
use failure::CliError;
pub use log::calm_panics;
use paths::CliPaths;
use print::Printer;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// It failed.
    Failed,
    /// Wrong usage or configuration.
    Wrong,
    /// What was to be read is locked.
    Locked,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Wrong => 2,
            Exit::Locked => LOCKED,
        })
    }
}

/// A self-hosted assistant that you talk to over Telegram, Signal or in a terminal.
#[derive(Debug, Parser)]
#[command(name = "compline", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: CliCommand,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
struct Globals {
    /// The directory in which everything lies [default: compline in the platform's data directory]
    #[arg(long, global = true, value_name = "DIR", env = "COMPLINE_HOME", hide_env_values = true)]
    home: Option<PathBuf>,
    /// The configuration [default: compline.toml in the home]
    #[arg(long, global = true, value_name = "FILE", env = "COMPLINE_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
    /// Print facts as JSON
    #[arg(long, global = true)]
    json: bool,
    /// Print nothing that was not asked for
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Log more, and to standard error too
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Live through a month in simulated time, in a minute: no keys, no network, nothing kept
    Demo(demo::DemoArgs),
    /// Ask what is needed, test it, and write the configuration
    Init(Box<init::InitArgs>),
    /// Run the gateway with every configured adapter
    Run(run::RunArgs),
    /// Talk in this terminal, through the running gateway if there is one
    Chat(talk::ChatArgs),
    /// Check everything, and say how to mend what is wrong
    Doctor(doctor::DoctorArgs),
    /// Show adapters, queues, conversations and what is left of the budget
    Status,
    /// Check or show the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Say who is allowed in
    #[command(subcommand)]
    People(client::People),
    /// What is to be told or done later
    #[command(subcommand)]
    Reminders(client::Reminders),
    /// Accept tools of other programs (MCP)
    #[command(subcommand)]
    Tools(tools::Tools),
    /// Read past conversations
    #[command(subcommand)]
    Conversations(client::Conversations),
    /// Search what was said, what is kept, and the skills
    Search(client::Search),
    /// What the assistant knows: show it, edit it, lead it back
    Memory(memory::Memory),
    /// The assistant's account on Signal: look at it, link one
    #[command(subcommand)]
    Signal(signal::SignalCommand),
    /// What the assistant has learned to do: list, show, check, bring in, lead back
    #[command(subcommand)]
    Skills(skills::SkillsCommand),
    /// Decide about proposed changes of skills
    #[command(subcommand)]
    Review(review::ReviewCommand),
    /// Read what the assistant thinks of past days, weeks and months
    #[command(subcommand)]
    Reflections(reflect::Reflections),
    /// Look back on a day, a week or a month now
    Reflect(reflect::Reflect),
    /// Show what the models took, by day, person, purpose and model
    Usage,
    /// Send again what was set aside, because it could not be delivered
    Resend {
        /// One delivery [default: all]
        id: Option<i64>,
    },
    /// Write everything that is kept of one person into a file
    Export(forget::Export),
    /// Delete everything of one person, for good
    Forget(forget::Forget),
    /// Write the whole state into one file, while the gateway runs or not
    Backup(backup::Backup),
    /// Put a backup in the place of the whole state
    Restore(restore::Restore),
    /// Read a document on standard input, for the gateway
    #[command(hide = true)]
    ReadDocument {
        /// pdf or html
        kind: String,
    },
}

/// Does what was typed.
pub fn run(cli: Cli) -> Exit {
    let Cli { globals, command } = cli;
    let printer = Printer { json: globals.json, quiet: globals.quiet };
    match dispatch(command, &globals, printer) {
        Ok(exit) => exit,
        Err(failure) => failure.tell(),
    }
}

fn dispatch(command: CliCommand, globals: &Globals, printer: Printer) -> Result<Exit, CliError> {
    let place = || {
        let place = CliPaths::of(globals.home.as_deref(), globals.config.as_deref())?;
        backup::settle_first(&place.home)?;
        Ok::<_, CliError>(place)
    };
    match command {
        CliCommand::Demo(options) => demo::run(&options, printer),
        CliCommand::Init(options) => init::run(&options, &place()?, printer),
        CliCommand::Run(options) => run::run(&options, &place()?, printer, globals.verbose),
        CliCommand::Chat(options) => talk::run(options, &place()?, globals.verbose),
        CliCommand::Doctor(options) => doctor::run(&options, &place()?, printer),
        CliCommand::Status => client::run(&["status".to_owned()], client::MarkdownStyle::Shown, &place()?, printer),
        CliCommand::Config(command) => config::run(&command, &place()?, printer),
        CliCommand::People(client::People::HandOver { name, yes }) => hand_over::run(&name, yes, &place()?, printer),
        CliCommand::People(command) => people::run(&command, &place()?, printer),
        CliCommand::Reminders(command) => {
            client::run(&command.line(), client::MarkdownStyle::Shown, &place()?, printer)
        }
        CliCommand::Tools(command) => client::run(&command.line(), client::MarkdownStyle::Shown, &place()?, printer),
        CliCommand::Conversations(command) => client::run(&command.line(), command.look(), &place()?, printer),
        CliCommand::Search(search) => client::run(&search.line(), client::MarkdownStyle::Shown, &place()?, printer),
        CliCommand::Memory(memory) => memory::run(&memory, &place()?, printer),
        CliCommand::Signal(command) => signal::run(&command, &place()?, printer),
        CliCommand::Skills(command) => skills::run(&command, &place()?, printer),
        CliCommand::Review(command) => client::run(&command.line(), client::MarkdownStyle::Shown, &place()?, printer),
        CliCommand::Reflections(command) => client::run(&command.line(), command.look(), &place()?, printer),
        CliCommand::Reflect(command) => client::work(&command.line(), &place()?, printer),
        CliCommand::Usage => client::run(&["usage".to_owned()], client::MarkdownStyle::Shown, &place()?, printer),
        CliCommand::Resend { id } => {
            let line: Vec<String> = iter::once("resend".to_owned()).chain(id.map(|id| id.to_string())).collect();
            client::run(&line, client::MarkdownStyle::Shown, &place()?, printer)
        }
        CliCommand::Export(options) => forget::export(&options, &place()?, printer),
        CliCommand::Forget(options) => forget::forget(&options, &place()?, printer),
        CliCommand::Backup(options) => backup::backup(&options, &place()?, printer),
        CliCommand::Restore(options) => restore::restore(&options, &place()?, printer),
        CliCommand::ReadDocument { kind } => read_document::run(&kind),
    }
}

/// Runs a short piece of work on this thread: starting more of them takes longer than the work.
fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(anyhow::Error::from)?.block_on(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
