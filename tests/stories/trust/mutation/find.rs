//! Maintenance of the table: finds the story that kills each mutant.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use super::child::{self, End};
use super::sites::Site;
use super::table::{Entry, Table};

/// Modules with security stories, most effective first, slow ones last.
const SECURITY: &[&str] = &[
    "isolation::",
    "labels::",
    "::trust::",
    "::scope::",
    "egress::",
    "::paste::",
    "::door::",
    "::recall::",
    "::question::",
    "non_interference::",
    "group",
    "gate_",
    "skill_",
    "mcp::",
    "keep::",
    "memory_",
    "forget",
    "parting::",
    "hostile::",
];

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
    let stories: Vec<String> =
        stories().into_iter().filter(|story| part.is_none_or(|part| story.contains(part))).collect();
    child::two_at_a_time(&stories, |story| try_on_all(story, &left, &found));
    let (left, mut found) = (left.into_inner().unwrap(), found.into_inner().unwrap());
    for site in left {
        println!("{} survives", site.key);
        found.insert(site.key.clone(), Entry::Open);
    }
    found.into_iter().collect()
}

/// Tries a story on all remaining places that it touches.
fn try_on_all(story: &str, left: &Mutex<Vec<&Site>>, found: &Mutex<BTreeMap<String, Entry>>) {
    if left.lock().unwrap().is_empty() {
        return;
    }
    let trace = trace(story);
    let touched: Vec<&Site> = left.lock().unwrap().iter().filter(|site| site.is_touched_by(&trace)).copied().collect();
    let killed = killed(story, &touched);
    left.lock().unwrap().retain(|site| !killed.contains(site));
    let mut found = found.lock().unwrap();
    for site in killed {
        println!("{} = {story}", site.key);
        found.insert(site.key.clone(), Entry::Killer(story.to_owned()));
    }
    found.clone().into_iter().collect::<Table>().write();
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
    child::run(story, &[(child::PLACES, &places.join("\u{1e}"))]) == End::Red
}

/// All stories in the order of trial. Stories over every channel are tried on one.
fn stories() -> Vec<String> {
    let mut stories: Vec<String> =
        child::stories().into_iter().filter(|story| !story.starts_with("on_signal::")).collect();
    stories.sort_by_key(|story| SECURITY.iter().position(|part| story.contains(part)).unwrap_or(SECURITY.len()));
    stories
}

/// Places that a story touches when it runs alone; none if it fails. Traces of the same binary are
/// cached.
fn trace(story: &str) -> Vec<String> {
    let binary = std::env::current_exe().unwrap();
    let folder = binary.parent().unwrap().with_file_name("mutation");
    fs::create_dir_all(&folder).unwrap();
    let (kept, fresh) = (folder.join(story), folder.join(format!("{story}.new")));
    let age = |path: &PathBuf| fs::metadata(path).and_then(|file| file.modified()).ok();
    if age(&kept) <= age(&binary) {
        fs::write(&fresh, "").unwrap();
        if child::run(story, &[(child::TRACE, fresh.to_str().unwrap())]) != End::Green {
            fs::write(&fresh, "").unwrap();
        }
        fs::rename(&fresh, &kept).unwrap();
    }
    fs::read_to_string(&kept).unwrap().lines().map(str::to_owned).collect()
}
