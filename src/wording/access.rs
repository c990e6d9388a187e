//! Text about access: people, addresses and their joins, and the hand-over of the workspace root.

use std::time::Duration;

use super::ProgramText;
use super::language::{Language, say};
use super::review::Surface;
use crate::id::{AddressId, PersonId, StrangerId};
use crate::message::{StartLink, StartWay};

/// Title of the button that undoes the change.
pub const UNDO: &str = "Undo";
/// Title of the button that confirms the same person.
pub const SAME_PERSON: &str = "The same person";
/// Title of the button that denies it.
pub const SOMEBODY_NEW: &str = "Someone else";

/// Title of the button that gives a stranger access.
pub const LET_IN: &str = "Let in";
/// Title of the button that ignores a stranger.
pub const IGNORE: &str = "Ignore";

/// A stranger, by the name that the channel tells and the address.
pub fn stranger(name: &str, address: &str) -> String {
    if name.is_empty() { address.to_owned() } else { format!("“{name}” ({address})") }
}

/// Notice: a stranger wrote.
pub fn stranger_wrote(stranger: &str) -> String {
    format!("{stranger} wrote to me and has no access. Anyone can take any name; the number counts.")
}

/// Reply: name and role of a stranger are asked for.
pub fn ask_name(stranger: &str, id: StrangerId) -> String {
    format!(
        "What shall I call {stranger}? Send `/people admit {id} NAME`, or `/people admit {id} NAME owner` for an owner, who can do everything here."
    )
}

/// Reply: a stranger has access now.
pub fn admitted(name: &str, role: &str, address: &str) -> String {
    format!("**{name}** now has access as {role}, from {address}. If that is wrong: /remove {name}")
}

/// Notice: a stranger was given access.
pub fn admitted_by(name: &str, role: &str, address: &str, by: Option<&str>) -> ProgramText {
    let by = by.unwrap_or("someone at the computer");
    ProgramText::message(format!(
        "**{name}** now has access as {role}, from {address}, let in by {by}. If that is wrong: /remove {name}"
    ))
}

/// Reply: a stranger is ignored.
pub fn ignored(address: &str) -> String {
    format!("I ignore {address} from now on, and have deleted the name.")
}

/// Error: no stranger has this number.
pub fn no_such_stranger(id: StrangerId) -> String {
    format!("No stranger has the number {id}. The list of people shows the numbers.")
}

/// Error: a stranger cannot be an existing or earlier person.
pub fn name_taken(name: &str) -> String {
    format!(
        "There is or was someone named {name}. Choose another name; if it is the same person, /pair {name} makes a code for them."
    )
}

/// Issuer of a code.
fn made_by(issuer: Option<&str>) -> String {
    match issuer {
        Some(name) => format!("a code that {name} made"),
        None => "a code made on the computer".to_owned(),
    }
}

/// Notice: a code granted a person access.
pub fn let_in(name: &str, role: &'static str, address: &str, issuer: Option<&str>) -> ProgramText {
    ProgramText::message(format!(
        "**{name}** now has access as {role}, from {address}, with {}. If that is wrong: /remove {name}",
        made_by(issuer)
    ))
}

/// Notice: a code linked an address.
pub fn linked(name: &str, address: &str, id: AddressId, issuer: Option<&str>) -> ProgramText {
    ProgramText::message(format!(
        "**{name}** has a new address, {address}, with {}. If that is wrong: /people unlink {id}",
        made_by(issuer)
    ))
}

/// Notice: a code gave a person a higher role.
pub fn promoted(name: &str, role: &'static str, address: &str) -> ProgramText {
    ProgramText::message(format!(
        "**{name}** is now {role}, through a code made on the computer and used from {address}. If that is wrong: /remove {name}"
    ))
}

/// Notice: the configuration granted a person access.
pub fn configured(name: &str, role: &'static str) -> ProgramText {
    ProgramText::message(format!(
        "**{name}** now has access as {role} through the configuration. If that is wrong, delete the entry under [[people]] and run `compline reload`."
    ))
}

/// Notice: the configuration added an address.
pub fn configured_address(name: &str, address: &str) -> ProgramText {
    ProgramText::message(format!(
        "**{name}** has a new address, {address}, from the configuration. If that is wrong, correct the entry under [[people]] and run `compline reload`."
    ))
}

/// Notice: a configured person has the name of an earlier one.
pub fn namesake(name: &str, id: PersonId) -> ProgramText {
    ProgramText::message(format!(
        "The configuration gives **{name}** different addresses from the earlier {name}, so this counts as a new person, who sees nothing of \
         the earlier one's. If they are the same person: /people join {id}. If not: /people apart {id}"
    ))
}

/// Question: the name to be paired belonged to removed people.
pub fn same_or_new(name: &str, listed: &str) -> String {
    format!(
        "{name} had access before:\n{listed}\n\nIs this the same person, or someone else? The same person gets back everything that was said and kept; someone else sees none of it. No code has been made yet."
    )
}

/// The same question on the command line, below the list of those people.
pub const ASK_SAME_OR_NEW: &str = "They had access before. The same person gets back everything that was said and kept; someone else sees none of it.\nThe number of the person, or new: ";
/// Error: neither a listed number nor `new`.
pub const NOT_ANSWERED: &str = "That is neither a number from the list nor new. No code was made.";

/// A removed person in the list.
pub fn former(id: PersonId, name: &str, role: &str, since: &str, until: &str) -> String {
    format!("- person {id}: {name}, {role}, from {since} to {until}")
}

/// Answers to the question, as chat commands.
pub fn answer_in_chat(id: PersonId, role: &str) -> String {
    format!("/pair #{id} {role} same, or /pair #{id} {role} new")
}

/// Answers to the question, on the command line.
pub fn answer_on_command_line(name: &str, id: PersonId, role: &str) -> String {
    format!("`compline people pair {name:?} --role {role} --same-as {id}`, or with `--new` instead of `--same-as {id}`")
}

/// Title of the button for one of several people.
pub fn same_as(id: PersonId) -> String {
    format!("The same as {id}")
}

/// Note that the code readmits a removed person.
pub fn comes_back(name: &str, role: &str) -> String {
    format!("This code gives {name} access again, as {role}: the same person, with everything that was said and kept.")
}

/// Note that the code gives a higher role.
pub fn promotes(name: &str, from: &str, to: &str, is_configured: bool) -> String {
    let wins = if is_configured {
        format!(" The configuration says {from} and wins at the next start or reload: change `role` there too.")
    } else {
        String::new()
    };
    format!(
        "{name} has access as {from}. This code makes {name} {to}, and links the address it is sent from if that is new.{wins}"
    )
}

/// Instructions for using a code, to be passed on.
pub fn how_to_use(language: Language, code: &str, valid: Duration, ways: &[StartWay]) -> String {
    let way = |StartWay { channel, account, link }: &StartWay| match link {
        Some(StartLink::WithCode(link)) => say!(language, "code-open", channel = *channel, link = link.as_str()),
        Some(StartLink::Chat(link)) => {
            say!(language, "code-send-in-chat", channel = *channel, account = account.as_str(), link = link.as_str())
        }
        None => say!(language, "code-send", channel = *channel, account = account.as_str()),
    };
    let ways = match ways {
        [] => say!(language, "code-send-anywhere"),
        ways => ways.iter().map(way).collect::<Vec<_>>().join("\n"),
    };
    let valid = say!(language, "code-valid", time = language.span(valid));
    format!("{valid}\n\n{ways}\n\n```\n/start {code}\n```")
}

/// Note that the code links another address of its own person.
pub fn links_you(language: Language, name: &str) -> String {
    say!(language, "code-links-you", name = name)
}

/// Reply to a code that raises the sender's own role.
pub fn you_are(language: Language, role: &'static str) -> ProgramText {
    ProgramText::message(say!(language, "role-raised", role = role))
}

/// Error: no removed person has this number.
pub fn no_such_former(id: PersonId) -> String {
    format!("No removed person has the number {id}.")
}

/// Error: no address has this number.
pub fn no_such_address(id: AddressId) -> String {
    format!("No address has the number {id}. The list of people shows the numbers.")
}

/// Error: the configuration contains the address.
pub fn address_in_configuration(name: &str) -> String {
    format!(
        "That address of {name} is set in the configuration, which takes precedence: delete it there and run `compline reload`."
    )
}

/// Error: the only owner's only address cannot be unlinked.
pub const LAST_ADDRESS: &str = "That is the only address of the only owner. Link another one first.";

/// Reply to an unlinked address.
pub fn unlinked(name: &str, address: &str) -> String {
    format!("{address} is no longer linked to {name}. Unused codes for {name} are void.")
}

/// Error: no such question is open.
pub fn nothing_to_join(id: PersonId) -> String {
    format!("There is no earlier person to join person {id} with.")
}

/// Error: a message of the person is still being answered.
pub fn join_later(name: &str) -> String {
    format!("{name} is still being answered. Try again when that is done.")
}

/// Reply: two people were merged.
pub fn joined(name: &str, folders_left: &[String]) -> String {
    let left = folders_left.iter().map(|folder| {
        format!(" Files kept in the meantime are in `{folder}/` in the workspace and are not read: move what you need by hand.")
    });
    format!("{name} is the same person as before, with everything that was said and kept.{}", left.collect::<String>())
}

/// Reply: two people remain separate.
pub fn apart(name: &str) -> String {
    format!("{name} is a new person. What the earlier {name} said is kept, but shown to nobody.")
}

/// Open question about a name, in `/people`.
pub fn open_namesake(name: &str, id: PersonId, surface: Surface) -> String {
    let command = |line: String| surface.command(&line, &line);
    let (join, apart) = (command(format!("people join {id}")), command(format!("people apart {id}")));
    format!("Is {name} (person {id}) the same person as the earlier {name}? {join}, or {apart}")
}

/// Error: the root has no owner yet.
pub const NO_OWNER: &str = "The workspace belongs to nobody yet. Its first owner gets it.";
/// Error: work for one of the two people is in progress.
pub const HAND_OVER_BUSY: &str =
    "Nothing was changed: work for one of the two is still in progress. Try again in a moment.";
/// Error: no terminal to confirm at.
pub const HAND_OVER_NEEDS_YES: &str = "A hand-over has to be confirmed: run it in a terminal, or with --yes.";
/// Question for confirmation.
pub const CONFIRM_HAND_OVER: &str = "Do it? Type yes: ";
/// Reply to an answer other than yes.
pub const HAND_OVER_NOT_CONFIRMED: &str = "Nothing was changed.";
/// Progress: files are being moved.
pub const MOVING_FILES: &str = "Moving files";

/// Error: the person owns the root already.
pub fn owns_root_already(name: &str) -> String {
    format!("The root of the workspace belongs to {name} already.")
}

/// Error: the person is not an owner.
pub fn not_an_owner(name: &str) -> String {
    format!("{name} is not an owner, and only an owner can have the root of the workspace.")
}

/// Error: an entry at the top of the workspace is a link or a special file.
pub fn unmovable(path: &str) -> String {
    format!(
        "Nothing was changed: {path} in the workspace is a link, or neither a file nor a folder. Put what it leads to in its place, or remove it."
    )
}

/// Head of the effects of a hand-over, before it is confirmed.
pub fn hand_over_head(from: &str, to: &str) -> String {
    format!("The root of the workspace belongs to {from}. Handed over to {to}:")
}

/// Effects of a hand-over.
pub fn hand_over_effects(from: &str, to: &str, from_folder: &str, new_owner_folder: &str) -> [String; 3] {
    [
        format!("The files of {from} (memory, USER.md, HEARTBEAT.md, notes, received files) go to {from_folder}/."),
        format!(
            "The files of {to} go from {new_owner_folder}/ to the root, and HEARTBEAT.md there is theirs from then on."
        ),
        "AGENTS.md and SOUL.md stay where they are, for everybody.".to_owned(),
    ]
}

/// Remark: limits of a hand-over.
pub const HAND_OVER_KEEPS: &str = "Files are moved, not changed, and neither is shown the other's.";

/// Instruction for confirming a hand-over in a chat.
pub fn how_to_hand_over(to: &str) -> String {
    format!("To do it, send `/people handover {to} yes`.")
}

/// Result: handed over.
pub fn handed_over(from: &str, to: &str, from_folder: &str) -> ProgramText {
    ProgramText::message(format!(
        "The root of the workspace belongs to {to} from now on. The files of {from} lie in `{from_folder}/`."
    ))
}
