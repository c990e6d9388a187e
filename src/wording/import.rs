//! Text about archives of other programs.

use std::path::Path;

use super::cli::with_fix;
use super::language::{Language, say};
use super::upkeep::plural;

/// Name for the person who exported an archive. Nothing proves that they wrote it.
pub const USER: &str = "User";
/// Name of the assistant in ChatGPT's archive.
pub const CHATGPT: &str = "ChatGPT";
/// Name of the assistant in Claude's archive.
pub const CLAUDE: &str = "Claude";
/// Name of the assistant in OpenClaw's sessions.
pub const OPENCLAW: &str = "OpenClaw";
/// Name of a sender without a name.
pub const NOBODY: &str = "Unknown";
/// Title of a conversation without one.
pub const UNTITLED: &str = "Without a title";

/// Error: the form of an archive is unknown.
pub const NOT_RECOGNISED: &str = "it holds nothing in a form that I know: I read ChatGPT's and Claude's exports, Telegram's export as JSON, and the folders of OpenClaw and Carpenter";
/// Error: a zip file is damaged.
pub const DAMAGED: &str = "the zip file is damaged, or its download was cut off";
/// Error: a zip file has a password.
pub const LOCKED: &str = "the zip file is locked with a password: unpack it first";
/// Error: a JSON file ends early.
pub const CUT_OFF: &str = "the file ends in the middle: its download was cut off";
/// Error: a limit.
pub const TOO_LARGE: &str =
    "it is too large: one conversation may take 64 MiB, and the whole 16 GiB when it is unpacked";
/// Error: a limit.
pub const TOO_MANY: &str = "a folder in it has more than 20,000 entries";
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
        "openclaw" => "OpenClaw",
        "carpenter" => "Carpenter",
        _ => "Telegram",
    }
}

/// Speaker of an imported message.
pub fn imported_from(language: Language, kind: &str) -> String {
    say!(language, "imported-from", program = program(kind))
}

/// Error: an archive cannot be read.
pub fn cannot_read(path: &Path, why: &str) -> String {
    let fix = "nothing was imported; export or download it again, or name another file";
    with_fix(&format!("{} cannot be imported: {why}", path.display()), fix)
}

/// Error: an archive comes from another program than was said.
pub fn other_kind(path: &Path, found: &str) -> String {
    let fix = format!("leave the kind out, or say `{found}`; nothing was imported");
    let what = if is_folder(found) { "a folder" } else { "an export" };
    with_fix(&format!("{} is {what} of {}", path.display(), program(found)), &fix)
}

/// Error: an import broke off.
pub fn broke_off(path: &Path, why: &str) -> String {
    let fix = "run the same command again to complete it, or remove it with `compline import remove`";
    with_fix(&format!("The import of {} broke off: {why}", path.display()), fix)
}

/// Returns true for a program of which a folder is read, not an export.
fn is_folder(kind: &str) -> bool {
    matches!(kind, "openclaw" | "carpenter")
}

/// Counts of conversations, messages, notes and skills, without those that a program cannot have.
fn counts((conversations, messages, notes, skills): (usize, usize, usize, usize), is_folder: bool) -> String {
    let talk = format!(
        "{} with {}",
        plural(conversations, "conversation", "conversations"),
        plural(messages, "message", "messages"),
    );
    let mut all = Vec::new();
    if is_folder {
        all.push(plural(notes, "note", "notes"));
        all.extend((skills > 0).then(|| plural(skills, "skill", "skills")));
    }
    all.extend((!is_folder || conversations > 0).then_some(talk));
    list(all)
}

/// Joins parts of a sentence.
fn list(mut parts: Vec<String>) -> String {
    let last = parts.pop().unwrap_or_default();
    if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) }
}

/// Progress of an import: conversations, messages, notes and skills.
pub fn so_far(brought: (usize, usize, usize, usize)) -> String {
    let (_, _, notes, skills) = brought;
    format!("{} so far", counts(brought, notes + skills > 0))
}

/// Contents of an archive: conversations, messages, notes and skills.
pub fn holds(kind: &str, held: (usize, usize, usize, usize), days: Option<(&str, &str)>) -> String {
    let days = days.map(|(from, to)| format!(", from {from} to {to}")).unwrap_or_default();
    let what = if is_folder(kind) { "folder" } else { "export" };
    format!("{} {what}: {}{days}.", program(kind), counts(held, is_folder(kind)))
}

/// A line about what was skipped, with some of the names.
pub fn skipped(count: usize, reason: &str, names: &[String]) -> String {
    let what = match reason {
        "unknown" => plural(count, "entry in an unknown form", "entries in an unknown form"),
        "other_version" => plural(count, "earlier version of a message", "earlier versions of messages"),
        "not_said" => plural(count, "message of the program itself", "messages of the program itself"),
        "file" => plural(count, "picture or other file", "pictures and other files"),
        "cut" => plural(count, "end of a message over 256 KiB", "ends of messages over 256 KiB"),
        "link" => plural(count, "link, which may lead elsewhere", "links, which may lead elsewhere"),
        "other_folder" => plural(count, "folder that holds no notes", "folders that hold no notes"),
        "hidden" => plural(count, "hidden name", "hidden names"),
        "odd_name" => plural(count, "name that is not in UTF-8", "names that are not in UTF-8"),
        "too_large" => plural(count, "file over its limit", "files over their limits"),
        "not_text" => plural(count, "file that is no text in UTF-8", "files that are no text in UTF-8"),
        "empty" => plural(count, "empty file", "empty files"),
        "unreadable" => plural(count, "file that cannot be read", "files that cannot be read"),
        "manual" => plural(count, "part that came with the program", "parts that came with the program"),
        "no_skill" => plural(count, "folder or file that is no skill", "folders and files that are no skills"),
        _ => plural(count, "file that is no Markdown", "files that are no Markdown"),
    };
    let more = if names.len() < count { ", …" } else { "" };
    let names = if names.is_empty() { String::new() } else { format!(" ({}{more})", names.join(", ")) };
    format!("- skipped: {what}{names}")
}

/// Messages and notes that are new, and skills for review.
fn new(messages: usize, notes: usize) -> String {
    let mut new = vec![plural(messages, "message", "messages"), plural(notes, "note", "notes")];
    new.truncate(if notes > 0 { 2 } else { 1 });
    if messages == 0 && notes > 0 {
        new.remove(0);
    }
    list(new)
}

/// Result of a dry run.
pub fn would_add(messages: usize, notes: usize, skills: usize) -> String {
    let skills = match skills {
        0 => String::new(),
        count => format!(" {} would be proposed for review.", plural(count, "skill", "skills")),
    };
    format!("Nothing was imported. {} would be new.{skills}", new(messages, notes))
}

/// Title of an imported note.
pub fn note_title(name: &str, part: Option<usize>) -> String {
    let part = part.map(|part| format!(", part {part}")).unwrap_or_default();
    format!("{name}{part} (imported)")
}

/// Result of an import.
pub fn added(
    id: impl std::fmt::Display,
    (messages, notes, skills): (usize, usize, usize),
    person: &str,
    may_embed: bool,
) -> String {
    let embedded = if may_embed { "" } else { ", and is not sent to an embedding server" };
    let skills = match skills {
        0 => String::new(),
        count => format!(" {} for review: `compline review list`.", plural(count, "skill waits", "skills wait")),
    };
    format!(
        "Import {id}: {} added for {person}. It counts as text from outside{embedded}.{skills} `compline import remove {id}` deletes it.",
        new(messages, notes),
    )
}

/// A note or skill that was not imported, and the reason.
pub fn refused(name: &str, why: &str) -> String {
    format!("- not imported: {name}: {why}")
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
    counted: [i64; 4],
    state: &str,
) -> String {
    let state = match state {
        "open" => " (cut off: import it again to complete it)",
        "leaving" => " (being removed)",
        _ => "",
    };
    let [conversations, messages, notes, skills] = counted.map(|count| usize::try_from(count).unwrap_or(0));
    let counts = counts((conversations, messages, notes, skills), is_folder(kind));
    format!("- **{id}**: {}, {name}, for {person}, {at}: {counts}{state}", program(kind))
}

/// Error: no such import.
pub fn no_such(id: impl std::fmt::Display) -> String {
    with_fix(&format!("There is no import {id}"), "`compline import list` shows them")
}

/// Result of a removal.
pub fn removed(id: impl std::fmt::Display, messages: usize, notes: usize) -> String {
    format!("Import {id} is removed: {} deleted.", new(messages, notes))
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
    with_fix(
        &format!("`{kind}` is no kind of archive"),
        "say chatgpt, claude, telegram, openclaw or carpenter, or leave it out",
    )
}

/// Progress of an import.
pub const IMPORTING: &str = "Importing";
/// Progress of a removal.
pub const REMOVING: &str = "Removing";
