//! One story in its own process.

use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Variable with the places to make permissive.
pub const PLACES: &str = "COMPLINE_MUTATE";
/// Variable with the path of the trace file for touched places.
pub const TRACE: &str = "COMPLINE_MUTATION_TRACE";

/// Time limit of a story; a longer one proves nothing.
pub const LONGEST: Duration = Duration::from_mins(3);

/// Result of a story.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Green,
    Red,
    /// The time limit was reached.
    Stuck,
}

/// Runs one story with additions to its environment, at most for `limit`.
pub fn run(story: &str, environment: &[(&str, &str)], limit: Duration) -> End {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([story, "--exact"])
        .envs(environment.iter().copied())
        // Writing a backtrace takes longer than most stories.
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return if status.success() { End::Green } else { End::Red };
        }
        if begun.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            return End::Stuck;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Names of all stories except those of this module and of the test support.
pub fn stories() -> Vec<String> {
    let listed = Command::new(std::env::current_exe().unwrap()).args(["--list", "--format", "terse"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let names = listed.lines().filter_map(|line| line.strip_suffix(": test"));
    names.filter(|name| !name.starts_with("mutation::") && !name.starts_with("support::")).map(str::to_owned).collect()
}

/// Runs all jobs, two at a time; the results are in the order of the work.
pub fn two_at_a_time<T: Sync, R: Send>(work: &[T], job: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(0..work.len());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(at) = next.lock().unwrap().next() else { return };
                    let result = job(&work[at]);
                    done.lock().unwrap().push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
