//! Addresses of people, and contact attempts by strangers.

use crate::store::handles::{Addresses, AddressesMut};
use rusqlite::{OptionalExtension, Row, params};

use crate::id::{AddressId, PersonId};
use crate::people::{Address, KnownAddress};
use crate::time::Timestamp;

fn known(row: &Row<'_>) -> rusqlite::Result<KnownAddress> {
    Ok(KnownAddress {
        id: row.get("id")?,
        address: Address { adapter: row.get("adapter")?, account: row.get("account")?, peer: row.get("peer")? },
    })
}

impl Addresses<'_> {
    /// Returns the row and the person of an address; `None` if it belongs to no admitted person.
    pub fn who_is(&self, address: &Address) -> anyhow::Result<Option<(AddressId, PersonId)>> {
        let mut query = self.db.prepare_cached(
            "SELECT a.id, a.person_id FROM addresses a JOIN people p ON p.id = a.person_id AND p.removed_at IS NULL
             WHERE a.adapter = ?1 AND a.account = ?2 AND a.peer = ?3",
        )?;
        let row = query
            .query_row(params![address.adapter, address.account, address.peer], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(row.optional()?)
    }

    /// Returns the person whose address was declared under that name, even if it has a different
    /// peer id by now.
    pub fn declared_for(&self, address: &Address) -> anyhow::Result<Option<PersonId>> {
        let mut query = self.db.prepare_cached(
            "SELECT a.person_id FROM addresses a JOIN people p ON p.id = a.person_id AND p.removed_at IS NULL
             WHERE a.adapter = ?1 AND a.account = ?2 AND (a.peer = ?3 OR a.alias = ?3) ORDER BY a.alias = ?3 DESC LIMIT 1",
        )?;
        Ok(query.query_row([&address.adapter, &address.account, &address.peer], |row| row.get(0)).optional()?)
    }

    /// Returns the address in that row.
    pub fn address(&self, id: AddressId) -> anyhow::Result<Option<Address>> {
        let mut query = self.db.prepare_cached("SELECT id, adapter, account, peer FROM addresses WHERE id = ?1")?;
        Ok(query.query_row([id], known).optional()?.map(|known| known.address))
    }

    /// Returns a person's addresses, most recently used first.
    pub fn addresses_of(&self, person: PersonId) -> anyhow::Result<Vec<KnownAddress>> {
        let mut query = self.db.prepare_cached(
            "SELECT id, adapter, account, peer FROM addresses WHERE person_id = ?1 ORDER BY last_heard_at DESC, id",
        )?;
        Ok(query.query_map([person], known)?.collect::<Result<_, _>>()?)
    }

    /// Returns the address for messages to a person: the preferred channel, else the one they last
    /// wrote from. `None` if they never wrote. We do not write first, except to a preferred Signal
    /// number, where that is usual.
    pub fn reached_at(&self, person: PersonId) -> anyhow::Result<Option<AddressId>> {
        let mut query = self.db.prepare_cached(
            "SELECT a.id FROM addresses a JOIN people p ON p.id = a.person_id
             WHERE a.person_id = ?1 AND (a.last_heard_at > 0 OR a.adapter = 'signal' AND p.prefer = 'signal')
             ORDER BY a.adapter = p.prefer DESC, a.last_heard_at DESC, a.id LIMIT 1",
        )?;
        Ok(query.query_row([person], |row| row.get(0)).optional()?)
    }

    /// Returns true if the person ever wrote from that address.
    pub fn has_written_from(&self, id: AddressId) -> anyhow::Result<bool> {
        let mut query = self.db.prepare_cached("SELECT last_heard_at > 0 FROM addresses WHERE id = ?1")?;
        Ok(query.query_row([id], |row| row.get(0)).optional()?.unwrap_or(false))
    }

    /// Returns true if the person ever wrote from any of their addresses.
    pub fn has_ever_written(&self, person: PersonId) -> anyhow::Result<bool> {
        let mut query = self.db.prepare_cached("SELECT 1 FROM addresses WHERE person_id = ?1 AND last_heard_at > 0")?;
        Ok(query.exists([person])?)
    }

    /// Returns the time before which nothing may be sent to that address.
    pub fn wait_until(&self, id: AddressId) -> anyhow::Result<Timestamp> {
        let mut query = self.db.prepare_cached("SELECT wait_until FROM addresses WHERE id = ?1")?;
        Ok(query.query_row([id], |row| row.get(0)).optional()?.unwrap_or(Timestamp(0)))
    }

    /// Returns contact attempts by strangers, newest first: `(adapter, sender, last, count)`.
    pub fn strangers(&self, limit: u32) -> anyhow::Result<Vec<(String, String, Timestamp, i64)>> {
        let mut query = self
            .db
            .prepare_cached("SELECT adapter, sender, last_at, count FROM strangers ORDER BY last_at DESC LIMIT ?1")?;
        let rows = query.query_map([limit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

impl AddressesMut<'_> {
    /// Returns the row and the person of an address that was declared under that alias. From then
    /// on only `address` identifies it: a later sender with the same alias is a different person.
    pub fn known_by_alias(&self, address: &Address, alias: &str) -> anyhow::Result<Option<(AddressId, PersonId)>> {
        let declared = Address { peer: alias.to_owned(), ..address.clone() };
        let Some((id, person)) = self.who_is(&declared)? else { return Ok(None) };
        let mut query =
            self.db.prepare_cached("SELECT id FROM addresses WHERE adapter = ?1 AND account = ?2 AND peer = ?3")?;
        let place = params![address.adapter, address.account, address.peer];
        // If they contacted us before they were declared, that row becomes theirs. Messages pending
        // for the other row are still sent there.
        let knocked: Option<AddressId> = query.query_row(place, |row| row.get(0)).optional()?;
        if knocked.is_some() {
            self.db.prepare_cached("UPDATE addresses SET person_id = NULL WHERE id = ?1")?.execute([id])?;
        }
        let id = knocked.unwrap_or(id);
        self.db
            .prepare_cached("UPDATE addresses SET peer = ?2, alias = ?3, person_id = ?4 WHERE id = ?1")?
            .execute(params![id, address.peer, alias, person])?;
        Ok(Some((id, person)))
    }

    /// Marks an alias as used when a person known by their account comes with it, so that it admits
    /// no later holder of the alias.
    pub fn use_up_alias(&self, id: AddressId, address: &Address, alias: &str) -> anyhow::Result<()> {
        let mut query = self.db.prepare_cached("SELECT 1 FROM addresses WHERE id = ?1 AND alias = ''")?;
        if !query.exists([id])? {
            return Ok(());
        }
        let declared = Address { peer: alias.to_owned(), ..address.clone() };
        let (theirs, other) = (self.who_is(address)?.map(|(_, person)| person), self.who_is(&declared)?);
        match other {
            Some((_, person)) if theirs != Some(person) => return Ok(()),
            Some((spent, _)) => {
                self.db.prepare_cached("UPDATE addresses SET person_id = NULL WHERE id = ?1")?.execute([spent])?;
            }
            None => {}
        }
        self.db.prepare_cached("UPDATE addresses SET alias = ?2 WHERE id = ?1")?.execute(params![id, alias])?;
        Ok(())
    }

    /// Links an address to a person, or creates its row without one. An address whose peer id
    /// changed since it was declared counts as the same.
    pub fn link(&self, address: &Address, person: Option<PersonId>, now: Timestamp) -> anyhow::Result<AddressId> {
        let mut by_alias = self.db.prepare_cached(
            "SELECT id, person_id FROM addresses WHERE adapter = ?1 AND account = ?2 AND alias = ?3 AND alias <> ''",
        )?;
        let known = params![address.adapter, address.account, address.peer];
        let known: Option<(AddressId, Option<PersonId>)> =
            by_alias.query_row(known, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        match known {
            Some((id, of)) if person.is_none() || of == person => {
                self.db
                    .prepare_cached("UPDATE addresses SET linked_at = ?2 WHERE id = ?1")?
                    .execute(params![id, now])?;
                return Ok(id);
            }
            // The number belongs to a different person now. Its former holder remains known, by
            // account alone.
            Some((id, _)) => {
                self.db.prepare_cached("UPDATE addresses SET alias = '' WHERE id = ?1")?.execute([id])?;
            }
            None => {}
        }
        self.db
            .prepare_cached(
                "INSERT INTO addresses (person_id, adapter, account, peer, linked_at) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (adapter, account, peer) DO UPDATE SET person_id = coalesce(?1, person_id), linked_at = ?5",
            )?
            .execute(params![person, address.adapter, address.account, address.peer, now])?;
        let mut query =
            self.db.prepare_cached("SELECT id FROM addresses WHERE adapter = ?1 AND account = ?2 AND peer = ?3")?;
        Ok(query.query_row(params![address.adapter, address.account, address.peer], |row| row.get(0))?)
    }

    /// Records that the person wrote from that address.
    pub fn record_contact(&self, id: AddressId, now: Timestamp) -> anyhow::Result<()> {
        self.db.prepare_cached("UPDATE addresses SET last_heard_at = ?2 WHERE id = ?1")?.execute(params![id, now])?;
        Ok(())
    }

    /// Blocks sending to that address before `until`. Replaces any earlier value.
    pub fn set_wait_until(&self, id: AddressId, until: Timestamp) -> anyhow::Result<()> {
        self.db.prepare_cached("UPDATE addresses SET wait_until = ?2 WHERE id = ?1")?.execute(params![id, until])?;
        Ok(())
    }

    /// Records a contact attempt by a stranger. Returns true if they may be sent the one reply of
    /// this local day.
    pub fn record_stranger(&self, at: &Address, now: Timestamp, day: &str) -> anyhow::Result<bool> {
        self.db
            .prepare_cached(
                "INSERT INTO strangers (adapter, account, sender, first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?4)
                 ON CONFLICT (adapter, account, sender) DO UPDATE SET last_at = ?4, count = count + 1",
            )?
            .execute(params![at.adapter, at.account, at.peer, now])?;
        let told = self.db
            .prepare_cached(
                "UPDATE strangers SET told_day = ?4 WHERE adapter = ?1 AND account = ?2 AND sender = ?3 AND told_day <> ?4",
            )?
            .execute(params![at.adapter, at.account, at.peer, day])?;
        Ok(told == 1)
    }

    /// Records a wrong code from a stranger. Returns the number of wrong codes on this local day.
    pub fn stranger_guessed(&self, at: &Address, day: &str) -> anyhow::Result<i64> {
        self.db
            .prepare_cached(
                "UPDATE strangers SET guesses = CASE guess_day WHEN ?4 THEN guesses + 1 ELSE 1 END, guess_day = ?4
                 WHERE adapter = ?1 AND account = ?2 AND sender = ?3",
            )?
            .execute(params![at.adapter, at.account, at.peer, day])?;
        self.guesses(at, day)
    }
}

impl Addresses<'_> {
    /// Returns the number of wrong codes from a stranger on that local day.
    pub fn guesses(&self, at: &Address, day: &str) -> anyhow::Result<i64> {
        let mut query = self.db.prepare_cached(
            "SELECT guesses FROM strangers WHERE adapter = ?1 AND account = ?2 AND sender = ?3 AND guess_day = ?4",
        )?;
        let row = query.query_row(params![at.adapter, at.account, at.peer, day], |row| row.get(0));
        Ok(row.optional()?.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::Role;
    use crate::store::Journal;
    use crate::store::Tx;

    fn at(peer: &str) -> Address {
        Address::new("signal", "+49", peer)
    }

    async fn with_two_people(run: impl FnOnce(Tx<'_>, PersonId, PersonId) -> anyhow::Result<()> + Send + 'static) {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(&folder.path().join("j.db"), None).unwrap();
        let story = journal.write("a story", move |tx| {
            let (ada, ben) = (
                tx.people().allow("Ada", Role::Owner, "config", Timestamp(1))?,
                tx.people().allow("Ben", Role::Member, "config", Timestamp(1))?,
            );
            run(tx, ada.id, ben.id)
        });
        story.await.unwrap();
    }

    #[tokio::test]
    async fn a_number_that_somebody_else_has_now_takes_nobodys_place() {
        with_two_people(|tx, ada, ben| {
            tx.addresses().link(&at("+1"), Some(ada), Timestamp(1))?;
            let (hers, _) = tx.addresses().known_by_alias(&at("u-ada"), "+1")?.unwrap();
            assert_eq!(tx.addresses().link(&at("+1"), Some(ada), Timestamp(2))?, hers, "it is the same address");
            let his = tx.addresses().link(&at("+1"), Some(ben), Timestamp(3))?;
            assert_ne!(his, hers);
            assert_eq!(tx.addresses().who_is(&at("u-ada"))?, Some((hers, ada)));
            assert_eq!(tx.addresses().known_by_alias(&at("u-ben"), "+1")?, Some((his, ben)));
            tx.people().disallow(ada, Timestamp(4))?;
            assert_ne!(tx.addresses().link(&at("+2"), Some(ben), Timestamp(5))?, hers);
            assert_eq!(tx.addresses().who_is(&at("u-ada"))?, None, "who is let in no longer stays out");
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn whoever_came_in_by_their_account_leaves_no_number_open() {
        with_two_people(|tx, ada, ben| {
            let hers = tx.addresses().link(&at("u-ada"), Some(ada), Timestamp(1))?;
            tx.addresses().link(&at("+1"), Some(ada), Timestamp(2))?;
            tx.addresses().use_up_alias(hers, &at("u-ada"), "+1")?;
            assert_eq!(tx.addresses().known_by_alias(&at("u-eve"), "+1")?, None, "nobody comes in by it any more");
            assert_eq!(tx.addresses().link(&at("+1"), Some(ada), Timestamp(3))?, hers);
            let his = tx.addresses().link(&at("u-ben"), Some(ben), Timestamp(4))?;
            tx.addresses().link(&at("+2"), Some(ada), Timestamp(5))?;
            tx.addresses().use_up_alias(his, &at("u-ben"), "+2")?;
            assert_eq!(
                tx.addresses().declared_for(&at("+2"))?,
                Some(ada),
                "a number that is declared for another is not taken"
            );
            Ok(())
        })
        .await;
    }
}
