//! Somebody who is in under one address turns out to be somebody who is in under another: they send the code that the other was given.
//!
//! Only who came in by pairing can become somebody else, only while nothing of theirs is open, and only with a code that is good. What the
//! configuration says is changed in the configuration. An owner does not become a member: whoever talked them into sending a code
//! would have all that they ever said.

use super::admission::{Admission, AfterCommit};
use super::unknown_sender::Used;
use crate::admin::command;
use crate::id::AddressId;
use crate::message::{Event, Inbound, TextOrigin};
use crate::people::{Address, Person, Role};
use crate::store::{CodeFor, CodeUse, Fate, GoodCode, Issuer, Tx};
use crate::trust::Scope;
use crate::wording::access as of_access;
use crate::wording::gate;

impl Admission {
    /// Joins the sender's address to whom their code names. False if the message is none of that.
    ///
    /// # Errors
    /// If the journal cannot be written.
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
        if self.receive(tx, &inbound.external_id, Fate::Command, "")?.is_none() {
            return Ok(true);
        }
        if !tx.people().was_paired(person.id)? {
            return self.tell(tx, address, Scope::Person(person.id), gate::JOIN_IN_CONFIGURATION, wake).map(|()| true);
        }
        if person.role == Role::Owner && other.role != Role::Owner {
            return self.tell(tx, address, Scope::Person(person.id), gate::JOIN_AS_LESS, wake).map(|()| true);
        }
        let is_only = tx.addresses().addresses_of(person.id)?.len() == 1;
        if is_only && !tx.people().is_at_rest(person.id)? {
            return self.tell(tx, address, Scope::Person(person.id), gate::JOIN_LATER, wake).map(|()| true);
        }
        // Whoever was talked into typing somebody else's code learns first who will read what they said.
        if !tx.pairing().code_asked_at(&good, address)? {
            let question = gate::join_means(&other.name);
            return self.tell(tx, address, Scope::Person(person.id), question, wake).map(|()| true);
        }
        let owners = tx.people().reachable_owners()?;
        let CodeUse::Accepted { person: other, did, issuer } = tx.pairing().use_code(code, self.now)? else {
            return Ok(true);
        };
        let from = Address::new(self.adapter, &self.account, &inbound.sender);
        tx.addresses().link(&from, Some(other.id), self.now)?;
        let used = Used { person: &other, did, issuer };
        self.tell_of_code(tx, &owners, &used, (&from, address), wake)?;
        if is_only {
            tx.people().absorb(person.id, other.id, self.now)?;
        }
        tx.addresses().heard_from(address, self.now)?;
        wake.newcomer = true;
        self.tell(tx, address, Scope::Person(other.id), gate::joined(&other.name), wake).map(|()| true)
    }

    /// Somebody sent a code for themselves from an address of theirs. It does something only if it gives them a higher role. False if the message is none of that.
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
        if self.receive(tx, &inbound.external_id, Fate::Command, "")?.is_none() {
            return Ok(true);
        }
        let owners = tx.people().reachable_owners()?;
        let CodeUse::Accepted { person, did, issuer } = tx.pairing().use_code(code, self.now)? else { return Ok(true) };
        let from = Address::new(self.adapter, &self.account, &inbound.sender);
        self.tell_of_code(tx, &owners, &Used { person: &person, did, issuer }, (&from, address), wake)?;
        tx.addresses().heard_from(address, self.now)?;
        wake.newcomer = true;
        self.tell(tx, address, Scope::Person(person.id), of_access::you_are(person.role.as_str()), wake).map(|()| true)
    }
}
