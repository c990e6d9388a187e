//! The entries of the skills folder that may be skills.

use std::fs::{self, DirEntry, FileType};
use std::io::{self, ErrorKind};
use std::path::Path;

use super::UnloadableSkill;
use crate::skill::name;
use crate::wording;

/// The maximum number of characters displayed of a broken entry's name.
const SHOWN: usize = 80;

/// An entry that may be a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListedFolder {
    /// A folder with this name.
    Folder(String),
    /// An entry that resembles a skill but is not read.
    Broken(UnloadableSkill),
}

/// Returns the entries of the folder; none if the folder does not exist.
pub(super) fn list(dir: &Path) -> Result<Vec<ListedFolder>, String> {
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
        entries.extend(judge(&entry, kind));
    }
    Ok(entries)
}

fn judge(entry: &DirEntry, kind: FileType) -> Option<ListedFolder> {
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
