//! Reads a backup from any source; nothing in it is used before it was checked.
//!
//! The tar headers are read one by one, and only kinds that this program writes are accepted:
//! files, folders, links, and the long names before them. Names are plain, lead to one of the known
//! places of a backup, and are unique; no name lies under a link; links stay in their folder; sizes
//! are bounded. The contents match the manifest byte for byte, with nothing missing or added.
//! Anything else is refused with a reason, and nothing is written. The authenticity of the manifest
//! is a separate check: [`Archive::is_authentic`].
//!
//! A verified backup is unpacked into an empty folder. Folders are created before their contents,
//! files are always created and never opened, and links come last, so nothing is ever written
//! through a link. The archive is read a second time here, and another process may be able to write
//! to it: each item is compared with the verified manifest as it is unpacked.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use tar::EntryType;

use super::key::BackupKey;
use super::manifest::{
    BackupEntry, BackupEntryKind, FORM, Manifest, NAME, SEAL, Seal, UNSIGNED_FORM, is_plain, stays_inside,
};
use super::pack::MAX_ENTRIES;
use super::{FOLDERS, JOURNAL, Progress};
use crate::wording::upkeep as says;

/// Maximum length of the manifest, in bytes.
const MAX_MANIFEST: u64 = 128 << 20;
/// Maximum length of the authentication, in bytes.
const MAX_SEAL: u64 = 4096;
/// Maximum length of a name, in bytes.
const MAX_NAME: u64 = 4097;
/// Maximum padding after the end of a tar, in bytes: some programs fill up a block.
const MAX_PADDING: u64 = 1 << 20;

/// One item in a backup, as described by its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Path in the backup.
    pub path: String,
    /// Kind of item.
    pub kind: BackupEntryKind,
    /// Size in bytes.
    pub size: u64,
    /// Target of a link.
    pub target: String,
    /// True for an executable file.
    pub executable: bool,
}

/// A complete archive.
#[derive(Debug, Clone)]
pub struct Archive {
    /// The contents.
    pub manifest: Manifest,
    /// The manifest's bytes.
    bytes: Vec<u8>,
    /// The authentication in the archive.
    pub seal: Option<Seal>,
}

impl Archive {
    /// Returns whether the archive was made with that key and is unchanged since.
    ///
    /// # Errors
    /// Never, in practice.
    pub fn is_authentic(&self, key: &BackupKey) -> anyhow::Result<bool> {
        let Some(seal) = self.seal.as_ref().filter(|_| self.manifest.form == FORM) else { return Ok(false) };
        key.verifies(&self.bytes, &hex::decode(&seal.hmac_sha256).unwrap_or_default())
    }
}

impl Member {
    /// Builds the manifest entry for this item, with its data read from `bytes`.
    ///
    /// # Errors
    /// If the bytes cannot be read.
    pub fn entry(&self, bytes: &mut dyn Read) -> anyhow::Result<BackupEntry> {
        let digest = match self.kind {
            BackupEntryKind::File => digest_of(bytes)?,
            BackupEntryKind::Folder => String::new(),
            BackupEntryKind::Link => self.target.clone(),
        };
        let executable = self.kind == BackupEntryKind::File && self.executable;
        Ok(BackupEntry { path: self.path.clone(), kind: self.kind, size: self.size, digest, executable })
    }
}

/// Reads a whole backup and compares it with its manifest. It may contain at most `room` bytes.
///
/// # Errors
/// If the file is incomplete, is not a backup, or could harm a disk.
pub fn verify(file: &Path, room: u64, progress: Progress<'_>) -> anyhow::Result<Archive> {
    let mut seen: BTreeMap<String, BackupEntry> = BTreeMap::new();
    let (mut manifest, mut seal): (Option<(Manifest, Vec<u8>)>, Option<Seal>) = (None, None);
    let mut done = 0_u64;
    each(file, &mut |member, bytes| {
        if manifest.is_some() && seal.is_none() && member.path == SEAL {
            seal = Some(seal_in(member, bytes)?);
            return Ok(());
        }
        ensure!(manifest.is_none(), "something follows the manifest");
        ensure!(member.path != SEAL, "its authentication comes before its manifest");
        ensure!(seen.len() < MAX_ENTRIES, "there is too much in it");
        ensure!(member.size <= room.saturating_sub(done), "it is larger than the room on the disk");
        if member.path == NAME {
            manifest = Some(manifest_in(member, bytes)?);
            return Ok(());
        }
        done = done.saturating_add(member.size);
        let entry = member.entry(bytes)?;
        progress(says::CHECKING, done);
        let twice = seen.insert(member.path.clone(), entry).is_some();
        ensure!(!twice, "{} stands in it twice", member.path);
        Ok(())
    })?;
    let (mut manifest, bytes) = manifest.context("it ends before its manifest")?;
    if manifest.form == UNSIGNED_FORM {
        // That format did not record which files are executable.
        for entry in &mut manifest.entries {
            entry.executable = seen.get(&entry.path).is_some_and(|seen| seen.executable);
        }
    }
    compare(&manifest, &seen)?;
    Ok(Archive { manifest, bytes, seal })
}

/// Reads a whole backup and passes each item with its bytes to `take`.
///
/// # Errors
/// The error from `take`, or that the file is not a backup.
pub fn each(file: &Path, take: &mut dyn FnMut(&Member, &mut dyn Read) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let opened = File::open(file).with_context(|| format!("Cannot open {}", file.display()))?;
    let mut archive = tar::Archive::new(GzDecoder::new(BufReader::new(opened)));
    let (mut long_name, mut long_target) = (None, None);
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry.context("it is damaged, or no backup")?;
        let (kind, size) = (entry.header().entry_type(), entry.header().entry_size()?);
        match kind {
            EntryType::GNULongName => long_name = Some(name_in(&mut entry, size)?),
            EntryType::GNULongLink => long_target = Some(name_in(&mut entry, size)?),
            _ => {
                let member = member(entry.header(), kind, size, long_name.take(), long_target.take())?;
                take(&member, &mut entry)?;
            }
        }
    }
    let rest = io::copy(&mut archive.into_inner().take(MAX_PADDING), &mut io::sink()).context("its end is damaged")?;
    ensure!(rest < MAX_PADDING, "something follows its end");
    Ok(())
}

fn member(
    header: &tar::Header,
    kind: EntryType,
    size: u64,
    long_name: Option<String>,
    long_target: Option<String>,
) -> anyhow::Result<Member> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok().context("a name in it is no text");
    let name = long_name.map_or_else(|| text(&header.path_bytes()), Ok)?;
    let path = name.strip_suffix('/').filter(|_| kind == EntryType::Directory).unwrap_or(&name).to_owned();
    ensure!(is_plain(&path), "a name in it leads elsewhere: {}", crate::text::shorten(&path, 80));
    let target = match (long_target, header.link_name_bytes()) {
        (Some(target), _) => target,
        (None, Some(bytes)) => text(&bytes)?,
        (None, None) => String::new(),
    };
    let kind = match kind {
        EntryType::Regular => BackupEntryKind::File,
        EntryType::Directory => BackupEntryKind::Folder,
        EntryType::Symlink => BackupEntryKind::Link,
        _ => bail!("{path} is neither a file nor a folder nor a link"),
    };
    ensure!(kind == BackupEntryKind::File || size == 0, "{path} has bytes and is no file");
    ensure!(kind == BackupEntryKind::File || path.contains('/') || kind == BackupEntryKind::Folder, "{path} is a link");
    ensure!(
        kind != BackupEntryKind::Folder || !matches!(path.as_str(), JOURNAL | super::CONFIG | NAME | SEAL),
        "{path} is a folder"
    );
    ensure!(kind != BackupEntryKind::Link || stays_inside(&path, &target), "the link {path} leads elsewhere");
    Ok(Member { path, kind, size, target, executable: header.mode().is_ok_and(|mode| mode & 0o100 != 0) })
}

fn name_in(entry: &mut impl Read, size: u64) -> anyhow::Result<String> {
    ensure!(size <= MAX_NAME, "a name in it is too long");
    let mut bytes = Vec::new();
    entry.take(MAX_NAME).read_to_end(&mut bytes)?;
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    String::from_utf8(bytes).ok().context("a name in it is no text")
}

fn manifest_in(member: &Member, bytes: &mut dyn Read) -> anyhow::Result<(Manifest, Vec<u8>)> {
    ensure!(member.kind == BackupEntryKind::File && member.size <= MAX_MANIFEST, "its manifest is none");
    let mut text = Vec::new();
    bytes.read_to_end(&mut text)?;
    let form: serde_json::Value = serde_json::from_slice(&text).context("its manifest is none")?;
    let number = form.get("form").and_then(serde_json::Value::as_u64);
    let is_known = number == Some(FORM.into()) || number == Some(UNSIGNED_FORM.into());
    ensure!(is_known, "it is of another form than this program knows");
    Ok((serde_json::from_value(form).context("its manifest is none")?, text))
}

/// Parses the authentication. An unreadable one verifies nothing.
fn seal_in(member: &Member, bytes: &mut dyn Read) -> anyhow::Result<Seal> {
    ensure!(member.kind == BackupEntryKind::File && member.size <= MAX_SEAL, "its authentication is none");
    let mut text = Vec::new();
    bytes.read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text).unwrap_or_default())
}

fn compare(manifest: &Manifest, seen: &BTreeMap<String, BackupEntry>) -> anyhow::Result<()> {
    ensure!(seen.contains_key(JOURNAL), "there is no journal in it");
    ensure!(manifest.entries.len() == seen.len(), "there is more or less in it than its manifest says");
    for entry in &manifest.entries {
        ensure!(seen.get(&entry.path) == Some(entry), "{} is not as it was backed up", entry.path);
    }
    // The parent of every item is a folder that is also in the backup.
    for path in seen.keys() {
        let Some((above, _)) = path.rsplit_once('/') else { continue };
        let folder = seen.get(above).is_some_and(|above| above.kind == BackupEntryKind::Folder);
        ensure!(folder, "{path} lies under no folder");
    }
    Ok(())
}

pub(in crate::admin) fn digest_of(bytes: &mut dyn Read) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    let mut piece = vec![0_u8; 64 * 1024];
    loop {
        let count = bytes.read(&mut piece).context("it is damaged")?;
        if count == 0 {
            return Ok(hex::encode(hash.finalize()));
        }
        hash.update(piece.get(..count).unwrap_or_default());
    }
}

/// Unpacks `file` into the new folder `into`, and syncs it to the disk.
pub fn unpack(file: &Path, manifest: &Manifest, into: &Path, progress: Progress<'_>) -> anyhow::Result<()> {
    make_folder(into)?;
    let mut due: BTreeMap<&str, &BackupEntry> =
        manifest.entries.iter().map(|entry| (entry.path.as_str(), entry)).collect();
    let mut links: Vec<(PathBuf, String)> = Vec::new();
    let mut folders: Vec<PathBuf> = vec![into.to_owned()];
    let mut done = 0_u64;
    each(file, &mut |member, bytes| {
        if member.path == NAME || member.path == SEAL {
            return Ok(());
        }
        let path = into.join(&member.path);
        let found = match member.kind {
            BackupEntryKind::Link => {
                links.push((path, member.target.clone()));
                member.entry(bytes)?
            }
            BackupEntryKind::Folder => {
                make_folder(&path)?;
                folders.push(path);
                member.entry(bytes)?
            }
            BackupEntryKind::File => {
                write_file(&path, member, bytes).with_context(|| format!("Cannot unpack {}", member.path))?
            }
        };
        let is_due = due.remove(member.path.as_str()).is_some_and(|entry| *entry == found);
        anyhow::ensure!(is_due, "{} changed since it was read", member.path);
        done = done.saturating_add(member.size);
        progress(says::UNPACKING, done);
        Ok(())
    })?;
    anyhow::ensure!(due.is_empty(), "It changed since it was read");
    // A folder that did not exist at the time of the backup is now empty.
    for name in FOLDERS {
        if !into.join(name).is_dir() {
            make_folder(&into.join(name))?;
        }
    }
    for (path, target) in links {
        std::os::unix::fs::symlink(target, path)?;
    }
    for folder in folders {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn make_folder(path: &Path) -> anyhow::Result<()> {
    DirBuilder::new().mode(0o700).create(path).with_context(|| format!("Cannot make {}", path.display()))
}

/// Writes a file, and returns its manifest entry as written.
fn write_file(path: &Path, member: &Member, bytes: &mut dyn Read) -> anyhow::Result<BackupEntry> {
    let mode = if member.executable { 0o700 } else { 0o600 };
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    let mut copied = Copied { from: bytes.take(member.size), to: file };
    let entry = member.entry(&mut copied)?;
    let written = copied.to.metadata()?.len();
    anyhow::ensure!(written == member.size, "It changed since it was read");
    copied.to.sync_all()?;
    Ok(entry)
}

/// A reader that copies its data to a file.
struct Copied<R> {
    from: R,
    to: File,
}

impl<R: Read> Read for Copied<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.to.write_all(into.get(..count).unwrap_or_default())?;
        Ok(count)
    }
}
