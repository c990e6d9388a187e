//! Streams and their conversations.
//!
//! Each conversation holds the join of the labels of its texts and turns, so that a list need not
//! read them. The transaction that adds a text or a label of a turn joins it
//! ([`ConversationsMut::join_label`]). The join never loses a source: a blanked text still counts.

use crate::store::handles::{Conversations, ConversationsMut};
use crate::store::rows::{from_row, insert, stored_word};
use std::sync::Arc;

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{ConversationId, MessageId, PersonId, StreamId};
use crate::time::{TimeRange, Timestamp};
use crate::trust::{Label, Labelled, Scope, Text};

/// Kind of conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ConversationKind {
    /// With a person or a group.
    Chat,
    /// A question of a person with piped text, apart from their chat. It ends with the answer.
    Piped,
    /// A reflection on a period.
    Reflection,
    /// A check of `HEARTBEAT.md`.
    Heartbeat,
    /// A scheduled task.
    Task,
    /// From an archive of another program. It is closed, and no turn ever runs in it.
    Imported,
}

impl ConversationKind {
    /// All kinds.
    const ALL: [Self; 6] = [Self::Chat, Self::Piped, Self::Reflection, Self::Heartbeat, Self::Task, Self::Imported];

    /// Returns the kinds that a list of this kind holds: piped questions are listed with the chats.
    fn listed(self) -> &'static [Self] {
        match self {
            Self::Chat => &[Self::Chat, Self::Piped],
            Self::Piped => &[Self::Piped],
            Self::Reflection => &[Self::Reflection],
            Self::Heartbeat => &[Self::Heartbeat],
            Self::Task => &[Self::Task],
            Self::Imported => &[Self::Imported],
        }
    }

    /// Returns true for a task of the program, which no person reads along.
    pub fn is_run(self) -> bool {
        !matches!(self, Self::Chat | Self::Piped | Self::Imported)
    }
}

/// Reason why a conversation began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum BoundaryReason {
    /// First conversation of the stream.
    First,
    /// Silence longer than the gap.
    Silence,
    /// Request by the person.
    New,
    /// Piped text.
    Piped,
    /// A system run.
    Schedule,
    /// An import.
    Imported,
}

/// State of an opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum OpeningState {
    /// Not yet fixed.
    None,
    /// May be swapped once for one with the real summary.
    Standin,
    /// Fixed.
    Final,
}

stored_word!(ConversationKind, BoundaryReason, OpeningState);

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// Row id.
    pub id: ConversationId,
    /// Stream.
    pub stream: StreamId,
    /// Owning scope.
    pub scope: Scope,
    /// Reason for its start.
    pub began_because: BoundaryReason,
    /// Effective time of its first message.
    pub opened_at: Timestamp,
    /// Effective time of its last message so far.
    pub last_at: Timestamp,
    /// Last message so far.
    pub last_message: MessageId,
    /// Number of messages.
    pub messages: i64,
    /// Start of the next one, or time of `/new`.
    pub closed_at: Option<Timestamp>,
    /// Opening as placed in prompts; none if it is empty or not yet fixed.
    pub opening: Option<Text>,
    /// State of the opening.
    pub opening_state: OpeningState,
    /// Kind.
    pub kind: ConversationKind,
    /// Join of the labels of its texts and turns.
    pub label: Label,
}

from_row! {
    Conversation from "conversations", "opening, opening_label" {
        id, stream: "stream_id", scope, began_because, opened_at, last_at, last_message: "last_message_id", messages,
        closed_at, opening_state, kind, label,
    }
    with |row| {
        opening: match row.get::<_, Arc<str>>("opening")? {
            words if words.is_empty() => None,
            words => Some(Labelled::new(words, row.get("opening_label")?, row.get("scope")?)),
        },
    }
}

/// A conversation to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConversation {
    /// Stream.
    pub stream: StreamId,
    /// Kind.
    pub kind: ConversationKind,
    /// Owning scope.
    pub scope: Scope,
    /// Reason for its start.
    pub because: BoundaryReason,
    /// Effective time of its first message.
    pub at: Timestamp,
}

const NEWEST_OF_KIND: &str = "SELECT id FROM conversations INDEXED BY conversations_kind
    WHERE kind = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3";
const OPENED_IN_STREAM: &str = "FROM conversations INDEXED BY conversations_opened
    WHERE stream_id = ?1 AND kind = ?2 AND opened_at >= ?3 AND opened_at < ?4";
const NEWEST_IN_STREAM: &str = "SELECT id FROM conversations INDEXED BY conversations_stream_kind
    WHERE stream_id = ?1 AND kind = ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4";

impl Conversations<'_> {
    /// Returns a person's stream, if they ever wrote.
    pub fn stream_of(&self, person: PersonId) -> anyhow::Result<Option<StreamId>> {
        self.db.first("SELECT id FROM streams WHERE person_id = ?1", [person])
    }

    /// Returns the person for whom system runs use that stream; none for a chat stream.
    pub fn works_for(&self, stream: StreamId) -> anyhow::Result<Option<PersonId>> {
        Ok(self.db.first("SELECT work_of FROM streams WHERE id = ?1", [stream])?.flatten())
    }

    /// Returns the streams of a person: that of their chat, and that of system runs for them.
    fn streams_of(&self, person: PersonId) -> anyhow::Result<Vec<StreamId>> {
        self.db.all(
            "SELECT id FROM streams WHERE person_id = ?1 UNION SELECT id FROM streams WHERE work_of = ?1",
            [person],
        )
    }

    /// Returns the person of a stream, whether they chat in it or system runs for them use it.
    pub fn person_of(&self, stream: StreamId) -> anyhow::Result<Option<PersonId>> {
        Ok(self.db.first("SELECT coalesce(person_id, work_of) FROM streams WHERE id = ?1", [stream])?.flatten())
    }

    /// Returns all streams with the person and scope of each.
    pub fn streams(&self) -> anyhow::Result<Vec<(StreamId, Option<PersonId>, Scope)>> {
        self.db.all("SELECT id, person_id, scope FROM streams ORDER BY id", [])
    }

    /// Returns the time of `/new` if no message has come since.
    pub fn break_of(&self, stream: StreamId) -> anyhow::Result<Option<Timestamp>> {
        self.db.one("SELECT break_at FROM streams WHERE id = ?1", [stream])
    }

    /// Returns the newest chat of a stream.
    pub fn newest_conversation(&self, stream: StreamId) -> anyhow::Result<Option<Conversation>> {
        self.db.row("WHERE stream_id = ?1 AND kind = 'chat' ORDER BY id DESC LIMIT 1", [stream])
    }

    /// Returns a conversation by id.
    pub fn conversation(&self, id: ConversationId) -> anyhow::Result<Option<Conversation>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns the chats of a stream before the given one, newest first; none before a conversation
    /// of another kind.
    pub fn conversations_before(&self, of: &Conversation, limit: u32) -> anyhow::Result<Vec<Conversation>> {
        self.db.rows(
            "WHERE stream_id = ?1 AND id < ?2 AND kind = 'chat' AND ?4 = 'chat'
                 ORDER BY id DESC LIMIT ?3",
            params![of.stream, of.id, limit, of.kind],
        )
    }

    /// Returns conversations with ids below `before`, newest first: of one person or of everybody,
    /// of one kind or of all. Piped questions are listed with the chats.
    pub fn conversations(
        &self,
        person: Option<PersonId>,
        kind: Option<ConversationKind>,
        before: i64,
        limit: u32,
    ) -> anyhow::Result<Vec<Conversation>> {
        let kinds = kind.map_or(&ConversationKind::ALL[..], ConversationKind::listed);
        let streams = person.map(|person| self.streams_of(person)).transpose()?;
        // One walk along an index for each kind and stream reads no more rows than the page has.
        let mut ids: Vec<ConversationId> = Vec::new();
        for kind in kinds {
            match &streams {
                None => ids.extend(self.db.all::<_, ConversationId>(NEWEST_OF_KIND, params![kind, before, limit])?),
                Some(streams) => {
                    for stream in streams {
                        let place = params![stream, kind, before, limit];
                        ids.extend(self.db.all::<_, ConversationId>(NEWEST_IN_STREAM, place)?);
                    }
                }
            }
        }
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.truncate(usize::try_from(limit)?);
        let rows = ids.into_iter().map(|id| self.conversation(id));
        rows.filter_map(Result::transpose).collect()
    }

    /// Returns the conversations of a person and a kind that began in that time and have ids below
    /// `before`, newest first.
    pub fn conversations_opened(
        &self,
        person: PersonId,
        kind: ConversationKind,
        time: TimeRange,
        before: i64,
        limit: u32,
    ) -> anyhow::Result<Vec<Conversation>> {
        let mut ids: Vec<ConversationId> = Vec::new();
        for stream in self.streams_of(person)? {
            for kind in kind.listed() {
                let sql = format!("SELECT id {OPENED_IN_STREAM} AND id < ?5 ORDER BY id DESC LIMIT ?6");
                let place = params![stream, kind, time.since, time.until, before, limit];
                ids.extend(self.db.all::<_, ConversationId>(&sql, place)?);
            }
        }
        ids.sort_unstable_by(|one, other| other.cmp(one));
        ids.truncate(usize::try_from(limit)?);
        let rows = ids.into_iter().map(|id| self.conversation(id));
        rows.filter_map(Result::transpose).collect()
    }

    /// Returns when the conversations of a person and a kind began in that time, each with its
    /// number of messages. Reads an index alone.
    pub fn openings(
        &self,
        person: PersonId,
        kind: ConversationKind,
        time: TimeRange,
    ) -> anyhow::Result<Vec<(Timestamp, i64)>> {
        let mut openings = Vec::new();
        for stream in self.streams_of(person)? {
            for kind in kind.listed() {
                let sql = format!("SELECT opened_at, messages {OPENED_IN_STREAM}");
                let place = params![stream, kind, time.since, time.until];
                openings.extend(self.db.all::<_, (Timestamp, i64)>(&sql, place)?);
            }
        }
        Ok(openings)
    }

    /// Returns true if a conversation is with a person, or a run for them.
    pub fn is_of(&self, id: ConversationId, person: PersonId) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM conversations c JOIN streams s ON s.id = c.stream_id
             WHERE c.id = ?1 AND (s.person_id = ?2 OR s.work_of = ?2)",
            params![id, person],
        )
    }

    /// Returns the chats that need a summary: closed ones, and open ones silent since
    /// `silent_since`.
    pub fn ended_without_summary(&self, silent_since: Timestamp) -> anyhow::Result<Vec<Conversation>> {
        self.db.rows(
            "INDEXED BY conversations_to_write_down WHERE written_down = 0 AND messages > 0 AND kind = 'chat'
                 AND (closed_at IS NOT NULL OR last_at < ?1) ORDER BY id",
            [silent_since],
        )
    }

    /// Returns the time of the last message in the open, unsummarised chat that has been silent
    /// longest.
    pub fn longest_silence(&self) -> anyhow::Result<Option<Timestamp>> {
        self.db.one(
            "SELECT min(last_at) FROM conversations INDEXED BY conversations_not_written_down
             WHERE written_down = 0 AND messages > 0 AND kind = 'chat' AND closed_at IS NULL",
            [],
        )
    }

    /// Returns the latest effective time of any person's message, which the clock must not be
    /// behind. System runs say nothing about the time and do not count.
    pub fn high_water(&self) -> anyhow::Result<Option<Timestamp>> {
        self.db.one("SELECT max(last_at) FROM conversations INDEXED BY conversations_last WHERE kind = 'chat'", [])
    }
}

impl ConversationsMut<'_> {
    /// Returns a person's stream, creating it if needed.
    pub fn stream_for(&self, person: PersonId) -> anyhow::Result<StreamId> {
        self.db.run(
            "INSERT INTO streams (person_id, scope) VALUES (?1, ?2) ON CONFLICT (person_id) DO NOTHING",
            params![person, Scope::Person(person)],
        )?;
        self.db.one("SELECT id FROM streams WHERE person_id = ?1", [person])
    }

    /// Returns the stream for system runs for a person, creating it if needed.
    pub fn work_stream_for(&self, person: PersonId) -> anyhow::Result<StreamId> {
        if let Some(id) = self.db.first("SELECT id FROM streams WHERE work_of = ?1", [person])? {
            return Ok(id);
        }
        insert!(self.db, "streams" { scope: Scope::Person(person), work_of: person })
    }

    /// Makes the next message of the stream begin a new conversation; `None` cancels that.
    pub fn set_break(&self, stream: StreamId, at: Option<Timestamp>) -> anyhow::Result<()> {
        self.db.run("UPDATE streams SET break_at = ?2 WHERE id = ?1", params![stream, at])
    }

    /// Opens a conversation.
    pub fn open_conversation(&self, new: &NewConversation) -> anyhow::Result<ConversationId> {
        insert!(self.db, "conversations" {
            stream_id: new.stream, kind: new.kind, scope: new.scope, began_because: new.because, opened_at: new.at,
            last_at: new.at, label: Label::neutral(),
        })
    }

    /// Joins a label into that of a conversation.
    pub(super) fn join_label(&self, id: ConversationId, label: &Label) -> anyhow::Result<()> {
        let stored: Option<Label> = self.db.first("SELECT label FROM conversations WHERE id = ?1", [id])?;
        let Some(known) = stored else { return Ok(()) };
        let joined = known.join_with(label);
        if joined == known {
            return Ok(());
        }
        self.db.run("UPDATE conversations SET label = ?2 WHERE id = ?1", params![id, joined])
    }

    /// Joins the labels of the texts of a message into that of a conversation which was shown it.
    pub fn join_labels_of(&self, id: ConversationId, message: MessageId) -> anyhow::Result<()> {
        let labels: Vec<Label> = self.db.all("SELECT DISTINCT label FROM texts WHERE message_id = ?1", [message])?;
        labels.iter().try_for_each(|label| self.join_label(id, label))
    }

    /// Closes a conversation, unless it is closed, and ends what its person allowed in it.
    pub fn close_conversation(&self, id: ConversationId, at: Timestamp) -> anyhow::Result<()> {
        self.tx().grants().take_back(id, at)?;
        self.db.run("UPDATE conversations SET closed_at = ?2 WHERE id = ?1 AND closed_at IS NULL", params![id, at])
    }

    /// Closes a conversation about piped text, which ends with its answer.
    pub fn close_if_piped(&self, id: ConversationId, at: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE conversations SET closed_at = ?2 WHERE id = ?1 AND kind = 'piped' AND closed_at IS NULL",
            params![id, at],
        )
    }

    /// Counts a person's new message in a conversation.
    pub fn count_message(&self, id: ConversationId, message: MessageId, at: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE conversations SET last_at = max(last_at, ?3), last_message_id = ?2, messages = messages + 1,
             written_down = 0 WHERE id = ?1",
            params![id, message, at],
        )
    }

    /// Fixes the opening of a conversation.
    pub fn set_opening(&self, id: ConversationId, opening: Option<&Text>, state: OpeningState) -> anyhow::Result<()> {
        let (words, label) = opening.map(|text| (&**text.open().0, text.label())).unzip();
        self.db.run(
            "UPDATE conversations SET opening = ?2, opening_state = ?3, opening_label = ?4 WHERE id = ?1",
            params![id, words.unwrap_or_default(), state, label.map(Label::encode).unwrap_or_default()],
        )
    }
}
