//! Vectors in memory.
//!
//! Each number is a signed byte, with one factor for the whole vector. This takes a quarter of the
//! memory of floats, and a scan is bound by memory bandwidth. The nearest candidates are compared
//! again with the exact vectors, so order and scores are those of the floats. A vector takes one
//! byte for each number plus 64: 100,000 vectors of 768 numbers take 80 MiB. At most [`MOST_BYTES`]
//! are kept. The scope with the oldest query is evicted first; among scopes without a query, the
//! one that was loaded last. No cache takes more than half, so the messages and the knowledge of
//! one person fit together. Where a cache is full, the oldest texts are left to full-text search.
//!
//! A cache is filled in steps, newest texts first. No lock is held while the journal is read; a
//! step that another task has completed meanwhile is discarded.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::category::{Categories, CategoryRef};
use crate::store::{Corpus, Db, EntryKind, Read};
use crate::trust::Scope;

/// Memory limit for all vectors, in bytes.
const MOST_BYTES: usize = 192 << 20;
/// Memory overhead of one vector, in bytes.
const BESIDES: usize = 64;
/// Share of a cache that existing texts may fill; the rest is for later ones.
const FOR_OLD: (usize, usize) = (7, 8);

/// A corpus and the scope whose vectors it holds.
pub(super) type Key = (Corpus, Scope);
/// SHA-256 of a text.
pub(super) type Digest = [u8; 32];

/// All vectors in memory.
pub(super) struct VectorCaches {
    model: String,
    caches: HashMap<Key, VectorCache>,
    /// Query counter.
    asked: u64,
    /// Number of caches created so far.
    begun: u64,
    /// Memory limit, in bytes.
    most: usize,
}

/// The vectors of one scope.
#[derive(Default)]
pub(super) struct VectorCache {
    read: Option<Read>,
    is_current: bool,
    asked: u64,
    /// Creation order.
    begun: u64,
    /// Vectors added since the initial load. Vectors of deleted texts are still among the others.
    added: usize,
    /// Short hashes of the stored rows. On a collision one of the two rows is not stored.
    seen: HashSet<u64>,
    pub(super) length: usize,
    pub(super) digests: Vec<Digest>,
    pub(super) trusted: Vec<bool>,
    pub(super) factors: Vec<f32>,
    pub(super) numbers: Vec<i8>,
    /// Kind and category of each entry; empty for texts that are no entries.
    pub(super) places: Vec<EntryRef>,
    pub(super) categories: Categories,
}

/// Kind and category of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EntryRef {
    pub(super) kind: EntryKind,
    pub(super) belongs: CategoryRef,
}

/// Result of one loading step.
pub(super) struct LoadStep {
    from: Option<Read>,
    to: Read,
    is_current: bool,
    rows: Vec<VectorRow>,
}

struct VectorRow {
    digest: Digest,
    is_trusted: bool,
    entry: Option<(EntryKind, String, String)>,
    factor: f32,
    numbers: Vec<i8>,
}

impl VectorRow {
    /// Upper bound of the memory that this row takes. An entry may be the first of its category, or
    /// the second, with which the category gets a centre.
    fn most_bytes(&self) -> usize {
        let centre = if self.entry.is_some() { Categories::most_bytes(self.numbers.len()) } else { 0 };
        self.numbers.len() + BESIDES + centre
    }
}

impl LoadStep {
    /// Reads the next step of a cache whose vectors have `length` numbers.
    pub(super) fn read(db: Db<'_>, model: &str, key: Key, length: usize, from: Option<Read>) -> anyhow::Result<Self> {
        let begin = from.map_or_else(|| db.embeddings().begin_vectors(key.0), Ok)?;
        let mut rows = Vec::new();
        let (to, is_current) = db.embeddings().read_vectors(key, model, begin, |one| {
            let Some(digest) = digest_of(one.digest).filter(|_| one.vector.len() == length) else { return };
            let (factor, numbers) = in_bytes(&one.vector);
            let entry = one.kind.map(|kind| (kind, one.category.to_owned(), one.name.to_owned()));
            rows.push(VectorRow { digest, is_trusted: one.is_trusted, entry, factor, numbers });
        })?;
        Ok(Self { from, to, is_current, rows })
    }
}

impl Default for VectorCaches {
    fn default() -> Self {
        Self { model: String::new(), caches: HashMap::new(), asked: 0, begun: 0, most: MOST_BYTES }
    }
}

impl VectorCaches {
    /// Returns the loading progress of the cache for that key and model.
    pub(super) fn read_upto(&mut self, model: &str, key: Key) -> Option<Read> {
        if self.model != model {
            *self = Self { model: model.to_owned(), most: self.most, ..Self::default() };
        }
        self.caches.get(&key).and_then(|cache| cache.read)
    }

    /// Adds a step to its cache. Returns whether everything that existed when loading began is
    /// present, and whether nothing is left to read.
    pub(super) fn put(&mut self, model: &str, key: Key, length: usize, step: LoadStep) -> (bool, bool) {
        if self.model != model {
            return (false, false);
        }
        let most = self.most / 2;
        let cache = self.cache(key);
        if cache.read == step.from {
            cache.length = length;
            cache.take(step, most);
        }
        let state = (cache.is_whole(), cache.is_current);
        // Without room for this cache, reading on is pointless.
        if self.evict(key) { state } else { (false, true) }
    }

    /// Registers a query for that key, so the cache keeps its room until its query is the oldest.
    pub(super) fn request(&mut self, key: Key) {
        self.asked += 1;
        let asked = self.asked;
        self.cache(key).asked = asked;
    }

    /// Returns the cache of that key for a query.
    pub(super) fn ask(&mut self, key: Key) -> Option<&VectorCache> {
        self.asked += 1;
        let cache = self.caches.get_mut(&key)?;
        cache.asked = self.asked;
        Some(cache)
    }

    /// Returns true if more vectors fit.
    pub(super) fn has_capacity(&self) -> bool {
        self.bytes() < self.most
    }

    /// Returns the number of vectors.
    pub(super) fn count(&self) -> usize {
        self.caches.values().map(|cache| cache.digests.len()).sum()
    }

    fn bytes(&self) -> usize {
        self.caches.values().map(VectorCache::bytes).sum()
    }

    fn cache(&mut self, key: Key) -> &mut VectorCache {
        self.caches.entry(key).or_insert_with(|| {
            self.begun += 1;
            VectorCache { begun: self.begun, ..VectorCache::default() }
        })
    }

    /// Evicts caches until the limit is met. Returns whether the cache of that key stays; one with
    /// a query does.
    fn evict(&mut self, key: Key) -> bool {
        while self.bytes() > self.most {
            let may_go = self.caches.iter().filter(|(other, cache)| **other != key || cache.asked == 0);
            let oldest = may_go.min_by_key(|(_, cache)| (cache.asked, Reverse(cache.begun))).map(|(other, _)| *other);
            let Some(oldest) = oldest else { break };
            self.caches.remove(&oldest);
        }
        self.caches.contains_key(&key)
    }
}

impl VectorCache {
    /// Returns an approximation of the vector in that row.
    pub(super) fn vector(&self, row: usize) -> Vec<f32> {
        vector_at(&self.numbers, &self.factors, self.length, row)
    }

    fn is_whole(&self) -> bool {
        self.read.is_some_and(|read| read.words == 0)
    }

    fn bytes(&self) -> usize {
        self.numbers.len() + self.digests.len() * BESIDES + self.categories.bytes()
    }

    /// Adds a step and keeps the size below `most` bytes.
    fn take(&mut self, step: LoadStep, most: usize) {
        let was_whole = self.is_whole();
        self.read = Some(step.to);
        self.is_current = step.is_current;
        // Growth by doubling would hold twice the data.
        self.numbers.reserve_exact(step.rows.len() * self.length);
        if was_whole {
            self.take_new(step.rows, most);
        } else if self.is_filled(step.rows, most / FOR_OLD.1 * FOR_OLD.0) {
            self.read = Some(Read { words: 0, ..step.to });
        }
    }

    /// Adds vectors of texts that came after the initial load. If they are many or do not fit, the
    /// cache is cleared and loaded again.
    fn take_new(&mut self, rows: Vec<VectorRow>, most: usize) {
        let before = self.digests.len();
        let is_full = self.is_filled(rows, most);
        self.added += self.digests.len() - before;
        if is_full || self.added > 1000 + self.digests.len() / 4 {
            *self = Self { asked: self.asked, begun: self.begun, ..Self::default() };
        }
    }

    /// Adds rows while the size stays below `most` bytes. Returns true if some were left out.
    fn is_filled(&mut self, rows: Vec<VectorRow>, most: usize) -> bool {
        for row in rows {
            if self.bytes() + row.most_bytes() > most {
                return true;
            }
            self.add(row);
        }
        false
    }

    fn add(&mut self, row: VectorRow) {
        let place = row.entry.map(|(kind, category, title)| {
            let belongs = self.categories.place(kind, &category, &title, row.is_trusted);
            EntryRef { kind, belongs }
        });
        if !self.seen.insert(short_hash(&(row.digest, row.is_trusted, place))) {
            return;
        }
        let at = self.digests.len();
        self.digests.push(row.digest);
        self.trusted.push(row.is_trusted);
        self.factors.push(row.factor);
        self.numbers.extend(row.numbers);
        self.places.extend(place);
        if let Some(EntryRef { belongs: CategoryRef::To(category), .. }) = place {
            let vector = self.vector(at);
            let (numbers, factors, length) = (&self.numbers, &self.factors, self.length);
            self.categories.add(category, at, &vector, |row| vector_at(numbers, factors, length, row));
        }
    }
}

fn vector_at(numbers: &[i8], factors: &[f32], length: usize, row: usize) -> Vec<f32> {
    let numbers = numbers.chunks_exact(length.max(1)).nth(row).unwrap_or_default();
    let factor = factors.get(row).copied().unwrap_or_default();
    numbers.iter().map(|number| f32::from(*number) * factor).collect()
}

fn short_hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Converts a vector to signed bytes and the factor that restores its numbers.
pub(super) fn in_bytes(vector: &[f32]) -> (f32, Vec<i8>) {
    let largest = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
    let factor = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    let scale = factor.recip();
    // Adding half a step away from zero and truncating rounds without a function call.
    let rounded = |number: &f32| number * scale + 0.5_f32.copysign(*number);
    #[allow(
        clippy::cast_possible_truncation,
        reason = "between -127.5 and 127.5 by the factor, and cut off on purpose"
    )]
    let bytes = vector.iter().map(|number| rounded(number) as i8).collect();
    (factor, bytes)
}

/// Parses a hexadecimal digest; `None` if the text is not one.
pub(super) fn digest_of(text: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    hex::decode_to_slice(text, &mut digest).ok().map(|()| digest)
}

/// Byte that fills the digest, trust, kind, category and title of an entry, and vector.
#[cfg(test)]
pub(super) type TestRow<'r> = (u8, bool, Option<(EntryKind, &'r str, &'r str)>, Vec<f32>);

#[cfg(test)]
impl VectorCache {
    /// Builds a cache from these rows.
    pub(super) fn of(rows: &[TestRow<'_>]) -> Self {
        let mut cache = Self { length: rows.first().map_or(0, |row| row.3.len()), ..Self::default() };
        for (digest, is_trusted, entry, vector) in rows {
            let (factor, numbers) = in_bytes(vector);
            let entry = entry.map(|(kind, category, title)| (kind, category.to_owned(), title.to_owned()));
            cache.add(VectorRow { digest: [*digest; 32], is_trusted: *is_trusted, entry, factor, numbers });
        }
        cache
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digests_survive(bytes in any::<[u8; 32]>()) {
            prop_assert_eq!(digest_of(&hex::encode(bytes)), Some(bytes));
        }

        #[test]
        fn bytes_are_near_the_numbers(vector in prop::collection::vec(-1.0_f32..1.0, 1..60)) {
            let (factor, bytes) = in_bytes(&vector);
            for (number, byte) in vector.iter().zip(bytes) {
                prop_assert!((number - f32::from(byte) * factor).abs() <= factor * 0.501);
            }
        }
    }

    #[test]
    fn an_invalid_digest_is_rejected() {
        assert_eq!(digest_of("abc"), None);
        assert_eq!(digest_of(&"é".repeat(32)), None);
        assert_eq!(digest_of(&"+f".repeat(32)), None);
    }

    #[test]
    fn vectors_are_loaded_once_and_a_late_load_step_is_discarded() {
        let (key, row) = ((Corpus::Said, Scope::Shared), || VectorRow {
            digest: [7; 32],
            is_trusted: true,
            entry: None,
            factor: 1.0,
            numbers: vec![1, 2],
        });
        let at = |words| Read { words, vector: 9, place: 9 };
        let step = |from: Option<Read>, words| LoadStep { from, to: at(words), is_current: false, rows: vec![row()] };
        let mut caches = VectorCaches::default();
        assert_eq!(caches.read_upto("m", key), None);
        assert_eq!(caches.put("m", key, 2, step(None, 5)), (false, false));
        assert_eq!(caches.put("m", key, 2, step(None, 0)), (false, false), "somebody has made that step");
        assert_eq!(caches.put("m", key, 2, step(Some(at(5)), 0)), (true, false));
        assert_eq!(caches.ask(key).unwrap().digests.len(), 1);
        assert_eq!(caches.read_upto("other", key), None);
        assert_eq!(caches.put("m", key, 2, step(None, 0)), (false, false), "of a model that is not asked any more");
    }

    const ADA: Scope = Scope::Person(crate::id::PersonId(1));
    const BEN: Scope = Scope::Person(crate::id::PersonId(2));

    /// Creates caches with room for twenty vectors of a hundred bytes: ten in each cache, eight of
    /// these for existing texts.
    fn small() -> VectorCaches {
        let mut caches = VectorCaches { most: 2_000, ..VectorCaches::default() };
        caches.read_upto("m", (Corpus::Said, ADA));
        caches
    }

    impl VectorCaches {
        /// Puts one step with `count` vectors, after which there is no more to read.
        fn gets(&mut self, key: Key, count: u8, since: u8) -> (bool, bool) {
            let row = |n: u8| VectorRow {
                digest: [since + n; 32],
                is_trusted: true,
                entry: None,
                factor: 1.0,
                numbers: vec![1; 100 - BESIDES],
            };
            let to = Read { words: 0, vector: i64::from(since) + 1, place: 0 };
            let from = self.read_upto("m", key);
            let rows = (0..count).map(row).collect();
            self.put("m", key, 100 - BESIDES, LoadStep { from, to, is_current: true, rows })
        }

        fn holds(&self, key: Key) -> usize {
            self.caches.get(&key).map_or(0, |cache| cache.digests.len())
        }
    }

    /// Proves: search/loading
    #[test]
    fn two_full_shelves_of_one_person_have_room_together() {
        let (mut caches, said, known) = (small(), (Corpus::Said, ADA), (Corpus::Known, ADA));
        for (key, count) in [(said, 30), (known, 30), (said, 0), (known, 0)] {
            caches.request(key);
            caches.gets(key, count, 0);
            assert_eq!(caches.ask(key).unwrap().digests.len(), 8, "the rest is left to words");
        }
        assert_eq!(caches.gets(said, 2, 100), (true, true));
        assert_eq!((caches.holds(said), caches.holds(known)), (10, 8));
        assert_eq!(caches.gets(said, 1, 200), (false, false), "what is new has no room: all is read anew");
        assert_eq!((caches.holds(said), caches.holds(known)), (0, 8));
    }

    /// Proves: search/loading
    #[test]
    fn unrequested_vectors_displace_no_loaded_ones() {
        let mut caches = small();
        let first = [(Corpus::Known, ADA), (Corpus::Said, ADA)];
        for key in first {
            assert_eq!(caches.gets(key, 30, 0), (true, true));
        }
        let late = (Corpus::Known, BEN);
        assert!(caches.has_capacity());
        assert_eq!(caches.gets(late, 30, 0), (false, true), "and there is no use in reading on");
        assert_eq!(first.map(|key| caches.holds(key)), [8, 8]);
        caches.ask(first[1]);
        caches.request(late);
        assert_eq!(caches.gets(late, 30, 0), (true, true), "whoever asks has it");
        assert_eq!(first.map(|key| caches.holds(key)), [0, 8], "what was not asked for goes first");
    }
}
