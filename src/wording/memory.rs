//! Text about stored memory: the overview, notes, earlier versions, and the question whether to
//! keep a text.

use std::path::Path;
use std::time::Duration;

use super::language::{Language, Sentence, say};
use super::review::Surface;
use crate::id::{FileId, QuestionId};
use crate::text::escape_markdown;

/// Reply to `/memory edit` on a channel without an editor.
pub const EDIT_WHERE: Sentence = Sentence("memory-edit-where");

/// Formats a size: `812 bytes`, `3.1 KB`.
pub fn size(language: Language, bytes: u64) -> String {
    if bytes < 1024 {
        return say!(language, "size-bytes", count = bytes);
    }
    let (unit, name) = if bytes < 1024 * 1024 { (1024, "KB") } else { (1024 * 1024, "MB") };
    format!("{} {name}", tenths(language, bytes, unit))
}

/// Formats a number of units with one decimal.
fn tenths(language: Language, bytes: u64, unit: u64) -> String {
    let tenths = (bytes * 10 + unit / 2) / unit;
    format!("{}{}{}", tenths / 10, say!(language, "decimal-sign"), tenths % 10)
}

/// Formats a fill level: `3.1 of 64 KB (5 %)`.
pub fn gauge(language: Language, bytes: u64, most: u64) -> String {
    let percent = (bytes * 100 + most / 2).checked_div(most).unwrap_or(0);
    let size = tenths(language, bytes, 1024);
    say!(language, "gauge", size = size, most = most / 1024, percent = percent)
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
pub fn head(language: Language, gauge: &str, reads: Reads) -> String {
    let read = match reads {
        Reads::Nothing => String::new(),
        Reads::Part => format!(" {}", say!(language, "memory-reads-part")),
        Reads::Whole => format!(" {}", say!(language, "memory-reads-whole")),
    };
    format!("**MEMORY.md**, {gauge}.{read}")
}

/// Note above the overview, and reply to `/remember`, while memory is switched off.
pub const SWITCHED_OFF: Sentence = Sentence("memory-off");

/// Note that the shown text continues.
pub fn goes_on(language: Language, command: &str) -> String {
    say!(language, "memory-goes-on", command = command)
}

/// Heading of the list of notes.
pub fn notes_head(language: Language, count: usize, bytes: u64) -> String {
    say!(language, "memory-notes", counted = counted(language, count, bytes))
}

/// An empty list of notes.
pub const NO_NOTES: Sentence = Sentence("memory-no-notes");

/// A note in the list.
pub fn note(name: &str, title: &str, gauge: &str) -> String {
    let title = if title.is_empty() { String::new() } else { format!(": {title}") };
    format!("- **{name}**{title}, {gauge}")
}

/// Number of notes that are not listed, and the command that lists them.
pub fn more_notes(surface: Surface, count: usize) -> String {
    let command = match surface {
        Surface::Chat(_) => "/files memory",
        Surface::CommandLine => "`compline files memory`",
    };
    say!(surface.language(), "memory-more-notes", count = count, command = command)
}

/// Today's note.
pub fn today(language: Language, name: &str, gauge: &str) -> String {
    say!(language, "memory-today", name = name, gauge = gauge)
}

/// Note that today's note is empty.
pub const NOTHING_TODAY: Sentence = Sentence("memory-nothing-today");

/// Notes of other days: their total, the newest, and the one with the least space left.
pub fn days(language: Language, count: usize, bytes: u64, newest: &str, (fullest, gauge): (&str, &str)) -> String {
    let counted = counted(language, count, bytes);
    say!(language, "memory-days", counted = counted, newest = newest, fullest = fullest, gauge = gauge)
}

/// Heading of the facts extracted from conversations.
pub const TAKEN_DOWN: Sentence = Sentence("memory-facts");

/// A file of extracted facts.
pub fn taken_down(name: &str, gauge: &str) -> String {
    format!("- **{name}**, {gauge}")
}

/// Quarantined notes from outside.
pub fn waiting(count: usize, bytes: u64, way: Surface) -> String {
    let promote = way.command("promote NOTE", "memory promote NOTE");
    let counted = counted(way.language(), count, bytes);
    say!(way.language(), "memory-waiting", counted = counted, promote = promote)
}

/// Totals of the memory. `place` is their folder, on the command line.
pub fn total(files: usize, bytes: u64, place: Option<&str>, way: Surface) -> String {
    let place = place.map(|place| format!(" in {place}")).unwrap_or_default();
    let counted = format!("{}{place}", counted(way.language(), files, bytes));
    let show = way.command("memory NOTE", "memory show NOTE");
    let history = way.command("memory history NOTE", "memory history NOTE");
    say!(way.language(), "memory-total", counted = counted, show = show, history = history)
}

/// Formats a number of files with their size.
pub fn counted(language: Language, count: usize, bytes: u64) -> String {
    say!(language, "memory-counted", count = count, size = size(language, bytes))
}

/// Heading of a note.
pub fn note_head(path: &str, gauge: &str) -> String {
    format!("**{path}**, {gauge}")
}

/// Warning below the heading of a note from outside.
pub fn from_outside(language: Language, sources: &str) -> String {
    say!(language, "memory-from-outside", sources = sources)
}

/// Note that the shown text is only the beginning.
pub const CUT: Sentence = Sentence("memory-cut");

/// Reply to an unknown note name.
pub const NO_SUCH_NOTE: Sentence = Sentence("memory-no-such-note");
/// The same on the command line.
pub const NO_SUCH_NOTE_HERE: &str = "There is no such note. `compline memory` lists them.";
/// Reply to an invalid note name.
pub const NO_NAME: &str = "A note needs a name of letters, digits, spaces or dashes.";
/// Reason: not UTF-8 text.
pub const NOT_TEXT: Sentence = Sentence("memory-not-text");
/// Reason: larger than 1 MB.
pub const TOO_LARGE: Sentence = Sentence("memory-too-large");
/// Reason: cannot be opened, or leads out of the folder.
pub const NOT_OPENED: Sentence = Sentence("memory-not-opened");

/// Warning that `MEMORY.md` cannot be read.
pub fn index_unread(language: Language, why: Sentence) -> String {
    say!(language, "memory-index-unread", why = why.in_language(language).into_string())
}

/// Heading of the unreadable files.
pub const UNREAD: Sentence = Sentence("memory-unread-files");

/// An unreadable file.
pub fn unread(language: Language, name: &str, why: Sentence) -> String {
    format!("- **{name}**: {}", &*why.in_language(language))
}

/// Reply to a request for a file that is too large.
pub const TOO_LARGE_TO_SHOW: Sentence = Sentence("memory-too-large-to-show");
/// Reply to a request for a file that is not text.
pub const UNREADABLE: Sentence = Sentence("memory-unreadable");

/// Reply to `/remember`.
pub fn remembered(language: Language, path: &str, gauge: &str, instead_of: Option<&str>) -> String {
    let instead = instead(language, instead_of);
    say!(language, "memory-remembered", instead = instead, path = path, gauge = gauge)
}

/// Added to the reply when the file holds text from outside and is not loaded.
pub const REMEMBERED_UNREAD: Sentence = Sentence("memory-remembered-unread");

/// Reply when a long text was stored as a note.
pub fn remembered_as_note(language: Language, path: &str, bytes: u64, instead_of: Option<&str>) -> String {
    let (size, instead) = (size(language, bytes), instead(language, instead_of));
    say!(language, "memory-remembered-as-note", path = path, size = size, instead = instead)
}

/// Reply when the text is stored already.
pub fn known_already(language: Language, path: &str) -> String {
    say!(language, "memory-known", path = path)
}

/// Reply when a file is full. Its limit is `most`, or its current size if that is larger.
pub fn full(language: Language, path: &str, most: usize, room: usize) -> String {
    match most > room {
        true => say!(language, "memory-overfull", path = path, room = room / 1024),
        false => say!(language, "memory-full", path = path, room = room / 1024),
    }
}

/// Reply when a file of the change cannot be read as text.
pub fn broken(language: Language, path: &str) -> String {
    say!(language, "memory-broken", path = path)
}

/// Reply when a change failed for another reason.
pub fn not_kept(language: Language, why: &str) -> String {
    say!(language, "memory-not-kept", why = why)
}

/// Reason for a refused change, by its code.
pub fn write_refused(language: Language, why: &'static str) -> String {
    say!(language, "write-refused", why = why)
}

/// Reply to the promotion of a note that is trusted already.
pub fn yours_already(language: Language, path: &str) -> String {
    say!(language, "memory-yours", path = path)
}

/// Instructions below the text of a note that is to be promoted.
pub fn how_to_promote(name: &str, code: &str, way: Surface) -> String {
    let command = way.command(&format!("promote {name} {code}"), &format!("memory promote {name} {code}"));
    say!(way.language(), "memory-how-to-promote", command = command)
}

/// Reply to the promotion of a note that is too long for a chat.
pub fn too_long_to_promote(language: Language, name: &str) -> String {
    let command = Surface::CommandLine.command("", &format!("memory promote {name}"));
    say!(language, "memory-too-long-to-promote", command = command)
}

/// Reply to a promotion code that does not match the current text.
pub fn wrong_code(name: &str, way: Surface) -> String {
    let command = way.command(&format!("promote {name}"), &format!("memory promote {name}"));
    say!(way.language(), "memory-wrong-code", command = command)
}

/// Title of the button that promotes.
pub const PROMOTE_BUTTON: Sentence = Sentence("button-promote");

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
pub fn history_head(language: Language, path: &str) -> String {
    say!(language, "versions-head", path = path)
}

/// Remark below the last versions that are listed.
pub fn versions_cut(language: Language, count: u32) -> String {
    say!(language, "versions-cut", count = count.to_string())
}

/// A version in the list.
pub fn version(language: Language, id: FileId, at: &str, origin: &str, facts: &str) -> String {
    let version = say!(language, "version", id = id.to_string());
    format!("- {version}, {at}, {origin} ({facts})")
}

/// Author of a version, and the reason for it.
pub fn version_origin(language: Language, author: &str, cause: &str) -> String {
    let author = say!(language, "version-author", author = author);
    let known = match cause {
        "" | "hand" => return author,
        "first" | "received" | "given" | "remember" | "save" | "section" | "file" | "edit" | "facts" | "learned"
        | "promote" | "import" | "forget" | "follow" | "merge" | "unlist" | "page" | "restore" => {
            say!(language, "version-cause", cause = cause)
        }
        other => other.to_owned(),
    };
    format!("{author}, {known}")
}

/// Details of a version.
pub fn version_facts(language: Language, bytes: Option<u64>, deleted: bool, sources: &str, present: bool) -> String {
    let mut facts = match (deleted, bytes) {
        (true, _) => vec![say!(language, "version-deleted")],
        (false, Some(bytes)) => vec![size(language, bytes)],
        (false, None) => vec![say!(language, "version-without-text")],
    };
    facts.extend((!sources.is_empty()).then(|| say!(language, "from-outside", sources = sources)));
    facts.extend(present.then(|| say!(language, "version-present")));
    facts.join("; ")
}

/// Instructions below the list of versions.
pub fn how_to_restore(name: &str, way: Surface) -> String {
    let [history, restore] = ["history", "restore"].map(|verb| format!("memory {verb} {name} VERSION"));
    let (show, restore) = (way.command(&history, &history), way.command(&restore, &restore));
    say!(way.language(), "versions-how", show = show, restore = restore)
}

/// Heading of one version.
pub fn version_head(language: Language, path: &str, id: FileId, at: &str, origin: &str, facts: &str) -> String {
    let version = say!(language, "version", id = id.to_string());
    format!("**{path}**, {version} ({at}), {origin} ({facts})")
}

/// Heading of two compared versions.
pub fn comparison_head(language: Language, path: &str, old: FileId, new: FileId) -> String {
    say!(language, "comparison", path = path, old = old.to_string(), new = new.to_string())
}

/// Remark about two versions with the same text.
pub const NO_DIFFERENCE: Sentence = Sentence("comparison-same");

/// Heading of the lines that restoring a version changes.
pub const RESTORING_CHANGES: Sentence = Sentence("memory-restoring-changes");
/// Remark about a version that is there now.
pub const IS_THERE_NOW: Sentence = Sentence("memory-is-there");

/// Instructions below one version.
pub fn how_to_restore_version(name: &str, id: FileId, way: Surface) -> String {
    let command = format!("memory restore {name} {id}");
    say!(way.language(), "version-how", command = way.command(&command, &command))
}

/// Reply to a restored version.
pub fn restored(language: Language, path: &str, version: FileId, trusted: bool) -> String {
    let restored = say!(language, "version-restored", path = path, id = version.to_string());
    if trusted { restored } else { format!("{restored} {}", say!(language, "version-restored-outside")) }
}

/// Added to that reply: the name under which an unreadable file was kept.
pub fn made_way(language: Language, path: &str) -> String {
    format!(" {}", say!(language, "version-made-way", path = path))
}

/// Reply when the file has the content of that version already.
pub fn same_content(language: Language, path: &str, version: FileId) -> String {
    say!(language, "version-same", path = path, id = version.to_string())
}

/// Reply to an unknown version number.
pub fn no_such_version(name: &str, way: Surface) -> String {
    let command = format!("memory history {name}");
    say!(way.language(), "version-unknown", command = way.command(&command, &command))
}

/// Reply to a version whose text was deleted.
pub fn version_gone(language: Language, version: FileId) -> String {
    say!(language, "version-gone", id = version.to_string())
}

/// Reply to the restoration of untrusted text into a file that is always loaded.
pub const STILL_FROM_OUTSIDE: Sentence = Sentence("memory-still-from-outside");

/// Reply after an edit. `read` states if memory is loaded at all.
pub fn edited(path: &str, gauge: &str, read: bool) -> String {
    format!("{path}, {gauge}. {}", from_now_on(Language::ENGLISH, read))
}

/// Added to that reply: the file was changed while the editor was open.
pub const EDIT_MERGED: &str = "What was written into it while the editor was open is in it too.";

/// Added to that reply: the file was changed in the same lines while the editor was open.
pub fn edit_clashes(own: &str) -> String {
    format!(
        "Where you wrote “{own}”, something else was written while the editor was open: both stand there now, yours below."
    )
}

/// Error: what was written in an editor could not be taken in.
pub fn edit_kept(why: &str, copy: &Path) -> String {
    format!("{why} What you wrote is kept in {}.", copy.display())
}

/// Error: the editor saved something that is no text.
pub const EDIT_NO_TEXT: &str = "The editor saved something that is not UTF-8 text.";

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
pub fn keep_this(language: Language, sources: &str) -> String {
    say!(language, "keep-this", sources = sources)
}

fn instead(language: Language, of: Option<&str>) -> String {
    match of {
        None => String::new(),
        Some(old) => format!(" {}", say!(language, "instead-of", old = escape_markdown(old))),
    }
}

/// Heading of the question whether lines of a file that came from outside are to count as the person's.
pub fn keep_this_file(language: Language, path: &str, sources: &str) -> String {
    say!(language, "keep-this-file", path = path, sources = sources)
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

/// Heading of what agents and profiles have learned.
pub const AGENT_MEMORIES: Sentence = Sentence("agent-memories");
/// The same without any but that in use.
pub const NO_OTHER_MEMORIES: Sentence = Sentence("agent-memories-none");

/// Memory of an agent or profile; `state` is `own`, `on` or `off`.
pub fn agent_memory(language: Language, name: &str, bytes: u64, state: &str) -> String {
    say!(language, "agent-memory", name = name, size = size(language, bytes), state = state)
}

/// Instructions below the list.
pub fn how_to_switch(surface: Surface) -> String {
    let command = surface.command("memory profile NAME on|off", "memory profile NAME on");
    say!(surface.language(), "agent-memory-how", command = command)
}

/// Error: no such agent or profile.
pub fn no_such_memory(surface: Surface, name: &str) -> String {
    let list = surface.command("memory profiles", "memory profiles");
    say!(surface.language(), "agent-memory-unknown", name = name, list = list)
}

/// Error: the memory of the agent in use, or of its profile, cannot be switched.
pub fn own_memory(language: Language, name: &str) -> String {
    say!(language, "agent-memory-own", name = name)
}

/// Notice: a change of the assistant took lines of the person's own hand away.
pub fn took_lines(language: Language, path: &str, lines: &str, version: FileId) -> String {
    let restore = format!("/memory restore {path} {version}");
    say!(language, "memory-took-lines", path = escape_markdown(path), lines = lines, restore = restore)
}

/// Reply: it was switched.
pub fn memory_switched(language: Language, name: &str, is_on: bool) -> String {
    say!(language, "agent-memory-switched", name = name, on = if is_on { "yes" } else { "no" })
}

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
            assert_eq!(size(Language::ENGLISH, bytes), words);
        }
        assert_eq!(gauge(Language::ENGLISH, 3_174, 65_536), "3.1 of 64 KB (5 %)");
        assert_eq!(gauge(Language::ENGLISH, 0, 65_536), "0.0 of 64 KB (0 %)");
        assert_eq!(gauge(Language::ENGLISH, 70_000, 65_536), "68.4 of 64 KB (107 %)");
    }
}
