//! Computation of missing vectors: a task that checks once a minute for texts without a vector and
//! works, newest first, until there are none.
//!
//! Checked rows are remembered only while the program runs, to save checking again. Missing vectors
//! are found by a query to the journal, so a restart, a change of model or a rebuilt index needs no
//! special care. A batch contains one scope only, because each scope has its own budget. A text
//! that the server rejects for its content gets an empty vector; a probe shows whether the text or
//! the server is the cause.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Vectors;
use super::known_length;
use crate::model::ModelError;
use crate::model::embed::BATCH;
use crate::store::{Corpus, MissingVector, text_digest};
use crate::time::Timestamp;
use crate::time::task::guarded;
use crate::trust::{Scope, Text};
use crate::wording;

/// Interval between checks for new texts.
const LOOK_EVERY: Duration = Duration::from_secs(60);
/// Pause when the budget is exhausted, or the journal failed.
const RETRY_PAUSE: Duration = Duration::from_secs(15 * 60);
/// Timeout for a batch. A small computer needs that long.
const BATCH_WITHIN: Duration = Duration::from_secs(90);
/// Number of rows checked at a time.
const ROWS: i64 = 1000;
/// Interval between deletions of unneeded vectors.
const SWEEP_EVERY: Duration = Duration::from_secs(24 * 3600);
/// Number of vectors deleted at a time.
const SWEPT: u32 = 500;

/// Rows not checked since the program started.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    said: Rows,
    known: Rows,
    swept_at: Option<Timestamp>,
}

#[derive(Debug, Default)]
struct Rows {
    /// Newest row ever in a range.
    newest: i64,
    /// Ranges, newest last.
    ranges: Vec<(i64, i64)>,
    has_looked: bool,
}

impl Backlog {
    /// Returns true if all present rows were checked.
    pub(super) fn is_done(&self) -> bool {
        [&self.said, &self.known].into_iter().all(|rows| rows.has_looked && rows.ranges.is_empty())
    }

    /// Returns the ranges not checked yet, including all future rows.
    pub(super) fn ahead(&self) -> Vec<(Corpus, (i64, i64))> {
        let of = |corpus, rows: &Rows| {
            let beyond = (rows.newest + 1, i64::MAX);
            rows.ranges.iter().copied().chain([beyond]).map(|range| (corpus, range)).collect::<Vec<_>>()
        };
        of(Corpus::Known, &self.known).into_iter().chain(of(Corpus::Said, &self.said)).collect()
    }

    fn rows(&mut self, corpus: Corpus) -> &mut Rows {
        match corpus {
            Corpus::Said => &mut self.said,
            Corpus::Known => &mut self.known,
        }
    }
}

impl Rows {
    fn extend_to(&mut self, newest: i64) {
        self.has_looked = true;
        if newest > self.newest {
            self.ranges.push((self.newest + 1, newest));
            self.newest = newest;
        }
    }

    /// Returns the newest unchecked rows.
    fn next(&self) -> Option<(i64, i64)> {
        self.ranges.last().map(|(from, to)| ((*from).max(to - ROWS + 1), *to))
    }

    /// Marks those rows as complete.
    fn done(&mut self, (from, to): (i64, i64)) {
        if let Some(last) = self.ranges.last_mut().filter(|last| last.1 == to) {
            last.1 = from - 1;
            if last.0 > last.1 {
                self.ranges.pop();
            }
        }
    }
}

/// Result of one batch.
enum Batch {
    /// Vectors were computed, or rows were checked.
    Went,
    /// Nothing is missing.
    Nothing,
    /// The server needs a pause.
    Failed,
}

impl Vectors {
    /// Computes missing vectors until the program stops.
    pub async fn run(self, stop: CancellationToken) {
        let clock = std::sync::Arc::clone(&self.0.clock);
        let mut busy = clock.busy();
        loop {
            let worked = tokio::select! {
                () = stop.cancelled() => return,
                worked = guarded("Computing vectors", self.work()) => worked,
            };
            let next = worked.unwrap_or_else(|error| {
                tracing::error!("Computing vectors failed, and is tried again: {error:#}");
                clock.now().plus(RETRY_PAUSE)
            });
            busy = tokio::select! {
                () = stop.cancelled() => return,
                woken = busy.rest_until(&*clock, next) => woken,
            };
        }
    }

    /// Runs one round immediately.
    #[cfg(test)]
    pub async fn catch_up(&self) -> anyhow::Result<Timestamp> {
        self.work().await
    }

    /// Works until nothing is missing, or until a pause is needed. Returns when to continue.
    async fn work(&self) -> anyhow::Result<Timestamp> {
        self.take_up_key().await?;
        loop {
            let now = self.0.clock.now();
            if let Some(until) = self.state().away.as_ref().map(|away| away.until).filter(|until| *until > now) {
                return Ok(until);
            }
            match self.batch().await? {
                Batch::Went => {}
                Batch::Failed => continue,
                Batch::Nothing => {
                    self.sweep().await?;
                    return Ok(self.0.clock.now().plus(LOOK_EVERY));
                }
            }
            if !self.0.ledger.has_spare().await? {
                return Ok(self.0.clock.now().plus(RETRY_PAUSE));
            }
        }
    }

    /// Restores the vector length known from the previous run, if the model is the same.
    pub(crate) async fn take_up_key(&self) -> anyhow::Result<()> {
        if self.state().dimensions.is_some() {
            return Ok(());
        }
        let info = self.0.embedder.info();
        let length = self.0.journal.read(|db| known_length(db, info)).await?;
        let mut state = self.state();
        state.dimensions = state.dimensions.or(length);
        Ok(())
    }

    /// Computes some missing vectors: knowledge before messages.
    async fn batch(&self) -> anyhow::Result<Batch> {
        for corpus in [Corpus::Known, Corpus::Said] {
            let newest = self.0.journal.read(move |db| db.embeddings().newest_words(corpus)).await?;
            self.state().backlog.rows(corpus).extend_to(newest);
            let Some(rows) = self.state().backlog.rows(corpus).next() else { continue };
            let key = self.key().unwrap_or_default();
            let lacking = self.0.journal.read_much(move |db| db.embeddings().lacking(corpus, &key, rows)).await?;
            if lacking.is_empty() {
                self.state().backlog.rows(corpus).done(rows);
                return Ok(Batch::Went);
            }
            return self.fill(corpus, lacking).await;
        }
        Ok(Batch::Nothing)
    }

    async fn fill(&self, corpus: Corpus, lacking: Vec<MissingVector>) -> anyhow::Result<Batch> {
        let Some(scope) = lacking.first().map(|one| one.text.scope()) else { return Ok(Batch::Nothing) };
        let mut words: BTreeMap<String, Text> = BTreeMap::new();
        let mut places = Vec::new();
        for one in lacking.into_iter().filter(|one| one.text.scope().equals(scope)) {
            if words.len() >= BATCH {
                break;
            }
            let digest = one.digest.unwrap_or_else(|| text_digest(one.text.open().0));
            words.entry(digest.clone()).or_insert(one.text);
            places.push((one.row, digest));
        }
        let key = self.key().unwrap_or_default();
        let of = words.keys().cloned().collect::<Vec<_>>();
        // The same text may exist elsewhere and have its vector already.
        let there = self.0.journal.read(move |db| {
            of.into_iter()
                .map(|one| Ok((db.embeddings().has_embedding(&key, &one)?, one)))
                .collect::<anyhow::Result<Vec<_>>>()
        });
        for (is_there, digest) in there.await? {
            if is_there {
                words.remove(&digest);
            }
        }
        let (digests, texts): (Vec<String>, Vec<Text>) = words.into_iter().unzip();
        let Ok(vectors) = self.of_words(&texts, scope).await else { return Ok(Batch::Failed) };
        let key = self.key().unwrap_or_default();
        let keep = move |tx: crate::store::Tx<'_>| {
            for (row, digest) in places.iter().filter(|_| corpus == Corpus::Said) {
                tx.embeddings().store_digest(*row, digest)?;
            }
            for (digest, vector) in digests.iter().zip(&vectors) {
                tx.embeddings().store_embedding(&key, digest, vector)?;
            }
            Ok(())
        };
        self.0.journal.write("keep vectors", keep).await?;
        Ok(Batch::Went)
    }

    /// Computes one vector for each text; an empty one for a text that the server rejects.
    async fn of_words(&self, texts: &[Text], scope: Scope) -> Result<Vec<Vec<f32>>, ModelError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let error = match self.compute(texts, scope, BATCH_WITHIN).await {
            Ok(vectors) => return Ok(vectors),
            Err(error) => error,
        };
        let probe = [wording::own("Good morning", scope)];
        if !may_be_the_words(&error) || self.compute(&probe, scope, BATCH_WITHIN).await.is_err() {
            self.failed(&error);
            return Err(error);
        }
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            match self.compute(std::slice::from_ref(text), scope, BATCH_WITHIN).await {
                Ok(one) => vectors.extend(one),
                Err(error) if may_be_the_words(&error) => vectors.push(Vec::new()),
                Err(error) => {
                    self.failed(&error);
                    return Err(error);
                }
            }
        }
        Ok(vectors)
    }

    /// Deletes vectors of other models and of texts that no longer exist. Runs once a day, when no
    /// vector is missing and the index is complete.
    async fn sweep(&self) -> anyhow::Result<()> {
        let now = self.0.clock.now();
        let Some(key) = self.key() else { return Ok(()) };
        if self.state().backlog.swept_at.is_some_and(|at| now.since(at) < SWEEP_EVERY) {
            return Ok(());
        }
        if !self.0.journal.read(|db| db.entries().entries_are_whole()).await? {
            return Ok(());
        }
        loop {
            let key = key.clone();
            let swept = self.0.journal.write("drop vectors", move |tx| tx.embeddings().sweep_embeddings(&key, SWEPT));
            if swept.await? == 0 {
                break;
            }
        }
        self.state().backlog.swept_at = Some(now);
        Ok(())
    }
}

/// Returns true if the input, and not the server, may have caused the error.
fn may_be_the_words(error: &ModelError) -> bool {
    matches!(error, ModelError::TooLong | ModelError::Refused | ModelError::Rejected(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_newest_come_first_and_none_twice() {
        let mut rows = Rows::default();
        rows.extend_to(2_500);
        assert_eq!(rows.next(), Some((1_501, 2_500)));
        rows.done((1_501, 2_500));
        rows.extend_to(2_510);
        assert_eq!(rows.next(), Some((2_501, 2_510)));
        rows.done((2_501, 2_510));
        assert_eq!(rows.next(), Some((501, 1_500)));
    }

    proptest! {
        #[test]
        fn every_row_is_looked_at_once(steps in prop::collection::vec(0_i64..3_000, 1..8)) {
            let (mut rows, mut newest, mut seen) = (Rows::default(), 0, Vec::new());
            for step in steps {
                newest += step;
                rows.extend_to(newest);
                if let Some(range) = rows.next() {
                    seen.extend(range.0..=range.1);
                    rows.done(range);
                }
            }
            while let Some(range) = rows.next() {
                seen.extend(range.0..=range.1);
                rows.done(range);
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (1..=newest).collect::<Vec<_>>());
        }
    }
}
