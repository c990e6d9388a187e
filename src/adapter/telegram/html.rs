//! Rendering of the assistant's Markdown as Telegram HTML, with each part also as plain text in
//! case Telegram rejects the markup.
//!
//! Telegram rejects a whole message for one wrong character, so the markup is small and strict: the
//! tags of [`Tag`] in one fixed order of nesting, never empty, every text escaped, every tag closed
//! in its part. Blocks become one [`Flow`], which is split before any tag is written. Lengths are
//! UTF-16 units, as Telegram counts.

use std::rc::Rc;

use crate::markdown::flow::{self, Flow, Fragment, utf16_len};
use crate::markdown::{self, Block, Body, LinkDisplay, Span};

/// Longest message, in UTF-16 units of visible text. We apply the limit to the markup as well.
pub const LIMIT: usize = 4096;
/// Smallest usable limit: it leaves space for one character in its tags.
pub const SMALLEST_LIMIT: usize = 128;

/// One message: `html` to send, `plain` if Telegram cannot parse it. Neither is blank or over the
/// limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HtmlPart {
    /// Telegram HTML.
    pub html: String,
    /// The same without markup.
    pub plain: String,
}

/// Renders Markdown into messages of at most `limit` UTF-16 units (at least [`SMALLEST_LIMIT`]);
/// none if nothing is visible.
pub fn render(markdown: &str, links: LinkDisplay, limit: usize) -> Vec<HtmlPart> {
    let limit = limit.max(SMALLEST_LIMIT);
    let mut flow = Flow::default();
    let mut quote = 0;
    for block in markdown::read(markdown, links) {
        if !flow.is_empty() {
            let shared = if block.quote == quote { quote } else { 0 };
            flow.push(if block.gap { "\n\n" } else { "\n" }, TagSet::in_quote(shared));
        }
        quote = block.quote;
        push_block(&mut flow, block, limit);
    }
    flow.split(limit).iter().map(|part| write_part(part)).collect()
}

fn push_block(flow: &mut Flow<TagSet>, block: Block, limit: usize) {
    let base = TagSet::in_quote(block.quote);
    // The outermost quote is a tag; Telegram does not nest them.
    let bars = "│ ".repeat(block.depth.saturating_sub(1));
    let lead = format!("{bars}{}", block.lead);
    match block.body {
        Body::Text { spans, .. } => {
            flow.push(&lead, base.clone());
            push_spans(flow, &spans, &format!("\n{bars}{}", block.hang), &base, limit);
        }
        Body::Rule => flow.push(&format!("{lead}———"), base),
        Body::Code { language, text } => push_preformatted(flow, &lead, &text, language.into(), base),
        Body::Table(table) => push_preformatted(flow, &lead, &table.lines().join("\n"), "".into(), base),
    }
}

fn push_spans(flow: &mut Flow<TagSet>, spans: &[Span], line_break: &str, base: &TagSet, limit: usize) {
    // A long address would leave no space for its text.
    let too_long = |link: &str| escaped_units(link) > limit / 4;
    for span in markdown::spell_out(&markdown::names_as_code(spans), too_long) {
        let style = &span.style;
        let link = style.link.as_deref().filter(|link| !too_long(link));
        // Telegram nests code in nothing but quotes.
        let code = style.code && link.is_none();
        let style = TagSet {
            quote: base.quote,
            pre: None,
            link: link.map(|link| escaped(link).into()),
            bold: style.bold && !code,
            italic: style.italic && !code,
            strike: style.strike && !code,
            code,
        };
        flow.push(&span.text.replace('\n', line_break), style);
    }
}

fn push_preformatted(flow: &mut Flow<TagSet>, lead: &str, text: &str, language: Rc<str>, base: TagSet) {
    if !markdown::is_blank(lead) {
        flow.push(lead.trim_end(), base.clone());
        flow.push("\n", base.clone());
    }
    flow.push(text, TagSet { pre: Some(language), ..base });
}

/// Writes a part with its tags.
fn write_part(part: &[Fragment<'_, TagSet>]) -> HtmlPart {
    let plain = flow::plain(part);
    let bare = TagSet::default();
    let mut style = &bare;
    let mut html = String::with_capacity(plain.len() + 64);
    for fragment in part {
        style.write_change(fragment.style, &mut html);
        write_escaped(fragment.text, &mut html);
        style = fragment.style;
    }
    style.write_change(&bare, &mut html);
    HtmlPart { html, plain }
}

/// Styles that surround a run of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct TagSet {
    /// Number of the quote; 0 for none.
    quote: usize,
    /// Language of preformatted text, or an empty string.
    pre: Option<Rc<str>>,
    /// Escaped for an attribute.
    link: Option<Rc<str>>,
    bold: bool,
    italic: bool,
    strike: bool,
    code: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Tag<'a> {
    Quote(usize),
    Pre(&'a str),
    Link(&'a str),
    Bold,
    Italic,
    Strike,
    Code,
}

impl TagSet {
    fn in_quote(quote: usize) -> Self {
        Self { quote, ..Self::default() }
    }

    /// Tags around the text, outermost first. This order is the only nesting in use.
    fn tags(&self) -> impl DoubleEndedIterator<Item = Tag<'_>> {
        [
            (self.quote > 0).then_some(Tag::Quote(self.quote)),
            self.pre.as_deref().map(Tag::Pre),
            self.link.as_deref().map(Tag::Link),
            self.bold.then_some(Tag::Bold),
            self.italic.then_some(Tag::Italic),
            self.strike.then_some(Tag::Strike),
            self.code.then_some(Tag::Code),
        ]
        .into_iter()
        .flatten()
    }

    fn shared_with(&self, next: &Self) -> usize {
        self.tags().zip(next.tags()).take_while(|(mine, theirs)| mine == theirs).count()
    }

    /// Closing and opening tags between two styles, in order.
    fn transition<'a>(&'a self, next: &'a Self) -> impl Iterator<Item = &'a str> {
        let shared = self.shared_with(next);
        let open = self.tags().count() - shared;
        let closing = self.tags().rev().take(open).map(|tag| tag.close());
        closing.chain(next.tags().skip(shared).flat_map(|tag| tag.opening()))
    }

    fn write_change(&self, next: &Self, out: &mut String) {
        out.extend(self.transition(next));
    }
}

impl flow::Markup for TagSet {
    fn text_len(text: &str) -> usize {
        escaped_units(text)
    }

    fn transition_len(&self, next: &Self) -> usize {
        self.transition(next).map(utf16_len).sum()
    }

    fn closing_len(&self) -> usize {
        self.tags().map(|tag| utf16_len(tag.close())).sum()
    }

    fn is_preformatted(&self) -> bool {
        self.pre.is_some()
    }
}

impl<'a> Tag<'a> {
    fn opening(&self) -> [&'a str; 3] {
        match self {
            Tag::Quote(_) => ["<blockquote>", "", ""],
            Tag::Pre("") => ["<pre>", "", ""],
            Tag::Pre(language) => ["<pre><code class=\"language-", language, "\">"],
            Tag::Link(address) => ["<a href=\"", address, "\">"],
            Tag::Bold => ["<b>", "", ""],
            Tag::Italic => ["<i>", "", ""],
            Tag::Strike => ["<s>", "", ""],
            Tag::Code => ["<code>", "", ""],
        }
    }

    fn close(&self) -> &'static str {
        match self {
            Tag::Quote(_) => "</blockquote>",
            Tag::Pre("") => "</pre>",
            Tag::Pre(_) => "</code></pre>",
            Tag::Link(_) => "</a>",
            Tag::Bold => "</b>",
            Tag::Italic => "</i>",
            Tag::Strike => "</s>",
            Tag::Code => "</code>",
        }
    }
}

fn escaped_units(text: &str) -> usize {
    text.chars().map(|c| entity(c).map_or(c.len_utf16(), str::len)).sum()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write_escaped(text, &mut out);
    out
}

fn write_escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match entity(c) {
            Some(entity) => out.push_str(entity),
            None => out.push(c),
        }
    }
}

fn entity(c: char) -> Option<&'static str> {
    match c {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
