//! Lines of the prompt about received files: their location, and the reason for a missing text.

use crate::message::FileKind;

/// Reason: too large.
pub const TOO_LARGE: &str = "the file is too large";
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

/// A received file, as described to the assistant.
#[derive(Debug, Clone, Copy)]
pub struct Sent<'a> {
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
pub fn sent(file: &Sent<'_>) -> String {
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
    // The MIME type is the sender's text too, so characters that no type contains are dropped.
    let mime: String =
        file.mime.chars().filter(|c| c.is_ascii_alphanumeric() || "/+-.".contains(*c)).take(60).collect();
    let mime = if mime.is_empty() { String::new() } else { format!(" ({mime})") };
    let trouble =
        if file.trouble.is_empty() { String::new() } else { format!(": {}. Say so if it matters", file.trouble) };
    format!("(They sent {what}{name}{mime}{trouble}.{}{})", lies(file), rest(file))
}

fn lies(file: &Sent<'_>) -> String {
    match (file.path, file.text) {
        ("", _) => String::new(),
        (path, "") => format!(" It is kept as {path}."),
        (path, text) => format!(" It is kept as {path}, and its text as {text}."),
    }
}

fn rest(file: &Sent<'_>) -> String {
    let text = if file.text.is_empty() { file.path } else { file.text };
    if !file.is_part || text.is_empty() {
        return String::new();
    }
    format!(" Only the beginning of its text stands above; `read_file` gives all of {text}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_where_the_file_lies_and_what_is_missing() {
        let photo = Sent { kind: FileKind::Photo, name: "", mime: "", trouble: "", path: "", text: "", is_part: false };
        assert_eq!(sent(&photo), "(They sent a photo.)");
        let lies = Sent { path: "inbox/3-file.jpg", ..photo };
        assert_eq!(sent(&lies), "(They sent a photo. It is kept as inbox/3-file.jpg.)");
        let pdf = Sent {
            kind: FileKind::Document,
            name: "a\nb.pdf",
            mime: "application/pdf<",
            path: "inbox/4-b.pdf",
            text: "inbox/4-b.pdf.txt",
            is_part: true,
            ..photo
        };
        assert_eq!(
            sent(&pdf),
            "(They sent a file named \"a b.pdf\" (application/pdf). It is kept as inbox/4-b.pdf, and its text as inbox/4-b.pdf.txt. \
             Only the beginning of its text stands above; `read_file` gives all of inbox/4-b.pdf.txt.)"
        );
        let broken = Sent { trouble: PDF_BROKEN, text: "", is_part: false, ..pdf };
        assert_eq!(
            sent(&broken),
            "(They sent a file named \"a b.pdf\" (application/pdf): the text of this PDF could not be read. Say so if it matters. \
             It is kept as inbox/4-b.pdf.)"
        );
    }
}
