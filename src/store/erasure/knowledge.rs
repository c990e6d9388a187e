//! Finds the source messages of a note or fact by its derivation edges, and removes deleted
//! knowledge from the index, with leftovers of it: unused use counts, vectors without text,
//! contents of deleted files, and old archives.
//!
//! A note derives from the sources of all its versions. A fact shares its file with others, so the
//! first version that contains it counts. An edge may lead to several messages: a turn that answers
//! several, or a span from which facts were extracted. Then the messages that contain the fact, in
//! these or other words, are its sources; if there are none, all messages of the turn, but never a
//! whole span.

use std::collections::BTreeSet;

use rusqlite::params;

use super::matches::value_text;
use super::{ErasureKind, ErasureRow};
use crate::id::{ErasureId, ExtractionId, FileId, MessageId, ReminderId, TurnId};
use crate::store::handles::{Erasure, ErasureMut};
use crate::store::rows::from_row;
use crate::store::{FileChange, Node, VERSIONS_KEPT};
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
        let (path, key): (String, String) = self.db.one("SELECT path, key FROM entries WHERE id = ?1", [row])?;
        self.db.run("DELETE FROM entry_uses WHERE key = ?1", [key])?;
        self.drop_entries_at(&path)
    }
}

impl Erasure<'_> {
    /// Returns the archives exported before that time: path and digest.
    pub fn exports_before(&self, before: Timestamp) -> anyhow::Result<Vec<(String, String)>> {
        let sql = "SELECT path, digest FROM files WHERE (path LIKE 'exports/%' OR path LIKE '%/exports/%') AND (path LIKE '%.zip' OR path LIKE '%.tar')
             AND author = 'program' AND digest <> '' AND written_at < ?1 ORDER BY id";
        self.db.all(sql, [before])
    }
}

/// The content of an earlier file version.
#[derive(Debug, Clone)]
pub struct OldContent {
    /// Path relative to the workspace.
    pub path: String,
    /// Content.
    pub text: String,
    /// Label of the content.
    pub label: Label,
}

from_row! {
    OldContent from "files f JOIN file_contents c ON c.file_id = f.id", "c.content" { path, label }
    with |row| { text: value_text(row.get_ref("content")?) }
}

impl Erasure<'_> {
    /// Returns the kept contents of earlier file versions of a scope.
    pub fn old_contents(&self, scope: Scope) -> anyhow::Result<Vec<OldContent>> {
        self.db.rows("WHERE f.scope = ?1 ORDER BY f.id", [scope])
    }
}

impl ErasureMut<'_> {
    pub(super) fn record_sources(&self, id: ErasureId) -> anyhow::Result<()> {
        let Some(row) = self.row(id)? else { return Ok(()) };
        for message in self.sources_of(&row.with_everything())? {
            self.tx().derivations().derive(Node::Erasure(id), Node::Message(message))?;
        }
        Ok(())
    }
}

impl Erasure<'_> {
    /// Returns the messages from which the note or fact came, by its edges.
    pub fn sources_of(&self, row: &ErasureRow) -> anyhow::Result<Vec<MessageId>> {
        if row.belongs_to_person_erasure() {
            // Others wrote in the same conversations; similar text may be theirs.
            return Ok(Vec::new());
        }
        let mut nodes = match row.kind {
            ErasureKind::Note => {
                let versions = self.db.all("SELECT id FROM files WHERE path = ?1", [&row.target])?;
                self.parents_of(versions.into_iter().map(Node::File))?
            }
            ErasureKind::Fact => self.first_versions_with(row)?,
            // Only the matching messages, which were shown to the person.
            ErasureKind::Words | ErasureKind::Person => return Ok(Vec::new()),
        };
        nodes.extend(self.extractions_with(row)?);
        let mut sources = BTreeSet::new();
        for node in nodes {
            sources.extend(self.messages_behind(row, node)?);
        }
        Ok(sources.into_iter().collect())
    }

    /// Returns what was made from those messages and in those turns, by its edges: versions of
    /// files, and reminders.
    pub fn made_from(
        &self,
        messages: &[MessageId],
        turns: &BTreeSet<TurnId>,
    ) -> anyhow::Result<(Vec<FileChange>, BTreeSet<ReminderId>)> {
        let (mut versions, mut reminders, mut turns) = (BTreeSet::new(), BTreeSet::new(), turns.clone());
        for id in messages {
            turns.extend(self.db.messages().message(*id)?.and_then(|message| message.turn));
        }
        let nodes = turns.iter().copied().map(Node::Turn).chain(messages.iter().copied().map(Node::Message));
        for node in nodes {
            let children = self.db.derivations().children(node)?.into_iter();
            versions.extend(children.filter_map(|child| if let Node::File(id) = child { Some(id) } else { None }));
        }
        for turn in turns {
            let of_turn = "SELECT id FROM reminders WHERE turn_id = ?1 AND text <> ''";
            reminders.extend(self.db.all::<_, ReminderId>(of_turn, [turn])?);
        }
        let changes = versions.into_iter().map(|id| self.db.file_versions().change(FileId(id)));
        let changes = changes.filter_map(Result::transpose).collect::<anyhow::Result<_>>()?;
        Ok((changes, reminders))
    }

    /// Returns, for each file of the scope, the versions that contain it while the previous one
    /// does not.
    fn first_versions_with(&self, row: &ErasureRow) -> anyhow::Result<Vec<Node>> {
        let sql = "SELECT f.id, f.path, c.content FROM files f JOIN file_contents c ON c.file_id = f.id
             WHERE f.scope = ?1 ORDER BY f.path, f.id";
        let mut first = Vec::new();
        // The path of the previous version, if it contains it.
        let mut previous: Option<String> = None;
        self.db.each(sql, [row.scope], |found| {
            let (path, text): (String, String) = (found.get(1)?, value_text(found.get_ref(2)?));
            let matching = Some(path).filter(|path| row.matches_line(path, &text));
            if matching.is_some() && matching != previous {
                first.push(Node::File(found.get(0)?));
            }
            previous = matching;
            Ok(())
        })?;
        self.parents_of(first)
    }

    fn extractions_with(&self, row: &ErasureRow) -> anyhow::Result<Vec<Node>> {
        let sql = "SELECT id, facts FROM extractions WHERE scope = ?1 AND facts <> '[]'";
        let found: Vec<(ExtractionId, String)> = self.db.all(sql, [row.scope])?;
        let matching = found.into_iter().filter(|(_, facts)| row.query.matches(facts));
        Ok(matching.map(|(id, _)| Node::Extraction(id)).collect())
    }

    fn parents_of(&self, children: impl IntoIterator<Item = Node>) -> anyhow::Result<Vec<Node>> {
        let mut parents = Vec::new();
        for child in children {
            parents.extend(self.db.derivations().parents(child)?);
        }
        Ok(parents)
    }

    /// Returns the messages behind an edge that contain it.
    fn messages_behind(&self, row: &ErasureRow, node: Node) -> anyhow::Result<Vec<MessageId>> {
        let of_span = "SELECT m.id FROM extractions e JOIN messages m ON m.conversation_id = e.conversation_id
             AND m.id > e.after_message AND m.id <= e.upto_message AND m.kind IN ('said', 'reply') WHERE e.id = ?1";
        let (all, is_span): (Vec<MessageId>, bool) = match node {
            Node::Message(id) => (vec![id], row.kind == ErasureKind::Fact),
            Node::Turn(id) => (self.db.compactions().messages_in(id)?, false),
            Node::Extraction(id) => (self.db.all(of_span, [id])?, true),
            _ => return Ok(Vec::new()),
        };
        let mut near = Vec::new();
        for id in &all {
            let texts = self.db.messages().texts_of(*id)?;
            if texts.iter().any(|text| row.query.is_near(text.text.open().0)) {
                near.push(*id);
            }
        }
        Ok(if near.is_empty() && !is_span { all } else { near })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PersonId;
    use crate::store::{Journal, NewFile};

    #[tokio::test]
    async fn the_sweep_deletes_orphaned_content_and_vectors_and_keeps_known_ones() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("j.db"), None).unwrap();
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
