//! The single words of erased text: where all of them occur, a search still finds the content,
//! although paraphrased.
//!
//! This is for notices to a person, never for deletion: whether the paraphrase means the same is
//! not known.

use super::{ALONE, TELLING, has, plain, strings};
use crate::text::question::Question;

/// Numbers with this many digits identify one thing; shorter ones occur everywhere.
const NUMBER: usize = 4;

/// The needles as single words.
#[derive(Debug, Clone, Default)]
pub struct ParaphraseMatcher(Vec<ParaphraseNeedle>);

/// One needle.
#[derive(Debug, Clone)]
struct ParaphraseNeedle {
    /// The words of the subject.
    about: Vec<String>,
    /// The words of the statement.
    said: Vec<String>,
    /// True if the statement's words are rarely used for other subjects.
    is_rare: bool,
}

impl ParaphraseNeedle {
    fn of(parts: &[String]) -> Option<Self> {
        let (said, about) = parts.split_last()?;
        let words = |part: &str| Question::of(part, &[]).words.iter().map(|word| plain(word)).collect::<Vec<_>>();
        let said = words(said.trim_start_matches(ALONE));
        let is_rare = said.iter().any(|word| is_rare(word));
        let about = about.iter().flat_map(|part| words(part)).collect();
        (!said.is_empty()).then_some(Self { about, said, is_rare })
    }

    fn is_in(&self, here: &str) -> bool {
        self.said.iter().all(|word| has(here, word)) && (self.is_rare || self.about.iter().any(|word| has(here, word)))
    }
}

impl ParaphraseMatcher {
    pub(super) fn of(needles: &[Vec<String>]) -> Self {
        Self(needles.iter().filter_map(|parts| ParaphraseNeedle::of(parts)).collect())
    }

    /// Returns whether a text, or a string in it if it is JSON, contains all words of a statement.
    /// Common words count only together with a word of the subject.
    pub fn are_in(&self, text: &str) -> bool {
        !self.0.is_empty()
            && strings(text).iter().map(|text| plain(text)).any(|here| self.0.iter().any(|one| one.is_in(&here)))
    }

    /// Returns whether a single line of the text does.
    pub fn are_on_a_line(&self, text: &str) -> bool {
        text.lines().any(|line| self.are_in(line))
    }
}

fn is_rare(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    word.chars().count() >= TELLING || digits >= NUMBER
}

#[cfg(test)]
mod tests {
    use super::super::ErasureQuery;

    /// Proves: forgetting/remains
    #[test]
    fn a_search_for_its_words_finds_it_in_other_sentences() {
        let sought = |key, value| ErasureQuery::of_fact(key, value).sought();
        for (key, value, text, found) in [
            ("cat: name", "Mitzi", "My cat is called Mitzi", true),
            ("cat: name", "Mitzi", "mitzi was at the vet", true),
            ("cat: name", "Mitzi", "My cat sleeps", false),
            ("shoe size", "42", "The answer is 42.", false),
            ("shoe size", "42", "I wear size 42", true),
            ("car", "blue", "My car is blue", true),
            ("car", "blue", "The sky is blue", false),
            ("safe", "the code is 4711", "4711, that was the code", true),
            ("safe", "the code is 4711", "that was the code", false),
        ] {
            assert_eq!(sought(key, value).are_in(text), found, "{key}: {value} in {text}");
        }
        assert!(!sought("cat: name", "Mitzi").are_on_a_line("cats\nand dogs"));
        assert!(!ErasureQuery::default().sought().are_in("anything"));
    }
}
