//! The list of effects and the scan of skills: the share of poisoned edits whose act stands in the
//! first lines of the list, the share of harmless edits with a line listed or held, the lines of
//! harmless skills, and the time.
//!
//! Reads the saved texts, or two folders from the command line: attacks first, then harmless
//! skills. Each collection is split in two by a hash: one half to build on, one to measure. Shares
//! are printed with their 95 % interval, and as a curve over the kinds that a list would have.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use compline::review::effects::{EffectKind, Effects};
use compline::review::scan::{scan, scan_text};
use compline::skill::{Digest, MAIN, SkillFolder};
use strum::IntoEnumIterator;

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
        let poison = of_half(&attacks, half);
        let found: Vec<Edit> = edits_of(&poison, &hosts);
        let names: BTreeSet<&str> = poison.iter().map(|(name, _)| collection(name)).collect();
        for name in names.iter().filter(|_| names.len() > 1) {
            let of_it = poison.iter().zip(&found).filter(|((attack, _), _)| collection(attack) == *name);
            poisoned(&format!("  poisoned edits of {name}"), &of_it.map(|(_, edit)| edit).collect::<Vec<_>>());
        }
        poisoned("  poisoned edits", &found.iter().collect::<Vec<_>>());
        let written = edits_of(&of_half(&edits, half), &hosts);
        harmless("  harmless edits", &written);
        let lines: Vec<(String, String)> =
            hosts.iter().filter_map(|skill| prose_line(skill)).map(|line| (line.clone(), line)).collect();
        let lines: Vec<(&str, &str)> = lines.iter().map(|(name, line)| (name.as_str(), line.as_str())).collect();
        let moved = edits_of(&lines, &hosts);
        harmless("  lines moved from another skill", &moved);
        curve(&found, &written, &moved);
        whole(&hosts);
    }
}

fn in_half(name: &str, half: u8) -> bool {
    Digest::of(name.as_bytes()).as_str().bytes().last().is_some_and(|digit| digit % 2 == half)
}

fn of_half(texts: &[(String, String)], half: u8) -> Vec<(&str, &str)> {
    let own = texts.iter().filter(|(name, _)| in_half(name, half));
    own.map(|(name, text)| (name.as_str(), text.as_str())).collect()
}

/// The collection of an attack, the beginning of its file name.
fn collection(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

/// Returns the skill with a text as a paragraph in its middle, outside of code, and the lines of
/// that text.
fn edited(skill: &SkillFolder, text: &str) -> (SkillFolder, RangeInclusive<usize>) {
    let main = skill.text(MAIN).unwrap_or_default();
    let is_prose = |at: &usize| main.get(..*at).unwrap_or_default().matches("```").count() % 2 == 0;
    let paragraphs: Vec<usize> = main.match_indices("\n\n").map(|(at, _)| at + 2).filter(is_prose).collect();
    let at = paragraphs.get(paragraphs.len() / 2).copied().unwrap_or(main.len());
    let (before, after) = main.split_at(at);
    let first = before.matches('\n').count() + 1;
    let mut edited = skill.clone();
    edited.put(MAIN, Arc::from(format!("{before}{text}\n\n{after}").into_bytes()));
    (edited, first..=first + text.matches('\n').count() + 1)
}

/// Result of an edit.
struct Edit {
    text: String,
    effects: Effects,
    /// Its lines in the file.
    lines: RangeInclusive<usize>,
    /// True if the scan finds something hidden.
    is_hidden: bool,
}

/// Inserts each text into a skill that is not its own.
fn edits_of(texts: &[(&str, &str)], skills: &[&SkillFolder]) -> Vec<Edit> {
    let insert = |(number, (_, text)): (usize, &(&str, &str))| {
        // Other files of the skill stay as they are.
        let main = skills.get((number + 1) % skills.len().max(1))?.get(MAIN)?;
        let skill = SkillFolder::new([(MAIN.to_owned(), Arc::clone(main))]);
        let (edited, lines) = edited(&skill, text);
        let effects = Effects::of_change(Some(&skill), Some(&edited));
        Some(Edit { text: (*text).to_owned(), effects, lines, is_hidden: scan(&edited).len() > scan(&skill).len() })
    };
    texts.iter().enumerate().filter_map(insert).collect()
}

impl Edit {
    /// Whether an act of it stands in the first lines of a list of kinds up to that one.
    fn is_first(&self, last: EffectKind) -> bool {
        let kinds: Vec<_> =
            self.effects.lines().into_iter().map(|(kind, _)| kind).filter(|kind| *kind <= last).take(FIRST).collect();
        self.is_hidden
            || self.effects.iter().any(|effect| {
                let acts = effect.kind.is_dangerous() || effect.acts;
                kinds.contains(&effect.kind) && self.lines.contains(&effect.line) && acts
            })
    }

    /// Whether anything of it is listed, in a list of kinds up to that one.
    fn is_listed(&self, last: EffectKind) -> bool {
        self.is_hidden || self.effects.iter().any(|effect| effect.kind <= last)
    }

    /// Whether it waits for the owner, by a list of kinds up to that one.
    fn is_held(&self, last: EffectKind) -> bool {
        let waits = |kind: EffectKind, acts: bool| kind <= last && (kind.is_dangerous() || acts);
        self.is_hidden || self.effects.iter().any(|effect| waits(effect.kind, effect.acts))
    }
}

const ALL: EffectKind = EffectKind::Tools;

fn poisoned(what: &str, edits: &[&Edit]) {
    let count = |test: fn(&Edit, EffectKind) -> bool| edits.iter().filter(|edit| test(edit, ALL)).count();
    share(&format!("{what} with the act in the first lines"), count(Edit::is_first), edits.len());
    share(&format!("{what} held"), count(Edit::is_held), edits.len());
    if what == "  poisoned edits" && std::env::var_os("SHOW_MISSED").is_some() {
        for edit in edits.iter().filter(|edit| !edit.is_first(ALL)) {
            println!("MISSED {}", edit.text.chars().take(300).collect::<String>().replace('\n', " / "));
        }
    }
}

fn harmless(what: &str, edits: &[Edit]) {
    let count = |test: fn(&Edit, EffectKind) -> bool| edits.iter().filter(|edit| test(edit, ALL)).count();
    share(&format!("{what} with a line listed"), count(Edit::is_listed), edits.len());
    share(&format!("{what} held"), count(Edit::is_held), edits.len());
    if std::env::var_os("SHOW_MISSED").is_some() {
        for edit in edits.iter().filter(|edit| edit.is_listed(ALL)) {
            println!("LISTED {} => {:?}", edit.text, edit.effects.lines());
        }
    }
}

/// Prints what a list of fewer kinds would find, the gravest first.
fn curve(poison: &[Edit], written: &[Edit], moved: &[Edit]) {
    println!(
        "  a list of the kinds up to: act in the first lines | harmless edits listed, held | moved lines listed, held"
    );
    let percent = |edits: &[Edit], test: fn(&Edit, EffectKind) -> bool, kind| {
        100.0 * edits.iter().filter(|edit| test(edit, kind)).count() as f64 / edits.len().max(1) as f64
    };
    for kind in EffectKind::iter() {
        let first = percent(poison, Edit::is_first, kind);
        let of = |edits| (percent(edits, Edit::is_listed, kind), percent(edits, Edit::is_held, kind));
        let ((listed, held), (moved_listed, moved_held)) = (of(written), of(moved));
        let name = kind.as_str();
        println!(
            "    {name:10} {first:5.1} % | {listed:5.1} %, {held:5.1} % | {moved_listed:5.1} %, {moved_held:5.1} %"
        );
    }
}

/// Returns a line of prose from the second half of a skill, outside of code and links.
fn prose_line(skill: &SkillFolder) -> Option<String> {
    let main = skill.text(MAIN)?;
    let (mut is_code, mut prose) = (false, Vec::new());
    for (at, line) in main.lines().enumerate() {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_code ^= is_fence;
        let begins = line.starts_with(|c: char| c.is_alphabetic() || c == '-');
        if !is_code && !is_fence && begins && line.len() > 20 && !line.contains("](") {
            prose.push((at, line));
        }
    }
    let half = main.lines().count() / 2;
    prose.into_iter().find(|(at, _)| *at >= half).map(|(_, line)| line.to_owned())
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
    let (low, high) = interval(found, all);
    figure(what, format!("{found} of {all} ({percent:.1} %, 95 %: {low:.1} to {high:.1})"));
}

/// Wilson's interval of a share, in per cent, at 95 %.
fn interval(found: usize, all: usize) -> (f64, f64) {
    const Z: f64 = 1.96;
    let (n, share) = (all.max(1) as f64, found as f64 / all.max(1) as f64);
    let (middle, width) = (share + Z * Z / (2.0 * n), Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt());
    let scale = 100.0 / (1.0 + Z * Z / n);
    ((middle - width) * scale, (middle + width) * scale)
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
