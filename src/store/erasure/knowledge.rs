//! Removes deleted knowledge from the index, and leftovers of it: unused use counts, vectors without
//! text, contents of deleted files, and old archives.

use rusqlite::params;

use crate::store::VERSIONS_KEPT;
use crate::store::handles::{Erasure, ErasureMut};
use crate::time::Timestamp;
use crate::trust::{Label, Scope};

impl ErasureMut<'_> {
    /// Deletes leftovers older than `before` and returns the number of rows. Data without an entry
    /// is kept until the index is complete.
    pub fn sweep_knowledge(&self, before: Timestamp, limit: u32) -> anyhow::Result<usize> {
        // The content of a deleted file is kept for the same time, so that it can be restored.
        let deleted = "DELETE FROM file_contents WHERE file_id IN (SELECT c.file_id FROM file_contents c JOIN files f ON f.id = c.file_id
             WHERE EXISTS (SELECT 1 FROM files l WHERE l.path = f.path AND l.digest = '' AND l.written_at < ?1
                 AND NOT EXISTS (SELECT 1 FROM files n WHERE n.path = l.path AND n.id > l.id)) LIMIT ?2)";
        let mut swept = self.db.execute(deleted, params![before, limit])?;
        let trusted = Label::is_trusted_sql("t.label");
        let many = format!("DELETE FROM file_contents WHERE file_id IN (SELECT c.file_id FROM file_contents c JOIN files f ON f.id = c.file_id
             WHERE (SELECT count(*) FROM files n JOIN file_contents d ON d.file_id = n.id WHERE n.path = f.path AND n.id > f.id) >= ?1
             AND f.id <> coalesce((SELECT max(t.id) FROM files t JOIN file_contents d ON d.file_id = t.id WHERE t.path = f.path AND {trusted}), 0) LIMIT ?2)");
        swept = swept.saturating_add(self.db.execute(&many, params![VERSIONS_KEPT, limit])?);
        Ok(swept.saturating_add(self.sweep_without_entry(before, limit)?))
    }

    fn sweep_without_entry(&self, before: Timestamp, limit: u32) -> anyhow::Result<usize> {
        if !self.db.entries().entries_are_whole()? {
            return Ok(0);
        }
        let counts = "DELETE FROM entry_uses WHERE key IN (SELECT u.key FROM entry_uses u WHERE u.last_at < ?1
             AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.key = u.key) LIMIT ?2)";
        let meanings = "DELETE FROM embeddings WHERE id IN (SELECT e.id FROM embeddings e
             WHERE NOT EXISTS (SELECT 1 FROM text_digests d WHERE d.digest = e.digest)
             AND NOT EXISTS (SELECT 1 FROM entries n WHERE n.digest = e.digest) LIMIT ?1)";
        let swept = self.db.execute(counts, params![before, limit])?;
        Ok(swept.saturating_add(self.db.execute(meanings, [limit])?))
    }

    /// Removes the rows of a deleted archive.
    pub fn forget_export(&self, path: &str, digest: &str) -> anyhow::Result<()> {
        self.db.run("DELETE FROM files WHERE path = ?1 AND digest = ?2", [path, digest])
    }

    /// Drops a file from the index; its remaining text is indexed again.
    pub fn drop_entries_at(&self, path: &str) -> anyhow::Result<()> {
        self.drop_entries("path = ?1", path)
    }

    /// Drops everything of a scope from the index; the remaining text is indexed again.
    pub fn drop_entries_of(&self, scope: Scope) -> anyhow::Result<()> {
        self.drop_entries("scope IN (?1)", &scope.encode())
    }

    /// Drops the whole index, to be rebuilt.
    pub fn drop_all_entries(&self) -> anyhow::Result<()> {
        self.drop_entries("?1 = ?1", "")
    }

    fn drop_entries(&self, which: &str, of: &str) -> anyhow::Result<()> {
        let sql = format!("SELECT DISTINCT digest FROM entries WHERE {which}");
        let digests: Vec<String> = self.db.all(&sql, [of])?;
        for sql in [
            format!("DELETE FROM entries_fts WHERE rowid IN (SELECT id FROM entries WHERE {which})"),
            format!("DELETE FROM entries WHERE {which}"),
            // Journal items are indexed only if marked.
            format!(
                "INSERT OR REPLACE INTO unindexed (path, scope) SELECT path, scope FROM indexed
                     WHERE ({which}) AND (path LIKE 'conversations/%' OR path LIKE 'reflections/%')"
            ),
            format!("DELETE FROM indexed WHERE ({which}) AND path NOT IN (SELECT path FROM entries)"),
        ] {
            self.db.run(&sql, [of])?;
        }
        digests.iter().try_for_each(|digest| self.tx().embeddings().drop_embedding(digest))
    }

    /// Drops an entry's use count, and its file from the index for a rescan.
    pub(super) fn drop_entry(&self, row: i64) -> anyhow::Result<()> {
        let mut query = self.db.prepare_cached("SELECT path, key FROM entries WHERE id = ?1")?;
        let (path, key): (String, String) = query.query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.db.run("DELETE FROM entry_uses WHERE key = ?1", [key])?;
        self.drop_entries_at(&path)
    }
}

impl Erasure<'_> {
    /// Returns the archives exported before that time: path and digest.
    pub fn exports_before(&self, before: Timestamp) -> anyhow::Result<Vec<(String, String)>> {
        let sql = "SELECT path, digest FROM files WHERE (path LIKE 'exports/%' OR path LIKE '%/exports/%') AND path LIKE '%.tar'
             AND author = 'program' AND digest <> '' AND written_at < ?1 ORDER BY id";
        let mut query = self.db.prepare_cached(sql)?;
        Ok(query.query_map([before], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PersonId;
    use crate::store::{Journal, NewFile};

    #[tokio::test]
    async fn what_a_deleted_file_held_and_meanings_of_nothing_go_and_what_is_known_stays() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("j.db"), None).unwrap();
        let left = journal
            .write("sweep", |tx| {
                for (path, digest, content, at) in
                    [("gone.md", "a", Some("words"), 1), ("gone.md", "", None, 2), ("kept.md", "b", Some("words"), 1)]
                {
                    tx.file_versions().file_version_of(&NewFile {
                        path,
                        digest,
                        label: &Label::trusted(),
                        scope: Scope::Person(PersonId(1)),
                        author: "person",
                        cause: "",
                        content: content.map(str::as_bytes),
                        at: Timestamp(at),
                    })?;
                }
                tx.execute("INSERT INTO embeddings (model, digest, vector) VALUES ('m', 'nowhere', x'00')", [])?;
                tx.execute("INSERT INTO entry_uses (key, uses, last_at) VALUES ('old', 1, 1), ('new', 1, 9)", [])?;
                let one = |sql: &str| tx.query_row(sql, [], |row| row.get::<_, i64>(0));
                while tx.erasure().sweep_knowledge(Timestamp(5), 1)? > 0 {}
                let held = "SELECT (SELECT count(*) FROM embeddings) + (SELECT count(*) FROM entry_uses)";
                assert_eq!(one(held)?, 3, "the index may still come to have them");
                tx.entries().entries_begun()?;
                tx.entries().entries_done()?;
                while tx.erasure().sweep_knowledge(Timestamp(5), 1)? > 0 {}
                let uses: String = tx.query_row("SELECT group_concat(key) FROM entry_uses", [], |row| row.get(0))?;
                Ok((one("SELECT count(*) FROM file_contents")?, one("SELECT count(*) FROM embeddings")?, uses))
            })
            .await
            .unwrap();
        assert_eq!(left, (1, 0, "new".to_owned()));
    }
}
