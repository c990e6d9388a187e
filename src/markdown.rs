//! Shared handling of the assistant's Markdown for all channels: parsing it into a flat list of
//! blocks, deciding how links appear, and removing characters that act instead of being displayed.
//!
//! Invariants: no block holds a control, escape or invisible character; a [`TextStyle::link`] is a
//! valid address whose text does not imitate another one; with [`LinkDisplay::SpelledOut`] there is
//! no `link` at all and every address is spelled out. Text that Markdown would swallow (a reply
//! that is only a link definition, `2*3*4`, `__init__`, `\(x^2\)`) stays as typed. Emphasis works next
//! to Chinese, Japanese and Korean punctuation, and `<br>` is a line break. Parsing is linear in the
//! input and uses no recursion, at any depth of nesting.

mod block_reader;
mod break_tag;
mod clean;
pub mod flow;
mod separators;

use std::rc::Rc;

pub use clean::strip_control;
use pulldown_cmark::Alignment;
use unicode_width::UnicodeWidthStr;

use crate::text::links::linked_names;

/// Display of links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LinkDisplay {
    /// Hidden behind their text, where the channel supports it.
    Embedded,
    /// Spelled out as `text (https://full.address)`, for replies derived from untrusted text.
    #[default]
    SpelledOut,
}

/// Inline style of a run of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// Bold.
    pub bold: bool,
    /// Italic.
    pub italic: bool,
    /// Struck through.
    pub strike: bool,
    /// Monospaced.
    pub code: bool,
    /// Address behind the text; only set with [`LinkDisplay::Embedded`].
    pub link: Option<Rc<str>>,
}

/// A run of text in one style. `\n` is a line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// Style of the text.
    pub style: TextStyle,
}

/// Content of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A paragraph, or a heading (already bold).
    Text {
        /// Heading level 1 to 6; 0 for a paragraph.
        heading: usize,
        /// Styled text.
        spans: Vec<Span>,
    },
    /// Preformatted text without its final newline.
    Code {
        /// Language, a plain word, or empty.
        language: String,
        /// The code.
        text: String,
    },
    /// A table.
    Table(Table),
    /// A horizontal rule.
    Rule,
}

/// One block and its position in quotes and lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Number of the outermost quote it belongs to; 0 for none.
    pub quote: usize,
    /// Quote depth, capped for display.
    pub depth: usize,
    /// List indentation and marker of the first line.
    pub lead: String,
    /// Indentation of the following lines.
    pub hang: String,
    /// True if a blank line separates it from the previous block.
    pub gap: bool,
    /// Content.
    pub body: Body,
}

/// Parses Markdown into blocks. Empty exactly if nothing visible was written.
pub fn read(markdown: &str, links: LinkDisplay) -> Vec<Block> {
    let source = clean::limit_nesting(&strip_control(markdown));
    let blocks = block_reader::read(&separators::insert(&source), links);
    if !blocks.is_empty() {
        return blocks;
    }
    let typed = break_tag::replace(&source);
    Some(verbatim_block(typed.trim())).filter(|_| !is_blank(&typed)).into_iter().collect()
}

/// Returns the words of Markdown without its marks, with addresses spelled out.
pub fn words(markdown: &str) -> String {
    let words = |block: Block| match block.body {
        Body::Text { spans, .. } => spans.into_iter().map(|span| span.text).collect(),
        Body::Code { text, .. } => text,
        Body::Table(table) => table.rows.concat().join(" "),
        Body::Rule => String::new(),
    };
    read(markdown, LinkDisplay::SpelledOut).into_iter().map(words).collect::<Vec<String>>().join(" ")
}

/// Returns the spans with each bare file name that a messenger would link as code.
pub fn names_as_code(spans: &[Span]) -> Vec<Span> {
    let mut out = Vec::with_capacity(spans.len());
    for span in spans {
        let names = if span.style.code || span.style.link.is_some() { Vec::new() } else { linked_names(&span.text) };
        let mut add = |text: Option<&str>, style: TextStyle| {
            out.extend(text.filter(|text| !text.is_empty()).map(|text| Span { text: text.to_owned(), style }));
        };
        let mut from = 0;
        for name in names {
            add(span.text.get(from..name.start), span.style.clone());
            add(span.text.get(name.clone()), TextStyle { code: true, ..span.style.clone() });
            from = name.end;
        }
        add(span.text.get(from..), span.style.clone());
    }
    out
}

/// Appends ` (address)` to the text of every link that `chosen` selects, for channels or addresses
/// that do not support hidden links.
pub fn spell_out(spans: &[Span], chosen: impl Fn(&str) -> bool) -> Vec<Span> {
    let mut out = Vec::with_capacity(spans.len());
    let mut spans = spans.iter().peekable();
    while let Some(span) = spans.next() {
        out.push(span.clone());
        let link = span.style.link.as_ref().filter(|link| chosen(link));
        let ends_here = spans.peek().is_none_or(|next| next.style.link != span.style.link);
        if let Some(link) = link.filter(|_| ends_here) {
            out.push(Span { text: format!(" ({link})"), style: TextStyle::default() });
        }
    }
    out
}

/// Returns true if nothing visible is in the text.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{2800}')
}

fn verbatim_block(text: &str) -> Block {
    let spans = vec![Span { text: text.to_owned(), style: TextStyle::default() }];
    Block {
        quote: 0,
        depth: 0,
        lead: String::new(),
        hang: String::new(),
        gap: true,
        body: Body::Text { heading: 0, spans },
    }
}

const MAX_PADDED: usize = 40;

/// Cells as plain text; the first row is the head.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Rows of cells, the head first.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// One line per row, with a rule below the head.
    pub fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let mut lines: Vec<String> = self.rows.iter().map(|row| self.line(row, &widths)).collect();
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        lines.insert(lines.len().min(1), rule.join("─┼─"));
        lines
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = vec![1; self.alignments.len()];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().clamp(*width, MAX_PADDED.max(*width));
            }
        }
        widths
    }

    fn line(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row.iter().zip(widths).zip(&self.alignments);
        let cells: Vec<String> = cells.map(|((cell, width), alignment)| pad(cell, *width, *alignment)).collect();
        cells.join(" │ ").trim_end().to_owned()
    }
}

fn pad(cell: &str, width: usize, alignment: Alignment) -> String {
    let free = width.saturating_sub(cell.width());
    let before = match alignment {
        Alignment::Right => free,
        Alignment::Center => free / 2,
        Alignment::Left | Alignment::None => 0,
    };
    format!("{}{cell}{}", " ".repeat(before), " ".repeat(free - before))
}

#[cfg(test)]
mod tests;
