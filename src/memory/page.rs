//! Automatically loaded files: their initial contents, and their prompt texts, which are readable
//! text without comments, cut to a maximum length. Prompt texts are cached: an unchanged file costs
//! one metadata check.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};

use super::layout;
use crate::text::{charset, cut_bytes};

const AGENTS: &str = include_str!("../../config/prompts/workspace-AGENTS.md");
const SOUL: &str = include_str!("../../config/prompts/workspace-SOUL.md");
const USER: &str = include_str!("../../config/prompts/workspace-USER.md");
const MEMORY: &str = include_str!("../../config/prompts/workspace-MEMORY.md");
const DAY: &str = include_str!("../../config/prompts/workspace-day.md");

/// A file that is loaded automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum DefaultFile {
    /// Working instructions.
    Agents,
    /// The assistant's character.
    Soul,
    /// The person's description of themselves.
    User,
    /// Facts and notes about the person.
    Memory,
    /// The person's note of the day.
    Today,
}

impl DefaultFile {
    /// Files shared by all people.
    pub(super) const SHARED: [Self; 2] = [Self::Agents, Self::Soul];
    /// Files that each person has.
    pub(super) const OWN: [Self; 3] = [Self::User, Self::Memory, Self::Today];

    /// Returns the path as the file's owner sees it.
    pub(super) fn name(self, day: &str) -> String {
        match self {
            Self::Agents => "AGENTS.md".to_owned(),
            Self::Soul => "SOUL.md".to_owned(),
            Self::User => "USER.md".to_owned(),
            Self::Memory => "memory/MEMORY.md".to_owned(),
            Self::Today => format!("memory/{day}.md"),
        }
    }

    /// Returns the path for the person with that folder.
    pub(super) fn path(self, folder: &str, day: &str) -> String {
        if self.is_shared() { self.name(day) } else { layout::within(folder, &self.name(day)) }
    }

    /// Returns true for shared files.
    pub(super) fn is_shared(self) -> bool {
        Self::SHARED.contains(&self)
    }

    /// Returns the initial contents; `date` is the day in human-readable form.
    pub(super) fn first_contents(self, date: &str) -> String {
        match self {
            Self::Agents => AGENTS.to_owned(),
            Self::Soul => SOUL.to_owned(),
            Self::User => USER.to_owned(),
            Self::Memory => MEMORY.to_owned(),
            Self::Today => DAY.replace("{date}", date),
        }
    }
}

/// Maximum of one file that is loaded, in bytes.
pub(super) const MAX_TEXT: usize = 64 * 1024;
/// Part of that taken from the beginning, where a file keeps both ends.
const HEAD: usize = MAX_TEXT / 4;
/// Files with instructions: these keep their beginning.
const INSTRUCTION_FILES: [&str; 3] = ["AGENTS.md", "SOUL.md", "USER.md"];

/// Prompt texts, one of each kind for each folder. So it grows with the number of people, not of
/// days.
pub(super) type PageCache = Mutex<HashMap<PageKey, CachedPage>>;

/// Key of a prompt text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum PageKey {
    /// A file of that kind in that folder.
    Own(String, DefaultFile),
    /// Any other file, by path.
    At(String),
}

/// Prompt text of a file whose metadata had that stamp.
#[derive(Debug)]
pub(super) struct CachedPage {
    pub requested_path: String,
    pub stamp: String,
    pub page: Arc<FileVersion>,
}

/// Prompt text of a file version.
#[derive(Debug)]
pub(super) struct FileVersion {
    /// Real path, relative to the root.
    pub real_path: String,
    /// SHA-256 of all bytes.
    pub digest: String,
    /// Size in bytes.
    pub size: usize,
    /// Text for the prompt.
    pub text: Arc<str>,
    /// Omissions in the text, with reasons.
    pub notes: Vec<String>,
}

impl FileVersion {
    /// Converts the bytes of a file; `name` is the file name as its owner knows it. `None` if they are
    /// no text.
    pub(super) fn of(real_path: String, name: &str, bytes: Vec<u8>) -> Option<Self> {
        let (mut notes, digest, size) = (Vec::new(), digest(&bytes), bytes.len());
        let words = charset::decode(bytes)?;
        let mut text = without_comments(words.trim_start_matches('\u{feff}'));
        if text.len() > MAX_TEXT {
            let (shortened, note) =
                if INSTRUCTION_FILES.contains(&name) { beginning(&text, name) } else { both_ends(&text, name) };
            notes.push(note);
            text = shortened;
        }
        Some(Self { real_path, digest, size, text: Arc::from(text), notes })
    }
}

/// Keeps the beginning of the text and appends a notice about the rest.
fn beginning(text: &str, name: &str) -> (String, String) {
    let head = cut_bytes(text, MAX_TEXT);
    let count = head.chars().count();
    let note = format!("{name} is too long and was cut after {count} characters");
    (format!("{head}\n\n(cut after {count} characters; the rest is in {name})"), note)
}

/// Keeps both ends of a file that grows at its end: the lines of the index and the latest notes.
fn both_ends(text: &str, name: &str) -> (String, String) {
    let head = cut_bytes(text, HEAD);
    let head = head.rsplit_once('\n').map_or(head, |(whole, _)| whole);
    let from = text.len().saturating_sub(MAX_TEXT - HEAD);
    let tail = (from..=text.len()).find_map(|at| text.get(at..)).unwrap_or_default();
    let tail = tail.split_once('\n').map(|(_, whole)| whole).filter(|whole| !whole.is_empty()).unwrap_or(tail);
    let left_out =
        text.get(head.len()..text.len().saturating_sub(tail.len())).map_or(0, |middle| middle.chars().count());
    let note = format!("{name} is too long: {left_out} characters in its middle were left out");
    (format!("{head}\n\n(cut here: {left_out} characters are left out; they are in {name})\n\n{tail}"), note)
}

/// Returns the SHA-256 in lower-case hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Removes `<!-- … -->` from the text, with the line break after a comment that occupies whole
/// lines. An unterminated comment counts as text.
pub fn without_comments(text: &str) -> String {
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once("<!--") {
        let Some((_, after)) = inner.split_once("-->") else {
            break;
        };
        stripped.push_str(before);
        let is_at_line_start = stripped.is_empty() || stripped.ends_with('\n');
        rest = if is_at_line_start {
            after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after)
        } else {
            after
        };
    }
    stripped.push_str(rest);
    stripped
}

/// Returns true for a shared file with its initial contents.
pub(super) fn is_first(path: &str, content_digest: &str) -> bool {
    let is_same = |file: DefaultFile| digest(file.first_contents("").as_bytes()) == content_digest;
    DefaultFile::SHARED.into_iter().any(|file| file.name("") == path && is_same(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(bytes: &[u8]) -> String {
        FileVersion::of("USER.md".to_owned(), "USER.md", bytes.to_vec()).unwrap().text.to_string()
    }

    #[test]
    fn comments_are_left_out() {
        for (written, shown) in [
            ("a\n<!-- one\ntwo -->\nb\n", "a\nb\n"),
            ("a <!-- x --> b", "a  b"),
            ("<!--a--><!--b-->c", "c"),
            ("<!-- never ends", "<!-- never ends"),
            ("--> a <!-- b -->", "--> a "),
            ("<!-->\na", "<!-->\na"),
            ("\u{feff}# Hello", "# Hello"),
        ] {
            assert_eq!(text(written.as_bytes()), shown, "{written}");
        }
    }

    #[test]
    fn an_overlong_file_is_cut_at_a_character_and_says_so() {
        let page = FileVersion::of("x".to_owned(), "AGENTS.md", "é".repeat(MAX_TEXT).into_bytes()).unwrap();
        assert!(page.text.ends_with("é\n\n(cut after 32768 characters; the rest is in AGENTS.md)"));
        assert_eq!(page.notes, ["AGENTS.md is too long and was cut after 32768 characters"]);
        let page = FileVersion::of("x".to_owned(), "x", "a".repeat(MAX_TEXT).into_bytes()).unwrap();
        assert!(page.notes.is_empty() && page.text.len() == MAX_TEXT);
    }

    /// Proves: memory/large
    #[test]
    fn a_growing_file_keeps_its_end_and_states_the_length_of_the_cut() {
        let lines: Vec<String> = (0..9_000).map(|n| format!("- line {n} é")).collect();
        let page = FileVersion::of("x".to_owned(), "memory/MEMORY.md", lines.join("\n").into_bytes()).unwrap();
        let (head, rest) = page.text.split_once("\n\n(cut here: ").unwrap();
        let (count, tail) = rest.split_once(" characters are left out; they are in memory/MEMORY.md)\n\n").unwrap();
        let (head, tail): (Vec<&str>, Vec<&str>) = (head.lines().collect(), tail.lines().collect());
        assert!(lines.iter().map(String::as_str).zip(&head).all(|(line, kept)| line == *kept) && head.len() > 500);
        assert!(lines.iter().rev().map(String::as_str).zip(tail.iter().rev()).all(|(line, kept)| line == *kept));
        let middle = lines.get(head.len()..lines.len() - tail.len()).unwrap().join("\n").chars().count() + 2;
        assert!(tail.len() > head.len() && count == middle.to_string(), "{count} {middle}");
        assert!(page.text.len() < MAX_TEXT + 100 && page.notes.len() == 1, "{:?}", page.notes);
        let page = FileVersion::of("x".to_owned(), "memory/MEMORY.md", "é".repeat(MAX_TEXT).into_bytes()).unwrap();
        assert!(page.text.starts_with('é') && page.text.ends_with('é') && page.text.len() < MAX_TEXT + 100);
    }

    /// Proves: memory/encodings
    #[test]
    fn other_encodings_are_read_and_bytes_that_are_no_text_make_no_page() {
        assert_eq!(text(b"caf\xe9 au lait"), "café au lait");
        assert!(FileVersion::of("x".to_owned(), "USER.md", b"caf\xe9\0".to_vec()).is_none());
    }

    #[test]
    fn the_digest_is_that_of_all_bytes() {
        assert_eq!(digest(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    proptest! {
        #[test]
        fn any_bytes_make_a_page_or_none(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let page = FileVersion::of("x".to_owned(), "x", bytes.clone());
            prop_assert_eq!(page.is_some(), charset::decode(bytes).is_some());
        }
    }
}
