//! Unpacks a verified backup into an empty folder.
//!
//! Folders are created before their contents, files are always created and never opened, and links
//! come last, so nothing is ever written through a link. The archive is read a second time here,
//! and another process may be able to write to it: each item is compared with the verified manifest
//! as it is unpacked.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::admin::backup::manifest::{BackupEntry, BackupEntryKind, Manifest, NAME, SEAL};
use crate::admin::backup::read::{Member, each};
use crate::admin::backup::{FOLDERS, Progress};
use crate::wording::upkeep as says;

/// Unpacks `file` into the new folder `into`, and syncs it to the disk.
pub(super) fn unpack(file: &Path, manifest: &Manifest, into: &Path, progress: Progress<'_>) -> anyhow::Result<()> {
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
                write(&path, member, bytes).with_context(|| format!("Cannot unpack {}", member.path))?
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
fn write(path: &Path, member: &Member, bytes: &mut dyn Read) -> anyhow::Result<BackupEntry> {
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
