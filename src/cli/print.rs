//! Standard output and standard error. A closed reader is distinguished from a full disk.

use std::io::{self, IsTerminal, Write};

use super::Exit;
use super::chat::Screen;
use super::failure::CliError;
use crate::adapter::markdown::LinkDisplay;

/// Output options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printer {
    /// Print facts as JSON.
    pub json: bool,
    /// Print only the requested output.
    pub quiet: bool,
}

impl Printer {
    /// Prints a fact as it is.
    pub fn fact(self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(text.trim_end_matches('\n').as_bytes())?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// Prints a fact as JSON.
    pub fn json(self, value: &impl serde::Serialize) -> Result<(), CliError> {
        self.fact(&serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?)
    }

    /// Prints a fact as rendered Markdown. Link targets are spelled out, because the origin of the
    /// text is unknown here.
    pub fn markdown(self, text: &str) -> Result<(), CliError> {
        self.fact(&Screen::of_stdout().show(text, LinkDisplay::SpelledOut))
    }

    /// Prints a note on standard error, unless notes are disabled.
    pub fn note(self, text: &str) {
        if !self.quiet {
            print_remark(text);
        }
    }
}

/// Prints a line on standard error. Errors are ignored, because nothing could report them.
pub fn print_remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Returns `true` if both standard input and standard error are terminals.
pub fn is_dialogue() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

impl CliError {
    /// Prints the failure on standard error.
    pub fn print(self) -> Exit {
        let (words, exit) = match self {
            Self::Wrong(words) => (words, Exit::Wrong),
            Self::Failed(words) => (words, Exit::Failed),
            Self::Unread => return Exit::Done,
        };
        print_remark(&words);
        exit
    }
}
