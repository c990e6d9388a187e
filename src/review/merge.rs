//! Three-way merge of a skill folder: the changes of a newer version, put into the content that a
//! person has edited. Where both changed the same passage, the person's stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use diffy::{ConflictStyle, IncompleteHunkStyle, MergeOptions};

use crate::skill::SkillFolder;

/// Length of the marks around a conflict while it is resolved, in characters: longer than any line
/// of marks in a text.
const MARK: usize = 60;

/// A merged folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MergedFolder {
    /// All files.
    pub folder: SkillFolder,
    /// Number of passages and files in which the person's content stayed although both changed it.
    pub conflicts: usize,
}

/// Merges into `own` what changed from `base` to `newer`.
pub(super) fn merge(base: &SkillFolder, own: &SkillFolder, newer: &SkillFolder) -> MergedFolder {
    let paths: BTreeSet<&str> =
        [base, own, newer].into_iter().flat_map(SkillFolder::files).map(|(path, _)| path).collect();
    let (mut folder, mut conflicts) = (SkillFolder::default(), 0_usize);
    for path in paths {
        let (before, ours, theirs) = (base.get(path), own.get(path), newer.get(path));
        let kept = match (before, ours, theirs) {
            _ if theirs == before || theirs == ours => ours.cloned(),
            _ if ours == before => theirs.cloned(),
            _ => {
                let merged = match (base.text(path), own.text(path), newer.text(path)) {
                    (Some(before), Some(ours), Some(theirs)) => merge_texts(before, ours, theirs),
                    _ => None,
                };
                conflicts = conflicts.saturating_add(merged.as_ref().map_or(1, |(_, conflicts)| *conflicts));
                merged.map(|(text, _)| Arc::from(text.into_bytes())).or_else(|| ours.cloned())
            }
        };
        if let Some(bytes) = kept {
            folder.put(path, bytes);
        }
    }
    MergedFolder { folder, conflicts }
}

/// Returns the merged text and the number of conflicts; `None` if it holds lines like our marks.
fn merge_texts(before: &str, own: &str, newer: &str) -> Option<(String, usize)> {
    let has_marks = |text: &str| ['<', '=', '>'].into_iter().any(|mark| text.contains(&mark.to_string().repeat(MARK)));
    if [before, own, newer].into_iter().any(has_marks) {
        return None;
    }
    let mut options = MergeOptions::new();
    options.set_conflict_marker_length(MARK).set_conflict_style(ConflictStyle::Merge);
    options.set_incomplete_hunk_style(IncompleteHunkStyle::Git);
    Some(match options.merge(before, own, newer) {
        Ok(merged) => (merged, 0),
        Err(marked) => keep_own(&marked),
    })
}

/// Keeps the first side of each conflict.
fn keep_own(marked: &str) -> (String, usize) {
    let (mut text, mut conflicts, mut is_theirs) = (String::new(), 0_usize, false);
    let is_mark = |line: &str, mark: &str| line.starts_with(&mark.repeat(MARK));
    for line in marked.split_inclusive('\n') {
        if is_mark(line, "<") {
            conflicts = conflicts.saturating_add(1);
        } else if is_mark(line, "=") {
            is_theirs = true;
        } else if is_mark(line, ">") {
            is_theirs = false;
        } else if !is_theirs {
            text.push_str(line);
        }
    }
    (text, conflicts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folder(files: &[(&str, &str)]) -> SkillFolder {
        SkillFolder::new(files.iter().map(|(path, text)| ((*path).to_owned(), Arc::from(text.as_bytes()))))
    }

    fn of_text(text: &str) -> SkillFolder {
        folder(&[("SKILL.md", text)])
    }

    #[test]
    fn changes_on_both_sides_are_joined_and_the_persons_passage_stays() {
        let base = "a\n\nb\n\nc\n\nd\n";
        for (own, newer, merged, conflicts) in [
            ("A\n\nb\n\nc\n\nd\n", "a\n\nb\n\nc\n\nD\n", "A\n\nb\n\nc\n\nD\n", 0),
            ("mine\n\nb\n\nc\n\nd\n", "theirs\n\nb\n\nc\n\nD\n", "mine\n\nb\n\nc\n\nD\n", 1),
            ("a\n\nb\n\nc\n\nd\n\nmine", "a\n\nb\n\nc\n\nd\n\ntheirs\n", "a\n\nb\n\nc\n\nd\n\nmine\n", 1),
            (base, "x\n", "x\n", 0),
            ("x\n", base, "x\n", 0),
        ] {
            let found = merge(&of_text(base), &of_text(own), &of_text(newer));
            assert_eq!(
                (found.folder.text("SKILL.md"), found.conflicts),
                (Some(merged), conflicts),
                "{own:?} {newer:?}"
            );
        }
    }

    #[test]
    fn files_are_added_and_removed_unless_the_person_changed_them() {
        let base = folder(&[("SKILL.md", "s"), ("old.md", "o"), ("kept.md", "k"), ("mine.md", "m")]);
        let own = folder(&[("SKILL.md", "s"), ("old.md", "o"), ("kept.md", "changed"), ("extra.md", "e")]);
        let newer = folder(&[("SKILL.md", "S"), ("new.md", "n"), ("mine.md", "M")]);
        let MergedFolder { folder: merged, conflicts } = merge(&base, &own, &newer);
        let expected = folder(&[("SKILL.md", "S"), ("kept.md", "changed"), ("extra.md", "e"), ("new.md", "n")]);
        assert_eq!((merged, conflicts), (expected, 2));
    }

    proptest! {
        #[test]
        fn a_side_that_changed_nothing_takes_the_other(one in "([a-c]\n){0,6}", other in "([a-c]\n){0,6}") {
            let (base, changed) = (of_text(&one), of_text(&other));
            for merged in [merge(&base, &changed, &base), merge(&base, &base, &changed), merge(&base, &changed, &changed)] {
                prop_assert_eq!((merged.folder, merged.conflicts), (changed.clone(), 0));
            }
        }

        #[test]
        fn every_line_is_somebodys(base in "([a-c]\n){0,6}", own in "([a-e]\n){0,6}", newer in "([a-c]|[x-z]\n){0,6}") {
            let merged = merge(&of_text(&base), &of_text(&own), &of_text(&newer));
            let text = merged.folder.text("SKILL.md").unwrap_or_default();
            prop_assert!(!text.contains("<<<<") && !text.contains("===="));
            for line in text.lines().filter(|line| !line.is_empty()) {
                prop_assert!(own.lines().chain(newer.lines()).any(|known| known == line), "{}", line);
            }
        }
    }
}
