//! Access from the configuration at the start, and notices after a long absence.

mod declaration;
mod identity;

use std::time::Duration;

use declaration::Declaration;

use crate::adapter::Adapter;
use crate::config::Config;
use crate::gateway::intake;
use crate::id::{AddressId, PersonId};
use crate::message::ChannelKind;
use crate::people::Address;
use crate::store::{Journal, NewOutbox, Tx};
use crate::time::Timestamp;
use crate::trust::Scope;
use crate::wording;

/// Absence after which messages may be lost: Telegram keeps them for a day.
const LONG_ABSENCE: Duration = Duration::from_secs(24 * 3600);

/// Grants access to the people of the configuration, and revokes it from those that it no longer
/// names. Notifies the owners of every new person.
pub(super) async fn declare_people(journal: &Journal, config: &Config, now: Timestamp) -> anyhow::Result<()> {
    let people = config.people.clone();
    journal.write("declare people", move |tx| Declaration { tx, now }.declare(&people)).await
}

/// Links the configured addresses of an adapter whose account is known by now.
pub(super) async fn declare_addresses(journal: &Journal, adapter: &dyn Adapter, now: Timestamp) -> anyhow::Result<()> {
    let (name, account) = (adapter.name(), adapter.account());
    journal
        .write("declare addresses", move |tx| {
            for (peer, person) in tx.people().declared_on(name)? {
                join(tx, &Address::new(name, &account, &peer), person, now)?;
            }
            Ok(())
        })
        .await
}

/// Links a declared address to its person. A person who was paired under this address alone is
/// merged into that person.
fn join(tx: Tx<'_>, address: &Address, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
    let before = tx.addresses().declared_for(address)?.filter(|before| *before != person);
    let is_only = |before| {
        Ok::<_, anyhow::Error>(tx.people().was_paired(before)? && tx.addresses().addresses_of(before)?.len() == 1)
    };
    match before {
        Some(before) if is_only(before)? && !tx.people().is_at_rest(before)? => {
            tracing::warn!(person.id = %before, "Person {before} is still being answered; their address is joined at the next start");
            Ok(())
        }
        Some(before) if is_only(before)? => {
            tx.people().absorb(before, person, now)?;
            tx.addresses().link(address, Some(person), now).map(|_| ())
        }
        _ => tx.addresses().link(address, Some(person), now).map(|_| ()),
    }
}

/// Notifies everyone who writes through this adapter after a long absence, once.
pub(super) async fn announce_absence(
    journal: &Journal,
    adapter: &dyn Adapter,
    now: Timestamp,
) -> anyhow::Result<Vec<AddressId>> {
    let (name, account) = (adapter.name(), adapter.account());
    if name == ChannelKind::Terminal.name() {
        return Ok(Vec::new());
    }
    journal
        .write("tell of an absence", move |tx| {
            let fact = intake::last_alive_key(name);
            let alive_at = tx.settings().fact(&fact)?.and_then(|at| at.parse().ok()).map_or(now, Timestamp);
            tx.settings().set_fact(&fact, &now.0.to_string())?;
            if now.since(alive_at) <= LONG_ABSENCE {
                return Ok(Vec::new());
            }
            let mut told = Vec::new();
            for person in tx.people().people()? {
                let here = tx
                    .addresses()
                    .addresses_of(person.id)?
                    .into_iter()
                    .find(|known| known.address.adapter == name && known.address.account == account);
                let Some(here) = here else { continue };
                // Without an earlier message nothing can be missed, and Telegram allows messages
                // only to people who have written first.
                if !tx.addresses().has_written_from(here.id)? {
                    continue;
                }
                let text = wording::own(wording::turn::away(now.since(alive_at)), Scope::Person(person.id));
                tx.outbox().post(&NewOutbox::notice(here.id, &text, now))?;
                told.push(here.id);
            }
            Ok(told)
        })
        .await
}
