//! Rendering of the assistant's Markdown for Signal: plain text plus style ranges.
//!
//! Signal has four styles that we use and no links, headings, lists or tables; other markup is
//! spelled out as in the terminal: bars before a quote, the full address after its text. A part is
//! measured in bytes, since the daemon turns a longer body into a file; its ranges are counted in
//! UTF-16 units of the finished part, so that splitting cannot shift them. A range without its text
//! would style other words, so both are stored as one ([`StyledText`]). There are no buttons: the
//! texts name the commands.

mod styles;

use crate::adapter::markdown::flow::{Flow, plain};
use crate::adapter::markdown::{self, Block, Body, LinkDisplay, Span};
use crate::adapter::{OutgoingPart, PartFormat};
use crate::message::Outbound;

pub(super) use styles::StyledText;

use styles::{StyleSet, utf16_len};

/// Longest body that the daemon sends as it is, in bytes.
const LIMIT: usize = 2000;
/// Space reserved in each part for a prefix such as the repeat notice.
const MARK_ROOM: usize = 40;
/// Prefix of each line of a quote.
const BAR: &str = "│ ";

/// Renders a message into parts; none if nothing is visible.
pub(super) fn render(outbound: &Outbound) -> Vec<OutgoingPart> {
    let (markdown, _, _) = outbound.text.open();
    let parts = styled(markdown, LIMIT - MARK_ROOM).into_iter();
    parts.map(|part| OutgoingPart { rich: part.encode(), plain: part.text, ..OutgoingPart::default() }).collect()
}

/// Prefixes a part with a short notice.
pub(super) fn with_prefix(piece: &OutgoingPart, words: &str) -> OutgoingPart {
    let mut styled = StyledText::of(piece, PartFormat::Rich);
    let mark = format!("{words} ");
    let by = utf16_len(&mark);
    styled.text.insert_str(0, &mark);
    for range in &mut styled.styles {
        range.start += by;
    }
    OutgoingPart { rich: styled.encode(), plain: format!("{mark}{}", piece.plain), ..piece.clone() }
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
    flow.split(limit).iter().map(|part| StyledText { text: plain(part), styles: styles::ranges(part) }).collect()
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

#[cfg(test)]
mod tests;
