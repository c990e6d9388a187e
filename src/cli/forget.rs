//! `compline forget PERSON` and `compline export PERSON FILE`: deletes or exports one person's
//! data.
//!
//! The holder of the home does the work: the running gateway if there is one, else this process. A
//! permanent deletion must be confirmed.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use clap::Args;

use super::Exit;
use super::client::{self, words};
use super::failure::CliError;
use super::paths::CliPaths;
use super::print::{Printer, print_remark};
use crate::wording::{export, forget as says};

/// `compline forget …`
#[derive(Debug, Args)]
pub struct Forget {
    /// Name of the person
    person: String,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// `compline export …`
#[derive(Debug, Args)]
pub struct Export {
    /// Name of the person
    person: String,
    /// The new file; it must not exist
    file: PathBuf,
}

/// Deletes a person's data after the name was typed again.
pub fn forget(options: &Forget, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    if !options.yes && !is_confirmed(&options.person)? {
        print_remark(says::NOT_CONFIRMED);
        return Ok(Exit::Failed);
    }
    let line = words(&["forget", &options.person, "--yes"]);
    client::patiently(&line, &says::goes_on(&options.person), place, printer)
}

/// Exports all data of a person into a file.
pub fn export(options: &Export, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let file = std::path::absolute(&options.file)?;
    let Some(file) = file.to_str() else {
        return Err(CliError::Wrong(export::not_written("FILE", "its name is no text")));
    };
    let line = words(&["export", &options.person, file]);
    client::patiently(&line, &export::goes_on(&options.person), place, printer)
}

fn is_confirmed(name: &str) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        return Err(CliError::Wrong(says::NEEDS_YES.to_owned()));
    }
    let mut out = io::stderr().lock();
    write!(out, "{}", says::confirm(name))?;
    out.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    Ok(typed.trim() == name.trim())
}
