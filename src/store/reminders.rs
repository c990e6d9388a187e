//! What people want to be told, or done for them, at a certain time: once, or again and again.
//!
//! `waiting` → `done` or `cancelled`. A row that waits has the instant at which it is due next;
//! what comes back moves it on, what comes once is done with it. Whoever is not allowed in any more
//! is passed over: their rows wait until they are back.

use crate::store::handles::{Reminders, RemindersMut};
use std::sync::Arc;

use rusqlite::{OptionalExtension, Row, params};

use crate::id::{PersonId, ReminderId, TurnId};
use crate::time::Timestamp;
use crate::trust::{Label, Labelled, Scope, Text};

/// What happens when it is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReminderKind {
    /// The words are told as they are.
    Reminder,
    /// The assistant is asked to do what they say.
    Task,
}

impl ReminderKind {
    /// The stored word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reminder => "reminder",
            Self::Task => "task",
        }
    }

    fn parse(word: &str) -> Self {
        if word == "task" { Self::Task } else { Self::Reminder }
    }
}

/// How it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReminderState {
    /// Its time is to come.
    Waiting,
    /// It was told.
    Done,
    /// Its person wants it no more.
    Cancelled,
}

impl ReminderState {
    fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    fn parse(word: &str) -> Self {
        match word {
            "waiting" => Self::Waiting,
            "done" => Self::Done,
            _ => Self::Cancelled,
        }
    }
}

/// Something to be told or done.
#[derive(Debug, Clone)]
pub struct NewReminder<'a> {
    /// For whom.
    pub person: PersonId,
    /// Told or done.
    pub kind: ReminderKind,
    /// What.
    pub text: &'a Text,
    /// When it comes back; blank for once.
    pub cron: &'a str,
    /// When it is due first.
    pub next_at: Timestamp,
    /// The turn in which it is made.
    pub turn: Option<TurnId>,
    /// Now.
    pub at: Timestamp,
}

/// A stored one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReminderRow {
    /// Its row.
    pub id: ReminderId,
    /// For whom.
    pub person: PersonId,
    /// Told or done.
    pub kind: ReminderKind,
    /// What.
    pub text: Text,
    /// When it comes back; blank for once.
    pub cron: String,
    /// When it is due next.
    pub next_at: Option<Timestamp>,
    /// The turn in which it was made.
    pub turn: Option<TurnId>,
    /// Made.
    pub created_at: Timestamp,
    /// How it stands.
    pub state: ReminderState,
}

impl ReminderRow {
    /// The name of its slots.
    pub fn job(&self) -> String {
        format!("{}:{}", self.kind.as_str(), self.id)
    }

    /// Whose slots they are.
    pub fn scope(&self) -> Scope {
        Scope::Person(self.person)
    }
}

const COLUMNS: &str = "id, person_id, kind, text, label, scope, cron, next_at, turn_id, created_at, state";

fn reminder(row: &Row<'_>) -> rusqlite::Result<ReminderRow> {
    let (kind, words, state): (String, Arc<str>, String) = (row.get(2)?, row.get(3)?, row.get(10)?);
    let (label, scope): (Label, Scope) = (row.get(4)?, row.get(5)?);
    Ok(ReminderRow {
        id: row.get(0)?,
        person: row.get(1)?,
        kind: ReminderKind::parse(&kind),
        text: Labelled::new(words, label, scope),
        cron: row.get(6)?,
        next_at: row.get(7)?,
        turn: row.get(8)?,
        created_at: row.get(9)?,
        state: ReminderState::parse(&state),
    })
}

impl Reminders<'_> {
    /// The one of that id.
    pub fn reminder(&self, id: ReminderId) -> anyhow::Result<Option<ReminderRow>> {
        let mut query = self.db.prepare_cached(&format!("SELECT {COLUMNS} FROM reminders WHERE id = ?1"))?;
        Ok(query.query_row([id], reminder).optional()?)
    }

    /// What waits for that person, the next one first.
    pub fn reminders_of(&self, person: PersonId) -> anyhow::Result<Vec<ReminderRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM reminders WHERE person_id = ?1 AND state = 'waiting' ORDER BY next_at, id"
        ))?;
        Ok(query.query_map([person], reminder)?.collect::<Result<_, _>>()?)
    }

    /// What waits for people who are allowed in, the next one first.
    pub fn waiting_reminders(&self) -> anyhow::Result<Vec<ReminderRow>> {
        let mut query = self.db.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM reminders WHERE state = 'waiting'
             AND person_id IN (SELECT id FROM people WHERE removed_at IS NULL) ORDER BY next_at, id"
        ))?;
        Ok(query.query_map([], reminder)?.collect::<Result<_, _>>()?)
    }

    /// The same words that this turn has set for the same time already.
    pub fn same_reminder(&self, new: &NewReminder<'_>) -> anyhow::Result<Option<ReminderId>> {
        let (words, _, _) = new.text.open();
        let mut query = self.db.prepare_cached(
            "SELECT id FROM reminders WHERE person_id = ?1 AND kind = ?2 AND text = ?3 AND cron = ?4 AND turn_id = ?5
             AND state <> 'cancelled' AND (cron <> '' OR next_at = ?6)",
        )?;
        let same = params![new.person, new.kind.as_str(), &**words, new.cron, new.turn, new.next_at];
        Ok(query.query_row(same, |row| row.get(0)).optional()?)
    }
}

impl RemindersMut<'_> {
    /// Something is to be told or done.
    pub fn add_reminder(&self, new: &NewReminder<'_>) -> anyhow::Result<ReminderId> {
        let (words, label, scope) = new.text.open();
        self.db
            .prepare_cached(
                "INSERT INTO reminders (person_id, kind, text, label, scope, cron, next_at, turn_id, created_at, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'waiting')",
            )?
            .execute(params![
                new.person,
                new.kind.as_str(),
                &**words,
                label,
                scope,
                new.cron,
                new.next_at,
                new.turn,
                new.at
            ])?;
        Ok(ReminderId(self.db.last_insert_rowid()))
    }

    /// It is due next at that time.
    pub fn move_reminder(&self, id: ReminderId, next_at: Timestamp) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE reminders SET next_at = ?2 WHERE id = ?1 AND state = 'waiting'")?
            .execute(params![id, next_at])?;
        Ok(())
    }

    /// It is over. False if it was already.
    pub fn end_reminder(&self, id: ReminderId, state: ReminderState, now: Timestamp) -> anyhow::Result<bool> {
        let changed = self
            .db
            .prepare_cached(
                "UPDATE reminders SET state = ?2, next_at = NULL, ended_at = ?3 WHERE id = ?1 AND state = 'waiting'",
            )?
            .execute(params![id, state.as_str(), now])?;
        Ok(changed == 1)
    }
}
