//! What is told or done later: the one way to put something on a person's list, and to take it off.
//!
//! A tool only writes the row; the schedule reads it and is rung. Everybody has their own list and
//! reaches no other. What was said at a relative time counts from when its turn began, so a call
//! that was cut off and is made again finds its own row, and nothing stands there twice. The words
//! keep the label of the call for ever: a list is no way to launder text.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::{AuthorizableCall, Output, ToolError, argument};
use crate::id::{PersonId, ReminderId};
use crate::store::{Journal, NewReminder, ReminderKind, ReminderRow, ReminderState};
use crate::time::clock::WakeupSender;
use crate::time::{Clock, Cron, NotWhen, Shift, Timestamp, When, Zone};
use crate::trust::{Labelled, Scope};
use crate::wording::reminder as says;

/// The most that may wait for one person.
const MOST: usize = 50;
/// What comes back is at least so far apart.
const LEAST: Duration = Duration::from_secs(15 * 60);
/// The most characters to be told or done.
const MAX_WORDS: usize = 1_000;
/// As many times of what comes back are compared: they reach over a midnight, a month's end and
/// most years' ends.
const COMPARED: usize = 200;
/// As many next times are named.
const NAMED: usize = 3;

/// The lists of all people.
#[derive(Clone)]
pub struct Later {
    journal: Journal,
    clock: Arc<dyn Clock>,
    zone: Zone,
    ringer: WakeupSender,
}

/// When something is to happen.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ScheduleSpec {
    /// Once.
    Once(When),
    /// Again and again.
    Again(Cron),
}

enum ScheduledItem {
    Id(ReminderId),
    TooMany,
}

impl Later {
    /// The lists in this journal; the schedule is rung when one has grown.
    pub fn new(journal: Journal, clock: Arc<dyn Clock>, zone: Zone, ringer: WakeupSender) -> Self {
        Self { journal, clock, zone, ringer }
    }

    /// What `when` means if it were said now.
    pub(super) fn plan_now(&self, when: &str) -> Result<ScheduleSpec, ToolError> {
        self.plan(when, self.clock.now())
    }

    /// What `when` means, said in that turn.
    pub(super) async fn plan_in(&self, call: &AuthorizableCall<'_>, when: &str) -> Result<ScheduleSpec, ToolError> {
        let turn = call.turn;
        let began = self.journal.read(move |db| Ok(db.turns().turn(turn)?.map(|turn| turn.claimed_at))).await;
        self.plan(when, began.map_err(not_kept)?.unwrap_or_else(|| self.clock.now()))
    }

    fn plan(&self, when: &str, said_at: Timestamp) -> Result<ScheduleSpec, ToolError> {
        let refused = match When::parse(when, said_at, self.zone) {
            Ok(when) => return Ok(ScheduleSpec::Once(when)),
            Err(NotWhen::Form) => match self.cron(when) {
                Err(_) if Cron::parse(when).is_err() => says::WHEN_FORM.to_owned(),
                cron => return cron.map(ScheduleSpec::Again),
            },
            Err(NotWhen::Past) => says::when_past(&self.zone.show_long(self.clock.now())),
            Err(NotWhen::Far) => says::WHEN_FAR.to_owned(),
        };
        Err(ToolError::Arguments(refused))
    }

    /// The cron expression of that text, if it is one and comes back seldom enough.
    pub(super) fn cron(&self, text: &str) -> Result<Cron, ToolError> {
        let cron = Cron::parse(text).map_err(|why| ToolError::Arguments(says::not_cron(&why.to_string())))?;
        // In a zone without changes: what is far enough apart on the clock may be nearer once a
        // year.
        let times = cron.next_times(self.clock.now(), Zone::UTC, COMPARED);
        let near = times.iter().zip(times.iter().skip(1)).any(|(one, next)| next.since(*one) < LEAST);
        if near { Err(ToolError::Arguments(says::too_often(LEAST))) } else { Ok(cron) }
    }

    /// Puts something on the list of the person for whom the turn runs.
    pub(super) async fn keep(
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
        let id = match kept.await.map_err(not_kept)? {
            ScheduledItem::TooMany => return Err(ToolError::Refused(says::too_many(MOST))),
            ScheduledItem::Id(id) => id,
        };
        self.ringer.ring(&*self.clock);
        // Our own words about arguments whose label is joined.
        Ok(Output { text: self.kept(id, &plan, now), label: call.label.clone(), from: Vec::new() })
    }

    fn first(&self, cron: &Cron, now: Timestamp) -> Result<Timestamp, ToolError> {
        let never = || ToolError::Arguments(says::not_cron(&crate::time::NotCron::Never.to_string()));
        cron.next_after(now, self.zone).ok_or_else(never)
    }

    fn kept(&self, id: ReminderId, plan: &ScheduleSpec, now: Timestamp) -> String {
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

    /// What waits for the person for whom the turn runs.
    pub(super) async fn list(&self, call: &AuthorizableCall<'_>) -> Result<Vec<ReminderRow>, ToolError> {
        let person = person(call)?;
        self.journal.read(move |db| db.reminders().reminders_of(person)).await.map_err(not_kept)
    }

    /// When a row is due, in words.
    pub(super) fn when(&self, row: &ReminderRow) -> String {
        match Cron::parse(&row.cron) {
            Ok(cron) => says::again(cron.as_str(), &self.next_times(&cron, self.clock.now())),
            Err(_) => row.next_at.map(|at| self.zone.show(at)).unwrap_or_default(),
        }
    }

    /// Takes something off the list of the person for whom the turn runs.
    pub(super) async fn cancel(&self, call: &AuthorizableCall<'_>, id: ReminderId) -> Result<(), ToolError> {
        let (person, now) = (person(call)?, self.clock.now());
        let cancel = self.journal.write("cancel a reminder", move |tx| match tx.reminders().reminder(id)? {
            Some(row) if row.person == person => {
                // A call that was cut off may have done it already.
                let was = row.state == ReminderState::Cancelled;
                Ok(was || tx.reminders().end_reminder(id, ReminderState::Cancelled, now)?)
            }
            _ => Ok(false),
        });
        match cancel.await.map_err(not_kept)? {
            true => Ok(()),
            false => Err(ToolError::Arguments(says::none_such(id))),
        }
    }
}

/// The words of an argument, if they can be kept.
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

/// Whose list it is: that of the person for whom the turn runs, in their own chat.
fn person(call: &AuthorizableCall<'_>) -> Result<PersonId, ToolError> {
    match call.scope {
        Scope::Person(person) => Ok(person),
        Scope::Group(_) | Scope::Shared => Err(ToolError::Refused(says::NOBODYS.to_owned())),
    }
}

fn not_kept(error: anyhow::Error) -> ToolError {
    tracing::error!("What is to happen later cannot be stored or read: {error:#}");
    ToolError::Failed(says::NOT_KEPT.to_owned())
}
