//! How much an entry matters, from how often it was of use and when last. Computed when it is read:
//! nothing decays in a table, and no traffic is needed for it.

use std::time::Duration;

use crate::time::Timestamp;

/// It never grows beyond this.
const MOST: f64 = 10.0;
/// A day without use leaves this share.
const KEPT_A_DAY: f64 = 0.95;
/// It never falls below this share by lying unused.
const LEAST_KEPT: f64 = 0.01;
/// What a day takes of the weight of earlier uses, and what is left of it in the end.
const DAILY_LOSS: f64 = 0.05;
const LEAST_WEIGHT: f64 = 0.1;
/// The most that salience lifts a score, as a share of it.
const LIFT: f64 = 0.25;

const DAY: Duration = Duration::from_secs(24 * 3600);

/// `min(10, 1 + ln(1 + n) × max(0.1, 1 − 0.05 d)) × max(0.01, 0.95^d)`, for `uses` and the days
/// since the last one; what was never used counts from when it was written.
pub(super) fn salience(uses: u32, last: Timestamp, now: Timestamp) -> f64 {
    let days = now.since(last).div_duration_f64(DAY);
    let weight = (1.0 - DAILY_LOSS * days).max(LEAST_WEIGHT);
    let grown = (1.0 + f64::from(uses).ln_1p() * weight).min(MOST);
    grown * KEPT_A_DAY.powf(days).max(LEAST_KEPT)
}

/// By what a score is multiplied: between 1 and 1.25.
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

        #[test]
        fn more_uses_and_fewer_days_never_matter_less(uses in 0_u32..5_000, days in 0_u64..400) {
            prop_assert!(salience(uses + 1, days_ago(days), NOW) >= salience(uses, days_ago(days), NOW));
            prop_assert!(salience(uses, days_ago(days), NOW) >= salience(uses, days_ago(days + 1), NOW));
        }
    }
}
