//! Result of a check.

use std::fmt;

use serde::Serialize;

use crate::wording::cli::doctor as says;

/// State of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FindingState {
    /// Passed.
    Ok,
    /// Informational.
    Note,
    /// Fixed during this run.
    Fixed,
    /// Needs fixing.
    Wrong,
}

/// A check, its state and its fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) state: FindingState,
    pub(super) what: String,
    /// Empty if there is nothing to do.
    pub(super) fix: String,
}

impl Finding {
    pub(super) fn ok(check: &'static str, what: &str) -> Self {
        Self::of(check, FindingState::Ok, what, "")
    }

    pub(super) fn note(check: &'static str, what: &str, fix: &str) -> Self {
        Self::of(check, FindingState::Note, what, fix)
    }

    pub(super) fn fixed(check: &'static str, what: &str) -> Self {
        Self::of(check, FindingState::Fixed, what, "")
    }

    pub(super) fn wrong(check: &'static str, what: &str, fix: &str) -> Self {
        Self::of(check, FindingState::Wrong, what, fix)
    }

    fn of(check: &'static str, state: FindingState, what: &str, fix: &str) -> Self {
        Self { check, state, what: what.to_owned(), fix: fix.to_owned() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            FindingState::Ok => says::OK,
            FindingState::Note => says::NOTE,
            FindingState::Fixed => says::FIXED,
            FindingState::Wrong => says::WRONG,
        };
        let what = self.what.replace('\n', "\n                        ");
        write!(f, "{state:7} {:15} {what}", self.check)?;
        if !self.fix.is_empty() {
            write!(f, "\n                        {} {}", says::FIX, self.fix)?;
        }
        Ok(())
    }
}
