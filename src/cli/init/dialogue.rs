//! Questions to a person, one line each. What is secret is not shown while it is typed.

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

/// A dialogue with whoever sits at the terminal.
pub(super) struct Dialogue(Editor<Mask, DefaultHistory>);

impl Dialogue {
    /// Begins one, if somebody sits there.
    pub(super) fn open() -> Result<Self, CliError> {
        if !print::is_dialogue() {
            return Err(CliError::Wrong(says::NO_DIALOGUE.to_owned()));
        }
        let mut editor = Editor::new().map_err(broken)?;
        editor.set_helper(Some(Mask { on: false }));
        editor.set_auto_add_history(false);
        Ok(Self(editor))
    }

    /// One line; an empty one means `usual`.
    pub(super) fn line(&mut self, question: &str, usual: &str) -> Result<String, CliError> {
        let prompt = if usual.is_empty() { format!("{question}: ") } else { format!("{question} [{usual}]: ") };
        let typed = self.0.readline(&prompt).map_err(broken)?;
        let typed = typed.trim();
        Ok(if typed.is_empty() { usual } else { typed }.to_owned())
    }

    /// One line that is not shown.
    pub(super) fn secret(&mut self, question: &str) -> Result<String, CliError> {
        self.mask(true);
        let typed = self.0.readline(&format!("{question}: ")).map_err(broken);
        self.mask(false);
        Ok(typed?.trim().to_owned())
    }

    /// Yes or no, and no if nothing is said.
    pub(super) fn yes(&mut self, question: &str) -> Result<bool, CliError> {
        let typed = self.line(&format!("{question} (y/N)"), "")?.to_lowercase();
        Ok(matches!(typed.as_str(), "y" | "yes"))
    }

    fn mask(&mut self, on: bool) {
        if let Some(mask) = self.0.helper_mut() {
            mask.on = on;
        }
        // A mask is a kind of colour to the editor, and it must not depend on what the terminal can
        // do.
        self.0.set_color_mode(if on { ColorMode::Forced } else { ColorMode::Enabled });
    }
}

fn broken(error: ReadlineError) -> CliError {
    match error {
        ReadlineError::Eof | ReadlineError::Interrupted => CliError::Failed(says::BROKEN_OFF.to_owned()),
        other => anyhow::Error::new(other).into(),
    }
}

/// Shows nothing of a line while it is on.
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
