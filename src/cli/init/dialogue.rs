//! Questions to a person, one line each. Secrets are not echoed.

use std::borrow::Cow;

use rustyline::completion::Completer;
use rustyline::config::Configurer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{ColorMode, Editor, Helper};

use crate::cli::failure::CliError;
use crate::cli::print;
use crate::wording::cli::init as says;

/// A dialogue with the person at the terminal.
pub(super) struct Dialogue(Editor<Mask, DefaultHistory>);

impl Dialogue {
    /// Opens a dialogue, if there is a terminal.
    pub(super) fn open() -> Result<Self, CliError> {
        if !print::is_dialogue() {
            return Err(CliError::Wrong(says::NO_DIALOGUE.to_owned()));
        }
        let mut editor = Editor::new().map_err(broken)?;
        editor.set_helper(Some(Mask { on: false }));
        editor.set_auto_add_history(false);
        Ok(Self(editor))
    }

    /// Reads a line; an empty one means `usual`.
    pub(super) fn line(&mut self, question: &str, usual: &str) -> Result<String, CliError> {
        let prompt = if usual.is_empty() { format!("{question}: ") } else { format!("{question} [{usual}]: ") };
        let typed = self.0.readline(&prompt).map_err(broken)?;
        let typed = typed.trim();
        Ok(if typed.is_empty() { usual } else { typed }.to_owned())
    }

    /// Reads a line without echo.
    pub(super) fn secret(&mut self, question: &str) -> Result<String, CliError> {
        self.mask(true);
        let typed = self.0.readline(&format!("{question}: ")).map_err(broken);
        self.mask(false);
        Ok(typed?.trim().to_owned())
    }

    /// Asks a yes-or-no question. The default is no.
    pub(super) fn yes(&mut self, question: &str) -> Result<bool, CliError> {
        let typed = self.line(&format!("{question} (y/N)"), "")?.to_lowercase();
        Ok(matches!(typed.as_str(), "y" | "yes"))
    }

    fn mask(&mut self, on: bool) {
        if let Some(mask) = self.0.helper_mut() {
            mask.on = on;
        }
        // The editor treats a mask as a colour, so it must not depend on the terminal's
        // capabilities.
        self.0.set_color_mode(if on { ColorMode::Forced } else { ColorMode::Enabled });
    }
}

fn broken(error: ReadlineError) -> CliError {
    match error {
        ReadlineError::Eof | ReadlineError::Interrupted => CliError::Failed(says::BROKEN_OFF.to_owned()),
        other => anyhow::Error::new(other).into(),
    }
}

/// Hides the typed line while it is on.
struct Mask {
    on: bool,
}

impl Highlighter for Mask {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if self.on { Cow::Owned("*".repeat(line.chars().count())) } else { Cow::Borrowed(line) }
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        self.on && !matches!(kind, CmdKind::MoveCursor)
    }
}

impl Completer for Mask {
    type Candidate = String;
}

impl Hinter for Mask {
    type Hint = String;
}

impl Validator for Mask {}

impl Helper for Mask {}
