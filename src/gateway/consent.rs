//! Answers to questions. A yes or no takes effect on admission, in order of arrival, within the
//! transaction that stores it.
//!
//! It is valid once, from the person who was asked, while the question and its conversation are
//! open. It was typed in their direct chat or is the button under the question; admission accepts
//! no forward, quote, voice note or edit as a command. Any other message means no, except to a
//! question about keeping a memory: that one stays open, and a yes is carried out by the command
//! worker. The time of a question, and of a proposal, starts with its delivery, which is recognised
//! here by its buttons.

use crate::admin::command::ChatCommand;
use crate::engine::continuation;
use crate::id::{AddressId, PersonId, ProposalId, QuestionId, StreamId};
use crate::store::{KeepRow, KeepState, OutboxKind, OutboxRow, QuestionRow, QuestionState, Tx};
use crate::time::Timestamp;
use crate::wording::command as says;
use crate::wording::memory as of_memory;

/// Person who answers, and from where.
pub(super) struct Responder {
    pub(super) person: PersonId,
    pub(super) stream: StreamId,
    pub(super) address: AddressId,
}

/// A yes or no with its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConsentReply {
    Yes(QuestionId),
    No(QuestionId),
}

/// Returns the answer that a command expresses, if any.
pub(super) fn answer_in(command: Option<&ChatCommand>) -> Option<ConsentReply> {
    match command? {
        ChatCommand::Yes(question) => Some(ConsentReply::Yes(*question)),
        ChatCommand::No(question) => Some(ConsentReply::No(*question)),
        _ => None,
    }
}

/// Starts the time limit of a question or proposal when its message was delivered or given up.
/// Returns the stream in which the question waits, if it was the reply of a turn.
pub(super) fn start_time_limit(tx: Tx<'_>, row: &OutboxRow, now: Timestamp) -> anyhow::Result<Option<StreamId>> {
    let number = |command: &str| {
        let said = row.buttons.iter().find_map(|(_, data)| data.strip_prefix(command));
        said.and_then(|said| said.split(' ').next()?.parse().ok())
    };
    // Only the first notice starts the limit; a proposal displayed again keeps it.
    if let (OutboxKind::Notice, Some(proposal)) = (row.kind, number("/approve ")) {
        tx.proposals().proposal_was_put(ProposalId(proposal), now)?;
    }
    let Some(question) = number("/yes ") else { return Ok(None) };
    tx.keep_requests().start_keep_limit(QuestionId(question), now)?;
    tx.questions().asked_with(row.id)
}

/// Applies an answer. Returns the sentence for the person; `None` if the answer is still to be
/// carried out.
pub(super) fn decide(
    tx: Tx<'_>,
    reply: ConsentReply,
    voice: &Responder,
    now: Timestamp,
) -> anyhow::Result<Option<&'static str>> {
    let (ConsentReply::Yes(id) | ConsentReply::No(id)) = reply;
    match tx.keep_requests().keep_request_by_number(id)?.filter(|asked| asked.person == voice.person) {
        Some(asked) => answer_keep_request(tx, &asked, reply, voice, now),
        None => answer(tx, reply, voice, now).map(Some),
    }
}

/// Applies an answer to the question whether to keep a memory.
fn answer_keep_request(
    tx: Tx<'_>,
    asked: &KeepRow,
    reply: ConsentReply,
    voice: &Responder,
    now: Timestamp,
) -> anyhow::Result<Option<&'static str>> {
    let (state, sentence) = match reply {
        _ if matches!(asked.state, KeepState::Yes | KeepState::Kept) => return Ok(Some(says::YES_ALREADY)),
        _ if asked.state != KeepState::Open => return Ok(Some(says::QUESTION_OVER)),
        _ if !asked.is_open(now) => (KeepState::Expired, Some(says::QUESTION_OVER)),
        ConsentReply::Yes(_) => (KeepState::Yes, None),
        ConsentReply::No(_) => (KeepState::No, Some(of_memory::LEFT)),
    };
    tx.keep_requests().set_keep_state(asked.id, KeepState::Open, state, Some(voice.address), now)?;
    Ok(sentence)
}

fn answer(tx: Tx<'_>, reply: ConsentReply, voice: &Responder, now: Timestamp) -> anyhow::Result<&'static str> {
    tx.questions().expire_questions(voice.stream, now)?;
    let (ConsentReply::Yes(id) | ConsentReply::No(id)) = reply;
    let asked =
        tx.questions().question(id)?.filter(|asked| asked.person == voice.person && asked.stream == voice.stream);
    let Some(asked) = asked else { return Ok(says::NO_SUCH_QUESTION) };
    if asked.state == QuestionState::Yes {
        return Ok(says::YES_ALREADY);
    }
    if !asked.is_open(now) {
        return Ok(says::QUESTION_OVER);
    }
    if is_conversation_closed(tx, &asked)? {
        tx.questions().decide(id, QuestionState::Refused, None, now)?;
        return Ok(says::QUESTION_OVER);
    }
    match reply {
        ConsentReply::No(_) => {
            tx.questions().decide(id, QuestionState::Refused, None, now)?;
            Ok(says::LEFT_ALONE)
        }
        ConsentReply::Yes(_) => continue_turn(tx, &asked, voice, now),
    }
}

fn continue_turn(tx: Tx<'_>, asked: &QuestionRow, voice: &Responder, now: Timestamp) -> anyhow::Result<&'static str> {
    let id = asked.id;
    if let Some(turn) = continuation::begin(tx, asked, voice.address, now)? {
        tracing::info!(question.id = %id, turn.id = %turn, "Question {id} was answered with yes: turn {turn} goes on");
        return Ok(says::GOES_ON);
    }
    tracing::error!(question.id = %id, "Question {id} holds another call than the one that was shown: it is refused");
    tx.questions().decide(id, QuestionState::Refused, None, now)?;
    Ok(says::QUESTION_OVER)
}

/// Returns true if the conversation of the question was closed meanwhile.
fn is_conversation_closed(tx: Tx<'_>, asked: &QuestionRow) -> anyhow::Result<bool> {
    let conversation = tx.conversations().conversation(asked.conversation)?;
    Ok(conversation.is_none_or(|conversation| conversation.closed_at.is_some()))
}
