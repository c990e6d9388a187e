//! The maintenance of the table: which story kills which mutant.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

use super::child::{self, End};
use super::sites::Site;
use super::table::{Entry, Table};

/// Stories of security stand in these modules; the most telling come first, the slow ones last.
const SECURITY: &[&str] = &[
    "::trust::",
    "::scope::",
    "isolation::",
    "labels::",
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

/// So many stories are tried on a mutant before it counts as a survivor.
const TRIED: usize = 80;

/// A place without a killer, and how many stories were tried on it.
type Left<'a> = (&'a Site, usize);

/// A table for these places. What the old one knows is tried first; each killer is written down when it is found.
pub fn table(sites: &[Site], old: &Table) -> Table {
    let known = child::two_at_a_time(sites, |site| match old.get(&site.key) {
        Some(Entry::Killer(story)) if kills(story, site) => Some(Entry::Killer(story.clone())),
        Some(Entry::Equivalent(reason)) => Some(Entry::Equivalent(reason.clone())),
        _ => None,
    });
    let left: Vec<Left<'_>> =
        sites.iter().zip(&known).filter(|(_, entry)| entry.is_none()).map(|(site, _)| (site, 0)).collect();
    println!("{} places, {} of them without a killer", sites.len(), left.len());
    let known = sites.iter().zip(known).filter_map(|(site, entry)| Some((site.key.clone(), entry?))).collect();
    let (left, found) = (Mutex::new(left), Mutex::new(known));
    child::two_at_a_time(&stories(), |story| try_on_all(story, &left, &found));
    let (left, mut found) = (left.into_inner().unwrap(), found.into_inner().unwrap());
    for (site, tried) in left {
        println!("{} survives {tried} stories", site.key);
        found.insert(site.key.clone(), Entry::Survives);
    }
    found.into_iter().collect()
}

/// Tries a story on each place left that it touches.
fn try_on_all(story: &str, left: &Mutex<Vec<Left<'_>>>, found: &Mutex<BTreeMap<String, Entry>>) {
    if left.lock().unwrap().iter().all(|(_, tried)| *tried >= TRIED) {
        return;
    }
    let trace = trace(story);
    let is_touched = |(site, tried): &&Left<'_>| *tried < TRIED && site.is_touched_by(&trace);
    let touched: Vec<&Site> = left.lock().unwrap().iter().filter(is_touched).map(|(site, _)| *site).collect();
    for site in touched {
        let is_left = left.lock().unwrap().iter().any(|(other, _)| *other == site);
        if is_left && kills(story, site) {
            println!("{} = {story}", site.key);
            left.lock().unwrap().retain(|(other, _)| *other != site);
            let mut found = found.lock().unwrap();
            found.insert(site.key.clone(), Entry::Killer(story.to_owned()));
            found.clone().into_iter().collect::<Table>().write();
        } else if is_left {
            left.lock().unwrap().iter_mut().filter(|(other, _)| *other == site).for_each(|(_, tried)| *tried += 1);
        }
    }
}

fn kills(story: &str, site: &Site) -> bool {
    child::run(story, &[(child::PLACE, &site.place)]) == End::Red
}

/// All stories in the order in which they are tried. What holds on every channel is tried on one.
fn stories() -> Vec<String> {
    let mut stories: Vec<String> =
        child::stories().into_iter().filter(|story| !story.starts_with("on_signal::")).collect();
    stories.sort_by_key(|story| SECURITY.iter().position(|part| story.contains(part)).unwrap_or(SECURITY.len()));
    stories
}

/// The places that a story touches when it runs alone; none if it is not green. What the same binary traced is kept.
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
