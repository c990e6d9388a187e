//! The clock as a parameter, and the count of work in hand.
//!
//! A task that works holds a [`ActivityGuard`]; when it has to wait for a time it rests through it,
//! which gives the count back for as long as it waits. Wake-ups travel between tasks with their
//! `ActivityGuard` inside the channel ([`wakeups`]), so there is no instant at which work exists
//! and nobody counts it. In production nobody looks at the count and it costs an atomic add; a
//! simulated clock also knows where each `ActivityGuard` was taken, so that a test that is stuck
//! can name its cause.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::{Notify, mpsc};

use super::Timestamp;

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// Completes at `at`, or at once if that has passed. Yields a [`ActivityGuard`]: whoever is
    /// woken is at work.
    fn wake_at(&self, at: Timestamp) -> BoxFuture<'static, ActivityGuard>;

    /// Completes when `span` has passed for a computer that was awake: sleep and a clock that is
    /// set do not count.
    fn after(&self, span: Duration) -> BoxFuture<'static, ActivityGuard>;

    /// The count of work in hand.
    fn work(&self) -> &Work;
}

// Not a method of the trait: through a vtable every caller would have the same place.
impl dyn Clock + '_ {
    /// Counts the caller as working until the result is dropped.
    #[track_caller]
    pub fn busy(&self) -> ActivityGuard {
        self.work().enter()
    }
}

/// How long the system clock sleeps before it looks at the time again.
const NAP: Duration = Duration::from_secs(60);

/// The computer's own clock.
#[derive(Debug, Clone, Default)]
pub struct SystemClock {
    work: Work,
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
                // In naps, because a computer that was asleep or whose clock was set has another
                // time when it wakes.
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

    fn work(&self) -> &Work {
        &self.work
    }
}

/// How many tasks are at work. Cloning gives another handle on the same count.
#[derive(Debug, Clone, Default)]
pub struct Work(Arc<Count>);

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

/// Where in the code a [`ActivityGuard`] was taken.
type GuardLocation = &'static Location<'static>;

impl Work {
    /// A count that knows where each [`ActivityGuard`] was taken.
    pub fn watched() -> Self {
        Self(Arc::new(Count { watched: Some(Mutex::default()), ..Count::default() }))
    }

    /// One more at work, until the result is dropped.
    #[track_caller]
    pub fn enter(&self) -> ActivityGuard {
        self.enter_at(Location::caller())
    }

    fn enter_at(&self, place: GuardLocation) -> ActivityGuard {
        self.0.working.fetch_add(1, Ordering::SeqCst);
        self.note(place, 1);
        ActivityGuard(self.clone(), place)
    }

    fn leave(&self, place: GuardLocation) {
        self.note(place, -1);
        if self.0.working.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.changed.notify_waiters();
        }
    }

    fn note(&self, place: GuardLocation, change: i64) {
        let Some(watched) = &self.0.watched else { return };
        let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.changes += 1;
        *watched.places.entry(place).or_default() += change;
    }

    /// Returns the places in the code where work in hand began, if this count is watched.
    pub fn places(&self) -> Vec<String> {
        let Some(watched) = &self.0.watched else { return Vec::new() };
        let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.places.iter().filter(|(_, n)| **n != 0).map(|(place, n)| format!("{n} at {place}")).collect()
    }

    /// Returns how often work began or ended, if this count is watched.
    pub fn changes(&self) -> u64 {
        let watched = self.0.watched.as_ref();
        watched.map_or(0, |watched| watched.lock().unwrap_or_else(PoisonError::into_inner).changes)
    }

    /// Whether nobody is at work.
    pub fn is_idle(&self) -> bool {
        self.0.working.load(Ordering::SeqCst) == 0
    }

    /// Completes when nobody is at work.
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
pub struct ActivityGuard(Work, GuardLocation);

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

    /// The same work, by the place where it first began instead of the clock's.
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
/// for something that is called by a worker and knows itself that it only waits. Whoever cancels
/// the wait is counted again.
pub async fn suspend_activity(clock: &dyn Clock, span: Duration) {
    struct Lent<'a>(&'a Work, GuardLocation, bool);
    impl Drop for Lent<'_> {
        fn drop(&mut self) {
            // Cancelled while waiting: the caller is at work again.
            if self.2 {
                std::mem::forget(self.0.enter_at(self.1));
            }
        }
    }
    let wake = clock.after(span);
    // The caller's own place is not known here: while it rests, this one is counted once less than
    // not at all.
    let place = Location::caller();
    let mut lent = Lent(clock.work(), place, true);
    clock.work().leave(place);
    let busy = wake.await.of(place);
    lent.2 = false;
    std::mem::forget(busy);
}

/// A bell for one task: ringing it any number of times before it is heard counts as once.
#[track_caller]
pub fn wakeups() -> (WakeupSender, Wakeups) {
    let (sender, receiver) = mpsc::channel(1);
    let place = Location::caller();
    (WakeupSender(sender, place), Wakeups(receiver, place))
}

/// The end that rings.
#[derive(Debug, Clone)]
pub struct WakeupSender(mpsc::Sender<ActivityGuard>, GuardLocation);

impl WakeupSender {
    /// Wakes the other end; it is counted as working from this moment on.
    pub fn ring(&self, clock: &dyn Clock) {
        // A full channel means that a ring is already on its way, with its own count.
        let _ = self.0.try_send(clock.work().enter_at(self.1));
    }
}

/// The end that hears.
#[derive(Debug)]
pub struct Wakeups(mpsc::Receiver<ActivityGuard>, GuardLocation);

impl Wakeups {
    /// The next ring; `None` when nobody can ring any more.
    pub async fn heard(&mut self) -> Option<ActivityGuard> {
        self.0.recv().await
    }

    /// The next ring, or the given time, whichever is first. `None` when nobody can ring any more.
    /// If the clock is set back meanwhile it is not waited for longer than was meant, so whoever is
    /// woken looks at the time.
    ///
    /// `resting` is what the caller worked under until now: it is given back only when the wait is
    /// known to the clock, so that there is no instant at which nobody seems to have anything to
    /// do.
    pub async fn heard_or(
        &mut self,
        clock: &dyn Clock,
        at: Option<Timestamp>,
        resting: Option<ActivityGuard>,
    ) -> Option<ActivityGuard> {
        let wake = at.map(|at| (clock.wake_at(at), clock.after(at.since(clock.now()))));
        drop(resting);
        let Some((due, waited)) = wake else { return self.heard().await };
        tokio::select! {
            rung = self.0.recv() => rung,
            busy = due => Some(busy.of(self.1)),
            busy = waited => Some(busy.of(self.1)),
        }
    }
}

/// Waits in real time for work that is being ended: the only wait that no simulated clock governs.
pub async fn real_sleep(span: Duration) {
    tokio::time::sleep(span).await;
}
