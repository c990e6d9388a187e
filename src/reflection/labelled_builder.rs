//! A text that is put together from words of the program and from stored words, with the join of
//! their labels and what they grew from.

use std::sync::Arc;

use crate::store::Node;
use crate::trust::{Label, Labelled, Scope, Text};

/// The text so far.
#[derive(Debug, Clone)]
pub struct ReflectionText {
    words: String,
    label: Label,
    from: Vec<Node>,
}

impl ReflectionText {
    /// A blank page: it says nothing, and so nothing has a part in it.
    pub fn blank() -> Self {
        Self { words: String::new(), label: Label::neutral(), from: Vec::new() }
    }

    /// Adds words of the program, or words whose label is taken on besides.
    pub fn says(&mut self, words: &str) {
        self.words.push_str(words);
    }

    /// Adds words that came from elsewhere.
    pub fn quotes(&mut self, words: &str, label: &Label) {
        self.words.push_str(words);
        self.takes(label);
    }

    /// Takes a label on.
    pub fn takes(&mut self, label: &Label) {
        self.label.absorb(label);
    }

    /// Remembers what it grew from.
    pub fn grew_from(&mut self, nodes: &[Node]) {
        for node in nodes {
            if !self.from.contains(node) {
                self.from.push(*node);
            }
        }
    }

    /// The text, and what it grew from.
    pub fn done(self, scope: Scope) -> (Text, Vec<Node>) {
        (Labelled::new(Arc::from(self.words), self.label, scope), self.from)
    }
}

/// How many tokens a text is at a guess.
pub fn tokens(words: &str) -> u64 {
    crate::text::estimate_tokens(words)
}

/// As much of the beginning of a text as is about that many tokens.
pub fn fit(words: &str, most: u64) -> String {
    let all = tokens(words);
    if all <= most {
        return words.to_owned();
    }
    let characters = u64::try_from(words.chars().count()).unwrap_or(u64::MAX);
    let kept = characters.saturating_mul(most) / all.max(1);
    crate::text::shorten(words, usize::try_from(kept).unwrap_or(usize::MAX).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_fits_is_whole_and_what_does_not_is_cut(words in ".{0,300}", most in 1_u64..200) {
            let kept = fit(&words, most);
            prop_assert_eq!(kept == words, tokens(&words) <= most || words.chars().count() <= 1);
            prop_assert!(words.starts_with(kept.trim_end_matches('…')));
        }
    }
}
