//! Fact extraction: jobs and their answers.
//!
//! A job covers a conversation from its watermark up to one message. It is `wanted`, then `asked`
//! (the answer is stored), then `kept`, or `nothing` if the answer is empty. Each step is its own
//! commit, so an interrupted job resumes where it stopped. A job too long for one call is answered
//! in pieces: each piece has its own row, while the job stays wanted for the rest. Only the last
//! step of a piece moves the watermark. So everything below it is in the files, and everything
//! above it will be extracted.

use crate::store::handles::{Extractions, ExtractionsMut};
use crate::store::rows::{from_row, stored_word};
use std::time::Duration;

use rusqlite::types::FromSqlError;
use rusqlite::{Row, params};
use serde::de::DeserializeOwned;
use strum::{EnumString, IntoStaticStr};

use super::Node;
use crate::id::{ConversationId, ExtractionId, MessageId};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope};

/// Category of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// A preference of the person.
    Preference,
    /// A decision.
    Decision,
    /// A fact.
    Fact,
    /// Background for the rest.
    Context,
}

/// Range of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Layer {
    /// About the person: moves with the agent's profile.
    A,
    /// About this workspace.
    B,
}

/// An extracted fact.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fact {
    /// Subject in a few words. A later fact with the same key replaces this one.
    pub key: String,
    /// Content, one line.
    pub value: String,
    /// Category.
    pub category: Category,
    /// Range.
    pub layer: Layer,
    /// Messages and turns that state it.
    #[serde(with = "nodes")]
    pub sources: Vec<Node>,
}

/// A correction that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownCorrection {
    /// The error, one line.
    pub was: String,
    /// The correct version, one line.
    pub now: String,
    /// Number of times that it was made.
    pub count: u64,
    /// Day of the last time, `2026-11-21`; blank if unknown.
    pub day: String,
}

/// A correction by a person.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Correction {
    /// The error, one line.
    pub was: String,
    /// The correct version, one line.
    pub now: String,
    /// Messages and turns that state it.
    #[serde(with = "nodes")]
    pub sources: Vec<Node>,
}

/// Content of one answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExtractedItems {
    /// Facts.
    pub facts: Vec<Fact>,
    /// Corrections.
    pub corrections: Vec<Correction>,
}

/// Reason for an extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ExtractionCause {
    /// Enough turns were answered.
    Turns,
    /// The context window is nearly full.
    #[strum(serialize = "pressure")]
    NearlyFull,
    /// Turns are about to be summarised.
    Compaction,
    /// The conversation ended.
    Boundary,
}

/// State of an extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ExtractionState {
    /// Requested.
    Wanted,
    /// The answer is stored.
    Asked,
    /// The facts are in the files.
    Kept,
    /// There were no facts.
    Nothing,
    /// Abandoned after too many attempts.
    GivenUp,
}

stored_word!(ExtractionCause, ExtractionState);

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extraction {
    /// Row id.
    pub id: ExtractionId,
    /// Conversation.
    pub conversation: ConversationId,
    /// Last message that it covers.
    pub upto: MessageId,
    /// Reason.
    pub cause: ExtractionCause,
    /// State.
    pub state: ExtractionState,
    /// Failed attempts.
    pub attempts: u32,
    /// Answer; empty until there is one.
    pub taken: Labelled<ExtractedItems>,
    /// Time of the request.
    pub wanted_at: Timestamp,
}

impl Extraction {
    /// Returns true if work remains.
    pub fn is_open(&self) -> bool {
        matches!(self.state, ExtractionState::Wanted | ExtractionState::Asked)
    }
}

from_row! {
    Extraction from "extractions", "facts, corrections, label, scope" {
        id, conversation: "conversation_id", upto: "upto_message", cause, state, attempts, wanted_at,
    }
    with |row| {
        taken: Labelled::new(
            ExtractedItems { facts: json(row, "facts")?, corrections: json(row, "corrections")? },
            row.get("label")?,
            row.get("scope")?,
        ),
    }
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    Ok(serde_json::from_str(&row.get::<_, String>(column)?).map_err(FromSqlError::other)?)
}

impl Extractions<'_> {
    /// Returns a job by id.
    pub fn extraction(&self, id: ExtractionId) -> anyhow::Result<Option<Extraction>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns the next job due at `now`. A retry more than `longest` ahead was set by a clock that
    /// was fast, and counts as due.
    pub fn due_extraction(&self, now: Timestamp, longest: Duration) -> anyhow::Result<Option<Extraction>> {
        self.db.row(
            "WHERE state IN ('wanted', 'asked') AND (retry_at <= ?1
                 OR retry_at > ?2) ORDER BY retry_at, id LIMIT 1",
            [now, now.plus(longest)],
        )
    }

    /// Returns the next open job of a conversation up to that message.
    pub fn open_extraction(&self, conversation: ConversationId, upto: MessageId) -> anyhow::Result<Option<Extraction>> {
        self.db.row(
            "WHERE conversation_id = ?1 AND upto_message <= ?2
                 AND state IN ('wanted', 'asked')
                 ORDER BY state = 'wanted', upto_message LIMIT 1",
            params![conversation, upto],
        )
    }

    /// Returns when the next job may run.
    pub fn next_extraction_at(&self) -> anyhow::Result<Option<Timestamp>> {
        self.db.one("SELECT min(retry_at) FROM extractions WHERE state IN ('wanted', 'asked')", [])
    }

    /// Returns the last message of a conversation whose facts are in the files.
    pub fn extracted_upto(&self, conversation: ConversationId) -> anyhow::Result<MessageId> {
        self.db.one("SELECT extracted_upto FROM conversations WHERE id = ?1", [conversation])
    }

    /// Returns the first stored answer of a conversation that is not yet in the files.
    pub fn answered_extraction(&self, conversation: ConversationId) -> anyhow::Result<Option<ExtractionId>> {
        self.db.first(
            "SELECT id FROM extractions WHERE conversation_id = ?1 AND state = 'asked' ORDER BY upto_message LIMIT 1",
            [conversation],
        )
    }

    /// Returns the newest message before the first unanswered one; replies count too. An unanswered
    /// message may have text that is not yet stored, such as a voice note.
    pub fn newest_message(&self, conversation: ConversationId) -> anyhow::Result<Option<MessageId>> {
        self.db.one(
            "SELECT max(id) FROM messages WHERE conversation_id = ?1 AND id < coalesce(
             (SELECT min(id) FROM messages WHERE conversation_id = ?1
             AND state IN ('queued', 'claimed')), 9223372036854775807)",
            [conversation],
        )
    }

    /// Counts the answered turns of a conversation after the last one covered by a job.
    pub fn turns_since_extraction(&self, conversation: ConversationId) -> anyhow::Result<u32> {
        self.db.one(
            "SELECT count(DISTINCT m.turn_id) FROM messages m WHERE m.conversation_id = ?1 AND m.kind = 'reply'
             AND m.id > max(
             (SELECT extracted_upto FROM conversations WHERE id = ?1),
             coalesce((SELECT max(upto_message) FROM extractions WHERE conversation_id = ?1), 0))",
            [conversation],
        )
    }
}

impl ExtractionsMut<'_> {
    /// Requests extraction up to that message, unless it is done. Repeating the request changes
    /// nothing.
    pub fn request_extraction(
        &self,
        of: ConversationId,
        upto: MessageId,
        cause: ExtractionCause,
        label: &Label,
        scope: Scope,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        self.db.run(
            "INSERT INTO extractions (conversation_id, after_message, upto_message, cause, state, retry_at, label,
             scope, wanted_at)
             SELECT id, extracted_upto, ?2, ?3, 'wanted', ?6, ?4, ?5, ?6 FROM conversations WHERE id = ?1
             AND extracted_upto < ?2
             ON CONFLICT (conversation_id, upto_message) DO NOTHING",
            params![of, upto, cause, label, scope, now],
        )
    }

    /// Makes the jobs up to that message due at once, including abandoned ones.
    pub fn make_extractions_due(&self, of: ConversationId, upto: MessageId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE extractions SET retry_at = min(retry_at, ?3), state = replace(state, 'given_up', 'wanted')
             WHERE conversation_id = ?1 AND upto_message <= ?2 AND state IN ('wanted', 'asked', 'given_up')",
            params![of, upto, now],
        )
    }

    /// Stores an answer that covers a job up to that message; the job stays wanted for any rest.
    /// Returns the row of the answer.
    pub fn answer_extraction(
        &self,
        job: &Extraction,
        upto: MessageId,
        taken: &Labelled<ExtractedItems>,
        model: &str,
        now: Timestamp,
    ) -> anyhow::Result<ExtractionId> {
        let (says, label, scope) = taken.open();
        self.db.run(
            "INSERT INTO extractions (conversation_id, after_message, upto_message, cause, state, retry_at, facts,
             corrections, model,
             label, scope, wanted_at)
             SELECT ?1, extracted_upto, ?2, ?3, 'asked', ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM conversations
             WHERE id = ?1
             ON CONFLICT (conversation_id, upto_message) DO UPDATE
             SET state = 'asked', after_message = excluded.after_message,
             retry_at = excluded.retry_at, attempts = 0, facts = excluded.facts, corrections =
             excluded.corrections,
             model = excluded.model, label = excluded.label",
            params![
                job.conversation,
                upto,
                job.cause,
                now,
                serde_json::to_string(&says.facts)?,
                serde_json::to_string(&says.corrections)?,
                model,
                label,
                scope,
                job.wanted_at,
            ],
        )?;
        let id = self.db.one(
            "SELECT id FROM extractions WHERE conversation_id = ?1 AND upto_message = ?2",
            params![job.conversation, upto],
        )?;
        let facts = says.facts.iter().flat_map(|fact| &fact.sources);
        let corrections = says.corrections.iter().flat_map(|correction| &correction.sources);
        facts
            .chain(corrections)
            .try_for_each(|source| self.tx().derivations().derive(Node::Extraction(id), *source))?;
        Ok(id)
    }

    /// Moves the watermark once the facts of a job are in the files. Does nothing if text was
    /// deleted meanwhile, which makes the answer void.
    pub fn finish_extraction(&self, id: ExtractionId, now: Timestamp) -> anyhow::Result<()> {
        let kept = self.db.execute(
            "UPDATE extractions SET ended_at = ?2, state = CASE WHEN facts = '[]'
             AND corrections = '[]' THEN 'nothing' ELSE 'kept' END
             WHERE id = ?1 AND state = 'asked'",
            params![id, now],
        )?;
        if kept == 0 {
            return Ok(());
        }
        self.db.run(
            "UPDATE conversations SET extracted_upto = max(extracted_upto, (SELECT upto_message FROM extractions
             WHERE id = ?1))
             WHERE id = (SELECT conversation_id FROM extractions WHERE id = ?1)",
            [id],
        )
    }

    /// Ends a job without an answer, as `nothing` or `given_up`. The watermark stays, so the next
    /// job covers the same messages.
    pub fn end_extraction(&self, id: ExtractionId, state: ExtractionState, now: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE extractions SET state = ?2, ended_at = ?3 WHERE id = ?1", params![id, state, now])
    }

    /// Postpones a job after a failed attempt.
    pub fn postpone_extraction(&self, id: ExtractionId, attempts: u32, retry_at: Timestamp) -> anyhow::Result<()> {
        self.db
            .run("UPDATE extractions SET attempts = ?2, retry_at = ?3 WHERE id = ?1", params![id, attempts, retry_at])
    }

    /// Fails if one of these nodes is a void answer, made before text of its conversation was
    /// deleted. Nothing may be derived from it.
    ///
    /// # Errors
    /// If one is void.
    pub fn ensure_answers_count(&self, nodes: &[Node]) -> anyhow::Result<()> {
        for node in nodes {
            let Node::Extraction(id) = node else { continue };
            let is_void = self
                .extraction(*id)?
                .is_some_and(|job| matches!(job.state, ExtractionState::Wanted | ExtractionState::GivenUp));
            anyhow::ensure!(!is_void, "Words went that answer {id} was made of");
        }
        Ok(())
    }

    /// Voids answers that are not yet in the files after text of their conversation was deleted:
    /// they may contain it. The job is asked again.
    pub(super) fn answers_void(&self, of: ConversationId) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE extractions SET state = 'wanted', facts = '[]', corrections = '[]' WHERE conversation_id = ?1
             AND state = 'asked'",
            [of],
        )
    }
}

/// Serializes nodes as a JSON list of their stored forms.
mod nodes {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::store::Node;

    pub(super) fn serialize<S: Serializer>(nodes: &[Node], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(nodes.iter().map(ToString::to_string))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Node>, D::Error> {
        let words = Vec::<String>::deserialize(from)?;
        Ok(words.iter().filter_map(|word| Node::parse(word)).collect())
    }
}
