//! Admitted people. The configuration declares them, pairing adds more, and the configuration takes
//! precedence.
//!
//! Addresses that the configuration gives to people are stored with the person, independently of
//! our account on a channel, so that people are identified before any channel is connected.
//!
//! The transaction that removes, demotes or erases a person also revokes outstanding access.

use anyhow::Context;
use rusqlite::params;

use crate::id::{AddressId, PersonId};
use crate::people::{Party, Person, Role};
use crate::store::handles::{People, PeopleMut};
use crate::store::rows::{from_row, insert, stored_word};
use crate::time::{Timestamp, Zone, parse_quiet_hours, quiet_until};
use crate::trust::Scope;
use crate::wording::Language;

/// Key of the language of the home among the settings.
const HOME_LANGUAGE: &str = "language";

stored_word!(foreign Role);

fn code_of(language: Option<Language>) -> &'static str {
    language.map_or("", Language::code)
}

/// A removed person who may be readmitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormerPerson {
    /// Row id.
    pub id: PersonId,
    /// Former name.
    pub name: String,
    /// Former role.
    pub role: Role,
    /// Time of first admission.
    pub since: Timestamp,
    /// Time of removal.
    pub until: Timestamp,
}

from_row! { Person from "people" { id, name, role } }

from_row! { FormerPerson from "people" { id, name, role, since: "created_at", until: "removed_at" } }

impl People<'_> {
    /// Returns all admitted people, owners first.
    pub fn people(&self) -> anyhow::Result<Vec<Person>> {
        self.db.rows("WHERE removed_at IS NULL ORDER BY role = 'owner' DESC, id", [])
    }

    /// Returns at most `limit` admitted people, owners first; those behind `last` if it is given:
    /// whether that one is an owner, and the id.
    pub fn people_after(&self, last: Option<(bool, PersonId)>, limit: u32) -> anyhow::Result<Vec<Person>> {
        let (is_owner, id) = last.unzip();
        self.db.rows(
            "WHERE removed_at IS NULL AND (?1 IS NULL OR (role <> 'owner', id) > (NOT ?1, ?2))
             ORDER BY role <> 'owner', id LIMIT ?3",
            params![is_owner, id, limit],
        )
    }

    /// Returns the first admitted owner.
    pub fn first_owner(&self) -> anyhow::Result<Option<Person>> {
        self.db.row("WHERE removed_at IS NULL AND role = 'owner' ORDER BY id LIMIT 1", [])
    }

    /// Returns an admitted person by id.
    pub fn person(&self, id: PersonId) -> anyhow::Result<Option<Person>> {
        self.db.row("WHERE id = ?1 AND removed_at IS NULL", [id])
    }

    /// Returns true if the person is an owner now.
    pub fn is_owner(&self, id: PersonId) -> anyhow::Result<bool> {
        Ok(self.person(id)?.is_some_and(|person| person.role == Role::Owner))
    }

    /// Returns the party of a scope; `None` for a removed person, or for the shared scope.
    pub fn party_of(&self, scope: Scope) -> anyhow::Result<Option<Party>> {
        match scope {
            Scope::Person(id) => Ok(self.person(id)?.map(Party::One)),
            Scope::Group(stream) => Ok(Some(Party::Group(stream))),
            Scope::Shared => Ok(None),
        }
    }

    /// Returns when a person was first declared or paired.
    pub fn known_since(&self, id: PersonId) -> anyhow::Result<Option<Timestamp>> {
        self.db.first("SELECT created_at FROM people WHERE id = ?1", [id])
    }

    /// Returns an admitted person by name, ignoring case.
    pub fn person_named(&self, name: &str) -> anyhow::Result<Option<Person>> {
        self.db.row("WHERE lower(name) = lower(?1) AND removed_at IS NULL", [name])
    }

    /// Returns true if a person was admitted by pairing, not by the configuration.
    pub fn was_paired(&self, id: PersonId) -> anyhow::Result<bool> {
        Ok(self.db.first("SELECT declared = 'pairing' FROM people WHERE id = ?1", [id])?.unwrap_or(false))
    }
}

impl People<'_> {
    /// Returns the removed people of that name (ignoring case) who may be readmitted, latest first.
    pub fn formerly_named(&self, name: &str) -> anyhow::Result<Vec<FormerPerson>> {
        let mut former: Vec<FormerPerson> = self.db.rows(
            "WHERE removed_at IS NOT NULL AND ended = ''
                 ORDER BY removed_at DESC, id DESC",
            [],
        )?;
        former.retain(|person| person.name.to_lowercase() == name.to_lowercase());
        Ok(former)
    }

    /// Returns a removed person by id, if they may be readmitted.
    pub fn former_person(&self, id: PersonId) -> anyhow::Result<Option<FormerPerson>> {
        self.db.row("WHERE id = ?1 AND removed_at IS NOT NULL AND ended = ''", [id])
    }

    /// Returns the people for whom no owner has decided whether they are an earlier person of the
    /// same name, each with that person's id.
    pub fn open_namesakes(&self) -> anyhow::Result<Vec<(Person, PersonId)>> {
        let rows = self.db.all(
            "SELECT p.id, p.name, p.role, p.namesake_id FROM people p JOIN people n ON n.id = p.namesake_id
             AND n.ended = ''
             WHERE p.removed_at IS NULL ORDER BY p.id",
            [],
        )?;
        Ok(rows.into_iter().map(|(id, name, role, namesake)| (Person { id, name, role }, namesake)).collect())
    }

    /// Returns the person's own zone, or `home`, in which times are shown to them and read from
    /// them.
    pub fn zone_of(&self, id: PersonId, home: Zone) -> anyhow::Result<Zone> {
        let sql = "SELECT iif(own_zone <> '', own_zone, zone) FROM people WHERE id = ?1";
        let name: Option<String> = self.db.first(sql, [id])?;
        Ok(name.and_then(|name| Zone::named(&name)).unwrap_or(home))
    }

    /// The same for the person or group of a scope.
    pub fn zone_in(&self, scope: Scope, home: Zone) -> anyhow::Result<Zone> {
        if let Scope::Person(id) = scope { self.zone_of(id, home) } else { Ok(home) }
    }

    /// The same for the person of an address.
    pub fn zone_at(&self, address: AddressId, home: Zone) -> anyhow::Result<Zone> {
        let person: Option<Option<PersonId>> =
            self.db.first("SELECT person_id FROM addresses WHERE id = ?1", [address])?;
        person.flatten().map_or(Ok(home), |person| self.zone_of(person, home))
    }

    /// Returns the language in which a person is addressed: the one that they chose, else that of
    /// the configuration, of their channel, or of the home.
    pub fn language_of(&self, id: PersonId) -> anyhow::Result<Language> {
        let sql = "SELECT own_language, language, channel_language FROM people WHERE id = ?1";
        let (own, configured, channel): (String, String, String) = self.db.first(sql, [id])?.unwrap_or_default();
        let language = [own, configured, channel].iter().find_map(|code| Language::named(code));
        language.map_or_else(|| self.home_language(), Ok)
    }

    /// The same for the person or group of a scope.
    pub fn language_in(&self, scope: Scope) -> anyhow::Result<Language> {
        if let Scope::Person(id) = scope { self.language_of(id) } else { self.home_language() }
    }

    /// The same for the person or group of an address.
    pub fn language_at(&self, address: AddressId) -> anyhow::Result<Language> {
        let person: Option<Option<PersonId>> =
            self.db.first("SELECT person_id FROM addresses WHERE id = ?1", [address])?;
        person.flatten().map_or_else(|| self.home_language(), |person| self.language_of(person))
    }

    /// Returns the language of the home: of its groups, and of everyone else without one.
    pub fn home_language(&self) -> anyhow::Result<Language> {
        let code = self.db.settings().fact(HOME_LANGUAGE)?;
        Ok(code.and_then(|code| Language::named(&code)).unwrap_or(Language::ENGLISH))
    }

    /// Returns the end of the quiet hours if the person of that address has them now.
    pub fn quiet_until(&self, address: AddressId, now: Timestamp, home: Zone) -> anyhow::Result<Option<Timestamp>> {
        let hours: Option<(PersonId, String)> = self.db.first(
            "SELECT p.id, p.quiet_hours FROM addresses a JOIN people p ON p.id = a.person_id WHERE a.id = ?1",
            [address],
        )?;
        let Some((person, hours)) = hours else { return Ok(None) };
        Ok(quiet_until(parse_quiet_hours(&hours), now, self.zone_of(person, home)?))
    }

    /// Returns the owners who can be written to, each with the address for that.
    pub fn reachable_owners(&self) -> anyhow::Result<Vec<(PersonId, AddressId)>> {
        let mut reachable = Vec::new();
        for owner in self.people()?.into_iter().filter(|person| person.role == Role::Owner) {
            reachable.extend(self.db.addresses().reached_at(owner.id)?.map(|address| (owner.id, address)));
        }
        Ok(reachable)
    }
}

impl PeopleMut<'_> {
    /// Admits a new person. `declared` is `config` or `pairing`.
    ///
    /// # Errors
    /// If an admitted person has that name.
    pub fn add_person(&self, name: &str, role: Role, declared: &str, now: Timestamp) -> anyhow::Result<Person> {
        let id = insert!(self.db, "people" { name, role, declared, created_at: now })?;
        self.person(id)?.context("A person vanished while being stored")
    }

    /// Readmits a removed person under that name.
    ///
    /// # Errors
    /// If an admitted person has that name.
    pub fn readmit(&self, id: PersonId, name: &str, role: Role, declared: &str) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE people SET name = ?2, role = ?3, declared = ?4, removed_at = NULL WHERE id = ?1 AND ended = ''",
            params![id, name, role, declared],
        )
    }

    /// Renames an admitted person.
    ///
    /// # Errors
    /// If another admitted person has that name.
    pub fn rename(&self, id: PersonId, name: &str) -> anyhow::Result<()> {
        self.db.run("UPDATE people SET name = ?2 WHERE id = ?1", params![id, name])
    }

    /// Changes a person's role, and its source. A demotion revokes outstanding access.
    pub fn set_role(&self, id: PersonId, role: Role, declared: &str, now: Timestamp) -> anyhow::Result<()> {
        if self.person(id)?.is_some_and(|known| role < known.role) {
            self.revoke_access_of(id, now)?;
        }
        self.db.run("UPDATE people SET role = ?2, declared = ?3 WHERE id = ?1", params![id, role, declared])
    }

    /// Admits a person under an unused name, or changes the role of the admitted person of that
    /// name. A removed person of that name stays removed.
    pub fn allow(&self, name: &str, role: Role, declared: &str, now: Timestamp) -> anyhow::Result<Person> {
        let Some(known) = self.person_named(name)? else { return self.add_person(name, role, declared, now) };
        self.set_role(known.id, role, declared, now)?;
        self.rename(known.id, name)?;
        self.person(known.id)?.context("A person vanished while being stored")
    }

    /// Sets or clears the question whether a person is an earlier one of the same name.
    pub fn set_namesake(&self, id: PersonId, of: Option<PersonId>) -> anyhow::Result<()> {
        self.db.run("UPDATE people SET namesake_id = ?2 WHERE id = ?1", params![id, of])
    }

    /// Sets a person's preferred adapter; blank for the one they last wrote from.
    pub fn set_prefer(&self, id: PersonId, adapter: &str) -> anyhow::Result<()> {
        self.db.run("UPDATE people SET prefer = ?2 WHERE id = ?1", params![id, adapter])
    }

    /// Sets a person's own zone, blank for the one of the home, and quiet hours, blank for none.
    pub fn set_hours(&self, id: PersonId, zone: &str, quiet_hours: &str) -> anyhow::Result<()> {
        self.db.run("UPDATE people SET zone = ?2, quiet_hours = ?3 WHERE id = ?1", params![id, zone, quiet_hours])
    }

    /// Sets the language that the configuration gives a person, if any.
    pub fn set_language(&self, id: PersonId, language: Option<Language>) -> anyhow::Result<()> {
        self.db.run("UPDATE people SET language = ?2 WHERE id = ?1", params![id, code_of(language)])
    }

    /// Records the language that a person's channel tells.
    pub fn record_channel_language(&self, id: PersonId, language: Language) -> anyhow::Result<()> {
        let sql = "UPDATE people SET channel_language = ?2 WHERE id = ?1 AND channel_language <> ?2";
        self.db.run(sql, params![id, language.code()])
    }

    /// Sets or clears the language that a person chose.
    pub fn choose_language(&self, id: PersonId, language: Option<Language>) -> anyhow::Result<()> {
        self.db.run("UPDATE people SET own_language = ?2 WHERE id = ?1", params![id, code_of(language)])
    }

    /// Sets or clears the zone that a person chose.
    pub fn choose_zone(&self, id: PersonId, zone: Option<Zone>) -> anyhow::Result<()> {
        let name = zone.map_or("", Zone::name);
        self.db.run("UPDATE people SET own_zone = ?2 WHERE id = ?1", params![id, name])
    }

    /// Sets the language of the home.
    pub fn set_home_language(&self, language: Language) -> anyhow::Result<()> {
        self.tx().settings().set_fact(HOME_LANGUAGE, language.code())
    }

    /// Gives a person the preferences of another.
    pub fn copy_preferences(&self, from: PersonId, to: PersonId) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE people SET (prefer, zone, quiet_hours, language, channel_language, own_language, own_zone)
             = (SELECT prefer, zone, quiet_hours, language, channel_language, own_language, own_zone
                FROM people WHERE id = ?1)
             WHERE id = ?2",
            params![from, to],
        )
    }

    /// Removes a person and revokes outstanding access. Their rows stay; their addresses become
    /// strangers' addresses.
    pub fn disallow(&self, id: PersonId, now: Timestamp) -> anyhow::Result<()> {
        self.revoke_access_of(id, now)?;
        self.db.run("UPDATE people SET removed_at = ?2 WHERE id = ?1", params![id, now])?;
        self.db.run("UPDATE addresses SET person_id = NULL, alias = '' WHERE person_id = ?1", [id])
    }
}

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
            "SELECT adapter, peer FROM addresses WHERE person_id = ?1 AND adapter NOT IN ('terminal', 'web')
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

impl PeopleMut<'_> {
    /// Voids all codes that a person issued or that are for them, closes their open questions, and
    /// ends their browsers' sessions.
    pub fn revoke_access_of(&self, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
        self.void_codes_of(person, now)?;
        self.tx().web_sessions().end_all(Some(person))?;
        for sql in [
            "UPDATE questions SET state = 'refused', decided_at = ?2 WHERE person_id = ?1 AND state IN ('open', 'passed')",
            "UPDATE keeps SET state = 'no', decided_at = ?2 WHERE person_id = ?1 AND state IN ('new', 'open')",
        ] {
            self.db.run(sql, params![person, now])?;
        }
        Ok(())
    }

    /// Voids all unused codes that a person issued or that are for them.
    pub fn void_codes_of(&self, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE pairing_codes SET expires_at = min(expires_at, ?2)
             WHERE used_at IS NULL AND (issuer_id = ?1 OR person_id = ?1)",
            params![person, now],
        )
    }

    /// Unlinks an address from its person: later messages from it are a stranger's, and pending
    /// deliveries to it are not sent. Also revokes the person's codes and open questions.
    pub fn unlink(&self, address: AddressId, person: PersonId, now: Timestamp) -> anyhow::Result<()> {
        self.revoke_access_of(person, now)?;
        for sql in [
            "UPDATE addresses SET person_id = NULL, alias = '' WHERE id = ?1 AND person_id = ?2 AND ?3 = ?3",
            "UPDATE outbox SET state = 'failed', trouble = 'unlinked', ended_at = ?3
             WHERE address_id = ?1 AND scope = 'person:' || ?2 AND state = 'pending'",
        ] {
            self.db.run(sql, params![address, person, now])?;
        }
        Ok(())
    }
}
