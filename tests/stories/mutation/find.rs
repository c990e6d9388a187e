//! The maintenance of the table: which story kills which mutant.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use super::child::{self, End};
use super::sites::Site;
use super::table::{Entry, Table};

/// Stories of security stand in these modules, the most telling first.
const SECURITY: &[&str] = &[
    "::trust::",
    "::scope::",
    "hostile::",
    "egress::",
    "non_interference::",
    "::door::",
    "::paste::",
    "::recall::",
    "group_memory::",
    "groups::",
    "gate_",
    "skill_",
    "mcp::",
    "keep::",
    "memory_",
    "forget",
];

/// As many stories are tried on a mutant before it counts as a survivor.
const TRIED: usize = 80;

/// What one story did when it ran alone.
struct Run {
    story: String,
    millis: u64,
    trace: Vec<String>,
}

/// A table for these places. What the old one knows is tried first.
pub fn table(sites: &[Site], old: &Table) -> Table {
    let known = child::two_at_a_time(sites, |site| match old.get(&site.key) {
        Some(Entry::Killer(story)) if kills(story, site) => Some(Entry::Killer(story.clone())),
        Some(Entry::Equivalent(reason)) => Some(Entry::Equivalent(reason.clone())),
        _ => None,
    });
    let left: Vec<&Site> =
        sites.iter().zip(&known).filter(|(_, entry)| entry.is_none()).map(|(site, _)| site).collect();
    println!("{} places, {} of them without a killer", sites.len(), left.len());
    let runs = if left.is_empty() { Vec::new() } else { runs() };
    let found = child::two_at_a_time(&left, |site| killer(site, &runs));
    let known = sites.iter().zip(known).filter_map(|(site, entry)| Some((site.key.clone(), entry?)));
    known.chain(left.iter().map(|site| site.key.clone()).zip(found)).collect()
}

fn killer(site: &Site, runs: &[Run]) -> Entry {
    let touching: Vec<&Run> = runs.iter().filter(|run| site.is_touched_by(&run.trace)).collect();
    let killer = touching.iter().take(TRIED).find(|run| kills(&run.story, site));
    println!("{} ({} touch it): {}", site.key, touching.len(), killer.map_or("SURVIVES", |run| &run.story));
    killer.map_or(Entry::Survives, |run| Entry::Killer(run.story.clone()))
}

fn kills(story: &str, site: &Site) -> bool {
    child::run(story, &[(child::PLACE, &site.place)]) == End::Red
}

/// Each story that is green, run alone, in the order in which they are tried. What holds on every channel is run on one.
fn runs() -> Vec<Run> {
    let stories: Vec<String> = child::stories().into_iter().filter(|story| !story.starts_with("on_signal::")).collect();
    println!("{} stories are run alone", stories.len());
    let runs = child::two_at_a_time(&stories, |story| traced(story));
    let mut runs: Vec<Run> = runs.into_iter().flatten().collect();
    let rank = |story: &str| SECURITY.iter().position(|part| story.contains(part)).unwrap_or(SECURITY.len());
    // Slow stories come last, whatever they tell of.
    runs.sort_by_key(|run| (run.millis > 3000, rank(&run.story), run.millis));
    runs
}

/// The trace of a story; one that the same binary left is as good as a new one.
fn traced(story: &str) -> Option<Run> {
    let binary = std::env::current_exe().unwrap();
    let folder = binary.parent().unwrap().with_file_name("mutation");
    fs::create_dir_all(&folder).unwrap();
    let (kept, fresh) = (folder.join(story), folder.join(format!("{story}.new")));
    let age = |path: &PathBuf| fs::metadata(path).and_then(|file| file.modified()).ok();
    if age(&kept) <= age(&binary) {
        let _ = fs::remove_file(&fresh);
        let begun = Instant::now();
        let end = child::run(story, &[(child::TRACE, fresh.to_str().unwrap())]);
        let trace = fs::read_to_string(&fresh).unwrap_or_default();
        fs::write(&kept, format!("{end:?} {}\n{trace}", begun.elapsed().as_millis())).unwrap();
        let _ = fs::remove_file(&fresh);
    }
    let text = fs::read_to_string(&kept).unwrap();
    let mut lines = text.lines().map(str::to_owned);
    let millis = lines.next()?.strip_prefix("Green ")?.parse().unwrap();
    Some(Run { story: story.to_owned(), millis, trace: lines.collect() })
}
