//! Tests of the rules for files, and of the division into passages.

use proptest::prelude::*;

use super::*;
use crate::trust::Label;

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
    assert_eq!(of("one\ntwo\n\nthree"), [Passage { line: 1, last: 4, text: "one\ntwo\n\nthree".to_owned() }]);
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

fn line() -> impl Strategy<Value = String> {
    let long = "word ".repeat(90);
    let kinds = vec![
        "".to_owned(),
        "# Heading".to_owned(),
        "## Other".to_owned(),
        "- point".to_owned(),
        "  more of it".to_owned(),
        "- **key**: value".to_owned(),
        "```".to_owned(),
        "---".to_owned(),
        "name: A name".to_owned(),
        "description: about".to_owned(),
        "<!-- comment -->".to_owned(),
        "running text".to_owned(),
        long,
    ];
    prop::sample::select(kinds)
}

proptest! {
    /// Proves: trust/passages
    #[test]
    fn an_entry_bears_the_mark_of_every_line_that_it_holds_words_of(
        lines in prop::collection::vec(line(), 1..25),
        marked in any::<prop::sample::Index>(),
        front in any::<bool>(),
        own in prop::sample::select(vec!["plans/move.md", "memory/deploy-key.md", "plan.txt", "memory/2026-11-21.md"]),
    ) {
        let mut lines = lines;
        if front {
            lines.splice(0..0, ["---", "name: A name", "description: about", "---"].map(str::to_owned));
        }
        let at = marked.index(lines.len());
        lines[at].push_str(" zqmark");
        let before: String = lines.iter().enumerate().filter(|(number, _)| *number != at).map(|(_, line)| format!("{line}\n")).collect();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let outside = Label::untrusted(crate::trust::Source::forward());
        let edited = Passages::whole(Label::neutral()).edited(&before, &text, |_| outside.clone());
        for entry in parse(own, &text, Zone::UTC).entries {
            let entry = entry.labelled(&edited.passages);
            let holds = [&entry.text, &entry.name, &entry.section].into_iter().any(|words| words.contains("zqmark"));
            let is_marked = entry.label.as_ref().unwrap_or(edited.passages.label()).sources().count() > 0;
            prop_assert!(!holds || is_marked, "{entry:?}");
        }
    }
}
