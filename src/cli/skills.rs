//! `compline skills …`: the assistant's skills.
//!
//! The holder of the home answers queries and makes changes, as command lines. A folder to import
//! is sent as its full path, because the gateway runs in another directory. Only `check` reads
//! folders itself, so it works in any folder, without a home and without a gateway.

mod check;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::Value;

use super::Exit;
use super::client::{self, Answered, words};
use super::config::CliPaths;
use super::forward::ListedPage;
use super::print::{CliError, Printer, ask, print_remark};
use crate::admin::command::help;
use crate::skill::MAIN;
use crate::wording::cli::skills as says;

/// `compline skills …`
#[derive(Debug, Subcommand)]
pub enum SkillsCommand {
    /// List all skills, with the reason for inactive ones
    List,
    /// Show one skill in full
    Show {
        /// Name of the skill
        name: String,
        /// Show this version and what restoring it changes
        version: Option<u64>,
    },
    /// Show what changed from one version of a skill to another
    Diff {
        /// Name of the skill
        name: String,
        /// Number of the older version, from `history`
        from: u64,
        /// Number of the newer version
        to: u64,
    },
    /// Check the format, links and contents of skills
    Check {
        /// A folder of skills, or one skill [default: the configured folder]
        dir: Option<PathBuf>,
    },
    /// Propose a skill from elsewhere; it waits for your approval
    Import {
        /// The skill's folder, or its SKILL.md
        path: PathBuf,
        /// Name in SKILL.md [default: that of the folder]
        #[arg(long)]
        name: Option<String>,
    },
    /// Propose a skill with the content of one of your notes
    Promote {
        /// The note, as a path in the workspace such as memory/tea.md
        note: String,
        /// Name of the skill [default: that of the note]
        #[arg(long)]
        name: Option<String>,
    },
    /// Accept a folder that was added by hand
    ///
    /// Shows its text, files, scripts and web addresses first, and asks. Without a terminal it
    /// shows them with a hash; the same command with that hash accepts exactly the shown content.
    Accept {
        /// Name of the folder
        name: String,
        /// The hash that was shown
        hash: Option<String>,
        /// The word after the hash, if one was shown
        word: Option<String>,
    },
    #[command(about = help("history"))]
    History {
        /// Name of the skill
        name: String,
        #[command(flatten)]
        page: ListedPage,
    },
    #[command(about = help("rollback"))]
    Rollback {
        /// Name of the skill
        name: String,
        /// Number of the version, from `history`
        version: u64,
    },
}

/// Runs the command.
pub fn run(command: &SkillsCommand, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let line = match command {
        SkillsCommand::Check { dir } => return check::run(dir.as_deref(), paths, printer),
        SkillsCommand::List => words(&["skills", "list"]),
        SkillsCommand::Show { name, version } => {
            words(&["skills", "show", name]).into_iter().chain(version.map(|version| version.to_string())).collect()
        }
        SkillsCommand::Diff { name, from, to } => words(&["skills", "diff", name, &from.to_string(), &to.to_string()]),
        SkillsCommand::Import { path, name } => import(path, name.as_deref())?,
        SkillsCommand::Promote { note, name } => {
            words(&["skills", "promote", note]).into_iter().chain(name.clone()).collect()
        }
        SkillsCommand::Accept { name, hash: Some(hash), word } => {
            words(&["skills", "accept", name, hash]).into_iter().chain(word.clone()).collect()
        }
        SkillsCommand::Accept { name, hash: None, .. } => return accept(name, paths, printer),
        SkillsCommand::History { name, page } => {
            words(&["skills", "history", name]).into_iter().chain(page.flags()).collect()
        }
        SkillsCommand::Rollback { name, version } => words(&["skills", "rollback", name, &version.to_string()]),
    };
    client::run(&line, paths, printer)
}

fn import(path: &Path, name: Option<&str>) -> Result<Vec<String>, CliError> {
    let folder = skill_folder(path)?;
    let own = folder.file_name().and_then(|name| name.to_str());
    match (folder.to_str(), name.or(own)) {
        (Some(folder), Some(name)) => Ok(words(&["skills", "import", folder, name])),
        _ => Err(CliError::Failed(says::no_name(&folder))),
    }
}

/// Returns the full path of the skill folder that `path` is, or is a file in.
fn skill_folder(path: &Path) -> Result<PathBuf, CliError> {
    let full = path.canonicalize().map_err(|error| CliError::Failed(says::not_there(path, &error.to_string())))?;
    match full.parent() {
        Some(folder) if full.file_name().is_some_and(|name| name == MAIN) && full.is_file() => Ok(folder.to_owned()),
        _ if full.is_dir() => Ok(full),
        _ => Err(CliError::Failed(says::no_folder(path))),
    }
}

/// Shows the folder and accepts it after confirmation at the terminal.
pub(super) fn accept(name: &str, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let line = words(&["skills", "accept", name]);
    if printer.json || !io::stdin().is_terminal() {
        return client::run(&line, paths, printer);
    }
    // One answer holds both the page and its hash, so the confirmation covers the shown content.
    let answered = client::ask(&line, paths, Printer { json: true, ..printer })?;
    let shown: Value = serde_json::from_str(&answered.text).unwrap_or_default();
    let field = |name: &str| shown.get(name).and_then(Value::as_str);
    let (Some(page), Some(hash), false) = (field("page"), field("hash"), answered.failed) else {
        let why = field("error").unwrap_or(&answered.text).to_owned();
        return client::print_answer(&Answered { text: why, failed: true }, printer);
    };
    printer.markdown(page)?;
    let word = field("word").unwrap_or_default();
    let confirmed = ask(&says::accept(&check::plain(name), word))?.to_ascii_lowercase();
    let is_confirmed = if word.is_empty() { matches!(confirmed.as_str(), "y" | "yes") } else { confirmed == word };
    if !is_confirmed {
        print_remark(says::NOT_ACCEPTED);
        return Ok(Exit::Failed);
    }
    let line = ["skills", "accept", name, hash, word];
    client::run(&words(line.get(..if word.is_empty() { 4 } else { 5 }).unwrap_or_default()), paths, printer)
}
