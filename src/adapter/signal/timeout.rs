//! Timeouts and backoff for the daemon.

use std::time::Duration;

use crate::time::Clock;
use crate::time::clock::real_sleep;

/// Time allowed for opening a connection.
pub(super) const OPENING: Duration = Duration::from_secs(10);
/// Real time during which a response is awaited before simulated time may pass.
pub(super) const REAL_TIME_GRACE: Duration = Duration::from_millis(500);
/// Longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

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

/// Backoff after `failures` in a row: a second, doubling up to a minute, shortened by up to half by
/// the `dice` (0 to 1), so that simultaneous failures are not retried at the same time.
pub(super) fn backoff(failures: u32, dice: f64) -> Duration {
    let whole = Duration::from_secs(1 << failures.saturating_sub(1).min(6)).min(LONGEST_PAUSE);
    whole.mul_f64(1.0 - dice.clamp(0.0, 1.0) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use proptest::prelude::*;

    use crate::time::{SimulatedClock, Timestamp};

    proptest! {
        #[test]
        fn pauses_grow_to_a_minute_and_are_never_nothing(failures in any::<u32>(), dice in 0.0_f64..=1.0) {
            let pause = backoff(failures, dice);
            prop_assert!(pause >= Duration::from_millis(500) && pause <= LONGEST_PAUSE);
        }

        #[test]
        fn a_later_pause_is_no_shorter(failures in 0_u32..20, dice in 0.0_f64..=1.0) {
            prop_assert!(backoff(failures + 1, dice) >= backoff(failures, dice));
        }
    }

    #[test]
    fn pauses_double() {
        let seconds = [0, 1, 2, 3, 6, 7, 8, 99].map(|failures| backoff(failures, 0.0).as_secs());
        assert_eq!(seconds, [1, 1, 2, 4, 32, 60, 60, 60]);
        assert_eq!(backoff(3, 1.0), Duration::from_secs(2));
    }

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
