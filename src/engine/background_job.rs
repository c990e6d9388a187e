//! Background work of the engine: a task of its own, woken by a bell or at the moment that its last
//! round named.
//!
//! What a round does is durable rows and belongs to the module that calls [`BackgroundJob::start`];
//! here is only what all of them need, once. A round that failed or panicked is told in the log and
//! tried again after a minute: a chore never ends before the program does, and never delays an
//! answer.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Engine;
use crate::time::Timestamp;
use crate::time::clock::{Clock, WakeupSender, Wakeups};
use crate::time::task::guarded;

/// How long a chore rests after a round that failed.
const REST: Duration = Duration::from_secs(60);

/// In which distances something is tried again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// The first pause; each further one is twice as long.
    pub first: Duration,
    /// No pause is longer.
    pub longest: Duration,
}

/// What nobody waits for: a minute, doubling up to six hours.
pub(super) const UNHURRIED: Pace = Pace { first: Duration::from_secs(60), longest: Duration::from_secs(6 * 3600) };
/// After so many failures, about two days, it is given up.
pub(super) const TRIES: u32 = 17;

impl Pace {
    /// The pause after so many failures.
    pub fn pause(self, failures: u32) -> Duration {
        self.first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(self.longest)
    }
}

/// A chore's bell. Before it is started nobody hears it.
#[derive(Debug, Default)]
pub(super) struct BackgroundJob(Mutex<Option<WakeupSender>>);

impl BackgroundJob {
    /// Starts the task, with a first round at once. `name` begins a sentence in the log, `failed`
    /// says there what did not happen; a round says when the next one is due.
    pub fn start<Round, Rounds>(&self, engine: &Arc<Engine>, name: &'static str, failed: &'static str, round: Rounds)
    where
        Round: Future<Output = anyhow::Result<Option<Timestamp>>> + Send,
        Rounds: Fn(Arc<Engine>) -> Round + Send + Sync + 'static,
    {
        let (ringer, bell) = crate::time::clock::wakeups();
        ringer.ring(&*engine.clock);
        self.heard_by(ringer);
        let (stop, engine_too) = (engine.runtime.stop.clone(), Arc::clone(engine));
        engine.runtime.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = rounds(engine_too, bell, name, failed, round) => {}
            }
        });
    }

    /// Somebody outside the engine does this work.
    pub fn heard_by(&self, ringer: WakeupSender) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(ringer);
    }

    /// Something may be to do.
    pub fn ring(&self, clock: &dyn Clock) {
        if let Some(ringer) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            ringer.ring(clock);
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
        busy = bell.heard_or(&*engine.clock, wake_at, busy).await;
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
