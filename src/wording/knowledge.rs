//! What a model reads about the tools that keep and change knowledge, and from them.

/// `remember`
pub const REMEMBER: &str = "Keep something durable and not obvious about this person or their affairs as a note: one subject under a title that \
     stays the same. Its first line is in front of you from now on. No credentials, no passing state of a task, no long code. Check a note that \
     looks stale: what you see now counts more.";
/// `memory_save`
pub const MEMORY_SAVE: &str = "Add a line to today's note: what happened or was decided and matters in the next days. As `key: value`, a new value \
     replaces the old one.";
/// `memory_section`
pub const MEMORY_SECTION: &str =
    "Read, extend or replace one section of a Markdown file; one that is not there is made.";
/// An argument.
pub const PATH: &str = "As memory/deploy-key.md";
/// An argument.
pub const SECTION: &str = "The heading";
/// `read_file`
pub const READ_FILE: &str = "Read a text file of this person's folder (memory/…, inbox/…, any other). The first line names the file and its hash.";
/// `write_file`
pub const WRITE_FILE: &str = "Write a text file whole. Empty content deletes it. Earlier versions are kept. For a fact use `remember`, for a few \
     words `edit_file`.";
/// `edit_file`
pub const EDIT_FILE: &str = "Replace one passage of a text file that stands there exactly once. Read the file first in this turn, or give its hash \
     as `expected`.";
/// `list_files`
pub const LIST_FILES: &str = "List a folder of this person, with sizes and times.";
/// Its argument.
pub const LIST_FILES_PATH: &str = "As memory; empty for the top";

/// Something is missing.
pub const NO_TITLE: &str = "Give a title and something to remember.";
/// Something is missing.
pub const NO_CONTENT: &str = "Give something to keep.";
/// Something is missing.
pub const NO_SECTION: &str = "Name the section.";
/// An unknown action.
pub const BAD_ACTION: &str = "`action` is read, append or replace.";
/// The name of a note is taken.
pub const TAKEN: &str = "Another note has that name.";
/// Words that end their section, or swallow the next.
pub const REACHES_OUT: &str = "These words would not stay inside their section: they hold a heading of the same or a higher level, or a code fence or comment that is not \
     closed. Nothing was changed.";
/// There is nothing to delete.
pub const NOTHING_THERE: &str = "There is no such file.";
/// Untrusted words had a part in it.
pub const NOT_DELETED_FROM_OUTSIDE: &str = "Text from outside was read in this conversation, and so nothing is deleted here that is trusted. In a new conversation it can be.";
/// It is not what was shown.
pub const CHANGED_SINCE: &str = "It has changed since it was shown. Nothing was done.";
/// A version whose words are not kept.
pub const NO_VERSION: &str = "That version of the file is not kept any more.";
/// Received files stay as they are.
pub const STAYS_RECEIVED: &str = "What came with a message stays what it is. Keep what matters of it as a note.";
/// Nobody to do it for.
pub const NOBODY: &str = "There is nobody here whose files they would be.";
/// It did not work.
pub const FAILED: &str = "The files cannot be used just now. Nothing was changed.";
/// A path that is none.
pub const BAD_PATH: &str = "That is no path inside this person's folder. Give it without a leading slash and without hidden names; it may not lead out.";
/// A file of somebody else.
pub const NOT_THEIRS: &str = "That does not lie in the folder of the person you are talking to.";
/// There is nothing.
pub const NO_SUCH_FILE: &str = "There is no such file in this person's folder. `list_files` shows what there is.";
/// It is no text.
pub const NO_TEXT: &str = "That file is no text.";
/// It is too large.
pub const TOO_LARGE_TO_READ: &str = "That file is too large to be read.";
/// Skills are not written like files.
pub const SKILLS_ARE_ONLY_READ: &str =
    "The files of skills can be read, but not written. Propose a change with `submit_skill`.";
/// The owner's own files.
pub const OWNERS_HAND: &str =
    "Only the owner changes AGENTS.md, SOUL.md and HEARTBEAT.md, by hand. Tell them what you would change.";
/// Words from outside are in the turn.
pub const NOT_FROM_OUTSIDE: &str = "Something from outside had a part in this turn, so what is always known is not changed in it. The person can ask for it in a new message, \
     or do it by hand.";
/// There is no such section.
pub const NO_SUCH_SECTION: &str = "There is no such section in that file.";
/// A file that was not read.
pub const READ_FIRST: &str = "Read the file first: it was not read in this turn as it stands now. Nothing was changed.";
/// It is another version.
pub const OTHER_HASH: &str = "The file is not the one with that hash any more. Read it again. Nothing was changed.";
/// A passage that is not there.
pub const OLD_MISSING: &str = "That passage does not stand in the file, or not exactly so. Nothing was changed.";
/// A passage that is there twice.
pub const OLD_TWICE: &str = "That passage stands in the file more than once. Give more of it. Nothing was changed.";
/// An empty folder.
pub const EMPTY_FOLDER: &str = "There is nothing in it.";
/// What stands before a file that was kept for later.
pub const REDIRECTED: &str = "Something from outside had a part in this turn, so it is not kept among what you always know. It waits in memory/untrusted/ until the person \
     says that they want to keep it.";

/// It was kept.
pub fn kept(path: &str) -> String {
    format!("Kept in {path}.")
}

/// It was kept apart.
pub fn redirected(path: &str) -> String {
    format!("{REDIRECTED} It lies in {path}.")
}

/// It was kept already.
pub fn kept_already(path: &str) -> String {
    format!("That stands in {path} already.")
}

/// It was changed.
pub fn written(path: &str, hash: &str) -> String {
    format!("{} is written.", file_line(path, hash))
}

/// It was deleted.
pub fn deleted(path: &str) -> String {
    format!("{path} is deleted. Earlier versions of it are kept.")
}

/// The first line of a file that was read.
pub fn file_line(path: &str, hash: &str) -> String {
    format!("[{path}, hash {hash}]")
}

/// What is left out of a list.
pub fn more_entries(count: usize) -> String {
    format!("… and {count} more")
}

/// It would be too large.
pub fn too_large(most: usize) -> String {
    format!("It would be larger than the {} KB that this file may have. Nothing was changed.", most / 1024)
}

/// A file of the memory is broken.
pub fn broken_file(path: &str) -> String {
    format!(
        "{path} cannot be read as text, so nothing was changed. Only the person can mend it: tell them that `compline doctor` says more."
    )
}

/// The title of the file that lines of the index moved to.
pub fn more_notes(kind: &str) -> String {
    format!("More notes: {kind}")
}

/// What the index says of it.
pub fn more_notes_hook(count: usize) -> String {
    format!("{count} more notes")
}
