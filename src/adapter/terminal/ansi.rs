//! Rendering of the assistant's Markdown for a terminal: wrapped by display columns, styled by SGR
//! sequences only, and only if colour is enabled.
//!
//! The text was cleaned before, so every escape in the result is ours. Addresses are always spelled
//! out after their text; there are no hyperlink sequences. Code and tables are not wrapped, so that
//! they can be copied. Words may change style in the middle; a word wider than the line is cut
//! between graphemes. Styles are reset at the end of each line and before each change.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::markdown::{self, Block, Body, LinkDisplay, Span, TextStyle};

/// Capabilities of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalStyle {
    /// True to use colours and weights.
    pub color: bool,
    /// Width in columns.
    pub width: usize,
    /// True to mark code and headings that have no colour.
    pub marks: bool,
}

const CODE_INDENT: &str = "    ";
const BAR: &str = "│ ";
const RULE_WIDTH: usize = 24;
/// Language of a code block whose lines are coloured.
const DIFF: &str = "diff";

/// Renders Markdown without a final newline; empty if nothing is visible.
pub fn render(markdown: &str, links: LinkDisplay, style: &TerminalStyle) -> String {
    let mut out = String::new();
    let mut quote = 0;
    for block in markdown::read(markdown, links) {
        if !out.is_empty() {
            out.push('\n');
            if block.gap {
                let shared = block.quote != 0 && block.quote == quote;
                out.push_str(if shared { BAR.trim_end() } else { "" });
                out.push('\n');
            }
        }
        quote = block.quote;
        out.push_str(&lines_of(&block, style).join("\n"));
    }
    out
}

fn lines_of(block: &Block, style: &TerminalStyle) -> Vec<String> {
    let bars = BAR.repeat(block.depth);
    let lead = format!("{bars}{}", block.lead);
    let hang = format!("{bars}{}", block.hang);
    match &block.body {
        Body::Text { heading, spans } => {
            // Without bold letters a heading keeps its marks.
            let marks =
                if style.color || !style.marks || *heading == 0 { String::new() } else { "#".repeat(*heading) + " " };
            let mut wrapper = Wrapper::new(lead + &marks, hang, *style);
            for span in markdown::spell_out(spans, |_| true) {
                wrapper.push(&with_marks(span, *style));
            }
            wrapper.finish()
        }
        Body::Code { language, text } => {
            let is_diff = style.color && language == DIFF;
            let color = |line: &'_ str| if is_diff { diff_color(line) } else { "" };
            verbatim(block, &lead, &hang, text.split('\n'), color)
        }
        Body::Table(table) => {
            let lines = table.lines();
            verbatim(block, &lead, &hang, lines.iter().map(String::as_str), |_| "")
        }
        Body::Rule => vec![lead + &"─".repeat(RULE_WIDTH.min(style.width.max(1)))],
    }
}

/// Without colour, code keeps its backticks.
fn with_marks(span: Span, style: TerminalStyle) -> Span {
    if !span.style.code || style.color || !style.marks {
        return span;
    }
    let fence = "`".repeat(1 + usize::from(span.text.contains('`')));
    Span { text: format!("{fence}{}{fence}", span.text), ..span }
}

fn verbatim<'t>(
    block: &Block,
    lead: &str,
    hang: &str,
    lines: impl Iterator<Item = &'t str>,
    color: impl Fn(&str) -> &'static str,
) -> Vec<String> {
    let indent = if matches!(block.body, Body::Code { .. }) { CODE_INDENT } else { "" };
    let marker = Some(lead.trim_end().to_owned()).filter(|_| !markdown::is_blank(&block.lead));
    let shown = |line: &str| match color(line) {
        "" => format!("{hang}{indent}{line}").trim_end().to_owned(),
        code => format!("{hang}{indent}\u{1b}[{code}m{}\u{1b}[0m", line.trim_end()),
    };
    marker.into_iter().chain(lines.map(shown)).collect()
}

/// Returns the SGR code for a line of a diff: added green, removed red, headers cyan.
fn diff_color(line: &str) -> &'static str {
    match line.get(..1) {
        Some("+") => "32",
        Some("-") => "31",
        Some("@" | "=") => "36",
        _ => "",
    }
}

/// Minimum width left for text, at any indentation.
const MIN_WIDTH: usize = 12;

struct Wrapper {
    screen: TerminalStyle,
    hang: String,
    lines: Vec<String>,
    line: WrappedLine,
    /// The incomplete word, and the space before it.
    word: Vec<(String, TextStyle)>,
    word_width: usize,
    space: String,
}

struct WrappedLine {
    text: String,
    room: usize,
    used: usize,
    style: TextStyle,
}

impl Wrapper {
    fn new(lead: String, hang: String, screen: TerminalStyle) -> Self {
        let line = WrappedLine::new(lead, screen);
        Self { screen, hang, lines: Vec::new(), line, word: Vec::new(), word_width: 0, space: String::new() }
    }

    fn push(&mut self, span: &Span) {
        for chunk in span.text.split_inclusive([' ', '\t', '\n']) {
            let word = chunk.trim_end_matches([' ', '\t', '\n']);
            if !word.is_empty() {
                self.word.push((word.to_owned(), span.style.clone()));
                self.word_width += word.width();
            }
            match chunk.get(word.len()..).unwrap_or_default() {
                "" => {}
                "\n" => {
                    self.place_word();
                    self.space.clear();
                    self.break_line();
                }
                space => {
                    self.place_word();
                    self.space.push_str(space);
                }
            }
        }
    }

    fn finish(mut self) -> Vec<String> {
        self.place_word();
        self.end_line();
        self.lines
    }

    fn place_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let space = std::mem::take(&mut self.space);
        if self.line.used + space.chars().count() + self.word_width <= self.line.room {
            self.line.push(&space, &TextStyle::default(), self.screen);
        } else if self.line.used > 0 {
            self.break_line();
        }
        for (text, style) in std::mem::take(&mut self.word) {
            self.place(&text, &style);
        }
        self.word_width = 0;
    }

    fn place(&mut self, text: &str, style: &TextStyle) {
        if self.line.used + text.width() <= self.line.room {
            return self.line.push(text, style, self.screen);
        }
        for grapheme in text.graphemes(true) {
            if self.line.used > 0 && self.line.used + grapheme.width() > self.line.room {
                self.break_line();
            }
            self.line.push(grapheme, style, self.screen);
        }
    }

    fn break_line(&mut self) {
        self.end_line();
        self.line = WrappedLine::new(self.hang.clone(), self.screen);
    }

    fn end_line(&mut self) {
        self.line.change(&TextStyle::default(), self.screen);
        self.lines.push(self.line.text.trim_end().to_owned());
    }
}

impl WrappedLine {
    fn new(prefix: String, screen: TerminalStyle) -> Self {
        let room = screen.width.saturating_sub(prefix.width()).max(MIN_WIDTH);
        Self { text: prefix, room, used: 0, style: TextStyle::default() }
    }

    fn push(&mut self, text: &str, style: &TextStyle, screen: TerminalStyle) {
        if text.is_empty() {
            return;
        }
        self.change(style, screen);
        self.text.push_str(text);
        self.used += text.width();
    }

    fn change(&mut self, style: &TextStyle, screen: TerminalStyle) {
        if !screen.color || self.style == *style {
            return;
        }
        if self.style != TextStyle::default() {
            self.text.push_str("\u{1b}[0m");
        }
        self.text.push_str(&sequence(style));
        self.style = style.clone();
    }
}

fn sequence(style: &TextStyle) -> String {
    let codes =
        [(style.bold, "1"), (style.italic, "3"), (style.link.is_some(), "4"), (style.strike, "9"), (style.code, "36")];
    let codes: Vec<&str> = codes.into_iter().filter_map(|(on, code)| on.then_some(code)).collect();
    if codes.is_empty() { String::new() } else { format!("\u{1b}[{}m", codes.join(";")) }
}

#[cfg(test)]
mod tests;
