//! Setting aside a message that keeps failing, so that it does not block its chat.
//! After five failures, if the server accepts other messages meanwhile, it is set aside: its
//! address is told once, and the queue goes on.
//!
//! The server accepts others if anything else went out over the same account since the attempt
//! before the last one. If nothing did, the next message of the same address is sent as a probe,
//! followed by one more attempt; so a server that is down for everybody, or was until a moment ago,
//! costs no reply. If the notice cannot be delivered either, the owners are told instead.

use std::sync::Arc;

use super::super::dispatcher::{DeliveryQueue, Dispatcher};
use super::{AttemptPurpose, AttemptResult, close_row, deliver, give_up};
use crate::id::{AddressId, OutboxId};
use crate::people::Role;
use crate::store::{Db, NewOutbox, OutboxRow, PartState, Tx};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording::{self, gate};

/// Number of failures in a row before a message is judged.
pub(super) const FAILURES: u32 = 5;

/// Reason stored in the journal.
const REASON: &str = "set aside, because the server took others";

/// Decision about a message that has failed often enough.
pub(super) enum SetAsideDecision {
    /// Nothing shows that the server works.
    Wait,
    /// The server has just begun to accept others; one more attempt decides.
    TryAgain,
    /// The server accepted others between the last two attempts.
    SetAside,
}

/// Decides whether the server accepts other messages, with the next one of this address as a probe
/// if nothing was sent meanwhile.
pub(super) async fn decide(
    desks: &Arc<Dispatcher>,
    lane: &Arc<DeliveryQueue>,
    row: &OutboxRow,
) -> anyhow::Result<SetAsideDecision> {
    let failed = row.clone();
    let look = move |db: Db<'_>| {
        let since = Some(failed.failed_at).filter(|at| *at > Timestamp(0));
        let is_taken = since.map_or(Ok(false), |since| db.outbox().others_sent_since(&failed, since))?;
        Ok((is_taken, db.outbox().next_behind(&failed)?))
    };
    let (is_taken, next) = desks.journal.read(look).await?;
    if is_taken {
        return Ok(SetAsideDecision::SetAside);
    }
    let Some(next) = next else { return Ok(SetAsideDecision::Wait) };
    match Box::pin(deliver(desks, lane, &next, AttemptPurpose::Probe)).await? {
        AttemptResult::Done => Ok(SetAsideDecision::TryAgain),
        AttemptResult::Failed(why) => give_up(desks, &next, why, None).await.map(|()| SetAsideDecision::Wait),
        AttemptResult::NotBefore(_) | AttemptResult::Later { .. } | AttemptResult::Absent | AttemptResult::GivenUp => {
            Ok(SetAsideDecision::Wait)
        }
    }
}

/// Makes the next attempt due at once.
pub(super) async fn try_again(desks: &Arc<Dispatcher>, row: &OutboxRow, attempts: u32) -> anyhow::Result<()> {
    let (id, now) = (row.id, desks.clock.now());
    desks
        .journal
        .write("send later", move |tx| tx.outbox().outbox_later(id, attempts, now, "the server takes others"))
        .await
}

/// Sets a message aside and posts the notice, in one transaction.
pub(super) async fn set_aside(
    desks: &Arc<Dispatcher>,
    lane: &Arc<DeliveryQueue>,
    row: &OutboxRow,
) -> anyhow::Result<()> {
    tracing::error!(outbox.id = %row.id, "Delivery {} to address {} was set aside: others get through", row.id, lane.id);
    let (row, now) = (row.clone(), desks.clock.now());
    let (counts, told) = desks
        .journal
        .write("set a delivery aside", move |tx| {
            let counts = close_row(tx, &row, PartState::Failed, REASON, now)?;
            let told = match row.tells_of {
                Some(about) => {
                    drop_parts(tx, &row)?;
                    // A failed notice to an owner causes no further notice.
                    if tx.outbox().outbox_address(about)? == row.address {
                        notify_owners(tx, about, now)?
                    } else {
                        Vec::new()
                    }
                }
                None => {
                    tx.outbox().mark_resendable(row.id, now)?;
                    notify_address(tx, &row, now)?;
                    Vec::new()
                }
            };
            Ok((counts, told))
        })
        .await?;
    counts.wake(desks);
    for address in told {
        desks.wake(address);
    }
    Ok(())
}

fn drop_parts(tx: Tx<'_>, row: &OutboxRow) -> anyhow::Result<()> {
    for part in tx.outbox().parts(row.id)? {
        if part.state != PartState::Sent {
            tx.outbox().part_over(part.id, PartState::Failed, "")?;
        }
    }
    Ok(())
}

/// Posts one notice to its own address, for everything set aside until it is delivered.
fn notify_address(tx: Tx<'_>, row: &OutboxRow, now: Timestamp) -> anyhow::Result<()> {
    let scope = row.text.scope();
    let words = if matches!(scope, Scope::Group(_)) { gate::SET_ASIDE_IN_GROUP } else { gate::SET_ASIDE };
    let notice = wording::own(words, scope);
    if tx.outbox().says_soon(row.address, &notice)? {
        return Ok(());
    }
    tx.outbox().post_about(&NewOutbox::notice(row.address, &notice, now), row.id)
}

/// Posts a notice to every owner who can be reached at another address.
fn notify_owners(tx: Tx<'_>, about: OutboxId, now: Timestamp) -> anyhow::Result<Vec<AddressId>> {
    let silent = tx.outbox().outbox_address(about)?;
    let Some(address) = tx.addresses().address(silent)? else { return Ok(Vec::new()) };
    let whose = tx.addresses().who_is(&address)?.map(|(_, person)| tx.people().person(person)).transpose()?.flatten();
    let text = gate::set_aside_of(whose.as_ref().map(|person| &*person.name), &address.adapter, about);
    let mut told = Vec::new();
    for owner in tx.people().people()?.into_iter().filter(|person| person.role == Role::Owner) {
        let mut places: Vec<AddressId> = tx.addresses().reached_at(owner.id)?.into_iter().collect();
        places.extend(tx.addresses().addresses_of(owner.id)?.into_iter().map(|known| known.id));
        let mut heard = Vec::new();
        for place in places.into_iter().filter(|place| *place != silent) {
            if tx.addresses().has_written_from(place)? {
                heard.push(place);
            }
        }
        let Some(place) = heard.first() else { continue };
        let notice = wording::own(text.clone(), Scope::Person(owner.id));
        tx.outbox().post_about(&NewOutbox::notice(*place, &notice, now), about)?;
        told.push(*place);
    }
    Ok(told)
}
