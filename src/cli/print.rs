//! What goes to standard output and standard error. A reader that is gone is told apart from a disk
//! that is full.

use std::io::{self, IsTerminal, Write};

use super::chat::Screen;
use super::failure::CliError;
use crate::adapter::markdown::LinkDisplay;

/// How the person wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printer {
    /// Facts as JSON.
    pub json: bool,
    /// Nothing that was not asked for.
    pub quiet: bool,
}

impl Printer {
    /// A fact, as it is.
    pub fn fact(self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(text.trim_end_matches('\n').as_bytes())?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// A fact for programs.
    pub fn json(self, value: &impl serde::Serialize) -> Result<(), CliError> {
        self.fact(&serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?)
    }

    /// A fact as Markdown, made readable. No address hides behind words, since what it was made
    /// from is not known here.
    pub fn markdown(self, text: &str) -> Result<(), CliError> {
        self.fact(&Screen::of_stdout().show(text, LinkDisplay::SpelledOut))
    }

    /// A word to the person on standard error, unless they want none.
    pub fn note(self, text: &str) {
        if !self.quiet {
            aside(text);
        }
    }
}

/// A line on standard error. If even that is closed, there is nobody left to tell.
pub fn aside(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether a person sits at both ends.
pub fn is_dialogue() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
