//! Maintenance of the table: finds the fastest story that kills each mutant.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::child::{self, End};
use super::sites::Site;
use super::table::{Entry, Table};

/// Parts of the names of security stories, which are tried before all others.
const SECURITY: &[&str] = &[
    "isolation::",
    "labels::",
    "trust::",
    "scope::",
    "egress::",
    "paste::",
    "group",
    "gate_",
    "skill_",
    "mcp::",
    "memory_",
    "forget",
    "hostile",
    "approval",
    "lasting_yes",
    "vouching",
];
/// Time limit of a trial: a story that fails only after a long wait is no good killer.
const LONGEST_TRIAL: Duration = Duration::from_secs(20);

/// Builds a table for these places. Entries of the old table are tried first; each killer is
/// written when it is found.
///
/// With a part of a name, tries only the stories that contain it, and trusts the old table.
pub fn table(sites: &[Site], old: &Table, part: Option<&str>) -> Table {
    let known = child::two_at_a_time(sites, |site| match old.get(&site.key) {
        Some(Entry::Killer(story)) if part.is_some() || is_red(story, &[site]) => Some(Entry::Killer(story.clone())),
        Some(Entry::Equivalent(reason)) => Some(Entry::Equivalent(reason.clone())),
        _ => None,
    });
    let left: Vec<&Site> =
        sites.iter().zip(&known).filter(|(_, entry)| entry.is_none()).map(|(site, _)| site).collect();
    println!("{} places, {} of them without a killer", sites.len(), left.len());
    let known = sites.iter().zip(known).filter_map(|(site, entry)| Some((site.key.clone(), entry?))).collect();
    let (left, found) = (Mutex::new(left), Mutex::new(known));
    let is_asked_for = |story: &String| part.is_none_or(|part| story.contains(part));
    let (security, others): (Vec<_>, Vec<_>) =
        stories().filter(is_asked_for).partition(|story| SECURITY.iter().any(|part| story.contains(part)));
    for stories in [security, others] {
        if !left.lock().unwrap().is_empty() {
            let mut traces = child::two_at_a_time(&stories, |story| Trace::of(story));
            traces.sort_by_key(|trace| trace.took);
            child::two_at_a_time(&traces, |trace| trace.try_on_all(&left, &found));
        }
    }
    let (left, mut found) = (left.into_inner().unwrap(), found.into_inner().unwrap());
    for site in left {
        println!("{} survives", site.key);
        found.insert(site.key.clone(), Entry::Open);
    }
    found.into_iter().collect()
}

/// The mutants that a story kills. Runs on all of them at once first; success there excludes each.
fn killed<'a>(story: &str, sites: &[&'a Site]) -> Vec<&'a Site> {
    if sites.is_empty() || !is_red(story, sites) {
        return Vec::new();
    }
    if sites.len() == 1 {
        return sites.to_vec();
    }
    let (some, others) = sites.split_at(sites.len() / 2);
    [killed(story, some), killed(story, others)].concat()
}

fn is_red(story: &str, sites: &[&Site]) -> bool {
    let places: Vec<&str> = sites.iter().map(|site| site.place.as_str()).collect();
    child::run(story, &[(child::PLACES, &places.join("\u{1e}"))], LONGEST_TRIAL) == End::Red
}

/// All stories. Of stories over every channel, those over one.
fn stories() -> impl Iterator<Item = String> {
    child::stories().into_iter().filter(|story| !story.contains("::on_signal::"))
}

/// Record of a story that ran alone, without a mutant.
struct Trace {
    story: String,
    took: Duration,
    /// Places that it touched; none if it failed.
    touched: Vec<String>,
}

impl Trace {
    /// Runs a story, or reads the record of an earlier run of the same binary.
    fn of(story: &str) -> Self {
        let binary = std::env::current_exe().unwrap();
        let folder = binary.parent().unwrap().with_file_name("mutation");
        fs::create_dir_all(&folder).unwrap();
        let (kept, fresh) = (folder.join(story), folder.join(format!("{story}.new")));
        let age = |path: &PathBuf| fs::metadata(path).and_then(|file| file.modified()).ok();
        if age(&kept) <= age(&binary) {
            fs::write(&fresh, "").unwrap();
            let begun = Instant::now();
            let end = child::run(story, &[(child::TRACE, fresh.to_str().unwrap())], child::LONGEST);
            let touched = if end == End::Green { fs::read_to_string(&fresh).unwrap() } else { String::new() };
            fs::write(&fresh, format!("{}\n{touched}", begun.elapsed().as_millis())).unwrap();
            fs::rename(&fresh, &kept).unwrap();
        }
        let text = fs::read_to_string(&kept).unwrap();
        let (took, touched) = text.split_once('\n').unwrap();
        Self {
            story: story.to_owned(),
            took: Duration::from_millis(took.parse().unwrap()),
            touched: touched.lines().map(str::to_owned).collect(),
        }
    }

    /// Tries the story on all remaining places that it touches.
    fn try_on_all(&self, left: &Mutex<Vec<&Site>>, found: &Mutex<BTreeMap<String, Entry>>) {
        let touched: Vec<&Site> =
            left.lock().unwrap().iter().filter(|site| site.is_touched_by(&self.touched)).copied().collect();
        let killed = killed(&self.story, &touched);
        left.lock().unwrap().retain(|site| !killed.contains(site));
        let mut found = found.lock().unwrap();
        for site in killed {
            println!("{} = {}", site.key, self.story);
            found.insert(site.key.clone(), Entry::Killer(self.story.clone()));
        }
        found.clone().into_iter().collect::<Table>().write();
    }
}
