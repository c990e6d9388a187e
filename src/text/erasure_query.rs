//! Erased text, and the search for it in everything derived from it.
//!
//! Erased content is identified by its lines. A line is searched as a run of words: case,
//! punctuation and white space are ignored, word boundaries are not. A line too short to be
//! distinctive ("yes", "42") is searched together with its subject, on one line. In JSON the
//! strings are searched, however they are escaped. Meaning is not understood: paraphrases are found
//! only by [`ErasureQuery::is_near`], which is for the few texts known to be derived from the
//! erased one, and by [`ParaphraseMatcher`], which is for notices to a person, never for deletion.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::fold::fold;
use super::question::Question;
use super::winnow::{RUN, fingerprints, share_run};
use crate::text::words_in;

/// Lines with fewer letters are searched together with their subject.
const LONG_LINE: usize = 8;
/// Lines with fewer words too: one long word occurs in unrelated text.
const WORDS: usize = 2;
/// The word next to the title in a line that links to a note.
const FILE: &str = "md";
/// Titles with fewer letters and words are not distinctive enough to be searched alone.
const TITLE: (usize, usize) = (12, 3);
/// Words with this number of letters are distinctive, as are words with a digit.
const DISTINCTIVE: usize = 5;
/// Words with fewer letters in total are not searched in conversations.
const SHORTEST: usize = 4;
/// The number of additional words in a line that says little else; at least as many as the term's
/// are allowed.
const OTHER_WORDS: usize = 3;
/// The end of a fact's key in its line.
const KEY_ENDS: [&str; 2] = ["**:", ":**"];
/// The maximum number of words of a key without markup.
const KEY_WORDS: usize = 10;
/// Prefix of a part that must be the only content of a line. Does not occur in plain text.
const ALONE: char = '=';
/// The maximum depth of JSON within JSON.
const MAX_DEPTH: usize = 6;
/// The maximum number of lines searched for one note.
const MAX_LINES: usize = 400;
/// Numbers with this many digits identify one thing; shorter ones occur everywhere.
const NUMBER: usize = 4;

/// The search terms: all parts of a term must occur on one line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureQuery(Vec<Vec<String>>);

impl ErasureQuery {
    /// Returns the terms of a fact.
    pub fn of_fact(key: &str, value: &str) -> Self {
        let mut query = Self::default();
        query.add(key, value);
        query
    }

    /// Returns the terms of a fact whose value may also apply to other subjects: matches only
    /// lines that contain the subject too.
    pub fn of_both(key: &str, value: &str) -> Self {
        let parts = vec![plain(key), plain(value)];
        if parts.iter().all(|part| !part.is_empty()) { Self(vec![parts]) } else { Self::of_fact(key, value) }
    }

    /// Returns the terms of a note with this title. Lines of its front matter count like all
    /// others.
    pub fn of_note(title: &str, text: &str) -> Self {
        let mut query = Self::default();
        let about = plain(title);
        let lines = text
            .lines()
            .map(without_mark)
            .filter(|line| !matches!(plain(line), line if line.is_empty() || line == about));
        for line in lines.take(MAX_LINES) {
            query.add(title, line);
        }
        let (letters, count) = measure(title);
        if letters >= TITLE.0 && count >= TITLE.1 {
            query.add("", title);
        } else if !about.is_empty() {
            // A short title is an everyday word: it identifies this note only in a link to a file.
            query.0.push(vec![about, FILE.to_owned()]);
        }
        query
    }

    /// Returns the terms of one line without a key. A line too short to be distinctive only
    /// matches a line that says exactly that.
    pub fn of_line(words: &str) -> Self {
        let line = plain(words);
        let (letters, count) = measure(&line);
        match letters {
            0 => Self::default(),
            LONG_LINE.. if count >= WORDS => Self(vec![vec![line]]),
            _ => Self(vec![vec![format!("{ALONE}{line}")]]),
        }
    }

    /// Returns the terms of words that a person wants removed from all conversations, wherever
    /// they occur in a line. Empty if there are too few letters, which would match nearly
    /// everything.
    pub fn of_words(words: &str) -> Self {
        let words = plain(words);
        if measure(&words).0 < SHORTEST { Self::default() } else { Self(vec![vec![words]]) }
    }

    /// Returns the terms of a text that is deleted as a whole: its lines, however short.
    pub fn of_text(text: &str) -> Self {
        Self(text.lines().map(plain).filter(|line| !line.is_empty()).map(|line| vec![line]).collect())
    }

    /// Adds the terms of another query.
    pub fn join(&mut self, others: Self) {
        self.0.extend(others.0.into_iter().filter(|term| !self.0.contains(term)).collect::<Vec<_>>());
    }

    fn add(&mut self, about: &str, line: &str) {
        let (line, about) = (plain(line), plain(about));
        let (letters, count) = measure(&line);
        let alone = letters >= LONG_LINE && count >= WORDS || about.is_empty() || about == line;
        let parts = if alone { vec![line] } else { vec![about, line] };
        if parts.iter().all(|part| !part.is_empty()) && !self.0.contains(&parts) {
            self.0.push(parts);
        }
    }

    /// Returns whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the words of a text in search form: lower case, one space between them, nothing
    /// else.
    pub fn words_of(text: &str) -> String {
        plain(text)
    }

    /// Returns whether two texts consist of the same words, however they are written.
    pub fn are_same_words(one: &str, other: &str) -> bool {
        !plain(one).is_empty() && plain(one) == plain(other)
    }

    /// Returns whether a term occurs on a line of the text, or in a string if it is JSON.
    pub fn matches(&self, text: &str) -> bool {
        strings(text).iter().any(|text| text.lines().any(|line| self.is_on_line(line)))
    }

    /// Returns whether a derived text says the same in other words: it contains half of the
    /// distinctive words of a term.
    pub fn is_near(&self, text: &str) -> bool {
        let here = plain(text);
        self.matches(text)
            || self.0.iter().any(|parts| {
                let distinctive: Vec<&str> = parts
                    .iter()
                    .flat_map(|part| part.trim_start_matches(ALONE).split(' '))
                    .filter(is_distinctive)
                    .collect();
                if distinctive.is_empty() {
                    // If all words are short, all of them are required.
                    return parts
                        .iter()
                        .all(|part| !part.starts_with(ALONE) && part.split(' ').all(|word| has(&here, word)));
                }
                let found = distinctive.iter().filter(|word| has(&here, word)).count();
                found.saturating_mul(2) >= distinctive.len()
            })
    }

    /// Returns the words by which a search would find the content, in any order and context.
    pub fn paraphrases(&self) -> ParaphraseMatcher {
        let words = |part: &str| Question::of(part, &[]).words.iter().map(|word| plain(word)).collect::<Vec<_>>();
        let paraphrase = |parts: &Vec<String>| {
            let (statement, subject) = parts.split_last()?;
            let statement = words(statement.trim_start_matches(ALONE));
            let is_rare = statement.iter().any(|word| {
                word.chars().count() >= DISTINCTIVE || word.chars().filter(char::is_ascii_digit).count() >= NUMBER
            });
            let subject = subject.iter().flat_map(|part| words(part)).collect();
            (!statement.is_empty()).then_some(Paraphrase { subject, statement, is_rare })
        };
        ParaphraseMatcher(self.0.iter().filter_map(paraphrase).collect())
    }

    /// Returns the long lines of the content, of which searches and prompts show parts.
    pub fn parts(&self) -> PartMatcher {
        let long = self.0.iter().flatten().filter(|part| part.len() >= RUN);
        let lines: Vec<Vec<char>> = long.map(|part| part.chars().collect()).collect();
        PartMatcher { fingerprints: lines.iter().flat_map(|line| fingerprints(line)).collect(), lines }
    }

    /// Returns whether a line of the text says a term and little else. A line that says more is a
    /// person's own text about other matters too, and is not removed with a fact.
    pub fn is_stated_in(&self, text: &str) -> bool {
        text.lines().any(|line| self.is_stated_on(line))
    }

    fn is_stated_on(&self, line: &str) -> bool {
        let here = plain(line);
        // A fact states its subject before its value; the key's words are not counted.
        let key_and_value = KEY_ENDS.iter().find_map(|end| line.split_once(end));
        let spoken = || line.split_once(": ").filter(|(key, _)| key.split_whitespace().count() <= KEY_WORDS);
        let (own, has_key) = key_and_value.or_else(spoken).map_or((line, false), |(_, value)| (value, true));
        let words = plain(own).split(' ').filter(|word| !is_number(word)).count();
        self.0.iter().filter(|parts| parts.iter().all(|part| has(&here, part))).any(|parts| {
            let counted = if has_key { parts.last().map_or(&[][..], std::slice::from_ref) } else { &parts[..] };
            let term_words = counted.iter().flat_map(|part| part.split(' ')).filter(|word| !is_number(word)).count();
            words.saturating_sub(term_words) <= term_words.max(OTHER_WORDS)
        })
    }

    /// Returns whether a term occurs on that line.
    pub fn is_on_line(&self, line: &str) -> bool {
        let here = plain(line);
        !here.is_empty() && self.0.iter().any(|parts| parts.iter().all(|part| has(&here, part)))
    }
}

/// The single words of erased text. Where all of them occur, a search still finds the content; but
/// whether the paraphrase means the same is not known.
#[derive(Debug, Clone, Default)]
pub struct ParaphraseMatcher(Vec<Paraphrase>);

#[derive(Debug, Clone)]
struct Paraphrase {
    /// The words of the subject.
    subject: Vec<String>,
    /// The words of the statement.
    statement: Vec<String>,
    /// True if the statement's words are rarely used for other subjects.
    is_rare: bool,
}

impl ParaphraseMatcher {
    /// Returns whether a text, or a string in it if it is JSON, contains all words of a statement.
    /// Common words count only together with a word of the subject.
    pub fn matches(&self, text: &str) -> bool {
        let is_in = |here: &str, one: &Paraphrase| {
            one.statement.iter().all(|word| has(here, word))
                && (one.is_rare || one.subject.iter().any(|word| has(here, word)))
        };
        !self.0.is_empty()
            && strings(text).iter().map(|text| plain(text)).any(|here| self.0.iter().any(|one| is_in(&here, one)))
    }

    /// Returns whether a single line of the text does.
    pub fn matches_a_line(&self, text: &str) -> bool {
        text.lines().any(|line| self.matches(line))
    }
}

/// The long lines of erased text.
#[derive(Debug, Clone, Default)]
pub struct PartMatcher {
    lines: Vec<Vec<char>>,
    fingerprints: BTreeSet<i64>,
}

impl PartMatcher {
    /// Returns whether a text, or a string in it if it is JSON, contains [`RUN`] consecutive
    /// characters of a line.
    pub fn matches(&self, text: &str) -> bool {
        let shares = |text: &String| {
            let here: Vec<char> = plain(text).chars().collect();
            !self.fingerprints.is_disjoint(&fingerprints(&here)) && self.lines.iter().any(|line| share_run(line, &here))
        };
        !self.lines.is_empty() && text.len() >= RUN && strings(text).iter().any(shares)
    }
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_distinctive(word: &&str) -> bool {
    word.chars().count() >= DISTINCTIVE || word.contains(|c: char| c.is_ascii_digit())
}

/// Returns whether a run of words contains another one; both are plain.
fn has(here: &str, part: &str) -> bool {
    match part.strip_prefix(ALONE) {
        // A date at the end of a line is not one of its words.
        Some(alone) => here.strip_prefix(alone).is_some_and(|rest| rest.is_empty() || is_day(rest)),
        None => format!(" {here} ").contains(&format!(" {part} ")),
    }
}

/// Returns whether the rest is a plain date: ` 2026 11 21`.
fn is_day(rest: &str) -> bool {
    let numbers: Vec<&str> = rest.trim_start().split(' ').collect();
    rest.starts_with(' ')
        && matches!(numbers[..], [year, month, day] if [year, month, day].map(str::len) == [4, 2, 2])
        && numbers.iter().all(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the text folded and in lower case, one space between words, nothing else.
fn plain(text: &str) -> String {
    let folded = fold(&text.to_lowercase());
    words_in(&folded).collect::<Vec<_>>().join(" ")
}

/// Returns the number of letters and words of a text.
fn measure(text: &str) -> (usize, usize) {
    let plain = plain(text);
    (plain.chars().filter(|c| *c != ' ').count(), plain.split(' ').filter(|word| !word.is_empty()).count())
}

/// Returns a line of front matter without its key, or a list entry without its bullet.
fn without_mark(line: &str) -> &str {
    let line = line.trim().trim_start_matches(['-', '*', '#', '>', ' ']);
    ["name:", "description:"]
        .iter()
        .find_map(|name| line.strip_prefix(name))
        .unwrap_or_else(|| if line.starts_with("type:") { "" } else { line })
}

/// Returns the strings of a JSON text; any other text as it is.
fn strings(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    gather(text, 0, &mut found);
    found
}

fn gather(text: &str, depth: usize, found: &mut Vec<String>) {
    let json = text.trim_start().starts_with(['{', '[']) && depth < MAX_DEPTH;
    match json.then(|| serde_json::from_str(text)) {
        Some(Ok(value)) => gather_in(&value, depth.saturating_add(1), found),
        _ => found.push(text.to_owned()),
    }
}

fn gather_in(value: &serde_json::Value, depth: usize, found: &mut Vec<String>) {
    use serde_json::Value;
    match value {
        Value::String(text) => gather(text, depth, found),
        Value::Array(list) => list.iter().for_each(|value| gather_in(value, depth, found)),
        // Values that belong together, such as key and value of a fact or title and content of a
        // note, are also searched together.
        Value::Object(map) => {
            let plain: Vec<&str> = map.values().filter_map(Value::as_str).collect();
            found.push(super::one_line(&plain.join(" ")));
            map.values().for_each(|value| gather_in(value, depth, found));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
