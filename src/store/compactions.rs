//! Summaries that replace the older part of a conversation in prompts.
//!
//! A row is first a job, then its result. The transaction that stores the summary also moves the
//! conversation's pointer. Messages are never changed.

use crate::store::handles::{Compactions, CompactionsMut};
use crate::store::rows::{from_row, text};
use std::time::Duration;

use rusqlite::params;

use crate::id::{CompactionId, ConversationId, MessageId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Label, Scope, Text};

/// A summary in place of the older part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// Row id.
    pub id: CompactionId,
    /// Conversation.
    pub conversation: ConversationId,
    /// Last turn that it covers.
    pub upto_turn: TurnId,
    /// Last message that it covers.
    pub upto_message: MessageId,
    /// Failed attempts.
    pub attempts: u32,
    /// Text that prompts show instead of those turns; blank until it is made.
    pub summary: Text,
}

from_row! {
    Compaction from "compactions", "summary, label, scope" { id, conversation: "conversation_id", upto_turn, upto_message, attempts }
    with |row| { summary: text(row, "summary")? }
}

impl Compactions<'_> {
    /// Returns the summary that prompts show for the older part of a conversation, if any.
    pub fn compacted(&self, conversation: ConversationId) -> anyhow::Result<Option<Compaction>> {
        self.db.row(
            "WHERE conversation_id = ?1 AND state = 'made'
                 AND upto_turn = (SELECT compacted_upto FROM conversations WHERE id = ?1)",
            [conversation],
        )
    }

    /// Returns the last turn that prompts show only as a summary; zero if there is none.
    pub fn compacted_upto(&self, conversation: ConversationId) -> anyhow::Result<TurnId> {
        Ok(self
            .db
            .first("SELECT compacted_upto FROM conversations WHERE id = ?1", [conversation])?
            .unwrap_or(TurnId(0)))
    }

    /// Returns true if a full window caused an extraction since the last summary.
    pub fn has_pressed(&self, conversation: ConversationId) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM extractions WHERE conversation_id = ?1 AND cause = 'pressure' AND upto_message > coalesce(
             (SELECT max(upto_message) FROM compactions WHERE conversation_id = ?1 AND state = 'made'), 0)",
            [conversation],
        )
    }

    /// Returns the messages and replies of a turn, in order.
    pub fn messages_in(&self, turn: TurnId) -> anyhow::Result<Vec<MessageId>> {
        self.db.all("SELECT id FROM messages WHERE turn_id = ?1 AND kind IN ('said', 'reply') ORDER BY id", [turn])
    }

    /// Returns the number of characters of a turn that a prompt shows: messages, tool calls and
    /// tool results.
    pub fn size_of_turn(&self, turn: TurnId) -> anyhow::Result<u64> {
        let size: i64 = self.db.one(
            "SELECT coalesce((SELECT sum(length(t.text)) FROM texts t JOIN messages m ON m.id = t.message_id
             WHERE m.turn_id = ?1), 0)
             + coalesce((SELECT sum(length(text) + length(call)) FROM steps WHERE turn_id = ?1
             AND kind = 'tool'), 0)",
            [turn],
        )?;
        Ok(u64::try_from(size).unwrap_or(0))
    }

    /// Returns true while a compaction is wanted and not made.
    pub fn is_being_compacted(&self, conversation: ConversationId) -> anyhow::Result<bool> {
        self.db.exists("SELECT 1 FROM compactions WHERE conversation_id = ?1 AND state = 'wanted'", [conversation])
    }

    /// Returns the next compaction due at `now`. A retry more than `longest` ahead was set by a
    /// clock that was fast, and counts as due.
    pub fn due_compaction(&self, now: Timestamp, longest: Duration) -> anyhow::Result<Option<Compaction>> {
        self.db.row(
            "WHERE state = 'wanted' AND (retry_at <= ?1 OR retry_at > ?2)
                 ORDER BY retry_at, id LIMIT 1",
            [now, now.plus(longest)],
        )
    }

    /// Returns when the next compaction may be made.
    pub fn next_compaction_at(&self) -> anyhow::Result<Option<Timestamp>> {
        self.db.one("SELECT min(retry_at) FROM compactions WHERE state = 'wanted'", [])
    }
}

impl CompactionsMut<'_> {
    /// Requests a summary of the turns up to that one. Repeating the request changes nothing.
    pub fn request_compaction(
        &self,
        of: ConversationId,
        turn: TurnId,
        message: MessageId,
        scope: Scope,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        // The label is joined from its inputs when it is made; until then its origin is unknown.
        let label = Label::untrusted(crate::trust::Source::unknown());
        self.db.run(
            "INSERT INTO compactions (conversation_id, upto_turn, upto_message, state, retry_at, label, scope,
             wanted_at)
             VALUES (?1, ?2, ?3, 'wanted', ?6, ?4, ?5, ?6)
             ON CONFLICT (conversation_id, upto_turn) DO UPDATE SET state = 'wanted', retry_at = ?6, attempts = 0
             WHERE state = 'void'",
            params![of, turn, message, label, scope, now],
        )
    }

    /// Stores the summary, which prompts show from now on instead of those turns. Returns false and
    /// changes nothing if it is no longer wanted.
    pub fn store_compaction(&self, made: &Compaction, model: &str, now: Timestamp) -> anyhow::Result<bool> {
        let (words, label, _) = made.summary.open();
        let kept = self.db.execute(
            "UPDATE compactions SET state = 'made', summary = ?2, label = ?3, model = ?4, made_at = ?5
             WHERE id = ?1 AND state = 'wanted'",
            params![made.id, &**words, label, model, now],
        )?;
        if kept == 1 {
            self.db.run(
                "UPDATE conversations SET compacted_upto = ?2 WHERE id = ?1 AND compacted_upto < ?2",
                params![made.conversation, made.upto_turn],
            )?;
        }
        Ok(kept == 1)
    }

    /// Postpones a compaction after a failed attempt.
    pub fn postpone_compaction(&self, id: CompactionId, attempts: u32, retry_at: Timestamp) -> anyhow::Result<()> {
        self.db
            .run("UPDATE compactions SET attempts = ?2, retry_at = ?3 WHERE id = ?1", params![id, attempts, retry_at])
    }

    /// Discards the summaries of a conversation after text was deleted from it; its turns are shown
    /// in full again.
    pub fn void_compactions(&self, of: ConversationId) -> anyhow::Result<()> {
        for sql in [
            "UPDATE compactions SET state = 'void', summary = '' WHERE conversation_id = ?1 AND state <> 'void'",
            "UPDATE conversations SET compacted_upto = 0 WHERE id = ?1",
        ] {
            self.db.run(sql, [of])?;
        }
        Ok(())
    }
}
