//! Linking of two accounts: a known person sends the pairing code issued for another person. Their
//! address moves to that person; if it was their only one, the two are merged.
//!
//! Only a person admitted by pairing can be merged, only while none of their work is open, and only
//! with a valid code. People declared in the configuration are changed there. An owner never
//! becomes a member: a member who talked an owner into sending a code would gain access to
//! everything the owner ever said.

use super::admission::{Admission, AfterCommit};
use super::unknown_sender::UsedCode;
use crate::admin::command;
use crate::id::AddressId;
use crate::message::{Event, Inbound, TextOrigin};
use crate::people::{Address, Person, Role};
use crate::store::{CodeFor, CodeUse, GoodCode, InboxOutcome, Issuer, Tx};
use crate::trust::Scope;
use crate::wording::access as of_access;
use crate::wording::gate;

impl Admission {
    /// Links the sender's address to the person whom their code names. Returns false if the message
    /// is no such code.
    pub(super) fn becomes_one(
        &self,
        tx: Tx<'_>,
        inbound: &Inbound,
        address: AddressId,
        person: &Person,
        wake: &mut AfterCommit,
    ) -> anyhow::Result<bool> {
        let Event::Message(said) = &inbound.event else { return Ok(false) };
        self.greet_owner(tx, person, address, wake)?;
        let Some(code) = command::code_in(&said.text).filter(|_| said.origin == TextOrigin::Typed) else {
            return Ok(false);
        };
        let Some(good) = tx.pairing().good_code(code, self.now)? else { return Ok(false) };
        let other = match &good.whom {
            CodeFor::Address(id) | CodeFor::Person(id, _) => tx.people().person(*id)?,
            CodeFor::Newcomer(..) => None,
        };
        let Some(other) = other else { return Ok(false) };
        if other.id == person.id {
            return self.is_promoted(tx, inbound, (address, person), (code, &good), wake);
        }
        if self.record_inbox(tx, &inbound.external_id, InboxOutcome::Command, "")?.is_none() {
            return Ok(true);
        }
        if !tx.people().was_paired(person.id)? {
            return self
                .post_notice(tx, address, Scope::Person(person.id), gate::JOIN_IN_CONFIGURATION, wake)
                .map(|()| true);
        }
        if person.role == Role::Owner && other.role != Role::Owner {
            return self.post_notice(tx, address, Scope::Person(person.id), gate::JOIN_AS_LESS, wake).map(|()| true);
        }
        let is_only = tx.addresses().addresses_of(person.id)?.len() == 1;
        if is_only && !tx.people().is_at_rest(person.id)? {
            return self.post_notice(tx, address, Scope::Person(person.id), gate::JOIN_LATER, wake).map(|()| true);
        }
        // A sender tricked into typing a code first learns who will read their messages.
        if !tx.pairing().code_asked_at(&good, address)? {
            let question = gate::join_means(&other.name);
            return self.post_notice(tx, address, Scope::Person(person.id), question, wake).map(|()| true);
        }
        let owners = tx.people().reachable_owners()?;
        let CodeUse::Accepted { person: other, did, issuer } = tx.pairing().use_code(code, self.now)? else {
            return Ok(true);
        };
        let from = Address::new(self.adapter, &self.account, &inbound.sender);
        tx.addresses().link(&from, Some(other.id), self.now)?;
        let used = UsedCode { person: &other, effect: did, issuer };
        self.notify_of_code(tx, &owners, &used, (&from, address), wake)?;
        if is_only {
            tx.people().absorb(person.id, other.id, self.now)?;
        }
        tx.addresses().record_contact(address, self.now)?;
        wake.access_granted = true;
        self.post_notice(tx, address, Scope::Person(other.id), gate::joined(&other.name), wake).map(|()| true)
    }

    /// Applies a code that a person sent for themselves, if it gives them a higher role. Returns
    /// false otherwise.
    fn is_promoted(
        &self,
        tx: Tx<'_>,
        inbound: &Inbound,
        (address, person): (AddressId, &Person),
        (code, good): (&str, &GoodCode),
        wake: &mut AfterCommit,
    ) -> anyhow::Result<bool> {
        let promotes = matches!(good.whom, CodeFor::Person(_, role) if role > person.role);
        if !promotes || good.issuer != Issuer::CommandLine {
            return Ok(false);
        }
        if self.record_inbox(tx, &inbound.external_id, InboxOutcome::Command, "")?.is_none() {
            return Ok(true);
        }
        let owners = tx.people().reachable_owners()?;
        let CodeUse::Accepted { person, did, issuer } = tx.pairing().use_code(code, self.now)? else { return Ok(true) };
        let from = Address::new(self.adapter, &self.account, &inbound.sender);
        self.notify_of_code(tx, &owners, &UsedCode { person: &person, effect: did, issuer }, (&from, address), wake)?;
        tx.addresses().record_contact(address, self.now)?;
        wake.access_granted = true;
        self.post_notice(tx, address, Scope::Person(person.id), of_access::you_are(person.role.as_str()), wake)
            .map(|()| true)
    }
}
