//! What words mean, as vectors, kept by model and content: the same words are paid for once,
//! wherever they stand.
//!
//! `embeddings` holds vectors by digest; entries carry their digest themselves, texts of messages
//! have theirs in `text_digests`. What has no vector yet is read off the rows, so nothing has to be
//! remembered about how far somebody came. A text that no model takes has an empty vector, so that
//! it is not sent again and again. When words go, so does what they mean, unless the same words
//! still stand somewhere else.

use crate::store::handles::{Embeddings, EmbeddingsMut};
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, params};

use super::EntryKind;
use super::maintenance::SEARCHED;
use crate::trust::{Label, Labelled, Scope, Text};

/// Where words stand that have a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Corpus {
    /// What was said.
    Said,
    /// Entries of the index.
    Known,
}

/// Words without a vector.
#[derive(Debug, Clone)]
pub struct Lacking {
    /// The row of the text, or of the entry.
    pub row: i64,
    /// SHA-256 of the words, if that is known already.
    pub digest: Option<String>,
    /// The words.
    pub text: Text,
}

/// How far a reader of vectors has read. It begins with the newest words and goes back to the
/// oldest; from then on it reads what came since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// The words of this row, and older ones, are still to be read: a row of `texts`, or of
    /// `entries`. Nought when that is done.
    pub words: i64,
    /// The newest row of `embeddings` that is read.
    pub vector: i64,
    /// The newest place where words stand that is read: a row of `text_digests`, or of `entries`.
    pub place: i64,
}

/// One vector, and where its words stand.
#[derive(Debug)]
pub struct Vectored<'r> {
    /// SHA-256 of the words, in hexadecimal digits.
    pub digest: &'r str,
    /// Whether they are trusted.
    pub is_trusted: bool,
    /// The numbers; never none.
    pub vector: Vec<f32>,
    /// Of an entry: what it is.
    pub kind: Option<EntryKind>,
    /// Of an entry: its category, or blank.
    pub category: &'r str,
    /// Of an entry: its name, or blank.
    pub name: &'r str,
}

/// So many rows are looked at in one step of reading: some ten milliseconds.
const STEP: i64 = 4_000;

impl Embeddings<'_> {
    /// The newest row of texts or of entries.
    pub fn newest_words(&self, pool: Corpus) -> anyhow::Result<i64> {
        let sql = match pool {
            Corpus::Said => "SELECT coalesce(max(id), 0) FROM texts",
            Corpus::Known => "SELECT coalesce(max(id), 0) FROM entries",
        };
        Ok(self.db.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// The words in these rows that have no vector of that model, newest first.
    pub fn lacking(&self, pool: Corpus, model: &str, rows: (i64, i64)) -> anyhow::Result<Vec<Lacking>> {
        let (what, order) = match pool {
            Corpus::Said => ("t.id, d.digest, t.text, t.label, t.scope", "t.id"),
            Corpus::Known => ("n.id, n.digest, n.text, n.label, n.scope", "n.id"),
        };
        let mut query = self.db.prepare_cached(&format!("SELECT {what} {} ORDER BY {order} DESC", lacks(pool)))?;
        let rows = query.query_map(params![model, rows.0, rows.1], lacking)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether those words have a vector of that model, be it an empty one.
    pub fn has_embedding(&self, model: &str, digest: &str) -> anyhow::Result<bool> {
        let mut query = self.db.prepare_cached("SELECT 1 FROM embeddings WHERE model = ?1 AND digest = ?2")?;
        Ok(query.exists([model, digest])?)
    }

    /// The vector of those words.
    pub fn embedding(&self, model: &str, digest: &str) -> anyhow::Result<Option<Vec<f32>>> {
        let mut query = self.db.prepare_cached("SELECT vector FROM embeddings WHERE model = ?1 AND digest = ?2")?;
        let blob: Option<Vec<u8>> = query.query_row([model, digest], |row| row.get(0)).optional()?;
        Ok(blob.map(|blob| numbers(&blob)))
    }

    /// How many words were seen to with that model. The few that it does not take are among them.
    pub fn embedded(&self, model: &str) -> anyhow::Result<u64> {
        let mut query = self.db.prepare_cached("SELECT count(*) FROM embeddings WHERE model = ?1")?;
        let count: i64 = query.query_row([model], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// How many words in these rows have no vector of that model, counted up to a bound.
    pub fn count_lacking(&self, pool: Corpus, model: &str, rows: (i64, i64), most: u64) -> anyhow::Result<u64> {
        let mut query = self.db.prepare_cached(&format!("SELECT count(*) FROM (SELECT 1 {} LIMIT ?4)", lacks(pool)))?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let count: i64 = query.query_row(params![model, rows.0, rows.1, most], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Where somebody begins to read who has read nothing yet.
    pub fn begin_vectors(&self, pool: Corpus) -> anyhow::Result<Read> {
        let (vector, place) = self.newest_vectors(pool)?;
        Ok(Read { words: self.newest_words(pool)?, vector, place })
    }

    /// Shows `see` the vectors of a scope that come next, at most a step of them, and those that
    /// came since. Words that stand in several places may be shown more than once. Says how far it
    /// has read now, and whether that is all there is.
    pub fn read_vectors(
        &self,
        (pool, scope): (Corpus, Scope),
        model: &str,
        read: Read,
        mut see: impl FnMut(Vectored<'_>),
    ) -> anyhow::Result<(Read, bool)> {
        let mut show = |sql: &str, from: i64, to: i64| -> anyhow::Result<()> {
            if from > to {
                return Ok(());
            }
            let mut query = self.db.prepare_cached(sql)?;
            let mut rows = query.query(params![model, scope, from, to])?;
            while let Some(row) = rows.next()? {
                vectored(row, &mut see)?;
            }
            Ok(())
        };
        if read.words > 0 {
            let words = (read.words - STEP).max(0);
            show(of_words(pool), words + 1, read.words)?;
            return Ok((Read { words, ..read }, false));
        }
        let newest = self.newest_vectors(pool)?;
        let upto = (newest.0.min(read.vector + STEP), newest.1.min(read.place + STEP));
        show(new_vectors(pool), read.vector + 1, upto.0)?;
        show(new_places(pool), read.place + 1, upto.1)?;
        Ok((Read { words: 0, vector: upto.0, place: upto.1 }, upto == newest))
    }

    fn newest_vectors(&self, pool: Corpus) -> anyhow::Result<(i64, i64)> {
        let sql = match pool {
            Corpus::Said => {
                "SELECT (SELECT coalesce(max(id), 0) FROM embeddings), (SELECT coalesce(max(id), 0) FROM text_digests)"
            }
            Corpus::Known => {
                "SELECT (SELECT coalesce(max(id), 0) FROM embeddings), (SELECT coalesce(max(id), 0) FROM entries)"
            }
        };
        Ok(self.db.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }
}

fn vectored(row: &Row<'_>, see: &mut impl FnMut(Vectored<'_>)) -> anyhow::Result<()> {
    let vector = numbers(row.get_ref(2)?.as_blob()?);
    if vector.is_empty() {
        return Ok(());
    }
    let label: Label = row.get(1)?;
    see(Vectored {
        digest: row.get_ref(0)?.as_str()?,
        is_trusted: label.is_trusted(),
        vector,
        kind: EntryKind::parse(row.get_ref(3)?.as_str()?),
        category: row.get_ref(4)?.as_str()?,
        name: row.get_ref(5)?.as_str()?,
    });
    Ok(())
}

/// From the newest words to the oldest: what is said together has its vectors together, so the file
/// is read nearly in its order. `CROSS JOIN` keeps the tables in the order in which they stand
/// here: left to itself the planner walks through every vector of the model for each step.
fn of_words(pool: Corpus) -> &'static str {
    match pool {
        Corpus::Said => {
            "SELECT d.digest, t.label, e.vector, '', '', '' FROM text_digests d CROSS JOIN texts t ON t.id = d.text_id
             CROSS JOIN embeddings e ON e.model = ?1 AND e.digest = d.digest
             WHERE d.text_id BETWEEN ?3 AND ?4 AND t.scope = ?2 AND t.text <> '' ORDER BY d.text_id DESC"
        }
        Corpus::Known => {
            "SELECT n.digest, n.label, e.vector, n.kind, n.category, n.name
             FROM entries n CROSS JOIN embeddings e ON e.model = ?1 AND e.digest = n.digest
             WHERE n.id BETWEEN ?3 AND ?4 AND +n.scope IN (?2, 'shared') ORDER BY n.id DESC"
        }
    }
}

fn new_vectors(pool: Corpus) -> &'static str {
    match pool {
        Corpus::Said => {
            "SELECT d.digest, t.label, e.vector, '', '', '' FROM embeddings e CROSS JOIN text_digests d ON d.digest = e.digest
             CROSS JOIN texts t ON t.id = d.text_id
             WHERE e.id BETWEEN ?3 AND ?4 AND +e.model = ?1 AND t.scope = ?2 AND t.text <> ''"
        }
        Corpus::Known => {
            "SELECT n.digest, n.label, e.vector, n.kind, n.category, n.name
             FROM embeddings e CROSS JOIN entries n ON n.digest = e.digest
             WHERE e.id BETWEEN ?3 AND ?4 AND +e.model = ?1 AND +n.scope IN (?2, 'shared')"
        }
    }
}

/// Words that came to stand in a scope and whose vector was there before, because they stood
/// elsewhere.
fn new_places(pool: Corpus) -> &'static str {
    match pool {
        Corpus::Said => {
            "SELECT d.digest, t.label, e.vector, '', '', '' FROM text_digests d CROSS JOIN texts t ON t.id = d.text_id
             CROSS JOIN embeddings e ON e.model = ?1 AND e.digest = d.digest
             WHERE d.id BETWEEN ?3 AND ?4 AND t.scope = ?2 AND t.text <> ''"
        }
        Corpus::Known => {
            "SELECT n.digest, n.label, e.vector, n.kind, n.category, n.name
             FROM entries n CROSS JOIN embeddings e ON e.model = ?1 AND e.digest = n.digest
             WHERE n.id BETWEEN ?3 AND ?4 AND +n.scope IN (?2, 'shared')"
        }
    }
}

/// The rows of a range whose words have no vector, for a statement to begin with.
fn lacks(pool: Corpus) -> String {
    const NONE: &str = "NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model = ?1 AND e.digest =";
    match pool {
        Corpus::Said => format!(
            "FROM texts t JOIN messages m ON m.id = t.message_id LEFT JOIN text_digests d ON d.text_id = t.id
             WHERE t.id BETWEEN ?2 AND ?3 AND {SEARCHED} AND t.text <> '' AND (d.digest IS NULL OR {NONE} d.digest))"
        ),
        Corpus::Known => {
            format!("FROM entries n WHERE n.id BETWEEN ?2 AND ?3 AND n.text <> '' AND {NONE} n.digest)")
        }
    }
}

fn lacking(row: &Row<'_>) -> rusqlite::Result<Lacking> {
    let words: Arc<str> = row.get(2)?;
    Ok(Lacking { row: row.get(0)?, digest: row.get(1)?, text: Labelled::new(words, row.get(3)?, row.get(4)?) })
}

impl EmbeddingsMut<'_> {
    /// Writes down under which digest the meaning of a text is kept, unless its words went
    /// meanwhile.
    pub fn keep_digest(&self, text: i64, digest: &str) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "INSERT OR IGNORE INTO text_digests (text_id, digest) SELECT id, ?2 FROM texts WHERE id = ?1 AND text <> ''",
            )?
            .execute(params![text, digest])?;
        Ok(())
    }

    /// Keeps the vector of words that stand somewhere; an empty one if no model takes them.
    pub fn keep_embedding(&self, model: &str, digest: &str, vector: &[f32]) -> anyhow::Result<()> {
        let blob: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.db
            .prepare_cached(
                "INSERT INTO embeddings (model, digest, vector)
                 SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM text_digests WHERE digest = ?2)
                     OR EXISTS (SELECT 1 FROM entries WHERE digest = ?2)
                 ON CONFLICT (model, digest) DO UPDATE SET vector = excluded.vector",
            )?
            .execute(params![model, digest, blob])?;
        Ok(())
    }

    /// The words of a text go: what they mean goes too, unless they still stand somewhere else.
    pub(super) fn drop_digest(&self, text: i64) -> anyhow::Result<()> {
        let mut query = self.db.prepare_cached("DELETE FROM text_digests WHERE text_id = ?1 RETURNING digest")?;
        let digest: Option<String> = query.query_row([text], |row| row.get(0)).optional()?;
        if let Some(digest) = digest {
            self.drop_embedding(&digest)?;
        }
        Ok(())
    }

    /// Forgets what words mean that stand nowhere any more.
    pub fn drop_embedding(&self, digest: &str) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "DELETE FROM embeddings WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM text_digests WHERE digest = ?1)
                     AND NOT EXISTS (SELECT 1 FROM entries WHERE digest = ?1)",
            )?
            .execute([digest])?;
        Ok(())
    }

    /// Drops some vectors that nobody will ask for again: of words that stand nowhere, and of any
    /// other model than that one. Says how many. None, as long as the index is not whole: what is
    /// paid for may belong to words that it will find again.
    pub fn sweep_embeddings(&self, model: &str, limit: u32) -> anyhow::Result<usize> {
        if !self.db.entries().entries_are_whole()? {
            return Ok(0);
        }
        Ok(self
            .db
            .prepare_cached(
                "DELETE FROM embeddings WHERE id IN (SELECT e.id FROM embeddings e WHERE e.model <> ?1
                     OR NOT (EXISTS (SELECT 1 FROM text_digests d WHERE d.digest = e.digest)
                             OR EXISTS (SELECT 1 FROM entries n WHERE n.digest = e.digest)) LIMIT ?2)",
            )?
            .execute(params![model, limit])?)
    }
}

fn numbers(blob: &[u8]) -> Vec<f32> {
    blob.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Journal;

    #[test]
    fn each_step_looks_at_its_own_rows_only() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.db"), None).unwrap();
        for pool in [Corpus::Said, Corpus::Known] {
            for sql in [of_words(pool), new_vectors(pool), new_places(pool)] {
                let plan = journal.read_now(|db| {
                    let mut query = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                    Ok(query
                        .query_map(params!["m", "shared", 0, 1], |row| row.get(3))?
                        .collect::<Result<Vec<String>, _>>()?)
                });
                let plan = plan.unwrap();
                assert!(plan[0].contains("id>? AND") && !plan.iter().any(|step| step.contains("SCAN")), "{plan:?}");
                assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
            }
        }
    }
}
