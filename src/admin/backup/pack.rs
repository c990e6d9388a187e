//! Writes a backup in one pass, each folder in a deterministic order.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::Path;

use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use super::Progress;
use super::key::{BackupKey, LENGTH};
use super::manifest::{BackupEntry, BackupEntryKind, FORM, Manifest, NAME, SEAL, Seal, stays_inside};
use crate::time::Timestamp;
use crate::wording::upkeep::{self as says, LeftOut};

/// Upper limit of entries: no knowledge tree has more.
pub const MAX_ENTRIES: usize = 500_000;
/// Maximum folder depth, far beyond any tree that a person keeps.
const MAX_DEPTH: usize = 64;

/// A backup being written.
pub struct Packer<'a, W: Write> {
    tar: tar::Builder<GzEncoder<W>>,
    entries: Vec<BackupEntry>,
    left_out: Vec<(String, LeftOut)>,
    done: u64,
    progress: Progress<'a>,
    key: &'a BackupKey,
}

/// A writer whose data can be synced to the disk.
pub trait Durable: Write {
    /// Writes everything to the disk before it returns.
    ///
    /// # Errors
    /// If the data cannot be synced.
    fn sync(&mut self) -> io::Result<()>;
}

impl Durable for io::BufWriter<File> {
    fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.get_ref().sync_all()
    }
}

impl<'a, W: Durable> Packer<'a, W> {
    /// Starts an empty backup.
    pub fn new(to: W, key: &'a BackupKey, progress: Progress<'a>) -> Self {
        let tar = tar::Builder::new(GzEncoder::new(to, Compression::default()));
        Self { tar, entries: Vec::new(), left_out: Vec::new(), done: 0, progress, key }
    }

    /// The entries so far.
    pub fn entries(&self) -> &[BackupEntry] {
        &self.entries
    }

    /// Adds a file with its current length. The backup key is left out, regardless of its path.
    ///
    /// # Errors
    /// If the file cannot be read or becomes shorter meanwhile, or the backup cannot be written.
    pub fn file(&mut self, name: &str, file: &mut File) -> anyhow::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let found = file.metadata()?;
        if self.is_key(file, found.len())? {
            self.leave_out(name, LeftOut::Key);
            return Ok(());
        }
        let executable = found.permissions().mode() & 0o100;
        let mut header = header(tar::EntryType::Regular, found.len(), 0o600 | executable);
        header.set_mtime(
            found
                .modified()
                .ok()
                .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok())
                .map_or(0, |at| at.as_secs()),
        );
        let mut read = Measured { from: file.take(found.len()), hash: Sha256::new(), length: 0 };
        self.tar.append_data(&mut header, name, &mut read).with_context(|| format!("Cannot copy {name}"))?;
        anyhow::ensure!(read.length == found.len(), "{name} became shorter while it was copied; try again");
        let (length, digest) = (read.length, hex::encode(read.hash.finalize()));
        self.enter(name, BackupEntryKind::File, length, digest, executable != 0)?;
        self.done = self.done.saturating_add(length);
        (self.progress)(says::COPYING, self.done);
        Ok(())
    }

    /// Adds a folder; its contents follow.
    ///
    /// # Errors
    /// If the backup cannot be written.
    pub fn folder(&mut self, name: &str) -> anyhow::Result<()> {
        let mut header = header(tar::EntryType::Directory, 0, 0o700);
        self.tar.append_data(&mut header, name, io::empty())?;
        self.enter(name, BackupEntryKind::Folder, 0, String::new(), false)
    }

    /// Adds a link as it is.
    ///
    /// # Errors
    /// If the backup cannot be written.
    pub fn link(&mut self, name: &str, target: &str) -> anyhow::Result<()> {
        let mut header = header(tar::EntryType::Symlink, 0, 0o777);
        self.tar.append_link(&mut header, name, target)?;
        self.enter(name, BackupEntryKind::Link, 0, target.to_owned(), false)
    }

    /// Records an item as left out.
    pub fn leave_out(&mut self, name: &str, why: LeftOut) {
        self.left_out.push((name.to_owned(), why));
    }

    fn is_key(&self, file: &mut File, length: u64) -> anyhow::Result<bool> {
        if length != LENGTH as u64 {
            return Ok(false);
        }
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        file.rewind()?;
        Ok(self.key.is(&bytes))
    }

    /// Adds the manifest and its authentication, and syncs everything to the disk.
    ///
    /// # Errors
    /// If the backup cannot be written.
    pub fn finish(mut self, journal: u32, now: Timestamp) -> anyhow::Result<Manifest> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let (entries, left_out) = (self.entries, self.left_out);
        let manifest = Manifest { form: FORM, version, journal, made_at: now, entries, left_out };
        let bytes = serde_json::to_vec(&manifest)?;
        let seal = Seal { key: self.key.id()?, hmac_sha256: self.key.authenticate(&bytes)? };
        for (name, bytes) in [(NAME, bytes), (SEAL, serde_json::to_vec(&seal)?)] {
            let mut header = header(tar::EntryType::Regular, u64::try_from(bytes.len())?, 0o600);
            self.tar.append_data(&mut header, name, bytes.as_slice())?;
        }
        self.tar.into_inner()?.finish()?.sync()?;
        Ok(manifest)
    }

    fn enter(
        &mut self,
        path: &str,
        kind: BackupEntryKind,
        size: u64,
        digest: String,
        executable: bool,
    ) -> anyhow::Result<()> {
        anyhow::ensure!(self.entries.len() < MAX_ENTRIES, "There are more than {MAX_ENTRIES} files");
        self.entries.push(BackupEntry { path: path.to_owned(), kind, size, digest, executable });
        Ok(())
    }
}

/// A header without owner and times, which mean nothing on the computer of a restore.
fn header(kind: tar::EntryType, size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header
}

/// A reader that counts and hashes its data.
struct Measured<R> {
    from: R,
    hash: Sha256,
    length: u64,
}

impl<R: Read> Read for Measured<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.hash.update(into.get(..count).unwrap_or_default());
        self.length = self.length.saturating_add(u64::try_from(count).unwrap_or(0));
        Ok(count)
    }
}

/// Adds a folder under `name`, or nothing if it does not exist. A folder that is itself a link is
/// followed.
///
/// # Errors
/// If something cannot be read, or the backup cannot be written.
pub fn pack_folder(packer: &mut Packer<'_, impl Durable>, name: &str, folder: &Path) -> anyhow::Result<()> {
    match folder.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        found => pack_tree(packer, name, &found.with_context(|| format!("Cannot read {}", folder.display()))?, 0),
    }
}

fn pack_tree(packer: &mut Packer<'_, impl Durable>, name: &str, folder: &Path, depth: usize) -> anyhow::Result<()> {
    anyhow::ensure!(depth < MAX_DEPTH, "{name} lies in more than {MAX_DEPTH} folders");
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
        pack_item(packer, &format!("{name}/{plain}"), &entry.path(), depth)?;
    }
    Ok(())
}

fn pack_item(packer: &mut Packer<'_, impl Durable>, name: &str, path: &Path, depth: usize) -> anyhow::Result<()> {
    let kind = match path.symlink_metadata() {
        // The file existed a moment ago, so it was deleted on purpose.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.with_context(|| format!("Cannot read {}", path.display()))?.file_type(),
    };
    if kind.is_dir() {
        return pack_tree(packer, name, path, depth.saturating_add(1));
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
    match open_plain(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        opened => packer.file(name, &mut opened.with_context(|| format!("Cannot read {}", path.display()))?),
    }
}

/// Opens a file, refusing a link that replaced it meanwhile, and without blocking on a pipe.
fn open_plain(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for the given number of bytes.
    struct Small(usize);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Durable for Small {
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_while_packing_is_an_error_at_any_point() {
        let folder = tempfile::tempdir().unwrap();
        let noise: Vec<u8> = (0..1250_u32).flat_map(|at| Sha256::digest(at.to_le_bytes())).collect();
        std::fs::write(folder.path().join("a"), &noise).unwrap();
        let (key, _) = BackupKey::load_or_make(&crate::config::Home::at(folder.path())).unwrap();
        let pack = |room: usize| {
            let mut quiet = |_: &'static str, _: u64| {};
            let mut packer = Packer::new(Small(room), &key, &mut quiet);
            packer.folder("workspace")?;
            packer.file("workspace/a", &mut File::open(folder.path().join("a"))?)?;
            packer.finish(4, Timestamp(0))
        };
        assert_eq!(pack(1 << 20).unwrap().entries.len(), 2);
        for room in [0, 9, 500, 20_000, 40_000] {
            assert!(pack(room).is_err(), "with room for {room} bytes");
        }
    }
}
