//! The chat of a person as the page shows it: what they said and got, on every channel, and the
//! answers to commands that they gave on the page.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::HistoryAdmin;
use super::conversations::{chat_title, map_labelled, summary_of};
use super::transcript::{TranscriptEntry, entry};
use crate::id::{ConversationId, MessageId, PersonId};
use crate::message::ChannelKind;
use crate::store::{CauseKind, Db, Delivery, MessageKind, SentFile, StoredMessage};
use crate::time::Timestamp;
use crate::trust::Text;

/// Number of messages shown.
const SHOWN: u32 = 50;
/// Beginning of the ids that the page gives to presses of buttons.
pub const PRESS: &str = "button-";

/// The newest part of a chat.
#[derive(Debug, Clone, Default)]
pub struct RecentChat {
    /// Entries, oldest first.
    pub entries: Vec<ChatEntry>,
    /// Place in a conversation where earlier messages stand, if there are any.
    pub earlier: Option<(ConversationId, MessageId)>,
}

/// An entry of a chat.
#[derive(Debug, Clone)]
pub struct ChatEntry {
    /// Time of storage.
    pub at: Timestamp,
    /// The message; none for the answer to a command.
    pub message: Option<Box<TranscriptEntry>>,
    /// The delivery of what we said, with its buttons and the text of an answer to a command.
    pub delivery: Option<Delivery>,
    /// The files of that delivery.
    pub files: Vec<SentFile>,
    /// The conversation that begins with the message, if another one stands above it.
    pub begun: Option<BegunConversation>,
}

/// Beginning of a conversation below another one.
#[derive(Debug, Clone)]
pub struct BegunConversation {
    /// Conversation.
    pub id: ConversationId,
    /// The one before it.
    pub before: ConversationId,
    /// Title of that.
    pub title: Option<Text>,
}

impl HistoryAdmin<'_> {
    /// Returns the newest entries of a person's chat.
    pub async fn chat(&self, person: PersonId) -> anyhow::Result<RecentChat> {
        self.journal.read_much(move |db| newest(db, person)).await
    }
}

fn newest(db: Db<'_>, person: PersonId) -> anyhow::Result<RecentChat> {
    let Some(stream) = db.conversations().stream_of(person)? else { return Ok(RecentChat::default()) };
    let page = ChannelKind::Web.name();
    let mut messages = db.messages().newest_of_stream(stream, page, SHOWN + 1)?;
    let is_cut = messages.len() > usize::try_from(SHOWN)?;
    // Commands stand in no conversation.
    let place = messages.iter().find_map(|message| Some((message.conversation?, message.id)));
    messages.drain(..usize::from(is_cut));
    let since = messages.first().filter(|_| is_cut);
    let answers = db.outbox().answers_at(person, page, since.map_or(Timestamp(0), |first| first.received_at), SHOWN)?;
    let mut entries: Vec<ChatEntry> =
        messages.into_iter().map(|message| of_message(db, message)).collect::<Result<_, _>>()?;
    for answer in answers.into_iter().rev() {
        let files = db.outbox().sent_files(answer.id)?;
        entries.push(ChatEntry { at: answer.at, message: None, delivery: Some(answer), files, begun: None });
    }
    let deliveries: BTreeSet<Timestamp> =
        entries.iter().filter(|entry| entry.message.is_none()).map(|entry| entry.at).collect();
    entries.retain(|entry| !(is_of_proposal(entry) && deliveries.contains(&entry.at)));
    entries.sort_by_key(|entry| entry.at);
    mark_beginnings(db, &mut entries)?;
    name_presses(&mut entries);
    Ok(RecentChat { entries, earlier: place.filter(|_| is_cut) })
}

/// Shows the title of a button that was pressed on the page in place of its command.
fn name_presses(entries: &mut [ChatEntry]) {
    let buttons = entries.iter().filter_map(|entry| entry.delivery.as_ref()).flat_map(|delivery| &delivery.buttons);
    let titles: HashMap<Arc<str>, Arc<str>> =
        buttons.map(|(title, data)| (Arc::from(&**data), Arc::from(&**title))).collect();
    for entry in entries.iter_mut().filter_map(|entry| entry.message.as_mut()) {
        if !entry.message.external_id.contains(&format!(":{PRESS}")) {
            continue;
        }
        for stored in &mut entry.texts {
            let title = |data: &Arc<str>| titles.get(data).unwrap_or(data).clone();
            stored.text = map_labelled(&stored.text, title);
        }
    }
}

/// Returns true for the record of a proposal. What the person got of it is the delivery that was
/// posted with it.
fn is_of_proposal(entry: &ChatEntry) -> bool {
    let cause = entry.message.as_ref().and_then(|message| message.cause);
    cause.is_some_and(|cause| cause.kind == CauseKind::Proposal)
}

/// Marks where conversations begin. What came unasked belongs to the conversation after it.
fn mark_beginnings(db: Db<'_>, entries: &mut [ChatEntry]) -> anyhow::Result<()> {
    let mut last: Option<ConversationId> = None;
    for entry in entries {
        let message = entry.message.as_ref().map(|entry| &entry.message);
        let id = message.filter(|message| message.kind == MessageKind::Said).and_then(|message| message.conversation);
        let Some(id) = id.filter(|id| last.is_none_or(|last| *id > last)) else { continue };
        if let Some(before) = last.replace(id) {
            let title = chat_title(db, before, summary_of(db, before)?.as_ref())?;
            let title = title.map(|title| map_labelled(&title, |words| Arc::from(words.as_str())));
            entry.begun = Some(BegunConversation { id, before, title });
        }
    }
    Ok(())
}

fn of_message(db: Db<'_>, message: StoredMessage) -> anyhow::Result<ChatEntry> {
    let (id, at): (MessageId, _) = (message.id, message.received_at);
    let is_ours = matches!(message.kind, MessageKind::Reply | MessageKind::Sent);
    let delivery = if is_ours { db.outbox().delivery_of(id)? } else { None };
    let files = delivery.as_ref().map_or(Ok(Vec::new()), |delivery| db.outbox().sent_files(delivery.id))?;
    let texts = db.messages().texts_of(id)?;
    Ok(ChatEntry { at, message: Some(Box::new(entry(db, message, texts)?)), delivery, files, begun: None })
}
