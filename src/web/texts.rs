//! Labelled texts as markup: the only file of the page that opens them.
//!
//! What a person typed stands as it is. What others wrote, and what grew from it, stands in a box that
//! names its sources, so it cannot pass for the page's own words. An answer of the assistant stands
//! under its name instead, with a line that names what it was written after.

use maud::{Markup, html};

use super::html as render;
use crate::admin::{FileLine, ToolCallItem};
use crate::markdown;
use crate::memory::memory_md::{self, Fact};
use crate::memory::section::{self, MarkdownSection};
use crate::memory::{note, without_comments};
use crate::review::diff;
use crate::review::reveal::reveal;
use crate::search::snippet::Snippet;
use crate::store::{SummaryContent, TextKind};
use crate::text::{cut_bytes, one_line, shorten};
use crate::trust::{Label, Labelled, Text};
use crate::wording::Language;
use crate::wording::page as says;
use crate::wording::why::all_in_words;

/// Maximum number of characters of an excerpt.
const MAX_EXCERPT: usize = 200;
/// Maximum number of characters shown of a file's text.
const MAX_FILE: usize = 20_000;
/// Maximum number of lines of a part of a file, how many of them stand above the one that is asked
/// for, and maximum sizes of a line and of all of them, in bytes.
const MAX_LINES: usize = 200;
const LINES_ABOVE: usize = 10;
const MAX_LINE: usize = 2_000;
const MAX_PART: usize = 40_000;
/// Maximum size of indented JSON, in bytes: deep nesting indents most.
const MAX_INDENTED: usize = 500_000;
/// Maximum number of words of a place in a text.
const MAX_PLACE: usize = 12;
/// Maximum number of characters of an entry in a list.
const MAX_ENTRY: usize = 160;

/// Renders a text of a message.
pub fn message_text(kind: TextKind, text: &Text) -> Markup {
    let (words, label, _) = text.open();
    let name = match kind {
        TextKind::Said | TextKind::Agreed => "",
        TextKind::Quote => "In answer to",
        TextKind::Transcript => "Spoken",
        TextKind::File => "From the file",
        TextKind::Edit => "Edited later to",
        TextKind::Carried => "Pasted or passed on",
        TextKind::ForwardedFrom => "Forwarded from",
    };
    let shown = if kind == TextKind::File { shorten(words, MAX_FILE) } else { words.to_string() };
    boxed(
        label,
        html! {
            @if !name.is_empty() { p.note { (name) ":" } }
            @if shown.is_empty() { p.note { "Forgotten." } } @else { (render::markdown(&shown, label)) }
        },
    )
}

/// Renders words of the assistant or the program, with a line below that names what they were
/// written after.
pub fn answer(text: &Text) -> Markup {
    let (words, label, _) = text.open();
    let read = all_in_words(Language::ENGLISH, label);
    html! {
        @if words.is_empty() { p.note { "Forgotten." } } @else { (render::markdown(words, label)) }
        @if !read.is_empty() { p.note { "Written after reading: " bdi { (read) } } }
    }
}

/// Form in which the text of a file is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileView {
    /// As it is.
    Text,
    /// Markdown, formatted.
    Markdown,
    /// JSON, indented.
    Json,
    /// Values separated by commas or semicolons, as a table.
    Table,
}

impl FileView {
    /// Returns the form of files with that extension.
    pub fn of(extension: &str) -> Self {
        match extension {
            "md" | "markdown" => Self::Markdown,
            "json" => Self::Json,
            "csv" => Self::Table,
            _ => Self::Text,
        }
    }
}

/// Renders the text of a file; as it is if it does not have that form.
pub fn file(text: &Text, view: FileView) -> Markup {
    let (words, label, _) = text.open();
    let as_it_is = || html! { pre tabindex="0" { code { (reveal(words)) } } };
    let markup = match view {
        FileView::Text => as_it_is(),
        FileView::Markdown => render::markdown(words, label),
        FileView::Json => {
            let value = serde_json::from_str::<serde_json::Value>(words).ok();
            let indented = value.map(|value| format!("{value:#}")).filter(|text| text.len() <= MAX_INDENTED);
            indented.map_or_else(as_it_is, |text| html! { pre tabindex="0" { code { (reveal(&text)) } } })
        }
        FileView::Table => rows(words).map_or_else(as_it_is, |rows| {
            html! { div.scroll tabindex="0" { table {
                @for (at, row) in rows.iter().enumerate() { tr { @for cell in row {
                    @if at == 0 { th scope="col" { (reveal(cell)) } } @else { td { (reveal(cell)) } }
                } } }
            } } }
        }),
    };
    boxed(label, markup)
}

/// Renders the numbered lines of a file around one of them, with links to those above and below.
/// `file` is the address of the file.
pub fn lines_at(text: &Text, line: usize, file: &str) -> Markup {
    let (words, label, _) = text.open();
    let all: Vec<&str> = words.lines().collect();
    let first = line.min(all.len()).saturating_sub(LINES_ABOVE).max(1);
    let mut size = 0;
    let is_within = |(_, line): &(usize, &str)| {
        size += line.len().min(MAX_LINE);
        size <= MAX_PART
    };
    let part = (first..).zip(all.iter().copied().skip(first - 1).take(MAX_LINES));
    let lines: Vec<(usize, &str)> = part.take_while(is_within).collect();
    let is_cut = |line: &str| line.len() > MAX_LINE;
    let last = lines.last().map_or(0, |(number, _)| *number);
    let markup = html! {
        @if first > 1 { p { a.button rel="prev" href={ (file) "?line=" (first.saturating_sub(MAX_LINES - LINES_ABOVE).max(1)) } { "Lines above" } } }
        ol.lines { @for (number, line) in &lines {
            li id={ "line-" (number) } value=(number) { bdi { (reveal(cut_bytes(line, MAX_LINE))) @if is_cut(line) { "\u{2026}" } } }
        } }
        @if lines.iter().any(|(_, line)| is_cut(line)) { p.note { (says::CUT_LINES) } }
        @if last < all.len() { p { a.button rel="next" href={ (file) "?line=" (last + 1) } { "Lines below" } } }
    };
    boxed(label, markup)
}

/// Renders the lines in which two texts differ; nothing if they are the same.
pub fn change(old: &Text, new: &Text) -> Option<Markup> {
    let ((before, before_label, _), (after, after_label, _)) = (old.open(), new.open());
    let lines = diff::of_texts(before, after);
    let markup = || boxed(before_label, boxed(after_label, render::markdown(&diff::fenced_diff(&lines), after_label)));
    (!lines.is_empty()).then(markup)
}

/// Reads a table; `None` if it is none.
fn rows(words: &str) -> Option<Vec<Vec<String>>> {
    let first = words.lines().next().unwrap_or_default();
    let count = |separator: char| first.matches(separator).count();
    let separator = if count(';') > count(',') { b';' } else { b',' };
    let mut reader =
        csv::ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(words.as_bytes());
    let rows = reader.records().map(|row| Some(row.ok()?.iter().map(str::to_owned).collect()));
    rows.collect()
}

/// Renders one line of a text, such as a title.
pub fn line(text: &Text) -> Markup {
    let (words, ..) = text.open();
    html! { @if words.trim().is_empty() { "Without a title" } @else { bdi { (words) } } }
}

/// Renders a name that someone chose, in a box if it comes from outside; nothing of an empty one.
pub fn name(text: &Text) -> Markup {
    let (words, label, _) = text.open();
    html! { @if !words.is_empty() { (boxed(label, html! { p { bdi { (shorten(&one_line(&reveal(words)), MAX_EXCERPT)) } } })) } }
}

/// Renders the beginning of a message, in a box if it grew from outside.
pub fn excerpt(text: &Text) -> Markup {
    boxed(text.label(), html! { p { (short_line(text)) } })
}

/// Renders the beginning of a message on one line.
pub fn short_line(text: &Text) -> Markup {
    let (words, ..) = text.open();
    html! { bdi { (shorten(&one_line(&reveal(&markdown::words(words))), MAX_EXCERPT)) } }
}

/// Renders a summary, list by list.
pub fn summary(summary: &Labelled<SummaryContent>) -> Markup {
    let (content, label, _) = summary.open();
    let lists = [
        ("Topics", &content.topics),
        ("Decisions", &content.decisions),
        ("Preferences", &content.preferences),
        ("Still open", &content.pending),
    ];
    boxed(
        label,
        html! { @for (name, lines) in lists { @if !lines.is_empty() {
            p.note { (name) }
            ul { @for line in lines { li { bdi { (reveal(line)) } } } }
        } } },
    )
}

/// Renders a call of a tool: its name, what it was asked, and the beginning of what it gave.
pub fn tool_call(call: &ToolCallItem) -> Markup {
    let (arguments, label, _) = call.arguments.open();
    html! {
        p { strong { bdi { (shorten(&one_line(&reveal(&call.tool)), MAX_ENTRY)) } } @if !call.is_made { " · not made" } }
        @if !arguments.is_empty() { (boxed(label, html! { p { code { (shorten(&reveal(arguments), MAX_EXCERPT)) } } })) }
        @if !call.result.open().0.is_empty() { (excerpt(&call.result)) }
    }
}

/// Renders the passage of a hit, with the search words marked.
pub fn passage(passage: &Labelled<Snippet>) -> Markup {
    let (snippet, label, _) = passage.open();
    boxed(label, html! { p { (marked(snippet)) } })
}

/// Renders the numbered lines around a hit, with the search words marked.
pub fn lines_around(lines: &Labelled<Vec<FileLine>>) -> Markup {
    let (lines, label, _) = lines.open();
    boxed(
        label,
        html! { ol.lines { @for line in lines.iter().filter(|line| line.is_hit || !line.words.pieces().is_empty()) {
            li value=(line.number) aria-current=[line.is_hit.then_some("true")] { (marked(&line.words)) }
        } } },
    )
}

fn marked(snippet: &Snippet) -> Markup {
    html! { bdi { @for piece in snippet.pieces() {
        @if piece.is_match { mark { (reveal(&piece.text)) } } @else { (reveal(&piece.text)) }
    } } }
}

/// Returns the end of an address by which a browser finds the first marked words of a passage on
/// the page that it opens, and marks them.
pub fn place_of(passage: &Labelled<Snippet>) -> String {
    place_in(passage.open().0)
}

/// Returns the same for the line of a hit.
pub fn place_of_line(lines: &Labelled<Vec<FileLine>>) -> String {
    let hit = lines.open().0.iter().find(|line| line.is_hit);
    hit.map(|line| place_in(&line.words)).unwrap_or_default()
}

fn place_in(snippet: &Snippet) -> String {
    let pieces = snippet.pieces().iter().skip_while(|piece| !piece.is_match).take(MAX_PLACE);
    let words: String =
        pieces.take_while(|piece| piece.is_match || piece.text == " ").map(|piece| piece.text.as_str()).collect();
    if words.is_empty() { String::new() } else { format!("#:~:text={}", render::encoded(words.trim())) }
}

/// Renders the note at an address: trusted text with its sections, each with a link that edits it,
/// any other as it is, with nothing hidden.
pub fn whole_note(text: &Text, here: &str) -> Markup {
    let (words, label, _) = text.open();
    if !label.is_trusted() {
        return verbatim(text);
    }
    let body = note::read(words).body;
    let body = without_comments(&body);
    let parts = section::sections(&body);
    let headings = || parts.iter().enumerate().filter(|(_, part)| part.level > 0);
    // The text is edited with its front matter and comments, which have no headings of their own.
    let whole = section::whole(words).len();
    let is_same = section::sections(words).iter().filter(|part| part.level > 0).count() == headings().count();
    let number = |at: usize| {
        let earlier = headings().filter(|(other, _)| *other < at).count();
        Some(whole + earlier - headings().count()).filter(|_| is_same && fits_a_field(text))
    };
    html! {
        @if headings().count() > 2 { nav aria-label="Sections" { ul.sections { @for (at, part) in headings() {
            li { a href={ "#section-" (at) } { (reveal(part.name)) } }
        } } } }
        @for (at, part) in parts.iter().enumerate() {
            @if part.level > 0 { h3 id={ "section-" (at) } { a.anchor href={ "#section-" (at) } { (reveal(part.name)) } } }
            (render::markdown(&reveal(part.own), label))
            @if let Some(number) = number(at).filter(|_| part.level > 0) {
                p.facts { a href={ (here) "?edit=1&section=" (number) } aria-label={ "Edit the section " (reveal(part.name)) } { "Edit" } }
            }
        }
    }
}

/// Renders a text as it is, with nothing hidden.
pub fn verbatim(text: &Text) -> Markup {
    let (words, label, _) = text.open();
    boxed(label, render::verbatim(words))
}

/// Renders what came to mind for a turn: its entries without the words around them for the model.
pub fn recalled(text: &Text) -> Option<Markup> {
    let (words, label, _) = text.open();
    let entries: Vec<&str> = words.lines().filter(|line| line.starts_with("- ")).collect();
    (!entries.is_empty()).then(|| boxed(label, render::markdown(&reveal(&entries.join("\n")), label)))
}

/// Renders what a person wrote into `MEMORY.md` besides the facts and the index.
pub fn own_words(text: &Text) -> Option<Markup> {
    let (words, label, _) = text.open();
    let words = without_comments(words);
    let is_own = |part: &MarkdownSection<'_>| ![memory_md::RECENT, section::INDEX].contains(&part.name);
    let parts = section::sections(&words).into_iter().filter(is_own).filter(|part| !part.own.trim().is_empty());
    let parts: Vec<MarkdownSection<'_>> = parts.collect();
    (!parts.is_empty()).then(|| {
        let markup = html! { @for part in &parts {
            @if part.level > 0 { h3 { (reveal(part.name)) } }
            (render::markdown(&reveal(part.own), label))
        } };
        boxed(label, markup)
    })
}

/// Renders the facts of a file by key.
pub fn facts(text: &Text) -> Option<Markup> {
    let (words, label, _) = text.open();
    let facts: Vec<Fact> = words.lines().filter_map(memory_md::parse_fact).collect();
    (!facts.is_empty()).then(|| {
        let table = html! { div.scroll tabindex="0" { table {
            tr { th scope="col" { "Key" } th scope="col" { "Value" } th scope="col" { "Since" } }
            @for fact in &facts { tr {
                td { bdi { (reveal(&fact.key)) } } td { bdi { (reveal(&fact.value)) } } td { (fact.day) }
            } }
        } } };
        boxed(label, table)
    })
}

/// Renders an entry of the search index in one short line.
pub fn entry(name: &Text, text: &Text) -> Markup {
    let name = name.open().0;
    let words = shorten(&one_line(&reveal(text.open().0)), MAX_ENTRY);
    boxed(text.label(), html! { @if !name.is_empty() { strong { bdi { (reveal(name)) } } " " } bdi { (words) } })
}

/// Returns true if a field of a browser gives a text back as it is.
pub fn fits_a_field(text: &Text) -> bool {
    !text.open().0.chars().any(|c| c.is_control() && !matches!(c, '\r' | '\n' | '\t'))
}

/// Renders a field with a text. A browser drops one line feed at its beginning.
pub fn field(name: &str, text: &Text) -> Markup {
    typed_field(name, text.open().0)
}

/// Renders a field with what was typed into it.
pub fn typed_field(name: &str, typed: &str) -> Markup {
    let typed = typed.replace("\r\n", "\n").replace('\r', "\n");
    html! { textarea name=(name) rows="24" spellcheck="true" { "\n" (typed) } }
}

/// Renders the difference between a text and one that was typed, and the text itself.
pub fn difference(present: &Text, typed: &str) -> (Markup, Markup) {
    let (words, label, _) = present.open();
    let typed = typed.replace("\r\n", "\n");
    (boxed(label, render::diff(&diff::of_texts(words, &typed))), boxed(label, render::verbatim(words)))
}

/// Puts markup that grew from outside into a box that names its sources.
pub fn boxed(label: &Label, markup: Markup) -> Markup {
    if label.is_trusted() {
        return markup;
    }
    html! { div.outside { (sources(label)) (markup) } }
}

/// Names the sources of a label, if it has any.
pub fn sources(label: &Label) -> Markup {
    let names = all_in_words(Language::ENGLISH, label);
    html! { @if !names.is_empty() { p.sources { "From outside: " bdi { (names) } } } }
}
