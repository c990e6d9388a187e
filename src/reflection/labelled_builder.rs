//! Builder for a text composed of program text and stored text, with the join of their labels and
//! their sources.

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
    /// Creates an empty text with a neutral label.
    pub fn blank() -> Self {
        Self { words: String::new(), label: Label::neutral(), from: Vec::new() }
    }

    /// Adds program text, or text whose label is added separately.
    pub fn push(&mut self, words: &str) {
        self.words.push_str(words);
    }

    /// Adds stored text with its label.
    pub fn push_quote(&mut self, words: &str, label: &Label) {
        self.words.push_str(words);
        self.absorb_label(label);
    }

    /// Adds a label.
    pub fn absorb_label(&mut self, label: &Label) {
        self.label.absorb(label);
    }

    /// Adds sources.
    pub fn add_sources(&mut self, nodes: &[Node]) {
        for node in nodes {
            if !self.from.contains(node) {
                self.from.push(*node);
            }
        }
    }

    /// Returns the text and its sources.
    pub fn finish(self, scope: Scope) -> (Text, Vec<Node>) {
        (Labelled::new(Arc::from(self.words), self.label, scope), self.from)
    }
}

/// Estimates the number of tokens in a text.
pub fn tokens(words: &str) -> u64 {
    crate::text::estimate_tokens(words)
}

/// Returns the beginning of a text up to about that many tokens.
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
