//! The command line: its commands, and the module that runs each.
//!
//! The running gateway answers queries; without one, this process answers them from the same data
//! (`client`). Facts go to standard output, everything else to standard error. The exit code is
//! [`Exit`]. A failure is a [`CliError`]: one sentence that names the location, and below it a fix.

mod client;
mod backup;
mod chat;
mod config;
mod demo;
mod doctor;
mod ephemeral;
mod forward;
mod import;
mod init;
mod log;
mod manual;
mod memory;
mod people;
mod print;
mod probe;
mod qr_code;
mod read_document;
mod run;
mod service;
mod set_secret;
mod signal;
mod skills;
mod standby;
mod web;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::admin::command::help;
use crate::engine::files::reader::LOCKED;
use crate::wording::cli as says;
use client::words;
use config::{CliPaths, ConfigCommand};
pub use log::calm_panics;
use print::CliError;
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

/// A group of commands, of which `list` is the default.
#[derive(Debug, Args)]
struct OrList<T: Subcommand> {
    #[command(subcommand)]
    command: Option<T>,
}

impl<T: Subcommand> OrList<T> {
    fn command(self) -> Result<T, CliError> {
        let list = || {
            let group = T::augment_subcommands(clap::Command::new("compline"));
            T::from_arg_matches(&group.try_get_matches_from(["compline", "list"])?)
        };
        let command = self.command.map_or_else(list, Ok);
        command.map_err(|error: clap::Error| CliError::Wrong(error.to_string()))
    }
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Demonstrate a simulated month in a minute: no keys, no network, nothing kept
    Demo(demo::DemoArgs),
    /// Ask for settings, test them, write the configuration
    Init(Box<init::InitArgs>),
    /// Run the gateway with every configured adapter
    Run(run::RunArgs),
    /// Run the gateway as a service of this computer
    #[command(subcommand)]
    Service(service::ServiceCommand),
    /// Make the running gateway read its configuration again
    Reload,
    /// Chat in this terminal, through a running gateway if any
    Chat(chat::ChatArgs),
    #[command(about = help("web"))]
    Web(web::WebArgs),
    /// Check everything and suggest fixes
    Doctor(doctor::DoctorArgs),
    #[command(about = help("status"))]
    Status {
        /// Print nothing; fail unless the gateway receives on every channel
        #[arg(long)]
        check: bool,
    },
    /// Check or show the configuration, change a secret
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Manage people with access
    People(OrList<forward::People>),
    #[command(about = help("reminders"))]
    Reminders(OrList<forward::Reminders>),
    /// Accept tools of MCP servers
    Tools(OrList<forward::Tools>),
    /// Read past conversations
    Conversations(OrList<forward::Conversations>),
    #[command(about = help("files"))]
    Files(forward::Files),
    #[command(about = help("search"))]
    Search(forward::Search),
    /// Show, edit and restore the assistant's memory
    Memory(memory::Memory),
    /// Show or link the assistant's Signal account
    #[command(subcommand)]
    Signal(signal::SignalCommand),
    /// List, show, check, import and roll back skills
    Skills(OrList<skills::SkillsCommand>),
    /// Review proposed changes of skills
    Review(OrList<forward::ReviewCommand>),
    /// Read reflections on past days, weeks and months
    Reflections(OrList<forward::Reflections>),
    #[command(about = help("reflect"))]
    Reflect(forward::Reflect),
    #[command(about = help("usage"))]
    Usage,
    #[command(about = help("model"))]
    Model {
        /// Name of the model to ask first, or `forget-learned` to forget what was learned of the servers
        name: Option<String>,
    },
    #[command(about = help("resend"))]
    Resend {
        /// One delivery [default: all]
        id: Option<i64>,
    },
    /// Import conversations from ChatGPT, Claude or Telegram
    Import(import::Import),
    /// Export all data of one person into a file
    Export(people::Export),
    /// Delete all data of one person permanently
    Forget(people::Forget),
    /// Back up everything into one file
    Backup(backup::Backup),
    /// Replace everything with a backup
    Restore(backup::Restore),
    /// Check or use the replica of another machine
    #[command(subcommand)]
    Standby(standby::StandbyCommand),
    /// Print a script that completes commands in your shell
    Completions(manual::Completions),
    /// Print the manual page
    Manual(manual::Manual),
    /// Print the changes of this version
    Changelog(manual::Changelog),
    /// Read a document on standard input, for the gateway
    #[command(hide = true)]
    ReadDocument {
        /// pdf or html
        kind: String,
    },
}

impl CliCommand {
    /// Returns true if its output is text for people or for a shell.
    fn prints_text(&self) -> bool {
        matches!(
            self,
            Self::Demo(_)
                | Self::Init(_)
                | Self::Service(_)
                | Self::Reload
                | Self::Chat(_)
                | Self::Completions(_)
                | Self::Manual(_)
                | Self::Changelog(_)
        )
    }

    /// Returns true if it reads or changes a home.
    fn acts_on_home(&self) -> bool {
        !matches!(
            self,
            Self::Demo(_)
                | Self::Service(_)
                | Self::Completions(_)
                | Self::Manual(_)
                | Self::Changelog(_)
                | Self::ReadDocument { .. }
        )
    }
}

/// Runs the command.
pub fn run(cli: Cli) -> Exit {
    let Cli { globals, command } = cli;
    let printer = Printer { json: globals.json, quiet: globals.quiet, source: false };
    match dispatch(command, &globals, printer) {
        Ok(exit) => exit,
        Err(failure) => printer.failure(failure),
    }
}

fn dispatch(command: CliCommand, globals: &Globals, printer: Printer) -> Result<Exit, CliError> {
    if globals.home.is_none() && command.acts_on_home() {
        service::become_service_user()?;
    }
    let paths = || {
        let paths = CliPaths::of(globals.home.as_deref(), globals.config.as_deref())?;
        backup::settle_first(&paths.home)?;
        Ok::<_, CliError>(paths)
    };
    let forward = |line: Vec<String>| client::run(&line, &paths()?, printer);
    let forward_source = |line: Vec<String>, source| client::run(&line, &paths()?, Printer { source, ..printer });
    if printer.json && command.prints_text() {
        return Err(CliError::Wrong(says::NO_JSON.to_owned()));
    }
    match command {
        CliCommand::Demo(options) => demo::run(&options, printer),
        CliCommand::Init(options) => init::run(&options, &paths()?, printer),
        CliCommand::Run(options) => run::run(&options, &paths()?, printer, globals.verbose),
        CliCommand::Service(command) => service::run(&command, paths, printer),
        CliCommand::Reload => run::reload(&paths()?),
        CliCommand::Chat(options) => chat::command(options, &paths()?, globals.verbose),
        CliCommand::Web(options) => web::run(&options, &paths()?, printer),
        CliCommand::Doctor(options) => doctor::run(&options, &paths()?, printer),
        CliCommand::Status { check: false } => forward(words(&["status"])),
        CliCommand::Status { check: true } => client::check(&paths()?),
        CliCommand::Config(ConfigCommand::Check) => config::check(&paths()?, printer),
        CliCommand::Config(ConfigCommand::Show) => config::show(&paths()?, printer),
        CliCommand::Config(ConfigCommand::SetSecret(options)) => set_secret::set_secret(&options, &paths()?, printer),
        CliCommand::People(group) => people::run(&group.command()?, &paths()?, printer),
        CliCommand::Reminders(group) => forward(group.command()?.line()),
        CliCommand::Tools(group) => forward(group.command()?.line()),
        CliCommand::Conversations(group) => {
            let command = group.command()?;
            forward_source(command.line(), command.is_source())
        }
        CliCommand::Files(files) => forward(files.line()),
        CliCommand::Search(search) => forward(search.line()),
        CliCommand::Memory(memory) => memory::run(&memory, &paths()?, printer),
        CliCommand::Signal(command) => signal::run(&command, &paths()?, printer),
        CliCommand::Skills(group) => skills::run(&group.command()?, &paths()?, printer),
        CliCommand::Review(group) => forward(group.command()?.line()),
        CliCommand::Reflections(group) => {
            let command = group.command()?;
            forward_source(command.line(), command.is_source())
        }
        CliCommand::Reflect(command) => client::work(&command.line(), &paths()?, printer),
        CliCommand::Usage => forward(words(&["usage"])),
        CliCommand::Model { name } => forward(["model".to_owned()].into_iter().chain(name).collect()),
        CliCommand::Resend { id } => {
            forward(words(&["resend"]).into_iter().chain(id.map(|id| id.to_string())).collect())
        }
        CliCommand::Import(options) => import::run(&options, &paths()?, printer),
        CliCommand::Export(options) => people::export(&options, &paths()?, printer),
        CliCommand::Forget(options) => people::forget(&options, &paths()?, printer),
        CliCommand::Backup(options) => backup::backup(&options, &paths()?, printer),
        CliCommand::Restore(options) => backup::restore(&options, &paths()?, printer),
        CliCommand::Standby(command) => standby::run(&command, &paths()?, printer),
        CliCommand::Completions(options) => manual::completions(&options),
        CliCommand::Manual(options) => manual::manual(&options),
        CliCommand::Changelog(options) => manual::changelog(&options, printer),
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
