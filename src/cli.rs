//! The command line: its commands, and the module that runs each.
//!
//! The running gateway answers queries; without one, this process answers them from the same data
//! (`client`). Facts go to standard output, everything else to standard error. The exit code is
//! [`Exit`]. A failure is a [`CliError`]: one sentence that names the location, and below it a fix.

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

use crate::admin::command::help;
use crate::engine::files::reader::LOCKED;
use failure::CliError;
pub use log::calm_panics;
use paths::CliPaths;
use print::Printer;

/// Outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Done,
    /// Failure.
    Failed,
    /// Wrong usage or configuration.
    Wrong,
    /// The document is locked with a password.
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

/// A self-hosted assistant for Telegram, Signal and the terminal.
#[derive(Debug, Parser)]
#[command(name = "compline", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: CliCommand,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
struct Globals {
    /// Home directory [default: compline in the platform's data directory]
    #[arg(long, global = true, value_name = "DIR", env = "COMPLINE_HOME", hide_env_values = true)]
    home: Option<PathBuf>,
    /// Configuration file [default: compline.toml in the home]
    #[arg(long, global = true, value_name = "FILE", env = "COMPLINE_CONFIG", hide_env_values = true)]
    config: Option<PathBuf>,
    /// Print facts as JSON
    #[arg(long, global = true)]
    json: bool,
    /// Print only the requested output
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Log more, and to standard error too
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Demonstrate a simulated month in a minute: no keys, no network, nothing kept
    Demo(demo::DemoArgs),
    /// Ask for settings, test them, write the configuration
    Init(Box<init::InitArgs>),
    /// Run the gateway with every configured adapter
    Run(run::RunArgs),
    /// Chat in this terminal, through a running gateway if any
    Chat(talk::ChatArgs),
    /// Check everything and suggest fixes
    Doctor(doctor::DoctorArgs),
    #[command(about = help("status"))]
    Status,
    /// Check or show the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Manage people with access
    #[command(subcommand)]
    People(client::People),
    #[command(subcommand, about = help("reminders"))]
    Reminders(client::Reminders),
    /// Accept tools of MCP servers
    #[command(subcommand)]
    Tools(tools::Tools),
    /// Read past conversations
    #[command(subcommand)]
    Conversations(client::Conversations),
    #[command(about = help("search"))]
    Search(client::Search),
    /// Show, edit and restore the assistant's memory
    Memory(memory::Memory),
    /// Show or link the assistant's Signal account
    #[command(subcommand)]
    Signal(signal::SignalCommand),
    /// List, show, check, import and roll back skills
    #[command(subcommand)]
    Skills(skills::SkillsCommand),
    /// Review proposed changes of skills
    #[command(subcommand)]
    Review(review::ReviewCommand),
    /// Read reflections on past days, weeks and months
    #[command(subcommand)]
    Reflections(reflect::Reflections),
    #[command(about = help("reflect"))]
    Reflect(reflect::Reflect),
    #[command(about = help("usage"))]
    Usage,
    #[command(about = help("resend"))]
    Resend {
        /// One delivery [default: all]
        id: Option<i64>,
    },
    /// Export all data of one person into a file
    Export(forget::Export),
    /// Delete all data of one person permanently
    Forget(forget::Forget),
    /// Back up everything into one file
    Backup(backup::Backup),
    /// Replace everything with a backup
    Restore(restore::Restore),
    /// Read a document on standard input, for the gateway
    #[command(hide = true)]
    ReadDocument {
        /// pdf or html
        kind: String,
    },
}

/// Runs the command.
pub fn run(cli: Cli) -> Exit {
    let Cli { globals, command } = cli;
    let printer = Printer { json: globals.json, quiet: globals.quiet };
    match dispatch(command, &globals, printer) {
        Ok(exit) => exit,
        Err(failure) => failure.print(),
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
        CliCommand::Conversations(command) => client::run(&command.line(), command.style(), &place()?, printer),
        CliCommand::Search(search) => client::run(&search.line(), client::MarkdownStyle::Shown, &place()?, printer),
        CliCommand::Memory(memory) => memory::run(&memory, &place()?, printer),
        CliCommand::Signal(command) => signal::run(&command, &place()?, printer),
        CliCommand::Skills(command) => skills::run(&command, &place()?, printer),
        CliCommand::Review(command) => client::run(&command.line(), client::MarkdownStyle::Shown, &place()?, printer),
        CliCommand::Reflections(command) => client::run(&command.line(), command.style(), &place()?, printer),
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

/// Runs a short task on this thread: starting worker threads would take longer than the task.
fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(anyhow::Error::from)?.block_on(work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::command::COMMANDS;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_has_a_description_and_those_of_the_chat_exist() {
        use clap::CommandFactory;
        fn check(command: &clap::Command) {
            for command in command.get_subcommands() {
                assert!(command.get_about().is_some_and(|about| !about.to_string().is_empty()), "{command}");
                check(command);
            }
        }
        let root = Cli::command();
        check(&root);
        for line in COMMANDS.iter().filter_map(|row| row.command_line) {
            let found = line.split(' ').try_fold(&root, |command, word| command.find_subcommand(word));
            assert!(found.is_some(), "{line}");
        }
    }
}
