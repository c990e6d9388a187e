//! Whether the index is whole. It is derived, so anybody may empty its tables; what is missing is
//! marked here when the journal is opened, and made anew by the first look at the tree. This costs
//! a few lookups, whatever the index holds. A single row that somebody took out is not noticed.
//!
//! Until everything was looked at once since the journal was opened, words that stand in no entry
//! may still stand in a file: an upgrade and a restored copy begin with an empty index. So nothing
//! is thrown away before that only because no entry has it. Whoever looks at everything says so
//! before and after; an index that is emptied in between is not whole.

use crate::store::handles::{Entries, EntriesMut};

/// The fact that tells how far the look at everything has come.
const LOOK: &str = "entries";
const BEGUN: &str = "begun";
const WHOLE: &str = "whole";

impl Entries<'_> {
    /// Whether everything was looked at since the journal was opened, and since the index was
    /// emptied.
    pub fn entries_are_whole(&self) -> anyhow::Result<bool> {
        Ok(self.db.settings().fact(LOOK)?.as_deref() == Some(WHOLE))
    }
}

impl EntriesMut<'_> {
    /// Somebody begins to look at everything.
    pub fn entries_begun(&self) -> anyhow::Result<()> {
        self.tx().settings().set_fact(LOOK, BEGUN)
    }

    /// Everything was looked at, and the index was not emptied meanwhile.
    pub fn entries_done(&self) -> anyhow::Result<()> {
        if self.db.settings().fact(LOOK)?.as_deref() == Some(BEGUN) {
            self.tx().settings().set_fact(LOOK, WHOLE)
        } else {
            Ok(())
        }
    }

    /// Everything has to be looked at again before the index is whole.
    pub(super) fn entries_lack(&self) -> anyhow::Result<()> {
        self.tx().settings().drop_fact(LOOK)
    }

    /// Throws what is left away if one of the tables is empty and another is not, and marks
    /// everything that the journal tells and the index has not looked at.
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
