//! The managed regions of `MEMORY.md` and of files like it: facts, and the index of notes.
//!
//! A fact is one line, `- **key**: value`, with the day at its end; a line of the index is
//! `- [Title](slug.md): what it says`. The newest stand last. All else in these files is a person's
//! and stays as it is, also between the lines. A region has a measure: over it the oldest facts are
//! handed back, so that they can be kept elsewhere, and the index is made shorter step by step
//! (`fit_index`); nothing is dropped.

mod fit;

pub use fit::{Folded, fit_index, is_fold};

use super::section;
use crate::text::one_line;

/// The heading under which facts are kept in `MEMORY.md`.
pub const RECENT: &str = "Recent facts";
/// The heading under which notes are listed in `MEMORY.md`.
pub const INDEX: &str = "Index";
/// The heading under which facts are kept in an agent's memory and in its experience.
pub const INSIGHTS: &str = "Insights";

/// The most characters of what stands before a colon and is a key.
const KEY: usize = 80;

/// One thing that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is about.
    pub key: String,
    /// What is so.
    pub value: String,
    /// The day on which it was said, `2026-11-21`; blank if that is not known.
    pub day: String,
}

/// What became of a fact that was to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// The text now.
    pub text: String,
    /// The oldest facts, which had no room any more and belong into a note.
    pub demoted: Vec<Fact>,
}

/// The facts that stand in that section, in their order.
pub fn facts_in(text: &str, section: &str) -> Vec<Fact> {
    own_lines(text, section).filter_map(fact_of).collect()
}

/// The facts of `## Recent facts`.
pub fn recent_facts(text: &str) -> Vec<Fact> {
    facts_in(text, RECENT)
}

/// The fact that a line states; `None` if it states none.
pub fn fact_of(line: &str) -> Option<Fact> {
    let said = item(line)?.strip_prefix("**")?;
    let (key, value) = said.split_once("**:").or_else(|| said.split_once(":**"))?;
    let (value, day) = dated(value.trim());
    let fact = Fact { key: key.trim().to_owned(), value: value.to_owned(), day: day.to_owned() };
    (!fact.key.is_empty()).then_some(fact)
}

/// What a line says, without the mark of a list, the time in a note of a day, and the day at its
/// end; `None` if it is no entry of a list.
pub fn said_in(line: &str) -> Option<&str> {
    let said = item(line)?;
    let timed = said.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let said = timed.filter(|(time, _)| time.len() == 5 && time.get(2..3) == Some(":")).map_or(said, |(_, said)| said);
    Some(dated(said.trim()).0)
}

/// The line that states a fact, whole: whoever makes one up sees to its measure.
pub fn line_of(fact: &Fact) -> String {
    let day = if fact.day.is_empty() { String::new() } else { format!(" ({})", fact.day) };
    format!("- **{}**: {}{day}", clean_key(&fact.key), one_line(&fact.value))
}

/// Adds a fact to that section: the same one is not added twice, another value of the same key
/// takes the place of the old one. When the facts take more than `most` bytes, the oldest are taken
/// out.
pub fn add_fact(text: &str, section: &str, fact: &Fact, most: usize) -> Added {
    let same: Vec<Fact> = facts_in(text, section).into_iter().filter(|old| is_about(old, &fact.key)).collect();
    let line = line_of(fact);
    let stands = matches!(same.as_slice(), [old] if folded(&old.value) == folded(&value_of(&line)));
    if stands || clean_key(&fact.key).is_empty() {
        return Added { text: text.to_owned(), demoted: Vec::new() };
    }
    let text = with_line(&remove_fact(text, section, &fact.key), section, &line);
    demote(text, section, most)
}

/// The text without the facts of that key in that section.
pub fn remove_fact(text: &str, section: &str, key: &str) -> String {
    without_facts(text, section, |fact| is_about(fact, key))
}

/// The text without the facts of that section that `goes` is true of.
pub fn without_facts(text: &str, section: &str, goes: impl Fn(&Fact) -> bool) -> String {
    without_lines(text, section, |line| fact_of(line).is_some_and(|fact| goes(&fact)))
}

/// The text without the lines of that section that state just this fact: another value of its key
/// stays.
pub fn remove_just(text: &str, section: &str, fact: &Fact) -> String {
    without_facts(text, section, |stands| stands == fact)
}

/// The text with exactly one line for that note in `## Index`, the last one if it is new or says
/// something new.
pub fn index_line(text: &str, title: &str, file: &str, hook: &str) -> String {
    let line = line_of_note(title, file, hook);
    let here: Vec<&str> = own_lines(text, INDEX).filter(|line| leads_to(line, file)).collect();
    if here == [line.as_str()] {
        return text.to_owned();
    }
    with_line(&drop_index_line(text, file), INDEX, &line)
}

/// The text with that line of another index at the end of its own, word for word; the note has no
/// other line in it then.
pub fn take_index_line(text: &str, line: &str) -> String {
    match note_of(line) {
        Some((_, file, _)) => with_line(&drop_index_line(text, file), INDEX, line.trim_end()),
        None => text.to_owned(),
    }
}

/// Whether a line of the index leads to that note.
pub fn leads_in(text: &str, file: &str) -> bool {
    own_lines(text, INDEX).any(|line| leads_to(line, file))
}

/// The text without the lines for that note.
pub fn drop_index_line(text: &str, file: &str) -> String {
    without_lines(text, INDEX, |line| leads_to(line, file))
}

/// The line for a note.
pub fn line_of_note(title: &str, file: &str, hook: &str) -> String {
    let title = one_line(title).replace('[', "(").replace(']', ")");
    let hook = one_line(hook);
    if hook.is_empty() { format!("- [{title}]({file})") } else { format!("- [{title}]({file}): {hook}") }
}

/// The file and what is said of it in a line of the index; `None` if it is none.
pub fn note_of(line: &str) -> Option<(&str, &str, &str)> {
    let (title, rest) = item(line)?.strip_prefix('[')?.split_once("](")?;
    let (file, rest) = rest.split_at_checked(end_of_link(rest)?)?;
    Some((title, file, rest.strip_prefix(')')?.trim_start_matches(':').trim()))
}

/// Where the name of a file ends that may hold brackets itself.
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

/// The lines of the index, as they stand there.
pub fn index_lines(text: &str) -> impl Iterator<Item = &str> {
    own_lines(text, INDEX).filter(|line| note_of(line).is_some())
}

/// Key and value of a sentence of the form `key: value` or `key - value`. A time, an address on the
/// web and a list of sentences have no key.
pub fn key_of(sentence: &str) -> Option<(&str, &str)> {
    let colon = sentence.split_once(": ").into_iter();
    let (key, value) = colon.chain(sentence.split_once(" - ")).min_by_key(|(key, _)| key.len())?;
    let (key, value) = (key.trim(), value.trim());
    let is_short = key.chars().count() <= KEY && !key.contains(['.', '!', '?', '\n']);
    (is_short && !key.is_empty() && !value.is_empty()).then_some((key, value))
}

/// Whether two keys are the same but for their writing.
pub fn is_same_key(one: &str, other: &str) -> bool {
    folded(&clean_key(one)) == folded(&clean_key(other))
}

/// Takes the oldest facts out until the rest has room; the newest stays in any case.
fn demote(mut text: String, section: &str, most: usize) -> Added {
    let lines: Vec<(usize, String)> = numbered(&text, section)
        .filter(|(_, line)| fact_of(line).is_some())
        .map(|(at, line)| (at, line.to_owned()))
        .collect();
    let mut size: usize = lines.iter().map(|(_, line)| line.len() + 1).sum();
    let mut old = lines.iter().take(lines.len().saturating_sub(1));
    let (mut demoted, mut gone) = (Vec::new(), Vec::new());
    while size > most
        && let Some((at, line)) = old.next()
    {
        size -= line.len() + 1;
        demoted.extend(fact_of(line));
        gone.push(*at);
    }
    if !gone.is_empty() {
        text = without_numbers(&text, &gone);
    }
    Added { text, demoted }
}

/// The text without those lines of the section's own words. All else stays, down to the line ends.
fn without_lines(text: &str, section: &str, goes: impl Fn(&str) -> bool) -> String {
    let gone: Vec<usize> = numbered(text, section).filter(|(_, line)| goes(line)).map(|(number, _)| number).collect();
    without_numbers(text, &gone)
}

fn without_numbers(text: &str, gone: &[usize]) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    lines.filter(|(at, _)| !gone.contains(&(at + 1))).map(|(_, line)| line).collect()
}

/// The text with a line at the end of the section's own words: above the headings that a person put
/// under it.
fn with_line(text: &str, section: &str, line: &str) -> String {
    let parts = section::sections(text);
    let name =
        parts.iter().find(|part| part.level > 0 && is_same_key(part.name, section)).map_or(section, |part| part.name);
    section::append_above(text, name, line)
}

fn own_lines<'t>(text: &'t str, section: &str) -> impl Iterator<Item = &'t str> + use<'t> {
    numbered(text, section).map(|(_, line)| line)
}

/// The lines of the section, with their numbers from 1.
fn numbered<'t>(text: &'t str, section: &str) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
    let parts = section::sections(text);
    let part = parts.into_iter().find(|part| part.level > 0 && is_same_key(part.name, section));
    part.into_iter().flat_map(|part| (part.first..).zip(part.own.lines()))
}

/// What stands in a list after its mark, if the line is an item of one that is not indented.
fn item(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].iter().find_map(|mark| line.trim_end().strip_prefix(mark)).map(str::trim_start)
}

fn leads_to(line: &str, file: &str) -> bool {
    note_of(line).is_some_and(|(_, leads, _)| leads.eq_ignore_ascii_case(file))
}

fn is_about(fact: &Fact, key: &str) -> bool {
    is_same_key(&fact.key, key)
}

/// A key without what would end it early.
fn clean_key(key: &str) -> String {
    one_line(&key.replace('*', " ")).trim_end_matches([':', ' ']).to_owned()
}

fn value_of(line: &str) -> String {
    fact_of(line).map(|fact| fact.value).unwrap_or_default()
}

fn folded(words: &str) -> String {
    one_line(words).to_lowercase()
}

/// A value and the day at its end.
fn dated(value: &str) -> (&str, &str) {
    let inner = value.strip_suffix(')').and_then(|value| value.rsplit_once('('));
    match inner.filter(|(_, day)| is_day(day)) {
        Some((value, day)) => (value.trim_end(), day),
        None => (value, ""),
    }
}

/// Whether it is written like a day: `2026-11-21`.
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
