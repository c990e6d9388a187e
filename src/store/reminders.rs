//! Reminders and scheduled tasks of people, single or recurring.
//!
//! `waiting` → `done` or `cancelled`. A waiting row holds the time at which it is next due. A
//! recurring one moves on, a single one is done after that. Rows of removed people are skipped, and
//! wait until they are readmitted.
//!
//! The label of a text says for good where it came from. If its person agreed to exactly these
//! words, they are theirs wherever they are only shown ([`ReminderRow::own_text`]).

use crate::store::handles::{Reminders, RemindersMut};
use crate::store::rows::{from_row, insert, stored_word, text};

use std::sync::Arc;

use rusqlite::params;
use strum::{EnumString, IntoStaticStr};

use crate::id::{PersonId, ReminderId, StreamId, TurnId};
use crate::time::{Cron, Timestamp, Zone};
use crate::trust::{Label, Labelled, Scope, Text};
use crate::wish::plain_words;

/// Kind of action when due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ReminderKind {
    /// The text is sent as it is.
    Reminder,
    /// The assistant carries out the text.
    Task,
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
    /// Recurrence; none for a single one.
    pub cron: Option<&'a str>,
    /// First due time.
    pub next_at: Timestamp,
    /// Last moment at which a recurring one may be due.
    pub until: Option<Timestamp>,
    /// Turn that creates it.
    pub turn: Option<TurnId>,
    /// Time at which its person agreed to exactly this text; `None` if it needed no yes.
    pub agreed_at: Option<Timestamp>,
    /// Current time.
    pub at: Timestamp,
}

/// A change of a reminder or task: its whole new state.
#[derive(Debug, Clone)]
pub struct ReminderChange {
    /// Text.
    pub text: Text,
    /// Recurrence; none for a single one.
    pub cron: Option<String>,
    /// Next due time.
    pub next_at: Timestamp,
    /// Last moment at which a recurring one may be due.
    pub until: Option<Timestamp>,
    /// Turn that changes it, from which another text comes.
    pub turn: TurnId,
    /// Time at which its person agreed to exactly this text; `None` if it needed no yes.
    pub agreed_at: Option<Timestamp>,
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
    /// Recurrence; none for a single one.
    pub cron: Option<String>,
    /// Next due time.
    pub next_at: Option<Timestamp>,
    /// Last moment at which a recurring one may be due.
    pub until: Option<Timestamp>,
    /// Turn that created it.
    pub turn: Option<TurnId>,
    /// Time at which its person agreed to exactly this text; `None` if it needed no yes.
    pub agreed_at: Option<Timestamp>,
    /// Creation time.
    pub created_at: Timestamp,
    /// State.
    pub state: ReminderState,
    /// True while the assistant works on the task.
    pub works: bool,
}

/// A cancelled reminder or task.
#[derive(Debug, Clone)]
pub struct CancelledReminder {
    /// The row as it was.
    pub row: ReminderRow,
    /// Stream of the run that was stopped with it.
    pub stopped: Option<StreamId>,
}

impl ReminderRow {
    /// Returns the job name of its slots.
    pub fn job(&self) -> String {
        format!("{}:{}", self.kind.as_str(), self.id)
    }

    /// Returns the parsed recurrence.
    pub fn recurrence(&self) -> Option<Cron> {
        Cron::parse(self.cron.as_deref()?).ok()
    }

    /// Returns the first time after `now`; `None` for a single one, or if there is none.
    pub fn next_after(&self, now: Timestamp, zone: Zone) -> Option<Timestamp> {
        self.next_times(now, zone, 1).pop()
    }

    /// Returns the first times after `now`; none for a single one.
    pub fn next_times(&self, now: Timestamp, zone: Zone, count: usize) -> Vec<Timestamp> {
        let times = self.recurrence().map_or_else(Vec::new, |cron| cron.next_times(now, zone, count));
        times.into_iter().filter(|at| self.until.is_none_or(|until| *at <= until)).collect()
    }

    /// Returns the text as its person's own: what they typed, or saw whole and agreed to. Any other
    /// text keeps its label.
    pub fn own_text(&self) -> Text {
        let (words, label, scope) = self.text.open();
        let label = if self.agreed_at.is_some() { Label::trusted() } else { label.clone() };
        Labelled::new(Arc::clone(words), label, scope)
    }

    /// Returns the scope of its slots.
    pub fn scope(&self) -> Scope {
        Scope::Person(self.person)
    }
}

from_row! {
    ReminderRow from "reminders", "text, label, scope" {
        id, person: "person_id", kind, cron = "nullif(cron, '')", next_at, until: "until_at", turn: "turn_id",
        agreed_at, created_at, state, works = "(kind = 'task' AND EXISTS (SELECT 1 FROM slots s WHERE s.job = 'task:' || reminders.id
             AND s.state IN ('claimed', 'working')))" }
    with |row| { text: text(row, "text")? }
}

impl Reminders<'_> {
    /// Returns a reminder by id.
    pub fn reminder(&self, id: ReminderId) -> anyhow::Result<Option<ReminderRow>> {
        self.db.row("WHERE id = ?1", [id])
    }

    /// Returns a person's reminders and tasks that wait or work, those at work first, then the next
    /// due.
    pub fn reminders_of(&self, person: PersonId) -> anyhow::Result<Vec<ReminderRow>> {
        self.db
            .rows("WHERE person_id = ?1 AND (state = 'waiting' OR works) ORDER BY coalesce(next_at, 0), id", [person])
    }

    /// Returns a person's reminders and tasks that wait or work, and those that this turn set.
    pub fn waiting_or_set_by(&self, person: PersonId, turn: TurnId) -> anyhow::Result<Vec<ReminderRow>> {
        self.db.rows("WHERE person_id = ?1 AND (state = 'waiting' OR works OR turn_id = ?2)", params![person, turn])
    }

    /// Returns the reminders and tasks that this turn set or changed, in order.
    pub fn set_by(&self, turn: TurnId) -> anyhow::Result<Vec<ReminderRow>> {
        self.db.rows("WHERE turn_id = ?1 ORDER BY id", [turn])
    }

    /// Returns at most `limit` of them; those behind that place if it is given.
    pub fn reminders_after(
        &self,
        person: PersonId,
        place: Option<(Timestamp, ReminderId)>,
        limit: u32,
    ) -> anyhow::Result<Vec<ReminderRow>> {
        let (at, id) = place.unzip();
        self.db.rows(
            "WHERE person_id = ?1 AND (state = 'waiting' OR works)
             AND (?2 IS NULL OR (coalesce(next_at, 0), id) > (?2, ?3)) ORDER BY coalesce(next_at, 0), id LIMIT ?4",
            params![person, at, id, limit],
        )
    }

    /// Returns the waiting reminders of admitted people, next due first.
    pub fn waiting_reminders(&self) -> anyhow::Result<Vec<ReminderRow>> {
        self.db.rows(
            "WHERE state = 'waiting'
                 AND person_id IN (SELECT id FROM people WHERE removed_at IS NULL) ORDER BY next_at, id",
            [],
        )
    }

    /// Returns the waiting reminders that set this one once more, at any remove. Each was created
    /// in the moment in which the slot of that repetition was claimed.
    pub fn repetitions_of(&self, id: ReminderId) -> anyhow::Result<Vec<ReminderId>> {
        self.db.all(
            "WITH RECURSIVE again (id) AS (SELECT ?1 UNION
             SELECT r.id FROM again a JOIN reminders o ON o.id = a.id
             JOIN slots s ON s.scope = 'person:' || o.person_id AND s.job = 'later:' || o.id
             JOIN reminders r ON r.person_id = o.person_id AND r.created_at = s.claimed_at AND r.id > o.id
             AND r.kind = 'reminder' AND r.cron = '' AND r.turn_id IS o.turn_id)
             SELECT r.id FROM again a JOIN reminders r ON r.id = a.id WHERE r.state = 'waiting' AND r.id <> ?1 ORDER BY r.id",
            [id],
        )
    }

    /// Returns a reminder with the same text and time: one that this turn has set already, or one
    /// that waits and differs in nothing but capitals and punctuation.
    pub fn same_reminder(&self, new: &NewReminder<'_>) -> anyhow::Result<Option<ReminderId>> {
        let (words, _, _) = new.text.open();
        let same = params![new.person, new.kind, new.cron.unwrap_or_default(), new.next_at, new.until];
        let known: Vec<ReminderRow> = self.db.rows(
            "WHERE person_id = ?1 AND kind = ?2 AND cron = ?3 AND state <> 'cancelled' AND (cron <> '' OR next_at = ?4)
             AND until_at IS ?5 ORDER BY id",
            same,
        )?;
        let is_same = |row: &ReminderRow| match row.turn == new.turn {
            true => **row.text.open().0 == **words,
            false => row.state == ReminderState::Waiting && plain_words(row.text.open().0) == plain_words(words),
        };
        Ok(known.iter().find(|row| is_same(row)).map(|row| row.id))
    }
}

impl RemindersMut<'_> {
    /// Cancels a person's reminder or task, and stops its run: row, slot and turn end together.
    /// `None` if there is none that waits, works or was cancelled before.
    pub fn cancel(
        &self,
        id: ReminderId,
        person: PersonId,
        now: Timestamp,
    ) -> anyhow::Result<Option<CancelledReminder>> {
        let row = self.tx().reminders().reminder(id)?.filter(|row| row.person == person);
        let Some(row) = row.filter(|row| row.works || row.state != ReminderState::Done) else { return Ok(None) };
        self.db.run(
            "UPDATE reminders SET state = 'cancelled', next_at = NULL, ended_at = coalesce(ended_at, ?2) WHERE id = ?1",
            params![id, now],
        )?;
        let job = row.job();
        let open = self.tx().slots().open_slots()?.into_iter().find(|slot| slot.job == job);
        let stopped = open.map(|slot| self.tx().slots().stop_run(&slot, now)).transpose()?.flatten();
        Ok(Some(CancelledReminder { row, stopped }))
    }

    /// Stores a reminder or task.
    pub fn add_reminder(&self, new: &NewReminder<'_>) -> anyhow::Result<ReminderId> {
        let (words, label, scope) = new.text.open();
        insert!(self.db, "reminders" {
            person_id: new.person, kind: new.kind, text: &**words, label, scope, cron: new.cron.unwrap_or_default(),
            next_at: new.next_at, until_at: new.until, turn_id: new.turn, agreed_at: new.agreed_at, created_at: new.at,
            state: "waiting",
        })
    }

    /// Changes a waiting reminder, or sets one that is done again. Returns false if it is neither.
    pub fn change_reminder(&self, id: ReminderId, change: &ReminderChange) -> anyhow::Result<bool> {
        let (words, label, _) = change.text.open();
        let cron = change.cron.as_deref().unwrap_or_default();
        self.db.changed(
            "UPDATE reminders SET turn_id = CASE WHEN text = ?2 THEN turn_id ELSE ?7 END,
             agreed_at = coalesce(?8, CASE WHEN text = ?2 THEN agreed_at END), text = ?2, label = ?3, cron = ?4,
             next_at = ?5, until_at = ?6, state = 'waiting', ended_at = NULL WHERE id = ?1 AND state IN ('waiting', 'done')",
            params![id, &**words, label, cron, change.next_at, change.until, change.turn, change.agreed_at],
        )
    }

    /// Sets the next due time.
    pub fn move_reminder(&self, id: ReminderId, next_at: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE reminders SET next_at = ?2 WHERE id = ?1 AND state = 'waiting'", params![id, next_at])
    }

    /// Ends a reminder. Returns false if it had ended.
    pub fn end_reminder(&self, id: ReminderId, state: ReminderState, now: Timestamp) -> anyhow::Result<bool> {
        self.db.changed(
            "UPDATE reminders SET state = ?2, next_at = NULL, ended_at = ?3 WHERE id = ?1 AND state = 'waiting'",
            params![id, state, now],
        )
    }
}
