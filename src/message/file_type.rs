//! Types of files: MIME type and extension of each other, and of a picture by its first bytes.

use super::{FileKind, RemoteFile};

/// Type of a file about which nothing is known.
pub const UNKNOWN: &str = "application/octet-stream";

/// Extensions and MIME types. For an extension the first row counts, for a type any.
const TYPES: &[(&str, &str)] = &[
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("png", "image/png"),
    ("webp", "image/webp"),
    ("gif", "image/gif"),
    ("heic", "image/heic"),
    ("svg", "image/svg+xml"),
    ("ogg", "audio/ogg"),
    ("oga", "audio/ogg"),
    ("opus", "audio/ogg"),
    ("mp3", "audio/mpeg"),
    ("mp3", "audio/mp3"),
    ("m4a", "audio/mp4"),
    ("m4a", "audio/m4a"),
    ("m4a", "audio/x-m4a"),
    ("m4a", "audio/aac"),
    ("wav", "audio/wav"),
    ("wav", "audio/x-wav"),
    ("wav", "audio/wave"),
    ("flac", "audio/flac"),
    ("webm", "video/webm"),
    ("webm", "audio/webm"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("json", "application/json"),
    ("csv", "text/csv"),
    ("md", "text/markdown"),
    ("html", "text/html"),
    ("txt", "text/plain"),
    ("zip", "application/zip"),
];

/// Pictures that models and channels display.
const PICTURES: [&str; 4] = ["image/jpeg", "image/png", "image/webp", "image/gif"];

/// Returns a claimed MIME type without its parameters, in lower case.
pub fn bare(mime: &str) -> String {
    mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns the extension of a name in lower case; blank if it has none.
pub fn extension(name: &str) -> String {
    let (_, extension) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).unwrap_or_default();
    extension.to_ascii_lowercase()
}

/// Returns the MIME type of a file by its name.
pub fn of_name(name: &str) -> &'static str {
    let extension = extension(name);
    TYPES.iter().find(|(known, _)| *known == extension).map_or(UNKNOWN, |(_, mime)| *mime)
}

/// Returns the extension of a name, if it is one that the program knows.
pub fn known_extension(name: &str) -> Option<&'static str> {
    let extension = extension(name);
    TYPES.iter().find(|(known, _)| *known == extension).map(|(known, _)| *known)
}

/// Returns the usual extension of files of a MIME type.
pub fn extension_of(mime: &str) -> Option<&'static str> {
    let mime = bare(mime);
    TYPES.iter().find(|(_, known)| *known == mime).map(|(extension, _)| *extension)
}

/// Returns the type of a picture by its first bytes; `None` for any other content.
pub fn of_picture(bytes: &[u8]) -> Option<&'static str> {
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    match bytes {
        [0xff, 0xd8, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        _ => is_webp.then_some("image/webp"),
    }
}

/// Returns true if models and channels display a picture of that MIME type.
pub fn is_displayed(mime: &str) -> bool {
    PICTURES.contains(&mime)
}

/// Returns true if a received file is said to be a picture that models can be shown.
pub fn is_picture(file: &RemoteFile) -> bool {
    let mime = bare(&file.mime);
    is_displayed(&mime) || mime.is_empty() && file.kind == FileKind::Photo
}

/// Returns the name of a received file with an extension, by its type if the sender gave none.
pub fn full_name(file: &RemoteFile, bytes: &[u8]) -> String {
    if !extension(&file.name).is_empty() {
        return file.name.clone();
    }
    let stem = match (file.name.as_str(), file.kind) {
        ("", FileKind::Photo) => "photo",
        ("", FileKind::Voice) => "voice",
        ("", FileKind::Audio) => "recording",
        ("", FileKind::Document) => "file",
        (name, _) => name,
    };
    let extension = extension_of(of_picture(bytes).unwrap_or(&file.mime));
    extension.map_or_else(|| stem.to_owned(), |extension| format!("{stem}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: FileKind, mime: &str, name: &str) -> RemoteFile {
        RemoteFile { kind, reference: String::new(), mime: mime.to_owned(), name: name.to_owned(), size: None }
    }

    #[test]
    fn names_and_types_lead_to_each_other() {
        for (name, mime) in [("a.JPG", "image/jpeg"), ("b.tar.opus", "audio/ogg"), ("jpg", UNKNOWN), (".jpg", UNKNOWN)]
        {
            assert_eq!(of_name(name), mime, "{name}");
        }
        for (mime, found) in [("Audio/MPEG", Some("mp3")), ("audio/ogg; codecs=opus", Some("ogg")), ("x", None)] {
            assert_eq!(extension_of(mime), found, "{mime}");
        }
    }

    #[test]
    fn a_name_keeps_its_extension_or_gains_one() {
        for (file, bytes, name) in [
            (file(FileKind::Photo, "image/jpeg", ""), &b"\xff\xd8\xff"[..], "photo.jpg"),
            (file(FileKind::Photo, "image/jpeg", ""), b"\x89PNG\r\n", "photo.png"),
            (file(FileKind::Photo, "", "IMG_1"), b"RIFF0000WEBPVP8 ", "IMG_1.webp"),
            (file(FileKind::Document, "image/jpeg", "a.txt"), b"\x89PNG", "a.txt"),
            (file(FileKind::Voice, "audio/ogg", ""), b"OggS", "voice.ogg"),
            (file(FileKind::Audio, "video/mp4", ""), b"", "recording.mp4"),
            (file(FileKind::Document, "", ""), b"", "file"),
            (file(FileKind::Document, "application/pdf", "bill"), b"%PDF-", "bill.pdf"),
        ] {
            assert_eq!(full_name(&file, bytes), name);
        }
    }

    #[test]
    fn only_pictures_that_can_be_shown_are_pictures() {
        for (kind, mime, is) in [
            (FileKind::Photo, "image/jpeg", true),
            (FileKind::Document, "image/PNG; x=y", true),
            (FileKind::Photo, "", true),
            (FileKind::Photo, "image/heic", false),
            (FileKind::Document, "image/svg+xml", false),
            (FileKind::Document, "", false),
        ] {
            assert_eq!(is_picture(&file(kind, mime, "")), is, "{mime}");
        }
    }
}
