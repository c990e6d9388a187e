//! The threads on which people are answered.
//!
//! An answer may compute for long, and the few threads of the runtime serve everybody. So each is
//! made on a thread of its own, a person has only a few at once, and one that only reads is given
//! up after a while.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, oneshot};

use crate::id::PersonId;
use crate::time::Clock;
use crate::time::task::{guarded, lock};

/// Maximum number of answers to one person in the making; more wait for these.
const AT_ONCE: usize = 4;

/// The threads, by whom they answer.
pub struct AnswerThreads {
    clock: Arc<dyn Clock>,
    permits: Mutex<HashMap<Option<PersonId>, Arc<Semaphore>>>,
}

impl AnswerThreads {
    /// Time in which an answer that only reads must be there: less than a connection may be silent.
    pub const LIMIT: Duration = Duration::from_secs(20);

    /// Creates it with nobody to answer.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, permits: Mutex::default() }
    }

    /// Does work that changes something for a person, or for the command line, to its end.
    ///
    /// # Errors
    /// If the work panics, or the program stops.
    pub async fn act<T, Work>(&self, person: Option<PersonId>, work: Work) -> anyhow::Result<T>
    where
        T: Send + 'static,
        Work: Future<Output = T> + Send + 'static,
    {
        let permits =
            Arc::clone(lock(&self.permits).entry(person).or_insert_with(|| Arc::new(Semaphore::new(AT_ONCE))));
        let permit = permits.acquire_owned().await.context("Nobody is answered any more")?;
        let (caller, gone) = oneshot::channel::<Infallible>();
        let runtime = Handle::current();
        let working = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            runtime.block_on(async {
                tokio::select! {
                    done = guarded("An answer", async { Ok(work.await) }) => Some(done),
                    // Nobody waits for it any more.
                    _ = gone => None,
                }
            })
        });
        let done = working.await.context("An answer was abandoned")?;
        drop(caller);
        done.context("An answer was abandoned")?
    }

    /// Does work that only reads; `None` if it takes too long. It then ends where it next waits.
    ///
    /// # Errors
    /// If the work panics, or the program stops.
    pub async fn read<T, Work>(&self, person: PersonId, work: Work) -> anyhow::Result<Option<T>>
    where
        T: Send + 'static,
        Work: Future<Output = T> + Send + 'static,
    {
        let late = self.clock.time_out_at(self.clock.now().plus(Self::LIMIT));
        tokio::select! {
            done = self.act(Some(person), work) => done.map(Some),
            _ = late => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::task::Panicked;
    use crate::time::{SimulatedClock, Timestamp};

    fn threads() -> (Arc<SimulatedClock>, Arc<AnswerThreads>) {
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        (Arc::clone(&clock), Arc::new(AnswerThreads::new(clock)))
    }

    /// Proves: operation/fair-share
    #[tokio::test]
    async fn whoever_computes_for_long_holds_up_nobody_else() {
        let (_clock, threads) = threads();
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(Mutex::new(held));
        let computing: Vec<_> = (0..AT_ONCE + 1)
            .map(|_| {
                let (threads, held) = (Arc::clone(&threads), Arc::clone(&held));
                // Holds its thread, as a long computation does.
                let work = async move { lock(&held).recv().is_ok() };
                tokio::spawn(async move { threads.act(Some(PersonId(1)), work).await })
            })
            .collect();
        // This test has one thread for everything that waits.
        assert_eq!(threads.act(Some(PersonId(2)), async { 7 }).await.unwrap(), 7);
        assert_eq!(threads.permits.lock().unwrap()[&Some(PersonId(1))].available_permits(), 0);
        for _ in 0..=AT_ONCE {
            release.send(()).unwrap();
        }
        for done in computing {
            assert!(done.await.unwrap().unwrap());
        }
    }

    #[tokio::test]
    async fn what_only_reads_is_given_up_after_a_while() {
        let (clock, threads) = threads();
        let (begun, has_begun) = oneshot::channel();
        let (dropped, is_dropped) = oneshot::channel::<Infallible>();
        let endless = async move {
            let _dropped = dropped;
            begun.send(()).unwrap();
            std::future::pending::<()>().await;
        };
        let reading = tokio::spawn(async move { threads.read(PersonId(1), endless).await });
        has_begun.await.unwrap();
        clock.advance(AnswerThreads::LIMIT).await;
        assert!(reading.await.unwrap().unwrap().is_none());
        assert!(is_dropped.await.is_err(), "it goes on although nobody waits");
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_next_is_answered() {
        let (_clock, threads) = threads();
        for _ in 0..=AT_ONCE {
            let fell = threads.act(None, async { panic!("on purpose") }).await;
            let fell: anyhow::Result<()> = fell;
            assert!(fell.unwrap_err().is::<Panicked>());
        }
        assert_eq!(threads.act(None, async { 7 }).await.unwrap(), 7);
    }
}
