//! Three-way merge of a skill folder: the changes of a newer version, put into the content that a
//! person has edited. Where both changed the same passage, the person's stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::skill::SkillFolder;
use crate::text::merge::{self, ClashRule};

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
                    (Some(before), Some(ours), Some(theirs)) => {
                        Some(merge::merge(before, ours, theirs, ClashRule::KeepOwn))
                    }
                    _ => None,
                };
                conflicts = conflicts.saturating_add(merged.as_ref().map_or(1, |merged| merged.clashes.len()));
                merged.map(|merged| Arc::from(merged.text.into_bytes())).or_else(|| ours.cloned())
            }
        };
        if let Some(bytes) = kept {
            folder.put(path, bytes);
        }
    }
    MergedFolder { folder, conflicts }
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
            ("a\n\nb\n\nc\n\nd\n\nmine", "a\n\nb\n\nc\n\nd\n\ntheirs\n", "a\n\nb\n\nc\n\nd\n\nmine", 1),
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
