//! Vectors in memory, and the walk through them.
//!
//! Each number is a signed byte with one factor for the whole vector: a fourth of the memory of floats, and the walk is bound by memory. What comes out near is
//! compared once more with the exact vectors, so the order and the figures are those of the floats. A vector takes as many bytes as it has numbers, and 40:
//! 100,000 of 768 numbers take 77 MiB. At most [`MOST_BYTES`] are kept; the scope that was asked for longest ago goes first.

use std::collections::{HashMap, HashSet};

use super::Near;
use crate::store::{Db, Pool, Read};
use crate::trust::Scope;

/// The most memory for vectors, in bytes.
const MOST_BYTES: usize = 192 << 20;
/// How many times as many as wanted are compared exactly.
const CLOSER_LOOK: usize = 3;
/// What a vector takes besides its numbers.
const BESIDES: usize = 40;

type Key = (Pool, Scope);
type Digest = [u8; 32];

/// All vectors that are in memory.
#[derive(Default)]
pub(super) struct Shelves {
    model: String,
    shelves: HashMap<Key, Shelf>,
    /// Counts the questions.
    asked: u64,
}

/// The vectors of one scope.
#[derive(Default)]
struct Shelf {
    read: Read,
    asked: u64,
    length: usize,
    /// Vectors that came since all were read. Words that went are still among the others, and some are there twice.
    added: usize,
    digests: Vec<Digest>,
    trusted: Vec<bool>,
    factors: Vec<f32>,
    numbers: Vec<i8>,
}

impl Shelves {
    /// What is nearest, with what came since the last question.
    pub(super) fn near(
        &mut self,
        db: Db<'_>,
        model: &str,
        key: Key,
        vector: &[f32],
        untrusted_too: bool,
        limit: usize,
    ) -> anyhow::Result<Vec<Near>> {
        if self.model != model {
            *self = Self { model: model.to_owned(), ..Self::default() };
        }
        self.asked += 1;
        let shelf = self.shelves.entry(key).or_default();
        shelf.asked = self.asked;
        shelf.bring_up_to_date(db, model, key, vector.len())?;
        let candidates = shelf.candidates(vector, untrusted_too, limit.saturating_mul(CLOSER_LOOK));
        self.make_room(key);
        closer(db, model, &candidates, vector, limit)
    }

    fn make_room(&mut self, key: Key) {
        while self.shelves.values().map(Shelf::bytes).sum::<usize>() > MOST_BYTES {
            let others = self.shelves.iter().filter(|(other, _)| **other != key);
            let Some(oldest) = others.min_by_key(|(_, shelf)| shelf.asked).map(|(other, _)| *other) else { return };
            self.shelves.remove(&oldest);
        }
    }
}

impl Shelf {
    fn bytes(&self) -> usize {
        self.numbers.capacity() + self.digests.capacity() * BESIDES
    }

    fn bring_up_to_date(&mut self, db: Db<'_>, model: &str, key: Key, length: usize) -> anyhow::Result<()> {
        if self.added > 1000 + self.digests.len() / 4 {
            *self = Self { asked: self.asked, ..Self::default() };
        }
        let is_first = self.read == Read::default();
        self.length = length;
        let most = MOST_BYTES / (length + BESIDES);
        let mut seen: HashSet<(Digest, bool)> = HashSet::new();
        let (mut read, before) = (self.read, self.digests.len());
        read = db.vectors(key, model, read, most, |digest, is_trusted, vector| {
            let Some(digest) = digest_of(digest).filter(|_| vector.len() == length) else { return };
            if seen.insert((digest, is_trusted)) {
                self.put(digest, is_trusted, vector);
            }
        })?;
        self.added += if is_first { 0 } else { self.digests.len() - before };
        self.read = read;
        Ok(())
    }

    fn put(&mut self, digest: Digest, is_trusted: bool, vector: &[f32]) {
        let (factor, numbers) = in_bytes(vector);
        self.digests.push(digest);
        self.trusted.push(is_trusted);
        self.factors.push(factor);
        self.numbers.extend(numbers);
    }

    /// The digests of those that are nearest by their bytes, in no order.
    fn candidates(&self, vector: &[f32], untrusted_too: bool, count: usize) -> Vec<Digest> {
        let (_, asked) = in_bytes(vector);
        let asked: Vec<i8> = asked.collect();
        let rows = self.numbers.chunks_exact(self.length.max(1));
        let each = rows.zip(&self.factors).zip(&self.trusted).zip(&self.digests);
        let wanted = each.filter(|((_, is_trusted), _)| untrusted_too || **is_trusted);
        let mut scored: Vec<(f32, &Digest)> =
            wanted.map(|(((row, factor), _), digest)| (product(row, &asked) * factor, digest)).collect();
        if scored.len() > count && count > 0 {
            scored.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0));
        }
        let mut seen = HashSet::new();
        scored.into_iter().take(count).map(|(_, digest)| *digest).filter(|digest| seen.insert(*digest)).collect()
    }
}

/// The exact nearness of each, nearest first. What went meanwhile is left out.
fn closer(db: Db<'_>, model: &str, digests: &[Digest], vector: &[f32], limit: usize) -> anyhow::Result<Vec<Near>> {
    let mut near = Vec::with_capacity(digests.len());
    for digest in digests {
        let digest = hexadecimal(digest);
        if let Some(other) = db.embedding(model, &digest)?.filter(|other| other.len() == vector.len()) {
            let similarity = other.iter().zip(vector).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            near.push(Near { digest, similarity });
        }
    }
    near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then_with(|| a.digest.cmp(&b.digest)));
    near.truncate(limit);
    Ok(near)
}

/// A vector as signed bytes, and the factor that gives its numbers back.
fn in_bytes(vector: &[f32]) -> (f32, impl Iterator<Item = i8>) {
    let largest = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
    let factor = if largest > 0.0 { largest / 127.0 } else { 1.0 };
    #[allow(clippy::cast_possible_truncation, reason = "between -127 and 127 by the factor")]
    let bytes = vector.iter().map(move |number| (number / factor).round() as i8);
    (factor, bytes)
}

/// The sum of products. In strips of a fixed length, which the compiler turns into vector instructions.
fn product(one: &[i8], other: &[i8]) -> f32 {
    const STRIP: usize = 32;
    let strips = one.as_chunks::<STRIP>();
    let others = other.as_chunks::<STRIP>();
    let mut sum = 0_i32;
    for (a, b) in strips.0.iter().zip(others.0) {
        sum += a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum::<i32>();
    }
    sum += strips.1.iter().zip(others.1).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>();
    #[allow(clippy::cast_precision_loss, reason = "it is an estimate; the exact figure follows")]
    let sum = sum as f32;
    sum
}

fn digest_of(text: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    let pairs = text.as_bytes().as_chunks::<2>().0;
    if text.len() != 64 {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(digest)
}

fn hexadecimal(digest: &Digest) -> String {
    use std::fmt::Write;
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
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
            let exact: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
            let ((a, first), (b, second)) = (in_bytes(&one), in_bytes(&other));
            let estimate = product(&first.collect::<Vec<_>>(), &second.collect::<Vec<_>>()) * a * b;
            prop_assert!((exact - estimate).abs() < 0.05, "{exact} {estimate}");
        }

        #[test]
        fn digests_survive(bytes in any::<[u8; 32]>()) {
            prop_assert_eq!(digest_of(&hexadecimal(&bytes)), Some(bytes));
        }
    }

    #[test]
    fn the_walk_finds_the_nearest_and_passes_over_what_is_not_trusted() {
        let mut shelf = Shelf { length: 3, ..Shelf::default() };
        for (number, vector) in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0]].iter().enumerate() {
            shelf.put([u8::try_from(number).unwrap(); 32], number != 1, vector);
        }
        assert_eq!(shelf.candidates(&[0.0, 1.0, 0.0], true, 1), [[1; 32]]);
        assert_eq!(shelf.candidates(&[0.0, 1.0, 0.0], false, 1), [[2; 32]]);
        assert_eq!(shelf.candidates(&[0.0, 1.0, 0.0], false, 9).len(), 2);
    }

    #[test]
    fn what_is_no_digest_is_none() {
        assert_eq!(digest_of("abc"), None);
        assert_eq!(digest_of(&"é".repeat(32)), None);
    }
}
