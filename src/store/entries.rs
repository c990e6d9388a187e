//! Entries: the searchable units of knowledge, and the files they were read from. All of it can be
//! rebuilt from the workspace and the journal.
//!
//! An entry and its full-text row are written and deleted together. The key of an entry survives a
//! rebuild; the id does not. Unchanged parts of a file keep their rows, so the cost of a change
//! does not depend on the file's length. Use counts are stored separately, by key. This module
//! neither reads files nor decides on their scope.
//!
//! The index is derived, so its tables may be emptied at any time. Opening the journal marks the
//! missing items, and the first scan of the workspace restores them. The check costs a few lookups,
//! regardless of size. It does not detect a single deleted row.
//!
//! After an upgrade or a restore the index is empty. Until the first full scan after opening, text
//! without an entry may still exist in a file, so nothing may be discarded just because no entry
//! has it. The full scan reports its start and its end; an index emptied in between is not
//! complete.

mod found;
mod matching;

use found::IndexedText;
pub use found::{EntryRow, Lookup, agent_of, is_category};
pub use matching::Matching;

use std::collections::HashMap;

use rusqlite::params;
use sha2::{Digest, Sha256};
use strum::{EnumString, IntoStaticStr};

use crate::store::handles::{Entries, EntriesMut};
use crate::store::rows::{from_row, insert, stored_word};

use crate::time::Timestamp;
use crate::trust::{Label, Scope};

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

from_row! {
    Indexed from "indexed", "size" { path, scope, stamp, digest, label, trouble, at }
    with |row| { size: u64::try_from(row.get::<_, i64>("size")?).unwrap_or(0) }
}

/// True for the path of a note in the folder `?1` that is named like a day.
const IS_DAY: &str = "substr(path, length(?1) + 2) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].md'";

impl Entries<'_> {
    /// Returns the index record of that path.
    pub fn indexed(&self, path: &str) -> anyhow::Result<Option<Indexed>> {
        self.db.row("WHERE path = ?1", [path])
    }

    /// Returns stamp and scope of everything indexed, by path.
    pub fn indexed_stamps(&self) -> anyhow::Result<HashMap<String, (String, Scope)>> {
        let rows = self.db.all("SELECT path, stamp, scope FROM indexed", [])?;
        Ok(rows.into_iter().map(|(path, stamp, scope)| (path, (stamp, scope))).collect())
    }

    /// Returns everything indexed for a scope, by path.
    pub fn indexed_in(&self, scope: Scope) -> anyhow::Result<Vec<Indexed>> {
        self.db.rows("WHERE scope = ?1 ORDER BY path", [scope])
    }

    /// Returns the indexed notes of a folder, without those named like a day, by path from the
    /// first after `after` on.
    pub fn note_paths(&self, folder: &str, after: &str, limit: u32) -> anyhow::Result<Vec<String>> {
        let sql = format!(
            "SELECT path FROM indexed WHERE path > max(?1 || '/', ?2) AND path < ?1 || '0' \
             AND NOT {IS_DAY} AND path GLOB '*.md' AND path <> ?1 || '/MEMORY.md' \
             AND instr(substr(path, length(?1) + 2), '/') = 0 ORDER BY path LIMIT ?3"
        );
        self.db.all(&sql, params![folder, after, limit])
    }

    /// Returns the indexed notes of a folder that are named like a day, newest first.
    pub fn day_paths(&self, folder: &str, limit: u32) -> anyhow::Result<Vec<String>> {
        let sql = format!(
            "SELECT path FROM indexed WHERE path > ?1 || '/' AND path < ?1 || '/:' AND {IS_DAY} \
             ORDER BY path DESC LIMIT ?2"
        );
        self.db.all(&sql, params![folder, limit])
    }

    /// Counts the entries of a scope.
    pub fn entries_of(&self, scope: Scope) -> anyhow::Result<usize> {
        self.db.count("SELECT count(*) FROM entries WHERE scope = ?1", [scope])
    }

    /// Returns the paths of journal items of a scope that changed since they were indexed.
    pub fn unindexed(&self, scope: Scope, limit: u32) -> anyhow::Result<Vec<String>> {
        self.db.all("SELECT path FROM unindexed WHERE scope = ?1 ORDER BY path LIMIT ?2", params![scope, limit])
    }
}

/// The properties of a stored entry that are compared with the file.
struct Stored {
    id: i64,
    key: String,
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

from_row! {
    Stored from "entries", "section, name, kind, category, digest, label, scope" { id, key, line, at }
    with |row| {
        same: Sameness {
            section: row.get("section")?,
            name: row.get("name")?,
            kind: row.get("kind")?,
            category: row.get("category")?,
            digest: row.get("digest")?,
            label: row.get("label")?,
            scope: row.get("scope")?,
        }
    }
}

impl EntriesMut<'_> {
    /// Replaces a file and all its entries. Returns the number of new or changed entries.
    pub fn put_indexed(&self, file: &Indexed, entries: &[NewEntry]) -> anyhow::Result<usize> {
        let size = i64::try_from(file.size).unwrap_or(i64::MAX);
        self.db.run(
            "INSERT INTO indexed (path, scope, stamp, digest, label, trouble, size, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (path) DO UPDATE
             SET scope = ?2, stamp = ?3, digest = ?4, label = ?5, trouble = ?6, size = ?7, at = ?8",
            params![file.path, file.scope, file.stamp, file.digest, file.label, file.trouble, size, file.at],
        )?;
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
        let sql = "INSERT INTO entry_uses (key, uses, last_at) VALUES (?1, 1, ?2)
             ON CONFLICT (key) DO UPDATE SET uses = uses + 1, last_at = max(last_at, ?2)";
        keys.iter().try_for_each(|key| self.db.run(sql, params![key, now]))
    }

    fn stored_of(&self, path: &str) -> anyhow::Result<HashMap<String, Stored>> {
        let rows: Vec<Stored> = self.db.rows("WHERE path = ?1", [path])?;
        Ok(rows.into_iter().map(|row| (row.key.clone(), row)).collect())
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
        let id = insert!(self.db, "entries" {
            key, path: file.path, section: now.section, line: entry.line, name: now.name, kind: now.kind,
            category: now.category, text: entry.text, digest: now.digest, label, scope: file.scope, at,
        })?;
        let indexed = IndexedText {
            path: &file.path,
            scope: file.scope,
            label,
            section: &entry.section,
            name: &entry.name,
            kind: entry.kind,
            category: &entry.category,
            text: &entry.text,
        };
        self.put_entry_words(id, &indexed)?;
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

/// Key of the progress of the full scan.
const LOOK: &str = "entries";
const BEGUN: &str = "begun";
const WHOLE: &str = "whole";

impl Entries<'_> {
    /// Returns true if a full scan has ended since the journal was opened and the index emptied.
    pub fn entries_are_whole(&self) -> anyhow::Result<bool> {
        Ok(self.db.settings().fact(LOOK)?.as_deref() == Some(WHOLE))
    }
}

impl EntriesMut<'_> {
    /// Records the start of a full scan.
    pub fn entries_begun(&self) -> anyhow::Result<()> {
        self.tx().settings().set_fact(LOOK, BEGUN)
    }

    /// Records the end of a full scan, unless the index was emptied meanwhile.
    pub fn entries_done(&self) -> anyhow::Result<()> {
        if self.db.settings().fact(LOOK)?.as_deref() == Some(BEGUN) {
            self.tx().settings().set_fact(LOOK, WHOLE)
        } else {
            Ok(())
        }
    }

    /// Marks the index as incomplete until the next full scan.
    pub(super) fn entries_lack(&self) -> anyhow::Result<()> {
        self.tx().settings().drop_fact(LOOK)
    }

    /// Clears the index if one of its tables is empty and another is not, and marks all journal
    /// items that are not indexed.
    pub(in crate::store) fn catch_up_entries(&self) -> anyhow::Result<()> {
        self.entries_lack()?;
        let filled = |table: &str| self.db.exists(&format!("SELECT 1 FROM {table} LIMIT 1"), []);
        let looked_at = filled("indexed")?;
        if looked_at != filled("entries")? || looked_at != filled("entries_fts_docsize")? {
            return self.clear_entries();
        }
        self.db.execute_batch(
            "INSERT OR IGNORE INTO unindexed (path, scope)
                 SELECT 'conversations/' || conversation_id, scope FROM summaries
                 WHERE NOT EXISTS (SELECT 1 FROM indexed WHERE path = 'conversations/' || conversation_id);
             INSERT OR IGNORE INTO unindexed (path, scope)
                 SELECT 'reflections/' || id, scope FROM reflections
                 WHERE NOT EXISTS (SELECT 1 FROM indexed WHERE path = 'reflections/' || reflections.id);",
        )?;
        Ok(())
    }
}

#[cfg(test)]
mod for_tests {
    use crate::id::SummaryId;
    use crate::store::handles::{Entries, EntriesMut};
    use crate::trust::Scope;

    impl Entries<'_> {
        /// Returns all stored properties of a scope's entries except ids, one line each.
        pub fn entries_for_tests(&self, scope: Scope) -> anyhow::Result<Vec<String>> {
            self.db.all(
                "SELECT concat_ws('|', key, path, section, line, name, kind, category, text, digest, label, scope, at,
                 EXISTS (SELECT 1 FROM entries_fts_docsize d WHERE d.id = entries.id)) FROM entries WHERE scope = ?1",
                [scope],
            )
        }
    }

    impl EntriesMut<'_> {
        /// Blanks a summary as a deletion does.
        pub fn blank_summary_for_tests(&self, id: SummaryId) -> anyhow::Result<()> {
            self.db.run("UPDATE summaries SET title = '', topics = '[]' WHERE id = ?1", [id])
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::store::Journal;

    #[tokio::test]
    async fn it_is_whole_after_a_look_at_everything_until_it_is_emptied_or_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap();
        let journal = open();
        let done =
            journal.write("look", |tx| tx.entries().entries_done().and_then(|()| tx.entries().entries_are_whole()));
        assert!(!done.await.unwrap(), "nobody has begun");
        let emptied = |tx: crate::store::Tx<'_>| {
            tx.entries().entries_begun()?;
            tx.entries().clear_entries()?;
            tx.entries().entries_done()?;
            tx.entries().entries_are_whole()
        };
        assert!(!journal.write("empty", emptied).await.unwrap());
        let looked = |tx: crate::store::Tx<'_>| {
            tx.entries().entries_begun()?;
            tx.entries().entries_done()?;
            tx.entries().entries_are_whole()
        };
        assert!(journal.write("look", looked).await.unwrap());
        drop(journal);
        assert!(!open().read(|db| db.entries().entries_are_whole()).await.unwrap());
    }
}
