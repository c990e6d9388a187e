//! `/pair` and the first owner's code: access for people whom the configuration does not declare.
//!
//! A code is shown once, in the answer that creates it; the journal stores its digest and expiry
//! time.

use crate::admin::PeopleAdmin;
use std::time::Duration;

use anyhow::Context;
use rand::TryRng;
use rand::rngs::SysRng;
use serde_json::{Value, json};

use super::answer::{Answer, plain};
use super::command::{CODE_LETTERS, NameMeans};
use crate::id::PersonId;
use crate::message::{ChannelKind, StartLink};
use crate::people::{Person, Role, is_name};
use crate::store::{CodeFor, Db, FormerPerson, Issuer, Tx};
use crate::time::Timestamp;
use crate::wording::Language;
use crate::wording::access as of_access;
use crate::wording::command as says;

/// Validity of an ordinary code.
const CODE_LIFETIME: Duration = Duration::from_secs(10 * 60);
/// Validity of the claim code, which is shown in the terminal at set-up.
const CLAIM_CODE_LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// The name of an owner whom the configuration does not name.
const UNNAMED: &str = "owner";

/// The result of a request for a code.
enum CodeRequest {
    /// A code for that person, and the name and role after its use.
    Code(CodeFor, String, Role),
    /// The question which of these removed people is meant, if any.
    Ask(Vec<FormerPerson>),
    /// The name is invalid for a new person.
    NoName,
    /// No removed person has that number and name.
    NoSuchFormer(PersonId),
}

/// A code that was just made, which is shown once.
#[derive(Debug, Clone)]
pub struct PairingCode {
    /// Name of the person after its use.
    pub name: String,
    /// Role of the person after its use.
    pub role: Role,
    /// The code.
    pub code: String,
    /// Effect and use of the code.
    pub words: String,
    /// Link that opens a chat with us; sends the code if it can.
    pub link: Option<StartLink>,
    /// End of its validity.
    pub expires_at: Timestamp,
}

/// Result of a request for a pairing code.
#[derive(Debug, Clone)]
pub enum Pairing {
    /// The code.
    Code(PairingCode),
    /// No code yet: one of these removed people of that name may be meant.
    SameOrNew(Vec<FormerPerson>),
    /// No code.
    Refused(Answer),
}

impl PairingCode {
    /// Returns the answer that shows the code.
    pub fn answer(&self) -> Answer {
        let Self { name, role, code, words, link, expires_at } = self;
        let link = link.clone().map(StartLink::into_address);
        let json =
            json!({ "name": name, "role": role, "code": code, "link": link, "expires_at": expires_at.rfc3339() });
        Answer::ours(words.as_str(), json)
    }
}

impl PeopleAdmin<'_> {
    /// Creates a code that grants `name` access, or links an address to an existing person. If a
    /// removed person bore the name, the caller has to state whether it means that person or a new
    /// one; until then no code is created.
    ///
    /// # Errors
    /// If the system cannot provide random bytes.
    pub async fn pairing(
        &self,
        issuer: Issuer,
        name: &str,
        role: Role,
        means: Option<NameMeans>,
    ) -> anyhow::Result<Pairing> {
        let (code, wanted) = (new_code()?, name.to_owned());
        let (secret, now) = (code.clone(), self.clock.now());
        let job = move |tx: Tx<'_>| {
            let known = tx.people().person_named(&wanted)?;
            let configured =
                known.as_ref().map_or(Ok(false), |known| tx.people().was_paired(known.id).map(|paired| !paired))?;
            let code_request = code_request(*tx, issuer, &wanted, role, means)?;
            if let CodeRequest::Code(recipient, ..) = &code_request {
                tx.pairing().store_code(&secret, issuer, recipient, now, now.plus(CODE_LIFETIME))?;
            }
            Ok((code_request, known, configured))
        };
        let (code_request, known, configured) = self.journal.write("keep a pairing code", job).await?;
        let (recipient, name, role) = match code_request {
            CodeRequest::Ask(former) => return Ok(Pairing::SameOrNew(former)),
            CodeRequest::NoName => return Ok(Pairing::Refused(Answer::refusal(says::not_a_name(&plain(name))))),
            CodeRequest::NoSuchFormer(id) => {
                return Ok(Pairing::Refused(Answer::refusal(of_access::no_such_former(id))));
            }
            CodeRequest::Code(recipient, name, role) => (recipient, name, role),
        };
        let effect = match (&recipient, known) {
            (CodeFor::Person(..), Some(known)) => {
                of_access::promotes(&name, known.role.as_str(), role.as_str(), configured)
            }
            (CodeFor::Person(..), None) => of_access::comes_back(&name, role.as_str()),
            (_, known) => says::pairing(&name, role.as_str(), known.is_some()),
        };
        Ok(Pairing::Code(self.made_code(Language::ENGLISH, &effect, (&name, role), code, now)))
    }

    /// The same, for a command.
    pub(super) async fn pair(
        &self,
        issuer: Issuer,
        name: &str,
        role: Role,
        means: Option<NameMeans>,
    ) -> anyhow::Result<Answer> {
        Ok(match self.pairing(issuer, name, role, means).await? {
            Pairing::Code(code) => code.answer(),
            Pairing::SameOrNew(former) => self.same_or_new(issuer, role, &former),
            Pairing::Refused(answer) => answer,
        })
    }

    /// Creates a code after the question about a removed person of the same name was answered.
    ///
    /// # Errors
    /// If the system cannot provide random bytes.
    pub(super) async fn pair_namesake(
        &self,
        issuer: Issuer,
        id: PersonId,
        role: Role,
        is_same: bool,
    ) -> anyhow::Result<Answer> {
        let Some(former) = self.journal.read(move |db| db.people().former_person(id)).await? else {
            return Ok(Answer::refusal(of_access::no_such_former(id)));
        };
        let means = if is_same { NameMeans::Former(id) } else { NameMeans::SomebodyNew };
        self.pair(issuer, &former.name, role, Some(means)).await
    }

    /// Creates a code that links another address to the caller.
    ///
    /// # Errors
    /// If the system cannot provide random bytes.
    pub async fn linking(&self, person: &Person, language: Language) -> anyhow::Result<PairingCode> {
        let (code, now, id) = (new_code()?, self.clock.now(), person.id);
        let secret = code.clone();
        let keep = move |tx: Tx<'_>| {
            tx.pairing().store_code(&secret, Issuer::Person(id), &CodeFor::Address(id), now, now.plus(CODE_LIFETIME))
        };
        self.journal.write("keep a pairing code", keep).await?;
        let effect = of_access::links_you(language, &person.name);
        Ok(self.made_code(language, &effect, (&person.name, person.role), code, now))
    }

    /// The same, for a command.
    pub(super) async fn link_code(&self, person: &Person, language: Language) -> anyhow::Result<Answer> {
        Ok(self.linking(person, language).await?.answer())
    }

    fn made_code(
        &self,
        language: Language,
        effect: &str,
        (name, role): (&str, Role),
        code: String,
        now: Timestamp,
    ) -> PairingCode {
        let (how, link) = self.how_to_use(language, &code, CODE_LIFETIME);
        let (words, expires_at) = (format!("{effect} {how}"), now.plus(CODE_LIFETIME));
        PairingCode { name: name.to_owned(), role, code, words, link, expires_at }
    }

    /// Returns how a code is used, and the first link, of one that sends the code if there is any.
    fn how_to_use(&self, language: Language, code: &str, lifetime: Duration) -> (String, Option<StartLink>) {
        let ways = self.channels.start_ways(code);
        let how = of_access::how_to_use(language, code, lifetime, &ways);
        let mut links: Vec<StartLink> = ways.into_iter().filter_map(|way| way.link).collect();
        links.sort();
        (how, links.into_iter().next())
    }

    fn same_or_new(&self, issuer: Issuer, role: Role, former: &[FormerPerson]) -> Answer {
        let Some(latest) = former.first() else { return Answer::refusal(says::FAILED.in_language(Language::ENGLISH)) };
        let line = |person: &FormerPerson| {
            let (since, until) = (self.zone.day(person.since), self.zone.day(person.until));
            of_access::former(person.id, &person.name, person.role.as_str(), &since, &until)
        };
        let listed: Vec<String> = former.iter().map(line).collect();
        let how = match issuer {
            Issuer::CommandLine => of_access::answer_on_command_line(&latest.name, latest.id, role.as_str()),
            Issuer::Person(_) => of_access::answer_in_chat(latest.id, role.as_str()),
        };
        let question = format!("{}\n\n{how}", of_access::same_or_new(&latest.name, &listed.join("\n")));
        let answer = |id: PersonId, word: &str| format!("/pair #{id} {} {word}", role.as_str());
        let mut buttons: Vec<(String, String)> = match former {
            [only] => vec![(of_access::SAME_PERSON.to_owned(), answer(only.id, "same"))],
            several => {
                several.iter().map(|person| (of_access::same_as(person.id), answer(person.id, "same"))).collect()
            }
        };
        buttons.push((of_access::SOMEBODY_NEW.to_owned(), answer(latest.id, "new")));
        let json = json!({ "error": question, "same_or_new": self.former_json(former) });
        Answer { json, ..Answer::refusal(question) }.with_buttons(buttons)
    }

    /// The removed people whom a name could mean; none if a person with access bears it.
    pub(super) async fn former(&self, name: &str) -> anyhow::Result<Answer> {
        let wanted = name.to_owned();
        let look = move |db: Db<'_>| match db.people().person_named(&wanted)? {
            Some(_) => Ok(Vec::new()),
            None => db.people().formerly_named(&wanted),
        };
        let former = self.journal.read(look).await?;
        Ok(Answer::ours(String::new(), self.former_json(&former)))
    }

    fn former_json(&self, former: &[FormerPerson]) -> Value {
        let day = |at| self.zone.day(at);
        let one = |person: &FormerPerson| json!({ "id": person.id, "name": person.name, "role": person.role, "since": day(person.since), "until": day(person.until) });
        former.iter().map(one).collect()
    }

    /// Creates the code for the first owner, only while no owner has an address other than the
    /// terminal. Every earlier one becomes void.
    ///
    /// # Errors
    /// If the system cannot provide random bytes.
    pub async fn claim_code(&self) -> anyhow::Result<Option<String>> {
        let Some(recipient) = self.journal.read(unclaimed).await? else { return Ok(None) };
        let (code, now) = (new_code()?, self.clock.now());
        let secret = code.clone();
        self.journal
            .write("keep a claim code", move |tx| {
                tx.pairing().void_claims(now)?;
                tx.pairing().store_code(&secret, Issuer::CommandLine, &recipient, now, now.plus(CLAIM_CODE_LIFETIME))
            })
            .await?;
        Ok(Some(code))
    }
}

fn code_request(
    db: Db<'_>,
    issuer: Issuer,
    name: &str,
    role: Role,
    means: Option<NameMeans>,
) -> anyhow::Result<CodeRequest> {
    if let Some(known) = db.people().person_named(name)? {
        // An existing person keeps name and role: a code links an address, and only a code created
        // on the computer promotes.
        let is_promoted = issuer == Issuer::CommandLine && role > known.role;
        return Ok(match is_promoted {
            true => CodeRequest::Code(CodeFor::Person(known.id, role), known.name, role),
            false => CodeRequest::Code(CodeFor::Address(known.id), known.name, known.role),
        });
    }
    let former = db.people().formerly_named(name)?;
    Ok(match means {
        None if !former.is_empty() => CodeRequest::Ask(former),
        // Role names also appear in prompts.
        None | Some(NameMeans::SomebodyNew) if !is_name(name) || name.to_lowercase().parse::<Role>().is_ok() => {
            CodeRequest::NoName
        }
        None | Some(NameMeans::SomebodyNew) => {
            CodeRequest::Code(CodeFor::Newcomer(name.to_owned(), role), name.to_owned(), role)
        }
        Some(NameMeans::Former(id)) => match former.into_iter().find(|former| former.id == id) {
            Some(former) => CodeRequest::Code(CodeFor::Person(id, role), former.name, role),
            None => CodeRequest::NoSuchFormer(id),
        },
    })
}

impl PeopleAdmin<'_> {
    /// Returns whether no owner has an address other than the terminal.
    pub async fn is_unclaimed(&self) -> anyhow::Result<bool> {
        Ok(self.journal.read(unclaimed).await?.is_some())
    }

    /// The claim code, for the command line of this computer.
    ///
    /// # Errors
    /// If the system cannot provide random bytes.
    pub async fn claim(&self) -> anyhow::Result<Answer> {
        Ok(match self.claim_code().await? {
            Some(code) => {
                let (how, link) = self.how_to_use(Language::ENGLISH, &code, CLAIM_CODE_LIFETIME);
                let link = link.map(StartLink::into_address);
                Answer::ours(format!("{} {how}", says::CLAIM), json!({ "code": code, "link": link }))
            }
            None => Answer::ours(says::CLAIMED, json!({ "code": null, "link": null })),
        })
    }
}

/// The person whom the claim code would grant access; `None` if an owner is already reachable.
fn unclaimed(db: Db<'_>) -> anyhow::Result<Option<CodeFor>> {
    let owners: Vec<Person> = db.people().people()?.into_iter().filter(|person| person.role == Role::Owner).collect();
    for owner in &owners {
        if db.addresses().addresses_of(owner.id)?.iter().any(|known| !ChannelKind::is_attended(&known.address.adapter))
        {
            return Ok(None);
        }
    }
    for owner in &owners {
        if !db.people().was_paired(owner.id)? {
            return Ok(Some(CodeFor::Address(owner.id)));
        }
    }
    Ok(Some(match owners.first() {
        Some(owner) => CodeFor::Address(owner.id),
        None => CodeFor::Newcomer(UNNAMED.to_owned(), Role::Owner),
    }))
}

/// Eight random letters and digits in two groups: 40 bits, at which a stranger may guess five times
/// a day.
fn new_code() -> anyhow::Result<String> {
    let mut random = [0_u8; 8];
    SysRng.try_fill_bytes(&mut random).context("The computer has no randomness to give")?;
    let letters = random.iter().filter_map(|byte| CODE_LETTERS.get(usize::from(byte & 31)));
    let mut code: String = letters.map(|letter| char::from(*letter)).collect();
    code.insert(4, '-');
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::super::tests::fixture::Fixture;
    use super::*;
    use crate::store::{Admitted, CodeUse};

    /// The person and role after a code was used; `None` if it is refused.
    fn who(used: CodeUse) -> Option<(String, Role, Admitted)> {
        match used {
            CodeUse::Accepted { person, did, .. } => Some((person.name, person.role, did)),
            CodeUse::Refused => None,
        }
    }

    fn named(name: &str, role: Role, did: Admitted) -> Option<(String, Role, Admitted)> {
        Some((name.to_owned(), role, did))
    }

    #[test]
    fn codes_are_what_the_door_takes_for_one() {
        let codes: Vec<String> = (0..200).map(|_| new_code().unwrap()).collect();
        for code in &codes {
            assert_eq!(command::code_in(code), Some(code.as_str()));
            assert!(!code.contains(['I', 'L', 'O', 'U']) && code.to_uppercase() == *code, "{code}");
        }
        let different: std::collections::HashSet<&String> = codes.iter().collect();
        assert_eq!(different.len(), codes.len());
    }

    #[tokio::test]
    async fn a_code_is_shown_once_and_good_for_ten_minutes() {
        let fixture = Fixture::new().await;
        let answer = fixture.admin.chat(&fixture.ada(), "/pair Zoe").await;
        let code = answer.json["code"].as_str().unwrap().to_owned();
        assert!(answer.markdown.contains(&format!("/start {code}")) && !answer.failed, "{}", answer.markdown);
        assert_eq!((&answer.json["name"], &answer.json["role"]), (&json!("Zoe"), &json!("member")));
        let late = fixture.now().plus(CODE_LIFETIME);
        let in_time = late.minus(Duration::from_millis(1));
        assert_eq!(
            who(fixture.uses(&code.to_lowercase(), in_time).await),
            named("Zoe", Role::Member, Admitted::Newcomer)
        );
        assert_eq!(fixture.uses(&code, fixture.now()).await, CodeUse::Refused, "It is used up");
        let answer = fixture.admin.chat(&fixture.ada(), "/pair Yan").await;
        let code = answer.json["code"].as_str().unwrap();
        assert_eq!(fixture.uses(code, late).await, CodeUse::Refused);
        assert_eq!(fixture.uses(code, in_time).await, CodeUse::Refused, "It stays over");
    }

    #[tokio::test]
    async fn a_code_for_a_known_member_does_not_promote_them() {
        let fixture = Fixture::new().await;
        let answer = fixture.admin.chat(&fixture.ada(), "/pair ben owner").await;
        assert_eq!((&answer.json["name"], &answer.json["role"]), (&json!("Ben"), &json!("member")));
    }

    #[tokio::test]
    async fn a_name_that_cannot_be_one_makes_no_code() {
        let fixture = Fixture::new().await;
        for line in ["/pair", "/pair owner", "/pair guest", "/pair ../etc", "/pair a\u{202e}b", "/pair <b>"] {
            assert!(fixture.admin.chat(&fixture.ada(), line).await.failed, "{line}");
        }
        assert_eq!(fixture.pairing_codes().await, 0);
    }

    #[tokio::test]
    async fn a_claim_code_only_while_no_owner_is_reached() {
        let reached = Fixture::new().await;
        assert_eq!(reached.admin.members().claim_code().await.unwrap(), None);

        let nobody = Fixture::without_people().await;
        let first = nobody.admin.members().claim_code().await.unwrap().unwrap();
        let second = nobody.admin.members().claim_code().await.unwrap().unwrap();
        assert_eq!(nobody.uses(&first, nobody.now()).await, CodeUse::Refused, "The later one voids it");
        let almost = nobody.now().plus(CLAIM_CODE_LIFETIME).minus(Duration::from_millis(1));
        assert_eq!(who(nobody.uses(&second, almost).await), named(UNNAMED, Role::Owner, Admitted::Newcomer));

        let configured = Fixture::without_people().await;
        configured.declares("Ada", Role::Owner).await;
        configured.links("Ada", "terminal", "local").await;
        let code = configured.admin.members().claim_code().await.unwrap().unwrap();
        let used = configured.uses(&code, configured.now()).await;
        assert_eq!(who(used), named("Ada", Role::Owner, Admitted::Address));
        configured.links("Ada", "telegram", "101").await;
        assert_eq!(configured.admin.members().claim_code().await.unwrap(), None);
    }
}
