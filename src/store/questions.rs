//! Questions put to a person before a tainted turn sends something out, and what became of each.
//!
//! `open` → `yes`, `refused` or `expired`, once. An open question whose time is over counts as over
//! whether or not that is stored yet. Its time runs from when it was delivered, or given up: what
//! nobody was shown does not expire. The turn that a yes began is named in its row: what that turn
//! may do is read from here, so it outlives a crash and covers no other turn.

use crate::store::handles::{Questions, QuestionsMut};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{OptionalExtension, Row, params};

use crate::id::{AddressId, ConversationId, MessageId, OutboxId, PersonId, QuestionId, StepId, StreamId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Labelled, Scope, Text};

/// What a yes allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Covers {
    /// The address with that digest, for one turn.
    Address(String),
    /// The one call that was shown, once.
    Call,
}

impl Covers {
    /// The stored form: `address:` with a digest, `call`.
    pub fn encode(&self) -> String {
        match self {
            Self::Address(digest) => format!("address:{digest}"),
            Self::Call => "call".to_owned(),
        }
    }

    /// Reads the stored form back. What is not understood allows the least.
    pub fn decode(stored: &str) -> Self {
        stored.strip_prefix("address:").map_or(Self::Call, |digest| Self::Address(digest.to_owned()))
    }
}

/// How a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionState {
    /// Nobody has answered.
    Open,
    /// They said yes.
    Yes,
    /// They said no, or something else.
    Refused,
    /// They said nothing in time.
    Expired,
}

impl QuestionState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Yes => "yes",
            Self::Refused => "refused",
            Self::Expired => "expired",
        }
    }

    fn parse(word: &str) -> Self {
        match word {
            "open" => Self::Open,
            "yes" => Self::Yes,
            "expired" => Self::Expired,
            _ => Self::Refused,
        }
    }
}

/// A question to be put.
#[derive(Debug, Clone)]
pub struct NewQuestion<'a> {
    /// In which stream.
    pub stream: StreamId,
    /// In which conversation.
    pub conversation: ConversationId,
    /// The turn that ends with it.
    pub turn: TurnId,
    /// The call that is not made.
    pub step: StepId,
    /// Who may answer.
    pub person: PersonId,
    /// Where it is put.
    pub address: AddressId,
    /// The call as JSON, with the label of its words.
    pub call: &'a Text,
    /// What a yes allows.
    pub covers: &'a Covers,
    /// Of the tool's name and the arguments.
    pub digest: &'a str,
    /// Now.
    pub at: Timestamp,
    /// It means no when that long has passed since it was delivered.
    pub waits: Duration,
}

/// A stored question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionRow {
    /// Its row.
    pub id: QuestionId,
    /// In which stream.
    pub stream: StreamId,
    /// In which conversation.
    pub conversation: ConversationId,
    /// The turn that ended with it.
    pub turn: TurnId,
    /// Who may answer.
    pub person: PersonId,
    /// The call as JSON.
    pub call: Text,
    /// What a yes allows.
    pub covers: Covers,
    /// Of the tool's name and the arguments.
    pub digest: String,
    /// How it stands.
    pub state: QuestionState,
    /// It means no from then on; `None` while it is on its way.
    pub expires_at: Option<Timestamp>,
}

impl QuestionRow {
    /// Whether a yes still counts.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.state == QuestionState::Open && self.expires_at.is_none_or(|end| now < end)
    }
}

/// Each question with the delivery of its words, which are the reply of the turn that it ended.
const ASKED: &str = "questions q LEFT JOIN messages m ON m.turn_id = q.turn_id AND m.kind = 'reply'
     LEFT JOIN outbox o ON o.message_id = m.id";
/// When a question means no: stored is the time as it would be had it been delivered at once.
const EXPIRES: &str = "CASE WHEN o.id IS NULL THEN q.expires_at ELSE q.expires_at - q.asked_at + o.ended_at END";

fn question(row: &Row<'_>) -> rusqlite::Result<QuestionRow> {
    let (call, scope): (Arc<str>, Scope) = (row.get(5)?, row.get(7)?);
    let (covers, state): (String, String) = (row.get(8)?, row.get(10)?);
    Ok(QuestionRow {
        id: row.get(0)?,
        stream: row.get(1)?,
        conversation: row.get(2)?,
        turn: row.get(3)?,
        person: row.get(4)?,
        call: Labelled::new(call, row.get(6)?, scope),
        covers: Covers::decode(&covers),
        digest: row.get(9)?,
        state: QuestionState::parse(&state),
        expires_at: row.get(11)?,
    })
}

impl Questions<'_> {
    /// The question of that id.
    pub fn question(&self, id: QuestionId) -> anyhow::Result<Option<QuestionRow>> {
        self.question_where("q.id = ?1", id)
    }

    /// The question that this turn was begun by a yes to.
    pub fn question_before(&self, turn: TurnId) -> anyhow::Result<Option<QuestionRow>> {
        self.question_where("q.continued_by = ?1", turn)
    }

    /// When the first open question of a stream means no, of those that were delivered.
    pub fn next_expiry(&self, stream: StreamId) -> anyhow::Result<Option<Timestamp>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT min({EXPIRES}) FROM {ASKED} WHERE q.stream_id = ?1 AND q.state = 'open'"
        ))?;
        Ok(query.query_row([stream], |row| row.get(0))?)
    }

    /// The stream of the open question that was delivered with that.
    pub fn asked_with(&self, delivery: OutboxId) -> anyhow::Result<Option<StreamId>> {
        let mut query = self.db.prepare_cached(
            "SELECT q.stream_id FROM outbox o JOIN messages m ON m.id = o.message_id
             JOIN questions q ON q.stream_id = m.stream_id AND q.turn_id = m.turn_id AND q.state = 'open' WHERE o.id = ?1",
        )?;
        Ok(query.query_row([delivery], |row| row.get(0)).optional()?)
    }

    /// The first message that belongs to a turn: one that it answers, or its own.
    pub fn first_message_of(&self, turn: TurnId) -> anyhow::Result<Option<MessageId>> {
        let mut query = self.db.prepare_cached("SELECT min(id) FROM messages WHERE turn_id = ?1")?;
        Ok(query.query_row([turn], |row| row.get(0))?)
    }

    fn question_where(&self, which: &str, id: impl rusqlite::ToSql) -> anyhow::Result<Option<QuestionRow>> {
        let sql = format!(
            "SELECT q.id, q.stream_id, q.conversation_id, q.turn_id, q.person_id, q.call, q.label, q.scope, q.covers, q.digest, q.state,
                 {EXPIRES} FROM {ASKED} WHERE {which}"
        );
        Ok(self.db.prepare_cached(&sql)?.query_row([id], question).optional()?)
    }
}

impl QuestionsMut<'_> {
    /// A question is put.
    pub fn ask(&self, new: &NewQuestion<'_>) -> anyhow::Result<QuestionId> {
        let (call, label, scope) = new.call.open();
        self.db
            .prepare_cached(
                "INSERT INTO questions (stream_id, conversation_id, turn_id, step_id, person_id, address_id, call, covers, digest,
                     state, asked_at, expires_at, label, scope)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'open', ?10, ?11, ?12, ?13)",
            )?
            .execute(params![
                new.stream,
                new.conversation,
                new.turn,
                new.step,
                new.person,
                new.address,
                &**call,
                new.covers.encode(),
                new.digest,
                new.at,
                new.at.plus(new.waits),
                label,
                scope,
            ])?;
        Ok(QuestionId(self.db.last_insert_rowid()))
    }

    /// An open question is over; with a yes there is a turn that goes on.
    ///
    /// # Errors
    /// If it was over before, or the journal cannot be written.
    pub fn decide(
        &self,
        id: QuestionId,
        state: QuestionState,
        by: Option<TurnId>,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let decided = self
            .db
            .prepare_cached(
                "UPDATE questions SET state = ?2, continued_by = ?3, decided_at = ?4 WHERE id = ?1 AND state = 'open'",
            )?
            .execute(params![id, state.as_str(), by, now])?;
        anyhow::ensure!(decided == 1, "Question {id} was decided twice");
        Ok(())
    }

    /// Whatever is open in a stream is refused; what had no time left has expired before.
    pub fn refuse_questions(&self, stream: StreamId, now: Timestamp) -> anyhow::Result<()> {
        self.expire_questions(stream, now)?;
        self.db
            .prepare_cached(
                "UPDATE questions SET state = 'refused', decided_at = ?2 WHERE stream_id = ?1 AND state = 'open'",
            )?
            .execute(params![stream, now])?;
        Ok(())
    }

    /// The questions of a stream that have no time left are over.
    pub fn expire_questions(&self, stream: StreamId, now: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached(&format!(
                "UPDATE questions SET state = 'expired', decided_at = ?2 WHERE id IN
                 (SELECT q.id FROM {ASKED} WHERE q.stream_id = ?1 AND q.state = 'open' AND {EXPIRES} <= ?2)"
            ))?
            .execute(params![stream, now])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_understood_allows_the_least() {
        for covers in [Covers::Address("0f3a".to_owned()), Covers::Call] {
            assert_eq!(Covers::decode(&covers.encode()), covers);
        }
        for stored in ["everything", "host:example.org"] {
            assert_eq!(Covers::decode(stored), Covers::Call);
        }
    }
}
