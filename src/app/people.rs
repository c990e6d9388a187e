//! Access from the configuration at the start, and notices after a long absence.

mod identity;

use std::time::Duration;

use crate::adapter::Adapter;
use crate::admin::owner_notice::OwnerNotice;
use crate::admin::{PREFERRED_MODEL, owner_notice};
use crate::config::Config;
use crate::gateway::intake;
use crate::id::{AddressId, PersonId};
use crate::message::ChannelKind;
use crate::people::{Address, KnownAddress, Person};
use crate::spend::ModelPool;
use crate::store::{Db, Journal, KnownPerson, NewOutbox, Tx};
use crate::text::shorten;
use crate::time::{Timestamp, Zone};
use crate::trust::Scope;
use crate::{config, wording};
use identity::{ConfiguredPerson, persons_meant};

/// Absence after which messages may be lost: Telegram keeps them for a day.
const LONG_ABSENCE: Duration = Duration::from_secs(24 * 3600);

/// Grants access to the people of the configuration, and revokes it from those that it no longer
/// names. Notifies the owners of every new person.
pub(super) async fn declare_people(journal: &Journal, config: &Config, now: Timestamp) -> anyhow::Result<()> {
    let (people, language) = (config.people.clone(), config.language);
    let declare = move |tx: Tx<'_>| {
        tx.people().set_home_language(language)?;
        Declaration { tx, now }.declare(&people)
    };
    journal.write("declare people", declare).await
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

/// Notifies everyone who writes through this adapter after a long absence, once. Before its first
/// connection an adapter may not know its account; then the newest address of a person counts.
pub(super) async fn announce_absence(
    journal: &Journal,
    adapter: &dyn Adapter,
    now: Timestamp,
) -> anyhow::Result<Vec<AddressId>> {
    let (name, account) = (adapter.name(), adapter.account());
    if ChannelKind::is_attended(name) {
        return Ok(Vec::new());
    }
    journal
        .write("tell of an absence", move |tx| {
            let absence = absence(*tx, name, now)?;
            let is_here = |known: &KnownAddress| {
                known.address.adapter == name && (account.is_empty() || known.address.account == account)
            };
            tx.settings().set_fact(&intake::last_alive_key(name), &now.0.to_string())?;
            if absence <= LONG_ABSENCE {
                return Ok(Vec::new());
            }
            let mut notified = Vec::new();
            for person in tx.people().people()? {
                let Some(here) = tx.addresses().addresses_of(person.id)?.into_iter().find(is_here) else { continue };
                // Without an earlier message nothing can be missed, and Telegram allows messages
                // only to people who have written first.
                if !tx.addresses().has_written_from(here.id)? {
                    continue;
                }
                let text = wording::own(
                    wording::turn::away(tx.people().language_of(person.id)?, absence),
                    Scope::Person(person.id),
                );
                tx.outbox().post(&NewOutbox::notice(here.id, &text, now))?;
                notified.push(here.id);
            }
            Ok(notified)
        })
        .await
}

/// Like [`announce_absence`], at the start, before anything overdue is sent. A short absence ends
/// only with the connection.
pub(super) async fn announce_absence_at_start(
    journal: &Journal,
    adapter: &dyn Adapter,
    now: Timestamp,
) -> anyhow::Result<Vec<AddressId>> {
    let name = adapter.name();
    if journal.read(move |db| absence(db, name, now)).await? <= LONG_ABSENCE {
        return Ok(Vec::new());
    }
    announce_absence(journal, adapter, now).await
}

/// Returns the time since that adapter could last receive.
fn absence(db: Db<'_>, adapter: &str, now: Timestamp) -> anyhow::Result<Duration> {
    let alive_at = db.settings().fact(&intake::last_alive_key(adapter))?.and_then(|at| at.parse().ok());
    Ok(now.since(alive_at.map_or(now, Timestamp)))
}

/// Ends the choice of a model that is no longer configured, and notifies the owners.
pub(super) async fn end_preference(
    journal: &Journal,
    preferred: &str,
    models: &ModelPool,
    now: Timestamp,
) -> anyhow::Result<()> {
    let first = models.info(0).map(|info| info.full_name()).unwrap_or_default();
    let notice = OwnerNotice::model_gone(preferred, &first);
    journal
        .write("end the choice of a model", move |tx| {
            tx.settings().drop_fact(PREFERRED_MODEL)?;
            owner_notice::notify_owners(tx, &tx.people().reachable_owners()?, &notice, now).map(drop)
        })
        .await
}

/// Maximum length of the part of a name that a replacement name keeps.
const NAME_START: usize = 30;

/// A declaration at a point in time.
pub(super) struct Declaration<'a> {
    pub(super) tx: Tx<'a>,
    pub(super) now: Timestamp,
}

impl Declaration<'_> {
    /// Grants access to everyone who is named, and revokes it from people who had it only through
    /// the configuration and are no longer named.
    pub(super) fn declare(&self, people: &[config::Person]) -> anyhow::Result<()> {
        let known = self.tx.people().known_people()?;
        let entries: Vec<ConfiguredPerson> = people.iter().map(entry_of).collect();
        let meant = persons_meant(&entries, &known);
        let is_meant = |known: &KnownPerson| meant.contains(&Some(known.id));
        for gone in known.iter().filter(|known| known.is_in && known.by_config && !is_meant(known)) {
            self.tx.people().disallow(gone.id, self.now)?;
        }
        self.clear_names(&entries, &known, &meant)?;
        let mut notices = Vec::new();
        for ((person, entry), meant) in people.iter().zip(&entries).zip(&meant) {
            let id = match known.iter().find(|known| Some(known.id) == *meant) {
                Some(before) => self.retain(person, entry, before, &mut notices)?,
                None => {
                    let earlier = known.iter().filter(|known| !is_meant(known) && entry.may_mean(known));
                    let earlier = earlier.max_by_key(|known| (known.is_in, known.id));
                    self.add(person, earlier, &mut notices)?
                }
            };
            self.tx.people().set_prefer(id, person.prefer.as_deref().unwrap_or_default())?;
            self.tx.people().set_hours(id, person.zone.map_or("", Zone::name), &person.quiet_hours)?;
            self.tx.people().set_language(id, person.language)?;
            self.tx.people().declare_addresses_of(id, &entry.addresses, self.now)?;
        }
        let owners = self.tx.people().reachable_owners()?;
        for notice in &notices {
            owner_notice::notify_owners(self.tx, &owners, notice, self.now)?;
        }
        Ok(())
    }

    /// Frees the names that entries need: names may be swapped, or used by a paired person.
    fn clear_names(
        &self,
        entries: &[ConfiguredPerson],
        known: &[KnownPerson],
        meant: &[Option<PersonId>],
    ) -> anyhow::Result<()> {
        for person in known.iter().filter(|person| person.is_in) {
            let entry = entries.iter().zip(meant).find(|(_, meant)| **meant == Some(person.id));
            match entry {
                Some((entry, _)) if entry.name == person.name => {}
                Some(_) => self.tx.people().rename(person.id, &format!("#{}", person.id))?,
                None if !person.by_config && entries.iter().any(|entry| entry.has_name_of(person)) => {
                    self.tx.people().rename(person.id, &self.other_name(person, entries)?)?;
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Returns another name for a paired person whose name an entry gives to a different person.
    fn other_name(&self, person: &KnownPerson, entries: &[ConfiguredPerson]) -> anyhow::Result<String> {
        let start = shorten(&person.name, NAME_START).trim_end_matches('…').trim_end().to_owned();
        let mut number = person.id.0;
        loop {
            let name = format!("{start} {number}");
            let is_wanted = entries.iter().any(|entry| entry.name.to_lowercase() == name.to_lowercase());
            if !is_wanted && self.tx.people().person_named(&name)?.is_none() {
                return Ok(name);
            }
            number += 1;
        }
    }

    fn retain(
        &self,
        person: &config::Person,
        entry: &ConfiguredPerson,
        before: &KnownPerson,
        notices: &mut Vec<OwnerNotice>,
    ) -> anyhow::Result<PersonId> {
        if !before.is_in {
            self.tx.people().readmit(before.id, &person.name, person.role, "config")?;
            notices.push(OwnerNotice::configured(&person.name, person.role));
            return Ok(before.id);
        }
        self.tx.people().set_role(before.id, person.role, "config", self.now)?;
        self.tx.people().rename(before.id, &person.name)?;
        let is_new =
            |address: &&(String, String)| !before.declared.contains(address) && !before.linked.contains(address);
        for (adapter, peer) in entry.addresses.iter().filter(is_new) {
            notices.push(OwnerNotice::configured_address(&person.name, adapter, peer));
        }
        Ok(before.id)
    }

    fn add(
        &self,
        person: &config::Person,
        earlier: Option<&KnownPerson>,
        notices: &mut Vec<OwnerNotice>,
    ) -> anyhow::Result<PersonId> {
        let added = self.tx.people().add_person(&person.name, person.role, "config", self.now)?;
        self.tx.people().set_namesake(added.id, earlier.map(|earlier| earlier.id))?;
        notices.push(match earlier {
            Some(earlier) => {
                tracing::warn!(person.id = %added.id, "Person {} of the configuration counts as new: its addresses are not those of person {}. An owner may join them: compline people join {}", added.id, earlier.id, added.id);
                OwnerNotice::namesake(&Person { id: added.id, name: person.name.clone(), role: person.role })
            }
            None => OwnerNotice::configured(&person.name, person.role),
        });
        Ok(added.id)
    }
}

fn entry_of(person: &config::Person) -> ConfiguredPerson {
    let addresses = person.addresses().into_iter().map(|(channel, peer)| (channel.name().to_owned(), peer));
    ConfiguredPerson { name: person.name.clone(), addresses: addresses.collect() }
}
