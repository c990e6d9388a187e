//! Addresses of people, and groups with their streams and guests.
//!
//! A group keeps its address rows when its id changes, so its streams continue. The configuration
//! keeps naming the group's first id.

use rusqlite::params;

use crate::id::{AddressId, PersonId, StreamId};
use crate::people::{Address, KnownAddress};
use crate::store::handles::{Addresses, AddressesMut, Groups, GroupsMut};
use crate::store::rows::{from_row, insert};
use crate::time::Timestamp;
use crate::trust::Scope;

from_row! {
    KnownAddress from "addresses", "adapter, account, peer" { id }
    with |row| {
        address: Address { adapter: row.get("adapter")?, account: row.get("account")?, peer: row.get("peer")? },
    }
}

impl Addresses<'_> {
    /// Returns the row and the person of an address; `None` if it belongs to no admitted person.
    pub fn who_is(&self, address: &Address) -> anyhow::Result<Option<(AddressId, PersonId)>> {
        self.db.first(
            "SELECT a.id, a.person_id FROM addresses a JOIN people p ON p.id = a.person_id AND p.removed_at IS NULL
             WHERE a.adapter = ?1 AND a.account = ?2 AND a.peer = ?3",
            params![address.adapter, address.account, address.peer],
        )
    }

    /// Returns the person whose address was declared under that name, even if it has a different
    /// peer id by now.
    pub fn declared_for(&self, address: &Address) -> anyhow::Result<Option<PersonId>> {
        self.db.first(
            "SELECT a.person_id FROM addresses a JOIN people p ON p.id = a.person_id AND p.removed_at IS NULL
             WHERE a.adapter = ?1 AND a.account = ?2 AND (a.peer = ?3 OR a.alias = ?3)
             ORDER BY a.alias = ?3 DESC LIMIT 1",
            [&address.adapter, &address.account, &address.peer],
        )
    }

    /// Returns the address in that row.
    pub fn address(&self, id: AddressId) -> anyhow::Result<Option<Address>> {
        let known: Option<KnownAddress> = self.db.row("WHERE id = ?1", [id])?;
        Ok(known.map(|known| known.address))
    }

    /// Returns a person's addresses, most recently used first.
    pub fn addresses_of(&self, person: PersonId) -> anyhow::Result<Vec<KnownAddress>> {
        self.db.rows("WHERE person_id = ?1 ORDER BY last_heard_at DESC, id", [person])
    }

    /// Returns the address for messages to a person: the preferred channel, else the one they last
    /// wrote from, terminal and page only if there is no other, because they may be closed. `None`
    /// if they never wrote. We do not write first, except to a preferred Signal number, where that
    /// is usual.
    pub fn reached_at(&self, person: PersonId) -> anyhow::Result<Option<AddressId>> {
        self.db.first(
            "SELECT a.id FROM addresses a JOIN people p ON p.id = a.person_id
             WHERE a.person_id = ?1 AND (a.last_heard_at > 0 OR a.adapter = 'signal' AND p.prefer = 'signal')
             ORDER BY a.adapter = p.prefer DESC, a.adapter IN ('terminal', 'web'), a.last_heard_at DESC, a.id LIMIT 1",
            [person],
        )
    }

    /// Returns the other addresses at which the person of an address is reached, except terminal
    /// and page, in the order of [`reached_at`](Self::reached_at).
    pub fn next_channels(&self, address: AddressId) -> anyhow::Result<Vec<KnownAddress>> {
        self.db.all(
            "SELECT a.id, a.adapter, a.account, a.peer FROM addresses own JOIN people p ON p.id = own.person_id
                 JOIN addresses a ON a.person_id = p.id
             WHERE own.id = ?1 AND a.id <> own.id AND a.adapter NOT IN ('terminal', 'web')
                 AND (a.last_heard_at > 0 OR a.adapter = 'signal' AND p.prefer = 'signal')
             ORDER BY a.adapter = p.prefer DESC, a.last_heard_at DESC, a.id",
            [address],
        )
    }

    /// Returns when the person last wrote from any of their addresses; `None` if they never did.
    pub fn last_heard(&self, person: PersonId) -> anyhow::Result<Option<Timestamp>> {
        let sql = "SELECT last_heard_at FROM addresses WHERE person_id = ?1 AND last_heard_at > 0
             ORDER BY last_heard_at DESC LIMIT 1";
        self.db.first(sql, [person])
    }

    /// Returns true if the person ever wrote from that address.
    pub fn has_written_from(&self, id: AddressId) -> anyhow::Result<bool> {
        Ok(self.db.first("SELECT last_heard_at > 0 FROM addresses WHERE id = ?1", [id])?.unwrap_or(false))
    }

    /// Returns true if the person ever wrote from any of their addresses.
    pub fn has_ever_written(&self, person: PersonId) -> anyhow::Result<bool> {
        self.db.exists("SELECT 1 FROM addresses WHERE person_id = ?1 AND last_heard_at > 0", [person])
    }

    /// Returns the time before which nothing may be sent to that address.
    pub fn wait_until(&self, id: AddressId) -> anyhow::Result<Timestamp> {
        Ok(self.db.first("SELECT wait_until FROM addresses WHERE id = ?1", [id])?.unwrap_or(Timestamp(0)))
    }
}

impl AddressesMut<'_> {
    /// Returns the row and the person of an address that was declared under that alias. From then
    /// on only `address` identifies it: a later sender with the same alias is a different person.
    pub fn known_by_alias(&self, address: &Address, alias: &str) -> anyhow::Result<Option<(AddressId, PersonId)>> {
        let declared = Address { peer: alias.to_owned(), ..address.clone() };
        let Some((id, person)) = self.who_is(&declared)? else { return Ok(None) };
        let place = params![address.adapter, address.account, address.peer];
        // If they contacted us before they were declared, that row becomes theirs. Messages pending
        // for the other row are still sent there.
        let earlier: Option<AddressId> =
            self.db.first("SELECT id FROM addresses WHERE adapter = ?1 AND account = ?2 AND peer = ?3", place)?;
        if earlier.is_some() {
            self.db.run("UPDATE addresses SET person_id = NULL WHERE id = ?1", [id])?;
        }
        let id = earlier.unwrap_or(id);
        self.db.run(
            "UPDATE addresses SET peer = ?2, alias = ?3, person_id = ?4 WHERE id = ?1",
            params![id, address.peer, alias, person],
        )?;
        Ok(Some((id, person)))
    }

    /// Marks an alias as used when a person known by their account comes with it, so that it admits
    /// no later holder of the alias.
    pub fn use_up_alias(&self, id: AddressId, address: &Address, alias: &str) -> anyhow::Result<()> {
        if !self.db.exists("SELECT 1 FROM addresses WHERE id = ?1 AND alias = ''", [id])? {
            return Ok(());
        }
        let declared = Address { peer: alias.to_owned(), ..address.clone() };
        let (theirs, other) = (self.who_is(address)?.map(|(_, person)| person), self.who_is(&declared)?);
        match other {
            Some((_, person)) if theirs != Some(person) => return Ok(()),
            Some((spent, _)) => {
                self.db.run("UPDATE addresses SET person_id = NULL WHERE id = ?1", [spent])?;
            }
            None => {}
        }
        self.db.run("UPDATE addresses SET alias = ?2 WHERE id = ?1", params![id, alias])
    }

    /// Links an address to a person, or creates its row without one. An address whose peer id
    /// changed since it was declared counts as the same.
    pub fn link(&self, address: &Address, person: Option<PersonId>, now: Timestamp) -> anyhow::Result<AddressId> {
        let known = params![address.adapter, address.account, address.peer];
        let known: Option<(AddressId, Option<PersonId>)> = self.db.first(
            "SELECT id, person_id FROM addresses WHERE adapter = ?1 AND account = ?2 AND alias = ?3 AND alias <> ''",
            known,
        )?;
        match known {
            Some((id, of)) if person.is_none() || of == person => {
                self.db.run("UPDATE addresses SET linked_at = ?2 WHERE id = ?1", params![id, now])?;
                return Ok(id);
            }
            // The number belongs to a different person now. Its former holder remains known, by
            // account alone.
            Some((id, _)) => {
                self.db.run("UPDATE addresses SET alias = '' WHERE id = ?1", [id])?;
            }
            None => {}
        }
        self.db.run(
            "INSERT INTO addresses (person_id, adapter, account, peer, linked_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (adapter, account, peer) DO UPDATE SET person_id = coalesce(?1, person_id), linked_at = ?5",
            params![person, address.adapter, address.account, address.peer, now],
        )?;
        self.db.one(
            "SELECT id FROM addresses WHERE adapter = ?1 AND account = ?2 AND peer = ?3",
            params![address.adapter, address.account, address.peer],
        )
    }

    /// Records that the person wrote from that address.
    pub fn record_contact(&self, id: AddressId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE addresses SET last_heard_at = ?2 WHERE id = ?1", params![id, now])
    }

    /// Blocks sending to that address before `until`. Replaces any earlier value.
    pub fn set_wait_until(&self, id: AddressId, until: Timestamp) -> anyhow::Result<()> {
        self.db.run("UPDATE addresses SET wait_until = ?2 WHERE id = ?1", params![id, until])
    }
}

impl Groups<'_> {
    /// Returns the configured id of a group whose id has changed since.
    pub fn group_allowed_as(&self, adapter: &str, account: &str, chat: &str) -> anyhow::Result<Option<String>> {
        self.db.first(
            "SELECT allowed_as FROM groups WHERE adapter = ?1 AND account = ?2 AND chat = ?3",
            [adapter, account, chat],
        )
    }

    /// Returns the address of a group's stream; `None` for a person's stream.
    pub fn group_of(&self, stream: StreamId) -> anyhow::Result<Option<(AddressId, Address)>> {
        let known: Option<KnownAddress> = self.db.first(
            "SELECT a.id, a.adapter, a.account, a.peer FROM streams s JOIN addresses a ON a.id = s.address_id
             WHERE s.id = ?1",
            [stream],
        )?;
        Ok(known.map(|known| (known.id, known.address)))
    }

    /// Returns the addresses of the groups among whose newest messages one is of that person.
    pub fn groups_of(&self, person: PersonId) -> anyhow::Result<Vec<Address>> {
        let known: Vec<KnownAddress> = self.db.all(
            "SELECT a.id, a.adapter, a.account, a.peer FROM streams s JOIN addresses a ON a.id = s.address_id
             WHERE EXISTS (SELECT 1 FROM (SELECT person_id FROM messages WHERE stream_id = s.id ORDER BY id DESC
             LIMIT 1000) WHERE person_id = ?1) ORDER BY s.id",
            [person],
        )?;
        Ok(known.into_iter().map(|known| known.address).collect())
    }

    /// Returns true for a group's address.
    pub fn is_group(&self, address: AddressId) -> anyhow::Result<bool> {
        self.db.exists("SELECT 1 FROM streams WHERE address_id = ?1", [address])
    }
}

impl GroupsMut<'_> {
    /// Returns the stream and address of a group (chat and topic), creating them if needed.
    pub fn stream_for_group(&self, at: &Address, now: Timestamp) -> anyhow::Result<(StreamId, AddressId)> {
        let place = params![at.adapter, at.account, at.peer];
        if let Some(known) = self.db.first(
            "SELECT s.id, a.id FROM addresses a JOIN streams s ON s.address_id = a.id
             WHERE a.adapter = ?1 AND a.account = ?2 AND a.peer = ?3",
            place,
        )? {
            return Ok(known);
        }
        let address = self.tx().addresses().link(at, None, now)?;
        // The scope is named after the stream, whose number is known only after the insert.
        let stream = insert!(self.db, "streams" { address_id: address, scope: Scope::Shared })?;
        self.db.run("UPDATE streams SET scope = ?2 WHERE id = ?1", params![stream, Scope::Group(stream)])?;
        Ok((stream, address))
    }

    /// Moves a group's addresses, with all its topics, to a new id. Does nothing for an unknown
    /// group.
    pub fn group_moved(
        &self,
        adapter: &str,
        account: &str,
        from: &str,
        to: &str,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let allowed_as = self.group_allowed_as(adapter, account, from)?.unwrap_or_else(|| from.to_owned());
        self.db.run(
            "INSERT INTO groups (adapter, account, chat, allowed_as, first_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (adapter, account, chat) DO NOTHING",
            params![adapter, account, to, allowed_as, now],
        )?;
        // Messages that arrived under the new id before we heard of the change have rows of their
        // own, which stay.
        self.db.run(
            "UPDATE OR IGNORE addresses SET peer = ?4 || substr(peer, length(?3) + 1)
             WHERE adapter = ?1 AND account = ?2 AND (peer = ?3 OR substr(peer, 1, length(?3) + 1) = ?3 || '/')",
            [adapter, account, from, to],
        )
    }

    /// Returns the number of a guest within that group, from 1.
    pub fn guest(&self, stream: StreamId, sender: &str) -> anyhow::Result<u32> {
        self.db.run(
            "INSERT INTO guests (stream_id, sender, number)
             SELECT ?1, ?2, 1 + count(*) FROM guests WHERE stream_id = ?1 ON CONFLICT (stream_id, sender) DO NOTHING",
            params![stream, sender],
        )?;
        self.db.one("SELECT number FROM guests WHERE stream_id = ?1 AND sender = ?2", params![stream, sender])
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
        let journal = Journal::open_or_copy(&folder.path().join("j.db"), None).unwrap();
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
    async fn a_reassigned_number_takes_over_no_address() {
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
    async fn a_person_admitted_by_account_leaves_no_number_open() {
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
