//! A backup: the whole state of a home in one file, made while the gateway runs or not.
//!
//! It is a gzipped tar, so it can be opened without this program: `compline.db`, `workspace/`,
//! `skills/`, `experience/`, `compline.toml` unless that is left out, then a manifest with the size
//! and SHA-256 of each file, and last the manifest's authentication with the key of the home
//! ([`key`]), which is in no archive. It is written beside its final name, synced, read back and
//! compared with what went in, and only then given its name; it never takes the place of another
//! file. It is not encrypted.
//!
//! **The files come first and the journal after them.** Before we put a file into the workspace or
//! change a skill, its row is committed. So of every file of ours that is in the backup the journal
//! in it knows, as after a power cut: a row may have no file, which is harmless, but no file is
//! without its row and its label. The copy of the journal is exact for one moment and holds nobody
//! up ([`crate::store::copy_journal`]). What a person wrote by hand has no row; it is entered in
//! the copy with the label that it has now, so that a restore finds it as it was.
//!
//! Links are kept as links, and never followed. One that leads out of its folder would lead
//! somewhere else after a restore: it is left out and named.

pub mod key;
pub mod manifest;
pub mod pack;
pub mod read;
pub mod walk;

use std::fs::{File, OpenOptions};
use std::io::BufWriter;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::config::Home;
use crate::id::PersonId;
use crate::memory;
use crate::store::{self, Tx};
use crate::time::Timestamp;
use crate::wording::upkeep::{self as says, LeftOut};
use key::BackupKey;
use manifest::{BackupEntry, BackupEntryKind, Manifest};
use pack::Packer;

/// The names of the folders in a backup.
pub const FOLDERS: [&str; 3] = ["workspace", "skills", "experience"];
/// The name of the journal in a backup.
pub const JOURNAL: &str = "compline.db";
/// The name of the configuration in a backup.
pub const CONFIG: &str = "compline.toml";

/// What is backed up.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The home.
    pub home: Home,
    /// The knowledge tree.
    pub workspace: PathBuf,
    /// The skills.
    pub skills: PathBuf,
    /// The configuration, if it is to be in it.
    pub config: Option<PathBuf>,
}

/// A backup that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Its size in bytes.
    pub size: u64,
    /// How many files are in it, the journal not counted.
    pub files: usize,
    /// What is not in it, and why.
    pub left_out: Vec<(String, LeftOut)>,
    /// The key of the home, if it was made for this backup: its recovery code was not shown yet.
    pub new_key: Option<BackupKey>,
}

/// Hears what is being done, and how many bytes of it are done.
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, u64);

/// How many bytes are free for us on the disk that holds that folder.
pub fn room(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Makes a backup at `to`.
///
/// # Errors
/// If something cannot be read or written, or if `to` is taken or lies in what is backed up. Then
/// nothing is left behind.
pub fn make(sources: &Sources, to: &Path, now: Timestamp, progress: Progress<'_>) -> anyhow::Result<Made> {
    let to = std::path::absolute(to)?;
    refuse(sources, &to)?;
    let part = beside(&to, "part")?;
    let copy = beside(&to, "journal")?;
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
    Ok(Made {
        size: std::fs::metadata(&to)?.len(),
        files: manifest
            .entries
            .iter()
            .filter(|entry| entry.kind == BackupEntryKind::File && entry.path != JOURNAL)
            .count(),
        left_out: manifest.left_out,
        new_key: is_new.then_some(key),
    })
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of hexadecimal digits; empty if they are none.
pub(super) fn unhex(text: &str) -> Vec<u8> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(high)? << 4 | digit(low)?));
    if rest.is_empty() { bytes.collect::<Option<_>>().unwrap_or_default() } else { Vec::new() }
}

fn refuse(sources: &Sources, to: &Path) -> anyhow::Result<()> {
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
    sources: &Sources,
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
        walk::pack_folder(&mut packer, name, &folder)?;
    }
    if let Some(config) = sources.config.as_ref().filter(|config| config.is_file()) {
        packer.file(CONFIG, &mut File::open(config)?)?;
    }
    store::copy_journal(&sources.home.journal(), copy, &mut |_, _| {})?;
    anyhow::ensure!(places == places_of(sources), says::FOLDERS_MOVED);
    let unsaid = packer.entries().to_vec();
    let journal = store::amend_copy(copy, |tx| {
        vouch(tx, &unsaid, now)?;
        tx.settings().version()
    })?;
    let damage = store::examine_still(copy, |db| db.settings().quick_check())?;
    anyhow::ensure!(damage.is_empty(), "The journal is damaged: {}", damage.join("; "));
    packer.file(JOURNAL, &mut File::open(copy)?)?;
    packer.finish(journal, now)
}

/// Whose the root of the workspace is, and whether folders are being moved; `None` in a journal of
/// a program that did not know. Files and journal have to agree.
fn places_of(sources: &Sources) -> Option<(Option<PersonId>, bool)> {
    let look = |db: store::Db<'_>| Ok((db.folders().workspace_owner()?, db.folders().folder_moves()?.is_empty()));
    store::examine(&sources.home.journal(), look).ok()
}

/// Enters what a person wrote by hand, with the label that it has now.
fn vouch(tx: Tx<'_>, entries: &[BackupEntry], now: Timestamp) -> anyhow::Result<()> {
    for entry in entries.iter().filter(|entry| entry.kind == BackupEntryKind::File) {
        let Some(inside) = known_as(&entry.path) else { continue };
        if let (None, label) = memory::label_of_content(*tx, &inside, &inside, &entry.digest)? {
            let scope = tx.after_restore().last_scope_of(&inside)?;
            tx.file_versions().file_written(&inside, &entry.digest, &label, scope, now)?;
        }
    }
    Ok(())
}

/// By what path the journal knows a file of a backup; `None` for one of which it has no rows.
pub(super) fn known_as(path: &str) -> Option<String> {
    let of_workspace = path.strip_prefix("workspace/").map(str::to_owned);
    of_workspace.or_else(|| path.strip_prefix("experience/").map(|inside| format!("{}{inside}", memory::EXPERIENCE)))
}

/// A name in the same folder that is easily told from a backup.
fn beside(to: &Path, what: &str) -> anyhow::Result<PathBuf> {
    let name = to.file_name().and_then(|name| name.to_str()).context("A backup needs a name")?;
    Ok(to.with_file_name(format!(".{name}.{:08x}.{what}", rand::random::<u32>())))
}

/// Gives the file its name, unless somebody took that meanwhile.
fn put_in_place(part: &Path, to: &Path) -> anyhow::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, part, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(rustix::io::Errno::EXIST) => anyhow::bail!(says::taken(to)),
        // Not every file system can do both at once.
        Err(_) => {
            anyhow::ensure!(to.symlink_metadata().is_err(), says::taken(to));
            std::fs::rename(part, to)?;
        }
    }
    let folder = to.parent().context("A backup needs a folder")?;
    Ok(File::open(folder)?.sync_all()?)
}

impl Sources {
    /// Where the folders of [`FOLDERS`] lie.
    fn folders(&self) -> [PathBuf; 3] {
        [self.workspace.clone(), self.skills.clone(), self.home.path().join("experience")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_profiles_have_learned_is_known_beside_the_workspace() {
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
