//! What people read about what is known of them: the list, single notes, earlier versions, and the
//! question whether something is to be kept.

use std::time::Duration;

use super::review_command::Surface;
use crate::id::{FileId, QuestionId};

/// What /memory does.
pub const DOES_MEMORY: &str = "show what I keep: /memory [NOTE | search … | history …]";
/// What /remember does.
pub const DOES_REMEMBER: &str = "keep a text for you, word for word";
/// What /promote does.
pub const DOES_PROMOTE: &str = "make a note that came from outside yours";
/// How /remember is written.
pub const HOW_REMEMBER: &str = "/remember TEXT";
/// How /promote is written.
pub const HOW_PROMOTE: &str = "/promote NOTE";
/// How /memory search is written.
pub const HOW_SEARCH: &str = "/memory search [--agent NAME] [--section HEADING] [--case] [--context LINES] WORDS";
/// How /memory history is written.
pub const HOW_HISTORY: &str = "/memory history NOTE";
/// How /memory restore is written.
pub const HOW_RESTORE: &str = "/memory restore NOTE VERSION";

/// Where there is no editor.
pub const EDIT_WHERE: &str = "There is no editor here. In a terminal on the computer that I run on, `compline memory edit [NOTE]` opens one, and so \
    does `/memory edit [NOTE]` in `compline chat`. Anything that changes Markdown files will do: I read them again before each answer.";

/// A size as a person reads it: `812 bytes`, `3.1 KB`.
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

/// How full something is: `3.1 of 64 KB (5 %)`.
pub fn gauge(bytes: u64, most: u64) -> String {
    let percent = (bytes * 100 + most / 2).checked_div(most).unwrap_or(0);
    let tenths = (bytes * 10 + 512) / 1024;
    format!("{}.{} of {} KB ({percent} %)", tenths / 10, tenths % 10, most / 1024)
}

/// How much of `MEMORY.md` is read before each answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Nothing: memory is switched off.
    Nothing,
    /// What there is room for.
    Part,
    /// All of it.
    Whole,
}

/// The first line of the overview.
pub fn head(gauge: &str, reads: Reads) -> String {
    let read = match reads {
        Reads::Nothing => "",
        Reads::Part => " Before each answer I read what there is room for: its newest facts and its index.",
        Reads::Whole => " I read it before each answer.",
    };
    format!("**MEMORY.md**, {gauge}.{read}")
}

/// Above the overview, and in place of an answer, where nothing is to be kept.
pub const SWITCHED_OFF: &str = "Memory is switched off (`[memory] enabled`): I keep nothing, and I do not read by myself what was kept before. The files stay.";

/// The text goes on.
pub fn goes_on(command: &str) -> String {
    format!("It goes on: {command} shows all of it.")
}

/// Above the list of notes.
pub fn notes_head(count: usize, bytes: u64) -> String {
    format!("**Notes**: {}", counted(count, bytes))
}

/// There are none.
pub const NO_NOTES: &str = "**Notes**: none yet. Tell me what to remember, or use /remember.";

/// One of them.
pub fn note(name: &str, title: &str, gauge: &str) -> String {
    let title = if title.is_empty() { String::new() } else { format!(": {title}") };
    format!("- **{name}**{title}, {gauge}")
}

/// More notes than the list has room for.
pub fn more_notes(count: usize) -> String {
    format!("- and {count} more")
}

/// The note of the day.
pub fn today(name: &str, gauge: &str) -> String {
    format!("**Today**: {name}, {gauge}")
}

/// Nothing was noted today.
pub const NOTHING_TODAY: &str = "**Today**: nothing yet";

/// The notes of other days: all of them, and the one with the least room left.
pub fn days(count: usize, bytes: u64, newest: &str, (fullest, gauge): (&str, &str)) -> String {
    format!("**Other days**: {}, the newest {newest}; the fullest {fullest}, {gauge}", counted(count, bytes))
}

/// Above what was taken down in conversations.
pub const TAKEN_DOWN: &str = "**Taken down in conversations**:";

/// One of the files that it is in.
pub fn taken_down(name: &str, gauge: &str) -> String {
    format!("- **{name}**, {gauge}")
}

/// Above what came from outside.
pub fn waiting(count: usize, bytes: u64, way: Surface) -> String {
    let promote = way.command("promote NOTE", "memory promote NOTE");
    format!(
        "**From outside**, read only when I am asked to: {}. `{promote}` shows one and how to make it yours.",
        counted(count, bytes)
    )
}

/// All of it together.
pub fn total(files: usize, bytes: u64, place: Option<&str>, way: Surface) -> String {
    let place = place.map(|place| format!(" in {place}")).unwrap_or_default();
    let show = way.command("memory NOTE", "memory show NOTE");
    let history = way.command("memory history NOTE", "memory history NOTE");
    format!("Together {}{place}. `{show}` shows one, `{history}` what it was before.", counted(files, bytes))
}

fn counted(count: usize, bytes: u64) -> String {
    format!("{count} file{}, {}", if count == 1 { "" } else { "s" }, size(bytes))
}

/// Above the words of one note.
pub fn note_head(path: &str, gauge: &str) -> String {
    format!("**{path}**, {gauge}")
}

/// Under the head of one that came from outside.
pub fn from_outside(sources: &str) -> String {
    format!("These words came from outside ({sources}). I read them only when I am asked to.")
}

/// It is longer than a chat holds.
pub const CUT: &str = "It is longer than can be shown here; this is its beginning. The file itself has all of it.";

/// Nothing goes by that name.
pub const NO_SUCH_NOTE: &str = "There is no such note. /memory lists them.";
/// The same on the command line.
pub const NO_SUCH_NOTE_HERE: &str = "There is no such note. `compline memory` lists them.";
/// A name that no note can have.
pub const NO_NAME: &str = "A note needs a name of letters, digits, spaces or dashes.";
/// Why a file is not read.
pub const NOT_TEXT: &str = "it is no text in UTF-8";
/// Why a file is not read.
pub const TOO_LARGE: &str = "it is larger than 1 MB";
/// Why a file is not read.
pub const NOT_OPENED: &str = "it cannot be opened, or leads out of the folder";

/// `MEMORY.md` itself cannot be read.
pub fn index_unread(why: &str) -> String {
    format!(
        "**MEMORY.md** cannot be read: {why}. Nothing of it is known, and nothing is added, until you mend it by hand."
    )
}

/// Above the files that cannot be read.
pub const UNREAD: &str = "**Not read, not searched**, until you mend them by hand:";

/// One of them.
pub fn unread(name: &str, why: &str) -> String {
    format!("- **{name}**: {why}")
}

/// It is too large to be read or shown.
pub const TOO_LARGE_TO_SHOW: &str = "That file is larger than 1 MB, so it is neither read nor shown.";
/// It can be neither read nor shown.
pub const UNREADABLE: &str = "That file cannot be read as text.";

/// A fact was taken down.
pub fn remembered(path: &str, gauge: &str) -> String {
    format!("I keep that in mind from now on ({path}, {gauge}).")
}

/// It was written into a file that is not read by itself.
pub const REMEMBERED_UNREAD: &str = "That stands in MEMORY.md now, but words from outside are in that file, so I do not read it by myself. `/promote MEMORY` shows \
    it and how to make it yours.";

/// A long text was kept as a note.
pub fn remembered_as_note(path: &str, bytes: u64) -> String {
    format!("Kept as {path} ({}), with a line in MEMORY.md.", size(bytes))
}

/// It stands there already.
pub fn known_already(path: &str) -> String {
    format!("That stands in {path} already.")
}

/// The file is full: it may become so large by what I add, or as large as it is, if it is larger
/// already.
pub fn full(path: &str, most: usize, room: usize) -> String {
    let is = if most > room { "is already larger than the" } else { "would be larger than" };
    let may = if most > room { " that it may become" } else { "" };
    format!(
        "Not kept: {path} {is} {} KB{may}. Shorten it with an editor (`compline memory edit`), then try again.",
        room / 1024
    )
}

/// A file that has a part in it cannot be read.
pub fn broken(path: &str) -> String {
    format!(
        "Nothing was changed: {path} cannot be read as text. It may hold something else, be far too large, or belong to another user. Mend or move it by hand, then \
         try again; `compline doctor` looks at all of them."
    )
}

/// It could not be written for another reason.
pub fn not_kept(why: &str) -> String {
    format!("Nothing was changed: {why}.")
}

/// A note that nobody has to promote.
pub fn yours_already(path: &str) -> String {
    format!("{path} is yours already.")
}

/// Under the words of a note that is to be promoted: how to do it.
pub fn how_to_promote(name: &str, code: &str, way: Surface) -> String {
    format!(
        "If these words are to count as yours, `{}` makes it so: I read them like anything that you told me. The code stands for exactly this text.",
        way.command(&format!("promote {name} {code}"), &format!("memory promote {name} {code}"))
    )
}

/// It is too long to be promoted from a chat.
pub fn too_long_to_promote(name: &str) -> String {
    format!(
        "It is too long for a chat, and nobody should make theirs what they have not read. `{}` shows it whole.",
        Surface::CommandLine.command("", &format!("memory promote {name}"))
    )
}

/// A code of another text, or of what stood there before.
pub fn wrong_code(name: &str, way: Surface) -> String {
    format!(
        "That code is not for what stands there now, so nothing was changed. `{}` shows the text and its code.",
        way.command(&format!("promote {name}"), &format!("memory promote {name}"))
    )
}

/// The title of the button that promotes.
pub const PROMOTE_BUTTON: &str = "Make it mine";

/// It is theirs. `read` says whether memory is read at all.
pub fn promoted(path: &str, read: bool) -> String {
    format!("Done: {path} is yours now. {}", from_now_on(read))
}

fn from_now_on(read: bool) -> &'static str {
    if read { "I know it from the next message on." } else { "Memory is switched off, so I do not read it by myself." }
}

/// Above the versions of a note.
pub fn history_head(path: &str) -> String {
    format!("**{path}**, newest first")
}

/// One of them.
pub fn version(id: FileId, at: &str, who: &str, what: &str, facts: &str) -> String {
    format!("- version {id}, {at}, {who}{what}{facts}")
}

/// Who made a version.
pub fn author(word: &str) -> &'static str {
    match word {
        "assistant" => "the assistant",
        "person" => "you, with a command",
        "hand" => "you, by hand",
        "found" => "found after a restore",
        _ => "the program",
    }
}

/// Why a version was made, with what goes before it.
pub fn cause(word: &str) -> String {
    let words = match word {
        "" | "hand" => return String::new(),
        "first" => "first contents",
        "received" => "received",
        "remember" => "a note",
        "save" => "the note of the day",
        "section" => "one section",
        "file" => "the whole file",
        "edit" => "an edit",
        "facts" => "facts from a conversation",
        "learned" => "a lesson",
        "promote" => "made yours",
        "forget" => "forgotten",
        "restore" => "an earlier version",
        other => other,
    };
    format!(", {words}")
}

/// What else there is to say about a version.
pub fn version_facts(bytes: Option<u64>, deleted: bool, sources: &str, present: bool) -> String {
    let mut facts = match (deleted, bytes) {
        (true, _) => vec!["deleted".to_owned()],
        (false, Some(bytes)) => vec![size(bytes)],
        (false, None) => vec!["its words are not kept any more".to_owned()],
    };
    if !sources.is_empty() {
        facts.push(format!("from outside: {sources}"));
    }
    if present {
        facts.push("there now".to_owned());
    }
    format!(" ({})", facts.join("; "))
}

/// Older versions that are not shown.
pub fn older(count: usize) -> String {
    format!("and {count} older ones")
}

/// Below the versions.
pub fn how_to_restore(name: &str, way: Surface) -> String {
    format!(
        "`{}` puts one back.",
        way.command(&format!("memory restore {name} VERSION"), &format!("memory restore {name} VERSION"))
    )
}

/// An earlier version is there again.
pub fn restored(path: &str, version: FileId, trusted: bool) -> String {
    let label = if trusted { "" } else { " Its words still count as coming from outside." };
    format!("Done: {path} is again what it was in version {version}.{label}")
}

/// Behind that: what could not be read, and is kept.
pub fn made_way(path: &str) -> String {
    format!(" What stood there could not be read as text; it is kept as {path}.")
}

/// It stands there already.
pub fn same_content(path: &str, version: FileId) -> String {
    format!("Nothing had to be changed: {path} is what it was in version {version}.")
}

/// There is no such version of it.
pub fn no_such_version(name: &str, way: Surface) -> String {
    format!(
        "It has no such version. `{}` lists them.",
        way.command(&format!("memory history {name}"), &format!("memory history {name}"))
    )
}

/// Its words are not kept any more.
pub fn version_gone(version: FileId) -> String {
    format!("The words of version {version} are not kept any more, so it cannot come back.")
}

/// Words from outside cannot come back into a file that is loaded by itself.
pub const STILL_FROM_OUTSIDE: &str = "Nothing was changed: the words of that version came from outside, and no version of a file that I read by myself may hold them.";

/// After a change by hand. `read` says whether memory is read at all.
pub fn edited(path: &str, gauge: &str, read: bool) -> String {
    format!("{path}, {gauge}. {}", from_now_on(read))
}

/// An editor was opened, and nothing was changed.
pub fn unchanged(path: &str, gauge: &str) -> String {
    format!("{path} is unchanged, {gauge}.")
}

/// An editor was opened on a new note, and nothing was written.
pub fn not_made(path: &str) -> String {
    format!("{path} was not made.")
}

/// It is more than is read of it.
pub fn overfull(path: &str, gauge: &str) -> String {
    format!("{path}, {gauge}: that is more than fits, and the assistant adds nothing to it until it is shorter.")
}

/// No editor was found.
pub const NO_EDITOR: &str = "No editor was found. Name one in the variable VISUAL or EDITOR, or install nano.";

/// An editor could not be run, or was unhappy.
pub fn editor_failed(editor: &str, why: &str) -> String {
    format!("The editor {editor} failed: {why}. What it wrote, if anything, stays.")
}

/// The question whether something is to be kept, above the words.
pub fn keep_this(path: &str, sources: &str) -> String {
    format!(
        "**Keep this?** I was about to remember the following, but words from outside had a part in it ({sources}). It lies in `{path}`, and I do not \
         read it by myself."
    )
}

/// Below the words.
pub fn keep_how(number: QuestionId, open_for: Duration) -> String {
    format!(
        "`/yes {number}` makes exactly these words yours: they count as if you had told me. `/no {number}` leaves them where they are. I ask for {}.",
        super::span(open_for)
    )
}

/// What is too long to be asked about, and what is one too many.
pub fn keep_later(path: &str, name: &str) -> String {
    format!("- `{path}`: `/promote {name}` shows it")
}

/// Above those that are not shown.
pub const KEEP_LATER: &str = "**Keep this?** I was about to remember more, but words from outside had a part in it, and it is too much to be shown here. I do not \
    read it by myself:";

/// The titles of the buttons.
pub const KEEP_BUTTON: &str = "Keep it";
/// The other one.
pub const LEAVE_BUTTON: &str = "Leave it";

/// A yes that was begun to be carried out, and is finished as soon as the disk lets it.
pub fn keep_waits(path: &str) -> String {
    format!(
        "{path} is not yours yet: the files of the memory cannot be written just now. It becomes yours as soon as they can; you need not do anything. `compline doctor` \
         tells what is wrong."
    )
}

/// They said no.
pub const LEFT: &str = "It stays where it is, and I do not read it by myself.";
/// They said yes, and it cannot be written.
pub fn keep_stuck(path: &str) -> String {
    format!(
        "I could not make {path} yours: the files of the memory cannot be written just now. `compline doctor` tells what is wrong; /memory shows what is there, and \
         /promote tries again."
    )
}

/// They said yes, and something else lies there now.
pub const KEEP_CHANGED: &str = "Nothing was kept: what lies there now is not what you were shown. /memory lists what came from outside, and /promote shows it.";

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
