//! Renders reflections for people.

use std::sync::Arc;

use super::answer_schema::{Proposed, ReflectionForm};
use super::outcome;
use crate::store::{Db, ReflectionRow, SlotRow};
use crate::trust::{Label, Labelled, Text};
use crate::wording::reflection as says;

/// Maximum number of lessons, and of proposals, in a notice.
const LEARNED: usize = 3;
const LISTED: usize = 5;

/// Renders a reflection in Markdown, for storage, search and display.
pub fn markdown(slot: &SlotRow, form: &ReflectionForm) -> String {
    let mut words = says::heading(&form.title, &slot.job, &slot.period);
    for (heading, entries) in [
        (says::OBSERVATIONS, &form.observations),
        (says::PATTERNS, &form.patterns),
        (says::PROPOSED, &form.actions.iter().map(in_a_line).collect()),
    ] {
        if !entries.is_empty() {
            words.push_str(&format!("\n## {heading}\n\n- {}\n", entries.join("\n- ")));
        }
    }
    words
}

/// Renders the notice to the owner.
pub fn notice(slot: &SlotRow, form: &ReflectionForm) -> String {
    let learned: Vec<String> = form.patterns.iter().chain(&form.observations).take(LEARNED).cloned().collect();
    let mut waits: Vec<String> = form.actions.iter().take(LISTED).map(title).collect();
    if form.actions.len() > LISTED {
        waits.push(says::and_more(form.actions.len() - LISTED));
    }
    says::notice(&slot.job, &slot.period, &form.title, &learned, &waits)
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
        words.push_str(&says::became(
            outcome::known_kind(action),
            Some(&action.title),
            &outcome::describe(db, action)?,
        ));
    }
    Ok(Labelled::new(Arc::from(words), label, reflection.scope))
}

fn in_a_line(action: &Proposed) -> String {
    match action {
        Proposed::Good(action) => {
            says::proposal(action.kind.as_str(), &action.title, &crate::text::one_line(&action.payload.why))
        }
        Proposed::Bad { .. } => says::NOT_UNDERSTOOD.to_owned(),
    }
}

fn title(action: &Proposed) -> String {
    match action {
        Proposed::Good(action) => says::proposal(action.kind.as_str(), &action.title, ""),
        Proposed::Bad { .. } => says::NOT_UNDERSTOOD.to_owned(),
    }
}
