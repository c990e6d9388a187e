//! Admission in groups: which groups are allowed, which messages are addressed to the assistant,
//! and who speaks.
//!
//! Only messages addressed to us are stored; of the rest an id and a count remain. A known person
//! speaks with their own label, anyone else as a numbered guest whose text is untrusted. Commands
//! are answered in the direct chat, and owner-only commands are accepted there alone, because in a
//! group another person may hold the phone. `/forget` in a group covers memories kept for the group
//! and is answered there; messages, which belong to everyone, are included only for the owner.

use super::admission::{Admission, AfterCommit, is_command};
use super::sender::{GroupContext, MessageChange, Sender, Speaker};
use crate::admin::command::{self, ChatCommand, InGroup, SourceMessages};
use crate::id::{AddressId, StreamId};
use crate::message::{Event, MessageContent, Quote};
use crate::people::{Address, Person, Role};
use crate::store::{InboxOutcome, Tx};
use crate::trust::Scope;
use crate::wording::gate;

impl Admission {
    /// Admits an item of a group, or skips it.
    pub(super) fn in_group(&self, tx: Tx<'_>, group: &GroupContext<'_>, wake: &mut AfterCommit) -> anyhow::Result<()> {
        if let Event::Migrated { to } = &group.inbound.event {
            if self.pass_over(tx, group)? {
                tx.groups().group_moved(self.adapter, &self.account, group.chat, to, self.now)?;
            }
            return Ok(());
        }
        if !self.is_allowed(tx, group.chat)? {
            return self.not_allowed(tx, group, wake);
        }
        let at = Address::new(self.adapter, &self.account, &group.inbound.peer);
        let (stream, address) = tx.groups().stream_for_group(&at, self.now)?;
        if !self.is_meant(tx, group, address)? {
            // The deleted message may be addressed to us and arrive later.
            if let (true, Event::Deleted { message: of }) = (self.pass_over(tx, group)?, &group.inbound.event) {
                tx.redaction().deleted_ahead(address, &group.inbound.sender, of, self.now)?;
            }
            return Ok(());
        }
        match self.identify_sender(tx, group.inbound)? {
            Some((direct, person)) => self.known_in_group(tx, group, (stream, address), (direct, &person), wake),
            None => self.guest_in_group(tx, group, (stream, address), wake),
        }
    }

    /// Stores only the id of a skipped item. Returns false if it is a repeat.
    fn pass_over(&self, tx: Tx<'_>, group: &GroupContext<'_>) -> anyhow::Result<bool> {
        Ok(self.record_inbox(tx, &group.inbound.external_id, InboxOutcome::Nothing, "")?.is_some())
    }

    fn is_allowed(&self, tx: Tx<'_>, chat: &str) -> anyhow::Result<bool> {
        let named = |id: &str| self.groups.contains(&format!("{}:{id}", self.adapter));
        if named(chat) {
            return Ok(true);
        }
        Ok(tx.groups().group_allowed_as(self.adapter, &self.account, chat)?.is_some_and(|first| named(&first)))
    }

    /// Tells an owner who addresses us in a group that is not allowed how to allow it, in their
    /// direct chat and once a day.
    fn not_allowed(&self, tx: Tx<'_>, group: &GroupContext<'_>, wake: &mut AfterCommit) -> anyhow::Result<()> {
        if !self.pass_over(tx, group)? || !group.addressed {
            return Ok(());
        }
        let Some((direct, person)) = self.identify_sender(tx, group.inbound)? else { return Ok(()) };
        if person.role != Role::Owner || !tx.addresses().has_written_from(direct)? {
            return Ok(());
        }
        let here = Address::new(self.adapter, &self.account, group.chat);
        if !tx.addresses().record_stranger(&here, self.now, &self.zone.day(self.now))? {
            return Ok(());
        }
        let sentence = gate::group_not_allowed(&format!("{}:{}", self.adapter, group.chat));
        self.post_notice(tx, direct, Scope::Person(person.id), sentence, wake)
    }

    /// Returns true if the item is for us: it mentions or answers us, belongs to such an album, or
    /// refers to a message that did.
    fn is_meant(&self, tx: Tx<'_>, group: &GroupContext<'_>, address: AddressId) -> anyhow::Result<bool> {
        let about = |name: &str| Ok(tx.messages().by_external_id(address, name)?.is_some());
        match &group.inbound.event {
            Event::Message(said) => {
                if group.addressed {
                    return Ok(true);
                }
                let album = said.album.as_deref().unwrap_or_default();
                if !album.is_empty() && tx.messages().album(address, album)?.is_some() {
                    return Ok(true);
                }
                let quoted = said.quote.as_ref().and_then(Quote::external_id);
                Ok(quoted.map_or(Ok(None), |name| tx.messages().label_of_ours(address, name))?.is_some())
            }
            Event::Edited { message: of, .. } | Event::Deleted { message: of } => about(of),
            Event::Reacted { message: to, .. } => Ok(about(to)? || tx.messages().label_of_ours(address, to)?.is_some()),
            Event::Button { .. } => Ok(true),
            Event::Migrated { .. } | Event::Unsupported(_) | Event::Irrelevant => Ok(false),
        }
    }

    fn known_in_group(
        &self,
        tx: Tx<'_>,
        group: &GroupContext<'_>,
        (stream, address): (StreamId, AddressId),
        (direct, person): (AddressId, &Person),
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        let asked = match &group.inbound.event {
            Event::Message(said) if is_command(said) => Some(said.text.as_str()),
            Event::Button { data, callback } => {
                wake.callbacks.push(callback.clone());
                Some(data.as_str()).filter(|data| data.starts_with('/'))
            }
            _ => None,
        };
        let Some(asked) = asked else {
            return self.talk(tx, group, (stream, address), Speaker::Known(person), wake);
        };
        let Some(inbox) = self.record_inbox(tx, &group.inbound.external_id, InboxOutcome::Command, "")? else {
            return Ok(());
        };
        let (command, row) = (command::parse(asked), command::find(asked).ok().map(|(row, _)| row));
        if command == Some(ChatCommand::New) {
            self.start_new_conversation(tx, stream, wake)?;
            return self.post_notice(tx, address, Scope::Group(stream), gate::GROUP_BEGINS_ANEW, wake);
        }
        if command == Some(ChatCommand::Stop) {
            wake.stop.push(stream);
            return self.post_notice(tx, address, Scope::Group(stream), gate::GROUP_STOPPED, wake);
        }
        if matches!(command, Some(ChatCommand::Forget { messages: SourceMessages::Delete, .. }))
            && person.role != Role::Owner
        {
            return self.post_notice(tx, address, Scope::Group(stream), gate::OWNER_FORGETS_MESSAGES, wake);
        }
        let in_group = row.map_or(InGroup::AnsweredDirectly, |row| row.in_group);
        if in_group == InGroup::ActsOnGroup {
            let (speaker, scope) = (Speaker::Known(person), Scope::Group(stream));
            let guest = Sender { address, speaker, stream, scope, inbox, inbound: group.inbound };
            return self.admit_command(tx, &guest, person, asked, wake);
        }
        // Never write first: on Telegram a bot cannot.
        if !tx.addresses().has_written_from(direct)? {
            return self.post_notice(tx, address, Scope::Group(stream), gate::WRITE_TO_ME_FIRST, wake);
        }
        let scope = Scope::Person(person.id);
        if in_group == InGroup::Refused {
            return self.post_notice(tx, direct, scope, gate::ONLY_HERE, wake);
        }
        let theirs = tx.conversations().stream_for(person.id)?;
        let speaker = Speaker::Known(person);
        let guest = Sender { address: direct, speaker, stream: theirs, scope, inbox, inbound: group.inbound };
        self.admit_command(tx, &guest, person, asked, wake)?;
        self.post_notice(tx, address, Scope::Group(stream), gate::ANSWERED_IN_PRIVATE, wake)
    }

    fn guest_in_group(
        &self,
        tx: Tx<'_>,
        group: &GroupContext<'_>,
        (stream, address): (StreamId, AddressId),
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        // Guests may not use commands or buttons.
        let asks = |said: &MessageContent| is_command(said);
        if matches!(&group.inbound.event, Event::Message(said) if asks(said))
            || matches!(group.inbound.event, Event::Button { .. })
        {
            return self.pass_over(tx, group).map(|_| ());
        }
        let number = tx.groups().guest(stream, &group.inbound.sender)?;
        self.talk(tx, group, (stream, address), Speaker::Guest(number), wake)
    }

    /// Admits a message, edit, deletion or reaction.
    fn talk(
        &self,
        tx: Tx<'_>,
        group: &GroupContext<'_>,
        (stream, address): (StreamId, AddressId),
        speaker: Speaker<'_>,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        let inbound = group.inbound;
        let fate = match &inbound.event {
            Event::Message(_) => InboxOutcome::Admitted,
            Event::Edited { .. } => InboxOutcome::Edit,
            _ => InboxOutcome::Nothing,
        };
        let raw = if fate == InboxOutcome::Nothing { "" } else { group.raw };
        let Some(inbox) = self.record_inbox(tx, &inbound.external_id, fate, raw)? else { return Ok(()) };
        let guest = Sender { address, speaker, stream, scope: Scope::Group(stream), inbox, inbound };
        match &inbound.event {
            Event::Message(said) => self.admit_message(tx, &guest, said, wake),
            Event::Edited { message: of, content: said, new_id: also } => {
                self.apply_edit(tx, &guest, &MessageChange { message: of, content: said, new_id: also.as_deref() })
            }
            Event::Deleted { message: of } => self.deleted(tx, &guest, of, wake),
            Event::Reacted { message: to, emoji } => self.reacted(tx, &guest, to, emoji),
            _ => Ok(()),
        }
    }
}
