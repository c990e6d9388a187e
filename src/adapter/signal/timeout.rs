//! Timeouts and backoff for the daemon.

use std::time::Duration;

use crate::time::clock::real_sleep;
use crate::time::{Backoff, Clock};

/// Time allowed for opening a connection.
pub(super) const OPENING: Duration = Duration::from_secs(10);
/// Real time during which a response is awaited before simulated time may pass.
pub(super) const REAL_TIME_GRACE: Duration = Duration::from_millis(500);
/// Retry intervals.
pub(super) const RETRY: Backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(60) };

/// Returns the result of `work`, or `None` if it takes longer than `limit` of the clock's time.
pub(super) async fn with_timeout<T>(clock: &dyn Clock, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
    let (busy, at) = (clock.busy(), clock.now().plus(limit));
    tokio::pin!(work);
    tokio::select! {
        biased;
        done = &mut work => return Some(done),
        () = real_sleep(REAL_TIME_GRACE) => {}
    }
    let wake = clock.wake_at(at);
    // Waiting for the daemon is no activity.
    drop(busy);
    tokio::select! {
        biased;
        done = &mut work => Some(done),
        _busy = wake => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::time::{SimulatedClock, Timestamp};

    #[tokio::test]
    async fn what_never_comes_is_given_up_when_the_clock_says_so() {
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let waiting = with_timeout(&*clock, OPENING, std::future::pending::<()>());
        let (given_up, ()) = tokio::join!(waiting, clock.advance(OPENING));
        assert_eq!((given_up, clock.now()), (None, Timestamp(10_000)));
    }

    #[tokio::test]
    async fn no_simulated_time_passes_before_an_answer_that_is_on_its_way() {
        let clock = Arc::new(SimulatedClock::new(Timestamp(0)));
        let answer = async {
            real_sleep(Duration::from_millis(20)).await;
            clock.now()
        };
        let (at, ()) = tokio::join!(with_timeout(&*clock, OPENING, answer), clock.advance(OPENING));
        assert_eq!(at, Some(Timestamp(0)));
    }
}
