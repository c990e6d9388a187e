//! The contents of the skills folder, with a cheap way to read them again.
//!
//! A [`Catalogue`] is one look: it contains every folder with a `SKILL.md`, either as a [`Skill`]
//! or as an [`UnloadableSkill`] with the reason. Plain files, folders without a `SKILL.md`,
//! entries that begin with a dot and the files of editors are silently left out; links are listed and never followed. The
//! [`SkillCache`] reads a folder again only if the stamp of a file in it has changed, and returns
//! the same catalogue while nothing has changed. It takes the stamps before it reads, so the next
//! look notices a change made meanwhile. It decides nothing about use: the skills may be held.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, FileType, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::text::side_files::is_side_file;
use crate::wording;

use super::folder::{Digest, MAIN, MOST_FILES, SkillFolder, Unreadable};
use super::manifest::Manifest;
use super::name;

/// A skill as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name of its folder.
    pub folder: String,
    /// The manifest. The manifest's name is the effective name, which no other skill of the
    /// catalogue has.
    pub manifest: Manifest,
    /// The name in its file, if the skill goes by its folder's name because that name is taken.
    pub declared_name: Option<String>,
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
    folders: BTreeMap<String, CachedFolder>,
    catalogue: Arc<Catalogue>,
}

/// A folder as it was when it was read.
#[derive(Debug, Clone)]
struct CachedFolder {
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
    is_transient: bool,
}

impl From<String> for LoadFailure {
    fn from(why: String) -> Self {
        Self { why, is_transient: false }
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
        let mut folders = BTreeMap::new();
        let mut broken = Vec::new();
        let unlisted =
            |why| vec![ListedFolder::Broken(UnloadableSkill { folder: wording::skill::SKILLS_FOLDER.to_owned(), why })];
        for entry in list(&self.dir).unwrap_or_else(unlisted) {
            match entry {
                ListedFolder::Folder(name) => {
                    let found = refresh(&self.dir.join(&name), &name, last.folders.get(&name));
                    folders.extend(found.map(|found| (name, found)));
                }
                ListedFolder::Broken(entry) => broken.push(entry),
            }
        }
        let catalogue = assemble(&folders, broken);
        if *last.catalogue != catalogue {
            last.catalogue = Arc::new(catalogue);
        }
        last.folders = folders;
        Arc::clone(&last.catalogue)
    }
}

impl CachedFolder {
    fn is_transient(&self) -> bool {
        self.outcome.as_ref().is_err_and(|failure| failure.is_transient)
    }
}

/// Returns the folder at `path`, read again only if it has changed; `None` if it is not a skill.
fn refresh(path: &Path, name: &str, before: Option<&CachedFolder>) -> Option<CachedFolder> {
    let stamps = Stamps::of(path);
    match before {
        Some(before) if before.stamps == stamps && !before.is_transient() => Some(before.clone()),
        _ => {
            let outcome = load(path, name, &stamps)?;
            // A folder that was only touched keeps the value that others already hold.
            let outcome =
                before.map(|before| &before.outcome).filter(|old| **old == outcome).cloned().unwrap_or(outcome);
            Some(CachedFolder { stamps, outcome })
        }
    }
}

fn load(path: &Path, name: &str, stamps: &Stamps) -> Option<LoadResult> {
    let main = match stamps {
        Stamps::TooMany => return Some(Err(LoadFailure::from(wording::skill::FOLDER_TOO_LARGE.to_owned()))),
        Stamps::Failed(why) => return Some(Err(LoadFailure::from(wording::skill::cannot_list(why)))),
        Stamps::All(all) => match stamps.top().find(|file| file.eq_ignore_ascii_case(MAIN)) {
            Some(main) => main,
            // Skills copied with the folder around them would be neither used nor missed.
            None => {
                let inner = all.iter().find_map(|(path, _)| path.strip_suffix(MAIN)?.strip_suffix('/'))?;
                return Some(Err(LoadFailure::from(wording::skill::one_deeper(inner))));
            }
        },
    };
    if main != MAIN && !stamps.top().any(|file| file == MAIN) {
        return Some(Err(LoadFailure::from(wording::skill::MISSPELT.to_owned())));
    }
    Some(read(path, name).map(Arc::new))
}

fn read(path: &Path, name: &str) -> Result<Skill, LoadFailure> {
    // An editor may have replaced a file between listing and opening; the second attempt finds the
    // new one.
    let content = SkillFolder::read(path).or_else(|_| SkillFolder::read(path)).map_err(|error| LoadFailure {
        is_transient: matches!(error, Unreadable::Failed { .. }),
        why: error.to_string(),
    })?;
    let manifest = Manifest::of(name, &content).map_err(|problem| format!("{MAIN}, {problem}"))?;
    let digest = content.digest();
    Ok(Skill { folder: name.to_owned(), manifest, declared_name: None, content: Arc::new(content), digest })
}

fn assemble(folders: &BTreeMap<String, CachedFolder>, mut broken: Vec<UnloadableSkill>) -> Catalogue {
    let loaded = || folders.values().filter_map(|folders| folders.outcome.as_ref().ok());
    let mut claims: BTreeMap<&str, usize> = BTreeMap::new();
    for skill in loaded() {
        *claims.entry(&skill.manifest.name).or_default() += 1;
    }
    let failed = folders.iter().filter_map(|(name, folders)| Some((name, folders.outcome.as_ref().err()?)));
    broken.extend(failed.map(|(name, failure)| UnloadableSkill { folder: name.clone(), why: failure.why.clone() }));
    broken.sort_by(|one, other| one.folder.cmp(&other.folder));
    // A folder that does not load keeps its name, so that no other skill takes the name while it is
    // being fixed.
    let is_folder = |name: &str| folders.contains_key(name) || broken.iter().any(|broken| broken.folder == name);
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
    skill.declared_name = Some(std::mem::replace(&mut skill.manifest.name, skill.folder.clone()));
    skill
}

/// The maximum number of characters displayed of a broken entry's name.
const SHOWN: usize = 80;

/// An entry that may be a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ListedFolder {
    /// A folder with this name.
    Folder(String),
    /// An entry that resembles a skill but is not read.
    Broken(UnloadableSkill),
}

/// Returns the entries of the folder; none if the folder does not exist.
fn list(dir: &Path) -> Result<Vec<ListedFolder>, String> {
    match entries(dir) {
        Ok(entries) => Ok(entries),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(wording::skill::cannot_list(&error.kind().to_string())),
    }
}

fn entries(dir: &Path) -> io::Result<Vec<ListedFolder>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        entries.extend(classify(&entry, kind));
    }
    Ok(entries)
}

fn classify(entry: &DirEntry, kind: FileType) -> Option<ListedFolder> {
    let raw = entry.file_name();
    let name = raw.to_string_lossy();
    let broken = |why: &str| ListedFolder::Broken(UnloadableSkill { folder: shown(&name), why: why.to_owned() });
    if name.starts_with('.') {
        None
    } else if kind.is_symlink() {
        // Only checks the target: a link to a plain file is ignored like the file itself.
        let to_file = fs::metadata(entry.path()).is_ok_and(|there| there.is_file());
        (!to_file).then(|| broken(wording::skill::IS_LINK))
    } else if !kind.is_dir() {
        None
    } else {
        let plain = raw.to_str().filter(|name| name::is_plain(name));
        Some(plain.map_or_else(|| broken(wording::skill::ODD_NAME), |name| ListedFolder::Folder(name.to_owned())))
    }
}

fn shown(name: &str) -> String {
    let visible: String = name.chars().map(|c| if name::is_hidden(c) { '\u{fffd}' } else { c }).collect();
    crate::text::shorten(&visible, SHOWN)
}

/// More files and folders than any skill may have; the walk stops here.
const MOST_STAMPS: usize = 2 * MOST_FILES;

/// The stamps of everything in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stamps {
    /// All stamps, ordered by path.
    All(Vec<(String, Stamp)>),
    /// Far too many entries.
    TooMany,
    /// The folder could not be read; the system's error message.
    Failed(String),
}

/// The status change time also detects a write that restores the old modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    mode: u32,
    len: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Stamps {
    /// Stamps everything in the folder at `root`. Follows no link.
    fn of(root: &Path) -> Self {
        let mut all = Vec::new();
        match collect(root, "", &mut all) {
            Ok(()) if all.len() > MOST_STAMPS => Self::TooMany,
            Ok(()) => {
                all.sort_by(|(one, _), (other, _)| one.cmp(other));
                Self::All(all)
            }
            Err(error) => Self::Failed(error.kind().to_string()),
        }
    }

    /// Returns the names directly in the folder.
    fn top(&self) -> impl Iterator<Item = &str> {
        let all = match self {
            Self::All(all) => all.as_slice(),
            _ => &[],
        };
        all.iter().map(|(path, _)| path.as_str()).filter(|path| !path.contains('/'))
    }
}

impl Stamp {
    fn of(of: &Metadata) -> Self {
        Self {
            file: (of.dev(), of.ino()),
            mode: of.mode(),
            len: of.len(),
            written: (of.mtime(), of.mtime_nsec()),
            changed: (of.ctime(), of.ctime_nsec()),
        }
    }
}

fn collect(here: &Path, inside: &str, all: &mut Vec<(String, Stamp)>) -> io::Result<()> {
    let Some(entries) = if_present(fs::read_dir(here))? else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let Some(metadata) = if_present(entry.metadata())? else { continue };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if is_side_file(&name) {
            continue;
        }
        let path = if inside.is_empty() { name.into_owned() } else { format!("{inside}/{name}") };
        all.push((path.clone(), Stamp::of(&metadata)));
        if all.len() > MOST_STAMPS {
            return Ok(());
        }
        if metadata.is_dir() {
            collect(&entry.path(), &path, all)?;
        }
    }
    Ok(())
}

/// Treats entries that vanished during the walk as missing.
fn if_present<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

#[cfg(test)]
mod tests;
