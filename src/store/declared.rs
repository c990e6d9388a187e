//! Addresses that the configuration gives to people. They stand with the person, whatever account
//! of ours a channel has, so that it is known who is who before any channel is connected.

use crate::store::handles::{People, PeopleMut};
use rusqlite::params;

use crate::id::{AddressId, PersonId};
use crate::time::Timestamp;

/// A person with all that can tell who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPerson {
    /// Their row.
    pub id: PersonId,
    /// Their name.
    pub name: String,
    /// Whether they are let in.
    pub is_in: bool,
    /// Whether the configuration says so, and not pairing.
    pub by_config: bool,
    /// The addresses that the configuration gave them: adapter and peer.
    pub declared: Vec<(String, String)>,
    /// The addresses that are theirs: adapter and peer, and the alias of each that has one.
    pub linked: Vec<(String, String)>,
}

impl People<'_> {
    /// Everybody who is let in or may be again, the latest last.
    pub fn known_people(&self) -> anyhow::Result<Vec<KnownPerson>> {
        let mut query = self.db.prepare_cached(
            "SELECT id, name, removed_at IS NULL, declared = 'config' FROM people WHERE ended = '' ORDER BY id",
        )?;
        let rows = query.query_map([], |row| {
            let (declared, linked) = (Vec::new(), Vec::new());
            let (id, name, is_in, by_config) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(KnownPerson { id, name, is_in, by_config, declared, linked })
        })?;
        let mut people = rows.collect::<Result<Vec<_>, _>>()?;
        for person in &mut people {
            person.declared = self.declared_addresses_of(person.id)?;
            person.linked = self.peers_of(person.id)?;
        }
        Ok(people)
    }

    /// The addresses that the configuration gave a person: adapter and peer.
    pub fn declared_addresses_of(&self, person: PersonId) -> anyhow::Result<Vec<(String, String)>> {
        let mut query =
            self.db.prepare_cached("SELECT adapter, peer FROM declared_addresses WHERE person_id = ?1 ORDER BY id")?;
        Ok(query.query_map([person], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }

    /// The addresses on one adapter that the configuration gives to people who are in.
    pub fn declared_on(&self, adapter: &str) -> anyhow::Result<Vec<(String, PersonId)>> {
        let mut query = self.db.prepare_cached(
            "SELECT d.peer, d.person_id FROM declared_addresses d JOIN people p ON p.id = d.person_id
             WHERE d.adapter = ?1 AND p.removed_at IS NULL AND p.declared = 'config' ORDER BY d.id",
        )?;
        Ok(query.query_map([adapter], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }

    /// Whether the configuration gives that address to its person, by its peer or its alias.
    pub fn is_declared(&self, id: AddressId) -> anyhow::Result<bool> {
        let mut query = self.db.prepare_cached(
            "SELECT 1 FROM addresses a JOIN declared_addresses d
             ON d.person_id = a.person_id AND d.adapter = a.adapter AND d.peer IN (a.peer, a.alias) WHERE a.id = ?1",
        )?;
        Ok(query.exists([id])?)
    }

    fn peers_of(&self, person: PersonId) -> anyhow::Result<Vec<(String, String)>> {
        let mut query = self.db.prepare_cached(
            "SELECT adapter, peer FROM addresses WHERE person_id = ?1 AND adapter <> 'terminal'
             UNION SELECT adapter, alias FROM addresses WHERE person_id = ?1 AND alias <> ''",
        )?;
        Ok(query.query_map([person], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
    }
}

impl PeopleMut<'_> {
    /// The configuration gives a person these addresses and no others. Those that it gave them
    /// before, or to somebody else whom it names, are strangers'.
    pub fn declare_addresses_of(
        &self,
        person: PersonId,
        addresses: &[(String, String)],
        now: Timestamp,
    ) -> anyhow::Result<()> {
        for (adapter, peer) in self.declared_addresses_of(person)? {
            if !addresses.contains(&(adapter.clone(), peer.clone())) {
                self.db
                    .prepare_cached("DELETE FROM declared_addresses WHERE adapter = ?1 AND peer = ?2")?
                    .execute([&adapter, &peer])?;
                self.let_go_of(&adapter, &peer, "person_id = ?3", person)?;
                self.void_codes_of(person, now)?;
            }
        }
        for (adapter, peer) in addresses {
            self.db
                .prepare_cached(
                    "INSERT INTO declared_addresses (person_id, adapter, peer) VALUES (?1, ?2, ?3)
                     ON CONFLICT (adapter, peer) DO UPDATE SET person_id = ?1",
                )?
                .execute(params![person, adapter, peer])?;
            let of_others = "person_id <> ?3 AND person_id IN (SELECT id FROM people WHERE declared = 'config')";
            self.let_go_of(adapter, peer, of_others, person)?;
        }
        Ok(())
    }

    fn let_go_of(&self, adapter: &str, peer: &str, whose: &str, person: PersonId) -> anyhow::Result<()> {
        let sql = format!(
            "UPDATE addresses SET person_id = NULL, alias = ''
             WHERE adapter = ?1 AND (peer = ?2 OR alias = ?2) AND {whose}"
        );
        self.db.prepare_cached(&sql)?.execute(params![adapter, peer, person])?;
        Ok(())
    }

    /// What the configuration gave to one person it gives to another, who is the same.
    pub fn move_declared_addresses(&self, from: PersonId, into: PersonId) -> anyhow::Result<()> {
        self.db
            .prepare_cached("UPDATE declared_addresses SET person_id = ?2 WHERE person_id = ?1")?
            .execute(params![from, into])?;
        Ok(())
    }
}
