//! Parser for the memory commands. Everyone with access has them, each for their own memory.

use super::super::search::SearchQuery;
use crate::id::FileId;

/// A command about the caller's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memory {
    /// Shows an overview.
    Overview,
    /// Shows one note in full.
    Show {
        /// The note, as typed.
        note: String,
    },
    /// Searches the stored data.
    Search {
        /// The query; `None` if it is missing or invalid.
        sought: Option<SearchQuery>,
    },
    /// Opens an editor, where there is one.
    Edit,
    /// Shows a note's earlier versions.
    History {
        /// The note; blank if not named.
        note: String,
    },
    /// Restores an earlier version of a note.
    Restore {
        /// The note.
        note: String,
        /// The version.
        version: Option<FileId>,
    },
    /// Stores a text as the person's own.
    Remember {
        /// The text.
        text: String,
    },
    /// Turns an untrusted note into the person's own.
    Promote {
        /// The note; blank if not named.
        note: String,
        /// The code shown below the preview; blank if there was none.
        code: String,
    },
}

/// Parses a command; `None` if the name belongs to another group.
pub(super) fn parse(name: &str, rest: &str) -> Option<Memory> {
    Some(match name {
        "memory" => of_memory(rest),
        "remember" => Memory::Remember { text: rest.to_owned() },
        "promote" => {
            let (note, code) = super::first_word(rest);
            Memory::Promote { note: note.to_owned(), code: code.trim_matches('`').to_owned() }
        }
        _ => return None,
    })
}

/// Parses `/memory`. A note with the name of one of these verbs needs its `.md`.
fn of_memory(rest: &str) -> Memory {
    let (verb, more) = super::first_word(rest);
    match verb.to_lowercase().as_str() {
        "" => Memory::Overview,
        "search" => Memory::Search { sought: super::seeking::read(more) },
        "edit" => Memory::Edit,
        "history" => Memory::History { note: more.to_owned() },
        "restore" => {
            let (note, version) = super::first_word(more);
            Memory::Restore { note: note.to_owned(), version: number(version) }
        }
        _ => Memory::Show { note: rest.to_owned() },
    }
}

/// Parses digits only.
fn number(word: &str) -> Option<FileId> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok().map(FileId)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_what_they_mean() {
        let note = |note: &str| note.to_owned();
        for (name, rest, meant) in [
            ("memory", "", Memory::Overview),
            ("memory", "tea", Memory::Show { note: note("tea") }),
            ("memory", "edit", Memory::Edit),
            ("memory", "EDIT tea", Memory::Edit),
            ("memory", "edit.md", Memory::Show { note: note("edit.md") }),
            (
                "memory",
                "search --case Tea",
                Memory::Search { sought: Some(SearchQuery { case: true, limit: 8, ..SearchQuery::of("Tea") }) },
            ),
            ("memory", "search", Memory::Search { sought: None }),
            ("memory", "search.md", Memory::Show { note: note("search.md") }),
            ("memory", "history tea", Memory::History { note: note("tea") }),
            ("memory", "history", Memory::History { note: note("") }),
            ("memory", "restore tea 12", Memory::Restore { note: note("tea"), version: Some(FileId(12)) }),
            ("memory", "restore tea last", Memory::Restore { note: note("tea"), version: None }),
            ("memory", "restore tea +1", Memory::Restore { note: note("tea"), version: None }),
            ("remember", "Cat: Tom\nDog: Rex", Memory::Remember { text: note("Cat: Tom\nDog: Rex") }),
            ("promote", "tea", Memory::Promote { note: note("tea"), code: note("") }),
            ("promote", "tea `0a1b2c3d`", Memory::Promote { note: note("tea"), code: note("0a1b2c3d") }),
        ] {
            assert_eq!(parse(name, rest), Some(meant), "{name} {rest}");
        }
        assert_eq!(parse("memories", ""), None);
    }
}
