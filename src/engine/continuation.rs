//! The turn that a person's yes begins: makes exactly the call that they were asked about, and
//! continues from there.
//!
//! The turn answers no message. Its first step is a reply that holds only that call, so the code
//! that resumes any other turn makes the call next, under the grant of the yes. The turn belongs to
//! the conversation of the question and derives from the turn that asked.

use std::sync::Arc;

use anyhow::Context;

use crate::id::{AddressId, TurnId};
use crate::model::ToolCall;
use crate::store::{NewStep, NewTurn, Node, QuestionRow, QuestionState, StepKind, Tx};
use crate::time::Timestamp;
use crate::tool::digest;
use crate::trust::{Label, Labelled};
use crate::wording;

/// Begins the turn that makes the call of a question and answers to that address. Returns `None`,
/// without beginning a turn, if the stored call is not the one that was shown.
///
/// # Errors
/// If the question is over.
pub fn begin(tx: Tx<'_>, question: &QuestionRow, address: AddressId, now: Timestamp) -> anyhow::Result<Option<TurnId>> {
    let call: ToolCall = serde_json::from_str(question.call.open().0).context("A stored call cannot be read")?;
    if digest(&call.name, &call.arguments) != question.digest {
        return Ok(None);
    }
    let asking = tx.turns().turn(question.turn)?.with_context(|| format!("Turn {} is not there", question.turn))?;
    let label = asking.label.join_with(question.call.label());
    let turn = tx.turns().begin_turn(&NewTurn {
        stream: question.stream,
        conversation: question.conversation,
        person: Some(question.person),
        address,
        scope: asking.scope,
        at: now,
        // The context shown to the turn that asked is in the history.
        context: &wording::own("", asking.scope),
        recalled: &wording::own("", asking.scope),
        label: &label,
    })?;
    tx.derivations().derive(Node::Turn(turn), Node::Turn(asking.id))?;
    // The history already holds the call under its own id, and ids must be unique there.
    let call = ToolCall { id: format!("yes_{}", question.id), ..call };
    store_call(tx, turn, &call, &label, question, now)?;
    tx.questions().decide(question.id, QuestionState::Yes, Some(turn), now)?;
    Ok(Some(turn))
}

fn store_call(
    tx: Tx<'_>,
    turn: TurnId,
    call: &ToolCall,
    label: &Label,
    question: &QuestionRow,
    now: Timestamp,
) -> anyhow::Result<()> {
    let scope = question.call.scope();
    let step = tx.turns().begin_step(&NewStep {
        turn,
        seq: 0,
        kind: StepKind::Model,
        tool: "",
        call: "",
        label,
        scope,
        at: now,
    })?;
    let nothing = Labelled::new(Arc::from(""), label.clone(), scope);
    tx.turns().finish_step(step, &nothing, Some(&serde_json::to_string(&[call])?), "", now)
}
