//! Text about the export of a person's data.

use super::ProgramText;

/// First lines of the archive's README.
pub fn readme(name: &str, at: &str) -> String {
    format!(
        "# What is kept of {name}\n\nMade on {at}.\n\n\
         - `conversations/`: every conversation as Markdown\n\
         - `messages.jsonl`: every message, one JSON object a line; those in groups are only your own\n\
         - `summaries.jsonl`: what was written down at the end of conversations\n\
         - `reflections/`: what was thought of past days, weeks and months\n\
         - `reminders.jsonl`: what waits to be told or done\n\
         - `knowledge/`: the files of the memory as they lie there, with what you sent under `inbox/`\n\
         - `experience/`: what the assistant has learned about you beside them\n"
    )
}
/// Message before the file.
pub fn comes(kib: u64) -> ProgramText {
    ProgramText::message(format!(
        "Here is everything that is kept of you ({kib} KiB). The file goes from the workspace after a week."
    ))
}
/// Reply to the command.
pub const SENT: &str = "Everything that is kept of you comes to your direct chat as a file.";
/// Error: the person has no address.
pub const NO_ADDRESS: &str =
    "There is no chat to which a file could be sent. The owner can make one: compline export NAME FILE";

/// Error: the export exceeds the limit of the channel.
pub fn too_large(most_mib: u64) -> String {
    format!(
        "It is larger than {most_mib} MiB, which is more than a chat takes. The owner can make it on the computer: compline export NAME FILE"
    )
}

/// Progress: data is being collected.
pub fn goes_on(name: &str) -> String {
    format!("Collecting what is kept of {name}")
}

/// Result: the file is written.
pub fn written(name: &str, file: &str, kib: u64) -> String {
    format!("Everything that is kept of {name} is in {file} ({kib} KiB). Nothing of anybody else is in it.")
}

/// Error: the file could not be written.
pub fn not_written(file: &str, why: &str) -> String {
    format!("{file} cannot be written: {why}")
}
