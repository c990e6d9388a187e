//! Loads vectors into memory in the background.
//!
//! After the start the caches of the most recently active scopes are loaded one after the other
//! while there is room: a hundred thousand vectors take a second or two, and until then full-text
//! search decides. A query reads one step itself, so it always works for scopes with few vectors or
//! nearly loaded ones; the rest is then loaded at once in the background. The journal is read in
//! steps of some ten milliseconds, so its other readers do not wait long either.

use tokio_util::sync::CancellationToken;

use super::vector_cache::{Key, LoadStep};
use super::{Corpus, Vectors};
use crate::store::Db;
use crate::time::Timestamp;
use crate::time::task::{guarded, lock};
use crate::trust::Scope;

impl Vectors {
    /// Loads caches until the program stops: first those that are likely to be queried, then those
    /// that a query found incomplete.
    pub async fn load(self, stop: CancellationToken) {
        let clock = std::sync::Arc::clone(&self.0.clock);
        let wakeups = lock(&self.0.wakeups).take();
        let Some(mut wakeups) = wakeups else { return };
        let mut resting = Some(clock.busy());
        let Some(()) = stop.run_until_cancelled(self.load_all()).await else { return };
        loop {
            let Some(()) = stop.run_until_cancelled(self.load_requested()).await else { return };
            let rung = stop.run_until_cancelled(wakeups.recv_or_timeout(&*clock, None, resting.take()));
            let Some(Some(busy)) = rung.await else { return };
            resting = Some(busy);
        }
    }

    /// Loads all vectors of a scope, as [`Vectors::load`] does, before the first query needs them.
    pub async fn read(&self, corpus: Corpus, scope: Scope) -> anyhow::Result<()> {
        self.take_up_key().await?;
        while let Some((model, length)) = self.key().zip(self.length()) {
            let vectors = self.clone();
            let step = move |db: Db<'_>| vectors.step(db, &model, (corpus, scope), length);
            if self.0.journal.read_much(step).await?.1 {
                break;
            }
        }
        Ok(())
    }

    /// Returns true if the vectors of that scope are in memory. Otherwise starts loading them in
    /// the background.
    pub(super) fn is_ready(&self, db: Db<'_>, model: &str, key: Key, length: usize) -> anyhow::Result<bool> {
        self.caches().request(key);
        let (is_whole, is_current) = self.step(db, model, key, length)?;
        if !is_current && (!is_whole || !self.step(db, model, key, length)?.1) {
            self.state().wanted.insert(key);
            self.0.wakeup_sender.wake(&*self.0.clock);
        }
        Ok(is_whole)
    }

    /// Loads one step. Returns whether everything that existed when loading began is present, and
    /// whether nothing came since.
    fn step(&self, db: Db<'_>, model: &str, key: Key, length: usize) -> anyhow::Result<(bool, bool)> {
        let from = self.caches().read_upto(model, key);
        let step = LoadStep::read(db, model, key, length, from)?;
        Ok(self.caches().put(model, key, length, step))
    }

    /// Loads all scopes, most recently active first, while there is room.
    async fn load_all(&self) {
        let scopes = match self.0.journal.read(by_last_talk).await {
            Ok(scopes) => scopes,
            Err(error) => return tracing::error!("The vectors are read when they are asked for: {error:#}"),
        };
        for scope in scopes {
            for corpus in [Corpus::Known, Corpus::Said] {
                if !self.caches().has_capacity() {
                    return;
                }
                self.load_or_log((corpus, scope)).await;
            }
        }
    }

    async fn load_requested(&self) {
        loop {
            let next = {
                let mut state = self.state();
                let next = state.wanted.iter().next().copied();
                next.and_then(|key| state.wanted.take(&key))
            };
            let Some(key) = next else { return };
            self.load_or_log(key).await;
        }
    }

    /// Loads a cache and logs a failure; the next query tries again.
    async fn load_or_log(&self, (corpus, scope): Key) {
        if let Err(error) = guarded("Reading vectors", self.read(corpus, scope)).await {
            tracing::error!("Vectors cannot be read into memory: {error:#}");
        }
    }

    fn length(&self) -> Option<usize> {
        self.state().dimensions
    }
}

fn by_last_talk(db: Db<'_>) -> anyhow::Result<Vec<Scope>> {
    let mut scopes = Vec::new();
    for (stream, _, scope) in db.conversations().streams()? {
        let last =
            db.conversations().newest_conversation(stream)?.map_or(Timestamp(0), |conversation| conversation.last_at);
        scopes.push((last, scope));
    }
    scopes.sort_by_key(|(last, _)| std::cmp::Reverse(*last));
    Ok(scopes.into_iter().map(|(_, scope)| scope).collect())
}
