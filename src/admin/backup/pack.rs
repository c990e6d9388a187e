//! Writing a backup, in one go from its first to its last byte.

use std::fs::File;
use std::io::{self, Read, Write};

use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use super::Progress;
use super::manifest::{Entry, FORM, Kind, Manifest, NAME};
use crate::time::Moment;
use crate::wording::upkeep::{self as says, LeftOut};

/// More things than this are no knowledge tree.
pub const MOST_ENTRIES: usize = 500_000;

/// A backup that is being written.
pub struct Packer<'a, W: Write> {
    tar: tar::Builder<GzEncoder<W>>,
    entries: Vec<Entry>,
    left_out: Vec<(String, LeftOut)>,
    done: u64,
    progress: Progress<'a>,
}

/// What can be made safe on a disk.
pub trait Durable: Write {
    /// Everything that was written is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be.
    fn sync(&mut self) -> io::Result<()>;
}

impl Durable for io::BufWriter<File> {
    fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.get_ref().sync_all()
    }
}

impl<'a, W: Durable> Packer<'a, W> {
    /// A backup without anything in it.
    pub fn new(to: W, progress: Progress<'a>) -> Self {
        let tar = tar::Builder::new(GzEncoder::new(to, Compression::default()));
        Self { tar, entries: Vec::new(), left_out: Vec::new(), done: 0, progress }
    }

    /// What is in it so far.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Puts a file in, as long as it is now.
    ///
    /// # Errors
    /// If it cannot be read or the backup not written, or the file becomes shorter meanwhile.
    pub fn file(&mut self, name: &str, file: &mut File) -> anyhow::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let found = file.metadata()?;
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
        let (length, hash) = (read.length, read.hash.finalize());
        let digest = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        self.entered(Entry { path: name.to_owned(), kind: Kind::File, size: length, digest })?;
        self.done = self.done.saturating_add(length);
        (self.progress)(says::COPYING, self.done);
        Ok(())
    }

    /// Puts a folder in; what is in it comes later.
    ///
    /// # Errors
    /// If the backup cannot be written.
    pub fn folder(&mut self, name: &str) -> anyhow::Result<()> {
        let mut header = header(tar::EntryType::Directory, 0, 0o700);
        self.tar.append_data(&mut header, name, io::empty())?;
        self.entered(Entry { path: name.to_owned(), kind: Kind::Folder, size: 0, digest: String::new() })
    }

    /// Puts a link in, as it is.
    ///
    /// # Errors
    /// If the backup cannot be written.
    pub fn link(&mut self, name: &str, target: &str) -> anyhow::Result<()> {
        let mut header = header(tar::EntryType::Symlink, 0, 0o777);
        self.tar.append_link(&mut header, name, target)?;
        self.entered(Entry { path: name.to_owned(), kind: Kind::Link, size: 0, digest: target.to_owned() })
    }

    /// Something is not put in.
    pub fn leave_out(&mut self, name: &str, why: LeftOut) {
        self.left_out.push((name.to_owned(), why));
    }

    /// Puts the manifest in and makes everything safe.
    ///
    /// # Errors
    /// If the backup cannot be written.
    pub fn finish(mut self, journal: u32, now: Moment) -> anyhow::Result<Manifest> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let (entries, left_out) = (self.entries, self.left_out);
        let manifest = Manifest { form: FORM, version, journal, made_at: now, entries, left_out };
        let bytes = serde_json::to_vec(&manifest)?;
        let mut header = header(tar::EntryType::Regular, u64::try_from(bytes.len())?, 0o600);
        self.tar.append_data(&mut header, NAME, bytes.as_slice())?;
        self.tar.into_inner()?.finish()?.sync()?;
        Ok(manifest)
    }

    fn entered(&mut self, entry: Entry) -> anyhow::Result<()> {
        anyhow::ensure!(self.entries.len() < MOST_ENTRIES, "There are more than {MOST_ENTRIES} files");
        self.entries.push(entry);
        Ok(())
    }
}

/// Owner and times of this computer mean nothing where a backup is restored.
fn header(kind: tar::EntryType, size: u64, mode: u32) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(mode);
    header
}

/// Counts and hashes what is read through it.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for so many bytes.
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
    fn a_full_disk_is_an_error_wherever_it_fills_up() {
        let folder = tempfile::tempdir().unwrap();
        let noise: Vec<u8> = (0..1250_u32).flat_map(|at| Sha256::digest(at.to_le_bytes())).collect();
        std::fs::write(folder.path().join("a"), &noise).unwrap();
        let pack = |room: usize| {
            let mut quiet = |_: &'static str, _: u64| {};
            let mut packer = Packer::new(Small(room), &mut quiet);
            packer.folder("workspace")?;
            packer.file("workspace/a", &mut File::open(folder.path().join("a"))?)?;
            packer.finish(4, Moment(0))
        };
        assert_eq!(pack(1 << 20).unwrap().entries.len(), 2);
        for room in [0, 9, 500, 20_000, 40_000] {
            assert!(pack(room).is_err(), "with room for {room} bytes");
        }
    }
}
