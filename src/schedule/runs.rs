//! What becomes of the runs that the schedule assigned by itself: those of the heartbeat and of
//! tasks.
//!
//! A run is a slot that is `working`. When its turn is over, what the person is told and the end of
//! the slot are one transaction, so an answer is posted once however often the program dies. Where
//! it goes is looked up then: who is let in no longer is told nothing.

use super::Schedule;
use crate::engine::system_run::{self, RunOutcome};
use crate::id::{AddressId, MessageId, PersonId};
use crate::store::{NewOutbox, OutboxKind, SlotRow, SlotState, Tx};
use crate::time::Timestamp;
use crate::trust::{Scope, Text};

/// Why a slot failed whose person cannot be told.
const NOBODY_TO_TELL: &str = "nobody_to_tell";

/// A run that is over.
pub(super) struct Ended {
    /// Its slot, which is still open.
    pub slot: SlotRow,
    /// What became of it.
    pub outcome: RunOutcome,
}

impl Schedule {
    /// The runs of these jobs that are over while their slots are open.
    pub(super) async fn ended(&self, mine: fn(&str) -> bool) -> anyhow::Result<Vec<Ended>> {
        self.journal
            .read(move |db| {
                let open = db.slots().open_slots()?.into_iter().filter(|slot| mine(&slot.job));
                let mut ended = Vec::new();
                for slot in open {
                    // Claimed and assigned is one step, so there is none without a conversation;
                    // were there one, it is no run.
                    let never = || Ok(RunOutcome::GaveUp { reason: "never_asked".to_owned() });
                    let outcome =
                        slot.conversation.map_or_else(never, |conversation| system_run::outcome(db, conversation))?;
                    if outcome != RunOutcome::Open {
                        ended.push(Ended { slot, outcome });
                    }
                }
                Ok(ended)
            })
            .await
    }
}

/// Ends a slot with its answer, which is posted. `None` if it was over already, or nobody can be
/// told.
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

/// Where the person of a slot is reached.
pub(super) fn address(tx: Tx<'_>, slot: &SlotRow) -> anyhow::Result<Option<AddressId>> {
    person(slot).map_or(Ok(None), |person| system_run::address_of(*tx, person))
}

fn person(slot: &SlotRow) -> Option<PersonId> {
    match slot.scope {
        Scope::Person(person) => Some(person),
        Scope::Group(_) | Scope::Shared => None,
    }
}
