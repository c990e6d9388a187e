//! Exhaustive scan of a cache for the nearest vectors and categories.
//!
//! Every vector is compared; there is no index to build, and nothing is missed. For entries the
//! same scan returns the three categories whose centres are nearest to the query, and the nearest
//! members of each, however far behind the other entries: so a large category does not crowd out a
//! small one. A query limited to kinds, a category or digests skips the other entries.

use std::collections::HashSet;

use vector_math::dot_of_bytes;

use super::category::{CategoryRef, NEAR_ENOUGH, Name, dot};
use super::vector_cache::{Digest, EntryRef, VectorCache, digest_of, in_bytes};
use crate::store::EntryKind;

/// Factor by which candidates for the exact comparison outnumber the wanted results.
const CLOSER_LOOK: usize = 3;
/// Number of best categories.
const CATEGORIES: usize = 3;
/// Number of members of each.
const INSIDE: usize = 20;
/// Number of texts that are compared with each other.
const SAMPLE: usize = 128;
/// Number of standard deviations above the average pair of texts from which a similarity means
/// something. How it was chosen: `docs/retrieval.md`.
const CLEAR: f64 = 1.4;
/// Number of texts from which their pairs say what is usual. Fewer ask for less.
const FEW: usize = 32;

/// Filter for entries.
#[derive(Debug, Clone, Default)]
pub struct EntryFilter {
    /// Include untrusted entries.
    pub untrusted_too: bool,
    /// Only these kinds; all if empty.
    pub kinds: Vec<EntryKind>,
    /// Only entries that state this category.
    pub category: Option<String>,
    /// Only entries with one of these digests.
    pub only: Option<HashSet<String>>,
    /// Maximum number of results, not counting the members of the best categories.
    pub limit: usize,
}

/// The categories nearest to a query, identified by what their members have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BestCategories {
    /// Categories stated by entries.
    pub stated: HashSet<String>,
    /// Categories named after titles.
    pub titled: HashSet<String>,
    /// Digests of entries that form a category of their own, or are near to one of the best.
    pub single: HashSet<String>,
    /// Digests of the nearest members of each category.
    pub members: HashSet<String>,
    /// Average nearness of all entries. An entry that is not nearer is unrelated to the query.
    pub mean_similarity: f64,
    /// Similarity from which an entry says something about the query.
    pub least_similarity: f64,
}

/// One of the best categories.
struct Best {
    belongs: CategoryRef,
    row: usize,
    is_trusted: bool,
    nearness: f32,
    centre: Vec<f32>,
}

impl VectorCache {
    /// Returns the digests of the approximately nearest vectors, in no order, the average nearness
    /// of all, and the nearness from which a text says something about the query.
    pub(super) fn nearest(&self, vector: &[f32], untrusted_too: bool, limit: usize) -> (Vec<Digest>, (f64, f64)) {
        let mut scored = self.scored(vector, |row| untrusted_too || self.is_trusted(row));
        let (mean_similarity, least_similarity) = (average(&scored), self.least_similarity(&scored));
        nearest_first(&mut scored, limit.saturating_mul(CLOSER_LOOK));
        (self.digests_of(scored.iter().map(|(_, row)| *row)), (mean_similarity, least_similarity))
    }

    /// Returns the nearness from which a text says something about a query. The measure is how
    /// similar the scanned texts are to each other, equal ones apart: models differ in what is far
    /// and near, and so do people in the number of things that they talk about.
    fn least_similarity(&self, scored: &[(f32, usize)]) -> f64 {
        const EQUAL: f64 = 0.98;
        let step = scored.len().div_ceil(SAMPLE).max(1);
        let rows: Vec<usize> = scored.iter().step_by(step).map(|(_, row)| *row).collect();
        let numbers = |row: usize| self.numbers.get(row * self.length..(row + 1) * self.length).unwrap_or_default();
        let factor = |row: usize| self.factors.get(row).copied().unwrap_or_default();
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (at, one) in rows.iter().enumerate() {
            for other in rows.iter().skip(at + 1) {
                let nearness = product(numbers(*one), numbers(*other)) * factor(*one) * factor(*other);
                let nearness = f64::from(nearness);
                if nearness < EQUAL {
                    (count, sum, squares) = (count + 1.0, sum + nearness, squares + nearness * nearness);
                }
            }
        }
        let mean = sum / f64::max(count, 1.0);
        let deviation = (squares / f64::max(count, 1.0) - mean * mean).max(0.0).sqrt();
        mean + CLEAR * deviation * (scored.len() as f64 / FEW as f64).min(1.0)
    }

    /// Returns the nearest entries, and the nearest members of the best categories.
    pub(super) fn entries(&self, vector: &[f32], wanted: &EntryFilter) -> (Vec<Digest>, BestCategories) {
        let within = wanted.category.as_deref().map(|name| [true, false].map(|trust| self.categories.of(name, trust)));
        let only =
            wanted.only.as_ref().map(|only| only.iter().filter_map(|one| digest_of(one)).collect::<HashSet<_>>());
        let is_one = |row| only.as_ref().is_none_or(|only| self.digests.get(row).is_some_and(|one| only.contains(one)));
        let mut scored = self.scored(vector, |row| {
            let Some(place) = self.places.get(row) else { return false };
            (wanted.untrusted_too || self.is_trusted(row))
                && (wanted.kinds.is_empty() || wanted.kinds.contains(&place.kind))
                && is_one(row)
                && within.is_none_or(|any| place.belongs != CategoryRef::Nowhere && any.contains(&place.belongs))
        });
        let (mean_similarity, least_similarity) = (average(&scored), self.least_similarity(&scored));
        let best = self.best(&scored, vector);
        let mut rows: Vec<usize> = best.iter().flat_map(|one| self.inside(one, &scored)).collect();
        nearest_first(&mut scored, wanted.limit.saturating_mul(CLOSER_LOOK));
        let near: Vec<usize> = scored.into_iter().map(|(_, row)| row).collect();
        let joined = near.iter().copied().filter(|row| self.joins(*row, &best)).collect::<Vec<_>>();
        let mut categories = BestCategories { mean_similarity, least_similarity, ..self.named(&best, &joined) };
        categories.members = self.digests_of(rows.iter().copied()).iter().map(hex::encode).collect();
        rows.extend(near);
        (self.digests_of(rows.into_iter()), categories)
    }

    /// Returns each wanted row with its approximate nearness.
    fn scored(&self, vector: &[f32], is_wanted: impl Fn(usize) -> bool) -> Vec<(f32, usize)> {
        let (scale, asked) = in_bytes(vector);
        let rows = self.numbers.chunks_exact(self.length.max(1)).zip(&self.factors).enumerate();
        let wanted = rows.filter(|(row, _)| is_wanted(*row));
        wanted.map(|(at, (row, factor))| (product(row, &asked) * factor * scale, at)).collect()
    }

    /// Returns the best categories with a member in the scan, nearest first.
    fn best(&self, scored: &[(f32, usize)], vector: &[f32]) -> Vec<Best> {
        let mut best: Vec<Best> = Vec::new();
        let mut met: HashSet<u32> = HashSet::new();
        for (nearness, row) in scored {
            let belongs = self.belongs(*row);
            let nearness = match belongs {
                CategoryRef::Nowhere => continue,
                CategoryRef::Alone => *nearness,
                CategoryRef::To(category) if met.insert(category) => {
                    self.categories.nearness(category, vector).unwrap_or(*nearness)
                }
                CategoryRef::To(_) => continue,
            };
            if best.len() < CATEGORIES || best.last().is_some_and(|last| last.nearness < nearness) {
                let one = Best { belongs, row: *row, is_trusted: self.is_trusted(*row), nearness, centre: Vec::new() };
                best.push(one);
                best.sort_by(|a, b| self.in_order(a, b));
                best.truncate(CATEGORIES);
            }
        }
        for one in &mut best {
            let centre =
                if let CategoryRef::To(category) = one.belongs { self.categories.centre(category) } else { None };
            one.centre = centre.unwrap_or_else(|| self.vector(one.row));
        }
        best
    }

    /// Orders by nearness, then by name, then by digest.
    fn in_order(&self, one: &Best, other: &Best) -> std::cmp::Ordering {
        let name =
            |best: &Best| if let CategoryRef::To(id) = best.belongs { self.categories.name_of(id) } else { None };
        let digest = |best: &Best| self.digests.get(best.row);
        let by_name = || name(one).cmp(&name(other)).then_with(|| digest(one).cmp(&digest(other)));
        other.nearness.total_cmp(&one.nearness).then_with(by_name)
    }

    /// Returns the nearest members of a category.
    fn inside(&self, one: &Best, scored: &[(f32, usize)]) -> Vec<usize> {
        if one.belongs == CategoryRef::Alone {
            return vec![one.row];
        }
        let mut members: Vec<(f32, usize)> =
            scored.iter().filter(|(_, row)| self.belongs(*row) == one.belongs).copied().collect();
        nearest_first(&mut members, INSIDE);
        members.into_iter().map(|(_, row)| row).collect()
    }

    /// Returns true if an entry without a stated category is near enough to one of the best, and
    /// not nearer to another one.
    fn joins(&self, row: usize, best: &[Best]) -> bool {
        let states_none = match self.belongs(row) {
            CategoryRef::Nowhere => false,
            CategoryRef::Alone => true,
            CategoryRef::To(id) => matches!(self.categories.name_of(id), Some(Name::Titled(_))),
        };
        let others = best.iter().filter(|one| one.row != row && one.is_trusted == self.is_trusted(row));
        if !states_none || others.clone().next().is_none() {
            return false;
        }
        let vector = self.vector(row);
        let nearest = others.map(|one| dot(&one.centre, &vector)).fold(f32::NEG_INFINITY, f32::max);
        nearest >= NEAR_ENOUGH && !self.categories.is_nearer_elsewhere(&vector, self.is_trusted(row), nearest + 1e-4)
    }

    fn named(&self, best: &[Best], joined: &[usize]) -> BestCategories {
        let mut named = BestCategories::default();
        for one in best {
            let name = if let CategoryRef::To(id) = one.belongs { self.categories.name_of(id) } else { None };
            match name {
                Some(Name::Stated(name)) => drop(named.stated.insert(name.clone())),
                Some(Name::Titled(name)) => drop(named.titled.insert(name.clone())),
                None => named.single.extend(self.digests.get(one.row).map(hex::encode)),
            }
        }
        named.single.extend(joined.iter().filter_map(|row| self.digests.get(*row)).map(hex::encode));
        named
    }

    fn belongs(&self, row: usize) -> CategoryRef {
        self.places.get(row).map_or(CategoryRef::Nowhere, |EntryRef { belongs, .. }| *belongs)
    }

    fn is_trusted(&self, row: usize) -> bool {
        self.trusted.get(row).copied().unwrap_or_default()
    }

    fn digests_of(&self, rows: impl Iterator<Item = usize>) -> Vec<Digest> {
        let mut seen = HashSet::new();
        rows.filter_map(|row| self.digests.get(row)).copied().filter(|digest| seen.insert(*digest)).collect()
    }
}

/// Returns the average nearness.
fn average(scored: &[(f32, usize)]) -> f64 {
    scored.iter().map(|(nearness, _)| f64::from(*nearness)).sum::<f64>() / scored.len().max(1) as f64
}

/// Keeps the nearest `count`, in no order.
fn nearest_first(scored: &mut Vec<(f32, usize)>, count: usize) {
    if scored.len() > count {
        if count > 0 {
            scored.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0));
        }
        scored.truncate(count);
    }
}

/// Returns the dot product.
fn product(one: &[i8], other: &[i8]) -> f32 {
    #[allow(clippy::cast_precision_loss, reason = "it is an estimate; the exact figure follows")]
    let sum = dot_of_bytes(one, other) as f32;
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(numbers: &[f32]) -> Vec<f32> {
        let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
        numbers.iter().map(|number| number / length).collect()
    }

    fn vectors() -> impl Strategy<Value = (Vec<f32>, Vec<f32>)> {
        (1_usize..100).prop_flat_map(|length| {
            let vector = || prop::collection::vec(-1.0_f32..1.0, length);
            (vector(), vector())
        })
    }

    proptest! {
        #[test]
        fn bytes_are_near_enough_to_floats((one, other) in vectors()) {
            prop_assume!(one.iter().any(|number| number.abs() > 0.01) && other.iter().any(|number| number.abs() > 0.01));
            let (one, other) = (unit(&one), unit(&other));
            let cache = VectorCache::of(&[(1, true, None, one.clone())]);
            let estimate = cache.scored(&other, |_| true)[0].0;
            prop_assert!((dot(&one, &other) - estimate).abs() < 0.05);
        }
    }

    #[test]
    fn the_walk_finds_the_nearest_and_passes_over_what_is_not_trusted() {
        let rows = [(0, vec![1.0, 0.0, 0.0]), (1, vec![0.0, 1.0, 0.0]), (2, vec![0.6, 0.8, 0.0])];
        let cache = VectorCache::of(&rows.map(|(digest, vector)| (digest, digest != 1, None, vector)));
        let nearest = |untrusted_too, limit| cache.nearest(&[0.0, 1.0, 0.0], untrusted_too, limit).0;
        assert_eq!((nearest(true, 1).len(), nearest(true, 0).len()), (3, 0));
        assert!(!nearest(false, 9).contains(&[1; 32]));
        let mut scored = cache.scored(&[0.0, 1.0, 0.0], |_| true);
        nearest_first(&mut scored, 1);
        assert_eq!(scored[0].1, 1);
    }

    #[test]
    fn a_similarity_means_something_above_that_of_most_pairs() {
        let least = |rows: &[_]| VectorCache::of(rows).nearest(&[1.0, 0.0, 0.0], true, 1).1.1;
        let row = |n: u8| (n, true, None, unit(&[1.0, f32::from(n % 8), f32::from(n % 3)]));
        let [few, many, more] = [8, 32, 64].map(|count| least(&(0..count).map(row).collect::<Vec<_>>()));
        assert!(few < many, "few texts ask for less: {few}, {many}");
        assert!((many - more).abs() < 0.1, "many repetitions change little: {many}, {more}");
        let pair = [row(1), row(7)];
        assert!((least(&pair) - f64::from(dot(&pair[0].3, &pair[1].3))).abs() < 0.05, "the only pair");
        assert!(least(&[row(3), row(27)]).abs() < 1e-9 && least(&[]).abs() < 1e-9, "equal texts say nothing");
    }

    fn fact<'a>(category: &'a str, title: &'a str) -> Option<(EntryKind, &'a str, &'a str)> {
        Some((EntryKind::Fact, category, title))
    }

    #[test]
    fn the_best_categories_are_the_ones_whose_centres_are_near() {
        // The best member of `mixed` is the nearest entry of all, but the centre of `home` is
        // nearer than the centre of `mixed`.
        let cache = VectorCache::of(&[
            (1, true, fact("mixed", "a"), unit(&[1.0, 0.0, 0.0])),
            (2, true, fact("mixed", "b"), unit(&[-1.0, 0.3, 0.0])),
            (3, true, fact("home", "c"), unit(&[0.8, 0.0, 0.6])),
            (4, true, fact("home", "d"), unit(&[0.8, 0.0, 0.5])),
            (5, true, fact("far", "e"), unit(&[0.0, 1.0, 0.0])),
            (6, true, fact("far", "f"), unit(&[0.0, 1.0, 0.1])),
            (7, true, fact("further", "g"), unit(&[-0.9, 0.0, 0.1])),
            (8, true, Some((EntryKind::File, "", "")), unit(&[1.0, 0.01, 0.0])),
        ]);
        let wanted = EntryFilter { limit: 1, ..EntryFilter::default() };
        let (digests, best) = cache.entries(&[1.0, 0.0, 0.0], &wanted);
        assert_eq!(best.stated, ["home", "mixed", "far"].map(str::to_owned).into());
        assert_eq!((best.titled.len(), best.single.len()), (0, 0));
        assert!(!best.members.contains(&hex::encode([8; 32])));
        assert!(digests.contains(&[2; 32]), "a member of one of the best, though others are nearer");
        assert!(!digests.contains(&[7; 32]));
    }

    /// Proves: search/categories
    #[test]
    fn an_entry_without_category_joins_a_near_one_or_forms_its_own() {
        let cache = VectorCache::of(&[
            (1, true, fact("tea", "a"), unit(&[1.0, 0.0, 0.1])),
            (2, true, fact("tea", "b"), unit(&[1.0, 0.0, -0.1])),
            (3, true, fact("", "near"), unit(&[1.0, 0.1, 0.0])),
            (4, true, fact("", "by itself"), unit(&[0.6, 0.8, 0.0])),
            (5, true, fact("other", "c"), unit(&[0.0, 0.0, 1.0])),
            (6, true, fact("", ""), unit(&[-1.0, 0.0, 0.0])),
            (7, false, fact("", ""), unit(&[1.0, 0.0, 0.0])),
        ]);
        let (_, best) = cache.entries(&[1.0, 0.0, 0.0], &EntryFilter { limit: 9, ..EntryFilter::default() });
        assert!(best.stated.contains("tea") && best.titled.contains("near") && best.titled.contains("by itself"));
        assert_eq!(
            best.single,
            [hex::encode([3; 32])].into(),
            "it is near to tea as well, and what is not trusted is not met"
        );
        let untrusted_too = EntryFilter { limit: 9, untrusted_too: true, ..EntryFilter::default() };
        let (_, best) = cache.entries(&[1.0, 0.0, 0.0], &untrusted_too);
        assert!(best.single.contains(&hex::encode([7; 32])), "it is a category by itself");
    }

    #[test]
    fn a_question_that_is_limited_finds_what_is_behind_everything_else() {
        let mut rows: Vec<_> =
            (0..100_u8).map(|n| (n, true, fact("large", ""), unit(&[1.0, f32::from(n) / 1e4, 0.0]))).collect();
        rows.push((200, true, fact("small", ""), unit(&[-1.0, 0.0, 0.0])));
        rows.push((201, true, Some((EntryKind::Note, "", "n")), unit(&[-1.0, 0.1, 0.0])));
        let cache = VectorCache::of(&rows);
        let find = |wanted: EntryFilter| cache.entries(&[1.0, 0.0, 0.0], &wanted).0;
        assert_eq!(
            find(EntryFilter { category: Some("SMALL".to_owned()), limit: 5, ..EntryFilter::default() }),
            [[200; 32]]
        );
        assert_eq!(
            find(EntryFilter { category: Some("none".to_owned()), limit: 5, ..EntryFilter::default() }),
            [[0; 32]; 0]
        );
        assert_eq!(find(EntryFilter { kinds: vec![EntryKind::Note], limit: 5, ..EntryFilter::default() }), [[201; 32]]);
        assert!(
            find(EntryFilter { limit: 5, ..EntryFilter::default() }).contains(&[200; 32]),
            "the second best category"
        );
    }
}
