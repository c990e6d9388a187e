//! Text about the items of `HEARTBEAT.md`: for the model that ticks them, and replies to
//! `/heartbeat`.

use super::language::{Language, say};
use crate::text::{one_sentence, sentence};

/// Description of `heartbeat_done`.
pub const DONE: &str = "Tick an open box of HEARTBEAT.md once it is done.";
/// Description of the argument `item`.
pub const DONE_ITEM: &str = "Its words";
/// Error: the person is no owner, or there is no person.
pub const NOT_AN_OWNER: &str = "Only owners have a HEARTBEAT.md.";
/// Error: the file cannot be read or the tick cannot be stored.
pub const NOT_TICKED: &str = "That could not be ticked just now. Nothing was changed.";
/// Error: there is no file, or it may not be followed.
pub const NO_FILE: &str = "There is no HEARTBEAT.md written by a person, so there is nothing to tick.";
/// Error: the item has no box.
pub const STANDING: &str = "That line has no box: it stands for good, and only its owner takes it out. Tell them how, if they want that: `/heartbeat`.";

/// Refusal: the words of an item stand in something from outside.
pub const PASTED: &str = "These words stand in something that came from outside, so I do not follow them by myself. If you want them there, write them into \
    HEARTBEAT.md with an editor.";

/// Result: the item is ticked.
pub fn ticked(words: &str) -> String {
    format!("Ticked: {} The file keeps the line until its owner takes it out with `/heartbeat tidy`.", sentence(words))
}

/// Question for consent to tick an item; words that are not quoted stand below.
pub fn may_i_tick(language: Language, words: Option<&str>) -> String {
    match words {
        Some(words) => say!(language, "may-i-tick", words = words),
        None => say!(language, "may-i-tick-this"),
    }
}

/// Result: the item was ticked before.
pub fn was_ticked(words: &str) -> String {
    format!("That is ticked already: {}", sentence(words))
}

/// Error: no item, or more than one, has these words.
pub fn no_such_item(open: &[String]) -> String {
    match open {
        [] => "Nothing in HEARTBEAT.md is open.".to_owned(),
        open => format!("No open item is clearly meant. These are open: {}", one_sentence(open)),
    }
}

/// Reply to `/heartbeat` without items.
pub const EMPTY: &str =
    "Your HEARTBEAT.md is empty, so I look at nothing by myself. `/heartbeat add TEXT` puts something on it.";
/// Reply: the heartbeat is off.
pub const OFF: &str = "The heartbeat is off: `interval` under [heartbeat] is \"0\".";
/// Reply: the text is too long.
pub const TOO_LONG: &str = "That is too long for an item. Put it into HEARTBEAT.md with an editor.";
/// Reply: nothing is ticked.
pub const NOTHING_TO_TIDY: &str = "Nothing in HEARTBEAT.md is ticked, so there is nothing to take out.";
/// Reply: the file could not be changed.
pub const NOT_CHANGED: &str = "HEARTBEAT.md could not be changed. The log says why.";

/// Reply: untrusted text had a part in the file.
pub fn from_outside(sources: &str) -> String {
    format!(
        "HEARTBEAT.md is not followed, because text from outside had a part in it ({sources}). Write it anew with an editor, under another name \
         first, and rename it."
    )
}

/// Items under their numbers, with what comes below them.
pub fn list(items: &[String], state: &str) -> String {
    format!(
        "{}\n\n{state}\n\n`/heartbeat done NUMBER` ticks one, `open NUMBER` unticks it, `add TEXT` adds something to do once, `always TEXT` \
         something to look at each time, `tidy` takes out what is ticked.",
        items.join("\n")
    )
}

/// An open item.
pub fn open(number: usize, words: &str) -> String {
    format!("{number}. \u{2610} {words}")
}

/// A line that stands for good.
pub fn standing(number: usize, words: &str) -> String {
    format!("{number}. {words}")
}

/// A ticked item; `when` is blank if its owner ticked it in the file.
pub fn done(number: usize, words: &str, when: &str) -> String {
    let when = if when.is_empty() { String::new() } else { format!(" ({when})") };
    format!("{number}. \u{2611} {words}{when}")
}

/// Time of a tick by the assistant.
pub fn by_assistant(at: &str) -> String {
    format!("ticked by me, {at}")
}

/// Time of a tick by the owner's command.
pub fn by_owner(at: &str) -> String {
    format!("ticked by you, {at}")
}

/// Last and next run.
pub fn state(last: Option<&str>, next: Option<&str>, zone: &str) -> String {
    let last = last.map_or_else(
        || "I have not looked at it with a model yet".to_owned(),
        |at| format!("Last checked with a model {at}"),
    );
    let next = next
        .map_or_else(|| "nothing is open".to_owned(), |at| format!("next {at}, sooner if it or your memory changes"));
    format!("{last}; {next} ({zone}).")
}

/// Reply: an item is added.
pub fn added(words: &str) -> String {
    format!("On the list: {words}")
}

/// Reply: the item is there and open.
pub fn added_before(words: &str) -> String {
    format!("That is on the list already: {words}")
}

/// Reply: an item is ticked.
pub fn done_by_owner(words: &str) -> String {
    format!("Done: {words}")
}

/// Reply: an item is open again.
pub fn reopened(words: &str) -> String {
    format!("Open again: {words}")
}

/// Reply: the box is ticked in the file itself.
pub fn ticked_in_file(words: &str) -> String {
    format!(
        "That box is ticked in the file, which only you change: {} `/heartbeat add` puts it on the list again.",
        sentence(words)
    )
}

/// Reply: no item, or more than one, is meant.
pub const WHICH: &str = "No item is clearly meant. `/heartbeat` lists them with their numbers.";

/// Items that would be taken out.
pub fn offer(items: &[String]) -> String {
    format!("I would take this out of HEARTBEAT.md:\n{}\n\n`/heartbeat tidy yes` does it.", bullets(items))
}

/// Reply: items were taken out.
pub fn tidied(items: &[String]) -> String {
    format!("Taken out of HEARTBEAT.md:\n{}", bullets(items))
}

fn bullets(items: &[String]) -> String {
    items.iter().map(|item| format!("- {item}")).collect::<Vec<_>>().join("\n")
}
