//! Posts of a finished turn: its answer, an emoji reaction, and the question "Keep this?".
//!
//! All of them are written in the transaction that ends the turn, so they are posted once. The
//! reaction is a separate delivery after the reply, so that a channel's failure to deliver it does
//! not affect the reply.
//!
//! "Keep this?" is about what a tainted turn wanted to remember. The text is already in
//! `memory/untrusted/`, and nothing loads it automatically. The person sees all of it, with nothing
//! hidden, or is told where to look: no question is about text that was not shown. There are no
//! questions in a group or in a system run.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::made_calls;
use crate::id::{AddressId, MessageId, TurnId};
use crate::memory::is_pending_note;
use crate::model::{ModelError, Reply, Stop};
use crate::people::{Party, Role};
use crate::review::diff::fenced;
use crate::review::reveal::reveal;
use crate::store::{
    Cause, CauseKind, KEEP_WAITS, KeepRow, MessageKind, MessageState, NewMessage, NewOutbox, OutboxKind, StoredMessage,
    TextKind, TurnRow, TurnState, Tx, UnansweredReason,
};
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Source, Text};
use crate::wording::why::all_in_words;
use crate::wording::{self, Language, Sentence, memory as says};

/// Maximum number of separate questions.
const MAX_QUESTIONS: usize = 3;
/// Maximum length in bytes of a text in a question.
const MAX_SHOWN: usize = 3_000;

/// Stores and posts the turn's one answer, and ends the turn.
pub(super) fn answer(
    tx: Tx<'_>,
    row: &TurnRow,
    text: &Text,
    buttons: &[(String, String)],
    now: Timestamp,
) -> anyhow::Result<()> {
    let message = add_reply(tx, row, now)?;
    tx.messages().add_text(message, TextKind::Said, text)?;
    tx.timers().inherit_timer(message, row.id)?;
    let quotes = &answered(tx, row)?;
    let reply = NewOutbox::answer(OutboxKind::Reply, row.address, text, now);
    tx.outbox().post(&NewOutbox { message: Some(message), buttons, quotes, ..reply })?;
    post_reaction(tx, row, now)?;
    ask_to_keep(tx, row, now)?;
    // A question with buttons waits for the person's answer.
    if buttons.is_empty() {
        tx.conversations().close_if_piped(row.conversation, now)?;
    }
    tx.messages().settle_turn(row.id, MessageState::Answered, "")?;
    tx.turns().end_turn(row.id, TurnState::Done, "", now)
}

/// Records what a turn that a question of a conversation that is over began has done, for the one
/// that goes on.
pub(super) fn tell_late(tx: Tx<'_>, row: &TurnRow, zone: Zone, now: Timestamp) -> anyhow::Result<()> {
    let Some(question) = tx.questions().question_before(row.id)? else { return Ok(()) };
    for line in made_calls::of_turn(*tx, row.id, zone)? {
        tx.sent().record(row.address, Cause::question(question.id), &line, now)?;
    }
    Ok(())
}

/// Messages that the answer quotes. In a group, the last message that it answers; elsewhere, as
/// [`asked_there`].
fn answered(tx: Tx<'_>, row: &TurnRow) -> anyhow::Result<String> {
    match row.scope {
        Scope::Group(_) => {
            Ok(tx.messages().messages_of_turn(row.id)?.pop().map(|message| message.external_id).unwrap_or_default())
        }
        Scope::Person(_) | Scope::Shared => asked_there(tx, row),
    }
}

/// External ids of the messages that the turn answers and that came from the address that the
/// answer goes to. Empty in a group, where no notice quotes a message.
fn asked_there(tx: Tx<'_>, row: &TurnRow) -> anyhow::Result<String> {
    match row.scope {
        Scope::Group(_) => Ok(String::new()),
        Scope::Person(_) | Scope::Shared => Ok(tx.outbox().asked_of(row.id, row.address)?.join("\n")),
    }
}

/// Maximum number of notices in place of an answer in a group within [`GROUP_PAUSE`].
const MAX_IN_GROUP: i64 = 3;
/// Period in which they are counted.
const GROUP_PAUSE: Duration = Duration::from_secs(3600);

/// Returns false if a group was given enough reasons for missing answers: more would only be noise,
/// and guests could cause them at will.
pub(in crate::engine) fn may_say_why(
    tx: Tx<'_>,
    scope: Scope,
    address: AddressId,
    now: Timestamp,
) -> anyhow::Result<bool> {
    let Scope::Group(_) = scope else { return Ok(true) };
    Ok(tx.outbox().notices_since(address, now.minus(GROUP_PAUSE))? < MAX_IN_GROUP)
}

/// Posts a notice to the person who waits for the answer.
pub(in crate::engine) fn post_notice(tx: Tx<'_>, row: &TurnRow, notice: &Text, now: Timestamp) -> anyhow::Result<()> {
    if !may_say_why(tx, row.scope, row.address, now)? {
        return Ok(());
    }
    let quotes = &asked_there(tx, row)?;
    tx.outbox().post(&NewOutbox { quotes, ..NewOutbox::answer(OutboxKind::Notice, row.address, notice, now) }).map(drop)
}

/// Returns false if the turn is over: it may be stopped at any moment.
pub(in crate::engine) fn is_open(tx: Tx<'_>, turn: TurnId) -> anyhow::Result<bool> {
    Ok(tx.turns().turn(turn)?.is_some_and(|turn| turn.is_open()))
}

/// Ends a turn that has no answer.
pub(in crate::engine) fn end_unanswered(
    tx: Tx<'_>,
    turn: TurnId,
    reason: UnansweredReason,
    now: Timestamp,
) -> anyhow::Result<()> {
    tx.outbox().drop_preview(turn)?;
    tx.messages().settle_turn(turn, MessageState::Closed, reason.as_str())?;
    tx.turns().end_turn(turn, TurnState::GaveUp, reason.as_str(), now)
}

/// Stores the result of a system run without delivering it. The caller that assigned the run reads
/// and handles it.
pub(super) fn store_result(tx: Tx<'_>, row: &TurnRow, text: &Text, now: Timestamp) -> anyhow::Result<()> {
    let message = add_reply(tx, row, now)?;
    tx.messages().add_unsearched_text(message, TextKind::Said, text)?;
    tx.messages().settle_turn(row.id, MessageState::Answered, "")?;
    tx.turns().end_turn(row.id, TurnState::Done, "", now)
}

fn add_reply(tx: Tx<'_>, row: &TurnRow, now: Timestamp) -> anyhow::Result<MessageId> {
    tx.messages().add_message(&NewMessage {
        stream: row.stream,
        conversation: Some(row.conversation),
        inbox: None,
        address: Some(row.address),
        person: None,
        guest: None,
        kind: MessageKind::Reply,
        scope: row.scope,
        external_id: "",
        album: "",
        received_at: now,
        server_at: None,
        effective_at: now,
        turn: Some(row.id),
    })
}

/// Asks the person, after the answer, about everything that a tainted turn wanted to remember.
pub(super) fn ask_to_keep(tx: Tx<'_>, row: &TurnRow, now: Timestamp) -> anyhow::Result<()> {
    let Some(person) = row.person else { return Ok(()) };
    let wanted = tx.keep_requests().unasked_keep_requests(row.id)?;
    let (short, long): (Vec<_>, Vec<_>) = wanted
        .into_iter()
        .filter(|keep| keep.person == person)
        .partition(|keep| keep.shown.open().0.len() <= MAX_SHOWN);
    for keep in short.iter().take(MAX_QUESTIONS) {
        ask_about(tx, row, keep, now)?;
    }
    let rest: Vec<&KeepRow> = short.iter().skip(MAX_QUESTIONS).chain(&long).collect();
    point_to(tx, row, &rest, now)
}

/// Posts one question with the exact text.
fn ask_about(tx: Tx<'_>, row: &TurnRow, keep: &KeepRow, now: Timestamp) -> anyhow::Result<()> {
    let number = tx.keep_requests().mark_keep_asked(keep.id, row.address)?;
    let (words, label, scope) = keep.shown.open();
    let language = tx.people().language_in(scope)?;
    let instead_of = (!keep.instead_of.is_empty()).then(|| says::keep_instead_of(language, &keep.instead_of));
    let sources = all_in_words(language, label);
    let question = match is_pending_note(&keep.path) {
        true => says::keep_this(language, &sources),
        false => says::keep_this_file(language, &keep.path, &sources),
    };
    let page: Vec<String> = [question, fenced(&reveal(words))]
        .into_iter()
        .chain(instead_of)
        .chain([says::keep_how(language, number, KEEP_WAITS)])
        .collect();
    let text = Labelled::new(Arc::from(page.join("\n\n")), label.clone(), scope);
    let buttons = [(says::KEEP_BUTTON, "yes"), (says::LEAVE_BUTTON, "no")];
    let title = |title: Sentence| title.in_language(language).into_string();
    let buttons = buttons.map(|(name, word)| (title(name), format!("/{word} {number}")));
    let question = NewOutbox::about(Cause::question(number), row.address, &text, now);
    tx.outbox().post(&NewOutbox { buttons: &buttons, ..question }).map(drop)
}

/// Posts a notice that names the files that are too long or too many to ask about.
fn point_to(tx: Tx<'_>, row: &TurnRow, rest: &[&KeepRow], now: Timestamp) -> anyhow::Result<()> {
    if rest.is_empty() {
        return Ok(());
    }
    // The file names were derived from untrusted text.
    let label = rest.iter().fold(Label::clone(&row.label), |label, keep| label.join_with(keep.shown.label()));
    let name = |path: &str| path.trim_start_matches("memory/untrusted/").trim_end_matches(".md").to_owned();
    let language = tx.people().language_in(row.scope)?;
    let lines = rest.iter().map(|keep| says::keep_later(language, &keep.path, &name(&keep.path)));
    let head = says::KEEP_LATER.in_language(language).into_string();
    let words: Vec<String> = std::iter::once(head).chain(lines).collect();
    let text = Labelled::new(Arc::from(words.join("\n")), label, row.scope);
    let urgency = CauseKind::Question.urgency();
    tx.outbox().post(&NewOutbox { urgency, ..NewOutbox::notice(row.address, &text, now) }).map(drop)
}

/// Posts the reaction to the last message that the turn answers and that came from the address that
/// the answer goes to.
fn post_reaction(tx: Tx<'_>, row: &TurnRow, now: Timestamp) -> anyhow::Result<()> {
    let Some(emoji) = tx.outgoing_files().enclosed_reaction(row.id)? else { return Ok(()) };
    let messages = tx.messages().messages_of_turn(row.id)?;
    let from_there = |message: &&StoredMessage| message.address == Some(row.address) && !message.gone;
    let Some(message) = messages.iter().rev().filter(from_there).find(|message| !message.external_id.is_empty()) else {
        return Ok(());
    };
    let text = Labelled::new(Arc::from(emoji), row.label.clone(), row.scope);
    let (quotes, reaction) = (&*message.external_id, NewOutbox::answer(OutboxKind::Reaction, row.address, &text, now));
    tx.outbox().post(&NewOutbox { quotes, ..reaction }).map(drop)
}

/// Returns the reply's text: a stock sentence if it is blank, with a remark if it is
/// not whole.
pub(super) fn readable(reply: &Reply, language: Language) -> Text {
    let (words, label, scope) = reply.text().open();
    let words = match (words.trim().is_empty(), reply.stop) {
        (true, Stop::Length) => Arc::from(&*wording::turn::ONLY_THOUGHTS.in_language(language)),
        (true, _) => Arc::from(&*wording::turn::EMPTY_ANSWER.in_language(language)),
        (false, Stop::Length) => {
            Arc::from(format!("{words}\n\n{}", &*wording::turn::CUT_BY_LIMIT.in_language(language)))
        }
        (false, Stop::Broken) => Arc::from(format!("{words}\n\n{}", &*wording::turn::BROKE_OFF.in_language(language))),
        (false, Stop::End | Stop::Tools) => Arc::clone(words),
    };
    Labelled::new(words, label.clone(), scope)
}

pub(in crate::engine) fn why_away(error: &ModelError) -> Sentence {
    match error {
        ModelError::BadKey => wording::turn::BAD_KEY,
        ModelError::NoCredit => wording::turn::NO_CREDIT,
        ModelError::Silent(_) => wording::turn::SLOW,
        _ => wording::turn::UNREACHABLE,
    }
}

/// What a party is told of a refused request: owners with the server's own sentence.
pub(super) fn refused(party: &Party, language: Language, why: &str) -> Text {
    match party.person() {
        Some(person) if person.role == Role::Owner => {
            let words = wording::turn::rejected_because(language, why);
            Labelled::new(Arc::from(words), Label::untrusted(Source::model_server()), party.scope())
        }
        _ => wording::own(wording::turn::REJECTED.in_language(language), party.scope()),
    }
}
