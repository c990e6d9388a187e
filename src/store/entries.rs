//! Entries: the units of knowledge that search finds, and the files that they were read from. All
//! of it can be made anew from the tree and the journal.
//!
//! An entry and its row of the full-text index are written and deleted together. Its key stays the
//! same through every rebuilding; its id does not. What of a file did not change keeps its row, so
//! a long file costs what its change costs. How often an entry was of use is kept apart, under the
//! key. What this file does not do: read files, or decide whose they are.

mod found;
mod matching;
mod whole;
mod words;

pub use found::{EntryRow, Lookup};
pub use matching::Matching;

use crate::store::handles::{Entries, EntriesMut};
use std::collections::HashMap;

use rusqlite::{OptionalExtension, Row, params};
use sha2::{Digest, Sha256};

use crate::time::Timestamp;
use crate::trust::{Label, Scope};
use words::IndexedText;

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKind {
    /// A line `- **key**: value`.
    Fact,
    /// A note, or a passage of a long one.
    Note,
    /// A line of a daily note.
    Day,
    /// Running text of the files that say who is who and how to work.
    Text,
    /// Any other file.
    File,
    /// What a conversation was about.
    Conversation,
    /// What the assistant wrote when it looked back.
    Reflection,
}

impl EntryKind {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Fact, Self::Note, Self::Day, Self::Text, Self::File, Self::Conversation, Self::Reflection];

    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Note => "note",
            Self::Day => "day",
            Self::Text => "text",
            Self::File => "file",
            Self::Conversation => "conversation",
            Self::Reflection => "reflection",
        }
    }

    /// The kind of that word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A file, or what the journal tells of a conversation or a reflection, as the index saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// Relative to the workspace, or `//experience/…`, `conversations/N`, `reflections/N`.
    pub path: String,
    /// Whose it is.
    pub scope: Scope,
    /// What changes when it changes.
    pub stamp: String,
    /// SHA-256 of its bytes; blank if they were not read.
    pub digest: String,
    /// Where they came from.
    pub label: Label,
    /// Why it is not searched as it should be; blank if it is.
    pub trouble: String,
    /// Bytes.
    pub size: u64,
    /// When it was written.
    pub at: Timestamp,
}

/// An entry to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// Under which heading.
    pub section: String,
    /// Where in the file, from 1.
    pub line: u32,
    /// A fact's key, a note's title; blank for running text.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its category, if it says one.
    pub category: String,
    /// The words; they say enough without anything around them.
    pub text: String,
    /// Its place among those of the same section and name, from 0.
    pub ordinal: u32,
    /// When it was written, if it says so itself.
    pub at: Option<Timestamp>,
    /// Where it came from, if that is not simply where its file came from.
    pub label: Option<Label>,
}

impl NewEntry {
    /// What it keeps through every rebuilding: a changed value is still the same entry.
    pub fn key(&self, path: &str, scope: Scope) -> String {
        let ordinal = self.ordinal.to_string();
        hex_digest(&[&scope.encode(), path, &self.section, &self.name, &ordinal])
    }
}

/// SHA-256 over parts, each with its length before it, as lower-case hexadecimal digits.
fn hex_digest(parts: &[&str]) -> String {
    let hash = parts.iter().fold(Sha256::new(), |hash, part| {
        hash.chain_update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes()).chain_update(part)
    });
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn indexed(row: &Row<'_>) -> rusqlite::Result<Indexed> {
    Ok(Indexed {
        path: row.get(0)?,
        scope: row.get(1)?,
        stamp: row.get(2)?,
        digest: row.get(3)?,
        label: row.get(4)?,
        trouble: row.get(5)?,
        size: u64::try_from(row.get::<_, i64>(6)?).unwrap_or(0),
        at: row.get(7)?,
    })
}

const INDEXED: &str = "SELECT path, scope, stamp, digest, label, trouble, size, at FROM indexed";

impl Entries<'_> {
    /// What the index knows of that path.
    pub fn indexed(&self, path: &str) -> anyhow::Result<Option<Indexed>> {
        let mut query = self.db.prepare_cached(&format!("{INDEXED} WHERE path = ?1"))?;
        Ok(query.query_row([path], indexed).optional()?)
    }

    /// Stamp and owner of everything that the index has looked at, by path.
    pub fn indexed_stamps(&self) -> anyhow::Result<HashMap<String, (String, Scope)>> {
        let mut query = self.db.prepare_cached("SELECT path, stamp, scope FROM indexed")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Everything of a scope that the index has looked at, by its path.
    pub fn indexed_in(&self, scope: Scope) -> anyhow::Result<Vec<Indexed>> {
        let mut query = self.db.prepare_cached(&format!("{INDEXED} WHERE scope = ?1 ORDER BY path"))?;
        Ok(query.query_map([scope], indexed)?.collect::<Result<_, _>>()?)
    }

    /// How many entries a scope has.
    pub fn entries_of(&self, scope: Scope) -> anyhow::Result<usize> {
        let mut query = self.db.prepare_cached("SELECT count(*) FROM entries WHERE scope = ?1")?;
        let count: i64 = query.query_row([scope], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// What of the journal changed for a scope since the index looked.
    pub fn unindexed(&self, scope: Scope, limit: u32) -> anyhow::Result<Vec<String>> {
        let mut query = self.db.prepare_cached("SELECT path FROM unindexed WHERE scope = ?1 ORDER BY path LIMIT ?2")?;
        Ok(query.query_map(params![scope, limit], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}

/// A stored entry, as far as it is compared with what its file says now.
struct Stored {
    id: i64,
    same: Sameness,
    line: u32,
    at: Timestamp,
}

/// What must be equal for the row of the full-text index to be right.
#[derive(PartialEq)]
struct Sameness {
    section: String,
    name: String,
    kind: String,
    category: String,
    digest: String,
    label: Label,
    scope: Scope,
}

impl EntriesMut<'_> {
    /// A file and all its entries as they are now. Gives how many of them were new or other than
    /// before.
    pub fn put_indexed(&self, file: &Indexed, entries: &[NewEntry]) -> anyhow::Result<usize> {
        self.db
            .prepare_cached(
                "INSERT INTO indexed (path, scope, stamp, digest, label, trouble, size, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (path) DO UPDATE SET scope = ?2, stamp = ?3, digest = ?4, label = ?5, trouble = ?6, size = ?7, at = ?8",
            )?
            .execute(params![
                file.path,
                file.scope,
                file.stamp,
                file.digest,
                file.label,
                file.trouble,
                i64::try_from(file.size).unwrap_or(i64::MAX),
                file.at
            ])?;
        let mut before = self.stored_of(&file.path)?;
        let mut changed = 0;
        for entry in entries {
            let key = entry.key(&file.path, file.scope);
            changed += usize::from(self.put_entry(file, entry, &key, before.remove(&key))?);
        }
        for stored in before.values() {
            self.drop_entry(stored.id)?;
        }
        Ok(changed)
    }

    /// A file is not there any more, or not to be found any more.
    pub fn drop_indexed(&self, path: &str) -> anyhow::Result<()> {
        self.db
            .prepare_cached("DELETE FROM entries_fts WHERE rowid IN (SELECT id FROM entries WHERE path = ?1)")?
            .execute([path])?;
        self.db.prepare_cached("DELETE FROM entries WHERE path = ?1")?.execute([path])?;
        self.db.prepare_cached("DELETE FROM indexed WHERE path = ?1")?.execute([path])?;
        Ok(())
    }

    /// The index has looked at what the journal tells there.
    pub fn looked_at(&self, path: &str) -> anyhow::Result<()> {
        self.db.prepare_cached("DELETE FROM unindexed WHERE path = ?1")?.execute([path])?;
        Ok(())
    }

    /// Throws the whole index away; the next look at everything makes it anew.
    pub fn clear_entries(&self) -> anyhow::Result<()> {
        self.entries_lack()?;
        self.db.execute_batch(
            "DELETE FROM entries_fts; DELETE FROM entries; DELETE FROM indexed; DELETE FROM unindexed;
             INSERT INTO unindexed (path, scope) SELECT DISTINCT 'conversations/' || conversation_id, scope FROM summaries WHERE true
                 ON CONFLICT (path) DO NOTHING;
             INSERT INTO unindexed (path, scope) SELECT 'reflections/' || id, scope FROM reflections;",
        )?;
        Ok(())
    }

    /// Those entries were given to a turn.
    pub fn entries_used(&self, keys: &[String], now: Timestamp) -> anyhow::Result<()> {
        let mut count = self.db.prepare_cached(
            "INSERT INTO entry_uses (key, uses, last_at) VALUES (?1, 1, ?2)
             ON CONFLICT (key) DO UPDATE SET uses = uses + 1, last_at = max(last_at, ?2)",
        )?;
        for key in keys {
            count.execute(params![key, now])?;
        }
        Ok(())
    }

    fn stored_of(&self, path: &str) -> anyhow::Result<HashMap<String, Stored>> {
        let mut query = self.db.prepare_cached(
            "SELECT key, id, section, name, kind, category, digest, label, scope, line, at FROM entries WHERE path = ?1",
        )?;
        let rows = query.query_map([path], |row| {
            let same = Sameness {
                section: row.get(2)?,
                name: row.get(3)?,
                kind: row.get(4)?,
                category: row.get(5)?,
                digest: row.get(6)?,
                label: row.get(7)?,
                scope: row.get(8)?,
            };
            Ok((row.get(0)?, Stored { id: row.get(1)?, same, line: row.get(9)?, at: row.get(10)? }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether anything of it is other than before.
    fn put_entry(&self, file: &Indexed, entry: &NewEntry, key: &str, before: Option<Stored>) -> anyhow::Result<bool> {
        let label = entry.label.as_ref().unwrap_or(&file.label);
        let at = entry.at.unwrap_or(file.at);
        let now = Sameness {
            section: entry.section.clone(),
            name: entry.name.clone(),
            kind: entry.kind.as_str().to_owned(),
            category: entry.category.clone(),
            digest: text_digest(&entry.text),
            label: label.clone(),
            scope: file.scope,
        };
        if let Some(before) = before {
            if before.same == now {
                if (before.line, before.at) != (entry.line, at) {
                    let sql = "UPDATE entries SET line = ?2, at = ?3 WHERE id = ?1";
                    self.db.prepare_cached(sql)?.execute(params![before.id, entry.line, at])?;
                }
                return Ok(false);
            }
            self.drop_entry(before.id)?;
        }
        self.db
            .prepare_cached(
                "INSERT INTO entries (key, path, section, line, name, kind, category, text, digest, label, scope, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            )?
            .execute(params![
                key,
                file.path,
                now.section,
                entry.line,
                now.name,
                now.kind,
                now.category,
                entry.text,
                now.digest,
                label,
                file.scope,
                at,
            ])?;
        let id = self.db.last_insert_rowid();
        let told = IndexedText {
            path: &file.path,
            scope: file.scope,
            label,
            section: &entry.section,
            name: &entry.name,
            kind: entry.kind,
            category: &entry.category,
            text: &entry.text,
        };
        self.put_entry_words(id, &told)?;
        Ok(true)
    }

    fn drop_entry(&self, id: i64) -> anyhow::Result<()> {
        self.db.prepare_cached("DELETE FROM entries_fts WHERE rowid = ?1")?.execute([id])?;
        self.db.prepare_cached("DELETE FROM entries WHERE id = ?1")?.execute([id])?;
        Ok(())
    }
}

/// SHA-256 of words, under which their vector is kept.
fn text_digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod for_tests {
    use crate::id::SummaryId;
    use crate::store::handles::{Entries, EntriesMut};
    use crate::trust::Scope;

    impl Entries<'_> {
        /// Everything that is stored of a scope's entries but their ids, a line each.
        pub fn entries_for_tests(&self, scope: Scope) -> anyhow::Result<Vec<String>> {
            let mut query = self.db.prepare(
                "SELECT concat_ws('|', key, path, section, line, name, kind, category, text, digest, label, scope, at,
                 EXISTS (SELECT 1 FROM entries_fts_docsize d WHERE d.id = entries.id)) FROM entries WHERE scope = ?1",
            )?;
            Ok(query.query_map([scope], |row| row.get(0))?.collect::<Result<_, _>>()?)
        }
    }

    impl EntriesMut<'_> {
        /// As a forgetting does it.
        pub fn blank_summary_for_tests(&self, id: SummaryId) -> anyhow::Result<()> {
            self.db.execute("UPDATE summaries SET title = '', topics = '[]' WHERE id = ?1", [id])?;
            Ok(())
        }
    }
}
