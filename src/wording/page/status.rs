//! Sentences about the state of the program, its models and tools, and reflections on the page.

/// No finding needs a look.
pub const NOTHING_TO_FIX: &str = "There is nothing to fix.";
/// Remark about checks that are not made by opening a page.
pub const NOT_CHECKED_HERE: &str = "`compline doctor` also tries the disk, the model and the channels; `compline doctor --fix` \
    fixes what cannot do harm.";
/// Remark next to the button of the checks that read everything.
pub const CHECK_READS_ALL: &str = "Reads the whole journal and all files of the memory.";
/// Remark about the checks that read everything.
pub const CHECK_TAKES_TIME: &str = "This has just read the whole journal and all files of the memory.";
/// Nothing was recorded yet.
pub const NO_HEALTH: &str = "Nothing is recorded yet. While the gateway runs, it notes each change here.";
/// Explanation of the marks of the bars.
pub const HEALTH_MARKS: &str = "Each day is a column: tall while everything worked, half as tall if there was a problem, \
    and a line at the bottom if it was off.";
/// An empty list of backups.
pub const NO_BACKUPS: &str = "No backup was made yet. `compline backup FILE` makes one while the gateway runs.";
/// Remark about the backups of the list.
pub const BACKUPS_ARE_READ_BACK: &str = "Each was read back and compared when it was made. Restoring is done on the \
    computer: `compline restore FILE`.";
/// No entry of the log fits.
pub const NO_ENTRIES: &str = "The log has no such entry.";
/// No entry fits in the part of the log that was read.
pub const NO_NEW_ENTRIES: &str = "This part of the log has no such entry.";
/// Remark about models.
pub const MODELS_IN_ORDER: &str = "They are asked in this order: the next one answers if the one before cannot.";
/// Remark: prices are unknown.
pub const PRICE_UNKNOWN: &str = "not known";
/// Remark about servers.
pub const SERVERS_ARE_CONFIGURED: &str = "Servers and their commands stand in the configuration and cannot be changed \
    here: they can run a program.";
/// Instruction above the button that accepts a tool.
pub const READ_THE_TOOL: &str = "Its server wrote this, and a model would read it. Accepting allows exactly this text, \
    from the next conversation on; if its server changes a word of it, the tool is off again.";
/// Refusal: another text was shown.
pub const TOOL_HAS_CHANGED: &str = "Nothing was accepted: this is not the text that you were shown. Here it is as it is \
    now.";
/// Instruction above the fields that mark the arguments of a tool.
pub const WHAT_MARKS_MEAN: &str = "A destination is asked about where no loaded skill names it; content may differ under a \
    longer yes if you want it; a choice is one of the values that the schema lists.";
/// Title of the field that accepts a tool as a search.
pub const IS_A_SEARCH: &str = "It is a search: it may look up what you typed without a question.";
/// Refusal: there is no such tool any more.
pub const TOOL_IS_GONE: &str = "Nothing was accepted: no server has this tool any more.";
/// Refusal: there is no such model.
pub const NO_SUCH_MODEL: &str = "Nothing was changed: there is no such model.";
/// An empty list of reflections.
pub const NO_REFLECTIONS: &str = "There are no reflections yet. Each night your assistant looks back on the day, and says \
    here what it thinks; `/reflect` in your chat asks for one at once.";
/// A reflection without actions.
pub const NO_ACTIONS: &str = "It proposed nothing.";

/// Instruction for the word that names what a tool does.
pub fn tool_word_needed(word: &str) -> String {
    format!("The tool says that it can do more than read. To accept that too, write the word \u{201c}{word}\u{201d}.")
}

/// Refusal: that word is missing.
pub fn tool_word_missing(word: &str) -> String {
    format!("Nothing was accepted yet: write the word \u{201c}{word}\u{201d} to accept what the tool does.")
}

/// Number of checks that passed.
pub fn passed(count: usize) -> String {
    if count == 1 { "1 check passed".to_owned() } else { format!("{count} checks passed") }
}

/// State of a day, in words.
pub fn day_state(state: Option<&str>) -> &'static str {
    match state {
        Some("well") => "worked",
        Some("ill") => "had a problem",
        Some(_) => "was off",
        None => "not recorded",
    }
}

/// Share of time in thousandths, as per cent.
pub fn per_cent(thousandths: u64) -> String {
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// A proposed action, in a few words.
pub fn action_kind(kind: &str) -> &'static str {
    match kind {
        "create_skill" => "A new skill",
        "change_skill" => "A change of a skill",
        "promote_note" => "A note to become a skill",
        "memory" => "Something to remember",
        "configuration" => "A setting",
        _ => "Something else",
    }
}
