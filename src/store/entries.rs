//! Entries: the searchable units of knowledge, and the files they were read from. All of it can be
//! rebuilt from the workspace and the journal.
//!
//! An entry and its full-text row are written and deleted together. The key of an entry survives a
//! rebuild; the id does not. Unchanged parts of a file keep their rows, so the cost of a change
//! does not depend on the file's length. Use counts are stored separately, by key. This module
//! neither reads files nor decides on their scope.

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
use strum::{EnumString, IntoStaticStr};

use crate::store::rows::stored_word;
use crate::time::Timestamp;
use crate::trust::{Label, Scope};
use words::IndexedText;

/// Kind of entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum EntryKind {
    /// A line `- **key**: value`.
    Fact,
    /// A note, or a passage of a long note.
    Note,
    /// A line of a daily note.
    Day,
    /// Running text of the files about identity and conduct.
    Text,
    /// Any other file.
    File,
    /// A summary of a conversation.
    Conversation,
    /// A reflection by the assistant.
    Reflection,
}

stored_word!(EntryKind);

impl EntryKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Fact, Self::Note, Self::Day, Self::Text, Self::File, Self::Conversation, Self::Reflection];
}

/// A file, or the journal's record of a conversation or reflection, as the index saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// Relative to the workspace, or `//experience/…`, `conversations/N`, `reflections/N`.
    pub path: String,
    /// Owning scope.
    pub scope: Scope,
    /// Value that differs after every change.
    pub stamp: String,
    /// SHA-256 of the bytes; blank if they were not read.
    pub digest: String,
    /// Trust label.
    pub label: Label,
    /// Reason why it is not fully searchable; blank if it is.
    pub trouble: String,
    /// Size in bytes.
    pub size: u64,
    /// Time of writing.
    pub at: Timestamp,
}

/// An entry to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry {
    /// Heading above the entry.
    pub section: String,
    /// Line in the file, from 1.
    pub line: u32,
    /// Key of a fact, title of a note; blank for running text.
    pub name: String,
    /// Kind.
    pub kind: EntryKind,
    /// Category, if given.
    pub category: String,
    /// Text, complete without its surroundings.
    pub text: String,
    /// Position among entries of the same section and name, from 0.
    pub ordinal: u32,
    /// Time of writing, if the entry states one.
    pub at: Option<Timestamp>,
    /// Label, if it differs from the file's.
    pub label: Option<Label>,
}

impl NewEntry {
    /// Returns the key, which survives every rebuild; a changed value keeps the key.
    pub fn key(&self, path: &str, scope: Scope) -> String {
        let ordinal = self.ordinal.to_string();
        hex_digest(&[&scope.encode(), path, &self.section, &self.name, &ordinal])
    }
}

/// SHA-256 over length-prefixed parts, as lower-case hexadecimal digits.
fn hex_digest(parts: &[&str]) -> String {
    let hash = parts.iter().fold(Sha256::new(), |hash, part| {
        hash.chain_update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes()).chain_update(part)
    });
    hex::encode(hash.finalize())
}

fn indexed(row: &Row<'_>) -> rusqlite::Result<Indexed> {
    Ok(Indexed {
        path: row.get("path")?,
        scope: row.get("scope")?,
        stamp: row.get("stamp")?,
        digest: row.get("digest")?,
        label: row.get("label")?,
        trouble: row.get("trouble")?,
        size: u64::try_from(row.get::<_, i64>("size")?).unwrap_or(0),
        at: row.get("at")?,
    })
}

const INDEXED: &str = "SELECT path, scope, stamp, digest, label, trouble, size, at FROM indexed";

impl Entries<'_> {
    /// Returns the index record of that path.
    pub fn indexed(&self, path: &str) -> anyhow::Result<Option<Indexed>> {
        let mut query = self.db.prepare_cached(&format!("{INDEXED} WHERE path = ?1"))?;
        Ok(query.query_row([path], indexed).optional()?)
    }

    /// Returns stamp and scope of everything indexed, by path.
    pub fn indexed_stamps(&self) -> anyhow::Result<HashMap<String, (String, Scope)>> {
        let mut query = self.db.prepare_cached("SELECT path, stamp, scope FROM indexed")?;
        let rows = query.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns everything indexed for a scope, by path.
    pub fn indexed_in(&self, scope: Scope) -> anyhow::Result<Vec<Indexed>> {
        let mut query = self.db.prepare_cached(&format!("{INDEXED} WHERE scope = ?1 ORDER BY path"))?;
        Ok(query.query_map([scope], indexed)?.collect::<Result<_, _>>()?)
    }

    /// Counts the entries of a scope.
    pub fn entries_of(&self, scope: Scope) -> anyhow::Result<usize> {
        let mut query = self.db.prepare_cached("SELECT count(*) FROM entries WHERE scope = ?1")?;
        let count: i64 = query.query_row([scope], |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Returns the paths of journal items of a scope that changed since they were indexed.
    pub fn unindexed(&self, scope: Scope, limit: u32) -> anyhow::Result<Vec<String>> {
        let mut query = self.db.prepare_cached("SELECT path FROM unindexed WHERE scope = ?1 ORDER BY path LIMIT ?2")?;
        Ok(query.query_map(params![scope, limit], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}

/// The properties of a stored entry that are compared with the file.
struct Stored {
    id: i64,
    same: Sameness,
    line: u32,
    at: Timestamp,
}

/// Properties that must be equal for the full-text row to be current.
#[derive(PartialEq)]
struct Sameness {
    section: String,
    name: String,
    kind: EntryKind,
    category: String,
    digest: String,
    label: Label,
    scope: Scope,
}

impl EntriesMut<'_> {
    /// Replaces a file and all its entries. Returns the number of new or changed entries.
    pub fn put_indexed(&self, file: &Indexed, entries: &[NewEntry]) -> anyhow::Result<usize> {
        self.db.run("INSERT INTO indexed (path, scope, stamp, digest, label, trouble, size, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (path) DO UPDATE SET scope = ?2, stamp = ?3, digest = ?4, label = ?5, trouble = ?6, size = ?7, at = ?8", params![
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

    /// Removes a file that no longer exists or must not be found.
    pub fn drop_indexed(&self, path: &str) -> anyhow::Result<()> {
        self.db.run("DELETE FROM entries_fts WHERE rowid IN (SELECT id FROM entries WHERE path = ?1)", [path])?;
        self.db.run("DELETE FROM entries WHERE path = ?1", [path])?;
        self.db.run("DELETE FROM indexed WHERE path = ?1", [path])
    }

    /// Marks a journal item as indexed.
    pub fn mark_indexed(&self, path: &str) -> anyhow::Result<()> {
        self.db.run("DELETE FROM unindexed WHERE path = ?1", [path])
    }

    /// Deletes the whole index; the next full scan rebuilds it.
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

    /// Counts a use of those entries by a turn.
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
                section: row.get("section")?,
                name: row.get("name")?,
                kind: row.get("kind")?,
                category: row.get("category")?,
                digest: row.get("digest")?,
                label: row.get("label")?,
                scope: row.get("scope")?,
            };
            Ok((row.get("key")?, Stored { id: row.get("id")?, same, line: row.get("line")?, at: row.get("at")? }))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Stores an entry. Returns true if it changed.
    fn put_entry(&self, file: &Indexed, entry: &NewEntry, key: &str, before: Option<Stored>) -> anyhow::Result<bool> {
        let label = entry.label.as_ref().unwrap_or(&file.label);
        let at = entry.at.unwrap_or(file.at);
        let now = Sameness {
            section: entry.section.clone(),
            name: entry.name.clone(),
            kind: entry.kind,
            category: entry.category.clone(),
            digest: text_digest(&entry.text),
            label: label.clone(),
            scope: file.scope,
        };
        if let Some(before) = before {
            if before.same == now {
                if (before.line, before.at) != (entry.line, at) {
                    let sql = "UPDATE entries SET line = ?2, at = ?3 WHERE id = ?1";
                    self.db.run(sql, params![before.id, entry.line, at])?;
                }
                return Ok(false);
            }
            self.drop_entry(before.id)?;
        }
        self.db.run(
            "INSERT INTO entries (key, path, section, line, name, kind, category, text, digest, label, scope, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            params![
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
            ],
        )?;
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
        self.db.run("DELETE FROM entries_fts WHERE rowid = ?1", [id])?;
        self.db.run("DELETE FROM entries WHERE id = ?1", [id])
    }
}

/// SHA-256 of a text, the key of its vector.
pub fn text_digest(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}

#[cfg(test)]
mod for_tests {
    use crate::id::SummaryId;
    use crate::store::handles::{Entries, EntriesMut};
    use crate::trust::Scope;

    impl Entries<'_> {
        /// Returns all stored properties of a scope's entries except ids, one line each.
        pub fn entries_for_tests(&self, scope: Scope) -> anyhow::Result<Vec<String>> {
            let mut query = self.db.prepare(
                "SELECT concat_ws('|', key, path, section, line, name, kind, category, text, digest, label, scope, at,
                 EXISTS (SELECT 1 FROM entries_fts_docsize d WHERE d.id = entries.id)) FROM entries WHERE scope = ?1",
            )?;
            Ok(query.query_map([scope], |row| row.get(0))?.collect::<Result<_, _>>()?)
        }
    }

    impl EntriesMut<'_> {
        /// Blanks a summary as a deletion does.
        pub fn blank_summary_for_tests(&self, id: SummaryId) -> anyhow::Result<()> {
            self.db.run("UPDATE summaries SET title = '', topics = '[]' WHERE id = ?1", [id])
        }
    }
}
