//! Reminders and scheduled tasks: the only code that adds entries to a person's list, and removes
//! them for a model.
//!
//! A tool only writes the row and wakes the schedule, which reads it. Every person has their own
//! list and cannot access another. Relative times count from the start of the turn, so that a
//! repeated call after an interruption finds its own row instead of adding a second one. The text
//! keeps the label of the call for good: a list cannot be used to launder text.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::id::{PersonId, ReminderId};
use crate::store::{Journal, NewReminder, ReminderKind, ReminderRow, ReminderState};
use crate::text::{one_line, shorten};
use crate::time::clock::WakeupSender;
use crate::time::{Clock, Cron, Shift, TimeExpressionError, Timestamp, When, Zone};
use crate::trust::{Labelled, Scope};
use crate::wording::reminder as says;

/// Maximum number of entries waiting for one person.
const MAX_ENTRIES: usize = 50;
/// Minimum interval between recurrences.
const MIN_INTERVAL: Duration = Duration::from_secs(15 * 60);
/// Maximum number of characters of a reminder or task.
const MAX_WORDS: usize = 1_000;
/// Number of recurrences compared: they extend over a midnight, a month's end and most years' ends.
const COMPARED: usize = 200;
/// Number of next times reported.
const NEXT_TIMES: usize = 3;
/// Maximum number of characters displayed of one entry.
const SHOWN: usize = 300;

/// Returns the tools over these lists.
pub fn tools(store: &ScheduleStore) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Remind(store.clone())),
        Arc::new(ScheduleTask(store.clone())),
        Arc::new(ListScheduled(store.clone())),
        Arc::new(CancelScheduled(store.clone())),
    ]
}

/// `remind`: tells a person something at a later time, in their own words and without asking a
/// model.
struct Remind(ScheduleStore);

#[async_trait]
impl Tool for Remind {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "when": { "type": "string", "description": says::REMIND_WHEN },
            "text": { "type": "string" }
        });
        ToolDeclaration {
            spec: argument::spec("remind", says::REMIND, properties, &["when", "text"]),
            effects: Effects::SCHEDULES,
            egress: Egress::Later,
            // A repeated call finds its own entry.
            repeatable: true,
        }
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        words(arguments, "text")?;
        let (when, now) = (argument::text(arguments, "when"), self.0.clock.now());
        match When::parse(when, now, self.0.home) {
            // Whether it is past depends on the zone of the person.
            Ok(_) | Err(TimeExpressionError::Past) => Ok(()),
            Err(_) => self.0.plan(when, now, self.0.home).map(drop),
        }
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (words, turn) = (words(call.arguments, "text")?, call.turn);
        let began = self.0.journal.read(move |db| Ok(db.turns().turn(turn)?.map(|turn| turn.claimed_at))).await;
        let began = began.map_err(store_error)?.unwrap_or_else(|| self.0.clock.now());
        let zone = self.0.zone_of(owner(call)?).await?;
        let plan = self.0.plan(argument::text(call.arguments, "when"), began, zone)?;
        self.0.add_entry(call, ReminderKind::Reminder, words, plan, zone).await
    }
}

/// `schedule`: makes the assistant perform a recurring task, at times of a cron expression in the
/// zone of that person.
struct ScheduleTask(ScheduleStore);

impl ScheduleTask {
    fn read(&self, arguments: &Value) -> Result<(String, Cron), ToolError> {
        let cron = argument::text(arguments, "cron");
        Ok((words(arguments, "task")?, self.0.cron(cron)?))
    }
}

#[async_trait]
impl Tool for ScheduleTask {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "cron": { "type": "string", "description": says::SCHEDULE_CRON },
            "task": { "type": "string", "description": says::SCHEDULE_TASK }
        });
        ToolDeclaration {
            spec: argument::spec("schedule", says::SCHEDULE, properties, &["cron", "task"]),
            effects: Effects::SCHEDULES,
            egress: Egress::Later,
            // A repeated call finds its own entry.
            repeatable: true,
        }
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        self.read(arguments).map(drop)
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (task, cron) = self.read(call.arguments)?;
        let zone = self.0.zone_of(owner(call)?).await?;
        self.0.add_entry(call, ReminderKind::Task, task, ScheduleSpec::Again(cron), zone).await
    }
}

/// `list_scheduled`: lists the person's own entries.
struct ListScheduled(ScheduleStore);

impl ListScheduled {
    fn line(&self, row: &ReminderRow, zone: Zone) -> String {
        let (words, label, _) = row.text.open();
        let sources = if label.is_trusted() { String::new() } else { label.encode() };
        says::line(row.id, row.kind.as_str(), &self.0.when(row, zone), &sources, &shorten(&one_line(words), SHOWN))
    }
}

#[async_trait]
impl Tool for ListScheduled {
    fn declaration(&self) -> ToolDeclaration {
        ToolDeclaration::reading(argument::spec("list_scheduled", says::LIST, json!({}), &[]))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (owner, mut label) = (owner(call)?, call.label.clone());
        let rows = self.0.journal.read(move |db| db.reminders().reminders_of(owner)).await.map_err(store_error)?;
        rows.iter().for_each(|row| label.absorb(row.text.label()));
        let zone = self.0.zone_of(owner).await?;
        let lines: Vec<String> = rows.iter().map(|row| self.line(row, zone)).collect();
        let text = if lines.is_empty() { says::NOTHING_WAITS.to_owned() } else { lines.join("\n") };
        Ok(Output { text, label, from: Vec::new() })
    }
}

/// `cancel_scheduled`: removes one of the person's own entries.
struct CancelScheduled(ScheduleStore);

#[async_trait]
impl Tool for CancelScheduled {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "id": { "type": "integer" } });
        ToolDeclaration {
            spec: argument::spec("cancel_scheduled", says::CANCEL, properties, &["id"]),
            effects: Effects::SCHEDULES,
            egress: Egress::Later,
            repeatable: true,
        }
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        id(arguments).map(drop)
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (id, owner, now) = (id(call.arguments)?, owner(call)?, self.0.clock.now());
        let cancel = self.0.journal.write("cancel a reminder", move |tx| match tx.reminders().reminder(id)? {
            Some(row) if row.person == owner => {
                // An interrupted call may have cancelled it already.
                let was = row.state == ReminderState::Cancelled;
                Ok(was || tx.reminders().end_reminder(id, ReminderState::Cancelled, now)?)
            }
            _ => Ok(false),
        });
        match cancel.await.map_err(store_error)? {
            true => Ok(call.own_words(says::CANCELLED)),
            false => Err(ToolError::Arguments(says::none_such(id))),
        }
    }
}

/// Some models write numbers as text.
fn id(arguments: &Value) -> Result<ReminderId, ToolError> {
    let id = arguments.get("id");
    let id = id.and_then(|id| id.as_i64().or_else(|| id.as_str()?.trim().parse().ok()));
    id.map(ReminderId).ok_or_else(|| ToolError::Arguments(says::WHICH.to_owned()))
}

/// Lists of all people.
#[derive(Clone)]
pub struct ScheduleStore {
    journal: Journal,
    clock: Arc<dyn Clock>,
    /// Zone of everybody who has none of their own.
    home: Zone,
    wakeup: WakeupSender,
}

/// Time of a reminder or task.
#[derive(Debug, Clone, PartialEq)]
enum ScheduleSpec {
    /// Once.
    Once(When),
    /// Recurring.
    Again(Cron),
}

impl ScheduleStore {
    /// Creates the lists over this journal; the schedule is woken when a list has grown.
    pub fn new(journal: Journal, clock: Arc<dyn Clock>, home: Zone, wakeup: WakeupSender) -> Self {
        Self { journal, clock, home, wakeup }
    }

    /// Returns the zone in which a person names times.
    async fn zone_of(&self, person: PersonId) -> Result<Zone, ToolError> {
        let home = self.home;
        self.journal.read(move |db| db.people().zone_of(person, home)).await.map_err(store_error)
    }

    /// Returns the meaning of `when`, said at that time.
    fn plan(&self, when: &str, said_at: Timestamp, zone: Zone) -> Result<ScheduleSpec, ToolError> {
        let refused = match When::parse(when, said_at, zone) {
            Ok(when) => return Ok(ScheduleSpec::Once(when)),
            Err(TimeExpressionError::Form) => match self.cron(when) {
                Err(_) if Cron::parse(when).is_err() => says::WHEN_FORM.to_owned(),
                cron => return cron.map(ScheduleSpec::Again),
            },
            Err(TimeExpressionError::Past) => says::when_past(&zone.show_long(self.clock.now())),
            Err(TimeExpressionError::Far) => says::WHEN_FAR.to_owned(),
        };
        Err(ToolError::Arguments(refused))
    }

    /// Parses a cron expression, and refuses one that recurs too often.
    fn cron(&self, text: &str) -> Result<Cron, ToolError> {
        let cron = Cron::parse(text).map_err(|why| ToolError::Arguments(says::not_cron(&why.to_string())))?;
        // In a zone without clock changes: sufficient intervals on the clock may be shorter once a
        // year.
        let times = cron.next_times(self.clock.now(), Zone::UTC, COMPARED);
        let near = times.iter().zip(times.iter().skip(1)).any(|(one, next)| next.since(*one) < MIN_INTERVAL);
        if near { Err(ToolError::Arguments(says::too_often(MIN_INTERVAL))) } else { Ok(cron) }
    }

    /// Adds an entry to the list of the person for whom the turn runs.
    async fn add_entry(
        &self,
        call: &AuthorizableCall<'_>,
        kind: ReminderKind,
        words: String,
        plan: ScheduleSpec,
        zone: Zone,
    ) -> Result<Output, ToolError> {
        let (person, turn, now) = (owner(call)?, Some(call.turn), self.clock.now());
        let text = Labelled::new(Arc::from(words), call.label.clone(), call.scope);
        let (cron, next_at) = match &plan {
            ScheduleSpec::Once(when) => (None, when.at),
            ScheduleSpec::Again(cron) => {
                let never = || ToolError::Arguments(says::not_cron(&crate::time::CronError::Never.to_string()));
                (Some(cron.as_str().to_owned()), cron.next_after(now, zone).ok_or_else(never)?)
            }
        };
        let stored = self.journal.write("keep a reminder", move |tx| {
            let new = NewReminder { person, kind, text: &text, cron: cron.as_deref(), next_at, turn, at: now };
            if let Some(known) = tx.reminders().same_reminder(&new)? {
                return Ok(Some(known));
            }
            if tx.reminders().reminders_of(person)?.len() >= MAX_ENTRIES {
                return Ok(None);
            }
            tx.reminders().add_reminder(&new).map(Some)
        });
        let id = stored.await.map_err(store_error)?;
        let id = id.ok_or_else(|| ToolError::Refused(says::too_many(MAX_ENTRIES)))?;
        self.wakeup.wake(&*self.clock);
        let answer = match &plan {
            ScheduleSpec::Once(when) => {
                let note = match when.shift {
                    Shift::None => "",
                    Shift::Skipped => says::SKIPPED,
                    Shift::Twice => says::TWICE,
                };
                says::set(id, &zone.show_long(when.at), note)
            }
            ScheduleSpec::Again(cron) => says::set_again(id, &next_times(cron, now, zone), zone.name()),
        };
        Ok(call.own_words(answer))
    }

    /// Returns the due time of a row, in words.
    fn when(&self, row: &ReminderRow, zone: Zone) -> String {
        match row.recurrence() {
            Some(cron) => says::again(cron.as_str(), &next_times(&cron, self.clock.now(), zone)),
            None => row.next_at.map(|at| zone.show(at)).unwrap_or_default(),
        }
    }
}

fn next_times(cron: &Cron, now: Timestamp, zone: Zone) -> String {
    let times = cron.next_times(now, zone, NEXT_TIMES);
    times.into_iter().map(|at| zone.show_short(at)).collect::<Vec<_>>().join(", ")
}

/// Returns the text of an argument, if it can be stored.
fn words(arguments: &Value, name: &str) -> Result<String, ToolError> {
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
fn owner(call: &AuthorizableCall<'_>) -> Result<PersonId, ToolError> {
    match call.scope {
        Scope::Person(person) => Ok(person),
        Scope::Group(_) | Scope::Shared => Err(ToolError::Refused(says::NOBODYS.to_owned())),
    }
}

fn store_error(error: anyhow::Error) -> ToolError {
    tracing::error!("What is to happen later cannot be stored or read: {error:#}");
    ToolError::Failed(says::NOT_KEPT.to_owned())
}
