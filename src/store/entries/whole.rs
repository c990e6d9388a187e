//! Completeness of the index.
//!
//! The index is derived, so its tables may be emptied at any time. Opening the journal marks the
//! missing items, and the first scan of the workspace restores them. The check costs a few lookups,
//! regardless of size. It does not detect a single deleted row.
//!
//! After an upgrade or a restore the index is empty. Until the first full scan after opening, text
//! without an entry may still exist in a file, so nothing may be discarded just because no entry
//! has it. The full scan reports its start and its end; an index emptied in between is not
//! complete.

use crate::store::handles::{Entries, EntriesMut};

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
        let filled = |table: &str| self.db.prepare(&format!("SELECT 1 FROM {table} LIMIT 1"))?.exists([]);
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
mod tests {
    use crate::store::Journal;

    #[tokio::test]
    async fn it_is_whole_after_a_look_at_everything_until_it_is_emptied_or_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Journal::open(&folder.path().join("journal.db"), None).unwrap();
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
