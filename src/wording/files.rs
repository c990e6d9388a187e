//! Text about a person's files: the list, and one that is sent.

use super::ProgramText;
use super::language::{Language, Sentence, say};
use super::memory::{counted, size};
use super::review::Surface;

/// A folder without files.
pub const NO_FILES: Sentence = Sentence("files-none");

/// Heading of a folder; blank for all files of a person.
pub fn head(language: Language, folder: &str, count: usize, bytes: u64) -> String {
    let name = if folder.is_empty() { say!(language, "files-all") } else { folder.to_owned() };
    format!("**{name}**: {}", counted(language, count, bytes))
}

/// A folder in a list.
pub fn folder_line(language: Language, name: &str, count: usize, bytes: u64, sources: &str) -> String {
    with_sources(language, format!("- **{name}/**, {}", counted(language, count, bytes)), sources)
}

/// A file in a list: its size, when it was changed, and by whom.
pub fn file_line(language: Language, name: &str, bytes: u64, at: &str, origin: &str, sources: &str) -> String {
    with_sources(language, format!("- **{name}**, {}, {at}, {origin}", size(language, bytes)), sources)
}

fn with_sources(language: Language, line: String, sources: &str) -> String {
    if sources.is_empty() { line } else { format!("{line}; {}", say!(language, "from-outside", sources = sources)) }
}

/// Instructions below a list.
pub fn how_to_open(surface: Surface) -> String {
    let list = surface.command("files FOLDER", "files FOLDER");
    match surface {
        Surface::Chat(language) => say!(language, "files-how", list = list, send = "/file PATH"),
        Surface::CommandLine => format!("`{list}` opens a folder."),
    }
}

/// Error: no file or folder there.
pub fn none_such(surface: Surface) -> String {
    say!(surface.language(), "files-none-such", list = surface.command("files", "files"))
}

/// Error: the file exceeds the limit of the channels.
pub fn too_large(language: Language, most_mb: u64) -> String {
    say!(language, "file-too-large", most = language.number(most_mb))
}

/// Error: the person has no chat.
pub const NO_CHAT: Sentence = Sentence("file-no-chat");

/// Message before the file.
pub fn attached(language: Language, kib: u64) -> ProgramText {
    ProgramText::message(say!(language, "file-attached", kib = language.number(kib)))
}

/// Reply to the command where the file does not arrive.
pub const IN_DIRECT_CHAT: Sentence = Sentence("file-in-direct-chat");
