//! Reminders and scheduled tasks: the only code that adds entries to a person's list, and changes
//! or removes them for a model.
//!
//! A tool only writes the row and wakes the schedule, which reads it. Every person has their own
//! list and cannot access another. Relative times count from the start of the turn, so that a
//! repeated call after an interruption finds its own row instead of adding a second one. The text
//! keeps the label of the call for good: a list cannot be used to launder text. Results name the
//! entry, with its words if these are the person's own: typed, or agreed to word by word.

mod spec;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use self::spec::{RecurrenceEnd, ScheduleSpec, until};
use super::question_text::{QuestionText, lines};
use super::{AuthorizableCall, Effects, Egress, Output, Tool, ToolDeclaration, ToolError, argument};
use crate::id::{PersonId, ReminderId};
use crate::model::ToolSpec;
use crate::store::{Journal, NewReminder, ReminderChange, ReminderKind, ReminderRow, ReminderState};
use crate::text::{one_line, shorten};
use crate::time::clock::WakeupSender;
use crate::time::{Clock, Cron, TimeExpressionError, Timestamp, When, Zone};
use crate::trust::{Labelled, Scope, Text};
use crate::wish::{TypedWish, spoken_time};
use crate::wording::Language;
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
        Arc::new(ChangeScheduled(store.clone())),
        Arc::new(CancelScheduled(store.clone())),
    ]
}

/// Declares a tool that changes the list. A repeated call finds its own entry as it left it.
fn changing(spec: ToolSpec) -> ToolDeclaration {
    ToolDeclaration { spec, effects: Effects::SCHEDULES, egress: Egress::Later, repeatable: true, replaces: true }
}

/// `remind`: tells a person something at a later time, in their own words and without asking a
/// model.
struct Remind(ScheduleStore);

impl Remind {
    async fn read(&self, call: &AuthorizableCall<'_>) -> Result<(String, ScheduleSpec, Zone), ToolError> {
        let (words, zone) = (words(call.arguments, "text")?, call.zone(&self.0.journal, self.0.home).await?);
        let said_at = self.0.said_at(call).await?;
        let plan = self.0.plan(call.text("when"), said_at, zone)?;
        let plan = plan.lasting(until(call.arguments, said_at, zone)?, self.0.clock.now(), zone)?;
        Ok((words, plan, zone))
    }
}

#[async_trait]
impl Tool for Remind {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "when": { "type": "string", "description": says::REMIND_WHEN },
            "text": { "type": "string" },
            "until": { "type": "string" }
        });
        let spec = argument::spec("remind", says::REMIND, properties, &["when", "text"]);
        ToolDeclaration { egress: Egress::ToPerson, replaces: false, ..changing(spec) }
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        let (when, now, home) = (argument::text(arguments, "when"), self.0.clock.now(), self.0.home);
        words(arguments, "text")?;
        let end = until(arguments, now, home)?;
        match When::parse(when, now, home) {
            // Whether it is past depends on the zone of the person.
            Err(TimeExpressionError::Past) => Ok(()),
            _ => self.0.plan(when, now, home)?.lasting(end, now, home).map(drop),
        }
    }

    async fn wish<'a>(&self, call: &AuthorizableCall<'a>) -> Result<Option<&'a TypedWish>, ToolError> {
        let (words, plan, zone) = self.read(call).await?;
        let said_at = self.0.said_at(call).await?;
        let is_when =
            |when: &str| self.0.plan(when, said_at, zone).is_ok_and(|typed| plan.is_as(&typed, said_at, zone));
        let is_same = |wish: &&TypedWish| wish.has_words(&words) && wish.when.as_deref().is_some_and(is_when);
        Ok(call.wishes.iter().find(is_same))
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        let (words, plan, zone) = self.read(call).await?;
        let (when, language) = (plan.in_question(self.0.clock.now(), zone, call.language), call.language);
        Ok(QuestionText::about(&words, call.label.clone(), |words| says::may_i_remind(language, words, &when)))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (words, plan, zone) = self.read(call).await?;
        let typed = if call.label.is_of_third_party() { self.wish(call).await? } else { None };
        let (text, plan) = match typed {
            // As it was typed, at the time that was typed.
            Some(wish) => {
                let when = wish.when.as_deref().unwrap_or_default();
                (wish.words.clone(), self.0.plan(when, self.0.said_at(call).await?, zone)?)
            }
            None => (Labelled::new(Arc::from(words), call.label.clone(), call.scope), plan),
        };
        self.0.add_entry(call, ReminderKind::Reminder, text, plan, zone).await
    }
}

/// `schedule`: makes the assistant perform a recurring task, at times of a cron expression in the
/// zone of that person.
struct ScheduleTask(ScheduleStore);

impl ScheduleTask {
    fn read(&self, arguments: &Value, said_at: Timestamp, zone: Zone) -> Result<(String, ScheduleSpec), ToolError> {
        let plan = ScheduleSpec::again(self.0.cron(argument::text(arguments, "cron"))?, self.0.clock.now(), zone)?;
        let plan = plan.lasting(until(arguments, said_at, zone)?, self.0.clock.now(), zone)?;
        Ok((words(arguments, "task")?, plan))
    }
}

#[async_trait]
impl Tool for ScheduleTask {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "cron": { "type": "string", "description": says::SCHEDULE_CRON },
            "task": { "type": "string", "description": says::SCHEDULE_TASK },
            "until": { "type": "string" }
        });
        let spec = argument::spec("schedule", says::SCHEDULE, properties, &["cron", "task"]);
        ToolDeclaration { replaces: false, ..changing(spec) }
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        self.read(arguments, self.0.clock.now(), self.0.home).map(drop)
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        let zone = call.zone(&self.0.journal, self.0.home).await?;
        let (task, plan) = self.read(call.arguments, self.0.said_at(call).await?, zone)?;
        let (when, language) = (plan.in_question(self.0.clock.now(), zone, call.language), call.language);
        Ok(QuestionText::about(&task, call.label.clone(), |words| says::may_i_schedule(language, words, &when)))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let zone = call.zone(&self.0.journal, self.0.home).await?;
        let (task, plan) = self.read(call.arguments, self.0.said_at(call).await?, zone)?;
        let text = Labelled::new(Arc::from(task), call.label.clone(), call.scope);
        self.0.add_entry(call, ReminderKind::Task, text, plan, zone).await
    }
}

/// `list_scheduled`: lists the person's own entries.
struct ListScheduled(ScheduleStore);

#[async_trait]
impl Tool for ListScheduled {
    fn declaration(&self) -> ToolDeclaration {
        ToolDeclaration::reading(argument::spec("list_scheduled", says::LIST, json!({}), &[]))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let owner = owner(call)?;
        let (now, zone) = (self.0.clock.now(), call.zone(&self.0.journal, self.0.home).await?);
        let rows = self.0.journal.read(move |db| db.reminders().reminders_of(owner)).await.map_err(store_error)?;
        let line = |row: &ReminderRow| {
            let when = if row.next_at.is_some() { ScheduleSpec::of(row).in_words(now, zone) } else { String::new() };
            let when = if row.works { says::works(Language::ENGLISH, &when) } else { when };
            says::line(row.id, row.kind.as_str(), &when, &shown_words(row))
        };
        let lines: Vec<String> = rows.iter().map(line).collect();
        Ok(call.own_words(if lines.is_empty() { says::NOTHING_WAITS.to_owned() } else { lines.join("\n") }))
    }
}

/// `change_scheduled`: changes one of the person's own entries. A single reminder that is done can
/// be set again.
struct ChangeScheduled(ScheduleStore);

impl ChangeScheduled {
    /// Returns the new state of an entry.
    fn changed(
        &self,
        call: &AuthorizableCall<'_>,
        row: &ReminderRow,
        said_at: Timestamp,
        zone: Zone,
    ) -> Result<(Text, ScheduleSpec), ToolError> {
        let (when, now) = (call.text("when"), self.0.clock.now());
        // The same words stay whose they are, although the model repeats them.
        let text = match call.text("text").trim() {
            "" => row.text.clone(),
            same if same == row.text.open().0.trim() => row.text.clone(),
            _ => Labelled::new(Arc::from(words(call.arguments, "text")?), call.label.clone(), call.scope),
        };
        let plan = match (when.trim(), row.kind) {
            ("", _) => ScheduleSpec::of(row).resumed(now, zone),
            (when, ReminderKind::Reminder) => self.0.plan(when, said_at, zone)?,
            (when, ReminderKind::Task) => ScheduleSpec::again(self.0.cron(when)?, now, zone)?,
        };
        let end = match until(call.arguments, said_at, zone)? {
            RecurrenceEnd::Unchanged if plan.cron.is_some() => {
                row.until.map_or(RecurrenceEnd::Unchanged, RecurrenceEnd::At)
            }
            end => end,
        };
        let plan = plan.lasting(end, now, zone)?;
        // A time that has passed since the call was cut off must not make it due again.
        if plan.next_at <= now {
            return Err(ToolError::Arguments(says::when_past(&zone.show_long(now))));
        }
        Ok((text, plan))
    }
}

#[async_trait]
impl Tool for ChangeScheduled {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({
            "id": { "type": "integer" },
            "when": { "type": "string" },
            "text": { "type": "string" },
            "until": { "type": "string" }
        });
        changing(argument::spec("change_scheduled", says::CHANGE, properties, &["id"]))
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        let given = |name| !argument::text(arguments, name).trim().is_empty();
        if !["when", "text", "until"].into_iter().any(given) {
            return Err(ToolError::Arguments(says::NOTHING_TO_CHANGE.to_owned()));
        }
        until(arguments, self.0.clock.now(), self.0.home)?;
        id(arguments).map(drop)
    }

    async fn touches_person_alone(&self, call: &AuthorizableCall<'_>) -> Result<bool, ToolError> {
        self.0.is_reminder(call).await
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        let (row, zone) = self.0.entry(call).await?;
        let (text, plan) = self.changed(call, &row, self.0.said_at(call).await?, zone)?;
        let (kind, now) = (row.kind.as_str(), self.0.clock.now());
        let language = call.language;
        let when = ScheduleSpec::of(&row).of_question(now, zone, language);
        let then = plan.in_question(now, zone, language);
        let (words, label, _) = row.text.open();
        let label = label.clone();
        if text.open().0 == words {
            let question = |words: Option<&str>| says::may_i_change(language, kind, words, &when, &then);
            return Ok(QuestionText::about(words, label, question));
        }
        let [before, after] = [says::WORDS_NOW, says::WORDS_THEN].map(|name| name.in_language(language).into_string());
        let shown = lines(&json!({ before: &**words, after: &**text.open().0 }));
        Ok(QuestionText { question: says::may_i_change(language, kind, None, &when, &then), shown, label })
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        self.check(call.arguments)?;
        let (row, zone) = self.0.entry(call).await?;
        let (id, owner) = (row.id, row.person);
        let (text, plan) = self.changed(call, &row, self.0.said_at(call).await?, zone)?;
        let change = ReminderChange {
            text: text.clone(),
            cron: plan.cron.as_ref().map(|cron| cron.as_str().to_owned()),
            next_at: plan.next_at,
            until: plan.until,
            turn: call.turn,
            agreed_at: call.is_agreed().then(|| self.0.clock.now()),
        };
        let shown =
            if change.agreed_at.is_some() { shorten(&one_line(text.open().0), SHOWN) } else { own_words(&text) };
        let is_over = row.state == ReminderState::Done;
        let stored = self.0.journal.write("change a reminder", move |tx| {
            if is_over && tx.reminders().reminders_of(owner)?.len() >= MAX_ENTRIES {
                return Ok(None);
            }
            tx.reminders().change_reminder(id, &change).map(Some)
        });
        match stored.await.map_err(store_error)? {
            None => return Err(ToolError::Refused(says::too_many(MAX_ENTRIES))),
            Some(false) => return Err(ToolError::Arguments(says::none_such(id))),
            Some(true) => self.0.wakeup.wake(&*self.0.clock),
        }
        Ok(call.own_words(says::set(
            row.kind.as_str(),
            id,
            &shown,
            &plan.in_words_long(self.0.clock.now(), zone),
            plan.note(),
        )))
    }
}

/// `cancel_scheduled`: removes one of the person's own entries.
struct CancelScheduled(ScheduleStore);

#[async_trait]
impl Tool for CancelScheduled {
    fn declaration(&self) -> ToolDeclaration {
        let properties = json!({ "id": { "type": "integer" } });
        changing(argument::spec("cancel_scheduled", says::CANCEL, properties, &["id"]))
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        id(arguments).map(drop)
    }

    async fn touches_person_alone(&self, call: &AuthorizableCall<'_>) -> Result<bool, ToolError> {
        self.0.is_reminder(call).await
    }

    async fn question(&self, call: &AuthorizableCall<'_>) -> Result<QuestionText, ToolError> {
        let (row, zone) = self.0.entry(call).await?;
        if row.state != ReminderState::Waiting && !row.works {
            return Err(ToolError::Arguments(says::none_such(row.id)));
        }
        let (words, label, _) = row.text.open();
        let (kind, language) = (row.kind.as_str(), call.language);
        let when = ScheduleSpec::of(&row).of_question(self.0.clock.now(), zone, language);
        Ok(QuestionText::about(words, label.clone(), |words| says::may_i_cancel(language, kind, words, &when)))
    }

    async fn run(&self, call: &AuthorizableCall<'_>) -> Result<Output, ToolError> {
        let (id, owner, now) = (id(call.arguments)?, owner(call)?, self.0.clock.now());
        let cancel = self.0.journal.write("cancel a reminder", move |tx| tx.reminders().cancel(id, owner, now));
        let zone = call.zone(&self.0.journal, self.0.home).await?;
        let cancelled = cancel.await.map_err(store_error)?.ok_or_else(|| ToolError::Arguments(says::none_such(id)))?;
        let row = cancelled.row;
        let when = row.next_at.map(|_| ScheduleSpec::of(&row).in_words(now, zone)).unwrap_or_default();
        Ok(call.own_words(says::cancelled(row.kind.as_str(), id, &shown_words(&row), &when)))
    }
}

/// Returns the words of an entry for the result of a call, under the call's own label; blank if
/// they are not the person's own.
fn shown_words(row: &ReminderRow) -> String {
    own_words(&row.own_text())
}

fn own_words(text: &Text) -> String {
    let (words, label, _) = text.open();
    if label.asks_before_leaving() { String::new() } else { shorten(&one_line(words), SHOWN) }
}

fn id(arguments: &Value) -> Result<ReminderId, ToolError> {
    let id = arguments.get("id").and_then(Value::as_i64);
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

impl ScheduleStore {
    /// Creates the lists over this journal; the schedule is woken when a list has grown.
    pub fn new(journal: Journal, clock: Arc<dyn Clock>, home: Zone, wakeup: WakeupSender) -> Self {
        Self { journal, clock, home, wakeup }
    }

    /// Returns the time from which relative times count: the start of the turn. What a person was
    /// asked about counts from the turn that asked.
    async fn said_at(&self, call: &AuthorizableCall<'_>) -> Result<Timestamp, ToolError> {
        let turn = call.turn;
        let began = self.journal.read(move |db| {
            let mut asked = turn;
            while let Some(question) = db.questions().question_before(asked)? {
                asked = question.turn;
            }
            Ok(db.turns().turn(asked)?.map(|turn| turn.claimed_at))
        });
        Ok(began.await.map_err(store_error)?.unwrap_or_else(|| self.clock.now()))
    }

    /// Returns the entry that a call is about and the zone of its person.
    async fn entry(&self, call: &AuthorizableCall<'_>) -> Result<(ReminderRow, Zone), ToolError> {
        let (id, owner) = (id(call.arguments)?, owner(call)?);
        let row = self.journal.read(move |db| db.reminders().reminder(id)).await.map_err(store_error)?;
        let row = row.filter(|row| row.person == owner && row.state != ReminderState::Cancelled);
        let row = row.ok_or_else(|| ToolError::Arguments(says::none_such(id)))?;
        Ok((row, call.zone(&self.journal, self.home).await?))
    }

    /// Returns whether a call is about a reminder, which touches its person alone; a task does
    /// something.
    async fn is_reminder(&self, call: &AuthorizableCall<'_>) -> Result<bool, ToolError> {
        Ok(self.entry(call).await?.0.kind == ReminderKind::Reminder)
    }

    /// Returns the meaning of `when`, said at that time.
    fn plan(&self, when: &str, said_at: Timestamp, zone: Zone) -> Result<ScheduleSpec, ToolError> {
        let refused = match When::parse(when, said_at, zone) {
            Ok(when) => return Ok(ScheduleSpec::once(when)),
            Err(TimeExpressionError::Form) => match (self.cron(when), spoken_time(when, zone.wall_clock(said_at))) {
                (Err(_), Some(meaning)) if Cron::parse(when).is_err() => return self.plan(&meaning, said_at, zone),
                (Err(_), None) if Cron::parse(when).is_err() => says::WHEN_FORM.to_owned(),
                (cron, _) => return ScheduleSpec::again(cron?, self.clock.now(), zone),
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
        text: Text,
        plan: ScheduleSpec,
        zone: Zone,
    ) -> Result<Output, ToolError> {
        let (person, turn, now) = (owner(call)?, Some(call.turn), self.clock.now());
        let shown = shorten(&one_line(text.open().0), SHOWN);
        let (cron, next_at, until) = (plan.cron.clone(), plan.next_at, plan.until);
        let agreed_at = call.is_agreed().then_some(now);
        let stored = self.journal.write("keep a reminder", move |tx| {
            let cron = cron.as_ref().map(Cron::as_str);
            let new = NewReminder { person, kind, text: &text, cron, next_at, until, turn, agreed_at, at: now };
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
        Ok(call.own_words(says::set(kind.as_str(), id, &shown, &plan.in_words_long(now, zone), plan.note())))
    }
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
