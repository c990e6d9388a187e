//! Text about handing the workspace root to another owner.

use super::ProgramText;
use super::review_command::Surface;

/// Error: the root has no owner yet.
pub const NO_OWNER: &str = "The workspace belongs to nobody yet. Its first owner gets it.";
/// Error: work for one of the two people is in progress.
pub const BUSY: &str =
    "Nothing was changed: something of one of the two is being written, answered or forgotten. Try again in a moment.";
/// Error: no terminal to confirm at.
pub const NEEDS_YES: &str = "A hand-over has to be confirmed: run it in a terminal, or with --yes.";
/// Question for confirmation.
pub const CONFIRM: &str = "Do it? Type yes: ";
/// Reply to an answer other than yes.
pub const NOT_CONFIRMED: &str = "Nothing was changed.";
/// Progress: files are being moved.
pub const GOES_ON: &str = "Moving files";

/// Error: the person owns the root already.
pub fn same(name: &str) -> String {
    format!("The root of the workspace belongs to {name} already.")
}

/// Error: the person is not an owner.
pub fn not_an_owner(name: &str) -> String {
    format!("{name} is no owner, and only an owner can have the root of the workspace.")
}

/// Error: an entry at the top of the workspace is a link or a special file.
pub fn unmovable(path: &str) -> String {
    format!(
        "Nothing was changed: {path} in the workspace is a link, or neither a file nor a folder. Put what it leads to in its place, or remove it."
    )
}

/// Consequences of the hand-over, before it is confirmed.
pub fn would(from: &str, to: &str, from_folder: &str, heir_folder: &str, way: Surface) -> String {
    let how = match way {
        Surface::Chat => format!("\n\nTo do it, send `/people handover {to} yes`."),
        Surface::CommandLine => String::new(),
    };
    format!(
        "The root of the workspace belongs to {from}. Handed over to {to}:\n\n\
         - the files of {from} (memory, USER.md, HEARTBEAT.md, notes, received files) go to `{from_folder}/`,\n\
         - the files of {to} go from `{heir_folder}/` to the root, and `HEARTBEAT.md` there is theirs from then on,\n\
         - AGENTS.md and SOUL.md stay where they are, for everybody.\n\n\
         Places change, never contents: neither is shown what is the other's.{how}"
    )
}

/// Result: handed over.
pub fn done(from: &str, to: &str, from_folder: &str) -> ProgramText {
    ProgramText::message(format!(
        "The root of the workspace belongs to {to} from now on. The files of {from} lie in `{from_folder}/`."
    ))
}
