//! Backups: the whole state of a home in one file, made while the gateway runs or not.
//!
//! A backup is a gzipped tar, so it can be opened without this program: `compline.db`,
//! `workspace/`, `skills/`, `experience/`, `compline.toml` with the keys and tokens that lie in the
//! home (`secrets/`) unless excluded, then a manifest with the size and SHA-256 of each file, and
//! last the manifest's authentication with the key of the home ([`key`]), which is in no archive.
//! The archive is written under a temporary name in the same folder, synced, read back, compared
//! with its input, and only then renamed. It never replaces another file. It is not encrypted.
//!
//! **The files come first and the journal after them.** The program commits a file's row before it
//! writes the file or changes a skill. The journal in a backup therefore knows every file that the
//! program wrote, as after a power cut: a row without a file is possible and harmless, but no file
//! lacks its row and label. The copy of the journal is exact for one moment and blocks nothing
//! ([`crate::store::copy_journal`]). Files written by hand have no row; they are entered in the
//! copy with their present label, so that a restore finds them unchanged.
//!
//! Links are kept as links and never followed. A link that leads out of its folder would lead
//! somewhere else after a restore, so it is left out and reported.

pub mod key;
pub mod list;
pub mod manifest;
pub mod pack;
pub mod read;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::config::{Home, named_secrets};
use crate::id::PersonId;
use crate::memory;
use crate::store::{self, Tx};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording::upkeep::{self as says, LeftOut};
use key::BackupKey;
use list::BackupRow;
use manifest::{BackupEntry, BackupEntryKind, Manifest};
use pack::Packer;

/// Names of the folders in a backup.
pub const FOLDERS: [&str; 3] = ["workspace", "skills", "experience"];
/// Name of the journal in a backup.
pub const JOURNAL: &str = "compline.db";
/// Name of the configuration in a backup.
pub const CONFIG: &str = "compline.toml";
/// Folder of the secret files in a backup, each under its path in the home.
pub const SECRETS: &str = "secrets";

/// The data to back up.
#[derive(Debug, Clone)]
pub struct BackupSources {
    /// The home.
    pub home: Home,
    /// The knowledge tree.
    pub workspace: PathBuf,
    /// The skills folder.
    pub skills: PathBuf,
    /// The configuration file, if it is included. The secret files that it names in the home are
    /// included with it.
    pub config: Option<PathBuf>,
}

/// A finished backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedBackup {
    /// Size in bytes.
    pub size: u64,
    /// Number of files, without the journal.
    pub files: usize,
    /// Secret files, as paths in the home.
    pub secrets: Vec<String>,
    /// Excluded paths, each with the reason.
    pub left_out: Vec<(String, LeftOut)>,
    /// The key of the home, if it was created for this backup and its recovery code was not shown
    /// yet.
    pub new_key: Option<BackupKey>,
}

/// Progress callback: the current activity, and the number of bytes done.
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, u64);

/// Makes a backup at `to`.
///
/// # Errors
/// If something cannot be read or written, or if `to` exists or lies in a folder that is backed up.
/// Nothing is left behind then.
pub fn make(
    sources: &BackupSources,
    to: &Path,
    now: Timestamp,
    progress: Progress<'_>,
) -> anyhow::Result<FinishedBackup> {
    let to = std::path::absolute(to)?;
    refuse(sources, &to)?;
    let part = temporary_path(&to, "part")?;
    let copy = temporary_path(&to, "journal")?;
    let (key, is_new) = BackupKey::load_or_make(&sources.home)?;
    let made = write(sources, &key, (&part, &copy), now, progress).and_then(|manifest| {
        let read = read::verify(&part, u64::MAX, progress).context("The backup could not be read back")?;
        anyhow::ensure!(read.is_authentic(&key)?, "The backup could not be read back: its authentication is wrong");
        put_in_place(&part, &to)?;
        Ok(manifest)
    });
    for leftover in [&part, &copy] {
        let _ = std::fs::remove_file(leftover);
    }
    let manifest = made?;
    let files: Vec<_> = manifest.entries.iter().filter(|entry| entry.kind == BackupEntryKind::File).collect();
    let size = std::fs::metadata(&to)?.len();
    let count = files.iter().filter(|entry| entry.path != JOURNAL).count();
    let has_config = sources.config.is_some();
    // The backup is good without its line in the list.
    let _ = list::add(&sources.home, BackupRow { made_at: now, file: to, size, files: count, has_config });
    Ok(FinishedBackup {
        size,
        files: count,
        secrets: files.iter().filter_map(|entry| secret_path(&entry.path).map(str::to_owned)).collect(),
        left_out: manifest.left_out,
        new_key: is_new.then_some(key),
    })
}

fn refuse(sources: &BackupSources, to: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(sources.home.journal().is_file(), says::no_journal(sources.home.path()));
    anyhow::ensure!(!super::restore::is_unfinished(&sources.home), says::UNFINISHED);
    anyhow::ensure!(to.symlink_metadata().is_err(), says::taken(to));
    let folder = to.parent().context("A backup needs a name")?;
    let folder = folder.canonicalize().with_context(|| format!("Cannot write in {}", folder.display()))?;
    for source in sources.folders() {
        let inside = source.canonicalize().is_ok_and(|source| folder.starts_with(source));
        anyhow::ensure!(!inside, says::inside(to, &source));
    }
    Ok(())
}

fn write(
    sources: &BackupSources,
    key: &BackupKey,
    (part, copy): (&Path, &Path),
    now: Timestamp,
    progress: Progress<'_>,
) -> anyhow::Result<Manifest> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(part);
    let file = file.with_context(|| format!("Cannot write {}", part.display()))?;
    let mut packer = Packer::new(BufWriter::new(file), key, progress);
    let places = places_of(sources);
    for (name, folder) in FOLDERS.into_iter().zip(sources.folders()) {
        pack::pack_folder(&mut packer, name, &folder)?;
    }
    if let Some(config) = sources.config.as_ref().filter(|config| config.is_file()) {
        packer.file(CONFIG, &mut File::open(config)?)?;
        pack_secrets(&mut packer, sources, config)?;
    }
    store::copy_journal(&sources.home.journal(), copy, &mut |_, _| {})?;
    anyhow::ensure!(places == places_of(sources), says::FOLDERS_MOVED);
    let unsaid = packer.entries().to_vec();
    let journal = store::amend_copy(copy, |tx| {
        record_hand_edits(tx, &unsaid, now)?;
        tx.settings().version()
    })?;
    let damage = store::examine(copy, |db| db.settings().quick_check())?;
    anyhow::ensure!(damage.is_empty(), "The journal is damaged: {}", damage.join("; "));
    packer.file(JOURNAL, &mut File::open(copy)?)?;
    packer.finish(journal, now)
}

/// Adds the secret files that the configuration names in the home, and records those elsewhere.
fn pack_secrets(
    packer: &mut Packer<'_, impl pack::Durable>,
    sources: &BackupSources,
    config: &Path,
) -> anyhow::Result<()> {
    let home = sources.home.path();
    let packed: Vec<PathBuf> = sources.folders().iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let named = named_secrets(&std::fs::read_to_string(config)?, &sources.home);
    let files: BTreeSet<&PathBuf> = named.iter().filter_map(|secret| secret.file()).collect();
    let mut secrets = BTreeSet::new();
    for path in files {
        let Ok(real) = path.canonicalize() else { continue };
        let inside = real.starts_with(home.canonicalize()?).then(|| path.strip_prefix(home).ok()).flatten();
        match inside.and_then(Path::to_str).map(|inside| format!("{SECRETS}/{inside}")) {
            Some(_) if packed.iter().any(|folder| real.starts_with(folder)) => {}
            Some(name) if manifest::is_plain(&name) => drop(secrets.insert((name, real))),
            _ => packer.leave_out(&path.to_string_lossy(), LeftOut::SecretElsewhere),
        }
    }
    let folders: BTreeSet<&str> = secrets.iter().flat_map(|(name, _)| folders_above(name)).collect();
    for folder in folders {
        packer.folder(folder)?;
    }
    for (name, path) in &secrets {
        packer.file(name, &mut File::open(path)?)?;
    }
    Ok(())
}

/// All folders in the path of a file.
fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// The path in the home of a secret file of a backup; `None` for other files.
pub(super) fn secret_path(path: &str) -> Option<&str> {
    path.strip_prefix(SECRETS)?.strip_prefix('/')
}

/// The owner of the workspace root, and whether no folder moves are open; `None` for a journal from
/// a version that did not record this. Used to check that files and journal agree.
fn places_of(sources: &BackupSources) -> Option<(Option<PersonId>, bool)> {
    let look = |db: store::Db<'_>| Ok((db.folders().workspace_owner()?, db.folders().folder_moves()?.is_empty()));
    store::examine(&sources.home.journal(), look).ok()
}

/// Enters files written by hand in the copy of the journal, with their present label.
fn record_hand_edits(tx: Tx<'_>, entries: &[BackupEntry], now: Timestamp) -> anyhow::Result<()> {
    for entry in entries.iter().filter(|entry| entry.kind == BackupEntryKind::File) {
        let Some(inside) = known_as(&entry.path) else { continue };
        if let (None, label) = memory::label_of_content(*tx, &inside, &inside, &entry.digest)? {
            let scope = tx.folders().newest_scope_of(&inside)?.unwrap_or(Scope::Shared);
            tx.file_versions().file_written(&inside, &entry.digest, &label, scope, now)?;
        }
    }
    Ok(())
}

/// The journal's path for a file of a backup; `None` if the journal keeps no rows for it.
pub(super) fn known_as(path: &str) -> Option<String> {
    let of_workspace = path.strip_prefix("workspace/").map(str::to_owned);
    of_workspace.or_else(|| path.strip_prefix("experience/").map(|inside| format!("{}{inside}", memory::EXPERIENCE)))
}

/// A temporary name in the same folder, easily distinguished from a backup.
fn temporary_path(to: &Path, what: &str) -> anyhow::Result<PathBuf> {
    let name = to.file_name().and_then(|name| name.to_str()).context("A backup needs a name")?;
    Ok(to.with_file_name(format!(".{name}.{:08x}.{what}", rand::random::<u32>())))
}

/// Renames the file to its final name, unless that name was taken in the meantime.
fn put_in_place(part: &Path, to: &Path) -> anyhow::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, part, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(rustix::io::Errno::EXIST) => anyhow::bail!(says::taken(to)),
        // Not every file system supports an atomic rename without replacement.
        Err(_) => {
            anyhow::ensure!(to.symlink_metadata().is_err(), says::taken(to));
            std::fs::rename(part, to)?;
        }
    }
    let folder = to.parent().context("A backup needs a folder")?;
    Ok(File::open(folder)?.sync_all()?)
}

impl BackupSources {
    /// The paths of [`FOLDERS`].
    fn folders(&self) -> [PathBuf; 3] {
        [self.workspace.clone(), self.skills.clone(), self.home.path().join("experience")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backup_paths_of_profile_files_map_to_their_journal_names() {
        for (path, known) in [
            ("workspace/memory/a.md", Some("memory/a.md")),
            ("experience/people/2-ben/default.md", Some("//experience/people/2-ben/default.md")),
            ("skills/tea/SKILL.md", None),
            ("compline.toml", None),
        ] {
            assert_eq!(known_as(path).as_deref(), known, "{path}");
        }
    }
}
