//! Admitted people. The configuration declares them, pairing adds more, and the configuration takes
//! precedence.

use crate::store::handles::{People, PeopleMut};
use crate::store::rows::{from_row, stored_word};
use anyhow::Context;
use rusqlite::params;

use crate::id::{AddressId, PersonId};
use crate::people::{Party, Person, Role};
use crate::time::Timestamp;
use crate::trust::Scope;

stored_word!(foreign Role);

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

    /// Returns an admitted person by id.
    pub fn person(&self, id: PersonId) -> anyhow::Result<Option<Person>> {
        self.db.row("WHERE id = ?1 AND removed_at IS NULL", [id])
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

    /// Returns a person's preferred adapter, or blank.
    pub fn preferred(&self, id: PersonId) -> anyhow::Result<String> {
        Ok(self.db.first("SELECT prefer FROM people WHERE id = ?1", [id])?.unwrap_or_default())
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
        self.db.run(
            "INSERT INTO people (name, role, declared, created_at) VALUES (?1, ?2, ?3, ?4)",
            params![name, role, declared, now],
        )?;
        self.person(PersonId(self.db.last_insert_rowid()))?.context("A person vanished while being stored")
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

    /// Removes a person and revokes outstanding access. Their rows stay; their addresses become
    /// strangers' addresses.
    pub fn disallow(&self, id: PersonId, now: Timestamp) -> anyhow::Result<()> {
        self.revoke_access_of(id, now)?;
        self.db.run("UPDATE people SET removed_at = ?2 WHERE id = ?1", params![id, now])?;
        self.db.run("UPDATE addresses SET person_id = NULL, alias = '' WHERE person_id = ?1", [id])
    }
}
