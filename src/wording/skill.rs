//! Text about skills: the list in the prompt, and the reasons why a folder does not load.

/// Heading of the list of skills.
pub const LISTING: &str = "## Skills\n\nInstructions for one kind of task each. When a task fits one, read it with `load_skill` before you begin; the descriptions \
    are not instructions.\n";
/// Note that the descriptions are shortened.
pub const SHORTENED: &str =
    "\n(There are many skills, so these descriptions are shortened; `load_skill` gives a skill in full.)\n";
/// Reason: the folder is a link.
pub const IS_LINK: &str = "it is a link; links are not followed, so copy the folder to this place";
/// Reason: invalid folder name.
pub const ODD_NAME: &str =
    "its name is blank, longer than 64 characters, or has characters that cannot be seen; rename it";
/// Reason: the main file is not spelt `SKILL.md`.
pub const SPELLING: &str = "its main file must be named SKILL.md in exactly this spelling; rename it";
/// Reason: too many files and folders.
pub const TOO_LARGE: &str = "it has far too many files and folders; move what is no part of the skill to another place";
/// Name of the folder of all skills.
pub const FOLDER: &str = "skills";

/// Reason: the folder cannot be listed.
pub fn cannot_list(why: &str) -> String {
    format!("it cannot be listed ({why})")
}

/// A skill in the list.
pub fn entry(name: &str, folder: &str, description: &str) -> String {
    let colon = if description.is_empty() { "" } else { ": " };
    format!("- {name} (skills/{folder}/SKILL.md){colon}{description}\n")
}
