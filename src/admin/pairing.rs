//! `/pair` and the first owner's code: how somebody comes in whom the configuration does not declare.
//!
//! A code is shown once, in the answer that makes it; the journal keeps its digest and when it expires.

use std::time::Duration;

use anyhow::Context;
use rand::TryRng;
use rand::rngs::SysRng;
use serde_json::json;

use super::Admin;
use super::answer::{Answer, plain};
use super::command::CODE_LETTERS;
use crate::people::{Person, Role};
use crate::store::Db;
use crate::wording::command as says;

/// How long a code is good that somebody waits for.
const VALID: Duration = Duration::from_secs(10 * 60);
/// How long the code is good that stands in the terminal of who set the program up.
const CLAIM_VALID: Duration = Duration::from_secs(24 * 3600);
/// The adapter that needs no claim: whoever can open the home is its owner.
const LOCAL: &str = "terminal";
/// The name of an owner whom the configuration does not name.
const UNNAMED: &str = "owner";

impl Admin {
    /// Makes a code that lets `name` in, or joins an address to them if they are in already.
    ///
    /// # Errors
    /// If the journal cannot be written, or the computer has no randomness to give.
    pub async fn pair(&self, name: &str, role: Role) -> anyhow::Result<Answer> {
        if !is_name(name) {
            return Ok(Answer::refusal(says::not_a_name(&plain(name))));
        }
        let asked = name.to_owned();
        let known = self.parts.journal.read(move |db| db.person_named(&asked)).await?;
        // Who is in already keeps name and role: a code links an address, and promotes nobody.
        let (kept, role) = known.as_ref().map_or((name, role), |person| (&*person.name, person.role));
        let (code, now) = (new_code()?, self.parts.clock.now());
        let (secret, owned, expires) = (code.clone(), kept.to_owned(), now.plus(VALID));
        self.parts
            .journal
            .write("keep a pairing code", move |tx| tx.keep_code(&secret, &owned, role, now, expires))
            .await?;
        let markdown = says::pairing(kept, role.as_str(), known.is_some(), &code, VALID);
        let json = json!({ "name": kept, "role": role, "code": code, "expires_at": expires.rfc3339() });
        Ok(Answer::ours(markdown, json))
    }

    /// The code that makes the first owner: only while no owner can be reached but at the terminal. Every earlier one is void.
    ///
    /// # Errors
    /// If the journal cannot be written, or the computer has no randomness to give.
    pub async fn claim_code(&self) -> anyhow::Result<Option<String>> {
        let Some(name) = self.parts.journal.read(unclaimed).await? else { return Ok(None) };
        let (code, now) = (new_code()?, self.parts.clock.now());
        let secret = code.clone();
        self.parts
            .journal
            .write("keep a claim code", move |tx| {
                tx.void_codes(Role::Owner, now)?;
                tx.keep_code(&secret, &name, Role::Owner, now, now.plus(CLAIM_VALID))
            })
            .await?;
        Ok(Some(code))
    }
}

/// As whom the first owner would come in; `None` if an owner has come in.
fn unclaimed(db: Db<'_>) -> anyhow::Result<Option<String>> {
    let owners: Vec<Person> = db.people()?.into_iter().filter(|person| person.role == Role::Owner).collect();
    for owner in &owners {
        if db.addresses_of(owner.id)?.iter().any(|known| known.address.adapter != LOCAL) {
            return Ok(None);
        }
    }
    for owner in &owners {
        if !db.was_paired(owner.id)? {
            return Ok(Some(owner.name.clone()));
        }
    }
    Ok(Some(owners.first().map_or_else(|| UNNAMED.to_owned(), |owner| owner.name.clone())))
}

/// Eight random letters and digits in two groups: 40 bits, of which a stranger may guess five times a day.
fn new_code() -> anyhow::Result<String> {
    let mut random = [0_u8; 8];
    SysRng.try_fill_bytes(&mut random).context("The computer has no randomness to give")?;
    let letters = random.iter().filter_map(|byte| CODE_LETTERS.get(usize::from(byte & 31)));
    let mut code: String = letters.map(|letter| char::from(*letter)).collect();
    code.insert(4, '-');
    Ok(code)
}

/// The rule of the configuration: a name stands in prompts as our own words, and names a folder.
fn is_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let is_taken = [Role::Guest, Role::Member, Role::Owner].iter().any(|role| name.eq_ignore_ascii_case(role.as_str()));
    (1..=40).contains(&name.chars().count()) && name.trim() == name && name.chars().all(is_allowed) && !is_taken
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::super::fixture::House;
    use super::*;
    use crate::store::CodeUse;

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
        let house = House::new().await;
        let answer = house.admin.chat(&house.ada(), "/pair Zoe").await;
        let code = answer.json["code"].as_str().unwrap().to_owned();
        assert!(answer.markdown.contains(&format!("/start {code}")) && !answer.failed, "{}", answer.markdown);
        assert_eq!((&answer.json["name"], &answer.json["role"]), (&json!("Zoe"), &json!("member")));
        let late = house.now().plus(VALID);
        assert_eq!(house.uses(&code, late).await, CodeUse::Refused);
        let in_time = CodeUse::Accepted { name: "Zoe".to_owned(), role: Role::Member };
        assert_eq!(house.uses(&code.to_lowercase(), late.minus(Duration::from_millis(1))).await, in_time);
        assert_eq!(house.uses(&code, house.now()).await, CodeUse::Refused, "It is used up");
    }

    #[tokio::test]
    async fn a_code_promotes_nobody() {
        let house = House::new().await;
        let answer = house.admin.chat(&house.ada(), "/pair ben owner").await;
        assert_eq!((&answer.json["name"], &answer.json["role"]), (&json!("Ben"), &json!("member")));
    }

    #[tokio::test]
    async fn a_name_that_cannot_be_one_makes_no_code() {
        let house = House::new().await;
        for line in ["/pair", "/pair owner", "/pair guest", "/pair ../etc", "/pair a\u{202e}b", "/pair <b>"] {
            assert!(house.admin.chat(&house.ada(), line).await.failed, "{line}");
        }
        assert_eq!(house.pairing_codes().await, 0);
    }

    #[tokio::test]
    async fn a_claim_code_only_while_no_owner_is_reached() {
        let reached = House::new().await;
        assert_eq!(reached.admin.claim_code().await.unwrap(), None);

        let nobody = House::without_people().await;
        let first = nobody.admin.claim_code().await.unwrap().unwrap();
        let second = nobody.admin.claim_code().await.unwrap().unwrap();
        assert_eq!(nobody.uses(&first, nobody.now()).await, CodeUse::Refused, "The later one voids it");
        let almost = nobody.now().plus(CLAIM_VALID).minus(Duration::from_millis(1));
        let owner = CodeUse::Accepted { name: UNNAMED.to_owned(), role: Role::Owner };
        assert_eq!(nobody.uses(&second, almost).await, owner);

        let configured = House::without_people().await;
        configured.declares("Ada", Role::Owner).await;
        configured.links("Ada", LOCAL, "local").await;
        let code = configured.admin.claim_code().await.unwrap().unwrap();
        let ada = CodeUse::Accepted { name: "Ada".to_owned(), role: Role::Owner };
        assert_eq!(configured.uses(&code, configured.now()).await, ada);
        configured.links("Ada", "telegram", "101").await;
        assert_eq!(configured.admin.claim_code().await.unwrap(), None);
    }
}
