//! `/people`, `/remove` and the commands below `/people`: people with access, unknown senders,
//! revoked access, the owner of an address, whether two people of one name are the same, and the
//! hand-over of the workspace root.
//!
//! In a hand-over the files of both owners swap places; no one sees another person's files, before
//! or after. The command first explains the consequences, and acts only on a second, explicit
//! confirmation.

mod roster;

use serde_json::{Value, json};

use super::PeopleAdmin;
use super::answer::{Answer, CommandError, Render, RenderContext, ShownLabel, address_in_words, plain};
use super::owner_notice::{OwnerNotice, notify_owners};
use crate::id::{AddressId, PersonId};
use crate::memory::{HandOverError, HandOverRefusal, HandOverResult};
use crate::message::ChannelKind;
use crate::people::{Address, Party, Person, Role};
use crate::store::{Db, Tx};
use crate::time::Timestamp;
use crate::wording::{access as of_access, command as says};

pub use roster::{ListedPerson, PeopleReport, PersonReport};

/// Consequences of handing the root of the workspace over to another owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOverPlan {
    /// Name of the present owner of the root.
    pub from: String,
    /// Name of the new owner.
    pub to: String,
    /// Folder to which the present owner's files go.
    pub from_folder: String,
    /// Folder of the new owner's files.
    pub new_owner_folder: String,
}

impl HandOverPlan {
    fn data(&self, is_done: bool) -> Value {
        json!({ "from": self.from, "to": self.to, "done": is_done,
            "folders": { "from": self.from_folder, "to": self.new_owner_folder } })
    }
}

impl Render for HandOverPlan {
    fn markdown(&self, context: &RenderContext<'_>, _: &mut ShownLabel) -> String {
        let Self { from, to, from_folder, new_owner_folder } = self;
        let effects =
            of_access::hand_over_effects(from, to, from_folder, new_owner_folder).map(|effect| format!("- {effect}"));
        let head = of_access::hand_over_head(from, to);
        let mut parts = vec![head, effects.join("\n"), of_access::HAND_OVER_KEEPS.to_owned()];
        if context.surface.is_chat() {
            parts.push(of_access::how_to_hand_over(to));
        }
        parts.join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, _: &mut ShownLabel) -> Value {
        self.data(false)
    }
}

impl PeopleAdmin<'_> {
    /// Revokes the access of a person who was paired, and voids everything they could still use. A
    /// person in the configuration has to be removed there, because the configuration takes
    /// precedence.
    pub async fn remove(&self, name: &str) -> anyhow::Result<Answer> {
        match self.person_named(name).await? {
            Some(person) => self.remove_person(person).await,
            None => Ok(Answer::refusal(says::no_such_person(&plain(name)))),
        }
    }

    async fn remove_person(&self, person: Person) -> anyhow::Result<Answer> {
        let id = person.id;
        if let Some(refusal) = self.journal.read(move |db| removal_obstacle(db, id)).await? {
            return Ok(Answer::refusal(refusal));
        }
        self.stop(&person).await?;
        let now = self.clock.now();
        // Another person may have been removed in the meantime.
        let remove = move |tx: Tx<'_>| match removal_obstacle(*tx, id)? {
            Some(refusal) => Ok(Some(refusal)),
            None => tx.people().disallow(id, now).map(|()| None),
        };
        Ok(match self.journal.write("remove a person", remove).await? {
            Some(refusal) => Answer::refusal(refusal),
            None => Answer::ours(says::removed(&person.name), json!({ "removed": person.name })),
        })
    }

    /// The same for the person with that number.
    pub async fn remove_by_id(&self, id: PersonId) -> anyhow::Result<Answer> {
        match self.journal.read(move |db| db.people().person(id)).await? {
            Some(person) => self.remove_person(person).await,
            None => Ok(Answer::refusal(says::NOBODY_THERE)),
        }
    }

    /// Unlinks an address from its person, and revokes that person's codes and open questions.
    pub async fn unlink(&self, id: AddressId) -> anyhow::Result<Answer> {
        let found = self.journal.read(move |db| linked_to(db, id)).await?;
        let Some((person, address)) = found else { return Ok(Answer::refusal(of_access::no_such_address(id))) };
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
        let shown = address_in_words(&address);
        let json = json!({ "unlinked": id, "person": person.name });
        Ok(Answer::ours(of_access::unlinked(&person.name, &shown), json))
    }

    /// Merges a person whom the configuration names, or who claimed the bot, with an earlier person
    /// of the same name: the earlier person's data becomes theirs.
    pub async fn join_namesake(&self, id: PersonId) -> anyhow::Result<Answer> {
        let Some((person, earlier)) = self.namesake(id).await? else {
            return Ok(Answer::refusal(of_access::nothing_to_join(id)));
        };
        self.stop(&person).await?;
        let (of, now) = (person.clone(), self.clock.now());
        let merge_into = move |tx: Tx<'_>| merge_into(tx, &of, earlier, now);
        if !self.journal.write("join two people", merge_into).await? {
            return Ok(Answer::refusal(of_access::join_later(&person.name)));
        }
        let left = self.folders_left_by(id, earlier).await?;
        let json = json!({ "joined": id, "into": earlier, "folders_left": left });
        Ok(Answer::ours(of_access::joined(&person.name, &left), json))
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
        let is_left =
            |folder: &String| !folder.is_empty() && *folder != read && self.workspace.folders().is_there(folder);
        Ok(folders.into_iter().filter(is_left).collect())
    }

    /// Records that a person is not the earlier one of the same name.
    pub async fn mark_distinct(&self, id: PersonId) -> anyhow::Result<Answer> {
        let Some((person, _)) = self.namesake(id).await? else {
            return Ok(Answer::refusal(of_access::nothing_to_join(id)));
        };
        self.journal.write("keep two people apart", move |tx| tx.people().set_namesake(id, None)).await?;
        Ok(Answer::ours(of_access::apart(&person.name), json!({ "apart": id })))
    }

    async fn namesake(&self, id: PersonId) -> anyhow::Result<Option<(Person, PersonId)>> {
        let open = self.journal.read(|db| db.people().open_namesakes()).await?;
        Ok(open.into_iter().find(|(person, _)| person.id == id))
    }

    /// Returns the consequences of handing the root of the workspace over to the owner of that
    /// name.
    pub async fn hand_over_plan(&self, name: &str) -> Result<HandOverPlan, CommandError> {
        let new_owner = self.new_owner(name).await?;
        let planned = self.workspace.folders().plan_hand_over(&Party::One(new_owner.clone())).await;
        self.plan_of(&new_owner, planned).await
    }

    /// Hands the root of the workspace over to the owner of that name, and notifies all owners but
    /// the one who did it in a chat or on the page.
    pub async fn hand_over(&self, name: &str, by: Option<PersonId>) -> Result<Answer, CommandError> {
        let new_owner = self.new_owner(name).await?;
        let done = self.workspace.folders().hand_over(&Party::One(new_owner.clone())).await;
        let plan = self.plan_of(&new_owner, done).await?;
        tracing::info!(person.id = %new_owner.id, "The root of the workspace belongs to person {} from now on", new_owner.id);
        self.index.discard_disk_state();
        let text = of_access::handed_over(&plan.from, &plan.to, &plan.from_folder);
        let (notice, now) = (OwnerNotice::handed_over(text.clone()), self.clock.now());
        let tell = move |tx: Tx<'_>| {
            let mut owners = tx.people().reachable_owners()?;
            owners.retain(|(owner, _)| Some(*owner) != by);
            notify_owners(tx, &owners, &notice, now)
        };
        let posted = self.journal.write("tell owners of a hand-over", tell).await?;
        posted.into_iter().for_each(|address| self.engine.channels.posted(address));
        Ok(Answer::ours(text.into_string(), plan.data(true)))
    }

    async fn new_owner(&self, name: &str) -> Result<Person, CommandError> {
        match self.person_named(name).await? {
            None => Err(Answer::refusal(says::no_such_person(&plain(name))).into()),
            Some(person) if person.role != Role::Owner => {
                Err(Answer::refusal(of_access::not_an_owner(&person.name)).into())
            }
            Some(owner) => Ok(owner),
        }
    }

    async fn plan_of(
        &self,
        new_owner: &Person,
        result: Result<HandOverResult, HandOverError>,
    ) -> Result<HandOverPlan, CommandError> {
        let HandOverResult { from, from_folder, new_owner_folder } = match result {
            Ok(result) => result,
            Err(error) => return Err(Answer::refusal(not_done(&error.refusal()?, &new_owner.name)).into()),
        };
        let look = move |db: Db<'_>| Ok(db.folders().name_once_of(from)?.unwrap_or_default());
        let from = self.journal.read(look).await?;
        Ok(HandOverPlan { from, to: new_owner.name.clone(), from_folder, new_owner_folder })
    }
}

/// The reason why a person cannot be removed here.
fn removal_obstacle(db: Db<'_>, id: PersonId) -> anyhow::Result<Option<String>> {
    let people = db.people().people()?;
    let Some(person) = people.iter().find(|person| person.id == id) else { return Ok(Some(says::NOBODY_THERE.into())) };
    if !db.people().was_paired(id)? {
        return Ok(Some(says::stands_in_configuration(&person.name)));
    }
    let owners = people.iter().filter(|person| person.role == Role::Owner).count();
    Ok((person.role == Role::Owner && owners < 2).then(|| says::LAST_OWNER.to_owned()))
}

pub(super) fn address_json(address: &Address) -> Value {
    json!({ "adapter": address.adapter, "account": address.account, "peer": address.peer })
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
        return Ok(Some(of_access::address_in_configuration(&person.name)));
    }
    let is_only = !addresses.iter().any(|known| known.id != id && !ChannelKind::is_attended(&known.address.adapter));
    let other_owners = db.people().people()?.iter().any(|other| other.role == Role::Owner && other.id != person.id);
    Ok((is_only && person.role == Role::Owner && !other_owners).then(|| of_access::LAST_ADDRESS.to_owned()))
}

/// Gives all data of the person who bears the name now to the earlier person, and restores that
/// person's access. Returns false while a message is still being answered.
fn merge_into(tx: Tx<'_>, person: &Person, earlier: PersonId, now: Timestamp) -> anyhow::Result<bool> {
    if !tx.people().is_at_rest(person.id)? || !tx.people().is_at_rest(earlier)? {
        return Ok(false);
    }
    let declared = if tx.people().was_paired(person.id)? { "pairing" } else { "config" };
    tx.people().revoke_access_of(earlier, now)?;
    tx.people().absorb(person.id, earlier, now)?;
    tx.people().readmit(earlier, &person.name, person.role, declared)?;
    tx.people().copy_preferences(person.id, earlier)?;
    Ok(true)
}

fn not_done(why: &HandOverRefusal, new_owner: &str) -> String {
    match why {
        HandOverRefusal::NoOwner => of_access::NO_OWNER.to_owned(),
        HandOverRefusal::Same => of_access::owns_root_already(new_owner),
        HandOverRefusal::NotAnOwner => of_access::not_an_owner(new_owner),
        HandOverRefusal::Busy => of_access::HAND_OVER_BUSY.to_owned(),
        HandOverRefusal::Unmovable(path) => of_access::unmovable(&plain(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::paging::PageRequest;
    use super::super::tests::fixture::{Fixture, START};
    use super::*;

    #[tokio::test]
    async fn all_people_and_the_newest_strangers_are_listed() {
        let fixture = Fixture::new().await;
        fixture.is_contacted_by("telegram", "4711").await;
        let answer = fixture.admin.chat(&fixture.ada(), "/people").await;
        assert_eq!(
            answer.json,
            json!([
                    { "id": 1, "name": "Ada", "role": "owner", "from": "config",
                      "addresses": [{ "adapter": "telegram", "account": "bot", "peer": "101", "number": 1 }] },
                    { "id": 2, "name": "Ben", "role": "member", "from": "pairing",
                      "addresses": [{ "adapter": "telegram", "account": "bot", "peer": "102", "number": 2 }] },
                    { "id": null, "name": "Eve", "role": "stranger", "number": 1, "last_at": START.rfc3339(), "count": 1,
                      "addresses": [{ "adapter": "telegram", "peer": "4711" }] },
            ])
        );
        let expected = ["Ada", "owner", "Ben", "4711", "Eve", "/people admit 1 NAME", "/people ignore 1"];
        assert!(expected.iter().all(|part| answer.markdown.contains(part)), "{}", answer.markdown);
    }

    #[tokio::test]
    async fn only_who_was_paired_can_be_removed() {
        let fixture = Fixture::new().await;
        let configured = fixture.admin.chat(&fixture.ada(), "/remove ada").await;
        assert!(configured.failed && configured.markdown.contains("configuration"), "{}", configured.markdown);
        assert!(fixture.admin.chat(&fixture.ada(), "/remove Zoe").await.failed);
        let removed = fixture.admin.chat(&fixture.ada(), "/remove BEN").await;
        assert_eq!((removed.failed, &removed.json), (false, &json!({ "removed": "Ben" })));
        let left = fixture
            .rendering(&fixture.admin.members().people(PageRequest::newest(9), PageRequest::newest(9)).await.unwrap())
            .json;
        assert_eq!(left.as_array().unwrap().len(), 1);
        assert!(
            fixture.admin.chat(&fixture.ada(), "/remove Ben").await.failed,
            "A second time there is nobody to remove"
        );
    }

    #[tokio::test]
    async fn the_last_owner_stays() {
        let fixture = Fixture::new().await;
        fixture.pairs("Eve", Role::Owner).await;
        assert!(!fixture.admin.members().remove("Eve").await.unwrap().failed);
        let alone = Fixture::without_people().await;
        alone.pairs("Eve", Role::Owner).await;
        assert_eq!(alone.admin.members().remove("Eve").await.unwrap().markdown, says::LAST_OWNER);
    }
}
