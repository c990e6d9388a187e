//! `compline people …`. If a removed person had the given name, the command asks before it makes a
//! code: nothing is assumed.

use std::io::{self, BufRead, Write};

use serde_json::Value;

use super::Exit;
use super::client::{self, MarkdownStyle, People, words};
use super::failure::CliError;
use super::paths::CliPaths;
use super::print::{Printer, is_dialogue};
use crate::wording::access as says;

/// Runs one of the commands.
pub fn run(command: &People, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let mut line = command.line();
    if let People::Pair { name, same_as: None, new: false, .. } = command
        && is_dialogue()
        && !printer.json
        && let Some(answer) = same_or_new(name, place, printer)?
    {
        line.extend(answer);
    }
    client::run(&line, MarkdownStyle::Shown, place, printer)
}

/// Returns the flag that identifies the person; `None` if no removed person had the name.
fn same_or_new(name: &str, place: &CliPaths, printer: Printer) -> Result<Option<Vec<String>>, CliError> {
    let asked = client::ask(&words(&["people", "former", name]), place, Printer { json: true, quiet: printer.quiet })?;
    let former: Value = serde_json::from_str(&asked.text).unwrap_or_default();
    let people = former.as_array().map(Vec::as_slice).unwrap_or_default();
    if asked.failed || people.is_empty() {
        return Ok(None);
    }
    let field = |person: &Value, key: &str| person.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |person: &Value| person.get("id").and_then(Value::as_i64).unwrap_or_default();
    let mut out = io::stderr().lock();
    for person in people {
        let (role, since, until) = (field(person, "role"), field(person, "since"), field(person, "until"));
        writeln!(out, "{}", says::former(crate::id::PersonId(number(person)), name, &role, &since, &until))?;
    }
    write!(out, "{}", says::ASK_SAME_OR_NEW)?;
    out.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    let typed = typed.trim().to_lowercase();
    if typed == "new" {
        return Ok(Some(words(&["--new"])));
    }
    match people.iter().map(number).find(|id| id.to_string() == typed) {
        Some(id) => Ok(Some(words(&["--same-as", &id.to_string()]))),
        None => Err(CliError::Failed(says::NOT_ANSWERED.to_owned())),
    }
}
