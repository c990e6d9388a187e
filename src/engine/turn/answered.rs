//! The person's answer to a question about calls: what a yes extends to, and the turn that goes on
//! from there.

use std::sync::Arc;

use anyhow::Context;

use crate::engine::record::withheld_calls;
use crate::id::{AddressId, StreamId, TurnId};
use crate::model::ToolCall;
use crate::store::{
    Covers, GrantKind, NewGrant, NewOutbox, NewStep, NewTurn, Node, OutboxKind, QuestionRow, QuestionState, StepKind,
    Tx,
};
use crate::time::Timestamp;
use crate::tool::digest;
use crate::trust::{Label, Labelled};
use crate::wording::{self, gateway};

/// Number of calls that a yes to ten calls covers.
const TEN: u32 = 10;

/// Extent of a yes to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YesExtent {
    /// The calls that were shown.
    Once,
    /// The shown call of an outside tool, and further ones.
    Lasting {
        /// How many.
        calls: NumberOfCalls,
        /// Which.
        content: ContentOfCalls,
    },
}

impl YesExtent {
    /// Parses `10` or `new` for further calls, and after it `vary` for those with other content.
    pub fn read(words: &str) -> Option<Self> {
        let words = words.to_lowercase();
        let mut words = words.split_whitespace();
        let calls = match words.next() {
            None => return Some(Self::Once),
            Some("10") => NumberOfCalls::Ten,
            Some("new") => NumberOfCalls::UntilNew,
            Some(_) => return None,
        };
        let content = match (words.next(), words.next()) {
            (None, _) => ContentOfCalls::Same,
            (Some("vary"), None) => ContentOfCalls::Varying,
            _ => return None,
        };
        Some(Self::Lasting { calls, content })
    }
}

/// Number of calls that a yes covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberOfCalls {
    /// Ten, with the one that was shown.
    Ten,
    /// All until the conversation ends.
    UntilNew,
}

/// Content of the calls that a yes covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentOfCalls {
    /// That of the shown call.
    Same,
    /// Any, in the arguments that the question names.
    Varying,
}

/// Goes on from the questions of a stream that wait too long. Silence leads on as a no does: what the
/// person had asked is answered, and what was not done is said. Where the conversation is over, the
/// program says it. A question that waits longer stays open; if a turn went on from it, its end is silent.
pub fn pass_over(tx: Tx<'_>, stream: StreamId, now: Timestamp) -> anyhow::Result<()> {
    for question in tx.questions().due_questions(stream, now)? {
        let conversation = tx.conversations().conversation(question.conversation)?;
        let is_over = conversation.is_none_or(|conversation| conversation.closed_at.is_some());
        if !is_over && !question.is_behind() {
            let turn = begin_after(tx, &question, question.address, now)?;
            if question.is_open(now) {
                tx.questions().resume(question.id, turn, now)?;
            } else {
                tx.questions().decide(question.id, QuestionState::Expired, Some(turn), now)?;
            }
            continue;
        }
        tx.questions().decide(question.id, QuestionState::Expired, None, now)?;
        if question.is_behind() {
            continue;
        }
        let language = tx.people().language_at(question.address)?;
        let notice = wording::own(gateway::UNANSWERED.in_language(language), question.calls.scope());
        tx.outbox().post(&NewOutbox::answer(OutboxKind::Notice, question.address, &notice, now))?;
    }
    Ok(())
}

/// Begins the turn that a person's answer to a question leads to. After a yes it makes exactly the
/// calls of the question, and continues from there; after a no it answers what the person had asked
/// without them. Returns `None`, without beginning a turn, if the stored calls of a yes are not
/// those that were shown.
///
/// A yes to one call of an outside tool may extend to further ones, which is stored as a grant.
///
/// The turn answers no message. After a yes its first step is a reply that holds only those calls,
/// so the code that resumes any other turn makes them next, under the grant of the yes. The turn
/// belongs to the conversation of the question, which may be over, and derives from the turn that
/// asked.
///
/// # Errors
/// If the question is over.
pub fn begin_answered(
    tx: Tx<'_>,
    question: &QuestionRow,
    state: QuestionState,
    extent: YesExtent,
    address: AddressId,
    now: Timestamp,
) -> anyhow::Result<Option<TurnId>> {
    let (calls, is_yes) = (withheld_calls(question), state == QuestionState::Yes);
    if is_yes && (calls.len() != question.covers.len() || digest(&calls) != question.digest) {
        return Ok(None);
    }
    let turn = begin_after(tx, question, address, now)?;
    if is_yes {
        let label = &label_of(tx, question)?;
        give_grant(tx, question, &calls, label, extent, now)?;
        allow_destinations(tx, question, label, now)?;
        // The history already holds the calls under their own ids, and ids must be unique there.
        let renamed = |(call, number): (ToolCall, usize)| {
            let id = format!("yes_{}_{number}", question.id);
            ToolCall { id, ..call }
        };
        let calls: Vec<ToolCall> = calls.into_iter().zip(1..).map(renamed).collect();
        store_calls(tx, turn, &calls, label, question, now)?;
    }
    tx.questions().decide(question.id, state, Some(turn), now)?;
    Ok(Some(turn))
}

/// Begins a turn that answers no message, and goes on from the turn that asked.
fn begin_after(tx: Tx<'_>, question: &QuestionRow, address: AddressId, now: Timestamp) -> anyhow::Result<TurnId> {
    let scope = question.calls.scope();
    let turn = tx.turns().begin_turn(&NewTurn {
        stream: question.stream,
        conversation: question.conversation,
        person: Some(question.person),
        address,
        scope,
        at: now,
        // The context shown to the turn that asked is in the history.
        context: &wording::own("", scope),
        recalled: &wording::own("", scope),
        label: &label_of(tx, question)?,
    })?;
    tx.derivations().derive(Node::Turn(turn), Node::Turn(question.turn))?;
    Ok(turn)
}

fn label_of(tx: Tx<'_>, question: &QuestionRow) -> anyhow::Result<Label> {
    let asking = tx.turns().turn(question.turn)?.with_context(|| format!("Turn {} is not there", question.turn))?;
    Ok(asking.label.join_with(question.calls.label()))
}

/// Stores the grant of a yes that covers further calls of the one tool that the question is about.
fn give_grant(
    tx: Tx<'_>,
    question: &QuestionRow,
    calls: &[ToolCall],
    sources: &Label,
    extent: YesExtent,
    now: Timestamp,
) -> anyhow::Result<()> {
    let YesExtent::Lasting { calls: number, content } = extent else { return Ok(()) };
    // The first call is made under the yes itself.
    let uses = match number {
        NumberOfCalls::Ten => Some(TEN - 1),
        NumberOfCalls::UntilNew => None,
    };
    let shown: Vec<_> = calls.iter().zip(&question.covers).filter(|(_, covers)| **covers != Covers::Nothing).collect();
    let [(call, Covers::Tool { same, wider })] = shown[..] else { return Ok(()) };
    let pattern = wider.as_ref().filter(|_| content == ContentOfCalls::Varying).unwrap_or(same);
    let (conversation, person, scope) = (question.conversation, question.person, question.calls.scope());
    let (kind, subject, covers, at) = (GrantKind::Tool, call.name.as_str(), &*pattern.encode(), now);
    tx.grants().give(&NewGrant { conversation, person, kind, subject, covers, sources, uses, scope, at }).map(drop)
}

/// Stores what a yes allows of hosts, recipients and other values that no loaded skill names.
fn allow_destinations(tx: Tx<'_>, question: &QuestionRow, sources: &Label, at: Timestamp) -> anyhow::Result<()> {
    let (conversation, person, scope) = (question.conversation, question.person, question.calls.scope());
    let (kind, covers, uses) = (GrantKind::Destination, "", None);
    let names = question.covers.iter().filter_map(|covers| match covers {
        Covers::Destinations(names) => Some(names),
        _ => None,
    });
    for subject in names.flatten() {
        tx.grants().give(&NewGrant { conversation, person, kind, subject, covers, sources, uses, scope, at })?;
    }
    Ok(())
}

fn store_calls(
    tx: Tx<'_>,
    turn: TurnId,
    calls: &[ToolCall],
    label: &Label,
    question: &QuestionRow,
    now: Timestamp,
) -> anyhow::Result<()> {
    let scope = question.calls.scope();
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
    tx.turns().finish_step(step, &nothing, Some(&serde_json::to_string(calls)?), "", now)
}
