//! Who is allowed in. The configuration declares, pairing adds, the configuration wins.

use anyhow::Context;
use rusqlite::{OptionalExtension, Row, params};

use super::{Db, Tx};
use crate::id::PersonId;
use crate::people::{Party, Person, Role};
use crate::time::Moment;
use crate::trust::Scope;

const COLUMNS: &str = "id, name, role";

fn person(row: &Row<'_>) -> rusqlite::Result<Person> {
    let role: String = row.get(2)?;
    Ok(Person { id: row.get(0)?, name: row.get(1)?, role: Role::parse(&role).unwrap_or(Role::Guest) })
}

impl Db<'_> {
    /// Everybody who is allowed in, owners first.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn people(&self) -> anyhow::Result<Vec<Person>> {
        let mut query = self.0.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM people WHERE removed_at IS NULL ORDER BY role = 'owner' DESC, id"
        ))?;
        Ok(query.query_map([], person)?.collect::<Result<_, _>>()?)
    }

    /// The person with that id who is allowed in.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn person(&self, id: PersonId) -> anyhow::Result<Option<Person>> {
        let mut query =
            self.0.prepare_cached(&format!("SELECT {COLUMNS} FROM people WHERE id = ?1 AND removed_at IS NULL"))?;
        Ok(query.query_row([id], person).optional()?)
    }

    /// Whose text that is; `None` if they are not allowed in any more, or if it is everybody's.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn party_of(&self, scope: Scope) -> anyhow::Result<Option<Party>> {
        match scope {
            Scope::Person(id) => Ok(self.person(id)?.map(Party::One)),
            Scope::Group(stream) => Ok(Some(Party::Group(stream))),
            Scope::Shared => Ok(None),
        }
    }

    /// When a person was first named in the configuration, or paired.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn known_since(&self, id: PersonId) -> anyhow::Result<Option<Moment>> {
        let mut query = self.0.prepare_cached("SELECT created_at FROM people WHERE id = ?1")?;
        Ok(query.query_row([id], |row| row.get(0)).optional()?)
    }

    /// The person of that name, whatever its case, who is allowed in.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn person_named(&self, name: &str) -> anyhow::Result<Option<Person>> {
        let mut query = self.0.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM people WHERE lower(name) = lower(?1) AND removed_at IS NULL"
        ))?;
        Ok(query.query_row([name], person).optional()?)
    }

    /// Whether pairing, and not the configuration, let them in.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn was_paired(&self, id: PersonId) -> anyhow::Result<bool> {
        let mut query = self.0.prepare_cached("SELECT declared = 'pairing' FROM people WHERE id = ?1")?;
        Ok(query.query_row([id], |row| row.get(0)).optional()?.unwrap_or(false))
    }
}

impl Tx<'_> {
    /// Lets somebody in, or changes the role of who is in already. `declared` is `config` or `pairing`.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn allow(&self, name: &str, role: Role, declared: &str, now: Moment) -> anyhow::Result<Person> {
        if let Some(known) = self.person_named(name)? {
            self.0
                .0
                .prepare_cached("UPDATE people SET role = ?2, declared = ?3, name = ?4 WHERE id = ?1")?
                .execute(params![known.id, role.as_str(), declared, name])?;
        } else {
            // Somebody who comes back under the same name is the same person, with their stream.
            let before: Option<PersonId> = self
                .0
                .0
                .prepare_cached("SELECT max(id) FROM people WHERE lower(name) = lower(?1) AND removed_at IS NOT NULL")?
                .query_row([name], |row| row.get(0))?;
            match before {
                Some(id) => self
                    .0
                    .0
                    .prepare_cached("UPDATE people SET role = ?2, declared = ?3, removed_at = NULL WHERE id = ?1")?
                    .execute(params![id, role.as_str(), declared])?,
                None => self
                    .0
                    .0
                    .prepare_cached("INSERT INTO people (name, role, declared, created_at) VALUES (?1, ?2, ?3, ?4)")?
                    .execute(params![name, role.as_str(), declared, now])?,
            };
        }
        self.person_named(name)?.context("A person vanished while being stored")
    }

    /// Where a person likes to be reached: an adapter, or blank for wherever they wrote last.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn set_prefer(&self, id: PersonId, adapter: &str) -> anyhow::Result<()> {
        self.0.0.prepare_cached("UPDATE people SET prefer = ?2 WHERE id = ?1")?.execute(params![id, adapter])?;
        Ok(())
    }

    /// Lets them in no longer. Their rows stay; their addresses are strangers again.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn disallow(&self, id: PersonId, now: Moment) -> anyhow::Result<()> {
        self.0.0.prepare_cached("UPDATE people SET removed_at = ?2 WHERE id = ?1")?.execute(params![id, now])?;
        self.0
            .0
            .prepare_cached("UPDATE addresses SET person_id = NULL, alias = '' WHERE person_id = ?1")?
            .execute([id])?;
        Ok(())
    }

    /// Lets nobody in whom the configuration declared once and no longer does.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub fn disallow_undeclared(&self, still_declared: &[PersonId], now: Moment) -> anyhow::Result<()> {
        let declared: Vec<PersonId> = self
            .0
            .0
            .prepare_cached("SELECT id FROM people WHERE declared = 'config' AND removed_at IS NULL")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for id in declared.into_iter().filter(|id| !still_declared.contains(id)) {
            self.disallow(id, now)?;
        }
        Ok(())
    }
}
