//! Addresses that the configuration gives to people.
//!
//! They are stored with the person, independently of our account on a channel, so that people are
//! identified before any channel is connected.

use crate::store::handles::{People, PeopleMut};
use crate::store::rows::from_row;
use rusqlite::params;

use crate::id::{AddressId, PersonId};
use crate::time::Timestamp;

/// A person with everything that identifies them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPerson {
    /// Row id.
    pub id: PersonId,
    /// Name.
    pub name: String,
    /// True if the person is admitted.
    pub is_in: bool,
    /// True if admitted by the configuration, not by pairing.
    pub by_config: bool,
    /// Addresses from the configuration: adapter and peer.
    pub declared: Vec<(String, String)>,
    /// Linked addresses: adapter and peer, plus the alias of each that has one.
    pub linked: Vec<(String, String)>,
}

from_row! {
    KnownPerson { id, name, is_in, by_config }
    with |_row| { declared: Vec::new(), linked: Vec::new() }
}

impl People<'_> {
    /// Returns everyone who is admitted or may be again, newest last.
    pub fn known_people(&self) -> anyhow::Result<Vec<KnownPerson>> {
        let mut people: Vec<KnownPerson> = self.db.all(
            "SELECT id, name, removed_at IS NULL AS is_in, declared = 'config' AS by_config FROM people
             WHERE ended = '' ORDER BY id",
            [],
        )?;
        for person in &mut people {
            person.declared = self.declared_addresses_of(person.id)?;
            person.linked = self.peers_of(person.id)?;
        }
        Ok(people)
    }

    /// Returns a person's addresses from the configuration: adapter and peer.
    pub fn declared_addresses_of(&self, person: PersonId) -> anyhow::Result<Vec<(String, String)>> {
        self.db.all("SELECT adapter, peer FROM declared_addresses WHERE person_id = ?1 ORDER BY id", [person])
    }

    /// Returns the addresses on one adapter that the configuration gives to admitted people.
    pub fn declared_on(&self, adapter: &str) -> anyhow::Result<Vec<(String, PersonId)>> {
        self.db.all(
            "SELECT d.peer, d.person_id FROM declared_addresses d JOIN people p ON p.id = d.person_id
             WHERE d.adapter = ?1 AND p.removed_at IS NULL AND p.declared = 'config' ORDER BY d.id",
            [adapter],
        )
    }

    /// Returns true if the configuration gives that address to its person, by peer or alias.
    pub fn is_declared(&self, id: AddressId) -> anyhow::Result<bool> {
        self.db.exists(
            "SELECT 1 FROM addresses a JOIN declared_addresses d
             ON d.person_id = a.person_id AND d.adapter = a.adapter AND d.peer IN (a.peer, a.alias) WHERE a.id = ?1",
            [id],
        )
    }

    fn peers_of(&self, person: PersonId) -> anyhow::Result<Vec<(String, String)>> {
        self.db.all(
            "SELECT adapter, peer FROM addresses WHERE person_id = ?1 AND adapter <> 'terminal'
             UNION SELECT adapter, alias FROM addresses WHERE person_id = ?1 AND alias <> ''",
            [person],
        )
    }
}

impl PeopleMut<'_> {
    /// Replaces a person's declared addresses. Addresses dropped from the list, and listed
    /// addresses linked to other people of the configuration, are unlinked.
    pub fn declare_addresses_of(
        &self,
        person: PersonId,
        addresses: &[(String, String)],
        now: Timestamp,
    ) -> anyhow::Result<()> {
        for (adapter, peer) in self.declared_addresses_of(person)? {
            if !addresses.contains(&(adapter.clone(), peer.clone())) {
                self.db.run("DELETE FROM declared_addresses WHERE adapter = ?1 AND peer = ?2", [&adapter, &peer])?;
                self.release_address(&adapter, &peer, "person_id = ?3", person)?;
                self.void_codes_of(person, now)?;
            }
        }
        for (adapter, peer) in addresses {
            self.db.run(
                "INSERT INTO declared_addresses (person_id, adapter, peer) VALUES (?1, ?2, ?3)
                 ON CONFLICT (adapter, peer) DO UPDATE SET person_id = ?1",
                params![person, adapter, peer],
            )?;
            let of_others = "person_id <> ?3 AND person_id IN (SELECT id FROM people WHERE declared = 'config')";
            self.release_address(adapter, peer, of_others, person)?;
        }
        Ok(())
    }

    fn release_address(&self, adapter: &str, peer: &str, whose: &str, person: PersonId) -> anyhow::Result<()> {
        let sql = format!(
            "UPDATE addresses SET person_id = NULL, alias = ''
             WHERE adapter = ?1 AND (peer = ?2 OR alias = ?2) AND {whose}"
        );
        self.db.run(&sql, params![adapter, peer, person])
    }

    /// Moves declared addresses from one person to another when the two are merged.
    pub fn move_declared_addresses(&self, from: PersonId, into: PersonId) -> anyhow::Result<()> {
        self.db.run("UPDATE declared_addresses SET person_id = ?2 WHERE person_id = ?1", params![from, into])
    }
}
