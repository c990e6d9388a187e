//! Rendering of the assistant's Markdown as Telegram HTML, with each part also as plain text in
//! case Telegram rejects the markup.
//!
//! Telegram rejects a whole message for one wrong character, so the markup is small and strict: the
//! tags of [`tags::Tag`] in one fixed order of nesting, never empty, every text escaped, every tag
//! closed in its part. Blocks become one [`Flow`], which is split before any tag is written.

mod tags;

use std::rc::Rc;

use crate::adapter::markdown::flow::{self, Flow, Fragment};
use crate::adapter::markdown::{self, Block, Body, LinkDisplay, Span};

use tags::{TagSet, escaped, escaped_units, write_escaped};

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
    for span in markdown::spell_out(spans, too_long) {
        let style = &span.style;
        let link = style.link.as_deref().filter(|link| !too_long(link));
        // Telegram nests code in nothing but quotes.
        let code = style.code && link.is_none();
        let look = TagSet {
            quote: base.quote,
            pre: None,
            link: link.map(|link| escaped(link).into()),
            bold: style.bold && !code,
            italic: style.italic && !code,
            strike: style.strike && !code,
            code,
        };
        flow.push(&span.text.replace('\n', line_break), look);
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
    let mut look = &bare;
    let mut html = String::with_capacity(plain.len() + 64);
    for stretch in part {
        look.write_change(stretch.style, &mut html);
        write_escaped(stretch.text, &mut html);
        look = stretch.style;
    }
    look.write_change(&bare, &mut html);
    HtmlPart { html, plain }
}

#[cfg(test)]
mod tests;
