//! Messages, commands, edits, deletions and reactions of an identified sender.
//!
//! Only its sender can delete a message. A deletion that arrives before its message is stored, so
//! that the message is not admitted afterwards. A reaction is kept for the next turn: it neither
//! opens a conversation nor calls a model.

use std::sync::Arc;

use super::consent::{self, TypedYes};
use super::{Item, MAX_CHARACTERS, MAX_WAITING, MAX_WAITING_OF_GUESTS, MAX_WAITING_PER_GUEST, Sender, Speaker};
use crate::admin::command::{self, Action, Command};
use crate::engine::boundary::Arrival;
use crate::id::{ConversationId, MessageId, PersonId, QuestionId, StreamId};
use crate::message::{Event, FileKind, MessageContent, Quote, TextOrigin};
use crate::store::{
    BoundaryReason, ConversationKind, GrantKind, MessageKind, MessageState, NewConversation, NewGrant, NewMessage,
    NewOutbox, Node, OutboxKind, TextKind,
};
use crate::text::{is_emoji, person_name};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Source, Text};
use crate::wording::{self, ProgramText, gateway};

/// Admits a message, edit, deletion or reaction.
pub(super) fn admit(item: &mut Item<'_>, sender: &Sender<'_>) -> anyhow::Result<()> {
    match &item.inbound.event {
        Event::Message(content) => {
            let sent_at = item.inbound.server_at.unwrap_or(item.now);
            match (consent::typed_yes(item.tx, content, sender, sent_at)?, sender.speaker) {
                (Some(TypedYes::Command(yes)), Speaker::Known(person)) => {
                    store_command(item, sender, person.id, &content.text, Some(yes))
                }
                (Some(TypedYes::Unclear(questions)), _) => ask_which(item, sender, content, &questions),
                _ => admit_message(item, sender, content),
            }
        }
        Event::Edited { message, content, new_id } => apply_edit(item, sender, message, content, new_id.as_deref()),
        Event::Deleted { message } => delete(item, sender, message),
        Event::Reacted { message, emoji } => react(item, sender, message, emoji),
        Event::Button { .. } | Event::Unsupported(_) | Event::Migrated { .. } | Event::Irrelevant => Ok(()),
    }
}

/// Stores a command like a message, but never sends it to a model. `/new` and answers to questions
/// take effect here, in the order of arrival.
pub(super) fn admit_command(
    item: &mut Item<'_>,
    sender: &Sender<'_>,
    person: PersonId,
    text: &str,
) -> anyhow::Result<()> {
    store_command(item, sender, person, text, command::parse(text))
}

fn store_command(
    item: &mut Item<'_>,
    sender: &Sender<'_>,
    person: PersonId,
    text: &str,
    command: Option<Command>,
) -> anyhow::Result<()> {
    if !begin(item, sender)? {
        return Ok(());
    }
    if command == Some(Command::Act(Action::New)) {
        start_new_conversation(item, sender.stream)?;
    }
    let id = add_message(item, sender, None, MessageKind::Command, "", item.now)?;
    if let Event::Message(content) = &item.inbound.event {
        set_timer(item, id, content)?;
    }
    // Text pasted into a command may be quoted later.
    let words = labelled_text(item, sender, id, text, TextOrigin::Typed)?;
    item.tx.messages().add_unsearched_text(id, TextKind::Said, &words)?;
    let Some(reply) = consent::answer_in(command.as_ref()) else {
        item.after.command_queued = true;
        return Ok(());
    };
    // An answer to a question takes effect and is confirmed at once, unless it is still to be
    // carried out.
    let sentence = consent::decide(item.tx, reply, person, sender, item.now)?;
    item.tx.messages().settle_message(id, MessageState::Answered, "")?;
    let Some(sentence) = sentence else {
        item.after.command_queued = true;
        return Ok(());
    };
    post_quoting(item, sender, OutboxKind::Answer, sentence.in_language(item.language))?;
    item.after.streams.push(sender.stream);
    Ok(())
}

/// Answers a yes that may mean one of these questions, which stay as they are.
fn ask_which(
    item: &mut Item<'_>,
    sender: &Sender<'_>,
    content: &MessageContent,
    questions: &[QuestionId],
) -> anyhow::Result<()> {
    if !begin(item, sender)? {
        return Ok(());
    }
    let id = add_message(item, sender, None, MessageKind::Command, "", item.now)?;
    set_timer(item, id, content)?;
    let words = labelled_text(item, sender, id, &content.text, TextOrigin::Typed)?;
    item.tx.messages().add_unsearched_text(id, TextKind::Said, &words)?;
    item.tx.messages().settle_message(id, MessageState::Answered, "")?;
    post_quoting(item, sender, OutboxKind::Answer, gateway::which_yes(item.language, questions))
}

/// Makes the next message of the stream begin a new conversation.
pub(super) fn start_new_conversation(item: &mut Item<'_>, stream: StreamId) -> anyhow::Result<()> {
    let (tx, now) = (item.tx, item.now);
    tx.conversations().set_break(stream, Some(now))?;
    tx.questions().refuse_questions(stream, now)?;
    if let Some(current) = tx.conversations().newest_conversation(stream)? {
        tx.conversations().close_conversation(current.id, now)?;
    }
    item.after.streams.push(stream);
    Ok(())
}

fn admit_message(item: &mut Item<'_>, sender: &Sender<'_>, content: &MessageContent) -> anyhow::Result<()> {
    if !begin(item, sender)? {
        return Ok(());
    }
    let (tx, stream) = (item.tx, sender.stream);
    // Any other message of the conversation counts as a no to what leaves.
    if content.thread.is_none() {
        tx.questions().pass_questions(stream, item.now)?;
    }
    let album = content.album.as_deref().unwrap_or_default();
    if !album.is_empty()
        && let Some(earlier) = tx.messages().album(sender.address, album)?
    {
        item.after.streams.push(stream);
        tx.redaction().is_part_of(sender.inbox, earlier)?;
        set_timer(item, earlier, content)?;
        return add_content(item, sender, earlier, content);
    }
    let (waiting, limit) = match sender.speaker {
        Speaker::Known(_) => (tx.messages().waiting_in(stream)?, MAX_WAITING),
        Speaker::Guest(number) => match tx.messages().waiting_of_guests(stream, number)? {
            (_, all) if all >= MAX_WAITING_OF_GUESTS => (all, MAX_WAITING_OF_GUESTS),
            (theirs, _) => (theirs, MAX_WAITING_PER_GUEST),
        },
    };
    let (conversation, effective) = match &content.thread {
        Some(thread) => (conversation_of_thread(item, sender, thread)?, item.now),
        None => conversation_for(item, sender)?,
    };
    let id = add_message(item, sender, Some(conversation), MessageKind::Said, album, effective)?;
    tx.conversations().count_message(conversation, id, effective)?;
    add_content(item, sender, id, content)?;
    set_timer(item, id, content)?;
    let characters = content.text.chars().count();
    if characters > MAX_CHARACTERS {
        tx.messages().settle_message(id, MessageState::Closed, "too_long")?;
        let why = gateway::message_too_long(item.language, characters, MAX_CHARACTERS);
        return post_quoting(item, sender, OutboxKind::Notice, why);
    }
    if waiting >= limit {
        let has_begun = tx.messages().was_full_before(stream, id)?;
        tx.messages().settle_message(id, MessageState::Closed, "queue_full")?;
        // One notice when it begins, not one per message.
        return if has_begun {
            Ok(())
        } else {
            post_quoting(item, sender, OutboxKind::Notice, gateway::QUEUE_FULL.in_language(item.language))
        };
    }
    item.after.streams.push(stream);
    Ok(())
}

/// Records that the sender wrote, unless the message was deleted before it arrived. Returns false
/// then.
fn begin(item: &mut Item<'_>, sender: &Sender<'_>) -> anyhow::Result<bool> {
    let (tx, inbound) = (item.tx, item.inbound);
    if tx.redaction().was_deleted_before(sender.inbox, sender.address, &inbound.sender, &inbound.external_id)? {
        return Ok(false);
    }
    item.record_contact(sender.address, sender.speaker.person())?;
    item.after.read.push((inbound.peer.clone(), inbound.external_id.clone()));
    Ok(true)
}

/// Returns the conversation of a message and its effective time. Opens a conversation and closes
/// the previous one if needed.
fn conversation_for(item: &Item<'_>, sender: &Sender<'_>) -> anyhow::Result<(ConversationId, Timestamp)> {
    let (conversations, stream) = (item.tx.conversations(), sender.stream);
    let current = conversations.newest_conversation(stream)?;
    let arrival = Arrival {
        previous: current.as_ref().map(|conversation| conversation.last_at),
        asked_for_new: conversations.break_of(stream)?.is_some(),
        received: item.now,
        stamped: item.inbound.server_at,
        gap: item.settings.gap,
    };
    let effective = arrival.effective();
    let because = match (arrival.begins(), &current) {
        (None, Some(current)) => return Ok((current.id, effective)),
        (because, _) => because.unwrap_or(BoundaryReason::First),
    };
    if let Some(current) = current {
        conversations.close_conversation(current.id, effective)?;
    }
    conversations.set_break(stream, None)?;
    let (kind, scope, at) = (ConversationKind::Chat, sender.scope, effective);
    let id = conversations.open_conversation(&NewConversation { stream, kind, scope, because, at })?;
    tracing::info!(conversation.id = %id, stream.id = %stream, "Conversation {id} began: {}", because.as_str());
    Ok((id, effective))
}

/// Returns the conversation that began with the message `thread`, opened if it is not there or
/// over. The ongoing chat stays as it is.
fn conversation_of_thread(item: &Item<'_>, sender: &Sender<'_>, thread: &str) -> anyhow::Result<ConversationId> {
    let (conversations, stream) = (item.tx.conversations(), sender.stream);
    let first = item.tx.messages().by_external_id(sender.address, thread)?;
    if let Some(id) = first.and_then(|message| message.conversation)
        && let Some(open) = conversations.conversation(id)?
        && open.kind == ConversationKind::Piped
        && open.stream == stream
        && open.closed_at.is_none()
    {
        return Ok(id);
    }
    let (kind, scope, because, at) = (ConversationKind::Piped, sender.scope, BoundaryReason::Piped, item.now);
    conversations.open_conversation(&NewConversation { stream, kind, scope, because, at })
}

fn add_message(
    item: &Item<'_>,
    sender: &Sender<'_>,
    conversation: Option<ConversationId>,
    kind: MessageKind,
    album: &str,
    effective_at: Timestamp,
) -> anyhow::Result<MessageId> {
    item.tx.messages().add_message(&NewMessage {
        stream: sender.stream,
        conversation,
        inbox: Some(sender.inbox),
        address: Some(sender.address),
        person: sender.speaker.person(),
        guest: sender.speaker.number(),
        kind,
        scope: sender.scope,
        external_id: &item.inbound.external_id,
        album,
        received_at: item.now,
        server_at: item.inbound.server_at,
        effective_at,
        turn: None,
    })
}

fn add_content(item: &Item<'_>, sender: &Sender<'_>, id: MessageId, content: &MessageContent) -> anyhow::Result<()> {
    let (tx, scope, origin) = (item.tx, sender.scope, content.origin);
    if let Some(quote) = &content.quote {
        let (text, mut label) = quoted(item, sender, quote)?;
        // A guest's client vouches for the quoted text.
        if matches!(sender.speaker, Speaker::Guest(_)) {
            label.absorb(&sender.label_of(origin));
        }
        if !text.trim().is_empty() {
            let text = Labelled::new(Arc::from(text), label, scope);
            tx.messages().add_unsearched_text(id, TextKind::Quote, &text)?;
        }
    }
    if !content.text.is_empty() {
        let text = labelled_text(item, sender, id, &content.text, origin)?;
        tx.messages().add_text(id, TextKind::Said, &text)?;
    }
    let from = person_name(&content.forwarded_from);
    if origin == TextOrigin::Forwarded && !from.is_empty() {
        let text = Labelled::new(Arc::from(from), sender.label_of(origin), scope);
        tx.messages().add_text(id, TextKind::ForwardedFrom, &text)?;
    }
    for carried in &content.carried {
        let label = Label::untrusted(Source::new(carried.kind.as_str(), &format!("in{}", sender.inbox)));
        let text = Labelled::new(Arc::from(carried.text.as_str()), label, scope);
        tx.messages().add_unsearched_text(id, TextKind::Carried, &text)?;
    }
    for file in &content.files {
        tx.attachments().add_attachment(id, file, &sender.file_label(origin, file), scope)?;
    }
    for arrived in &content.arrived {
        let label = sender.file_label(origin, &arrived.as_remote());
        tx.attachments().add_arrived(id, arrived, &label, scope)?;
    }
    vouch_for_photos(item, sender, id, content)
}

/// Counts the photos of a message as their sender's, if the configuration says so: in that
/// conversation, as if they had vouched for them.
fn vouch_for_photos(
    item: &Item<'_>,
    sender: &Sender<'_>,
    id: MessageId,
    content: &MessageContent,
) -> anyhow::Result<()> {
    let Some(first) = content.files.first() else { return Ok(()) };
    let has_photos = content.files.iter().all(|file| file.kind == FileKind::Photo);
    let is_own = content.origin == TextOrigin::Typed && matches!(sender.scope, Scope::Person(_));
    let Some(person) = sender.speaker.person() else { return Ok(()) };
    if !item.settings.trust_own_photos || !has_photos || !is_own {
        return Ok(());
    }
    let Some(conversation) = item.tx.messages().message(id)?.and_then(|message| message.conversation) else {
        return Ok(());
    };
    let source = sender.file_source();
    item.tx.grants().give(&NewGrant {
        conversation,
        person,
        kind: GrantKind::Source,
        subject: source.as_str(),
        covers: "",
        sources: &sender.file_label(content.origin, first),
        uses: None,
        scope: sender.scope,
        at: item.now,
    })?;
    Ok(())
}

/// Labels the text or caption of a message. Text pasted from an untrusted source is no more trusted
/// than its source.
fn labelled_text(
    item: &Item<'_>,
    sender: &Sender<'_>,
    id: MessageId,
    text: &str,
    origin: TextOrigin,
) -> anyhow::Result<Text> {
    let (mut label, scope) = (sender.label_of(origin), sender.scope);
    if label.is_trusted() {
        for pasted in item.tx.fingerprints().pasted_from(text, scope)? {
            label.absorb(&pasted.label);
            if let Some(from) = pasted.from {
                item.tx.derivations().derive(Node::Message(id), from)?;
            }
        }
    }
    Ok(Labelled::new(Arc::from(text), label, scope))
}

/// Returns the text and label of a quote. A quote of a message we know has that message's label; if
/// the text is only claimed by the sender's client, it must occur in that message.
fn quoted<'q>(item: &Item<'_>, sender: &Sender<'_>, quote: &'q Quote) -> anyhow::Result<(&'q str, Label)> {
    let (messages, address) = (item.tx.messages(), sender.address);
    let (Quote::Message { text, .. } | Quote::Claimed { text, .. } | Quote::Elsewhere { text }) = quote;
    let Some(name) = quote.external_id() else { return Ok((text, Label::untrusted(Source::quote()))) };
    let message = messages.by_external_id(address, name)?;
    let texts = message.map_or(Ok(Vec::new()), |message| messages.texts_of(message.id))?;
    let is_claimed = matches!(quote, Quote::Claimed { .. });
    if is_claimed && !texts.iter().any(|stored| occurs_in(text, stored.text.open().0)) {
        return Ok((text, Label::untrusted(Source::quote())));
    }
    if let Some(label) = messages.label_of_ours(address, name)? {
        return Ok((text, label));
    }
    if texts.is_empty() {
        return Ok((text, Label::untrusted(Source::quote())));
    }
    Ok((text, Label::join_of(texts.iter().map(|stored| stored.text.label()))))
}

/// Returns true if the letters and digits of a quote occur in a text, regardless of markup.
fn occurs_in(quote: &str, text: &str) -> bool {
    let words = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let quoted = words(quote);
    !quoted.is_empty() && words(text).contains(&quoted)
}

/// Applies an edit: replaces a message that still waits; of a message in a turn the edit is stored
/// for the next turn.
fn apply_edit(
    item: &Item<'_>,
    sender: &Sender<'_>,
    external_id: &str,
    content: &MessageContent,
    new_id: Option<&str>,
) -> anyhow::Result<()> {
    let (tx, messages) = (item.tx, item.tx.messages());
    let message = messages.by_external_id(sender.address, external_id)?;
    let Some(message) = message.filter(|message| sender.is_author_of(message)) else { return Ok(()) };
    if let Some(new_id) = new_id {
        messages.add_external_id(message.id, new_id)?;
    }
    tx.redaction().is_part_of(sender.inbox, message.id)?;
    let text = labelled_text(item, sender, message.id, &content.text, content.origin)?;
    let is_of_turn = message.kind == MessageKind::Said && message.turn.is_some();
    match messages.replace_text(message.id, &text, item.now)? {
        true => Ok(()),
        false if is_of_turn => messages.add_edit(message.id, &text),
        // No model is shown a command, or a message that was not taken.
        false => messages.add_unsearched_text(message.id, TextKind::Edit, &text),
    }
}

/// Deletes a message by the id of the message or of any part of it.
fn delete(item: &mut Item<'_>, sender: &Sender<'_>, external_id: &str) -> anyhow::Result<()> {
    let (tx, address) = (item.tx, sender.address);
    let message = match tx.messages().by_external_id(address, external_id)? {
        None => tx.redaction().by_part(address, external_id)?,
        message => message,
    };
    let Some(message) = message else {
        return tx.redaction().deleted_ahead(address, &item.inbound.sender, external_id, item.now);
    };
    if !sender.is_author_of(&message) {
        return Ok(());
    }
    let Some(parting) = tx.redaction().redact_message(message.id, item.now)? else { return Ok(()) };
    if parting.turn_ended {
        item.after.cancelled.push(parting.stream);
    }
    item.after.streams.push(parting.stream);
    item.after.deletions_pending = true;
    Ok(())
}

/// Sets the deletion timer that came with a message.
fn set_timer(item: &mut Item<'_>, id: MessageId, content: &MessageContent) -> anyhow::Result<()> {
    let Some(delay) = content.expires_after else { return Ok(()) };
    item.after.deletions_pending = true;
    item.tx.timers().set_timer(id, delay)
}

/// Stores a person's reaction to one of our messages or one of their own.
fn react(item: &Item<'_>, sender: &Sender<'_>, external_id: &str, emoji: &str) -> anyhow::Result<()> {
    let Some(person) = sender.speaker.person().filter(|_| is_emoji(emoji)) else { return Ok(()) };
    let Some(message) = item.tx.messages().by_external_id(sender.address, external_id)? else { return Ok(()) };
    let is_theirs = message.kind == MessageKind::Reply || sender.is_author_of(&message);
    if is_theirs && !message.gone && message.conversation.is_some() {
        item.tx.reactions().react(message.id, person, emoji, item.now)?;
    }
    Ok(())
}

/// Posts a sentence that quotes the item; not in groups, where it would visibly quote a notice.
fn post_quoting(
    item: &mut Item<'_>,
    sender: &Sender<'_>,
    kind: OutboxKind,
    sentence: ProgramText,
) -> anyhow::Result<()> {
    let text = wording::own(sentence, sender.scope);
    let quotes = if matches!(sender.scope, Scope::Group(_)) { "" } else { item.inbound.external_id.as_str() };
    item.post(&NewOutbox { quotes, ..NewOutbox::answer(kind, sender.address, &text, item.now) })
}
