//! Answers to questions. A yes or no takes effect on admission, in order of arrival, within the
//! transaction that stores it, which also begins the turn that goes on from there.
//!
//! It is valid once, from the person who was asked, while the question is open, and its conversation
//! unless the call touches that person alone. It was typed in their direct chat or is the button
//! under the question; admission accepts no forward, quote, voice note or edit as a command. Any
//! other message means no to what leaves; what touches that person alone, and a question about
//! keeping a memory, may still be answered. A mere "yes" counts only where nothing else can be meant
//! ([`typed_yes`]), and never as a no: the person is told how to say which one they mean.

use super::{Sender, Speaker};
use crate::admin::command::{Action, Command};
use crate::engine::turn::answered::{YesExtent, begin_answered, pass_over};
use crate::id::{PersonId, QuestionId};
use crate::message::{MessageContent, TextOrigin};
use crate::store::{KeepState, QuestionState, Tx};
use crate::time::Timestamp;
use crate::wording::Sentence;
use crate::wording::command as says;
use crate::wording::memory as of_memory;
use crate::wording::typed::is_yes;

/// A yes or no with its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConsentReply {
    Yes(QuestionId, YesExtent),
    No(QuestionId),
}

/// Returns the answer that a command expresses, if any.
pub(super) fn answer_in(command: Option<&Command>) -> Option<ConsentReply> {
    match command? {
        Command::Act(Action::Yes(question, extent)) => Some(ConsentReply::Yes(*question, *extent)),
        Command::Act(Action::No(question)) => Some(ConsentReply::No(*question)),
        _ => None,
    }
}

/// Answer of a mere "yes" to the questions of a stream.
pub(super) enum TypedYes {
    /// It is this command.
    Command(Command),
    /// It may mean one of these.
    Unclear(Vec<QuestionId>),
}

/// Returns what a mere "yes" is: an answer to the one open question, if all that it is
/// about touches that person alone, and it is the last that was delivered where the word was typed,
/// whole.
pub(super) fn typed_yes(
    tx: Tx<'_>,
    content: &MessageContent,
    sender: &Sender<'_>,
    sent_at: Timestamp,
) -> anyhow::Result<Option<TypedYes>> {
    let is_bare = content.origin == TextOrigin::Typed
        && content.quote.is_none()
        && content.thread.is_none()
        && content.carried.is_empty()
        && content.files.is_empty()
        && content.arrived.is_empty();
    let Speaker::Known(person) = sender.speaker else { return Ok(None) };
    if !is_bare || !is_yes(&content.text) {
        return Ok(None);
    }
    let mut asked = tx.questions().open_questions(sender.stream)?;
    asked.retain(|question| question.person == person.id && question.is_open(sent_at));
    if let [question] = &asked[..]
        && question.is_own()
        && tx.questions().was_shown_last(question.id, sender.address, sent_at)?
    {
        return Ok(Some(TypedYes::Command(Command::Act(Action::Yes(question.id, YesExtent::Once)))));
    }
    // Once the assistant went on, a yes answers the assistant.
    if asked.iter().all(|question| question.is_behind()) {
        return Ok(None);
    }
    let keeps = tx.keep_requests().open_keeps(person.id)?.into_iter().filter(|keep| keep.is_open(sent_at));
    let mut open: Vec<QuestionId> = keeps.filter_map(|keep| keep.number).collect();
    open.extend(asked.iter().map(|question| question.id));
    open.sort_unstable();
    Ok(Some(TypedYes::Unclear(open)))
}

/// Applies an answer. Returns the sentence for the person; `None` if the answer is still to be
/// carried out.
pub(super) fn decide(
    tx: Tx<'_>,
    reply: ConsentReply,
    person: PersonId,
    sender: &Sender<'_>,
    now: Timestamp,
) -> anyhow::Result<Option<Sentence>> {
    let (ConsentReply::Yes(id, _) | ConsentReply::No(id)) = reply;
    let keep = tx.keep_requests().keep_request_by_number(id)?.filter(|keep| keep.person == person);
    let Some(keep) = keep else { return answer(tx, reply, person, sender, now).map(Some) };
    let (state, sentence) = match reply {
        _ if matches!(keep.state, KeepState::Yes | KeepState::Kept) => return Ok(Some(says::YES_ALREADY)),
        _ if keep.state != KeepState::Open => return Ok(Some(says::QUESTION_OVER)),
        _ if !keep.is_open(now) => (KeepState::Expired, Some(says::QUESTION_OVER)),
        ConsentReply::Yes(..) => (KeepState::Yes, None),
        ConsentReply::No(_) => (KeepState::No, Some(of_memory::LEFT)),
    };
    tx.keep_requests().set_keep_state(keep.id, KeepState::Open, state, Some(sender.address), now)?;
    Ok(sentence)
}

/// Applies an answer to a question of a turn.
fn answer(
    tx: Tx<'_>,
    reply: ConsentReply,
    person: PersonId,
    sender: &Sender<'_>,
    now: Timestamp,
) -> anyhow::Result<Sentence> {
    let questions = tx.questions();
    let (ConsentReply::Yes(id, _) | ConsentReply::No(id)) = reply;
    let question = questions.question(id)?.filter(|row| row.person == person && row.stream == sender.stream);
    let Some(question) = question else { return Ok(says::NO_SUCH_QUESTION) };
    if question.state == QuestionState::Yes {
        return Ok(says::YES_ALREADY);
    }
    if !question.is_open(now) {
        pass_over(tx, sender.stream, now)?;
        return Ok(says::QUESTION_OVER);
    }
    let conversation = tx.conversations().conversation(question.conversation)?;
    let is_closed = conversation.is_none_or(|conversation| conversation.closed_at.is_some());
    let (state, extent, word, sentence) = match reply {
        ConsentReply::Yes(_, extent) => (QuestionState::Yes, extent, "yes", says::GOES_ON),
        ConsentReply::No(_) => (QuestionState::Refused, YesExtent::Once, "no", says::LEFT_ALONE),
    };
    // The turn that went on has answered without the calls already.
    if state == QuestionState::Refused && question.is_behind() {
        questions.decide(id, state, None, now)?;
        return Ok(sentence);
    }
    if !is_closed || question.is_own() {
        if let Some(turn) = begin_answered(tx, &question, state, extent, sender.address, now)? {
            tracing::info!(question.id = %id, turn.id = %turn, "Question {id} was answered with {word}: turn {turn} goes on");
            return Ok(sentence);
        }
        tracing::error!(question.id = %id, "Question {id} holds other calls than those that were shown: it is refused");
    }
    questions.decide(id, QuestionState::Refused, None, now)?;
    Ok(says::QUESTION_OVER)
}
