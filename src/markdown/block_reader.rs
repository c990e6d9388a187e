//! Turns the parser's events into blocks: one pass, counters instead of a tree.
//!
//! Where CommonMark would consume characters of ordinary chat (`2*3*4`, `x*y + z*w`, `__init__`,
//! `~5`, an underscore inside an address, an unused link definition), the delimiters are restored.

use std::collections::HashSet;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd, TextMergeWithOffset};

mod formula;
mod inline;
use inline::{LineBreak, OpenLink};

use super::{Block, Body, LinkDisplay, Span, Table, TextStyle, is_blank, strip_control, verbatim_block};

/// Deeper quotes and lists are displayed at this depth.
const MAX_DEPTH: usize = 5;

pub(super) fn read(source: &str, links: LinkDisplay) -> Vec<Block> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS | Options::ENABLE_MATH;
    let events = Parser::new_ext(source, options).into_offset_iter();
    let mut definitions: Vec<(String, Range<usize>)> = events
        .reference_definitions()
        .iter()
        .map(|(label, found)| (label.to_lowercase(), found.span.clone()))
        .collect();
    definitions.sort_by_key(|(_, span)| span.start);

    let mut events: Vec<(Event<'_>, Range<usize>)> = events.collect();
    let formulas = formula::restore_backslashes(source, &mut events);
    let mut reader = MarkdownParser { source, links, formulas, apart: true, ..MarkdownParser::default() };
    for (event, range) in TextMergeWithOffset::new(events.into_iter()) {
        reader.take(event, &range);
    }
    reader.flush();
    definitions.retain(|(label, _)| !reader.used.contains(label));
    let unused = definitions.into_iter().filter_map(|(_, span)| source.get(span));
    reader.blocks.extend(unused.map(|typed| verbatim_block(strip_control(typed).trim())));
    reader.blocks
}

struct ListItem {
    width: usize,
    /// Taken by the first block of the item.
    marker: Option<String>,
}

#[derive(Default)]
struct MarkdownParser<'s> {
    source: &'s str,
    links: LinkDisplay,
    /// Positions in the source, in order.
    formulas: Vec<Range<usize>>,
    blocks: Vec<Block>,
    quotes: usize,
    outermost: usize,
    lists: Vec<Option<u64>>,
    items: Vec<ListItem>,
    /// The next block is separated from the previous one by a blank line.
    apart: bool,
    heading: usize,
    spans: Vec<Span>,
    /// The line break that the text ends with.
    last_break: Option<LineBreak>,
    bold: usize,
    italic: usize,
    strike: usize,
    /// For each open delimiter, the text restored in its place.
    delimiters: Vec<Option<&'static str>>,
    anchors: Vec<OpenLink>,
    /// Labels of link definitions used by some link.
    used: HashSet<String>,
    code: Option<Code>,
    table: Option<Table>,
}

struct Code {
    language: String,
    text: String,
}

impl MarkdownParser<'_> {
    fn take(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Html(text) | Event::InlineHtml(text) => self.push_html(&text),
            Event::Code(text) => self.push_styled(&text, TextStyle { code: true, ..self.style() }),
            Event::InlineMath(text) => self.push(&format!("${text}$")),
            Event::DisplayMath(text) => self.push(&format!("$${text}$$")),
            Event::FootnoteReference(label) => self.push(&format!("[^{label}]")),
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.flush();
                self.add(Body::Rule);
            }
            Event::TaskListMarker(done) => {
                if let Some(item) = self.items.last_mut() {
                    item.marker = Some(if done { "☑ " } else { "☐ " }.to_owned());
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Emphasis => self.open_delimiter(range, 1),
            Tag::Strong | Tag::Strikethrough => self.open_delimiter(range, 2),
            Tag::Link { link_type, dest_url, id, .. } | Tag::Image { link_type, dest_url, id, .. } => {
                self.open_anchor(link_type, &dest_url, &id);
            }
            Tag::TableCell => self.spans.clear(),
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            other => self.start_block(other),
        }
    }

    fn start_block(&mut self, tag: Tag<'_>) {
        self.flush();
        match tag {
            Tag::Heading { level, .. } => self.heading = level as usize,
            Tag::BlockQuote(_) => {
                self.outermost += usize::from(self.quotes == 0);
                self.quotes += 1;
                self.apart = true;
            }
            Tag::List(first) => {
                self.apart |= self.lists.is_empty();
                self.lists.push(first);
            }
            Tag::Item => self.open_item(),
            Tag::CodeBlock(kind) => self.code = Some(Code { language: language_of(&kind), text: String::new() }),
            Tag::Table(alignments) => self.table = Some(Table { alignments, rows: Vec::new() }),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis => self.close_delimiter(|reader| &mut reader.italic),
            TagEnd::Strong => self.close_delimiter(|reader| &mut reader.bold),
            TagEnd::Strikethrough => self.close_delimiter(|reader| &mut reader.strike),
            TagEnd::Link | TagEnd::Image => self.close_anchor(),
            TagEnd::TableCell => self.close_cell(),
            TagEnd::TableHead | TagEnd::TableRow => {}
            other => self.end_block(other),
        }
    }

    fn end_block(&mut self, tag: TagEnd) {
        self.flush();
        match tag {
            TagEnd::BlockQuote(_) => {
                self.quotes -= 1;
                self.apart = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.apart |= self.lists.is_empty();
            }
            TagEnd::Item => {
                if self.items.last().is_some_and(|item| item.marker.is_some()) {
                    self.add(Body::Text { heading: 0, spans: Vec::new() });
                }
                self.items.pop();
            }
            TagEnd::Heading(_) => self.heading = 0,
            _ => {}
        }
    }

    fn open_item(&mut self) {
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number += 1;
                marker
            }
            _ => "• ".to_owned(),
        };
        let width = if self.items.len() < MAX_DEPTH { marker.chars().count() } else { 0 };
        self.items.push(ListItem { width, marker: Some(marker) });
    }

    /// Finishes the current block, if any.
    fn flush(&mut self) {
        if let Some(code) = self.code.take() {
            let text = strip_control(&code.text);
            let text = text.strip_suffix('\n').unwrap_or(&text);
            if !is_blank(text) {
                self.add(Body::Code { language: code.language, text: text.to_owned() });
            }
        }
        if let Some(table) = self.table.take() {
            self.spans.clear();
            if table.rows.iter().flatten().any(|cell| !is_blank(cell)) {
                self.add(Body::Table(table));
            }
        }
        self.last_break = None;
        let mut spans = std::mem::take(&mut self.spans);
        while let Some(last) = spans.last_mut() {
            last.text.truncate(last.text.trim_end_matches('\n').len());
            if !last.text.is_empty() {
                break;
            }
            spans.pop();
        }
        if spans.iter().any(|span| !is_blank(&span.text)) {
            self.add(Body::Text { heading: self.heading, spans });
        }
    }

    fn add(&mut self, body: Body) {
        let (mut lead, mut hang, mut begins_item) = (String::new(), String::new(), false);
        for item in &mut self.items {
            match item.marker.take() {
                Some(marker) => {
                    begins_item = true;
                    lead.push_str(&marker);
                }
                None => lead.extend(std::iter::repeat_n(' ', item.width)),
            }
            hang.extend(std::iter::repeat_n(' ', item.width));
        }
        let gap = std::mem::take(&mut self.apart) || !begins_item;
        let quote = if self.quotes > 0 { self.outermost } else { 0 };
        self.blocks.push(Block { quote, depth: self.quotes.min(MAX_DEPTH), lead, hang, gap, body });
    }

    fn text(&mut self, text: &str) {
        match &mut self.code {
            Some(code) => code.text.push_str(text),
            None => self.push(text),
        }
    }

    fn close_cell(&mut self) {
        self.last_break = None;
        let cell: String = self.spans.drain(..).map(|span| span.text).collect();
        if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
            row.push(cell.replace('\n', " ").trim().to_owned());
        }
    }
}

/// First word of a fence's info string, if it can be a class name.
fn language_of(kind: &CodeBlockKind<'_>) -> String {
    let CodeBlockKind::Fenced(info) = kind else {
        return String::new();
    };
    let word = info.split([' ', '\t', ',', '{', ':']).next().unwrap_or_default();
    let sound =
        word.len() <= 32 && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#' | '_' | '.'));
    if sound { word.to_owned() } else { String::new() }
}
