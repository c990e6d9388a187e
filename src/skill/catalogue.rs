//! The contents of the skills folder, with a cheap way to read them again.
//!
//! A [`Catalogue`] is one look: it contains every folder with a `SKILL.md`, either as a [`Skill`]
//! or as an [`UnloadableSkill`] with the reason. Plain files, folders without a `SKILL.md` and
//! entries that begin with a dot are silently left out; links are listed and never followed. The
//! [`SkillCache`] reads a folder again only if the stamp of a file in it has changed, and returns
//! the same catalogue while nothing has changed. It takes the stamps before it reads, so the next
//! look notices a change made meanwhile. It decides nothing about use: the skills may be held.

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

/// A skill as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name of its folder.
    pub folder: String,
    /// The manifest. The manifest's name is the effective name, which no other skill of the
    /// catalogue has.
    pub manifest: Manifest,
    /// The name in its file, if the skill goes by its folder's name because that name is taken.
    pub wanted: Option<String>,
    /// All of its files.
    pub content: Arc<SkillFolder>,
    /// The digest of its files.
    pub digest: Digest,
}

/// A folder that does not load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnloadableSkill {
    /// The name, with invisible characters made visible.
    pub folder: String,
    /// The reason, as the end of a sentence about the folder.
    pub why: String,
}

/// One look at the skills folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalogue {
    /// The skills by folder name.
    pub skills: BTreeMap<String, Arc<Skill>>,
    /// The folders that do not load, by name.
    pub broken: Vec<UnloadableSkill>,
}

impl Catalogue {
    /// Returns the skill with this effective name.
    pub fn named(&self, name: &str) -> Option<&Arc<Skill>> {
        let direct = self.skills.get(name).filter(|skill| skill.manifest.name == name);
        direct.or_else(|| self.skills.values().find(|skill| skill.manifest.name == name))
    }
}

/// The skills folder, with the result of the last look.
#[derive(Debug)]
pub struct SkillCache {
    dir: PathBuf,
    last: Mutex<CachedCatalogue>,
}

#[derive(Debug, Default)]
struct CachedCatalogue {
    seen: BTreeMap<String, FolderStamp>,
    catalogue: Arc<Catalogue>,
}

/// A folder as it was when it was read.
#[derive(Debug, Clone)]
struct FolderStamp {
    stamps: Stamps,
    outcome: LoadResult,
}

/// The result of reading a folder: a skill under the name in its file, or the reason for the
/// failure.
type LoadResult = Result<Arc<Skill>, LoadFailure>;

#[derive(Debug, Clone, PartialEq, Eq)]
struct LoadFailure {
    why: String,
    /// An operating system error, which may disappear without any change in the folder.
    may_pass: bool,
}

impl From<String> for LoadFailure {
    fn from(why: String) -> Self {
        Self { why, may_pass: false }
    }
}

impl SkillCache {
    /// Creates a cache of this folder, which need not exist.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, last: Mutex::default() }
    }

    /// Returns the present contents. Blocks.
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

/// Returns the folder at `path`, read again only if it has changed; `None` if it is not a skill.
fn again(path: &Path, name: &str, before: Option<&FolderStamp>) -> Option<FolderStamp> {
    let stamps = Stamps::of(path);
    match before {
        Some(before) if before.stamps == stamps && !before.may_pass() => Some(before.clone()),
        _ => {
            let outcome = load(path, name, &stamps)?;
            // A folder that was only touched keeps the value that others already hold.
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
    // An editor may have replaced a file between listing and opening; the second attempt finds the
    // new one.
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
    // A folder that does not load keeps its name, so that no other skill takes the name while it is
    // being fixed.
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

/// Returns a skill under its folder's name, because its own name is taken.
fn by_its_folder(skill: &Skill) -> Skill {
    let mut skill = skill.clone();
    skill.wanted = Some(std::mem::replace(&mut skill.manifest.name, skill.folder.clone()));
    skill
}

#[cfg(test)]
mod tests;
