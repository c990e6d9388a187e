//! `compline import …`: archives and folders of other programs.
//!
//! The holder of the home reads the archive, so its path is sent in full: the running gateway works
//! in another directory, and has to be able to read it.

use std::io::{self, IsTerminal};
use std::path::Path;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::Value;

use super::Exit;
use super::client::{self, Progress, words};
use super::config::CliPaths;
use super::print::{CliError, Printer, ask, print_remark};
use crate::wording::cli::skills as files;
use crate::wording::import as says;

/// `compline import …`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct Import {
    #[command(subcommand)]
    command: Option<ImportCommand>,
    /// The kind of archive, if you want it checked, and the file or folder
    #[arg(value_names = ["KIND", "PATH"], num_args = 1..=2)]
    archive: Vec<String>,
    /// Name of the person who gets it [default: the owner]
    #[arg(long = "as", value_name = "PERSON")]
    person: Option<String>,
    /// Show what would be imported, and import nothing
    #[arg(long)]
    dry_run: bool,
    /// Let its texts be sent to the embedding server
    #[arg(long)]
    embed: bool,
}

#[derive(Debug, Subcommand)]
enum ImportCommand {
    /// List the imports
    List,
    /// Delete all that an import brought
    Remove {
        /// Number of the import, from `list`
        id: u64,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

/// Kind of an archive.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// ChatGPT's export
    Chatgpt,
    /// Claude's export
    Claude,
    /// Telegram's export as JSON
    Telegram,
    /// OpenClaw's folder
    Openclaw,
    /// Carpenter's folder
    Carpenter,
}

/// Runs the command.
pub fn run(options: &Import, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    match &options.command {
        Some(ImportCommand::List) => client::run(&["import", "list"], paths, printer),
        Some(ImportCommand::Remove { id, yes }) => remove(*id, *yes, paths, printer),
        None => client::counting(&line(options)?, says::IMPORTING, PROGRESS, paths, printer),
    }
}

/// Counts of the import that is under way: its row, which exists once the archive was read.
const PROGRESS: Progress = Progress { query: &["import", "list"], show: so_far };

fn so_far(list: &Value) -> Option<String> {
    let open = list.as_array()?.iter().find(|row| row.get("state").is_some_and(|state| state == "open"))?;
    let count = |of: &str| open.get(of).and_then(Value::as_u64).and_then(|count| usize::try_from(count).ok());
    Some(says::so_far((count("conversations")?, count("messages")?, count("notes")?, count("skills")?)))
}

fn line(options: &Import) -> Result<Vec<String>, CliError> {
    let (kind, path) = match options.archive.as_slice() {
        [path] => (None, path),
        [kind, path] => (Some(kind), path),
        _ => return Err(CliError::Wrong(says::NO_ARCHIVE.to_owned())),
    };
    if let Some(kind) = kind.filter(|kind| Kind::from_str(kind, false).is_err()) {
        return Err(CliError::Wrong(says::no_such_kind(kind)));
    }
    let path = Path::new(path);
    let full = path.canonicalize().map_err(|error| CliError::Failed(files::not_there(path, &error.to_string())))?;
    let Some(full) = full.to_str() else { return Err(CliError::Failed(says::cannot_read(path, says::ODD_NAME))) };
    let mut line = words(&["import", if options.dry_run { "survey" } else { "read" }, full]);
    for (flag, value) in [("--kind", kind), ("--as", options.person.as_ref())] {
        line.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value.clone()]));
    }
    line.extend(options.embed.then(|| "--embed".to_owned()));
    Ok(line)
}

fn remove(id: u64, yes: bool, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    if !yes {
        if !io::stdin().is_terminal() {
            return Err(CliError::Wrong(says::REMOVAL_NEEDS_YES.to_owned()));
        }
        if !ask(&says::confirm_removal(id))?.eq_ignore_ascii_case("yes") {
            print_remark(says::NOT_REMOVED);
            return Ok(Exit::Failed);
        }
    }
    client::patiently(&["import", "remove", &id.to_string()], says::REMOVING, paths, printer)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Proves: command-line/long-task
    #[test]
    fn progress_is_that_of_the_import_under_way() {
        let row = |state: &str, messages: u64, notes: u64| json!({ "state": state, "conversations": 2, "messages": messages, "notes": notes, "skills": 0 });
        let talks = so_far(&json!([row("open", 1_200, 0), row("done", 7, 0)]));
        assert_eq!(talks.as_deref(), Some("2 conversations with 1200 messages so far"));
        let notes = so_far(&json!([row("open", 3, 1)]));
        assert_eq!(notes.as_deref(), Some("1 note and 2 conversations with 3 messages so far"));
        for none in [json!([]), json!([row("done", 7, 0)]), json!("odd")] {
            assert_eq!(so_far(&none), None, "{none}");
        }
    }
}
