//! Measures the performance that a person notices: `cargo bench --profile dist --bench measure`, or
//! only parts of it with `-- process`, `-- turns`, `-- crowd`, `-- memory`, `-- recall`,
//! `-- entries`, `-- search`, `-- web`, `-- prefix`, `-- scan`. `cargo test --bench measure --
//! smoke` runs each of them small, so that none stops unseen, and compares what a turn costs in
//! counts with `benches/counts.txt`; `-- counts` does only the latter.
//!
//! Three kinds of figures. The real binary, against a Telegram server and a model on loopback: time
//! to the first poll, resident memory at rest, time from a message to the first byte of the answer,
//! size of the first request. The library in this process: time and CPU per turn at growing
//! histories and with a large memory, turns per second, recall at growing journals, search among a
//! hundred thousand entries, a million messages and a hundred thousand vectors, each page of the
//! browser. The scan of skills:
//! its findings and its false positives. The figures are only printed; a test holds counts alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    missing_docs,
    reason = "a measurement may stop at the first surprise"
)]

#[path = "measure/counts.rs"]
mod counts;
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
#[allow(dead_code, unused_imports, unused_macros, reason = "shared with the tests")]
#[path = "../tests/support/mod.rs"]
mod support;

use std::time::Duration;

/// Amount of data and number of rounds.
#[derive(Debug, Clone, Copy)]
pub enum Scale {
    /// Enough for figures.
    Full,
    /// As little as shows that it works.
    Small,
}

impl Scale {
    /// Returns one of the two amounts.
    pub fn of<T>(self, full: T, small: T) -> T {
        match self {
            Self::Full => full,
            Self::Small => small,
        }
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if wanted == ["smoke"] {
        measure(&[], Scale::Small);
        counts::check();
    } else if wanted == ["counts"] {
        counts::check();
    // `cargo test --benches` and the like only check that it builds.
    } else if std::env::args().any(|argument| argument == "--bench") {
        measure(&wanted, Scale::Full);
    }
}

/// Measures the wanted parts; all of them if none is named.
fn measure(wanted: &[String], scale: Scale) {
    println!("{:<58} {:>14} {:>14} {:>14}", "what", "median", "p99", "CPU");
    let asked = |part: &str| wanted.is_empty() || wanted.iter().any(|name| name == part);
    if asked("process") {
        process::measure(scale);
    }
    library::measure(&asked, scale);
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
