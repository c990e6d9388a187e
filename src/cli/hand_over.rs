//! `compline people hand-over NAME`: explains the consequences, asks, and has the holder of the
//! home do it.

use std::io::{self, BufRead, IsTerminal, Write};

use super::Exit;
use super::client::{self, MarkdownStyle, words};
use super::failure::CliError;
use super::paths::CliPaths;
use super::print::{Printer, print_remark};
use crate::wording::hand_over as says;

/// Hands over the workspace root.
pub fn run(name: &str, yes: bool, place: &CliPaths, printer: Printer) -> Result<Exit, CliError> {
    if !yes {
        if !io::stdin().is_terminal() {
            return Err(CliError::Wrong(says::NEEDS_YES.to_owned()));
        }
        let told = client::ask(&words(&["people", "hand-over", name]), place, printer)?;
        let exit = client::print_answer(&told, MarkdownStyle::Shown, printer)?;
        if exit != Exit::Done {
            return Ok(exit);
        }
        if !is_confirmed()? {
            print_remark(says::NOT_CONFIRMED);
            return Ok(Exit::Failed);
        }
    }
    client::patiently(&words(&["people", "hand-over", name, "--yes"]), says::GOES_ON, place, printer)
}

fn is_confirmed() -> Result<bool, CliError> {
    let mut out = io::stderr().lock();
    write!(out, "{}", says::CONFIRM)?;
    out.flush()?;
    let mut typed = String::new();
    io::stdin().lock().read_line(&mut typed)?;
    Ok(typed.trim().eq_ignore_ascii_case("yes"))
}
