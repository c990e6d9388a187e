//! Three-way merge of a text by lines.
//!
//! A line that one side adds is in the result, and a line that one side removes is not, even where
//! the other side moves it. So a merge never brings back what was removed on purpose. Lines are
//! compared without their ends, and a line that nobody changed keeps its end.

use std::collections::HashSet;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Above this number of pairs of an old and a new line, all lines between the first and the last
/// changed one count as replaced.
const MOST_PAIRS: usize = 4_000_000;

/// Result where both sides changed the same lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClashRule {
    /// The own text stays, and the newer one is dropped.
    KeepOwn,
    /// Both texts stay, the own one below the newer one.
    KeepBoth,
}

/// A merged text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedText {
    /// The text.
    pub text: String,
    /// The own text of each passage that both sides changed.
    pub clashes: Vec<String>,
}

/// Merges into `own` the changes from `base` to `newer`.
pub fn merge(base: &str, own: &str, newer: &str, rule: ClashRule) -> MergedText {
    let before = lines(base);
    let (own, mut newer) = (Side::of(&before, own), Side::of(&before, newer));
    let mut clashes: Vec<String> = Vec::new();
    newer.edits.retain(|edit| {
        let touched: Vec<&Edit<'_>> = own.edits.iter().filter(|own| own.touches(edit)).collect();
        if touched.iter().any(|own| own.has_same_effect(edit)) {
            return false;
        }
        let clash = touched.into_iter().find(|own| rule == ClashRule::KeepOwn || own.replaces_the_same(edit));
        clashes.extend(clash.map(|own| own.lines.concat()));
        rule == ClashRule::KeepBoth || clash.is_none()
    });
    clashes.dedup();
    let removed_by_own = own.removed(&before);
    let removed_by_newer = match rule {
        ClashRule::KeepBoth => newer.removed(&before),
        ClashRule::KeepOwn => HashSet::new(),
    };
    let mut text = String::new();
    for (at, whole) in base.split_inclusive('\n').map(Some).chain([None]).enumerate() {
        let both = own.inserted(at).collect::<Vec<_>>();
        let from_newer = newer.inserted(at).filter(|line| !removed_by_own.contains(bare(line)));
        let is_new = |line: &&str| bare(line).trim().is_empty() || !both.iter().any(|own| bare(own) == bare(line));
        from_newer.filter(is_new).for_each(|line| push_line(&mut text, line));
        let from_own = both.iter().filter(|line| !removed_by_newer.contains(bare(line)));
        from_own.for_each(|line| push_line(&mut text, line));
        let Some(whole) = whole else { continue };
        if let (Some(own), Some(newer)) = (own.kept(at), newer.kept_or(at, whole)) {
            push_line(&mut text, if own == whole { newer } else { own });
        }
    }
    MergedText { text, clashes }
}

/// Returns the lines of a text without their ends.
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').map(bare).collect()
}

/// Returns the differences between two lists of lines, with the unchanged lines.
pub fn line_changes(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    let same = |one: &&str, other: &&str| one == other;
    let head = before.iter().zip(after).take_while(|(one, other)| same(one, other)).count();
    let rest = before.len().min(after.len()) - head;
    let tail =
        before.iter().rev().zip(after.iter().rev()).take(rest).take_while(|(one, other)| same(one, other)).count();
    let middle = |lines: usize| Range { start: head, end: lines - tail };
    let (old, new) = (middle(before.len()), middle(after.len()));
    if old.len().saturating_mul(new.len()) <= MOST_PAIRS {
        return capture_diff_slices(Algorithm::Myers, before, after);
    }
    vec![
        DiffOp::Equal { old_index: 0, new_index: 0, len: head },
        DiffOp::Replace { old_index: head, old_len: old.len(), new_index: head, new_len: new.len() },
        DiffOp::Equal { old_index: old.end, new_index: new.end, len: tail },
    ]
}

/// Replacement of some lines of the base, perhaps none, by others, perhaps none.
#[derive(Debug)]
struct Edit<'t> {
    old: Range<usize>,
    lines: Vec<&'t str>,
}

impl Edit<'_> {
    fn touches(&self, other: &Self) -> bool {
        let overlaps = self.old.start < other.old.end && other.old.start < self.old.end;
        overlaps || self.old.is_empty() && self.old == other.old
    }

    fn has_same_effect(&self, other: &Self) -> bool {
        self.old == other.old && self.lines.iter().map(|line| bare(line)).eq(other.lines.iter().map(|line| bare(line)))
    }

    /// Returns whether both replace some of the same lines by words.
    fn replaces_the_same(&self, other: &Self) -> bool {
        let has_words = |edit: &Self| edit.lines.iter().any(|line| !line.trim().is_empty());
        !self.old.is_empty() && !other.old.is_empty() && has_words(self) && has_words(other)
    }
}

/// Changes of one side.
struct Side<'t> {
    edits: Vec<Edit<'t>>,
    /// The side's form of each line of the base; `None` if it is removed.
    kept: Vec<Option<&'t str>>,
    bare: HashSet<&'t str>,
}

impl<'t> Side<'t> {
    fn of(before: &[&str], text: &'t str) -> Self {
        let (after, whole) = (lines(text), text.split_inclusive('\n').collect::<Vec<_>>());
        let (mut edits, mut kept) = (Vec::new(), vec![None; before.len()]);
        for op in line_changes(before, &after) {
            let new = whole.get(op.new_range()).unwrap_or_default();
            if let DiffOp::Equal { .. } = op {
                let old = kept.get_mut(op.old_range()).unwrap_or_default();
                old.iter_mut().zip(new).for_each(|(old, new)| *old = Some(*new));
            } else {
                edits.push(Edit { old: op.old_range(), lines: new.to_vec() });
            }
        }
        Self { edits, kept, bare: after.into_iter().collect() }
    }

    /// Returns the lines that stand before that line of the base.
    fn inserted(&self, at: usize) -> impl Iterator<Item = &'t str> {
        self.edits.iter().filter(move |edit| edit.old.start == at).flat_map(|edit| edit.lines.iter().copied())
    }

    fn kept(&self, at: usize) -> Option<&'t str> {
        self.kept.get(at).copied().flatten()
    }

    /// Returns the line, or `whole` where it was changed by an edit that was dropped.
    fn kept_or<'l>(&'l self, at: usize, whole: &'l str) -> Option<&'l str> {
        let is_edited = self.edits.iter().any(|edit| edit.old.contains(&at));
        self.kept(at).or_else(|| (!is_edited).then_some(whole))
    }

    /// Returns the lines of the base that stand nowhere in this text any more.
    fn removed<'b>(&self, before: &[&'b str]) -> HashSet<&'b str> {
        before.iter().copied().filter(|line| !line.trim().is_empty() && !self.bare.contains(line)).collect()
    }
}

fn bare(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn both(base: &str, own: &str, newer: &str) -> (String, usize) {
        let merged = merge(base, own, newer, ClashRule::KeepBoth);
        (merged.text, merged.clashes.len())
    }

    #[test]
    fn additions_of_both_sides_stay_and_a_clash_keeps_both_texts() {
        let base = "# Facts\n- Tea\n- Cat: Tom\n";
        for (own, newer, merged, clashes) in [
            (
                "# Facts\n- Tea\n- Cat: Tom\n- Mine\n",
                "# Facts\n- Tea\n- Cat: Tom\n- New\n",
                "# Facts\n- Tea\n- Cat: Tom\n- New\n- Mine\n",
                0,
            ),
            (
                "# Facts\n- Tea\n- Cat: Rex\n",
                "# Facts\n- Tea\n- Cat: Kit\n",
                "# Facts\n- Tea\n- Cat: Kit\n- Cat: Rex\n",
                1,
            ),
            ("# Facts\n- Tee\n- Cat: Tom\n", "# Facts\n- Tea\n- Cat: Kit\n", "# Facts\n- Tee\n- Cat: Kit\n", 0),
            ("# Facts\n- Tea\n- Cat: Rex\n", "# Facts\n- Tea\n- Cat: Rex\n", "# Facts\n- Tea\n- Cat: Rex\n", 0),
            ("# Facts\n- Cat: Tom", base, "# Facts\n- Cat: Tom", 0),
            ("", "# Facts\n- Tea\n- Cat: Tom\n- New\n", "- New\n", 0),
        ] {
            assert_eq!(both(base, own, newer), (merged.to_owned(), clashes), "{own:?} {newer:?}");
        }
    }

    #[test]
    fn what_was_removed_on_one_side_does_not_come_back() {
        let base = "a\nsecret\nb\n";
        for (own, newer, merged) in [
            ("A\nsecret\nb\n", "a\nb\n", "A\nb\n"),
            ("a\nb\nsecret\n", "a\nb\n", "a\nb\n"),
            ("a\nb\n", "a\nb\nsecret\n", "a\nb\n"),
            ("a\nsecret\nb\nc\n", "a\nb\n", "a\nb\nc\n"),
        ] {
            assert_eq!(both(base, own, newer).0, merged, "{own:?} {newer:?}");
        }
    }

    #[test]
    fn line_ends_stay_as_they_are() {
        assert_eq!(both("a\r\nb\r\n", "a\r\nb\r\nc", "a\r\nx\r\nb\r\n").0, "a\r\nx\r\nb\r\nc");
        assert_eq!(both("a", "a\nb", "a\nc").0, "a\nc\nb");
    }

    fn text() -> impl Strategy<Value = String> {
        "([a-e]\n){0,7}"
    }

    proptest! {
        #[test]
        fn a_side_that_changed_nothing_takes_the_other(one in "([a-c]\r?\n){0,6}[a-c]?", other in "([a-c]\r?\n){0,6}[a-c]?") {
            for rule in [ClashRule::KeepOwn, ClashRule::KeepBoth] {
                for (own, newer) in [(&other, &one), (&one, &other), (&other, &other)] {
                    let merged = merge(&one, own, newer, rule);
                    prop_assert_eq!(bare_lines(&merged.text), bare_lines(&other));
                    prop_assert!(merged.clashes.is_empty());
                }
            }
        }

        #[test]
        fn no_added_line_is_lost_and_no_removed_one_returns(base in text(), own in text(), newer in text()) {
            let merged = bare_lines(&both(&base, &own, &newer).0);
            let has = |text: &str, line: &String| bare_lines(text).contains(line);
            for line in bare_lines(&own).iter().chain(&bare_lines(&newer)) {
                prop_assert!(has(&base, line) || merged.contains(line), "{} is lost", line);
            }
            for line in &merged {
                prop_assert!(!has(&base, line) || has(&own, line) && has(&newer, line), "{} is back", line);
            }
        }

        #[test]
        fn every_line_is_of_one_of_the_sides(base in text(), own in text(), newer in text()) {
            for rule in [ClashRule::KeepOwn, ClashRule::KeepBoth] {
                for line in merge(&base, &own, &newer, rule).text.lines() {
                    prop_assert!(own.lines().chain(newer.lines()).any(|known| known == line), "{}", line);
                }
            }
        }
    }

    fn bare_lines(text: &str) -> Vec<String> {
        lines(text).into_iter().map(str::to_owned).collect()
    }
}
