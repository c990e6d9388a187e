//! Admission: who may send, what becomes of an item, and which label it gets.
//!
//! Everything here runs inside the one transaction that also stores the raw item and advances the
//! cursor. Only here does typed text become trusted: the text or caption of a known person's own
//! message without forward or via marks, and a fresh voice note of theirs. A quote gets the label
//! of the quoted message if we know it, and a recognised paste the label of its source. All else is
//! untrusted.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::consent;
use super::sender::{GroupContext, MessageChange, Sender, Speaker, file_label};
use crate::adapter::Adapter;
use crate::admin::command::{self, ChatCommand};
use crate::engine::boundary::Arrival;
use crate::id::{AddressId, InboxId, MessageId, PersonId, StreamId};
use crate::message::{ChatKind, Event, Inbound, MessageContent, Quote, TextOrigin};
use crate::people::{Address, Person};
use crate::store::{
    BoundaryReason, ConversationKind, InboxItem, InboxOutcome, MessageKind, MessageState, NewConversation, NewMessage,
    NewOutbox, Node, OutboxKind, TextKind, Tx,
};
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Source, Text};
use crate::wording::{self, ProgramText, gate};

/// Maximum number of waiting messages per person.
pub const MAX_WAITING: i64 = 100;
/// Maximum number of waiting messages per guest of a group.
pub const MAX_WAITING_PER_GUEST: i64 = 5;
/// Maximum number of waiting messages of all guests of a group, which leaves room for known people.
pub const MAX_WAITING_OF_GUESTS: i64 = 30;
/// Maximum length of an answered message in characters, far above the limit of any channel.
pub const MAX_CHARACTERS: usize = 200_000;

/// Settings for admitting one batch.
#[derive(Debug, Clone)]
pub struct Admission {
    /// Time of receipt.
    pub now: Timestamp,
    /// Time zone in which "once a day" is counted.
    pub zone: Zone,
    /// Setting `[conversation] gap`.
    pub gap: Duration,
    /// The assistant's name.
    pub agent: String,
    /// Name of the receiving adapter.
    pub adapter: &'static str,
    /// Account of that adapter.
    pub account: String,
    /// Setting `[groups] allowed`.
    pub groups: Arc<BTreeSet<String>>,
}

/// Notifications to send after the commit.
#[derive(Debug, Default)]
pub struct AfterCommit {
    /// Streams with new work.
    pub streams: Vec<StreamId>,
    /// Addresses with new outbox rows.
    pub posted: Vec<AddressId>,
    /// Messages to acknowledge as read: chat and external id.
    pub read: Vec<(String, String)>,
    /// Streams whose running turn is to be stopped.
    pub stop: Vec<StreamId>,
    /// Streams whose running turn ended because its messages were deleted.
    pub cancelled: Vec<StreamId>,
    /// True if deletions or deletion timers are pending.
    pub deletions_pending: bool,
    /// True if a command is queued.
    pub command_queued: bool,
    /// Callback ids of button presses to acknowledge.
    pub callbacks: Vec<String>,
    /// True if somebody gained access.
    pub access_granted: bool,
}

/// One parsed item of a batch.
#[derive(Debug)]
pub struct ParsedItem {
    /// The raw item.
    pub raw: String,
    /// The parsed item; `None` if it is unreadable.
    pub inbound: Option<Inbound>,
}

impl ParsedItem {
    /// Returns true if it concerns no conversation.
    pub fn is_irrelevant(&self) -> bool {
        self.inbound.as_ref().is_some_and(|inbound| inbound.event == Event::Irrelevant)
    }
}

/// Parses a batch.
pub fn parse_batch(adapter: &dyn Adapter, items: Vec<String>) -> Vec<ParsedItem> {
    items.into_iter().map(|raw| ParsedItem { inbound: adapter.parse(&raw).ok(), raw }).collect()
}

impl Admission {
    /// Admits one item, or records why it was not admitted. An error rolls the whole batch back; it
    /// is then delivered again.
    pub fn admit(&self, tx: Tx<'_>, item: &ParsedItem, wake: &mut AfterCommit) -> anyhow::Result<()> {
        let Some(inbound) = &item.inbound else {
            // An unreadable item has no id but its content.
            self.record_inbox(tx, &digest(&item.raw), InboxOutcome::Unreadable, &item.raw)?;
            return Ok(());
        };
        if let ChatKind::Group { chat, addressed } = &inbound.chat_kind {
            let group = GroupContext { inbound, raw: &item.raw, chat, addressed: *addressed };
            return self.in_group(tx, &group, wake);
        }
        match self.identify_sender(tx, inbound)? {
            Some((address, person)) if self.becomes_one(tx, inbound, address, &person, wake)? => Ok(()),
            Some((address, person)) => self.admit_known(tx, item, inbound, address, &person, wake),
            None => self.stranger(tx, inbound, &Address::new(self.adapter, &self.account, &inbound.sender), wake),
        }
    }

    /// Returns the known person who sent it, and their own address.
    pub(super) fn identify_sender(&self, tx: Tx<'_>, inbound: &Inbound) -> anyhow::Result<Option<(AddressId, Person)>> {
        let from = Address::new(self.adapter, &self.account, &inbound.sender);
        let known = match tx.addresses().who_is(&from)? {
            Some((address, person)) => {
                if let Some(alias) = &inbound.alias {
                    tx.addresses().use_up_alias(address, &from, alias)?;
                }
                Some((address, person))
            }
            None => match &inbound.alias {
                Some(alias) => self.by_alias(tx, &from, alias)?,
                None => None,
            },
        };
        let Some((address, id)) = known else { return Ok(None) };
        Ok(tx.people().person(id)?.map(|person| (address, person)))
    }

    /// Resolves an alias, which is valid for the first sender only. A later sender under the same
    /// alias is a stranger to whom the number has passed.
    fn by_alias(&self, tx: Tx<'_>, from: &Address, alias: &str) -> anyhow::Result<Option<(AddressId, PersonId)>> {
        let known = tx.addresses().known_by_alias(from, alias)?;
        if known.is_none()
            && let Some(person) = tx.addresses().declared_for(&Address { peer: alias.to_owned(), ..from.clone() })?
        {
            tracing::warn!(person.id = %person, "Somebody else writes from the number of person {person}: they are a stranger");
        }
        Ok(known)
    }

    pub(super) fn record_inbox(
        &self,
        tx: Tx<'_>,
        external_id: &str,
        fate: InboxOutcome,
        raw: &str,
    ) -> anyhow::Result<Option<InboxId>> {
        tx.inbox().receive(&InboxItem {
            adapter: self.adapter,
            account: &self.account,
            external_id,
            received_at: self.now,
            fate,
            raw,
        })
    }

    fn admit_known(
        &self,
        tx: Tx<'_>,
        item: &ParsedItem,
        inbound: &Inbound,
        address: AddressId,
        person: &Person,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        let fate = match &inbound.event {
            Event::Message(said) if is_command(said) => InboxOutcome::Command,
            Event::Message(_) => InboxOutcome::Admitted,
            Event::Edited { .. } => InboxOutcome::Edit,
            Event::Button { .. } => InboxOutcome::Button,
            Event::Unsupported(_) => InboxOutcome::Unsupported,
            Event::Reacted { .. } | Event::Deleted { .. } | Event::Migrated { .. } | Event::Irrelevant => {
                InboxOutcome::Nothing
            }
        };
        let raw = if fate == InboxOutcome::Nothing { "" } else { item.raw.as_str() };
        let Some(inbox) = self.record_inbox(tx, &inbound.external_id, fate, raw)? else { return Ok(()) };
        let stream = tx.conversations().stream_for(person.id)?;
        let scope = Scope::Person(person.id);
        let guest = Sender { address, speaker: Speaker::Known(person), stream, scope, inbox, inbound };
        match &inbound.event {
            Event::Message(said) if fate == InboxOutcome::Command => {
                self.admit_command(tx, &guest, person, &said.text, wake)
            }
            Event::Message(said) => self.admit_message(tx, &guest, said, wake),
            Event::Edited { message: of, content: said, new_id: also } => {
                self.apply_edit(tx, &guest, &MessageChange { message: of, content: said, new_id: also.as_deref() })
            }
            Event::Button { data, callback } => {
                wake.callbacks.push(callback.clone());
                if data.starts_with('/') { self.admit_command(tx, &guest, person, data, wake) } else { Ok(()) }
            }
            Event::Unsupported(what) => self.post_notice(tx, address, scope, gate::unsupported(what), wake),
            Event::Deleted { message: of } => self.deleted(tx, &guest, of, wake),
            Event::Reacted { message: to, emoji } => self.reacted(tx, &guest, to, emoji),
            Event::Migrated { .. } | Event::Irrelevant => Ok(()),
        }
    }

    /// Stores a command like a message, but never sends it to a model. `/new` and answers to
    /// questions take effect here, in the order of arrival.
    pub(super) fn admit_command(
        &self,
        tx: Tx<'_>,
        guest: &Sender<'_>,
        person: &Person,
        text: &str,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        if self.was_deleted_before(tx, guest)? {
            return Ok(());
        }
        tx.addresses().record_contact(guest.address, self.now)?;
        wake.read.push((guest.inbound.peer.clone(), guest.inbound.external_id.clone()));
        let command = command::parse(text);
        if command == Some(ChatCommand::New) {
            self.start_new_conversation(tx, guest.stream, wake)?;
        }
        let id = self.add(tx, guest, None, MessageKind::Command, "", self.now)?;
        if let Event::Message(said) = &guest.inbound.event {
            self.timed(tx, id, said, wake)?;
        }
        // Text pasted into a command may be quoted later.
        let words = self.labelled_text(tx, id, text, TextOrigin::Typed, guest)?;
        tx.messages().add_unsearched_text(id, TextKind::Said, &words)?;
        match consent::answer_in(command.as_ref()) {
            Some(reply) => self.apply_answer(tx, guest, person, id, reply, wake),
            None => {
                wake.command_queued = true;
                Ok(())
            }
        }
    }

    /// Makes the next message of the stream begin a new conversation.
    pub(super) fn start_new_conversation(
        &self,
        tx: Tx<'_>,
        stream: StreamId,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        tx.conversations().set_break(stream, Some(self.now))?;
        tx.questions().refuse_questions(stream, self.now)?;
        if let Some(current) = tx.conversations().newest_conversation(stream)? {
            tx.conversations().close_conversation(current.id, self.now)?;
        }
        wake.streams.push(stream);
        Ok(())
    }

    /// Applies a yes or no, and posts the result at once unless it is still to be carried out.
    fn apply_answer(
        &self,
        tx: Tx<'_>,
        guest: &Sender<'_>,
        person: &Person,
        command: MessageId,
        reply: consent::ConsentReply,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        let voice = consent::Responder { person: person.id, stream: guest.stream, address: guest.address };
        let sentence = consent::decide(tx, reply, &voice, self.now)?;
        tx.messages().settle_message(command, MessageState::Answered, "")?;
        let Some(sentence) = sentence else {
            wake.command_queued = true;
            return Ok(());
        };
        let text = wording::own(sentence, guest.scope);
        let (kind, quotes) = (OutboxKind::Answer, guest.quotable_id());
        tx.outbox().post(&NewOutbox { kind, quotes, ..NewOutbox::notice(guest.address, &text, self.now) })?;
        wake.posted.push(guest.address);
        wake.streams.push(guest.stream);
        Ok(())
    }

    pub(super) fn admit_message(
        &self,
        tx: Tx<'_>,
        guest: &Sender<'_>,
        said: &MessageContent,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        if self.was_deleted_before(tx, guest)? {
            return Ok(());
        }
        tx.addresses().record_contact(guest.address, self.now)?;
        wake.read.push((guest.inbound.peer.clone(), guest.inbound.external_id.clone()));
        // Any other message counts as a no.
        tx.questions().refuse_questions(guest.stream, self.now)?;
        if !said.album.as_deref().unwrap_or_default().is_empty()
            && let Some(earlier) = tx.messages().album(guest.address, said.album.as_deref().unwrap_or_default())?
        {
            wake.streams.push(guest.stream);
            tx.redaction().is_part_of(guest.inbox, earlier)?;
            self.timed(tx, earlier, said, wake)?;
            return self.add_content(tx, guest, earlier, said);
        }
        let (waiting, most) = self.waiting(tx, guest)?;
        let characters = said.text.chars().count();
        let (conversation, effective) = self.conversation_for(tx, guest)?;
        let id = self.add(
            tx,
            guest,
            Some(conversation),
            MessageKind::Said,
            said.album.as_deref().unwrap_or_default(),
            effective,
        )?;
        tx.conversations().count_message(conversation, id, effective)?;
        self.add_content(tx, guest, id, said)?;
        self.timed(tx, id, said, wake)?;
        if characters > MAX_CHARACTERS {
            tx.messages().settle_message(id, MessageState::Closed, "too_long")?;
            return self.post_rejection(tx, guest, gate::message_too_long(characters, MAX_CHARACTERS), wake);
        }
        if waiting >= most {
            let has_begun = tx.messages().was_full_before(guest.stream, id)?;
            tx.messages().settle_message(id, MessageState::Closed, "queue_full")?;
            // One notice when it begins, not one per message.
            if !has_begun {
                return self.post_rejection(tx, guest, gate::QUEUE_FULL.into(), wake);
            }
            return Ok(());
        }
        wake.streams.push(guest.stream);
        Ok(())
    }

    /// Number of waiting messages of the same speaker, and the limit.
    fn waiting(&self, tx: Tx<'_>, guest: &Sender<'_>) -> anyhow::Result<(i64, i64)> {
        match guest.speaker {
            Speaker::Known(_) => Ok((tx.messages().waiting_in(guest.stream)?, MAX_WAITING)),
            Speaker::Guest(number) => {
                let (theirs, all) = tx.messages().waiting_of_guests(guest.stream, number)?;
                let too_many = all >= MAX_WAITING_OF_GUESTS;
                Ok(if too_many { (all, MAX_WAITING_OF_GUESTS) } else { (theirs, MAX_WAITING_PER_GUEST) })
            }
        }
    }

    /// Returns the conversation of a message and its effective time. Opens a conversation and
    /// closes the previous one if needed.
    fn conversation_for(
        &self,
        tx: Tx<'_>,
        guest: &Sender<'_>,
    ) -> anyhow::Result<(crate::id::ConversationId, Timestamp)> {
        let current = tx.conversations().newest_conversation(guest.stream)?;
        let arrival = Arrival {
            previous: current.as_ref().map(|conversation| conversation.last_at),
            asked_for_new: tx.conversations().break_of(guest.stream)?.is_some(),
            received: self.now,
            stamped: guest.inbound.server_at,
            gap: self.gap,
        };
        let effective = arrival.effective();
        match (arrival.begins(), current) {
            (None, Some(current)) => Ok((current.id, effective)),
            (because, current) => {
                if let Some(current) = current {
                    tx.conversations().close_conversation(current.id, effective)?;
                }
                tx.conversations().set_break(guest.stream, None)?;
                let because = because.unwrap_or(BoundaryReason::First);
                let id = tx.conversations().open_conversation(&NewConversation {
                    stream: guest.stream,
                    kind: ConversationKind::Chat,
                    scope: guest.scope,
                    because,
                    at: effective,
                })?;
                tracing::info!(conversation.id = %id, stream.id = %guest.stream, "Conversation {id} began: {}", because.as_str());
                Ok((id, effective))
            }
        }
    }

    fn add(
        &self,
        tx: Tx<'_>,
        guest: &Sender<'_>,
        conversation: Option<crate::id::ConversationId>,
        kind: MessageKind,
        album: &str,
        effective: Timestamp,
    ) -> anyhow::Result<MessageId> {
        tx.messages().add_message(&NewMessage {
            stream: guest.stream,
            conversation,
            inbox: Some(guest.inbox),
            address: Some(guest.address),
            person: guest.speaker.person(),
            guest: guest.speaker.number(),
            kind,
            scope: guest.scope,
            external_id: &guest.inbound.external_id,
            album,
            received_at: self.now,
            server_at: guest.inbound.server_at,
            effective_at: effective,
            turn: None,
        })
    }

    fn add_content(&self, tx: Tx<'_>, guest: &Sender<'_>, id: MessageId, said: &MessageContent) -> anyhow::Result<()> {
        let scope = guest.scope;
        if let Some(quote) = &said.quote {
            let (text, mut label) = self.quoted(tx, guest.address, quote)?;
            // A guest's client vouches for the quoted text.
            if matches!(guest.speaker, Speaker::Guest(_)) {
                label.absorb(&guest.label_of(said.origin));
            }
            if !text.trim().is_empty() {
                tx.messages().add_unsearched_text(
                    id,
                    TextKind::Quote,
                    &Labelled::new(Arc::from(text), label, scope),
                )?;
            }
        }
        if !said.text.is_empty() {
            tx.messages().add_text(id, TextKind::Said, &self.labelled_text(tx, id, &said.text, said.origin, guest)?)?;
        }
        for carried in &said.carried {
            let label = Label::untrusted(Source::new(carried.kind.as_str(), &format!("in{}", guest.inbox)));
            let text = Labelled::new(Arc::from(carried.text.as_str()), label, scope);
            tx.messages().add_unsearched_text(id, TextKind::Carried, &text)?;
        }
        for file in &said.files {
            tx.attachments().add_attachment(id, file, &file_label(said.origin, file, guest), scope)?;
        }
        Ok(())
    }

    /// Labels the text or caption of a message. Text pasted from an untrusted source is no more
    /// trusted than its source.
    fn labelled_text(
        &self,
        tx: Tx<'_>,
        id: MessageId,
        text: &str,
        origin: TextOrigin,
        guest: &Sender<'_>,
    ) -> anyhow::Result<Text> {
        let (mut label, scope) = (guest.label_of(origin), guest.scope);
        if label.is_trusted() {
            for pasted in tx.fingerprints().pasted_from(text, scope)? {
                label.absorb(&pasted.label);
                if let Some(from) = pasted.from {
                    tx.derivations().derive(Node::Message(id), from)?;
                }
            }
        }
        Ok(Labelled::new(Arc::from(text), label, scope))
    }

    /// Returns the text and label of a quote. A quote of a message we know has that message's
    /// label; if the text is only claimed by the sender's client, it must occur in that message.
    fn quoted<'q>(&self, tx: Tx<'_>, address: AddressId, quote: &'q Quote) -> anyhow::Result<(&'q str, Label)> {
        let (Quote::Message { text, .. } | Quote::Claimed { text, .. } | Quote::Elsewhere { text }) = quote;
        let Some(name) = quote.external_id() else { return Ok((text, Label::untrusted(Source::quote()))) };
        let texts = tx
            .messages()
            .by_external_id(address, name)?
            .map(|message| tx.messages().texts_of(message.id))
            .transpose()?;
        let texts = texts.unwrap_or_default();
        let is_claimed = matches!(quote, Quote::Claimed { .. });
        if is_claimed && !texts.iter().any(|stored| occurs_in(text, stored.text.open().0)) {
            return Ok((text, Label::untrusted(Source::quote())));
        }
        if let Some(label) = tx.messages().label_of_ours(address, name)? {
            return Ok((text, label));
        }
        if texts.is_empty() {
            return Ok((text, Label::untrusted(Source::quote())));
        }
        Ok((text, Label::join_of(texts.iter().map(|stored| stored.text.label()))))
    }

    /// Applies an edit: replaces a message that still waits; of a claimed message the edit is only
    /// stored.
    pub(super) fn apply_edit(&self, tx: Tx<'_>, guest: &Sender<'_>, change: &MessageChange<'_>) -> anyhow::Result<()> {
        let MessageChange { message: of, content: said, new_id: also } = change;
        let Some(message) =
            tx.messages().by_external_id(guest.address, of)?.filter(|message| guest.is_author_of(message))
        else {
            return Ok(());
        };
        if let Some(also) = also {
            tx.messages().add_external_id(message.id, also)?;
        }
        tx.redaction().is_part_of(guest.inbox, message.id)?;
        let text = self.labelled_text(tx, message.id, &said.text, said.origin, guest)?;
        if !tx.messages().replace_text(message.id, &text, self.now)? {
            tx.messages().add_unsearched_text(message.id, TextKind::Edit, &text)?;
        }
        Ok(())
    }

    /// Posts the reason why a message is not answered.
    fn post_rejection(
        &self,
        tx: Tx<'_>,
        guest: &Sender<'_>,
        why: ProgramText,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        let text = wording::own(why, guest.scope);
        tx.outbox()
            .post(&NewOutbox { quotes: guest.quotable_id(), ..NewOutbox::notice(guest.address, &text, self.now) })?;
        wake.posted.push(guest.address);
        Ok(())
    }

    pub(super) fn post_notice(
        &self,
        tx: Tx<'_>,
        address: AddressId,
        scope: Scope,
        sentence: impl Into<ProgramText>,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        self.post(tx, address, &wording::own(sentence, scope), wake)
    }

    pub(super) fn post(
        &self,
        tx: Tx<'_>,
        address: AddressId,
        text: &Text,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        tx.outbox().post(&NewOutbox::notice(address, text, self.now))?;
        wake.posted.push(address);
        Ok(())
    }
}

/// Returns true for a command. Only typed text can be one: no forward, quote, caption, pipe or
/// voice.
pub(super) fn is_command(said: &MessageContent) -> bool {
    said.origin == TextOrigin::Typed && said.files.is_empty() && said.text.starts_with('/')
}

/// Returns true if the letters and digits of a quote occur in a text, regardless of markup.
fn occurs_in(quote: &str, text: &str) -> bool {
    let words = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let quoted = words(quote);
    !quoted.is_empty() && words(text).contains(&quoted)
}

fn digest(raw: &str) -> String {
    use sha2::Digest;
    let hash = sha2::Sha256::digest(raw.as_bytes());
    format!("x{}", hex::encode(hash.get(..16).unwrap_or_default()))
}
