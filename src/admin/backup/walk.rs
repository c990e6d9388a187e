//! Adds a folder to a backup, in a deterministic order.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;

use super::manifest::stays_inside;
use super::pack::{Durable, Packer};
use crate::wording::upkeep::LeftOut;

/// Maximum folder depth, far beyond any tree that a person keeps.
const DEEPEST: usize = 64;

/// Adds a folder under `name`, or nothing if it does not exist. A folder that is itself a link is
/// followed.
///
/// # Errors
/// If something cannot be read, or the backup cannot be written.
pub fn pack_folder(packer: &mut Packer<'_, impl Durable>, name: &str, folder: &Path) -> anyhow::Result<()> {
    match folder.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        found => inner(packer, name, &found.with_context(|| format!("Cannot read {}", folder.display()))?, 0),
    }
}

fn inner(packer: &mut Packer<'_, impl Durable>, name: &str, folder: &Path, depth: usize) -> anyhow::Result<()> {
    anyhow::ensure!(depth < DEEPEST, "{name} lies in more than {DEEPEST} folders");
    packer.folder(name)?;
    let listed = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = listed.with_context(|| format!("Cannot read {}", folder.display()))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let file_name = entry.file_name();
        let Some(plain) = file_name.to_str() else {
            packer.leave_out(&format!("{name}/{}", file_name.to_string_lossy()), LeftOut::Unnameable);
            continue;
        };
        one(packer, &format!("{name}/{plain}"), &entry.path(), depth)?;
    }
    Ok(())
}

fn one(packer: &mut Packer<'_, impl Durable>, name: &str, path: &Path, depth: usize) -> anyhow::Result<()> {
    let kind = match path.symlink_metadata() {
        // The file existed a moment ago, so it was deleted on purpose.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.with_context(|| format!("Cannot read {}", path.display()))?.file_type(),
    };
    if kind.is_dir() {
        return inner(packer, name, path, depth.saturating_add(1));
    }
    if kind.is_symlink() {
        let target = fs::read_link(path).with_context(|| format!("Cannot read {}", path.display()))?;
        match target.to_str().filter(|target| stays_inside(name, target)) {
            Some(target) => packer.link(name, target)?,
            None => packer.leave_out(name, LeftOut::LeadsOut),
        }
        return Ok(());
    }
    if !kind.is_file() {
        packer.leave_out(name, LeftOut::Special);
        return Ok(());
    }
    match open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        opened => packer.file(name, &mut opened.with_context(|| format!("Cannot read {}", path.display()))?),
    }
}

/// Opens a file, refusing a link that replaced it meanwhile, and without blocking on a pipe.
fn open(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}
