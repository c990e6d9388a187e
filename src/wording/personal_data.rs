//! Text about the deletion and the export of a person's data.

use super::ProgramText;
use super::language::{Language, Sentence, say};
use super::review::Surface;
use crate::id::ErasureId;

/// Result: a search finds no occurrence any more.
pub const PROVED: Sentence = Sentence("forget-proved");
/// Note that older backups still contain the text, and a replica for some days.
pub fn kept_elsewhere(language: Language, replica_days: Option<u32>) -> String {
    let backups = say!(language, "forget-backups");
    match replica_days {
        None => backups,
        Some(days) => format!("{backups} {}", say!(language, "forget-replica", days = days)),
    }
}
/// Result: a search finds only what the person left out.
pub const PROVED_BUT_SPARED: Sentence = Sentence("forget-proved-but-spared");
/// Result: nothing was left to delete.
pub const NOTHING_LEFT: Sentence = Sentence("forget-nothing-left");
/// Error: the only owner cannot be deleted.
pub const LAST_OWNER: &str = "The only owner cannot be forgotten: nobody would be in charge. Delete the home instead.";

/// Error: no note or fact of this name.
pub fn none_such(name: &str, surface: Surface) -> String {
    let (memory, forget) = (surface.command("memory", "memory"), with_messages("WORDS", surface));
    say!(surface.language(), "forget-none-such", name = name, memory = memory, forget = forget)
}

/// Error: no note or fact of this name, and no text contains the words.
pub fn none_said(language: Language, name: &str) -> String {
    say!(language, "forget-none-said", name = name)
}

/// Error: no note or fact of this name, and the words are too short for a search in messages.
pub fn too_few(language: Language, name: &str) -> String {
    say!(language, "forget-too-short", name = name)
}

/// Command that also deletes messages.
pub fn with_messages(what: &str, surface: Surface) -> String {
    let typed = if what.contains(' ') { format!("\"{what}\"") } else { what.to_owned() };
    surface.command(&format!("forget {what} messages"), &format!("memory forget {typed} --messages"))
}

/// Error: no note or fact of this name in the group.
pub fn none_such_in_group(language: Language, name: &str) -> String {
    say!(language, "forget-none-in-group", name = name)
}

/// Note of what stays because it was left out.
pub fn left_out(language: Language, items: &[String]) -> String {
    match items {
        [] => say!(language, "forget-left-out"),
        items => say!(language, "forget-left-out-items", items = items.join(", ")),
    }
}

/// Numbers of deleted items.
pub fn forgotten(language: Language, parts: &[String]) -> String {
    match parts {
        [] => say!(language, "forgotten"),
        parts => say!(language, "forgotten-parts", parts = parts.join(", ")),
    }
}

/// Kinds of items that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasedKind {
    /// Notes.
    Note,
    /// Lines of files.
    Line,
    /// Lines of earlier versions alone.
    EarlierLine,
    /// Entries of the index.
    Entry,
    /// Earlier versions of files.
    Version,
    /// Summaries.
    Summary,
    /// Places in summaries.
    SummaryPlace,
    /// Copies.
    Copy,
    /// Copies that a plan names.
    PlannedCopy,
    /// Messages.
    Message,
    /// Export archives.
    Archive,
    /// Export archives, with the reason.
    DeletedArchive,
    /// Reminders and tasks.
    Reminder,
    /// Proposals for skills.
    Proposal,
    /// Other places.
    Place,
}

/// Number of items of one kind; `None` for zero.
pub fn counted(language: Language, count: usize, kind: ErasedKind) -> Option<String> {
    (count > 0).then(|| match kind {
        ErasedKind::Note => say!(language, "count-notes", count = count),
        ErasedKind::Line => say!(language, "count-lines", count = count),
        ErasedKind::EarlierLine => say!(language, "count-earlier-lines", count = count),
        ErasedKind::Entry => say!(language, "count-entries", count = count),
        ErasedKind::Version => say!(language, "count-versions", count = count),
        ErasedKind::Summary => say!(language, "count-summaries", count = count),
        ErasedKind::SummaryPlace => say!(language, "count-summary-places", count = count),
        ErasedKind::Copy => say!(language, "count-copies", count = count),
        ErasedKind::PlannedCopy => say!(language, "count-planned-copies", count = count),
        ErasedKind::Message => say!(language, "count-messages", count = count),
        ErasedKind::Archive => say!(language, "count-archives", count = count),
        ErasedKind::DeletedArchive => say!(language, "count-deleted-archives", count = count),
        ErasedKind::Reminder => say!(language, "count-reminders", count = count),
        ErasedKind::Proposal => say!(language, "count-proposals", count = count),
        ErasedKind::Place => say!(language, "count-places", count = count),
    })
}

/// Note that messages still contain the text.
pub fn in_messages(messages: &str, id: ErasureId, surface: Surface) -> String {
    let command = with_messages(&id.to_string(), surface);
    say!(surface.language(), "forget-in-messages", messages = messages, command = command)
}

/// Note that other texts contain all the words in another sentence.
pub fn paraphrases(places: &str, surface: Surface) -> String {
    say!(surface.language(), "forget-paraphrases", places = places, command = with_messages("WORDS", surface))
}

/// Note that files could not be searched.
pub fn unread(language: Language, files: &str) -> String {
    say!(language, "forget-unread", files = files)
}

/// Note that only earlier versions contained the text.
pub const ONLY_BEFORE: Sentence = Sentence("forget-only-before");

/// Note that reminders still contain the text.
pub fn in_reminders(reminders: &str, id: ErasureId, surface: Surface) -> String {
    let (list, command) = (surface.command("reminders", "reminders"), with_messages(&id.to_string(), surface));
    say!(surface.language(), "forget-in-reminders", reminders = reminders, list = list, command = command)
}

/// Note that skill proposals still contain the text.
pub fn in_proposals(language: Language, proposals: &str) -> String {
    say!(language, "forget-in-proposals", proposals = proposals)
}

/// Note that files which only a person may change still contain the text.
pub fn in_files(language: Language, files: &str) -> String {
    say!(language, "forget-in-files", files = files)
}

/// Note that received files still contain the text.
pub fn in_received_files(language: Language, files: &str) -> String {
    say!(language, "forget-in-received-files", files = files)
}

/// Note that files which the assistant wrote, and cannot change, still contain the text.
pub fn in_assistant_files(language: Language, files: &str) -> String {
    say!(language, "forget-in-assistant-files", files = files)
}

/// Note that new content contains the text.
pub fn elsewhere(places: &str, id: ErasureId, surface: Surface) -> String {
    let command = surface.command(&format!("forget {id}"), &format!("memory forget {id}"));
    say!(surface.language(), "forget-elsewhere", places = places, command = command)
}

/// Result: a person is deleted.
pub fn person(name: &str, files: usize, messages: usize, replica_days: Option<u32>) -> String {
    let elsewhere = kept_elsewhere(Language::ENGLISH, replica_days);
    let counted = |count: usize, one: &str| match count {
        0 => format!("no {one}"),
        1 => format!("1 {one}"),
        more => format!("{more} {one}s"),
    };
    let (files, messages) = (counted(files, "file"), counted(messages, "message"));
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
    format!("{name} is set in the configuration. Remove them from it, run `compline reload`, and repeat the command.")
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
pub fn unreadable(language: Language, id: ErasureId) -> String {
    say!(language, "forget-unreadable", id = id.to_string())
}

/// First lines of the archive's README.
pub fn export_readme(language: Language, name: &str, at: &str) -> String {
    format!(
        "# {}\n\n{}\n\n{}\n",
        say!(language, "export-title", name = name),
        say!(language, "export-made", at = at),
        say!(language, "export-contents")
    )
}
/// Message before the file.
pub fn export_attached(language: Language, kib: u64) -> ProgramText {
    ProgramText::message(say!(language, "export-attached", kib = language.number(kib)))
}
/// Reply to the command.
pub const EXPORT_IN_DIRECT_CHAT: Sentence = Sentence("export-in-direct-chat");
/// Error: the person has no address.
pub const NO_ADDRESS: Sentence = Sentence("export-no-address");

/// Error: the export exceeds the limit of the channel.
pub fn export_too_large(language: Language, most_mib: u64) -> String {
    say!(language, "export-too-large", most = most_mib)
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

    #[test]
    fn commands_are_named_as_they_are_typed() {
        assert!(none_such("cat", Surface::Chat(Language::ENGLISH)).contains(" /memory shows what there is"));
        assert!(none_such("cat", Surface::CommandLine).contains(" compline memory shows what there is"));
    }
}
