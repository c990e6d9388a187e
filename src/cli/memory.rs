//! `compline memory …`: what the assistant knows, for the first owner, whose memory is the root of
//! the workspace.
//!
//! Everything is asked of whoever holds the home, as words. Only the editor runs here, where the
//! person sits, on the file itself.

use clap::{Args, Subcommand};

use super::Exit;
use super::client::{self, words};
use super::external_editor;
use super::failure::CliError;
use super::paths::CliPaths;
use super::print::Printer;

/// `compline memory [… ]`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Memory {
    #[command(subcommand)]
    command: Option<MemoryAction>,
}

/// What is done with it.
#[derive(Debug, Subcommand)]
enum MemoryAction {
    /// MEMORY.md and the notes with their sizes, or one note whole
    Show {
        /// The note, with or without .md
        note: Option<String>,
    },
    /// Open a note in $VISUAL, $EDITOR, nano or vi
    Edit {
        /// The note, which need not exist yet [default: MEMORY.md]
        note: Option<String>,
    },
    /// Search everything that is kept
    Search(Search),
    /// What a note was before, newest first: when, who, why, how large
    History {
        /// The note
        note: String,
    },
    /// Put an earlier version of a note back
    Restore {
        /// The note
        note: String,
        /// The number of the version, as `history` lists it
        version: u64,
    },
    /// Make a note that came from outside yours: shows it with a code, and does it with the code
    Promote {
        /// The note
        note: String,
        /// The code under what was shown
        code: Option<String>,
    },
    /// Delete a note or a fact for good, with what was made of it
    Forget {
        /// The note, or the words of the fact
        note: String,
        /// The messages that it grew from as well
        #[arg(long)]
        messages: bool,
    },
}

/// `compline memory search …`
#[derive(Debug, Args)]
struct Search {
    /// What to look for
    #[arg(required = true)]
    query: Vec<String>,
    /// Only what that agent keeps for itself
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Only under that heading
    #[arg(long, value_name = "HEADING")]
    section: Option<String>,
    /// Tell capital letters from small ones
    #[arg(long)]
    case: bool,
    /// Lines to show above and below a hit
    #[arg(long, default_value_t = 0, value_name = "N")]
    context: u32,
    /// At most so many
    #[arg(long, default_value_t = 10, value_name = "N")]
    limit: u32,
}

impl Search {
    /// As the gateway understands it.
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

/// Does it.
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

/// The home is not held while the editor is open: a gateway may start meanwhile, and sees every
/// saved change.
fn edit(note: &str, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let quietly = Printer { quiet: true, ..printer };
    let asked = client::ask(&external_editor::place_line("", note), place, Printer { json: true, ..printer })?;
    let open = external_editor::placed(&asked).map_err(CliError::Failed)?;
    super::block_on(async { external_editor::edit(&open).await.map_err(CliError::Failed) })?;
    let asked = client::ask(&external_editor::edited_line("", &open), place, quietly)?;
    client::tell(&asked, client::MarkdownStyle::Shown, printer)
}
