//! Reminders and tasks at the times that people asked for.
//!
//! A due reminder or task takes effect in one transaction with the row that records it ([`fire`]).
//! A reminder is posted, and its row ended or moved. A task claims its slot, assigns the run and
//! moves its row. An occurrence of a recurring item is identified by the instant at which it was
//! due, so none happens twice, regardless of clock changes. Several missed occurrences become one,
//! which says so.
//!
//! The stored next time of a recurring item is only a note of what the expression gives in the
//! current zone. Where the two differ (the zone was changed, or the clock was ahead and set right)
//! the expression wins. The exception is a clock behind the newest message, as on a computer that
//! does not know the time yet: a time planned then would be reported as years late once the clock
//! is right.

mod fire;
mod times;

use std::time::Duration;

use super::Schedule;
use super::runs::{self, FinishedRun};
use crate::engine::system_run::RunOutcome;
use crate::id::{AddressId, ReminderId};
use crate::store::{Db, NewOutbox, ReminderRow, SlotRow, SlotState, Tx};
use crate::time::{Timestamp, Zone};
use crate::wording::{self, reminder as says};
use fire::Fired;

/// Delay before the next check while a person is unreachable or a run is open. No wake-up announces
/// the first, and the wake-up at the end of a run can be missed.
const AGAIN: Duration = Duration::from_secs(10 * 60);

impl Schedule {
    /// Does what is due, and returns the time of the next check.
    pub(super) async fn reminders(&self) -> anyhow::Result<Option<Timestamp>> {
        self.end_tasks().await?;
        let (now, zone) = (self.clock.now(), self.zone);
        let (due, misplaced) = self.journal.read(move |db| sort(db, now, zone)).await?;
        if !misplaced.is_empty() {
            let moves =
                move |tx: Tx<'_>| misplaced.iter().try_for_each(|(id, at)| tx.reminders().move_reminder(*id, *at));
            self.journal.write("plan anew", moves).await?;
        }
        for id in due {
            self.fire(id, now).await?;
        }
        self.journal.read(move |db| next_check(db, now)).await
    }

    async fn fire(&self, id: ReminderId, now: Timestamp) -> anyhow::Result<()> {
        let zone = self.zone;
        let fired = self.journal.write("fire a reminder", move |tx| fire::fire(tx, id, zone, now));
        match fired.await? {
            Fired::Nothing => {}
            Fired::Posted(address) => self.audience.posted(address),
            Fired::Begun(stream) => self.engine.wake_stream(stream),
        }
        Ok(())
    }

    /// Posts the outcomes of finished runs.
    async fn end_tasks(&self) -> anyhow::Result<()> {
        let (now, zone) = (self.clock.now(), self.zone);
        for ended in self.ended(is_task).await? {
            let posted = self.journal.write("end a task", move |tx| match &ended {
                FinishedRun { slot, outcome: RunOutcome::Answered { text, message, .. } } => {
                    runs::answer(tx, slot, *message, text, now)
                }
                FinishedRun { slot, outcome: RunOutcome::GaveUp { reason } } => not_done(tx, slot, reason, zone, now),
                FinishedRun { outcome: RunOutcome::Open, .. } => Ok(None),
            });
            if let Some(address) = posted.await? {
                self.audience.posted(address);
            }
        }
        Ok(())
    }
}

fn is_task(job: &str) -> bool {
    task_of(job).is_some()
}

fn task_of(job: &str) -> Option<ReminderId> {
    job.strip_prefix("task:")?.parse().ok().map(ReminderId)
}

/// Due reminders, and those whose stored time differs from their expression.
type DueReminders = (Vec<ReminderId>, Vec<(ReminderId, Timestamp)>);

fn sort(db: Db<'_>, now: Timestamp, zone: Zone) -> anyhow::Result<DueReminders> {
    let (mut due, mut misplaced) = DueReminders::default();
    let is_behind = db.conversations().high_water()?.is_some_and(|mark| now < mark);
    for row in db.reminders().waiting_reminders()? {
        if is_due(&row, now) {
            due.push(row.id);
        } else if !is_behind
            && let Some(at) = times::next(&row, zone, now)
            && row.next_at != Some(at)
        {
            misplaced.push((row.id, at));
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
    Ok(later.chain(open.then(|| now.plus(AGAIN))).min())
}

/// Reports a run that gave up in one sentence. It is not retried before its next time.
fn not_done(tx: Tx<'_>, slot: &SlotRow, reason: &str, zone: Zone, now: Timestamp) -> anyhow::Result<Option<AddressId>> {
    if !tx.slots().end_slot(slot.id, SlotState::Failed, reason, now)? {
        return Ok(None);
    }
    let Some((address, id)) = runs::address(tx, slot)?.zip(task_of(&slot.job)) else { return Ok(None) };
    let sentence = says::not_done(id, &zone.show(slot.due_at), says::why_not(reason));
    tx.outbox().post(&NewOutbox::notice(address, &wording::own(sentence, slot.scope), now))?;
    Ok(Some(address))
}
