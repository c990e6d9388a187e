//! Reminders and tasks at the times that people asked for.
//!
//! A due reminder or task takes effect in one transaction with the row that records it ([`fire`]).
//! A reminder is posted, and its row ended or moved. A task claims its slot, assigns the run and
//! moves its row. An occurrence of a recurring item is identified by the instant at which it was
//! due, so none happens twice, regardless of clock changes. Several missed occurrences become one,
//! which says so.
//!
//! The stored next time of a recurring item is only a note of what the expression gives in the
//! current zone of its person. Where the two differ (the zone was changed, or the clock was ahead
//! and set right) the expression wins. The exception is a clock behind the newest message, as on a
//! computer that does not know the time yet: a time planned then would be reported as years late
//! once the clock is right.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::report::to_report;
use super::{FinishedRun, RunAnswer, Schedule, address_of_slot, claim_occurrence, post_answer};
use crate::engine::system_run::{AssignedText, Assignment, RunOutcome, address_of, assign};
use crate::id::{AddressId, ReminderId, StreamId};
use crate::store::{
    Cause, ConversationKind, Db, NewOutbox, Node, ReminderKind, ReminderRow, ReminderState, SlotRow, SlotState, Tx,
    UnansweredReason,
};
use crate::time::{Timestamp, Zone};
use crate::trust::{Labelled, Scope, Text};
use crate::wording::why::all_in_words;
use crate::wording::{self, Language, reminder as says};

/// Delay before the next check while a person is unreachable or a run is open. No wake-up announces
/// the first, and the wake-up at the end of a run can be missed.
const RECHECK_INTERVAL: Duration = Duration::from_secs(10 * 60);

impl Schedule {
    /// Does what is due, and returns the time of the next check.
    pub(super) async fn reminders(&self) -> anyhow::Result<Option<Timestamp>> {
        self.end_tasks().await?;
        let (now, zone) = (self.clock.now(), self.zone);
        let (due, misplaced) = self.journal.read(move |db| sort(db, now, zone)).await?;
        if !misplaced.is_empty() {
            let moves = move |tx: Tx<'_>| {
                misplaced.iter().try_for_each(|(id, at)| match at {
                    Some(at) => tx.reminders().move_reminder(*id, *at),
                    None => tx.reminders().end_reminder(*id, ReminderState::Done, now).map(drop),
                })
            };
            self.journal.write("plan anew", moves).await?;
        }
        for id in due {
            self.fire(id, now).await?;
        }
        self.journal.read(move |db| next_check(db, now)).await
    }

    async fn fire(&self, id: ReminderId, now: Timestamp) -> anyhow::Result<()> {
        let zone = self.zone;
        let fired = self.journal.write("fire a reminder", move |tx| fire(tx, id, zone, now));
        match fired.await? {
            Fired::Nothing => {}
            Fired::Posted(address) => self.engine.channels.posted(address),
            Fired::Begun(stream) => self.engine.wake_stream(stream),
        }
        Ok(())
    }

    /// Posts the outcomes of finished runs.
    async fn end_tasks(&self) -> anyhow::Result<()> {
        let (now, zone) = (self.clock.now(), self.zone);
        for ended in self.ended(is_task).await? {
            let FinishedRun { slot, outcome } = ended;
            let posted = self.journal.write("end a task", move |tx| match outcome {
                RunOutcome::Answered { text, message, .. } => {
                    let answer = RunAnswer { message, words: to_report(text.open().0), text };
                    post_answer(tx, &slot, cause_of(&slot), &answer, now)
                }
                RunOutcome::GaveUp { reason } => not_done(tx, &slot, &reason, zone, now),
                RunOutcome::Open => Ok(None),
            });
            if let Some(address) = posted.await? {
                self.engine.channels.posted(address);
            }
        }
        Ok(())
    }
}

fn cause_of(slot: &SlotRow) -> Cause {
    task_of(&slot.job).map_or(Cause::NOTICE, Cause::task)
}

fn is_task(job: &str) -> bool {
    task_of(job).is_some()
}

fn task_of(job: &str) -> Option<ReminderId> {
    job.strip_prefix("task:")?.parse().ok().map(ReminderId)
}

/// Due reminders, and recurring ones whose stored time differs from their expression, with the
/// right one; none if it is over.
type DueReminders = (Vec<ReminderId>, Vec<(ReminderId, Option<Timestamp>)>);

fn sort(db: Db<'_>, now: Timestamp, home: Zone) -> anyhow::Result<DueReminders> {
    let (mut due, mut misplaced) = DueReminders::default();
    let is_behind = db.conversations().high_water()?.is_some_and(|mark| now < mark);
    for row in db.reminders().waiting_reminders()? {
        if is_due(&row, now) {
            due.push(row.id);
        } else if !is_behind && row.recurrence().is_some() {
            let at = row.next_after(now, db.people().zone_of(row.person, home)?);
            if row.next_at != at || at.is_none() {
                misplaced.push((row.id, at));
            }
        }
    }
    Ok((due, misplaced))
}

fn is_due(row: &ReminderRow, now: Timestamp) -> bool {
    row.next_at.is_some_and(|at| at <= now)
}

fn next_check(db: Db<'_>, now: Timestamp) -> anyhow::Result<Option<Timestamp>> {
    let waiting = db.reminders().waiting_reminders()?;
    let later = waiting.iter().filter(|row| !is_due(row, now)).filter_map(|row| row.next_at);
    let open =
        db.slots().open_slots()?.iter().any(|slot| is_task(&slot.job)) || waiting.iter().any(|row| is_due(row, now));
    Ok(later.chain(open.then(|| now.plus(RECHECK_INTERVAL))).min())
}

/// Reports a run that gave up in one sentence. It is not retried before its next time.
fn not_done(tx: Tx<'_>, slot: &SlotRow, reason: &str, zone: Zone, now: Timestamp) -> anyhow::Result<Option<AddressId>> {
    if !tx.slots().end_slot(slot.id, SlotState::Failed, reason, now)? {
        return Ok(None);
    }
    let Some((address, id)) = address_of_slot(tx, slot)?.zip(task_of(&slot.job)) else { return Ok(None) };
    let zone = match slot.scope {
        Scope::Person(person) => tx.people().zone_of(person, zone)?,
        Scope::Group(_) | Scope::Shared => zone,
    };
    let language = tx.people().language_in(slot.scope)?;
    let sentence = says::not_done(language, id, &language.near(zone, slot.due_at, now), reason);
    tx.outbox().post(&NewOutbox::about(Cause::task(id), address, &wording::own(sentence, slot.scope), now))?;
    Ok(Some(address))
}

/// The effect of firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fired {
    /// Nothing to report.
    Nothing,
    /// Posted to that address.
    Posted(AddressId),
    /// Assigned a run in that stream.
    Begun(StreamId),
}

/// Fires a reminder that is still due, if its person still has access and can be reached.
pub(super) fn fire(tx: Tx<'_>, id: ReminderId, home: Zone, now: Timestamp) -> anyhow::Result<Fired> {
    let Some(row) = tx.reminders().reminder(id)?.filter(|row| row.state == ReminderState::Waiting) else {
        return Ok(Fired::Nothing);
    };
    let Some(due) = row.next_at.filter(|due| *due <= now) else { return Ok(Fired::Nothing) };
    let (Some(_), Some(address)) = (tx.people().person(row.person)?, address_of(*tx, row.person)?) else {
        return Ok(Fired::Nothing);
    };
    let zone = tx.people().zone_of(row.person, home)?;
    let missed = missed_times(&row, due, zone, now);
    let fired = match row.kind {
        ReminderKind::Reminder => {
            let language = tx.people().language_of(row.person)?;
            let late = missed.map(|more| says::late(language, &language.near(zone, due, now), more, COUNTED));
            notify(tx, &row, due, address, &late.unwrap_or_default(), now)?
        }
        ReminderKind::Task => begin(tx, &row, due, missed, zone, now)?,
    };
    match row.next_after(now, zone) {
        Some(next) => tx.reminders().move_reminder(id, next)?,
        None => drop(tx.reminders().end_reminder(id, ReminderState::Done, now)?),
    }
    Ok(fired)
}

fn notify(
    tx: Tx<'_>,
    row: &ReminderRow,
    due: Timestamp,
    address: AddressId,
    late: &str,
    now: Timestamp,
) -> anyhow::Result<Fired> {
    if claim_occurrence(tx, &row.job(), row.scope(), due, (SlotState::Done, ""), now)?.is_none() {
        return Ok(Fired::Nothing);
    }
    let language = tx.people().language_of(row.person)?;
    let text = notice(&row.text, language, late);
    // In the talk these are the person's own words; a client still gets them as text from outside.
    let own = Labelled::new(Arc::clone(text.open().0), row.own_text().label().clone(), text.scope());
    let message = tx.sent().record(address, Cause::reminder(row.id), &own, now)?;
    let buttons = [(says::DONE_BUTTON, "done"), (says::LATER_BUTTON, "later")]
        .map(|(title, verb)| (title.in_language(language).into_string(), format!("/reminders {verb} {}", row.id)));
    let reminder = NewOutbox::about(Cause::reminder(row.id), address, &text, now);
    tx.outbox().post(&NewOutbox { buttons: &buttons, message, ..reminder })?;
    Ok(Fired::Posted(address))
}

/// The text as stored, with its label. Untrusted text is marked as such.
fn notice(text: &Text, language: Language, late: &str) -> Text {
    let (words, label, scope) = text.open();
    let sources = all_in_words(language, label);
    Labelled::new(Arc::from(says::told(language, words, &sources, late)), label.clone(), scope)
}

fn begin(
    tx: Tx<'_>,
    row: &ReminderRow,
    due: Timestamp,
    missed: Option<usize>,
    zone: Zone,
    now: Timestamp,
) -> anyhow::Result<Fired> {
    let (scope, job) = (row.scope(), row.job());
    if tx.slots().open_slots()?.iter().any(|slot| slot.job == job && slot.scope == scope) {
        claim_occurrence(tx, &job, scope, due, (SlotState::Missed, UnansweredReason::StillRunning.as_str()), now)?;
        tracing::warn!("Task {} is still at work: the run that is due now is left out", row.id);
        return Ok(Fired::Nothing);
    }
    let state = (SlotState::Claimed, "");
    let Some(slot) = claim_occurrence(tx, &job, scope, due, state, now)? else { return Ok(Fired::Nothing) };
    let once = |more: usize| if more > 0 { says::DO_ONCE } else { "" };
    let late = missed.map(|more| says::late(Language::ENGLISH, &zone.show(due), more, COUNTED) + once(more));
    // Who vouched for what a task grew from did not see its words.
    let is_agreed = row.agreed_at.is_some() && !row.text.label().is_trusted();
    let asked = match row.agreed_at.filter(|_| is_agreed && !row.text.label().is_trusted_here()) {
        Some(at) => says::agreed_on(&zone.show(at)),
        None => says::asked_on(&zone.show(row.created_at)),
    };
    let brief = says::to_do(&asked, &zone.show(due), &late.unwrap_or_default());
    let words = [wording::own(brief, scope).into(), AssignedText { text: row.text.clone(), is_agreed }];
    let from: Vec<Node> = row.turn.into_iter().map(Node::Turn).collect();
    let task = Assignment { person: row.person, kind: ConversationKind::Task, words: &words, from: &from, at: now };
    let run = assign(tx, &task)?.context("Somebody who could be reached cannot be any more")?;
    tx.slots().slot_works(slot, run.conversation)?;
    Ok(Fired::Begun(run.stream))
}

/// The longest delay that is not mentioned: no one reads a message to the second.
const PUNCTUAL: Duration = Duration::from_secs(5 * 60);
/// Maximum number of missed occurrences counted.
const COUNTED: usize = 100;
/// Counts the times missed since a time that was due; `None` if that was a moment ago.
fn missed_times(row: &ReminderRow, due: Timestamp, zone: Zone, now: Timestamp) -> Option<usize> {
    let more = row.recurrence().map_or(0, |cron| {
        let times = std::iter::successors(cron.next_after(due, zone), |last| cron.next_after(*last, zone));
        let end = row.until.map_or(now, |until| until.min(now));
        times.take_while(|at| *at <= end).take(COUNTED).count()
    });
    (now.since(due) > PUNCTUAL || more > 0).then_some(more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{PersonId, ReminderId};
    use crate::store::{ReminderKind, ReminderState};

    fn row(cron: &str) -> ReminderRow {
        ReminderRow {
            id: ReminderId(1),
            person: PersonId(1),
            kind: ReminderKind::Reminder,
            text: crate::wording::own("t", Scope::Person(PersonId(1))),
            cron: Some(cron.to_owned()).filter(|cron| !cron.is_empty()),
            next_at: None,
            until: None,
            turn: None,
            agreed_at: None,
            created_at: Timestamp(0),
            state: ReminderState::Waiting,
            works: false,
        }
    }

    #[test]
    fn a_delay_is_named_when_it_is_one() {
        let minutes = |minutes: u64| Timestamp(0).plus(Duration::from_secs(minutes * 60));
        for (cron, after, says) in [
            ("", 0, ""),
            ("", 5, ""),
            ("", 6, "Due earlier: 00:00; it could not come sooner."),
            ("*/15 * * * *", 4, ""),
            ("*/15 * * * *", 14, "Due earlier: 00:00; it could not come sooner."),
            ("*/15 * * * *", 15, "Due earlier: 00:00, and once more since; it could not come sooner."),
            ("*/15 * * * *", 61, "Due earlier: 00:00, and 4 times more since; it could not come sooner."),
            ("*/15 * * * *", 60_000, "Due earlier: 00:00, and 100 times or more since; it could not come sooner."),
        ] {
            let missed = missed_times(&row(cron), Timestamp(0), Zone::UTC, minutes(after));
            let late = missed.map(|more| says::late(Language::ENGLISH, "00:00", more, COUNTED));
            assert_eq!(late.unwrap_or_default(), says, "{cron} {after}");
        }
    }
}
