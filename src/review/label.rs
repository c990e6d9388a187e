//! The one file of this room that mints trust: for what the program ships, what a person wrote by
//! hand, and what the owner approved.

use super::approval::Approval;
use crate::id::VersionId;
use crate::trust::{Label, Source};

/// A built-in skill is the program's own words.
pub(super) fn of_the_program() -> Label {
    Label::trusted()
}

/// The label of a folder that a person wrote by hand, where the owner chose that such folders are
/// live.
pub(super) fn of_a_person() -> Label {
    Label::trusted()
}

/// What was decided about is trusted from then on: exactly that content, by its digest. A third
/// party's keeps that version as its origin.
pub(super) fn of_approved(_: &Approval, third_party: Option<VersionId>) -> Label {
    third_party.map_or_else(Label::trusted, Label::approved)
}

/// The label of a third party's skill that was accepted before there were origins.
pub(super) fn of_accepted_before(version: VersionId) -> Label {
    Label::approved(version)
}

/// A folder that is held is of unknown origin until the owner says yes.
pub(super) fn of_a_held_folder() -> Label {
    Label::untrusted(Source::new("folder", ""))
}

/// The label of a skill's line in the index: name and description were accepted with it, and carry
/// no origin.
pub(super) fn of_index_line(skill: &Label) -> Label {
    skill.without_origins()
}
