//! Second stage: is it a change at all, made from what lies there, and not one that was decided already?

use super::proposal::{Draft, Origin};
use super::{Change, Refused};
use crate::id::ProposalId;
use crate::skill::{Digest, Folder};
use crate::store::Db;
use crate::wording::proposal as says;

/// What the stage says of a draft that it does not refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// It is new.
    New,
    /// The same waits already: asking twice makes no second one, so a call that was cut off may be made again.
    Waits(ProposalId),
}

/// Compares a draft with what lies there and with what was decided before.
pub(super) fn check(
    db: Db<'_>,
    draft: &Draft,
    base: Option<&Digest>,
    result: Option<&Folder>,
) -> anyhow::Result<Result<Known, Refused>> {
    let content = result.map(Folder::digest);
    // What lies there and is held is proposed as it is.
    let held = matches!(draft.origin, Origin::Folder);
    if !held && draft.change == Change::Edit && base.is_some() && base == content.as_ref() {
        return Ok(Err(Refused::because(says::NO_CHANGE)));
    }
    let (base, content) = (base.map_or("", Digest::as_str), content.as_ref().map_or("", Digest::as_str));
    let alike = db.proposals_like(&draft.skill, draft.change.as_str(), draft.change.new_name(), content)?;
    if let Some(same) = alike.iter().find(|row| row.state == "pending" && row.base == base) {
        return Ok(Ok(Known::Waits(same.id)));
    }
    // To delete something is proposed without a content: what was refused is the deletion of this very content.
    match alike.iter().find(|row| row.state == "rejected" && (!content.is_empty() || row.base == base)) {
        Some(row) => Ok(Err(Refused::because(&says::rejected_before(row.id, &row.reason)))),
        None => Ok(Ok(Known::New)),
    }
}
