//! Sentences about what in a conversation came from outside, and what its person vouches for.

use super::tool::in_code;
use crate::text::shorten;

/// Maximum number of characters of a list of sources in a sentence.
const SOURCES: usize = 300;

/// No conversation is open.
pub const NO_CONVERSATION: &str =
    "No conversation is open, so nothing from outside is in it. Send a message, and ask again.";
/// Nothing in the conversation is untrusted.
pub const NOTHING_FROM_OUTSIDE: &str = "Nothing from outside is in this conversation.";
/// First line of the list.
pub const HEAD: &str = "In this conversation is text from outside, so I ask before I send something, write a note or set \
     a reminder. `/new` starts without it.";
/// State of an item that can be vouched for.
pub const OPEN: &str = "not trusted";
/// State of an item that was vouched for.
pub const VOUCHED: &str = "you vouch for it";
/// State of an item that somebody else wrote.
pub const FOREIGN: &str = "forwarded or written by others: it stays from outside";
/// There is no item of that number.
pub const NO_SUCH_ITEM: &str = "You sent nothing of that number in this conversation. `/trust` lists what you sent.";
/// The code does not belong to what is there.
pub const WRONG_CODE: &str = "That code belongs to something else. `/trust NUMBER` shows what you sent, with its code.";
/// Refusal to vouch for something forwarded.
pub const NOT_YOURS: &str = "That was forwarded or written by others, so it stays from outside. Tell me in your own words what I \
     should know of it.";
/// Refusal to vouch for a file that is not read yet.
pub const NOT_READ_YET: &str = "I have not read that file yet. Ask again when I have answered.";
/// Refusal to vouch for a file without text.
pub const CANNOT_SHOW: &str = "I can show you neither text nor picture of that file, so it stays from outside.";
/// Refusal to vouch for a long text.
pub const TOO_LONG: &str =
    "That is too long to be shown here whole, and nobody should vouch for what they have not read.";
/// Title of the button.
pub const BUTTON: &str = "Trust this here";
/// Nothing was allowed in this conversation.
pub const NOTHING_TO_TAKE_BACK: &str = "You allow nothing special in this conversation.";
/// A file without a name.
pub const UNNAMED: &str = "a file without a name";
/// A picture that stands in the chat above.
pub const PICTURE: &str = "the picture above";

/// An item that the person sent.
pub fn item(number: usize, at: &str, what: &str, state: &str) -> String {
    format!("{number}. {at}: {what} ({state})")
}

/// Text that came in otherwise.
pub fn others(sources: &str) -> String {
    format!("Not from you, and never trusted here: {}.", shorten(sources, SOURCES))
}

/// How to vouch for an item.
pub const HOW: &str = "`/trust NUMBER` shows what you sent once more and lets you vouch for it.";

/// A tool that is used without a question.
pub fn tool(name: &str, left: Option<u32>) -> String {
    let left = left.map_or_else(|| "until /new".to_owned(), |left| format!("{left} more times"));
    format!("Without a question: {}, {left}. `/trust off` takes it back.", in_code(name))
}

/// A host or recipient that was allowed although no loaded skill names it.
pub fn destination(name: &str) -> String {
    format!("Not named by a loaded skill, and allowed until /new: {}. `/trust off` takes it back.", in_code(name))
}

/// Above the content of an item.
pub fn shown_head(at: &str, what: &str) -> String {
    format!("You sent this on {at}: {what}.")
}

/// Below the content of an item.
pub fn how_to_vouch(number: usize, code: &str) -> String {
    format!(
        "`/trust {number} {code}` makes it count as yours in this conversation: I may then take notes and set reminders \
         from it without asking. Before anything leaves I still ask. `/trust off` takes it back."
    )
}

/// A person vouches for an item.
pub fn vouched(what: &str) -> String {
    format!("From now on {what} counts as yours in this conversation. Before anything leaves I still ask.")
}

/// All grants of a conversation were taken back.
pub fn taken_back(count: usize) -> String {
    let what = if count == 1 { "It is".to_owned() } else { format!("All {count} are") };
    format!("{what} taken back: I ask again from now on.")
}

/// What a conversation has read, for the status.
pub fn status(sources: &str) -> String {
    format!(
        "  It has read {}. Until /new I ask before I send, note or remind; /trust shows more.",
        shorten(sources, SOURCES)
    )
}

/// A loaded skill with the hosts and recipients that it names, for the status.
pub fn loaded_skill(name: &str, names: &[String]) -> String {
    match names {
        [] => format!("{name} (names no host)"),
        names => format!("{name} ({})", names.join(", ")),
    }
}

/// The loaded skills of a conversation, for the status.
pub fn loaded_skills(skills: &[String]) -> String {
    format!("  Loaded skills: {}. Until /new I ask before anything goes to another host.", skills.join("; "))
}
