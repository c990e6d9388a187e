//! Reminders and scheduled tasks: the only code that adds entries to a person's list, and removes
//! them for a model.
//!
//! A tool only writes the row and wakes the schedule, which reads it. Every person has their own
//! list and cannot access another. Relative times count from the start of the turn, so that a
//! repeated call after an interruption finds its own row instead of adding a second one. The text
//! keeps the label of the call for good: a list cannot be used to launder text.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{AuthorizableCall, Output, ToolError, argument};
use crate::id::{PersonId, ReminderId};
use crate::store::{Journal, NewReminder, ReminderKind, ReminderRow, ReminderState};
use crate::time::clock::WakeupSender;
use crate::time::{Clock, Cron, Shift, TimeExpressionError, Timestamp, When, Zone};
use crate::trust::{Labelled, Scope};
use crate::wording::reminder as says;

/// The maximum number of entries waiting for one person.
const MOST: usize = 50;
/// The minimum interval between recurrences.
const LEAST: Duration = Duration::from_secs(15 * 60);
/// The maximum number of characters of a reminder or task.
const MAX_WORDS: usize = 1_000;
/// The number of recurrences compared: they extend over a midnight, a month's end and most years'
/// ends.
const COMPARED: usize = 200;
/// The number of next times reported.
const NAMED: usize = 3;

/// The lists of all people.
#[derive(Clone)]
pub struct ScheduleStore {
    journal: Journal,
    clock: Arc<dyn Clock>,
    zone: Zone,
    ringer: WakeupSender,
}

/// The time of a reminder or task.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScheduleSpec {
    /// Once.
    Once(When),
    /// Recurring.
    Again(Cron),
}

enum ScheduledItem {
    Id(ReminderId),
    TooMany,
}

impl ScheduleStore {
    /// Creates the lists over this journal; the schedule is woken when a list has grown.
    pub fn new(journal: Journal, clock: Arc<dyn Clock>, zone: Zone, ringer: WakeupSender) -> Self {
        Self { journal, clock, zone, ringer }
    }

    /// Returns the meaning of `when` if it were said now.
    pub(super) fn plan_now(&self, when: &str) -> Result<ScheduleSpec, ToolError> {
        self.plan(when, self.clock.now())
    }

    /// Returns the meaning of `when`, said in this turn.
    pub(super) async fn plan_in(&self, call: &AuthorizableCall<'_>, when: &str) -> Result<ScheduleSpec, ToolError> {
        let turn = call.turn;
        let began = self.journal.read(move |db| Ok(db.turns().turn(turn)?.map(|turn| turn.claimed_at))).await;
        self.plan(when, began.map_err(store_error)?.unwrap_or_else(|| self.clock.now()))
    }

    fn plan(&self, when: &str, said_at: Timestamp) -> Result<ScheduleSpec, ToolError> {
        let refused = match When::parse(when, said_at, self.zone) {
            Ok(when) => return Ok(ScheduleSpec::Once(when)),
            Err(TimeExpressionError::Form) => match self.cron(when) {
                Err(_) if Cron::parse(when).is_err() => says::WHEN_FORM.to_owned(),
                cron => return cron.map(ScheduleSpec::Again),
            },
            Err(TimeExpressionError::Past) => says::when_past(&self.zone.show_long(self.clock.now())),
            Err(TimeExpressionError::Far) => says::WHEN_FAR.to_owned(),
        };
        Err(ToolError::Arguments(refused))
    }

    /// Parses a cron expression, and refuses one that recurs too often.
    pub(super) fn cron(&self, text: &str) -> Result<Cron, ToolError> {
        let cron = Cron::parse(text).map_err(|why| ToolError::Arguments(says::not_cron(&why.to_string())))?;
        // In a zone without clock changes: sufficient intervals on the clock may be shorter once a
        // year.
        let times = cron.next_times(self.clock.now(), Zone::UTC, COMPARED);
        let near = times.iter().zip(times.iter().skip(1)).any(|(one, next)| next.since(*one) < LEAST);
        if near { Err(ToolError::Arguments(says::too_often(LEAST))) } else { Ok(cron) }
    }

    /// Adds an entry to the list of the person for whom the turn runs.
    pub(super) async fn add_entry(
        &self,
        call: &AuthorizableCall<'_>,
        kind: ReminderKind,
        words: String,
        plan: ScheduleSpec,
    ) -> Result<Output, ToolError> {
        let (person, turn, now) = (person(call)?, Some(call.turn), self.clock.now());
        let text = Labelled::new(Arc::from(words), call.label.clone(), call.scope);
        let (cron, next_at) = match &plan {
            ScheduleSpec::Once(when) => (String::new(), when.at),
            ScheduleSpec::Again(cron) => (cron.as_str().to_owned(), self.first(cron, now)?),
        };
        let kept = self.journal.write("keep a reminder", move |tx| {
            let new = NewReminder { person, kind, text: &text, cron: &cron, next_at, turn, at: now };
            if let Some(known) = tx.reminders().same_reminder(&new)? {
                return Ok(ScheduledItem::Id(known));
            }
            if tx.reminders().reminders_of(person)?.len() >= MOST {
                return Ok(ScheduledItem::TooMany);
            }
            tx.reminders().add_reminder(&new).map(ScheduledItem::Id)
        });
        let id = match kept.await.map_err(store_error)? {
            ScheduledItem::TooMany => return Err(ToolError::Refused(says::too_many(MOST))),
            ScheduledItem::Id(id) => id,
        };
        self.ringer.wake(&*self.clock);
        // Our own words about arguments whose label is joined.
        Ok(Output { text: self.added_answer(id, &plan, now), label: call.label.clone(), from: Vec::new() })
    }

    fn first(&self, cron: &Cron, now: Timestamp) -> Result<Timestamp, ToolError> {
        let never = || ToolError::Arguments(says::not_cron(&crate::time::CronError::Never.to_string()));
        cron.next_after(now, self.zone).ok_or_else(never)
    }

    fn added_answer(&self, id: ReminderId, plan: &ScheduleSpec, now: Timestamp) -> String {
        match plan {
            ScheduleSpec::Once(when) => {
                let note = match when.shift {
                    Shift::None => "",
                    Shift::Skipped => says::SKIPPED,
                    Shift::Twice => says::TWICE,
                };
                says::set(id, &self.zone.show_long(when.at), note)
            }
            ScheduleSpec::Again(cron) => says::set_again(id, &self.next_times(cron, now), self.zone.name()),
        }
    }

    fn next_times(&self, cron: &Cron, now: Timestamp) -> String {
        let times = cron.next_times(now, self.zone, NAMED);
        times.into_iter().map(|at| self.zone.show_short(at)).collect::<Vec<_>>().join(", ")
    }

    /// Returns the waiting entries of the person for whom the turn runs.
    pub(super) async fn list(&self, call: &AuthorizableCall<'_>) -> Result<Vec<ReminderRow>, ToolError> {
        let person = person(call)?;
        self.journal.read(move |db| db.reminders().reminders_of(person)).await.map_err(store_error)
    }

    /// Returns the due time of a row, in words.
    pub(super) fn when(&self, row: &ReminderRow) -> String {
        match Cron::parse(&row.cron) {
            Ok(cron) => says::again(cron.as_str(), &self.next_times(&cron, self.clock.now())),
            Err(_) => row.next_at.map(|at| self.zone.show(at)).unwrap_or_default(),
        }
    }

    /// Removes an entry from the list of the person for whom the turn runs.
    pub(super) async fn cancel(&self, call: &AuthorizableCall<'_>, id: ReminderId) -> Result<(), ToolError> {
        let (person, now) = (person(call)?, self.clock.now());
        let cancel = self.journal.write("cancel a reminder", move |tx| match tx.reminders().reminder(id)? {
            Some(row) if row.person == person => {
                // An interrupted call may have cancelled it already.
                let was = row.state == ReminderState::Cancelled;
                Ok(was || tx.reminders().end_reminder(id, ReminderState::Cancelled, now)?)
            }
            _ => Ok(false),
        });
        match cancel.await.map_err(store_error)? {
            true => Ok(()),
            false => Err(ToolError::Arguments(says::none_such(id))),
        }
    }
}

/// Returns the text of an argument, if it can be stored.
pub(super) fn words(arguments: &Value, name: &str) -> Result<String, ToolError> {
    let words = argument::text(arguments, name).trim();
    if words.is_empty() {
        return Err(ToolError::Arguments(says::NO_WORDS.to_owned()));
    }
    if words.chars().count() > MAX_WORDS {
        return Err(ToolError::Arguments(says::too_long(MAX_WORDS)));
    }
    Ok(words.to_owned())
}

/// Returns the owner of the list: the person for whom the turn runs, in their own chat.
fn person(call: &AuthorizableCall<'_>) -> Result<PersonId, ToolError> {
    match call.scope {
        Scope::Person(person) => Ok(person),
        Scope::Group(_) | Scope::Shared => Err(ToolError::Refused(says::NOBODYS.to_owned())),
    }
}

fn store_error(error: anyhow::Error) -> ToolError {
    tracing::error!("What is to happen later cannot be stored or read: {error:#}");
    ToolError::Failed(says::NOT_KEPT.to_owned())
}
