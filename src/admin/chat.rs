//! The chat of a person as the page shows it: what they said and got, on every channel, and the
//! answers to commands that they gave on the page.

use super::HistoryAdmin;
use super::transcript::{TranscriptEntry, entry};
use crate::id::{MessageId, PersonId};
use crate::message::ChannelKind;
use crate::store::{Db, Delivery, MessageKind, SentFile, StoredMessage};
use crate::time::Timestamp;

/// Number of messages shown.
const SHOWN: u32 = 50;

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
}

impl HistoryAdmin<'_> {
    /// Returns the newest entries of a person's chat, oldest first.
    pub async fn chat(&self, person: PersonId) -> anyhow::Result<Vec<ChatEntry>> {
        self.journal.read_much(move |db| newest(db, person)).await
    }
}

fn newest(db: Db<'_>, person: PersonId) -> anyhow::Result<Vec<ChatEntry>> {
    let Some(stream) = db.conversations().stream_of(person)? else { return Ok(Vec::new()) };
    let page = ChannelKind::Web.name();
    let messages = db.messages().newest_of_stream(stream, page, SHOWN)?;
    let since = messages.first().filter(|_| messages.len() == usize::try_from(SHOWN).unwrap_or(usize::MAX));
    let answers = db.outbox().answers_at(person, page, since.map_or(Timestamp(0), |first| first.received_at), SHOWN)?;
    let mut entries: Vec<ChatEntry> =
        messages.into_iter().map(|message| of_message(db, message)).collect::<Result<_, _>>()?;
    for answer in answers.into_iter().rev() {
        let files = db.outbox().sent_files(answer.id)?;
        entries.push(ChatEntry { at: answer.at, message: None, delivery: Some(answer), files });
    }
    entries.sort_by_key(|entry| entry.at);
    Ok(entries)
}

fn of_message(db: Db<'_>, message: StoredMessage) -> anyhow::Result<ChatEntry> {
    let (id, at): (MessageId, _) = (message.id, message.received_at);
    let is_ours = matches!(message.kind, MessageKind::Reply | MessageKind::Sent);
    let delivery = if is_ours { db.outbox().delivery_of(id)? } else { None };
    let files = delivery.as_ref().map_or(Ok(Vec::new()), |delivery| db.outbox().sent_files(delivery.id))?;
    let texts = db.messages().texts_of(id)?;
    Ok(ChatEntry { at, message: Some(Box::new(entry(db, message, texts)?)), delivery, files })
}
