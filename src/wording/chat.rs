//! Output of `compline chat`, and messages of the gateway in the local protocol.

/// Rule below a partial answer that was restarted.
pub const RULE: &str = "────────";
/// Keys and commands of the interactive chat, below its list of commands.
pub const KEYS: &str = "In this terminal:\n\n\
    - /memory edit [NAME]: Edit a note in your editor\n\
    - /quit, /exit or ctrl-d: Leave\n\
    - ctrl-c: Stop the answer; leave if there is none\n\
    - alt-enter, or \\ at the end of a line: Begin a new line\n\
    - tab: Complete a command\n\
    - up and ctrl-r: Find earlier lines";
/// Note that the connection was lost, and is tried again.
pub const CONNECTING: &str = "Connecting again. What you type is kept; ctrl-d leaves.";
/// Status while the connection is lost.
pub const NOT_CONNECTED: &str = "not connected (ctrl-d leaves)";
/// Note that the connection is back.
pub const CONNECTED: &str = "Connected again.";
/// Error: a line of the local protocol is too long.
pub const LINE_TOO_LONG: &str = "That is too long to send at once.";
/// Error: a line of the local protocol is invalid.
pub const NOT_UNDERSTOOD: &str = "The gateway did not understand this program; are both of the same version?";
/// Error: the connection does not begin with a greeting.
pub const NO_GREETING: &str = "A connection has to begin by saying who is speaking.";
/// Error: invalid message id.
pub const BAD_ID: &str = "A message needs an id of 1 to 128 visible ASCII characters.";
/// Note that the gateway stops.
pub const STOPPING: &str = "The gateway is stopping.";
/// Note that the connection was lost.
pub const GONE: &str = "The gateway is gone.";
/// Hint after the connection was lost while the prompt is open.
pub const PRESS_ENTER: &str = "Press enter to leave; what you have typed will be printed.";
/// Note that the message is stored and its answer comes later.
pub const ANSWER_LATER: &str =
    "The message is stored. Its answer will come with the next `compline chat`, once the gateway can work again.";
/// Note that the piped text was not stored.
pub const PIPE_UNSTORED: &str = "The piped text was not stored.";
/// Error: no text and no piped input.
pub const NOTHING_SAID: &str =
    "There is nothing to send: the input is empty. Give the question as arguments or pipe a text in.";
/// Warning that the piped text was not UTF-8.
pub const REPLACED_INVALID: &str =
    "The piped text is not valid UTF-8; what could not be read was replaced by \u{fffd}.";
/// Heading on standard error of an answer to an older message.
pub const EARLIER: &str = "This answers something earlier:";

/// Heading on standard error of other messages.
pub const MEANWHILE: &str = "This came meanwhile, and is not an answer:";
/// Reason: the client disconnected before its answer.
pub const ASKER_LEFT: &str = "the command that asked for it has ended";

/// Error: the piped text is too long.
pub fn pipe_too_long(most: usize) -> String {
    format!("The piped text is longer than {} KiB. Send less of it, for example through `head -c`.", most / 1024)
}

/// Error: standard input could not be read.
pub fn pipe_broken(why: &str) -> String {
    format!("Standard input could not be read: {why}")
}

/// Error: the terminal could not be read.
pub fn editor_broken(why: &str) -> String {
    format!("The terminal could not be read: {why}")
}

/// Returns a message that was not confirmed as stored to the person.
pub fn unstored(text: &str) -> String {
    format!("This was not confirmed as stored:\n{text}")
}

/// First line of an interactive chat.
pub fn greeting(assistant: &str, model: Option<&str>) -> String {
    let model = model.map_or_else(String::new, |model| format!(" ({model})"));
    format!("This is {assistant}{model}. /help lists the commands, ctrl-d leaves.")
}

/// Status while an answer has not begun to appear.
pub fn thinking(assistant: &str, seconds: u64) -> String {
    format!("{assistant} is thinking… {seconds} s (ctrl-c stops)")
}

/// Status while an answer appears.
pub fn writing(assistant: &str, seconds: u64) -> String {
    format!("{assistant} is writing… {seconds} s (ctrl-c stops)")
}

/// Input prompt.
pub fn prompt(person: &str) -> String {
    format!("{person}> ")
}

/// Reason: a terminal cannot show reactions.
pub const NO_REACTIONS: &str = "a terminal shows no reactions";

/// Reason: a terminal cannot show files.
pub fn no_files(name: &str) -> String {
    format!("a terminal shows no files; {name} is in the workspace")
}
