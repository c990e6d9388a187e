//! What lies in the skills folder, and a cheap way to look again.
//!
//! A [`Catalogue`] is one look: every folder with a `SKILL.md` is in it, either as a [`Skill`] or
//! as [`UnloadableSkill`] with the reason. Plain files, folders without a `SKILL.md` and entries
//! that begin with a dot are left out without a word; links are named and never followed. The
//! [`SkillCache`] reads a folder again only if the stamp of any file in it has changed, and gives
//! the very same catalogue while nothing has. It takes the stamps before it reads, so a change made
//! meanwhile is seen by the next look. It decides nothing about use: what lies here may well be
//! held.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

mod listing;
mod stamp;

use super::folder::{Digest, MAIN, SkillFolder, Unreadable};
use super::manifest::Manifest;
use crate::wording;
use listing::ListedFolder;
use stamp::Stamps;

/// A skill as it lies on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name of its folder.
    pub folder: String,
    /// What it says about itself; its name is the one it goes by, which no other skill of the
    /// catalogue has.
    pub manifest: Manifest,
    /// Another name that its file gives, if it goes by that of its folder because that other one is
    /// taken.
    pub wanted: Option<String>,
    /// All of its files.
    pub content: Arc<SkillFolder>,
    /// The digest of those.
    pub digest: Digest,
}

/// A folder that does not load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnloadableSkill {
    /// Its name, with what cannot be seen made visible.
    pub folder: String,
    /// Why, as the end of a sentence about it.
    pub why: String,
}

/// One look at the skills folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// The skills by the names of their folders.
    pub skills: BTreeMap<String, Arc<Skill>>,
    /// What does not load, in the order of the names.
    pub broken: Vec<UnloadableSkill>,
}

impl Catalogue {
    /// The skill that goes by this name.
    pub fn named(&self, name: &str) -> Option<&Arc<Skill>> {
        let direct = self.skills.get(name).filter(|skill| skill.manifest.name == name);
        direct.or_else(|| self.skills.values().find(|skill| skill.manifest.name == name))
    }
}

/// The skills folder, and what the last look at it found.
#[derive(Debug)]
pub struct SkillCache {
    dir: PathBuf,
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    seen: BTreeMap<String, FolderStamp>,
    catalogue: Arc<Catalogue>,
}

/// A folder as it was when it was read.
#[derive(Debug, Clone)]
struct FolderStamp {
    stamps: Stamps,
    outcome: LoadResult,
}

/// What reading a folder gave: a skill under the name that its file gives, or why there is none.
type LoadResult = Result<Arc<Skill>, LoadFailure>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct LoadFailure {
    why: String,
    /// The system said no, which may pass without anything in the folder changing.
    may_pass: bool,
}

impl From<String> for LoadFailure {
    fn from(why: String) -> Self {
        Self { why, may_pass: false }
    }
}

impl SkillCache {
    /// The skills in this folder, which need not be there.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, last: Mutex::default() }
    }

    /// What lies there now. Blocks.
    pub fn look(&self) -> Arc<Catalogue> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = BTreeMap::new();
        let mut broken = Vec::new();
        let unlisted =
            |why| vec![ListedFolder::Broken(UnloadableSkill { folder: wording::skill::FOLDER.to_owned(), why })];
        for entry in listing::list(&self.dir).unwrap_or_else(unlisted) {
            match entry {
                ListedFolder::Folder(name) => {
                    let found = again(&self.dir.join(&name), &name, last.seen.get(&name));
                    seen.extend(found.map(|found| (name, found)));
                }
                ListedFolder::Broken(entry) => broken.push(entry),
            }
        }
        let catalogue = assemble(&seen, broken);
        if *last.catalogue != catalogue {
            last.catalogue = Arc::new(catalogue);
        }
        last.seen = seen;
        Arc::clone(&last.catalogue)
    }
}

impl FolderStamp {
    fn may_pass(&self) -> bool {
        self.outcome.as_ref().is_err_and(|failure| failure.may_pass)
    }
}

/// The folder at `path`, read again only if it has changed; nothing if it is no skill.
fn again(path: &Path, name: &str, before: Option<&FolderStamp>) -> Option<FolderStamp> {
    let stamps = Stamps::of(path);
    match before {
        Some(before) if before.stamps == stamps && !before.may_pass() => Some(before.clone()),
        _ => {
            let outcome = load(path, name, &stamps)?;
            // What was only touched stays the value that others hold already.
            let outcome =
                before.map(|before| &before.outcome).filter(|old| **old == outcome).cloned().unwrap_or(outcome);
            Some(FolderStamp { stamps, outcome })
        }
    }
}

fn load(path: &Path, name: &str, stamps: &Stamps) -> Option<LoadResult> {
    let main = match stamps {
        Stamps::TooMany => return Some(Err(LoadFailure::from(wording::skill::TOO_LARGE.to_owned()))),
        Stamps::Failed(why) => return Some(Err(LoadFailure::from(wording::skill::cannot_list(why)))),
        Stamps::All(_) => stamps.top().find(|file| file.eq_ignore_ascii_case(MAIN))?,
    };
    if main != MAIN && !stamps.top().any(|file| file == MAIN) {
        return Some(Err(LoadFailure::from(wording::skill::SPELLING.to_owned())));
    }
    Some(read(path, name).map(Arc::new))
}

fn read(path: &Path, name: &str) -> Result<Skill, LoadFailure> {
    // An editor may have replaced a file between its listing and its opening; the second try finds
    // the new one.
    let content = SkillFolder::read(path).or_else(|_| SkillFolder::read(path)).map_err(|error| LoadFailure {
        may_pass: matches!(error, Unreadable::Failed { .. }),
        why: error.to_string(),
    })?;
    let manifest = Manifest::of(name, &content).map_err(|problem| format!("{MAIN}, {problem}"))?;
    let digest = content.digest();
    Ok(Skill { folder: name.to_owned(), manifest, wanted: None, content: Arc::new(content), digest })
}

fn assemble(seen: &BTreeMap<String, FolderStamp>, mut broken: Vec<UnloadableSkill>) -> Catalogue {
    let loaded = || seen.values().filter_map(|seen| seen.outcome.as_ref().ok());
    let mut claims: BTreeMap<&str, usize> = BTreeMap::new();
    for skill in loaded() {
        *claims.entry(&skill.manifest.name).or_default() += 1;
    }
    let failed = seen.iter().filter_map(|(name, seen)| Some((name, seen.outcome.as_ref().err()?)));
    broken.extend(failed.map(|(name, failure)| UnloadableSkill { folder: name.clone(), why: failure.why.clone() }));
    broken.sort_by(|one, other| one.folder.cmp(&other.folder));
    // A folder that does not load keeps its name: nobody takes it over while it is being mended.
    let is_folder = |name: &str| seen.contains_key(name) || broken.iter().any(|broken| broken.folder == name);
    let is_free = |skill: &Skill| {
        let name = skill.manifest.name.as_str();
        name == skill.folder || (claims.get(name) == Some(&1) && !is_folder(name))
    };
    let skills = loaded().map(|skill| {
        let skill = if is_free(skill) { Arc::clone(skill) } else { Arc::new(by_its_folder(skill)) };
        (skill.folder.clone(), skill)
    });
    Catalogue { skills: skills.collect(), broken }
}

/// A skill whose name is taken.
fn by_its_folder(skill: &Skill) -> Skill {
    let mut skill = skill.clone();
    skill.wanted = Some(std::mem::replace(&mut skill.manifest.name, skill.folder.clone()));
    skill
}

#[cfg(test)]
mod tests;
