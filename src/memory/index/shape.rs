//! Kind and format of a file, by its path.

use super::super::layout;
use crate::store::EntryKind;

/// Rules for cutting a file into entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryRules {
    /// Kind of its running text.
    pub(super) kind: EntryKind,
    /// True if it has headings, comments and front matter.
    pub(super) markdown: bool,
    /// True if lines of the form `- **key**: value` are facts. Received files state none.
    pub(super) facts: bool,
}

/// Returns the shape of the file at that path, which is as its owner sees it.
pub(super) fn shape_of(own: &str) -> EntryRules {
    let markdown = has_ending(own, &["md", "markdown"]);
    let in_memory = own.strip_prefix("memory/untrusted/").or_else(|| own.strip_prefix("memory/"));
    let kind = match in_memory.filter(|name| markdown && !name.contains('/')) {
        Some("MEMORY.md") => EntryKind::Text,
        Some(name) if day_of(name).is_some() => EntryKind::Day,
        Some(_) => EntryKind::Note,
        None if markdown && is_about_us(own) => EntryKind::Text,
        None => EntryKind::File,
    };
    EntryRules { kind, markdown, facts: markdown && !layout::is_inbox(own) }
}

/// Returns the day in a daily note's file name, `2026-11-21`.
pub(super) fn day_of(name: &str) -> Option<&str> {
    let day = name.strip_suffix(".md")?;
    let form = |(at, c): (usize, char)| if matches!(at, 4 | 7) { c == '-' } else { c.is_ascii_digit() };
    (day.len() == 10 && day.char_indices().all(form)).then_some(day)
}

/// Returns true if a file with that name should be text, so that other content deserves a report.
pub(super) fn should_be_text(own: &str) -> bool {
    let known = [
        "md", "markdown", "txt", "text", "json", "csv", "html", "htm", "log", "toml", "yaml", "yml", "xml", "org",
        "rst",
    ];
    has_ending(own, &known)
}

/// Returns true for files about the people, the instructions and the learnings.
fn is_about_us(own: &str) -> bool {
    let folder = ["learnings/", "agents/", layout::EXPERIENCE].iter().any(|folder| own.starts_with(folder));
    folder || layout::is_owner_only(own) || own == "USER.md"
}

fn has_ending(own: &str, endings: &[&str]) -> bool {
    own.rsplit_once('.').is_some_and(|(_, ending)| endings.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_says_what_a_file_is() {
        for (own, kind, facts) in [
            ("memory/MEMORY.md", EntryKind::Text, true),
            ("memory/deploy-key.md", EntryKind::Note, true),
            ("memory/2026-11-21.md", EntryKind::Day, true),
            ("memory/2026-11-2x.md", EntryKind::Note, true),
            ("memory/untrusted/odd.md", EntryKind::Note, true),
            ("memory/deep/odd.md", EntryKind::File, true),
            ("USER.md", EntryKind::Text, true),
            ("agents/compline/memory.md", EntryKind::Text, true),
            ("learnings/errors.md", EntryKind::Text, true),
            ("//experience/default.md", EntryKind::Text, true),
            ("projects/boat.md", EntryKind::File, true),
            ("inbox/3-letter.md", EntryKind::File, false),
            ("plan.txt", EntryKind::File, false),
        ] {
            let shape = shape_of(own);
            assert_eq!((shape.kind, shape.facts), (kind, facts), "{own}");
        }
        assert!(
            should_be_text("inbox/3-a.PDF.txt") && !should_be_text("images/cat.png") && !should_be_text("Makefile")
        );
    }
}
