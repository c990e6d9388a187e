//! Summaries of ended conversations. A row that is `wanted`, or holds only a stand-in, is also the
//! job to make the final one.
//!
//! A compaction replaces the older part of an open conversation in prompts. Its row is first a job,
//! then its result. The transaction that stores the summary also moves the conversation's pointer.
//! Messages are never changed.

use std::time::Duration;

use rusqlite::{Row, params};
use strum::{EnumString, IntoStaticStr};

use crate::id::{CompactionId, ConversationId, MessageId, SummaryId, TurnId};
use crate::store::handles::{Compactions, CompactionsMut, Summaries, SummariesMut};
use crate::store::rows::{from_row, stored_word, text};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

/// Texts that a summary is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SummaryInputs {
    /// Trusted texts only, for the next conversation.
    Trusted,
    /// All texts, for recall on request.
    Full,
}

stored_word!(SummaryInputs, SummaryState);

/// State of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum SummaryState {
    /// Requested, without content.
    Wanted,
    /// Extracted text until the model has written it.
    Standin,
    /// Final.
    Made,
    /// Discarded: text was deleted, or the conversation continued.
    Void,
}

/// Content of a summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct SummaryContent {
    /// Title of a few words.
    pub title: String,
    /// Topics.
    pub topics: Vec<String>,
    /// Decisions.
    pub decisions: Vec<String>,
    /// Preferences of the person.
    pub preferences: Vec<String>,
    /// Open tasks.
    pub pending: Vec<String>,
}

/// A stored summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Row id.
    pub id: SummaryId,
    /// Conversation.
    pub conversation: ConversationId,
    /// Last message that it covers.
    pub last_message: MessageId,
    /// Texts that it is made from.
    pub view: SummaryInputs,
    /// State.
    pub state: SummaryState,
    /// Failed attempts.
    pub attempts: u32,
    /// Time before which it is not retried.
    pub retry_at: Timestamp,
    /// Content.
    pub content: Labelled<SummaryContent>,
    /// Model that wrote it.
    pub model: String,
}

from_row! {
    Summary from "summaries", "title, topics, decisions, preferences, pending, label, scope" {
        id, conversation: "conversation_id", last_message: "last_message_id", view, state, attempts, retry_at, model,
    }
    with |row| {
        content: Labelled::new(content(row)?, row.get("label")?, row.get("scope")?),
    }
}

fn content(row: &Row<'_>) -> rusqlite::Result<SummaryContent> {
    let list = |name: &str| -> rusqlite::Result<Vec<String>> {
        let stored: String = row.get(name)?;
        Ok(serde_json::from_str(&stored).unwrap_or_default())
    };
    Ok(SummaryContent {
        title: row.get("title")?,
        topics: list("topics")?,
        decisions: list("decisions")?,
        preferences: list("preferences")?,
        pending: list("pending")?,
    })
}

impl Summaries<'_> {
    /// Returns the newest summary of a conversation with content, for the given inputs.
    pub fn summary_of(&self, conversation: ConversationId, view: SummaryInputs) -> anyhow::Result<Option<Summary>> {
        self.db.row(
            "WHERE conversation_id = ?1 AND view = ?2
                 AND state IN ('standin', 'made')
                 ORDER BY last_message_id DESC LIMIT 1",
            params![conversation, view],
        )
    }

    /// Returns the summaries whose titles or text open a conversation: made from trusted texts, of
    /// the four conversations before it.
    pub fn summaries_before(&self, conversation: ConversationId) -> anyhow::Result<Vec<SummaryId>> {
        self.db.all(
            "SELECT s.id FROM summaries s WHERE s.view = 'trusted' AND s.state IN ('standin', 'made')
             AND s.conversation_id IN (
             SELECT b.id FROM conversations b JOIN conversations c ON c.id = ?1
             WHERE b.stream_id = c.stream_id AND b.id < c.id AND b.kind = 'chat' AND c.kind = 'chat' ORDER BY b.id DESC LIMIT 4)",
            [conversation],
        )
    }

    /// Returns true if that end of a conversation has a row.
    pub fn has_summary(&self, conversation: ConversationId, last: MessageId) -> anyhow::Result<bool> {
        self.db.one(
            "SELECT EXISTS (SELECT 1 FROM summaries WHERE conversation_id = ?1 AND last_message_id = ?2)",
            params![conversation, last],
        )
    }

    /// Returns the row of a wanted summary without content.
    pub fn wanted_row(
        &self,
        conversation: ConversationId,
        last: MessageId,
        view: SummaryInputs,
    ) -> anyhow::Result<Option<SummaryId>> {
        self.db.first(
            "SELECT id FROM summaries WHERE conversation_id = ?1 AND last_message_id = ?2 AND view = ?3
             AND state = 'wanted'",
            params![conversation, last, view],
        )
    }

    /// Returns a summary by id.
    pub fn summary(&self, id: SummaryId) -> anyhow::Result<Option<Summary>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns the next summary due at `now`. A retry more than `longest` ahead was set by a clock
    /// that was fast, and counts as due.
    pub fn due_summary(&self, now: Timestamp, longest: Duration) -> anyhow::Result<Option<Summary>> {
        self.db.row(
            "WHERE state IN ('wanted', 'standin') AND (retry_at <= ?1
                 OR retry_at > ?2 AND retry_at < ?3) ORDER BY retry_at, id LIMIT 1",
            [now, now.plus(longest), Timestamp::NEVER],
        )
    }

    /// Returns when the next summary may be made.
    pub fn next_summary_at(&self) -> anyhow::Result<Option<Timestamp>> {
        self.db.one("SELECT min(retry_at) FROM summaries WHERE state IN ('wanted', 'standin')", [])
    }
}

impl SummariesMut<'_> {
    /// Requests a summary. Repeating the request changes nothing. Voids wanted summaries of an
    /// earlier end, since the conversation continued.
    pub fn request_summary(
        &self,
        of: ConversationId,
        last: MessageId,
        view: SummaryInputs,
        label: &Label,
        scope: Scope,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE summaries SET state = 'void' WHERE conversation_id = ?1 AND last_message_id <> ?2
             AND state IN ('wanted', 'standin')",
            params![of, last],
        )?;
        self.db.run(
            "INSERT INTO summaries (conversation_id, last_message_id, view, state, retry_at, label, scope,
             wanted_at)
             VALUES (?1, ?2, ?3, 'wanted', ?6, ?4, ?5, ?6)
             ON CONFLICT (conversation_id, last_message_id, view) DO NOTHING",
            params![of, last, view, label, scope, now],
        )?;
        self.db.run("UPDATE conversations SET written_down = 1 WHERE id = ?1", [of])
    }

    /// Stores the content of a summary: a stand-in, or the final one.
    pub fn store_summary(
        &self,
        id: SummaryId,
        state: SummaryState,
        content: &Labelled<SummaryContent>,
        model: &str,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let (says, label, _) = content.open();
        self.db.run(
            "UPDATE summaries SET state = ?2, title = ?3, topics = ?4, decisions = ?5, preferences = ?6, pending =
             ?7,
             model = ?8, label = ?9, made_at = ?10 WHERE id = ?1 AND state <> 'made'",
            params![
                id,
                state,
                says.title,
                serde_json::to_string(&says.topics)?,
                serde_json::to_string(&says.decisions)?,
                serde_json::to_string(&says.preferences)?,
                serde_json::to_string(&says.pending)?,
                model,
                label,
                now,
            ],
        )
    }

    /// Has the summary of the next conversation made again, if it was made already: with other open
    /// items than it was given. Its content stays until then.
    pub fn repeat_next_summary(&self, of: ConversationId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE summaries SET state = 'standin', retry_at = ?2, attempts = 0
             WHERE view = 'trusted' AND state = 'made' AND conversation_id = (
             SELECT min(n.id) FROM conversations n JOIN conversations c ON c.id = ?1
             WHERE n.stream_id = c.stream_id AND n.id > c.id AND n.kind = 'chat')",
            params![of, now],
        )
    }

    /// Postpones a summary after a failed attempt.
    pub fn postpone_summary(&self, id: SummaryId, attempts: u32, retry_at: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE summaries SET attempts = ?2, retry_at = ?3 WHERE id = ?1", params![id, attempts, retry_at])
    }
}

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
    pub fn has_extracted_full_window(&self, conversation: ConversationId) -> anyhow::Result<bool> {
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
