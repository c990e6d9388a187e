//! Figures from the answers: the share of evidence among the first results, and the rank of the
//! first evidence.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use crate::set::{Asked, Talk};

/// Numbers of results examined.
const DEPTHS: [usize; 4] = [1, 5, 10, 20];
/// Number of sessions examined.
const SESSIONS: usize = 5;

/// Sums over questions, by their kind.
#[derive(Default)]
pub struct Figures {
    kinds: BTreeMap<String, Sums>,
    times: Vec<Duration>,
}

#[derive(Default, Clone)]
struct Sums {
    questions: f64,
    turns: [f64; 4],
    sessions: f64,
    reciprocal: f64,
}

impl Figures {
    pub fn add(&mut self, talk: &Talk, asked: &Asked, found: &[String], took: Duration) {
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
        let among = |depth: usize| found.iter().take(depth).filter(|id| evidence.contains(id.as_str())).count();
        let wanted: HashSet<&str> = evidence.iter().map(|id| session_of[id]).collect();
        let mut seen: Vec<&str> = Vec::new();
        for id in found {
            let session = session_of[id.as_str()];
            if !seen.contains(&session) {
                seen.push(session);
            }
        }
        let sessions = seen.iter().take(SESSIONS).filter(|session| wanted.contains(*session)).count();
        let first = found.iter().position(|id| evidence.contains(id.as_str()));
        let kind = asked.kind.as_str().map_or_else(|| asked.kind.to_string(), str::to_owned);
        for kind in [kind.as_str(), "all"] {
            let sums = self.kinds.entry(kind.to_owned()).or_default();
            sums.questions += 1.0;
            for (sum, depth) in sums.turns.iter_mut().zip(DEPTHS) {
                *sum += share(among(depth), evidence.len());
            }
            sums.sessions += share(sessions, wanted.len());
            sums.reciprocal += first.map_or(0.0, |at| 1.0 / (at + 1) as f64);
        }
        self.times.push(took);
    }

    /// Share of the evidence among the first ten, by kind of question.
    pub fn among_ten(&self) -> BTreeMap<&str, f64> {
        self.kinds.iter().map(|(kind, sums)| (kind.as_str(), sums.turns[2] / sums.questions)).collect()
    }

    pub fn print(&self, way: &str) {
        let heads = DEPTHS.map(|depth| format!("R@{depth}"));
        println!(
            "{way:<9} {:<24} {:>6} {:>7} {:>7} {:>7} {:>7} {:>8} {:>7}",
            "kind", "asked", heads[0], heads[1], heads[2], heads[3], "session5", "MRR"
        );
        for (kind, sums) in &self.kinds {
            let percent = |sum: f64| format!("{:.1}", 100.0 * sum / sums.questions);
            let [a, b, c, d] = sums.turns.map(percent);
            println!(
                "{:<9} {kind:<24} {:>6} {a:>7} {b:>7} {c:>7} {d:>7} {:>8} {:>7}",
                "",
                sums.questions,
                percent(sums.sessions),
                percent(sums.reciprocal)
            );
        }
        println!("{:<9} median time of a question {:.1} ms", "", median(self.times.clone()));
    }
}

/// The median in milliseconds.
pub fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64() * 1000.0
}
