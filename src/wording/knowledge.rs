//! Descriptions and results of the tools that store and change knowledge.

/// Description of `remember`.
pub const REMEMBER: &str = "Keep for weeks as a note; the same title replaces it. No passwords, no passing \
     states; a note may be stale.";
/// Description of `memory_save`.
pub const MEMORY_SAVE: &str = "Add to today's note; `key: value` sets a fact.";
/// Description of `memory_section`.
pub const MEMORY_SECTION: &str = "Read or change a section of a file.";
/// Description of `read_file`.
pub const READ_FILE: &str = "Read a file, a picture or a hit: memory/nora.md:12.";
/// Description of `write_file`.
pub const WRITE_FILE: &str = "Write a whole file; empty deletes it.";
/// Description of `edit_file`.
pub const EDIT_FILE: &str = "Replace a passage that occurs once. Read the file first.";
/// Description of `list_files`.
pub const LIST_FILES: &str = "List a folder. A number stands for a name from outside: use it as the path.";

/// Error: no title or text.
pub const NO_TITLE: &str = "Give a title and something to remember.";
/// Error: no content.
pub const NO_CONTENT: &str = "Give something to keep.";
/// Error: no section.
pub const NO_SECTION: &str = "Name the section.";
/// Error: unknown action.
pub const BAD_ACTION: &str = "`action` is read, append or replace.";
/// Error: the name of the note is taken.
pub const TAKEN: &str = "Another note has that name.";
/// Error: the text would end its section or swallow the next.
pub const REACHES_OUT: &str = "These words would not stay inside their section: they hold a heading of the same or a higher level, or a code fence or comment that is not \
     closed. Nothing was changed.";
/// Error: no file to delete.
pub const NOTHING_THERE: &str = "There is no such file.";
/// Error: a deletion after untrusted text was read.
pub const NOT_TAKEN_FROM_OUTSIDE: &str = "Text from outside was read in this conversation, so lines that were not from outside stay unless the person agrees to the change. Lines can be added. Nothing was changed.";
/// Error: the file has changed since it was shown.
pub const CHANGED_SINCE: &str = "It has changed since it was shown. Nothing was done.";
/// Error: the text of the version was deleted.
pub const NO_VERSION: &str = "That version of the file is not kept any more.";
/// Error: received files are read-only.
pub const STAYS_RECEIVED: &str = "Files that came with a message cannot be changed. Keep what matters as a note.";
/// Error: no person to act for.
pub const NOBODY: &str = "There is no person here who could own the files.";
/// Error: the files cannot be used.
pub const FAILED: &str = "The files cannot be used just now. Nothing was changed.";
/// Error: invalid path.
pub const BAD_PATH: &str = "That is no path inside this person's folder. Give it without a leading slash and without hidden names; it may not lead out.";
/// Error: the path belongs to another person.
pub const NOT_THEIRS: &str = "That does not lie in the folder of the person you are talking to.";
/// Error: no such file.
pub const NO_SUCH_FILE: &str = "There is no such file in this person's folder. `list_files` shows what there is.";
/// Error: not a text file.
pub const NO_TEXT: &str = "That file is no text.";
/// Error: the file is too large to read.
pub const TOO_LARGE_TO_READ: &str = "That file is too large to be read.";
/// Error: skill files are read-only.
pub const SKILLS_ARE_ONLY_READ: &str =
    "The files of skills can be read, but not written. Propose a change with `submit_skill`.";
/// Error: only the owner changes this file.
pub const OWNERS_HAND: &str =
    "Only the owner changes AGENTS.md, SOUL.md and HEARTBEAT.md, by hand. Tell them what you would change.";
/// Error: untrusted text in the turn prevents changes to files that are always loaded.
pub const NOT_FROM_OUTSIDE: &str = "Something from outside had a part in this turn, so files that are always loaded are not changed. The person can ask for it in a new message, \
     or do it by hand.";
/// Error: no such section.
pub const NO_SUCH_SECTION: &str = "There is no such section in that file. `read_file` shows its headings.";
/// Error: the file was not read in this conversation as it stands.
pub const READ_FIRST: &str = "Read the file first, or give its hash as `expected`: it was not read in this conversation as it stands now. Nothing was changed.";
/// Error: a file would be replaced or deleted that the conversation has not seen.
pub const READ_BEFORE_WRITING: &str = "There is such a file, and it was not read in this conversation as it stands now. Read it first, and write all of it that should stay; or add to it. Nothing was changed.";

/// Error: a section would be replaced that the conversation has not seen.
pub const SECTION_UNREAD: &str = "That section was not read in this conversation as it stands now. Read it first, and write all of it that should stay; or append. Nothing was changed.";

/// Error: a note would be replaced that the conversation has not seen whole.
pub fn note_unread(path: &str) -> String {
    format!(
        "{path} is a note of that title, and was not read in this conversation as it stands now. Read it first, and keep what should stay; or take another title. Nothing was changed."
    )
}

/// Error: the file has another hash.
pub const OTHER_HASH: &str = "The file is not the one with that hash any more. Read it again. Nothing was changed.";
/// Error: the passage does not exist.
pub const OLD_MISSING: &str = "That passage is not in the file, or not exactly so. Nothing was changed.";
/// Error: the passage is not unique.
pub const OLD_TWICE: &str = "That passage is in the file more than once. Give more of it. Nothing was changed.";
/// An empty folder.
pub const EMPTY_FOLDER: &str = "There is nothing in it.";
/// Prefix of the result for a quarantined file.
pub const REDIRECTED: &str = "Something from outside had a part in this turn, so it is not kept among what you always know. It waits in memory/untrusted/ until the person \
     says that they want to keep it.";

/// Result: stored.
pub fn kept(path: &str, instead_of: Option<&str>) -> String {
    match instead_of {
        Some(old) => format!("Kept in {path}, instead of “{old}”."),
        None => format!("Kept in {path}."),
    }
}

/// Result: quarantined.
pub fn redirected(path: &str) -> String {
    format!("{REDIRECTED} It lies in {path}.")
}

/// Result: stored already.
pub fn kept_already(path: &str) -> String {
    format!("{path} says that already.")
}

/// Result: written.
pub fn written(path: &str, hash: &str) -> String {
    format!("{} is written.", file_line(path, hash))
}

/// Name of a file or folder in a list, if somebody else chose its own.
pub fn numbered_file(number: Option<i64>, extension: Option<&str>) -> String {
    let number = number.map_or_else(|| "(a name from outside)".to_owned(), |number| format!("#{number}"));
    extension.map_or_else(|| number.clone(), |extension| format!("{number}.{extension}"))
}

/// Result: deleted.
pub fn deleted(path: &str) -> String {
    format!("{path} is deleted. Earlier versions of it are kept.")
}

/// First line of a file that was read.
pub fn file_line(path: &str, hash: &str) -> String {
    if hash.is_empty() { format!("[{path}]") } else { format!("[{path}, hash {hash}]") }
}

/// Number of entries that are not listed.
pub fn more_entries(count: usize) -> String {
    format!("… and {count} more")
}

/// Error: the file would exceed its limit.
pub fn too_large(most: usize) -> String {
    format!("It would be larger than the {} KB that this file may have. Nothing was changed.", most / 1024)
}

/// Error: the file is not readable as text.
pub fn broken_file(path: &str) -> String {
    format!(
        "{path} cannot be read as text, so nothing was changed. Only the person can fix it: tell them that `compline doctor` has the details."
    )
}

/// Title of the file to which lines of the index are moved.
pub fn more_notes(kind: &str) -> String {
    format!("More notes: {kind}")
}

/// Line of the index for that file.
pub fn more_notes_hook(count: usize) -> String {
    format!("{count} more notes")
}
