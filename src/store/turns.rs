//! Turns and their steps. A step is `started` before anything is asked of the outside, and `done`
//! before the next one.

use crate::store::handles::{Turns, TurnsMut};
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, params};

use crate::id::{AddressId, ConversationId, PersonId, StepId, StreamId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

/// A turn to be begun.
#[derive(Debug, Clone)]
pub struct NewTurn<'a> {
    /// Its stream.
    pub stream: StreamId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// For whom it runs.
    pub person: Option<PersonId>,
    /// Where the answer goes.
    pub address: AddressId,
    /// Whose it is.
    pub scope: Scope,
    /// Now.
    pub at: Timestamp,
    /// The dynamic block, blank when it is the same as the last copy.
    pub context: &'a Text,
    /// What came to mind at the beginning of the conversation; trusted as the block is, or blank.
    pub recalled: &'a Text,
    /// The join of all that it has read so far.
    pub label: &'a Label,
}

/// A stored turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRow {
    /// Its row.
    pub id: TurnId,
    /// Its stream.
    pub stream: StreamId,
    /// Its conversation.
    pub conversation: ConversationId,
    /// For whom it runs.
    pub person: Option<PersonId>,
    /// Where the answer goes.
    pub address: AddressId,
    /// Whose it is.
    pub scope: Scope,
    /// `running`, `waiting`, `done`, `stopped`, `gave_up`.
    pub state: String,
    /// Began.
    pub claimed_at: Timestamp,
    /// The dynamic block.
    pub context: Text,
    /// What came to mind at the beginning of the conversation, shown once.
    pub recalled: Text,
    /// How many tokens its last model call took, as the provider counted; zero if none was made.
    pub counted: u64,
    /// The join of all that it has read so far.
    pub label: Label,
    /// Failed tries of its current model call.
    pub attempts: u32,
    /// When to try again.
    pub retry_at: Option<Timestamp>,
    /// Whether the person was told that the model is down.
    pub noticed: bool,
    /// How often it was taken up again after it had been cut off.
    pub lives: u32,
}

impl TurnRow {
    /// Whether it is neither answered nor given up.
    pub fn is_open(&self) -> bool {
        matches!(self.state.as_str(), "running" | "waiting")
    }
}

const COLUMNS: &str =
    "id, stream_id, conversation_id, person_id, address_id, scope, state, claimed_at, context, context_label,
    label, attempts, retry_at, noticed, recalled, counted, lives";

fn turn(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
    let scope: Scope = row.get(5)?;
    let context: Arc<str> = row.get(8)?;
    let (recalled, counted): (Arc<str>, i64) = (row.get(14)?, row.get(15)?);
    Ok(TurnRow {
        id: row.get(0)?,
        stream: row.get(1)?,
        conversation: row.get(2)?,
        person: row.get(3)?,
        address: row.get(4)?,
        scope,
        state: row.get(6)?,
        claimed_at: row.get(7)?,
        context: Labelled::new(context, row.get(9)?, scope),
        label: row.get(10)?,
        attempts: row.get(11)?,
        retry_at: row.get(12)?,
        noticed: row.get(13)?,
        recalled: Labelled::new(recalled, row.get(9)?, scope),
        counted: u64::try_from(counted).unwrap_or(0),
        lives: row.get(16)?,
    })
}

/// A step to be begun.
#[derive(Debug, Clone)]
pub struct NewStep<'a> {
    /// Its turn.
    pub turn: TurnId,
    /// Order within the turn.
    pub seq: u32,
    /// `model` or `tool`.
    pub kind: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// The tool call as JSON.
    pub call: &'a str,
    /// Where what is asked came from.
    pub label: &'a Label,
    /// Whose it is.
    pub scope: Scope,
    /// Now.
    pub at: Timestamp,
}

/// A stored step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRow {
    /// Its row.
    pub id: StepId,
    /// Its turn.
    pub turn: TurnId,
    /// Order within the turn.
    pub seq: u32,
    /// `model` or `tool`.
    pub kind: String,
    /// Whether it was finished.
    pub done: bool,
    /// The tool's name.
    pub tool: String,
    /// JSON: of one tool call, or of all the reply's calls for a model step.
    pub call: String,
    /// What the model said, or what the tool gave.
    pub text: Text,
}

fn step(row: &Row<'_>) -> rusqlite::Result<StepRow> {
    let state: String = row.get(4)?;
    let text: Arc<str> = row.get(7)?;
    Ok(StepRow {
        id: row.get(0)?,
        turn: row.get(1)?,
        seq: row.get(2)?,
        kind: row.get(3)?,
        done: state == "done",
        tool: row.get(5)?,
        call: row.get(6)?,
        text: Labelled::new(text, row.get(8)?, row.get(9)?),
    })
}

impl Turns<'_> {
    /// The turn of a stream that is not over.
    pub fn open_turn(&self, stream: StreamId) -> anyhow::Result<Option<TurnRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM turns WHERE stream_id = ?1 AND state IN ('running', 'waiting') ORDER BY id LIMIT 1"
        ))?;
        Ok(query.query_row([stream], turn).optional()?)
    }

    /// The turns of a conversation that are over, in order.
    pub fn past_turns(&self, conversation: ConversationId) -> anyhow::Result<Vec<TurnRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM turns WHERE conversation_id = ?1 AND state NOT IN ('running', 'waiting') ORDER BY id"
        ))?;
        Ok(query.query_map([conversation], turn)?.collect::<Result<_, _>>()?)
    }

    /// The newest turn of a conversation that is over.
    pub fn last_past_turn(&self, conversation: ConversationId) -> anyhow::Result<Option<TurnId>> {
        let mut query = self.db.prepare_cached(
            "SELECT max(id) FROM turns WHERE conversation_id = ?1 AND state NOT IN ('running', 'waiting')",
        )?;
        Ok(query.query_row([conversation], |row| row.get(0))?)
    }

    /// The turn of that id.
    pub fn turn(&self, id: TurnId) -> anyhow::Result<Option<TurnRow>> {
        let mut query = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM turns WHERE id = ?1"))?;
        Ok(query.query_row([id], turn).optional()?)
    }

    /// The steps of a turn, in order.
    pub fn steps(&self, id: TurnId) -> anyhow::Result<Vec<StepRow>> {
        let mut query = self.db.prepare_cached(
            "SELECT id, turn_id, seq, kind, state, tool, call, text, label, scope FROM steps WHERE turn_id = ?1 ORDER BY seq",
        )?;
        Ok(query.query_map([id], step)?.collect::<Result<_, _>>()?)
    }
}

impl TurnsMut<'_> {
    /// Begins a turn.
    pub fn begin_turn(&self, new: &NewTurn<'_>) -> anyhow::Result<TurnId> {
        let (context, context_label, _) = new.context.open();
        let (recalled, recalled_label, _) = new.recalled.open();
        self.db
            .prepare_cached(
                "INSERT INTO turns (stream_id, conversation_id, person_id, address_id, scope, state, claimed_at, context,
                     context_label, label, recalled)
                 VALUES (?1, ?2, ?3, ?4, ?5, 'running', ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                new.stream,
                new.conversation,
                new.person,
                new.address,
                new.scope,
                new.at,
                &**context,
                context_label.join_with(recalled_label),
                new.label,
                &**recalled,
            ])?;
        Ok(TurnId(self.db.last_insert_rowid()))
    }

    /// The last model call of a turn took so many tokens.
    pub fn count_turn(&self, id: TurnId, tokens: u64) -> anyhow::Result<()> {
        let tokens = i64::try_from(tokens).unwrap_or(i64::MAX);
        self.db.prepare_cached("UPDATE turns SET counted = ?2 WHERE id = ?1")?.execute(params![id, tokens])?;
        Ok(())
    }

    /// A step begins: from now on it may have happened.
    pub fn begin_step(&self, new: &NewStep<'_>) -> anyhow::Result<StepId> {
        let call = if self.db.redaction().is_without_words(new.turn)? { "" } else { new.call };
        self.db
            .prepare_cached(
                "INSERT INTO steps (turn_id, seq, kind, state, tool, call, label, scope, started_at)
                 VALUES (?1, ?2, ?3, 'started', ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (turn_id, seq) DO UPDATE SET started_at = ?8",
            )?
            .execute(params![new.turn, new.seq, new.kind, new.tool, call, new.label, new.scope, new.at])?;
        let mut query = self.db.prepare_cached("SELECT id FROM steps WHERE turn_id = ?1 AND seq = ?2")?;
        Ok(query.query_row(params![new.turn, new.seq], |row| row.get(0))?)
    }

    /// A step is over, with what it gave. The turn's label takes the result's in. A turn that is
    /// over stays so; one whose messages are gone keeps nothing of what they led to.
    pub fn finish_step(
        &self,
        id: StepId,
        text: &Text,
        calls: Option<&str>,
        model: &str,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let turn =
            self.db.prepare_cached("SELECT turn_id FROM steps WHERE id = ?1")?.query_row([id], |row| row.get(0))?;
        if self.db.redaction().is_without_words(turn)? {
            return Ok(());
        }
        let (words, label, _) = text.open();
        self.db
            .prepare_cached(
                "UPDATE steps SET state = 'done', text = ?2, call = coalesce(?3, call), model = ?4, label = ?5, ended_at = ?6
                 WHERE id = ?1",
            )?
            .execute(params![id, &**words, calls, model, label, now])?;
        // The text of a last reply stands with its message.
        if calls != Some("[]") {
            self.tx().fingerprints().fingerprint_step(id, words, label)?;
        }
        let (turn, so_far): (TurnId, Label) = self
            .db
            .prepare_cached("SELECT t.id, t.label FROM turns t JOIN steps s ON s.turn_id = t.id WHERE s.id = ?1")?
            .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.db
            .prepare_cached(
                "UPDATE turns SET label = ?2, attempts = 0, retry_at = NULL,
                     state = CASE state WHEN 'waiting' THEN 'running' ELSE state END WHERE id = ?1",
            )?
            .execute(params![turn, so_far.join_with(label)])?;
        Ok(())
    }

    /// A tool call gave an error, or was refused.
    pub fn step_failed(&self, id: StepId) -> anyhow::Result<()> {
        self.db.prepare_cached("UPDATE steps SET failed = 1 WHERE id = ?1")?.execute([id])?;
        Ok(())
    }

    /// A turn ends.
    pub fn end_turn(&self, id: TurnId, state: &str, reason: &str, now: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE turns SET state = ?2, reason = ?3, ended_at = ?4, retry_at = NULL WHERE id = ?1")?
            .execute(params![id, state, reason, now])?;
        Ok(())
    }

    /// A turn that was cut off is taken up again; gives how often that has been.
    pub fn live_again(&self, id: TurnId) -> anyhow::Result<u32> {
        let mut query = self.db.prepare_cached("UPDATE turns SET lives = lives + 1 WHERE id = ?1 RETURNING lives")?;
        Ok(query.query_row([id], |row| row.get(0))?)
    }

    /// A turn waits for the model to come back. Whatever came so far ends no program, so its lives
    /// are counted anew.
    pub fn postpone_turn(&self, id: TurnId, attempts: u32, retry_at: Timestamp, noticed: bool) -> anyhow::Result<()> {
        self.db
            .prepare_cached(
                "UPDATE turns SET state = 'waiting', attempts = ?2, retry_at = ?3, noticed = ?4, lives = 0 WHERE id = ?1",
            )?
            .execute(params![id, attempts, retry_at, noticed])?;
        Ok(())
    }
}
