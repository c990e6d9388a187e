//! Admission of people in a restored journal, based on the present home.
//!
//! An old backup holds people, roles and addresses that the home has changed since. A restored
//! journal admits only people known to the present home, with the roles and addresses they have
//! there. Everyone else is removed until an owner admits them. Only an unused home imposes no such
//! limit.

use crate::store::handles::{AfterRestore, AfterRestoreMut};
use crate::store::rows::from_row;
use rusqlite::params;
use serde::Serialize;

use crate::message::ChannelKind;
use crate::people::Role;
use crate::time::Timestamp;

/// A person of a journal, admitted or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonRecord {
    /// Row id.
    pub id: i64,
    /// Name.
    pub name: String,
    /// Role.
    pub role: Role,
    /// `config` or `pairing`.
    pub declared: String,
    /// Time of first admission.
    pub created_at: Timestamp,
    /// True for a removed person.
    pub is_removed: bool,
    /// Addresses.
    pub addresses: Vec<AddressRecord>,
}

from_row! {
    PersonRecord { id, name, role, declared, created_at, is_removed }
    with |_row| { addresses: Vec::new() }
}

/// An address of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressRecord {
    id: i64,
    adapter: String,
    account: String,
    peer: String,
    alias: String,
}

from_row! { AddressRecord { id, adapter, account, peer, alias } }

impl AddressRecord {
    /// Returns the address for display: `telegram 1001`.
    pub fn shown(&self) -> String {
        if ChannelKind::is_attended(&self.adapter) {
            self.adapter.clone()
        } else {
            format!("{} {}", self.adapter, self.peer)
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.adapter, &self.account, &self.peer) == (&other.adapter, &other.account, &other.peer)
    }
}

/// The people of the present home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentPeople {
    /// Everyone who is or was admitted.
    pub records: Vec<PersonRecord>,
    /// True if rows with the same creation time are the same person, even under another name. Must
    /// be false for an unauthenticated archive, where such a row may be anyone.
    pub share_rows: bool,
}

/// Outcome of a restore for a person of the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Readmission {
    /// Known in the present home; admitted.
    Known,
    /// Admitted again because the present home is unused.
    Returns,
    /// Removed in the present home; not admitted.
    Removed,
    /// Unknown in the present home; not admitted.
    Unknown,
}

/// A person of the archive after the restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoredPerson {
    /// Name.
    pub name: String,
    /// Role in the archive.
    pub was: Role,
    /// Role after the restore.
    pub role: Role,
    /// True if admitted by the configuration, not by pairing.
    pub declared: bool,
    /// Outcome of the restore.
    pub fate: Readmission,
    /// Addresses after the restore.
    pub addresses: Vec<String>,
    /// Addresses that they have in the archive but not in the present home.
    pub refused: Vec<String>,
}

impl RestoredPerson {
    /// Returns true if the person is admitted.
    pub fn is_in(&self) -> bool {
        matches!(self.fate, Readmission::Known | Readmission::Returns)
    }

    /// Returns true if the restore changed their admission, role or addresses.
    pub fn is_changed(&self) -> bool {
        !self.is_in() || self.was != self.role || !self.refused.is_empty()
    }
}

impl AfterRestore<'_> {
    /// Returns everyone who is or was admitted, oldest first. Reads journals of every version.
    pub fn members(&self) -> anyhow::Result<Vec<PersonRecord>> {
        let mut members: Vec<PersonRecord> = self.db.all(
            "SELECT id, name, role, declared, created_at, removed_at IS NOT NULL AS is_removed FROM people
             ORDER BY id",
            [],
        )?;
        for member in &mut members {
            member.addresses = self.places_of(member.id)?;
        }
        Ok(members)
    }

    fn places_of(&self, person: i64) -> anyhow::Result<Vec<AddressRecord>> {
        let has_alias = self.db.exists("SELECT 1 FROM pragma_table_info('addresses') WHERE name = 'alias'", [])?;
        let alias = if has_alias { "alias" } else { "''" };
        self.db.all(
            &format!(
                "SELECT id, adapter, account, peer, {alias} AS alias FROM addresses WHERE person_id = ?1 ORDER BY id"
            ),
            [person],
        )
    }

    /// Returns true for an unused journal: no messages, no removals, no pairings.
    pub fn is_unused(&self) -> anyhow::Result<bool> {
        Ok(!self.db.exists(
            "SELECT 1 FROM messages UNION ALL SELECT 1 FROM people WHERE removed_at IS NOT NULL
             OR declared <> 'config'",
            [],
        )?)
    }
}

impl AfterRestoreMut<'_> {
    /// Admits only people known to the present home; `None` admits all as they were. Returns the
    /// people who were admitted in the archive.
    pub fn admit_only(&self, present: Option<&PresentPeople>, now: Timestamp) -> anyhow::Result<Vec<RestoredPerson>> {
        let mut standings = Vec::new();
        for member in self.members()?.into_iter().filter(|member| !member.is_removed) {
            standings.push(match present {
                None => as_it_was(member),
                Some(present) => self.judge(&member, present, now)?,
            });
        }
        if present.is_some() {
            // An alias on an unowned address must not identify a sender.
            self.db.run("UPDATE addresses SET alias = '' WHERE person_id IS NULL", [])?;
        }
        Ok(standings)
    }

    fn judge(&self, member: &PersonRecord, present: &PresentPeople, now: Timestamp) -> anyhow::Result<RestoredPerson> {
        let (fate, known) = present.find(member);
        let (addresses, refused) = self.judge_addresses(member, known)?;
        let role = known.map_or(member.role, |known| known.role);
        if let Some(known) = known {
            self.db.run(
                "UPDATE people SET role = ?2, declared = ?3 WHERE id = ?1",
                params![member.id, role, known.declared],
            )?;
            // Takes their present name unless another person of the archive has it.
            self.db.run("UPDATE OR IGNORE people SET name = ?2 WHERE id = ?1", params![member.id, known.name])?;
        } else {
            self.db.run("UPDATE people SET removed_at = ?2 WHERE id = ?1", params![member.id, now])?;
        }
        Ok(RestoredPerson {
            name: known.map_or(&member.name, |known| &known.name).clone(),
            was: member.role,
            role,
            declared: known.map_or(&member.declared, |known| &known.declared) == "config",
            fate,
            addresses,
            refused,
        })
    }

    /// Keeps the addresses that are theirs in the present home. Returns the kept and the refused
    /// ones.
    fn judge_addresses(
        &self,
        member: &PersonRecord,
        known: Option<&PersonRecord>,
    ) -> anyhow::Result<(Vec<String>, Vec<String>)> {
        let (mut kept, mut refused) = (Vec::new(), Vec::new());
        for place in &member.addresses {
            let same = known.and_then(|known| known.addresses.iter().find(|one| one.is_same(place)));
            // A user of this computer's terminal has access to the home anyway.
            if same.is_some() || (known.is_some() && ChannelKind::is_attended(&place.adapter)) {
                let alias = same.map_or("", |same| same.alias.as_str());
                self.db.run("UPDATE addresses SET alias = ?2 WHERE id = ?1", params![place.id, alias])?;
                kept.push(place.shown());
            } else {
                self.db.run("UPDATE addresses SET person_id = NULL, alias = '' WHERE id = ?1", [place.id])?;
                refused.push(place.shown());
            }
        }
        Ok((kept, refused))
    }
}

impl PresentPeople {
    /// Finds the matching person of the present home.
    fn find(&self, member: &PersonRecord) -> (Readmission, Option<&PersonRecord>) {
        let is_named = |one: &&PersonRecord| one.name.to_lowercase() == member.name.to_lowercase();
        let same = self.records.iter().find(|one| (one.id, one.created_at) == (member.id, member.created_at));
        let named = || self.records.iter().filter(is_named).max_by_key(|one| (!one.is_removed, one.id));
        match same.filter(|one| self.share_rows || is_named(one)).or_else(named) {
            Some(known) if known.is_removed => (Readmission::Removed, None),
            Some(known) => (Readmission::Known, Some(known)),
            None => (Readmission::Unknown, None),
        }
    }
}

fn as_it_was(member: PersonRecord) -> RestoredPerson {
    RestoredPerson {
        addresses: member.addresses.iter().map(AddressRecord::shown).collect(),
        declared: member.declared == "config",
        name: member.name,
        was: member.role,
        role: member.role,
        fate: Readmission::Returns,
        refused: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::people::Address;
    use crate::store::Journal;
    use crate::store::Tx;

    fn at(peer: &str) -> Address {
        Address::new("telegram", "bot", peer)
    }

    fn member(id: i64, name: &str, role: Role, is_removed: bool, peers: &[&str]) -> PersonRecord {
        let place = |peer: &&str| AddressRecord {
            id: 0,
            adapter: "telegram".to_owned(),
            account: "bot".to_owned(),
            peer: (*peer).to_owned(),
            alias: String::new(),
        };
        let addresses = peers.iter().map(place).collect();
        let (name, declared) = (name.to_owned(), "pairing".to_owned());
        PersonRecord { id, name, role, declared, created_at: Timestamp(1), is_removed, addresses }
    }

    /// Restores an archive with Ada (owner), Ben (member) and Mallory (owner), each with one
    /// address.
    async fn judged(present: Option<Vec<PersonRecord>>) -> Vec<String> {
        judged_by(present.map(|records| PresentPeople { records, share_rows: false })).await
    }

    async fn judged_by(present: Option<PresentPeople>) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("j.db"), None).unwrap();
        let job = move |tx: Tx<'_>| {
            for (name, role, peer) in
                [("Ada", Role::Owner, "1"), ("Ben", Role::Member, "2"), ("Mallory", Role::Owner, "6")]
            {
                let known = tx.people().allow(name, role, "pairing", Timestamp(1))?;
                tx.addresses().link(&at(peer), Some(known.id), Timestamp(1))?;
            }
            tx.after_restore().admit_only(present.as_ref(), Timestamp(9))?;
            let shown = |person: crate::people::Person| {
                let places: Vec<String> =
                    tx.addresses().addresses_of(person.id)?.into_iter().map(|known| known.address.peer).collect();
                Ok(format!("{} {} {}", person.name, person.role, places.join(" ")))
            };
            tx.people().people()?.into_iter().map(shown).collect::<anyhow::Result<Vec<_>>>()
        };
        journal.write("a story", job).await.unwrap()
    }

    #[tokio::test]
    async fn only_who_is_known_here_is_let_in_and_as_they_are_here() {
        assert_eq!(judged(None).await, ["Ada owner 1", "Mallory owner 6", "Ben member 2"]);
        assert_eq!(judged(Some(Vec::new())).await, [""; 0]);
        let ada = member(1, "Ada", Role::Owner, false, &["1"]);
        let here = vec![ada.clone(), member(2, "Ben", Role::Member, true, &[])];
        assert_eq!(judged(Some(here)).await, ["Ada owner 1"], "who was removed here stays out");
        let here = vec![ada.clone(), member(7, "ben", Role::Owner, false, &["3"])];
        assert_eq!(judged(Some(here)).await, ["Ada owner 1", "ben owner "], "by name: the role here, no address");
        let here = vec![member(1, "Ada", Role::Member, false, &["1"]), member(2, "Zoe", Role::Member, false, &["2"])];
        assert_eq!(judged(Some(here)).await, ["Ada member 1"], "a row with another name is somebody else");
        let renamed =
            vec![ada.clone(), member(2, "Bob", Role::Owner, false, &["2"]), member(3, "Eve", Role::Owner, true, &[])];
        assert_eq!(judged(Some(renamed.clone())).await, ["Ada owner 1"]);
        let authentic = PresentPeople { records: renamed, share_rows: true };
        assert_eq!(judged_by(Some(authentic)).await, ["Ada owner 1", "Bob owner 2"]);
        let removed = vec![ada, member(3, "Mallory", Role::Guest, true, &[])];
        assert_eq!(judged(Some(removed)).await, ["Ada owner 1"]);
    }
}
