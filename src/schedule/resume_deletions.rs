//! What somebody wanted forgotten, and was cut off: it is finished before anything begins that
//! could show it.
//!
//! Whoever asks does the work at once and is told; here is only what was left of that by a crash,
//! and a look now and then whether something that was left because nobody asked for it has gone by
//! itself since. Then the words that were looked for go as well.

use super::Schedule;
use crate::store::Forgotten;
use crate::time::Timestamp;

impl Schedule {
    /// Finishes what was begun. One that cannot be finished now keeps nothing else from starting;
    /// the next round tries it again.
    pub(super) async fn finish_forgetting(&self) -> anyhow::Result<()> {
        let now = self.clock.now();
        for row in self.journal.read(|db| db.erasure().unfinished_forgettings()).await? {
            let id = row.id;
            let done = match row.what {
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

    /// Lets go of the words of what nothing holds any more.
    pub(super) async fn look_at_what_was_left(&self, now: Timestamp) -> anyhow::Result<()> {
        for row in self.journal.read(|db| db.erasure().forgettings_left()).await? {
            let (id, of) = (row.id, row.clone());
            if row.what == Forgotten::Person {
                // It knows no words to look for: what is left of somebody goes as the rest did.
                if let Err(error) = self.tree.erasure().forget_person(id, now).await {
                    tracing::error!("Forgetting {id} is not finished yet: {error:#}");
                }
                continue;
            }
            if !row.is_readable {
                tracing::error!("Forgetting {id} is not finished: its words cannot be read");
                continue;
            }
            let mut left = self.journal.read_much(move |db| db.erasure().left(&of)).await?;
            self.tree.erasure().look_into_files(&row, &mut left).await?;
            if left.is_nothing() {
                self.journal
                    .write("let go of forgotten words", move |tx| tx.erasure().end_forgetting(id, false, now))
                    .await?;
            }
        }
        Ok(())
    }
}
