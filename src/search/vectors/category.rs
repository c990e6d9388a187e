//! Categories of knowledge, by meaning.
//!
//! Facts, notes and points of a daily note belong to the category that they state; else to the one
//! named after their title, which all passages of a note share; else each is a category of its own,
//! identified by its text. The centre of a category is the mean direction of all entries that state
//! it or have its title. It is a running sum, so it is never out of date and is not stored.
//!
//! A query also searches a category for entries that state none and lie near enough to its centre
//! ([`NEAR_ENOUGH`]). These do not move the centre: so the order of arrival is irrelevant, and a
//! rebuilt index has the same categories. Untrusted entries have categories of their own, because
//! they must not influence where trusted entries are searched for.

use std::collections::HashMap;

use crate::store::EntryKind;
use crate::text::fold;

/// Minimum cosine for an entry without a category to join one: 0.7, measured as `1 / (1 +
/// distance)` between vectors of length one.
pub(super) const NEAR_ENOUGH: f32 = 0.908;

/// Memory of a category with its name, without its centre.
const BESIDES: usize = size_of::<Category>() * 2;

/// Category membership of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum CategoryRef {
    /// None: running text, files, conversations. Searches find them without one.
    Nowhere,
    /// A category of its own.
    Alone,
    /// The category with that id.
    To(u32),
}

/// Name of a category.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Name {
    /// Stated by its members.
    Stated(String),
    /// Title of its members.
    Titled(String),
}

#[derive(Debug, Default)]
pub(super) struct Categories {
    ids: HashMap<(Name, bool), u32>,
    all: Vec<Category>,
    bytes: usize,
}

#[derive(Debug)]
struct Category {
    name: Name,
    is_trusted: bool,
    members: u32,
    /// First member. While it is the only one, there is no sum: most titles belong to a single
    /// note.
    first: usize,
    sum: Vec<f32>,
    length: f32,
}

/// Normalises a name for comparison: ignores case and accents, also of letters that Unicode does
/// not decompose.
pub(in crate::search) fn folded(name: &str) -> String {
    fold::fold(name.trim()).to_lowercase()
}

/// Returns true if entries of that kind belong to categories.
pub(in crate::search) fn has_category(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Fact | EntryKind::Note | EntryKind::Day)
}

impl Categories {
    /// Returns the category of an entry. Creates one for a new name.
    pub(super) fn place(&mut self, kind: EntryKind, category: &str, title: &str, is_trusted: bool) -> CategoryRef {
        if !has_category(kind) {
            return CategoryRef::Nowhere;
        }
        let name = match (folded(category), folded(title)) {
            (category, _) if !category.is_empty() => Name::Stated(category),
            (_, title) if !title.is_empty() => Name::Titled(title),
            _ => return CategoryRef::Alone,
        };
        let next = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        let id = *self.ids.entry((name.clone(), is_trusted)).or_insert(next);
        if id == next {
            self.all.push(Category { name, is_trusted, members: 0, first: 0, sum: Vec::new(), length: 0.0 });
            self.bytes += BESIDES;
        }
        CategoryRef::To(id)
    }

    /// Returns the category of that name.
    pub(super) fn of(&self, category: &str, is_trusted: bool) -> CategoryRef {
        let id = self.ids.get(&(Name::Stated(folded(category)), is_trusted));
        id.map_or(CategoryRef::Nowhere, |id| CategoryRef::To(*id))
    }

    /// Adds the vector in that row to a category; `vector_of` returns the vector of an earlier row.
    pub(super) fn add(&mut self, id: u32, row: usize, vector: &[f32], vector_of: impl FnOnce(usize) -> Vec<f32>) {
        let Some(category) = self.get_mut(id) else { return };
        category.members += 1;
        match category.members {
            1 => category.first = row,
            2 => {
                category.sum = vector_of(category.first);
                category.add_vector(vector);
                self.bytes += size_of_val(vector);
            }
            _ => category.add_vector(vector),
        }
    }

    pub(super) fn name_of(&self, id: u32) -> Option<&Name> {
        self.get(id).map(|category| &category.name)
    }

    /// Returns the nearness of the centre to a vector; `None` if there is only one member, which
    /// then serves as the centre.
    pub(super) fn nearness(&self, id: u32, vector: &[f32]) -> Option<f32> {
        self.get(id)?.nearness(vector)
    }

    /// Returns the centre as a vector of length one.
    pub(super) fn centre(&self, id: u32) -> Option<Vec<f32>> {
        let category = self.get(id).filter(|category| category.members > 1 && category.length > 0.0)?;
        Some(category.sum.iter().map(|number| number / category.length).collect())
    }

    /// Returns true if any category has its centre nearer to the vector than `than`.
    pub(super) fn is_nearer_elsewhere(&self, vector: &[f32], is_trusted: bool, than: f32) -> bool {
        let alike = self.all.iter().filter(|category| category.is_trusted == is_trusted);
        alike.filter_map(|category| category.nearness(vector)).any(|nearness| nearness > than)
    }

    /// Returns the maximum memory for one more member with vectors of that length.
    pub(super) fn most_bytes(length: usize) -> usize {
        BESIDES + length * size_of::<f32>()
    }

    /// Returns the memory of all categories in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn get(&self, id: u32) -> Option<&Category> {
        self.all.get(usize::try_from(id).ok()?)
    }

    fn get_mut(&mut self, id: u32) -> Option<&mut Category> {
        self.all.get_mut(usize::try_from(id).ok()?)
    }
}

impl Category {
    fn add_vector(&mut self, vector: &[f32]) {
        self.sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += number);
        self.length = self.sum.iter().map(|number| number * number).sum::<f32>().sqrt();
    }

    fn nearness(&self, vector: &[f32]) -> Option<f32> {
        (self.members > 1 && self.length > 0.0).then(|| dot(&self.sum, vector) / self.length)
    }
}

/// Returns the dot product.
pub(super) fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(vectors: &[(&'static str, [f32; 2])]) -> Categories {
        let mut categories = Categories::default();
        for (row, (name, vector)) in vectors.iter().enumerate() {
            let CategoryRef::To(id) = categories.place(EntryKind::Fact, name, "", true) else { unreachable!() };
            categories.add(id, row, vector, |row| vectors[row].1.to_vec());
        }
        categories
    }

    #[test]
    fn an_entry_belongs_to_what_it_states_else_to_its_title_else_to_itself() {
        let mut categories = Categories::default();
        let mut place = |kind, category, title| categories.place(kind, category, title, true);
        let tea = place(EntryKind::Fact, "Preference", "tea");
        assert_eq!(place(EntryKind::Note, " preference", "coffee"), tea);
        let boat = place(EntryKind::Note, "", "The boat");
        assert_eq!(place(EntryKind::Note, "", "the BOAT"), boat);
        assert_ne!(boat, tea);
        assert_eq!(place(EntryKind::Day, "", ""), CategoryRef::Alone);
        for kind in [EntryKind::Text, EntryKind::File, EntryKind::Conversation, EntryKind::Reflection] {
            assert_eq!(place(kind, "preference", "The boat"), CategoryRef::Nowhere, "{kind:?}");
        }
        assert_ne!(categories.place(EntryKind::Fact, "preference", "", false), tea, "what is not trusted is apart");
    }

    #[test]
    fn a_centre_is_the_mean_direction_of_at_least_two() {
        let categories = filled(&[("a", [1.0, 0.0]), ("b", [0.0, 1.0]), ("a", [0.0, 1.0])]);
        let (CategoryRef::To(a), CategoryRef::To(b)) = (categories.of("A", true), categories.of("b", true)) else {
            unreachable!()
        };
        assert!((categories.nearness(a, &[1.0, 0.0]).unwrap() - 0.5_f32.sqrt()).abs() < 1e-6);
        assert_eq!((categories.nearness(b, &[0.0, 1.0]), categories.centre(b)), (None, None));
        assert_eq!(categories.of("c", true), CategoryRef::Nowhere);
        assert!(categories.is_nearer_elsewhere(&[0.7, 0.7], true, 0.98));
        assert!(!categories.is_nearer_elsewhere(&[0.7, 0.7], false, 0.0));
    }

    #[test]
    fn the_threshold_is_the_one_of_distances() {
        let distance = (2.0 - 2.0 * f64::from(NEAR_ENOUGH)).sqrt();
        assert!((1.0 / (1.0 + distance) - 0.7).abs() < 0.001);
    }

    proptest! {
        #[test]
        fn the_order_in_which_things_came_decides_nothing(
            (given, shuffled) in prop::collection::vec((0_usize..3, 0.1_f32..1.0, 0.1_f32..1.0), 0..20)
                .prop_flat_map(|given| (Just(given.clone()), Just(given).prop_shuffle()))
        ) {
            let of = |given: &[(usize, f32, f32)]| {
                filled(&given.iter().map(|(name, x, y)| (["a", "b", "c"][*name], [*x, *y])).collect::<Vec<_>>())
            };
            let (one, other) = (of(&given), of(&shuffled));
            for name in ["a", "b", "c"] {
                let near = |all: &Categories| match all.of(name, true) {
                    CategoryRef::To(id) => all.nearness(id, &[0.6, 0.8]),
                    _ => None,
                };
                match (near(&one), near(&other)) {
                    (Some(a), Some(b)) => prop_assert!((a - b).abs() < 1e-4, "{} {}", a, b),
                    (a, b) => prop_assert_eq!(a, b),
                }
            }
        }
    }
}
