//! Text about archives of other programs.

use std::path::Path;

use super::cli::with_fix;
use super::upkeep::plural;

/// Name for the person who exported an archive. Nothing proves that they wrote it.
pub const USER: &str = "User";
/// Name of the assistant in ChatGPT's archive.
pub const CHATGPT: &str = "ChatGPT";
/// Name of the assistant in Claude's archive.
pub const CLAUDE: &str = "Claude";
/// Name of a sender without a name.
pub const NOBODY: &str = "Unknown";
/// Title of a conversation without one.
pub const UNTITLED: &str = "Without a title";

/// Error: the form of an archive is unknown.
pub const NOT_RECOGNISED: &str = "it holds no conversations in a form that I know: I read ChatGPT's and Claude's exports and Telegram's export as JSON";
/// Error: a zip file is damaged.
pub const DAMAGED: &str = "the zip file is damaged, or its download was cut off";
/// Error: a zip file has a password.
pub const LOCKED: &str = "the zip file is locked with a password: unpack it first";
/// Error: a JSON file ends early.
pub const CUT_OFF: &str = "the file ends in the middle: its download was cut off";
/// Error: a limit.
pub const TOO_LARGE: &str =
    "it is too large: one conversation may take 64 MiB, and the whole 16 GiB when it is unpacked";
/// Error: a zip file that grows too much.
pub const BOMB: &str = "it grows two hundredfold when it is unpacked, which no export does";

/// Error: a file is not JSON.
pub fn not_json(line: usize, column: usize) -> String {
    format!("it is not valid JSON in UTF-8 at line {line}, column {column}")
}

/// Words of a message with the name of their writer.
pub fn said_by(speaker: &str, words: &str) -> String {
    format!("{speaker}: {words}")
}

/// Name of a person who forwarded the words of another.
pub fn forwarded(from: &str, first: &str) -> String {
    format!("{from} (forwarded from {first})")
}

/// First line of an imported conversation.
pub fn titled(kind: &str, title: &str) -> String {
    format!("{title} ({})", program(kind))
}

/// Name of the program of an archive.
pub fn program(kind: &str) -> &'static str {
    match kind {
        "chatgpt" => "ChatGPT",
        "claude" => "Claude",
        _ => "Telegram",
    }
}

/// Speaker of an imported message.
pub fn imported_from(kind: &str) -> String {
    format!("imported from {}", program(kind))
}

/// Error: an archive cannot be read.
pub fn cannot_read(path: &Path, why: &str) -> String {
    let fix = "nothing was imported; export or download it again, or name another file";
    with_fix(&format!("{} cannot be imported: {why}", path.display()), fix)
}

/// Error: an archive comes from another program than was said.
pub fn other_kind(path: &Path, found: &str) -> String {
    let fix = format!("leave the kind out, or say `{found}`; nothing was imported");
    with_fix(&format!("{} is an export of {}", path.display(), program(found)), &fix)
}

/// Error: an import broke off.
pub fn broke_off(path: &Path, why: &str) -> String {
    let fix = "run the same command again to complete it, or remove it with `compline import remove`";
    with_fix(&format!("The import of {} broke off: {why}", path.display()), fix)
}

/// What an archive holds, and what of it is skipped.
pub fn holds(kind: &str, conversations: usize, messages: usize, days: Option<(&str, &str)>) -> String {
    let days = days.map(|(from, to)| format!(", from {from} to {to}")).unwrap_or_default();
    format!(
        "{} export: {} with {}{days}.",
        program(kind),
        plural(conversations, "conversation", "conversations"),
        plural(messages, "message", "messages"),
    )
}

/// A line about what was skipped.
pub fn skipped(count: usize, reason: &str) -> String {
    let what = match reason {
        "unknown" => plural(count, "entry in an unknown form", "entries in an unknown form"),
        "other_version" => plural(count, "earlier version of a message", "earlier versions of messages"),
        "not_said" => plural(count, "message of the program itself", "messages of the program itself"),
        "file" => plural(count, "picture or other file", "pictures and other files"),
        _ => plural(count, "end of a message over 256 KiB", "ends of messages over 256 KiB"),
    };
    format!("- skipped: {what}")
}

/// Result of a dry run.
pub fn would_add(new: usize) -> String {
    format!("Nothing was imported. {} would be new.", plural(new, "message", "messages"))
}

/// Result of an import.
pub fn added(id: impl std::fmt::Display, new: usize, person: &str, may_embed: bool) -> String {
    let embedded = if may_embed { "" } else { ", and is not sent to an embedding server" };
    format!(
        "Import {id}: {} added for {person}. It counts as text from outside{embedded}. `compline import remove {id}` deletes it.",
        plural(new, "message", "messages"),
    )
}

/// Result of an import that brought nothing.
pub const NOTHING_NEW: &str = "Nothing new: all of it was imported before.";

/// The list of imports is empty.
pub const NONE: &str = "Nothing was imported.";

/// A line of the list of imports.
pub fn line(
    id: impl std::fmt::Display,
    kind: &str,
    name: &str,
    person: &str,
    at: &str,
    (conversations, messages): (i64, i64),
    state: &str,
) -> String {
    let state = match state {
        "open" => " (cut off: import it again to complete it)",
        "leaving" => " (being removed)",
        _ => "",
    };
    let (conversations, messages) =
        (usize::try_from(conversations).unwrap_or(0), usize::try_from(messages).unwrap_or(0));
    format!(
        "{id}. {}, {name}, for {person}, {at}: {}, {}{state}",
        program(kind),
        plural(conversations, "conversation", "conversations"),
        plural(messages, "message", "messages"),
    )
}

/// Error: no such import.
pub fn no_such(id: impl std::fmt::Display) -> String {
    with_fix(&format!("There is no import {id}"), "`compline import list` shows them")
}

/// Result of a removal.
pub fn removed(id: impl std::fmt::Display, messages: usize) -> String {
    format!("Import {id} is removed: {} deleted.", plural(messages, "message", "messages"))
}

/// Question before a removal.
pub fn confirm_removal(id: impl std::fmt::Display) -> String {
    format!("This deletes all that import {id} brought, permanently. Type yes to go on: ")
}

/// Error: a removal needs a yes.
pub const REMOVAL_NEEDS_YES: &str = "A removal is permanent.\nfix: add --yes";
/// A removal was not confirmed.
pub const NOT_REMOVED: &str = "Nothing was removed.";
/// Error: no archive is named.
pub const NO_ARCHIVE: &str = "There is no archive to import.\nfix: name its file or folder";
/// Error: the name of a file is not UTF-8.
pub const ODD_NAME: &str = "its name is not in UTF-8";

/// Error: an unknown kind of archive.
pub fn no_such_kind(kind: &str) -> String {
    with_fix(&format!("`{kind}` is no kind of archive"), "say chatgpt, claude or telegram, or leave it out")
}

/// Progress of an import.
pub const IMPORTING: &str = "Importing";
/// Progress of a removal.
pub const REMOVING: &str = "Removing";
