//! Common parts of the fake servers: the state under one lock with notifications of changes, the
//! serving thread, and the chronicle of accepted calls.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::{oneshot, watch};

/// A state that notifies both async tasks and threads.
pub struct Shared<S> {
    state: Mutex<S>,
    /// Runs after each change, still under the lock.
    settle: fn(&mut S),
    changes: watch::Sender<()>,
    changed: Condvar,
}

impl<S> Shared<S> {
    pub fn new(state: S, settle: fn(&mut S)) -> Self {
        Self { state: Mutex::new(state), settle, changes: watch::Sender::new(()), changed: Condvar::new() }
    }

    pub fn lock(&self) -> MutexGuard<'_, S> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Alters the state, then wakes all who wait.
    pub fn change<T>(&self, alter: impl FnOnce(&mut S) -> T) -> T {
        let outcome = {
            let mut state = self.lock();
            let outcome = alter(&mut state);
            (self.settle)(&mut state);
            outcome
        };
        self.changes.send_replace(());
        self.changed.notify_all();
        outcome
    }

    /// Subscribes to changes.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Waits until a condition holds; checks it after each change, without the lock.
    pub async fn until(&self, holds: impl Fn() -> bool) {
        let mut changes = self.changes();
        while !holds() {
            let _ = changes.changed().await;
        }
    }

    /// Blocking variant of `until`; false if the limit passes first.
    pub fn wait_for(&self, limit: Duration, holds: impl Fn() -> bool) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            if holds() {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            // A change between the check and the wait is caught by the short wait.
            let wait = left.min(Duration::from_millis(20));
            drop(self.changed.wait_timeout(self.lock(), wait));
        }
    }
}

/// A serving thread. Dropping it closes its listeners and all connections before it returns.
pub struct Running {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Serves on its own runtime until it is dropped or `serve` ends.
    pub fn on_a_thread<Serving: Future<Output = ()>>(serve: impl FnOnce() -> Serving + Send + 'static) -> Self {
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                tokio::select! {
                    () = serve() => {}
                    _ = stopped => {}
                }
            });
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptedKind {
    Send,
    Edit,
    Delete,
}

/// One accepted call in the chronicle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub at_ms: i64,
    pub kind: AcceptedKind,
    pub chat: i64,
    pub message_id: i64,
    /// The visible text after this call.
    pub text: String,
}

/// Every accepted call in order of time, with the minimum interval per chat.
#[derive(Default)]
pub struct Chronicle {
    accepted: Vec<Accepted>,
    pace_ms: i64,
}

impl Chronicle {
    pub fn accepted(&self) -> &[Accepted] {
        &self.accepted
    }

    /// Sets the minimum interval between calls of one chat.
    pub fn set_pace(&mut self, interval: Duration) {
        self.pace_ms = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
    }

    /// Records a call. False if it came too soon after the previous one.
    #[must_use]
    pub fn record(&mut self, call: Accepted) -> bool {
        let last = self.accepted.iter().rev().find(|accepted| accepted.chat == call.chat);
        let in_time = last.is_none_or(|last| call.at_ms - last.at_ms >= self.pace_ms);
        self.accepted.push(call);
        in_time
    }
}
