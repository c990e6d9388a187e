//! The door for who is not known: one line a day, no model, and a code that opens it.

use super::admit::{Door, Wake};
use crate::admin::command;
use crate::message::{Event, Inbound, Origin};
use crate::people::Address;
use crate::store::{CodeUse, Fate, Tx};
use crate::trust::Scope;
use crate::wording::{self, gate};

/// Wrong codes a stranger may give in a day.
const GUESSES: i64 = 5;

impl Door {
    /// Nothing of what a stranger sends is kept but that they knocked. A pairing code opens the door.
    ///
    /// # Errors
    /// If the journal cannot be written.
    pub(super) fn stranger(
        &self,
        tx: Tx<'_>,
        inbound: &Inbound,
        from: &Address,
        wake: &mut Wake,
    ) -> anyhow::Result<()> {
        // Somebody who types, or has read something, has not knocked yet.
        if inbound.event == Event::Nothing {
            return self.receive(tx, &inbound.external_id, Fate::Nothing, "").map(|_| ());
        }
        if self.receive(tx, &inbound.external_id, Fate::Stranger, "")?.is_none() {
            return Ok(());
        }
        // Who types, reads or calls has not knocked: the line of the day is for what they say.
        let Event::Said(said) = &inbound.event else { return Ok(()) };
        let day = self.zone.day(self.now);
        let may_be_told = tx.stranger_knocked(from, self.now, &day)?;
        if let Some(person) = tx.declared_for(from)? {
            tracing::warn!(person.id = %person, "Somebody writes from a number that person {person} has left behind: they are not answered");
            return Ok(());
        }
        let answer = match command::code_in(&said.text).filter(|_| said.origin == Origin::Typed) {
            Some(code) if tx.guesses(from, &day)? < GUESSES => match tx.use_code(code, self.now)? {
                CodeUse::Accepted { name, role } => {
                    let declared = tx.person_named(&name)?;
                    let person = match declared {
                        Some(person) => person,
                        None => tx.allow(&name, role, "pairing", self.now)?,
                    };
                    let address = tx.link(from, Some(person.id), self.now)?;
                    tx.heard_from(address, self.now)?;
                    wake.newcomer = true;
                    let welcome = gate::welcome(&person.name, person.role.as_str(), &self.agent);
                    return self.tell(tx, address, Scope::Person(person.id), &welcome, wake);
                }
                CodeUse::Refused => {
                    tx.stranger_guessed(from, &day)?;
                    Some(gate::CODE_REFUSED)
                }
            },
            Some(_) if may_be_told => Some(gate::CODE_TOO_MANY),
            None if may_be_told => Some(gate::STRANGER),
            _ => None,
        };
        if let Some(answer) = answer {
            let address = tx.link(from, None, self.now)?;
            self.post(tx, address, &wording::own(answer, Scope::Shared), wake)?;
        }
        Ok(())
    }
}
