//! Setting aside a delivery that keeps failing, so that it does not block its chat.
//! After five failures, if the server accepts other messages meanwhile, it is set aside: its
//! address is told once, and the queue goes on.
//!
//! The server accepts others if anything else went out over the same account since the attempt
//! before the last one. If nothing did, the next message of the same address is sent as a probe,
//! followed by one more attempt; so a server that is down for everybody, or was until a moment ago,
//! costs no reply. If the notice cannot be delivered either, the owners are told instead.

use super::{AttemptPurpose, AttemptResult, Delivery, close_row, fail_parts};
use crate::id::{AddressId, OutboxId};
use crate::people::Role;
use crate::store::{Db, NewOutbox, OutboxKind, OutboxRow, PartState, Tx, Urgency};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording::{self, gateway};

/// Number of failures in a row before a message is judged.
pub(super) const FAILURES: u32 = 5;

/// Reason stored in the journal.
const REASON: &str = "set aside, because the server took others";

impl Delivery {
    /// Judges a message that has failed often enough. Returns true if it has to wait, because
    /// nothing shows that the server works. Otherwise it was set aside, or its next attempt is due
    /// at once.
    pub(super) async fn has_to_wait(
        &self,
        row: &OutboxRow,
        attempts: u32,
        held: Option<Urgency>,
    ) -> anyhow::Result<bool> {
        let failed = row.clone();
        let read = move |db: Db<'_>| {
            let accepts = failed.failed_at.map_or(Ok(false), |since| db.outbox().others_sent_since(&failed, since))?;
            Ok((accepts, db.outbox().next_behind(&failed, held)?))
        };
        let (accepts, next) = self.dispatcher.journal.read(read).await?;
        if accepts {
            return self.set_aside(row).await.map(|()| false);
        }
        // Nothing was sent meanwhile: the next message of this address is the probe.
        let Some(next) = next else { return Ok(true) };
        match Box::pin(self.deliver(&next, AttemptPurpose::Probe)).await? {
            AttemptResult::Done => {
                let (id, now) = (row.id, self.dispatcher.clock.now());
                let retry = move |tx: Tx<'_>| tx.outbox().outbox_later(id, attempts, now, "the server takes others");
                self.dispatcher.journal.write("send later", retry).await.map(|()| false)
            }
            AttemptResult::Failed(why) => self.give_up(&next, why, None).await.map(|()| true),
            AttemptResult::NotBefore(_)
            | AttemptResult::Later { .. }
            | AttemptResult::Absent
            | AttemptResult::GivenUp => Ok(true),
        }
    }

    /// Sets a message aside and posts the notice, in one transaction.
    async fn set_aside(&self, row: &OutboxRow) -> anyhow::Result<()> {
        tracing::error!(outbox.id = %row.id, "Delivery {} to address {} was set aside: others get through", row.id, self.queue.id);
        let (row, now) = (row.clone(), self.dispatcher.clock.now());
        let set_aside = move |tx: Tx<'_>| {
            let follow_up = close_row(tx, &row, PartState::Failed, REASON, now)?;
            let mut notified = Vec::new();
            match row.tells_of {
                Some(about) => {
                    fail_parts(tx, &row)?;
                    // A failed notice to an owner causes no further notice.
                    if tx.outbox().outbox_address(about)? == row.address {
                        notified = notify_owners(tx, about, now)?;
                    }
                }
                None => {
                    tx.outbox().mark_resendable(row.id, now)?;
                    notify_address(tx, &row, now)?;
                }
            }
            Ok((follow_up, notified))
        };
        let (follow_up, notified) = self.dispatcher.journal.write("set a delivery aside", set_aside).await?;
        follow_up.wake(&self.dispatcher);
        notified.into_iter().for_each(|address| self.dispatcher.wake(address));
        Ok(())
    }
}

/// Posts one notice to its own address, for everything set aside until it is delivered.
fn notify_address(tx: Tx<'_>, row: &OutboxRow, now: Timestamp) -> anyhow::Result<()> {
    let scope = row.text.scope();
    let words = if matches!(scope, Scope::Group(_)) { gateway::SET_ASIDE_IN_GROUP } else { gateway::SET_ASIDE };
    let notice = wording::own(words.in_language(tx.people().language_in(scope)?), scope);
    if tx.outbox().says_soon(row.address, &notice)? {
        return Ok(());
    }
    tx.outbox().post_about(&NewOutbox::answer(OutboxKind::Notice, row.address, &notice, now), row.id)
}

/// Posts a notice to every owner who can be reached at another address.
fn notify_owners(tx: Tx<'_>, about: OutboxId, now: Timestamp) -> anyhow::Result<Vec<AddressId>> {
    let (addresses, failing) = (tx.addresses(), tx.outbox().outbox_address(about)?);
    let Some(address) = addresses.address(failing)? else { return Ok(Vec::new()) };
    let person = addresses.who_is(&address)?.map(|(_, person)| tx.people().person(person)).transpose()?.flatten();
    let text = gateway::set_aside_of(person.as_ref().map(|person| &*person.name), &address.adapter, about);
    let mut notified = Vec::new();
    for owner in tx.people().people()?.into_iter().filter(|person| person.role == Role::Owner) {
        let known = addresses.addresses_of(owner.id)?.into_iter().map(|known| known.id);
        for place in addresses.reached_at(owner.id)?.into_iter().chain(known) {
            if place == failing || !addresses.has_written_from(place)? {
                continue;
            }
            let notice = wording::own(text.clone(), Scope::Person(owner.id));
            tx.outbox().post_about(&NewOutbox::notice(place, &notice, now), about)?;
            notified.push(place);
            break;
        }
    }
    Ok(notified)
}
