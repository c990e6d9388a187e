//! Fuzzing of the parsers of outside bytes, by mutation.
//!
//! Each parser has a test that calls [`target`] with a function that parses and returns the outcome.
//! The inputs of the target's corpus (`tests/corpus/fuzz`) are run with every test run. With
//! `COMPLINE_FUZZ_SECONDS`, as in `tests/run.sh long`, the target then mutates them for that much CPU
//! time. No compiler of this project measures coverage, so an input is worth keeping if its outcome
//! has a *shape* that none had before: the outcome without its words, lengths and numbers. What is
//! kept is written to the corpus.

#![cfg(test)]

use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde::{Deserialize, Serialize};

/// Largest corpus of a target, in bytes of its inputs.
const MAX_CORPUS: usize = 150_000;
/// Largest input in a corpus.
const MAX_KEPT: usize = 4_000;
/// Largest mutated input.
const MAX_INPUT: usize = 200_000;

/// Pieces that parsers of this kind trip over.
const TOKENS: &[&str] = &[
    "null",
    "true",
    "{}",
    "[]",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "`",
    "\\",
    "\\u0000",
    "\\ud800",
    "-1",
    "0",
    "1e999",
    "9223372036854775808",
    "0.1",
    ":",
    ",",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "---\n",
    "data: ",
    "event: ",
    "%00",
    "%",
    "&",
    "=",
    "\u{0}",
    "\u{200b}",
    "\u{202e}",
    "\u{feff}",
    "é",
    "👩‍👩‍👧",
    "../",
    "/",
    "@",
    "#",
    "*",
    "_",
    "|",
    "<",
    ">",
    "- ",
    "1. ",
];

/// One change of an input.
#[derive(Debug, Clone)]
enum Mutation {
    Set {
        at: Index,
        byte: u8,
    },
    Remove {
        at: Index,
        length: usize,
    },
    Token {
        at: Index,
        token: Index,
    },
    /// A piece of another input of the corpus.
    Splice {
        at: Index,
        of: Index,
        from: Index,
        length: usize,
    },
    Repeat {
        at: Index,
        length: usize,
        times: usize,
    },
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    prop_oneof![
        1 => (at(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set { at, byte }),
        2 => (at(), 1_usize..40).prop_map(|(at, length)| Mutation::Remove { at, length }),
        3 => (at(), at()).prop_map(|(at, token)| Mutation::Token { at, token }),
        3 => (at(), at(), at(), 1_usize..80)
            .prop_map(|(at, of, from, length)| Mutation::Splice { at, of, from, length }),
        1 => (at(), 1_usize..30, prop_oneof![9 => 2_usize..5, 1 => 5_usize..3_000])
            .prop_map(|(at, length, times)| Mutation::Repeat { at, length, times }),
    ]
}

impl Mutation {
    fn apply(&self, input: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let place = |at: &Index, bytes: &[u8]| at.index(bytes.len() + 1);
        let piece = |bytes: &[u8], from: usize, length: usize| {
            bytes.get(from..(from + length).min(bytes.len())).unwrap_or_default().to_vec()
        };
        let (at, new) = match self {
            Self::Set { at, byte } => {
                let at = at.index(input.len().max(1));
                input.iter_mut().skip(at).take(1).for_each(|old| *old = *byte);
                return;
            }
            Self::Remove { at, length } => {
                let from = place(at, input);
                input.drain(from..(from + length).min(input.len()));
                return;
            }
            Self::Token { at, token } => (place(at, input), token.get(TOKENS).as_bytes().to_vec()),
            Self::Splice { at, of, from, length } => {
                let donor = of.get(corpus);
                (place(at, input), piece(donor, place(from, donor), *length))
            }
            Self::Repeat { at, length, times } => {
                let from = place(at, input);
                (from, piece(input, from, *length).repeat(*times))
            }
        };
        if input.len() + new.len() <= MAX_INPUT {
            input.splice(at..at, new);
        }
    }
}

/// An input as the corpus file holds it, one JSON value a line.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Text(String),
    Bytes { hex: String },
}

/// The inputs of a target, by the shape of their outcome.
struct Corpus {
    file: PathBuf,
    inputs: BTreeMap<u64, Vec<u8>>,
}

impl Corpus {
    fn load(name: &str) -> Vec<Vec<u8>> {
        let text = std::fs::read_to_string(Self::file(name)).unwrap_or_default();
        let read = |line: &str| match serde_json::from_str(line).expect("a line of the corpus") {
            Line::Text(text) => text.into_bytes(),
            Line::Bytes { hex } => hex::decode(hex).expect("hexadecimal digits"),
        };
        text.lines().map(read).collect()
    }

    fn file(name: &str) -> PathBuf {
        PathBuf::from(format!("{}/tests/corpus/fuzz/{name}.jsonl", env!("CARGO_MANIFEST_DIR")))
    }

    fn bytes(&self) -> usize {
        self.inputs.values().map(Vec::len).sum()
    }

    /// Keeps an input with a new shape, or a shorter one with a known shape.
    fn keep(&mut self, shape: u64, input: &[u8]) -> bool {
        let known = self.inputs.get(&shape).map(Vec::len);
        let is_new = known.is_none();
        if known.is_none_or(|known| input.len() < known) && input.len() <= MAX_KEPT {
            self.inputs.insert(shape, input.to_vec());
        }
        is_new
    }

    fn store(&self) {
        let line = |input: &Vec<u8>| {
            let line = match String::from_utf8(input.clone()) {
                Ok(text) => Line::Text(text),
                Err(_) => Line::Bytes { hex: hex::encode(input) },
            };
            serde_json::to_string(&line).unwrap() + "\n"
        };
        let mut lines: Vec<String> = self.inputs.values().map(line).collect();
        lines.sort_by_key(|line| (line.len(), line.clone()));
        std::fs::create_dir_all(self.file.parent().unwrap()).unwrap();
        std::fs::write(&self.file, lines.concat()).unwrap();
    }
}

/// Returns the shape of an outcome: what its `Debug` form says, without words, numbers and lengths.
fn shape(outcome: &dyn Debug) -> u64 {
    let (mut parts, mut within): (Vec<String>, bool) = (Vec::new(), false);
    let text = format!("{outcome:?}");
    let mut word = String::new();
    let mut is_escaped = false;
    for c in text.chars().take(20_000) {
        if within {
            within = c != '"' || is_escaped;
            is_escaped = c == '\\' && !is_escaped;
        } else if c.is_alphabetic() || c == '_' {
            word.push(c);
        } else {
            if !word.is_empty() {
                parts.push(std::mem::take(&mut word));
            }
            within = c == '"';
        }
    }
    parts.push(word);
    // Which parts there are, and not how many or in which order of a list.
    parts.sort();
    parts.dedup();
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(stat.split(' ').next().and_then(|time| time.parse().ok()).unwrap_or_default())
}

/// Runs a parser over the seeds and the corpus of that name, and then over mutations of them for the
/// time that is set. The parser must not panic.
pub fn target<T: Debug>(name: &str, seeds: &[impl AsRef<[u8]>], parse: impl Fn(&[u8]) -> T) {
    let mut corpus = Corpus { file: Corpus::file(name), inputs: BTreeMap::new() };
    for input in seeds.iter().map(|seed| seed.as_ref().to_vec()).chain(Corpus::load(name)) {
        let outcome = catch_unwind(AssertUnwindSafe(|| parse(&input)));
        let outcome = outcome.unwrap_or_else(|_| panic!("{name}: {:?}", String::from_utf8_lossy(&input)));
        corpus.keep(shape(&outcome), &input);
    }
    let seconds = std::env::var("COMPLINE_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    if let Some(seconds) = seconds {
        fuzz(name, corpus, Duration::from_secs(seconds), parse);
    }
}

fn fuzz<T: Debug>(name: &str, mut corpus: Corpus, time: Duration, parse: impl Fn(&[u8]) -> T) {
    let (begun, at_first) = (cpu_time(), corpus.inputs.len());
    let strategy = (any::<Index>(), prop::collection::vec(mutation(), 1..9));
    let mut runner = TestRunner::default();
    let (mut runs, mut last, mut slowest) = (0_u64, Duration::ZERO, (Duration::ZERO, Vec::new()));
    let mut shapes: HashSet<u64> = corpus.inputs.keys().copied().collect();
    let mut inputs: Vec<Vec<u8>> = corpus.inputs.values().cloned().collect();
    let run = |input: &[u8]| catch_unwind(AssertUnwindSafe(|| shape(&parse(input)))).ok();
    while cpu_time() - begun < time {
        let mut tree = strategy.new_tree(&mut runner).unwrap();
        let mutated = |(base, mutations): &(Index, Vec<Mutation>)| {
            let mut input = base.get(&inputs).clone();
            mutations.iter().for_each(|mutation| mutation.apply(&mut input, &inputs));
            input
        };
        let input = mutated(&tree.current());
        let started = cpu_time();
        let outcome = run(&input);
        let took = cpu_time() - started;
        if took > slowest.0 {
            slowest = (took, input.clone());
        }
        runs += 1;
        let Some(shape) = outcome else {
            let mut smallest = input;
            while tree.simplify() {
                let simpler = mutated(&tree.current());
                if run(&simpler).is_none() {
                    smallest = simpler;
                } else if !tree.complicate() {
                    break;
                }
            }
            panic!("{name}: {:?}, in bytes {}", String::from_utf8_lossy(&smallest), hex::encode(&smallest));
        };
        if corpus.bytes() < MAX_CORPUS && corpus.keep(shape, &input) && shapes.insert(shape) {
            inputs.push(input);
            last = cpu_time() - begun;
        }
    }
    corpus.store();
    println!(
        "did: {name}: {runs} inputs in {} s of CPU, {} of a new shape, the last of them after {} s; the slowest, of {} bytes, took \
         {} ms; the corpus has {} of {} bytes",
        time.as_secs(),
        corpus.inputs.len() - at_first,
        last.as_secs(),
        slowest.1.len(),
        slowest.0.as_millis(),
        corpus.inputs.len(),
        corpus.bytes(),
    );
    println!("the beginning of the slowest: {:?}", String::from_utf8_lossy(slowest.1.get(..300).unwrap_or(&slowest.1)));
}

/// The files of a folder of the corpora, as seeds.
pub fn seeds_in(folder: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/tests/corpus/{folder}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn the_shape_of_an_outcome_is_without_its_words() {
    let shapes = [Some("a \" b"), Some("c")].map(|outcome| shape(&outcome));
    assert_eq!(shapes[0], shapes[1]);
    assert_ne!(shape(&None::<&str>), shapes[0]);
    assert_eq!(shape(&vec![Some(1), Some(2)]), shape(&vec![Some(7)]));
}
