//! Text about files and reactions: received ones in the prompt, outgoing ones for the model that
//! adds them to its answer, and the lines in place of files that could not be read or sent.

use super::ProgramText;
use super::language::{Language, say};
use super::memory::size;
use crate::message::{FileKind, file_type};

/// Description of `send_file`.
pub const SEND_FILE: &str = "Send a file with your answer.";
/// Description of `react`.
pub const REACT: &str = "React to their message.";
/// Error: not exactly one emoji.
pub const NO_EMOJI: &str = "`emoji` is exactly one emoji, as 👍.";
/// Error: the person's channel does not take this reaction.
pub fn reaction_not_taken(taken: &str) -> String {
    format!("Their messenger takes only these reactions: {taken}")
}
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

/// Result: the picture is put before the model.
pub fn shown(path: &str, mime: &str) -> String {
    format!("{path} is a picture ({mime}). It stands below.")
}

/// Result: a picture, and a model that cannot be shown it.
pub fn unseen(path: &str, mime: &str) -> String {
    format!("{path} is a picture ({mime}), and {}. Say so if it matters.", super::prompt::CANNOT_SEE)
}

/// Error: too many pictures.
pub fn too_many_pictures(most: usize) -> String {
    format!("Not shown: at most {most} pictures are shown in one turn.")
}

/// Name of a picture that a tool put before the model.
pub fn picture(name: &str) -> String {
    format!("({name}:)")
}

/// Error: the file is too large.
pub fn too_large(most: u64) -> String {
    format!(
        "The file is larger than the {} MB that can be sent. Say so; it lies in the workspace.",
        most.div_ceil(1_000_000)
    )
}

/// Error: too many files.
pub fn too_many(most: usize) -> String {
    format!("Not sent: an answer carries at most {most} files.")
}

/// Result: the file goes out with the answer.
pub fn goes(name: &str, bytes: u64) -> String {
    format!("{name} ({} KB) goes out with your answer.", bytes.div_ceil(1_000))
}

/// Placeholder for a file that was deleted or changed in the meantime.
pub fn changed(language: Language, name: &str) -> String {
    say!(language, "file-changed", name = name)
}

/// Placeholder for a file that the channel does not accept.
pub fn not_taken(language: Language, name: &str, path: &str) -> String {
    say!(language, "file-not-taken", name = name, path = path)
}

/// Mark of a file that may have been sent before.
pub fn possibly_repeated(language: Language, name: &str) -> String {
    format!("{} {name}:", &*super::gateway::POSSIBLY_REPEATED.in_language(language))
}

/// Reason: too large.
pub const TOO_LARGE: &str = "the file is too large";
/// Notice to a person or group that their files take up four fifths of the space that they may.
pub fn room_nearly_full(language: Language, used: u64, most: u64) -> ProgramText {
    let (used, most) = (size(language, used), size(language, most));
    ProgramText::message(say!(language, "room-nearly-full", used = used, most = most))
}

/// Reply to an uploaded file for which there is no space.
pub fn no_room(language: Language, used: u64, most: u64) -> String {
    let (used, most) = (size(language, used), size(language, most));
    say!(language, "room-full", used = used, most = most)
}

/// Reason: the files of its person or group take up all the space that they may.
pub const NO_ROOM: &str =
    "the space for received files is full; files that are no longer needed have to be deleted first";
/// Reason: the file no longer exists.
pub const GONE: &str = "the file is not there any more";
/// Reason: the download failed.
pub const NOT_FETCHED: &str = "the file could not be fetched";
/// Reason: empty.
pub const EMPTY: &str = "the file is empty";
/// Reason: unsupported kind of file.
pub const CANNOT_READ: &str = "files of this kind cannot be read";
/// Reason: the PDF reader failed.
pub const PDF_BROKEN: &str = "the text of this PDF could not be read";
/// Reason: a password protects the PDF.
pub const PDF_LOCKED: &str = "this PDF is locked with a password, so its text could not be read";
/// Reason: the PDF contains only pictures.
pub const PDF_WITHOUT_WORDS: &str = "this PDF holds no text, perhaps only pictures of pages";
/// Note that only a part of the text was extracted.
pub const NOT_ALL: &str = "only a part of its text could be read";
/// Reason: the web page reader failed.
pub const PAGE_BROKEN: &str = "the text of this web page could not be read";
/// Reason: the web page contains only pictures or scripts.
pub const PAGE_WITHOUT_WORDS: &str = "this web page holds no text";
/// Reason: the reader of office documents failed.
pub const DOCUMENT_BROKEN: &str = "the text of this document could not be read";
/// Reason: the office document contains no text.
pub const DOCUMENT_WITHOUT_WORDS: &str = "this document holds no text";

/// Maximum number of characters of a MIME type. Those of office documents have up to 73.
const MAX_MIME_TYPE: usize = 100;

/// A received file, as described to the assistant.
#[derive(Debug, Clone, Copy)]
pub struct ReceivedFile<'a> {
    /// Kind of the file.
    pub kind: FileKind,
    /// Name as given by the sender.
    pub name: &'a str,
    /// MIME type as given by the sender.
    pub mime: &'a str,
    /// Reason why the file or its text is missing; blank if it is not.
    pub trouble: &'a str,
    /// Path in the owner's workspace; blank if the file is not stored.
    pub path: &'a str,
    /// Path of the extracted text, if it is a separate file.
    pub text: &'a str,
    /// `true` if the prompt contains only the beginning of the text.
    pub is_part: bool,
}

/// Line of the prompt about a file.
pub fn received(file: &ReceivedFile<'_>) -> String {
    let what = match file.kind {
        FileKind::Photo => "a photo",
        FileKind::Voice => "a voice note",
        FileKind::Audio => "a recording",
        FileKind::Document => "a file",
    };
    let name = if file.name.is_empty() {
        String::new()
    } else {
        format!(" named {:?}", crate::text::shorten(&crate::text::one_line(file.name), 80))
    };
    let mime = mime_type(file.mime).map(|mime| format!(" ({mime})")).unwrap_or_default();
    let trouble =
        if file.trouble.is_empty() { String::new() } else { format!(": {}. Say so if it matters", file.trouble) };
    format!("(They sent {what}{name}{mime}{trouble}.{}{})", location(file), rest(file))
}

/// Returns a claimed MIME type without its parameters. It is the sender's text too, so characters
/// that no type contains are dropped, and so is a type that is longer than any is.
fn mime_type(claimed: &str) -> Option<String> {
    let mut mime = file_type::bare(claimed);
    mime.retain(|c| c.is_ascii_alphanumeric() || "/+-._".contains(c));
    (1..=MAX_MIME_TYPE).contains(&mime.len()).then_some(mime)
}

fn location(file: &ReceivedFile<'_>) -> String {
    match (file.path, file.text) {
        ("", _) => String::new(),
        (path, "") => format!(" It is kept as {path}."),
        (path, text) => format!(" It is kept as {path}, and its text as {text}."),
    }
}

fn rest(file: &ReceivedFile<'_>) -> String {
    let text = if file.text.is_empty() { file.path } else { file.text };
    if !file.is_part || text.is_empty() {
        return String::new();
    }
    format!(" Only the beginning of its text stands above; `read_file` gives all of {text}.")
}

/// Frame of the reactions.
pub fn reactions(lines: &[String]) -> String {
    format!("<reactions>\n{}\n</reactions>", lines.join("\n"))
}

/// A reaction: its author, emoji and message. A blank emoji means that it was removed.
pub fn reaction(who: &str, emoji: &str, before: &str, ours: bool, at: &str, words: Option<&str>) -> String {
    let whose = if ours { "your message" } else { "their message" };
    let words = words.filter(|words| !words.is_empty()).map(|words| format!(" «{words}»")).unwrap_or_default();
    if emoji.is_empty() {
        format!("{who} took {before} away from {whose} of {at}{words}")
    } else {
        format!("{who} put {emoji} under {whose} of {at}{words}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_where_the_file_lies_and_what_is_missing() {
        let photo =
            ReceivedFile { kind: FileKind::Photo, name: "", mime: "", trouble: "", path: "", text: "", is_part: false };
        assert_eq!(received(&photo), "(They sent a photo.)");
        let stored = ReceivedFile { path: "inbox/3-file.jpg", ..photo };
        assert_eq!(received(&stored), "(They sent a photo. It is kept as inbox/3-file.jpg.)");
        let pdf = ReceivedFile {
            kind: FileKind::Document,
            name: "a\nb.pdf",
            mime: "application/pdf<",
            path: "inbox/4-b.pdf",
            text: "inbox/4-b.pdf.txt",
            is_part: true,
            ..photo
        };
        assert_eq!(
            received(&pdf),
            "(They sent a file named \"a b.pdf\" (application/pdf). It is kept as inbox/4-b.pdf, and its text as inbox/4-b.pdf.txt. \
             Only the beginning of its text stands above; `read_file` gives all of inbox/4-b.pdf.txt.)"
        );
        let long = "a/word-that-is-no-type".repeat(6);
        for (mime, shown) in [
            ("Text/Plain; charset=utf-8", " (text/plain)"),
            (
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                " (application/vnd.openxmlformats-officedocument.wordprocessingml.document)",
            ),
            (&*long, ""),
            ("; ", ""),
        ] {
            let line = received(&ReceivedFile { mime, path: "", ..photo });
            assert_eq!(line, format!("(They sent a photo{shown}.)"));
        }
        let broken = ReceivedFile { trouble: PDF_BROKEN, text: "", is_part: false, ..pdf };
        assert_eq!(
            received(&broken),
            "(They sent a file named \"a b.pdf\" (application/pdf): the text of this PDF could not be read. Say so if it matters. \
             It is kept as inbox/4-b.pdf.)"
        );
    }
}
