//! Outcomes of the runs that the schedule assigns by itself: heartbeats and tasks.
//!
//! A run is a slot in state `working`. When its turn is over, the message to the person and the end
//! of the slot are one transaction, so an answer is posted once even if the program crashes
//! repeatedly. The address is looked up at that time: a person whose access was revoked receives
//! nothing.

use super::Schedule;
use crate::engine::system_run::{self, RunOutcome};
use crate::id::{AddressId, MessageId, PersonId};
use crate::store::{NewOutbox, OutboxKind, SlotRow, SlotState, Tx};
use crate::time::Timestamp;
use crate::trust::{Scope, Text};

/// Failure reason of a slot whose person cannot be reached.
const NOBODY_TO_TELL: &str = "nobody_to_tell";

/// A finished run.
pub(super) struct FinishedRun {
    /// The slot, which is still open.
    pub slot: SlotRow,
    pub outcome: RunOutcome,
}

impl Schedule {
    /// Finished runs whose slots are still open, for the jobs selected by `mine`.
    pub(super) async fn ended(&self, mine: fn(&str) -> bool) -> anyhow::Result<Vec<FinishedRun>> {
        self.journal
            .read(move |db| {
                let open = db.slots().open_slots()?.into_iter().filter(|slot| mine(&slot.job));
                let mut ended = Vec::new();
                for slot in open {
                    // Claim and assignment are one step, so every slot has a conversation. One
                    // without would not be a run.
                    let never = || Ok(RunOutcome::GaveUp { reason: "never_asked".to_owned() });
                    let outcome =
                        slot.conversation.map_or_else(never, |conversation| system_run::outcome(db, conversation))?;
                    if outcome != RunOutcome::Open {
                        ended.push(FinishedRun { slot, outcome });
                    }
                }
                Ok(ended)
            })
            .await
    }
}

/// Ends a slot with its answer and posts it. `None` if the slot was over already, or the person
/// cannot be reached.
pub(super) fn answer(
    tx: Tx<'_>,
    slot: &SlotRow,
    message: MessageId,
    text: &Text,
    now: Timestamp,
) -> anyhow::Result<Option<AddressId>> {
    let Some(address) = address(tx, slot)? else {
        tx.slots().end_slot(slot.id, SlotState::Failed, NOBODY_TO_TELL, now)?;
        return Ok(None);
    };
    if !tx.slots().end_slot(slot.id, SlotState::Done, "", now)? {
        return Ok(None);
    }
    let (kind, message) = (OutboxKind::Reply, Some(message));
    tx.outbox().post(&NewOutbox { address, kind, message, text, buttons: &[], quotes: "", at: now })?;
    Ok(Some(address))
}

/// The address of a slot's person.
pub(super) fn address(tx: Tx<'_>, slot: &SlotRow) -> anyhow::Result<Option<AddressId>> {
    person(slot).map_or(Ok(None), |person| system_run::address_of(*tx, person))
}

fn person(slot: &SlotRow) -> Option<PersonId> {
    match slot.scope {
        Scope::Person(person) => Some(person),
        Scope::Group(_) | Scope::Shared => None,
    }
}
