//! Rendering of the assistant's Markdown for a terminal: wrapped by display columns, styled by SGR
//! sequences only, and only if colour is enabled.
//!
//! The text was cleaned before, so every escape in the result is ours; each line ends with the
//! style reset. Addresses are always spelled out after their text; there are no hyperlink
//! sequences. Code and tables are not wrapped, so that they can be copied.

mod wrap;

use crate::adapter::markdown::{self, Block, Body, LinkDisplay, Span};

use wrap::Wrapper;

/// Capabilities of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalStyle {
    /// True to use colours and weights.
    pub color: bool,
    /// Width in columns.
    pub width: usize,
}

const CODE_INDENT: &str = "    ";
const BAR: &str = "│ ";
const RULE_WIDTH: usize = 24;

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
            let marks = if style.color || *heading == 0 { String::new() } else { "#".repeat(*heading) + " " };
            let mut wrapper = Wrapper::new(lead + &marks, hang, *style);
            for span in markdown::spell_out(spans, |_| true) {
                wrapper.push(&with_marks(span, *style));
            }
            wrapper.finish()
        }
        Body::Code { text, .. } => verbatim(block, &lead, &hang, text.split('\n')),
        Body::Table(table) => {
            let lines = table.lines();
            verbatim(block, &lead, &hang, lines.iter().map(String::as_str))
        }
        Body::Rule => vec![lead + &"─".repeat(RULE_WIDTH.min(style.width.max(1)))],
    }
}

/// Without colour, code keeps its backticks.
fn with_marks(span: Span, style: TerminalStyle) -> Span {
    if !span.style.code || style.color {
        return span;
    }
    let fence = "`".repeat(1 + usize::from(span.text.contains('`')));
    Span { text: format!("{fence}{}{fence}", span.text), ..span }
}

fn verbatim<'t>(block: &Block, lead: &str, hang: &str, lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let indent = if matches!(block.body, Body::Code { .. }) { CODE_INDENT } else { "" };
    let marker = Some(lead.trim_end().to_owned()).filter(|_| !markdown::is_blank(&block.lead));
    marker.into_iter().chain(lines.map(|line| format!("{hang}{indent}{line}").trim_end().to_owned())).collect()
}

#[cfg(test)]
mod tests;
