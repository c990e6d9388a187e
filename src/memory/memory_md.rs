//! Managed regions of `MEMORY.md` and similar files: facts, and the index of notes.
//!
//! A fact is one line, `- **key**: value`, with its day at the end; an index line is `-
//! [Title](slug.md): hook`. The newest come last. Everything else in these files belongs to a
//! person and stays unchanged, even between the lines. A region has a size limit: beyond it the
//! oldest facts are returned so that they can be stored elsewhere, and the index is shortened step
//! by step ([`fit_index`]); nothing is dropped.

pub use super::section::{INDEX, INSIGHTS};

use std::collections::BTreeMap;

use super::section;
use crate::text::{one_line, shorten};

/// Heading of the facts in `MEMORY.md`.
pub const RECENT: &str = "Recent facts";
/// Heading of the lines of the notes that are rules of the person, which prompts show whole.
pub const RULES: &str = "How they want things";

/// Maximum length of a key before a colon, in characters.
const KEY: usize = 80;
/// Maximum length of a shortened hook, in characters.
const SHORT_HOOK: usize = 32;

/// A known fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// Subject.
    pub key: String,
    /// Value.
    pub value: String,
    /// Day on which it was stated, `2026-11-21`; empty if unknown.
    pub day: String,
}

/// Result of adding a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactAddition {
    /// Changed text.
    pub text: String,
    /// Oldest facts, removed because they no longer fit. They belong in a note.
    pub overflow: Vec<Fact>,
}

/// An index within its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FittedIndex {
    /// Changed text.
    pub text: String,
    /// Lines to be moved to a file for their kind, by kind.
    pub moved: BTreeMap<String, Vec<String>>,
}

/// Returns the facts of that section in order.
pub fn facts_in(text: &str, section: &str) -> Vec<Fact> {
    own_lines(text, section).filter_map(parse_fact).collect()
}

/// Parses the fact in a line; `None` if there is none.
pub fn parse_fact(line: &str) -> Option<Fact> {
    let item = list_item(line)?.strip_prefix("**")?;
    let (key, value) = item.split_once("**:").or_else(|| item.split_once(":**"))?;
    let (value, day) = split_day(value.trim());
    let fact = Fact { key: key.trim().to_owned(), value: value.to_owned(), day: day.to_owned() };
    (!fact.key.is_empty()).then_some(fact)
}

/// Returns the text of a list item, without the list mark, the time in a daily note, and the day at
/// the end; `None` if the line is not a list item.
pub fn item_text(line: &str) -> Option<&str> {
    let item = list_item(line)?;
    let timed = item.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let text = timed.filter(|(time, _)| time.len() == 5 && time.get(2..3) == Some(":")).map_or(item, |(_, text)| text);
    Some(split_day(text.trim()).0)
}

/// Formats a fact as a line without cutting it: the caller limits its length.
pub fn format_fact(fact: &Fact) -> String {
    let day = if fact.day.is_empty() { String::new() } else { format!(" ({})", fact.day) };
    format!("- **{}**: {}{day}", clean_key(&fact.key), one_line(&fact.value))
}

/// Adds a fact to that section: an equal fact is not added twice, and another value of the same key
/// is replaced. If the facts exceed `most` bytes, the oldest are removed.
pub fn add_fact(text: &str, section: &str, fact: &Fact, most: usize) -> FactAddition {
    let same: Vec<Fact> = facts_in(text, section).into_iter().filter(|old| is_about(old, &fact.key)).collect();
    let line = format_fact(fact);
    let value = parse_fact(&line).map(|fact| fact.value).unwrap_or_default();
    let is_known = matches!(same.as_slice(), [old] if folded(&old.value) == folded(&value));
    if is_known || clean_key(&fact.key).is_empty() {
        return FactAddition { text: text.to_owned(), overflow: Vec::new() };
    }
    let text = with_line(&remove_fact(text, section, &fact.key), section, &line);
    demote(text, section, most)
}

/// Removes the facts with that key from that section.
pub fn remove_fact(text: &str, section: &str, key: &str) -> String {
    without_facts(text, section, |fact| is_about(fact, key))
}

/// Removes the facts of that section for which `is_dropped` returns true.
pub fn without_facts(text: &str, section: &str, is_dropped: impl Fn(&Fact) -> bool) -> String {
    without_lines(text, section, |line| parse_fact(line).is_some_and(|fact| is_dropped(&fact)))
}

/// Removes exactly this fact from that section: another value of its key stays.
pub fn remove_exact(text: &str, section: &str, fact: &Fact) -> String {
    without_facts(text, section, |other| other == fact)
}

/// Ensures exactly one line for that note, in that section of the index; it goes to the end if it is
/// new or changed.
pub fn put_index_line(text: &str, section: &str, title: &str, file: &str, hook: &str) -> String {
    let line = format_index_line(title, file, hook);
    let is_listed_once = all_index_lines(text).filter(|(_, line)| links_to(line, file)).count() == 1;
    if is_listed_once && own_lines(text, section).any(|old| old == line) {
        return text.to_owned();
    }
    with_line(&remove_index_line(text, file), section, &line)
}

/// Appends a line of another index verbatim, and removes any other line for its note.
pub fn append_index_line(text: &str, line: &str) -> String {
    match parse_index_line(line) {
        Some((_, file, _)) => with_line(&remove_index_line(text, file), INDEX, line.trim_end()),
        None => text.to_owned(),
    }
}

/// Returns true if an index line links to that note.
pub fn has_index_line(text: &str, file: &str) -> bool {
    all_index_lines(text).any(|(_, line)| links_to(line, file))
}

/// Removes the index lines for that note.
pub fn remove_index_line(text: &str, file: &str) -> String {
    let dropped: Vec<usize> =
        all_index_lines(text).filter(|(_, line)| links_to(line, file)).map(|(number, _)| number).collect();
    without_numbers(text, &dropped)
}

/// Returns the lines of both sections of the index with their numbers from 1.
fn all_index_lines<'t>(text: &'t str) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
    numbered(text, RULES).chain(numbered(text, INDEX))
}

/// Lets the index line of a note link to another file, in its place.
pub fn rename_index_line(text: &str, file: &str, new: &str) -> String {
    let numbers: Vec<usize> =
        all_index_lines(text).filter(|(_, line)| links_to(line, file)).map(|(at, _)| at).collect();
    let renamed = |line: &str| {
        let (title, linked, hook) = parse_index_line(line)?;
        // A title that was only the name of the file goes along.
        let stem = |file: &str| file.trim_end_matches(".md").to_owned();
        let title = if title == stem(linked) { stem(new) } else { title.to_owned() };
        Some(format_index_line(&title, new, hook))
    };
    let lines = text.split_inclusive('\n').enumerate();
    let line = |(at, whole): (usize, &str)| {
        let line = whole.trim_end_matches(['\n', '\r']);
        let new = renamed(line).filter(|_| numbers.contains(&(at + 1)));
        new.map_or_else(|| whole.to_owned(), |new| whole.replacen(line, &new, 1))
    };
    lines.map(line).collect()
}

/// Formats the index line of a note.
pub fn format_index_line(title: &str, file: &str, hook: &str) -> String {
    let title = one_line(title).replace('[', "(").replace(']', ")");
    let hook = one_line(hook);
    if hook.is_empty() { format!("- [{title}]({file})") } else { format!("- [{title}]({file}): {hook}") }
}

/// Parses an index line into title, file and hook; `None` if it is none.
pub fn parse_index_line(line: &str) -> Option<(&str, &str, &str)> {
    let (title, rest) = list_item(line)?.strip_prefix('[')?.split_once("](")?;
    let (file, rest) = rest.split_at_checked(end_of_link(rest)?)?;
    Some((title, file, rest.strip_prefix(')')?.trim_start_matches(':').trim()))
}

/// Returns the end of a file name that may itself contain brackets.
fn end_of_link(rest: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return Some(at),
            ')' => open -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the lines of the index verbatim, those of rules first.
pub fn index_lines(text: &str) -> impl Iterator<Item = &str> {
    all_index_lines(text).map(|(_, line)| line).filter(|line| parse_index_line(line).is_some())
}

/// Returns the files of the notes that are rules.
pub fn rules(text: &str) -> impl Iterator<Item = &str> {
    own_lines(text, RULES).filter_map(|line| Some(parse_index_line(line)?.1))
}

/// Returns a text without the heading of the rules if nothing stands below it.
pub fn without_empty_rules(text: &str) -> String {
    let is_empty = section::read(text, RULES).is_some_and(|rules| rules.trim().is_empty());
    let heading = section::sections(text).into_iter().find(|part| part.level > 0 && is_same_key(part.name, RULES));
    match heading.filter(|_| is_empty) {
        Some(heading) => {
            without_numbers(text, &(heading.line..heading.first + heading.own.lines().count()).collect::<Vec<_>>())
        }
        None => text.to_owned(),
    }
}

/// Returns the lines of the index that may be shortened and moved.
fn plain_index_lines(text: &str) -> impl Iterator<Item = &str> {
    own_lines(text, INDEX).filter(|line| parse_index_line(line).is_some())
}

/// Shortens the index to `most` bytes where possible. `kind_of` returns the kind of the note in a
/// file, or `None` if its line cannot move now: then it stays, and the index exceeds its limit for
/// a while.
pub fn fit_index(text: &str, most: usize, kind_of: impl Fn(&str) -> Option<String>) -> FittedIndex {
    let mut text = text.to_owned();
    for keep in [SHORT_HOOK, 0] {
        if index_size(&text) > most {
            text = shortened(&text, most, keep);
        }
    }
    let mut moved = BTreeMap::new();
    if index_size(&text) > most {
        let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let notes = plain_index_lines(&text).filter_map(|line| Some((parse_index_line(line)?.1, line)));
        for (file, line) in notes.filter(|(file, _)| !is_overflow(file)) {
            let Some(kind) = kind_of(file) else { continue };
            kinds.entry(kind).or_default().push(line.to_owned());
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by_key(|(_, lines)| lines.len());
        // Shrinks to half the limit, so that the next note does not move everything again.
        while index_size(&text) > most / 2
            && let Some((kind, lines)) = kinds.pop()
        {
            text = without_lines(&text, INDEX, |line| lines.iter().any(|moved| moved == line));
            moved.insert(kind, lines);
        }
    }
    FittedIndex { text, moved }
}

/// Returns true if a memory file holds moved index lines.
pub fn is_overflow(file: &str) -> bool {
    file.starts_with("index-")
}

fn index_size(text: &str) -> usize {
    plain_index_lines(text).map(|line| line.len() + 1).sum()
}

/// Shortens as many of the oldest lines as necessary.
fn shortened(text: &str, most: usize, keep: usize) -> String {
    let mut over = index_size(text).saturating_sub(most);
    let mut shorter: BTreeMap<usize, (&str, String)> = BTreeMap::new();
    for (number, line) in numbered(text, INDEX) {
        let Some((title, file, hook)) = parse_index_line(line).filter(|(_, file, _)| over > 0 && !is_overflow(file))
        else {
            continue;
        };
        let hook = if keep == 0 { String::new() } else { shorten(hook, keep) };
        let short = format_index_line(title, file, &hook);
        if short.len() < line.len() {
            over = over.saturating_sub(line.len() - short.len());
            shorter.insert(number, (line, short));
        }
    }
    (1..)
        .zip(text.split_inclusive('\n'))
        .map(|(number, whole)| match shorter.get(&number) {
            Some((line, short)) => whole.replacen(line, short, 1),
            None => whole.to_owned(),
        })
        .collect()
}

/// Parses a sentence of the form `key: value` or `key - value`. A time, a web address and several
/// sentences have no key.
pub fn split_key(sentence: &str) -> Option<(&str, &str)> {
    let colon = sentence.split_once(": ").into_iter();
    let (key, value) = colon.chain(sentence.split_once(" - ")).min_by_key(|(key, _)| key.len())?;
    let (key, value) = (key.trim(), value.trim());
    let is_short = key.chars().count() <= KEY && !key.contains(['.', '!', '?', '\n']);
    (is_short && !key.is_empty() && !value.is_empty()).then_some((key, value))
}

/// Returns true if two keys mean the same, regardless of spelling.
pub fn is_same_fact(one: &str, other: &str) -> bool {
    plain(one) == plain(other) || is_same_key(one, other)
}

/// Returns the forms of a key. If two keys mean the same, they share a form.
pub(super) fn spellings(key: &str) -> [String; 2] {
    [plain(key), normal_key(key)]
}

/// Normalises text: ignores case, spaces, the kind of apostrophe, and a full stop or a colon at the
/// end.
pub fn plain(words: &str) -> String {
    one_line(&words.to_lowercase().replace('\u{2019}', "'")).trim_end_matches(['.', '!', ':', ' ']).to_owned()
}

/// Returns true if two keys differ only in spelling.
pub fn is_same_key(one: &str, other: &str) -> bool {
    normal_key(one) == normal_key(other)
}

/// Returns the form that all spellings of a key share.
pub(super) fn normal_key(key: &str) -> String {
    folded(&clean_key(key))
}

/// Removes the oldest facts until the rest fits; the newest always stays.
fn demote(mut text: String, section: &str, most: usize) -> FactAddition {
    let lines: Vec<(usize, String)> = numbered(&text, section)
        .filter(|(_, line)| parse_fact(line).is_some())
        .map(|(at, line)| (at, line.to_owned()))
        .collect();
    let mut size: usize = lines.iter().map(|(_, line)| line.len() + 1).sum();
    let mut old = lines.iter().take(lines.len().saturating_sub(1));
    let (mut overflow, mut dropped) = (Vec::new(), Vec::new());
    while size > most
        && let Some((at, line)) = old.next()
    {
        size -= line.len() + 1;
        overflow.extend(parse_fact(line));
        dropped.push(*at);
    }
    if !dropped.is_empty() {
        text = without_numbers(&text, &dropped);
    }
    FactAddition { text, overflow }
}

/// Removes lines from the section's own content. Everything else stays, including line endings.
fn without_lines(text: &str, section: &str, is_dropped: impl Fn(&str) -> bool) -> String {
    let dropped: Vec<usize> =
        numbered(text, section).filter(|(_, line)| is_dropped(line)).map(|(number, _)| number).collect();
    without_numbers(text, &dropped)
}

fn without_numbers(text: &str, dropped: &[usize]) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    lines.filter(|(at, _)| !dropped.contains(&(at + 1))).map(|(_, line)| line).collect()
}

/// Adds a line at the end of the section's own content, above subsections that a person added.
fn with_line(text: &str, section: &str, line: &str) -> String {
    let parts = section::sections(text);
    let name =
        parts.iter().find(|part| part.level > 0 && is_same_key(part.name, section)).map_or(section, |part| part.name);
    section::append_above(text, name, line)
}

fn own_lines<'t>(text: &'t str, section: &str) -> impl Iterator<Item = &'t str> + use<'t> {
    numbered(text, section).map(|(_, line)| line)
}

/// Returns the lines of the section with their numbers from 1.
fn numbered<'t>(text: &'t str, section: &str) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
    let parts = section::sections(text);
    let part = parts.into_iter().find(|part| part.level > 0 && is_same_key(part.name, section));
    part.into_iter().flat_map(|part| (part.first..).zip(part.own.lines()))
}

/// Returns the text of a list item that is not indented.
fn list_item(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].iter().find_map(|mark| line.trim_end().strip_prefix(mark)).map(str::trim_start)
}

fn links_to(line: &str, file: &str) -> bool {
    parse_index_line(line).is_some_and(|(_, linked, _)| linked.eq_ignore_ascii_case(file))
}

fn is_about(fact: &Fact, key: &str) -> bool {
    is_same_key(&fact.key, key)
}

/// Removes characters that would end the key early.
fn clean_key(key: &str) -> String {
    one_line(&key.replace('*', " ")).trim_end_matches([':', ' ']).to_owned()
}

fn folded(words: &str) -> String {
    one_line(words).to_lowercase()
}

/// Splits off the day at the end of a value.
pub(super) fn split_day(value: &str) -> (&str, &str) {
    let inner = value.strip_suffix(')').and_then(|value| value.rsplit_once('('));
    match inner.filter(|(_, day)| is_day(day)) {
        Some((value, day)) => (value.trim_end(), day),
        None => (value, ""),
    }
}

/// Returns true if the word has the form of a day: `2026-11-21`.
pub(super) fn is_day(word: &str) -> bool {
    let digits = |from, to| word.get(from..to).is_some_and(|part: &str| part.bytes().all(|b| b.is_ascii_digit()));
    word.len() == 10
        && digits(0, 4)
        && digits(5, 7)
        && digits(8, 10)
        && word.get(4..5) == Some("-")
        && word.get(7..8) == Some("-")
}

#[cfg(test)]
mod tests;
