//! Fingerprints that identify a passage of a known text in another text (winnowing; Schleimer,
//! Wilkerson and Aiken, 2003).
//!
//! Two texts that share a run of [`RUN`] characters share a fingerprint: each is the hash of
//! [`GRAM`] characters, and of every [`WINDOW`] consecutive hashes the smallest is kept, so that
//! every run of a whole window leaves one. A shared fingerprint alone proves nothing; [`share_run`]
//! compares the characters and is exact. About one character in twenty-six leaves a fingerprint.
//!
//! Texts are compared as they look: [`plain`] reduces every run of white space to one blank and
//! drops invisible characters, and the marks that a page, a chat or a diff displays differently or
//! puts before a line. Case and all other punctuation count, and a run in which a single letter was
//! changed is two runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::is_ignorable;

/// The shortest run that is certain to be found, in characters.
pub const RUN: usize = GRAM + WINDOW - 1;
const GRAM: usize = 50;
const WINDOW: usize = 51;

const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the text as it looks: without invisible characters and marks, every run of white space
/// one blank, none at the ends.
pub fn plain(text: &str) -> Vec<char> {
    let mut plain = Vec::with_capacity(text.len());
    let mut gap = false;
    for c in text.chars() {
        // Line feeds and tabs are control characters too.
        if c.is_whitespace() {
            gap = true;
        } else if !is_unseen(c) && !is_mark(c) {
            if gap && !plain.is_empty() {
                plain.push(' ');
            }
            gap = false;
            plain.push(c);
        }
    }
    plain
}

/// Returns the fingerprints of a text; none if it is shorter than [`RUN`].
pub fn fingerprints(plain: &[char]) -> BTreeSet<i64> {
    let mut kept = BTreeSet::new();
    // The hashes that may still become the window's smallest, smallest first.
    let mut ahead: VecDeque<(usize, u64)> = VecDeque::new();
    for (place, hash) in grams(plain, GRAM).enumerate() {
        while ahead.back().is_some_and(|(_, other)| *other >= hash) {
            ahead.pop_back();
        }
        ahead.push_back((place, hash));
        if ahead.front().is_some_and(|(first, _)| first + WINDOW <= place) {
            ahead.pop_front();
        }
        if place + 1 >= WINDOW {
            kept.extend(ahead.front().map(|(_, smallest)| stored(*smallest)));
        }
    }
    kept
}

/// Returns whether the two share [`RUN`] consecutive characters.
pub fn share_run(one: &[char], other: &[char]) -> bool {
    let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (place, hash) in grams(one, RUN).enumerate() {
        places.entry(hash).or_default().push(place);
    }
    grams(other, RUN).enumerate().any(|(place, hash)| {
        let same = |at: &usize| one.get(*at..*at + RUN) == other.get(place..place + RUN);
        places.get(&hash).is_some_and(|places| places.iter().any(same))
    })
}

/// Returns the hash of every run of this length, in order.
fn grams(plain: &[char], length: usize) -> impl Iterator<Item = u64> {
    let power = BASE.wrapping_pow(u32::try_from(length).unwrap_or(u32::MAX));
    let mut hash = 0_u64;
    plain.iter().enumerate().filter_map(move |(place, c)| {
        hash = hash.wrapping_mul(BASE).wrapping_add(u64::from(*c));
        if let Some(left) = place.checked_sub(length).and_then(|left| plain.get(left)) {
            hash = hash.wrapping_sub(u64::from(*left).wrapping_mul(power));
        }
        (place + 1 >= length).then(|| mixed(hash))
    })
}

/// Mixes a hash, so that the choice of the smallest is independent of the letters (the last step of
/// splitmix64).
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ (hash >> 31)
}

/// Returns a fingerprint as it is stored: 47 bits, which SQLite stores in six bytes. Matches are
/// verified by comparison, so not all bits are needed.
fn stored(hash: u64) -> i64 {
    i64::try_from(hash >> 17).unwrap_or_default()
}

/// Returns whether the character is markup in Markdown or a diff: copied text may lack some of
/// these and contain others.
fn is_mark(c: char) -> bool {
    matches!(c, '*' | '_' | '`' | '~' | '#' | '>' | '|' | '+' | '-' | '•' | '[' | ']' | '\\')
}

/// Returns whether a character leaves no mark of its own: controls, soft hyphens, joiners,
/// direction marks, selectors, tags.
pub(super) fn is_unseen(c: char) -> bool {
    c.is_control() || is_ignorable(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns whether the two share a run of this length, by brute force.
    fn shares(one: &[char], other: &[char], length: usize) -> bool {
        one.windows(length).any(|run| other.windows(length).any(|known| known == run))
    }

    fn met(one: &[char], other: &[char]) -> bool {
        !fingerprints(one).is_disjoint(&fingerprints(other))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// Proves: trust/pasted-text
        #[test]
        fn every_shared_run_of_a_hundred_is_found(
            run in "[a-zé ]{100,160}", before in "[a-z ]{0,300}", behind in "[a-z ]{0,300}", other in "[A-Z]{0,200}",
        ) {
            let run: Vec<char> = run.chars().take(RUN).collect();
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            let known = [chars(&before), run.clone(), chars(&behind)].concat();
            let typed = [chars(&other), run, chars("!")].concat();
            prop_assert!(met(&known, &typed) && share_run(&known, &typed) && share_run(&typed, &known));
        }

        // Two letters only, so that shared runs of every length occur.
        #[test]
        fn a_run_is_shared_or_not_as_the_slow_way_says(
            one in "[ab]{90,250}", from in 0_usize..150, length in 80_usize..140, other in "[ab]{0,60}",
        ) {
            let one: Vec<char> = one.chars().collect();
            let piece = one.iter().skip(from).take(length).copied();
            let other: Vec<char> = other.chars().chain(piece).chain(['c']).collect();
            let shared = shares(&one, &other, RUN);
            prop_assert_eq!(share_run(&one, &other), shared);
            prop_assert!(!shared || met(&one, &other));
        }

        #[test]
        fn less_than_a_gram_in_common_leaves_nothing_in_common(one in "[a-m]{100,300}", other in "[n-z]{100,300}") {
            let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
            prop_assert!(!met(&one, &other) && !share_run(&one, &other));
        }

        #[test]
        fn any_text_at_all_can_be_looked_at(one in "\\PC{0,300}", other in any::<String>()) {
            let (one, other) = (plain(&one), plain(&other));
            prop_assert_eq!(share_run(&one, &other), shares(&one, &other, RUN));
            prop_assert_eq!(plain(&other.iter().collect::<String>()), other);
        }
    }

    #[test]
    fn a_text_is_compared_as_it_looks() {
        let plain = |text| plain(text).into_iter().collect::<String>();
        assert_eq!(plain("  a \t\u{200b}\r\n  B\u{ad}c\u{a0}d\u{202e}.\u{0} "), "a Bc d.");
        assert_eq!(plain(" \n\u{feff}"), "");
        assert_eq!(plain("- **Warm** the `pot` [first](x)\n+ and\n+wait"), plain("• Warm the pot first(x)\nand wait"));
    }

    #[test]
    fn about_one_character_in_twenty_six_leaves_a_fingerprint() {
        let text: String = (0..4_000).map(|n| format!("{} ", n * 7919 % 10_007)).collect();
        let text = plain(&text);
        let (length, count) = (text.len(), fingerprints(&text).len());
        assert!((length / 30..length / 22).contains(&count), "{count} of {length}");
        assert!(fingerprints(&text[..RUN - 1]).is_empty());
    }
}
