//! Turns and their steps. A step is `started` before any external call, and `done` before the next
//! step.

use super::derivations::Fingerprinted;
use crate::store::handles::{Turns, TurnsMut};
use crate::store::rows::{from_row, insert, stored_word, text};

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{AddressId, ConversationId, PersonId, StepId, StreamId, TurnId, VersionId};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

/// State of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum TurnState {
    /// At work.
    Running,
    /// The model is unreachable.
    Waiting,
    /// Answered.
    Done,
    /// Stopped by a person, a deletion or a restore.
    Stopped,
    /// Ended without an answer.
    GaveUp,
}

/// Kind of step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum StepKind {
    /// A call of the model.
    Model,
    /// A call of a tool.
    Tool,
}

stored_word!(TurnState, StepKind);

/// A turn to begin.
#[derive(Debug, Clone)]
pub struct NewTurn<'a> {
    /// Stream.
    pub stream: StreamId,
    /// Conversation.
    pub conversation: ConversationId,
    /// Person for whom it runs.
    pub person: Option<PersonId>,
    /// Destination of the answer.
    pub address: AddressId,
    /// Owning scope.
    pub scope: Scope,
    /// Current time.
    pub at: Timestamp,
    /// Dynamic block, blank if unchanged since the last copy.
    pub context: &'a Text,
    /// Automatic recall at the beginning of the conversation, as trusted as the block; or blank.
    pub recalled: &'a Text,
    /// Join of the labels of everything read so far.
    pub label: &'a Label,
}

/// A stored turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRow {
    /// Row id.
    pub id: TurnId,
    /// Stream.
    pub stream: StreamId,
    /// Conversation.
    pub conversation: ConversationId,
    /// Person for whom it runs.
    pub person: Option<PersonId>,
    /// Destination of the answer.
    pub address: AddressId,
    /// Owning scope.
    pub scope: Scope,
    /// State.
    pub state: TurnState,
    /// Why it ended without an answer, as [`UnansweredReason`](super::UnansweredReason); blank otherwise.
    pub reason: String,
    /// Start time.
    pub claimed_at: Timestamp,
    /// Dynamic block.
    pub context: Text,
    /// Automatic recall at the beginning of the conversation, shown once.
    pub recalled: Text,
    /// Tokens of its last model call as counted by the provider; zero if there was none.
    pub counted: u64,
    /// Join of the labels of everything read so far.
    pub label: Label,
    /// Failed attempts of the current model call.
    pub attempts: u32,
    /// Time of the next attempt.
    pub retry_at: Option<Timestamp>,
    /// True if the person was informed that the model is unreachable.
    pub noticed: bool,
    /// Number of resumptions after an interruption.
    pub interruptions: u32,
}

impl TurnRow {
    /// Returns true if it is neither answered nor given up.
    pub fn is_open(&self) -> bool {
        matches!(self.state, TurnState::Running | TurnState::Waiting)
    }
}

from_row! {
    TurnRow from "turns", "context, context_label, recalled, counted" {
        id, stream: "stream_id", conversation: "conversation_id", person: "person_id", address: "address_id", scope,
        state, reason, claimed_at, label, attempts, retry_at, noticed, interruptions: "lives",
    }
    with |row| {
        context: Labelled::new(row.get("context")?, row.get("context_label")?, row.get("scope")?),
        recalled: Labelled::new(row.get("recalled")?, row.get("context_label")?, row.get("scope")?),
        counted: u64::try_from(row.get::<_, i64>("counted")?).unwrap_or(0),
    }
}

/// A step to begin.
#[derive(Debug, Clone)]
pub struct NewStep<'a> {
    /// Turn.
    pub turn: TurnId,
    /// Position within the turn.
    pub seq: u32,
    /// Kind.
    pub kind: StepKind,
    /// Tool name.
    pub tool: &'a str,
    /// Tool call as JSON.
    pub call: &'a str,
    /// Label of the request.
    pub label: &'a Label,
    /// Owning scope.
    pub scope: Scope,
    /// Current time.
    pub at: Timestamp,
}

/// A stored step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepRow {
    /// Row id.
    pub id: StepId,
    /// Turn.
    pub turn: TurnId,
    /// Position within the turn.
    pub seq: u32,
    /// Kind.
    pub kind: StepKind,
    /// True if it was finished.
    pub done: bool,
    /// Tool name.
    pub tool: String,
    /// JSON: one tool call, or all calls of the reply for a model step.
    pub call: String,
    /// False for a tool call that was refused, or put to the person instead.
    pub made: bool,
    /// True for a tool call that failed or was refused.
    pub failed: bool,
    /// Output of the model or tool.
    pub text: Text,
}

from_row! {
    StepRow from "steps", "text, label, scope" {
        id, turn: "turn_id", seq, kind, done = "state = 'done'", tool, call, made, failed
    }
    with |row| { text: text(row, "text")? }
}

/// Label of what a turn shows before its messages.
fn shown_label(context: &Text, recalled: &Text) -> Label {
    context.label().join_with(recalled.label())
}

impl Turns<'_> {
    /// Returns the open turn of a stream.
    pub fn open_turn(&self, stream: StreamId) -> anyhow::Result<Option<TurnRow>> {
        self.db.row(
            "WHERE stream_id = ?1 AND state IN ('running', 'waiting')
                 ORDER BY id LIMIT 1",
            [stream],
        )
    }

    /// Returns what the finished calls of a tool gave in a conversation.
    pub fn results_of(&self, conversation: ConversationId, tool: &str) -> anyhow::Result<Vec<Text>> {
        let steps: Vec<StepRow> = self.db.rows(
            "WHERE tool = ?2 AND state = 'done' AND turn_id IN (SELECT id FROM turns WHERE conversation_id = ?1)",
            params![conversation, tool],
        )?;
        Ok(steps.into_iter().map(|step| step.text).collect())
    }

    /// Returns the ended turns of a conversation, in order.
    pub fn past_turns(&self, conversation: ConversationId) -> anyhow::Result<Vec<TurnRow>> {
        self.db.rows(
            "WHERE conversation_id = ?1 AND state NOT IN ('running', 'waiting')
                 ORDER BY id",
            [conversation],
        )
    }

    /// Returns the newest ended turn of a conversation.
    pub fn last_past_turn(&self, conversation: ConversationId) -> anyhow::Result<Option<TurnId>> {
        self.db.one(
            "SELECT max(id) FROM turns WHERE conversation_id = ?1 AND state NOT IN ('running', 'waiting')",
            [conversation],
        )
    }

    /// Returns the newest turn of a stream that was answered.
    pub fn last_answered(&self, stream: StreamId) -> anyhow::Result<Option<TurnRow>> {
        self.db.row("WHERE stream_id = ?1 AND state = 'done' ORDER BY id DESC LIMIT 1", [stream])
    }

    /// Returns a turn by id.
    pub fn turn(&self, id: TurnId) -> anyhow::Result<Option<TurnRow>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns the time at which a turn ended, if it has.
    pub fn ended_at(&self, id: TurnId) -> anyhow::Result<Option<Timestamp>> {
        Ok(self.db.first("SELECT ended_at FROM turns WHERE id = ?1", [id])?.flatten())
    }

    /// Returns the steps of a turn, in order.
    pub fn steps(&self, id: TurnId) -> anyhow::Result<Vec<StepRow>> {
        self.db.rows("WHERE turn_id = ?1 ORDER BY seq", [id])
    }
}

impl TurnsMut<'_> {
    /// Begins a turn.
    pub fn begin_turn(&self, new: &NewTurn<'_>) -> anyhow::Result<TurnId> {
        let (context, recalled) = (new.context.open().0, new.recalled.open().0);
        self.tx().conversations().join_label(new.conversation, new.label)?;
        insert!(self.db, "turns" {
            stream_id: new.stream, conversation_id: new.conversation, person_id: new.person, address_id: new.address,
            scope: new.scope, state: "running", claimed_at: new.at, context: &**context,
            context_label: shown_label(new.context, new.recalled), label: new.label, recalled: &**recalled,
        })
    }

    /// Replaces the context and the recalled memories that a turn shows, and joins their labels
    /// into the turn's.
    pub fn set_context(&self, id: TurnId, context: &Text, recalled: &Text) -> anyhow::Result<()> {
        let label = &shown_label(context, recalled);
        let Some(turn) = self.db.turns().turn(id)? else { return Ok(()) };
        let (context_label, label) = (turn.context.label().join_with(label), turn.label.join_with(label));
        self.tx().conversations().join_label(turn.conversation, &label)?;
        self.db.run(
            "UPDATE turns SET context = ?2, context_label = ?3, label = ?4, recalled = ?5 WHERE id = ?1",
            params![id, &**context.open().0, context_label, label, &**recalled.open().0],
        )
    }

    /// Replaces the label of a turn.
    pub fn set_label(&self, id: TurnId, label: &Label) -> anyhow::Result<()> {
        let sql = "UPDATE turns SET label = ?2 WHERE id = ?1 RETURNING conversation_id";
        let conversation: Option<ConversationId> = self.db.first(sql, params![id, label])?;
        conversation.map_or(Ok(()), |conversation| self.tx().conversations().join_label(conversation, label))
    }

    /// Records the token count of a turn's last model call.
    pub fn count_turn(&self, id: TurnId, tokens: u64) -> anyhow::Result<()> {
        let tokens = i64::try_from(tokens).unwrap_or(i64::MAX);
        self.db.run("UPDATE turns SET counted = ?2 WHERE id = ?1", params![id, tokens])
    }

    /// Begins a step: from now on it may have happened.
    pub fn begin_step(&self, new: &NewStep<'_>) -> anyhow::Result<StepId> {
        let call = if self.db.redaction().is_without_words(new.turn)? { "" } else { new.call };
        self.db.run(
            "INSERT INTO steps (turn_id, seq, kind, state, tool, call, label, scope, started_at)
             VALUES (?1, ?2, ?3, 'started', ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (turn_id, seq) DO UPDATE SET started_at = ?8, label = ?6",
            params![new.turn, new.seq, new.kind, new.tool, call, new.label, new.scope, new.at],
        )?;
        self.db.one("SELECT id FROM steps WHERE turn_id = ?1 AND seq = ?2", params![new.turn, new.seq])
    }

    /// Ends a step with its result, and joins the result's label into the turn's. An ended turn
    /// stays ended; a turn whose messages are deleted stores no result.
    pub fn finish_step(
        &self,
        id: StepId,
        text: &Text,
        calls: Option<&str>,
        model: &str,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let turn = self.db.one("SELECT turn_id FROM steps WHERE id = ?1", [id])?;
        if self.db.redaction().is_without_words(turn)? {
            return Ok(());
        }
        let (words, label, _) = text.open();
        self.db.run(
            "UPDATE steps SET state = 'done', text = ?2, call = coalesce(?3, call), model = ?4, label = ?5,
             ended_at = ?6
             WHERE id = ?1",
            params![id, &**words, calls, model, label, now],
        )?;
        // The text of the final reply is stored with its message.
        if calls != Some("[]") {
            self.tx().fingerprints().add_fingerprints(Fingerprinted::Step(id.0), words, label)?;
        }
        let (turn, conversation, so_far): (TurnId, ConversationId, Label) = self.db.one(
            "SELECT t.id, t.conversation_id, t.label FROM turns t JOIN steps s ON s.turn_id = t.id WHERE s.id = ?1",
            [id],
        )?;
        self.tx().conversations().join_label(conversation, label)?;
        self.db.run(
            "UPDATE turns SET label = ?2, attempts = 0, retry_at = NULL,
             state = CASE state WHEN 'waiting' THEN 'running' ELSE state END WHERE id = ?1",
            params![turn, so_far.join_with(label)],
        )
    }

    /// Marks a tool call as not made: refused by a rule, or put to the person instead.
    pub fn step_not_made(&self, id: StepId) -> anyhow::Result<()> {
        self.db.run("UPDATE steps SET made = 0 WHERE id = ?1", [id])
    }

    /// Records which version of a skill a tool call read.
    pub fn step_read_skill(&self, id: StepId, version: VersionId) -> anyhow::Result<()> {
        self.db.run("UPDATE steps SET version_id = ?2 WHERE id = ?1", params![id, version])
    }

    /// Marks a tool call as failed or refused.
    pub fn step_failed(&self, id: StepId) -> anyhow::Result<()> {
        self.db.run("UPDATE steps SET failed = 1 WHERE id = ?1", [id])
    }

    /// Ends a turn, and tells its person which tools it used under an earlier yes.
    pub fn end_turn(&self, id: TurnId, state: TurnState, reason: &str, now: Timestamp) -> anyhow::Result<()> {
        self.tx().grants().tell_of_uses(id, now)?;
        self.db.run(
            "UPDATE turns SET state = ?2, reason = ?3, ended_at = ?4, retry_at = NULL WHERE id = ?1",
            params![id, state, reason, now],
        )
    }

    /// Resumes an interrupted turn. Returns the number of resumptions so far.
    pub fn count_interruption_of(&self, id: TurnId) -> anyhow::Result<u32> {
        self.db.one("UPDATE turns SET lives = lives + 1 WHERE id = ?1 RETURNING lives", [id])
    }

    /// Makes a turn wait for the model to return. A turn that got this far does not crash the
    /// program, so its resumptions are counted from zero.
    pub fn postpone_turn(&self, id: TurnId, attempts: u32, retry_at: Timestamp, noticed: bool) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE turns SET state = 'waiting', attempts = ?2, retry_at = ?3, noticed = ?4, lives = 0 WHERE id = ?1",
            params![id, attempts, retry_at, noticed],
        )
    }
}
