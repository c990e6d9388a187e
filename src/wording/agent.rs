//! Headings of the agent's own memory, in prompts and in its files.

/// Heading of the agent's own memory.
pub const AGENT_MEMORY: &str = "Agent Memory";
/// Heading of the experience of other profiles.
pub const SUPPLEMENTARY: &str = "Supplementary Context";
/// Heading of the lessons from failures.
pub const LEARNINGS: &str = "What went wrong before";
/// Heading of layer A.
pub const OF_PERSON: &str = "About whom you talk to:";
/// Heading of layer B.
pub const OF_WORKSPACE: &str = "About this workspace:";
/// Heading of the corrections.
pub const CORRECTED: &str = "They put right (what was wrong: what is right):";
/// Heading of the failed tools.
pub const FAILED: &str = "Tools that failed:";
/// First lines of the file of corrections.
pub const CORRECTIONS_FILE: &str = "# Corrections\n\nWhat was wrong, and what is right.\n";
/// First lines of the file of errors.
pub const ERRORS_FILE: &str = "# Errors\n\nWhich tool failed, how, how often and when last.\n";

/// Heading of another profile's experience.
pub fn of_profile(name: &str) -> String {
    format!("Learned as \"{name}\":")
}

/// Memories recalled at the beginning of a conversation, in the frame that the rules name.
pub fn comes_to_mind(lines: &str) -> String {
    format!("<context part=\"recalled\">\nWhat you know that may matter here:\n{lines}\n</context>")
}

/// Number of entries that are left out.
pub fn cut(count: usize, rest_in: &str) -> String {
    format!("({count} older entries are in {rest_in})")
}

/// Number of lessons that are left out.
pub fn older(count: usize, rest_in: &str) -> String {
    format!("({count} older ones are in {rest_in})")
}

/// Formats a number of occurrences.
pub fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// Title of the note with the overflow of a month.
pub fn facts_of(month: &str) -> String {
    format!("Facts of {month}")
}

/// Title of a further note of the same month.
pub fn more_facts_of(month: &str, number: usize) -> String {
    format!("Facts of {month} ({number})")
}

/// Description of that note.
pub const FACTS_NOTE: &str = "Older facts that had no room any more where they were kept";
