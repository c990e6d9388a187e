//! Outcome of a proposed action as text: for the owner, and for the next reflection, which learns
//! from it.

use super::answer_schema::ActionKind;
use crate::store::{ActionRow, ActionState, Db, ProposalRow, ProposalState};
use crate::text::{one_line, shorten};
use crate::wording::reflection as says;

/// Maximum number of characters in a reason.
const REASON: usize = 300;

/// Describes the outcome without a reason that may repeat the action's text: for an action with
/// untrusted content.
pub fn bare(db: Db<'_>, action: &ActionRow) -> anyhow::Result<String> {
    describe(db, &ActionRow { reason: String::new(), ..action.clone() })
}

/// Describes the outcome.
pub fn describe(db: Db<'_>, action: &ActionRow) -> anyhow::Result<String> {
    let reason = shorten(&one_line(&action.reason), REASON);
    Ok(match action.state {
        ActionState::New | ActionState::Taken => says::NOT_SEEN_TO.to_owned(),
        ActionState::Suggested => says::SUGGESTED.to_owned(),
        ActionState::Kept if reason.is_empty() && !action.label.is_trusted() => says::KEPT_APART.to_owned(),
        ActionState::Kept => says::kept(&reason),
        ActionState::Refused => says::refused_by_gate(&reason),
        ActionState::OverLimit => says::over_limit(&reason),
        ActionState::Malformed => says::malformed(&reason),
        ActionState::Proposed => match action.proposal.map(|id| db.proposals().proposal(id)).transpose()?.flatten() {
            Some(proposal) => decided(db, &proposal)?,
            None => says::NOT_SEEN_TO.to_owned(),
        },
    })
}

/// Returns the kind if it is valid; invalid text of a model is not repeated.
pub fn known_kind(action: &ActionRow) -> &'static str {
    ActionKind::parse(&action.kind).unwrap_or(ActionKind::Other).as_str()
}

fn decided(db: Db<'_>, proposal: &ProposalRow) -> anyhow::Result<String> {
    Ok(match proposal.state {
        ProposalState::Approved => says::APPROVED.to_owned(),
        ProposalState::Rejected => says::refused_by_owner(&owners_reason(db, proposal)?),
        ProposalState::Expired => says::EXPIRED.to_owned(),
        ProposalState::Conflict => says::CONFLICT.to_owned(),
        ProposalState::Pending => says::WAITS.to_owned(),
    })
}

/// Returns the owner's reason for a rejection; blank if that repeats untrusted text, which must not
/// return as the owner's own.
fn owners_reason(db: Db<'_>, proposal: &ProposalRow) -> anyhow::Result<String> {
    let repeats = !db.fingerprints().pasted_from(&proposal.reason, proposal.scope)?.is_empty();
    Ok(if repeats { String::new() } else { shorten(&one_line(&proposal.reason), REASON) })
}
