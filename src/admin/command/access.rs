//! Commands about who is let in that name people and addresses by their numbers, because buttons
//! carry them.

use crate::id::{AddressId, PersonId};
use crate::people::Role;

/// What is asked of `/people`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeopleCommand {
    /// Shows who is let in.
    List,
    /// Takes an address from its person.
    Unlink(AddressId),
    /// Lets a person in no longer.
    Remove(PersonId),
    /// A person is the earlier one of the same name.
    Join(PersonId),
    /// A person is not the earlier one of the same name.
    Apart(PersonId),
}

/// The answer to the question whether a name to be paired means the removed person who bore it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Namesake {
    /// The removed person.
    pub person: PersonId,
    /// The role that the code gives.
    pub role: Role,
    /// The answer.
    pub is_same: IsSame,
}

/// Whether two are one person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsSame {
    /// The same person.
    Yes,
    /// Somebody new.
    No,
}

/// What stands behind `/people`.
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

/// What stands behind `/pair`: `#3 member same`, `#3 member new`.
pub(super) fn namesake(rest: &str) -> Option<Namesake> {
    let words: Vec<String> = rest.split_whitespace().map(str::to_lowercase).collect();
    let [number, role, answer] = words.as_slice() else { return None };
    let person = PersonId(number.strip_prefix('#')?.parse().ok()?);
    let role = Role::parse(role).filter(|role| *role != Role::Guest)?;
    let is_same = match answer.as_str() {
        "same" => IsSame::Yes,
        "new" => IsSame::No,
        _ => return None,
    };
    Some(Namesake { person, role, is_same })
}
