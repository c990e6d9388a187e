//! Admission of unknown senders: one notice a day, no model, and access by pairing code.

use super::admission::{Admission, AfterCommit};
use crate::admin::command;
use crate::admin::owner_notice::{self, OwnerNotice};
use crate::id::{AddressId, PersonId};
use crate::message::{Event, Inbound, TextOrigin};
use crate::people::{Address, Person, Role};
use crate::store::{Admitted, CodeUse, InboxOutcome, Issuer, Tx};
use crate::trust::Scope;
use crate::wording::{self, gate};

/// Maximum number of wrong codes per stranger and day.
const MAX_WRONG_CODES: i64 = 5;

/// A used pairing code: the person, its effect, and its issuer.
pub(super) struct UsedCode<'a> {
    pub(super) person: &'a Person,
    pub(super) effect: Admitted,
    pub(super) issuer: Issuer,
}

impl Admission {
    /// Records an attempt to contact us and nothing of its content. A pairing code grants access.
    pub(super) fn stranger(
        &self,
        tx: Tx<'_>,
        inbound: &Inbound,
        from: &Address,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        // Typing or reading is no attempt to contact us.
        if inbound.event == Event::Irrelevant {
            return self.record_inbox(tx, &inbound.external_id, InboxOutcome::Nothing, "").map(|_| ());
        }
        if self.record_inbox(tx, &inbound.external_id, InboxOutcome::Stranger, "")?.is_none() {
            return Ok(());
        }
        // The daily notice is for messages only, not for typing, reading or calls.
        let Event::Message(said) = &inbound.event else { return Ok(()) };
        let day = self.zone.day(self.now);
        let may_be_told = tx.addresses().record_stranger(from, self.now, &day)?;
        if let Some(person) = tx.addresses().declared_for(from)? {
            tracing::warn!(person.id = %person, "Somebody writes from a number that person {person} has left behind: they are not answered");
            return Ok(());
        }
        let answer = match command::code_in(&said.text).filter(|_| said.origin == TextOrigin::Typed) {
            Some(code) if tx.addresses().guesses(from, &day)? < MAX_WRONG_CODES => {
                match tx.pairing().use_code(code, self.now)? {
                    CodeUse::Accepted { person, did, issuer } => {
                        let used = UsedCode { person: &person, effect: did, issuer };
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

    /// Grants access by a valid code: links the address to the person and tells every owner.
    fn comes_in(&self, tx: Tx<'_>, from: &Address, used: &UsedCode<'_>, wake: &mut AfterCommit) -> anyhow::Result<()> {
        // Owners are told at their earlier addresses: a new one may belong to somebody else.
        let owners = tx.people().reachable_owners()?;
        let address = tx.addresses().link(from, Some(used.person.id), self.now)?;
        self.notify_of_code(tx, &owners, used, (from, address), wake)?;
        let welcome = gate::welcome(&used.person.name, used.person.role.as_str(), &self.agent);
        self.post_notice(tx, address, Scope::Person(used.person.id), welcome, wake)?;
        self.greet_owner(tx, used.person, address, wake)?;
        tx.addresses().record_contact(address, self.now)?;
        wake.access_granted = true;
        Ok(())
    }

    /// Tells these owners that a code was used at an address, and how to undo it.
    pub(super) fn notify_of_code(
        &self,
        tx: Tx<'_>,
        owners: &[(PersonId, AddressId)],
        used: &UsedCode<'_>,
        (at, id): (&Address, AddressId),
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        let issuer = match used.issuer {
            Issuer::Person(id) => tx.people().person(id)?.map(|issuer| issuer.name),
            Issuer::CommandLine => None,
        };
        let notice = match used.effect {
            Admitted::Newcomer | Admitted::Again => OwnerNotice::access_granted(used.person, at, issuer.as_deref()),
            Admitted::Promoted => OwnerNotice::promoted(used.person, at),
            Admitted::Address => OwnerNotice::linked(used.person, at, id, issuer.as_deref()),
        };
        wake.posted.extend(owner_notice::notify_owners(tx, owners, &notice, self.now)?);
        Ok(())
    }

    /// Sends the open questions about namesakes to an owner who could not be reached so far.
    pub(super) fn greet_owner(
        &self,
        tx: Tx<'_>,
        person: &Person,
        address: AddressId,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<()> {
        if person.role != Role::Owner || tx.addresses().has_ever_written(person.id)? {
            return Ok(());
        }
        for (namesake, _) in tx.people().open_namesakes()? {
            let notice = OwnerNotice::namesake(&namesake);
            wake.posted.extend(owner_notice::notify_owners(tx, &[(person.id, address)], &notice, self.now)?);
        }
        Ok(())
    }
}
