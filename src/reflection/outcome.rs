//! What became of a proposed action, in words: for the owner, and for the next reflection, which
//! learns from it.

use super::answer_schema::ActionKind;
use crate::store::{ActionRow, ActionState, Db, ProposalRow};
use crate::text::{one_line, shorten};
use crate::wording::reflection as says;

/// The most characters of a reason.
const REASON: usize = 300;

/// What became of it, without a reason that may repeat what the action says: for an action that
/// text from outside had a part in.
pub fn bare(db: Db<'_>, action: &ActionRow) -> anyhow::Result<String> {
    told(db, &ActionRow { reason: String::new(), ..action.clone() })
}

/// What became of it.
pub fn told(db: Db<'_>, action: &ActionRow) -> anyhow::Result<String> {
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

/// The kind, if it is one; what a model wrote in its place is not repeated.
pub fn known_kind(action: &ActionRow) -> &'static str {
    ActionKind::parse(&action.kind).unwrap_or(ActionKind::Other).as_str()
}

fn decided(db: Db<'_>, proposal: &ProposalRow) -> anyhow::Result<String> {
    Ok(match proposal.state.as_str() {
        "approved" => says::APPROVED.to_owned(),
        "rejected" => says::refused_by_owner(&owners_reason(db, proposal)?),
        "expired" => says::EXPIRED.to_owned(),
        "conflict" => says::CONFLICT.to_owned(),
        _ => says::WAITS.to_owned(),
    })
}

/// Why the owner refused it; blank if that repeats text from outside, which must not come back as
/// the owner's word.
fn owners_reason(db: Db<'_>, proposal: &ProposalRow) -> anyhow::Result<String> {
    let repeats = !db.fingerprints().pasted_from(&proposal.reason, proposal.scope)?.is_empty();
    Ok(if repeats { String::new() } else { shorten(&one_line(&proposal.reason), REASON) })
}
