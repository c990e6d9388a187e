//! The change to a skill, rendered for people and for the reviewer.
//!
//! A unified diff over all files, with hidden characters revealed, so that nothing in the result is
//! missing from the page. Binary files are listed with size and digest. Line endings (carriage
//! return or not) are displayed where only they differ.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use super::reveal::reveal;
use crate::skill::{Digest, SkillFolder};

/// Unchanged lines displayed around a changed one.
const AROUND: usize = 3;

/// Above this number of pairs of an old and a new line, a file is displayed as replaced.
const MOST_PAIRS: usize = 4_000_000;

/// Returns the change from `base` to `result` over all files, with hidden characters revealed.
/// Blank if there is none.
pub fn diff(base: Option<&SkillFolder>, result: Option<&SkillFolder>) -> String {
    let mut page = String::new();
    for file in files(base, result) {
        if !page.is_empty() {
            page.push('\n');
        }
        file.write(&mut page);
    }
    page
}

/// A changed part of a text, with the lines around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffHunk {
    /// Place in both texts: `@@ -1,3 +1,3 @@`.
    pub header: String,
    /// Lines.
    pub lines: Vec<DiffLine>,
}

/// A line of a change, with hidden characters revealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// Kind.
    pub kind: DiffKind,
    /// The line, without its end.
    pub text: String,
}

/// Kind of line of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffKind {
    /// In both texts.
    Kept,
    /// In the new text only.
    Added,
    /// In the old text only.
    Removed,
    /// The remark that the line before it has no end.
    Remark,
}

impl DiffKind {
    fn sign(self) -> char {
        match self {
            Self::Kept => ' ',
            Self::Added => '+',
            Self::Removed => '-',
            Self::Remark => '\\',
        }
    }
}

/// Returns the changed parts of a text; none if both are equal.
pub fn hunks_of_texts(old: &str, new: &str) -> Vec<DiffHunk> {
    if old == new { Vec::new() } else { hunks(old, new) }
}

/// Returns the changed lines of a text with their context, with hidden characters revealed. Blank
/// if there are none.
pub fn of_texts(old: &str, new: &str) -> String {
    page(&hunks_of_texts(old, new))
}

/// Returns the changed parts of a text as one text.
pub fn page(hunks: &[DiffHunk]) -> String {
    let mut page = String::new();
    write_hunks(&mut page, hunks);
    page
}

/// Returns the change in one line: `2 files changed, 14 lines added, 3 removed`.
pub fn summary(base: Option<&SkillFolder>, result: Option<&SkillFolder>) -> String {
    let files = files(base, result);
    let (mut added, mut removed) = (0, 0);
    for file in &files {
        let Some((old, new)) = file.texts() else { continue };
        for line in hunks(old, new).into_iter().flat_map(|hunk| hunk.lines) {
            added += usize::from(line.kind == DiffKind::Added);
            removed += usize::from(line.kind == DiffKind::Removed);
        }
    }
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!("{} changed, {} added, {removed} removed", counted(files.len(), "file"), counted(added, "line"))
}

/// Returns the text as preformatted Markdown, in a fence longer than every run of backticks in it.
pub fn fenced(text: &str) -> String {
    fenced_as("", text)
}

/// Returns a diff as preformatted Markdown; channels that can colour its lines do.
pub fn fenced_diff(diff: &str) -> String {
    fenced_as("diff", diff)
}

fn fenced_as(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

/// A file that the change touches.
struct ChangedFile<'a> {
    path: &'a str,
    old: Option<&'a [u8]>,
    new: Option<&'a [u8]>,
}

fn files<'a>(base: Option<&'a SkillFolder>, result: Option<&'a SkillFolder>) -> Vec<ChangedFile<'a>> {
    let paths: BTreeSet<&str> =
        [base, result].into_iter().flatten().flat_map(SkillFolder::files).map(|(path, _)| path).collect();
    let bytes =
        |folder: Option<&'a SkillFolder>, path: &str| folder.and_then(|folder| folder.get(path)).map(|bytes| &**bytes);
    paths
        .into_iter()
        .map(|path| ChangedFile { path, old: bytes(base, path), new: bytes(result, path) })
        .filter(|file| file.old != file.new)
        .collect()
}

impl<'a> ChangedFile<'a> {
    /// Returns both sides as text; a missing side is blank. `None` if one of them is binary.
    fn texts(&self) -> Option<(&'a str, &'a str)> {
        Some((text(self.old.unwrap_or_default())?, text(self.new.unwrap_or_default())?))
    }

    fn write(&self, page: &mut String) {
        let path = crate::text::one_line(&reveal(self.path));
        let what = match (self.old, self.new) {
            (None, _) => "new file",
            (_, None) => "deleted file",
            _ => "changed file",
        };
        let _ = writeln!(page, "=== {what}: {path}");
        match self.texts() {
            Some((old, new)) => write_hunks(page, &hunks(old, new)),
            None => self.write_binary(page),
        }
    }

    fn write_binary(&self, page: &mut String) {
        for (sign, bytes) in [('-', self.old), ('+', self.new)] {
            let Some(bytes) = bytes else { continue };
            let _ = writeln!(page, "{sign}binary file, {} bytes, SHA-256 {}", bytes.len(), Digest::of(bytes));
        }
    }
}

fn write_hunks(page: &mut String, hunks: &[DiffHunk]) {
    for hunk in hunks {
        let _ = writeln!(page, "{}", hunk.header);
        for line in &hunk.lines {
            let _ = writeln!(page, "{}{}", line.kind.sign(), line.text);
        }
    }
}

/// Returns the changed lines with their context. Only a line feed ends a line: a lone carriage
/// return would hide the text before it.
fn hunks(old: &str, new: &str) -> Vec<DiffHunk> {
    let ends = |text: &str| (text.contains("\r\n"), text.split_inclusive('\n').any(|line| !line.ends_with("\r\n")));
    let ends_differ = !old.is_empty() && !new.is_empty() && ends(old) != ends(new) || ends(new) == (true, true);
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    // The time to find the smallest difference grows quadratically, and the proposer controls the
    // text.
    if old.len().saturating_mul(new.len()) > MOST_PAIRS {
        let header = format!("@@ -1,{} +1,{} @@", old.len(), new.len());
        let removed = old.into_iter().map(|line| (ChangeTag::Delete, line));
        let added = new.into_iter().map(|line| (ChangeTag::Insert, line));
        return vec![shown_hunk(header, removed.chain(added), ends_differ)];
    }
    let lines = TextDiff::from_slices(&old, &new);
    let mut unified = lines.unified_diff();
    let hunks = unified.context_radius(AROUND).iter_hunks();
    hunks
        .map(|hunk| {
            let changes = hunk.iter_changes().map(|change| (change.tag(), change.value()));
            shown_hunk(hunk.header().to_string(), changes, ends_differ)
        })
        .collect()
}

fn shown_hunk<'a>(header: String, lines: impl Iterator<Item = (ChangeTag, &'a str)>, ends_differ: bool) -> DiffHunk {
    DiffHunk { header, lines: lines.flat_map(|(tag, line)| shown_lines(tag, line, ends_differ)).collect() }
}

/// A line with hidden characters revealed, and the remark if it has no end.
fn shown_lines(tag: ChangeTag, line: &str, ends_differ: bool) -> Vec<DiffLine> {
    let bare = line.strip_suffix('\n').unwrap_or(line);
    // A lone carriage return, without its line feed, is revealed like any other hidden character.
    let bare = if ends_differ { bare } else { bare.strip_suffix('\r').unwrap_or(bare) };
    let kind = match tag {
        ChangeTag::Equal => DiffKind::Kept,
        ChangeTag::Insert => DiffKind::Added,
        ChangeTag::Delete => DiffKind::Removed,
    };
    let mut lines = vec![DiffLine { kind, text: reveal(bare) }];
    if !line.ends_with('\n') {
        lines.push(DiffLine { kind: DiffKind::Remark, text: " no line feed at the end".to_owned() });
    }
    lines
}

/// Returns the bytes as text, unless they are not UTF-8 or contain a null.
pub(super) fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::reveal::is_hidden;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn folder(files: &[(&str, &[u8])]) -> SkillFolder {
        SkillFolder::new(files.iter().map(|(path, bytes)| ((*path).to_owned(), Arc::from(*bytes))))
    }

    #[test]
    fn a_page_names_every_file_and_shows_every_line() {
        let base = folder(&[("SKILL.md", b"one\ntwo\nthree\n"), ("gone.md", b"old\n"), ("same.md", b"x\n")]);
        let result = folder(&[("SKILL.md", b"one\n2\nthree\n"), ("logo.png", &[0, 159, 1]), ("same.md", b"x\n")]);
        let page = diff(Some(&base), Some(&result));
        let wanted = "=== changed file: SKILL.md\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\n=== deleted file: gone.md\n@@ -1 +0,0 @@\n-old\n\n\
            === new file: logo.png\n+binary file, 3 bytes, SHA-256 ";
        assert!(page.starts_with(wanted) && !page.contains("same.md"), "{page}");
        assert_eq!(summary(Some(&base), Some(&result)), "3 files changed, 1 line added, 2 removed");
        assert_eq!(diff(Some(&base), Some(&base)), "");
    }

    #[test]
    fn hidden_characters_are_visible_in_the_diff() {
        let result = folder(&[("a\u{202e}b.md", "say\u{200b} hi\rover\u{1b}[2K".as_bytes())]);
        let page = diff(None, Some(&result));
        for shown in ["a⟨U+202E", "say⟨U+200B", "hi⟨U+000D", "over⟨U+001B", "\\ no line feed at the end"] {
            assert!(page.contains(shown), "{shown} in {page}");
        }
    }

    #[test]
    fn other_ends_of_lines_are_seen() {
        let (base, result) = (folder(&[("a", b"x\ny\n")]), folder(&[("a", b"x\r\ny\n")]));
        assert!(diff(Some(&base), Some(&result)).contains("-x\n+x⟨U+000D carriage return⟩\n"));
        let windows = folder(&[("a", b"x\r\ny\r\n")]);
        assert!(!diff(None, Some(&windows)).contains('⟨'));
    }

    #[test]
    fn a_huge_change_is_shown_as_a_replacement() {
        let (old, new) = ("a\n".repeat(30_000), "b\n".repeat(30_000));
        let (base, result) = (folder(&[("f", old.as_bytes())]), folder(&[("f", new.as_bytes())]));
        assert_eq!(summary(Some(&base), Some(&result)), "1 file changed, 30000 lines added, 30000 removed");
        assert_eq!(diff(Some(&base), Some(&result)).lines().count(), 60_002);
    }

    proptest! {
        /// Proves: gate/odd-characters
        #[test]
        fn no_text_breaks_out_of_its_fence(text in "[`a\n]{0,40}") {
            let fenced = fenced(&text);
            let fence = fenced.lines().next().unwrap();
            prop_assert!(fence.len() >= 3 && !text.contains(fence));
            prop_assert_eq!(fenced.lines().last().unwrap(), fence);
        }

        #[test]
        fn every_line_of_a_new_file_is_shown(lines in prop::collection::vec("[a-c\u{200b}\u{202e}]{0,6}", 1..12)) {
            let text = lines.join("\n") + "\n";
            let page = diff(None, Some(&folder(&[("f", text.as_bytes())])));
            prop_assert!(!page.chars().any(is_hidden));
            for line in &lines {
                let line = format!("\n+{}\n", reveal(line));
                prop_assert!(page.contains(&line));
            }
        }
    }
}
