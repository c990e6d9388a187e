//! Creates trusted labels. The only file of this module that does: for shipped content, for a
//! person's own work, and for content that the owner approved.

use super::approval_proof::Approval;
use crate::id::VersionId;
use crate::trust::{Label, Source};

/// Returns the label of a built-in skill: the program's own words.
pub(super) fn of_the_program() -> Label {
    Label::trusted()
}

/// Returns the label of a folder that a person wrote by hand, if the owner configured such folders
/// to be live.
pub(super) fn of_a_person() -> Label {
    Label::trusted()
}

/// Returns the label of an edit of accepted content: a person's hand, and the third party of whom
/// there may still be text in it.
pub(super) fn of_an_edit(accepted: &Label) -> Label {
    of_a_person().join_with(accepted)
}

/// Returns the label of approved content: trusted from now on, for exactly this content by its
/// digest. A third party's content keeps the version as its origin.
pub(super) fn of_approved(_: &Approval, third_party: Option<VersionId>) -> Label {
    third_party.map_or_else(Label::trusted, Label::approved)
}

/// Returns the label of a held folder: unknown origin until the owner approves it.
pub(super) fn of_a_held_folder() -> Label {
    Label::untrusted(Source::new("folder", ""))
}

/// Returns the label of a skill's line in the index: name and description were accepted with the
/// skill and carry no origin.
pub(super) fn of_index_line(skill: &Label) -> Label {
    skill.without_origins()
}
