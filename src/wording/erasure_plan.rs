//! Text that shows a deletion before it is carried out.

use super::review::Surface;
use crate::id::ReminderId;

/// Title of the button that carries a plan out.
pub const DELETE: &str = "Delete all of this";
/// End of the sentence with the command that carries a plan out.
pub const FOR_GOOD: &str = " deletes all of this for good";
/// Introduction when a plan is shown again.
pub const CHANGED: &str = "What this would delete has changed since it was shown.";
/// Error: a number that is not in the plan.
pub const NO_SUCH_NUMBER: &str = "The plan has no item of that number. Nothing is deleted.";
/// Headline of the items that stay unless they are chosen.
pub const OPTIONAL: &str = "Stays unless you choose its number:";

/// First sentence of a plan.
pub fn headline(name: &str, parts: &[String]) -> String {
    let deletes = if parts.is_empty() { "nothing by itself".to_owned() } else { parts.join(", ") };
    format!("Forgetting {name} deletes {deletes}. Nothing is deleted yet.")
}

/// One numbered item.
pub fn item(number: usize, what: &str) -> String {
    format!("- **{number}** {what}")
}

/// Note that further items are not listed.
pub fn more(count: usize) -> String {
    format!("- and {count} more like these")
}

/// Kinds of items in the headline: singular and plural.
pub const KINDS: [(&str, &str); 6] = [
    ("note", "notes"),
    ("line", "lines"),
    ("line of earlier versions", "lines of earlier versions"),
    ("message", "messages"),
    ("place in summaries", "places in summaries"),
    ("export archive", "export archives"),
];
/// Copies in the headline: singular and plural.
pub const COPIES: (&str, &str) =
    ("copy in earlier prompts, calls and the index", "copies in earlier prompts, calls and the index");

/// A note with its versions.
pub fn note(title: &str, path: &str, versions: usize) -> String {
    let title = if title.is_empty() { String::new() } else { format!(" {title}") };
    format!("note{title} ({path}){}", in_versions(versions))
}

/// A line of a file with its versions.
pub fn line(path: &str, text: &str, is_current: bool, versions: usize) -> String {
    match is_current {
        true => format!("{path} line “{text}”{}", in_versions(versions)),
        false => format!("line “{text}” of {} earlier {} of {path}", versions, plural(versions, "version")),
    }
}

/// An item that was made from a message and does not itself say the words.
pub fn derived(what: &str) -> String {
    format!("{what}, made from it")
}

/// A line of a file, without its text.
pub fn line_of(path: &str) -> String {
    format!("a line of {path}")
}

fn in_versions(versions: usize) -> String {
    match versions {
        0 | 1 => String::new(),
        more => format!(", in {more} versions"),
    }
}

fn plural(count: usize, one: &str) -> String {
    if count == 1 { one.to_owned() } else { format!("{one}s") }
}

/// An exported archive.
pub fn archive(path: &str) -> String {
    format!("export archive {path}, which holds a copy of everything")
}

/// A message in a direct chat or a group.
pub fn message(is_reply: bool, is_group: bool, at: &str, text: &str) -> String {
    let of = match (is_reply, is_group) {
        (true, _) => "my message",
        (false, true) => "message",
        (false, false) => "your message",
    };
    if text.is_empty() { format!("{of} of {at}, in other words") } else { format!("{of} of {at} “{text}”") }
}

/// A message, without its text.
pub fn message_of(is_reply: bool, at: &str) -> String {
    let whose = if is_reply { "my message" } else { "the message" };
    format!("{whose} of {at}")
}

/// Summaries of a conversation, which lose those items.
pub fn summary(at: &str) -> String {
    format!("what the summary of the conversation of {at} says of it")
}

/// Text of a reflection, which loses those lines.
pub fn reflection(at: &str) -> String {
    format!("what the reflection of {at} says of it")
}

/// A reminder or task.
pub fn reminder(id: ReminderId) -> String {
    format!("reminder {id}, which is cancelled then")
}

/// A reminder or task that stays.
pub fn reminder_named(id: ReminderId) -> String {
    format!("reminder {id}")
}

/// Note of files that stay because a person wrote them.
pub fn stays_by_hand(files: &str) -> String {
    format!("{files} (you wrote it, so only you change it)")
}

/// Note of files that stay because the assistant wrote them outside of the memory.
pub fn stays_by_assistant(files: &str) -> String {
    format!("{files} (I wrote it outside of the memory: tell me what to change there)")
}

/// Note of files that stay because they were received.
pub fn stays_received(files: &str) -> String {
    format!("{files} (a file that you sent or were sent, so only you can change it)")
}

/// Note of files that could not be searched.
pub fn stays_unread(files: &str) -> String {
    format!("{files} (I cannot search it)")
}

/// Note of messages that the person may not delete.
pub fn stays_in_messages(count: usize) -> String {
    format!("{count} {} of the group (only the owner deletes messages here)", plural(count, "message"))
}

/// Note of skill proposals.
pub fn stays_in_proposals(count: usize) -> String {
    format!("{count} {} in proposals for skills (the owner keeps or rejects them)", plural(count, "place"))
}

/// Sentence of everything that stays, with the days that a replica keeps it.
pub fn stays(places: &[String], replica_days: Option<u32>) -> String {
    let mut all = places.to_vec();
    all.push("backups made before, until you delete them".to_owned());
    let days = |days| if days == 1 { "a day".to_owned() } else { format!("{days} days") };
    all.extend(replica_days.map(|kept| format!("the replica on another machine, for up to {}", days(kept))));
    format!("Stays: {}.", all.join("; "))
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
    let all = format!("`{all}`{FOR_GOOD}.");
    if items < 2 {
        return all;
    }
    let some = surface.command(
        &format!("forget {name} only 1 {items} {code}"),
        &format!("memory forget \"{name} only 1 {items} {code}\""),
    );
    format!("{all} `{some}` deletes only what has those numbers.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::Language;

    #[test]
    fn a_plan_names_the_commands_that_carry_it_out() {
        let told = carry_out("cat", "0123456789", true, 3, Surface::Chat(Language::ENGLISH));
        assert!(told.starts_with("`/forget cat 0123456789 messages` deletes all of this for good."), "{told}");
        assert!(told.contains("`/forget cat only 1 3 0123456789` deletes only"), "{told}");
        let told = carry_out("my cat", "0123456789", false, 1, Surface::CommandLine);
        assert_eq!(told, "`compline memory forget \"my cat\" --yes` deletes all of this for good.");
    }
}
