//! Notices to every owner about access: each new person, each new address and each use of a code,
//! with a button to undo it.

use std::sync::Arc;

use crate::id::{AddressId, PersonId};
use crate::people::{Address, Person, Role};
use crate::store::{NewOutbox, Stranger, Tx, Urgency};
use crate::time::Timestamp;
use crate::trust::{Scope, Text};
use crate::wording::ProgramText;
use crate::wording::access as says;
use crate::wording::command as of_command;

use super::answer::{ShownLabel, address_in_words, plain};

/// A sentence for all owners, with buttons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerNotice {
    /// Markdown text.
    pub text: ProgramText,
    /// Title and command of each button.
    pub buttons: Vec<(String, String)>,
}

impl OwnerNotice {
    fn of(text: ProgramText) -> Self {
        Self { text, buttons: Vec::new() }
    }

    /// The configuration granted a person access.
    pub fn configured(name: &str, role: Role) -> Self {
        Self::of(says::configured(name, role.as_str()))
    }

    /// The configuration added an address to a person.
    pub fn configured_address(name: &str, adapter: &str, peer: &str) -> Self {
        Self::of(says::configured_address(name, &plain(&of_command::address(adapter, peer))))
    }

    /// The configuration has a new person, who may be an earlier one of the same name.
    pub fn namesake(person: &Person) -> Self {
        let buttons = vec![
            (says::SAME_PERSON.to_owned(), format!("/people join {}", person.id)),
            (says::SOMEBODY_NEW.to_owned(), format!("/people apart {}", person.id)),
        ];
        Self { text: says::namesake(&person.name, person.id), buttons }
    }

    /// A code granted a person access, for the first time or again.
    pub fn access_granted(person: &Person, at: &Address, issuer: Option<&str>) -> Self {
        let text = says::let_in(&person.name, person.role.as_str(), &address_in_words(at), issuer);
        Self { text, buttons: vec![(says::UNDO.to_owned(), format!("/people remove {}", person.id))] }
    }

    /// An owner, or a user of the computer, let a stranger in.
    pub fn admitted(person: &Person, at: &Address, by: Option<&str>) -> Self {
        let text = says::admitted_by(&person.name, person.role.as_str(), &address_in_words(at), by);
        Self { text, buttons: vec![(says::UNDO.to_owned(), format!("/people remove {}", person.id))] }
    }

    /// A code linked an address to an existing person.
    pub fn linked(person: &Person, at: &Address, id: AddressId, issuer: Option<&str>) -> Self {
        let text = says::linked(&person.name, &address_in_words(at), id, issuer);
        Self { text, buttons: vec![(says::UNDO.to_owned(), format!("/people unlink {id}"))] }
    }

    /// The root of the workspace was handed over to another owner, as described in `told`.
    pub fn handed_over(told: ProgramText) -> Self {
        Self::of(told)
    }

    /// The preferred model is no longer configured, and that one is asked first instead.
    pub fn model_gone(preferred: &str, first: &str) -> Self {
        Self::of(of_command::preferred_is_gone(&plain(preferred), &plain(first)))
    }

    /// A code gave an existing person a higher role.
    pub fn promoted(person: &Person, at: &Address) -> Self {
        let text = says::promoted(&person.name, person.role.as_str(), &address_in_words(at));
        Self { text, buttons: vec![(says::UNDO.to_owned(), format!("/people remove {}", person.id))] }
    }
}

/// A notice to an owner of a sender without access, with a button to let them in and one to ignore
/// them.
pub fn stranger(stranger: &Stranger, owner: PersonId) -> (Text, Vec<(String, String)>) {
    let mut shown = ShownLabel::nothing();
    let words = says::stranger_wrote(&stranger_in_words(stranger, &mut shown));
    let buttons = vec![
        (says::LET_IN.to_owned(), format!("/people admit {}", stranger.id)),
        (says::IGNORE.to_owned(), format!("/people ignore {}", stranger.id)),
    ];
    (shown.text(words, Scope::Person(owner)), buttons)
}

/// Name and address of a sender without access.
pub(super) fn stranger_in_words(stranger: &Stranger, shown: &mut ShownLabel) -> String {
    let name: &Arc<str> = shown.words(&stranger.name);
    says::stranger(&plain(name), &address_in_words(&stranger.address))
}

/// Posts a notice to these owners, and returns the addresses with pending deliveries.
pub fn notify_owners(
    tx: Tx<'_>,
    owners: &[(PersonId, AddressId)],
    notice: &OwnerNotice,
    now: Timestamp,
) -> anyhow::Result<Vec<AddressId>> {
    for (owner, address) in owners {
        let text = crate::wording::own(notice.text.clone(), Scope::Person(*owner));
        let (buttons, urgency) = (&notice.buttons[..], Urgency::Silent);
        tx.outbox().post(&NewOutbox { buttons, urgency, ..NewOutbox::notice(*address, &text, now) })?;
    }
    Ok(owners.iter().map(|(_, address)| *address).collect())
}
