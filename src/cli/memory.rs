//! `compline memory …`: the memory of the first owner, which is the root of the workspace.
//!
//! The holder of the home answers every query, as a command line. Only the editor runs here, at the
//! person's terminal, on the file itself.

use clap::{Args, Subcommand};

use super::Exit;
use super::client::{self, words};
use super::external_editor;
use super::failure::CliError;
use super::paths::CliPaths;
use super::print::Printer;
use crate::admin::command::help;

/// `compline memory […]`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Memory {
    #[command(subcommand)]
    command: Option<MemoryAction>,
}

/// Action on the memory.
#[derive(Debug, Subcommand)]
enum MemoryAction {
    /// Show MEMORY.md and the notes with their sizes, or one note
    Show {
        /// The note, with or without .md
        note: Option<String>,
    },
    /// Open a note in $VISUAL, $EDITOR, nano or vi
    Edit {
        /// The note, which need not exist yet [default: MEMORY.md]
        note: Option<String>,
    },
    /// Search all stored memory
    Search(Search),
    /// List the versions of a note, newest first: time, author, reason, size
    History {
        /// The note
        note: String,
    },
    /// Restore an earlier version of a note
    Restore {
        /// The note
        note: String,
        /// Number of the version, from `history`
        version: u64,
    },
    #[command(about = help("promote"))]
    Promote {
        /// The note
        note: String,
        /// Code below the shown text
        code: Option<String>,
    },
    #[command(about = help("forget"))]
    Forget {
        /// The note, or the words of the fact
        note: String,
        /// Also delete the messages that it came from
        #[arg(long)]
        messages: bool,
    },
}

/// `compline memory search …`
#[derive(Debug, Args)]
struct Search {
    /// Words to search for
    #[arg(required = true)]
    query: Vec<String>,
    /// Search only the memory of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Search only under this heading
    #[arg(long, value_name = "HEADING")]
    section: Option<String>,
    /// Match upper and lower case exactly
    #[arg(long)]
    case: bool,
    /// Lines to show above and below a match
    #[arg(long, default_value_t = 0, value_name = "N")]
    context: u32,
    /// Maximum number of results
    #[arg(long, default_value_t = 10, value_name = "N")]
    limit: u32,
}

impl Search {
    /// Returns the command in the gateway's syntax.
    fn line(&self) -> Vec<String> {
        let (limit, context) = (self.limit.to_string(), self.context.to_string());
        let mut line = words(&["memory", "search", "--limit", &limit, "--context", &context]);
        for (flag, value) in [("--agent", &self.agent), ("--section", &self.section)] {
            line.extend(value.iter().flat_map(|value| words(&[flag, value])));
        }
        line.extend(self.case.then(|| "--case".to_owned()));
        line.extend(words(&["--", &self.query.join(" ")]));
        line
    }
}

/// Runs the command.
pub fn run(memory: &Memory, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let line = match &memory.command {
        None | Some(MemoryAction::Show { note: None }) => words(&["memory"]),
        Some(MemoryAction::Show { note: Some(note) }) => words(&["memory", "show", note]),
        Some(MemoryAction::Edit { note }) => return edit(note.as_deref().unwrap_or_default(), place, printer),
        Some(MemoryAction::Search(search)) => search.line(),
        Some(MemoryAction::History { note }) => words(&["memory", "history", note]),
        Some(MemoryAction::Restore { note, version }) => words(&["memory", "restore", note, &version.to_string()]),
        Some(MemoryAction::Promote { note, code: None }) => words(&["memory", "promote", note]),
        Some(MemoryAction::Promote { note, code: Some(code) }) => words(&["memory", "promote", note, code]),
        Some(MemoryAction::Forget { note, messages: false }) => words(&["memory", "forget", note]),
        Some(MemoryAction::Forget { note, messages: true }) => words(&["memory", "forget", note, "--messages"]),
    };
    client::run(&line, client::MarkdownStyle::Shown, place, printer)
}

/// Edits a note. The home is not locked while the editor is open: a gateway may start meanwhile,
/// and sees every saved change.
fn edit(note: &str, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let quietly = Printer { quiet: true, ..printer };
    let asked = client::ask(&external_editor::place_line("", note), place, Printer { json: true, ..printer })?;
    let open = external_editor::placed(&asked).map_err(CliError::Failed)?;
    super::block_on(async { external_editor::edit(&open).await.map_err(CliError::Failed) })?;
    let asked = client::ask(&external_editor::edited_line("", &open), place, quietly)?;
    client::print_answer(&asked, client::MarkdownStyle::Shown, printer)
}
