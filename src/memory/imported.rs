//! Notes from a folder of another program. Each is stored once as a pending note: the same text
//! under the same title never comes again, also after it was promoted or dropped.

use super::note::{self, Note};
use super::workspace::{Notes, WriteError, WriteRefusal};
use super::write::{ChangeOrigin, NewContent};
use super::{layout, page};
use crate::people::Party;
use crate::store::Db;
use crate::wording::knowledge as says;

/// Kind that such a note states.
const KIND: &str = "reference";

/// A note to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedNote {
    /// Key by which it is known.
    pub key: ImportedNoteKey,
    text: String,
}

/// Possible paths of an imported note, and the SHA-256 of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedNoteKey {
    paths: [String; 2],
    digest: String,
}

impl ImportedNote {
    /// Creates a note with that title.
    pub fn new(title: &str, words: &str) -> Self {
        let text = note::write(&Note::new(title, words, KIND));
        let (slug, digest) = (note::slug(title), page::digest(text.as_bytes()));
        let other = note::with_digest(&slug, &text);
        let paths = [slug, other].map(|slug| format!("memory/untrusted/{slug}.md"));
        Self { key: ImportedNoteKey { paths, digest }, text }
    }
}

impl Notes<'_> {
    /// Returns the number of these notes that were never stored.
    pub async fn count_new(&self, who: &Party, keys: Vec<ImportedNoteKey>) -> anyhow::Result<usize> {
        let folder = self.folder_of(who).await?;
        let count = move |db: Db<'_>| {
            let mut new = 0;
            for key in &keys {
                new += usize::from(free_paths(db, &folder, key)?.is_some());
            }
            Ok(new)
        };
        self.0.journal.read_much(count).await
    }

    /// Stores a note unless it was stored before. Returns true if it is new.
    pub async fn store_imported(&self, origin: &ChangeOrigin, note: &ImportedNote) -> Result<bool, WriteError> {
        let (folder, key) = (self.folder_of(&origin.who).await?, note.key.clone());
        let free = self.0.journal.read(move |db| free_paths(db, &folder, &key)).await?;
        for path in free.iter().flatten() {
            let text = note.text.clone();
            let make = move |old: Option<&str>| match old {
                None => Ok(NewContent::Text(text.clone())),
                Some(old) if old == text => Ok(NewContent::Unchanged),
                Some(_) => Err(WriteRefusal::impossible(says::TAKEN)),
            };
            match self.versions().change(origin, path, make).await {
                Err(WriteError::Refused(why)) if why == WriteRefusal::impossible(says::TAKEN) => {}
                written => return written.map(|_| true),
            }
        }
        match free {
            Some(_) => Err(WriteRefusal::impossible(says::TAKEN).into()),
            None => Ok(false),
        }
    }
}

/// Returns the paths of a note that no file ever had; none if the note itself was stored before.
fn free_paths(db: Db<'_>, folder: &str, key: &ImportedNoteKey) -> anyhow::Result<Option<Vec<String>>> {
    let mut free = Vec::new();
    for path in &key.paths {
        let location = layout::within(folder, path);
        if db.file_versions().file_version(&location, &key.digest)?.is_some() {
            return Ok(None);
        }
        if db.file_versions().last_digest_of(&location)?.is_none() {
            free.push(path.clone());
        }
    }
    Ok(Some(free))
}
