//! Simulated clock: stands still until every task rests, and then jumps to the next time that a
//! task waits for.
//!
//! The clock is part of the program, not of its tests, because `compline demo` lives through
//! several days with it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::oneshot;

use super::Timestamp;
use super::clock::{ActivityCount, ActivityGuard, Clock, real_sleep};
use super::task::lock;

/// Real time for which a wait for another program counts as work.
const ANSWER_GRACE: Duration = Duration::from_millis(500);

/// A clock whose time is set by its owner.
#[derive(Debug)]
pub struct SimulatedClock {
    state: Mutex<SimulatedState>,
    work: ActivityCount,
}

#[derive(Debug)]
struct SimulatedState {
    now: Timestamp,
    next_id: u64,
    wakeups: u64,
    sleepers: BTreeMap<(Timestamp, u64), Sleeper>,
}

#[derive(Debug)]
struct Sleeper {
    wake: oneshot::Sender<ActivityGuard>,
    /// True if it waits for a span to pass, and not for a time of day.
    counts: bool,
}

impl SimulatedClock {
    /// Creates a clock that stands at `start`.
    pub fn new(start: Timestamp) -> Self {
        Self {
            state: Mutex::new(SimulatedState { now: start, next_id: 0, wakeups: 0, sleepers: BTreeMap::new() }),
            work: ActivityCount::watched(),
        }
    }

    /// Lets `span` pass: repeatedly waits until no task works, then wakes the next due sleeper.
    pub async fn advance(&self, span: Duration) {
        let end = self.now().plus(span);
        loop {
            self.work.idle().await;
            if !self.wake_next(end) {
                break;
            }
        }
        self.lock().now = end;
        self.work.idle().await;
    }

    /// Sets the time without waking any sleeper, as when a computer sleeps or its clock is set. The
    /// time may go back.
    pub fn set(&self, now: Timestamp) {
        let mut state = self.lock();
        let then = state.now;
        state.now = now;
        let moved = |at: Timestamp| now.plus(at.since(then));
        let sleepers = std::mem::take(&mut state.sleepers);
        state.sleepers = sleepers
            .into_iter()
            .map(|((at, id), sleeper)| ((if sleeper.counts { moved(at) } else { at }, id), sleeper))
            .collect();
    }

    /// Returns the time at which the next sleeper is due, if there is one.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.lock().sleepers.keys().next().map(|(at, _)| *at)
    }

    /// Returns the number of sleepers that were woken so far.
    pub fn wakeups(&self) -> u64 {
        self.lock().wakeups
    }

    /// Wakes the first sleeper that is due by `end`, and advances the time to it. Returns false if
    /// there is none.
    fn wake_next(&self, end: Timestamp) -> bool {
        let mut state = self.lock();
        while let Some(entry) = state.sleepers.first_entry() {
            let at = entry.key().0;
            if at > end {
                return false;
            }
            let sleeper = entry.remove();
            state.now = state.now.max(at);
            // A cancelled sleeper is only removed: no task works on its behalf.
            if sleeper.wake.send(self.work.enter()).is_ok() {
                state.wakeups += 1;
                return true;
            }
        }
        false
    }

    fn sleep(&self, state: &mut SimulatedState, at: Timestamp, counts: bool) -> BoxFuture<'static, ActivityGuard> {
        let work = self.work.clone();
        if at <= state.now {
            let busy = work.enter();
            return Box::pin(async move { busy });
        }
        let (wake, woken) = oneshot::channel();
        state.next_id += 1;
        state.sleepers.insert((at, state.next_id), Sleeper { wake, counts });
        Box::pin(async move {
            match woken.await {
                Ok(busy) => busy,
                // The clock is dropped, so no time will ever pass again; the program is stopping.
                Err(_) => work.enter(),
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, SimulatedState> {
        lock(&self.state)
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        self.lock().now
    }

    fn wake_at(&self, at: Timestamp) -> BoxFuture<'static, ActivityGuard> {
        self.sleep(&mut self.lock(), at, false)
    }

    fn after(&self, span: Duration) -> BoxFuture<'static, ActivityGuard> {
        let mut state = self.lock();
        let at = state.now.plus(span);
        self.sleep(&mut state, at, true)
    }

    fn work(&self) -> &ActivityCount {
        &self.work
    }

    /// Counts the caller as working for half a second of real time, so that no simulated time
    /// passes before an answer that is on its way.
    fn time_out_at(&self, at: Timestamp) -> BoxFuture<'static, ActivityGuard> {
        let (busy, wake) = (self.work.enter(), self.wake_at(at));
        Box::pin(async move {
            real_sleep(ANSWER_GRACE).await;
            drop(busy);
            wake.await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn sleepers_wake_in_order_and_see_their_own_time() {
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let seen = Arc::new(Mutex::new(Vec::new()));
        for delay in [300, 100, 200] {
            let (clock, seen) = (Arc::clone(&clock), Arc::clone(&seen));
            let busy = clock.work().enter();
            tokio::spawn(async move {
                let _busy = busy.rest(&*clock, Duration::from_millis(delay)).await;
                seen.lock().unwrap().push(clock.now().0);
            });
        }
        clock.advance(Duration::from_millis(250)).await;
        assert_eq!(*seen.lock().unwrap(), [100, 200]);
        clock.advance(Duration::from_millis(250)).await;
        assert_eq!(*seen.lock().unwrap(), [100, 200, 300]);
        assert_eq!(clock.now(), Timestamp(500));
    }

    /// Proves: delivery/interrupted-answer
    #[tokio::test]
    async fn setting_the_clock_does_not_wake_a_waiting_timer() {
        for (set_to, due) in [(10_000, 10_300), (0, 300)] {
            let clock = SimulatedClock::new(Timestamp(5_000));
            let woken = Arc::new(Mutex::new(false));
            let (span, told) = (clock.after(Duration::from_millis(300)), Arc::clone(&woken));
            tokio::spawn(async move {
                let _busy = span.await;
                *told.lock().unwrap() = true;
            });
            clock.set(Timestamp(set_to));
            clock.advance(Duration::from_millis(299)).await;
            assert!(!*woken.lock().unwrap());
            clock.advance(Duration::from_millis(1)).await;
            assert!(*woken.lock().unwrap());
            assert_eq!(clock.now(), Timestamp(due));
        }
    }

    #[tokio::test]
    async fn simulated_time_stands_still_while_work_is_running() {
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let (open, gate) = oneshot::channel::<()>();
        let busy = clock.work().enter();
        assert_eq!(clock.work().places().len(), 1);
        assert!(clock.work().places()[0].starts_with("1 at src/time/simulated.rs"), "{:?}", clock.work().places());
        let worker = tokio::spawn({
            let clock = Arc::clone(&clock);
            async move {
                gate.await.unwrap();
                let at = clock.now();
                drop(busy);
                at
            }
        });
        let advancing = tokio::spawn({
            let clock = Arc::clone(&clock);
            async move { clock.advance(Duration::from_secs(9)).await }
        });
        tokio::task::yield_now().await;
        open.send(()).unwrap();
        assert_eq!(worker.await.unwrap(), Timestamp(0));
        advancing.await.unwrap();
        assert_eq!(clock.now(), Timestamp(9000));
        assert!(clock.work().places().is_empty(), "{:?}", clock.work().places());
    }
}
