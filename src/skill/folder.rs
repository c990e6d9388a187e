//! A skill as files on disk: one folder with one digest over all of its files.
//!
//! A [`SkillFolder`] is a value: it is read, compared and written as a whole, so that the judged
//! content is always the used content. Links and other special files make a folder unreadable; they
//! could lead out of it. Files that editors and systems leave are no part of it. The digest covers every path and every byte, each with its length, so two
//! folders have the same digest only if they are identical.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::text::side_files::is_side_file;

/// The file that makes a folder a skill.
pub const MAIN: &str = "SKILL.md";

/// The maximum number of files in a skill.
pub const MOST_FILES: usize = 2_000;

/// The maximum total size of a skill's files in bytes.
pub const MOST_BYTES: u64 = 32 * 1024 * 1024;

/// SHA-256 in 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(String);

impl Digest {
    /// Returns the digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::finish(Sha256::new_with_prefix(bytes))
    }

    fn finish(hash: Sha256) -> Self {
        Self(hex::encode(hash.finalize()))
    }

    /// Parses a digest; `None` if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        plain.then(|| Self(text.to_owned()))
    }

    /// Returns all 64 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first 16 digits, which people see and are asked to type.
    pub fn short(&self) -> &str {
        crate::text::cut_bytes(&self.0, 16)
    }

    /// Returns whether a typed text means this digest: at least its first 8 digits, in either case,
    /// without a wrong one.
    pub fn is_meant_by(&self, typed: &str) -> bool {
        typed.len() >= 8 && self.0.starts_with(&typed.to_ascii_lowercase())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The reason why a folder cannot be read as a skill. The message goes to the owner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// An entry is neither a plain file nor a folder.
    #[error("{0} is a link or something else that is no plain file")]
    NotPlain(String),
    /// A name is not text.
    #[error("{0} has a name that is not UTF-8")]
    Name(String),
    /// Too large.
    #[error("it has more than {MOST_FILES} files or 32 MiB")]
    TooLarge,
    /// An operating system error.
    #[error("{path} cannot be read ({why})")]
    Failed {
        /// The path.
        path: String,
        /// The system's error message.
        why: String,
    },
}

/// All files of a skill by path relative to its folder, with `/` as separator.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillFolder(BTreeMap<String, Arc<[u8]>>);

impl SkillFolder {
    /// Creates a folder of these files.
    pub fn new(files: impl IntoIterator<Item = (String, Arc<[u8]>)>) -> Self {
        Self(files.into_iter().collect())
    }

    /// Reads the folder at `root`. Follows no link.
    ///
    /// # Errors
    /// If an entry is not a plain file, is too large or cannot be read.
    pub fn read(root: &Path) -> Result<Self, Unreadable> {
        let mut files = BTreeMap::new();
        let mut remaining = MOST_BYTES;
        read_into(root, "", &mut files, &mut remaining)?;
        Ok(Self(files))
    }

    /// Returns the digest over all paths and bytes.
    pub fn digest(&self) -> Digest {
        let mut hash = Sha256::new();
        for (path, bytes) in &self.0 {
            for field in [path.as_bytes(), bytes] {
                hash.update((field.len() as u64).to_be_bytes());
                hash.update(field);
            }
        }
        Digest::finish(hash)
    }

    /// Returns the bytes of a file.
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.0.get(path)
    }

    /// Returns a file as text, if it is UTF-8.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Returns the files, ordered by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
        self.0.iter().map(|(path, bytes)| (path.as_str(), bytes))
    }

    /// Adds a file, replacing any file with this path.
    pub fn put(&mut self, path: &str, bytes: Arc<[u8]>) {
        self.0.insert(path.to_owned(), bytes);
    }

    /// Removes a file. Returns false if there is none.
    pub fn remove(&mut self, path: &str) -> bool {
        self.0.remove(path).is_some()
    }

    /// Returns whether it contains no files.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the total size of all files in bytes.
    pub fn size(&self) -> u64 {
        self.0.values().map(|bytes| bytes.len() as u64).sum()
    }
}

fn read_into(
    here: &Path,
    inside: &str,
    files: &mut BTreeMap<String, Arc<[u8]>>,
    remaining: &mut u64,
) -> Result<(), Unreadable> {
    let failed =
        |path: &str, error: std::io::Error| Unreadable::Failed { path: path.to_owned(), why: error.kind().to_string() };
    for entry in std::fs::read_dir(here).map_err(|error| failed(inside, error))? {
        let entry = entry.map_err(|error| failed(inside, error))?;
        let name = entry.file_name();
        if is_side_file(&name.to_string_lossy()) {
            continue;
        }
        let Some(name) = name.to_str() else { return Err(Unreadable::Name(format!("{inside}…"))) };
        let path = if inside.is_empty() { name.to_owned() } else { format!("{inside}/{name}") };
        let kind = entry.file_type().map_err(|error| failed(&path, error))?;
        if kind.is_dir() {
            read_into(&entry.path(), &path, files, remaining)?;
        } else if kind.is_file() {
            let bytes = read_file(&entry.path(), *remaining).map_err(|error| failed(&path, error))?;
            *remaining = remaining.checked_sub(bytes.len() as u64).ok_or(Unreadable::TooLarge)?;
            files.insert(path, Arc::from(bytes));
        } else {
            return Err(Unreadable::NotPlain(path));
        }
        if files.len() > MOST_FILES {
            return Err(Unreadable::TooLarge);
        }
    }
    Ok(())
}

/// Reads at most one byte more than is left. Does not follow links, in case the file has become one
/// meanwhile.
fn read_file(path: &Path, remaining: u64) -> std::io::Result<Vec<u8>> {
    use rustix::fs::{Mode, OFlags};
    let file =
        rustix::fs::open(path, OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?;
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(remaining.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::side_files::tests::LEFT;
    use proptest::prelude::*;

    fn folder(files: &[(&str, &str)]) -> SkillFolder {
        SkillFolder::new(files.iter().map(|(path, text)| ((*path).to_owned(), Arc::from(text.as_bytes()))))
    }

    #[test]
    fn every_byte_of_every_path_and_file_counts() {
        let one = folder(&[("SKILL.md", "a"), ("resources/x", "bc")]);
        for other in [
            folder(&[("SKILL.md", "a"), ("resources/x", "bd")]),
            folder(&[("SKILL.md", "a"), ("resources/y", "bc")]),
            folder(&[("SKILL.md", "ab"), ("resources/x", "c")]),
            folder(&[("SKILL.md", "a")]),
            folder(&[]),
        ] {
            assert_ne!(one.digest(), other.digest());
        }
        assert_eq!(one.digest().as_str().len(), 64);
    }

    #[test]
    fn a_skill_folder_is_read_as_written_and_links_are_refused() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("resources")).unwrap();
        std::fs::write(root.path().join("SKILL.md"), "a").unwrap();
        std::fs::write(root.path().join("resources/x"), "bc").unwrap();
        assert_eq!(SkillFolder::read(root.path()).unwrap(), folder(&[("SKILL.md", "a"), ("resources/x", "bc")]));
        std::os::unix::fs::symlink("/etc/passwd", root.path().join("resources/y")).unwrap();
        assert_eq!(SkillFolder::read(root.path()), Err(Unreadable::NotPlain("resources/y".to_owned())));
    }

    /// Proves: memory/side-files
    #[test]
    fn files_of_editors_change_no_digest() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("resources")).unwrap();
        std::fs::write(root.path().join("SKILL.md"), "a").unwrap();
        std::fs::write(root.path().join("resources/x"), "bc").unwrap();
        let before = SkillFolder::read(root.path()).unwrap();
        for name in LEFT {
            for inside in [root.path().join(name), root.path().join("resources").join(name)] {
                std::fs::write(inside, b"\0\x01Bud1").unwrap();
            }
        }
        std::os::unix::fs::symlink("ada@host.1", root.path().join(".#SKILL.md~")).unwrap();
        let after = SkillFolder::read(root.path()).unwrap();
        assert_eq!((&after, after.digest()), (&before, before.digest()));
    }

    #[test]
    fn a_digest_is_meant_by_eight_right_digits_or_more() {
        let digest = Digest::of(b"abc");
        let all = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.as_str(), all);
        for typed in ["ba7816bf", "BA7816BF", "ba7816bf8f01", digest.short(), all] {
            assert!(digest.is_meant_by(typed), "{typed}");
        }
        for typed in ["", "ba7816b", "ba7816bg", "a7816bf8f01", &format!("{all}0")] {
            assert!(!digest.is_meant_by(typed), "{typed}");
        }
    }

    proptest! {
        #[test]
        fn two_folders_with_one_digest_are_one(
            one in prop::collection::btree_map("[a-b/]{1,3}", prop::collection::vec(0_u8..3, 0..4), 0..4),
            other in prop::collection::btree_map("[a-b/]{1,3}", prop::collection::vec(0_u8..3, 0..4), 0..4),
        ) {
            let make = |files: &BTreeMap<String, Vec<u8>>| {
                SkillFolder::new(files.iter().map(|(path, bytes)| (path.clone(), Arc::from(bytes.as_slice()))))
            };
            prop_assert_eq!(one == other, make(&one).digest() == make(&other).digest());
        }
    }
}
