//! Salience of an entry, from the number of its uses and the time of the last one. Computed on
//! reading: no stored value decays, and no periodic update is needed.

use std::time::Duration;

use crate::time::Timestamp;

/// Upper bound.
const MOST: f64 = 10.0;
/// Share left after a day without use.
const KEPT_A_DAY: f64 = 0.95;
/// Minimum share after disuse.
const LEAST_KEPT: f64 = 0.01;
/// Daily loss of the weight of earlier uses, and its minimum.
const DAILY_LOSS: f64 = 0.05;
const LEAST_WEIGHT: f64 = 0.1;
/// Maximum increase of a score by salience, as a share of the score.
const LIFT: f64 = 0.25;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Returns `min(10, 1 + ln(1 + n) × max(0.1, 1 − 0.05 d)) × max(0.01, 0.95^d)`, for `uses` and the
/// days since the last one; an unused entry counts from its time of writing.
pub(super) fn salience(uses: u32, last: Timestamp, now: Timestamp) -> f64 {
    let days = now.since(last).div_duration_f64(DAY);
    let weight = (1.0 - DAILY_LOSS * days).max(LEAST_WEIGHT);
    let grown = (1.0 + f64::from(uses).ln_1p() * weight).min(MOST);
    grown * KEPT_A_DAY.powf(days).max(LEAST_KEPT)
}

/// Returns the multiplier for a score: between 1 and 1.25.
pub(super) fn factor(salience: f64) -> f64 {
    1.0 + LIFT * (salience / MOST).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn days_ago(days: u64) -> Timestamp {
        NOW.minus(DAY * u32::try_from(days).unwrap())
    }

    /// Promise (memory/aging): Unused entries lose importance from day to day, without anything
    /// being written.
    #[test]
    fn uses_lift_and_days_let_fall() {
        for (uses, days, grown) in
            [(0, 0, 1.0), (1, 0, 1.693), (10, 0, 3.398), (100, 0, 5.615), (10, 10, 2.199), (10, 40, 1.240)]
        {
            let kept = 0.95_f64.powi(i32::try_from(days).unwrap()).max(0.01);
            let found = salience(uses, days_ago(days), NOW);
            assert!((found - grown * kept).abs() < 0.001, "{uses} uses, {days} days: {found}");
        }
        assert!(salience(10, days_ago(30), NOW) < salience(10, NOW, NOW));
        assert!((salience(u32::MAX, NOW, NOW) - 10.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn it_is_bounded_and_so_is_what_it_lifts(uses in any::<u32>(), days in 0_u64..20_000) {
            let found = salience(uses, days_ago(days), NOW);
            prop_assert!((0.01..=10.0).contains(&found));
            prop_assert!((1.0..=1.25).contains(&factor(found)));
        }

        /// Proves: memory/aging
        #[test]
        fn more_uses_and_fewer_days_never_matter_less(uses in 0_u32..5_000, days in 0_u64..400) {
            prop_assert!(salience(uses + 1, days_ago(days), NOW) >= salience(uses, days_ago(days), NOW));
            prop_assert!(salience(uses, days_ago(days), NOW) >= salience(uses, days_ago(days + 1), NOW));
        }
    }
}
