//! The scan of skills: the share of attacks that it finds, the share of harmless skills that it
//! suspects, and its duration.
//!
//! Scans the saved texts, or two folders from the command line: attacks first, then harmless
//! skills.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use compline::review::scan::{scan, scan_text};
use compline::skill::{MAIN, SkillFolder};

use crate::support::saved_texts::saved;
use crate::{figure, line};

/// Findings in one skill.
struct Scanned {
    rules: Vec<String>,
    bytes: usize,
    took: Duration,
}

pub fn measure(folders: &[&str]) {
    // Builds the tables in advance.
    scan_text(MAIN, "first");
    if let [attacks, harmless] = folders {
        share("scan: attacks found", &all(Path::new(attacks)));
        share("scan: harmless skills suspected", &all(Path::new(harmless)));
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let corpus = root.join("corpus/skills");
    share("scan: attacks found, those known to the tests", &all(&corpus.join("attacks")));
    share("scan: attacks found, held out", &all(&corpus.join("attacks/held-out")));
    share("scan: harmless skills suspected", &all(&corpus.join("harmless")));
    let public = root.join("peers/node_modules/ecc-universal");
    if public.exists() {
        share("scan: skills of a public collection suspected", &all(&public));
    } else {
        println!("scan: the public collection is not installed: bash tests/run.sh peers");
    }
}

/// The skills below a folder; without any, its texts.
fn all(folder: &Path) -> Vec<Scanned> {
    let mut folders = Vec::new();
    beneath(folder, &mut folders);
    if folders.is_empty() {
        let texts = saved(folder);
        return texts.iter().map(|text| timed(text.text.len(), || scan_text(MAIN, &text.text))).collect();
    }
    let read = folders.iter().filter_map(|folder| SkillFolder::read(folder).ok());
    read.map(|folder| timed(folder.files().map(|(_, bytes)| bytes.len()).sum(), || scan(&folder))).collect()
}

fn timed(bytes: usize, scan: impl FnOnce() -> Vec<compline::review::Finding>) -> Scanned {
    let began = Instant::now();
    let findings = scan();
    Scanned { took: began.elapsed(), bytes, rules: findings.into_iter().map(|finding| finding.rule).collect() }
}

fn beneath(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        let path = entry.path();
        if path.join(MAIN).exists() {
            found.push(path);
        } else {
            beneath(&path, found);
        }
    }
}

fn share(what: &str, scanned: &[Scanned]) {
    let found = scanned.iter().filter(|one| !one.rules.is_empty()).count();
    let percent = 100.0 * found as f64 / scanned.len().max(1) as f64;
    figure(what, format!("{found} of {} ({percent:.1} %)", scanned.len()));
    let bytes: usize = scanned.iter().map(|one| one.bytes).sum();
    let took: Duration = scanned.iter().map(|one| one.took).sum();
    line("  time for a skill", scanned.iter().map(|one| one.took).collect(), None);
    figure("  time for a KiB", format!("{:.0} us", took.as_secs_f64() * 1e6 / (bytes as f64 / 1024.0)));
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for one in scanned {
        let distinct: std::collections::BTreeSet<&str> = one.rules.iter().map(String::as_str).collect();
        for rule in distinct {
            *rules.entry(rule).or_default() += 1;
        }
    }
    let rules: Vec<String> = rules.iter().map(|(rule, skills)| format!("{rule} {skills}")).collect();
    println!("  skills by rule: {}", rules.join(", "));
}
