//! `compline skills accept NAME`: shows a held folder in full, asks, and accepts exactly the shown
//! content.

use std::io::{self, BufRead, IsTerminal, Write};

use serde_json::Value;

use crate::cli::Exit;
use crate::cli::client::{self, Answered, words};
use crate::cli::failure::CliError;
use crate::cli::paths::CliPaths;
use crate::cli::print::{Printer, print_remark};
use crate::wording::cli::skills as says;

/// Shows the folder and accepts it after confirmation at the terminal.
pub(super) fn run(name: &str, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    let line = words(&["skills", "accept", name]);
    if printer.json || !io::stdin().is_terminal() {
        return client::run(&line, client::MarkdownStyle::Shown, place, printer);
    }
    // One answer holds both the page and its hash, so the confirmation covers the shown content.
    let answered = client::ask(&line, place, Printer { json: true, ..printer })?;
    let shown: Value = serde_json::from_str(&answered.text).unwrap_or_default();
    let field = |name: &str| shown.get(name).and_then(Value::as_str);
    let (Some(page), Some(hash), false) = (field("page"), field("hash"), answered.failed) else {
        let why = field("error").unwrap_or(&answered.text).to_owned();
        return client::print_answer(&Answered { text: why, failed: true }, client::MarkdownStyle::Shown, printer);
    };
    printer.markdown(page)?;
    if !is_confirmed(name)? {
        print_remark(says::NOT_ACCEPTED);
        return Ok(Exit::Failed);
    }
    client::run(&words(&["skills", "accept", name, hash]), client::MarkdownStyle::Shown, place, printer)
}

fn is_confirmed(name: &str) -> Result<bool, CliError> {
    let mut out = io::stderr().lock();
    write!(out, "{}", says::accept(&super::check::plain(name)))?;
    out.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    Ok(matches!(typed.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
