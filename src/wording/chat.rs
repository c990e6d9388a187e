//! What `compline chat` says to the person in front of it, and what the gateway says through the
//! local protocol.

/// Under a growing answer that was started again.
pub const RULE: &str = "────────";
/// An answer takes longer than usual and nothing of it is there yet.
pub const WRITING: &str = "…";
/// A line of the local protocol is longer than the limit.
pub const LINE_TOO_LONG: &str = "That is too long to be taken in one piece.";
/// A line of the local protocol makes no sense.
pub const NOT_UNDERSTOOD: &str = "The gateway did not understand this program; are both of the same version?";
/// The first line of a connection is not a greeting.
pub const NO_GREETING: &str = "A connection has to begin with who is speaking.";
/// A message came under an id that cannot be used.
pub const BAD_ID: &str = "A message needs an id of 1 to 128 visible ASCII characters.";
/// The gateway stops.
pub const STOPPING: &str = "The gateway is stopping.";
/// The connection ended without a farewell.
pub const GONE: &str = "The gateway is gone.";
/// How to leave when the gateway is gone and the prompt is still open.
pub const PRESS_ENTER: &str = "Press enter to leave; what stands in the line will be printed back.";
/// The message is safe and its answer is not here.
pub const ANSWER_LATER: &str =
    "The message is stored. Its answer will come with the next `compline chat`, once the gateway can work again.";
/// The piped part of a question was not stored.
pub const PIPE_UNSTORED: &str = "The piped text was not stored.";
/// Neither words nor a pipe with something in it.
pub const NOTHING_SAID: &str =
    "There is nothing to send: the input is empty. Give the question as arguments or pipe a text in.";
/// Piped bytes were no UTF-8.
pub const MENDED: &str = "The piped text is not valid UTF-8; what could not be read was replaced by \u{fffd}.";
/// Above an answer to something older, on standard error.
pub const EARLIER: &str = "This came in answer to something earlier:";

/// Above what came meanwhile and answers nothing, on standard error.
pub const MEANWHILE: &str = "This came meanwhile, and is no answer:";
/// Whoever waited for an answer did not take it.
pub const ASKER_LEFT: &str = "whoever waited for it did not take it";

/// The piped text is longer than what is taken.
pub fn pipe_too_long(most: usize) -> String {
    format!("The piped text is longer than {} KiB. Send less of it, for example through `head -c`.", most / 1024)
}

/// Standard input could not be read.
pub fn pipe_broken(why: &str) -> String {
    format!("Standard input could not be read: {why}")
}

/// The line editor gave up.
pub fn editor_broken(why: &str) -> String {
    format!("The terminal could not be read: {why}")
}

/// Gives back a message of which nobody said that it was stored.
pub fn unstored(text: &str) -> String {
    format!("This was not confirmed as stored:\n{text}")
}

/// What stands before the line that is being typed.
pub fn prompt(person: &str) -> String {
    format!("{person}> ")
}

/// A reaction cannot be shown in a terminal.
pub const NO_REACTIONS: &str = "a terminal shows no reactions";

/// A file cannot be shown in a terminal.
pub fn no_files(name: &str) -> String {
    format!("a terminal shows no files; {name} lies in the workspace")
}
