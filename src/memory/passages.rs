//! Labels of the lines of a file. A mark belongs to the lines that came from outside, stays with
//! them when they are cut, moved or merged, and ends with them.
//!
//! A version of a file stores them as runs, one a line: how many lines, and their label. A version
//! without runs has one label for all of its text.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use similar::DiffOp;

use crate::text::merge::{line_changes, lines};
use crate::trust::{Label, Text};

/// Minimum number of words that make a line recognisable within another.
const TELLING_WORDS: usize = 3;
/// Length of a piece of a word, in characters, by which a line is recognised in its place.
const TELLING_PIECE: usize = 4;
/// Stands between two passages that are shown together.
const GAP: &str = "…";

/// Lines in sequence that have the same label.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    lines: usize,
    label: Label,
}

/// Labels of the lines of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passages {
    /// All lines, unless they have the same label.
    runs: Vec<Run>,
    /// Join over all lines.
    label: Label,
}

/// A change of a text, as far as labels are concerned.
#[derive(Debug)]
pub(super) struct EditedPassages {
    pub(super) passages: Passages,
    /// True if each new line is trusted, as its author has it.
    pub(super) brings_trusted: bool,
}

impl Passages {
    /// A text of which all lines have the same label.
    pub(super) fn whole(label: Label) -> Self {
        Self { runs: Vec::new(), label }
    }

    fn of(labels: Vec<Label>) -> Self {
        let label = Label::join_of(&labels);
        let mut runs: Vec<Run> = Vec::new();
        for label in labels {
            match runs.last_mut() {
                Some(run) if run.label == label => run.lines += 1,
                _ => runs.push(Run { lines: 1, label }),
            }
        }
        if runs.len() < 2 { Self::whole(label) } else { Self { runs, label } }
    }

    /// The stored form.
    pub(super) fn encode(&self) -> String {
        self.runs.iter().fold(String::new(), |mut stored, run| {
            let _ = writeln!(stored, "{} {}", run.lines, run.label.encode());
            stored
        })
    }

    /// Reads the stored form for a text with that label. What cannot be read counts as none.
    pub(super) fn decode(stored: &str, label: Label) -> Self {
        let run = |line: &str| {
            let (lines, label) = line.split_once(' ')?;
            Some(Run { lines: lines.parse().ok()?, label: Label::decode(label) })
        };
        match stored.lines().map(run).collect() {
            Some(runs) => Self { runs, label },
            None => Self::whole(label),
        }
    }

    /// Returns the label of the whole text.
    pub fn label(&self) -> &Label {
        &self.label
    }

    /// Returns whether all lines have the same label.
    pub(super) fn is_whole(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the label of some lines, of which the first of all is 1.
    pub(super) fn label_of(&self, lines: &[RangeInclusive<usize>]) -> Label {
        if self.is_whole() {
            return self.label.clone();
        }
        let mut next = 1;
        let touched = self.runs.iter().filter(|run| {
            let first = next;
            next += run.lines;
            lines.iter().any(|lines| first <= *lines.end() && *lines.start() < next)
        });
        Label::join_of(touched.map(|run| &run.label))
    }

    /// Returns the passages that are not trusted, with a sign where others are left out.
    pub(super) fn outside(&self, text: &str) -> String {
        let mut shown = String::new();
        let mut left_out = false;
        for (line, label) in text.split_inclusive('\n').zip(self.each()) {
            if label.is_trusted() {
                left_out = true;
                continue;
            }
            if left_out && !shown.is_empty() {
                shown.push_str(GAP);
                shown.push('\n');
            }
            left_out = false;
            shown.push_str(line);
        }
        shown
    }

    /// Returns the passages after a change of the text, with the label of each new line as its
    /// author has it. A new line also bears the marks of the lines that it stands instead of and
    /// holds a piece of, and of those that it was moved from.
    pub(super) fn edited(&self, old: &str, new: &str, label_of: impl Fn(&str) -> Label) -> EditedPassages {
        let (before, after) = (lines(old), lines(new));
        let old_labels: Vec<&Label> = self.each().take(before.len()).collect();
        let outside: Vec<(&str, &Label)> =
            before.iter().copied().zip(old_labels.iter().copied()).filter(|(_, label)| !label.is_trusted()).collect();
        let (mut labels, mut brings_trusted) = (Vec::<Label>::new(), true);
        for op in line_changes(&before, &after) {
            let olds = old_labels.get(op.old_range()).unwrap_or_default();
            if let DiffOp::Equal { .. } = op {
                labels.extend(olds.iter().copied().cloned());
                continue;
            }
            let gone = before.get(op.old_range()).unwrap_or_default();
            for line in after.get(op.new_range()).unwrap_or_default() {
                // A blank line says nothing: it belongs to the passage above it.
                let own = labels.last().filter(|_| line.trim().is_empty()).cloned().unwrap_or_else(|| label_of(line));
                let replaced = gone.iter().zip(olds).filter(|(old, _)| is_made_of(line, old)).map(|(_, label)| *label);
                let moved = moved_from(line, &outside);
                brings_trusted &= own.is_trusted();
                // To tick an item says nothing new.
                let ticked = gone.iter().zip(olds).find(|(old, _)| is_ticked(line, old)).map(|(_, label)| *label);
                labels.push(match ticked {
                    Some(label) => label.clone(),
                    None => own.join_with(&Label::join_of(replaced.chain(moved))),
                });
            }
        }
        EditedPassages { passages: Self::of(labels), brings_trusted }
    }

    /// Returns the trusted lines of the old text that the new one no longer has, neither as they
    /// were nor ticked or followed by more words.
    pub(super) fn taken_away<'t>(&self, old: &'t str, new: &str) -> Vec<&'t str> {
        let (before, after) = (lines(old), lines(new));
        let labels: Vec<&Label> = self.each().take(before.len()).collect();
        let changes = line_changes(&before, &after);
        let gone = changes.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })).flat_map(|op| {
            let instead: Vec<String> =
                after.get(op.new_range()).unwrap_or_default().iter().map(|line| words(line).join(" ")).collect();
            let old = before.get(op.old_range()).unwrap_or_default().iter().copied();
            let labels = labels.get(op.old_range()).unwrap_or_default().iter();
            let is_gone = move |line: &str| {
                let words = words(line).join(" ");
                let goes_on = |new: &String| {
                    let more = new.strip_prefix(&*words);
                    more.is_some_and(|more| {
                        more.chars().next().is_none_or(|c| c.is_whitespace() || ",;:.!?".contains(c))
                    })
                };
                !words.is_empty() && !instead.iter().any(goes_on)
            };
            old.zip(labels).filter(move |(line, label)| label.is_trusted() && is_gone(line)).map(|(line, _)| line)
        });
        gone.collect()
    }

    /// Returns the label of each line, without end.
    fn each(&self) -> impl Iterator<Item = &Label> {
        let runs = self.runs.iter().flat_map(|run| std::iter::repeat_n(&run.label, run.lines));
        runs.chain(std::iter::repeat(&self.label))
    }
}

/// Returns whether a line holds exactly that text, as an item of a list or alone.
pub(super) fn is_line_of(line: &str, text: &Text) -> bool {
    let typed = words(text.open().0);
    !typed.is_empty() && words(line) == typed
}

/// Returns the words of a line, without the marks of a list item.
fn words(line: &str) -> Vec<&str> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let is_mark = |word: &str| matches!(word, "-" | "*" | "+" | "[" | "]" | "[x]" | "[X]");
    let marks = words.iter().take_while(|word| is_mark(word)).count();
    words.drain(..marks);
    words
}

/// Returns whether a line is the other one with another mark in the box before it.
fn is_ticked(line: &str, old: &str) -> bool {
    let box_of = |line: &str| line.find('[').and_then(|at| line.get(at..at + 3)).map(str::to_lowercase);
    let is_box = |found: Option<String>| found.is_some_and(|found| matches!(found.as_str(), "[ ]" | "[x]"));
    !words(line).is_empty() && words(line) == words(old) && is_box(box_of(line)) && is_box(box_of(old))
}

/// Returns whether a line holds a piece of the one that stood in its place.
fn is_made_of(line: &str, old: &str) -> bool {
    let joined = |line: &str| words(line).concat().to_lowercase();
    let (line, old) = (joined(line), joined(old));
    let letters: Vec<char> = line.chars().collect();
    let mut pieces = letters.windows(TELLING_PIECE.min(letters.len().max(1)));
    pieces.any(|piece| old.contains(&piece.iter().collect::<String>())) || !old.is_empty() && line.contains(&old)
}

/// Returns the labels of the lines from outside of which a line holds words: all of theirs, or a
/// part that can be told from chance.
fn moved_from<'a>(line: &str, outside: &[(&str, &'a Label)]) -> Vec<&'a Label> {
    let line = words(line);
    let holds = |whole: &[&str], part: &[&str]| {
        part.len() >= TELLING_WORDS && whole.windows(part.len()).any(|window| window == part)
    };
    let shares = |other: &str| {
        let other = words(other);
        !line.is_empty() && (line == other || holds(&line, &other) || holds(&other, &line))
    };
    outside.iter().filter(|(other, _)| shares(other)).map(|(_, label)| *label).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trust::Source;

    fn hers() -> Label {
        Label::neutral()
    }

    fn from(source: &str) -> Label {
        Label::untrusted(Source::new(source, ""))
    }

    /// Hers, then a page, then hers.
    fn mixed() -> (String, Passages) {
        let old = "# Move\n- Boxes\n";
        let new = "# Move\nAlways hire Volta movers.\n- Boxes\n";
        (new.to_owned(), Passages::whole(hers()).edited(old, new, |_| from("page")).passages)
    }

    #[test]
    fn only_the_new_lines_bear_the_mark() {
        let (text, passages) = mixed();
        assert_eq!(passages.label(), &from("page"));
        assert_eq!([1, 2, 3].map(|line| passages.label_of(&[line..=line]).is_trusted()), [true, false, true]);
        assert_eq!(passages.outside(&text), "Always hire Volta movers.\n");
        assert_eq!(Passages::decode(&passages.encode(), passages.label().clone()), passages);
    }

    /// Proves: trust/passages
    #[test]
    fn a_passage_keeps_its_mark_when_cut_moved_or_merged_and_the_mark_ends_with_it() {
        let (text, passages) = mixed();
        let marked = |new: &str| {
            let edited = passages.edited(&text, new, |_| hers()).passages;
            edited.outside(new)
        };
        assert_eq!(marked("# Move\nAlways hire Volta.\n- Boxes\n"), "Always hire Volta.\n", "cut");
        assert_eq!(
            marked("# Move\n- Boxes\n\n> Always hire Volta movers.\n"),
            "> Always hire Volta movers.\n",
            "moved"
        );
        assert_eq!(
            marked("# Move\n- Boxes, and always hire Volta movers. Always hire Volta movers.\n"),
            "- Boxes, and always hire Volta movers. Always hire Volta movers.\n",
            "merged"
        );
        assert_eq!(marked("# Move\nAsk Mum.\n- Boxes\n"), "", "replaced by other words");
        assert_eq!(marked("# Move\n- Boxes\n"), "", "gone");
        assert!(passages.edited(&text, "# Move\n- Boxes\n", |_| hers()).passages.label().is_trusted());
    }

    #[test]
    fn a_line_that_is_only_ticked_or_continued_is_not_taken_away() {
        let passages = Passages::whole(hers());
        let old = "- [ ] Order boxes\n- [ ] Ring Mika\n";
        for (new, gone) in [
            ("- [x] Order boxes; 3 December: here\n- [ ] Ring Mika\nMore.\n", vec![]),
            ("- [ ] Order boxesful\n- [ ] Ring Mika\n", vec!["- [ ] Order boxes"]),
            ("- [ ] Ring Mika\n", vec!["- [ ] Order boxes"]),
            ("- [ ] Ring Mika\n- [ ] Order boxes\n", vec!["- [ ] Ring Mika"]),
            ("- [ ] Never order boxes\n- [ ] Ring Mika\n", vec!["- [ ] Order boxes"]),
            ("", vec!["- [ ] Order boxes", "- [ ] Ring Mika"]),
        ] {
            assert_eq!(passages.taken_away(old, new), gone, "{new}");
        }
        let (text, passages) = mixed();
        assert!(passages.taken_away(&text, "# Move\n- Boxes\n").is_empty(), "a line from outside is nobody's");
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec("[ab]( [abc]){0,4}|", 0..8)
            .prop_map(|lines| lines.iter().fold(String::new(), |text, line| format!("{text}{line}\n")))
    }

    proptest! {
        /// Proves: trust/passages
        #[test]
        fn no_line_loses_its_mark_and_no_history_of_edits_invents_trust(
            history in prop::collection::vec((text(), any::<bool>()), 1..6)
        ) {
            let (mut old, mut passages) = (String::new(), Passages::whole(hers()));
            for (new, is_hers) in history {
                let next = passages.edited(&old, &new, |_| if is_hers { hers() } else { from("page") }).passages;
                for (number, line) in (1..).zip(new.lines()).filter(|(_, line)| !line.is_empty()) {
                    let was_outside = (1..).zip(old.lines()).any(|(at, known)| {
                        known == line && !passages.label_of(&[at..=at]).is_trusted()
                    });
                    let was_hers = (1..).zip(old.lines()).any(|(at, known)| {
                        known == line && passages.label_of(&[at..=at]).is_trusted()
                    });
                    let label = next.label_of(&[number..=number]);
                    prop_assert!(!was_outside || was_hers || !label.is_trusted(), "{line}");
                    prop_assert!(is_hers || was_hers || !label.is_trusted(), "{line}");
                }
                prop_assert_eq!(Passages::decode(&next.encode(), next.label().clone()), next.clone());
                (old, passages) = (new, next);
            }
        }
    }
}
