//! What people read about their list of reminders and tasks.

use crate::id::ReminderId;

/// What /reminders does.
pub const DOES: &str = "show or cancel what waits: /reminders cancel NUMBER";
/// How /reminders is written.
pub const HOW: &str = "/reminders, or /reminders cancel NUMBER";
/// The list is empty.
pub const NONE: &str = "Nothing waits. Ask me to remind you of something, or to do something every morning.";

/// The whole list.
pub fn list(lines: &str, zone: &str) -> String {
    format!("Times are those of {zone}.\n\n{lines}\n\n/reminders cancel NUMBER takes one off.")
}

/// One of them.
pub fn line(id: ReminderId, kind: &str, times: &str, words: &str, sources: &str) -> String {
    let sources = if sources.is_empty() { String::new() } else { format!(" (from outside: {sources})") };
    format!("- **{id}** {kind}, {times}: {words}{sources}")
}

/// The times of what comes back.
pub fn again(times: &str) -> String {
    format!("next {times}, and so on")
}

/// It waits no more.
pub fn cancelled(id: ReminderId) -> String {
    format!("{id} is cancelled.")
}

/// There is none with that number on one's list.
pub fn none_such(id: ReminderId) -> String {
    format!("Nothing with number {id} waits. /reminders shows what does.")
}
