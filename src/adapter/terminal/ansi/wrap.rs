//! Wrapping of styled text at a column. Words may change style in the middle; a word wider than the
//! line is cut between graphemes. Styles are reset at the end of each line and before each change.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::TerminalStyle as Screen;
use crate::adapter::markdown::{Span, TextStyle};

/// Minimum width left for text, at any indentation.
const LEAST_ROOM: usize = 12;

pub(super) struct Wrapper {
    screen: Screen,
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
    pub(super) fn new(lead: String, hang: String, screen: Screen) -> Self {
        let line = WrappedLine::new(lead, screen);
        Self { screen, hang, lines: Vec::new(), line, word: Vec::new(), word_width: 0, space: String::new() }
    }

    pub(super) fn push(&mut self, span: &Span) {
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

    pub(super) fn finish(mut self) -> Vec<String> {
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
    fn new(prefix: String, screen: Screen) -> Self {
        let room = screen.width.saturating_sub(prefix.width()).max(LEAST_ROOM);
        Self { text: prefix, room, used: 0, style: TextStyle::default() }
    }

    fn push(&mut self, text: &str, style: &TextStyle, screen: Screen) {
        if text.is_empty() {
            return;
        }
        self.change(style, screen);
        self.text.push_str(text);
        self.used += text.width();
    }

    fn change(&mut self, style: &TextStyle, screen: Screen) {
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
