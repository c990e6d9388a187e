//! Text about reminders and scheduled tasks: for the model that sets them, for the person when they
//! are due, and replies to `/reminders`.

use std::time::Duration;

use super::{ProgramText, span};
use crate::id::ReminderId;
use crate::trust::Label;

/// Description of `remind`.
pub const REMIND: &str = "Tell the person something later, once or again and again. They are sent the text as it stands, without you. Then tell them \
     the time that the tool names.";
/// Description of the argument `when`.
pub const REMIND_WHEN: &str = "Local time: \"2026-11-22 09:00\", \"tomorrow 9:00\", \"monday 18:30\", \"in 20 minutes\"; or five cron fields, as \"0 \
     9 * * MON\"";
/// Description of `schedule`.
pub const SCHEDULE: &str = "Have a task done by yourself again and again, each time with an answer to the person. For mere words use `remind`. Then \
     tell them the next times that the tool names.";
/// Description of the argument `cron`.
pub const SCHEDULE_CRON: &str = "Five cron fields, local time, at least 15 minutes apart: \"30 7 * * MON-FRI\"";
/// Description of the argument `task`.
pub const SCHEDULE_TASK: &str = "Complete in itself: the run sees nothing of this conversation";
/// Description of `list_scheduled`.
pub const LIST: &str = "What is to be told to this person or done for them later.";
/// Description of `cancel_scheduled`.
pub const CANCEL: &str = "Take something off that list, by its number.";

/// Error: the time cannot be parsed.
pub const WHEN_FORM: &str = "That names no time. Write `when` as \"2026-11-22 09:00\", \"tomorrow 9:00\", \"monday 18:30\", \"18:30\", \"in 20 minutes\" or \
     \"in 3 days\"; or for what comes back as five cron fields, such as \"0 9 * * MON\". A day needs a clock time with it.";
/// Error: the time is more than five years away.
pub const WHEN_FAR: &str = "That is more than five years away. Ask the person whether they mean that year.";
/// Error: no text.
pub const NO_WORDS: &str = "There are no words to keep.";
/// Error: the sender is not a person with access.
pub const NOBODYS: &str = "Only people with access can be reminded, in their own chat.";
/// Error: invalid number.
pub const WHICH: &str = "`id` is the number of a reminder or task; list_scheduled has them.";
/// Error: the reminder could not be stored.
pub const NOT_KEPT: &str = "That could not be stored just now. Nothing was changed.";
/// An empty list.
pub const NOTHING_WAITS: &str = "Nothing is to be told or done later.";
/// Result: cancelled.
pub const CANCELLED: &str = "Cancelled.";

/// Error: the time is in the past.
pub fn when_past(now: &str) -> String {
    format!("That time is over: it is now {now}. Name one that is still to come.")
}

/// Error: invalid cron expression.
pub fn not_cron(why: &str) -> String {
    format!("`cron` makes no sense: {why}.")
}

/// Error: the cron expression repeats too often.
pub fn too_often(least: Duration) -> String {
    format!("That comes back more often than every {}, which is the least. Choose times further apart.", span(least))
}

/// Error: the text is too long.
pub fn too_long(most: usize) -> String {
    format!("That is too long: {most} characters at most.")
}

/// Error: too many reminders.
pub fn too_many(most: usize) -> String {
    format!(
        "{most} reminders and tasks wait for this person already, which is the most. Tell them; one of them has to be cancelled first."
    )
}

/// Result: stored. `note` describes the effect of a clock change on the time.
pub fn set(id: ReminderId, time: &str, note: &str) -> String {
    format!("Kept as number {id}, for {time}.{note}")
}

/// Note that a clock change skips the given time.
pub const SKIPPED: &str = " The time that was named does not exist on that day, because the clocks go forward: this is the first after it. Say so.";
/// Note that a clock change repeats the given time.
pub const TWICE: &str =
    " The clocks show that time twice on that day, because they go back: of the two this one is meant. Say so.";

/// Result: a recurring reminder is stored.
pub fn set_again(id: ReminderId, times: &str, zone: &str) -> String {
    format!("Kept as number {id}. The next times ({zone}): {times}.")
}

/// Error: unknown number.
pub fn none_such(id: ReminderId) -> String {
    format!("Nothing with number {id} waits for this person. list_scheduled has what does.")
}

/// A reminder or task in the list.
pub fn line(id: ReminderId, kind: &str, when: &str, sources: &str, words: &str) -> String {
    let sources = if sources.is_empty() { String::new() } else { format!(", from outside ({sources})") };
    format!("[{id}] {kind}, {when}{sources}: {words}")
}

/// Next times of a recurring reminder.
pub fn again(cron: &str, times: &str) -> String {
    format!("\"{cron}\", next {times}")
}

/// Question for consent to change the list.
pub fn may_i(label: &Label, tool: &str) -> String {
    let what = match tool {
        "remind" => "May I keep exactly this and send it to you at that time?",
        "schedule" => "May I keep exactly this as a task, and do it each time?",
        _ => "May I take this off your list? /reminders shows what it is.",
    };
    format!("{}. {what}", super::tool::i_have_read(label))
}

/// A reminder that is due.
pub fn told(words: &str, sources: &str, late: &str) -> String {
    let late = if late.is_empty() { String::new() } else { format!("\n\n_({late})_") };
    if sources.is_empty() {
        return format!("**Reminder:** {words}{late}");
    }
    // Quotes each line, so that untrusted text cannot pass for program text.
    let quoted: Vec<String> = words.lines().map(|line| format!("> {line}")).collect();
    format!(
        "**Reminder.** Its words came from outside ({sources}), and you agreed to them:\n\n{}{late}",
        quoted.join("\n")
    )
}

/// Note that a reminder is late. `more` is the number of further missed times.
pub fn late(due: &str, more: usize, most: usize) -> String {
    let more = match more {
        0 => String::new(),
        1 => ", and once more since".to_owned(),
        more if more < most => format!(", and {more} times more since"),
        _ => format!(", and {most} times or more since"),
    };
    format!("This was due at {due}{more}; it could not come sooner.")
}

/// Prefix of a task that is due.
pub fn to_do(asked: &str, due: &str, late: &str) -> ProgramText {
    let late = if late.is_empty() { String::new() } else { format!(" {late} Do it once.") };
    ProgramText::message(format!(
        "The person asked on {asked} that the task below be done at certain times, and it is due now ({due}).{late} Do it, and answer with what comes of \
         it alone: your answer is sent to them. Nobody reads along, so ask nothing; nothing can be scheduled from here."
    ))
}

/// Notification of a failed task.
pub fn not_done(id: ReminderId, due: &str, why: &'static str) -> ProgramText {
    ProgramText::message(format!(
        "I could not do task {id}, which was due at {due}: {why}. /reminders shows it, and when it comes next."
    ))
}

/// Reason for a failed task, in words.
pub fn why_not(reason: &str) -> &'static str {
    match reason {
        "model_away" | "too_old" => "the model could not be reached",
        "too_slow" => "it took too long",
        "cut_off" => "I was interrupted several times while working on it",
        "stopped" => "it was stopped",
        _ => "there was no answer",
    }
}

/// An empty list.
pub const NONE_PENDING: &str =
    "There are no reminders. Ask me to remind you of something, or to do something every morning.";

/// List of reminders and tasks.
pub fn reminders(lines: &str, zone: &str) -> String {
    format!("Times are those of {zone}.\n\n{lines}\n\n/reminders cancel NUMBER cancels one.")
}

/// A reminder or task in the list.
pub fn reminder(id: ReminderId, kind: &str, times: &str, words: &str, sources: &str) -> String {
    let sources = if sources.is_empty() { String::new() } else { format!(" (from outside: {sources})") };
    format!("- **{id}** {kind}, {times}: {words}{sources}")
}

/// Next times of a recurring item.
pub fn recurring(times: &str) -> String {
    format!("next {times}, and so on")
}

/// Reply to a cancellation.
pub fn cancelled(id: ReminderId) -> String {
    format!("{id} is cancelled.")
}

/// Error: unknown number.
pub fn no_such_reminder(id: ReminderId) -> String {
    format!("There is no reminder or task {id}. /reminders lists them.")
}
