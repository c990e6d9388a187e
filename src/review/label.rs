//! The one file of this room that mints trust: for what the program ships, what a person wrote by hand, and what the owner approved.

use super::approval::{Approval, Decider};
use crate::trust::{Label, Source};

/// A built-in skill is the program's own words.
pub(super) fn of_the_program() -> Label {
    Label::trusted()
}

/// A folder that we did not write, and in which the scan found nothing, is a person's work.
pub(super) fn of_a_person() -> Label {
    Label::trusted()
}

/// What was decided about is trusted from then on: exactly that content, by its digest.
pub(super) fn of_approved(_: &Approval) -> Label {
    Label::trusted()
}

/// A folder in which the scan found something is of unknown origin until the owner says yes.
pub(super) fn of_a_held_folder() -> Label {
    Label::untrusted(Source::new("folder", ""))
}

/// A content that was accepted before, or that ships with the program.
pub(super) fn of_decided(by: &Decider) -> Label {
    match by {
        Decider::Owner { .. } | Decider::Shipped => Label::trusted(),
        // These decide about proposals only.
        Decider::Reviewer | Decider::Setting(_) => Label::untrusted(Source::unknown()),
    }
}
