//! Embedding vectors, keyed by model and content digest, so that the same text is paid for once.
//!
//! `embeddings` holds vectors by digest. Entries carry their digest; message texts have theirs in
//! `text_digests`. Missing vectors are read off the rows, so no progress is stored. A text that the
//! model rejects has an empty vector, so that it is not sent again. When text is deleted, so is its
//! vector, unless the same text exists elsewhere.

use crate::store::handles::{Embeddings, EmbeddingsMut};
use crate::store::rows::{from_row, text};

use rusqlite::{Row, params};

use super::EntryKind;
use super::imports::withheld_by_import;
use super::maintenance::SEARCHED;
use crate::trust::{Label, Scope, Text};

/// Kind of rows with vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Corpus {
    /// Message texts.
    Said,
    /// Entries of the index.
    Known,
}

/// A text without a vector.
#[derive(Debug, Clone)]
pub struct MissingVector {
    /// Row id of the text or entry.
    pub row: i64,
    /// SHA-256 of the text, if already known.
    pub digest: Option<String>,
    /// Text.
    pub text: Text,
}

/// Progress of a scan over vectors. It runs from the newest text back to the oldest, then reads
/// additions since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Read {
    /// Rows of `texts` or `entries` up to this id are still to be read; zero when that is done.
    pub words: i64,
    /// Newest row of `embeddings` read so far.
    pub vector: i64,
    /// Newest row of `text_digests` or `entries` read so far.
    pub place: i64,
}

/// A vector with the properties of its text.
#[derive(Debug)]
pub struct Vectored<'r> {
    /// SHA-256 of the text, as hexadecimal digits.
    pub digest: &'r str,
    /// True if the text is trusted.
    pub is_trusted: bool,
    /// Components; never empty.
    pub vector: Vec<f32>,
    /// Kind of the entry; `None` for message text.
    pub kind: Option<EntryKind>,
    /// Category of the entry, or blank.
    pub category: &'r str,
    /// Name of the entry, or blank.
    pub name: &'r str,
}

/// Rows read in one step, about ten milliseconds.
const STEP: i64 = 4_000;

impl Embeddings<'_> {
    /// Returns the newest row id of texts or entries.
    pub fn newest_words(&self, corpus: Corpus) -> anyhow::Result<i64> {
        let sql = match corpus {
            Corpus::Said => "SELECT coalesce(max(id), 0) FROM texts",
            Corpus::Known => "SELECT coalesce(max(id), 0) FROM entries",
        };
        self.db.one(sql, [])
    }

    /// Returns the texts in these rows without a vector of that model, newest first.
    pub fn lacking(&self, corpus: Corpus, model: &str, rows: (i64, i64)) -> anyhow::Result<Vec<MissingVector>> {
        let (what, order) = match corpus {
            Corpus::Said => ("t.id, d.digest, t.text, t.label, t.scope", "t.id"),
            Corpus::Known => ("n.id, n.digest, n.text, n.label, n.scope", "n.id"),
        };
        let sql = format!("SELECT {what} {} ORDER BY {order} DESC", lacks(corpus));
        self.db.all(&sql, params![model, rows.0, rows.1])
    }

    /// Returns true if the text has a vector of that model, even an empty one.
    pub fn has_embedding(&self, model: &str, digest: &str) -> anyhow::Result<bool> {
        self.db.exists("SELECT 1 FROM embeddings WHERE model = ?1 AND digest = ?2", [model, digest])
    }

    /// Returns the vector of a text.
    pub fn embedding(&self, model: &str, digest: &str) -> anyhow::Result<Option<Vec<f32>>> {
        let blob: Option<Vec<u8>> =
            self.db.first("SELECT vector FROM embeddings WHERE model = ?1 AND digest = ?2", [model, digest])?;
        Ok(blob.map(|blob| numbers(&blob)))
    }

    /// Counts the vectors of that model, including the few empty ones of rejected texts.
    pub fn embedded(&self, model: &str) -> anyhow::Result<u64> {
        Ok(self.db.count("SELECT count(*) FROM embeddings WHERE model = ?1", [model])?.try_into()?)
    }

    /// Counts the texts in these rows without a vector of that model, up to a bound.
    pub fn count_lacking(&self, corpus: Corpus, model: &str, rows: (i64, i64), most: u64) -> anyhow::Result<u64> {
        let sql = format!("SELECT count(*) FROM (SELECT 1 {} LIMIT ?4)", lacks(corpus));
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        Ok(self.db.count(&sql, params![model, rows.0, rows.1, most])?.try_into()?)
    }

    /// Returns the start position of a scan.
    pub fn begin_vectors(&self, corpus: Corpus) -> anyhow::Result<Read> {
        let (vector, place) = self.newest_vectors(corpus)?;
        Ok(Read { words: self.newest_words(corpus)?, vector, place })
    }

    /// Passes the next vectors of a scope to `see`, at most one step of them; after the last old
    /// one, those added since. A text that occurs several times may be passed more than once.
    /// Returns the new position, and true once everything has been read.
    pub fn read_vectors(
        &self,
        (corpus, scope): (Corpus, Scope),
        model: &str,
        read: Read,
        mut see: impl FnMut(Vectored<'_>),
    ) -> anyhow::Result<(Read, bool)> {
        let mut show = |sql: &str, from: i64, to: i64| -> anyhow::Result<()> {
            if from > to {
                return Ok(());
            }
            self.db.each(sql, params![model, scope, from, to], |row| vectored(row, &mut see))
        };
        if read.words > 0 {
            let words = (read.words - STEP).max(0);
            show(of_words(corpus), words + 1, read.words)?;
            return Ok((Read { words, ..read }, false));
        }
        let newest = self.newest_vectors(corpus)?;
        let upto = (newest.0.min(read.vector + STEP), newest.1.min(read.place + STEP));
        show(new_vectors(corpus), read.vector + 1, upto.0)?;
        show(new_places(corpus), read.place + 1, upto.1)?;
        Ok((Read { words: 0, vector: upto.0, place: upto.1 }, upto == newest))
    }

    fn newest_vectors(&self, corpus: Corpus) -> anyhow::Result<(i64, i64)> {
        let sql = match corpus {
            Corpus::Said => {
                "SELECT (SELECT coalesce(max(id), 0) FROM embeddings), (SELECT coalesce(max(id), 0) FROM text_digests)"
            }
            Corpus::Known => {
                "SELECT (SELECT coalesce(max(id), 0) FROM embeddings), (SELECT coalesce(max(id), 0) FROM entries)"
            }
        };
        self.db.one(sql, [])
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
        kind: row.get(3)?,
        category: row.get_ref(4)?.as_str()?,
        name: row.get_ref(5)?.as_str()?,
    });
    Ok(())
}

/// Query from the newest text to the oldest. Neighbouring texts have neighbouring vectors, so the
/// file is read nearly in order. `CROSS JOIN` fixes the join order: left to itself, the planner
/// scans every vector of the model for each step.
fn of_words(corpus: Corpus) -> &'static str {
    match corpus {
        Corpus::Said => {
            "SELECT d.digest, t.label, e.vector, NULL, '', '' FROM text_digests d CROSS JOIN texts t ON t.id = d.text_id
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

fn new_vectors(corpus: Corpus) -> &'static str {
    match corpus {
        Corpus::Said => {
            "SELECT d.digest, t.label, e.vector, NULL, '', '' FROM embeddings e CROSS JOIN text_digests d ON d.digest = e.digest
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

/// Query for new occurrences in a scope of texts that already had a vector.
fn new_places(corpus: Corpus) -> &'static str {
    match corpus {
        Corpus::Said => {
            "SELECT d.digest, t.label, e.vector, NULL, '', '' FROM text_digests d CROSS JOIN texts t ON t.id = d.text_id
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

/// FROM and WHERE clauses that select rows of a range without a vector.
fn lacks(corpus: Corpus) -> String {
    let withheld = |label: &str| format!("({label} GLOB '*import:*' AND {})", withheld_by_import(label));
    const NONE: &str = "NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model = ?1 AND e.digest =";
    match corpus {
        Corpus::Said => format!(
            "FROM texts t JOIN messages m ON m.id = t.message_id LEFT JOIN text_digests d ON d.text_id = t.id
             WHERE t.id BETWEEN ?2 AND ?3 AND {SEARCHED} AND t.text <> '' AND (d.digest IS NULL OR {NONE} d.digest))
                 AND NOT {}",
            withheld("t.label")
        ),
        Corpus::Known => {
            let withheld = withheld("n.label");
            format!(
                "FROM entries n WHERE n.id BETWEEN ?2 AND ?3 AND n.text <> '' AND {NONE} n.digest) AND NOT {withheld}"
            )
        }
    }
}

from_row! {
    MissingVector { row: "id", digest }
    with |row| { text: text(row, "text")? }
}

impl EmbeddingsMut<'_> {
    /// Stores the digest of a text, unless its text was deleted meanwhile.
    pub fn store_digest(&self, text: i64, digest: &str) -> anyhow::Result<()> {
        self.db.run("INSERT OR IGNORE INTO text_digests (text_id, digest) SELECT id, ?2 FROM texts WHERE id = ?1 AND text <> ''", params![text, digest])
    }

    /// Stores the vector of a text that still exists; an empty one if the model rejects it.
    pub fn store_embedding(&self, model: &str, digest: &str, vector: &[f32]) -> anyhow::Result<()> {
        let blob: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.db.run(
            "INSERT INTO embeddings (model, digest, vector)
                 SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM text_digests WHERE digest = ?2)
                     OR EXISTS (SELECT 1 FROM entries WHERE digest = ?2)
                 ON CONFLICT (model, digest) DO UPDATE SET vector = excluded.vector",
            params![model, digest, blob],
        )
    }

    /// Removes the digest of a deleted text, and the vector unless the same text exists elsewhere.
    pub(super) fn drop_digest(&self, text: i64) -> anyhow::Result<()> {
        let digest: Option<String> =
            self.db.first("DELETE FROM text_digests WHERE text_id = ?1 RETURNING digest", [text])?;
        if let Some(digest) = digest {
            self.drop_embedding(&digest)?;
        }
        Ok(())
    }

    /// Deletes a vector whose text exists nowhere.
    pub fn drop_embedding(&self, digest: &str) -> anyhow::Result<()> {
        self.db.run(
            "DELETE FROM embeddings WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM text_digests WHERE digest = ?1)
                     AND NOT EXISTS (SELECT 1 FROM entries WHERE digest = ?1)",
            [digest],
        )
    }

    /// Deletes some unused vectors (texts that no longer exist, other models) and returns how many.
    /// Deletes none while the index is incomplete: a vector already paid for may belong to text
    /// that it is yet to find.
    pub fn sweep_embeddings(&self, model: &str, limit: u32) -> anyhow::Result<usize> {
        if !self.db.entries().entries_are_whole()? {
            return Ok(0);
        }
        self.db.execute(
            "DELETE FROM embeddings WHERE id IN (SELECT e.id FROM embeddings e WHERE e.model <> ?1
                     OR NOT (EXISTS (SELECT 1 FROM text_digests d WHERE d.digest = e.digest)
                             OR EXISTS (SELECT 1 FROM entries n WHERE n.digest = e.digest)) LIMIT ?2)",
            params![model, limit],
        )
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
        let journal = Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap();
        for corpus in [Corpus::Said, Corpus::Known] {
            for sql in [of_words(corpus), new_vectors(corpus), new_places(corpus)] {
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
