//! Shortens an index that is too long: first the hooks of the oldest lines are cut, then all lines
//! of one kind move to a file of their own.

use std::collections::BTreeMap;

use super::{INDEX, index_lines, line_of_note, note_of, numbered, without_lines};
use crate::text::shorten;

/// Maximum length of a shortened hook, in characters.
const SHORT: usize = 32;

/// An index within its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FittedIndex {
    /// Changed text.
    pub text: String,
    /// Lines to be moved to a file for their kind, by kind.
    pub moved: BTreeMap<String, Vec<String>>,
}

/// Shortens the index to `most` bytes where possible. `kind_of` returns the kind of the note in a
/// file, or `None` if its line cannot move now: then it stays, and the index exceeds its limit for
/// a while.
pub fn fit_index(text: &str, most: usize, kind_of: impl Fn(&str) -> Option<String>) -> FittedIndex {
    let mut text = text.to_owned();
    for keep in [SHORT, 0] {
        if size(&text) > most {
            text = shortened(&text, most, keep);
        }
    }
    let mut moved = BTreeMap::new();
    if size(&text) > most {
        let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let notes = index_lines(&text).filter_map(|line| Some((note_of(line)?.1, line)));
        for (file, line) in notes.filter(|(file, _)| !is_fold(file)) {
            let Some(kind) = kind_of(file) else { continue };
            kinds.entry(kind).or_default().push(line.to_owned());
        }
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by_key(|(_, lines)| lines.len());
        // Shrinks to half the limit, so that the next note does not move everything again.
        while size(&text) > most / 2
            && let Some((kind, lines)) = kinds.pop()
        {
            text = without_lines(&text, INDEX, |line| lines.iter().any(|moved| moved == line));
            moved.insert(kind, lines);
        }
    }
    FittedIndex { text, moved }
}

/// Returns true if a memory file holds moved index lines.
pub fn is_fold(file: &str) -> bool {
    file.starts_with("index-")
}

fn size(text: &str) -> usize {
    index_lines(text).map(|line| line.len() + 1).sum()
}

/// Shortens as many of the oldest lines as necessary.
fn shortened(text: &str, most: usize, keep: usize) -> String {
    let mut over = size(text).saturating_sub(most);
    let mut shorter: BTreeMap<usize, (&str, String)> = BTreeMap::new();
    for (number, line) in numbered(text, INDEX) {
        let Some((title, file, hook)) = note_of(line).filter(|(_, file, _)| over > 0 && !is_fold(file)) else {
            continue;
        };
        let hook = if keep == 0 { String::new() } else { shorten(hook, keep) };
        let short = line_of_note(title, file, &hook);
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
