//! Streams and their conversations.

use crate::store::handles::{Conversations, ConversationsMut};
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, params};

use crate::id::{ConversationId, MessageId, PersonId, StreamId};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// Its row.
    pub id: ConversationId,
    /// Its stream.
    pub stream: StreamId,
    /// Whose it is.
    pub scope: Scope,
    /// Why it began: `first`, `silence`, `new`.
    pub began_because: String,
    /// Effective time of its first message.
    pub opened_at: Timestamp,
    /// Effective time of its last message so far.
    pub last_at: Timestamp,
    /// Its last message so far.
    pub last_message: MessageId,
    /// How many messages it was given.
    pub messages: i64,
    /// When the next one began, or `/new` was given.
    pub closed_at: Option<Timestamp>,
    /// What it begins with, as placed in prompts; none if that is nothing, or not fixed yet.
    pub opening: Option<Text>,
    /// `none`, `standin`, `final`.
    pub opening_state: String,
    /// The kind: `chat`, or that of the work that the program does by itself.
    pub kind: String,
}

const COLUMNS: &str =
    "id, stream_id, scope, began_because, opened_at, last_at, last_message_id, messages, closed_at, opening,
    opening_state, kind, opening_label";

fn conversation(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    let words: Arc<str> = row.get(9)?;
    let opening = Labelled::new(words, row.get(12)?, row.get(2)?);
    Ok(Conversation {
        id: row.get(0)?,
        stream: row.get(1)?,
        scope: row.get(2)?,
        began_because: row.get(3)?,
        opened_at: row.get(4)?,
        last_at: row.get(5)?,
        last_message: row.get(6)?,
        messages: row.get(7)?,
        closed_at: row.get(8)?,
        opening: Some(opening).filter(says_something),
        opening_state: row.get(10)?,
        kind: row.get(11)?,
    })
}

fn says_something(text: &Text) -> bool {
    !text.open().0.is_empty()
}

/// A conversation to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConversation {
    /// Its stream.
    pub stream: StreamId,
    /// `chat`, or that of the work that the program does by itself.
    pub kind: &'static str,
    /// Whose it is.
    pub scope: Scope,
    /// Why it begins.
    pub because: &'static str,
    /// Effective time of its first message.
    pub at: Timestamp,
}

impl Conversations<'_> {
    /// A person's stream, if they ever said anything.
    pub fn stream_of(&self, person: PersonId) -> anyhow::Result<Option<StreamId>> {
        let mut query = self.db.prepare_cached("SELECT id FROM streams WHERE person_id = ?1")?;
        Ok(query.query_row([person], |row| row.get(0)).optional()?)
    }

    /// For whom the program works by itself in that stream; none for talk.
    pub fn works_for(&self, stream: StreamId) -> anyhow::Result<Option<PersonId>> {
        let mut query = self.db.prepare_cached("SELECT work_of FROM streams WHERE id = ?1")?;
        Ok(query.query_row([stream], |row| row.get(0)).optional()?.flatten())
    }

    /// All streams with the person and scope of each.
    pub fn streams(&self) -> anyhow::Result<Vec<(StreamId, Option<PersonId>, Scope)>> {
        let mut query = self.db.prepare_cached("SELECT id, person_id, scope FROM streams ORDER BY id")?;
        Ok(query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect::<Result<_, _>>()?)
    }

    /// When `/new` was given, if no message has come since.
    pub fn break_of(&self, stream: StreamId) -> anyhow::Result<Option<Timestamp>> {
        let mut query = self.db.prepare_cached("SELECT break_at FROM streams WHERE id = ?1")?;
        Ok(query.query_row([stream], |row| row.get(0))?)
    }

    /// The newest chat of a stream.
    pub fn newest_conversation(&self, stream: StreamId) -> anyhow::Result<Option<Conversation>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM conversations WHERE stream_id = ?1 AND kind = 'chat' ORDER BY id DESC LIMIT 1"
        ))?;
        Ok(query.query_row([stream], conversation).optional()?)
    }

    /// The conversation of that id.
    pub fn conversation(&self, id: ConversationId) -> anyhow::Result<Option<Conversation>> {
        let mut query = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM conversations WHERE id = ?1"))?;
        Ok(query.query_row([id], conversation).optional()?)
    }

    /// The chats of a stream before the given one, newest first.
    pub fn conversations_before(&self, of: &Conversation, limit: u32) -> anyhow::Result<Vec<Conversation>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM conversations WHERE stream_id = ?1 AND id < ?2 AND kind = 'chat' ORDER BY id DESC LIMIT ?3"
        ))?;
        Ok(query.query_map(params![of.stream, of.id, limit], conversation)?.collect::<Result<_, _>>()?)
    }

    /// Conversations, newest first; of one stream, or of all.
    pub fn conversations(&self, stream: Option<StreamId>, limit: u32) -> anyhow::Result<Vec<Conversation>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM conversations WHERE ?1 IS NULL OR stream_id = ?1 ORDER BY id DESC LIMIT ?2"
        ))?;
        Ok(query.query_map(params![stream, limit], conversation)?.collect::<Result<_, _>>()?)
    }

    /// Chats whose end is not written down: everything that was closed, and what is open but silent
    /// since `silent_since`.
    pub fn ended_without_summary(&self, silent_since: Timestamp) -> anyhow::Result<Vec<Conversation>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM conversations WHERE written_down = 0 AND messages > 0 AND kind = 'chat'
             AND (closed_at IS NOT NULL OR last_at < ?1) ORDER BY id"
        ))?;
        Ok(query.query_map([silent_since], conversation)?.collect::<Result<_, _>>()?)
    }

    /// The effective time of the last message of the open chat that has been silent longest and is
    /// not written down.
    pub fn longest_silence(&self) -> anyhow::Result<Option<Timestamp>> {
        let mut query = self.db.prepare_cached(
            "SELECT min(last_at) FROM conversations
             WHERE written_down = 0 AND messages > 0 AND kind = 'chat' AND closed_at IS NULL",
        )?;
        Ok(query.query_row([], |row| row.get(0))?)
    }

    /// The latest effective time of any message of a person: the clock must not be behind it. What
    /// the program asks for by itself says nothing about the time.
    pub fn high_water(&self) -> anyhow::Result<Option<Timestamp>> {
        let mut query = self.db.prepare_cached("SELECT max(last_at) FROM conversations WHERE kind = 'chat'")?;
        Ok(query.query_row([], |row| row.get(0))?)
    }
}

impl ConversationsMut<'_> {
    /// A person's stream, made if they had none.
    pub fn stream_for(&self, person: PersonId) -> anyhow::Result<StreamId> {
        self.db
            .prepare_cached(
                "INSERT INTO streams (person_id, scope) VALUES (?1, ?2) ON CONFLICT (person_id) DO NOTHING",
            )?
            .execute(params![person, Scope::Person(person)])?;
        let mut query = self.db.prepare_cached("SELECT id FROM streams WHERE person_id = ?1")?;
        Ok(query.query_row([person], |row| row.get(0))?)
    }

    /// The stream in which the program works for a person by itself, made if there was none.
    pub fn work_stream_for(&self, person: PersonId) -> anyhow::Result<StreamId> {
        let mut query = self.db.prepare_cached("SELECT id FROM streams WHERE work_of = ?1")?;
        if let Some(id) = query.query_row([person], |row| row.get(0)).optional()? {
            return Ok(id);
        }
        self.db
            .prepare_cached("INSERT INTO streams (person_id, scope, work_of) VALUES (NULL, ?1, ?2)")?
            .execute(params![Scope::Person(person), person])?;
        Ok(StreamId(self.db.last_insert_rowid()))
    }

    /// The next message of the stream begins a new conversation, or (`None`) it need not any more.
    pub fn set_break(&self, stream: StreamId, at: Option<Timestamp>) -> anyhow::Result<()> {
        self.db.prepare_cached("UPDATE streams SET break_at = ?2 WHERE id = ?1")?.execute(params![stream, at])?;
        Ok(())
    }

    /// Opens a conversation.
    pub fn open_conversation(&self, new: &NewConversation) -> anyhow::Result<ConversationId> {
        self.db
            .prepare_cached(
                "INSERT INTO conversations (stream_id, kind, scope, began_because, opened_at, last_at)
                 VALUES (?1, ?5, ?2, ?3, ?4, ?4)",
            )?
            .execute(params![new.stream, new.scope, new.because, new.at, new.kind])?;
        Ok(ConversationId(self.db.last_insert_rowid()))
    }

    /// Closes a conversation, unless it is closed.
    pub fn close_conversation(&self, id: ConversationId, at: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE conversations SET closed_at = ?2 WHERE id = ?1 AND closed_at IS NULL")?
            .execute(params![id, at])?;
        Ok(())
    }

    /// A conversation was given a message of a person.
    pub fn conversation_grew(&self, id: ConversationId, message: MessageId, at: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "UPDATE conversations SET last_at = max(last_at, ?3), last_message_id = ?2, messages = messages + 1,
                     written_down = 0 WHERE id = ?1",
            )?
            .execute(params![id, message, at])?;
        Ok(())
    }

    /// Fixes what a conversation begins with.
    pub fn set_opening(&self, id: ConversationId, opening: Option<&Text>, state: &str) -> anyhow::Result<()> {
        let (words, label) = opening.map(|text| (&**text.open().0, text.label())).unzip();
        self.db
            .prepare_cached(
                "UPDATE conversations SET opening = ?2, opening_state = ?3, opening_label = ?4 WHERE id = ?1",
            )?
            .execute(params![id, words.unwrap_or_default(), state, label.map(Label::encode).unwrap_or_default()])?;
        Ok(())
    }
}
