//! What a model reads of the files and emojis that go out with its answer, and what a person reads
//! in the place of a file that does not.

/// `send_file`
pub const SEND_FILE: &str = "Send a file of this person's folder with your answer, when they ask for one.";
/// Its argument.
pub const SEND_FILE_PATH: &str = "As inbox/12-report.pdf";
/// `react`
pub const REACT: &str = "Put one emoji under the message that you are answering, sparingly.";
/// An argument.
pub const NO_EMOJI: &str = "`emoji` is exactly one emoji, as 👍.";
/// A path that is none.
pub const BAD_PATH: &str = "That is no path inside this person's folder. Give it without a leading slash, without .. and without hidden names.";
/// A file of somebody else.
pub const NOT_THEIRS: &str =
    "That file does not lie in the folder of the person you are talking to, so it is not sent.";
/// There is nothing.
pub const NO_SUCH_FILE: &str = "There is no such file in this person's folder.";
/// The answer goes to nobody.
pub const NOBODY: &str = "Nobody is there to send it to.";
/// There is nothing to put an emoji under.
pub const NO_MESSAGE: &str = "There is no message to put it under.";
/// It will be put there.
pub const REACTS: &str = "It goes out with your answer.";
/// It did not work.
pub const NOT_KEPT: &str = "It could not be stored just now, and is not sent.";

/// A file that is too large.
pub fn too_large(most: u64) -> String {
    format!(
        "The file is larger than the {} MB that can be sent. Say so; it lies in the workspace.",
        most.div_ceil(1_000_000)
    )
}

/// Too many files.
pub fn too_many(most: usize) -> String {
    format!("Not sent: {most} files go with one answer at most.")
}

/// It will go.
pub fn goes(name: &str, bytes: u64) -> String {
    format!("{name} ({} KB) goes out with your answer.", bytes.div_ceil(1_000))
}

/// A file that is not there any more, or not what it was.
pub fn changed(name: &str) -> String {
    format!("(The file {name} was to come here. It is gone or was changed meanwhile, so it was not sent.)")
}

/// A file that the channel does not take.
pub fn not_taken(name: &str, path: &str) -> String {
    format!("(The file {name} cannot be sent here. It lies in the workspace: {path})")
}

/// Before a file that may have been sent before.
pub fn again(name: &str) -> String {
    format!("{} {name}:", super::gate::POSSIBLY_REPEATED)
}
