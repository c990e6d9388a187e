//! Admission in groups: which groups are allowed, which messages are addressed to the assistant,
//! and who speaks.
//!
//! Only messages addressed to us are stored; of the rest an id and a count remain. A known person
//! speaks with their own label, anyone else as a numbered guest whose text is untrusted. Commands
//! are answered in the direct chat, and owner-only commands are accepted there alone, because in a
//! group another person may hold the phone. `/forget` in a group covers memories kept for the group
//! and is answered there; messages, which belong to everyone, are included only for the owner.

use super::{Item, Sender, Speaker, identify_sender, is_command, messages, outcome_of};
use crate::admin::command::{self, Action, Command, InGroup, SourceMessages};
use crate::id::{AddressId, StreamId};
use crate::message::{Event, Quote};
use crate::people::{Person, Role};
use crate::store::InboxOutcome;
use crate::trust::Scope;
use crate::wording::gateway;

/// Stream and address of a group.
#[derive(Clone, Copy)]
struct Group {
    stream: StreamId,
    address: AddressId,
}

/// Admits an item of the group `chat`, or skips it. `addressed` tells whether the adapter knows
/// that we are addressed.
pub(super) fn admit(item: &mut Item<'_>, chat: &str, addressed: bool) -> anyhow::Result<()> {
    let tx = item.tx;
    if let Event::Migrated { to } = &item.inbound.event {
        if skip(item)? {
            tx.groups().group_moved(item.settings.adapter, &item.settings.account, chat, to, item.now)?;
        }
        return Ok(());
    }
    if !is_allowed(item, chat)? {
        return not_allowed(item, chat, addressed);
    }
    let (stream, address) = tx.groups().stream_for_group(&item.address_of(&item.inbound.peer), item.now)?;
    if !is_relevant(item, address, addressed)? {
        // The deleted message may be addressed to us and arrive later.
        if let (true, Event::Deleted { message }) = (skip(item)?, &item.inbound.event) {
            tx.redaction().deleted_ahead(address, &item.inbound.sender, message, item.now)?;
        }
        return Ok(());
    }
    let group = Group { stream, address };
    match identify_sender(item)? {
        Some((direct, person)) => admit_known(item, group, direct, &person),
        None => admit_guest(item, group),
    }
}

/// Stores only the id of a skipped item. Returns false if it is a repeat.
fn skip(item: &Item<'_>) -> anyhow::Result<bool> {
    Ok(item.record_id(InboxOutcome::Nothing)?.is_some())
}

fn is_allowed(item: &Item<'_>, chat: &str) -> anyhow::Result<bool> {
    let (adapter, account) = (item.settings.adapter, &item.settings.account);
    let is_named = |id: &str| item.settings.groups.allowed.contains(&format!("{adapter}:{id}"));
    if is_named(chat) {
        return Ok(true);
    }
    Ok(item.tx.groups().group_allowed_as(adapter, account, chat)?.is_some_and(|first| is_named(&first)))
}

/// Tells an owner who addresses us in a group that is not allowed how to allow it, in their direct
/// chat and once a day.
fn not_allowed(item: &mut Item<'_>, chat: &str, addressed: bool) -> anyhow::Result<()> {
    if !skip(item)? || !addressed {
        return Ok(());
    }
    let addresses = item.tx.addresses();
    let Some((direct, person)) = identify_sender(item)? else { return Ok(()) };
    if person.role != Role::Owner || !addresses.has_written_from(direct)? {
        return Ok(());
    }
    if !addresses.record_group(&item.address_of(chat), item.now, &item.settings.zone.day(item.now))? {
        return Ok(());
    }
    let sentence = gateway::group_not_allowed(&format!("{}:{chat}", item.settings.adapter));
    item.post_notice(direct, Scope::Person(person.id), sentence)
}

/// Returns true if the item is for us: it mentions or answers us, belongs to such an album, or
/// refers to a message that did.
fn is_relevant(item: &Item<'_>, address: AddressId, addressed: bool) -> anyhow::Result<bool> {
    let messages = item.tx.messages();
    let is_known = |id: &str| Ok(messages.by_external_id(address, id)?.is_some());
    match &item.inbound.event {
        Event::Message(content) => {
            if addressed {
                return Ok(true);
            }
            let album = content.album.as_deref().unwrap_or_default();
            if !album.is_empty() && messages.album(address, album)?.is_some() {
                return Ok(true);
            }
            let quoted = content.quote.as_ref().and_then(Quote::external_id);
            Ok(quoted.map_or(Ok(None), |id| messages.label_of_ours(address, id))?.is_some())
        }
        Event::Edited { message, .. } | Event::Deleted { message } => is_known(message),
        Event::Reacted { message, .. } => Ok(is_known(message)? || messages.label_of_ours(address, message)?.is_some()),
        Event::Button { .. } => Ok(true),
        Event::Migrated { .. } | Event::Unsupported(_) | Event::Irrelevant => Ok(false),
    }
}

fn admit_known(item: &mut Item<'_>, group: Group, direct: AddressId, person: &Person) -> anyhow::Result<()> {
    let Group { stream, address } = group;
    let (tx, group_scope, speaker) = (item.tx, Scope::Group(stream), Speaker::Known(person));
    let text = match &item.inbound.event {
        Event::Message(content) if is_command(content) => Some(content.text.as_str()),
        Event::Button { data, callback } => {
            item.after.callbacks.push(callback.clone());
            Some(data.as_str()).filter(|data| data.starts_with('/'))
        }
        _ => None,
    };
    let Some(text) = text else { return admit_speaker(item, group, speaker) };
    let Some(inbox) = item.record_id(InboxOutcome::Command)? else { return Ok(()) };
    let in_group = command::find(text).map_or(InGroup::AnsweredDirectly, |(row, _)| row.in_group);
    match command::parse(text) {
        Some(Command::Act(Action::New)) => {
            messages::start_new_conversation(item, stream)?;
            return item.post_sentence(address, group_scope, gateway::GROUP_BEGINS_ANEW);
        }
        Some(Command::Act(Action::Stop)) => {
            item.after.stop.push(stream);
            return item.post_sentence(address, group_scope, gateway::GROUP_STOPPED);
        }
        Some(Command::Act(Action::Forget { messages: SourceMessages::Delete, .. })) if person.role != Role::Owner => {
            return item.post_sentence(address, group_scope, gateway::OWNER_FORGETS_MESSAGES);
        }
        _ if in_group == InGroup::ActsOnGroup => {
            let sender = Sender { address, speaker, stream, scope: group_scope, inbox };
            return messages::admit_command(item, &sender, person.id, text);
        }
        _ => {}
    }
    // Never write first: on Telegram a bot cannot.
    if !tx.addresses().has_written_from(direct)? {
        return item.post_sentence(address, group_scope, gateway::WRITE_TO_ME_FIRST);
    }
    let scope = Scope::Person(person.id);
    if in_group == InGroup::Refused {
        return item.post_notice(direct, scope, gateway::ONLY_HERE.in_language(tx.people().language_of(person.id)?));
    }
    let own_stream = tx.conversations().stream_for(person.id)?;
    let sender = Sender { address: direct, speaker, stream: own_stream, scope, inbox };
    messages::admit_command(item, &sender, person.id, text)?;
    item.post_sentence(address, group_scope, gateway::ANSWERED_IN_PRIVATE)
}

fn admit_guest(item: &mut Item<'_>, group: Group) -> anyhow::Result<()> {
    // Guests may not use commands or buttons. What they delete is deleted in any case.
    match &item.inbound.event {
        Event::Deleted { .. } => {}
        _ if !item.settings.groups.guests => return skip(item).map(drop),
        Event::Message(content) if is_command(content) => return skip(item).map(drop),
        Event::Button { .. } => return skip(item).map(drop),
        _ => {}
    }
    let number = item.tx.groups().guest(group.stream, &item.inbound.sender)?;
    admit_speaker(item, group, Speaker::Guest(number))
}

/// Admits a message, edit, deletion or reaction.
fn admit_speaker(item: &mut Item<'_>, group: Group, speaker: Speaker<'_>) -> anyhow::Result<()> {
    let Some(inbox) = item.record(outcome_of(&item.inbound.event))? else { return Ok(()) };
    let Group { stream, address } = group;
    messages::admit(item, &Sender { address, speaker, stream, scope: Scope::Group(stream), inbox })
}
