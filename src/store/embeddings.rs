//! What words mean, as vectors, kept by model and content: the same words are paid for once, wherever they stand.
//!
//! `embeddings` holds vectors by digest; entries carry their digest themselves, texts of messages have theirs in `text_digests`. What has no vector yet is read
//! off the rows, so nothing has to be remembered about how far somebody came. A text that no model takes has an empty vector, so that it is not sent again and
//! again. When words go, so does what they mean, unless the same words still stand somewhere else.

use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, params};

use super::upkeep::SEARCHED;
use super::{Db, Tx};
use crate::trust::{Label, Labelled, Scope, Text};

/// Where words stand that have a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pool {
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

/// How far a reader of vectors has read: the newest vector, and the newest place where words stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Read {
    /// The newest row of `embeddings`.
    pub vector: i64,
    /// The newest row of `text_digests`, or of `entries`.
    pub place: i64,
}

impl Db<'_> {
    /// The newest row of texts or of entries.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn newest_words(&self, pool: Pool) -> anyhow::Result<i64> {
        let sql = match pool {
            Pool::Said => "SELECT coalesce(max(id), 0) FROM texts",
            Pool::Known => "SELECT coalesce(max(id), 0) FROM entries",
        };
        Ok(self.0.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// The words in these rows that have no vector of that model, newest first.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn lacking(&self, pool: Pool, model: &str, rows: (i64, i64)) -> anyhow::Result<Vec<Lacking>> {
        const NONE: &str = "NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.model = ?1 AND e.digest =";
        let mut query = match pool {
            Pool::Said => self.0.prepare_cached(&format!(
                "SELECT t.id, d.digest, t.text, t.label, t.scope FROM texts t JOIN messages m ON m.id = t.message_id
                 LEFT JOIN text_digests d ON d.text_id = t.id
                 WHERE t.id BETWEEN ?2 AND ?3 AND {SEARCHED} AND t.text <> '' AND (d.digest IS NULL OR {NONE} d.digest))
                 ORDER BY t.id DESC"
            ))?,
            Pool::Known => self.0.prepare_cached(&format!(
                "SELECT n.id, n.digest, n.text, n.label, n.scope FROM entries n
                 WHERE n.id BETWEEN ?2 AND ?3 AND n.text <> '' AND {NONE} n.digest) ORDER BY n.id DESC"
            ))?,
        };
        let rows = query.query_map(params![model, rows.0, rows.1], lacking)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether those words have a vector of that model, be it an empty one.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn has_embedding(&self, model: &str, digest: &str) -> anyhow::Result<bool> {
        let mut query = self.0.prepare_cached("SELECT 1 FROM embeddings WHERE model = ?1 AND digest = ?2")?;
        Ok(query.exists([model, digest])?)
    }

    /// The vector of those words.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn embedding(&self, model: &str, digest: &str) -> anyhow::Result<Option<Vec<f32>>> {
        let mut query = self.0.prepare_cached("SELECT vector FROM embeddings WHERE model = ?1 AND digest = ?2")?;
        let blob: Option<Vec<u8>> = query.query_row([model, digest], |row| row.get(0)).optional()?;
        Ok(blob.map(|blob| numbers(&blob)))
    }

    /// How many words have a vector of that model.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn embedded(&self, model: &str) -> anyhow::Result<u64> {
        let mut query = self.0.prepare_cached("SELECT count(*) FROM embeddings WHERE model = ?1 AND vector <> x''")?;
        let count: i64 = query.query_row([model], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// Shows `see` the vectors of a scope that were not read before: digest, whether trusted, numbers. Newest words first, at most so many. Says how far
    /// it has read now.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn vectors(
        &self,
        (pool, scope): (Pool, Scope),
        model: &str,
        since: Read,
        most: usize,
        mut see: impl FnMut(&str, bool, &[f32]),
    ) -> anyhow::Result<Read> {
        let now = self.read_upto(pool)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut show = |row: &Row<'_>| -> rusqlite::Result<()> {
            let (digest, label): (String, Label) = (row.get(0)?, row.get(1)?);
            let vector = numbers(row.get_ref(2)?.as_blob().unwrap_or_default());
            if !vector.is_empty() {
                see(&digest, label.is_trusted(), &vector);
            }
            Ok(())
        };
        if since == Read::default() {
            let mut query = self.0.prepare_cached(all_of(pool))?;
            let mut rows = query.query(params![model, scope, most])?;
            while let Some(row) = rows.next()? {
                show(row)?;
            }
            return Ok(now);
        }
        for (sql, from) in [(new_vectors(pool), since.vector), (new_places(pool), since.place)] {
            let mut query = self.0.prepare_cached(sql)?;
            let mut rows = query.query(params![model, scope, most, from])?;
            while let Some(row) = rows.next()? {
                show(row)?;
            }
        }
        Ok(now)
    }

    fn read_upto(&self, pool: Pool) -> anyhow::Result<Read> {
        let place = match pool {
            Pool::Said => {
                "SELECT (SELECT coalesce(max(id), 0) FROM embeddings), (SELECT coalesce(max(id), 0) FROM text_digests)"
            }
            Pool::Known => {
                "SELECT (SELECT coalesce(max(id), 0) FROM embeddings), (SELECT coalesce(max(id), 0) FROM entries)"
            }
        };
        let mut query = self.0.prepare_cached(place)?;
        Ok(query.query_row([], |row| Ok(Read { vector: row.get(0)?, place: row.get(1)? }))?)
    }
}

fn all_of(pool: Pool) -> &'static str {
    match pool {
        Pool::Said => {
            "SELECT d.digest, t.label, e.vector FROM text_digests d JOIN texts t ON t.id = d.text_id
             JOIN embeddings e ON e.model = ?1 AND e.digest = d.digest
             WHERE t.scope = ?2 AND t.text <> '' ORDER BY d.text_id DESC LIMIT ?3"
        }
        Pool::Known => {
            "SELECT n.digest, n.label, e.vector FROM entries n JOIN embeddings e ON e.model = ?1 AND e.digest = n.digest
             WHERE n.scope IN (?2, 'shared') ORDER BY n.id DESC LIMIT ?3"
        }
    }
}

fn new_vectors(pool: Pool) -> &'static str {
    match pool {
        Pool::Said => {
            "SELECT d.digest, t.label, e.vector FROM embeddings e JOIN text_digests d ON d.digest = e.digest
             JOIN texts t ON t.id = d.text_id
             WHERE e.id > ?4 AND e.model = ?1 AND t.scope = ?2 AND t.text <> '' LIMIT ?3"
        }
        Pool::Known => {
            "SELECT n.digest, n.label, e.vector FROM embeddings e JOIN entries n ON n.digest = e.digest
             WHERE e.id > ?4 AND e.model = ?1 AND n.scope IN (?2, 'shared') LIMIT ?3"
        }
    }
}

/// Words that came to stand in a scope and whose vector was there before, because they stood elsewhere.
fn new_places(pool: Pool) -> &'static str {
    match pool {
        Pool::Said => {
            "SELECT d.digest, t.label, e.vector FROM text_digests d JOIN texts t ON t.id = d.text_id
             JOIN embeddings e ON e.model = ?1 AND e.digest = d.digest
             WHERE d.id > ?4 AND t.scope = ?2 AND t.text <> '' LIMIT ?3"
        }
        Pool::Known => {
            "SELECT n.digest, n.label, e.vector FROM entries n JOIN embeddings e ON e.model = ?1 AND e.digest = n.digest
             WHERE n.id > ?4 AND n.scope IN (?2, 'shared') LIMIT ?3"
        }
    }
}

fn lacking(row: &Row<'_>) -> rusqlite::Result<Lacking> {
    let words: Arc<str> = row.get(2)?;
    Ok(Lacking { row: row.get(0)?, digest: row.get(1)?, text: Labelled::new(words, row.get(3)?, row.get(4)?) })
}

impl Tx<'_> {
    /// Writes down under which digest the meaning of a text is kept, unless its words went meanwhile.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn keep_digest(&self, text: i64, digest: &str) -> anyhow::Result<()> {
        self.0
            .0
            .prepare_cached(
                "INSERT OR IGNORE INTO text_digests (text_id, digest) SELECT id, ?2 FROM texts WHERE id = ?1 AND text <> ''",
            )?
            .execute(params![text, digest])?;
        Ok(())
    }

    /// Keeps the vector of words that stand somewhere; an empty one if no model takes them.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn keep_embedding(&self, model: &str, digest: &str, vector: &[f32]) -> anyhow::Result<()> {
        let blob: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.0
            .0
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
        let mut query = self.0.0.prepare_cached("DELETE FROM text_digests WHERE text_id = ?1 RETURNING digest")?;
        let digest: Option<String> = query.query_row([text], |row| row.get(0)).optional()?;
        if let Some(digest) = digest {
            self.drop_embedding(&digest)?;
        }
        Ok(())
    }

    /// Forgets what words mean that stand nowhere any more.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn drop_embedding(&self, digest: &str) -> anyhow::Result<()> {
        self.0
            .0
            .prepare_cached(
                "DELETE FROM embeddings WHERE digest = ?1 AND NOT EXISTS (SELECT 1 FROM text_digests WHERE digest = ?1)
                     AND NOT EXISTS (SELECT 1 FROM entries WHERE digest = ?1)",
            )?
            .execute([digest])?;
        Ok(())
    }

    /// Drops some vectors that nobody will ask for again: of words that stand nowhere, and of any other model than that one. Says how many.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn sweep_embeddings(&self, model: &str, limit: u32) -> anyhow::Result<usize> {
        Ok(self
            .0
            .0
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
