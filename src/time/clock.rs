//! Injectable clock, with a count of active work.
//!
//! A working task holds an [`ActivityGuard`]; to wait for a time it rests through the guard, which
//! is not counted while it waits. Wake-ups travel between tasks with their `ActivityGuard` inside
//! the channel ([`wakeups`]), so there is no instant at which work exists and is not counted. In
//! production the count is unused and costs an atomic add; a simulated clock also records where
//! each `ActivityGuard` was taken, so that a stuck test can name its cause.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::Timestamp;
use super::task::{guarded, lock};

/// Source of the time.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Completes at `at`, or at once if that has passed. Yields an [`ActivityGuard`], because a
    /// woken task is at work.
    fn wake_at(&self, at: Timestamp) -> BoxFuture<'static, ActivityGuard>;

    /// Completes after `span` of time awake: sleep of the computer and changes to its clock do not
    /// count.
    fn after(&self, span: Duration) -> BoxFuture<'static, ActivityGuard>;

    /// Returns the count of active work.
    fn work(&self) -> &ActivityCount;

    /// Completes like [`Clock::wake_at`]: the end of a wait for the answer of another program.
    fn time_out_at(&self, at: Timestamp) -> BoxFuture<'static, ActivityGuard> {
        self.wake_at(at)
    }
}

// Not a method of the trait: through a vtable every caller would have the same location.
impl dyn Clock + '_ {
    /// Counts the caller as working until the result is dropped.
    #[track_caller]
    pub fn busy(&self) -> ActivityGuard {
        self.work().enter()
    }
}

/// Maximum sleep of the system clock before it checks the time again.
const NAP: Duration = Duration::from_secs(60);

/// Pause after a failed round of work.
const AFTER_FAILURE: Duration = Duration::from_secs(60);

/// The computer's own clock.
#[derive(Debug, Clone, Default)]
pub struct SystemClock {
    work: ActivityCount,
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(chrono::Utc::now().timestamp_millis())
    }

    fn wake_at(&self, at: Timestamp) -> BoxFuture<'static, ActivityGuard> {
        let clock = self.clone();
        Box::pin(async move {
            loop {
                let left = at.since(clock.now());
                if left.is_zero() {
                    return clock.work.enter();
                }
                // Sleeps in short intervals, because the time may have jumped while the computer
                // was asleep or when its clock was set.
                tokio::time::sleep(left.min(NAP)).await;
            }
        })
    }

    fn after(&self, span: Duration) -> BoxFuture<'static, ActivityGuard> {
        let work = self.work.clone();
        Box::pin(async move {
            tokio::time::sleep(span).await;
            work.enter()
        })
    }

    fn work(&self) -> &ActivityCount {
        &self.work
    }
}

/// Count of working tasks. Clones share the same count.
#[derive(Debug, Clone, Default)]
pub struct ActivityCount(Arc<Count>);

#[derive(Debug, Default)]
struct Count {
    working: AtomicUsize,
    changed: Notify,
    watched: Option<Mutex<Watched>>,
}

#[derive(Debug, Default)]
struct Watched {
    changes: u64,
    places: BTreeMap<GuardLocation, i64>,
}

/// Code location where an [`ActivityGuard`] was taken.
type GuardLocation = &'static Location<'static>;

impl ActivityCount {
    /// Creates a count that records where each [`ActivityGuard`] was taken.
    pub fn watched() -> Self {
        Self(Arc::new(Count { watched: Some(Mutex::default()), ..Count::default() }))
    }

    /// Counts one more working task, until the result is dropped.
    #[track_caller]
    pub fn enter(&self) -> ActivityGuard {
        self.enter_at(Location::caller())
    }

    fn enter_at(&self, place: GuardLocation) -> ActivityGuard {
        self.add(place);
        ActivityGuard(self.clone(), place)
    }

    fn add(&self, place: GuardLocation) {
        self.0.working.fetch_add(1, Ordering::SeqCst);
        self.note(place, 1);
    }

    fn leave(&self, place: GuardLocation) {
        self.note(place, -1);
        if self.0.working.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.changed.notify_waiters();
        }
    }

    fn note(&self, place: GuardLocation, change: i64) {
        let Some(watched) = &self.0.watched else { return };
        let mut watched = lock(watched);
        watched.changes += 1;
        *watched.places.entry(place).or_default() += change;
    }

    /// Returns the code locations where active work began, if this count is watched.
    pub fn places(&self) -> Vec<String> {
        let Some(watched) = &self.0.watched else { return Vec::new() };
        let watched = lock(watched);
        watched.places.iter().filter(|(_, n)| **n != 0).map(|(place, n)| format!("{n} at {place}")).collect()
    }

    /// Returns the number of times that work began or ended, if this count is watched.
    pub fn changes(&self) -> u64 {
        let watched = self.0.watched.as_ref();
        watched.map_or(0, |watched| lock(watched).changes)
    }

    /// Returns true if no task is working.
    pub fn is_idle(&self) -> bool {
        self.0.working.load(Ordering::SeqCst) == 0
    }

    /// Completes when no task is working.
    pub async fn idle(&self) {
        loop {
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.is_idle() {
                return;
            }
            changed.await;
        }
    }
}

/// Proof that its holder is counted as working.
#[derive(Debug)]
pub struct ActivityGuard(ActivityCount, GuardLocation);

impl ActivityGuard {
    /// Waits until `at` without being counted meanwhile.
    pub async fn rest_until(self, clock: &dyn Clock, at: Timestamp) -> Self {
        let (wake, place) = (clock.wake_at(at), self.1);
        drop(self);
        wake.await.of(place)
    }

    /// Waits for `span` without being counted meanwhile.
    pub async fn rest(self, clock: &dyn Clock, span: Duration) -> Self {
        let (wake, place) = (clock.after(span), self.1);
        drop(self);
        wake.await.of(place)
    }

    /// Attributes the work to the location where it first began instead of the clock's.
    fn of(mut self, place: GuardLocation) -> Self {
        self.0.note(self.1, -1);
        self.0.note(place, 1);
        self.1 = place;
        self
    }
}

impl Clone for ActivityGuard {
    fn clone(&self) -> Self {
        self.0.enter_at(self.1)
    }
}

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}

/// Waits for `span` on behalf of a caller that is counted as working, and is not counted meanwhile:
/// for a function that a worker calls and that only waits. A cancelled wait counts the caller
/// again.
pub async fn suspend_activity(clock: &dyn Clock, span: Duration) {
    struct SuspendedActivity<'a>(&'a ActivityCount, GuardLocation);
    impl Drop for SuspendedActivity<'_> {
        fn drop(&mut self) {
            self.0.add(self.1);
        }
    }
    let wake = clock.after(span);
    // The caller's own location is not known here: while it waits, the count of this location is
    // one too low.
    let suspended = SuspendedActivity(clock.work(), Location::caller());
    clock.work().leave(suspended.1);
    let busy = wake.await;
    // The caller is counted again before the clock's own guard ends.
    drop(suspended);
    drop(busy);
}

/// Creates a wake-up channel for one task: any number of wake-ups before it is read count as one.
#[track_caller]
pub fn wakeups() -> (WakeupSender, Wakeups) {
    let (sender, receiver) = mpsc::channel(1);
    let place = Location::caller();
    (WakeupSender(sender, place), Wakeups(receiver, place))
}

/// Sending end of a wake-up channel.
#[derive(Debug, Clone)]
pub struct WakeupSender(mpsc::Sender<ActivityGuard>, GuardLocation);

impl WakeupSender {
    /// Wakes the receiving end, which is counted as working from this moment on.
    pub fn wake(&self, clock: &dyn Clock) {
        // A full channel means that a wake-up is already on its way, with its own count.
        let _ = self.0.try_send(clock.work().enter_at(self.1));
    }
}

/// Receiving end of a wake-up channel.
#[derive(Debug)]
pub struct Wakeups(mpsc::Receiver<ActivityGuard>, GuardLocation);

impl Wakeups {
    /// Waits for the next wake-up; `None` if all senders are dropped.
    pub async fn recv(&mut self) -> Option<ActivityGuard> {
        self.0.recv().await
    }

    /// Waits for the next wake-up or the given time, the earlier of the two. `None` if all senders
    /// are dropped. If the clock is set back meanwhile, the wait is no longer than originally
    /// planned, so the woken task has to check the time.
    ///
    /// `resting` is the caller's guard until now: it is dropped only when the clock knows of the
    /// wait, so that there is no instant at which all tasks seem idle.
    pub async fn recv_or_timeout(
        &mut self,
        clock: &dyn Clock,
        at: Option<Timestamp>,
        resting: Option<ActivityGuard>,
    ) -> Option<ActivityGuard> {
        let wake = at.map(|at| (clock.wake_at(at), clock.after(at.since(clock.now()))));
        drop(resting);
        let Some((due, waited)) = wake else { return self.recv().await };
        tokio::select! {
            woken = self.0.recv() => woken,
            busy = due => Some(busy.of(self.1)),
            busy = waited => Some(busy.of(self.1)),
        }
    }
}

impl Wakeups {
    /// Runs a round of work at each wake-up, and at the time that the last round returned, until
    /// the program stops; a round in progress is completed. A round that failed or panicked is
    /// logged and repeated after a minute. `name` begins a sentence in the log, `failed` says there
    /// what did not happen.
    pub async fn run_rounds<Round>(
        mut self,
        clock: &dyn Clock,
        stop: &CancellationToken,
        name: &str,
        failed: &str,
        round: impl Fn() -> Round,
    ) where
        Round: Future<Output = anyhow::Result<Option<Timestamp>>>,
    {
        let (mut wake_at, mut busy) = (None, None);
        loop {
            busy = tokio::select! {
                () = stop.cancelled() => return,
                woken = self.recv_or_timeout(clock, wake_at, busy) => woken,
            };
            if busy.is_none() {
                return;
            }
            wake_at = guarded(name, round()).await.unwrap_or_else(|error| {
                tracing::error!("{failed}: {error:#}");
                Some(clock.now().plus(AFTER_FAILURE))
            });
        }
    }
}

/// Waits in real time for work that is being ended: the only wait that no simulated clock governs.
pub async fn real_sleep(span: Duration) {
    tokio::time::sleep(span).await;
}
