//! Text about outgoing files and reactions: for the model that adds them to its answer, and in
//! place of a file that could not be sent.

/// Description of `send_file`.
pub const SEND_FILE: &str = "Send a file of this person's folder with your answer, when they ask for one.";
/// Description of the argument `path`.
pub const SEND_FILE_PATH: &str = "As inbox/12-report.pdf";
/// Description of `react`.
pub const REACT: &str = "Put one emoji under the message that you are answering, sparingly.";
/// Error: not exactly one emoji.
pub const NO_EMOJI: &str = "`emoji` is exactly one emoji, as 👍.";
/// Error: invalid path.
pub const BAD_PATH: &str = "That is no path inside this person's folder. Give it without a leading slash, without .. and without hidden names.";
/// Error: the file belongs to another person.
pub const NOT_THEIRS: &str =
    "That file does not lie in the folder of the person you are talking to, so it is not sent.";
/// Error: no such file.
pub const NO_SUCH_FILE: &str = "There is no such file in this person's folder.";
/// Error: the answer has no recipient.
pub const NOBODY: &str = "Nobody is there to send it to.";
/// Error: no message to react to.
pub const NO_MESSAGE: &str = "There is no message to put it under.";
/// Result: the reaction goes out with the answer.
pub const REACTS: &str = "It goes out with your answer.";
/// Error: the attachment could not be stored.
pub const NOT_KEPT: &str = "It could not be stored just now, and is not sent.";

/// Error: the file is too large.
pub fn too_large(most: u64) -> String {
    format!(
        "The file is larger than the {} MB that can be sent. Say so; it lies in the workspace.",
        most.div_ceil(1_000_000)
    )
}

/// Error: too many files.
pub fn too_many(most: usize) -> String {
    format!("Not sent: {most} files go with one answer at most.")
}

/// Result: the file goes out with the answer.
pub fn goes(name: &str, bytes: u64) -> String {
    format!("{name} ({} KB) goes out with your answer.", bytes.div_ceil(1_000))
}

/// Placeholder for a file that was deleted or changed in the meantime.
pub fn changed(name: &str) -> String {
    format!("(The file {name} was to come here. It is gone or was changed meanwhile, so it was not sent.)")
}

/// Placeholder for a file that the channel does not accept.
pub fn not_taken(name: &str, path: &str) -> String {
    format!("(The file {name} cannot be sent here. It lies in the workspace: {path})")
}

/// Mark of a file that may have been sent before.
pub fn again(name: &str) -> String {
    format!("{} {name}:", super::gate::POSSIBLY_REPEATED)
}
