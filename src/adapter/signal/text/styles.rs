//! The looks that Signal has, and ranges of a text that have them.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adapter::markdown;
use crate::adapter::markdown::flow::{self, Stretch};
use crate::adapter::{OutgoingPart, PartFormat};

/// A part as it goes to the daemon; the rich form of a [`OutgoingPart`] is its JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Styled {
    /// What is said.
    pub text: String,
    /// How pieces of it look.
    pub styles: Vec<Range>,
}

/// A range of a text, in UTF-16 units, and its look. Displayed as the daemon takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// Where it begins.
    pub start: usize,
    /// How long it is.
    pub length: usize,
    /// Its look.
    pub style: Style,
}

/// What Signal calls a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Style {
    /// Bold.
    Bold,
    /// Italic.
    Italic,
    /// Struck through.
    Strikethrough,
    /// In a typewriter face.
    Monospace,
}

/// All looks of a stretch of text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StyleSet {
    bold: bool,
    italic: bool,
    strike: bool,
    code: bool,
    preformatted: bool,
}

impl Styled {
    /// What to send of a piece. A form that cannot be read is sent plain.
    pub fn of(piece: &OutgoingPart, form: PartFormat) -> Self {
        let rich = match form {
            PartFormat::Rich => serde_json::from_str(&piece.rich).ok(),
            PartFormat::Plain => None,
        };
        rich.unwrap_or_else(|| Self { text: piece.plain.clone(), styles: Vec::new() })
    }

    /// The stored form.
    pub(super) fn encode(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, length, style } = self;
        write!(f, "{start}:{length}:{}", style.as_str())
    }
}

impl From<Range> for Value {
    fn from(range: Range) -> Self {
        Self::String(range.to_string())
    }
}

impl Style {
    const ALL: [Self; 4] = [Self::Bold, Self::Italic, Self::Strikethrough, Self::Monospace];

    fn as_str(self) -> &'static str {
        match self {
            Self::Bold => "BOLD",
            Self::Italic => "ITALIC",
            Self::Strikethrough => "STRIKETHROUGH",
            Self::Monospace => "MONOSPACE",
        }
    }
}

impl StyleSet {
    /// Code and tables, where white space counts.
    pub const PREFORMATTED: Self = Self { bold: false, italic: false, strike: false, code: false, preformatted: true };

    /// The look of a run of Markdown.
    pub fn of(style: &markdown::Style) -> Self {
        let markdown::Style { bold, italic, strike, code, .. } = *style;
        Self { bold, italic, strike, code, preformatted: false }
    }

    fn has(&self, style: Style) -> bool {
        match style {
            Style::Bold => self.bold,
            Style::Italic => self.italic,
            Style::Strikethrough => self.strike,
            Style::Monospace => self.code || self.preformatted,
        }
    }
}

/// The daemon counts bytes, and looks take none.
impl flow::Markup for StyleSet {
    fn measure(text: &str) -> usize {
        text.len()
    }

    fn change(&self, _next: &Self) -> usize {
        0
    }

    fn closing(&self) -> usize {
        0
    }

    fn is_preformatted(&self) -> bool {
        self.preformatted
    }
}

/// The ranges of a part: per look in the order of the text, and never two that touch.
pub(super) fn ranges(part: &[Stretch<'_, StyleSet>]) -> Vec<Range> {
    Style::ALL.into_iter().flat_map(|style| ranges_of(style, part)).collect()
}

fn ranges_of(style: Style, part: &[Stretch<'_, StyleSet>]) -> Vec<Range> {
    let mut found: Vec<Range> = Vec::new();
    let mut at = 0;
    for stretch in part {
        let length = units(stretch.text);
        if stretch.look.has(style) {
            match found.last_mut().filter(|last| last.start + last.length == at) {
                Some(last) => last.length += length,
                None => found.push(Range { start: at, length, style }),
            }
        }
        at += length;
    }
    found
}

/// As Signal counts.
pub(super) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}
