//! What a prompt says of a file that came with a message: where it lies, and why its words are not
//! there.

use crate::message::FileKind;

/// The file is too large.
pub const TOO_LARGE: &str = "the file is too large";
/// The file is not there any more.
pub const GONE: &str = "the file is not there any more";
/// The file could not be fetched.
pub const NOT_FETCHED: &str = "the file could not be fetched";
/// The file is empty.
pub const EMPTY: &str = "the file is empty";
/// A kind of file that is kept and not read.
pub const CANNOT_READ: &str = "files of this kind cannot be read";
/// A PDF on which the reader gave up.
pub const PDF_BROKEN: &str = "the text of this PDF could not be read";
/// A PDF with a password.
pub const PDF_LOCKED: &str = "this PDF is locked with a password, so its text could not be read";
/// A PDF of pictures.
pub const PDF_WITHOUT_WORDS: &str = "this PDF holds no text, perhaps only pictures of pages";
/// A document of which only the beginning was read.
pub const NOT_ALL: &str = "only a part of its text could be read";
/// A web page on which the reader gave up.
pub const PAGE_BROKEN: &str = "the text of this web page could not be read";
/// A web page of pictures or scripts.
pub const PAGE_WITHOUT_WORDS: &str = "this web page holds no text";

/// A file that came with a message, as the assistant is told of it.
#[derive(Debug, Clone, Copy)]
pub struct Sent<'a> {
    /// What it is.
    pub kind: FileKind,
    /// Its name, as its sender has it.
    pub name: &'a str,
    /// Its type, as its sender has it.
    pub mime: &'a str,
    /// Why it or its words are not there; blank if they are.
    pub trouble: &'a str,
    /// Where it lies, as its owner sees it; blank if it does not.
    pub path: &'a str,
    /// Where its words lie, if not in itself.
    pub text: &'a str,
    /// Whether the prompt holds only the beginning of them.
    pub is_part: bool,
}

/// The line about it.
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
    // A type is the sender's word too: what no type is spelled with is left out.
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
