//! Decides whether a search found anything at all. Pure.
//!
//! Every query has a best match, also one that nothing answers. No score is compared with a fixed
//! one: the measure is what was searched. A word weighs its rarity among the texts of the scope,
//! squared, so that common words hardly count; a word that occurs nowhere weighs as much as one
//! that occurs once. A text is about a query if its words hold a share of the weight of all. A
//! proper name that occurs nowhere raises this share: the query is about an unknown person or
//! thing.
//!
//! By meaning, a text has to be nearer to the query than the texts of the scope are to each other,
//! so no model needs a threshold of its own. A query with an unknown name is not answered by
//! meaning: to a model one name is as good as another.

/// Minimum share of the weight of a query. Of six equally rare words one is enough: answers repeat
/// few words of their question.
const SHARE: f64 = 0.166;
/// The same with an unknown name: of two equally rare words one is not enough.
const SHARE_WITH_UNKNOWN_NAME: f64 = 0.55;

/// Words of a query with their weight.
#[derive(Debug, Clone)]
pub(super) struct Floor {
    weights: Vec<f64>,
    least: f64,
}

impl Floor {
    /// Weighs the words of a query: the number of texts with each, out of `texts`, and the number
    /// of further words that occur in none.
    pub fn of(counts: impl Iterator<Item = f64>, absent: usize, is_name_unknown: bool, texts: f64) -> Self {
        let weight = |count: f64| ((texts.max(count) + 1.0) / (count + 0.5)).ln().max(0.0).powi(2);
        let weights: Vec<f64> = counts.map(weight).collect();
        let all = (0..absent).fold(weights.iter().sum::<f64>(), |sum, _| sum + weight(1.0));
        let share = if is_name_unknown { SHARE_WITH_UNKNOWN_NAME } else { SHARE };
        Self { weights, least: share * all }
    }

    /// Returns true if a text with these words, given by their positions, is about the query.
    pub fn is_about(&self, held: &[usize]) -> bool {
        let weight: f64 = held.iter().filter_map(|at| self.weights.get(*at)).sum();
        !held.is_empty() && weight >= self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn floor(counts: &[f64], absent: usize, texts: f64) -> Floor {
        Floor::of(counts.iter().copied(), absent, false, texts)
    }

    #[test]
    fn a_rare_word_is_enough_and_a_common_one_is_not() {
        for texts in [5.0, 500.0, 50_000.0] {
            assert!(floor(&[1.0], 5, texts).is_about(&[0]), "a sixth of what is asked, {texts}");
            assert!(!floor(&[1.0], 6, texts).is_about(&[0]), "less, {texts}");
        }
        assert!(!floor(&[200.0], 1, 500.0).is_about(&[0]));
        assert!(floor(&[200.0], 0, 500.0).is_about(&[0]), "all that is asked");
        assert!(!floor(&[], 3, 500.0).is_about(&[]));
    }

    #[test]
    fn an_unknown_name_needs_most_of_the_rest() {
        let unknown = Floor::of([2.0, 2.0].into_iter(), 1, true, 400.0);
        assert!(!unknown.is_about(&[0]) && unknown.is_about(&[0, 1]));
    }

    proptest! {
        #[test]
        fn all_words_in_one_text_are_always_enough(counts in prop::collection::vec(1_u32..400, 1..6), texts in 1_u32..100_000) {
            let floor = Floor::of(counts.iter().map(|count| f64::from(*count)), 0, false, f64::from(texts));
            prop_assert!(floor.is_about(&(0..counts.len()).collect::<Vec<_>>()));
        }
    }
}
