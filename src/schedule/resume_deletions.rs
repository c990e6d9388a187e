//! Resumes interrupted deletions at start-up, before anything can display the data.
//!
//! The command itself deletes at once and reports the result. This module finishes what a crash
//! interrupted. It also checks now and then whether data outside a request, left in place then, has
//! since disappeared; the search words are then deleted as well.

use super::Schedule;
use crate::store::{ForgettingHead, Forgotten};
use crate::time::Timestamp;

impl Schedule {
    /// Finishes interrupted deletions. One that fails does not prevent the start; the next round
    /// retries it.
    pub(super) async fn finish_forgetting(&self) -> anyhow::Result<()> {
        let now = self.clock.now();
        for ForgettingHead { id, what, .. } in self.journal.read(|db| db.erasure().unfinished_forgettings()).await? {
            let done = match what {
                Forgotten::Person => self.tree.erasure().forget_person(id, now).await.map(|_| Vec::new()),
                Forgotten::Note | Forgotten::Fact | Forgotten::Said => {
                    let done = self.tree.erasure().forget(id, now).await;
                    done.map(|outcome| outcome.map(|outcome| outcome.partings).unwrap_or_default())
                }
            };
            match done {
                Ok(partings) => {
                    for parting in partings.into_iter().filter(|parting| parting.cut) {
                        self.engine.cut(parting.stream).await?;
                    }
                }
                Err(error) => tracing::error!("Forgetting {id} is not finished yet: {error:#}"),
            }
        }
        Ok(())
    }

    /// Deletes the search words of requests for which no data is left.
    pub(super) async fn clear_finished(&self, now: Timestamp) -> anyhow::Result<()> {
        for ForgettingHead { id, what, .. } in self.journal.read(|db| db.erasure().forgettings_left()).await? {
            if what == Forgotten::Person {
                // A person's row holds no words to search for, so the rest is deleted as before.
                if let Err(error) = self.tree.erasure().forget_person(id, now).await {
                    tracing::error!("Forgetting {id} is not finished yet: {error:#}");
                }
                continue;
            }
            let row = match self.journal.read(move |db| db.erasure().forgetting(id)).await {
                Ok(Some(row)) => row,
                Ok(None) => continue,
                Err(error) => {
                    tracing::error!("Forgetting {id} is not finished yet: {error:#}");
                    continue;
                }
            };
            let of = row.clone();
            let mut left = self.journal.read_much(move |db| db.erasure().left(&of)).await?;
            self.tree.erasure().scan_files(&row, &mut left).await?;
            if left.is_nothing() {
                self.journal
                    .write("let go of forgotten words", move |tx| tx.erasure().end_forgetting(id, false, now))
                    .await?;
            }
        }
        Ok(())
    }
}
