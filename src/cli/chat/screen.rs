//! Rendering of the assistant's Markdown on this terminal: width and colours.

use std::io::IsTerminal;

use crate::adapter::markdown::LinkDisplay;
use crate::adapter::terminal::ansi::{self, TerminalStyle};

const USUAL_WIDTH: usize = 80;
/// Width for files and pipes, whose lines are not wrapped.
const UNWRAPPED: usize = 1_000_000;

/// Properties of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// `true` if a person watches the output as it streams.
    pub live: bool,
    /// Width in columns.
    pub width: usize,
    /// `true` if colours and text styles are wanted.
    pub color: bool,
}

impl Screen {
    /// Returns the properties of standard output.
    pub fn of_stdout() -> Self {
        let live = std::io::stdout().is_terminal();
        let width = if live { columns() } else { UNWRAPPED };
        Self { live, width, color: live && wants_color() }
    }

    /// Returns the properties for refusals on standard error: plain, because its reader may be a
    /// log.
    pub fn of_stderr() -> Self {
        Self { live: false, width: UNWRAPPED, color: false }
    }

    /// Renders Markdown followed by an empty line. Untrusted text cannot hide a link target.
    pub fn show(self, markdown: &str, links: LinkDisplay) -> String {
        let style = TerminalStyle { color: self.color, width: self.width };
        let shown = ansi::render(markdown, links, &style);
        if shown.is_empty() { shown } else { shown + "\n\n" }
    }

    /// Renders a line outside the conversation.
    pub fn remark(self, line: &str) -> String {
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
