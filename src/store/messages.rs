//! Messages and their texts. Each text stands here once; everything else refers to it.

use crate::store::handles::{Messages, MessagesMut};
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, params};

use crate::id::{AddressId, ConversationId, InboxId, MessageId, PersonId, StreamId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// Somebody said it.
    Said,
    /// Somebody gave a command.
    Command,
    /// The assistant's answer.
    Reply,
    /// The program asks the assistant for something by itself.
    Task,
    /// What the assistant thinks of a period.
    Reflection,
}

impl MessageKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Command => "command",
            Self::Reply => "reply",
            Self::Task => "task",
            Self::Reflection => "reflection",
        }
    }

    fn parse(word: &str) -> Self {
        match word {
            "command" => Self::Command,
            "reply" => Self::Reply,
            "task" => Self::Task,
            "reflection" => Self::Reflection,
            _ => Self::Said,
        }
    }
}

/// What a text is to its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// The message itself, or a caption.
    Said,
    /// What it answers.
    Quote,
    /// What was spoken in it.
    Transcript,
    /// What stands in a file that came with it.
    File,
    /// What it was changed to after it had been answered.
    Edit,
    /// What came along with it, and nobody typed: the words of a preview, a contact, a poll.
    Carried,
}

impl TextKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Said => "said",
            Self::Quote => "quote",
            Self::Transcript => "transcript",
            Self::File => "file",
            Self::Edit => "edit",
            Self::Carried => "carried",
        }
    }

    fn parse(word: &str) -> Self {
        match word {
            "quote" => Self::Quote,
            "transcript" => Self::Transcript,
            "file" => Self::File,
            "edit" => Self::Edit,
            "carried" => Self::Carried,
            _ => Self::Said,
        }
    }
}

/// A message to be stored.
#[derive(Debug, Clone)]
pub struct NewMessage<'a> {
    /// Its stream.
    pub stream: StreamId,
    /// Its conversation; none for commands.
    pub conversation: Option<ConversationId>,
    /// The raw item it came as.
    pub inbox: Option<InboxId>,
    /// Where it came from.
    pub address: Option<AddressId>,
    /// Who said it; none for the assistant and for guests.
    pub person: Option<PersonId>,
    /// The number of the guest who said it; 0 if no guest did.
    pub guest: u32,
    /// What it is.
    pub kind: MessageKind,
    /// Whose it is.
    pub scope: Scope,
    /// Its id with the adapter.
    pub external_id: &'a str,
    /// The album it belongs to.
    pub album: &'a str,
    /// Stored.
    pub received_at: Timestamp,
    /// The server's stamp.
    pub server_at: Option<Timestamp>,
    /// The time that counts.
    pub effective_at: Timestamp,
    /// The turn that it is the answer of.
    pub turn: Option<TurnId>,
}

/// A stored message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its row.
    pub id: MessageId,
    /// Its conversation.
    pub conversation: Option<ConversationId>,
    /// Where it came from.
    pub address: Option<AddressId>,
    /// Who said it; none for the assistant and for guests.
    pub person: Option<PersonId>,
    /// The number of the guest who said it; 0 if no guest did.
    pub guest: u32,
    /// Its id with the adapter.
    pub external_id: String,
    /// What it is.
    pub kind: MessageKind,
    /// Stored.
    pub received_at: Timestamp,
    /// The time that counts.
    pub effective_at: Timestamp,
    /// The turn that answers it, or that it is the answer of.
    pub turn: Option<TurnId>,
    /// `queued`, `claimed`, `answered`, `closed`, `done`.
    pub state: String,
    /// Why it was closed without an answer.
    pub reason: String,
    /// The album it belongs to.
    pub album: String,
    /// Whether its words are gone: its sender deleted it, or let it disappear.
    pub gone: bool,
}

const COLUMNS: &str =
    "id, conversation_id, address_id, person_id, kind, received_at, effective_at, turn_id, state, reason, album,
    guest, external_id, gone_at IS NOT NULL";

fn message(row: &Row<'_>) -> rusqlite::Result<StoredMessage> {
    let kind: String = row.get(4)?;
    Ok(StoredMessage {
        id: row.get(0)?,
        conversation: row.get(1)?,
        address: row.get(2)?,
        person: row.get(3)?,
        guest: row.get(11)?,
        external_id: row.get(12)?,
        kind: MessageKind::parse(&kind),
        received_at: row.get(5)?,
        effective_at: row.get(6)?,
        turn: row.get(7)?,
        state: row.get(8)?,
        reason: row.get(9)?,
        album: row.get(10)?,
        gone: row.get(13)?,
    })
}

/// A text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredText {
    /// What it is part of.
    pub message: MessageId,
    /// What it is to it.
    pub kind: TextKind,
    /// The words.
    pub text: Text,
}

fn stored_text(row: &Row<'_>) -> rusqlite::Result<StoredText> {
    let kind: String = row.get(1)?;
    let words: Arc<str> = row.get(2)?;
    Ok(StoredText {
        message: row.get(0)?,
        kind: TextKind::parse(&kind),
        text: Labelled::new(words, row.get(3)?, row.get(4)?),
    })
}

impl Messages<'_> {
    // The index holds what waits and what is claimed; SQLite takes it only where a query says both
    // words.

    /// The messages of a stream that wait for a turn, in order.
    pub fn queued(&self, stream: StreamId) -> anyhow::Result<Vec<StoredMessage>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM messages
             WHERE stream_id = ?1 AND state IN ('queued', 'claimed') AND state = 'queued' AND kind IN ('said', 'task') ORDER BY id"
        ))?;
        Ok(query.query_map([stream], message)?.collect::<Result<_, _>>()?)
    }

    /// The commands that wait, in order.
    pub fn queued_commands(&self) -> anyhow::Result<Vec<StoredMessage>> {
        let mut query = self.db.prepare_cached(&waiting_commands())?;
        Ok(query.query_map([], message)?.collect::<Result<_, _>>()?)
    }

    /// The streams with messages that wait, turns that are not over, or questions that are open.
    pub fn streams_with_work(&self) -> anyhow::Result<Vec<StreamId>> {
        let mut query = self.db.prepare_cached(
            "SELECT DISTINCT stream_id FROM messages WHERE state IN ('queued', 'claimed') AND kind IN ('said', 'task')
             UNION SELECT DISTINCT stream_id FROM turns WHERE state IN ('running', 'waiting')
             UNION SELECT DISTINCT stream_id FROM questions WHERE state = 'open'",
        )?;
        Ok(query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// How many messages of one stream wait or are being answered.
    pub fn waiting_in(&self, stream: StreamId) -> anyhow::Result<i64> {
        let mut query = self.db.prepare_cached(
            "SELECT count(*) FROM messages WHERE stream_id = ?1 AND state IN ('queued', 'claimed') AND kind IN ('said', 'task')",
        )?;
        Ok(query.query_row([stream], |row| row.get(0))?)
    }

    /// How many messages of one guest of a group wait or are being answered, and how many of all
    /// guests there.
    pub fn waiting_of_guests(&self, stream: StreamId, number: u32) -> anyhow::Result<(i64, i64)> {
        let mut query = self.db.prepare_cached(
            "SELECT count(*) FILTER (WHERE guest = ?2), count(*) FROM messages
             WHERE stream_id = ?1 AND state IN ('queued', 'claimed') AND guest > 0",
        )?;
        Ok(query.query_row(params![stream, number], |row| Ok((row.get(0)?, row.get(1)?)))?)
    }

    /// Whether what was said in that stream right before was left unanswered because too much
    /// waited.
    pub fn was_full_before(&self, stream: StreamId, message: MessageId) -> anyhow::Result<bool> {
        let mut query = self.db.prepare_cached(
            "SELECT reason = 'queue_full' FROM messages WHERE stream_id = ?1 AND kind = 'said' AND id < ?2
             ORDER BY received_at DESC, id DESC LIMIT 1",
        )?;
        Ok(query.query_row(params![stream, message], |row| row.get(0)).optional()?.unwrap_or(false))
    }

    /// The messages that a turn answers, in order.
    pub fn messages_of_turn(&self, turn: TurnId) -> anyhow::Result<Vec<StoredMessage>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM messages WHERE turn_id = ?1 AND kind IN ('said', 'task') ORDER BY id"
        ))?;
        Ok(query.query_map([turn], message)?.collect::<Result<_, _>>()?)
    }

    /// All messages of a conversation in order, from the given one on.
    pub fn messages_of(&self, conversation: ConversationId) -> anyhow::Result<Vec<StoredMessage>> {
        let mut query = self
            .db
            .prepare_cached(&format!("SELECT {COLUMNS} FROM messages WHERE conversation_id = ?1 ORDER BY id"))?;
        Ok(query.query_map([conversation], message)?.collect::<Result<_, _>>()?)
    }

    /// The message of that id.
    pub fn message(&self, id: MessageId) -> anyhow::Result<Option<StoredMessage>> {
        let mut query = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM messages WHERE id = ?1"))?;
        Ok(query.query_row([id], message).optional()?)
    }

    /// The texts of a message, in order.
    pub fn texts_of(&self, id: MessageId) -> anyhow::Result<Vec<StoredText>> {
        let mut query = self.db.prepare_cached(
            "SELECT message_id, kind, text, label, scope FROM texts WHERE message_id = ?1 ORDER BY id",
        )?;
        Ok(query.query_map([id], stored_text)?.collect::<Result<_, _>>()?)
    }

    /// The texts of all messages of a conversation, in order.
    pub fn texts_of_conversation(&self, id: ConversationId) -> anyhow::Result<Vec<StoredText>> {
        let mut query = self.db.prepare_cached(
            "SELECT t.message_id, t.kind, t.text, t.label, t.scope FROM messages m JOIN texts t ON t.message_id = m.id
             WHERE m.conversation_id = ?1 ORDER BY m.id, t.id",
        )?;
        Ok(query.query_map([id], stored_text)?.collect::<Result<_, _>>()?)
    }

    /// A message from that address by its id with the adapter: somebody's, or a part of one of
    /// ours.
    pub fn by_external_id(&self, address: AddressId, external_id: &str) -> anyhow::Result<Option<StoredMessage>> {
        for name in ["external_id", "also"] {
            let mut query = self.db.prepare_cached(&named(name))?;
            if let Some(found) = query.query_row(params![address, external_id], message).optional()? {
                return Ok(Some(found));
            }
        }
        let mut query = self.db.prepare_cached(
            "SELECT o.message_id FROM parts p JOIN outbox o ON o.id = p.outbox_id
             WHERE p.external_id = ?2 AND o.address_id = ?1 AND o.message_id IS NOT NULL ORDER BY p.id DESC LIMIT 1",
        )?;
        let ours: Option<MessageId> = query.query_row(params![address, external_id], |row| row.get(0)).optional()?;
        ours.map_or(Ok(None), |id| self.message(id))
    }

    /// Whether that id with the adapter is a part of something that we sent to that address.
    pub fn label_of_ours(&self, address: AddressId, external_id: &str) -> anyhow::Result<Option<Label>> {
        let mut query = self.db.prepare_cached(
            "SELECT o.label FROM parts p JOIN outbox o ON o.id = p.outbox_id
             WHERE p.external_id = ?2 AND o.address_id = ?1 ORDER BY p.id DESC LIMIT 1",
        )?;
        Ok(query.query_row(params![address, external_id], |row| row.get(0)).optional()?)
    }

    /// The newest message of that album from that address that still waits, and when it came.
    pub fn album(&self, address: AddressId, album: &str) -> anyhow::Result<Option<MessageId>> {
        let mut query = self.db.prepare_cached(ALBUM)?;
        Ok(query.query_row(params![address, album], |row| row.get(0)).optional()?)
    }
}

// These are asked on every message. The index of what waits is partial, and serves only who repeats
// its condition.
fn waiting_commands() -> String {
    format!(
        "SELECT {COLUMNS} FROM messages INDEXED BY messages_waiting
         WHERE state IN ('queued', 'claimed') AND state = 'queued' AND kind = 'command' ORDER BY id"
    )
}

fn named(name: &str) -> String {
    format!(
        "SELECT {COLUMNS} FROM messages WHERE address_id = ?1 AND {name} = ?2 AND {name} <> '' ORDER BY id DESC LIMIT 1"
    )
}

const ALBUM: &str = "SELECT id FROM messages INDEXED BY messages_waiting
    WHERE address_id = ?1 AND album = ?2 AND state IN ('queued', 'claimed') AND state = 'queued' ORDER BY id DESC LIMIT 1";

impl MessagesMut<'_> {
    /// A change gave a message a name of its own, by which it goes too from now on.
    pub fn goes_by(&self, id: MessageId, name: &str) -> anyhow::Result<()> {
        self.db.prepare_cached("UPDATE messages SET also = ?2 WHERE id = ?1")?.execute(params![id, name])?;
        Ok(())
    }

    /// Stores a message: queued if somebody said it, done if we did.
    pub fn add_message(&self, new: &NewMessage<'_>) -> anyhow::Result<MessageId> {
        let state = match new.kind {
            MessageKind::Reply | MessageKind::Reflection => "done",
            MessageKind::Said | MessageKind::Command | MessageKind::Task => "queued",
        };
        self.db
            .prepare_cached(
                "INSERT INTO messages (stream_id, conversation_id, inbox_id, address_id, person_id, kind, scope, external_id,
                     album, received_at, server_at, effective_at, state, turn_id, guest)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .execute(params![
                new.stream,
                new.conversation,
                new.inbox,
                new.address,
                new.person,
                new.kind.as_str(),
                new.scope,
                new.external_id,
                new.album,
                new.received_at,
                new.server_at,
                new.effective_at,
                state,
                new.turn,
                new.guest,
            ])?;
        Ok(MessageId(self.db.last_insert_rowid()))
    }

    /// Adds a text to a message and to the search index. Commands are not searched for. A message
    /// that is gone takes none.
    pub fn add_text(&self, message: MessageId, kind: TextKind, text: &Text) -> anyhow::Result<()> {
        if self.db.redaction().is_gone(message)? {
            return Ok(());
        }
        let (words, label, scope) = text.open();
        self.db
            .prepare_cached("INSERT INTO texts (message_id, kind, text, label, scope) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![message, kind.as_str(), &**words, label, scope])?;
        let row = self.db.last_insert_rowid();
        self.tx().fingerprints().fingerprint_text(row, words, label)?;
        self.tx().message_search().index_text(row)
    }

    /// Adds a text to a message that is not to be searched for. A message that is gone takes none.
    pub fn add_unsearched_text(&self, message: MessageId, kind: TextKind, text: &Text) -> anyhow::Result<()> {
        if self.db.redaction().is_gone(message)? {
            return Ok(());
        }
        let (words, label, scope) = text.open();
        self.db
            .prepare_cached("INSERT INTO texts (message_id, kind, text, label, scope) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![message, kind.as_str(), &**words, label, scope])?;
        self.tx().fingerprints().fingerprint_text(self.db.last_insert_rowid(), words, label)
    }

    /// Those of these messages that still wait.
    pub fn still_queued(&self, messages: &[MessageId]) -> anyhow::Result<Vec<MessageId>> {
        let mut query = self.db.prepare_cached("SELECT 1 FROM messages WHERE id = ?1 AND state = 'queued'")?;
        let mut waiting = Vec::new();
        for id in messages {
            if query.exists([id])? {
                waiting.push(*id);
            }
        }
        Ok(waiting)
    }

    /// Gives messages to a turn.
    pub fn claim(&self, turn: TurnId, messages: &[MessageId]) -> anyhow::Result<()> {
        let mut update = self
            .db
            .prepare_cached("UPDATE messages SET state = 'claimed', turn_id = ?1 WHERE id = ?2 AND state = 'queued'")?;
        for id in messages {
            anyhow::ensure!(update.execute(params![turn, id])? == 1, "Message {id} was claimed twice");
        }
        Ok(())
    }

    /// The messages of a turn are answered, or closed for a reason.
    pub fn settle_turn(&self, turn: TurnId, state: &str, reason: &str) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE messages SET state = ?2, reason = ?3 WHERE turn_id = ?1 AND state = 'claimed'")?
            .execute(params![turn, state, reason])?;
        Ok(())
    }

    /// One message that waits is answered, or closed for a reason. False if it did not wait any
    /// more.
    pub fn settle_message(&self, id: MessageId, state: &str, reason: &str) -> anyhow::Result<bool> {
        let settled = self
            .db
            .prepare_cached("UPDATE messages SET state = ?2, reason = ?3 WHERE id = ?1 AND state = 'queued'")?
            .execute(params![id, state, reason])?;
        Ok(settled == 1)
    }

    /// A command is about to be run. Returns how often it was begun, this time included.
    pub fn begin_command(&self, id: MessageId) -> anyhow::Result<u32> {
        let sql = "UPDATE messages SET tries = tries + 1 WHERE id = ?1 RETURNING tries";
        Ok(self.db.prepare_cached(sql)?.query_row([id], |row| row.get(0))?)
    }

    /// Replaces what a message that still waits says. False if it is claimed already: then nothing
    /// is replaced.
    pub fn replace_said(&self, id: MessageId, text: &Text, now: Timestamp) -> anyhow::Result<bool> {
        let marked = self
            .db
            .prepare_cached("UPDATE messages SET edited_at = ?2 WHERE id = ?1 AND state = 'queued'")?
            .execute(params![id, now])?;
        if marked == 0 {
            self.db.prepare_cached("UPDATE messages SET edited_at = ?2 WHERE id = ?1")?.execute(params![id, now])?;
            return Ok(false);
        }
        let old: Vec<(i64, String)> = self
            .db
            .prepare_cached("SELECT id, text FROM texts WHERE message_id = ?1 AND kind = 'said'")?
            .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        for (row, words) in old {
            self.tx().fingerprints().drop_fingerprints(super::fingerprints::Keeper::Text(row), &words)?;
            self.tx().message_search().unindex_text(row)?;
            self.db.prepare_cached("DELETE FROM texts WHERE id = ?1")?.execute([row])?;
        }
        self.add_text(id, TextKind::Said, text)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Journal;

    /// What is asked on every message looks at its own rows, and not at all that was ever said.
    #[test]
    fn no_message_costs_a_walk_through_all_others() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.db"), None).unwrap();
        for sql in [waiting_commands(), named("external_id"), named("also"), ALBUM.to_owned()] {
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
    fn what_a_command_answered_is_found_without_a_walk_through_the_chat() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("journal.db"), None).unwrap();
        for (sql, by) in [
            (super::super::outbox::STOPPED_SINCE, "messages_turn (turn_id=?)"),
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
