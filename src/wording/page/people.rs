//! Sentences about people, their access, and one's own account on the page.

/// An empty list of strangers.
pub const NOBODY_KNOCKED: &str = "Nobody without access has written.";
/// Remark above the strangers.
pub const ANYONE_TAKES_ANY_NAME: &str = "Anyone can take any name; the address counts.";
/// Remark above the form that makes a code.
pub const HOW_PAIRING_WORKS: &str = "This makes a code that the person sends to the assistant, from any channel. It is \
    shown once. For someone who is in the list already it adds an address.";
/// Remark above a code.
pub const SHOWN_ONCE: &str =
    "The code is shown only now. Loading this page again makes another one, and this one void.";
/// Remark below a drawn code.
pub const SCAN: &str = "A telephone's camera opens the chat.";
/// A person without an address.
pub const NO_ADDRESS: &str = "No address yet.";
/// Refusal: the person was removed meanwhile.
pub const GONE: &str = "Nothing was changed: this person has no access any more.";
/// Refusal: the address was unlinked meanwhile.
pub const ADDRESS_GONE: &str = "Nothing was changed: this is no address of the person any more.";
/// Heading of the removal.
pub const REMOVE: &str = "Revoke access";
/// Remark about the deletion of a person's data.
pub const HOW_TO_FORGET: &str = "To delete what was said and kept, use `compline forget` on the computer.";
/// Remark above a hand-over.
pub const BOTH_WAIT: &str = "It waits for no message: while one of the two is being answered, nothing is changed.";
/// Remark above the export.
pub const ABOUT_EXPORT: &str = "One file with everything that is kept about you: conversations, memory, files, \
    reminders and settings. It can be opened without this program.";
/// Remark about being forgotten.
pub const TO_BE_FORGOTTEN: &str = "To delete everything about you, ask an owner: it is done on the computer.";
/// Remark above the code for one's own other address.
pub const HOW_LINKING_WORKS: &str =
    "A code links another of your addresses, such as a second telephone. Send it from there.";

/// Effect of revoking the access of a person.
pub fn removal(name: &str, browsers: usize) -> String {
    let browsers = match browsers {
        0 => String::new(),
        1 => " Their browser is signed out.".to_owned(),
        count => format!(" Their {count} browsers are signed out."),
    };
    format!(
        "{name} can no longer write to the assistant or sign in, from any address. An answer in progress stops; unused \
         codes and open questions are void.{browsers} What was said and kept stays, and is shown to nobody else; it \
         comes back when the same person is let in again."
    )
}

/// The question which person a name means.
pub fn same_or_new(name: &str) -> String {
    format!(
        "{name} had access before. Is this the same person, or someone else? The same person gets back everything that \
         was said and kept; someone else sees none of it. No code has been made yet."
    )
}

/// Title of the button for a removed person.
pub fn same_person(role: &str, since: &str, until: &str) -> String {
    format!("The same person, {role} from {since} to {until}")
}

/// Question about a person whom the configuration names.
pub fn same_as_earlier(name: &str) -> String {
    format!("Is {name} the same person as the earlier {name}?")
}

/// Number of messages of a stranger.
pub fn times(count: i64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}
