//! Words by concept, in several languages, and their places in a text.
//!
//! `lexicon.txt` holds them. Words are compared without disguise and diacritics
//! ([`plain_text`](crate::review::plain_text)), and are indexed by their first two letters, so the
//! time depends on the text and hardly on the size of the lexicon.

use std::collections::HashMap;
use std::sync::LazyLock;

use strum::EnumString;

use crate::review::plain_text::{PlainText, PlainWord, split};

/// A concept that a word stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Concept {
    Not,
    Twist,
    Ignore,
    Follow,
    Rules,
    Void,
    Precedence,
    Newly,
    Orders,
    Role,
    Unbound,
    Person,
    This,
    Tell,
    Without,
    NoNeed,
    Ask,
    Skip,
    Question,
    Secretly,
    Keep,
    Hidden,
    Send,
    Recipient,
    Towards,
    Secret,
    Obtain,
    Delete,
    Data,
    Grant,
    Access,
    Disable,
    Protection,
    Pay,
    Money,
    Run,
    Program,
    Write,
    Read,
    Standing,
    Often,
    Echo,
    First,
    Given,
    What,
    Lawless,
    Refuse,
    Decode,
    Do,
    Whatever,
    Says,
    Elsewhere,
    AsOrders,
    Itself,
    Copy,
    Rank,
    Instead,
    Silence,
    Yes,
}

/// A concept at its place among the words of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) concept: Concept,
    /// The first word.
    pub(super) at: usize,
    /// The word after the last.
    pub(super) end: usize,
}

/// Returns the concepts that the words stand for, in order.
pub(super) fn marks(words: &[PlainWord]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for entry in LEXICON.beginning_with(&word.text) {
            if let Some(end) = entry.end(words, at) {
                marks.push(Mark { concept: entry.concept, at, end });
            }
        }
    }
    marks
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::parse(include_str!("lexicon.txt")));

/// All entries, indexed by their first two letters.
struct Lexicon {
    by_letters: HashMap<[Option<char>; 2], Vec<Entry>>,
}

/// The words of one entry.
struct Entry {
    concept: Concept,
    words: Vec<String>,
    /// True if the last word is only the beginning of one.
    is_prefix: bool,
}

impl Lexicon {
    fn parse(text: &str) -> Self {
        let mut by_letters: HashMap<_, Vec<Entry>> = HashMap::new();
        let mut concept = None;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                concept = name.parse().ok();
                debug_assert!(concept.is_some(), "an unknown concept: {name}");
                continue;
            }
            let Some(concept) = concept else { continue };
            for item in line.split_whitespace() {
                let bare = item.trim_end_matches('*').replace('_', " ");
                let words: Vec<String> = split(&PlainText::of(&bare)).into_iter().map(|word| word.text).collect();
                let Some(first) = words.first() else { continue };
                let entry = Entry { concept, is_prefix: item.ends_with('*'), words: words.clone() };
                by_letters.entry(letters(first)).or_default().push(entry);
            }
        }
        Self { by_letters }
    }

    fn beginning_with(&self, word: &str) -> impl Iterator<Item = &Entry> {
        self.by_letters.get(&letters(word)).into_iter().flatten()
    }
}

fn letters(word: &str) -> [Option<char>; 2] {
    let mut letters = word.chars();
    [letters.next(), letters.next()]
}

impl Entry {
    /// Returns the position after the entry if it stands at `at`, within one paragraph.
    fn end(&self, words: &[PlainWord], at: usize) -> Option<usize> {
        let found = words.get(at..at + self.words.len())?;
        let sentence = found.first()?.sentence;
        let last = self.words.len() - 1;
        let fits = found.iter().zip(&self.words).enumerate().all(|(place, (word, wanted))| {
            let is_prefix = self.is_prefix && place == last;
            word.sentence == sentence
                && if is_prefix { word.text.starts_with(wanted.as_str()) } else { word.text == *wanted }
        });
        fits.then_some(at + self.words.len()).or_else(|| self.end_of_parted(words, at))
    }

    /// Returns the position after a word that a single sign parts in two.
    fn end_of_parted(&self, words: &[PlainWord], at: usize) -> Option<usize> {
        let ([wanted], [first, second]) = (self.words.as_slice(), words.get(at..at + 2)?) else { return None };
        let whole = format!("{}{}", first.text, second.text);
        let fits = if self.is_prefix { whole.starts_with(wanted.as_str()) } else { whole == *wanted };
        (first.glued && first.text.chars().count() > 1 && wanted.len() > first.text.len() && fits).then_some(at + 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn concepts(text: &str) -> Vec<Concept> {
        let words = split(&PlainText::of(text));
        let mut found: Vec<_> = marks(&words).into_iter().map(|mark| mark.concept).collect();
        found.dedup();
        found
    }

    #[test]
    fn words_are_found_in_any_spelling() {
        for text in ["Delete", "d e l e t e", "dеlеte", "DEL\u{200b}ETE", "löschen", "удалить", "删除"] {
            assert!(concepts(text).contains(&Concept::Delete), "{text}: {:?}", concepts(text));
        }
        assert_eq!(concepts("the kettle"), []);
        assert!(concepts("from now on").contains(&Concept::Standing));
        assert!(!concepts("from. Now on").contains(&Concept::Standing), "two sentences");
    }
}
