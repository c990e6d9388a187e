//! Vectors in memory.
//!
//! Each number is a signed byte with one factor for the whole vector: a fourth of the memory of
//! floats, and a walk through them is bound by memory. What comes out near is compared once more
//! with the exact vectors, so the order and the figures are those of the floats. A vector takes as
//! many bytes as it has numbers, and 64: 100,000 of 768 numbers take 80 MiB. At most [`MOST_BYTES`]
//! are kept; the scope that was asked for longest ago goes first, and of those that nobody asked
//! for the one that was read last. No shelf takes more than half, so what somebody said and what is
//! known of them have room together. Where a shelf is full the oldest words are left to the search
//! by words.
//!
//! A shelf is filled in steps, the newest words first. Nobody holds the shelves while the journal
//! is read; who comes late with a step that somebody else has made meanwhile throws it away.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::category::{Belongs, Categories};
use crate::store::{Corpus, Db, EntryKind, Read};
use crate::trust::Scope;

/// The most memory for vectors, in bytes.
const MOST_BYTES: usize = 192 << 20;
/// What a vector takes besides its numbers.
const BESIDES: usize = 64;
/// Old words are read into so much of a shelf; the rest is for what comes later.
const FOR_OLD: (usize, usize) = (7, 8);

/// Whose vectors, and of what.
pub(super) type Key = (Corpus, Scope);
/// SHA-256 of words.
pub(super) type Digest = [u8; 32];

/// All vectors that are in memory.
pub(super) struct Shelves {
    model: String,
    shelves: HashMap<Key, VectorCache>,
    /// Counts the questions.
    asked: u64,
    /// Counts the shelves.
    begun: u64,
    /// The most memory, in bytes.
    most: usize,
}

/// The vectors of one scope.
#[derive(Default)]
pub(super) struct VectorCache {
    read: Option<Read>,
    is_current: bool,
    asked: u64,
    /// The how manieth it was to be read.
    begun: u64,
    /// Vectors that came since all were read. Words that went are still among the others.
    added: usize,
    /// What is there, as a short hash: two that have the same by chance cost one of them its place.
    seen: HashSet<u64>,
    pub(super) length: usize,
    pub(super) digests: Vec<Digest>,
    pub(super) trusted: Vec<bool>,
    pub(super) factors: Vec<f32>,
    pub(super) numbers: Vec<i8>,
    /// Of entries, what they are and where they belong.
    pub(super) places: Vec<EntryRef>,
    pub(super) categories: Categories,
}

/// Which entry says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EntryRef {
    pub(super) kind: EntryKind,
    pub(super) belongs: Belongs,
}

/// What one step of reading brought.
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
    /// What it may take on a shelf: an entry may be the first of its category, or the second, from
    /// which on that has a centre.
    fn most_bytes(&self) -> usize {
        let centre = if self.entry.is_some() { Categories::most_bytes(self.numbers.len()) } else { 0 };
        self.numbers.len() + BESIDES + centre
    }
}

impl LoadStep {
    /// Reads the next step of a shelf, whose vectors have that length.
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

impl Default for Shelves {
    fn default() -> Self {
        Self { model: String::new(), shelves: HashMap::new(), asked: 0, begun: 0, most: MOST_BYTES }
    }
}

impl Shelves {
    /// How far the shelf of that key is read, for that model.
    pub(super) fn read_upto(&mut self, model: &str, key: Key) -> Option<Read> {
        if self.model != model {
            *self = Self { model: model.to_owned(), most: self.most, ..Self::default() };
        }
        self.shelves.get(&key).and_then(|shelf| shelf.read)
    }

    /// Puts a step on its shelf. Says whether everything is there now that was when the reading
    /// began, and whether nothing is left to read.
    pub(super) fn put(&mut self, model: &str, key: Key, length: usize, step: LoadStep) -> (bool, bool) {
        if self.model != model {
            return (false, false);
        }
        let most = self.most / 2;
        let shelf = self.shelf(key);
        if shelf.read == step.from {
            shelf.length = length;
            shelf.take(step, most);
        }
        let state = (shelf.is_whole(), shelf.is_current);
        // Where there is no room for it, there is no more to read either.
        if self.make_room(key) { state } else { (false, true) }
    }

    /// Somebody asks for that shelf. Until it is the one that was asked for longest ago it has
    /// room.
    pub(super) fn want(&mut self, key: Key) {
        self.asked += 1;
        let asked = self.asked;
        self.shelf(key).asked = asked;
    }

    /// The shelf of that key, for a question.
    pub(super) fn ask(&mut self, key: Key) -> Option<&VectorCache> {
        self.asked += 1;
        let shelf = self.shelves.get_mut(&key)?;
        shelf.asked = self.asked;
        Some(shelf)
    }

    /// Whether there is room for more than is there.
    pub(super) fn has_room(&self) -> bool {
        self.bytes() < self.most
    }

    /// How many vectors there are.
    pub(super) fn count(&self) -> usize {
        self.shelves.values().map(|shelf| shelf.digests.len()).sum()
    }

    fn bytes(&self) -> usize {
        self.shelves.values().map(VectorCache::bytes).sum()
    }

    fn shelf(&mut self, key: Key) -> &mut VectorCache {
        self.shelves.entry(key).or_insert_with(|| {
            self.begun += 1;
            VectorCache { begun: self.begun, ..VectorCache::default() }
        })
    }

    /// Says whether the shelf of that key stays. One that somebody asked for does.
    fn make_room(&mut self, key: Key) -> bool {
        while self.bytes() > self.most {
            let may_go = self.shelves.iter().filter(|(other, shelf)| **other != key || shelf.asked == 0);
            let oldest = may_go.min_by_key(|(_, shelf)| (shelf.asked, Reverse(shelf.begun))).map(|(other, _)| *other);
            let Some(oldest) = oldest else { break };
            self.shelves.remove(&oldest);
        }
        self.shelves.contains_key(&key)
    }
}

impl VectorCache {
    /// The vector at that place, nearly.
    pub(super) fn vector(&self, row: usize) -> Vec<f32> {
        vector_at(&self.numbers, &self.factors, self.length, row)
    }

    fn is_whole(&self) -> bool {
        self.read.is_some_and(|read| read.words == 0)
    }

    fn bytes(&self) -> usize {
        self.numbers.len() + self.digests.len() * BESIDES + self.categories.bytes()
    }

    /// Takes a step in, and keeps below that many bytes.
    fn take(&mut self, step: LoadStep, most: usize) {
        let was_whole = self.is_whole();
        self.read = Some(step.to);
        self.is_current = step.is_current;
        // Growing by doubling would hold twice what is there.
        self.numbers.reserve_exact(step.rows.len() * self.length);
        if was_whole {
            self.take_new(step.rows, most);
        } else if self.is_filled(step.rows, most / FOR_OLD.1 * FOR_OLD.0) {
            self.read = Some(Read { words: 0, ..step.to });
        }
    }

    /// What came since all were read. If that is much, or there is no room for it, all is read
    /// anew.
    fn take_new(&mut self, rows: Vec<VectorRow>, most: usize) {
        let before = self.digests.len();
        let is_full = self.is_filled(rows, most);
        self.added += self.digests.len() - before;
        if is_full || self.added > 1000 + self.digests.len() / 4 {
            *self = Self { asked: self.asked, begun: self.begun, ..Self::default() };
        }
    }

    /// Adds rows as long as they leave it below so many bytes. Says whether some were left out.
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
        if let Some(EntryRef { belongs: Belongs::To(category), .. }) = place {
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

/// A vector as signed bytes, and the factor that gives its numbers back.
pub(super) fn in_bytes(vector: &[f32]) -> (f32, Vec<i8>) {
    let largest = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
    let factor = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    let scale = factor.recip();
    // Half a step away from nought and cut off is rounded, and costs no call.
    let rounded = |number: &f32| number * scale + 0.5_f32.copysign(*number);
    #[allow(
        clippy::cast_possible_truncation,
        reason = "between -127.5 and 127.5 by the factor, and cut off on purpose"
    )]
    let bytes = vector.iter().map(|number| rounded(number) as i8).collect();
    (factor, bytes)
}

/// The bytes of a digest; `None` if it is none.
pub(super) fn digest_of(text: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (byte, [high, low]) in digest.iter_mut().zip(text.as_bytes().as_chunks::<2>().0) {
        let value = char::from(*high).to_digit(16)? * 16 + char::from(*low).to_digit(16)?;
        *byte = u8::try_from(value).ok()?;
    }
    Some(digest)
}

/// The digest as it is stored.
pub(super) fn hexadecimal(digest: &Digest) -> String {
    use std::fmt::Write;
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Every byte of its digest, whether it is trusted, of an entry its kind, category and title, and
/// the vector.
#[cfg(test)]
pub(super) type TestRow<'r> = (u8, bool, Option<(EntryKind, &'r str, &'r str)>, Vec<f32>);

#[cfg(test)]
impl VectorCache {
    /// With these vectors.
    pub(super) fn of(rows: &[TestRow<'_>]) -> Self {
        let mut shelf = Self { length: rows.first().map_or(0, |row| row.3.len()), ..Self::default() };
        for (digest, is_trusted, entry, vector) in rows {
            let (factor, numbers) = in_bytes(vector);
            let entry = entry.map(|(kind, category, title)| (kind, category.to_owned(), title.to_owned()));
            shelf.add(VectorRow { digest: [*digest; 32], is_trusted: *is_trusted, entry, factor, numbers });
        }
        shelf
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digests_survive(bytes in any::<[u8; 32]>()) {
            prop_assert_eq!(digest_of(&hexadecimal(&bytes)), Some(bytes));
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
    fn what_is_no_digest_is_none() {
        assert_eq!(digest_of("abc"), None);
        assert_eq!(digest_of(&"é".repeat(32)), None);
        assert_eq!(digest_of(&"+f".repeat(32)), None);
    }

    #[test]
    fn what_is_there_is_not_put_there_twice_and_a_late_step_is_thrown_away() {
        let (key, row) = ((Corpus::Said, Scope::Shared), || VectorRow {
            digest: [7; 32],
            is_trusted: true,
            entry: None,
            factor: 1.0,
            numbers: vec![1, 2],
        });
        let at = |words| Read { words, vector: 9, place: 9 };
        let step = |from: Option<Read>, words| LoadStep { from, to: at(words), is_current: false, rows: vec![row()] };
        let mut shelves = Shelves::default();
        assert_eq!(shelves.read_upto("m", key), None);
        assert_eq!(shelves.put("m", key, 2, step(None, 5)), (false, false));
        assert_eq!(shelves.put("m", key, 2, step(None, 0)), (false, false), "somebody has made that step");
        assert_eq!(shelves.put("m", key, 2, step(Some(at(5)), 0)), (true, false));
        assert_eq!(shelves.ask(key).unwrap().digests.len(), 1);
        assert_eq!(shelves.read_upto("other", key), None);
        assert_eq!(shelves.put("m", key, 2, step(None, 0)), (false, false), "of a model that is not asked any more");
    }

    const ADA: Scope = Scope::Person(crate::id::PersonId(1));
    const BEN: Scope = Scope::Person(crate::id::PersonId(2));

    /// Room for twenty vectors of a hundred bytes, ten of them on one shelf; eight of these are for
    /// old words.
    fn small() -> Shelves {
        let mut shelves = Shelves { most: 2_000, ..Shelves::default() };
        shelves.read_upto("m", (Corpus::Said, ADA));
        shelves
    }

    impl Shelves {
        /// One step of so many vectors, and there is no more to read.
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
            self.shelves.get(&key).map_or(0, |shelf| shelf.digests.len())
        }
    }

    #[test]
    fn two_full_shelves_of_one_person_have_room_together() {
        let (mut shelves, said, known) = (small(), (Corpus::Said, ADA), (Corpus::Known, ADA));
        for (key, count) in [(said, 30), (known, 30), (said, 0), (known, 0)] {
            shelves.want(key);
            shelves.gets(key, count, 0);
            assert_eq!(shelves.ask(key).unwrap().digests.len(), 8, "the rest is left to words");
        }
        assert_eq!(shelves.gets(said, 2, 100), (true, true));
        assert_eq!((shelves.holds(said), shelves.holds(known)), (10, 8));
        assert_eq!(shelves.gets(said, 1, 200), (false, false), "what is new has no room: all is read anew");
        assert_eq!((shelves.holds(said), shelves.holds(known)), (0, 8));
    }

    #[test]
    fn what_nobody_asked_for_takes_no_room_from_what_was_read_before() {
        let mut shelves = small();
        let first = [(Corpus::Known, ADA), (Corpus::Said, ADA)];
        for key in first {
            assert_eq!(shelves.gets(key, 30, 0), (true, true));
        }
        let late = (Corpus::Known, BEN);
        assert!(shelves.has_room());
        assert_eq!(shelves.gets(late, 30, 0), (false, true), "and there is no use in reading on");
        assert_eq!(first.map(|key| shelves.holds(key)), [8, 8]);
        shelves.ask(first[1]);
        shelves.want(late);
        assert_eq!(shelves.gets(late, 30, 0), (true, true), "whoever asks has it");
        assert_eq!(first.map(|key| shelves.holds(key)), [0, 8], "what was not asked for goes first");
    }
}
