//! Pairing codes: shown once, stored as a digest, used once, and expiring (lifetimes are in
//! `admin::pairing`).
//!
//! A code names a known person or describes a newcomer, and records its issuer. Its permission is
//! checked at use: by then the issuer may be removed or demoted, or the newcomer's name taken.

use crate::store::handles::{Pairing, PairingMut};
use crate::store::rows::from_row;
use rusqlite::params;
use sha2::{Digest, Sha256};

use crate::id::{AddressId, PersonId};
use crate::people::{Person, Role, is_name};
use crate::time::Timestamp;

/// Issuer of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issuer {
    /// The command line of the home. Access to the home implies an owner's rights.
    CommandLine,
    /// A person, with the role they have when the code is used.
    Person(PersonId),
}

impl Issuer {
    fn row(self) -> Option<PersonId> {
        match self {
            Self::CommandLine => None,
            Self::Person(id) => Some(id),
        }
    }
}

/// Recipient of a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeFor {
    /// An admitted person: the code only links one more address to them.
    Address(PersonId),
    /// A removed person, who is readmitted with that role; or an admitted one, who gets that role
    /// if it is higher and the command line issued the code.
    Person(PersonId, Role),
    /// A new person with that name and role.
    Newcomer(String, Role),
}

impl CodeFor {
    fn row(&self) -> (Option<PersonId>, &str, &str) {
        match self {
            Self::Address(id) => (Some(*id), "", ""),
            Self::Person(id, role) => (Some(*id), "", role.as_str()),
            Self::Newcomer(name, role) => (None, name, role.as_str()),
        }
    }
}

/// A valid code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidCode {
    id: i64,
    /// Issuer.
    pub issuer: Issuer,
    /// Recipient.
    pub recipient: CodeFor,
}

from_row! {
    ValidCode { id }
    with |row| {
        issuer: row.get::<_, Option<PersonId>>("issuer_id")?.map_or(Issuer::CommandLine, Issuer::Person),
        recipient: match (row.get("person_id")?, row.get("role")?) {
            (Some(person), None) => CodeFor::Address(person),
            (Some(person), Some(role)) => CodeFor::Person(person, role),
            (None, _) => CodeFor::Newcomer(row.get("name")?, row.get("role")?),
        },
    }
}

/// Effect of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admitted {
    /// A new person was admitted.
    Newcomer,
    /// A removed person was readmitted.
    Again,
    /// An admitted person got a higher role.
    Promoted,
    /// No change, except that the code may link an address.
    Address,
}

/// Result of using a code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeUse {
    /// Valid.
    Accepted {
        /// Person after the change.
        person: Person,
        /// Effect.
        did: Admitted,
        /// Issuer.
        issuer: Issuer,
    },
    /// Unknown, used, expired, or no longer permitted.
    Refused,
}

fn digest(code: &str) -> String {
    hex::encode(Sha256::digest(code.trim().to_ascii_uppercase()))
}

impl Pairing<'_> {
    /// Returns a code that is valid now: unused, not expired, and still permitted to its issuer.
    pub fn valid_code(&self, code: &str, now: Timestamp) -> anyhow::Result<Option<ValidCode>> {
        let good: Option<ValidCode> = self.db.first(
            "SELECT id, issuer_id, person_id, name, nullif(role, '') AS role FROM pairing_codes
             WHERE digest = ?1 AND used_at IS NULL AND expires_at > ?2",
            params![digest(code), now],
        )?;
        let Some(good) = good else { return Ok(None) };
        Ok(self.may_be_used(&good)?.then_some(good))
    }

    fn may_be_used(&self, code: &ValidCode) -> anyhow::Result<bool> {
        let of_owner = match code.issuer {
            Issuer::CommandLine => true,
            Issuer::Person(id) => match self.db.people().person(id)? {
                Some(issuer) => issuer.role == Role::Owner,
                None => return Ok(false),
            },
        };
        Ok(match &code.recipient {
            CodeFor::Address(id) => {
                self.db.people().person(*id)?.is_some() && (of_owner || code.issuer == Issuer::Person(*id))
            }
            CodeFor::Person(id, _) => of_owner && (self.db.people().person(*id)?.is_some() || self.may_return(*id)?),
            CodeFor::Newcomer(name, role) => {
                of_owner && *role != Role::Guest && is_name(name) && self.db.people().person_named(name)?.is_none()
            }
        })
    }

    /// Returns true if a removed person can be readmitted: not erased, and their name is not in
    /// use.
    fn may_return(&self, id: PersonId) -> anyhow::Result<bool> {
        let Some(former) = self.db.people().former_person(id)? else { return Ok(false) };
        Ok(is_name(&former.name) && self.db.people().person_named(&former.name)?.is_none())
    }
}

impl PairingMut<'_> {
    /// Stores a new code. Voids an open one by the same issuer for the same person, or for a
    /// newcomer of that name.
    pub fn store_code(
        &self,
        code: &str,
        issuer: Issuer,
        recipient: &CodeFor,
        now: Timestamp,
        expires: Timestamp,
    ) -> anyhow::Result<()> {
        let (person, name, role) = recipient.row();
        self.db.run(
            "UPDATE pairing_codes SET expires_at = min(expires_at, ?4) WHERE used_at IS NULL AND issuer_id IS ?1
             AND (person_id = ?2 OR ?2 IS NULL AND person_id IS NULL AND lower(name) = lower(?3))",
            params![issuer.row(), person, name, now],
        )?;
        self.db.run(
            "INSERT INTO pairing_codes (digest, issuer_id, person_id, name, role, created_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![digest(code), issuer.row(), person, name, role, now, expires],
        )
    }

    /// Settles that codes are over, so that no clock that is set back makes one valid again.
    pub fn settle_expired(&self, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE pairing_codes SET expires_at = 0 WHERE used_at IS NULL AND expires_at <= ?1 AND expires_at > 0",
            [now],
        )
    }

    /// Uses a code, once, and admits its recipient.
    pub fn use_code(&self, code: &str, now: Timestamp) -> anyhow::Result<CodeUse> {
        let Some(ValidCode { id, issuer, recipient }) = self.valid_code(code, now)? else {
            self.settle_expired(now)?;
            return Ok(CodeUse::Refused);
        };
        self.db.run("UPDATE pairing_codes SET used_at = ?2 WHERE id = ?1", params![id, now])?;
        let (person, did) = match recipient {
            CodeFor::Address(person) => (person, Admitted::Address),
            CodeFor::Person(person, role) => (person, self.admit_known(person, role, issuer, now)?),
            CodeFor::Newcomer(name, role) => (self.admit_newcomer(&name, role, now)?, Admitted::Newcomer),
        };
        Ok(match self.db.people().person(person)? {
            Some(person) => CodeUse::Accepted { person, did, issuer },
            None => CodeUse::Refused,
        })
    }

    fn admit_known(&self, id: PersonId, role: Role, issuer: Issuer, now: Timestamp) -> anyhow::Result<Admitted> {
        if let Some(former) = self.db.people().former_person(id)? {
            self.tx().people().readmit(id, &former.name, role, "pairing")?;
            return Ok(Admitted::Again);
        }
        let is_higher = self.db.people().person(id)?.is_some_and(|person| role > person.role);
        if !is_higher || issuer != Issuer::CommandLine {
            return Ok(Admitted::Address);
        }
        let declared = if self.db.people().was_paired(id)? { "pairing" } else { "config" };
        self.tx().people().set_role(id, role, declared, now)?;
        Ok(Admitted::Promoted)
    }

    /// Admits a new person. Voids other open codes for a newcomer of that name.
    fn admit_newcomer(&self, name: &str, role: Role, now: Timestamp) -> anyhow::Result<PersonId> {
        self.void_codes_for_newcomer(name, now)?;
        let person = self.tx().people().add_person(name, role, "pairing", now)?;
        // The first owner's code names no person, so the question has not been asked.
        if name.parse::<Role>().is_ok() {
            self.tx()
                .people()
                .set_namesake(person.id, self.db.people().formerly_named(name)?.first().map(|former| former.id))?;
        }
        Ok(person.id)
    }

    /// Voids all unused codes for a newcomer of that name.
    pub fn void_codes_for_newcomer(&self, name: &str, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE pairing_codes SET expires_at = min(expires_at, ?2)
             WHERE used_at IS NULL AND person_id IS NULL AND lower(name) = lower(?1)",
            params![name, now],
        )
    }

    /// Records that the effect of a code was explained at that address. Returns true if it was
    /// explained there before.
    pub fn code_asked_at(&self, code: &ValidCode, address: AddressId) -> anyhow::Result<bool> {
        let before: Option<Option<bool>> = self
            .db
            .first("SELECT asked_at_address = ?2 FROM pairing_codes WHERE id = ?1", params![code.id, address])?;
        self.db.run("UPDATE pairing_codes SET asked_at_address = ?2 WHERE id = ?1", params![code.id, address])?;
        Ok(before.flatten().unwrap_or(false))
    }

    /// Voids all unused codes for owners issued by the command line, as when a new claim code is
    /// printed.
    pub fn void_claims(&self, now: Timestamp) -> anyhow::Result<()> {
        self.db.run(
            "UPDATE pairing_codes SET expires_at = ?1 WHERE used_at IS NULL AND expires_at > ?1 AND issuer_id IS NULL
             AND (role = 'owner' OR person_id IN (SELECT id FROM people WHERE role = 'owner'))",
            params![now],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Journal;
    use crate::store::Tx;

    const NOW: Timestamp = Timestamp(1_000);
    const END: Timestamp = Timestamp(9_000);

    fn newcomer(name: &str, role: Role) -> CodeFor {
        CodeFor::Newcomer(name.to_owned(), role)
    }

    /// Runs a job in a journal with Ada, an owner, and Ben, a member.
    async fn with_ada_and_ben(run: impl FnOnce(Tx<'_>, PersonId, PersonId) -> anyhow::Result<()> + Send + 'static) {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open_or_copy(&folder.path().join("j.db"), None).unwrap();
        let story = journal.write("a story", move |tx| {
            let ada = tx.people().add_person("Ada", Role::Owner, "config", NOW)?.id;
            let ben = tx.people().add_person("Ben", Role::Member, "pairing", NOW)?.id;
            run(tx, ada, ben)
        });
        story.await.unwrap();
    }

    #[tokio::test]
    async fn the_rights_of_a_code_are_checked_when_it_is_used() {
        with_ada_and_ben(|tx, ada, ben| {
            let (of_ada, of_ben) = (Issuer::Person(ada), Issuer::Person(ben));
            let cases = [
                (of_ben, CodeFor::Address(ben), true),
                (of_ben, CodeFor::Address(ada), false),
                (of_ben, newcomer("Zoe", Role::Member), false),
                (of_ben, CodeFor::Person(ben, Role::Owner), false),
                (of_ada, CodeFor::Address(ben), true),
                (of_ada, newcomer("Zoe", Role::Owner), true),
                (of_ada, newcomer("", Role::Owner), false),
                (of_ada, newcomer("<b>", Role::Member), false),
                (of_ada, newcomer("ben", Role::Member), false),
                (of_ada, newcomer("Zoe", Role::Guest), false),
                (Issuer::CommandLine, newcomer("Zoe", Role::Owner), true),
            ];
            for (number, (issuer, recipient, good)) in cases.into_iter().enumerate() {
                let code = format!("AAAA-AA{number:02}");
                tx.pairing().store_code(&code, issuer, &recipient, NOW, END)?;
                assert_eq!(tx.pairing().valid_code(&code, NOW)?.is_some(), good, "{issuer:?} {recipient:?}");
            }
            tx.people().set_role(ada, Role::Member, "config", NOW)?;
            assert_eq!(tx.pairing().use_code("AAAA-AA05", NOW)?, CodeUse::Refused, "she was demoted");
            assert!(tx.pairing().valid_code("AAAA-AA10", NOW)?.is_some(), "the computer is not");
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn one_code_is_open_for_each_issuer_and_person() {
        with_ada_and_ben(|tx, ada, ben| {
            let issuers = [Issuer::Person(ada), Issuer::CommandLine];
            for (code, issuer) in ["1", "2"].into_iter().zip(issuers) {
                tx.pairing().store_code(&format!("AAAA-BEN{code}"), issuer, &CodeFor::Address(ben), NOW, END)?;
                tx.pairing().store_code(
                    &format!("AAAA-ZOE{code}"),
                    issuer,
                    &newcomer("Zoe", Role::Member),
                    NOW,
                    END,
                )?;
            }
            tx.pairing().store_code("BBBB-BEN1", issuers[0], &CodeFor::Address(ben), NOW, END)?;
            tx.pairing().store_code("BBBB-ZOE1", issuers[0], &newcomer("zoe", Role::Owner), NOW, END)?;
            for (code, good) in [("AAAA-BEN1", false), ("AAAA-ZOE1", false), ("AAAA-BEN2", true), ("AAAA-ZOE2", true)] {
                assert_eq!(tx.pairing().valid_code(code, NOW)?.is_some(), good, "{code}");
            }
            assert!(matches!(
                tx.pairing().use_code("BBBB-ZOE1", NOW)?,
                CodeUse::Accepted { did: Admitted::Newcomer, .. }
            ));
            let zoe = tx.people().person_named("Zoe")?.unwrap();
            tx.people().disallow(zoe.id, NOW)?;
            assert_eq!(tx.pairing().use_code("AAAA-ZOE2", NOW)?, CodeUse::Refused, "the name was given to a newcomer");
            Ok(())
        })
        .await;
    }

    #[tokio::test]
    async fn only_the_computer_promotes_who_is_in_and_a_removed_person_comes_back_as_themselves() {
        with_ada_and_ben(|tx, ada, ben| {
            let owner = CodeFor::Person(ben, Role::Owner);
            tx.pairing().store_code("AAAA-0001", Issuer::Person(ada), &owner, NOW, END)?;
            tx.pairing().store_code("AAAA-0002", Issuer::CommandLine, &owner, NOW, END)?;
            assert!(matches!(
                tx.pairing().use_code("AAAA-0001", NOW)?,
                CodeUse::Accepted { did: Admitted::Address, .. }
            ));
            assert!(matches!(
                tx.pairing().use_code("AAAA-0002", NOW)?,
                CodeUse::Accepted { did: Admitted::Promoted, .. }
            ));
            assert_eq!(tx.people().person(ben)?.map(|ben| ben.role), Some(Role::Owner));
            tx.people().disallow(ben, NOW)?;
            tx.pairing().store_code("AAAA-0003", Issuer::Person(ada), &CodeFor::Person(ben, Role::Member), NOW, END)?;
            assert!(matches!(tx.pairing().use_code("AAAA-0003", NOW)?, CodeUse::Accepted { did: Admitted::Again, .. }));
            assert_eq!(tx.people().person_named("ben")?.map(|ben| (ben.id, ben.role)), Some((ben, Role::Member)));
            Ok(())
        })
        .await;
    }
}
