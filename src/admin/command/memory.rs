//! Parsers of the memory commands. Everyone with access has them, each for their own memory.

use super::super::search::SearchQuery;
use super::{first_word, named};
use crate::id::FileId;

/// A command about the caller's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryCommand {
    /// Shows an overview.
    Overview,
    /// Shows one note in full.
    Show {
        /// The note, as typed.
        note: String,
    },
    /// Searches the stored data.
    Search(SearchQuery),
    /// Opens an editor, where there is one.
    Edit,
    /// Shows a note's earlier versions.
    History {
        /// The note.
        note: String,
    },
    /// Restores an earlier version of a note.
    Restore {
        /// The note.
        note: String,
        /// The version.
        version: FileId,
    },
    /// Stores a text as the person's own.
    Remember {
        /// The text.
        text: String,
    },
    /// Turns an untrusted note into the person's own.
    Promote {
        /// The note.
        note: String,
        /// The code shown below the preview; blank if there was none.
        code: String,
    },
}

/// Parses `/memory`. A note with the name of one of these verbs needs its `.md`.
pub(super) fn memory(rest: &str) -> Option<MemoryCommand> {
    let (verb, more) = first_word(rest);
    Some(match verb.to_lowercase().as_str() {
        "" => MemoryCommand::Overview,
        "search" => MemoryCommand::Search(super::seeking::read(more)?),
        "edit" => MemoryCommand::Edit,
        "history" => MemoryCommand::History { note: named(more)? },
        "restore" => {
            let (note, version) = first_word(more);
            MemoryCommand::Restore { note: named(note)?, version: number(version)? }
        }
        _ => MemoryCommand::Show { note: rest.to_owned() },
    })
}

/// Parses a note and an optional code.
pub(super) fn promote(rest: &str) -> Option<MemoryCommand> {
    let (note, code) = first_word(rest);
    Some(MemoryCommand::Promote { note: named(note)?, code: code.trim_matches('`').to_owned() })
}

/// Parses digits only.
fn number(word: &str) -> Option<FileId> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok().map(FileId)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::command::{ChatCommand, parse};

    #[test]
    fn lines_and_what_they_mean() {
        let note = |note: &str| note.to_owned();
        for (line, meant) in [
            ("/memory", MemoryCommand::Overview),
            ("/memory tea", MemoryCommand::Show { note: note("tea") }),
            ("/memory edit", MemoryCommand::Edit),
            ("/memory EDIT tea", MemoryCommand::Edit),
            ("/memory edit.md", MemoryCommand::Show { note: note("edit.md") }),
            (
                "/memory search --case Tea",
                MemoryCommand::Search(SearchQuery { case: true, limit: 8, ..SearchQuery::of("Tea") }),
            ),
            ("/memory search.md", MemoryCommand::Show { note: note("search.md") }),
            ("/memory history tea", MemoryCommand::History { note: note("tea") }),
            ("/memory restore tea 12", MemoryCommand::Restore { note: note("tea"), version: FileId(12) }),
            ("/remember Cat: Tom\nDog: Rex", MemoryCommand::Remember { text: note("Cat: Tom\nDog: Rex") }),
            ("/promote tea", MemoryCommand::Promote { note: note("tea"), code: note("") }),
            ("/promote tea `0a1b2c3d`", MemoryCommand::Promote { note: note("tea"), code: note("0a1b2c3d") }),
        ] {
            assert_eq!(parse(line), Some(ChatCommand::Memory(meant)), "{line}");
        }
        for line in [
            "/memory search",
            "/memory history",
            "/memory restore tea last",
            "/memory restore tea +1",
            "/remember",
            "/promote",
            "/memories",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
