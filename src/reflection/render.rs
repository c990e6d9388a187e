//! Renders reflections, and the outcomes of their proposed actions: for people, and for the next
//! reflection, which learns from them.

use std::sync::Arc;

use super::answer_schema::{ProposedAction, ReflectionForm};
use crate::store::{ActionRow, ActionState, Db, ProposalRow, ProposalState, ReflectionRow, SlotRow};
use crate::text::{one_line, shorten};
use crate::trust::{Label, Labelled, Text};
use crate::wording::reflection as says;

/// Renders a reflection in Markdown, for storage, search and display.
pub fn markdown(slot: &SlotRow, form: &ReflectionForm) -> String {
    let mut words = says::heading(&form.title, &slot.job, &slot.period);
    for (heading, entries) in [
        (says::OBSERVATIONS, &form.observations),
        (says::PATTERNS, &form.patterns),
        (says::PROPOSED, &form.actions.iter().filter_map(in_a_line).collect()),
    ] {
        if !entries.is_empty() {
            words.push_str(&format!("\n## {heading}\n\n- {}\n", entries.join("\n- ")));
        }
    }
    words
}

/// Renders a stored reflection with the outcomes of its proposals. The label is the join over all
/// of it.
pub fn page(db: Db<'_>, reflection: &ReflectionRow) -> anyhow::Result<Text> {
    let (mut words, mut label): (String, Label) = (String::new(), reflection.label.clone());
    for text in db.messages().texts_of(reflection.message)? {
        let (said, of, _) = text.text.open();
        label.absorb(of);
        words.push_str(said);
    }
    let actions = db.reflections().actions_of(reflection.id)?;
    if !actions.is_empty() {
        words.push_str(&format!("\n## {}\n\n", says::OUTCOMES));
    }
    for action in &actions {
        label.absorb(&action.label);
        words.push_str(&says::became(action.kind.as_str(), Some(&action.title), &describe(db, action)?));
    }
    Ok(Labelled::new(Arc::from(words), label, reflection.scope))
}

fn in_a_line(action: &ProposedAction) -> Option<String> {
    let ProposedAction::Valid(action) = action else { return None };
    Some(says::proposal(action.kind.as_str(), &action.title, &one_line(&action.payload.why)))
}

/// Maximum number of characters in a reason.
const REASON: usize = 300;

/// Describes the outcome without a reason that may repeat the action's text: for an action with
/// untrusted content.
pub fn describe_without_reason(db: Db<'_>, action: &ActionRow) -> anyhow::Result<String> {
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
            Some(proposal) => decision(db, &proposal)?,
            None => says::NOT_SEEN_TO.to_owned(),
        },
    })
}

fn decision(db: Db<'_>, proposal: &ProposalRow) -> anyhow::Result<String> {
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
