//! Text about stored memory: the overview, notes, earlier versions, and the question whether to
//! keep a text.

use std::time::Duration;

use super::language::{Language, Sentence, say};
use super::review::Surface;
use crate::id::{FileId, QuestionId};
use crate::text::escape_markdown;

/// Reply to `/memory edit` on a channel without an editor.
pub const EDIT_WHERE: &str = "There is no editor here. In a terminal on the computer that I run on, `compline memory edit [NOTE]` opens one, and so \
    does `/memory edit [NOTE]` in `compline chat`. Anything that changes Markdown files will do: I read them again before each answer.";

/// Formats a size: `812 bytes`, `3.1 KB`.
pub fn size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" });
    }
    let tenths = (bytes * 10 + 512) / 1024;
    if tenths < 10_240 {
        format!("{}.{} KB", tenths / 10, tenths % 10)
    } else {
        let tenths = (bytes * 10 + 512 * 1024) / (1024 * 1024);
        format!("{}.{} MB", tenths / 10, tenths % 10)
    }
}

/// Formats a fill level: `3.1 of 64 KB (5 %)`.
pub fn gauge(bytes: u64, most: u64) -> String {
    let percent = (bytes * 100 + most / 2).checked_div(most).unwrap_or(0);
    let tenths = (bytes * 10 + 512) / 1024;
    format!("{}.{} of {} KB ({percent} %)", tenths / 10, tenths % 10, most / 1024)
}

/// Part of `MEMORY.md` that is loaded before each answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// None: memory is switched off.
    Nothing,
    /// As much as fits.
    Part,
    /// The complete file.
    Whole,
}

/// First line of the overview.
pub fn head(gauge: &str, reads: Reads) -> String {
    let read = match reads {
        Reads::Nothing => "",
        Reads::Part => " Before each answer I read as much as fits: its newest facts and its index.",
        Reads::Whole => " I read it before each answer.",
    };
    format!("**MEMORY.md**, {gauge}.{read}")
}

/// Note above the overview, and reply to `/remember`, while memory is switched off.
pub const SWITCHED_OFF: &str = "Memory is switched off (`[memory] enabled`): I keep nothing, and I do not read what was kept before unless asked. The files stay.";

/// Note that the shown text continues.
pub fn goes_on(command: &str) -> String {
    format!("There is more: {command} shows all of it.")
}

/// Heading of the list of notes.
pub fn notes_head(count: usize, bytes: u64) -> String {
    format!("**Notes**: {}", counted(count, bytes))
}

/// An empty list of notes.
pub const NO_NOTES: &str = "**Notes**: none yet. Tell me what to remember, or use /remember.";

/// A note in the list.
pub fn note(name: &str, title: &str, gauge: &str) -> String {
    let title = if title.is_empty() { String::new() } else { format!(": {title}") };
    format!("- **{name}**{title}, {gauge}")
}

/// Number of notes that are not listed.
pub fn more_notes(count: usize) -> String {
    format!("- and {count} more")
}

/// Today's note.
pub fn today(name: &str, gauge: &str) -> String {
    format!("**Today**: {name}, {gauge}")
}

/// Note that today's note is empty.
pub const NOTHING_TODAY: &str = "**Today**: nothing yet";

/// Notes of other days: their total, the newest, and the one with the least space left.
pub fn days(count: usize, bytes: u64, newest: &str, (fullest, gauge): (&str, &str)) -> String {
    format!("**Other days**: {}, the newest {newest}; the fullest {fullest}, {gauge}", counted(count, bytes))
}

/// Heading of the facts extracted from conversations.
pub const TAKEN_DOWN: &str = "**Noted in conversations**:";

/// A file of extracted facts.
pub fn taken_down(name: &str, gauge: &str) -> String {
    format!("- **{name}**, {gauge}")
}

/// Quarantined notes from outside.
pub fn waiting(count: usize, bytes: u64, way: Surface) -> String {
    let promote = way.command("promote NOTE", "memory promote NOTE");
    format!(
        "**From outside**, read only when I am asked to: {}. `{promote}` shows one and how to make it yours.",
        counted(count, bytes)
    )
}

/// Totals of the memory.
pub fn total(files: usize, bytes: u64, place: Option<&str>, way: Surface) -> String {
    let place = place.map(|place| format!(" in {place}")).unwrap_or_default();
    let show = way.command("memory NOTE", "memory show NOTE");
    let history = way.command("memory history NOTE", "memory history NOTE");
    format!("Total: {}{place}. `{show}` shows one, `{history}` its earlier versions.", counted(files, bytes))
}

fn counted(count: usize, bytes: u64) -> String {
    format!("{count} file{}, {}", if count == 1 { "" } else { "s" }, size(bytes))
}

/// Heading of a note.
pub fn note_head(path: &str, gauge: &str) -> String {
    format!("**{path}**, {gauge}")
}

/// Warning below the heading of a note from outside.
pub fn from_outside(sources: &str) -> String {
    format!("These words came from outside ({sources}). I read them only when I am asked to.")
}

/// Note that the shown text is only the beginning.
pub const CUT: &str = "It is longer than can be shown here; this is its beginning. The file itself has all of it.";

/// Reply to an unknown note name.
pub const NO_SUCH_NOTE: &str = "There is no such note. /memory lists them.";
/// The same on the command line.
pub const NO_SUCH_NOTE_HERE: &str = "There is no such note. `compline memory` lists them.";
/// Reply to an invalid note name.
pub const NO_NAME: &str = "A note needs a name of letters, digits, spaces or dashes.";
/// Reason: not UTF-8 text.
pub const NOT_TEXT: &str = "it is not UTF-8 text";
/// Reason: larger than 1 MB.
pub const TOO_LARGE: &str = "it is larger than 1 MB";
/// Reason: cannot be opened, or leads out of the folder.
pub const NOT_OPENED: &str = "it cannot be opened, or leads out of the folder";

/// Warning that `MEMORY.md` cannot be read.
pub fn index_unread(why: &str) -> String {
    format!(
        "**MEMORY.md** cannot be read: {why}. It is not used, and nothing is added to it, until you fix it by hand."
    )
}

/// Heading of the unreadable files.
pub const UNREAD: &str = "**Not read, not searched**, until you fix them by hand:";

/// An unreadable file.
pub fn unread(name: &str, why: &str) -> String {
    format!("- **{name}**: {why}")
}

/// Reply to a request for a file that is too large.
pub const TOO_LARGE_TO_SHOW: &str = "That file is larger than 1 MB, so it is neither read nor shown.";
/// Reply to a request for a file that is not text.
pub const UNREADABLE: &str = "That file cannot be read as text.";

/// Reply to `/remember`.
pub fn remembered(path: &str, gauge: &str, instead_of: Option<&str>) -> String {
    let instead = instead(instead_of);
    format!("I keep that in mind from now on{instead} ({path}, {gauge}).")
}

/// Added to the reply when the file holds text from outside and is not loaded.
pub const REMEMBERED_UNREAD: &str = "MEMORY.md says that now, but that file contains text from outside, so I do not read it unless asked. `/promote MEMORY` shows \
    it and how to make it yours.";

/// Reply when a long text was stored as a note.
pub fn remembered_as_note(path: &str, bytes: u64, instead_of: Option<&str>) -> String {
    let instead = instead(instead_of);
    format!("Kept as {path} ({}), with a line in MEMORY.md{instead}.", size(bytes))
}

/// Reply when the text is stored already.
pub fn known_already(path: &str) -> String {
    format!("{path} says that already.")
}

/// Reply when a file is full. Its limit is `most`, or its current size if that is larger.
pub fn full(path: &str, most: usize, room: usize) -> String {
    let is = if most > room { "is already larger than the" } else { "would be larger than" };
    let may = if most > room { " limit" } else { "" };
    format!(
        "Not kept: {path} {is} {} KB{may}. Shorten it with an editor (`compline memory edit`), then try again.",
        room / 1024
    )
}

/// Reply when a file of the change cannot be read as text.
pub fn broken(path: &str) -> String {
    format!(
        "Nothing was changed: {path} cannot be read as text. It may hold something else, be far too large, or belong to another user. Fix or move it by hand, then \
         try again; `compline doctor` checks all of them."
    )
}

/// Reply when a change failed for another reason.
pub fn not_kept(why: &str) -> String {
    format!("Nothing was changed: {why}.")
}

/// Reply to the promotion of a note that is trusted already.
pub fn yours_already(path: &str) -> String {
    format!("{path} is yours already.")
}

/// Instructions below the text of a note that is to be promoted.
pub fn how_to_promote(name: &str, code: &str, way: Surface) -> String {
    format!(
        "`{}` makes these words count as yours: I then read them like anything you told me. The code is for exactly this text.",
        way.command(&format!("promote {name} {code}"), &format!("memory promote {name} {code}"))
    )
}

/// Reply to the promotion of a note that is too long for a chat.
pub fn too_long_to_promote(name: &str) -> String {
    format!(
        "It is too long for a chat, and nobody should accept what they have not read. `{}` shows all of it.",
        Surface::CommandLine.command("", &format!("memory promote {name}"))
    )
}

/// Reply to a promotion code that does not match the current text.
pub fn wrong_code(name: &str, way: Surface) -> String {
    format!(
        "That code does not match the present content, so nothing was changed. `{}` shows the text and its code.",
        way.command(&format!("promote {name}"), &format!("memory promote {name}"))
    )
}

/// Title of the button that promotes.
pub const PROMOTE_BUTTON: &str = "Make it mine";

/// Reply to a promotion. `read` states if memory is loaded at all.
pub fn promoted(language: Language, path: &str, instead_of: Option<&str>, read: bool) -> String {
    let then = from_now_on(language, read);
    match instead_of {
        None => say!(language, "promoted", path = path, then = then),
        Some(old) => say!(language, "promoted-instead", path = path, old = escape_markdown(old), then = then),
    }
}

fn from_now_on(language: Language, read: bool) -> String {
    if read { say!(language, "memory-read") } else { say!(language, "memory-unread") }
}

/// Heading of the versions of a note.
pub fn history_head(path: &str) -> String {
    format!("**{path}**, newest first")
}

/// A version in the list.
pub fn version(id: FileId, at: &str, who: &str, what: &str, facts: &str) -> String {
    format!("- version {id}, {at}, {who}{what}{facts}")
}

/// Author of a version.
pub fn author(word: &str) -> &'static str {
    match word {
        "assistant" => "the assistant",
        "person" => "you, with a command",
        "hand" => "you, by hand",
        "found" => "found after a restore",
        _ => "the program",
    }
}

/// Reason for a version, with its separator.
pub fn cause(word: &str) -> String {
    let words = match word {
        "" | "hand" => return String::new(),
        "first" => "first contents",
        "received" => "received",
        "given" => "given by an external tool",
        "remember" => "a note",
        "save" => "the note of the day",
        "section" => "one section",
        "file" => "the whole file",
        "edit" => "an edit",
        "facts" => "facts from a conversation",
        "learned" => "a lesson",
        "promote" => "made yours",
        "import" => "an import",
        "forget" => "forgotten",
        "follow" => "your edit of another file",
        "restore" => "an earlier version",
        other => other,
    };
    format!(", {words}")
}

/// Details of a version.
pub fn version_facts(bytes: Option<u64>, deleted: bool, sources: &str, present: bool) -> String {
    let mut facts = match (deleted, bytes) {
        (true, _) => vec!["deleted".to_owned()],
        (false, Some(bytes)) => vec![size(bytes)],
        (false, None) => vec!["its text is no longer kept".to_owned()],
    };
    if !sources.is_empty() {
        facts.push(format!("from outside: {sources}"));
    }
    if present {
        facts.push("there now".to_owned());
    }
    format!(" ({})", facts.join("; "))
}

/// Number of older versions that are not listed.
pub fn older(count: usize) -> String {
    format!("and {count} older ones")
}

/// Instructions below the list of versions.
pub fn how_to_restore(name: &str, way: Surface) -> String {
    format!(
        "`{}` shows one and what it changes, `{}` puts it back.",
        way.command(&format!("memory history {name} VERSION"), &format!("memory history {name} VERSION")),
        way.command(&format!("memory restore {name} VERSION"), &format!("memory restore {name} VERSION"))
    )
}

/// Heading of one version.
pub fn version_head(path: &str, id: FileId, at: &str, who: &str, what: &str, facts: &str) -> String {
    format!("**{path}**, version {id} of {at}, {who}{what}{facts}")
}

/// Heading of the lines that restoring a version changes.
pub const RESTORING_CHANGES: &str = "Putting it back changes this:";
/// Remark about a version that is there now.
pub const IS_THERE_NOW: &str = "That is what is there now.";

/// Instructions below one version.
pub fn how_to_restore_version(name: &str, id: FileId, way: Surface) -> String {
    let command = format!("memory restore {name} {id}");
    format!("`{}` puts it back.", way.command(&command, &command))
}

/// Reply to a restored version.
pub fn restored(path: &str, version: FileId, trusted: bool) -> String {
    let label = if trusted { "" } else { " Its words still count as coming from outside." };
    format!("Done: {path} is back to version {version}.{label}")
}

/// Added to that reply: the name under which an unreadable file was kept.
pub fn made_way(path: &str) -> String {
    format!(" The old file could not be read as text; it is kept as {path}.")
}

/// Reply when the file has the content of that version already.
pub fn same_content(path: &str, version: FileId) -> String {
    format!("Nothing to change: {path} is already the same as version {version}.")
}

/// Reply to an unknown version number.
pub fn no_such_version(name: &str, way: Surface) -> String {
    format!(
        "It has no such version. `{}` lists them.",
        way.command(&format!("memory history {name}"), &format!("memory history {name}"))
    )
}

/// Reply to a version whose text was deleted.
pub fn version_gone(version: FileId) -> String {
    format!("The text of version {version} is no longer kept, so it cannot be restored.")
}

/// Reply to the restoration of untrusted text into a file that is always loaded.
pub const STILL_FROM_OUTSIDE: &str =
    "Nothing was changed: the text of that version came from outside, which a file that I always read may not contain.";

/// Reply after an edit. `read` states if memory is loaded at all.
pub fn edited(path: &str, gauge: &str, read: bool) -> String {
    format!("{path}, {gauge}. {}", from_now_on(Language::ENGLISH, read))
}

/// Reply after an edit without changes.
pub fn unchanged(path: &str, gauge: &str) -> String {
    format!("{path} is unchanged, {gauge}.")
}

/// Reply after an edit that left a new note empty.
pub fn not_made(path: &str) -> String {
    format!("{path} was not made.")
}

/// Warning that a file exceeds its limit.
pub fn overfull(path: &str, gauge: &str) -> String {
    format!("{path}, {gauge}: that is over the limit, so the assistant adds nothing to it until it is shorter.")
}

/// Error: no editor was found.
pub const NO_EDITOR: &str = "No editor was found. Name one in the variable VISUAL or EDITOR, or install nano.";

/// Error: the editor could not be started, or failed.
pub fn editor_failed(editor: &str, why: &str) -> String {
    format!("The editor {editor} failed: {why}. What it wrote, if anything, stays.")
}

/// Heading of the question whether to keep a text.
pub fn keep_this(language: Language, path: &str, sources: &str) -> String {
    say!(language, "keep-this", path = path, sources = sources)
}

fn instead(of: Option<&str>) -> String {
    of.map_or_else(String::new, |old| format!(", instead of “{}”", escape_markdown(old)))
}

/// The person's own text that the text in question replaces.
pub fn keep_instead_of(language: Language, old: &str) -> String {
    say!(language, "keep-instead-of", old = escape_markdown(old))
}

/// Instructions below the text in question.
pub fn keep_how(language: Language, number: QuestionId, open_for: Duration) -> String {
    say!(language, "keep-how", question = number.to_string(), time = language.span(open_for))
}

/// A text that is too long to show, or exceeds the number of questions.
pub fn keep_later(language: Language, path: &str, name: &str) -> String {
    say!(language, "keep-later", path = path, name = name)
}

/// Heading of the texts that are not shown.
pub const KEEP_LATER: Sentence = Sentence("keep-later-head");

/// Title of the button that keeps the text.
pub const KEEP_BUTTON: Sentence = Sentence("button-keep");
/// Title of the button that leaves the text in quarantine.
pub const LEAVE_BUTTON: Sentence = Sentence("button-leave");

/// Reply to a yes that is carried out as soon as the disk allows it.
pub fn keep_waits(language: Language, path: &str) -> String {
    say!(language, "keep-waits", path = path)
}

/// Reply to a no.
pub const LEFT: Sentence = Sentence("keep-left");
/// Reply to a yes when the files cannot be written.
pub fn keep_stuck(language: Language, path: &str) -> String {
    say!(language, "keep-stuck", path = path)
}

/// Reply to a yes when the quarantined text has changed.
pub const KEEP_CHANGED: Sentence = Sentence("keep-changed");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_gauges() {
        for (bytes, words) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KB"),
            (3_174, "3.1 KB"),
            (65_536, "64.0 KB"),
            (3 * 1024 * 1024, "3.0 MB"),
        ] {
            assert_eq!(size(bytes), words);
        }
        assert_eq!(gauge(3_174, 65_536), "3.1 of 64 KB (5 %)");
        assert_eq!(gauge(0, 65_536), "0.0 of 64 KB (0 %)");
        assert_eq!(gauge(70_000, 65_536), "68.4 of 64 KB (107 %)");
    }
}
