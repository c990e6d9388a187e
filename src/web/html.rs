//! Markdown and other text as markup.
//!
//! Text becomes markup here and nowhere else. The assistant's Markdown passes the reader that all
//! channels share, whose blocks hold no markup, no control characters and no lying address. An
//! address from a text that someone else wrote stays spelled out, and any other leads through
//! `/away`, which shows where it goes.

use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::markdown::{self, Block, Body, LinkDisplay, Span};
use crate::review::reveal::reveal;
use crate::time::{Timestamp, Zone};
use crate::trust::Label;
use crate::wording::Language;

/// Renders Markdown. Addresses stand behind their text only where the text may leave unasked, as on
/// every channel.
pub fn markdown(text: &str, label: &Label) -> Markup {
    let links = if label.asks_before_leaving() { LinkDisplay::SpelledOut } else { LinkDisplay::Embedded };
    let blocks = markdown::read(text, links);
    html! { div.text { @for block in &blocks { (block_markup(block)) } } }
}

fn block_markup(block: &Block) -> Markup {
    let depth = block.depth.min(4).to_string();
    let lead = block.lead.trim();
    // Headings of a message stand below those of the page.
    match &block.body {
        Body::Text { heading: 0, spans } if lead.is_empty() => html! { p data-quote=(depth) { (spans_markup(spans)) } },
        Body::Text { heading: 0, spans } => {
            let indent = (block.lead.len() - block.lead.trim_start().len()).div_ceil(2).min(6).to_string();
            html! { p.item data-quote=(depth) data-indent=(indent) { span.marker { (lead) " " } (spans_markup(spans)) } }
        }
        Body::Text { spans, .. } => html! { p.heading data-quote=(depth) { (spans_markup(spans)) } },
        Body::Code { language, text } => {
            html! { pre tabindex="0" data-quote=(depth) data-language=[Some(language).filter(|l| !l.is_empty())] { code { (text) } } }
        }
        Body::Table(table) => html! { div.scroll tabindex="0" { (table_markup(table)) } },
        Body::Rule => html! { hr; },
    }
}

fn table_markup(table: &markdown::Table) -> Markup {
    html! { table {
        @for (at, row) in table.rows().iter().enumerate() {
            tr { @for cell in row { @if at == 0 { th scope="col" { (cell) } } @else { td { (cell) } } } }
        }
    } }
}

fn spans_markup(spans: &[Span]) -> Markup {
    html! { @for span in spans { (span_markup(span)) } }
}

fn span_markup(span: &Span) -> Markup {
    let style = &span.style;
    let mut markup = html! { @for (at, line) in span.text.split('\n').enumerate() { @if at > 0 { br; } (line) } };
    if style.code {
        markup = html! { code { (markup) } };
    }
    if style.strike {
        markup = html! { s { (markup) } };
    }
    if style.italic {
        markup = html! { em { (markup) } };
    }
    if style.bold {
        markup = html! { strong { (markup) } };
    }
    if let Some(link) = &style.link {
        markup = html! { a href=(away(link)) rel="noreferrer" { (markup) } };
    }
    markup
}

/// Returns the address of the page that shows where a link leads.
fn away(link: &str) -> String {
    format!("/away?to={}", encoded(link))
}

/// Characters of a text that an address does not show as they are.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');

/// Returns a text as a part of an address.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// Returns the address of what has that path, below a route.
pub fn path(route: &str, path: &str) -> String {
    let parts = path.split('/').filter(|part| !part.is_empty()).map(encoded);
    parts.fold(route.to_owned(), |address, part| format!("{address}/{part}"))
}

/// Renders a text as it is, with hidden characters revealed.
pub fn verbatim(text: &str) -> Markup {
    html! { pre.whole { code { (reveal(text)) } } }
}

/// Renders a change whose hidden characters are revealed already. The sign of each line stays, so
/// that colour says nothing alone.
pub fn diff(changes: &str) -> Markup {
    html! { pre.diff { @for line in changes.split_inclusive('\n') {
        span data-line=[diff_line(line)] { (line) }
    } } }
}

fn diff_line(line: &str) -> Option<&'static str> {
    match line.chars().next() {
        Some('+') => Some("added"),
        Some('-') => Some("removed"),
        Some('@' | '=') => Some("place"),
        _ => None,
    }
}

/// Renders a form that compares two versions, newest first.
pub fn comparison(numbers: &[i64], here: &str) -> Markup {
    let choice = |name: &str, chosen: Option<&i64>| {
        html! { select name=(name) { @for number in numbers {
            option value=(number) selected[Some(number) == chosen] { "Version " (number) }
        } } }
    };
    html! {
        form action=(here) {
            label { "From" (choice("from", numbers.get(1))) }
            label { "To" (choice("to", numbers.first())) }
            button type="submit" { "Compare" }
        }
    }
}

/// Renders a time, with the exact one as its title.
pub fn time(at: Timestamp, zone: Zone, now: Timestamp) -> Markup {
    html! { time datetime=(at.rfc3339()) title=(zone.show_long(at)) { (Language::ENGLISH.near(zone, at, now)) } }
}
