//! Sentences about what in a conversation came from outside, and what its person vouches for.

use super::language::{Language, Sentence, say};
use super::tool::{MAX_NAME, in_code, may_differ};
use crate::text::shorten;

/// Maximum number of characters of a list of sources in a sentence.
const SOURCES: usize = 300;

/// No conversation is open.
pub const NO_CONVERSATION: Sentence = Sentence("trust-no-conversation");
/// Nothing in the conversation is untrusted.
pub const NOTHING_FROM_OUTSIDE: Sentence = Sentence("trust-nothing");
/// First line of the list.
pub const HEAD: Sentence = Sentence("trust-head");
/// State of an item that can be vouched for.
pub const OPEN: Sentence = Sentence("trust-open");
/// State of an item that was vouched for.
pub const VOUCHED: Sentence = Sentence("trust-vouched");
/// State of an item that another person wrote.
pub const FOREIGN: Sentence = Sentence("trust-foreign");
/// There is no item of that number.
pub const NO_SUCH_ITEM: Sentence = Sentence("trust-no-such-item");
/// The code does not belong to what is there.
pub const WRONG_CODE: Sentence = Sentence("trust-wrong-code");
/// Refusal to vouch for something forwarded.
pub const NOT_YOURS: Sentence = Sentence("trust-not-yours");
/// Refusal to vouch for a file that is not read yet.
pub const NOT_READ_YET: Sentence = Sentence("trust-not-read-yet");
/// Refusal to vouch for a file without text.
pub const CANNOT_SHOW: Sentence = Sentence("trust-cannot-show");
/// Refusal to vouch for a long text.
pub const TOO_LONG: Sentence = Sentence("trust-too-long");
/// Title of the button.
pub const BUTTON: Sentence = Sentence("button-trust");
/// Nothing was allowed in this conversation.
pub const NOTHING_TO_TAKE_BACK: Sentence = Sentence("trust-nothing-to-take-back");
/// A file without a name.
pub const UNNAMED: Sentence = Sentence("trust-unnamed");
/// A picture that stands in the chat above.
pub const PICTURE: Sentence = Sentence("trust-picture");

/// An item that the person sent.
pub fn item(number: usize, at: &str, what: &str, state: &str) -> String {
    format!("{number}. {at}: {what} ({state})")
}

/// A file of which only some lines came from outside.
pub fn file(language: Language, path: &str) -> String {
    say!(language, "trust-file", path = path)
}

/// Text that came in otherwise.
pub fn others(language: Language, sources: &str) -> String {
    say!(language, "trust-others", sources = shorten(sources, SOURCES))
}

/// Instruction for vouching for an item.
pub const HOW: Sentence = Sentence("trust-how");

/// A tool that is used without a question, and the arguments that may differ.
pub fn tool(language: Language, name: &str, left: Option<u32>, varying: &[String]) -> String {
    let varying = if varying.is_empty() { String::new() } else { format!(" ({})", may_differ(language, varying)) };
    let name = format!("{}{varying}", in_code(name));
    match left {
        None => say!(language, "trust-tool", name = name),
        Some(left) => say!(language, "trust-tool-times", name = name, count = left),
    }
}

/// A host, recipient or other value that was allowed although no loaded skill names it.
pub fn destination(language: Language, name: &str) -> String {
    say!(language, "trust-destination", name = in_code(&shorten(name, MAX_NAME)))
}

/// Above the content of an item.
pub fn shown_head(language: Language, at: &str, what: &str) -> String {
    say!(language, "trust-shown", at = at, what = what)
}

/// Below the content of an item.
pub fn how_to_vouch(language: Language, number: usize, code: &str) -> String {
    say!(language, "trust-how-to-vouch", number = number, code = code)
}

/// A person vouches for an item.
pub fn vouched(language: Language, what: &str) -> String {
    say!(language, "trust-vouched-now", what = what)
}

/// All grants of a conversation were taken back.
pub fn taken_back(language: Language, count: usize) -> String {
    say!(language, "trust-taken-back", count = count)
}

/// Sources of a conversation, for the status.
pub fn status(language: Language, sources: &str) -> String {
    format!("  {}", say!(language, "status-read", sources = shorten(sources, SOURCES)))
}

/// A loaded skill with the hosts and recipients that it names, for the status.
pub fn loaded_skill(language: Language, name: &str, names: &[String]) -> String {
    match names {
        [] => say!(language, "status-skill-without-names", name = name),
        names => format!("{name} ({})", names.join(", ")),
    }
}

/// The loaded skills of a conversation, for the status.
pub fn loaded_skills(language: Language, skills: &[String]) -> String {
    format!("  {}", say!(language, "status-skills", skills = skills.join("; ")))
}
