//! `compline skills …`: what the assistant has learned to do.
//!
//! What is asked of the journal or changes anything goes to whoever holds the home, as words; a
//! folder to be brought in goes as its full path, because the gateway runs in another directory.
//! Only `check` looks for itself, so it works in any folder, without a home and without a gateway.

mod accept;
mod check;

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::Exit;
use super::client::{self, words};
use super::failure::CliError;
use super::paths::CliPaths;
use super::print::Printer;
use crate::skill::MAIN;
use crate::wording::cli::skills as says;

/// `compline skills …`
#[derive(Debug, Subcommand)]
pub enum SkillsCommand {
    /// All skills: those that are used, and those that are not, with the reason
    List,
    /// One skill whole
    Show {
        /// Its name
        name: String,
    },
    /// Say what is wrong with skills, and where: form, links, and what the scan finds
    Check {
        /// A folder of skills, or one skill [default: the configured folder]
        dir: Option<PathBuf>,
    },
    /// Propose a skill from elsewhere; it waits until you approve it
    Import {
        /// The skill's folder, or its SKILL.md
        path: PathBuf,
        /// Its name as its SKILL.md has it [default: that of the folder]
        #[arg(long)]
        name: Option<String>,
    },
    /// Propose a skill that says what one of your notes says
    Promote {
        /// The note, as a path in the workspace such as memory/tea.md
        note: String,
        /// The skill's name [default: that of the note]
        #[arg(long)]
        name: Option<String>,
    },
    /// Accept a folder that was put there by hand
    ///
    /// Shows its text, files, scripts and web addresses first, and asks. Without a terminal it
    /// shows them with a hash, and the hash given with the same command accepts exactly that.
    Accept {
        /// The folder's name
        name: String,
        /// The hash that was shown
        hash: Option<String>,
    },
    /// What a skill was before, newest first
    History {
        /// Its name
        name: String,
    },
    /// Put an earlier version of a skill back
    Rollback {
        /// Its name
        name: String,
        /// The number of the version, as `history` lists it
        version: u64,
    },
}

/// Does it.
pub fn run(command: &SkillsCommand, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let line = match command {
        SkillsCommand::Check { dir } => return check::run(dir.as_deref(), place, printer),
        SkillsCommand::List => words(&["skills", "list"]),
        SkillsCommand::Show { name } => words(&["skills", "show", name]),
        SkillsCommand::Import { path, name } => import(path, name.as_deref())?,
        SkillsCommand::Promote { note, name } => {
            words(&["skills", "promote", note]).into_iter().chain(name.clone()).collect()
        }
        SkillsCommand::Accept { name, hash: Some(hash) } => words(&["skills", "accept", name, hash]),
        SkillsCommand::Accept { name, hash: None } => return accept::run(name, place, printer),
        SkillsCommand::History { name } => words(&["skills", "history", name]),
        SkillsCommand::Rollback { name, version } => words(&["skills", "rollback", name, &version.to_string()]),
    };
    client::run(&line, client::MarkdownStyle::Shown, place, printer)
}

fn import(path: &Path, name: Option<&str>) -> Result<Vec<String>, CliError> {
    let folder = skill_folder(path)?;
    let own = folder.file_name().and_then(|name| name.to_str());
    match (folder.to_str(), name.or(own)) {
        (Some(folder), Some(name)) => Ok(words(&["skills", "import", folder, name])),
        _ => Err(CliError::Failed(says::no_name(&folder))),
    }
}

/// The folder that is meant by it or by a file in it, by its full path.
fn skill_folder(path: &Path) -> Result<PathBuf, CliError> {
    let full = path.canonicalize().map_err(|error| CliError::Failed(says::not_there(path, &error.to_string())))?;
    match full.parent() {
        Some(folder) if full.file_name().is_some_and(|name| name == MAIN) && full.is_file() => Ok(folder.to_owned()),
        _ if full.is_dir() => Ok(full),
        _ => Err(CliError::Failed(says::no_folder(path))),
    }
}
