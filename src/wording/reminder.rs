//! Text about reminders and scheduled tasks: for the model that sets them, for the person when they
//! are due, and replies to `/reminders`.

use std::time::Duration;

use super::language::{Language, Sentence, say};
use super::recurrence::{recurrence, recurrence_with_fields};
use super::review::Surface;
use super::{ProgramText, span};
use crate::id::ReminderId;
use crate::text::escape_markdown;

/// Description of `remind`.
pub const REMIND: &str = "Send them a text later.";
/// Description of the argument `when`.
pub const REMIND_WHEN: &str = "2026-11-22 09:00, next Friday 9:00, in 20 minutes; or cron";
/// Description of `schedule`.
pub const SCHEDULE: &str = "Run a task on a schedule; each answer is sent.";
/// Description of the argument `cron`.
pub const SCHEDULE_CRON: &str = "30 7 * * MON-FRI, local";
/// Description of the argument `task`.
pub const SCHEDULE_TASK: &str = "The run sees only this";
/// Description of `list_scheduled`.
pub const LIST: &str = "List reminders and tasks.";
/// Description of `change_scheduled`.
pub const CHANGE: &str = "Change a reminder or task.";
/// Description of `cancel_scheduled`.
pub const CANCEL: &str = "Cancel a reminder or task.";

/// Error: the time cannot be parsed.
pub const WHEN_FORM: &str = "That names no time. Write `when` as \"2026-11-22 09:00\", \"24.12.2026\", \"tomorrow 9:00\", \"next Friday 18:30\", \"18:30\", \"in 20 minutes\" \
     or \"in 3 days\"; or for what comes back as five cron fields, such as \"0 9 * * MON\". A day alone means 09:00.";
/// Error: the end cannot be parsed.
pub const UNTIL_FORM: &str =
    "That names no day. Write `until` as the last day, such as \"2026-12-24\", or as \"never\" for no end.";
/// Error: the end is in the past.
pub const UNTIL_PAST: &str = "`until` is over already. To end it now, cancel it.";
/// Error: an end of what does not recur.
pub const UNTIL_ONCE: &str = "`until` is for what comes back; this comes once.";
/// Error: no change.
pub const NOTHING_TO_CHANGE: &str = "Nothing was changed: give a new `when`, `text` or `until`.";
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
pub const NOTHING_WAITS: &str = "No reminders or tasks are set.";

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

/// Error: the recurrence ends before its first time.
pub fn ends_before(first: &str) -> String {
    format!("It would never come: its first time, {first}, is after `until`.")
}

/// Result: stored or changed. `note` says what about the time the person has to be told.
pub fn set(kind: &str, id: ReminderId, words: &str, time: &str, note: &str) -> String {
    format!("{}, {time}.{note}", named(kind, id, words))
}

/// Result: cancelled. `time` is blank if it was over.
pub fn cancelled(kind: &str, id: ReminderId, words: &str, time: &str) -> String {
    let time = if time.is_empty() { String::new() } else { format!(", {time}") };
    format!("Cancelled {}{time}.", lower_first(&named(kind, id, words)))
}

/// Kind, number and words of an entry; its words are blank if they came from outside.
fn named(kind: &str, id: ReminderId, words: &str) -> String {
    let kind = if kind == "task" { "Task" } else { "Reminder" };
    match words.trim_end_matches('.') {
        "" => format!("{kind} {id} (its words came from outside)"),
        words => format!("{kind} {id}: {words}"),
    }
}

fn lower_first(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_lowercase(), letters.as_str()))
}

/// Note that a clock change skips the given time.
pub const SKIPPED: &str = " The time that was named does not exist on that day, because the clocks go forward: this is the first after it. Say so.";
/// Note that no clock time was named.
pub const BARE_DAY: &str = " No clock time was named, so it is 09:00. Say so.";
/// Note that a clock change repeats the given time.
pub const TWICE: &str =
    " The clocks show that time twice on that day, because they go back: of the two this one is meant. Say so.";

/// Title of the button below a reminder that ends it.
pub const DONE_BUTTON: Sentence = Sentence("button-done");
/// Title of the button below a reminder that sets it once more, in an hour.
pub const LATER_BUTTON: Sentence = Sentence("button-later");
/// Refusal: a reminder was set once more already.
pub const LATER_ALREADY: Sentence = Sentence("reminder-later-already");

/// Reply: a reminder is done. `next` is the next time of a recurring one.
pub fn finished(language: Language, next: Option<&str>) -> ProgramText {
    ProgramText::message(match next {
        None => say!(language, "reminder-done"),
        Some(next) => say!(language, "reminder-done-until", next = next),
    })
}

/// Reply: a reminder was set once more.
pub fn again_at(language: Language, when: &str) -> ProgramText {
    ProgramText::message(say!(language, "reminder-later", when = when))
}

/// Refusal: a reminder has not come yet.
pub fn not_come(language: Language, id: ReminderId) -> String {
    say!(language, "reminder-not-come", id = id.to_string())
}

/// Error: unknown number.
pub fn none_such(id: ReminderId) -> String {
    format!("Nothing with number {id} waits for this person. list_scheduled has what does.")
}

/// A reminder or task in the list. Words that are not the person's own are left out.
pub fn line(id: ReminderId, kind: &str, when: &str, words: &str) -> String {
    let words =
        if words.is_empty() { "(its words came from outside; /reminders shows them to the person)" } else { words };
    format!("[{id}] {kind}, {when}: {words}")
}

/// Next times of a recurring reminder.
pub fn again(cron: &str, until: Option<&str>, zone: &str, times: &str) -> String {
    let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
    format!("{}{until}, next ({zone}): {times}", recurrence_with_fields(cron))
}

/// Question for consent to a reminder; words that are not quoted stand below.
pub fn may_i_remind(language: Language, words: Option<&str>, when: &str) -> String {
    say!(language, "may-i-remind", words = quoted_or_this(language, words), when = when)
}

/// Question for consent to a recurring task; words that are not quoted stand below.
pub fn may_i_schedule(language: Language, words: Option<&str>, when: &str) -> String {
    say!(language, "may-i-schedule", words = quoted_or_this(language, words), when = when)
}

/// Question for consent to a cancellation; words that are not quoted stand below.
pub fn may_i_cancel(language: Language, kind: &str, words: Option<&str>, when: &str) -> String {
    match words {
        Some(words) => say!(language, "may-i-cancel", kind = kind, words = words, when = when),
        None => say!(language, "may-i-cancel-this", kind = kind, when = when),
    }
}

/// Question for consent to a change; words that are not quoted stand below.
pub fn may_i_change(language: Language, kind: &str, words: Option<&str>, when: &str, then: &str) -> String {
    match words {
        Some(words) => say!(language, "may-i-change", kind = kind, words = words, when = when, then = then),
        None => say!(language, "may-i-change-this", kind = kind, when = when, then = then),
    }
}

/// Heading of the words that an entry has.
pub const WORDS_NOW: Sentence = Sentence("question-words-now");
/// Heading of the words that an entry would have.
pub const WORDS_THEN: Sentence = Sentence("question-words-then");

fn quoted_or_this(language: Language, words: Option<&str>) -> String {
    words.map_or_else(|| say!(language, "question-this"), |words| format!("\"{words}\""))
}

/// Time of an entry that is to be made, in a question.
pub fn on_day(language: Language, when: &str) -> String {
    say!(language, "question-on-day", when = when)
}

/// Time of an entry that exists, in a question.
pub fn of_day(language: Language, when: &str) -> String {
    say!(language, "question-of-day", when = when)
}

/// Times of a recurring entry that exists, in a question.
pub fn that_comes(language: Language, when: &str) -> String {
    say!(language, "question-that-comes", when = when)
}

/// Times of a recurring entry that is to be made, in a question.
pub fn again_and_again(language: Language, cron: &str, until: Option<&str>, next: &str) -> String {
    let recurrence = recurrence(language, cron);
    match until {
        None => say!(language, "question-again", recurrence = recurrence, next = next),
        Some(until) => say!(language, "question-again-until", recurrence = recurrence, until = until, next = next),
    }
}

/// A reminder that is due.
pub fn told(language: Language, words: &str, sources: &str, late: &str) -> String {
    let late = if late.is_empty() { String::new() } else { format!("\n\n_({late})_") };
    if sources.is_empty() {
        return format!("{}{late}", say!(language, "reminder", words = words));
    }
    // A locked screen shows the beginning. Each line is quoted, so that untrusted text cannot pass
    // for program text.
    let quoted: Vec<String> = words.lines().map(|line| format!("> {line}")).collect();
    let remark = say!(language, "reminder-from-outside", sources = sources);
    format!("{}\n\n_({remark})_{late}", quoted.join("\n"))
}

/// Note that a reminder is late. `more` is the number of further missed times.
pub fn late(language: Language, due: &str, more: usize, most: usize) -> String {
    match more {
        0 => say!(language, "reminder-late", due = due),
        more if more < most => say!(language, "reminder-late-more", due = due, count = more),
        _ => say!(language, "reminder-late-many", due = due, count = most),
    }
}

/// Who wants a task, and since when.
pub fn asked_on(at: &str) -> String {
    format!("The person asked on {at} that the task below be done at certain times")
}

/// Who wants a task that was written after text from outside had been read.
pub fn agreed_on(at: &str) -> String {
    format!(
        "The person agreed on {at} to exactly the words of the task below, to be done at certain times (they were \
         written after something from outside had been read, so what needs a yes is refused here)"
    )
}

/// Note that one run stands for all missed times of a task.
pub const DO_ONCE: &str = " Do it once.";

/// Prefix of a task that is due.
pub fn to_do(asked: &str, due: &str, late: &str) -> ProgramText {
    let late = if late.is_empty() { String::new() } else { format!(" {late}") };
    ProgramText::message(format!(
        "{asked}, and it is due now ({due}).{late} Do it, and answer with what comes of \
         it alone: your answer is sent to them. If they have to hear nothing, answer {} alone: then nothing is sent. Nobody reads along, so ask \
         nothing; nothing can be scheduled from here.",
        super::schedule::NOTHING_TO_REPORT
    ))
}

/// Notification of a failed task.
pub fn not_done(language: Language, id: ReminderId, due: &str, reason: &str) -> ProgramText {
    let why = say!(language, "task-failed-why", reason = reason);
    ProgramText::message(say!(language, "task-failed", id = id.to_string(), due = due, why = why))
}

/// Reason why a task or a heartbeat did not run or has no result, as a sentence of the page.
pub fn missed(reason: &str) -> String {
    format!("Not done: {}.", say!(Language::ENGLISH, "task-failed-why", reason = reason))
}

/// An empty list.
pub const NONE_PENDING: Sentence = Sentence("reminders-none");

/// List of reminders and tasks.
pub fn reminders(lines: &str, zone: &str, surface: Surface) -> String {
    let how = match surface {
        Surface::Chat(language) => say!(language, "reminders-how"),
        Surface::CommandLine => {
            format!("{} cancels one.", surface.command("reminders cancel NUMBER", "reminders cancel NUMBER"))
        }
    };
    format!("{}\n\n{lines}\n\n{how}", say!(surface.language(), "reminders-zone", zone = zone))
}

/// A reminder or task in the list.
pub fn reminder(language: Language, id: ReminderId, kind: &str, times: &str, words: &str, sources: &str) -> String {
    let kind = say!(language, "reminder-kind", kind = kind);
    let sources = match sources {
        "" => String::new(),
        sources => format!(" ({})", say!(language, "from-outside", sources = sources)),
    };
    format!("- **{id}** {kind}, {times}: {words}{sources}")
}

/// Next times of a recurring item.
pub fn recurring(language: Language, times: &str, until: Option<&str>) -> String {
    match until {
        Some(until) => say!(language, "reminder-times-until", times = times, until = until),
        None => say!(language, "reminder-times", times = times),
    }
}

/// Line under an answer: a reminder that the person asked for was not set.
pub fn not_set(language: Language, words: &str) -> String {
    say!(language, "reminder-not-set", words = escape_markdown(words))
}

/// Times of a task at which the assistant works right now; blank if it does not come again.
pub fn works(language: Language, times: &str) -> String {
    let now = say!(language, "reminder-works");
    if times.is_empty() { now } else { format!("{now}; {times}") }
}

/// Reply: a reminder or task is cancelled. `time` is blank if it was over.
pub fn cancelled_now(language: Language, kind: &str, id: ReminderId, words: &str, time: &str) -> String {
    let time = if time.is_empty() { String::new() } else { format!(", {time}") };
    let words = words.trim_end_matches('.');
    say!(language, "reminder-cancelled", kind = kind, id = id.to_string(), words = words, time = time)
}

/// Error: unknown number.
pub fn no_such_reminder(language: Language, id: ReminderId) -> String {
    say!(language, "reminder-unknown", id = id.to_string())
}
