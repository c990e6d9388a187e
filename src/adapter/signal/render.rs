//! Rendering of the assistant's Markdown for Signal: plain text plus style ranges.
//!
//! Signal has four styles that we use and no links, headings, lists or tables; other markup is
//! spelled out as in the terminal: bars before a quote, the full address after its text. A part is
//! measured in bytes, since the daemon turns a longer body into a file; its ranges are counted in
//! UTF-16 units of the finished part, so that splitting cannot shift them. A range without its text
//! would style other words, so both are stored as one ([`StyledText`]). There are no buttons: the
//! texts name the commands ([`with_commands`]).

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use crate::adapter::{OutgoingPart, PREFIX_SPACE, PartFormat, with_commands};
use crate::markdown::flow::{self, Flow, Fragment, plain, utf16_len};
use crate::markdown::{self, Block, Body, LinkDisplay, Span};
use crate::message::Outbound;

/// Longest body that the daemon sends as it is, in bytes.
const LIMIT: usize = 2000;
/// Prefix of each line of a quote.
const BAR: &str = "│ ";

/// Renders a message into parts; none if nothing is visible.
pub(super) fn render(outbound: &Outbound) -> Vec<OutgoingPart> {
    let parts = styled(&with_commands(outbound, 0), LIMIT - PREFIX_SPACE).into_iter();
    parts.map(|part| OutgoingPart { rich: part.encode(), plain: part.text, ..OutgoingPart::default() }).collect()
}

/// Prefixes a part with a short notice.
pub(super) fn with_prefix(piece: &OutgoingPart, words: &str) -> OutgoingPart {
    let mut styled = StyledText::of(piece, PartFormat::Rich);
    let prefix = format!("{words} ");
    let by = utf16_len(&prefix);
    styled.text.insert_str(0, &prefix);
    for range in &mut styled.styles {
        range.start += by;
    }
    OutgoingPart { rich: styled.encode(), plain: format!("{prefix}{}", piece.plain), ..piece.clone() }
}

/// Splits the Markdown into parts of at most `limit` bytes.
fn styled(markdown: &str, limit: usize) -> Vec<StyledText> {
    let mut flow = Flow::default();
    let mut quote = 0;
    // Links cannot be hidden here, so the label makes no difference.
    for block in markdown::read(markdown, LinkDisplay::SpelledOut) {
        if !flow.is_empty() {
            let bar = if block.quote == quote && quote != 0 { BAR.trim_end() } else { "" };
            flow.push(&if block.gap { format!("\n{bar}\n") } else { "\n".to_owned() }, StyleSet::default());
        }
        quote = block.quote;
        push_block(&mut flow, &block);
    }
    flow.split(limit).iter().map(|part| StyledText { text: plain(part), styles: ranges(part) }).collect()
}

fn push_block(flow: &mut Flow<StyleSet>, block: &Block) {
    let bars = BAR.repeat(block.depth);
    let lead = format!("{bars}{}", block.lead);
    match &block.body {
        Body::Text { spans, .. } => {
            flow.push(&lead, StyleSet::default());
            push_spans(flow, spans, &format!("\n{bars}{}", block.hang));
        }
        Body::Rule => flow.push(&format!("{lead}———"), StyleSet::default()),
        Body::Code { text, .. } => push_preformatted(flow, block, &bars, text),
        Body::Table(table) => push_preformatted(flow, block, &bars, &table.lines().join("\n")),
    }
}

fn push_spans(flow: &mut Flow<StyleSet>, spans: &[Span], line_break: &str) {
    for span in spans {
        flow.push(&span.text.replace('\n', line_break), StyleSet::of(&span.style));
    }
}

/// Copied code should contain nothing but itself; only the bars of a quote are kept.
fn push_preformatted(flow: &mut Flow<StyleSet>, block: &Block, bars: &str, text: &str) {
    if !markdown::is_blank(&block.lead) {
        flow.push(&format!("{bars}{}\n", block.lead.trim_end()), StyleSet::default());
    }
    flow.push(bars, StyleSet::default());
    flow.push(&text.replace('\n', &format!("\n{bars}")), StyleSet::PREFORMATTED);
}

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display, VariantArray)]
#[serde(rename_all = "UPPERCASE")]
#[strum(serialize_all = "UPPERCASE")]
pub enum SignalStyle {
    Bold,
    Italic,
    Strikethrough,
    Monospace,
}

/// Set of styles of a run of text.
#[derive(Debug, Default, PartialEq, Eq)]
struct StyleSet {
    bold: bool,
    italic: bool,
    strike: bool,
    code: bool,
    preformatted: bool,
}

impl StyledText {
    /// Decodes the requested form of a part. An unreadable rich form becomes plain.
    pub fn of(piece: &OutgoingPart, form: PartFormat) -> Self {
        piece.decode(form).unwrap_or_else(|| Self { text: piece.plain.clone(), styles: Vec::new() })
    }

    /// Encodes the stored form.
    fn encode(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl fmt::Display for StyleRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, length, style } = self;
        write!(f, "{start}:{length}:{style}")
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
fn ranges(part: &[Fragment<'_, StyleSet>]) -> Vec<StyleRange> {
    SignalStyle::VARIANTS.iter().flat_map(|style| ranges_of(*style, part)).collect()
}

fn ranges_of(style: SignalStyle, part: &[Fragment<'_, StyleSet>]) -> Vec<StyleRange> {
    let mut ranges: Vec<StyleRange> = Vec::new();
    let mut at = 0;
    for fragment in part {
        let length = utf16_len(fragment.text);
        if fragment.style.has(style) {
            match ranges.last_mut().filter(|last| last.start + last.length == at) {
                Some(last) => last.length += length,
                None => ranges.push(StyleRange { start: at, length, style }),
            }
        }
        at += length;
    }
    ranges
}

#[cfg(test)]
mod tests;
