//! `/people` and `/remove`: people with access, unknown senders, and revoked access.

use crate::admin::PeopleAdmin;
use serde_json::{Value, json};

use super::answer::{Answer, plain};
use crate::id::PersonId;
use crate::people::{Address, KnownAddress, Person, Role};
use crate::store::{Db, Tx};
use crate::time::Timestamp;
use crate::wording::access as of_access;
use crate::wording::command as says;

/// Maximum number of strangers shown.
const STRANGERS: u32 = 5;

/// A person with access, and their addresses.
struct ListedPerson {
    person: Person,
    paired: bool,
    addresses: Vec<KnownAddress>,
}

/// An unknown sender: adapter, sender, last time, number of messages.
type Stranger = (String, String, Timestamp, i64);

impl PeopleAdmin<'_> {
    /// Lists the people with access, and the latest strangers.
    pub async fn people(&self) -> anyhow::Result<Answer> {
        let (known, strangers, namesakes) = self
            .journal
            .read(|db| {
                let mut known = Vec::new();
                for person in db.people().people()? {
                    let (paired, addresses) =
                        (db.people().was_paired(person.id)?, db.addresses().addresses_of(person.id)?);
                    known.push(ListedPerson { person, paired, addresses });
                }
                Ok((known, db.addresses().strangers(STRANGERS)?, db.people().open_namesakes()?))
            })
            .await?;
        let mut parts = vec![known.iter().map(known_line).collect::<Vec<_>>().join("\n")];
        if known.is_empty() {
            parts = vec![says::NOBODY.to_owned()];
        }
        parts.extend(namesakes.iter().map(|(person, _)| of_access::open_namesake(&person.name, person.id)));
        if let Some((adapter, id, ..)) = strangers.first() {
            let lines: Vec<String> = strangers.iter().map(|stranger| self.stranger_line(stranger)).collect();
            parts.push(says::strangers(&lines.join("\n")));
            parts.push(says::let_in(adapter, id));
        }
        let json = json!({
            "people": known.iter().map(known_json).collect::<Value>(),
            "strangers": strangers.iter().map(stranger_json).collect::<Value>(),
        });
        Ok(Answer::ours(parts.join("\n\n"), json))
    }

    /// Revokes the access of a person who was paired, and voids everything they could still use. A
    /// person in the configuration has to be removed there, because the configuration takes
    /// precedence.
    pub async fn remove(&self, name: &str) -> anyhow::Result<Answer> {
        let asked = name.to_owned();
        match self.journal.read(move |db| db.people().person_named(&asked)).await? {
            Some(person) => self.remove_person(person).await,
            None => Ok(Answer::refusal(says::no_such_person(&plain(name)))),
        }
    }

    pub(super) async fn remove_person(&self, person: Person) -> anyhow::Result<Answer> {
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

    fn stranger_line(&self, (adapter, id, last, count): &Stranger) -> String {
        says::stranger(&plain(&says::address(adapter, id)), &self.zone.show_short(*last), *count)
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

fn known_line(known: &ListedPerson) -> String {
    let addresses: Vec<String> = known
        .addresses
        .iter()
        .map(|known| says::numbered(&plain(&says::address(&known.address.adapter, &known.address.peer)), known.id))
        .collect();
    says::person(&known.person.name, known.person.role.as_str(), admitted_by(known), &addresses)
}

fn admitted_by(known: &ListedPerson) -> &'static str {
    if known.paired { "pairing" } else { "config" }
}

fn known_json(known: &ListedPerson) -> Value {
    json!({
        "id": known.person.id,
        "name": known.person.name,
        "role": known.person.role,
        "from": admitted_by(known),
        "addresses": known.addresses.iter().map(known_address_json).collect::<Value>(),
    })
}

fn known_address_json(known: &KnownAddress) -> Value {
    let Address { adapter, account, peer } = &known.address;
    json!({ "adapter": adapter, "account": account, "peer": peer, "number": known.id })
}

pub(super) fn address_json(address: &Address) -> Value {
    json!({ "adapter": address.adapter, "account": address.account, "peer": address.peer })
}

fn stranger_json((adapter, id, last, count): &Stranger) -> Value {
    json!({ "adapter": adapter, "id": id, "last_at": last.rfc3339(), "count": count })
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{Fixture, START};
    use super::*;

    #[tokio::test]
    async fn everybody_and_the_newest_strangers_are_shown() {
        let house = Fixture::new().await;
        house.is_contacted_by("telegram", "4711").await;
        let answer = house.admin.chat(&house.ada(), "/people").await;
        assert_eq!(
            answer.json,
            json!({
                "people": [
                    { "id": 1, "name": "Ada", "role": "owner", "from": "config",
                      "addresses": [{ "adapter": "telegram", "account": "bot", "peer": "101", "number": 1 }] },
                    { "id": 2, "name": "Ben", "role": "member", "from": "pairing",
                      "addresses": [{ "adapter": "telegram", "account": "bot", "peer": "102", "number": 2 }] },
                ],
                "strangers": [{ "adapter": "telegram", "id": "4711", "last_at": START.rfc3339(), "count": 1 }],
            })
        );
        let expected = ["Ada", "owner", "Ben", "4711", "/pair NAME", "[[people]]", "telegram = 4711"];
        assert!(expected.iter().all(|part| answer.markdown.contains(part)), "{}", answer.markdown);
    }

    #[tokio::test]
    async fn only_who_was_paired_can_be_removed() {
        let house = Fixture::new().await;
        let configured = house.admin.chat(&house.ada(), "/remove ada").await;
        assert!(configured.failed && configured.markdown.contains("configuration"), "{}", configured.markdown);
        assert!(house.admin.chat(&house.ada(), "/remove Zoe").await.failed);
        let removed = house.admin.chat(&house.ada(), "/remove BEN").await;
        assert_eq!((removed.failed, &removed.json), (false, &json!({ "removed": "Ben" })));
        assert!(house.admin.members().people().await.unwrap().json["people"].as_array().unwrap().len() == 1);
        assert!(house.admin.chat(&house.ada(), "/remove Ben").await.failed, "A second time there is nobody to remove");
    }

    #[tokio::test]
    async fn the_last_owner_stays() {
        let house = Fixture::new().await;
        house.pairs("Eve", Role::Owner).await;
        assert!(!house.admin.members().remove("Eve").await.unwrap().failed);
        let alone = Fixture::without_people().await;
        alone.pairs("Eve", Role::Owner).await;
        assert_eq!(alone.admin.members().remove("Eve").await.unwrap().markdown, says::LAST_OWNER);
    }
}
