//! Giving the root of the workspace to another owner.

use super::ProgramText;
use super::review_command::Surface;

/// How the chat command is written.
pub const HOW: &str = "/people, or /people handover NAME";
/// The root belongs to nobody yet.
pub const NO_OWNER: &str = "The workspace belongs to nobody yet. Its first owner gets it.";
/// Something goes on.
pub const BUSY: &str =
    "Nothing was changed: something of one of the two is being written, answered or forgotten. Try again in a moment.";
/// Nobody can be asked.
pub const NEEDS_YES: &str = "A hand-over has to be confirmed: run it in a terminal, or with --yes.";
/// The question of the command line.
pub const CONFIRM: &str = "Do it? Type yes: ";
/// Something else than a yes.
pub const NOT_CONFIRMED: &str = "Nothing was changed.";
/// While it runs.
pub const GOES_ON: &str = "Moving files";

/// They have it already.
pub fn same(name: &str) -> String {
    format!("The root of the workspace belongs to {name} already.")
}

/// Only an owner can have it.
pub fn not_an_owner(name: &str) -> String {
    format!("{name} is no owner, and only an owner can have the root of the workspace.")
}

/// A link at the top.
pub fn unmovable(path: &str) -> String {
    format!(
        "Nothing was changed: {path} in the workspace is a link, or neither a file nor a folder. Put what it leads to in its place, or remove it."
    )
}

/// What it means.
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

/// It is done.
pub fn done(from: &str, to: &str, from_folder: &str) -> ProgramText {
    ProgramText::message(format!(
        "The root of the workspace belongs to {to} from now on. The files of {from} lie in `{from_folder}/`."
    ))
}
