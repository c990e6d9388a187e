//! Who is let in: what owners are told of newcomers, new addresses and codes, and the questions
//! about names.

use std::time::Duration;

use super::{ProgramText, span};
use crate::id::{AddressId, PersonId};

/// Button: undo what a notice tells.
pub const UNDO: &str = "Undo";
/// Button: two people are one.
pub const SAME_PERSON: &str = "The same person";
/// Button: they are not.
pub const SOMEBODY_NEW: &str = "Somebody new";

/// How `/people` is written with more behind it.
pub const HOW_PEOPLE: &str =
    "/people, or with a number: /people unlink N, /people remove N, /people join N, /people apart N";
/// How `/pair` is written as the answer to its question.
pub const HOW_PAIR_AGAIN: &str = "/pair #N member same, or /pair #N member new";

/// Who made a code.
fn made_by(issuer: Option<&str>) -> String {
    match issuer {
        Some(name) => format!("a code that {name} made"),
        None => "a code made on the computer".to_owned(),
    }
}

/// A code let a person in.
pub fn let_in(name: &str, role: &'static str, address: &str, issuer: Option<&str>) -> ProgramText {
    ProgramText::message(format!(
        "**{name}** is in now as {role}, from {address}, with {}. If that is wrong: /remove {name}",
        made_by(issuer)
    ))
}

/// A code linked an address.
pub fn linked(name: &str, address: &str, id: AddressId, issuer: Option<&str>) -> ProgramText {
    ProgramText::message(format!(
        "**{name}** has a new address, {address}, with {}. If that is wrong: /people unlink {id}",
        made_by(issuer)
    ))
}

/// A code gave a person a higher role.
pub fn promoted(name: &str, role: &'static str, address: &str) -> ProgramText {
    ProgramText::message(format!(
        "**{name}** is {role} now, by a code made on the computer and used from {address}. If that is wrong: /remove {name}"
    ))
}

/// The configuration let somebody in.
pub fn configured(name: &str, role: &'static str) -> ProgramText {
    ProgramText::message(format!(
        "**{name}** is in now as {role}: the configuration says so. If that is wrong, delete the entry under [[people]] and restart."
    ))
}

/// The configuration gave a person another address.
pub fn configured_address(name: &str, address: &str) -> ProgramText {
    ProgramText::message(format!(
        "**{name}** has a new address, {address}: the configuration says so. If that is wrong, correct the entry under [[people]] and restart."
    ))
}

/// The configuration names somebody as an earlier person was named.
pub fn namesake(name: &str, id: PersonId) -> ProgramText {
    ProgramText::message(format!(
        "The configuration names **{name}** with other addresses than the {name} of before, so this counts as somebody new, who is shown nothing of \
         the other's. If both are one person: /people join {id}. If not: /people apart {id}"
    ))
}

/// A name to be paired was borne by removed people.
pub fn same_or_new(name: &str, listed: &str) -> String {
    format!(
        "{name} was let in here before:\n{listed}\n\nThe same person, or somebody new? The same one finds everything again that was said and kept; somebody new sees nothing of it. No code is made yet."
    )
}

/// The same at a terminal, under the list of those people.
pub const ASK_SAME_OR_NEW: &str = "They were let in here before. The same person finds everything again that was said and kept; somebody new sees nothing of it.\nThe number of the person, or new: ";
/// Neither was said.
pub const NOT_ANSWERED: &str = "That is neither a number from the list nor new. No code was made.";

/// One of those people.
pub fn former(id: PersonId, name: &str, role: &str, since: &str, until: &str) -> String {
    format!("- person {id}: {name}, {role}, in from {since} to {until}")
}

/// How the question is answered in the chat.
pub fn answer_in_chat(id: PersonId, role: &str) -> String {
    format!("/pair #{id} {role} same, or /pair #{id} {role} new")
}

/// How the question is answered on the command line.
pub fn answer_on_command_line(name: &str, id: PersonId, role: &str) -> String {
    format!("`compline people pair {name:?} --role {role} --same-as {id}`, or with `--new` instead of `--same-as {id}`")
}

/// Button: one of several.
pub fn same_as(id: PersonId) -> String {
    format!("The same as {id}")
}

/// A code for a person who was removed.
pub fn comes_back(name: &str, role: &str) -> String {
    format!("This code lets {name} in again, as {role}: the same person, with everything that was said and kept.")
}

/// A code that gives a higher role.
pub fn promotes(name: &str, from: &str, to: &str, is_configured: bool) -> String {
    let wins = if is_configured {
        format!(" The configuration says {from} and wins at the next start: change `role` there too.")
    } else {
        String::new()
    };
    format!(
        "{name} is in as {from}. This code makes {name} {to}, and adds the address that it is sent from if that is a new one.{wins}"
    )
}

/// How a code is used.
pub fn how_to_use(code: &str, valid: Duration) -> String {
    format!(
        "It is good once, for {}. Send me, from the address that it is for:\n\n```\n/start {code}\n```",
        span(valid)
    )
}

/// The code of one's own promotion was given.
pub fn you_are(role: &'static str) -> ProgramText {
    ProgramText::message(format!("You are {role} now."))
}

/// There is no such person to answer about.
pub fn no_such_former(id: PersonId) -> String {
    format!("No removed person has the number {id}.")
}

/// There is no such address.
pub fn no_such_address(id: AddressId) -> String {
    format!("No address of anybody has the number {id}. /people shows the numbers.")
}

/// The address stands in the configuration.
pub fn address_in_configuration(name: &str) -> String {
    format!("That address of {name} stands in the configuration, which wins: delete it there and restart.")
}

/// The one place where the only owner is reached.
pub const LAST_ADDRESS: &str = "That is the only address of the only owner. Link another one first.";

/// An address is a stranger's again.
pub fn unlinked(name: &str, address: &str) -> String {
    format!("{address} is no address of {name} any more. Open codes of {name} are void.")
}

/// Nobody asks whether that person is an earlier one.
pub fn nothing_to_join(id: PersonId) -> String {
    format!("There is no earlier person whom person {id} could be.")
}

/// Something of theirs is still being answered.
pub fn join_later(name: &str) -> String {
    format!("{name} is still being answered. Try again when that is done.")
}

/// Two people of one name are one.
pub fn joined(name: &str, folders_left: &[String]) -> String {
    let left = folders_left.iter().map(|folder| {
        format!(" Files that were kept meanwhile lie in `{folder}/` in the workspace, where they are not read: move what is to stay by hand.")
    });
    format!("{name} is the same person as before, with everything that was said and kept.{}", left.collect::<String>())
}

/// They are not.
pub fn apart(name: &str) -> String {
    format!("{name} is somebody new. What the earlier {name} said is kept, and shown to nobody.")
}

/// What `/people` says of an open question.
pub fn open_namesake(name: &str, id: PersonId) -> String {
    format!("Is {name} (person {id}) the same person as the earlier {name}? /people join {id}, or /people apart {id}")
}
