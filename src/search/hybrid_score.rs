//! Merges two rankings: by words and by meaning.
//!
//! The two scores have nothing in common, so each is normalised to 0..1 and weighted before they
//! are added. Ranks alone would discard the distances between candidates; on conversations they
//! measured worse than words alone, while the weighted sum did not. All functions are pure; the
//! caller selects the candidates.

use std::collections::HashMap;
use std::hash::Hash;

/// Default weight of meaning; words have the rest. Used while nothing is known of either. The seeds
/// give meaning 0.7, which buries names and numbers.
pub const MEANING: f64 = 0.5;

/// Maximum change of that weight in either direction. Neither words nor meaning ever decide alone.
const SWAY: f64 = 0.25;
/// Weight of the distance by which meaning separates the best candidate: similarities lie closer
/// together than scores by words.
const CROWDED: f64 = 2.0;
/// Number of runners-up with which the best is compared.
const BEHIND: u8 = 10;

/// Weight of meaning for one query: higher if meaning separates the best candidate from the rest
/// better than words do, lower if worse. A number or a rare name is clear to words and means
/// nothing to most models; for a question in other words than its answer the reverse holds.
/// `meaning` is on the scale of [`above`].
#[must_use]
pub fn share(words: &[f64], meaning: &[f64]) -> f64 {
    if meaning.is_empty() {
        return 0.0;
    }
    let (words, meaning) = (edge(by_best(words)), CROWDED * edge(meaning.to_vec()));
    let both = words + meaning;
    let share = if both > 0.0 { meaning / both } else { MEANING };
    share.clamp(MEANING - SWAY, MEANING + SWAY)
}

/// Distance of the best score from the runners-up, 0 to 1; zero without scores.
fn edge(mut scores: Vec<f64>) -> f64 {
    scores.sort_by(|one, other| other.total_cmp(one));
    let Some(best) = scores.first() else { return 0.0 };
    let behind: f64 = scores.iter().skip(1).take(BEHIND.into()).sum();
    (best - behind / f64::from(BEHIND)).max(0.0)
}

/// Scales scores that start at zero to 0..1: the best becomes one. Without a positive score all
/// become zero.
#[must_use]
pub fn by_best(scores: &[f64]) -> Vec<f64> {
    let best = scores.iter().copied().filter(|score| score.is_finite()).fold(0.0, f64::max);
    let scale = |score: f64| if best > 0.0 && score.is_finite() { (score / best).clamp(0.0, 1.0) } else { 0.0 };
    scores.iter().map(|score| scale(*score)).collect()
}

/// Returns how far a similarity is above the mean: 0 at the mean, 1 at the best.
#[must_use]
pub fn above(similarity: f64, mean: f64, best: f64) -> f64 {
    if best > mean { ((similarity - mean) / (best - mean)).clamp(0.0, 1.0) } else { 1.0 }
}

/// Scales scores without a natural zero to 0..1: the worst becomes zero, the best one. Equal scores
/// all become one.
#[must_use]
pub fn by_range(scores: &[f64]) -> Vec<f64> {
    let finite = || scores.iter().copied().filter(|score| score.is_finite());
    let (least, best) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let scale = |score: f64| match (score.is_finite(), best > least) {
        (false, _) => 0.0,
        (true, false) => 1.0,
        (true, true) => ((score - least) / (best - least)).clamp(0.0, 1.0),
    };
    scores.iter().map(|score| scale(*score)).collect()
}

/// Merges both rankings, best first. A candidate missing from one ranking gets nothing from it.
/// Ties keep their input order, words first.
#[must_use]
pub fn weighted<K: Eq + Hash + Clone>(words: &[(K, f64)], meaning: &[(K, f64)], share: f64) -> Vec<(K, f64)> {
    let share = share.clamp(0.0, 1.0);
    let scores = |list: &[(K, f64)]| list.iter().map(|(_, score)| *score).collect::<Vec<_>>();
    let by_words = by_best(&scores(words)).into_iter().map(|score| score * (1.0 - share));
    let by_meaning = by_range(&scores(meaning)).into_iter().map(|score| score * share);
    let mut place: HashMap<K, usize> = HashMap::new();
    let mut fused: Vec<(K, f64)> = Vec::new();
    let keys = words.iter().chain(meaning).map(|(key, _)| key);
    for (key, score) in keys.zip(by_words.chain(by_meaning)) {
        let at = *place.entry(key.clone()).or_insert_with(|| {
            fused.push((key.clone(), 0.0));
            fused.len() - 1
        });
        if let Some((_, sum)) = fused.get_mut(at) {
            *sum += score;
        }
    }
    fused.sort_by(|a, b| b.1.total_cmp(&a.1));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranking() -> impl Strategy<Value = Vec<(u8, f64)>> {
        prop::collection::btree_map(0_u8..30, 0.0_f64..20.0, 0..20).prop_map(|map| map.into_iter().collect())
    }

    #[test]
    fn the_best_of_both_stands_first() {
        let fused = weighted(&[("a", 9.0), ("b", 8.0)], &[("b", 0.9), ("c", 0.8), ("d", 0.2)], 0.5);
        let order: Vec<&str> = fused.iter().map(|(key, _)| *key).collect();
        assert_eq!(order, ["b", "a", "c", "d"]);
    }

    #[test]
    fn scales_of_nothing_and_of_one() {
        assert_eq!(by_best(&[]), Vec::<f64>::new());
        assert_eq!(by_best(&[0.0, -1.0, f64::NAN]), [0.0, 0.0, 0.0]);
        assert_eq!(by_best(&[4.0, 1.0]), [1.0, 0.25]);
        assert_eq!(by_range(&[0.3]), [1.0]);
        assert_eq!(by_range(&[0.3, f64::NAN, 0.1]), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn the_ranking_that_separates_candidates_better_weighs_more() {
        let (plain, vague) = ([9.0, 1.0, 1.0, 1.0], [0.50, 0.49, 0.49, 0.48, 0.47, 0.40]);
        let even = share(&plain, &by_range(&plain));
        assert!(share(&plain, &by_range(&vague)) < even && share(&vague, &by_range(&plain)) > even);
        assert_eq!(share(&plain, &[]), 0.0, "nothing is known of meaning");
        assert!(share(&[], &by_range(&vague)) > MEANING, "no word matches");
    }

    #[test]
    fn a_similarity_counts_from_the_usual_one() {
        assert_eq!([0.2, 0.4, 0.6].map(|one| above(one, 0.4, 0.6)), [0.0, 0.0, 1.0]);
        assert_eq!(above(0.4, 0.4, 0.4), 1.0, "all are equal");
    }

    proptest! {
        #[test]
        fn neither_is_ever_left_alone(words in prop::collection::vec(0.0_f64..20.0, 0..30), meaning in prop::collection::vec(-1.0_f64..1.0, 1..30)) {
            let share = share(&words, &meaning);
            prop_assert!((MEANING - SWAY..=MEANING + SWAY).contains(&share), "{share}");
        }

        #[test]
        fn the_fused_list_holds_each_key_once_in_order(words in ranking(), meaning in ranking(), share in 0.0_f64..1.0) {
            let fused = weighted(&words, &meaning, share);
            let mut keys: Vec<u8> = fused.iter().map(|(key, _)| *key).collect();
            prop_assert!(fused.windows(2).all(|pair| pair[0].1 >= pair[1].1));
            prop_assert!(fused.iter().all(|(_, score)| (0.0..=1.0 + 1e-9).contains(score)));
            keys.sort_unstable();
            let mut all: Vec<u8> = words.iter().chain(&meaning).map(|(key, _)| *key).collect();
            all.sort_unstable();
            all.dedup();
            prop_assert_eq!(keys, all);
        }

        #[test]
        fn without_meaning_words_alone_decide(words in ranking(), share in 0.0_f64..0.99) {
            let mut alone = words.clone();
            alone.sort_by(|a, b| b.1.total_cmp(&a.1));
            let fused = weighted(&words, &[], share);
            let order = |list: &[(u8, f64)]| list.iter().map(|(key, _)| *key).collect::<Vec<_>>();
            prop_assert_eq!(order(&fused), order(&alone));
        }

        #[test]
        fn a_better_score_never_stands_lower(words in ranking(), meaning in ranking(), share in 0.01_f64..0.99, more in 0.1_f64..5.0) {
            prop_assume!(words.len() > 1);
            let at = |list: &[(u8, f64)], key: u8| list.iter().position(|(other, _)| *other == key);
            let best = words.iter().map(|(_, score)| *score).fold(0.0, f64::max);
            let key = words[0].0;
            let mut raised = words.clone();
            // Not above the best, which would rescale all others.
            raised[0].1 = (raised[0].1 + more).min(best);
            prop_assert!(at(&weighted(&raised, &meaning, share), key) <= at(&weighted(&words, &meaning, share), key));
        }
    }
}
