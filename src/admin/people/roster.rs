//! `/people`: who has access, the latest strangers, and all that is known of one person.

use std::sync::Arc;

use serde_json::{Value, json};

use super::removal_obstacle;
use crate::admin::PeopleAdmin;
use crate::admin::answer::{Render, RenderContext, ShownLabel, address_in_words};
use crate::admin::owner_notice::stranger_in_words;
use crate::admin::paging::{ListPlace, Page, PageRequest};
use crate::id::{PersonId, StrangerId};
use crate::people::{Address, KnownAddress, Person, Role};
use crate::store::{Db, Stranger};
use crate::time::Timestamp;
use crate::wording::review::Surface;
use crate::wording::{Language, access as of_access, command as says};

/// A person with access, and their addresses.
#[derive(Debug, Clone)]
pub struct ListedPerson {
    /// The person.
    pub person: Person,
    /// True if they were paired, false if the configuration names them.
    pub paired: bool,
    /// Their addresses, most recently used first.
    pub addresses: Vec<KnownAddress>,
    /// Time since which they are known.
    pub since: Option<Timestamp>,
    /// Time of their last message.
    pub last_heard: Option<Timestamp>,
}

/// The people with access, and the latest strangers.
pub struct PeopleReport {
    /// The people, owners first.
    pub page: Page<ListedPerson, ListPlace>,
    /// People who may be the same as an earlier person of that name.
    pub namesakes: Vec<Person>,
    /// Strangers.
    pub strangers: StrangersReport,
}

/// Strangers, newest first.
pub struct StrangersReport(pub Page<Stranger, ListPlace>);

/// A person with access, as an owner sees them.
#[derive(Debug, Clone)]
pub struct PersonReport {
    /// The person, and their addresses.
    pub listed: ListedPerson,
    /// Groups in which they wrote lately.
    pub groups: Vec<Address>,
    /// Number of browsers that are signed in as them.
    pub browsers: usize,
    /// Reason why they cannot be removed here.
    pub obstacle: Option<String>,
}

impl PeopleAdmin<'_> {
    /// The people with access, and the latest strangers.
    pub async fn people(
        &self,
        people: PageRequest<ListPlace>,
        strangers: PageRequest<ListPlace>,
    ) -> anyhow::Result<PeopleReport> {
        let list = move |db: Db<'_>| {
            let last = people.before.map(|place| (place.value == i64::from(true), PersonId(place.number)));
            let known = db.people().people_after(last, people.limit.saturating_add(1))?;
            let is_owner = |person: &Person| person.role == Role::Owner;
            let place = |person: &Person| ListPlace { value: is_owner(person).into(), number: person.id.0 };
            let page = people.first(known, place).try_map(|person| listed(db, person))?;
            let namesakes = db.people().open_namesakes()?.into_iter().map(|(person, _)| person).collect();
            Ok(PeopleReport { page, namesakes, strangers: strangers_in(db, strangers)? })
        };
        self.journal.read(list).await
    }

    /// The strangers.
    pub async fn strangers(&self, request: PageRequest<ListPlace>) -> anyhow::Result<StrangersReport> {
        self.journal.read(move |db| strangers_in(db, request)).await
    }

    /// A person with access.
    pub async fn person(&self, id: PersonId) -> anyhow::Result<Option<PersonReport>> {
        let now = self.clock.now();
        let read = move |db: Db<'_>| {
            let Some(person) = db.people().person(id)? else { return Ok(None) };
            Ok(Some(PersonReport {
                listed: listed(db, person)?,
                groups: db.groups().groups_of(id)?,
                browsers: db.web_sessions().of_person(id, now)?.len(),
                obstacle: removal_obstacle(db, id)?,
            }))
        };
        self.journal.read_much(read).await
    }
}

fn strangers_in(db: Db<'_>, request: PageRequest<ListPlace>) -> anyhow::Result<StrangersReport> {
    let last = request.before.map(|place| (Timestamp(place.value), StrangerId(place.number)));
    let strangers = db.addresses().strangers(last, request.limit.saturating_add(1))?;
    let place = |stranger: &Stranger| ListPlace { value: stranger.last_at.0, number: stranger.id.0 };
    Ok(StrangersReport(request.first(strangers, place)))
}

fn listed(db: Db<'_>, person: Person) -> anyhow::Result<ListedPerson> {
    Ok(ListedPerson {
        paired: db.people().was_paired(person.id)?,
        addresses: db.addresses().addresses_of(person.id)?,
        since: db.people().known_since(person.id)?,
        last_heard: db.addresses().last_heard(person.id)?,
        person,
    })
}

impl Render for PeopleReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let mut parts = vec![self.page.items.iter().map(known_line).collect::<Vec<_>>().join("\n")];
        if self.page.items.is_empty() {
            parts = vec![says::NOBODY.to_owned()];
        }
        parts.extend(self.page.more("/people", context.surface));
        parts.extend(
            self.namesakes.iter().map(|person| of_access::open_namesake(&person.name, person.id, context.surface)),
        );
        if !self.strangers.0.items.is_empty() {
            parts.push(self.strangers.lines(context, shown));
        }
        parts.extend(self.strangers.0.next.map(|next| match context.surface {
            Surface::Chat(language) => says::more(language, &format!("/people strangers before {next}")),
            Surface::CommandLine => {
                says::more(Language::ENGLISH, &format!("`compline people strangers --before {next}`"))
            }
        }));
        parts.join("\n\n")
    }

    fn json(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        let strangers = self.strangers.json(context, shown);
        let strangers = strangers.as_array().cloned().unwrap_or_default();
        self.page.items.iter().map(known_json).chain(strangers).collect()
    }
}

impl StrangersReport {
    fn lines(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        let line = |stranger: &Stranger| {
            let (who, last) = (stranger_in_words(stranger, shown), context.zone.show_short(stranger.last_at));
            says::stranger(stranger.id, &who, &last, stranger.count, context.surface)
        };
        let lines: Vec<String> = self.0.items.iter().map(line).collect();
        says::strangers(&lines.join("\n"))
    }
}

impl Render for StrangersReport {
    fn markdown(&self, context: &RenderContext<'_>, shown: &mut ShownLabel) -> String {
        if self.0.items.is_empty() {
            return says::NO_STRANGERS.to_owned();
        }
        let more = self.0.more("/people strangers", context.surface);
        std::iter::once(self.lines(context, shown)).chain(more).collect::<Vec<_>>().join("\n\n")
    }

    fn json(&self, _: &RenderContext<'_>, shown: &mut ShownLabel) -> Value {
        self.0.items.iter().map(|stranger| stranger_json(stranger, shown)).collect()
    }
}

fn known_line(known: &ListedPerson) -> String {
    let addresses: Vec<String> =
        known.addresses.iter().map(|known| says::numbered(&address_in_words(&known.address), known.id)).collect();
    says::person(&known.person.name, known.person.role.as_str(), admitted_by(known), &addresses)
}

fn admitted_by(known: &ListedPerson) -> &'static str {
    if known.paired { "pairing" } else { "config" }
}

fn known_json(known: &ListedPerson) -> Value {
    let address_json = |known: &KnownAddress| {
        let Address { adapter, account, peer } = &known.address;
        json!({ "adapter": adapter, "account": account, "peer": peer, "number": known.id })
    };
    json!({
        "id": known.person.id,
        "name": known.person.name,
        "role": known.person.role,
        "from": admitted_by(known),
        "addresses": known.addresses.iter().map(address_json).collect::<Value>(),
    })
}

fn stranger_json(stranger: &Stranger, shown: &mut ShownLabel) -> Value {
    let name: &Arc<str> = shown.words(&stranger.name);
    json!({
        "id": null, "name": **name, "role": "stranger", "number": stranger.id, "last_at": stranger.last_at.rfc3339(),
        "count": stranger.count, "addresses": [{ "adapter": stranger.address.adapter, "peer": stranger.address.peer }],
    })
}
