//! Admission: who may send, what becomes of an item, and which label it gets.
//!
//! Everything here runs inside the one transaction that also stores the raw item and advances the
//! cursor; an item that is stored already is dropped. Only here does typed text become trusted: the
//! text or caption of a known person's own message without forward or via marks, and a fresh voice
//! note of theirs. A quote gets the label of the quoted message if we know it, and a recognised
//! paste the label of its source. All else is untrusted.

mod access; // strangers, pairing codes, new addresses
mod consent; // answers to questions: yes, no, buttons
mod group; // allowed groups, guests
mod messages; // sender, label, conversation of a message

use std::sync::Arc;
use std::time::Duration;

use crate::adapter::Adapter;
use crate::admin::command;
use crate::admin::owner_notice::{self, OwnerNotice};
use crate::config::Groups;
use crate::id::{AddressId, InboxId, PersonId, StreamId};
use crate::message::{ChatKind, Event, FileKind, Inbound, MessageContent, RemoteFile, TextOrigin, chat_of};
use crate::people::{Address, Person, Role};
use crate::store::{InboxItem, InboxOutcome, MessageKind, NewOutbox, OutboxKind, StoredMessage, Tx};
use crate::text;
use crate::time::{Timestamp, Zone};
use crate::trust::{Label, Scope, Source};
use crate::wording::{self, Language, ProgramText, Sentence, gateway};

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
    /// True if photos that a person took themselves count as theirs.
    pub trust_own_photos: bool,
    /// The assistant's name.
    pub agent: String,
    /// Name of the receiving adapter.
    pub adapter: &'static str,
    /// Account of that adapter.
    pub account: String,
    /// Settings `[groups]`.
    pub groups: Arc<Groups>,
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
    /// Person who gained access, or another address.
    pub access_granted: Option<Person>,
}

/// One parsed item of a batch.
#[derive(Debug)]
pub struct ParsedItem {
    /// The raw item.
    pub raw: String,
    /// The parsed item; `None` if it is unreadable.
    pub inbound: Option<Inbound>,
    /// Name of its sender, as the channel tells it; untrusted.
    pub sender_name: String,
}

impl ParsedItem {
    /// Returns true if it concerns no conversation.
    pub fn is_irrelevant(&self) -> bool {
        self.inbound.as_ref().is_some_and(|inbound| inbound.event == Event::Irrelevant)
    }
}

/// Parses a batch.
pub fn parse_batch(adapter: &dyn Adapter, items: Vec<String>) -> Vec<ParsedItem> {
    let parsed =
        |raw: String| ParsedItem { inbound: adapter.parse(&raw).ok(), sender_name: adapter.sender_name(&raw), raw };
    items.into_iter().map(parsed).collect()
}

impl Admission {
    /// Admits one item, or records why it was not admitted. An error rolls the whole batch back; it
    /// is then delivered again.
    pub fn admit(&self, tx: Tx<'_>, parsed: &ParsedItem, after: &mut AfterCommit) -> anyhow::Result<()> {
        let ParsedItem { raw, inbound: Some(inbound), sender_name } = parsed else {
            // An unreadable item has no id but its content.
            return self.record(tx, &digest(&parsed.raw), InboxOutcome::Unreadable, Some(&parsed.raw)).map(drop);
        };
        let told = Language::named(&inbound.language);
        let language = told.map_or_else(|| tx.people().home_language(), Ok)?;
        let mut item = Item { settings: self, tx, now: self.now, inbound, language, raw, sender_name, after };
        if let ChatKind::Group { chat, addressed } = &inbound.chat_kind {
            item.language = tx.people().home_language()?;
            return group::admit(&mut item, chat, *addressed);
        }
        let Some((address, person)) = identify_sender(&item)? else { return access::admit_unknown(&mut item) };
        if let Some(told) = told {
            tx.people().record_channel_language(person.id, told)?;
        }
        item.language = tx.people().language_of(person.id)?;
        if let Event::Message(content) = &inbound.event {
            greet_owner(&mut item, &person, address)?;
            if let Some(code) = typed_code(content)
                && access::link_account(&mut item, address, &person, code)?
            {
                return Ok(());
            }
        }
        item.admit_known(address, &person)
    }

    fn record(
        &self,
        tx: Tx<'_>,
        external_id: &str,
        fate: InboxOutcome,
        raw: Option<&str>,
    ) -> anyhow::Result<Option<InboxId>> {
        let (adapter, account, received_at) = (self.adapter, self.account.as_str(), self.now);
        tx.inbox().receive(&InboxItem { adapter, account, external_id, received_at, fate, raw })
    }
}

/// One readable item, within the transaction of its batch.
struct Item<'a> {
    settings: &'a Admission,
    tx: Tx<'a>,
    now: Timestamp,
    inbound: &'a Inbound,
    /// Language in which the sender is answered.
    language: Language,
    raw: &'a str,
    sender_name: &'a str,
    after: &'a mut AfterCommit,
}

/// Sender of an admitted item, and where it belongs.
struct Sender<'a> {
    address: AddressId,
    speaker: Speaker<'a>,
    stream: StreamId,
    scope: Scope,
    inbox: InboxId,
}

/// Speaker of an admitted item.
#[derive(Clone, Copy)]
enum Speaker<'a> {
    /// A known person.
    Known(&'a Person),
    /// An unknown member of an allowed group, by their number in it.
    Guest(u32),
}

impl Item<'_> {
    /// Admits an item from a known person's own chat.
    fn admit_known(&mut self, address: AddressId, person: &Person) -> anyhow::Result<()> {
        let outcome = match &self.inbound.event {
            Event::Message(content) if is_command(content) => InboxOutcome::Command,
            Event::Button { .. } => InboxOutcome::Button,
            Event::Unsupported(_) => InboxOutcome::Unsupported,
            event => outcome_of(event),
        };
        let Some(inbox) = self.record(outcome)? else { return Ok(()) };
        let stream = self.tx.conversations().stream_for(person.id)?;
        let scope = Scope::Person(person.id);
        let sender = Sender { address, speaker: Speaker::Known(person), stream, scope, inbox };
        match &self.inbound.event {
            Event::Message(content) if outcome == InboxOutcome::Command => {
                messages::admit_command(self, &sender, person.id, &content.text)
            }
            Event::Button { data, callback } => {
                self.after.callbacks.push(callback.clone());
                if data.starts_with('/') { messages::admit_command(self, &sender, person.id, data) } else { Ok(()) }
            }
            Event::Unsupported(what) => self.post_notice(address, scope, gateway::unsupported(self.language, what)),
            _ => messages::admit(self, &sender),
        }
    }

    /// Records the item, with its raw form if that may be needed again. Returns `None` if it is a
    /// repeat.
    fn record(&self, outcome: InboxOutcome) -> anyhow::Result<Option<InboxId>> {
        let raw = (outcome != InboxOutcome::Nothing).then_some(self.raw);
        self.settings.record(self.tx, &self.inbound.external_id, outcome, raw)
    }

    /// Records only the id of the item. Returns `None` if it is a repeat.
    fn record_id(&self, outcome: InboxOutcome) -> anyhow::Result<Option<InboxId>> {
        self.settings.record(self.tx, &self.inbound.external_id, outcome, None)
    }

    /// Address of a peer on the receiving adapter.
    fn address_of(&self, peer: &str) -> Address {
        Address::new(self.settings.adapter, &self.settings.account, peer)
    }

    /// Records that the sender wrote from that address, to which what waits in a terminal can go.
    fn record_contact(&mut self, address: AddressId, person: Option<PersonId>) -> anyhow::Result<()> {
        self.tx.addresses().record_contact(address, self.now)?;
        if let Some(person) = person {
            self.after.posted.extend(self.tx.outbox().unasked_where_attended(person)?);
        }
        Ok(())
    }

    fn post_notice(
        &mut self,
        address: AddressId,
        scope: Scope,
        sentence: impl Into<ProgramText>,
    ) -> anyhow::Result<()> {
        let text = wording::own(sentence, scope);
        self.post(&NewOutbox::answer(OutboxKind::Notice, address, &text, self.now))
    }

    fn post_sentence(&mut self, address: AddressId, scope: Scope, sentence: Sentence) -> anyhow::Result<()> {
        self.post_notice(address, scope, sentence.in_language(self.language))
    }

    fn post(&mut self, message: &NewOutbox<'_>) -> anyhow::Result<()> {
        self.tx.outbox().post(message)?;
        self.after.posted.push(message.address);
        Ok(())
    }
}

impl Speaker<'_> {
    fn person(&self) -> Option<PersonId> {
        match self {
            Self::Known(person) => Some(person.id),
            Self::Guest(_) => None,
        }
    }

    fn number(&self) -> Option<u32> {
        match self {
            Self::Known(_) => None,
            Self::Guest(number) => Some(*number),
        }
    }
}

impl Sender<'_> {
    /// Label of text written or passed on by the sender.
    fn label_of(&self, origin: TextOrigin) -> Label {
        match (self.speaker, origin) {
            (Speaker::Guest(number), _) => Label::untrusted(Source::guest(self.stream, number)),
            (Speaker::Known(_), TextOrigin::Typed) => Label::trusted(),
            (Speaker::Known(_), TextOrigin::Forwarded) => Label::untrusted(Source::forward()),
            (Speaker::Known(_), TextOrigin::ViaBot) => Label::untrusted(Source::new("via_bot", "")),
            (Speaker::Known(_), TextOrigin::Piped) => Label::untrusted(Source::stdin(format!("in{}", self.inbox))),
        }
    }

    /// Label of a file: a fresh voice note counts as the sender's own words; every other file is
    /// untrusted.
    fn file_label(&self, origin: TextOrigin, file: &RemoteFile) -> Label {
        let label = self.label_of(origin);
        if file.kind == FileKind::Voice && origin == TextOrigin::Typed {
            return label;
        }
        label.join_with(&Label::untrusted(self.file_source()))
    }

    /// Source of all files of the item.
    fn file_source(&self) -> Source {
        Source::file(format!("in{}", self.inbox))
    }

    /// Returns true if the same speaker sent that message.
    fn is_author_of(&self, message: &StoredMessage) -> bool {
        message.kind != MessageKind::Reply
            && message.person == self.speaker.person()
            && message.guest == self.speaker.number()
    }
}

/// Returns the known person who sent the item, and their own address.
fn identify_sender(item: &Item<'_>) -> anyhow::Result<Option<(AddressId, Person)>> {
    let (addresses, from) = (item.tx.addresses(), item.address_of(&item.inbound.sender));
    let known = match (addresses.who_is(&from)?, &item.inbound.alias) {
        (Some(known), alias) => {
            if let Some(alias) = alias {
                addresses.use_up_alias(known.0, &from, alias)?;
            }
            Some(known)
        }
        // An alias is valid for the first sender only. A later sender under the same alias is a
        // stranger to whom the number has passed.
        (None, Some(alias)) => {
            let known = addresses.known_by_alias(&from, alias)?;
            if known.is_none()
                && let Some(person) = addresses.declared_for(&Address { peer: alias.to_owned(), ..from })?
            {
                tracing::warn!(person.id = %person, "Somebody else writes from the number of person {person}: they are a stranger");
            }
            known
        }
        (None, None) => None,
    };
    let Some((mut address, id)) = known else { return Ok(None) };
    if item.inbound.peer != item.inbound.sender && chat_of(&item.inbound.peer) == item.inbound.sender {
        // A topic of their chat, where the answer is awaited.
        address = addresses.link(&item.address_of(&item.inbound.peer), Some(id), item.now)?;
    }
    Ok(item.tx.people().person(id)?.map(|person| (address, person)))
}

/// Sends the open questions about namesakes to an owner who could not be reached so far.
fn greet_owner(item: &mut Item<'_>, person: &Person, address: AddressId) -> anyhow::Result<()> {
    let people = item.tx.people();
    if person.role != Role::Owner || item.tx.addresses().has_ever_written(person.id)? {
        return Ok(());
    }
    for (namesake, _) in people.open_namesakes()? {
        let notice = OwnerNotice::namesake(&namesake);
        let posted = owner_notice::notify_owners(item.tx, &[(person.id, address)], &notice, item.now)?;
        item.after.posted.extend(posted);
    }
    Ok(())
}

/// Returns the pairing code that a message consists of.
fn typed_code(content: &MessageContent) -> Option<&str> {
    command::code_in(&content.text).filter(|_| content.origin == TextOrigin::Typed)
}

/// Outcome of an item that is neither a command nor a button.
fn outcome_of(event: &Event) -> InboxOutcome {
    match event {
        Event::Message(_) => InboxOutcome::Admitted,
        Event::Edited { .. } => InboxOutcome::Edit,
        _ => InboxOutcome::Nothing,
    }
}

/// Returns true for a command. Only typed text can be one: no forward, quote, caption, pipe or
/// voice.
fn is_command(content: &MessageContent) -> bool {
    content.origin == TextOrigin::Typed
        && content.files.is_empty()
        && content.arrived.is_empty()
        && text::is_command(&content.text)
}

fn digest(raw: &str) -> String {
    use sha2::Digest;
    let hash = sha2::Sha256::digest(raw.as_bytes());
    format!("x{}", hex::encode(hash.get(..16).unwrap_or_default()))
}
