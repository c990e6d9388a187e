//! Handles to the folders in which changes are made, and the system calls on them.
//!
//! The skills folder and its staging folder are opened without following links. Everything is
//! written, renamed and removed relative to these two handles, so that nothing outside is touched,
//! however the paths change meanwhile. Staging is inside the skills folder because a rename is
//! atomic only within one filesystem; the catalogue ignores names that begin with a dot. Files and
//! folders are accessible to the program's user only.
//!
//! The folders are synced after every step that must precede the next one, so that a power cut
//! preserves the order of the calls.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use rustix::path::Arg;

use super::{DiskFailpoint, SwapError};
use crate::skill::SkillFolder;
use crate::skill::folder::Unreadable;

/// The folder in which changes are prepared.
const STAGING: &str = ".staging";

/// The folder for a person's work that cannot stay in place. Nothing is ever removed from here.
const KEPT: &str = ".kept";

/// Attempts to read a folder that changes while it is read.
const LOOKS: usize = 3;

/// The maximum number of entries of one name set aside for one change.
const MOST_KEPT: u32 = 100;

pub(super) struct DirHandles<'a> {
    dir: &'a Path,
    skills: OwnedFd,
    staging: OwnedFd,
    failpoint: Option<&'a DiskFailpoint>,
    plain: bool,
}

/// One of the two open folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SkillDir {
    /// The skills folder.
    Skills,
    /// The staging folder.
    Staging,
}

/// A name in one of the two folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DirEntry {
    pub handle: SkillDir,
    pub name: String,
}

/// The content of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathContent {
    Nothing,
    Folder(SkillFolder),
    /// A link, a file, or a folder with entries that no skill can have.
    Foreign(Unreadable),
}

impl<'a> DirHandles<'a> {
    /// Opens the folders and creates missing ones. `plain` simulates a filesystem that only has the
    /// plain rename.
    pub(super) fn open(dir: &'a Path, failpoint: Option<&'a DiskFailpoint>, plain: bool) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let skills = open_folder(rustix::fs::CWD, dir)?;
        let staging = create_folder(&skills, STAGING)?;
        Ok(Self { dir, skills, staging, failpoint, plain })
    }

    /// Returns whether a staging folder exists. Creates nothing.
    pub(super) fn is_used(dir: &Path) -> bool {
        dir.join(STAGING).symlink_metadata().is_ok()
    }

    /// Returns the content of the entry.
    pub(super) fn content(&self, entry: &DirEntry) -> Result<PathContent, SwapError> {
        content_at(&self.path(entry))
    }

    /// Returns the names in the staging folder that are valid text.
    pub(super) fn staged(&self) -> io::Result<Vec<String>> {
        let entries = Dir::read_from(&self.staging)?.collect::<Result<Vec<_>, _>>()?;
        Ok(entries.iter().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned)).collect())
    }

    /// Writes a whole folder into staging and syncs it to disk.
    pub(super) fn write(&self, content: &SkillFolder, name: &str) -> io::Result<()> {
        self.reached("write a folder")?;
        rustix::fs::mkdirat(&self.staging, name, Mode::RWXU)?;
        let root = open_folder(&self.staging, name)?;
        let mut inner = BTreeSet::new();
        for (path, bytes) in content.files() {
            if !is_inside(path) {
                return Err(io::Error::new(ErrorKind::InvalidInput, "A file would lie outside of its skill"));
            }
            for (end, _) in path.match_indices('/') {
                let parent = path.get(..end).unwrap_or_default();
                if inner.insert(parent) {
                    rustix::fs::mkdirat(&root, parent, Mode::RWXU)?;
                }
            }
            self.reached("write a file")?;
            write_file(&root, path, bytes)?;
        }
        for path in inner.into_iter().rev() {
            rustix::fs::fsync(open_folder(&root, path)?)?;
        }
        Ok(rustix::fs::fsync(&root)?)
    }

    /// Renames to a free name. Where the filesystem cannot guarantee that the target is free, it is
    /// checked just before; then a folder can at most replace an empty folder created in between.
    pub(super) fn rename(&self, step: &'static str, from: &DirEntry, to: &DirEntry) -> io::Result<()> {
        self.reached(step)?;
        match self.rename_with(from, to, RenameFlags::NOREPLACE) {
            Err(error) if is_unsupported(&error) => {
                if self.path(to).symlink_metadata().is_ok() {
                    return Err(ErrorKind::AlreadyExists.into());
                }
                rustix::fs::renameat(self.handle(from.handle), &from.name, self.handle(to.handle), &to.name)?;
            }
            other => other?,
        }
        self.sync()
    }

    /// Exchanges the two atomically. If the filesystem does not support this, [`is_unsupported`]
    /// recognises the error.
    pub(super) fn exchange(&self, one: &DirEntry, other: &DirEntry) -> io::Result<()> {
        self.reached("exchange")?;
        self.rename_with(one, other, RenameFlags::EXCHANGE)?;
        self.sync()
    }

    /// Moves an entry to the folder from which nothing is removed.
    pub(super) fn preserve(&self, entry: &DirEntry, name: &str) -> io::Result<()> {
        let kept = create_folder(&self.skills, KEPT)?;
        self.reached("set aside")?;
        for number in 1..=MOST_KEPT {
            let name = format!("{name}-{number}");
            if rustix::fs::statat(&kept, &name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                continue;
            }
            rustix::fs::renameat(self.handle(entry.handle), &entry.name, &kept, &name)?;
            rustix::fs::fsync(&kept)?;
            return self.sync();
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Removes an entry of the staging folder recursively. A link is removed, not its target.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        self.reached("remove")?;
        remove(&self.staging, name)
    }

    /// Reports a step to the failpoint, which may make it fail.
    pub(super) fn reached(&self, step: &'static str) -> io::Result<()> {
        self.failpoint.map_or(Ok(()), |DiskFailpoint(watch)| watch(step))
    }

    fn rename_with(&self, from: &DirEntry, to: &DirEntry, flags: RenameFlags) -> io::Result<()> {
        if self.plain {
            return Err(Errno::INVAL.into());
        }
        Ok(rustix::fs::renameat_with(self.handle(from.handle), &from.name, self.handle(to.handle), &to.name, flags)?)
    }

    fn sync(&self) -> io::Result<()> {
        rustix::fs::fsync(&self.staging)?;
        Ok(rustix::fs::fsync(&self.skills)?)
    }

    fn handle(&self, dir: SkillDir) -> &OwnedFd {
        match dir {
            SkillDir::Skills => &self.skills,
            SkillDir::Staging => &self.staging,
        }
    }

    fn path(&self, entry: &DirEntry) -> PathBuf {
        match entry.handle {
            SkillDir::Skills => self.dir.join(&entry.name),
            SkillDir::Staging => self.dir.join(STAGING).join(&entry.name),
        }
    }
}

/// Returns the content of a path. Editors replace files during the read, so a read that fails
/// because a file vanished is repeated.
pub(super) fn content_at(path: &Path) -> Result<PathContent, SwapError> {
    let mut last = None;
    for _ in 0..LOOKS {
        match path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(PathContent::Nothing),
            Err(error) => return Err(error.into()),
            Ok(found) if !found.is_dir() => {
                return Ok(PathContent::Foreign(Unreadable::NotPlain("the folder itself".to_owned())));
            }
            Ok(_) => {}
        }
        match SkillFolder::read(path) {
            Ok(folder) => return Ok(PathContent::Folder(folder)),
            Err(failed @ Unreadable::Failed { .. }) => last = Some(failed),
            Err(foreign) => return Ok(PathContent::Foreign(foreign)),
        }
    }
    Err(SwapError::Other(
        anyhow::Error::new(last.unwrap_or(Unreadable::TooLarge)).context("Cannot read the folder of a skill"),
    ))
}

/// Returns whether the error means that the filesystem does not support this rename.
pub(super) fn is_unsupported(error: &io::Error) -> bool {
    let known = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP];
    known.iter().any(|known| error.raw_os_error() == Some(known.raw_os_error()))
}

fn open_folder(parent: impl AsFd, path: impl Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(parent, path, flags, Mode::empty())?)
}

fn create_folder(parent: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    match rustix::fs::mkdirat(parent, name, Mode::RWXU) {
        Ok(()) => rustix::fs::fsync(parent)?,
        Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    open_folder(parent, name)
}

fn write_file(root: &OwnedFd, path: &str, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(root, path, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(bytes)?;
    file.sync_all()
}

fn is_inside(path: &str) -> bool {
    !path.contains('\0') && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn remove(parent: &OwnedFd, name: impl Arg + Copy) -> io::Result<()> {
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(error.into()),
        Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::Directory => {
            return Ok(rustix::fs::unlinkat(parent, name, AtFlags::empty())?);
        }
        Ok(_) => {}
    }
    let here = open_folder(parent, name)?;
    for entry in Dir::read_from(&here)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            remove(&here, entry.file_name())?;
        }
    }
    Ok(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}
