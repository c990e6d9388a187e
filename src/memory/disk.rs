//! The folder of the tree: finding, reading, making folders and putting files, never outside of it.
//!
//! Links are followed only where they stay inside: what counts is where a path really leads. All of this blocks.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use super::place;
use super::tree::Received;

/// The folder of the tree.
#[derive(Debug, Clone)]
pub(super) struct Disk {
    root: PathBuf,
}

/// Something inside the tree, by where it really is.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Its path.
    pub path: PathBuf,
    /// The same, relative to the root.
    pub inside: String,
}

/// What to do where a file stands already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    /// Leave it as it is.
    Keep,
    /// Put the new one in its place.
    Replace,
}

impl Disk {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The root as configured, for messages.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where that path is if it exists, without a look at where it leads. Only to see whether it has changed.
    pub(super) fn unchecked(&self, inside: &str) -> PathBuf {
        self.root.join(inside)
    }

    /// Where that path really leads.
    pub(super) fn find(&self, inside: &str) -> anyhow::Result<Found> {
        ensure!(place::is_plain(inside), "The path is not a plain one");
        let root = self.root.canonicalize().context("The workspace is not there")?;
        let path = root.join(inside).canonicalize()?;
        located(&root, path)
    }

    /// The folder at that path, made if it is not there; a blank path is the root.
    pub(super) fn folder(&self, inside: &str) -> anyhow::Result<Found> {
        private_folders().recursive(true).create(&self.root)?;
        let root = self.root.canonicalize()?;
        let mut here = Found { path: root.clone(), inside: String::new() };
        ensure!(inside.is_empty() || place::is_plain(inside), "The path is not a plain one");
        for part in inside.split('/').filter(|part| !part.is_empty()) {
            let next = here.path.join(part);
            match private_folders().create(&next) {
                Ok(()) => sync(&here.path)?,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
            here = located(&root, next.canonicalize()?)?;
            ensure!(here.path.is_dir(), "{part} is not a folder");
        }
        Ok(here)
    }

    /// Deletes the file that stands just there, if it is `ours`. What is a link, or lies behind one that leads out, is none.
    pub(super) fn remove(&self, inside: &str, max: u64, ours: impl Fn(&[u8]) -> bool) -> anyhow::Result<Received> {
        ensure!(place::is_plain(inside), "The path is not a plain one");
        let (folder, name) = inside.rsplit_once('/').unwrap_or(("", inside));
        let root = self.root.canonicalize().context("The workspace is not there")?;
        let folder = match root.join(folder).canonicalize() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Received::Gone),
            found => located(&root, found?)?,
        };
        ensure!(place::is_inbox(&folder.inside), "The folder leads elsewhere");
        let path = folder.path.join(name);
        match path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Received::Gone),
            Err(error) => return Err(error.into()),
            Ok(found) if !found.is_file() => return Ok(Received::Changed),
            Ok(_) => {}
        }
        if !read_up_to(File::open(&path)?, max).is_ok_and(|bytes| ours(&bytes)) {
            return Ok(Received::Changed);
        }
        fs::remove_file(&path)?;
        sync(&folder.path)?;
        Ok(Received::Gone)
    }

    /// The bytes of a file, which may be up to `max` long.
    pub(super) fn read(&self, inside: &str, max: u64) -> anyhow::Result<Vec<u8>> {
        read_up_to(open(&self.find(inside)?)?, max)
    }
}
/// Puts a whole file into a folder: after a crash there is the old file or the new one.
pub(super) fn put(folder: &Found, name: &str, bytes: &[u8], existing: Existing) -> anyhow::Result<()> {
    let temporary = folder.path.join(format!(".{name}.new"));
    // Left over from a crash; and were it a link, it would not be followed.
    match fs::remove_file(&temporary) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let target = folder.path.join(name);
    let result = write_whole(&temporary, bytes).and_then(|()| {
        if existing == Existing::Keep && is_taken(&target) {
            return fs::remove_file(&temporary);
        }
        fs::rename(&temporary, &target)
    });
    if result.is_err() {
        // What is left is removed next time; the error that counts is the first.
        let _ = fs::remove_file(&temporary);
    }
    result?;
    Ok(sync(&folder.path)?)
}

/// Opens a file; opening a pipe or a device would wait for somebody, or worse.
pub(super) fn open(found: &Found) -> anyhow::Result<File> {
    ensure!(fs::metadata(&found.path)?.is_file(), "It is not a file");
    Ok(File::open(&found.path)?)
}

/// All bytes of a file that may be up to `max` long.
pub(super) fn read_up_to(file: File, max: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    ensure!(u64::try_from(bytes.len())? <= max, "It is larger than {max} bytes");
    Ok(bytes)
}

/// Whether anything stands there, be it a link that leads nowhere.
pub(super) fn is_taken(path: &Path) -> bool {
    !matches!(path.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound)
}

fn located(root: &Path, path: PathBuf) -> anyhow::Result<Found> {
    let inside = path.strip_prefix(root).ok().context("A link leads out of the workspace")?;
    let inside = inside.to_string_lossy().into_owned();
    Ok(Found { path, inside })
}

fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync(folder: &Path) -> std::io::Result<()> {
    File::open(folder)?.sync_all()
}
