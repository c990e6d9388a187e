//! Reminders and scheduled tasks of people, single or recurring.
//!
//! `waiting` → `done` or `cancelled`. A waiting row holds the time at which it is next due. A
//! recurring one moves on, a single one is done after that. Rows of removed people are skipped, and
//! wait until they are readmitted.

use crate::store::handles::{Reminders, RemindersMut};
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, params};
use strum::{EnumString, IntoStaticStr};

use crate::id::{PersonId, ReminderId, TurnId};
use crate::store::stored_word::stored_word;
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

/// Kind of action when due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ReminderKind {
    /// The text is sent as it is.
    Reminder,
    /// The assistant carries out the text.
    Task,
}

impl ReminderKind {
    /// Returns the word by which it is stored and shown.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// State.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ReminderState {
    /// Not yet due.
    Waiting,
    /// Done.
    Done,
    /// Cancelled by its person.
    Cancelled,
}

stored_word!(ReminderKind, ReminderState);

/// A reminder or task to store.
#[derive(Debug, Clone)]
pub struct NewReminder<'a> {
    /// Person.
    pub person: PersonId,
    /// Kind.
    pub kind: ReminderKind,
    /// Text.
    pub text: &'a Text,
    /// Recurrence; blank for a single one.
    pub cron: &'a str,
    /// First due time.
    pub next_at: Timestamp,
    /// Turn that creates it.
    pub turn: Option<TurnId>,
    /// Current time.
    pub at: Timestamp,
}

/// A stored reminder or task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReminderRow {
    /// Row id.
    pub id: ReminderId,
    /// Person.
    pub person: PersonId,
    /// Kind.
    pub kind: ReminderKind,
    /// Text.
    pub text: Text,
    /// Recurrence; blank for a single one.
    pub cron: String,
    /// Next due time.
    pub next_at: Option<Timestamp>,
    /// Turn that created it.
    pub turn: Option<TurnId>,
    /// Creation time.
    pub created_at: Timestamp,
    /// State.
    pub state: ReminderState,
}

impl ReminderRow {
    /// Returns the job name of its slots.
    pub fn job(&self) -> String {
        format!("{}:{}", self.kind.as_str(), self.id)
    }

    /// Returns the scope of its slots.
    pub fn scope(&self) -> Scope {
        Scope::Person(self.person)
    }
}

const COLUMNS: &str = "id, person_id, kind, text, label, scope, cron, next_at, turn_id, created_at, state";

fn reminder(row: &Row<'_>) -> rusqlite::Result<ReminderRow> {
    let words: Arc<str> = row.get("text")?;
    let (label, scope): (Label, Scope) = (row.get("label")?, row.get("scope")?);
    Ok(ReminderRow {
        id: row.get("id")?,
        person: row.get("person_id")?,
        kind: row.get("kind")?,
        text: Labelled::new(words, label, scope),
        cron: row.get("cron")?,
        next_at: row.get("next_at")?,
        turn: row.get("turn_id")?,
        created_at: row.get("created_at")?,
        state: row.get("state")?,
    })
}

impl Reminders<'_> {
    /// Returns a reminder by id.
    pub fn reminder(&self, id: ReminderId) -> anyhow::Result<Option<ReminderRow>> {
        let mut query = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM reminders WHERE id = ?1"))?;
        Ok(query.query_row([id], reminder).optional()?)
    }

    /// Returns a person's waiting reminders, next due first.
    pub fn reminders_of(&self, person: PersonId) -> anyhow::Result<Vec<ReminderRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM reminders WHERE person_id = ?1 AND state = 'waiting' ORDER BY next_at, id"
        ))?;
        Ok(query.query_map([person], reminder)?.collect::<Result<_, _>>()?)
    }

    /// Returns the waiting reminders of admitted people, next due first.
    pub fn waiting_reminders(&self) -> anyhow::Result<Vec<ReminderRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM reminders WHERE state = 'waiting'
             AND person_id IN (SELECT id FROM people WHERE removed_at IS NULL) ORDER BY next_at, id"
        ))?;
        Ok(query.query_map([], reminder)?.collect::<Result<_, _>>()?)
    }

    /// Returns a reminder with the same text and time already set by this turn.
    pub fn same_reminder(&self, new: &NewReminder<'_>) -> anyhow::Result<Option<ReminderId>> {
        let (words, _, _) = new.text.open();
        let mut query = self.db.prepare_cached(
            "SELECT id FROM reminders WHERE person_id = ?1 AND kind = ?2 AND text = ?3 AND cron = ?4 AND turn_id = ?5
             AND state <> 'cancelled' AND (cron <> '' OR next_at = ?6)",
        )?;
        let same = params![new.person, new.kind, &**words, new.cron, new.turn, new.next_at];
        Ok(query.query_row(same, |row| row.get(0)).optional()?)
    }
}

impl RemindersMut<'_> {
    /// Stores a reminder or task.
    pub fn add_reminder(&self, new: &NewReminder<'_>) -> anyhow::Result<ReminderId> {
        let (words, label, scope) = new.text.open();
        self.db
            .prepare_cached(
                "INSERT INTO reminders (person_id, kind, text, label, scope, cron, next_at, turn_id, created_at, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'waiting')",
            )?
            .execute(params![new.person, new.kind, &**words, label, scope, new.cron, new.next_at, new.turn, new.at])?;
        Ok(ReminderId(self.db.last_insert_rowid()))
    }

    /// Sets the next due time.
    pub fn move_reminder(&self, id: ReminderId, next_at: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE reminders SET next_at = ?2 WHERE id = ?1 AND state = 'waiting'")?
            .execute(params![id, next_at])?;
        Ok(())
    }

    /// Ends a reminder. Returns false if it had ended.
    pub fn end_reminder(&self, id: ReminderId, state: ReminderState, now: Timestamp) -> anyhow::Result<bool> {
        let changed = self
            .db
            .prepare_cached(
                "UPDATE reminders SET state = ?2, next_at = NULL, ended_at = ?3 WHERE id = ?1 AND state = 'waiting'",
            )?
            .execute(params![id, state, now])?;
        Ok(changed == 1)
    }
}
