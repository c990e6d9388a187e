//! Commands about access that identify people and addresses by number, because buttons carry them.

use crate::id::{AddressId, PersonId};
use crate::people::Role;

/// A `/people` command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeopleCommand {
    /// Lists the people with access.
    List,
    /// Unlinks an address from its person.
    Unlink(AddressId),
    /// Revokes a person's access.
    Remove(PersonId),
    /// Confirms that a person is the earlier one of the same name.
    Join(PersonId),
    /// Denies that a person is the earlier one of the same name.
    Apart(PersonId),
}

/// The answer to the question whether a pairing is for the removed person of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namesake {
    /// The removed person.
    pub person: PersonId,
    /// The role granted by the code.
    pub role: Role,
    /// The answer.
    pub is_same: IsSame,
}

/// Identity of a new and an earlier person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsSame {
    /// The same person.
    Yes,
    /// A new person.
    No,
}

/// Parses the arguments of `/people`.
pub(super) fn people(rest: &str) -> Option<PeopleCommand> {
    let words: Vec<String> = rest.split_whitespace().map(str::to_lowercase).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["unlink", number] => number.parse().ok().map(|id| PeopleCommand::Unlink(AddressId(id))),
        ["remove", number] => number.parse().ok().map(|id| PeopleCommand::Remove(PersonId(id))),
        ["join", number] => number.parse().ok().map(|id| PeopleCommand::Join(PersonId(id))),
        ["apart", number] => number.parse().ok().map(|id| PeopleCommand::Apart(PersonId(id))),
        ["unlink" | "remove" | "join" | "apart", ..] => None,
        _ => Some(PeopleCommand::List),
    }
}

/// Parses the arguments of `/pair`: `#3 member same`, `#3 member new`.
pub(super) fn namesake(rest: &str) -> Option<Namesake> {
    let words: Vec<String> = rest.split_whitespace().map(str::to_lowercase).collect();
    let [number, role, answer] = words.as_slice() else { return None };
    let person = PersonId(number.strip_prefix('#')?.parse().ok()?);
    let role = role.parse::<Role>().ok().filter(|role| *role != Role::Guest)?;
    let is_same = match answer.as_str() {
        "same" => IsSame::Yes,
        "new" => IsSame::No,
        _ => return None,
    };
    Some(Namesake { person, role, is_same })
}
