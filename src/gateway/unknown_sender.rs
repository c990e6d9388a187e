//! The door for who is not known: one line a day, no model, and a code that opens it.

use super::admission::{Admission, AfterCommit};
use crate::admin::command;
use crate::admin::owner_notice::{self, OwnerNotice};
use crate::id::{AddressId, PersonId};
use crate::message::{Event, Inbound, TextOrigin};
use crate::people::{Address, Person, Role};
use crate::store::{Admitted, CodeUse, Fate, Issuer, Tx};
use crate::trust::Scope;
use crate::wording::{self, gate};

/// Wrong codes a stranger may give in a day.
const GUESSES: i64 = 5;

/// A code that was used: who is in by it, what it did, and who made it.
pub(super) struct Used<'a> {
    pub(super) person: &'a Person,
    pub(super) did: Admitted,
    pub(super) issuer: Issuer,
}

impl Admission {
    /// Nothing of what a stranger sends is kept but that they knocked. A pairing code opens the door.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub(super) fn stranger(
        &self,
        tx: Tx<'_>,
        inbound: &Inbound,
        from: &Address,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        // Somebody who types, or has read something, has not knocked yet.
        if inbound.event == Event::Nothing {
            return self.receive(tx, &inbound.external_id, Fate::Nothing, "").map(|_| ());
        }
        if self.receive(tx, &inbound.external_id, Fate::Stranger, "")?.is_none() {
            return Ok(());
        }
        // Who types, reads or calls has not knocked: the line of the day is for what they say.
        let Event::Message(said) = &inbound.event else { return Ok(()) };
        let day = self.zone.day(self.now);
        let may_be_told = tx.addresses().stranger_knocked(from, self.now, &day)?;
        if let Some(person) = tx.addresses().declared_for(from)? {
            tracing::warn!(person.id = %person, "Somebody writes from a number that person {person} has left behind: they are not answered");
            return Ok(());
        }
        let answer = match command::code_in(&said.text).filter(|_| said.origin == TextOrigin::Typed) {
            Some(code) if tx.addresses().guesses(from, &day)? < GUESSES => {
                match tx.pairing().use_code(code, self.now)? {
                    CodeUse::Accepted { person, did, issuer } => {
                        let used = Used { person: &person, did, issuer };
                        return self.comes_in(tx, from, &used, wake);
                    }
                    CodeUse::Refused => {
                        tx.addresses().stranger_guessed(from, &day)?;
                        Some(gate::CODE_REFUSED)
                    }
                }
            }
            Some(_) if may_be_told => Some(gate::CODE_TOO_MANY),
            None if may_be_told => Some(gate::STRANGER),
            _ => None,
        };
        if let Some(answer) = answer {
            let address = tx.addresses().link(from, None, self.now)?;
            self.post(tx, address, &wording::own(answer, Scope::Shared), wake)?;
        }
        Ok(())
    }

    /// A stranger used a good code: their address is the person's, and every owner is told.
    fn comes_in(&self, tx: Tx<'_>, from: &Address, used: &Used<'_>, wake: &mut AfterCommit) -> anyhow::Result<()> {
        // Owners are reached where they were before: a new address of theirs may be somebody else's.
        let owners = tx.people().reachable_owners()?;
        let address = tx.addresses().link(from, Some(used.person.id), self.now)?;
        self.tell_of_code(tx, &owners, used, (from, address), wake)?;
        let welcome = gate::welcome(&used.person.name, used.person.role.as_str(), &self.agent);
        self.tell(tx, address, Scope::Person(used.person.id), welcome, wake)?;
        self.greet_owner(tx, used.person, address, wake)?;
        tx.addresses().heard_from(address, self.now)?;
        wake.newcomer = true;
        Ok(())
    }

    /// Tells these owners that a code was used at an address, and how to undo it.
    pub(super) fn tell_of_code(
        &self,
        tx: Tx<'_>,
        owners: &[(PersonId, AddressId)],
        used: &Used<'_>,
        (at, id): (&Address, AddressId),
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        let issuer = match used.issuer {
            Issuer::Person(id) => tx.people().person(id)?.map(|issuer| issuer.name),
            Issuer::CommandLine => None,
        };
        let notice = match used.did {
            Admitted::Newcomer | Admitted::Again => OwnerNotice::let_in(used.person, at, issuer.as_deref()),
            Admitted::Promoted => OwnerNotice::promoted(used.person, at),
            Admitted::Address => OwnerNotice::linked(used.person, at, id, issuer.as_deref()),
        };
        wake.posted.extend(owner_notice::tell_owners(tx, owners, &notice, self.now)?);
        Ok(())
    }

    /// An owner who could not be reached so far is asked what is still open about who is who.
    pub(super) fn greet_owner(
        &self,
        tx: Tx<'_>,
        person: &Person,
        address: AddressId,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        if person.role != Role::Owner || tx.addresses().was_heard_anywhere(person.id)? {
            return Ok(());
        }
        for (namesake, _) in tx.people().open_namesakes()? {
            let notice = OwnerNotice::namesake(&namesake);
            wake.posted.extend(owner_notice::tell_owners(tx, &[(person.id, address)], &notice, self.now)?);
        }
        Ok(())
    }
}
