//! Figures from the answers: the share of evidence among the first results, the rank of the first
//! evidence, and how often a question without an answer finds nothing.
//!
//! Every set has two halves, by the hash of the question: one to build on, one to measure. Each
//! figure of all questions comes with the interval in which it lies with 95 % confidence: by
//! resampling for averages, after Wilson for shares.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use super::chance::Chance;
use super::indexed::Found;
use super::set::{Asked, Talk, Unanswerable};

/// Numbers of results examined.
const DEPTHS: [usize; 4] = [1, 5, 10, 20];
/// Number of sessions examined.
const SESSIONS: usize = 5;
/// Number of resamplings.
const SAMPLES: usize = 400;
/// The halves of a set.
const HALVES: [&str; 2] = ["build", "measure"];

/// Figures of each question, by kind.
#[derive(Default)]
pub struct Figures {
    asked: Vec<Answer>,
    unanswerable: Vec<Unanswered>,
    times: Vec<Duration>,
}

struct Answer {
    kind: String,
    half: usize,
    turns: [f64; 4],
    sessions: f64,
    reciprocal: f64,
    /// Share of the evidence among the first ten if nothing were rejected.
    without_floor: f64,
}

struct Unanswered {
    half: usize,
    words_occur: bool,
    is_nothing: bool,
}

impl Figures {
    pub fn add(&mut self, talk: &Talk, asked: &Asked, found: &Found, took: Duration) {
        let session_of: HashMap<&str, &str> = talk
            .sessions
            .iter()
            .flat_map(|session| session.turns.iter().map(|turn| (turn.id.as_str(), session.id.as_str())))
            .collect();
        // Evidence that is missing in the file cannot be found.
        let evidence: HashSet<&str> =
            asked.evidence.iter().map(String::as_str).filter(|id| session_of.contains_key(id)).collect();
        if evidence.is_empty() {
            return;
        }
        let share = |hits: usize, of: usize| hits as f64 / of as f64;
        let among = |found: &[String], depth: usize| {
            share(found.iter().take(depth).filter(|id| evidence.contains(id.as_str())).count(), evidence.len())
        };
        let wanted: HashSet<&str> = evidence.iter().map(|id| session_of[id]).collect();
        let mut seen: Vec<&str> = Vec::new();
        for id in &found.turns {
            let session = session_of[id.as_str()];
            if !seen.contains(&session) {
                seen.push(session);
            }
        }
        let sessions = seen.iter().take(SESSIONS).filter(|session| wanted.contains(*session)).count();
        let first = found.turns.iter().position(|id| evidence.contains(id.as_str()));
        let all = [&found.turns[..], &found.rejected[..]].concat();
        self.asked.push(Answer {
            kind: asked.kind.as_str().map_or_else(|| asked.kind.to_string(), str::to_owned),
            half: half_of(&asked.question),
            turns: DEPTHS.map(|depth| among(&found.turns, depth)),
            sessions: share(sessions, wanted.len()),
            reciprocal: first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
            without_floor: among(&all, 10),
        });
        self.times.push(took);
    }

    pub fn add_unanswerable(&mut self, asked: &Unanswerable, found: &Found) {
        let half = half_of(&asked.question);
        self.unanswerable.push(Unanswered { half, words_occur: asked.words_occur, is_nothing: found.turns.is_empty() });
    }

    /// Share of the evidence among the first ten, by kind of question.
    pub fn among_ten(&self) -> BTreeMap<&str, f64> {
        let kinds = self.kinds().into_iter();
        kinds.map(|(kind, answers)| (kind, mean(answers.iter().map(|one| one.turns[2])))).collect()
    }

    /// Points of R@10 lost by rejecting, and the share of unanswerable questions that find nothing.
    pub fn floor(&self) -> (f64, f64) {
        let lost = mean(self.asked.iter().map(|one| one.without_floor - one.turns[2]));
        (100.0 * lost, mean(self.unanswerable.iter().map(|one| f64::from(u8::from(one.is_nothing)))))
    }

    fn kinds(&self) -> BTreeMap<&str, Vec<&Answer>> {
        let mut kinds: BTreeMap<&str, Vec<&Answer>> = BTreeMap::new();
        for one in &self.asked {
            kinds.entry(&one.kind).or_default().push(one);
            kinds.entry("all").or_default().push(one);
        }
        kinds
    }

    pub fn print(&self, way: &str) {
        let heads = DEPTHS.map(|depth| format!("R@{depth}"));
        println!(
            "{way:<9} {:<24} {:>6} {:>7} {:>7} {:>7} {:>7} {:>8} {:>7}",
            "kind", "asked", heads[0], heads[1], heads[2], heads[3], "session5", "MRR"
        );
        for (kind, answers) in self.kinds() {
            let figure = |of: fn(&Answer) -> f64| format!("{:.1}", 100.0 * mean(answers.iter().map(|one| of(one))));
            println!(
                "{:<9} {kind:<24} {:>6} {:>7} {:>7} {:>7} {:>7} {:>8} {:>7}",
                "",
                answers.len(),
                figure(|one| one.turns[0]),
                figure(|one| one.turns[1]),
                figure(|one| one.turns[2]),
                figure(|one| one.turns[3]),
                figure(|one| one.sessions),
                figure(|one| one.reciprocal)
            );
        }
        for (half, name) in HALVES.iter().enumerate() {
            self.print_half(half, name);
        }
        println!("{:<9} median time of a question {:.1} ms", "", median(self.times.clone()));
    }

    fn print_half(&self, half: usize, name: &str) {
        let answers: Vec<&Answer> = self.asked.iter().filter(|one| one.half == half).collect();
        let figure = |of: fn(&Answer) -> f64| resampled(&answers.iter().map(|one| of(one)).collect::<Vec<_>>());
        println!(
            "{:<9} {name:<8} {:>4} asked: R@10 {}, session5 {}, MRR {}; rejecting costs R@10 {}",
            "",
            answers.len(),
            figure(|one| one.turns[2]),
            figure(|one| one.sessions),
            figure(|one| one.reciprocal),
            figure(|one| one.without_floor - one.turns[2])
        );
        let nothing = |words_occur: Option<bool>| {
            let some = self.unanswerable.iter().filter(|one| one.half == half);
            let some: Vec<&Unanswered> =
                some.filter(|one| words_occur.is_none_or(|occur| occur == one.words_occur)).collect();
            wilson(some.iter().filter(|one| one.is_nothing).count(), some.len())
        };
        let [all, occur, strange] = [None, Some(true), Some(false)].map(nothing);
        println!(
            "{:<9} {name:<8} without an answer, nothing found: {all}; all words occur: {occur}; others: {strange}",
            ""
        );
    }
}

/// The half to which a question belongs.
fn half_of(question: &str) -> usize {
    let hash = question
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    usize::try_from((hash >> 32) & 1).unwrap()
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = figures.fold((0.0, 0_usize), |(sum, count), one| (sum + one, count + 1));
    if count == 0 { 0.0 } else { sum / count as f64 }
}

/// The mean in per cent with its interval.
fn resampled(figures: &[f64]) -> String {
    if figures.is_empty() {
        return "-".to_owned();
    }
    let mut chance = Chance::of(figures.len() as u64);
    let sample = |_| mean((0..figures.len()).map(|_| chance.among(figures)).collect::<Vec<_>>().into_iter());
    let mut means: Vec<f64> = (0..SAMPLES).map(sample).collect();
    means.sort_by(f64::total_cmp);
    let [low, high] = [SAMPLES / 40, SAMPLES - 1 - SAMPLES / 40].map(|at| 100.0 * means[at]);
    format!("{:.1} ({low:.1} to {high:.1})", 100.0 * mean(figures.iter().copied()))
}

/// A share in per cent with its interval.
fn wilson(hits: usize, of: usize) -> String {
    if of == 0 {
        return "-".to_owned();
    }
    const Z: f64 = 1.96;
    let (count, share) = (of as f64, hits as f64 / of as f64);
    let (middle, width) =
        (share + Z * Z / (2.0 * count), Z * (share * (1.0 - share) / count + Z * Z / (4.0 * count * count)).sqrt());
    let [low, high] = [middle - width, middle + width].map(|bound| 100.0 * bound / (1.0 + Z * Z / count));
    format!("{:.1} % ({low:.1} to {high:.1}) of {of}", 100.0 * share)
}

/// The median in milliseconds.
pub fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1000.0
}
