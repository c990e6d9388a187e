//! The list of effects and the scan of skills: the share of poisoned edits whose act stands in the
//! first lines of the list, the share of harmless edits with a line listed or held, the lines of
//! harmless skills, and the time.
//!
//! Reads the saved texts, or two folders from the command line: attacks first, then harmless
//! skills. Each collection is split in two by a hash: one half to build on, one to measure.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use compline::review::effects::Effects;
use compline::review::scan::{scan, scan_text};
use compline::skill::{Digest, MAIN, SkillFolder};

use crate::support::saved_texts::saved;
use crate::{figure, line};

/// Lines that an honest person adds to a skill.
const HARMLESS_EDITS: &str = include_str!("harmless_edits.txt");

/// The lines of the list in which an act must stand.
const FIRST: usize = 3;

pub fn measure(folders: &[&str]) {
    // Builds the tables in advance.
    scan_text(MAIN, "first");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let corpus = root.join("corpus/skills");
    let (attacks, skills) = match folders {
        [attacks, harmless] => (texts(Path::new(attacks)), all(Path::new(harmless))),
        _ => {
            let attacks = [texts(&corpus.join("attacks")), texts(&corpus.join("attacks/held-out"))].concat();
            (attacks, all(&corpus.join("harmless")))
        }
    };
    let edits: Vec<(String, String)> = HARMLESS_EDITS.lines().map(|line| (line.to_owned(), line.to_owned())).collect();
    for (half, name) in [(0, "built on"), (1, "measured")] {
        println!("\neffects, the half {name}:");
        let hosts: Vec<&SkillFolder> =
            skills.iter().filter(|(name, _)| in_half(name, half)).map(|(_, skill)| skill).collect();
        let poison: Vec<&str> = of_half(&attacks, half);
        poisoned(&poison, &hosts);
        harmless("  harmless edits", &of_half(&edits, half), &hosts);
        let moved: Vec<String> = hosts.iter().filter_map(|skill| prose_line(skill)).collect();
        harmless("  lines moved from another skill", &moved.iter().map(String::as_str).collect::<Vec<_>>(), &hosts);
        whole(&hosts);
    }
}

fn in_half(name: &str, half: u8) -> bool {
    Digest::of(name.as_bytes()).as_str().bytes().last().is_some_and(|digit| digit % 2 == half)
}

fn of_half(texts: &[(String, String)], half: u8) -> Vec<&str> {
    texts.iter().filter(|(name, _)| in_half(name, half)).map(|(_, text)| text.as_str()).collect()
}

/// Returns the skill with a text as a paragraph in its middle, and the lines of that text.
fn edited(skill: &SkillFolder, text: &str) -> (SkillFolder, std::ops::RangeInclusive<usize>) {
    let main = skill.text(MAIN).unwrap_or_default();
    let paragraphs: Vec<usize> = main.match_indices("\n\n").map(|(at, _)| at + 2).collect();
    let at = paragraphs.get(paragraphs.len() / 2).copied().unwrap_or(main.len());
    let (before, after) = main.split_at(at);
    let first = before.matches('\n').count() + 1;
    let mut edited = skill.clone();
    edited.put(MAIN, Arc::from(format!("{before}{text}\n\n{after}").into_bytes()));
    (edited, first..=first + text.matches('\n').count() + 1)
}

/// Inserts each attack into a harmless skill, and counts those with an act of it in the first lines.
fn poisoned(attacks: &[&str], skills: &[&SkillFolder]) {
    let (mut first, mut listed, mut waits) = (0, 0, 0);
    for (number, attack) in attacks.iter().enumerate() {
        let Some(skill) = skills.get(number % skills.len().max(1)) else { continue };
        let (edited, lines) = edited(skill, attack);
        let effects = Effects::of_change(Some(skill), Some(&edited));
        let kinds: Vec<_> = effects.lines().into_iter().take(FIRST).map(|(kind, _)| kind).collect();
        let is_there = effects.iter().any(|effect| {
            kinds.contains(&effect.kind) && lines.contains(&effect.line) && (effect.kind.is_dangerous() || effect.acts)
        });
        let findings = scan(&edited).len() > scan(skill).len();
        first += usize::from(is_there || findings);
        listed += usize::from(!effects.is_empty() || findings);
        waits += usize::from(effects.waits() || findings);
        if !is_there && !findings && std::env::var_os("SHOW_MISSED").is_some() {
            println!("MISSED {}", attack.chars().take(300).collect::<String>().replace('\n', " / "));
        }
    }
    share("  poisoned edits with the act in the first lines", first, attacks.len());
    share("  poisoned edits with a line listed", listed, attacks.len());
    share("  poisoned edits held", waits, attacks.len());
}

fn harmless(what: &str, edits: &[&str], skills: &[&SkillFolder]) {
    let (mut listed, mut waits) = (0, 0);
    for (number, edit) in edits.iter().enumerate() {
        let Some(skill) = skills.get((number + 1) % skills.len().max(1)) else { continue };
        let effects = Effects::of_change(Some(skill), Some(&edited(skill, edit).0));
        listed += usize::from(!effects.is_empty());
        waits += usize::from(effects.waits());
        if !effects.is_empty() && std::env::var_os("SHOW_MISSED").is_some() {
            println!("LISTED {edit} => {:?}", effects.lines());
        }
    }
    share(&format!("{what} with a line listed"), listed, edits.len());
    share(&format!("{what} held"), waits, edits.len());
}

/// Returns a line of prose from the middle of a skill.
fn prose_line(skill: &SkillFolder) -> Option<String> {
    let main = skill.text(MAIN)?;
    let lines: Vec<&str> = main.lines().collect();
    let is_prose = |line: &&&str| line.len() > 20 && line.starts_with(|c: char| c.is_alphabetic() || c == '-');
    lines.iter().skip(lines.len() / 2).find(is_prose).map(|line| (*line).to_owned())
}

/// Prints the lines of whole skills, as they would be shown on import, and the time.
fn whole(skills: &[&SkillFolder]) {
    let mut counts = Vec::new();
    let mut times = Vec::new();
    let mut suspected = 0;
    let mut bytes = 0;
    for skill in skills {
        let began = Instant::now();
        counts.push(Effects::of_change(None, Some(skill)).lines().len());
        suspected += usize::from(!scan(skill).is_empty());
        times.push(began.elapsed());
        bytes += skill.files().map(|(_, bytes)| bytes.len()).sum::<usize>();
    }
    counts.sort_unstable();
    let median = counts.get(counts.len() / 2).copied().unwrap_or_default();
    figure("  lines of a harmless skill, median", median.to_string());
    share("  harmless skills with a finding of the scan", suspected, skills.len());
    let took: Duration = times.iter().sum();
    line("  time for a skill", times, None);
    figure("  time for a KiB", format!("{:.0} us", took.as_secs_f64() * 1e6 / (bytes as f64 / 1024.0)));
}

fn share(what: &str, found: usize, all: usize) {
    let percent = 100.0 * found as f64 / all.max(1) as f64;
    figure(what, format!("{found} of {all} ({percent:.1} %)"));
}

fn texts(folder: &Path) -> Vec<(String, String)> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    saved(folder).into_iter().map(|text| (name(&text.name), text.text)).collect()
}

/// The skills below a folder with their names; without any, its texts.
fn all(folder: &Path) -> Vec<(String, SkillFolder)> {
    let mut folders = Vec::new();
    beneath(folder, &mut folders);
    if folders.is_empty() {
        let skill = |text: String| SkillFolder::new([(MAIN.to_owned(), Arc::from(text.into_bytes()))]);
        return texts(folder).into_iter().map(|(name, text)| (name, skill(text))).collect();
    }
    folders.sort();
    let read = |path: PathBuf| {
        let name = path.strip_prefix(folder).ok()?.display().to_string();
        Some((name, SkillFolder::read(&path).ok()?))
    };
    folders.into_iter().filter_map(read).collect()
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
