//! Measures the performance that a person notices: `cargo bench --profile dist --bench measure`, or
//! only parts of it with `-- process`, `-- turns`, `-- crowd`, `-- memory`, `-- recall`,
//! `-- entries`, `-- search`, `-- web`, `-- prefix`, `-- scan`.
//!
//! Three kinds of figures. The real binary, against a Telegram server and a model on loopback: time
//! to the first poll, resident memory at rest, time from a message to the first byte of the answer,
//! size of the first request. The library in this process: time and CPU per turn at growing
//! histories and with a large memory, turns per second, recall at growing journals, search among a
//! hundred thousand entries, a million messages and a hundred thousand vectors, each page of the
//! browser. The scan of skills:
//! its findings and its false positives. The figures are only printed; none is a test.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    missing_docs,
    reason = "a measurement may stop at the first surprise"
)]

#[path = "measure/entries.rs"]
mod entries;
#[path = "measure/library.rs"]
mod library;
#[path = "measure/page.rs"]
mod page;
#[path = "measure/prefix.rs"]
mod prefix;
#[path = "measure/process.rs"]
mod process;
#[path = "measure/scan.rs"]
mod scan;
#[path = "measure/search.rs"]
mod search;
#[allow(dead_code, unused_imports, reason = "shared with the tests")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

fn main() {
    // `cargo test --benches` and the like only check that it builds.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    println!("{:<58} {:>14} {:>14} {:>14}", "what", "median", "p99", "CPU");
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let asked = |part: &str| wanted.is_empty() || wanted.iter().any(|name| name == part);
    if asked("process") {
        process::measure();
    }
    library::measure(&asked);
    if asked("prefix") {
        prefix::measure();
    }
    if asked("scan") {
        let folders: Vec<&str> = wanted.iter().map(String::as_str).filter(|word| *word != "scan").collect();
        scan::measure(&folders);
    }
}

/// One line of the table.
pub fn line(what: &str, mut times: Vec<Duration>, cpu: Option<Duration>) {
    times.sort();
    let at = |share: usize| {
        times.get((times.len() * share / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
    };
    let cpu = cpu.map_or(String::new(), show);
    println!("{what:<58} {:>14} {:>14} {cpu:>14}", show(at(50)), show(at(99)));
}

/// One figure that is no time.
pub fn figure(what: &str, value: String) {
    println!("{what:<58} {value:>14}");
}

fn show(time: Duration) -> String {
    let micros = time.as_micros();
    if micros < 10_000 { format!("{micros} us") } else { format!("{:.1} ms", time.as_secs_f64() * 1000.0) }
}

/// The CPU time of this process so far, all threads.
pub fn cpu() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let nanos: u64 = tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok())
        .filter_map(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .sum();
    Duration::from_nanos(nanos)
}
