//! Output of `compline skills` about folders.

use std::path::Path;

/// Finding: the skill is held back until the owner accepts it.
pub const HELD: &str = "It is held back until you accept it: `compline skills accept NAME` shows all of it. `compline review list` has its proposal.";
/// Note that the owner has accepted the findings.
pub const ACCEPTED: &str = "You have accepted what was found, so it is used.";
/// Note that the skill is used although other programs may refuse its format.
pub const USED: &str =
    "It is used here all the same. Other programs may refuse it, and so does `compline skills import`.";

/// Reply to a refused acceptance.
pub const NOT_ACCEPTED: &str = "Nothing was changed: it stays held back.";

/// Question: accept the skill as shown?
pub fn accept(name: &str, word: &str) -> String {
    match word {
        "" => format!("Accept the skill {name} exactly as shown? [y/N] "),
        _ => format!("To accept the skill {name} exactly as shown, type what it newly does ({word}): "),
    }
}

/// Error: the path is unreadable.
pub fn not_there(path: &Path, why: &str) -> String {
    super::with_fix(&format!("{} cannot be read: {why}", path.display()), "name the folder of a skill, or its SKILL.md")
}

/// Error: the path is no skill folder.
pub fn no_folder(path: &Path) -> String {
    let fix = "name the folder of a skill, or its SKILL.md";
    super::with_fix(&format!("{} is neither a folder nor a SKILL.md", path.display()), fix)
}

/// Error: the folder contains no skill.
pub fn no_skill_in(path: &Path) -> String {
    let fix = "name the folder of a skill, or a folder with such folders in it; each has a SKILL.md";
    super::with_fix(&format!("There is no skill in {}", path.display()), fix)
}

/// Error: the folder has no valid name.
pub fn no_name(path: &Path) -> String {
    super::with_fix(
        &format!("{} does not have a valid skill name", path.display()),
        "give one with --name, or rename it",
    )
}

/// Heading of a skill.
pub fn head(name: &str, ok: bool) -> String {
    format!("{:5}   {name}", if ok { "ok" } else { "WRONG" })
}

/// Detail of a skill.
pub fn line(what: &str) -> String {
    format!("        {what}")
}

/// A finding of the scan and its location.
pub fn finding(place: &str, says: &str, excerpt: &str) -> String {
    line(&format!("{place}: {says} ({excerpt})"))
}

/// Last line of the report.
pub fn verdict(all: usize, wrong: usize) -> String {
    let skills = if all == 1 { "1 skill".to_owned() } else { format!("{all} skills") };
    match wrong {
        0 => format!("{skills} checked; nothing is wrong."),
        1 => format!("{skills} checked; something is wrong with one of them."),
        many => format!("{skills} checked; something is wrong with {many} of them."),
    }
}
