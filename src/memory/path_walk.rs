//! Path resolution. Each part of a path is opened separately, relative to the open handle of its
//! folder, and no system call follows a link.
//!
//! So the file that is found is the file that is used: replacing a folder or file by a link affects
//! the next walk, not a finished one. Links are followed here, part by part, as long as they stay
//! inside; a link with an absolute target is resolved against the root that it names. The resulting
//! path is the one under which the journal knows the file, regardless of links along the path and
//! of the spelling of its name.
//!
//! On some filesystems one file answers to many names: case is ignored, an accent may be composed
//! or decomposed, invisible characters are skipped, a long name has a short form. The journal knows
//! a file by one name, and the label of its content depends on that; so for any requested name the
//! name in the folder listing counts. That means reading the folder, which is unnecessary on almost
//! every filesystem: if variants of the name lead to nothing, or to something else, the requested
//! name is the only one.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization;

use super::layout;

/// Maximum number of links on one path; more are treated as a cycle.
const MOST_LINKS: usize = 40;
const LEADS_OUT: &str = "A link leads out of the workspace";

#[derive(Debug, Clone)]
pub(super) struct OpenFolder {
    /// Handle of the folder.
    pub fd: Arc<OwnedFd>,
    /// Real path relative to the root; empty for the root itself.
    pub real_path: String,
}

/// Result of a walk: a name in an open folder.
#[derive(Debug, Clone)]
pub(super) struct ResolvedPath {
    pub folder: OpenFolder,
    /// Name in the folder: empty for the folder itself, a path if intermediate folders do not
    /// exist.
    pub name: String,
    /// File type.
    pub kind: PathType,
}

/// Type of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathType {
    /// No entry.
    Nothing,
    /// A regular file.
    File,
    Folder,
    /// A pipe, a device, or another type that is never opened.
    Other,
}

/// Behaviour when a folder does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    /// Fail the walk.
    Fail,
    /// Create the folder.
    Create,
}

impl ResolvedPath {
    /// Returns the real path relative to the root.
    pub(super) fn real_path(&self) -> String {
        if self.name.is_empty() {
            self.folder.real_path.clone()
        } else {
            layout::within(&self.folder.real_path, &self.name)
        }
    }
}

/// Resolves a path below `root` with that lookup of names. With [`Absent::Create`] its last part is
/// a folder too.
pub(super) fn walk(root: &Path, lookup: Lookup, path: &str, absent: Absent) -> anyhow::Result<ResolvedPath> {
    Walker::new(root, lookup)?.begin(Vec::new(), path, absent).run()
}

/// Resolves several paths. The folder of the last one stays open for the next.
pub(super) struct Walker<'r> {
    root: &'r Path,
    lookup: Lookup,
    base: Arc<OwnedFd>,
    last: Option<(String, FolderStack)>,
}

impl<'r> Walker<'r> {
    pub(super) fn new(root: &'r Path, lookup: Lookup) -> anyhow::Result<Self> {
        let base = rustix::fs::openat(CWD, root, FOLDER.difference(OFlags::NOFOLLOW), Mode::empty());
        Ok(Self { root, lookup, base: Arc::new(base.map_err(io::Error::from)?), last: None })
    }

    /// Resolves a path, as [`walk`] does with [`Absent::Fail`].
    pub(super) fn walk(&mut self, path: &str) -> anyhow::Result<ResolvedPath> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if self.last.as_ref().is_none_or(|(last, _)| last != folder) {
            let mut walk = self.begin(Vec::new(), folder, Absent::Fail);
            let is_folder = walk.run()?.kind == PathType::Folder;
            self.last = is_folder.then(|| (folder.to_owned(), walk.stack));
        }
        match &self.last {
            Some((_, stack)) => self.begin(stack.clone(), name, Absent::Fail).run(),
            None => self.begin(Vec::new(), path, Absent::Fail).run(),
        }
    }

    fn begin(&self, stack: FolderStack, path: &str, absent: Absent) -> PathWalk<'r> {
        let rest = path.split('/').rev().map(str::to_owned).collect();
        let base = Arc::clone(&self.base);
        PathWalk { root: self.root, lookup: self.lookup, base, stack, rest, links: 0, absent }
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Names and handles of open folders, each inside the one before; the first is inside the root.
type FolderStack = Vec<(String, Arc<OwnedFd>)>;

struct PathWalk<'r> {
    root: &'r Path,
    lookup: Lookup,
    base: Arc<OwnedFd>,
    stack: FolderStack,
    /// Parts still to be resolved, in reverse order.
    rest: Vec<String>,
    links: usize,
    absent: Absent,
}

impl PathWalk<'_> {
    fn run(&mut self) -> anyhow::Result<ResolvedPath> {
        while let Some(part) = self.rest.pop() {
            match part.as_str() {
                "" | "." => {}
                ".." => drop(self.stack.pop().context(LEADS_OUT)?),
                name => {
                    if let Some((name, kind)) = self.step(name)? {
                        return Ok(ResolvedPath { folder: self.here(), name: self.to_the_end(name), kind });
                    }
                }
            }
        }
        Ok(ResolvedPath { folder: self.here(), name: String::new(), kind: PathType::Folder })
    }

    /// Resolves one part. Returns its canonical name and type if it ends the walk and is not a
    /// folder.
    fn step(&mut self, name: &str) -> anyhow::Result<Option<(String, PathType)>> {
        let here = self.here();
        let is_last = self.rest.iter().all(String::is_empty);
        let found = match (self.lookup)(&here.fd, name) {
            Err(Errno::NOENT) if self.absent == Absent::Create => return self.make(&here, name).map(|()| None),
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
        let path = match Path::new(target).is_absolute() {
            false => target.to_owned(),
            true => {
                self.stack.clear();
                below(self.root, Path::new(target)).context(LEADS_OUT)?
            }
        };
        self.rest.extend(path.split('/').rev().map(str::to_owned));
        Ok(())
    }

    fn here(&self) -> OpenFolder {
        let names: Vec<&str> = self.stack.iter().map(|(name, _)| name.as_str()).collect();
        let fd = self.stack.last().map_or(&self.base, |(_, fd)| fd);
        OpenFolder { fd: Arc::clone(fd), real_path: names.join("/") }
    }
}

/// Converts an absolute path to one below the root, under either name of the root.
fn below(root: &Path, target: &Path) -> Option<String> {
    let real = root.canonicalize().ok()?;
    let plain = [root, real.as_path()].into_iter().find_map(|root| target.strip_prefix(root).ok());
    let path = plain.map(Path::to_owned).or_else(|| deepest(target, &real))?;
    path.to_str().map(str::to_owned)
}

/// Variant of [`below`] for targets that name folders above the root by links.
fn deepest(target: &Path, real: &Path) -> Option<PathBuf> {
    let names_up = target.components().any(|part| part == Component::ParentDir);
    let mut above = target.ancestors().skip(1);
    (!names_up)
        .then(|| above.find(|above| above.canonicalize().is_ok_and(|above| above == real)))?
        .and_then(|above| target.strip_prefix(above).ok().map(Path::to_owned))
}

/// Name lookup in a folder. Tests substitute a less exact filesystem.
pub(super) type Lookup = fn(&OwnedFd, &str) -> rustix::io::Result<Stat>;

/// Looks a name up with the system call. Does not follow links.
pub(super) fn lookup(folder: &OwnedFd, name: &str) -> rustix::io::Result<Stat> {
    rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Returns the name that the folder lists for what was `found` under `name`.
pub(super) fn own_name(folder: &OwnedFd, name: &str, found: &Stat, lookup: Lookup) -> anyhow::Result<String> {
    if tells_apart(folder, name, found, lookup) {
        return Ok(name.to_owned());
    }
    let names = names_in(folder)?;
    if names.iter().any(|entry| entry == name) {
        return Ok(name.to_owned());
    }
    let is_it = |entry: &String| lookup(folder, entry).is_ok_and(|entry| is_same(&entry, found));
    names.into_iter().find(is_it).context("A name is spelt otherwise in its folder")
}

/// Returns true if certainly no other spelling of the name leads to the same file.
fn tells_apart(folder: &OwnedFd, name: &str, found: &Stat, lookup: Lookup) -> bool {
    let swap_case = |c: char| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    let case: String = name.chars().map(swap_case).collect();
    let form = [name.nfc().collect(), name.nfd().collect()].into_iter().find(|other: &String| other != name);
    let leads_elsewhere = |other: &String| match lookup(folder, other) {
        Ok(other) => !is_same(&other, found),
        Err(error) => error == Errno::NOENT,
    };
    layout::is_usual(name) && case != name && leads_elsewhere(&case) && form.iter().all(leads_elsewhere)
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

/// Returns all names in a folder that are UTF-8.
fn names_in(folder: &OwnedFd) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        names.extend(entry?.file_name().to_str().ok().map(str::to_owned));
    }
    Ok(names)
}

/// Simulates a filesystem that ignores case, normal forms and invisible characters.
#[cfg(test)]
pub(super) fn lenient_lookup(folder: &OwnedFd, name: &str) -> rustix::io::Result<Stat> {
    let plain = |name: &str| -> String {
        let seen: String = name.nfd().filter(|c| !crate::skill::name::is_hidden(*c)).collect();
        seen.to_uppercase().to_lowercase()
    };
    let names = names_in(folder).unwrap();
    let entry = names.iter().find(|entry| plain(entry) == plain(name)).ok_or(Errno::NOENT)?;
    lookup(folder, entry)
}

/// Simulates a filesystem that respects case but ignores normal forms.
#[cfg(test)]
pub(super) fn formless_lookup(folder: &OwnedFd, name: &str) -> rustix::io::Result<Stat> {
    let names = names_in(folder).unwrap();
    lookup(folder, names.iter().find(|entry| entry.nfd().eq(name.nfd())).ok_or(Errno::NOENT)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> (tempfile::TempDir, OwnedFd) {
        let dir = tempfile::tempdir().unwrap();
        names.iter().for_each(|name| std::fs::write(dir.path().join(name), name).unwrap());
        let fd = rustix::fs::openat(CWD, dir.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        (dir, fd)
    }

    fn spelt(fd: &OwnedFd, name: &str, lookup: Lookup) -> Option<String> {
        let found = lookup(fd, name).ok()?;
        Some(own_name(fd, name, &found, lookup).unwrap())
    }

    /// Proves: trust/file-origin
    #[test]
    fn a_path_lookup_returns_the_name_as_spelt_in_the_folder() {
        let names = ["tea.md", "Caf\u{e9}.md", "2026", "\u{6771}\u{4eac}", "sho\u{ad}rt.md"];
        let (_dir, fd) = folder(&names);
        for lookup in [lookup as Lookup, lenient_lookup, formless_lookup] {
            for name in names {
                assert_eq!(spelt(&fd, name, lookup).as_deref(), Some(name));
            }
            assert_eq!(spelt(&fd, "coffee.md", lookup), None);
        }
        for (asked, name) in [
            ("TEA.md", "tea.md"),
            ("te\u{200b}a.md", "tea.md"),
            ("caf\u{e9}.MD", "Caf\u{e9}.md"),
            ("Cafe\u{301}.md", "Caf\u{e9}.md"),
            ("short.md", "sho\u{ad}rt.md"),
            ("20\u{ad}26", "2026"),
        ] {
            assert_eq!(spelt(&fd, asked, lenient_lookup).as_deref(), Some(name), "{asked}");
            assert_eq!(spelt(&fd, asked, lookup), None, "{asked}");
        }
        assert_eq!(spelt(&fd, "Cafe\u{301}.md", formless_lookup).as_deref(), Some("Caf\u{e9}.md"));
    }

    #[test]
    fn a_path_after_others_leads_where_it_does_alone() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join("root").join(path);
        for folder in ["a/b", "c"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["note.md", "a/note.md", "a/b/note.md", "c/note.md", "c/other.md"] {
            std::fs::write(at(file), file).unwrap();
        }
        std::os::unix::fs::symlink("../c/other.md", at("a/link.md")).unwrap();
        std::os::unix::fs::symlink("../../c", at("a/b/links")).unwrap();
        std::os::unix::fs::symlink("../../outside", at("c/out")).unwrap();
        let names = ["note.md", "other.md", "link.md", "missing.md", "links", "out"];
        let folders = ["", "a/", "a/b/", "a/b/links/", "c/", "c/out/", "missing/", "note.md/"];
        let paths = || folders.iter().flat_map(|folder| names.map(|name| format!("{folder}{name}")));
        let root = dir.path().join("root");
        let mut walker = Walker::new(&root, lookup).unwrap();
        let told = |found: anyhow::Result<ResolvedPath>| {
            found.map(|found| (found.real_path(), found.kind)).map_err(|error| error.to_string())
        };
        for path in paths().chain(paths().rev()) {
            assert_eq!(told(walker.walk(&path)), told(walk(&root, lookup, &path, Absent::Fail)), "{path}");
        }
        assert_eq!(told(walker.walk("a/link.md")), Ok(("c/other.md".to_owned(), PathType::File)));
    }

    #[test]
    fn two_names_that_a_person_gave_one_file_stay_two() {
        let (dir, fd) = folder(&["tea.md"]);
        std::fs::hard_link(dir.path().join("tea.md"), dir.path().join("TEA.MD")).unwrap();
        for name in ["tea.md", "TEA.MD"] {
            assert_eq!(spelt(&fd, name, lookup).as_deref(), Some(name));
        }
    }
}
