//! Tests of the rules for files, and of the division into passages.

use proptest::prelude::*;

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
        ("learnings/errors.md", EntryKind::Text, false),
        ("//experience/default.md", EntryKind::Text, true),
        ("projects/boat.md", EntryKind::File, true),
        ("inbox/3-letter.md", EntryKind::File, false),
        ("plan.txt", EntryKind::File, false),
    ] {
        let rules = rules_for(own);
        assert_eq!((rules.kind, rules.facts), (kind, facts), "{own}");
    }
    assert!(should_be_text("inbox/3-a.PDF.txt") && !should_be_text("images/cat.png") && !should_be_text("Makefile"));
}

fn of(text: &str) -> Vec<Passage> {
    passages(&(1..).zip(text.lines()).collect::<Vec<_>>())
}

#[test]
fn paragraphs_stay_together_while_they_fit() {
    assert_eq!(of("one\ntwo\n\nthree"), [Passage { line: 1, text: "one\ntwo\n\nthree".to_owned() }]);
    let (long, short) = ("word ".repeat(200), "short");
    let cut = of(&format!("{short}\n\n{long}\n\n{long}\n{short}"));
    assert_eq!(cut.iter().map(|passage| passage.line).collect::<Vec<_>>(), [1, 5]);
    assert_eq!(of(" \n\n"), []);
}

#[test]
fn a_line_without_end_is_cut_between_words() {
    let cut = of(&"abcde ".repeat(1_000));
    assert!(cut.len() >= 5 && cut.iter().all(|passage| passage.text.ends_with("abcde") && passage.line == 1));
}

proptest! {
    #[test]
    fn no_word_is_lost_and_none_is_too_long(text in "([\\PC\n]{0,40}(\n\n)?){0,60}") {
        let cut = of(&text);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<String>();
        prop_assert_eq!(cut.iter().map(|passage| words(&passage.text)).collect::<String>(), words(&text.lines().collect::<Vec<_>>().join("\n")));
        prop_assert!(cut.iter().all(|passage| passage.text.chars().count() <= PASSAGE + 2));
    }
}
