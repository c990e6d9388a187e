//! What every channel shares when it shows the assistant's Markdown: reading it into a flat list of
//! blocks, deciding how links appear, and taking out characters that act instead of being seen.
//!
//! Invariants: no block holds a control, escape or invisible character; a [`Style::link`] is a valid
//! address whose words do not pretend to be another one; with [`Links::Bare`] there is no `link` at all and
//! every address stands in the text. Text that Markdown would swallow (a reply that is only a link
//! definition, `2*3*4`, `__init__`) stays as it was typed. Reading is linear in the input and uses no
//! recursion, whatever the nesting.

mod address;
mod clean;
pub(super) mod flow;
mod guard;
mod reader;
mod table;

use std::rc::Rc;

pub use clean::strip_control;
pub use table::Table;

/// How links appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Behind their words, where the channel can do that.
    Named,
    /// As `words (https://full.address)`: for replies that grew from untrusted text.
    Bare,
}

/// The inline look of a run of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Style {
    /// Bold.
    pub bold: bool,
    /// Italic.
    pub italic: bool,
    /// Struck through.
    pub strike: bool,
    /// In a typewriter face.
    pub code: bool,
    /// The address behind the words; only ever set with [`Links::Named`].
    pub link: Option<Rc<str>>,
}

/// A run of text in one style. `\n` is a line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The words.
    pub text: String,
    /// How they look.
    pub style: Style,
}

/// What a block shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A paragraph, or a heading of level 1 to 6 (0: none), already bold.
    Text {
        /// The level.
        heading: usize,
        /// What it says.
        spans: Vec<Span>,
    },
    /// Preformatted text without its last newline; `language` is empty or a plain word.
    Code {
        /// The language, or empty.
        language: String,
        /// The lines.
        text: String,
    },
    /// A table.
    Table(Table),
    /// A line across.
    Rule,
}

/// One block with the place it stands in.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Which outermost quote this belongs to; 0 is none.
    pub quote: usize,
    /// How many quotes deep, capped for display.
    pub depth: usize,
    /// List indentation and marker of the first line.
    pub lead: String,
    /// Indentation of the following lines.
    pub hang: String,
    /// Whether a blank line separates it from the block before.
    pub gap: bool,
    /// What it shows.
    pub body: Body,
}

/// Reads Markdown into blocks. Empty exactly when nothing visible was written.
pub fn read(markdown: &str, links: Links) -> Vec<Block> {
    let source = guard::tame(&strip_control(markdown));
    let blocks = reader::read(&source, links);
    if !blocks.is_empty() || is_blank(&source) {
        return blocks;
    }
    vec![as_typed(source.trim())]
}

/// Puts ` (address)` behind the words of every link that `chosen` picks: for channels, or addresses, that
/// cannot stand behind words.
pub fn spell_out(spans: &[Span], chosen: impl Fn(&str) -> bool) -> Vec<Span> {
    let mut out = Vec::with_capacity(spans.len());
    let mut spans = spans.iter().peekable();
    while let Some(span) = spans.next() {
        out.push(span.clone());
        let link = span.style.link.as_ref().filter(|link| chosen(link));
        let ends_here = spans.peek().is_none_or(|next| next.style.link != span.style.link);
        if let Some(link) = link.filter(|_| ends_here) {
            out.push(Span { text: format!(" ({link})"), style: Style::default() });
        }
    }
    out
}

/// Whether a reader would see nothing.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{2800}')
}

fn as_typed(text: &str) -> Block {
    let spans = vec![Span { text: text.to_owned(), style: Style::default() }];
    Block {
        quote: 0,
        depth: 0,
        lead: String::new(),
        hang: String::new(),
        gap: true,
        body: Body::Text { heading: 0, spans },
    }
}

#[cfg(test)]
mod tests;
