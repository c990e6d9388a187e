//! Path resolution. Each part of a path is opened separately, relative to the open handle of its
//! folder, and no system call follows a link.
//!
//! So the file that is found is the file that is used: replacing a folder or file by a link affects
//! the next walk, not a finished one. Links are followed here, part by part, as long as they stay
//! inside; a link with an absolute target is resolved against the root that it names. The resulting
//! path is the one under which the journal knows the file, regardless of links along the path and
//! of the spelling of its name ([`super::canonical_name`]).

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::canonical_name::{Lookup, own_name};

/// Maximum number of links on one path; more are treated as a cycle.
const MOST_LINKS: usize = 40;
const LEADS_OUT: &str = "A link leads out of the workspace";

#[derive(Debug, Clone)]
pub(super) struct OpenFolder {
    /// Handle of the folder.
    pub fd: Arc<OwnedFd>,
    /// Real path relative to the root; empty for the root itself.
    pub inside: String,
}

/// Result of a walk: a name in an open folder.
#[derive(Debug, Clone)]
pub(super) struct ResolvedPath {
    pub folder: OpenFolder,
    /// Name in the folder: empty for the folder itself, a path if intermediate folders do not
    /// exist.
    pub name: String,
    /// File type.
    pub lies: PathType,
}

/// Type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathType {
    /// No entry.
    Nothing,
    /// A regular file.
    File,
    OpenFolder,
    /// A pipe, a device, or another type that is never opened.
    Other,
}

/// Behaviour when a folder does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    /// Fail the walk.
    Missing,
    /// Create the folder.
    Make,
}

impl ResolvedPath {
    /// Returns the real path relative to the root.
    pub(super) fn inside(&self) -> String {
        if self.name.is_empty() {
            self.folder.inside.clone()
        } else {
            super::layout::within(&self.folder.inside, &self.name)
        }
    }
}

/// Resolves a path below `root` with that lookup of names. With [`Absent::Make`] its last part is a
/// folder too.
pub(super) fn walk(root: &Path, lookup: Lookup, inside: &str, absent: Absent) -> anyhow::Result<ResolvedPath> {
    let base =
        rustix::fs::openat(CWD, root, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty()).map_err(io::Error::from)?;
    let rest = inside.split('/').rev().map(str::to_owned).collect();
    PathWalk { root, lookup, base: Arc::new(base), stack: Vec::new(), rest, links: 0, absent }.run()
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

struct PathWalk<'r> {
    root: &'r Path,
    lookup: Lookup,
    base: Arc<OwnedFd>,
    stack: Vec<(String, Arc<OwnedFd>)>,
    /// Parts still to be resolved, in reverse order.
    rest: Vec<String>,
    links: usize,
    absent: Absent,
}

impl PathWalk<'_> {
    fn run(mut self) -> anyhow::Result<ResolvedPath> {
        while let Some(part) = self.rest.pop() {
            match part.as_str() {
                "" | "." => {}
                ".." => drop(self.stack.pop().context(LEADS_OUT)?),
                name => {
                    if let Some((name, lies)) = self.step(name)? {
                        return Ok(ResolvedPath { folder: self.here(), name: self.to_the_end(name), lies });
                    }
                }
            }
        }
        Ok(ResolvedPath { folder: self.here(), name: String::new(), lies: PathType::OpenFolder })
    }

    /// Resolves one part. Returns its canonical name and type if it ends the walk and is not a
    /// folder.
    fn step(&mut self, name: &str) -> anyhow::Result<Option<(String, PathType)>> {
        let here = self.here();
        let is_last = self.rest.iter().all(String::is_empty);
        let found = match (self.lookup)(&here.fd, name) {
            Err(Errno::NOENT) if self.absent == Absent::Make => return self.make(&here, name).map(|()| None),
            Err(Errno::NOENT) if self.rest.iter().all(|part| part != "..") => {
                return Ok(Some((name.to_owned(), PathType::Nothing)));
            }
            found => found.map_err(io::Error::from)?,
        };
        let kind = FileType::from_raw_mode(found.st_mode);
        if kind == FileType::Symlink {
            return self.follow(&here, name).map(|()| None);
        }
        let name = own_name(&here.fd, name, &found, self.lookup)?;
        match kind {
            FileType::Directory => self.enter(&here, &name).map(|()| None),
            _ if !is_last => Err(io::Error::from(ErrorKind::NotADirectory).into()),
            FileType::RegularFile => Ok(Some((name, PathType::File))),
            _ => Ok(Some((name, PathType::Other))),
        }
    }

    /// Joins that part with the rest of the path.
    fn to_the_end(&self, part: String) -> String {
        let more = self.rest.iter().rev().map(String::as_str).filter(|more| !matches!(*more, "" | "."));
        std::iter::once(part.as_str()).chain(more).collect::<Vec<_>>().join("/")
    }

    fn enter(&mut self, here: &OpenFolder, name: &str) -> anyhow::Result<()> {
        let fd = rustix::fs::openat(&here.fd, name, FOLDER, Mode::empty()).map_err(io::Error::from)?;
        self.stack.push((name.to_owned(), Arc::new(fd)));
        Ok(())
    }

    fn make(&mut self, here: &OpenFolder, name: &str) -> anyhow::Result<()> {
        match rustix::fs::mkdirat(&here.fd, name, Mode::RWXU) {
            Ok(()) => rustix::fs::fsync(&here.fd).map_err(io::Error::from)?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        self.enter(here, name)
    }

    fn follow(&mut self, here: &OpenFolder, name: &str) -> anyhow::Result<()> {
        self.links += 1;
        anyhow::ensure!(self.links <= MOST_LINKS, "Links lead in a circle");
        let target = rustix::fs::readlinkat(&here.fd, name, Vec::new()).map_err(io::Error::from)?;
        let target = target.to_str().ok().context("A link leads to a name that is no text")?;
        let inside = match Path::new(target).is_absolute() {
            false => target.to_owned(),
            true => {
                self.stack.clear();
                below(self.root, Path::new(target)).context(LEADS_OUT)?
            }
        };
        self.rest.extend(inside.split('/').rev().map(str::to_owned));
        Ok(())
    }

    fn here(&self) -> OpenFolder {
        let names: Vec<&str> = self.stack.iter().map(|(name, _)| name.as_str()).collect();
        let fd = self.stack.last().map_or(&self.base, |(_, fd)| fd);
        OpenFolder { fd: Arc::clone(fd), inside: names.join("/") }
    }
}

/// Converts an absolute path to one below the root, under either name of the root.
fn below(root: &Path, target: &Path) -> Option<String> {
    let real = root.canonicalize().ok()?;
    let plain = [root, real.as_path()].into_iter().find_map(|root| target.strip_prefix(root).ok());
    let inside = plain.map(Path::to_owned).or_else(|| deepest(target, &real))?;
    inside.to_str().map(str::to_owned)
}

/// Variant of [`below`] for targets that name folders above the root by links.
fn deepest(target: &Path, real: &Path) -> Option<PathBuf> {
    let names_up = target.components().any(|part| part == Component::ParentDir);
    let mut above = target.ancestors().skip(1);
    (!names_up)
        .then(|| above.find(|above| above.canonicalize().is_ok_and(|above| above == real)))?
        .and_then(|above| target.strip_prefix(above).ok().map(Path::to_owned))
}
