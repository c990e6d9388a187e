//! Text styles of Signal and their ranges.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adapter::markdown;
use crate::adapter::markdown::flow::{self, Fragment};
use crate::adapter::{OutgoingPart, PartFormat};

/// A part in the daemon's form; the rich form of a [`OutgoingPart`] is its JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StyledText {
    pub text: String,
    pub styles: Vec<StyleRange>,
}

/// A styled range of a text, in UTF-16 units. Displayed in the daemon's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StyleRange {
    pub start: usize,
    pub length: usize,
    pub style: SignalStyle,
}

/// Styles of Signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum SignalStyle {
    Bold,
    Italic,
    Strikethrough,
    Monospace,
}

/// Set of styles of a run of text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StyleSet {
    bold: bool,
    italic: bool,
    strike: bool,
    code: bool,
    preformatted: bool,
}

impl StyledText {
    /// Decodes the requested form of a part. An unreadable rich form becomes plain.
    pub fn of(piece: &OutgoingPart, form: PartFormat) -> Self {
        let rich = match form {
            PartFormat::Rich => serde_json::from_str(&piece.rich).ok(),
            PartFormat::Plain => None,
        };
        rich.unwrap_or_else(|| Self { text: piece.plain.clone(), styles: Vec::new() })
    }

    /// Encodes the stored form.
    pub(super) fn encode(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl fmt::Display for StyleRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, length, style } = self;
        write!(f, "{start}:{length}:{}", style.as_str())
    }
}

impl From<StyleRange> for Value {
    fn from(range: StyleRange) -> Self {
        Self::String(range.to_string())
    }
}

impl SignalStyle {
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
    /// Code and tables, where white space is significant.
    pub const PREFORMATTED: Self = Self { bold: false, italic: false, strike: false, code: false, preformatted: true };

    /// Converts a Markdown style.
    pub fn of(style: &markdown::TextStyle) -> Self {
        let markdown::TextStyle { bold, italic, strike, code, .. } = *style;
        Self { bold, italic, strike, code, preformatted: false }
    }

    fn has(&self, style: SignalStyle) -> bool {
        match style {
            SignalStyle::Bold => self.bold,
            SignalStyle::Italic => self.italic,
            SignalStyle::Strikethrough => self.strike,
            SignalStyle::Monospace => self.code || self.preformatted,
        }
    }
}

/// The daemon counts bytes, and styles take none.
impl flow::Markup for StyleSet {
    fn text_len(text: &str) -> usize {
        text.len()
    }

    fn transition_len(&self, _next: &Self) -> usize {
        0
    }

    fn closing_len(&self) -> usize {
        0
    }

    fn is_preformatted(&self) -> bool {
        self.preformatted
    }
}

/// Ranges of a part: per style in text order, never adjacent.
pub(super) fn ranges(part: &[Fragment<'_, StyleSet>]) -> Vec<StyleRange> {
    SignalStyle::ALL.into_iter().flat_map(|style| ranges_of(style, part)).collect()
}

fn ranges_of(style: SignalStyle, part: &[Fragment<'_, StyleSet>]) -> Vec<StyleRange> {
    let mut found: Vec<StyleRange> = Vec::new();
    let mut at = 0;
    for stretch in part {
        let length = utf16_len(stretch.text);
        if stretch.style.has(style) {
            match found.last_mut().filter(|last| last.start + last.length == at) {
                Some(last) => last.length += length,
                None => found.push(StyleRange { start: at, length, style }),
            }
        }
        at += length;
    }
    found
}

/// Length in UTF-16 units, as Signal counts.
pub(super) fn utf16_len(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}
