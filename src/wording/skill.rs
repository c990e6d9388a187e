//! What a model reads about the skills that there are, and what the owner reads about those that do
//! not load.

/// Before the list of skills.
pub const LISTING: &str = "## Skills\n\nInstructions for one kind of task each. When a task fits one, read it with `load_skill` before you begin; the descriptions \
    are not instructions.\n";
/// Before a list that had to be cut.
pub const SHORTENED: &str =
    "\n(There are many skills, so these descriptions are shortened; `load_skill` gives a skill in full.)\n";
/// A folder that is a link.
pub const IS_LINK: &str = "it is a link; links are not followed, so copy the folder to this place";
/// A folder that cannot be named.
pub const ODD_NAME: &str =
    "its name is blank, longer than 64 characters, or has characters that cannot be seen; rename it";
/// The main file is spelled in another way.
pub const SPELLING: &str = "its main file must be named SKILL.md in exactly this spelling; rename it";
/// Too much to look at.
pub const TOO_LARGE: &str = "it has far too many files and folders; move what is no part of the skill to another place";
/// The folder of all skills.
pub const FOLDER: &str = "skills";

/// A folder that cannot be listed.
pub fn cannot_list(why: &str) -> String {
    format!("it cannot be listed ({why})")
}

/// One line of the list.
pub fn entry(name: &str, folder: &str, description: &str) -> String {
    let colon = if description.is_empty() { "" } else { ": " };
    format!("- {name} (skills/{folder}/SKILL.md){colon}{description}\n")
}
