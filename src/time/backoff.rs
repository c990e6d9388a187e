//! Exponential backoff. Pure: the caller counts the failures, owns the clock and does the waiting.

use std::time::Duration;

/// Pauses between attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// First pause; each further one is twice as long.
    pub first: Duration,
    /// Maximum pause.
    pub longest: Duration,
}

impl Backoff {
    /// Returns the pause after that many failures in a row.
    pub fn pause(self, failures: u32) -> Duration {
        self.first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(self.longest)
    }

    /// Returns the pause, shortened by up to half by the random number (0 to 1), so that
    /// simultaneous failures are not retried at the same time.
    pub fn with_jitter(self, failures: u32, random: f64) -> Duration {
        self.pause(failures).mul_f64(1.0 - random.clamp(0.0, 1.0) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINUTE: Backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(60) };

    proptest! {
        #[test]
        fn pauses_grow_to_a_minute_and_are_never_nothing(failures in any::<u32>(), random in 0.0_f64..=1.0) {
            let pause = MINUTE.with_jitter(failures, random);
            prop_assert!(pause >= Duration::from_millis(500) && pause <= MINUTE.longest);
        }

        #[test]
        fn a_later_pause_is_no_shorter(failures in 0_u32..20, random in 0.0_f64..=1.0) {
            prop_assert!(MINUTE.with_jitter(failures + 1, random) >= MINUTE.with_jitter(failures, random));
        }
    }

    #[test]
    fn pauses_double() {
        let seconds = [0, 1, 2, 3, 6, 7, 8, 99].map(|failures| MINUTE.with_jitter(failures, 0.0).as_secs());
        assert_eq!(seconds, [1, 1, 2, 4, 32, 60, 60, 60]);
        assert_eq!(MINUTE.with_jitter(3, 1.0), Duration::from_secs(2));
    }
}
