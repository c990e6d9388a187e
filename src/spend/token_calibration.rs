//! Ratio of a provider's token count to our estimate, learned from its own figures.
//!
//! An estimate from the characters of a text is right within a factor of about two in any language
//! (CJK, JSON and base64 are where it errs most); the ratio of count to estimate is a property of a
//! model and of a person's writing, so the last calls determine it. Newer calls weigh more. The
//! counts are kept in the journal per call, so a restart begins with the known ratio.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Number of newest calls that determine the scale after a restart.
pub(super) const CALLS: u32 = 16;
/// Weight of a newer call against all older ones.
const WEIGHT: f64 = 0.25;
/// Bounds of a plausible scale; a figure beyond them is a mistake.
const LEAST: f64 = 0.25;
const MOST: f64 = 6.0;

/// Scale of each model, by `provider/name`.
#[derive(Debug, Default)]
pub(super) struct Scales(Mutex<HashMap<String, f64>>);

impl Scales {
    /// Returns the scale of a model; one if nothing was counted yet.
    pub(super) fn of(&self, model: &str) -> f64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied().unwrap_or(1.0)
    }

    /// Learns from a provider's count and our estimate for the same call. Ignored if either is
    /// zero.
    pub(super) fn learn(&self, model: &str, guessed: u64, counted: u64) {
        let Some(ratio) = ratio(guessed, counted) else { return };
        let mut scales = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = scales.entry(model.to_owned()).or_insert(ratio);
        *known = *known * (1.0 - WEIGHT) + ratio * WEIGHT;
    }
}

#[allow(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
fn ratio(guessed: u64, counted: u64) -> Option<f64> {
    (guessed > 0 && counted > 0).then(|| (counted as f64 / guessed as f64).clamp(LEAST, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: models/window-estimate
    #[test]
    fn the_provider_is_believed_and_newer_calls_more() {
        let scales = Scales::default();
        assert!((scales.of("a/b") - 1.0).abs() < f64::EPSILON);
        scales.learn("a/b", 100, 150);
        assert!((scales.of("a/b") - 1.5).abs() < 1e-9, "the first count stands");
        for _ in 0..20 {
            scales.learn("a/b", 100, 80);
        }
        assert!((scales.of("a/b") - 0.8).abs() < 0.01 && (scales.of("a/c") - 1.0).abs() < f64::EPSILON);
    }

    /// Proves: models/window-estimate
    #[test]
    fn a_figure_that_cannot_be_is_bounded_and_none_is_none() {
        let scales = Scales::default();
        scales.learn("a/b", 10, 0);
        scales.learn("a/b", 0, 10);
        assert!((scales.of("a/b") - 1.0).abs() < f64::EPSILON);
        scales.learn("a/b", 1, 1_000_000);
        assert!((scales.of("a/b") - MOST).abs() < 1e-9);
    }
}
