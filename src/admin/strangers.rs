//! `/people admit` and `/people ignore`: senders without access.
//!
//! A stranger is let in as a new person and bound to the id from which they wrote. They never
//! become an existing or earlier person, under any name.

use serde_json::json;

use super::PeopleAdmin;
use super::answer::{Answer, ShownLabel, address_in_words, plain};
use super::owner_notice::{OwnerNotice, notify_owners, stranger_in_words};
use crate::id::StrangerId;
use crate::people::{Role, is_name};
use crate::store::{Issuer, NewOutbox, OutboxKind, Tx};
use crate::trust::Scope;
use crate::wording::{self, access as says, command as of_command, gateway};

impl PeopleAdmin<'_> {
    /// Gives a stranger access as a new person of that name; without a name, asks for it.
    pub async fn admit_stranger(
        &self,
        issuer: Issuer,
        id: StrangerId,
        name: &str,
        role: Role,
    ) -> anyhow::Result<Answer> {
        let Some(stranger) = self.journal.read(move |db| db.addresses().stranger(id)).await? else {
            return Ok(Answer::refusal(says::no_such_stranger(id)));
        };
        if name.is_empty() {
            let mut shown = ShownLabel::nothing();
            let question = says::ask_name(&stranger_in_words(&stranger, &mut shown), id);
            return Ok(Answer::refusal_showing(shown, question));
        }
        if !is_name(name) || name.to_lowercase().parse::<Role>().is_ok() {
            return Ok(Answer::refusal(of_command::not_a_name(&plain(name))));
        }
        let (wanted, now, agent) = (name.to_owned(), self.clock.now(), self.agent.clone());
        let address = stranger.address.clone();
        let by = if let Issuer::Person(person) = issuer { Some(person) } else { None };
        let admit = move |tx: Tx<'_>| {
            let people = tx.people();
            if people.person_named(&wanted)?.is_some() || !people.formerly_named(&wanted)?.is_empty() {
                return Ok(None);
            }
            let Some(stranger) = tx.addresses().stranger(id)? else { return Ok(None) };
            let mut owners = people.reachable_owners()?;
            owners.retain(|(owner, _)| Some(*owner) != by);
            let (person, at) = tx.addresses().admit_stranger(&stranger, &wanted, role, now)?;
            tx.addresses().record_contact(at, stranger.last_at)?;
            let issuer = by.map_or(Ok(None), |by| people.person(by))?.map(|issuer| issuer.name);
            let Some(person) = people.person(person)? else { return Ok(None) };
            let notice = OwnerNotice::admitted(&person, &stranger.address, issuer.as_deref());
            let mut posted = notify_owners(tx, &owners, &notice, now)?;
            let welcome = gateway::welcome(people.language_of(person.id)?, &person.name, role.as_str(), &agent);
            let text = wording::own(welcome, Scope::Person(person.id));
            tx.outbox().post(&NewOutbox::answer(OutboxKind::Notice, at, &text, now))?;
            posted.push(at);
            Ok(Some(posted))
        };
        let Some(posted) = self.journal.write("let a stranger in", admit).await? else {
            return Ok(Answer::refusal(says::name_taken(&plain(name))));
        };
        posted.into_iter().for_each(|address| self.engine.channels.posted(address));
        let json = json!({ "admitted": name, "role": role });
        Ok(Answer::ours(says::admitted(name, role.as_str(), &address_in_words(&address)), json))
    }

    /// Ignores a stranger, whose name is deleted.
    pub async fn ignore_stranger(&self, id: StrangerId) -> anyhow::Result<Answer> {
        let now = self.clock.now();
        let ignore = move |tx: Tx<'_>| {
            let found = tx.addresses().stranger(id)?;
            found.as_ref().map_or(Ok(()), |stranger| tx.addresses().ignore_stranger(stranger.id, now))?;
            Ok(found.map(|stranger| stranger.address))
        };
        Ok(match self.journal.write("ignore a stranger", ignore).await? {
            Some(address) => {
                let json = json!({ "ignored": id });
                Answer::ours(says::ignored(&address_in_words(&address)), json)
            }
            None => Answer::refusal(says::no_such_stranger(id)),
        })
    }
}
