//! What was taken down from conversations: jobs, and the answers to them.
//!
//! A job covers what stands between the watermark of its conversation and one message. It is
//! `wanted`, then `asked` (the answer is stored), then `kept` or, if there was nothing, `nothing`;
//! each step is a commit of its own, so whatever is cut off goes on where it stood. A job that is
//! too long for one call is answered piece by piece: each piece is a row of its own beside the job,
//! which stays wanted for the rest. The watermark moves with the last step of a piece and with
//! nothing else; so what is below it is in the files, and what is above it will be asked for.

use crate::store::handles::{Extractions, ExtractionsMut};
use std::time::Duration;

use rusqlite::{OptionalExtension, Row, params};

use super::Node;
use crate::id::{ConversationId, ExtractionId, MessageId};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope};

/// What kind of thing a fact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// What somebody likes, or wants done in a certain way.
    Preference,
    /// What was decided.
    Decision,
    /// What is so.
    Fact,
    /// What explains the rest.
    Context,
}

/// How far a fact travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Layer {
    /// About the person: with the agent's profile, wherever that goes.
    A,
    /// About this workspace.
    B,
}

/// A fact that was taken down.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fact {
    /// What it is about, in a few words. A later fact of the same key takes its place.
    pub key: String,
    /// What is so, in one line.
    pub value: String,
    /// Its kind.
    pub category: Category,
    /// How far it travels.
    pub layer: Layer,
    /// The messages and turns in which it was said.
    #[serde(with = "nodes")]
    pub sources: Vec<Node>,
}

/// Something that a person put right.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Correction {
    /// What was wrong, in one line.
    pub was: String,
    /// What is right, in one line.
    pub now: String,
    /// The messages and turns in which it was said.
    #[serde(with = "nodes")]
    pub sources: Vec<Node>,
}

/// What one answer holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// What is worth keeping.
    pub facts: Vec<Fact>,
    /// What was put right.
    pub corrections: Vec<Correction>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extraction {
    /// Its row.
    pub id: ExtractionId,
    /// Of what.
    pub conversation: ConversationId,
    /// Up to which message.
    pub upto: MessageId,
    /// `turns`, `pressure`, `compaction`, `boundary`.
    pub cause: String,
    /// `wanted`, `asked`, `kept`, `nothing`, `given_up`.
    pub state: String,
    /// Failed tries.
    pub attempts: u32,
    /// The answer, once there is one.
    pub taken: Labelled<Taken>,
    /// When it was asked for.
    pub wanted_at: Timestamp,
}

impl Extraction {
    /// Whether something is left to do.
    pub fn is_open(&self) -> bool {
        self.state == "wanted" || self.state == "asked"
    }
}

const COLUMNS: &str =
    "id, conversation_id, upto_message, cause, state, attempts, facts, corrections, label, scope, wanted_at";

fn extraction(row: &Row<'_>) -> rusqlite::Result<Extraction> {
    let (facts, corrections): (String, String) = (row.get(6)?, row.get(7)?);
    let broken = |at: usize| {
        move |error| rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, Box::new(error))
    };
    let taken = Taken {
        facts: serde_json::from_str(&facts).map_err(broken(6))?,
        corrections: serde_json::from_str(&corrections).map_err(broken(7))?,
    };
    Ok(Extraction {
        id: row.get(0)?,
        conversation: row.get(1)?,
        upto: row.get(2)?,
        cause: row.get(3)?,
        state: row.get(4)?,
        attempts: row.get(5)?,
        taken: Labelled::new(taken, row.get(8)?, row.get(9)?),
        wanted_at: row.get(10)?,
    })
}

impl Extractions<'_> {
    /// The job of that id.
    pub fn extraction(&self, id: ExtractionId) -> anyhow::Result<Option<Extraction>> {
        let mut query = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM extractions WHERE id = ?1"))?;
        Ok(query.query_row([id], extraction).optional()?)
    }

    /// The job that is to be done next, and may be done at `now`. What waits for more than
    /// `longest` from now was put off by a clock that was ahead.
    pub fn due_extraction(&self, now: Timestamp, longest: Duration) -> anyhow::Result<Option<Extraction>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM extractions WHERE state IN ('wanted', 'asked') AND (retry_at <= ?1 OR retry_at > ?2) ORDER BY retry_at, id LIMIT 1"
        ))?;
        Ok(query.query_row([now, now.plus(longest)], extraction).optional()?)
    }

    /// The open job of a conversation that is to be done first, up to that message.
    pub fn open_extraction(&self, conversation: ConversationId, upto: MessageId) -> anyhow::Result<Option<Extraction>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM extractions WHERE conversation_id = ?1 AND upto_message <= ?2 AND state IN ('wanted', 'asked')
             ORDER BY state = 'wanted', upto_message LIMIT 1"
        ))?;
        Ok(query.query_row(params![conversation, upto], extraction).optional()?)
    }

    /// When the next job may be done.
    pub fn next_extraction_at(&self) -> anyhow::Result<Option<Timestamp>> {
        let mut query =
            self.db.prepare_cached("SELECT min(retry_at) FROM extractions WHERE state IN ('wanted', 'asked')")?;
        Ok(query.query_row([], |row| row.get(0))?)
    }

    /// The last message of a conversation whose facts are in the files.
    pub fn extracted_upto(&self, conversation: ConversationId) -> anyhow::Result<MessageId> {
        let mut query = self.db.prepare_cached("SELECT extracted_upto FROM conversations WHERE id = ?1")?;
        Ok(query.query_row([conversation], |row| row.get(0))?)
    }

    /// The first answer of a conversation that is stored and not kept yet.
    pub fn answered_extraction(&self, conversation: ConversationId) -> anyhow::Result<Option<ExtractionId>> {
        let mut query = self.db.prepare_cached(
            "SELECT id FROM extractions WHERE conversation_id = ?1 AND state = 'asked' ORDER BY upto_message LIMIT 1",
        )?;
        Ok(query.query_row([conversation], |row| row.get(0)).optional()?)
    }

    /// The newest message of a conversation before the first one that still waits for its answer;
    /// an answer counts too. What waits may hold words that are not written down yet, as a voice
    /// note does.
    pub fn newest_message(&self, conversation: ConversationId) -> anyhow::Result<Option<MessageId>> {
        let mut query = self.db.prepare_cached(
            "SELECT max(id) FROM messages WHERE conversation_id = ?1 AND id < coalesce(
                 (SELECT min(id) FROM messages WHERE conversation_id = ?1 AND state IN ('queued', 'claimed')), 9223372036854775807)",
        )?;
        Ok(query.query_row([conversation], |row| row.get(0))?)
    }

    /// How many turns of a conversation were answered since the last of them that any job covers.
    pub fn turns_since_extraction(&self, conversation: ConversationId) -> anyhow::Result<u32> {
        let mut query = self.db.prepare_cached(
            "SELECT count(DISTINCT m.turn_id) FROM messages m WHERE m.conversation_id = ?1 AND m.kind = 'reply' AND m.id > max(
                 (SELECT extracted_upto FROM conversations WHERE id = ?1),
                 coalesce((SELECT max(upto_message) FROM extractions WHERE conversation_id = ?1), 0))",
        )?;
        Ok(query.query_row([conversation], |row| row.get(0))?)
    }
}

impl ExtractionsMut<'_> {
    /// What stands in a conversation up to that message is to be taken down, unless it was. Wanting
    /// it again changes nothing.
    pub fn want_extraction(
        &self,
        of: ConversationId,
        upto: MessageId,
        cause: &str,
        label: &Label,
        scope: Scope,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "INSERT INTO extractions (conversation_id, after_message, upto_message, cause, state, retry_at, label, scope, wanted_at)
                 SELECT id, extracted_upto, ?2, ?3, 'wanted', ?6, ?4, ?5, ?6 FROM conversations WHERE id = ?1 AND extracted_upto < ?2
                 ON CONFLICT (conversation_id, upto_message) DO NOTHING",
            )?
            .execute(params![of, upto, cause, label, scope, now])?;
        Ok(())
    }

    /// Somebody waits for what is not taken down of a conversation up to that message: it may be
    /// tried at once, also what was given up.
    pub fn hurry_extractions(&self, of: ConversationId, upto: MessageId, now: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "UPDATE extractions SET retry_at = min(retry_at, ?3), state = replace(state, 'given_up', 'wanted')
                 WHERE conversation_id = ?1 AND upto_message <= ?2 AND state IN ('wanted', 'asked', 'given_up')",
            )?
            .execute(params![of, upto, now])?;
        Ok(())
    }

    /// There is an answer to a job, at least up to that message; if that is not all of it, the job
    /// stays wanted for the rest. Gives the row of the answer.
    pub fn answer_extraction(
        &self,
        job: &Extraction,
        upto: MessageId,
        taken: &Labelled<Taken>,
        model: &str,
        now: Timestamp,
    ) -> anyhow::Result<ExtractionId> {
        let (says, label, scope) = taken.open();
        self.db
            .prepare_cached(
                "INSERT INTO extractions (conversation_id, after_message, upto_message, cause, state, retry_at, facts, corrections, model,
                     label, scope, wanted_at)
                 SELECT ?1, extracted_upto, ?2, ?3, 'asked', ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM conversations WHERE id = ?1
                 ON CONFLICT (conversation_id, upto_message) DO UPDATE SET state = 'asked', after_message = excluded.after_message,
                     retry_at = excluded.retry_at, attempts = 0, facts = excluded.facts, corrections = excluded.corrections,
                     model = excluded.model, label = excluded.label",
            )?
            .execute(params![
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
            ])?;
        let mut query =
            self.db.prepare_cached("SELECT id FROM extractions WHERE conversation_id = ?1 AND upto_message = ?2")?;
        let id = query.query_row(params![job.conversation, upto], |row| row.get(0))?;
        let facts = says.facts.iter().flat_map(|fact| &fact.sources);
        let corrections = says.corrections.iter().flat_map(|correction| &correction.sources);
        facts
            .chain(corrections)
            .try_for_each(|source| self.tx().derivations().derive(Node::Extraction(id), *source))?;
        Ok(id)
    }

    /// What a job covers is in the files, if there was anything: the watermark moves. Nothing moves
    /// if words went meanwhile, so that the answer counts no more.
    pub fn extraction_kept(&self, id: ExtractionId, now: Timestamp) -> anyhow::Result<()> {
        let kept = self.db
            .prepare_cached(
                "UPDATE extractions SET ended_at = ?2, state = CASE WHEN facts = '[]' AND corrections = '[]' THEN 'nothing' ELSE 'kept' END
                 WHERE id = ?1 AND state = 'asked'",
            )?
            .execute(params![id, now])?;
        if kept == 0 {
            return Ok(());
        }
        self.db
            .prepare_cached(
                "UPDATE conversations SET extracted_upto = max(extracted_upto, (SELECT upto_message FROM extractions WHERE id = ?1))
                 WHERE id = (SELECT conversation_id FROM extractions WHERE id = ?1)",
            )?
            .execute([id])?;
        Ok(())
    }

    /// A job is over without an answer, as `nothing` or `given_up`: the watermark stays, so the
    /// next job reads what this one did not.
    pub fn end_extraction(&self, id: ExtractionId, state: &'static str, now: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE extractions SET state = ?2, ended_at = ?3 WHERE id = ?1")?
            .execute(params![id, state, now])?;
        Ok(())
    }

    /// A job could not be done now.
    pub fn postpone_extraction(&self, id: ExtractionId, attempts: u32, retry_at: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE extractions SET attempts = ?2, retry_at = ?3 WHERE id = ?1")?
            .execute(params![id, attempts, retry_at])?;
        Ok(())
    }

    /// Fails if one of these is an answer that counts no more, because words of its conversation
    /// went: nothing may be made of it.
    ///
    /// # Errors
    /// In that case, and if the journal cannot be read.
    pub fn ensure_answers_count(&self, nodes: &[Node]) -> anyhow::Result<()> {
        for node in nodes {
            let Node::Extraction(id) = node else { continue };
            let is_void = self.extraction(*id)?.is_some_and(|job| job.state == "wanted" || job.state == "given_up");
            anyhow::ensure!(!is_void, "Words went that answer {id} was made of");
        }
        Ok(())
    }

    /// Words of a conversation went: an answer that is not in the files yet may hold them, and is
    /// asked for anew.
    pub(super) fn answers_void(&self, of: ConversationId) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "UPDATE extractions SET state = 'wanted', facts = '[]', corrections = '[]' WHERE conversation_id = ?1 AND state = 'asked'",
            )?
            .execute([of])?;
        Ok(())
    }
}

/// Nodes in JSON, each as its word.
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
