//! The turn that a person's yes begins: exactly the call that they were asked about, and what
//! follows from it.
//!
//! It answers no message. Its first step is a reply that holds nothing but that call, so the
//! machinery that takes up any other turn makes the call next, under what the yes allows. It
//! belongs to the conversation of the question and grows from the turn that asked.

use std::sync::Arc;

use anyhow::Context;

use crate::id::{AddressId, TurnId};
use crate::model::ToolCall;
use crate::store::{NewStep, NewTurn, Node, QuestionRow, QuestionState, Tx};
use crate::time::Timestamp;
use crate::tool::digest;
use crate::trust::{Label, Labelled};
use crate::wording;

/// Goes on with the call that a question is about, answering to that address. `None` if the stored
/// call is not the one that was shown: then nothing is begun.
///
/// # Errors
/// If the question is over, or the journal cannot be written.
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
        // What the turn that asked was shown stands in the history.
        context: &wording::own("", asking.scope),
        recalled: &wording::own("", asking.scope),
        label: &label,
    })?;
    tx.derivations().derive(Node::Turn(turn), Node::Turn(asking.id))?;
    // The call stands in the history under its own id already, and no id may stand there twice.
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
    let step =
        tx.turns().begin_step(&NewStep { turn, seq: 0, kind: "model", tool: "", call: "", label, scope, at: now })?;
    let nothing = Labelled::new(Arc::from(""), label.clone(), scope);
    tx.turns().finish_step(step, &nothing, Some(&serde_json::to_string(&[call])?), "", now)
}
