//! File operations below the workspace root: finding, reading, creating folders and placing files.
//!
//! Links are followed only if they stay inside. The real location counts, and every operation runs
//! in the folder that was found and is held open ([`super::path_walk`]). A new file gets its name
//! only once it is complete and synced. Where the filesystem can exchange two files, the old one is
//! compared after it was swapped out, so a save by a person at the last moment is noticed and put
//! back; elsewhere it is compared right before. All of this blocks.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::ensure;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::path_walk::{self, Absent, Lookup, OpenFolder, PathType, ResolvedPath, Walker, walk};
use super::{layout, page};
use crate::time::Timestamp;

#[derive(Debug, Clone)]
pub(super) struct Disk {
    root: PathBuf,
    /// Simulates a filesystem with only the plain rename.
    plain: bool,
    lookup: Lookup,
}

/// Behaviour if the target exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    Keep,
    Replace,
}

/// A file or subfolder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FolderEntry {
    pub name: String,
    /// True for a folder.
    pub folder: bool,
    /// Size in bytes; 0 for a folder.
    pub size: u64,
    /// Time of the last modification.
    pub at: Timestamp,
}

/// Result of replacing one content by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplaceOutcome {
    /// The new content is in place.
    Done,
    /// The old content was not the expected one, and is still there.
    Changed,
}

/// Result of deleting a received file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoveOutcome {
    /// The file does not exist any more.
    Removed,
    /// The file was replaced by another one, which stays.
    Changed,
}

impl Disk {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, plain: false, lookup: path_walk::lookup }
    }

    /// Simulates a filesystem with only the plain rename.
    #[cfg(test)]
    pub(super) fn plain(root: PathBuf) -> Self {
        Self { plain: true, ..Self::new(root) }
    }

    /// Simulates a filesystem that treats many spellings of a name as equal.
    #[cfg(test)]
    pub(super) fn lenient(root: PathBuf) -> Self {
        Self { lookup: path_walk::lenient_lookup, ..Self::new(root) }
    }

    /// Returns the root as configured, for messages.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Joins the path to the root without resolving links. Only for detecting changes.
    pub(super) fn unchecked(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Resolves a path, which need not exist.
    pub(super) fn seek(&self, path: &str) -> anyhow::Result<ResolvedPath> {
        ensure!(layout::is_plain(path), "The path is not a plain one");
        walk(&self.root, self.lookup, path, Absent::Fail)
    }

    /// Resolves a path that must exist.
    pub(super) fn find(&self, path: &str) -> anyhow::Result<ResolvedPath> {
        existing(self.seek(path)?)
    }

    /// Returns what [`Self::find`] does, for several paths one after the other: the folder of the
    /// last one stays open for the next.
    pub(super) fn finder(&self) -> anyhow::Result<impl FnMut(&str) -> anyhow::Result<ResolvedPath>> {
        let mut walker = Walker::new(&self.root, self.lookup)?;
        Ok(move |path: &str| {
            ensure!(layout::is_plain(path), "The path is not a plain one");
            existing(walker.walk(path)?)
        })
    }

    /// Returns the real location of a path, which need not exist.
    pub(super) fn real(&self, path: &str) -> anyhow::Result<String> {
        if is_there(&self.root) { Ok(self.seek(path)?.real_path()) } else { Ok(path.to_owned()) }
    }

    /// Resolves a path and reads up to `max` bytes. The bytes are `None` if nothing exists there.
    pub(super) fn read_if_exists(&self, path: &str, max: u64) -> anyhow::Result<(String, Option<Vec<u8>>)> {
        if !is_there(&self.root) {
            return Ok((path.to_owned(), None));
        }
        let reached = self.seek(path)?;
        let bytes = match reached.kind {
            PathType::Nothing => None,
            _ => Some(read_up_to(open(&reached)?, max)?),
        };
        Ok((reached.real_path(), bytes))
    }

    /// Lists the files and subfolders of a folder by name; empty if the folder does not exist.
    /// Leaves out links and names that are not UTF-8.
    pub(super) fn list(&self, path: &str) -> anyhow::Result<Vec<FolderEntry>> {
        Ok(self.list_after(path, "", usize::MAX, |_| true)?.0)
    }

    /// Like [`Self::list`], at most `limit` of those that `is_listed` accepts, from the first name
    /// after `after` on. Also returns the last name if there are more.
    pub(super) fn list_after(
        &self,
        path: &str,
        after: &str,
        limit: usize,
        is_listed: impl Fn(&str) -> bool,
    ) -> anyhow::Result<(Vec<FolderEntry>, Option<String>)> {
        let Some(folder) = self.existing_folder(path)? else { return Ok((Vec::new(), None)) };
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder.fd).map_err(io::Error::from)? {
            let entry = entry.map_err(io::Error::from)?;
            let name = entry.file_name().to_str().ok().filter(|name| !matches!(*name, "." | ".."));
            names.extend(name.filter(|name| *name > after && is_listed(name)).map(str::to_owned));
        }
        names.sort();
        let mut entries = names.iter().filter_map(|name| entry_at(&folder, name));
        let page: Vec<FolderEntry> = entries.by_ref().take(limit).collect();
        let last = page.last().map(|entry| entry.name.clone());
        let next = last.filter(|_| entries.next().is_some());
        Ok((page, next))
    }

    /// Returns the names of the files in a folder, in any order and without a look at each; none if
    /// the folder does not exist. Leaves out links and names that are not UTF-8.
    pub(super) fn file_names(&self, path: &str) -> anyhow::Result<Vec<String>> {
        let Some(folder) = self.existing_folder(path)? else { return Ok(Vec::new()) };
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder.fd).map_err(io::Error::from)? {
            let entry = entry.map_err(io::Error::from)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            let is_file = match entry.file_type() {
                FileType::RegularFile => true,
                // Some filesystems do not tell.
                FileType::Unknown => entry_at(&folder, name).is_some_and(|entry| !entry.folder),
                _ => false,
            };
            names.extend(is_file.then(|| name.to_owned()));
        }
        Ok(names)
    }

    /// Opens the folder at that path; `None` if there is none.
    fn existing_folder(&self, path: &str) -> anyhow::Result<Option<OpenFolder>> {
        ensure!(path.is_empty() || layout::is_plain(path), "The path is not a plain one");
        let found = is_there(&self.root).then(|| walk(&self.root, self.lookup, path, Absent::Fail)).transpose()?;
        Ok(found.filter(|found| found.kind == PathType::Folder).map(|found| found.folder))
    }

    /// Opens the folder at that path and creates it if necessary. An empty path is the root.
    pub(super) fn folder(&self, path: &str) -> anyhow::Result<OpenFolder> {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.root)?;
        ensure!(path.is_empty() || layout::is_plain(path), "The path is not a plain one");
        let reached = walk(&self.root, self.lookup, path, Absent::Create)?;
        ensure!(reached.kind == PathType::Folder, "{path} is not a folder");
        Ok(reached.folder)
    }

    /// Deletes the file at exactly that path if `ours` accepts its bytes. A link, or a file behind
    /// a link that leads out, is not deleted.
    pub(super) fn remove(&self, path: &str, max: u64, ours: impl Fn(&[u8]) -> bool) -> anyhow::Result<RemoveOutcome> {
        ensure!(layout::is_plain(path), "The path is not a plain one");
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = match walk(&self.root, self.lookup, folder, Absent::Fail) {
            Err(error) if is_missing(&error) => return Ok(RemoveOutcome::Removed),
            found => found?,
        };
        match folder.kind {
            PathType::Nothing => return Ok(RemoveOutcome::Removed),
            PathType::Folder => {}
            _ => anyhow::bail!("The folder is none"),
        }
        let folder = folder.folder;
        ensure!(layout::is_inbox(&folder.real_path), "The folder leads elsewhere");
        match read_at(&folder.fd, name, max) {
            Ok(Some(bytes)) if ours(&bytes) => {}
            Ok(None) => return Ok(RemoveOutcome::Removed),
            _ => return Ok(RemoveOutcome::Changed),
        }
        unlink(&folder.fd, name)?;
        sync(&folder)?;
        Ok(RemoveOutcome::Removed)
    }

    /// Reads a file of at most `max` bytes.
    pub(super) fn read(&self, path: &str, max: u64) -> anyhow::Result<Vec<u8>> {
        read_up_to(open(&self.find(path)?)?, max)
    }

    /// Replaces the content with digest `base` by `new`. An empty `base` or a `None` stands for no
    /// file.
    pub(super) fn swap(
        &self,
        folder: &OpenFolder,
        name: &str,
        base: &str,
        new: Option<&[u8]>,
    ) -> anyhow::Result<ReplaceOutcome> {
        let temp_name = format!(".{name}.new");
        let placed = match new {
            Some(bytes) => {
                prepare(folder, name, bytes)?;
                self.swap_in(folder, name, &temp_name, base, bytes)
            }
            None => self.swap_out(folder, name, &temp_name, base),
        };
        sync(folder)?;
        placed
    }

    fn swap_in(
        &self,
        folder: &OpenFolder,
        name: &str,
        temp_name: &str,
        base: &str,
        bytes: &[u8],
    ) -> anyhow::Result<ReplaceOutcome> {
        if base.is_empty() {
            return self.name_new(folder, temp_name, name);
        }
        match self.rename_with(folder, temp_name, name, RenameFlags::EXCHANGE) {
            Err(Errno::NOENT) => {
                unlink(&folder.fd, temp_name)?;
                return Ok(ReplaceOutcome::Changed);
            }
            Err(error) if is_unsupported(error) => {
                return self.swap_plainly(folder, name, temp_name, base);
            }
            exchanged => exchanged.map_err(io::Error::from)?,
        }
        if digest_at(folder, temp_name) == base {
            unlink(&folder.fd, temp_name)?;
            return Ok(ReplaceOutcome::Done);
        }
        self.put_back(folder, name, temp_name, &page::digest(bytes))
    }

    /// Restores the file of a person who saved at the same moment.
    fn put_back(&self, folder: &OpenFolder, name: &str, temp_name: &str, ours: &str) -> anyhow::Result<ReplaceOutcome> {
        self.rename_with(folder, temp_name, name, RenameFlags::EXCHANGE).map_err(io::Error::from)?;
        if digest_at(folder, temp_name) == ours {
            unlink(&folder.fd, temp_name)?;
        } else {
            // The person has saved again since, in place of our file. The later save stays; the
            // earlier one is recovered from the temporary file.
            self.rename_with(folder, temp_name, name, RenameFlags::EXCHANGE).map_err(io::Error::from)?;
        }
        Ok(ReplaceOutcome::Changed)
    }

    fn swap_out(&self, folder: &OpenFolder, name: &str, temp_name: &str, base: &str) -> anyhow::Result<ReplaceOutcome> {
        match self.rename_with(folder, name, temp_name, RenameFlags::NOREPLACE) {
            Err(Errno::NOENT) => return Ok(ReplaceOutcome::Changed),
            Err(error) if is_unsupported(error) => {
                if digest_at(folder, name) != base {
                    return Ok(ReplaceOutcome::Changed);
                }
                unlink(&folder.fd, name)?;
                return Ok(ReplaceOutcome::Done);
            }
            moved => moved.map_err(io::Error::from)?,
        }
        if digest_at(folder, temp_name) == base {
            unlink(&folder.fd, temp_name)?;
            return Ok(ReplaceOutcome::Done);
        }
        // Moves the file back, unless a newer one has its name by now.
        let _ = self.rename_with(folder, temp_name, name, RenameFlags::NOREPLACE);
        Ok(ReplaceOutcome::Changed)
    }

    fn swap_plainly(
        &self,
        folder: &OpenFolder,
        name: &str,
        temp_name: &str,
        base: &str,
    ) -> anyhow::Result<ReplaceOutcome> {
        if digest_at(folder, name) != base {
            unlink(&folder.fd, temp_name)?;
            return Ok(ReplaceOutcome::Changed);
        }
        rustix::fs::renameat(&folder.fd, temp_name, &folder.fd, name).map_err(io::Error::from)?;
        Ok(ReplaceOutcome::Done)
    }

    /// Gives a new file its name, which must be free.
    fn name_new(&self, folder: &OpenFolder, temp_name: &str, name: &str) -> anyhow::Result<ReplaceOutcome> {
        let is_taken = match self.rename_with(folder, temp_name, name, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(ReplaceOutcome::Done),
            Err(Errno::EXIST) => true,
            Err(error) if is_unsupported(error) => exists(folder, name),
            Err(error) => return Err(io::Error::from(error).into()),
        };
        if is_taken {
            unlink(&folder.fd, temp_name)?;
            return Ok(ReplaceOutcome::Changed);
        }
        rustix::fs::renameat(&folder.fd, temp_name, &folder.fd, name).map_err(io::Error::from)?;
        Ok(ReplaceOutcome::Done)
    }

    /// Renames a file within its folder, to a name that must be free.
    pub(super) fn rename(&self, found: &ResolvedPath, to: &str) -> anyhow::Result<()> {
        let renamed = match self.rename_with(&found.folder, &found.name, to, RenameFlags::NOREPLACE) {
            Err(error) if is_unsupported(error) && !exists(&found.folder, to) => {
                rustix::fs::renameat(&found.folder.fd, &found.name, &found.folder.fd, to)
            }
            renamed => renamed,
        };
        renamed.map_err(io::Error::from)?;
        Ok(sync(&found.folder)?)
    }

    fn rename_with(&self, folder: &OpenFolder, from: &str, to: &str, flags: RenameFlags) -> Result<(), Errno> {
        if self.plain {
            return Err(Errno::INVAL);
        }
        rustix::fs::renameat_with(&folder.fd, from, &folder.fd, to, flags)
    }
}

/// Writes a whole file, atomically: a crash leaves the old file or the new one.
pub(super) fn put(folder: &OpenFolder, name: &str, bytes: &[u8], existing: Existing) -> anyhow::Result<()> {
    prepare(folder, name, bytes)?;
    let temp_name = format!(".{name}.new");
    let keeps_existing = existing == Existing::Keep && exists(folder, name);
    let result = match keeps_existing {
        true => unlink(&folder.fd, &temp_name),
        false => rustix::fs::renameat(&folder.fd, &temp_name, &folder.fd, name).map_err(io::Error::from),
    };
    if result.is_err() {
        // The leftover is removed next time; the first error counts.
        let _ = unlink(&folder.fd, &temp_name);
    }
    result?;
    Ok(sync(folder)?)
}

/// Returns a complete file that an interrupted change or a concurrent save left next to `name`. It
/// may be a person's work.
pub(super) fn left_over(folder: &OpenFolder, name: &str, max: u64) -> Option<Vec<u8>> {
    read_at(&folder.fd, &format!(".{name}.new"), max).ok().flatten()
}

/// Returns the file or subfolder of that name; `None` for anything else.
pub(super) fn entry_at(folder: &OpenFolder, name: &str) -> Option<FolderEntry> {
    let found = rustix::fs::statat(&folder.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let at = Timestamp(found.st_mtime * 1000 + i64::try_from(found.st_mtime_nsec).unwrap_or_default() / 1_000_000);
    let entry = |folder, size| Some(FolderEntry { name: name.to_owned(), folder, size, at });
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => entry(true, 0),
        FileType::RegularFile => entry(false, u64::try_from(found.st_size).unwrap_or_default()),
        _ => None,
    }
}

/// Opens a regular file. Opening a pipe would block, and opening a device can do worse.
pub(super) fn open(found: &ResolvedPath) -> anyhow::Result<File> {
    ensure!(found.kind == PathType::File, "It is not a file");
    open_at(&found.folder.fd, &found.name)
}

/// Reads a file of at most `max` bytes.
pub(super) fn read_up_to(file: File, max: u64) -> anyhow::Result<Vec<u8>> {
    // A file of a stated size is read in one piece.
    let size = usize::try_from(file.metadata()?.len().min(max))?;
    let mut bytes = Vec::with_capacity(size + 1);
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    ensure!(u64::try_from(bytes.len())? <= max, "It is larger than {max} bytes");
    Ok(bytes)
}

/// Returns true if the name exists, even as a dangling link.
pub(super) fn exists(folder: &OpenFolder, name: &str) -> bool {
    !matches!(rustix::fs::statat(&folder.fd, name, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT))
}

fn existing(reached: ResolvedPath) -> anyhow::Result<ResolvedPath> {
    match reached.kind {
        PathType::Nothing => Err(io::Error::from(ErrorKind::NotFound).into()),
        _ => Ok(reached),
    }
}

/// Returns true if the workspace exists.
fn is_there(root: &Path) -> bool {
    !matches!(root.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound)
}

/// Returns true if the error is `NotFound`.
pub(super) fn is_missing(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Writes and syncs a file under its temporary name, `.NAME.new`. Only complete files bear that
/// name.
fn prepare(folder: &OpenFolder, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let (part, temp_name) = (format!(".{name}.part"), format!(".{name}.new"));
    // A leftover of a crash. If it were a link, it would not be followed.
    unlink(&folder.fd, &part)?;
    let written = write_whole(&folder.fd, &part, bytes)
        .and_then(|()| Ok(rustix::fs::renameat(&folder.fd, &part, &folder.fd, &temp_name)?));
    if written.is_err() {
        // Frees the space; the first error counts.
        let _ = unlink(&folder.fd, &part);
    }
    Ok(written?)
}

fn write_whole(folder: &OwnedFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(bytes)?;
    file.sync_all()
}

/// Returns the digest of a file; empty if it is missing, not a file, or too large to be ours.
fn digest_at(folder: &OpenFolder, name: &str) -> String {
    let bytes = read_at(&folder.fd, name, layout::MAX_TEXT_FILE).ok().flatten();
    bytes.map(|bytes| page::digest(&bytes)).unwrap_or_default()
}

/// Returns the digest of a file of any size; `None` if it is missing, blank if it is not a file.
pub(super) fn content_at(folder: &OpenFolder, name: &str) -> anyhow::Result<Option<String>> {
    let mut file = match open_at(&folder.fd, name) {
        Err(error) if is_missing(&error) => return Ok(None),
        Err(_) if exists(folder, name) => return Ok(Some(String::new())),
        file => file?,
    };
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Some(hex::encode(digest.finalize()))),
            length => digest.update(buffer.get(..length).unwrap_or_default()),
        }
    }
}

fn read_at(folder: &OwnedFd, name: &str, max: u64) -> anyhow::Result<Option<Vec<u8>>> {
    match open_at(folder, name) {
        Err(error) if is_missing(&error) => Ok(None),
        file => read_up_to(file?, max).map(Some),
    }
}

/// Opens a regular file. `NONBLOCK`, because a pipe may have replaced it since the check.
fn open_at(folder: &OwnedFd, name: &str) -> anyhow::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(folder, name, flags, Mode::empty()).map_err(io::Error::from)?);
    ensure!(file.metadata()?.is_file(), "It is not a file");
    Ok(file)
}

fn unlink(folder: &OwnedFd, name: &str) -> io::Result<()> {
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(()),
        other => Ok(other?),
    }
}

fn sync(folder: &OpenFolder) -> io::Result<()> {
    Ok(rustix::fs::fsync(&folder.fd)?)
}

/// Returns true if the filesystem does not support the requested rename.
fn is_unsupported(error: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&error)
}

/// Returns a text that changes with the file. The time of the last status change also reveals a
/// write that resets the modification time.
pub(super) fn stamp(of: &Metadata) -> String {
    let (written, changed) = ((of.mtime(), of.mtime_nsec()), (of.ctime(), of.ctime_nsec()));
    format!("{}:{}:{}:{}.{}:{}.{}", of.dev(), of.ino(), of.len(), written.0, written.1, changed.0, changed.1)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::stamp;

    #[test]
    fn a_stamp_changes_with_the_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a.md");
        fs::write(&path, "one").unwrap();
        let first = stamp(&fs::metadata(&path).unwrap());
        assert_eq!(first, stamp(&fs::metadata(&path).unwrap()));
        fs::write(&path, "three").unwrap();
        assert_ne!(first, stamp(&fs::metadata(&path).unwrap()));
    }
}
