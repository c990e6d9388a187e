//! The door: who may come in, what becomes of what they sent, and what label it gets.
//!
//! Everything here runs inside the one transaction that also stores the raw item and moves the cursor. This is where trust is minted
//! for what people type: the text or caption of a known person's own message, without forward or via marks, and a fresh voice note
//! of theirs. A quote has the label of what it quotes, if that is ours to know; so has a paste that is known again. All else is untrusted.

use std::sync::Arc;
use std::time::Duration;

use super::consent;
use crate::adapter::Adapter;
use crate::admin::command::{self, Command};
use crate::engine::boundary::Arrival;
use crate::id::{AddressId, InboxId, MessageId, StreamId};
use crate::message::{Event, FileKind, Inbound, Origin, Place, Quote, RemoteFile, Said};
use crate::people::{Address, Person};
use crate::store::{
    CodeUse, Fate, InboxItem, MessageKind, NewConversation, NewMessage, NewOutbox, Node, OutboxKind, TextKind, Tx,
};
use crate::time::{Moment, Zone};
use crate::trust::{Label, Labelled, Scope, Source, Text};
use crate::wording::{self, gate};

/// The most messages of one person that may wait.
pub const MOST_WAITING: i64 = 100;
/// The longest message that is answered, in characters: far more than any channel's own limit.
pub const LONGEST: usize = 200_000;
/// Wrong codes a stranger may give in a day.
const GUESSES: i64 = 5;

/// What holds for the whole batch.
#[derive(Debug, Clone)]
pub struct Door {
    /// Now.
    pub now: Moment,
    /// The zone in which "once a day" is counted.
    pub zone: Zone,
    /// `[conversation] gap`
    pub gap: Duration,
    /// The assistant's name.
    pub agent: String,
    /// Who received it.
    pub adapter: &'static str,
    /// For which account.
    pub account: String,
}

/// Whom to wake when the transaction is on the disk.
#[derive(Debug, Default)]
pub struct Wake {
    /// Streams with something new.
    pub streams: Vec<StreamId>,
    /// Addresses to which something was posted.
    pub posted: Vec<AddressId>,
    /// Whether there is a command.
    pub commands: bool,
    /// Buttons whose press was heard.
    pub buttons: Vec<String>,
    /// Whether somebody was let in.
    pub newcomer: bool,
}

/// One item of a batch, parsed.
#[derive(Debug)]
pub struct Item {
    /// The original.
    pub raw: String,
    /// What it says; `None` if it makes no sense.
    pub inbound: Option<Inbound>,
}

/// Parses a batch.
pub fn parse(adapter: &dyn Adapter, items: Vec<String>) -> Vec<Item> {
    items.into_iter().map(|raw| Item { inbound: adapter.parse(&raw).ok(), raw }).collect()
}

impl Door {
    /// Lets one item in, or not.
    ///
    /// # Errors
    /// If the journal cannot be written; then the whole batch is not stored, and will come again.
    pub fn admit(&self, tx: Tx<'_>, item: &Item, wake: &mut Wake) -> anyhow::Result<()> {
        let Some(inbound) = &item.inbound else {
            // Nothing identifies it but its content.
            self.receive(tx, &digest(&item.raw), Fate::Unreadable, &item.raw)?;
            return Ok(());
        };
        if inbound.place == Place::Group {
            self.receive(tx, &inbound.external_id, Fate::Nothing, "")?;
            return Ok(());
        }
        let from = Address::new(self.adapter, &self.account, &inbound.sender);
        let known = tx.who_is(&from)?;
        let known = known.map(|(address, id)| Ok::<_, anyhow::Error>((address, tx.person(id)?))).transpose()?;
        match known {
            Some((address, Some(person))) => self.known(tx, item, inbound, address, &person, wake),
            _ => self.stranger(tx, inbound, &from, wake),
        }
    }

    fn receive(&self, tx: Tx<'_>, external_id: &str, fate: Fate, raw: &str) -> anyhow::Result<Option<InboxId>> {
        tx.receive(&InboxItem {
            adapter: self.adapter,
            account: &self.account,
            external_id,
            received_at: self.now,
            fate,
            raw,
        })
    }

    fn known(
        &self,
        tx: Tx<'_>,
        item: &Item,
        inbound: &Inbound,
        address: AddressId,
        person: &Person,
        wake: &mut Wake,
    ) -> anyhow::Result<()> {
        let fate = match &inbound.event {
            Event::Said(said) if is_command(said) => Fate::Command,
            Event::Said(_) => Fate::Admitted,
            Event::Edited { .. } => Fate::Edit,
            Event::Button { .. } => Fate::Button,
            Event::Unsupported(_) => Fate::Unsupported,
            Event::Nothing => Fate::Nothing,
        };
        let raw = if fate == Fate::Nothing { "" } else { item.raw.as_str() };
        let Some(inbox) = self.receive(tx, &inbound.external_id, fate, raw)? else { return Ok(()) };
        let stream = tx.stream_for(person.id)?;
        let guest = Guest { address, person, stream, inbox, inbound };
        match &inbound.event {
            Event::Said(said) if fate == Fate::Command => self.command(tx, &guest, &said.text, wake),
            Event::Said(said) => self.said(tx, &guest, said, wake),
            Event::Edited { of, said } => self.edited(tx, &guest, of, said),
            Event::Button { data, callback } => {
                wake.buttons.push(callback.clone());
                if data.starts_with('/') { self.command(tx, &guest, data, wake) } else { Ok(()) }
            }
            Event::Unsupported(what) => self.tell(tx, address, person, &gate::unsupported(what), wake),
            Event::Nothing => Ok(()),
        }
    }

    /// A command is stored like a message, and never sent to a model. `/new` counts from here on, in the order of arrival, and so does an
    /// answer to a question.
    fn command(&self, tx: Tx<'_>, guest: &Guest<'_>, text: &str, wake: &mut Wake) -> anyhow::Result<()> {
        tx.heard_from(guest.address, self.now)?;
        let command = command::parse(text).ok();
        if command == Some(Command::New) {
            tx.set_break(guest.stream, Some(self.now))?;
            tx.refuse_questions(guest.stream, self.now)?;
            if let Some(current) = tx.newest_conversation(guest.stream)? {
                tx.close_conversation(current.id, self.now)?;
            }
            wake.streams.push(guest.stream);
        }
        let id = self.add(tx, guest, None, MessageKind::Command, "", self.now)?;
        // What was pasted into it may be quoted later on.
        let words = self.words(tx, id, text, Origin::Typed, Scope::Person(guest.person.id))?;
        tx.add_unsearched_text(id, TextKind::Said, &words)?;
        match consent::reply_in(command.as_ref()) {
            Some(reply) => self.consent(tx, guest, id, reply, wake),
            None => {
                wake.commands = true;
                Ok(())
            }
        }
    }

    /// Lets a yes or no count, and says at once what came of it.
    fn consent(
        &self,
        tx: Tx<'_>,
        guest: &Guest<'_>,
        command: MessageId,
        reply: consent::Reply,
        wake: &mut Wake,
    ) -> anyhow::Result<()> {
        let voice = consent::Voice { person: guest.person.id, stream: guest.stream, address: guest.address };
        let sentence = consent::decide(tx, reply, &voice, self.now)?;
        tx.settle_message(command, "answered", "")?;
        let text = wording::own(sentence, Scope::Person(guest.person.id));
        tx.post(&NewOutbox { kind: OutboxKind::Answer, ..NewOutbox::notice(guest.address, &text, self.now) })?;
        wake.posted.push(guest.address);
        wake.streams.push(guest.stream);
        Ok(())
    }

    fn said(&self, tx: Tx<'_>, guest: &Guest<'_>, said: &Said, wake: &mut Wake) -> anyhow::Result<()> {
        tx.heard_from(guest.address, self.now)?;
        // Whoever says something else than yes does not say yes.
        tx.refuse_questions(guest.stream, self.now)?;
        if !said.album.as_deref().unwrap_or_default().is_empty()
            && let Some(earlier) = tx.album(guest.address, said.album.as_deref().unwrap_or_default())?
        {
            wake.streams.push(guest.stream);
            return self.add_content(tx, guest, earlier, said);
        }
        let waiting = tx.waiting_in(guest.stream)?;
        let characters = said.text.chars().count();
        let (conversation, effective) = self.place(tx, guest)?;
        let id = self.add(
            tx,
            guest,
            Some(conversation),
            MessageKind::Said,
            said.album.as_deref().unwrap_or_default(),
            effective,
        )?;
        tx.conversation_grew(conversation, id, effective)?;
        self.add_content(tx, guest, id, said)?;
        if characters > LONGEST {
            tx.settle_message(id, "closed", "too_long")?;
            return self.tell(tx, guest.address, guest.person, &gate::message_too_long(characters, LONGEST), wake);
        }
        if waiting >= MOST_WAITING {
            tx.settle_message(id, "closed", "queue_full")?;
            // One sentence when it begins, not one for each.
            if waiting == MOST_WAITING {
                return self.tell(tx, guest.address, guest.person, gate::QUEUE_FULL, wake);
            }
            return Ok(());
        }
        wake.streams.push(guest.stream);
        Ok(())
    }

    /// The conversation that a message belongs to, opened and the one before closed if need be, and the time that counts.
    fn place(&self, tx: Tx<'_>, guest: &Guest<'_>) -> anyhow::Result<(crate::id::ConversationId, Moment)> {
        let current = tx.newest_conversation(guest.stream)?;
        let arrival = Arrival {
            previous: current.as_ref().map(|conversation| conversation.last_at),
            asked_for_new: tx.break_of(guest.stream)?.is_some(),
            received: self.now,
            stamped: guest.inbound.server_at,
            gap: self.gap,
        };
        let effective = arrival.effective();
        match (arrival.begins(), current) {
            (None, Some(current)) => Ok((current.id, effective)),
            (because, current) => {
                if let Some(current) = current {
                    tx.close_conversation(current.id, effective)?;
                }
                tx.set_break(guest.stream, None)?;
                let because = because.unwrap_or(crate::engine::boundary::Because::First).as_str();
                let scope = Scope::Person(guest.person.id);
                let id = tx.open_conversation(&NewConversation {
                    stream: guest.stream,
                    kind: "chat",
                    scope,
                    because,
                    at: effective,
                })?;
                tracing::info!(conversation.id = %id, stream.id = %guest.stream, "Conversation {id} began: {because}");
                Ok((id, effective))
            }
        }
    }

    fn add(
        &self,
        tx: Tx<'_>,
        guest: &Guest<'_>,
        conversation: Option<crate::id::ConversationId>,
        kind: MessageKind,
        album: &str,
        effective: Moment,
    ) -> anyhow::Result<MessageId> {
        tx.add_message(&NewMessage {
            stream: guest.stream,
            conversation,
            inbox: Some(guest.inbox),
            address: Some(guest.address),
            person: Some(guest.person.id),
            kind,
            scope: Scope::Person(guest.person.id),
            external_id: &guest.inbound.external_id,
            album,
            received_at: self.now,
            server_at: guest.inbound.server_at,
            effective_at: effective,
            turn: None,
        })
    }

    fn add_content(&self, tx: Tx<'_>, guest: &Guest<'_>, id: MessageId, said: &Said) -> anyhow::Result<()> {
        let scope = Scope::Person(guest.person.id);
        if let Some(quote) = &said.quote {
            let (text, label) = self.quoted(tx, guest.address, quote)?;
            if !text.trim().is_empty() {
                tx.add_unsearched_text(id, TextKind::Quote, &Labelled::new(Arc::from(text), label, scope))?;
            }
        }
        if !said.text.is_empty() {
            tx.add_text(id, TextKind::Said, &self.words(tx, id, &said.text, said.origin, scope)?)?;
        }
        for file in &said.files {
            tx.add_attachment(id, file, &file_label(said.origin, file, guest.inbox), scope)?;
        }
        Ok(())
    }

    /// The text or caption of a message. What was pasted from an untrusted text is no more trusted than that.
    fn words(&self, tx: Tx<'_>, id: MessageId, text: &str, origin: Origin, scope: Scope) -> anyhow::Result<Text> {
        let mut label = label_of(origin);
        if label.is_trusted() {
            for pasted in tx.pasted_from(text, scope)? {
                label.absorb(&pasted.label);
                if let Some(from) = pasted.from {
                    tx.derive(Node::Message(id), from)?;
                }
            }
        }
        Ok(Labelled::new(Arc::from(text), label, scope))
    }

    /// What a message answers. A quote of one of our own messages, or of their own, has that message's label.
    fn quoted<'q>(&self, tx: Tx<'_>, address: AddressId, quote: &'q Quote) -> anyhow::Result<(&'q str, Label)> {
        match quote {
            Quote::Elsewhere { text } => Ok((text, Label::untrusted(Source::quote()))),
            Quote::Message { external_id, text } => {
                if let Some(label) = tx.label_of_ours(address, external_id)? {
                    return Ok((text, label));
                }
                let theirs = tx.by_external_id(address, external_id)?;
                let texts = theirs.map(|message| tx.texts_of(message.id)).transpose()?.unwrap_or_default();
                let label = if texts.is_empty() {
                    Label::untrusted(Source::quote())
                } else {
                    Label::join_of(texts.iter().map(|text| text.text.label()))
                };
                Ok((text, label))
            }
        }
    }

    /// A change replaces what still waits; of what was claimed already it is only kept.
    fn edited(&self, tx: Tx<'_>, guest: &Guest<'_>, of: &str, said: &Said) -> anyhow::Result<()> {
        let Some(message) =
            tx.by_external_id(guest.address, of)?.filter(|message| message.person == Some(guest.person.id))
        else {
            return Ok(());
        };
        let text = self.words(tx, message.id, &said.text, said.origin, Scope::Person(guest.person.id))?;
        if !tx.replace_said(message.id, &text, self.now)? {
            tx.add_unsearched_text(message.id, TextKind::Edit, &text)?;
        }
        Ok(())
    }

    /// Nothing of what a stranger sends is kept but that they knocked. A pairing code opens the door.
    fn stranger(&self, tx: Tx<'_>, inbound: &Inbound, from: &Address, wake: &mut Wake) -> anyhow::Result<()> {
        if self.receive(tx, &inbound.external_id, Fate::Stranger, "")?.is_none() {
            return Ok(());
        }
        let day = self.zone.day(self.now);
        let may_be_told = tx.stranger_knocked(from, self.now, &day)?;
        let Event::Said(said) = &inbound.event else { return Ok(()) };
        let answer = match command::code_in(&said.text).filter(|_| said.origin == Origin::Typed) {
            Some(code) if tx.guesses(from, &day)? < GUESSES => match tx.use_code(code, self.now)? {
                CodeUse::Accepted { name, role } => {
                    let declared = tx.person_named(&name)?;
                    let person = match declared {
                        Some(person) => person,
                        None => tx.allow(&name, role, "pairing", self.now)?,
                    };
                    let address = tx.link(from, Some(person.id), self.now)?;
                    tx.heard_from(address, self.now)?;
                    wake.newcomer = true;
                    let welcome = gate::welcome(&person.name, person.role.as_str(), &self.agent);
                    return self.tell(tx, address, &person, &welcome, wake);
                }
                CodeUse::Refused => {
                    tx.stranger_guessed(from, &day)?;
                    Some(gate::CODE_REFUSED)
                }
            },
            Some(_) if may_be_told => Some(gate::CODE_TOO_MANY),
            None if may_be_told => Some(gate::STRANGER),
            _ => None,
        };
        if let Some(answer) = answer {
            let address = tx.link(from, None, self.now)?;
            self.post(tx, address, &wording::own(answer, Scope::Shared), wake)?;
        }
        Ok(())
    }

    fn tell(
        &self,
        tx: Tx<'_>,
        address: AddressId,
        person: &Person,
        sentence: &str,
        wake: &mut Wake,
    ) -> anyhow::Result<()> {
        self.post(tx, address, &wording::own(sentence, Scope::Person(person.id)), wake)
    }

    fn post(&self, tx: Tx<'_>, address: AddressId, text: &Text, wake: &mut Wake) -> anyhow::Result<()> {
        tx.post(&NewOutbox::notice(address, text, self.now))?;
        wake.posted.push(address);
        Ok(())
    }
}

/// Whom an item came from and what it is, once the sender is known.
struct Guest<'a> {
    address: AddressId,
    person: &'a Person,
    stream: StreamId,
    inbox: InboxId,
    inbound: &'a Inbound,
}

/// Only what a person typed themselves can be a command: no forward, no quote, no caption, no pipe, no voice.
fn is_command(said: &Said) -> bool {
    said.origin == Origin::Typed && said.files.is_empty() && said.text.starts_with('/')
}

/// Where the text of a known person's message came from.
fn label_of(origin: Origin) -> Label {
    match origin {
        Origin::Typed => Label::trusted(),
        Origin::Forwarded => Label::untrusted(Source::forward()),
        Origin::ViaBot => Label::untrusted(Source::new("via_bot", "")),
        Origin::Piped => Label::untrusted(Source::stdin()),
    }
}

/// A fresh voice note is its sender's own voice; every other file is untrusted.
fn file_label(origin: Origin, file: &RemoteFile, inbox: InboxId) -> Label {
    if file.kind == FileKind::Voice && origin == Origin::Typed {
        return Label::trusted();
    }
    label_of(origin).join(&Label::untrusted(Source::file(format!("in{inbox}"))))
}

fn digest(raw: &str) -> String {
    use sha2::Digest;
    let hash = sha2::Sha256::digest(raw.as_bytes());
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("x{hex}")
}
