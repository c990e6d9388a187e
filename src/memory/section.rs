//! Sections of a Markdown file: found by heading, changed without touching any other byte.
//!
//! A heading is a line that begins with `#`, outside of code fences, comments, lists, quotations
//! and front matter. A section extends to the next heading of the same or a higher level, so it
//! includes its subsections. Additions go after the last text of a section, before the blank lines
//! that separate it from the next. Line endings follow the file.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::text::one_line;

/// Heading of the list of notes in `MEMORY.md`.
pub const INDEX: &str = "Index";
/// Heading of the facts in an agent's memory and experience.
pub const INSIGHTS: &str = "Insights";

/// Sections that stay last in their file: a new section is inserted before them.
const LAST: [&str; 2] = [INDEX, INSIGHTS];

/// A heading and its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkdownSection<'t> {
    /// Text of the heading; empty for content above the first one.
    pub name: &'t str,
    /// From 1 to 6; 0 for content above the first heading.
    pub level: usize,
    /// Line number of the heading, from 1.
    pub line: usize,
    /// Line number after the heading, from 1: the start of `own`.
    pub first: usize,
    /// Content up to the next heading of any level.
    pub own: &'t str,
}

/// Position of a heading in the text.
#[derive(Debug, Clone, Copy)]
struct Heading<'t> {
    name: &'t str,
    level: usize,
    /// Start of its line and of the next line.
    from: usize,
    to: usize,
}

/// Returns all headings in order. Content above the first one comes first, if there is any.
pub fn sections(text: &str) -> Vec<MarkdownSection<'_>> {
    let headings = headings(text);
    let mut parts = Vec::with_capacity(headings.len() + 1);
    let above = between(text, 0, headings.first().map_or(text.len(), |first| first.from));
    if !above.is_empty() {
        parts.push(MarkdownSection { name: "", level: 0, line: 1, first: 1, own: above });
    }
    let ends = headings.iter().skip(1).map(|next| next.from).chain([text.len()]);
    let (mut line, mut at) = (1, 0);
    for (heading, end) in headings.iter().zip(ends) {
        line += between(text, at, heading.from).matches('\n').count();
        at = heading.from;
        let own = between(text, heading.to, end);
        parts.push(MarkdownSection { name: heading.name, level: heading.level, line, first: line + 1, own });
    }
    parts
}

/// Cuts a text into what stands above the first heading, if anything does, and each heading with
/// its own content. Together they are the text.
pub fn whole(text: &str) -> Vec<&str> {
    let starts = headings(text).into_iter().map(|heading| heading.from);
    let mut cuts: Vec<usize> = std::iter::once(0).chain(starts).chain([text.len()]).collect();
    cuts.dedup();
    cuts.windows(2).filter_map(|cut| text.get(*cut.first()?..*cut.last()?)).collect()
}

/// Returns the content of the section with that name, including subsections; `None` if there is no
/// such heading.
pub fn read<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (from, to) = span(text, name)?;
    Some(between(text, from, to))
}

/// Content of a section, with the numbers of its lines and that of its heading, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionLines<'t> {
    /// What [`read`] returns.
    pub text: &'t str,
    /// Heading and content.
    pub lines: std::ops::RangeInclusive<usize>,
}

/// Returns what [`read`] does, and where it stands.
pub fn lines_of<'t>(text: &'t str, name: &str) -> Option<SectionLines<'t>> {
    let (from, to) = span(text, name)?;
    let heading = between(text, 0, from).lines().count();
    let content = between(text, from, to);
    Some(SectionLines { text: content, lines: heading..=heading + content.lines().count() })
}

/// Adds `add` at the end of that section, which is created if it does not exist.
pub fn append(text: &str, name: &str, add: &str) -> String {
    match span(text, name) {
        Some(span) => put_in(text, span, add),
        None => with_new_section(text, name, add),
    }
}

/// Adds `add` at the end of the section's own content, above its subsections.
pub fn append_above(text: &str, name: &str, add: &str) -> String {
    let parts = sections(text);
    let wanted = normalised_name(name);
    let part = parts.iter().find(|part| part.level > 0 && is_same(part.name, &wanted));
    match part.zip(span(text, name)) {
        Some((part, (from, _))) => put_in(text, (from, from + part.own.len()), add),
        None => with_new_section(text, name, add),
    }
}

/// Replaces the content of that section, which is created if it does not exist.
pub fn replace(text: &str, name: &str, with: &str) -> String {
    let (from, to) = match span(text, name) {
        Some(span) => span,
        None => return with_new_section(text, name, with),
    };
    let body = between(text, from, to);
    if body.trim().is_empty() {
        return append(text, name, with);
    }
    let begin = from + line_start(body, body.len() - body.trim_start().len());
    let end = line_end(text, from + body.trim_end().len());
    let new = with_line_ends(text, with.trim_matches(['\n', '\r']));
    let after = between(text, end, text.len());
    let ends_line = between(text, begin, end).ends_with('\n') && !new.trim().is_empty();
    let line_end = if ends_line { eol(text) } else { "" };
    format!("{}{new}{line_end}{after}", between(text, 0, begin))
}

/// Returns true if nothing but that section was changed or created: inserted text can end it early,
/// or swallow what follows.
pub fn changes_only(before: &str, after: &str, name: &str) -> bool {
    let rest = |text, (_, to): (usize, usize)| -> &str { between(text, to, usize::MAX) };
    match (span(before, name), span(after, name)) {
        (Some(old), Some(new)) => before.get(..old.0) == after.get(..new.0) && rest(before, old) == rest(after, new),
        (None, Some(new)) => before.strip_suffix(rest(after, new)).is_some_and(|head| after.starts_with(head)),
        _ => false,
    }
}

/// Returns the range from after that heading to the next one of the same or a higher level.
fn span(text: &str, name: &str) -> Option<(usize, usize)> {
    let headings = headings(text);
    let wanted = normalised_name(name);
    let at = headings.iter().position(|heading| is_same(heading.name, &wanted))?;
    let this = headings.get(at)?;
    let next = headings.iter().skip(at + 1).find(|next| next.level <= this.level);
    Some((this.to, next.map_or(text.len(), |next| next.from)))
}

/// Normalises a requested name, which may include its `#` marks.
fn normalised_name(name: &str) -> String {
    one_line(name.trim().trim_start_matches('#'))
}

fn is_same(name: &str, wanted: &str) -> bool {
    one_line(name).to_lowercase() == wanted.to_lowercase()
}

/// Creates a section at the end, or before the section that stays last in such files.
fn with_new_section(text: &str, name: &str, words: &str) -> String {
    let headings = headings(text);
    let last = headings.iter().rev().find(|heading| heading.level <= 2);
    let managed = last.filter(|last| last.level == 2 && LAST.iter().any(|name| is_same(last.name, name)));
    let at = managed.map_or(text.len(), |last| last.from);
    let (before, after) = (between(text, 0, at), between(text, at, text.len()));
    let eol = eol(text);
    let missing = match before {
        "" => 0,
        before if before.ends_with("\n\n") || before.ends_with("\r\n\r\n") => 0,
        before if before.ends_with('\n') => 1,
        _ => 2,
    };
    let gap = eol.repeat(missing);
    let words = with_line_ends(text, words.trim_matches(['\n', '\r']));
    let words = if words.trim().is_empty() { String::new() } else { format!("{eol}{words}{eol}") };
    let gap_after = if after.is_empty() { "" } else { eol };
    format!("{before}{gap}## {}{eol}{words}{gap_after}{after}", normalised_name(name))
}

/// Inserts `add` after the last text of that range.
fn put_in(text: &str, (from, to): (usize, usize), add: &str) -> String {
    let end = from + between(text, from, to).trim_end().len();
    let end = if end == from { from } else { line_end(text, end) };
    let new = Insertion { before: between(text, 0, end), after: between(text, end, text.len()), is_first: end == from };
    new.with(text, add)
}

/// Position of an insertion.
struct Insertion<'t> {
    before: &'t str,
    after: &'t str,
    /// True if the section has no other content.
    is_first: bool,
}

impl Insertion<'_> {
    fn with(&self, text: &str, add: &str) -> String {
        let eol = eol(text);
        let add = with_line_ends(text, add.trim_matches(['\n', '\r']));
        if add.trim().is_empty() {
            return text.to_owned();
        }
        let ends = self.before.ends_with('\n');
        let apart = self.is_first || !continues(self.before, &add);
        let spare = if apart { spare_line(self.after) } else { "" };
        let after = between(self.after, spare.len(), self.after.len());
        let parted = if apart && spare.is_empty() { eol } else { spare };
        let lead = format!("{}{parted}", if ends || self.before.is_empty() { "" } else { eol });
        let tail = if ends || self.is_first { eol } else { "" };
        let gap = if first_line(after).trim().is_empty() { "" } else { eol };
        format!("{}{lead}{add}{tail}{gap}{after}", self.before)
    }
}

/// Returns the blank line at the start of a text if another separator or nothing follows. A
/// deletion has left it, and reusing it prevents one more blank line each time.
fn spare_line(after: &str) -> &str {
    let line = first_line(after);
    let rest = between(after, line.len(), after.len());
    let is_spare = line.ends_with('\n') && line.trim().is_empty() && first_line(rest).trim().is_empty();
    if is_spare { line } else { "" }
}

fn first_line(text: &str) -> &str {
    between(text, 0, line_end(text, 0))
}

/// Returns true if the addition continues a list.
fn continues(before: &str, add: &str) -> bool {
    let last = before.trim_end().rsplit('\n').next().unwrap_or_default();
    let is_item = |line: &str| ["- ", "* ", "+ "].iter().any(|mark| line.trim_start().starts_with(mark));
    is_item(last) && is_item(add)
}

/// Returns the relevant headings in order.
fn headings(text: &str) -> Vec<Heading<'_>> {
    let mut headings = Vec::new();
    let mut depth = 0_usize;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_YAML_STYLE_METADATA_BLOCKS).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, .. }) if depth == 0 => {
                headings.extend(heading(text, level as usize, range.start))
            }
            Event::Start(Tag::Heading { .. }) | Event::End(TagEnd::Heading(_)) => {}
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    headings
}

/// Returns the heading at that place if it is marked by `#`; underlined headings do not count.
fn heading(text: &str, level: usize, at: usize) -> Option<Heading<'_>> {
    let from = line_start(text, at);
    let to = line_end(text, at);
    let line = between(text, from, to).trim();
    let name = line.strip_prefix("#".repeat(level).as_str())?.trim_start();
    let closed = name.trim_end_matches('#');
    let name = if closed.is_empty() || closed.ends_with([' ', '\t']) { closed.trim_end() } else { name };
    Some(Heading { name, level, from, to })
}

/// Returns the start of the line at that place.
fn line_start(text: &str, at: usize) -> usize {
    between(text, 0, at).rfind('\n').map_or(0, |end| end + 1)
}

/// Returns the start of the next line.
fn line_end(text: &str, at: usize) -> usize {
    between(text, at, text.len()).find('\n').map_or(text.len(), |end| at + end + 1)
}

fn eol(text: &str) -> &'static str {
    match text.find('\n') {
        Some(end) if between(text, 0, end).ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn with_line_ends(text: &str, words: &str) -> String {
    let plain = words.replace("\r\n", "\n");
    if eol(text) == "\n" { plain } else { plain.replace('\n', "\r\n") }
}

fn between(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to.min(text.len())).unwrap_or_default()
}

#[cfg(test)]
mod tests;
