//! One due reminder or task, in one transaction with the row that records it.

use std::sync::Arc;

use anyhow::Context;

use super::times;
use crate::engine::system_run::{Assignment, RunKind, address_of, assign};
use crate::id::{AddressId, ReminderId, SlotId, StreamId};
use crate::store::{NewOutbox, NewSlot, Node, ReminderKind, ReminderRow, ReminderState, SlotState, Tx};
use crate::time::{Timestamp, Zone};
use crate::trust::{Labelled, Text};
use crate::wording::{self, reminder as says};

/// Reason for a skipped run.
const STILL_RUNNING: &str = "still_running";

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
pub(super) fn fire(tx: Tx<'_>, id: ReminderId, zone: Zone, now: Timestamp) -> anyhow::Result<Fired> {
    let Some(row) = tx.reminders().reminder(id)?.filter(|row| row.state == ReminderState::Waiting) else {
        return Ok(Fired::Nothing);
    };
    let Some(due) = row.next_at.filter(|due| *due <= now) else { return Ok(Fired::Nothing) };
    let (Some(_), Some(address)) = (tx.people().person(row.person)?, address_of(*tx, row.person)?) else {
        return Ok(Fired::Nothing);
    };
    let late = times::late(&row, due, zone, now);
    let fired = match row.kind {
        ReminderKind::Reminder => notify(tx, &row, due, address, &late, now)?,
        ReminderKind::Task => begin(tx, &row, due, &late, zone, now)?,
    };
    match times::next(&row, zone, now) {
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
    if claim(tx, row, due, SlotState::Done, "", now)?.is_none() {
        return Ok(Fired::Nothing);
    }
    tx.outbox().post(&NewOutbox::notice(address, &notice(&row.text, late), now))?;
    Ok(Fired::Posted(address))
}

/// The text as stored, with its label. Untrusted text is marked as such.
fn notice(text: &Text, late: &str) -> Text {
    let (words, label, scope) = text.open();
    let sources = if label.is_trusted() { String::new() } else { label.encode() };
    Labelled::new(Arc::from(says::told(words, &sources, late)), label.clone(), scope)
}

fn begin(
    tx: Tx<'_>,
    row: &ReminderRow,
    due: Timestamp,
    late: &str,
    zone: Zone,
    now: Timestamp,
) -> anyhow::Result<Fired> {
    let (scope, job) = (row.scope(), row.job());
    if tx.slots().open_slots()?.iter().any(|slot| slot.job == job && slot.scope == scope) {
        claim(tx, row, due, SlotState::Missed, STILL_RUNNING, now)?;
        tracing::warn!("Task {} is still at work: the run that is due now is left out", row.id);
        return Ok(Fired::Nothing);
    }
    let Some(slot) = claim(tx, row, due, SlotState::Claimed, "", now)? else { return Ok(Fired::Nothing) };
    let asked = says::to_do(&zone.show(row.created_at), &zone.show(due), late);
    let words = [wording::own(asked, scope), row.text.clone()];
    let from: Vec<Node> = row.turn.into_iter().map(Node::Turn).collect();
    let task = Assignment { person: row.person, kind: RunKind::Task, words: &words, from: &from, at: now };
    let run = assign(tx, &task)?.context("Somebody who could be reached cannot be any more")?;
    tx.slots().slot_works(slot, run.conversation)?;
    Ok(Fired::Begun(run.stream))
}

/// Claims the occurrence due at that time. `None` if it was claimed before.
fn claim(
    tx: Tx<'_>,
    row: &ReminderRow,
    due: Timestamp,
    state: SlotState,
    reason: &str,
    now: Timestamp,
) -> anyhow::Result<Option<SlotId>> {
    tx.slots().claim_slot(&NewSlot {
        job: &row.job(),
        scope: row.scope(),
        period: &due.rfc3339(),
        from: due,
        to: due,
        due_at: due,
        state,
        reason,
        again: false,
        at: now,
    })
}
