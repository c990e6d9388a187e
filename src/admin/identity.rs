//! `/people unlink`, `join` and `apart`: the owner of an address, and whether two people of one
//! name are the same.

use crate::admin::PeopleAdmin;
use serde_json::json;

use super::answer::{Answer, plain};
use super::command::PeopleCommand;
use crate::id::{AddressId, PersonId};
use crate::people::{Address, Person, Role};
use crate::store::{Db, Tx};
use crate::time::Timestamp;
use crate::wording::access as says;
use crate::wording::command as of_command;

/// The adapter that needs no address of its own: anyone who can open the home is its owner.
const LOCAL: &str = "terminal";

impl PeopleAdmin<'_> {
    pub(super) async fn people_command(&self, command: PeopleCommand) -> anyhow::Result<Answer> {
        match command {
            PeopleCommand::List => self.people().await,
            PeopleCommand::Unlink(address) => self.unlink(address).await,
            PeopleCommand::Join(id) => self.join_namesake(id).await,
            PeopleCommand::Apart(id) => self.mark_distinct(id).await,
            PeopleCommand::Remove(id) => match self.journal.read(move |db| db.people().person(id)).await? {
                Some(person) => self.remove_person(person).await,
                None => Ok(Answer::refusal(of_command::NOBODY_THERE)),
            },
        }
    }

    /// Unlinks an address from its person, and revokes that person's codes and open questions.
    pub(super) async fn unlink(&self, id: AddressId) -> anyhow::Result<Answer> {
        let found = self.journal.read(move |db| linked_to(db, id)).await?;
        let Some((person, address)) = found else { return Ok(Answer::refusal(says::no_such_address(id))) };
        let (of, now) = (person.clone(), self.clock.now());
        let unlink = move |tx: Tx<'_>| {
            if let Some(refusal) = unlink_obstacle(*tx, &of, id)? {
                return Ok(Some(refusal));
            }
            tx.people().unlink(id, of.id, now).map(|()| None)
        };
        if let Some(refusal) = self.journal.write("unlink an address", unlink).await? {
            return Ok(Answer::refusal(refusal));
        }
        // A turn asked for from that address has no place for its answer any more.
        self.stop(&person).await?;
        let shown = plain(&of_command::address(&address.adapter, &address.peer));
        let json = json!({ "unlinked": id, "person": person.name });
        Ok(Answer::ours(says::unlinked(&person.name, &shown), json))
    }

    /// Merges a person whom the configuration names, or who claimed the bot, with an earlier person
    /// of the same name: the earlier person's data becomes theirs.
    pub(super) async fn join_namesake(&self, id: PersonId) -> anyhow::Result<Answer> {
        let Some((person, earlier)) = self.namesake(id).await? else {
            return Ok(Answer::refusal(says::nothing_to_join(id)));
        };
        self.stop(&person).await?;
        let (of, now) = (person.clone(), self.clock.now());
        let join = move |tx: Tx<'_>| join(tx, &of, earlier, now);
        if !self.journal.write("join two people", join).await? {
            return Ok(Answer::refusal(says::join_later(&person.name)));
        }
        let left = self.folders_left_by(id, earlier).await?;
        let json = json!({ "joined": id, "into": earlier, "folders_left": left });
        Ok(Answer::ours(says::joined(&person.name, &left), json))
    }

    /// The folders of two merged people, without the one in use.
    async fn folders_left_by(&self, id: PersonId, earlier: PersonId) -> anyhow::Result<Vec<String>> {
        let look = move |db: Db<'_>| {
            Ok((
                [db.folders().stored_folder(id)?, db.folders().stored_folder(earlier)?],
                db.folders().folder_once_of(earlier)?.unwrap_or_default(),
            ))
        };
        let (folders, read) = self.journal.read(look).await?;
        let is_left = |folder: &String| !folder.is_empty() && *folder != read && self.tree.folders().is_there(folder);
        Ok(folders.into_iter().filter(is_left).collect())
    }

    /// Records that a person is not the earlier one of the same name.
    pub(super) async fn mark_distinct(&self, id: PersonId) -> anyhow::Result<Answer> {
        let Some((person, _)) = self.namesake(id).await? else {
            return Ok(Answer::refusal(says::nothing_to_join(id)));
        };
        self.journal.write("keep two people apart", move |tx| tx.people().set_namesake(id, None)).await?;
        Ok(Answer::ours(says::apart(&person.name), json!({ "apart": id })))
    }

    async fn namesake(&self, id: PersonId) -> anyhow::Result<Option<(Person, PersonId)>> {
        let open = self.journal.read(|db| db.people().open_namesakes()).await?;
        Ok(open.into_iter().find(|(person, _)| person.id == id))
    }
}

/// The person with access whose address it is.
fn linked_to(db: Db<'_>, id: AddressId) -> anyhow::Result<Option<(Person, Address)>> {
    let Some(address) = db.addresses().address(id)? else { return Ok(None) };
    let Some((_, person)) = db.addresses().who_is(&address)? else { return Ok(None) };
    Ok(db.people().person(person)?.map(|person| (person, address)))
}

/// The reason why an address cannot be unlinked here.
fn unlink_obstacle(db: Db<'_>, person: &Person, id: AddressId) -> anyhow::Result<Option<String>> {
    let addresses = db.addresses().addresses_of(person.id)?;
    if db.people().is_declared(id)? {
        return Ok(Some(says::address_in_configuration(&person.name)));
    }
    let is_only = !addresses.iter().any(|known| known.id != id && known.address.adapter != LOCAL);
    let other_owners = db.people().people()?.iter().any(|other| other.role == Role::Owner && other.id != person.id);
    Ok((is_only && person.role == Role::Owner && !other_owners).then(|| says::LAST_ADDRESS.to_owned()))
}

/// Gives all data of the person who bears the name now to the earlier person, and restores that
/// person's access. Returns false while a message is still being answered.
fn join(tx: Tx<'_>, person: &Person, earlier: PersonId, now: Timestamp) -> anyhow::Result<bool> {
    if !tx.people().is_at_rest(person.id)? || !tx.people().is_at_rest(earlier)? {
        return Ok(false);
    }
    let declared = if tx.people().was_paired(person.id)? { "pairing" } else { "config" };
    let prefer = tx.people().preferred(person.id)?;
    tx.people().revoke_access_of(earlier, now)?;
    tx.people().absorb(person.id, earlier, now)?;
    tx.people().readmit(earlier, &person.name, person.role, declared)?;
    tx.people().set_prefer(earlier, &prefer)?;
    Ok(true)
}
