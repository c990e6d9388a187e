//! Text about the deletion and the export of a person's data.

use super::ProgramText;
use super::review::Surface;
use crate::id::ErasureId;

/// Result: a search finds no occurrence any more.
pub const PROVED: &str = "A search for it finds nothing any more.";
/// Note that older backups still contain the text, and a replica for some days.
pub fn kept_elsewhere(replica_days: Option<u32>) -> String {
    let backups = "Backups made before still contain it, until you delete them.";
    match replica_days {
        None => backups.to_owned(),
        Some(1) => format!("{backups} The replica on another machine does for up to a day."),
        Some(days) => format!("{backups} The replica on another machine does for up to {days} days."),
    }
}
/// Result: a search finds only what the person left out.
pub const PROVED_BUT_SPARED: &str = "Apart from what you left out, a search for it finds nothing any more.";
/// Result: nothing was left to delete.
pub const NOTHING_LEFT: &str = "Nothing of it is left.";
/// Error: the only owner cannot be deleted.
pub const LAST_OWNER: &str = "The only owner cannot be forgotten: nobody would be in charge. Delete the home instead.";

/// Error: no note or fact of this name.
pub fn none_such(name: &str, surface: Surface) -> String {
    format!(
        "There is no note or fact called {name}, and no line says exactly that. {} shows what there is: give the name of a note, or a line word for word. \
         `{}` deletes what was only said.",
        surface.command("memory", "memory"),
        with_messages("WORDS", surface)
    )
}

/// Error: no note or fact of this name, and no text contains the words.
pub fn none_said(name: &str) -> String {
    format!("There is no note or fact called {name}, and no message or file holds these words on one line.")
}

/// Error: no note or fact of this name, and the words are too short for a search in messages.
pub fn too_few(name: &str) -> String {
    format!("There is no note or fact called {name}, and that is too short to search messages for.")
}

/// Command that also deletes messages.
fn with_messages(what: &str, surface: Surface) -> String {
    let typed = if what.contains(' ') { format!("\"{what}\"") } else { what.to_owned() };
    surface.command(&format!("forget {what} messages"), &format!("memory forget {typed} --messages"))
}

/// Error: no note or fact of this name in the group.
pub fn none_such_in_group(name: &str) -> String {
    format!(
        "I keep no note or fact called {name} for this group. To forget what I keep for you alone, use our direct chat."
    )
}

/// Note of what stays because it was left out.
pub fn left_out(items: &[String]) -> String {
    if items.is_empty() {
        "What you left out stays.".to_owned()
    } else {
        format!("Left out, so it stays: {}.", items.join(", "))
    }
}

/// Numbers of deleted items.
pub fn forgotten(parts: &[String]) -> String {
    if parts.is_empty() { "Forgotten.".to_owned() } else { format!("Forgotten: {}.", parts.join(", ")) }
}

/// Number of items of one kind; `None` for zero.
pub fn counted(count: usize, one: &str, many: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        more => Some(format!("{more} {many}")),
    }
}

/// Kinds of items: singular and plural.
pub const KINDS: [(&str, &str); 8] = [
    ("note", "notes"),
    ("line", "lines"),
    ("entry", "entries"),
    ("earlier version", "earlier versions"),
    ("place in summaries", "places in summaries"),
    ("copy", "copies"),
    ("message", "messages"),
    ("export archive, as it held a copy of everything", "export archives, as they held a copy of everything"),
];

/// Note that messages still contain the text.
pub fn in_messages(messages: &str, id: ErasureId, surface: Surface) -> String {
    format!(
        "Still in {messages} in which it was said: messages stay until you delete them. `{}` deletes those too.",
        with_messages(&id.to_string(), surface)
    )
}

/// Note that other texts contain all the words in another sentence.
pub fn paraphrases(places: &str, surface: Surface) -> String {
    format!(
        "All its words also occur in another sentence, in {places}: a search finds it, and I cannot tell whether it means the same. \
         `{}`, with words that stand together there, shows how many messages have them, and deletes those.",
        with_messages("WORDS", surface)
    )
}

/// Note that files could not be searched.
pub fn unread(files: &str) -> String {
    format!("I could not search {files}, so I do not know whether it is in there.")
}

/// Note that only earlier versions contained the text.
pub const ONLY_BEFORE: &str = "It was in no current file, only in earlier versions, which can no longer be restored.";

/// Note that reminders still contain the text.
pub fn in_reminders(reminders: &str, surface: Surface) -> String {
    format!("Still in {reminders}: {} shows and cancels them.", surface.command("reminders", "reminders"))
}

/// Note that skill proposals still contain the text.
pub fn in_proposals(proposals: &str) -> String {
    format!("Still in {proposals} for skills, which the owner keeps or rejects.")
}

/// Note that files which only a person may change still contain the text.
pub fn in_files(files: &str) -> String {
    format!("Still in {files}: what you wrote yourself is yours to change.")
}

/// Note that received files still contain the text.
pub fn in_received_files(files: &str) -> String {
    format!("Still in {files}: only you can change or delete a file that you sent or were sent.")
}

/// Note that files which the assistant wrote still contain the text.
pub fn in_assistant_files(files: &str) -> String {
    format!("Still in {files}, which I wrote outside of the memory: tell me what to change there, or delete it.")
}

/// Note that new content contains the text.
pub fn elsewhere(places: &str, id: ErasureId, surface: Surface) -> String {
    let again = surface.command(&format!("forget {id}"), &format!("memory forget {id}"));
    format!("Still in {places} that came meanwhile: `{again}` continues.")
}

/// Result: a person is deleted.
pub fn person(name: &str, files: usize, messages: usize, replica_days: Option<u32>) -> String {
    let elsewhere = kept_elsewhere(replica_days);
    let files = counted(files, "file", "files").unwrap_or_else(|| "no file".to_owned());
    let messages = counted(messages, "message", "messages").unwrap_or_else(|| "no message".to_owned());
    format!(
        "{name} is forgotten: {files}, {messages} and everything made from them are gone, and their addresses are unknown again. Every table and \
         the workspace were searched, and nothing of theirs is left but numbers. {elsewhere}"
    )
}

/// Result: a person is deleted, except for these places and workspace files.
pub fn person_left(name: &str, places: &str, by_hand: &str) -> String {
    let mut told = format!("{name} is removed, but some of their data is left.");
    if !places.is_empty() {
        told.push_str(&format!(" In {places}: this is retried every night until nothing is left."));
    }
    if !by_hand.is_empty() {
        told.push_str(&format!(
            " In group files that only a person may change: {by_hand}. Open them in the workspace and delete the lines about {name}; \
             after the next night the words are gone everywhere."
        ));
    }
    told
}

/// Error: unknown name.
pub fn no_such_person(name: &str) -> String {
    format!("Nobody is or was called {name}.")
}

/// Error: the configuration grants the person access.
pub fn stands_in_configuration(name: &str) -> String {
    format!("{name} is set in the configuration. Remove them from it, restart, and repeat the command.")
}

/// Question before a person is deleted.
pub fn confirm(name: &str) -> String {
    format!("All data of {name} will be deleted for good. Type the name to continue: ")
}

/// Progress: a person is being deleted.
pub fn goes_on(name: &str) -> String {
    format!("Forgetting {name}")
}

/// Reply to a missing or different name.
pub const NOT_CONFIRMED: &str = "Nothing was changed.";
/// Error: no terminal to confirm at.
pub const NEEDS_YES: &str = "There is no terminal to ask at. Add --yes if you mean it.";

/// Error: the text of an interrupted deletion is unreadable.
pub fn unreadable(id: ErasureId) -> String {
    format!(
        "Forgetting {id} is not finished: the journal is damaged there, and its words cannot be read. Forget it again by its words; `compline \
         doctor` tells an owner more."
    )
}

/// First lines of the archive's README.
pub fn export_readme(name: &str, at: &str) -> String {
    format!(
        "# Data kept about {name}\n\nMade on {at}.\n\n\
         - `conversations/`: every conversation as Markdown\n\
         - `messages.jsonl`: every message, one JSON object a line; those in groups are only your own\n\
         - `summaries.jsonl`: what was written down at the end of conversations\n\
         - `reflections/`: reflections on past days, weeks and months\n\
         - `reminders.jsonl`: reminders and tasks to come\n\
         - `settings.json`: language and time zone\n\
         - `knowledge/`: the memory files as they are, with what you sent under `inbox/`\n\
         - `experience/`: what else the assistant has learned about you\n"
    )
}
/// Message before the file.
pub fn export_attached(kib: u64) -> ProgramText {
    ProgramText::message(format!(
        "Here is everything kept about you ({kib} KiB). The file is deleted from the workspace after a week."
    ))
}
/// Reply to the command.
pub const EXPORT_IN_DIRECT_CHAT: &str = "Everything kept about you will arrive in your direct chat as a file.";
/// Error: the person has no address.
pub const NO_ADDRESS: &str =
    "There is no chat to send a file to. The owner can write the file: compline export NAME FILE";

/// Error: the export exceeds the limit of the channel.
pub fn export_too_large(most_mib: u64) -> String {
    format!(
        "It is larger than {most_mib} MiB, which is more than a chat takes. The owner can make it on the computer: compline export NAME FILE"
    )
}

/// Progress: data is being collected.
pub fn export_goes_on(name: &str) -> String {
    format!("Collecting what is kept about {name}")
}

/// Result: the file is written.
pub fn export_written(name: &str, file: &str, kib: u64) -> String {
    format!("Everything kept about {name} is in {file} ({kib} KiB). Nobody else's data is in it.")
}

/// Error: the file could not be written.
pub fn export_not_written(file: &str, why: &str) -> String {
    format!("{file} cannot be written: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::Language;

    #[test]
    fn commands_are_named_as_they_are_typed() {
        assert!(none_such("cat", Surface::Chat(Language::ENGLISH)).contains(" /memory shows what there is"));
        assert!(none_such("cat", Surface::CommandLine).contains(" compline memory shows what there is"));
    }
}
