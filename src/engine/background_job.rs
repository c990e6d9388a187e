//! Background jobs of the engine: each a task of its own, woken by a signal or at the time that its
//! last round returned.
//!
//! The work of a round is durable rows and belongs to the module that calls
//! [`BackgroundJob::start`]; this module holds what all jobs share. A round that failed or panicked
//! is logged and retried after a minute: a job never ends before the program does, and never delays
//! an answer.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Engine;
use crate::time::clock::{Clock, WakeupSender, Wakeups};
use crate::time::task::guarded;
use crate::time::{Backoff, Timestamp};

/// Pause after a failed round.
const REST: Duration = Duration::from_secs(60);

/// Intervals for work that nothing waits for: a minute, doubling up to six hours.
pub(super) const UNHURRIED: Backoff =
    Backoff { first: Duration::from_secs(60), longest: Duration::from_secs(6 * 3600) };
/// Number of failures, about two days, after which a job is given up.
pub(super) const TRIES: u32 = 17;

/// Wake-up handle of a background job. Before the job is started, signals are dropped.
#[derive(Debug, Default)]
pub(super) struct BackgroundJob(Mutex<Option<WakeupSender>>);

impl BackgroundJob {
    /// Starts the task, with a first round at once. `name` begins a sentence in the log, `failed`
    /// says there what did not happen; a round returns the time of the next one.
    pub fn start<Round, Rounds>(&self, engine: &Arc<Engine>, name: &'static str, failed: &'static str, round: Rounds)
    where
        Round: Future<Output = anyhow::Result<Option<Timestamp>>> + Send,
        Rounds: Fn(Arc<Engine>) -> Round + Send + Sync + 'static,
    {
        let (ringer, bell) = crate::time::clock::wakeups();
        ringer.wake(&*engine.clock);
        self.redirect_wakeups(ringer);
        let (stop, engine_too) = (engine.runtime.stop.clone(), Arc::clone(engine));
        engine.runtime.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = rounds(engine_too, bell, name, failed, round) => {}
            }
        });
    }

    /// Redirects the wake-ups to a worker outside the engine.
    pub fn redirect_wakeups(&self, ringer: WakeupSender) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(ringer);
    }

    /// Wakes the job, because it may have work.
    pub fn wake(&self, clock: &dyn Clock) {
        if let Some(ringer) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            ringer.wake(clock);
        }
    }
}

async fn rounds<Round>(
    engine: Arc<Engine>,
    mut bell: Wakeups,
    name: &str,
    failed: &str,
    round: impl Fn(Arc<Engine>) -> Round,
) where
    Round: Future<Output = anyhow::Result<Option<Timestamp>>>,
{
    let (mut wake_at, mut busy) = (None, None);
    loop {
        busy = bell.recv_or_timeout(&*engine.clock, wake_at, busy).await;
        if busy.is_none() {
            return;
        }
        wake_at = match guarded(name, round(Arc::clone(&engine))).await {
            Ok(next) => next,
            Err(error) => {
                tracing::error!("{failed}: {error:#}");
                Some(engine.clock.now().plus(REST))
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_tries_take_about_two_days() {
        let waited: Duration = (1..TRIES).map(|failures| UNHURRIED.pause(failures)).sum();
        assert_eq!(UNHURRIED.pause(1), Duration::from_secs(60));
        assert_eq!(UNHURRIED.pause(2), Duration::from_secs(120));
        assert_eq!(UNHURRIED.pause(u32::MAX), Duration::from_secs(6 * 3600));
        assert!((48..54).contains(&(waited.as_secs() / 3600)), "{waited:?}");
    }
}
