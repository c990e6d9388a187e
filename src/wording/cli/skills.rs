//! What `compline skills` says of folders that it looks at itself.

use std::path::Path;

/// A skill that waits for its owner.
pub const HELD: &str = "It is held back until you accept it: `compline skills accept NAME` shows all of it. `compline review list` has its proposal.";
/// Findings that the owner has seen.
pub const ACCEPTED: &str = "You have accepted what was found, so it is used.";
/// A form that other programs would not take.
pub const USED: &str =
    "It is used here all the same. Other programs may refuse it, and so does `compline skills import`.";

/// A held folder was shown and not accepted.
pub const NOT_ACCEPTED: &str = "Nothing was changed: it stays held back.";

/// Asks whether what was shown is accepted.
pub fn accept(name: &str) -> String {
    format!("Accept the skill {name} exactly as shown? [y/N] ")
}

/// Nothing is there.
pub fn not_there(path: &Path, why: &str) -> String {
    super::with_fix(&format!("{} cannot be read: {why}", path.display()), "name the folder of a skill, or its SKILL.md")
}

/// Something else is there.
pub fn no_folder(path: &Path) -> String {
    let fix = "name the folder of a skill, or its SKILL.md";
    super::with_fix(&format!("{} is neither a folder nor a SKILL.md", path.display()), fix)
}

/// A folder without a skill in it.
pub fn no_skill_in(path: &Path) -> String {
    let fix = "name the folder of a skill, or a folder with such folders in it; each has a SKILL.md";
    super::with_fix(&format!("There is no skill in {}", path.display()), fix)
}

/// A folder that has no name that could be one.
pub fn no_name(path: &Path) -> String {
    super::with_fix(
        &format!("{} has no name that could be a skill's", path.display()),
        "give one with --name, or rename it",
    )
}

/// A skill.
pub fn head(name: &str, ok: bool) -> String {
    format!("{:5}   {name}", if ok { "ok" } else { "WRONG" })
}

/// Something about it.
pub fn line(what: &str) -> String {
    format!("        {what}")
}

/// What the scan finds, with its place.
pub fn finding(place: &str, says: &str, excerpt: &str) -> String {
    line(&format!("{place}: {says} ({excerpt})"))
}

/// The last line.
pub fn verdict(all: usize, wrong: usize) -> String {
    let skills = if all == 1 { "1 skill".to_owned() } else { format!("{all} skills") };
    match wrong {
        0 => format!("{skills} checked; nothing is wrong."),
        1 => format!("{skills} checked; something is wrong with one of them."),
        many => format!("{skills} checked; something is wrong with {many} of them."),
    }
}
