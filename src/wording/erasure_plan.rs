//! Text that shows a deletion before it is carried out.

use super::language::{Language, Sentence, say};
use super::personal_data;
use super::review::Surface;
use crate::id::ReminderId;

/// Title of the button that carries a plan out.
pub const DELETE: Sentence = Sentence("button-delete");
/// End of the English sentence with the command that carries a plan out.
pub const FOR_GOOD: &str = " deletes all of this for good";
/// Introduction when a plan is shown again.
pub const CHANGED: Sentence = Sentence("plan-changed");
/// Error: a number that is not in the plan.
pub const NO_SUCH_NUMBER: Sentence = Sentence("plan-no-such-number");
/// Headline of the items that stay unless they are chosen.
pub const OPTIONAL: Sentence = Sentence("plan-optional");

/// First sentence of a plan.
pub fn headline(language: Language, name: &str, parts: &[String]) -> String {
    let deletes = if parts.is_empty() { say!(language, "plan-deletes-nothing") } else { parts.join(", ") };
    say!(language, "plan-headline", name = name, deletes = deletes)
}

/// One numbered item.
pub fn item(number: usize, what: &str) -> String {
    format!("- **{number}** {what}")
}

/// Note that further items are not listed.
pub fn more(language: Language, count: usize) -> String {
    say!(language, "plan-more", count = count)
}

/// A note with its versions.
pub fn note(language: Language, title: &str, path: &str, versions: usize) -> String {
    let title = if title.is_empty() { String::new() } else { format!(" {title}") };
    format!("{}{}", say!(language, "plan-note", title = title, path = path), in_versions(language, versions))
}

/// A line of a file with its versions.
pub fn line(language: Language, path: &str, text: &str, is_current: bool, versions: usize) -> String {
    match is_current {
        true => format!("{}{}", say!(language, "plan-line", path = path, text = text), in_versions(language, versions)),
        false => say!(language, "plan-earlier-line", path = path, text = text, count = versions),
    }
}

/// An item that was made from a message and does not itself say the words.
pub fn derived(language: Language, what: &str) -> String {
    say!(language, "plan-derived", what = what)
}

/// A line of a file, without its text.
pub fn line_of(language: Language, path: &str) -> String {
    say!(language, "plan-line-of", path = path)
}

fn in_versions(language: Language, versions: usize) -> String {
    if versions < 2 { String::new() } else { format!(", {}", say!(language, "plan-in-versions", count = versions)) }
}

/// An exported archive.
pub fn archive(language: Language, path: &str) -> String {
    say!(language, "plan-archive", path = path)
}

/// A message in a direct chat or a group.
pub fn message(language: Language, is_reply: bool, is_group: bool, at: &str, text: &str) -> String {
    let whose = match (is_reply, is_group) {
        (true, _) => "mine",
        (false, true) => "somebody",
        (false, false) => "yours",
    };
    match text {
        "" => say!(language, "plan-message-in-other-words", whose = whose, at = at),
        text => say!(language, "plan-message", whose = whose, at = at, text = text),
    }
}

/// A message, without its text.
pub fn message_of(language: Language, is_reply: bool, at: &str) -> String {
    say!(language, "plan-message-of", whose = if is_reply { "mine" } else { "somebody" }, at = at)
}

/// Summaries of a conversation, which lose those items.
pub fn summary(language: Language, at: &str) -> String {
    say!(language, "plan-summary", at = at)
}

/// Text of a reflection, which loses those lines.
pub fn reflection(language: Language, at: &str) -> String {
    say!(language, "plan-reflection", at = at)
}

/// A reminder or task.
pub fn reminder(language: Language, id: ReminderId) -> String {
    say!(language, "plan-reminder", id = id.to_string())
}

/// A reminder or task that stays.
pub fn reminder_named(language: Language, id: ReminderId) -> String {
    say!(language, "plan-reminder-of", id = id.to_string())
}

/// Note of files that stay because a person wrote them.
pub fn stays_by_hand(language: Language, files: &str) -> String {
    say!(language, "plan-stays-by-hand", files = files)
}

/// Note of files that the assistant wrote and cannot change.
pub fn stays_by_assistant(language: Language, files: &str) -> String {
    say!(language, "plan-stays-by-assistant", files = files)
}

/// Note of files that stay because they were received.
pub fn stays_received(language: Language, files: &str) -> String {
    say!(language, "plan-stays-received", files = files)
}

/// Note of files that could not be searched.
pub fn stays_unread(language: Language, files: &str) -> String {
    say!(language, "plan-stays-unread", files = files)
}

/// Note of messages that the person may not delete.
pub fn stays_in_messages(language: Language, count: usize) -> String {
    say!(language, "plan-stays-in-messages", count = count)
}

/// Note of skill proposals.
pub fn stays_in_proposals(language: Language, count: usize) -> String {
    say!(language, "plan-stays-in-proposals", count = count)
}

/// Sentence of everything that stays, with the days that a replica keeps it.
pub fn stays(language: Language, places: &[String], replica_days: Option<u32>) -> String {
    let mut all = places.to_vec();
    all.push(say!(language, "plan-stays-in-backups"));
    all.extend(replica_days.map(|days| say!(language, "plan-stays-in-replica", days = days)));
    say!(language, "plan-stays", places = all.join("; "))
}

/// Sentence that messages and reminders stay, with the command that includes them.
pub fn messages_stay(name: &str, surface: Surface) -> String {
    let command = personal_data::with_messages(name, surface);
    say!(surface.language(), "plan-messages-stay", command = command)
}

/// Command that carries the plan out, in a chat.
pub fn command(name: &str, code: &str, has_messages: bool) -> String {
    let messages = if has_messages { " messages" } else { "" };
    format!("/forget {name} {code}{messages}")
}

/// Last sentences: how to carry out the plan with that number of items, as a whole and in part.
pub fn carry_out(name: &str, code: &str, has_messages: bool, items: usize, surface: Surface) -> String {
    let messages = if has_messages { " --messages" } else { "" };
    let all = match surface {
        Surface::Chat(_) => command(name, code, has_messages),
        Surface::CommandLine => format!("compline memory forget \"{name}\"{messages} --yes"),
    };
    let all = say!(surface.language(), "plan-carry-out", command = all);
    if items < 2 {
        return all;
    }
    let some = surface.command(
        &format!("forget {name} only 1 {items} {code}"),
        &format!("memory forget \"{name} only 1 {items} {code}\""),
    );
    format!("{all} {}", say!(surface.language(), "plan-carry-out-part", command = some))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_names_the_commands_that_carry_it_out() {
        let told = carry_out("cat", "0123456789", true, 3, Surface::Chat(Language::ENGLISH));
        assert!(told.starts_with(&format!("`/forget cat 0123456789 messages`{FOR_GOOD}.")), "{told}");
        assert!(told.contains("`/forget cat only 1 3 0123456789` deletes only"), "{told}");
        let told = carry_out("my cat", "0123456789", false, 1, Surface::CommandLine);
        assert_eq!(told, "`compline memory forget \"my cat\" --yes` deletes all of this for good.");
    }
}
