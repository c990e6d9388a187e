//! Access by pairing codes, and unknown senders.
//!
//! An unknown sender gets a few lines a day and no model, and the owners are told of them once; a
//! pairing code grants access. A known
//! person who sends the code issued for another person links their account: the address moves to
//! that person, and if it was their only one, the two are merged.
//!
//! Only a person admitted by pairing can be merged, only while none of their work is open, and only
//! with a valid code. People declared in the configuration are changed there. An owner never
//! becomes a member: a member who talked an owner into sending a code would gain access to
//! everything the owner ever said.

use super::{Item, greet_owner, typed_code};
use crate::admin::owner_notice::{self, OwnerNotice};
use crate::id::{AddressId, PersonId};
use crate::message::Event;
use crate::people::{Address, Person, Role};
use crate::store::{Admitted, CodeFor, CodeUse, InboxOutcome, Issuer, NewOutbox, OutboxKind};
use crate::text::{is_ignorable, one_line, shorten};
use crate::trust::Scope;
use crate::wording::access as of_access;
use crate::wording::{self, Language, gateway};

/// Maximum number of wrong codes per stranger and day.
const MAX_WRONG_CODES: i64 = 5;

/// Maximum length of the name that a channel tells, in characters.
const MAX_NAME: usize = 60;

/// A used pairing code: the person, its effect, and its issuer.
struct UsedCode {
    person: Person,
    effect: Admitted,
    issuer: Issuer,
}

/// Records an attempt to contact us and nothing of its content. A pairing code grants access.
pub(super) fn admit_unknown(item: &mut Item<'_>) -> anyhow::Result<()> {
    // Typing or reading is no attempt to contact us.
    if item.inbound.event == Event::Irrelevant {
        return item.record_id(InboxOutcome::Nothing).map(drop);
    }
    if item.record_id(InboxOutcome::Stranger)?.is_none() {
        return Ok(());
    }
    // The daily notice is for messages only, not for typing, reading or calls.
    let Event::Message(content) = &item.inbound.event else { return Ok(()) };
    let (tx, now, from) = (item.tx, item.now, item.address_of(&item.inbound.sender));
    let day = item.settings.zone.day(now);
    let may_be_told = tx.addresses().record_stranger(&from, &shown_name(item.sender_name), now, &day)?;
    if let Some(person) = tx.addresses().declared_for(&from)? {
        tracing::warn!(person.id = %person, "Somebody writes from a number that person {person} has left behind: they are not answered");
        return Ok(());
    }
    let answer = match typed_code(content) {
        Some(code) if tx.addresses().guesses(&from, &day)? < MAX_WRONG_CODES => match use_code(item, code)? {
            Some(used) => return grant_access(item, &from, &used),
            None => {
                tx.addresses().stranger_guessed(&from, &day)?;
                gateway::CODE_REFUSED
            }
        },
        Some(_) => gateway::CODE_TOO_MANY,
        None => gateway::STRANGER,
    };
    announce(item, &from)?;
    if !may_be_told {
        return Ok(());
    }
    let address = tx.addresses().link(&from, None, now)?;
    let text = wording::own(answer.in_language(item.language), Scope::Shared);
    item.post(&NewOutbox::answer(OutboxKind::Notice, address, &text, now))
}

/// Returns a name as stored: one line of at most [`MAX_NAME`] characters without hidden ones.
fn shown_name(told: &str) -> String {
    let visible: String = told.chars().filter(|c| !is_ignorable(*c)).collect();
    shorten(&one_line(&visible), MAX_NAME)
}

/// Tells every owner of a stranger, once. The text holds the name that the channel tells, so it
/// becomes no message of the owner's conversation.
fn announce(item: &mut Item<'_>, from: &Address) -> anyhow::Result<()> {
    let owners = item.tx.people().reachable_owners()?;
    if owners.is_empty() {
        return Ok(());
    }
    let Some(stranger) = item.tx.addresses().announce_stranger(from, item.now)? else { return Ok(()) };
    for (owner, address) in owners {
        let (text, buttons) = owner_notice::stranger(&stranger, owner);
        let notice = NewOutbox::notice(address, &text, item.now);
        item.post(&NewOutbox { buttons: &buttons, cause: None, ..notice })?;
    }
    Ok(())
}

/// Grants access by a valid code: links the address to the person and tells every owner.
fn grant_access(item: &mut Item<'_>, from: &Address, used: &UsedCode) -> anyhow::Result<()> {
    let (tx, person) = (item.tx, &used.person);
    // Owners are told at their earlier addresses: a new one may belong to another person.
    let owners = tx.people().reachable_owners()?;
    let address = tx.addresses().link(from, Some(person.id), item.now)?;
    notify_of_code(item, &owners, used, from, address)?;
    if let Some(told) = Language::named(&item.inbound.language) {
        tx.people().record_channel_language(person.id, told)?;
    }
    item.language = tx.people().language_of(person.id)?;
    let welcome = gateway::welcome(item.language, &person.name, person.role.as_str(), &item.settings.agent);
    item.post_notice(address, Scope::Person(person.id), welcome)?;
    greet_owner(item, person, address)?;
    item.record_contact(address, Some(person.id))?;
    item.after.access_granted = Some(person.clone());
    Ok(())
}

/// Links the sender's address to the person whom this code names. Returns false if it is no valid
/// code for that.
pub(super) fn link_account(
    item: &mut Item<'_>,
    address: AddressId,
    person: &Person,
    code: &str,
) -> anyhow::Result<bool> {
    let (tx, scope) = (item.tx, Scope::Person(person.id));
    tx.pairing().settle_expired(item.now)?;
    let Some(good) = tx.pairing().valid_code(code, item.now)? else { return Ok(false) };
    let other = match &good.recipient {
        CodeFor::Address(id) | CodeFor::Person(id, _) => tx.people().person(*id)?,
        CodeFor::Newcomer(..) => None,
    };
    let Some(other) = other else { return Ok(false) };
    let is_same = other.id == person.id;
    let promotes = matches!(good.recipient, CodeFor::Person(_, role) if role > person.role);
    if is_same && !(promotes && good.issuer == Issuer::CommandLine) {
        return Ok(false);
    }
    if item.record_id(InboxOutcome::Command)?.is_none() {
        return Ok(true);
    }
    let is_only = !is_same && tx.addresses().addresses_of(person.id)?.len() == 1;
    if !is_same {
        let refusal = if !tx.people().was_paired(person.id)? {
            Some(gateway::JOIN_IN_CONFIGURATION.in_language(item.language))
        } else if person.role == Role::Owner && other.role != Role::Owner {
            Some(gateway::JOIN_AS_LESS.in_language(item.language))
        } else if is_only && !tx.people().is_at_rest(person.id)? {
            Some(gateway::JOIN_LATER.in_language(item.language))
        } else if !tx.pairing().code_asked_at(&good, address)? {
            // A sender tricked into typing a code first learns who will read their messages.
            Some(gateway::join_means(item.language, &other.name))
        } else {
            None
        };
        if let Some(refusal) = refusal {
            return item.post_notice(address, scope, refusal).map(|()| true);
        }
    }
    let owners = tx.people().reachable_owners()?;
    let Some(used) = use_code(item, code)? else { return Ok(true) };
    let from = item.address_of(&item.inbound.sender);
    if !is_same {
        tx.addresses().link(&from, Some(used.person.id), item.now)?;
    }
    notify_of_code(item, &owners, &used, &from, address)?;
    if is_only {
        tx.people().absorb(person.id, used.person.id, item.now)?;
    }
    item.record_contact(address, Some(used.person.id))?;
    item.after.access_granted = Some(used.person.clone());
    let confirmation = match is_same {
        true => of_access::you_are(item.language, used.person.role.as_str()),
        false => gateway::joined(item.language, &used.person.name),
    };
    item.post_notice(address, Scope::Person(used.person.id), confirmation).map(|()| true)
}

/// Uses a code; `None` if it is not valid.
fn use_code(item: &Item<'_>, code: &str) -> anyhow::Result<Option<UsedCode>> {
    Ok(match item.tx.pairing().use_code(code, item.now)? {
        CodeUse::Accepted { person, did, issuer } => Some(UsedCode { person, effect: did, issuer }),
        CodeUse::Refused => None,
    })
}

/// Tells these owners that a code was used at an address, and how to undo it.
fn notify_of_code(
    item: &mut Item<'_>,
    owners: &[(PersonId, AddressId)],
    used: &UsedCode,
    from: &Address,
    id: AddressId,
) -> anyhow::Result<()> {
    let issuer = match used.issuer {
        Issuer::Person(id) => item.tx.people().person(id)?.map(|issuer| issuer.name),
        Issuer::CommandLine => None,
    };
    let notice = match used.effect {
        Admitted::Newcomer | Admitted::Again => OwnerNotice::access_granted(&used.person, from, issuer.as_deref()),
        Admitted::Promoted => OwnerNotice::promoted(&used.person, from),
        Admitted::Address => OwnerNotice::linked(&used.person, from, id, issuer.as_deref()),
    };
    item.after.posted.extend(owner_notice::notify_owners(item.tx, owners, &notice, item.now)?);
    Ok(())
}
