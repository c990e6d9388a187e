//! Counts of what a turn and an idle minute cost, compared with `benches/counts.txt`.
//!
//! Counts are the same on every machine, so a test can hold them; a time is not. A count that
//! depends on the order in which tasks happen to run is held by an upper limit.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use compline::skill::builtin;
use compline::store::{CommitPoint, Failpoint};
use compline::trust::mutation::statements;

use crate::prefix::{first_request, written};
use crate::process::file_operations;
use crate::support::story::{ADA, Story};

/// Number of turns that are counted, after some others.
const TURNS: u64 = 3;
/// Number of idle minutes that are counted.
const MINUTES: u32 = 10;

/// A count by its name, as a line of the list.
struct Count {
    name: String,
    value: u64,
    /// `=`, or `<=` for an upper limit.
    relation: &'static str,
}

impl Count {
    fn exact(name: &str, value: u64) -> Self {
        Self { name: name.to_owned(), value, relation: "=" }
    }

    /// A count that depends on the order of tasks.
    fn at_most(name: &str, value: u64) -> Self {
        Self { relation: "<=", ..Self::exact(name, value) }
    }

    /// Returns what an upper limit leaves to the order of tasks.
    fn leeway(&self) -> u64 {
        if self.relation == "<=" { self.value / 20 } else { 0 }
    }

    /// Returns the fault if the value is not the listed one.
    fn fault(&self, listed: Option<u64>) -> Option<String> {
        let is_right = match (listed, self.relation) {
            (Some(listed), "<=") => self.value <= listed,
            (listed, _) => listed == Some(self.value),
        };
        let listed = listed.map_or_else(|| "nothing".to_owned(), |listed| listed.to_string());
        (!is_right).then(|| format!("{}: {} {listed} is listed, and it is {}", self.name, self.relation, self.value))
    }
}

/// Takes the counts and compares them with the list.
///
/// # Panics
/// If one differs.
pub fn check() {
    let counts = take();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/counts.txt");
    if std::env::var("COMPLINE_WRITE").is_ok_and(|what| what == "counts") {
        write(&path, &counts);
    }
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let value = |count: &Count| {
        let of_it = |line: &str| line.strip_prefix(&format!("{} {} ", count.name, count.relation))?.parse().ok();
        listed.lines().find_map(of_it)
    };
    for count in &counts {
        println!("{:<58} {:>14}", count.name, count.value);
    }
    let faults: Vec<String> = counts.iter().filter_map(|count| count.fault(value(count))).collect();
    assert!(
        faults.is_empty() && listed.lines().count() == counts.len(),
        "benches/counts.txt:\n{}\nIf that is intended: COMPLINE_WRITE=counts cargo test --bench measure -- smoke",
        faults.join("\n")
    );
}

fn write(path: &PathBuf, counts: &[Count]) {
    let lines = counts.iter().fold(String::new(), |mut lines, count| {
        let _ = writeln!(lines, "{} {} {}", count.name, count.relation, count.value + count.leeway());
        lines
    });
    std::fs::write(path, lines).unwrap();
}

fn take() -> Vec<Count> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut counts = runtime.block_on(async {
        let mut counts = of_turns().await;
        counts.push(Count::exact("wake-ups of ten idle minutes, of the clock", idle_wakeups().await));
        let first = first_request(|story| story.ship(builtin::all())).await;
        counts.push(Count::exact("bytes of the first request", u64::try_from(written(&first).len()).unwrap()));
        counts
    });
    for notes in [10, 1_000] {
        let operations = u64::try_from(file_operations(notes)).unwrap();
        counts.push(Count::exact(&format!("file operations of two turns at {notes} notes"), operations));
    }
    counts
}

/// Counts the work of the journal in ordinary turns.
async fn of_turns() -> Vec<Count> {
    let commits = Arc::new(AtomicU64::new(0));
    let mut story = Story::prepared("").await;
    story.fail_at(Some(Failpoint(Arc::new({
        let commits = Arc::clone(&commits);
        move |point, _| {
            commits.fetch_add(u64::from(point == CommitPoint::After), Ordering::SeqCst);
        }
    }))));
    story.start().await;
    story.say(ADA, "Hello").await;
    story.say(ADA, "How are you?").await;
    let counted = || [commits.load(Ordering::SeqCst), story.app().journal.read_transactions(), statements()];
    wal_frames(&story, "TRUNCATE");
    let before = counted();
    for turn in 0..TURNS {
        story.say(ADA, &format!("ping {turn}")).await;
    }
    let after = counted();
    let frames = wal_frames(&story, "PASSIVE");
    let [commits, reads, statements] = [0, 1, 2].map(|at| after[at] - before[at]);
    story.end().await;
    vec![
        Count::exact("commits of three turns", commits),
        Count::at_most("frames of the write-ahead log of three turns", frames),
        Count::at_most("read transactions of three turns", reads),
        Count::at_most("statements of three turns, without BEGIN and COMMIT", statements),
    ]
}

/// Merges the write-ahead log, and returns the number of its frames.
fn wal_frames(story: &Story, mode: &str) -> u64 {
    let db = rusqlite::Connection::open(story.home.join("compline.db")).unwrap();
    let frames: i64 = db.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(1)).unwrap();
    frames.unsigned_abs()
}

/// Counts how often the clock wakes something while nothing happens.
async fn idle_wakeups() -> u64 {
    let story = Story::with("").await;
    story.say(ADA, "Hello").await;
    story.pass(Duration::from_secs(600)).await;
    let before = story.clock.wakeups();
    story.pass(Duration::from_secs(60) * MINUTES).await;
    let wakeups = story.clock.wakeups() - before;
    story.end().await;
    wakeups
}
