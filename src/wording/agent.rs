//! What stands around the agent's own memory in a prompt, and in the files that it is kept in.

/// Heading of the agent's own memory.
pub const AGENT_MEMORY: &str = "Agent Memory";
/// Heading of what other profiles have learned.
pub const SUPPLEMENTARY: &str = "Supplementary Context";
/// Heading of what was learned from what went wrong.
pub const LEARNINGS: &str = "What went wrong before";
/// Above layer A.
pub const OF_PERSON: &str = "About whom you talk to:";
/// Above layer B.
pub const OF_WORKSPACE: &str = "About this workspace:";
/// Above what was put right.
pub const CORRECTED: &str = "They put right (what was wrong: what is right):";
/// Above what failed.
pub const FAILED: &str = "Tools that failed:";
/// The first lines of the file that holds what was put right.
pub const CORRECTIONS_FILE: &str = "# Corrections\n\nWhat was wrong, and what is right.\n";
/// The first lines of the file that holds what failed.
pub const ERRORS_FILE: &str = "# Errors\n\nWhich tool failed, how, how often and when last.\n";

/// Above what one other profile has learned.
pub fn of_profile(name: &str) -> String {
    format!("Learned as \"{name}\":")
}

/// What comes to mind at the beginning of a conversation: a part of the memory, in the frame that
/// the rules name.
pub fn comes_to_mind(lines: &str) -> String {
    format!("<context part=\"recalled\">\nWhat you know that may matter here:\n{lines}\n</context>")
}

/// What is said of entries that had no room.
pub fn cut(count: usize, rest_in: &str) -> String {
    format!("({count} older entries are in {rest_in})")
}

/// What is said of learnings that had no room.
pub fn older(count: usize, rest_in: &str) -> String {
    format!("({count} older ones are in {rest_in})")
}

/// How often something happened.
pub fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// The title of the note that takes up what had no room any more in a month.
pub fn facts_of(month: &str) -> String {
    format!("Facts of {month}")
}

/// The title of a further one, where the first is full.
pub fn more_facts_of(month: &str, number: usize) -> String {
    format!("Facts of {month} ({number})")
}

/// What that note is for, in a line.
pub const FACTS_NOTE: &str = "Older facts that had no room any more where they were kept";
