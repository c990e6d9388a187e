//! How this terminal shows the assistant's Markdown: its width, and whether it has colours.

use std::io::IsTerminal;

use crate::adapter::markdown::LinkDisplay;
use crate::adapter::terminal::ansi::{self, TerminalStyle};

const USUAL_WIDTH: usize = 80;
/// Lines that go to a file or a program are not wrapped.
const UNWRAPPED: usize = 1_000_000;

/// What standard output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Whether a person looks at it while it grows.
    pub live: bool,
    /// In columns.
    pub width: usize,
    /// Whether colours and letter styles are wanted.
    pub color: bool,
}

impl Screen {
    /// What standard output is right now.
    pub fn of_stdout() -> Self {
        let live = std::io::stdout().is_terminal();
        let width = if live { columns() } else { UNWRAPPED };
        Self { live, width, color: live && wants_color() }
    }

    /// Standard error, where refusals go: plain, for who reads it may be a log.
    pub fn of_stderr() -> Self {
        Self { live: false, width: UNWRAPPED, color: false }
    }

    /// Markdown as it is to be printed, with an empty line after it. What is not trusted hides no
    /// address.
    pub fn show(self, markdown: &str, links: LinkDisplay) -> String {
        let style = TerminalStyle { color: self.color, width: self.width };
        let shown = ansi::render(markdown, links, &style);
        if shown.is_empty() { shown } else { shown + "\n\n" }
    }

    /// A line that is no part of the conversation.
    pub fn aside(self, line: &str) -> String {
        if self.color { format!("\u{1b}[2m{line}\u{1b}[0m\n") } else { format!("{line}\n") }
    }
}

fn columns() -> usize {
    let measured = rustyline::DefaultEditor::new().ok().and_then(|mut editor| editor.dimensions());
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    measured.map(|(columns, _)| usize::from(columns)).or_else(told).filter(|width| *width > 0).unwrap_or(USUAL_WIDTH)
}

fn wants_color() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !is_set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}
