//! Division of a text file into entries. The kind of a line or passage depends only on the file's
//! path, so reading the same file again gives the same entries with the same keys.
//!
//! A line `- **key**: value` is a fact of its own in any context; ` (preference, 2026-11-21)` at
//! its end gives category and day, and a tag such as `#recipes` before that a category of the
//! person's own. A point of a daily note may end in a tag too. A point of a daily note is one
//! entry. A short note is one entry. All other text becomes passages under their headings, and the
//! first passage of a section begins with the heading, so that its words are found too. Comments
//! are not searched, as they are not shown. Lines of the managed index of notes are not entries:
//! the notes are.

use std::collections::HashMap;

use super::super::passages::Passages;
use super::super::{layout, memory_md, note, section};
use crate::store::{EntryKind, NewEntry, is_category};
use crate::time::{Period, Span, Timestamp, Zone};
use crate::wording;

/// Length limit of a passage in characters, where possible.
const PASSAGE: usize = 1_200;
/// Length limit of a note that is one entry, in characters.
const SHORT_NOTE: usize = 2_400;

/// Categories that the end of a fact's line may name.
const CATEGORIES: [&str; 4] = ["preference", "decision", "fact", "context"];

/// An entry, with the lines that have a part in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParsedEntry {
    pub(super) entry: NewEntry,
    /// Last line of its text.
    last: u32,
    /// Line of the heading above it.
    heading: Option<u32>,
    /// Last line of the front matter, which names it.
    front: Option<u32>,
}

impl ParsedEntry {
    /// Returns the entry with the label of its lines.
    pub(super) fn labelled(&self, passages: &Passages) -> NewEntry {
        let line = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let heading = self.heading.map(|heading| line(heading)..=line(heading));
        let front = self.front.map(|front| 1..=line(front));
        let own = line(self.entry.line)..=line(self.last);
        let label = passages.label_of(&[Some(own), heading, front].into_iter().flatten().collect::<Vec<_>>());
        NewEntry { label: (!passages.is_whole()).then_some(label), ..self.entry.clone() }
    }
}

/// Content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) entries: Vec<ParsedEntry>,
    /// Problem with the file; empty if there is none.
    pub(super) trouble: &'static str,
}

/// Parses the file at that path, which is as its owner sees it.
pub(super) fn parse(own: &str, text: &str, zone: Zone) -> Parsed {
    let rules = rules_for(own);
    let mut parser = SectionParser::new(own, rules, zone);
    let mut trouble = "";
    if rules.markdown {
        let (front, body, above) = front_matter(text);
        parser.markdown(text, body, above, front);
        trouble = if front == Front::Endless { wording::search::ENDLESS_FRONT_MATTER } else { "" };
    } else {
        parser.running("", None, &(1..).zip(text.lines()).collect::<Vec<_>>());
    }
    Parsed { entries: parser.entries, trouble }
}

/// State of the front matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Front {
    None,
    Whole,
    /// Unterminated.
    Endless,
}

/// Returns the text after the front matter, and the number of lines above it.
fn front_matter(text: &str) -> (Front, &str, u32) {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else { return (Front::None, text, 0) };
    let mut length = first.len();
    for (above, line) in (2..).zip(lines) {
        length += line.len();
        if line.trim_end() == "---" {
            return (Front::Whole, text.get(length..).unwrap_or_default(), above);
        }
    }
    (Front::Endless, text, 0)
}

/// Removes the content of `<!-- … -->` and keeps its line breaks.
fn without_comments(text: &str) -> String {
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once("<!--") {
        let Some((comment, after)) = inner.split_once("-->") else { break };
        stripped.push_str(before);
        stripped.extend(comment.chars().filter(|c| *c == '\n'));
        rest = after;
    }
    stripped.push_str(rest);
    stripped
}

struct SectionParser {
    rules: EntryRules,
    zone: Zone,
    day: Option<Timestamp>,
    name: String,
    category: String,
    /// Last line of the front matter.
    front: Option<u32>,
    entries: Vec<ParsedEntry>,
    ordinals: HashMap<(String, String), u32>,
}

impl SectionParser {
    fn new(own: &str, rules: EntryRules, zone: Zone) -> Self {
        let file = own.rsplit_once('/').map_or(own, |(_, file)| file);
        let day = day_of(file).filter(|_| rules.kind == EntryKind::Day).and_then(|day| begin_of(day, zone));
        let name = if rules.kind == EntryKind::File { file.to_owned() } else { String::new() };
        let (category, entries, ordinals) = (String::new(), Vec::new(), HashMap::new());
        Self { rules, zone, day, name, category, front: None, entries, ordinals }
    }

    fn markdown(&mut self, text: &str, body: &str, above: u32, front: Front) {
        let mut about = String::new();
        if front == Front::Whole {
            self.front = Some(above);
            let note = note::read(text);
            if !note.name.trim().is_empty() {
                self.name = note.name.trim().to_owned();
            }
            self.category = note.kind.trim().to_owned();
            about = note.description.trim().to_owned();
        }
        let body = if self.rules.facts { without_comments(body) } else { body.to_owned() };
        let mut remaining: Vec<SectionRest<'_>> = Vec::new();
        for part in section::sections(&body) {
            let first = u32::try_from(part.first).unwrap_or(u32::MAX).saturating_add(above);
            let mut lines: Vec<(u32, &str)> = Vec::new();
            let heading = u32::try_from(part.line).unwrap_or(u32::MAX).saturating_add(above);
            let numbered: Vec<(u32, &str)> = (first..).zip(part.own.lines()).collect();
            let of = (part.level > 0).then_some(heading);
            let rest = self.take_points(part.name, of, &numbered);
            let bare = rest.iter().all(|(_, line)| line.trim().is_empty());
            let managed = [memory_md::RECENT, memory_md::INDEX, memory_md::INSIGHTS].contains(&part.name);
            if !part.name.is_empty() && !(bare && (managed || rest.len() < numbered.len())) {
                lines.push((heading, part.name));
                lines.push((heading, ""));
            }
            lines.extend(rest);
            remaining.push(SectionRest { name: part.name.to_owned(), heading: of, lines });
        }
        self.rest(&about, remaining);
    }

    /// Adds the remaining text: a short note as one entry, any other text as passages.
    fn rest(&mut self, about: &str, parts: Vec<SectionRest<'_>>) {
        let lines = |part: &SectionRest<'_>| part.lines.iter().map(|(_, line)| line.chars().count() + 1).sum::<usize>();
        let short = self.rules.kind == EntryKind::Note && parts.iter().map(lines).sum::<usize>() <= SHORT_NOTE;
        let title = self.title(about);
        if short {
            let body: Vec<&str> = parts.iter().flat_map(|part| part.lines.iter().map(|(_, line)| *line)).collect();
            let text = format!("{title}\n{}", body.join("\n").trim());
            self.add(self.entry("", 1, text.trim()), None, u32::MAX);
            return;
        }
        let mut title = (!title.is_empty()).then_some(title);
        for SectionRest { name: section, heading, lines } in &parts {
            let Some(title) = title.take() else {
                self.running(section, *heading, lines);
                continue;
            };
            let with: Vec<(u32, &str)> =
                [(1, title.as_str()), (1, "")].into_iter().chain(lines.iter().copied()).collect();
            self.running(section, *heading, &with);
        }
        if let Some(title) = title {
            self.add(self.entry("", 1, &title), None, 1);
        }
    }

    /// Returns the title and description of a note.
    fn title(&self, about: &str) -> String {
        let own_name = self.rules.kind != EntryKind::File;
        let name = if own_name { self.name.as_str() } else { "" };
        [name, about].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Extracts the entries of their own: facts, and points of a daily note. Returns the remaining
    /// lines.
    fn take_points<'t>(
        &mut self,
        section: &str,
        heading: Option<u32>,
        lines: &[(u32, &'t str)],
    ) -> Vec<(u32, &'t str)> {
        let mut remaining = Vec::new();
        let mut rest = lines;
        let mut fenced = false;
        while let Some(((number, line), after)) = rest.split_first() {
            rest = after;
            fenced ^= is_fence(line);
            let point = if fenced { None } else { point(line) };
            let Some(words) = point.filter(|words| self.is_entry(section, words)) else {
                if fenced || !(section == memory_md::INDEX && point.is_some_and(is_index_line)) {
                    remaining.push((*number, *line));
                }
                continue;
            };
            let more = after.iter().take_while(|(_, line)| is_continued(line)).count();
            let (continued, after) = after.split_at(more);
            rest = after;
            let words = std::iter::once(words).chain(continued.iter().map(|(_, line)| line.trim())).collect::<Vec<_>>();
            let last = number.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
            let entry = self.point(section, *number, &words.join(" "));
            self.add(entry, heading, last);
        }
        remaining
    }

    fn is_entry(&self, section: &str, words: &str) -> bool {
        let fact = self.rules.facts && fact(words).is_some();
        fact || (self.rules.kind == EntryKind::Day && !(section == memory_md::INDEX && is_index_line(words)))
    }

    fn point(&self, section: &str, line: u32, words: &str) -> NewEntry {
        let Some((key, value)) = fact(words).filter(|_| self.rules.facts) else {
            let at = self.day.map(|day| day.plus(minutes_of(words)));
            let category = tag(words).unwrap_or_else(|| self.category.clone());
            return NewEntry { at, category, ..self.entry(section, line, words) };
        };
        let (value, category, day) = ending(value);
        let at = if day.is_empty() { self.day } else { begin_of(day, self.zone) };
        NewEntry {
            name: key.to_owned(),
            kind: EntryKind::Fact,
            category: tag(value).unwrap_or_else(|| category.to_owned()),
            at,
            ..self.entry(section, line, &format!("{key}: {value}"))
        }
    }

    fn running(&mut self, section: &str, heading: Option<u32>, lines: &[(u32, &str)]) {
        for Passage { line, last, text } in passages(lines) {
            self.add(self.entry(section, line, &text), heading, last);
        }
    }

    fn entry(&self, section: &str, line: u32, text: &str) -> NewEntry {
        NewEntry {
            section: section.to_owned(),
            line,
            name: self.name.clone(),
            kind: self.rules.kind,
            category: self.category.clone(),
            text: text.to_owned(),
            ordinal: 0,
            at: self.day,
            label: None,
        }
    }

    /// Adds an entry, unless it is empty, with the next ordinal of its section and name.
    fn add(&mut self, mut entry: NewEntry, heading: Option<u32>, last: u32) {
        if !entry.text.is_empty() {
            let next = self.ordinals.entry((entry.section.clone(), entry.name.clone())).or_default();
            entry.ordinal = *next;
            *next += 1;
            self.entries.push(ParsedEntry { entry, last, heading, front: self.front });
        }
    }
}

/// What is left of a section without its entries of their own.
struct SectionRest<'t> {
    name: String,
    /// Line of the heading.
    heading: Option<u32>,
    lines: Vec<(u32, &'t str)>,
}

/// Returns the text of a list item at the left margin.
fn point(line: &str) -> Option<&str> {
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).map(str::trim).filter(|words| !words.is_empty())
}

/// Returns true if the line continues the list item above it.
fn is_continued(line: &str) -> bool {
    line.starts_with("  ") && !line.trim().is_empty() && point(line.trim_start()).is_none()
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// Parses `**key**: value`.
fn fact(words: &str) -> Option<(&str, &str)> {
    let (key, value) = words.strip_prefix("**")?.split_once("**:")?;
    let (key, value) = (key.trim(), value.trim());
    (!key.is_empty() && !value.is_empty()).then_some((key, value))
}

/// Returns true for a line of the managed index of notes: `[Title](slug.md): hook`.
fn is_index_line(words: &str) -> bool {
    words.starts_with('[') && words.split_once("](").is_some_and(|(_, rest)| rest.contains(".md)"))
}

/// Splits ` (preference, 2026-11-21)` off the end of a value; returns value, category and day.
fn ending(value: &str) -> (&str, &str, &str) {
    let whole = (value, "", "");
    let Some((before, inside)) = value.strip_suffix(')').and_then(|value| value.rsplit_once(" (")) else {
        return whole;
    };
    let (mut category, mut day) = ("", "");
    for word in inside.split(',').map(str::trim) {
        match word {
            word if CATEGORIES.contains(&word) => category = word,
            word if Period::named(Span::Day, word).is_some() => day = word,
            _ => return whole,
        }
    }
    (before.trim_end(), category, day)
}

/// Returns the category that the last word of a text names as a tag, `#recipes`, in lower case.
fn tag(words: &str) -> Option<String> {
    let (_, last) = words.trim_end().rsplit_once(char::is_whitespace)?;
    let name = last.strip_prefix('#').filter(|name| is_category(name))?;
    Some(name.to_lowercase())
}

fn begin_of(day: &str, zone: Zone) -> Option<Timestamp> {
    Period::named(Span::Day, day).map(|period| period.begins(zone))
}

/// Returns the time of `[13:05] …` as an offset from midnight.
fn minutes_of(words: &str) -> std::time::Duration {
    let time = words.strip_prefix('[').and_then(|words| words.split_once(']')).map_or("", |(time, _)| time);
    let parse = |(hours, minutes): (&str, &str)| Some((hours.parse::<u64>().ok()?, minutes.parse::<u64>().ok()?));
    let minutes = time.split_once(':').and_then(parse).filter(|(hours, minutes)| *hours < 24 && *minutes < 60);
    std::time::Duration::from_secs(minutes.map_or(0, |(hours, minutes)| (hours * 60 + minutes) * 60))
}

/// Rules for cutting a file into entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EntryRules {
    /// Kind of its running text.
    kind: EntryKind,
    /// True if it has headings, comments and front matter.
    markdown: bool,
    /// True if lines of the form `- **key**: value` are facts. Received files state none.
    facts: bool,
}

/// Returns the rules for the file at that path, which is as its owner sees it.
fn rules_for(own: &str) -> EntryRules {
    let markdown = has_ending(own, &["md", "markdown"]);
    let in_memory = own.strip_prefix("memory/untrusted/").or_else(|| own.strip_prefix("memory/"));
    let kind = match in_memory.filter(|name| markdown && !name.contains('/')) {
        Some("MEMORY.md") => EntryKind::Text,
        Some(name) if day_of(name).is_some() => EntryKind::Day,
        Some(_) => EntryKind::Note,
        None if markdown && is_about_us(own) => EntryKind::Text,
        None => EntryKind::File,
    };
    // What was learned is shown at the start of conversations, and is no fact about anything else.
    EntryRules { kind, markdown, facts: markdown && !layout::is_inbox(own) && !own.starts_with("learnings/") }
}

/// Returns the day in a daily note's file name, `2026-11-21`.
fn day_of(name: &str) -> Option<&str> {
    name.strip_suffix(".md").filter(|day| memory_md::is_day(day))
}

/// Returns true if a file with that name should be text, so that other content deserves a report.
pub(super) fn should_be_text(own: &str) -> bool {
    let known = [
        "md", "markdown", "txt", "text", "json", "csv", "html", "htm", "log", "toml", "yaml", "yml", "xml", "org",
        "rst",
    ];
    has_ending(own, &known)
}

/// Returns true for files about the people, the instructions and the learnings.
fn is_about_us(own: &str) -> bool {
    let folder = ["learnings/", "agents/", layout::EXPERIENCE].iter().any(|folder| own.starts_with(folder));
    folder || layout::is_owner_only(own) || own == "USER.md"
}

fn has_ending(own: &str, endings: &[&str]) -> bool {
    own.rsplit_once('.').is_some_and(|(_, ending)| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// A piece of a text, with the numbers of its first and its last line in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) line: u32,
    pub(super) last: u32,
    pub(super) text: String,
}

/// Divides numbered lines into passages that are found and read separately. Cuts are between
/// paragraphs; in a paragraph that is too long, between lines, then between words. Only blank space
/// at the cuts is lost, and the result depends on the text alone, not on its edit history.
pub(super) fn passages(lines: &[(u32, &str)]) -> Vec<Passage> {
    let mut builder = PassageBuilder::default();
    for paragraph in lines.split(|(_, line)| line.trim().is_empty()).filter(|lines| !lines.is_empty()) {
        let length: usize = paragraph.iter().map(|(_, line)| line.chars().count() + 1).sum();
        builder.end_if_full(length + 1);
        for (number, line) in paragraph {
            builder.take_line(*number, line);
        }
        builder.take("\n");
    }
    builder.end();
    builder.passages
}

#[derive(Default)]
struct PassageBuilder {
    passages: Vec<Passage>,
    line: u32,
    last: u32,
    text: String,
    length: usize,
}

impl PassageBuilder {
    fn take_line(&mut self, number: u32, line: &str) {
        self.end_if_full(line.chars().count() + 1);
        let mut rest = line.trim_end();
        while rest.chars().count() > PASSAGE {
            let (head, tail) = split_at_word(rest);
            self.begin(number);
            self.take(head);
            self.end();
            rest = tail;
        }
        self.begin(number);
        self.take(rest);
        self.take("\n");
    }

    /// Ends the passage if it would become too long.
    fn end_if_full(&mut self, length: usize) {
        if self.length > 0 && self.length + length > PASSAGE {
            self.end();
        }
    }

    fn begin(&mut self, number: u32) {
        if self.text.is_empty() {
            self.line = number;
        }
        self.last = number;
    }

    fn take(&mut self, text: &str) {
        self.text.push_str(text);
        self.length += text.chars().count();
    }

    fn end(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.length = 0;
        if !text.trim().is_empty() {
            self.passages.push(Passage { line: self.line, last: self.last, text: text.trim_end().to_owned() });
        }
    }
}

/// Splits a text of more than [`PASSAGE`] characters at the last blank that fits, or else at the
/// limit.
fn split_at_word(text: &str) -> (&str, &str) {
    let end = text.char_indices().nth(PASSAGE).map_or(text.len(), |(at, _)| at);
    let (head, _) = text.split_at(end);
    let at = head.rfind(char::is_whitespace).filter(|at| *at > 0).unwrap_or(end);
    let (head, tail) = text.split_at(at);
    (head, tail.trim_start())
}

#[cfg(test)]
mod tests;
