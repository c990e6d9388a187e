//! A person's day and week, as the page draws them: what was said, what they got without asking,
//! and what comes.

use std::collections::HashMap;

use super::JobsAdmin;
use super::answer::ShownLabel;
use crate::id::{AddressId, MessageId, PersonId, ProposalId};
use crate::message::ChannelKind;
use crate::people::Person;
use crate::store::{Cause, CauseKind, Db, MessageKind, ReminderKind, SlotRow};
use crate::time::Timestamp;
use crate::trust::{Scope, Text};
use crate::wording::reflection::period_in_words;
use crate::wording::{reminder, schedule};

/// Maximum number of messages that are looked through.
pub const MAX_MESSAGES: u32 = 1_000;
/// Maximum number of missed items.
pub const MAX_MISSED: u32 = 10;
/// Maximum number of times of one recurring item: a week of what comes each quarter of an hour,
/// which is the most that can be asked for.
const MAX_TIMES: usize = 7 * 24 * 4;

/// Kind of an item of an agenda.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgendaKind {
    /// A message of the person on that channel.
    Said(&'static str),
    /// A reminder.
    Reminder,
    /// A scheduled task.
    Task,
    /// A heartbeat check.
    Heartbeat,
    /// A reflection.
    Reflection,
    /// Another message that the person did not ask for.
    Notice,
}

/// An item of an agenda.
#[derive(Debug, Clone)]
pub struct AgendaItem {
    /// Time.
    pub at: Timestamp,
    /// Kind.
    pub kind: AgendaKind,
    /// Message, if it has happened.
    pub message: Option<MessageId>,
    /// Text of what was not said by the person, if it has one.
    pub text: Option<Text>,
    /// The proposal that it tells of.
    pub proposal: Option<ProposalId>,
}

/// Past items, as far back as was looked.
#[derive(Debug, Clone)]
pub struct PastItems {
    /// Items, oldest first.
    pub items: Vec<AgendaItem>,
    /// True if there may be older ones.
    pub is_cut: bool,
}

/// A scheduled item that did not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedItem {
    /// Time at which it was due.
    pub at: Timestamp,
    /// Kind.
    pub kind: AgendaKind,
    /// Reason, as a sentence of the program.
    pub reason: String,
}

/// The newest scheduled items that did not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedItems {
    /// Items, newest first, at most [`MAX_MISSED`].
    pub items: Vec<MissedItem>,
    /// True if there are older ones.
    pub is_cut: bool,
}

impl JobsAdmin<'_> {
    /// The newest items of a person that were missed or failed after that time.
    pub async fn missed(&self, person: PersonId, since: Timestamp) -> anyhow::Result<MissedItems> {
        let scope = Scope::Person(person);
        let mut slots = self.journal.read(move |db| db.slots().missed_slots(scope, since, MAX_MISSED + 1)).await?;
        let most = usize::try_from(MAX_MISSED)?;
        let is_cut = slots.len() > most;
        slots.truncate(most);
        let item = |slot: SlotRow| {
            let kind = match slot.job.split(':').next().unwrap_or_default() {
                "reminder" => AgendaKind::Reminder,
                "task" => AgendaKind::Task,
                "heartbeat" => AgendaKind::Heartbeat,
                _ => AgendaKind::Reflection,
            };
            // A reflection stores a sentence, and the other jobs a code.
            let reason = if kind == AgendaKind::Reflection { slot.reason } else { reminder::missed(&slot.reason) };
            MissedItem { at: slot.due_at, kind, reason }
        };
        Ok(MissedItems { items: slots.into_iter().map(item).collect(), is_cut })
    }

    /// Returns what a person said and got without asking since then, from the newest
    /// [`MAX_MESSAGES`].
    pub async fn past(&self, person: PersonId, since: Timestamp) -> anyhow::Result<PastItems> {
        self.journal.read_much(move |db| past(db, person, since)).await
    }

    /// Returns the items of a person until then, soonest first. Of the heartbeat there is only the
    /// next run, because each outcome decides when the one after it comes.
    pub async fn coming(&self, person: &Person, until: Timestamp) -> anyhow::Result<Vec<AgendaItem>> {
        let (id, zone) = (person.id, self.engine.zone_of(Scope::Person(person.id)).await?);
        let item = |at, kind| AgendaItem { at, kind, message: None, text: None, proposal: None };
        let mut items = Vec::new();
        for row in self.journal.read(move |db| db.reminders().reminders_of(id)).await? {
            let kind = if row.kind == ReminderKind::Task { AgendaKind::Task } else { AgendaKind::Reminder };
            let Some(first) = row.next_at else { continue };
            let later = row.next_times(first, zone, MAX_TIMES);
            let times = std::iter::once(first).chain(later).take_while(|at| *at <= until);
            items.extend(times.map(|at| AgendaItem { text: Some(row.text.clone()), ..item(at, kind) }));
        }
        let reflections = self.schedule.coming(until).await?.into_iter().filter(|coming| coming.person == id);
        items.extend(reflections.map(|coming| {
            let period = period_in_words(coming.job.as_str(), &coming.period);
            let text = ShownLabel::nothing().text(period, Scope::Person(id));
            AgendaItem { text: Some(text), ..item(coming.at, AgendaKind::Reflection) }
        }));
        let pace = self.schedule.heartbeat.interval.map(schedule::heartbeat_pace).unwrap_or_default();
        let pace = ShownLabel::nothing().text(pace, Scope::Person(id));
        let heartbeats = self.schedule.heartbeats(Some(id)).await?.into_iter().filter_map(|state| state.next_at);
        items.extend(heartbeats.map(|at| AgendaItem { text: Some(pace.clone()), ..item(at, AgendaKind::Heartbeat) }));
        items.retain(|item| item.at <= until);
        items.sort_by_key(|item| item.at);
        Ok(items)
    }
}

fn past(db: Db<'_>, person: PersonId, since: Timestamp) -> anyhow::Result<PastItems> {
    let mut past = PastItems { items: Vec::new(), is_cut: false };
    let Some(stream) = db.conversations().stream_of(person)? else { return Ok(past) };
    let mut channels: HashMap<AddressId, &'static str> = HashMap::new();
    let messages = db.messages().newest_since(stream, since, MAX_MESSAGES)?;
    past.is_cut = u32::try_from(messages.len()).is_ok_and(|count| count == MAX_MESSAGES);
    for message in messages {
        let (kind, text, cause) = match (message.kind, message.address) {
            (MessageKind::Said, Some(address)) => {
                let name = match channels.get(&address) {
                    Some(name) => name,
                    None => {
                        let adapter = db.addresses().address(address)?.map(|address| address.adapter);
                        let channel = adapter.and_then(|adapter| adapter.parse::<ChannelKind>().ok());
                        channels.entry(address).or_insert(channel.map_or("elsewhere", ChannelKind::title))
                    }
                };
                (AgendaKind::Said(name), None, None)
            }
            (MessageKind::Sent, _) => match db.sent().sent(message.id)? {
                Some(sent) => (kind_of(sent.cause), Some(sent.text), Some(sent.cause)),
                None => continue,
            },
            _ => continue,
        };
        let proposal = cause.filter(|cause| cause.kind == CauseKind::Proposal).and_then(|cause| cause.number);
        let (at, message, proposal) = (message.effective_at, Some(message.id), proposal.map(ProposalId));
        past.items.push(AgendaItem { at, kind, message, text, proposal });
    }
    Ok(past)
}

fn kind_of(cause: Cause) -> AgendaKind {
    match cause.kind {
        CauseKind::Reminder => AgendaKind::Reminder,
        CauseKind::Task => AgendaKind::Task,
        CauseKind::Heartbeat => AgendaKind::Heartbeat,
        CauseKind::Reflection => AgendaKind::Reflection,
        CauseKind::Notice | CauseKind::Question | CauseKind::Proposal => AgendaKind::Notice,
    }
}
