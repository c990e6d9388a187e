//! Conversations of invented words, with a model that knows their meaning: any number, the same
//! every time, without a server.
//!
//! A thing has three names with the same meaning. Two people talk for half a year, each evening
//! about a few things; questions are of several kinds, each easy for one way of searching and hard
//! for the other. The semantic model maps the three names to one, takes every number for the same
//! and a person's name for a thing, as models do, with a configurable error. That measures no real
//! model; it measures the search with a good, a middling and a useless one.

use async_trait::async_trait;
use compline::model::ModelError;
use compline::model::embed::{Embedded, Embedder, EmbedderInfo};
use compline::trust::Text;
use std::collections::HashSet;
use std::time::Duration;

use super::chance::Chance;
use super::set::{Asked, Session, Set, Talk, Turn, Unanswerable};

pub const CONVERSATIONS: u64 = 3;
const EVENINGS: u64 = 60;
const TURNS: u64 = 16;
/// Number of things mentioned on one evening, and of all things.
const THINGS: usize = 10;
const WORLD: u64 = 1_500;
/// Number of words used all the time.
const SMALL_TALK: u64 = 120;
const QUESTIONS: usize = 25;
/// Number of unanswerable questions of each sort for a conversation.
const UNANSWERABLE: usize = 40;
const NAMES: [&str; 2] = ["Nora", "Tomas"];
const DIMENSIONS: usize = 128;

/// The word for a number; unique.
fn word(number: u64) -> String {
    const SYLLABLES: [&str; 16] =
        ["ka", "lo", "mi", "ra", "to", "su", "po", "vi", "na", "de", "hu", "be", "go", "fe", "zi", "wu"];
    let (mut rest, mut word) = (number + 4_096, String::new());
    while rest > 0 {
        word.push_str(SYLLABLES[usize::try_from(rest % 16).unwrap()]);
        rest /= 16;
    }
    word + "k"
}

/// One of the three names of a thing.
fn name(thing: u64, which: u64) -> String {
    word(thing * 3 + which)
}

fn small(chance: &mut Chance) -> String {
    // Some words are far more frequent than others.
    let (one, other) = (chance.below(SMALL_TALK), chance.below(SMALL_TALK));
    word(1_000_000 + one.min(other))
}

/// A turn with its details, for the questions.
struct Said {
    id: String,
    speaker: usize,
    evening: u64,
    things: Vec<u64>,
    names: Vec<u64>,
    code: Option<u64>,
    next: Option<String>,
}

/// The whole set.
pub fn set() -> Set {
    Set { conversations: (0..CONVERSATIONS).map(|number| talk(number).0).collect() }
}

/// Questions about another conversation than that one, which has no answer to them. Half of them
/// name things that it speaks of, but never on the same evening.
pub fn unanswerable(number: u64) -> Vec<Unanswerable> {
    let mut chance = Chance::of(number + 91);
    let (_, here) = talk(number);
    let (_, there) = talk((number + 1) % CONVERSATIONS);
    let evenings = |thing: u64, name: Option<u64>| -> HashSet<u64> {
        let is_said = |said: &&Said| {
            said.things
                .iter()
                .zip(&said.names)
                .any(|(one, which)| *one == thing && name.is_none_or(|name| name == *which))
        };
        here.iter().filter(is_said).map(|said| said.evening).collect()
    };
    let mut strange: Vec<Unanswerable> = Vec::new();
    let mut known: Vec<Unanswerable> = Vec::new();
    for one in there.iter().filter(|one| one.things.len() == 2 && one.things[0] != one.things[1]) {
        let [a, b] = [0, 1].map(|at| evenings(one.things[at], None));
        let words = [0, 1].map(|at| name(one.things[at], one.names[at]));
        let all_occur = [0, 1].iter().all(|at| !evenings(one.things[*at], Some(one.names[*at])).is_empty());
        let question = format!("what about {} {} {}?", words[0], words[1], small(&mut chance));
        if a.is_empty() && b.is_empty() {
            strange.push(Unanswerable { question, words_occur: false });
        } else if all_occur && a.is_disjoint(&b) {
            known.push(Unanswerable { question, words_occur: true });
        }
    }
    strange.truncate(UNANSWERABLE);
    known.truncate(UNANSWERABLE);
    strange.into_iter().chain(known).collect()
}

fn talk(number: u64) -> (Talk, Vec<Said>) {
    let mut chance = Chance::of(number + 1);
    let (mut sessions, mut said) = (Vec::new(), Vec::new());
    for evening in 0..EVENINGS {
        let things: Vec<u64> = (0..THINGS).map(|_| chance.below(WORLD)).collect();
        let mut turns = Vec::new();
        for at in 0..TURNS {
            let id = format!("{number}.{evening}.{at}");
            let speaker = usize::try_from(at % 2).unwrap();
            let mut words: Vec<String> = (0..6 + chance.below(8)).map(|_| small(&mut chance)).collect();
            if at % 5 == 0 {
                words.insert(0, NAMES[1 - speaker].to_owned());
            }
            let mut one =
                Said { id: id.clone(), speaker, evening, things: vec![], names: vec![], code: None, next: None };
            // Three turns of four mention two things; the fourth names none.
            if at % 2 == u64::from(at % 4 == 1) {
                for _ in 0..2 {
                    let (thing, which) = (chance.among(&things), chance.below(3));
                    one.things.push(thing);
                    one.names.push(which);
                    let place = usize::try_from(chance.below(words.len() as u64)).unwrap();
                    words.insert(place, name(thing, which));
                }
                if chance.below(4) == 0 {
                    let code = 1_000 + chance.below(9_000);
                    one.code = Some(code);
                    words.push(format!("{code}"));
                }
            }
            if let Some(before) = said.last_mut().filter(|before: &&mut Said| before.evening == evening) {
                before.next = Some(id.clone());
            }
            said.push(one);
            turns.push(Turn { id, speaker: NAMES[speaker].to_owned(), at: at_of(evening, at), text: words.join(" ") });
        }
        sessions.push(Session { id: format!("{number}.{evening}"), turns });
    }
    let questions = questions(&mut chance, &said);
    (Talk { sessions, questions }, said)
}

fn at_of(evening: u64, turn: u64) -> String {
    let day = evening * 3;
    format!("2025-{:02}-{:02}T19:{turn:02}:00Z", 1 + day / 28, 1 + day % 28)
}

fn questions(chance: &mut Chance, said: &[Said]) -> Vec<Asked> {
    let told: Vec<&Said> = said.iter().filter(|one| one.things.len() == 2 && one.things[0] != one.things[1]).collect();
    let coded: Vec<&Said> = told.iter().copied().filter(|one| one.code.is_some()).collect();
    let mut all = Vec::new();
    for kind in ["same words", "other words", "half and half", "named", "dated", "number", "answer beside", "several"] {
        for _ in 0..QUESTIONS {
            let one = if kind == "number" { chance.among(&coded) } else { chance.among(&told) };
            all.push(question(chance, kind, one, &told));
        }
    }
    all
}

fn question(chance: &mut Chance, kind: &str, one: &Said, told: &[&Said]) -> Asked {
    let as_said = |at: usize| name(one.things[at], one.names[at]);
    let other = |at: usize| name(one.things[at], (one.names[at] + 1) % 3);
    let (filler, more) = (small(chance), small(chance));
    let both: Vec<&&Said> =
        told.iter().filter(|other| one.things.iter().all(|thing| other.things.contains(thing))).collect();
    let mut evidence: Vec<String> = both.iter().map(|said| said.id.clone()).collect();
    let question = match kind {
        "same words" => format!("what about {} {} {filler}?", as_said(0), as_said(1)),
        "other words" => format!("what about {} {} {filler}?", other(0), other(1)),
        "half and half" => format!("what about {} {} {filler}?", as_said(0), other(1)),
        "named" => {
            evidence = both.iter().filter(|said| said.speaker == one.speaker).map(|said| said.id.clone()).collect();
            format!("what did {} say of {} {}?", NAMES[one.speaker], as_said(0), other(1))
        }
        "dated" => {
            evidence = told
                .iter()
                .filter(|said| said.things.contains(&one.things[0]) && month(said) == month(one))
                .map(|said| said.id.clone())
                .collect();
            format!("what was it with {} in {} 2025?", as_said(0), MONTHS[month(one)])
        }
        "number" => {
            evidence = vec![one.id.clone()];
            format!("which one was {} {filler}?", one.code.unwrap())
        }
        "answer beside" => {
            evidence = both.iter().filter_map(|said| said.next.clone()).collect();
            format!("what was answered about {} {}?", as_said(0), as_said(1))
        }
        _ => {
            evidence =
                told.iter().filter(|said| said.things.contains(&one.things[0])).map(|said| said.id.clone()).collect();
            format!("everything about {} {filler} {more}?", as_said(0))
        }
    };
    Asked { question, evidence, kind: kind.into() }
}

const MONTHS: [&str; 7] = ["January", "February", "March", "April", "May", "June", "July"];

fn month(said: &Said) -> usize {
    usize::try_from(said.evening * 3 / 28).unwrap()
}

/// A semantic model of invented words, with errors.
pub struct Meaning {
    info: EmbedderInfo,
    /// Share of error in a vector: 0 for none, 1 for as much as meaning, 9 for hardly anything
    /// else.
    error: f32,
}

impl Meaning {
    pub fn with_error(error: f32) -> Self {
        let name = format!("invented-{error}");
        Self { info: EmbedderInfo { provider: "invented".to_owned(), name, dimensions: Some(DIMENSIONS) }, error }
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; DIMENSIONS];
        for said in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let (seed, weight) = meaning_of(&said.to_lowercase());
            add(&mut sum, seed, weight);
        }
        scale(&mut sum, 1.0);
        let own = text.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut error = vec![0.0; DIMENSIONS];
        add(&mut error, own ^ 0xE440, 1.0);
        scale(&mut error, self.error);
        let mut vector: Vec<f32> = sum.iter().zip(&error).map(|(meaning, error)| meaning + error).collect();
        scale(&mut vector, 1.0);
        vector
    }
}

/// Meaning of a word, and its weight.
fn meaning_of(said: &str) -> (u64, f32) {
    if said.bytes().all(|byte| byte.is_ascii_digit()) {
        return (1, 1.0);
    }
    let seed = said.bytes().fold(3_u64, |seed, byte| seed.wrapping_mul(131).wrapping_add(u64::from(byte)));
    if NAMES.iter().any(|name| name.eq_ignore_ascii_case(said)) {
        return (seed, 2.0);
    }
    match number(said) {
        Some(number) if number >= 1_000_000 => (seed, 0.3),
        Some(number) => (1_000 + number / 3, 1.0),
        None => (seed, 0.3),
    }
}

/// The number of an invented word.
fn number(word: &str) -> Option<u64> {
    const FIRST: [&str; 16] =
        ["ka", "lo", "mi", "ra", "to", "su", "po", "vi", "na", "de", "hu", "be", "go", "fe", "zi", "wu"];
    let digits: Vec<u64> = word
        .strip_suffix('k')?
        .as_bytes()
        .chunks(2)
        .map(|two| FIRST.iter().position(|syllable| syllable.as_bytes() == two).map(|at| at as u64))
        .collect::<Option<_>>()?;
    digits.iter().rev().try_fold(0_u64, |sum, digit| sum.checked_mul(16)?.checked_add(*digit))?.checked_sub(4_096)
}

/// Adds a direction of about unit length.
fn add(sum: &mut [f32], seed: u64, weight: f32) {
    let mut chance = Chance::of(seed + 17);
    for number in sum.iter_mut() {
        let of_many: f32 = (0..4).map(|_| chance.below(2_001) as f32 / 1_000.0 - 1.0).sum();
        *number += weight * of_many / (DIMENSIONS as f32).sqrt();
    }
}

fn scale(vector: &mut [f32], length: f32) {
    let size = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if size > 0.0 {
        vector.iter_mut().for_each(|number| *number *= length / size);
    }
}

#[async_trait]
impl Embedder for Meaning {
    fn info(&self) -> &EmbedderInfo {
        &self.info
    }

    async fn embed(&self, texts: &[Text], _: Duration) -> Result<Embedded, ModelError> {
        Ok(Embedded { vectors: texts.iter().map(|text| self.vector(text.open().0)).collect(), input: 1 })
    }
}
