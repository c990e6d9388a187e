//! `/reminders done` and `/reminders later`: answers to a reminder that has come.
//!
//! `later` sets the text once more, as a single reminder. The occurrence is claimed in the same
//! transaction, so that a second press, also after a restart, sets nothing. `done` ends that
//! repetition too.

use std::time::Duration;

use serde_json::json;

use super::JobsAdmin;
use super::answer::Answer;
use crate::engine::system_run::address_of;
use crate::id::{PersonId, ReminderId};
use crate::people::Person;
use crate::store::{Cause, NewReminder, NewSlot, ReminderKind, ReminderRow, ReminderState, SlotState, Tx};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording::{self, Language, ProgramText, reminder as says};

/// Time after which a reminder comes once more.
const LATER: Duration = Duration::from_secs(3600);

impl JobsAdmin<'_> {
    /// Ends one of a person's reminders, and its repetitions. A recurring one goes on.
    pub(super) async fn finish_reminder(
        &self,
        person: &Person,
        id: ReminderId,
        language: Language,
    ) -> anyhow::Result<Answer> {
        let (whose, now) = (person.id, self.clock.now());
        let zone = self.engine.zone_of(Scope::Person(whose)).await?;
        let finish = move |tx: Tx<'_>| {
            let row = tx.reminders().reminder(id)?.filter(|row| row.person == whose);
            if row.as_ref().is_some_and(|row| row.cron.is_none()) {
                tx.reminders().end_reminder(id, ReminderState::Done, now)?;
            }
            let Some(row) = row else { return Ok(None) };
            for again in tx.reminders().repetitions_of(id)? {
                tx.reminders().end_reminder(again, ReminderState::Done, now)?;
            }
            let next = row.next_at.filter(|_| row.cron.is_some() && row.state == ReminderState::Waiting);
            let next = next.map(|at| language.to_come(zone, at, now));
            let answer = says::finished(language, next.as_deref());
            record(tx, whose, id, answer.clone(), now)?;
            Ok(Some(answer))
        };
        Ok(match self.journal.write("finish a reminder", finish).await? {
            Some(answer) => Answer::ours(answer, json!({ "done": id })),
            None => Answer::refusal(says::no_such_reminder(language, id)),
        })
    }

    /// Sets a reminder that has come once more.
    pub(super) async fn snooze_reminder(
        &self,
        person: &Person,
        id: ReminderId,
        language: Language,
    ) -> anyhow::Result<Answer> {
        let (whose, now) = (person.id, self.clock.now());
        let at = now.plus(LATER);
        let zone = self.engine.zone_of(Scope::Person(whose)).await?;
        let answer = says::again_at(language, &language.to_come(zone, at, now));
        let snooze = move |tx: Tx<'_>| {
            let row = tx.reminders().reminder(id)?;
            let Some(row) = row.filter(|row| row.person == whose && row.kind == ReminderKind::Reminder) else {
                return Ok(Err(says::no_such_reminder(language, id)));
            };
            let Some(last) = tx.slots().last_slot(row.scope(), &row.job())? else {
                return Ok(Err(says::not_come(language, id)));
            };
            if !claim(tx, &row, last.due_at, now)? {
                return Ok(Err(says::LATER_ALREADY.in_language(language).into_string()));
            }
            tx.reminders().add_reminder(&NewReminder {
                person: row.person,
                kind: ReminderKind::Reminder,
                text: &row.text,
                cron: None,
                next_at: at,
                until: None,
                turn: row.turn,
                agreed_at: row.agreed_at,
                at: now,
            })?;
            record(tx, whose, id, answer.clone(), now)?;
            Ok(Ok(answer))
        };
        let answer = match self.journal.write("set a reminder again", snooze).await? {
            Ok(answer) => answer,
            Err(refusal) => return Ok(Answer::refusal(refusal)),
        };
        self.engine.wake_schedule();
        Ok(Answer::ours(answer, json!({ "again_at": at.rfc3339() })))
    }
}

/// Records the answer to a reminder for the turn that comes next.
fn record(tx: Tx<'_>, person: PersonId, id: ReminderId, answer: ProgramText, now: Timestamp) -> anyhow::Result<()> {
    let Some(address) = address_of(*tx, person)? else { return Ok(()) };
    let text = wording::own(answer, Scope::Person(person));
    tx.sent().record(address, Cause::reminder(id), &text, now).map(drop)
}

/// Claims the repetition of an occurrence. Returns false if it was claimed before.
fn claim(tx: Tx<'_>, row: &ReminderRow, due: Timestamp, now: Timestamp) -> anyhow::Result<bool> {
    let claimed = tx.slots().claim_slot(&NewSlot {
        job: &format!("later:{}", row.id),
        scope: row.scope(),
        period: &due.rfc3339(),
        from: due,
        to: due,
        due_at: due,
        state: SlotState::Done,
        reason: "",
        again: false,
        at: now,
    })?;
    Ok(claimed.is_some())
}
