//! `compline people …`, `compline forget PERSON` and `compline export PERSON FILE`.
//!
//! The holder of the home does the work: the running gateway if there is one, else this process. A
//! permanent deletion and a hand-over must be confirmed. If a removed person had the name of a new
//! one, the command asks before it makes a code: nothing is assumed.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use super::client::{self, words};
use super::config::CliPaths;
use super::forward::People;
use super::print::{CliError, Printer, ask, is_dialogue, print_remark};
use super::{Exit, qr_code};
use crate::id::PersonId;
use crate::wording::{access as says, personal_data};

/// Runs one of the commands.
pub fn run(command: &People, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    if let People::HandOver { name, yes } = command {
        return hand_over(name, *yes, paths, printer);
    }
    let mut line = command.line();
    if let People::Pair { name, same_as: None, new: false, .. } = command
        && is_dialogue()
        && !printer.json
        && let Some(answer) = same_or_new(name, paths, printer)?
    {
        line.extend(answer);
    }
    let answered = client::ask(&line, paths, printer)?;
    let exit = client::print_answer(&answered, printer)?;
    if matches!(command, People::Pair { .. } | People::Claim) && !printer.json && io::stdout().is_terminal() {
        // The only link in the answer sends the code.
        let link = answered.text.split_whitespace().find(|word| word.starts_with("https://"));
        if let Some(drawing) = link.and_then(qr_code::draw) {
            print_remark(&drawing);
        }
    }
    Ok(exit)
}

/// Returns the flag that identifies the person; `None` if no removed person had the name.
fn same_or_new(name: &str, paths: &CliPaths, printer: Printer) -> Result<Option<Vec<String>>, CliError> {
    let answered = client::ask(&["people", "former", name], paths, Printer { json: true, ..printer })?;
    let former: Value = serde_json::from_str(&answered.text).unwrap_or_default();
    let people = former.as_array().map(Vec::as_slice).unwrap_or_default();
    if answered.failed || people.is_empty() {
        return Ok(None);
    }
    let field = |person: &Value, key: &str| person.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |person: &Value| person.get("id").and_then(Value::as_i64).unwrap_or_default();
    for person in people {
        let (role, since, until) = (field(person, "role"), field(person, "since"), field(person, "until"));
        print_remark(&says::former(PersonId(number(person)), name, &role, &since, &until));
    }
    let typed = ask(says::ASK_SAME_OR_NEW)?.to_lowercase();
    if typed == "new" {
        return Ok(Some(words(&["--new"])));
    }
    match people.iter().map(number).find(|id| id.to_string() == typed) {
        Some(id) => Ok(Some(words(&["--same-as", &id.to_string()]))),
        None => Err(CliError::Failed(says::NOT_ANSWERED.to_owned())),
    }
}

/// Hands over the workspace root.
fn hand_over(name: &str, yes: bool, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    if !yes {
        if !io::stdin().is_terminal() {
            return Err(CliError::Wrong(says::HAND_OVER_NEEDS_YES.to_owned()));
        }
        let exit = client::run(&["people", "hand-over", name], paths, printer)?;
        if exit != Exit::Done {
            return Ok(exit);
        }
        if !ask(says::CONFIRM_HAND_OVER)?.eq_ignore_ascii_case("yes") {
            print_remark(says::HAND_OVER_NOT_CONFIRMED);
            return Ok(Exit::Failed);
        }
    }
    client::patiently(&["people", "hand-over", name, "--yes"], says::MOVING_FILES, paths, printer)
}

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
pub fn forget(options: &Forget, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let person = &*options.person;
    if !options.yes {
        if !io::stdin().is_terminal() {
            return Err(CliError::Wrong(personal_data::NEEDS_YES.to_owned()));
        }
        if ask(&personal_data::confirm(person))? != person.trim() {
            print_remark(personal_data::NOT_CONFIRMED);
            return Ok(Exit::Failed);
        }
    }
    client::patiently(&["forget", person, "--yes"], &personal_data::goes_on(person), paths, printer)
}

/// Exports all data of a person into a file.
pub fn export(options: &Export, paths: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let file = std::path::absolute(&options.file)?;
    let Some(file) = file.to_str() else {
        return Err(CliError::Wrong(personal_data::export_not_written("FILE", "its name is no text")));
    };
    client::patiently(
        &["export", &*options.person, file],
        &personal_data::export_goes_on(&options.person),
        paths,
        printer,
    )
}
