//! Replies to `/reminders`.

use crate::id::ReminderId;

/// An empty list.
pub const NONE: &str = "Nothing waits. Ask me to remind you of something, or to do something every morning.";

/// List of reminders and tasks.
pub fn list(lines: &str, zone: &str) -> String {
    format!("Times are those of {zone}.\n\n{lines}\n\n/reminders cancel NUMBER takes one off.")
}

/// A reminder or task in the list.
pub fn line(id: ReminderId, kind: &str, times: &str, words: &str, sources: &str) -> String {
    let sources = if sources.is_empty() { String::new() } else { format!(" (from outside: {sources})") };
    format!("- **{id}** {kind}, {times}: {words}{sources}")
}

/// Next times of a recurring item.
pub fn again(times: &str) -> String {
    format!("next {times}, and so on")
}

/// Reply to a cancellation.
pub fn cancelled(id: ReminderId) -> String {
    format!("{id} is cancelled.")
}

/// Error: unknown number.
pub fn none_such(id: ReminderId) -> String {
    format!("Nothing with number {id} waits. /reminders shows what does.")
}
