//! Messages and their texts. Each text is stored once; other rows refer to it.

use super::derivations::Fingerprinted;
use crate::store::handles::{Messages, MessagesMut};
use crate::store::rows::{from_row, insert, stored_word, text};

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{AddressId, ConversationId, InboxId, MessageId, PersonId, StreamId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Label, Scope, Text};

/// Value of `texts.shown_to` for an edit that no turn was shown yet.
const PENDING_EDIT: i64 = -1;
/// Maximum number of edits shown to one turn.
const MAX_EDITS: u32 = 20;

/// Kind of message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum MessageKind {
    /// A message from a person or guest.
    Said,
    /// A command.
    Command,
    /// A reply of the assistant.
    Reply,
    /// A prompt by the program for a system run.
    Task,
    /// A reflection on a period.
    Reflection,
    /// A message to a person that they did not ask for.
    Sent,
    /// A message of an imported archive, by any author.
    Imported,
}

/// Role of a text within its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum TextKind {
    /// The message itself, or a caption.
    Said,
    /// Quoted message that it answers.
    Quote,
    /// Transcript of a recording.
    Transcript,
    /// Text of an attached file.
    File,
    /// Edit made after the message was answered.
    Edit,
    /// Attached text that the sender did not type: a link preview, a contact, a poll.
    Carried,
    /// Text from outside that its person saw whole and agreed to.
    Agreed,
    /// Name of the author of a forwarded message, which anyone can take.
    ForwardedFrom,
}

stored_word!(MessageKind, TextKind, MessageState);

/// Progress of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum MessageState {
    /// Waiting for a turn or a command.
    Queued,
    /// Assigned to a turn.
    Claimed,
    /// Answered.
    Answered,
    /// Closed without an answer.
    Closed,
    /// Ours, a reflection, or imported: nothing to do.
    Done,
}

/// A message to store.
#[derive(Debug, Clone)]
pub struct NewMessage<'a> {
    /// Stream.
    pub stream: StreamId,
    /// Conversation; none for commands.
    pub conversation: Option<ConversationId>,
    /// Raw item.
    pub inbox: Option<InboxId>,
    /// Address that it came from.
    pub address: Option<AddressId>,
    /// Sender; none for the assistant and for guests.
    pub person: Option<PersonId>,
    /// Number of the sending guest; none for anyone else.
    pub guest: Option<u32>,
    /// Kind.
    pub kind: MessageKind,
    /// Owning scope.
    pub scope: Scope,
    /// Id assigned by the channel.
    pub external_id: &'a str,
    /// Album that it belongs to.
    pub album: &'a str,
    /// Time of storage.
    pub received_at: Timestamp,
    /// Timestamp by the server.
    pub server_at: Option<Timestamp>,
    /// Effective time.
    pub effective_at: Timestamp,
    /// Turn whose reply it is.
    pub turn: Option<TurnId>,
}

/// A stored message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    /// Row id.
    pub id: MessageId,
    /// Conversation.
    pub conversation: Option<ConversationId>,
    /// Address that it came from.
    pub address: Option<AddressId>,
    /// Sender; none for the assistant and for guests.
    pub person: Option<PersonId>,
    /// Number of the sending guest; none for anyone else.
    pub guest: Option<u32>,
    /// Id assigned by the channel.
    pub external_id: String,
    /// Kind.
    pub kind: MessageKind,
    /// Time of storage.
    pub received_at: Timestamp,
    /// Effective time.
    pub effective_at: Timestamp,
    /// Turn that answers it, or whose reply it is.
    pub turn: Option<TurnId>,
    /// Progress.
    pub state: MessageState,
    /// Reason for closing it without an answer, or for its deletion on request.
    pub reason: String,
    /// Album that it belongs to.
    pub album: String,
    /// True if its text was deleted: by its sender, by a timer, or on request.
    pub gone: bool,
}

from_row! {
    StoredMessage from "messages" {
        id, conversation: "conversation_id", address: "address_id", person: "person_id",
        guest = "nullif(guest, 0)", external_id, kind, received_at, effective_at, turn: "turn_id", state, reason,
        album, gone = "gone_at IS NOT NULL",
    }
}

/// A text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredText {
    /// Message.
    pub message: MessageId,
    /// Role within the message.
    pub kind: TextKind,
    /// Text.
    pub text: Text,
}

from_row! {
    StoredText from "texts", "text, label, scope" { message: "message_id", kind }
    with |row| { text: text(row, "text")? }
}

impl Messages<'_> {
    // The partial index covers queued and claimed messages; SQLite uses it only for queries that
    // name both states.

    /// Returns the queued messages of a stream, in order.
    pub fn queued(&self, stream: StreamId) -> anyhow::Result<Vec<StoredMessage>> {
        self.db.rows(
            "WHERE stream_id = ?1 AND state IN ('queued', 'claimed') AND state = 'queued'
             AND kind IN ('said', 'task') ORDER BY id",
            [stream],
        )
    }

    /// Returns the queued commands, in order.
    pub fn queued_commands(&self) -> anyhow::Result<Vec<StoredMessage>> {
        self.db.rows(COMMANDS, [])
    }

    /// Returns the streams with pending messages, open turns or open questions.
    pub fn streams_with_work(&self) -> anyhow::Result<Vec<StreamId>> {
        self.db.all(
            "SELECT DISTINCT stream_id FROM messages WHERE state IN ('queued', 'claimed')
             AND kind IN ('said', 'task')
             UNION SELECT DISTINCT stream_id FROM turns WHERE state IN ('running', 'waiting')
             UNION SELECT DISTINCT stream_id FROM questions WHERE state IN ('open', 'passed')",
            [],
        )
    }

    /// Counts the queued and claimed messages of a stream.
    pub fn waiting_in(&self, stream: StreamId) -> anyhow::Result<i64> {
        self.db.one(
            "SELECT count(*) FROM messages WHERE stream_id = ?1 AND state IN ('queued', 'claimed')
             AND kind IN ('said', 'task')",
            [stream],
        )
    }

    /// Counts the queued and claimed messages of one guest of a group, and of all its guests.
    pub fn waiting_of_guests(&self, stream: StreamId, number: u32) -> anyhow::Result<(i64, i64)> {
        self.db.one(
            "SELECT count(*) FILTER (WHERE guest = ?2), count(*) FROM messages
             WHERE stream_id = ?1 AND state IN ('queued', 'claimed') AND guest > 0",
            params![stream, number],
        )
    }

    /// Returns true if the previous message of the stream was dropped because the queue was full.
    pub fn was_full_before(&self, stream: StreamId, message: MessageId) -> anyhow::Result<bool> {
        let sql = "SELECT reason = 'queue_full' FROM messages INDEXED BY messages_said
             WHERE stream_id = ?1 AND kind = 'said' AND id < ?2 ORDER BY received_at DESC, id DESC LIMIT 1";
        Ok(self.db.first(sql, params![stream, message])?.unwrap_or(false))
    }

    /// Returns the messages that a turn answers, in order.
    pub fn messages_of_turn(&self, turn: TurnId) -> anyhow::Result<Vec<StoredMessage>> {
        self.db.rows("WHERE turn_id = ?1 AND kind IN ('said', 'task') ORDER BY id", [turn])
    }

    /// Returns all messages of a conversation, in order.
    pub fn messages_of(&self, conversation: ConversationId) -> anyhow::Result<Vec<StoredMessage>> {
        self.messages_after(conversation, MessageId(0))
    }

    /// Returns the first words with which a person, or the program for them, begins a conversation.
    pub fn first_said_in(&self, conversation: ConversationId) -> anyhow::Result<Option<Text>> {
        let first: Option<StoredText> = self.db.row(
            "WHERE kind = 'said' AND message_id = (SELECT id FROM messages WHERE conversation_id = ?1
                 AND kind IN ('said', 'task', 'imported') ORDER BY id LIMIT 1) ORDER BY id LIMIT 1",
            [conversation],
        )?;
        Ok(first.map(|first| first.text))
    }

    /// Returns the messages of a conversation after that one, in order.
    pub fn messages_after(&self, conversation: ConversationId, after: MessageId) -> anyhow::Result<Vec<StoredMessage>> {
        self.db.rows("WHERE conversation_id = ?1 AND id > ?2 ORDER BY id", params![conversation, after])
    }

    /// Returns the newest messages of a conversation before a place, in order.
    pub fn before(&self, id: ConversationId, place: MessageId, limit: u32) -> anyhow::Result<Vec<StoredMessage>> {
        let mut messages: Vec<StoredMessage> = self
            .db
            .rows("WHERE conversation_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3", params![id, place, limit])?;
        messages.reverse();
        Ok(messages)
    }

    /// Returns the oldest messages of a conversation from a place on, in order.
    pub fn from(&self, id: ConversationId, place: MessageId, limit: u32) -> anyhow::Result<Vec<StoredMessage>> {
        self.db.rows("WHERE conversation_id = ?1 AND id >= ?2 ORDER BY id LIMIT ?3", params![id, place, limit])
    }

    /// Returns the newest messages of a stream that its person said or got, in order. Commands
    /// count only if they came over that channel.
    pub fn newest_of_stream(&self, id: StreamId, adapter: &str, limit: u32) -> anyhow::Result<Vec<StoredMessage>> {
        let mut messages: Vec<StoredMessage> = self.db.rows(
            "WHERE stream_id = ?1 AND (kind IN ('said', 'reply', 'sent')
                 OR kind = 'command' AND address_id IN (SELECT id FROM addresses WHERE adapter = ?2))
             ORDER BY id DESC LIMIT ?3",
            params![id, adapter, limit],
        )?;
        messages.reverse();
        Ok(messages)
    }

    /// Returns, of the newest messages of a stream that its person said or got, those since that
    /// time, in order.
    pub fn newest_since(&self, id: StreamId, since: Timestamp, limit: u32) -> anyhow::Result<Vec<StoredMessage>> {
        self.db.rows(
            "WHERE effective_at >= ?2 AND id IN (SELECT id FROM messages
                 WHERE stream_id = ?1 AND kind IN ('said', 'reply', 'sent') ORDER BY id DESC LIMIT ?3) ORDER BY id",
            params![id, since, limit],
        )
    }

    /// Returns a message by id.
    pub fn message(&self, id: MessageId) -> anyhow::Result<Option<StoredMessage>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns the texts of a message, in order.
    pub fn texts_of(&self, id: MessageId) -> anyhow::Result<Vec<StoredText>> {
        self.db.rows("WHERE message_id = ?1 ORDER BY id", [id])
    }

    /// Returns the edits of a stream's answered messages that no turn was shown, oldest first.
    pub fn unshown_edits(&self, stream: StreamId) -> anyhow::Result<Vec<StoredText>> {
        self.db.rows(
            "INDEXED BY texts_shown WHERE shown_to <> 0 AND shown_to = ?2
             AND message_id IN (SELECT id FROM messages WHERE stream_id = ?1) ORDER BY id LIMIT ?3",
            params![stream, PENDING_EDIT, MAX_EDITS],
        )
    }

    /// Returns the edits that a turn was shown, oldest first.
    pub fn edits_shown_to(&self, turn: TurnId) -> anyhow::Result<Vec<StoredText>> {
        self.db.rows("INDEXED BY texts_shown WHERE shown_to <> 0 AND shown_to = ?1 ORDER BY id", [turn])
    }

    /// Returns the texts of all messages of a conversation, in order.
    pub fn texts_of_conversation(&self, id: ConversationId) -> anyhow::Result<Vec<StoredText>> {
        self.texts_after(id, MessageId(0))
    }

    /// Returns the texts of the messages of a conversation after that one, in order.
    pub fn texts_after(&self, id: ConversationId, after: MessageId) -> anyhow::Result<Vec<StoredText>> {
        self.db.rows(
            "WHERE message_id IN (SELECT id FROM messages WHERE conversation_id = ?1 AND id > ?2)
             ORDER BY message_id, id",
            params![id, after],
        )
    }

    /// Returns a message at that address by its channel id, received or sent by us.
    pub fn by_external_id(&self, address: AddressId, external_id: &str) -> anyhow::Result<Option<StoredMessage>> {
        for name in ["external_id", "also"] {
            if let Some(found) = self.db.row(&named(name), params![address, external_id])? {
                return Ok(Some(found));
            }
        }
        let ours: Option<MessageId> = self.db.first(
            "SELECT o.message_id FROM parts p JOIN outbox o ON o.id = p.outbox_id
             WHERE p.external_id = ?2 AND o.address_id = ?1 AND o.message_id IS NOT NULL ORDER BY p.id DESC LIMIT 1",
            params![address, external_id],
        )?;
        ours.map_or(Ok(None), |id| self.message(id))
    }

    /// Returns the label of a delivery of ours to that address by the channel id of one of its
    /// parts; `None` if it is not ours.
    pub fn label_of_ours(&self, address: AddressId, external_id: &str) -> anyhow::Result<Option<Label>> {
        self.db.first(
            "SELECT o.label FROM parts p JOIN outbox o ON o.id = p.outbox_id
             WHERE p.external_id = ?2 AND o.address_id = ?1 ORDER BY p.id DESC LIMIT 1",
            params![address, external_id],
        )
    }

    /// Returns the newest queued message of an album from that address.
    pub fn album(&self, address: AddressId, album: &str) -> anyhow::Result<Option<MessageId>> {
        self.db.first(ALBUM, params![address, album])
    }
}

// These queries run for every message. The partial index is used only by queries that repeat its
// condition.
const COMMANDS: &str = "INDEXED BY messages_waiting
    WHERE state IN ('queued', 'claimed') AND state = 'queued' AND kind = 'command' ORDER BY id";

fn named(name: &str) -> String {
    format!("WHERE address_id = ?1 AND {name} = ?2 AND {name} <> '' ORDER BY id DESC LIMIT 1")
}

const ALBUM: &str = "SELECT id FROM messages INDEXED BY messages_waiting
    WHERE address_id = ?1 AND album = ?2 AND state IN ('queued', 'claimed') AND state = 'queued' ORDER BY id DESC LIMIT 1";

impl MessagesMut<'_> {
    /// Records a second channel id that an edit gave to a message.
    pub fn add_external_id(&self, id: MessageId, name: &str) -> anyhow::Result<()> {
        self.db.run("UPDATE messages SET also = ?2 WHERE id = ?1", params![id, name])
    }

    /// Stores a message: queued if it needs processing, done if it is ours.
    pub fn add_message(&self, new: &NewMessage<'_>) -> anyhow::Result<MessageId> {
        let state = match new.kind {
            MessageKind::Reply | MessageKind::Reflection | MessageKind::Sent | MessageKind::Imported => {
                MessageState::Done
            }
            MessageKind::Said | MessageKind::Command | MessageKind::Task => MessageState::Queued,
        };
        insert!(self.db, "messages" {
            stream_id: new.stream, conversation_id: new.conversation, inbox_id: new.inbox, address_id: new.address,
            person_id: new.person, kind: new.kind, scope: new.scope, external_id: new.external_id, album: new.album,
            received_at: new.received_at, server_at: new.server_at, effective_at: new.effective_at, state,
            turn_id: new.turn, guest: new.guest.unwrap_or(0),
        })
    }

    /// Adds a text to a message and to the search index, which excludes commands. Does nothing for
    /// a deleted message.
    pub fn add_text(&self, message: MessageId, kind: TextKind, text: &Text) -> anyhow::Result<()> {
        match self.store_text(message, kind, text)? {
            Some(row) => self.tx().message_search().index_text(row),
            None => Ok(()),
        }
    }

    /// Adds a text to a message without indexing it. Does nothing for a deleted message.
    pub fn add_unsearched_text(&self, message: MessageId, kind: TextKind, text: &Text) -> anyhow::Result<()> {
        self.store_text(message, kind, text).map(drop)
    }

    /// Stores the edit of an answered message, for the next turn. It replaces an edit that no turn
    /// was shown yet; one that changes nothing is not stored.
    pub fn add_edit(&self, message: MessageId, text: &Text) -> anyhow::Result<()> {
        let texts = self.texts_of(message)?;
        let is_own = |stored: &&StoredText| matches!(stored.kind, TextKind::Said | TextKind::Edit);
        if texts.iter().rfind(is_own).is_some_and(|newest| newest.text.open().0 == text.open().0) {
            return Ok(());
        }
        self.db.run(
            "UPDATE texts SET shown_to = 0 WHERE message_id = ?1 AND shown_to = ?2",
            params![message, PENDING_EDIT],
        )?;
        match self.store_text(message, TextKind::Edit, text)? {
            Some(row) => self.db.run("UPDATE texts SET shown_to = ?2 WHERE id = ?1", params![row, PENDING_EDIT]),
            None => Ok(()),
        }
    }

    /// Outdates what was read of the conversations that were shown edits of a message.
    pub(super) fn outdate_edits(&self, message: MessageId) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE conversations SET revision = revision + 1 WHERE id IN (
                 SELECT u.conversation_id FROM texts t JOIN turns u ON u.id = t.shown_to
                 WHERE t.message_id = ?1 AND t.shown_to > 0)",
            [message],
        )
    }

    /// Records that a turn was shown the pending edits of these messages.
    pub fn show_edits(&self, turn: TurnId, edits: &[StoredText]) -> anyhow::Result<()> {
        let sql = "UPDATE texts SET shown_to = ?1 WHERE message_id = ?2 AND shown_to = ?3";
        edits.iter().try_for_each(|edit| self.db.run(sql, params![turn, edit.message, PENDING_EDIT]))
    }

    fn store_text(&self, message: MessageId, kind: TextKind, text: &Text) -> anyhow::Result<Option<i64>> {
        if self.db.redaction().is_redacted(message)? {
            return Ok(None);
        }
        let (words, label, scope) = text.open();
        let row = insert!(self.db, "texts" { message_id: message, kind, text: &**words, label, scope })?;
        self.tx().fingerprints().add_fingerprints(Fingerprinted::Text(row), words, label)?;
        let conversation = "SELECT conversation_id FROM messages WHERE id = ?1";
        if let Some(conversation) = self.db.one::<_, Option<ConversationId>>(conversation, [message])? {
            self.tx().conversations().join_label(conversation, label)?;
        }
        Ok(Some(row))
    }

    /// Returns the given messages that are still queued.
    pub fn still_queued(&self, messages: &[MessageId]) -> anyhow::Result<Vec<MessageId>> {
        let mut waiting = Vec::new();
        for id in messages {
            if self.db.exists("SELECT 1 FROM messages WHERE id = ?1 AND state = 'queued'", [id])? {
                waiting.push(*id);
            }
        }
        Ok(waiting)
    }

    /// Assigns messages to a turn.
    pub fn claim(&self, turn: TurnId, messages: &[MessageId]) -> anyhow::Result<()> {
        let sql = "UPDATE messages SET state = 'claimed', turn_id = ?1 WHERE id = ?2 AND state = 'queued'";
        for id in messages {
            anyhow::ensure!(self.db.execute(sql, params![turn, id])? == 1, "Message {id} was claimed twice");
        }
        Ok(())
    }

    /// Marks the messages of a turn as answered, or closed for a reason.
    pub fn settle_turn(&self, turn: TurnId, state: MessageState, reason: &str) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE messages SET state = ?2, reason = ?3 WHERE turn_id = ?1 AND state = 'claimed'",
            params![turn, state, reason],
        )
    }

    /// Marks a queued message as answered, or closed for a reason. Returns false if it was not
    /// queued.
    pub fn settle_message(&self, id: MessageId, state: MessageState, reason: &str) -> anyhow::Result<bool> {
        self.db.changed(
            "UPDATE messages SET state = ?2, reason = ?3 WHERE id = ?1 AND state = 'queued'",
            params![id, state, reason],
        )
    }

    /// Closes the messages of people that wait in a stream since that time or later, and were sent
    /// before the command that is being run. Returns false if there are none.
    pub fn stop_waiting(&self, stream: StreamId, since: Timestamp) -> anyhow::Result<bool> {
        let closed = self.db.execute(
            "UPDATE messages INDEXED BY messages_waiting SET state = 'answered', reason = 'stopped'
             WHERE stream_id = ?1 AND state IN ('queued', 'claimed') AND state = 'queued' AND kind = 'said'
             AND received_at >= ?2
             AND id < (SELECT min(c.id) FROM messages c INDEXED BY messages_waiting
                       WHERE c.stream_id = ?1 AND c.state IN ('queued', 'claimed') AND c.state = 'queued'
                       AND c.kind = 'command')",
            params![stream, since],
        )?;
        Ok(closed > 0)
    }

    /// Records the start of a command. Returns the number of starts, including this one.
    pub fn begin_command(&self, id: MessageId) -> anyhow::Result<u32> {
        let sql = "UPDATE messages SET tries = tries + 1 WHERE id = ?1 RETURNING tries";
        self.db.one(sql, [id])
    }

    /// Replaces the text of a queued message. Returns false and changes nothing if it is already
    /// claimed.
    pub fn replace_text(&self, id: MessageId, text: &Text, now: Timestamp) -> anyhow::Result<bool> {
        let marked = self
            .db
            .execute("UPDATE messages SET edited_at = ?2 WHERE id = ?1 AND state = 'queued'", params![id, now])?;
        if marked == 0 {
            self.db.run("UPDATE messages SET edited_at = ?2 WHERE id = ?1", params![id, now])?;
            return Ok(false);
        }
        let old: Vec<(i64, String)> =
            self.db.all("SELECT id, text FROM texts WHERE message_id = ?1 AND kind = 'said'", [id])?;
        for (row, words) in old {
            self.tx().fingerprints().drop_fingerprints(Fingerprinted::Text(row), &words)?;
            self.tx().message_search().unindex_text(row)?;
            self.db.run("DELETE FROM texts WHERE id = ?1", [row])?;
        }
        self.add_text(id, TextKind::Said, text)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Journal;

    /// Proves: models/prompt-cache
    ///
    /// Checks that the queries run for every message read only their own rows, not the whole
    /// history.
    #[test]
    fn no_message_costs_a_walk_through_all_others() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap();
        let message = |rest: &str| format!("{} {rest}", <StoredMessage as crate::store::rows::Selected>::SELECT);
        let named = |name: &str| message(&named(name));
        for sql in [message(COMMANDS), named("external_id"), named("also"), ALBUM.to_owned()] {
            let plan = journal.read_now(|db| {
                let mut query = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let mut rows = query.raw_query();
                let first = rows.next()?.map(|row| row.get::<_, String>(3)).transpose()?;
                Ok(first.unwrap_or_default())
            });
            assert!(plan.as_ref().unwrap().contains(" USING INDEX messages_"), "{plan:?}: {sql}");
        }
    }

    #[test]
    fn command_answers_are_looked_up_by_index_without_a_chat_scan() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("journal.db"), None).unwrap();
        for (sql, by) in [
            (super::super::outbox::STOPPED_SINCE, "messages_turn (turn_id=?)"),
            (super::super::outbox::NEXT, "outbox_pending (address_id=? AND id>?)"),
            (super::super::outbox::STOPPED_SINCE, "PRIMARY KEY (rowid>? AND rowid<?)"),
            (super::super::keep_requests::YES_TO, "messages_apart (received_at=?)"),
        ] {
            let plan = journal.read_now(|db| {
                let mut query = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let steps = query.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Result<Vec<_>, _>>()?;
                Ok(steps.join("; "))
            });
            assert!(plan.as_ref().unwrap().contains(by), "{plan:?}: {sql}");
        }
    }
}
